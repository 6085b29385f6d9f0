/* rng.h - random numbers: PCG32 (XSH RR 64/32, O'Neill 2014), small, seedable, the same on every machine. */
#ifndef LODE_SAMPLE_RNG_H
#define LODE_SAMPLE_RNG_H

#include <stdint.h>

typedef struct rng {
    uint64_t state, inc;
} rng;

static inline uint32_t rng_u32(rng *r) {
    const uint64_t old = r->state;
    r->state = old * 6364136223846793005ull + r->inc;
    const uint32_t x = (uint32_t)(((old >> 18) ^ old) >> 27);
    const uint32_t rot = (uint32_t)(old >> 59);
    return (x >> rot) | (x << ((32 - rot) & 31));
}

/* Streams of one seed are independent: each random sampler has its own number. */
static inline void rng_seed(rng *r, uint64_t seed, uint64_t stream) {
    r->state = 0;
    r->inc = (stream << 1) | 1;
    rng_u32(r);
    r->state += seed;
    rng_u32(r);
}

/* Uniform in [0, 1), 53 bits. */
static inline double rng_unit(rng *r) {
    const uint64_t hi = rng_u32(r) >> 5, lo = rng_u32(r) >> 6;
    return (double)((hi << 26) | lo) * (1.0 / 9007199254740992.0);
}
#endif
