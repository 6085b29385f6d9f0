/* convert.c - runs the steps and streams the weights: a tensor at a time is decoded, changed and encoded by rows. */
#include "convert/convert.h"
#include "base/file.h"
#include "base/mem.h"
#include "convert/model.h"
#include "lode/quant.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const lode_type types[] = { LODE_F32, LODE_F16, LODE_BF16, LODE_Q8_0 };

const char *lode_convert_types(void) { return "F32, F16, BF16, Q8_0"; }

bool lode_convert_can(lode_type t) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == t) return true;
    return false;
}

/* Where row i of the output comes from. Checkpoints turn the first half of a head against the second; GGUF's llama
 * turns neighbours: row 2j comes from j, row 2j+1 from j + d/2. */
static int64_t source_row(const convert_model *m, convert_change change, int64_t i) {
    if (change != CONVERT_Q && change != CONVERT_K) return i;
    const int64_t d = (int64_t)m->d_head, at = i % d;
    return i - at + at / 2 + (at % 2) * (d / 2);
}

/* F16 holds 65504 at most: a weight beyond it would silently become infinite. */
static lode_status check_f16(const convert_tensor *t, const float *x, int64_t n, lode_err *err) {
    if (t->type != LODE_F16) return LODE_OK;
    for (int64_t i = 0; i < n; i++)
        if (fabsf(x[i]) >= 65520.0f && isfinite(x[i]))
            return lode_fail(err, LODE_E_UNSUPPORTED, "tensor '%s' holds %g, more than F16 can: convert to BF16 or F32",
                             t->name, (double)x[i]);
    return LODE_OK;
}

/* One tensor into `out` (its bytes). Vectors count as rows of one element where rows move, else as one row. */
static lode_status encode(const convert_model *m, const convert_tensor *t, float *row, uint8_t *out, lode_err *err) {
    const bool moved = t->change == CONVERT_Q || t->change == CONVERT_K;
    const int64_t k = t->n_dims == 1 && moved ? 1 : t->ne[0];
    const int64_t n = t->ne[0] / k * t->ne[1] * t->ne[2] * t->ne[3];
    size_t bytes = 0;
    if (!lode_row_bytes(t->type, k, &bytes))
        return lode_fail(err, LODE_E_BUG, "tensor '%s': row of %lld", t->name, (long long)k);
    for (int64_t i = 0; i < n; i++, out += bytes) {
        st_decode(t->from, source_row(m, t->change, i) * k, k, row);
        if (t->change == CONVERT_PLUS1)
            for (int64_t j = 0; j < k; j++) row[j] += 1.0f;
        LODE_TRY(check_f16(t, row, k, err));
        if (!lode_encode_row(t->type, row, out, k))
            return lode_fail(err, LODE_E_UNSUPPORTED, "%s cannot be written", lode_type_name(t->type));
        if (i % 256 == 0 && m->desc->abort && m->desc->abort(m->desc->user))
            return lode_fail(err, LODE_E_ABORTED, "stopped; %s was not written", m->desc->out_path);
    }
    return LODE_OK;
}

static lode_status tensor_bytes(const convert_tensor *t, size_t *bytes, lode_err *err) {
    size_t row = 0;
    if (lode_row_bytes(t->type, t->ne[0], &row) && lode_mul_ok(row, (size_t)(t->ne[1] * t->ne[2] * t->ne[3]), bytes))
        return LODE_OK;
    return lode_fail(err, LODE_E_FORMAT, "tensor '%s' is too large", t->name);
}

