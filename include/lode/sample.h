/* lode/sample.h - samplers: from the logits of one position to the next token.
 *
 *   lode_sampler_desc desc;
 *   lode_sampler_defaults(&desc);
 *   desc.n_vocab = n_vocab;
 *   lode_sampler_open(&s, &desc, &err);
 *   for (...) { lode_sampler_accept(s, prompt_id, &err); }
 *   while (...) { lode_sampler_sample(s, logits, &id, &err); lode_sampler_accept(s, id, &err); }
 *
 * Names, defaults and default order are those of llama-server. The order of work is: logit_bias, the chain, then one
 * sampler that picks (dist, or adaptive_p when the chain names it); mirostat takes the place of the chain. In a chain
 * with temperature, temp <= 0 leaves only the best candidate: greedy.
 *
 * Randomness is PCG32 (O'Neill 2014), one stream per random sampler, seeded by `seed` alone: the same seed, parameters
 * and logits give the same tokens on every machine that computes the same logits.
 *
 * Nothing is allocated after opening. A sampler has one user at a time; clones are independent. */
#ifndef LODE_SAMPLE_H
#define LODE_SAMPLE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_sampler lode_sampler;

/* Every sampler; the list is samplers.def. */
typedef enum {
#define SAMPLER(id, name, alias, letter, on) LODE_SAMPLER_##id,
#include "samplers.def"
#undef SAMPLER
    LODE_N_SAMPLER
} lode_sampler_kind;

enum { LODE_MAX_CHAIN = 32 };

/* The order of work: lode_sampler_kind values, those that a chain may hold. */
typedef struct lode_sampler_chain {
    uint8_t kind[LODE_MAX_CHAIN];
    int n;
} lode_sampler_chain;

/* Added to a token's logit; -INFINITY forbids the token. */
typedef struct lode_logit_bias {
    int32_t id;
    float bias;
} lode_logit_bias;

/* Plain data. Zero is a value here, not a default: start from lode_sampler_defaults. The comments give the default
 * and what turns the sampler off. Pointers are used while opening, except `piece`, which is kept. */
typedef struct lode_sampler_desc {
    int n_vocab;              /* required */
    int n_ctx;                /* what -1 in repeat_last_n and dry_penalty_last_n stands for; else unused */
    int64_t seed;             /* -1: from `entropy` */
    uint64_t entropy;         /* what seed -1 stands for; 0: the clock */
    lode_sampler_chain chain; /* "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature" */
    int min_keep;             /* 0; candidates that the truncating samplers leave at least */

    int repeat_last_n;       /* 64; 0: off; -1: n_ctx */
    float repeat_penalty;    /* 1 (off) */
    float frequency_penalty; /* 0 (off); per occurrence */
    float presence_penalty;  /* 0 (off); once */

    float dry_multiplier; /* 0 (off) */
    float dry_base;       /* 1.75; below 1: off */
    int dry_allowed_length;
    int dry_penalty_last_n;         /* 64; 0: off; -1: n_ctx */
    const lode_slice *dry_breakers; /* newline : " *; texts that end a repetition */
    int n_dry_breakers;

    float top_n_sigma;                    /* -1 (off) */
    int top_k;                            /* 40; 0: off */
    float typical_p;                      /* 1 (off) */
    float top_p;                          /* 0.95; 1: off */
    float min_p;                          /* 0.05; 0: off */
    float xtc_probability, xtc_threshold; /* 0 (off), 0.1; a threshold above 0.5: off */
    float temp;                           /* 0.8; 0 and below: greedy */
    float dynatemp_range;                 /* 0 (off): temperature within temp +- range, by entropy */
    float dynatemp_exponent;              /* 1 */

    int mirostat;                      /* 0 (off), 1 or 2: replaces the chain, after logit_bias and temperature */
    float mirostat_tau;                /* 5; surprise aimed at, bits */
    float mirostat_eta;                /* 0.1; learning rate */
    float adaptive_target;             /* -1 (off); probability aimed at, for adaptive_p in the chain */
    float adaptive_decay;              /* 0.9; of the moving average */
    const lode_logit_bias *logit_bias; /* one id several times adds up */
    int n_logit_bias;
    const int32_t *eog; /* ids that end generation, for infill; the first one is taken when no text is likely */
    int n_eog;

    /* Bytes of token `id`: at most `cap` of them into buf, returns how many the token has. For DRY's breakers and
     * infill; NULL: tokens have no text, so no breaker matches. */
    size_t (*piece)(void *user, int32_t id, char *buf, size_t cap);
    void *piece_user; /* borrowed, outlives the sampler and its clones */
} lode_sampler_desc;

LODE_API void lode_sampler_defaults(lode_sampler_desc *desc);
/* Sets one number by the name that llama-server gives it ("top_k", "temperature"). An unknown name, or a value out of
 * range, is LODE_E_INPUT with the name, the value and the range. */
LODE_API lode_status lode_sampler_set(lode_sampler_desc *desc, const char *name, double value, lode_err *err);
/* The value by name; false for an unknown name. The i-th name, NULL behind the last. */
LODE_API bool lode_sampler_get(const lode_sampler_desc *desc, const char *name, double *value);
LODE_API const char *lode_sampler_param_name(int i);

/* "top_k;top_p;temperature", with - or without _ and in any case, or one letter each: "edskypmxt". Empty: no chain.
 * An unknown name lists those that there are. */
LODE_API lode_status lode_sampler_chain_parse(lode_sampler_chain *out, const char *text, lode_err *err);
LODE_API const char *lode_sampler_kind_name(int kind); /* "top_k"; NULL outside the list */

/* Checks the parameters (LODE_E_INPUT names parameter, value and range) and allocates everything. */
LODE_API lode_status lode_sampler_open(lode_sampler **out, const lode_sampler_desc *desc, lode_err *err);
LODE_API void lode_sampler_close(lode_sampler *s);
/* A copy in the same state: it gives the same tokens from here on. */
LODE_API lode_status lode_sampler_clone(lode_sampler **out, const lode_sampler *s, lode_err *err);
/* As after opening, with the same seed. */
LODE_API void lode_sampler_reset(lode_sampler *s);
/* The seed in use, also when -1 was asked for. */
LODE_API uint64_t lode_sampler_seed(const lode_sampler *s);

/* Picks a token from logits [n_vocab], which are left alone. -INFINITY masks a token. NaN, +INFINITY or no token left
 * is LODE_E_DEVICE. Draws from the random streams and changes nothing else: what was picked counts once accepted. */
LODE_API lode_status lode_sampler_sample(lode_sampler *s, const float *logits, int32_t *id, lode_err *err);
/* Tells the sampler the token that follows: of the prompt, picked, or forced. */
LODE_API lode_status lode_sampler_accept(lode_sampler *s, int32_t id, lode_err *err);

/* A token with its probability. */
typedef struct lode_token_prob {
    int32_t id;
    float prob, logprob;
} lode_token_prob;

/* The n_top likeliest tokens of the softmax over all logits [n_vocab], likeliest first, and token `id` itself (id < 0:
 * none). Either pointer may be NULL. Same demands on the logits as lode_sampler_sample. */
LODE_API lode_status lode_logprobs(const float *logits, int n_vocab, int32_t id, lode_token_prob *of_id,
                                   lode_token_prob *top, int n_top, lode_err *err);
/* The same after the chain, of the last lode_sampler_sample: how many candidates it wrote, at most n_top; *picked is
 * the token picked. */
LODE_API int lode_sampler_probs(lode_sampler *s, lode_token_prob *picked, lode_token_prob *top, int n_top);

#ifdef __cplusplus
}
#endif
#endif
