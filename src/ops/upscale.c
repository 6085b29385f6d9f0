/* upscale.c - images [w, h, c, n] in another size: nearest, bilinear (also antialiased), bicubic (Keys 1981, a =
 * -0.75). Dimensions 2 and 3 are always nearest. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

#include <math.h>
#include <string.h>

lode_tensor *lode_upscale(lode_graph *g, lode_tensor *x, const lode_upscale_desc *desc) {
    return lode_op_new1(g, LODE_UPSCALE, desc, sizeof *desc, x);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_upscale_desc *d = LODE_PAR(t, lode_upscale_desc);
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(
        lode_want(t, d->mode >= LODE_NEAREST && d->mode <= LODE_BICUBIC, "want nearest, bilinear or bicubic", err));
    LODE_TRY(lode_want(t, !d->antialias || d->mode == LODE_BILINEAR, "antialiasing is of bilinear alone", err));
    LODE_TRY(lode_want(t, lode_n_elements(t->src[0]) > 0, "the image is empty", err));
    t->type = LODE_F32;
    for (int i = 0; i < LODE_MAX_DIMS; i++) {
        LODE_TRY(lode_want(t, d->ne[i] > 0, "want sizes above 0", err));
        t->ne[i] = d->ne[i];
    }
    return lode_dense(t, err);
}

/* Along one dimension: the taps that a result element is made of. */
enum { TAPS = 4 };
typedef struct {
    int64_t at[TAPS];
    double weight[TAPS];
    int n;
} taps;

/* z = out / in in f32, as the programs that made the models do; o = 0 where corners are aligned. */
typedef struct {
    float z, o;
    int64_t n; /* of the source */
} axis;

static axis axis_of(const lode_tensor *t, int i) {
    const lode_upscale_desc *d = LODE_PAR(t, lode_upscale_desc);
    const int64_t in = t->src[0]->ne[i], out = t->ne[i];
    axis a = { .z = (float)out / (float)in, .o = 0.5f, .n = in };
    if (d->align_corners && i < 2) {
        a.o = 0;
        if (out > 1 && in > 1) a.z = (float)(out - 1) / (float)(in - 1);
    }
    return a;
}

static int64_t inside(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static double cubic(double t) {
    const double a = -0.75, x = fabs(t);
    return x <= 1 ? (a + 2) * x * x * x - (a + 3) * x * x + 1 : a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a;
}

static taps taps_of(const axis *a, int64_t i, lode_upscale_mode mode) {
    taps p = { .n = 1, .weight = { 1 } };
    if (mode == LODE_NEAREST) {
        p.at[0] = inside((int64_t)floorf((float)i / a->z), a->n);
        return p;
    }
    const float x = ((float)i + a->o) / a->z - a->o;
    const int64_t x0 = (int64_t)floorf(x);
    const double f = (double)(x - (float)x0);
    if (mode == LODE_BILINEAR) {
        p.n = 2;
        p.at[0] = inside(x0, a->n);
        p.at[1] = inside(x0 + 1, a->n);
        const double w = fmin(1, fmax(0, (double)(x - (float)p.at[0])));
        p.weight[0] = 1 - w;
        p.weight[1] = w;
        return p;
    }
    p.n = TAPS;
    for (int k = 0; k < TAPS; k++) {
        p.at[k] = inside(x0 - 1 + k, a->n);
        p.weight[k] = cubic(f + 1 - k);
    }
    return p;
}

static double element(const lode_tensor *x, int64_t i0, const char *row) {
    float v;
    memcpy(&v, row + (size_t)i0 * x->nb[0], sizeof v);
    return (double)v;
}

/* A triangle over the source elements that the result element covers. */
static double antialiased(const lode_tensor *x, const axis *ax, const axis *ay, int64_t i, int64_t j,
                          const char *plane) {
    const float rx = fmaxf(1, 1 / ax->z), ry = fmaxf(1, 1 / ay->z);
    const float cx = ((float)i + 0.5f) / ax->z, cy = ((float)j + 0.5f) / ay->z;
    const int64_t x1 = (int64_t)fminf((float)ax->n, floorf(cx + rx + 0.5f)),
                  y1 = (int64_t)fminf((float)ay->n, floorf(cy + ry + 0.5f));
    double sum = 0, total = 0;
    for (int64_t v = (int64_t)fmaxf(0, floorf(cy - ry + 0.5f)); v < y1; v++) {
        const double wy = fmax(0, 1 - fabs((double)v - (double)cy + 0.5) / (double)ry);
        for (int64_t u = (int64_t)fmaxf(0, floorf(cx - rx + 0.5f)); u < x1; u++) {
            const double w = wy * fmax(0, 1 - fabs((double)u - (double)cx + 0.5) / (double)rx);
            sum += w * element(x, u, plane + (size_t)v * x->nb[1]);
            total += w;
        }
    }
    return total > 0 ? sum / total : 0;
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_upscale_desc *d = LODE_PAR(t, lode_upscale_desc);
    const lode_tensor *x = t->src[0];
    const axis ax = axis_of(t, 0), ay = axis_of(t, 1), az = axis_of(t, 2), aw = axis_of(t, 3);
    for (int64_t r = from; r < to; r++) {
        const int64_t j = r % t->ne[1], k = r / t->ne[1] % t->ne[2], l = r / t->ne[1] / t->ne[2];
        const char *plane =
            lode_host_row(x, 0, taps_of(&az, k, LODE_NEAREST).at[0], taps_of(&aw, l, LODE_NEAREST).at[0]);
        const taps py = taps_of(&ay, j, d->mode);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (int64_t i = 0; i < t->ne[0]; i++) {
            double sum = 0;
            const taps px = taps_of(&ax, i, d->mode);
            for (int b = 0; b < py.n && !d->antialias; b++)
                for (int a = 0; a < px.n; a++)
                    sum += py.weight[b] * px.weight[a] * element(x, px.at[a], plane + (size_t)py.at[b] * x->nb[1]);
            y[i] = (float)(d->antialias ? antialiased(x, &ax, &ay, i, j, plane) : sum);
        }
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    const lode_upscale_desc d = {
        .ne = { (int64_t)lode_case_num(c, "n0", 1), (int64_t)lode_case_num(c, "n1", 1),
                (int64_t)lode_case_num(c, "n2", 1), 1 },
        .mode = (lode_upscale_mode)(int)lode_case_num(c, "mode", 0),
        .align_corners = (int32_t)lode_case_num(c, "align", 0),
        .antialias = (int32_t)lode_case_num(c, "anti", 0),
    };
    return lode_upscale(g, c->src[0], &d);
}

const lode_op_info lode_op_upscale = {
    .name = "upscale",
    .doc = "images in another size",
    .n_src = 1,
    .infer = infer,
    .ref = ref,
    .make = make,
    .cases = "x=f32[5,7,3] n0=10 n1=21 n2=6 | x=f32[5,7,3] n0=9 n1=4 n2=3 mode=1 | x=f32[5,7] n0=9 n1=4 mode=1 align=1"
             " | x=f32[5,7] n0=9 n1=4 mode=2 | x=f32[15,17] n0=4 n1=5 mode=1 anti=1 | x=f32[7,5]^10 n0=9 n1=9 mode=1",
};
