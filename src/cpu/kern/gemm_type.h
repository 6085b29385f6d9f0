/* gemm_type.h - the two loops of gemm_body.h for one type: included once for each with T defined as its name. */
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define OF(x) JOIN(T, x)

/* Unpacks step B of group g and adds it to each of the n columns at x. */
#define DIRECT_STEP(B)                                                                           \
    if (B < OF(_steps)) {                                                                        \
        step u;                                                                                  \
        OF(_quants)(&u, &h, &t, o, g, B);                                                        \
        _Pragma("GCC unroll 4") for (int c = 0; c < n; c++) acc[c] =                             \
            direct_step(OF(_form), OF(_offset), OF(_max), &u,                                    \
                        (const q8a_block *)(const void *)(x + (size_t)c * a->x_stride), acc[c]); \
        x += sizeof(q8a_block);                                                                  \
    }

KERN_INLINE void OF(_direct_n)(const lode_gemm_args *a, int64_t row0, int64_t row1, int64_t col0, int n) {
    const int64_t n_blocks = a->k / (32 * OF(_groups) * OF(_steps));
    const size_t ahead = prefetch_distance(a->w_stride);
    for (int64_t r = row0; r < row1; r += GEMM_ROWS) {
        const uint8_t *w = (const uint8_t *)a->w + (size_t)r * a->w_stride, *next = w + ahead;
        const uint8_t *x = col_at(a, col0);
        const tile t = tile_at(w, a->w_stride);
        vf acc[GEMM_DIRECT];
        size_t o = 0;
        _Pragma("GCC unroll 4") for (int c = 0; c < n; c++) acc[c] = vf_zero();
        for (int64_t i = 0; i < n_blocks; i++, o += OF(_bytes), next += GEMM_ROWS * OF(_bytes)) {
            head h;
            prefetch(next, GEMM_ROWS * OF(_bytes));
            OF(_head)(&h, &t, o);
            for (int g = 0; g < OF(_groups); g++) {
                DIRECT_STEP(0)
                DIRECT_STEP(1)
                DIRECT_STEP(2)
                DIRECT_STEP(3)
            }
        }
        _Pragma("GCC unroll 4") for (int c = 0; c < n; c++) vf_store(y_at(a, col0 + c, r), acc[c]);
    }
}

static void OF(_direct)(const lode_gemm_args *a, int64_t row0, int64_t row1, int64_t col0, int n) {
    if (n == 1)
        OF(_direct_n)(a, row0, row1, col0, 1);
    else if (n == 2)
        OF(_direct_n)(a, row0, row1, col0, 2);
    else if (n == 3)
        OF(_direct_n)(a, row0, row1, col0, 3);
    else
        OF(_direct_n)(a, row0, row1, col0, 4);
}

#define UNPACK_STEP(B)                    \
    if (B < OF(_steps)) {                 \
        step u;                           \
        OF(_quants)(&u, &h, &t, o, g, B); \
        panel_put(OF(_form), p, &u);      \
        p += panel_vectors(OF(_form));    \
    }

static void OF(_unpack)(const lode_gemm_args *a, int64_t row, vi *p) {
    const int64_t n_blocks = a->k / (32 * OF(_groups) * OF(_steps));
    const uint8_t *w = (const uint8_t *)a->w + (size_t)row * a->w_stride, *next = w + prefetch_distance(a->w_stride);
    const tile t = tile_at(w, a->w_stride);
    size_t o = 0;
    for (int64_t i = 0; i < n_blocks; i++, o += OF(_bytes), next += GEMM_ROWS * OF(_bytes)) {
        head h;
        prefetch(next, GEMM_ROWS * OF(_bytes));
        OF(_head)(&h, &t, o);
        for (int g = 0; g < OF(_groups); g++) {
            UNPACK_STEP(0)
            UNPACK_STEP(1)
            UNPACK_STEP(2)
            UNPACK_STEP(3)
        }
    }
}

static const gemm_type OF(_gemm_type) = {
    OF(_bytes), OF(_form), OF(_groups) * OF(_steps), OF(_direct), OF(_unpack), OF(_panel),
};

static void OF(_gemm)(const lode_gemm_args *a, int64_t row0, int64_t row1) { run(&OF(_gemm_type), a, row0, row1); }

#undef UNPACK_STEP
#undef DIRECT_STEP
#undef OF
#undef JOIN
#undef JOIN2
#undef T
