/* types.c - the table of element types and what can be asked of it; rows are dispatched through it. */
#include "quant/row.h"

#include "base/mem.h"

#include <strings.h>

typedef struct type_row {
    const char *name;
    int file_id, block, bytes;
    const quant_info *quant;
} type_row;

static const type_row types[LODE_N_TYPE] = {
#define TYPE(id, name, file, elements, bytes) { name, file, elements, bytes, &lode_quant_##id },
#include "lode/types.def"
#undef TYPE
};

static bool known(lode_type t) { return (unsigned)t < LODE_N_TYPE; }

const char *lode_type_name(lode_type t) { return known(t) ? types[t].name : "unknown"; }
int lode_type_block(lode_type t) { return known(t) ? types[t].block : 1; }
int lode_type_bytes(lode_type t) { return known(t) ? types[t].bytes : 0; }
int lode_type_file_id(lode_type t) { return known(t) ? types[t].file_id : -1; }

lode_type lode_type_of_file_id(uint32_t id) {
    for (int t = 0; t < LODE_N_TYPE; t++)
        if (types[t].file_id >= 0 && (uint32_t)types[t].file_id == id) return (lode_type)t;
    return LODE_N_TYPE;
}

lode_type lode_type_of_name(const char *name) {
    for (int t = 0; t < LODE_N_TYPE; t++)
        if (strcasecmp(types[t].name, name) == 0) return (lode_type)t;
    return LODE_N_TYPE;
}

/* Every GGUF type number that was ever given out; file_types.def. */
const char *lode_file_type_name(uint32_t id) {
    static const struct {
        uint32_t id;
        const char *name;
    } names[] = {
#define FILE_TYPE(number, text, elements, bytes) { number, text },
#include "lode/file_types.def"
#undef FILE_TYPE
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].id == id) return names[i].name;
    return "unknown";
}

bool lode_row_bytes(lode_type t, int64_t n, size_t *bytes) {
    if (!known(t) || n < 0 || n % types[t].block != 0) return false;
    return lode_mul_ok((size_t)(n / types[t].block), (size_t)types[t].bytes, bytes);
}

bool lode_decode_row(lode_type t, const void *src, float *dst, int64_t n) {
    if (!lode_type_can_decode(t) || n < 0 || n % types[t].block != 0) return false;
    types[t].quant->decode(src, dst, n);
    return true;
}

bool lode_encode_row(lode_type t, const float *src, void *dst, int64_t n) {
    if (!lode_type_can_encode(t) || n < 0 || n % types[t].block != 0) return false;
    types[t].quant->encode(src, dst, n);
    return true;
}

bool lode_type_can_decode(lode_type t) { return known(t) && types[t].quant->decode; }
bool lode_type_can_encode(lode_type t) { return known(t) && types[t].quant->encode; }

double lode_dot_row(lode_type t, const void *w, const float *x, int64_t n) {
    enum { STEP = 256 }; /* a multiple of every block */
    float buf[STEP];
    const uint8_t *p = w;
    double sum = 0.0;
    if (!known(t) || n < 0 || n % types[t].block != 0) return (double)NAN;
    for (int64_t i = 0; i < n; i += STEP) {
        const int64_t m = n - i < STEP ? n - i : STEP;
        if (!lode_decode_row(t, p, buf, m)) return (double)NAN;
        for (int64_t k = 0; k < m; k++) sum += (double)buf[k] * (double)x[i + k];
        p += m / types[t].block * types[t].bytes;
    }
    return sum;
}