/* Buffers for the largest tensor serve all. */
static lode_status write_all(convert_model *m, const convert_plan *plan, lode_err *err) {
    size_t most = 1, longest = 1, bytes = 0, total = 0, done = 0;
    for (size_t i = 0; i < plan->n; i++) {
        LODE_TRY(tensor_bytes(&plan->items[i], &bytes, err));
        if (bytes > most) most = bytes;
        if ((size_t)plan->items[i].ne[0] > longest) longest = (size_t)plan->items[i].ne[0];
        total += bytes;
    }
    uint8_t *out = malloc(most);
    float *row = lode_calloc(longest, sizeof *row);
    lode_status s =
        out && row ? LODE_OK : lode_fail(err, LODE_E_NOMEM, "out of memory for a tensor of %zu bytes", most);
    for (size_t i = 0; i < plan->n && s == LODE_OK; i++) {
        const convert_tensor *t = &plan->items[i];
        if (m->desc->progress) m->desc->progress(m->desc->user, (float)((double)done / (double)total), t->name);
        s = tensor_bytes(t, &bytes, err);
        if (s == LODE_OK && t->from) s = encode(m, t, row, out, err);
        if (s == LODE_OK) s = lode_gguf_write_tensor(m->w, t->from ? out : (const void *)t->factors, bytes, err);
        done += bytes;
    }
    free(out);
    free(row);
    return s;
}

static lode_status run(convert_model *m, convert_factors *f, convert_plan *plan, lode_err *err) {
    LODE_TRY(convert_config(m, err));
    LODE_TRY(st_open(&m->weights, m->desc->in_dir, err));
    LODE_TRY(lode_gguf_writer_open(&m->w, m->desc->out_path, err));
    LODE_TRY(convert_rope(m, f, err));
    LODE_TRY(convert_names(m, f, plan, err));
    LODE_TRY(convert_vocab(m, err));
    LODE_TRY(convert_keys(m, err));
    for (size_t i = 0; i < plan->n; i++) {
        const convert_tensor *t = &plan->items[i];
        LODE_TRY(lode_gguf_add_tensor(m->w, t->name, t->type, t->n_dims, t->ne, err));
    }
    LODE_TRY(lode_gguf_begin(m->w, err));
    LODE_TRY(write_all(m, plan, err));
    lode_gguf_writer *w = m->w;
    m->w = NULL; /* finish frees it in any case */
    LODE_TRY(lode_gguf_finish(w, err));
    if (m->desc->progress) m->desc->progress(m->desc->user, 1, "");
    return LODE_OK;
}

/* The file to write must not be one of the checkpoint's: it would be lost. A GGUF file in the folder is an older
 * result. */
static lode_status check_target(const lode_convert_desc *desc, lode_err *err) {
    struct stat out, in;
    if (stat(desc->out_path, &out) != 0 || !S_ISREG(out.st_mode)) return LODE_OK;
    DIR *d = opendir(desc->in_dir);
    bool same = false;
    for (const struct dirent *f; d && !same && (f = readdir(d)) != NULL;) {
        const char *end = strrchr(f->d_name, '.');
        same = (!end || strcmp(end, ".gguf") != 0) && fstatat(dirfd(d), f->d_name, &in, 0) == 0 &&
               in.st_dev == out.st_dev && in.st_ino == out.st_ino;
    }
    if (d) closedir(d);
    if (!same) return LODE_OK;
    return lode_fail(err, LODE_E_INPUT, "%s: is a file of the folder that is converted, expected another name",
                     desc->out_path);
}

lode_status lode_convert(const lode_convert_desc *desc, lode_err *err) {
    if (!lode_convert_can(desc->type))
        return lode_fail(err, LODE_E_INPUT, "type %s cannot be converted to, expected one of %s",
                         lode_type_name(desc->type), lode_convert_types());
    if (!lode_is_dir(desc->in_dir))
        return lode_fail(err, LODE_E_NOT_FOUND, "%s: %s, expected one with config.json and *.safetensors", desc->in_dir,
                         lode_is_file(desc->in_dir) ? "is a file, no folder" : "no such folder");
    LODE_TRY(check_target(desc, err));
    convert_model *m = lode_calloc(1, sizeof *m);
    if (!m) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    m->desc = desc;
    convert_factors f = { 0 };
    convert_plan plan = { 0 };
    const lode_status s = run(m, &f, &plan, err);
    if (m->w) lode_gguf_discard(m->w);
    convert_factors_free(&f);
    free(plan.items);
    st_close(m->weights);
    json_decref(m->root);
    free(m->config_path);
    free(m);
    return s;
}
