/* embed.c - a whole program on liblode: continues a text, greedily. Use: ./embed MODEL.gguf "The capital of France is"
 * Build: cc embed.c $(pkg-config --cflags --libs lode) -o embed */
#include <lode/lode.h>
#include <stdio.h>
#include <string.h>
/* Writes n tokens that follow the session's last logits. */
static lode_status write_on(lode_session *s, const lode_vocab *v, lode_sampler *sampler, int n, lode_err *err) {
    lode_detok text;
    lode_detok_init(&text, v, LODE_DETOK_CONTINUE);
    lode_status st = LODE_OK;
    for (int i = 0; i < n && st == LODE_OK; i++) {
        int32_t id;
        lode_slice piece = { 0 };
        st = lode_sampler_sample(sampler, lode_session_logits(s, 0), &id, err);
        if (st != LODE_OK || lode_vocab_is_eog(v, id)) break;
        lode_sampler_accept(sampler, id, err);
        st = lode_detok_push(&text, id, &piece, err);
        fwrite(piece.p, 1, piece.n, stdout);
        if (st == LODE_OK) st = lode_session_append(s, 0, &id, 1, err);
    }
    puts("");
    lode_detok_free(&text);
    return st;
}

static lode_status go(const char *path, const char *prompt, lode_err *err) {
    lode_runtime *rt = NULL;
    lode_model *m = NULL;
    lode_session *s = NULL;
    lode_sampler *sampler = NULL;
    lode_tokens ids = { 0 };
    lode_sampler_desc d;
    lode_model_info info;
    lode_status st = lode_runtime_open(&rt, NULL, err);
    if (st == LODE_OK) st = lode_model_open(&m, &(lode_model_desc){ .runtime = rt, .path = path }, err);
    if (st == LODE_OK) st = lode_session_open(&s, m, &(lode_session_desc){ .n_ctx = 1024 }, err);
    if (st == LODE_OK) st = lode_encode(lode_model_vocab(m), prompt, strlen(prompt), LODE_ENCODE_BOS, &ids, err);
    if (st == LODE_OK) st = lode_session_append(s, 0, ids.items, (int)ids.n, err);
    if (st == LODE_OK) {
        lode_model_get_info(m, &info);
        lode_sampler_defaults(&d);
        d.n_vocab = info.n_vocab;
        d.temp = 0;
        st = lode_sampler_open(&sampler, &d, err);
    }
    if (st == LODE_OK) st = write_on(s, lode_model_vocab(m), sampler, 16, err);
    lode_sampler_close(sampler);
    lode_tokens_free(&ids);
    lode_session_close(s);
    lode_model_close(m);
    lode_runtime_close(rt);
    return st;
}

int main(int argc, char **argv) {
    lode_err e = { 0 };
    if (argc == 3 && go(argv[1], argv[2], &e) == LODE_OK) return 0;
    fprintf(stderr, "%s\n", argc == 3 ? e.text : "usage: embed MODEL.gguf TEXT");
    return 1;
}
