/* conv.c - convolutions, and columns for doing them as products. */
#include "ops/conv.h"

#include "graph/elem.h"
#include "graph/graph.h"
#include "lode/quant.h"
#include "ops/case.h"
#include "ops/unary.h"

#include <string.h>

static lode_status check_axes(const lode_tensor *t, int n, lode_err *err) {
    for (int i = 0; i < n; i++) {
        const lode_conv_axis *a = &LODE_PAR(t, lode_conv_desc)->axis[i];
        LODE_TRY(lode_want(t, a->stride > 0 && a->dilation > 0 && a->pad >= 0,
                           "want strides and dilations above 0, pads from 0 on", err));
    }
    return LODE_OK;
}

static lode_tensor *node(lode_graph *g, lode_op op, lode_tensor *k, lode_tensor *x, const lode_conv_desc *d) {
    return lode_op_new2(g, op, d, sizeof *d, k, x);
}

/* An element of an image with any distances, 0 outside. */
static float pixel(const lode_tensor *x, const int64_t i[LODE_MAX_DIMS]) {
    size_t off = 0;
    for (int k = 0; k < LODE_MAX_DIMS; k++) {
        if (i[k] < 0 || i[k] >= x->ne[k]) return 0;
        off += (size_t)i[k] * x->nb[k];
    }
    float v;
    memcpy(&v, lode_host(x) + off, sizeof v);
    return v;
}

/* A kernel's element by its number in logical order. */
static double weight(const lode_tensor *k, int64_t i) {
    float v;
    const char *row = lode_host_nth_row(k, i / k->ne[0]);
    lode_decode_row(k->type, row + (size_t)(i % k->ne[0]) * k->nb[0], &v, 1);
    return (double)v;
}

static int64_t tap(const lode_conv_axis *a, int64_t out, int64_t k) {
    return out * a->stride + k * a->dilation - a->pad;
}

static lode_conv_desc desc_of(const lode_case *c) {
    lode_conv_desc d = { .channels = (int32_t)lode_case_num(c, "c", 1),
                         .type = (int32_t)lode_case_num(c, "type", LODE_F32) };
    for (int i = 0; i < 3; i++)
        d.axis[i] = (lode_conv_axis){ (int32_t)lode_case_num(c, "s", 1), (int32_t)lode_case_num(c, "p", 0),
                                      (int32_t)lode_case_num(c, "d", 1) };
    return d;
}

/* ---- im2col ---- */

lode_tensor *lode_im2col(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *d) {
    return node(g, LODE_IM2COL, k, x, d);
}

lode_tensor *lode_im2col_1d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *d) {
    return node(g, LODE_IM2COL_1D, k, x, d);
}

lode_tensor *lode_im2col_3d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *d) {
    return node(g, LODE_IM2COL_3D, k, x, d);
}

static lode_status infer_im2col(lode_tensor *t, int axes, lode_err *err) {
    const lode_conv_desc *d = LODE_PAR(t, lode_conv_desc);
    const lode_tensor *k = t->src[0], *x = t->src[1];
    const int64_t c = axes == 3 ? d->channels : x->ne[axes];
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(check_axes(t, axes, err));
    LODE_TRY(lode_want(t, d->type == LODE_F32 || d->type == LODE_F16 || d->type == LODE_BF16, "want columns of floats",
                       err));
    LODE_TRY(lode_want(t, axes == 3 ? lode_is_multiple(x->ne[3], c) : c > 0 && k->ne[axes] == c,
                       "kernel and image differ in channels", err));
    LODE_TRY(lode_want(t, axes != 1 || x->ne[3] == 1, "signals have three dimensions", err));
    t->type = (lode_type)d->type;
    t->ne[0] = c;
    for (int i = 0; i < axes; i++) {
        t->ne[0] *= k->ne[i];
        t->ne[i + 1] = lode_conv_out(x->ne[i], k->ne[i], &d->axis[i]);
        LODE_TRY(lode_want(t, t->ne[i + 1] > 0, "the kernel is larger than the image", err));
    }
    if (axes == 3)
        t->ne[3] *= x->ne[3] / c;
    else
        t->ne[axes + 1] = x->ne[axes + 1];
    return lode_dense(t, err);
}

static lode_status infer_im2col_1(lode_tensor *t, lode_err *err) { return infer_im2col(t, 1, err); }
static lode_status infer_im2col_2(lode_tensor *t, lode_err *err) { return infer_im2col(t, 2, err); }
static lode_status infer_im2col_3(lode_tensor *t, lode_err *err) { return infer_im2col(t, 3, err); }

/* Rows of columns: the window at one place, channel by channel. */
static void im2col(const lode_tensor *t, int axes, int64_t from, int64_t to) {
    const lode_conv_desc *d = LODE_PAR(t, lode_conv_desc);
    const lode_tensor *k = t->src[0], *x = t->src[1];
    const int64_t kw = k->ne[0], kh = axes > 1 ? k->ne[1] : 1, kd = axes > 2 ? k->ne[2] : 1;
    for (int64_t r = from; r < to; r++) {
        const int64_t i1 = r % t->ne[1], i2 = r / t->ne[1] % t->ne[2], i3 = r / t->ne[1] / t->ne[2];
        const int64_t od = axes == 3 ? lode_conv_out(x->ne[2], kd, &d->axis[2]) : 1;
        char *row = lode_host_nth_row(t, r);
        for (int64_t e = 0; e < t->ne[0]; e++) {
            const int64_t w = e % kw, h = e / kw % kh, z = e / kw / kh % kd, c = e / kw / kh / kd;
            int64_t at[LODE_MAX_DIMS] = { tap(&d->axis[0], i1, w) };
            if (axes == 1) {
                at[1] = c;
                at[2] = i2;
            } else {
                at[1] = tap(&d->axis[1], i2, h);
                at[2] = axes == 2 ? c : tap(&d->axis[2], i3 % od, z);
                at[3] = axes == 2 ? i3 : i3 / od * d->channels + c;
            }
            const float v = pixel(x, at);
            lode_store(t, row, e, 1, &v);
        }
    }
}

static void ref_im2col_1(const lode_tensor *t, int64_t a, int64_t b) { im2col(t, 1, a, b); }
static void ref_im2col_2(const lode_tensor *t, int64_t a, int64_t b) { im2col(t, 2, a, b); }
static void ref_im2col_3(const lode_tensor *t, int64_t a, int64_t b) { im2col(t, 3, a, b); }

/* ---- Direct convolutions ---- */

lode_tensor *lode_conv_2d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *d) {
    return node(g, LODE_CONV_2D, k, x, d);
}

lode_tensor *lode_conv_2d_dw(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *d) {
    return node(g, LODE_CONV_2D_DW, k, x, d);
}

lode_tensor *lode_conv_3d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *d) {
    return node(g, LODE_CONV_3D, k, x, d);
}

static lode_status infer_conv(lode_tensor *t, int axes, lode_err *err) {
    const lode_conv_desc *d = LODE_PAR(t, lode_conv_desc);
    const lode_tensor *k = t->src[0], *x = t->src[1];
    LODE_TRY(lode_want_float(t, 0, err));
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(check_axes(t, axes, err));
    t->type = LODE_F32;
    for (int i = 0; i < axes; i++) {
        t->ne[i] = lode_conv_out(x->ne[i], k->ne[i], &d->axis[i]);
        LODE_TRY(lode_want(t, t->ne[i] > 0, "the kernel is larger than the image", err));
    }
    return LODE_OK;
}

static lode_status infer_conv_2d(lode_tensor *t, lode_err *err) {
    LODE_TRY(infer_conv(t, 2, err));
    LODE_TRY(lode_want(t, t->src[0]->ne[2] == t->src[1]->ne[2], "kernel and image differ in channels", err));
    t->ne[2] = t->src[0]->ne[3];
    t->ne[3] = t->src[1]->ne[3];
    return lode_dense(t, err);
}

static lode_status infer_conv_2d_dw(lode_tensor *t, lode_err *err) {
    LODE_TRY(infer_conv(t, 2, err));
    LODE_TRY(lode_want(t, t->src[0]->ne[3] == t->src[1]->ne[2] && t->src[0]->ne[2] == 1,
                       "kernel and image differ in channels", err));
    t->ne[2] = t->src[1]->ne[2];
    t->ne[3] = t->src[1]->ne[3];
    return lode_dense(t, err);
}

static lode_status infer_conv_3d(lode_tensor *t, lode_err *err) {
    const int64_t c = LODE_PAR(t, lode_conv_desc)->channels;
    LODE_TRY(infer_conv(t, 3, err));
    LODE_TRY(lode_want(t, c > 0 && t->src[0]->ne[3] % c == 0 && t->src[1]->ne[3] % c == 0,
                       "kernel and image differ in channels", err));
    t->ne[3] = t->src[0]->ne[3] / c * (t->src[1]->ne[3] / c);
    return lode_dense(t, err);
}

/* The kernel's planes for one output channel: `first` in packed order, `n` channels of the image from `c0` on. */
typedef struct {
    int64_t first, n, c0;
} filter;

/* One element: sums over channels and the window; at[2] is the depth in 3-D. */
static double window(const lode_tensor *t, int axes, const filter *f, const int64_t out[LODE_MAX_DIMS], int64_t image) {
    const lode_conv_desc *d = LODE_PAR(t, lode_conv_desc);
    const lode_tensor *k = t->src[0], *x = t->src[1];
    const int64_t kd = axes == 3 ? k->ne[2] : 1, plane = k->ne[0] * k->ne[1];
    double sum = 0;
    for (int64_t c = 0; c < f->n; c++)
        for (int64_t z = 0; z < kd; z++)
            for (int64_t h = 0; h < k->ne[1]; h++)
                for (int64_t w = 0; w < k->ne[0]; w++) {
                    const int64_t at[LODE_MAX_DIMS] = { tap(&d->axis[0], out[0], w), tap(&d->axis[1], out[1], h),
                                                        axes == 3 ? tap(&d->axis[2], out[2], z) : f->c0 + c,
                                                        axes == 3 ? image + c : image };
                    sum += (double)pixel(x, at) * weight(k, f->first + ((c * kd + z) * plane + h * k->ne[0] + w));
                }
    return sum;
}

static void put(const lode_tensor *t, const int64_t i[LODE_MAX_DIMS], double v) {
    const float f = (float)v;
    memcpy(lode_host_row(t, i[1], i[2], i[3]) + (size_t)i[0] * t->nb[0], &f, sizeof f);
}

static void ref_conv(const lode_tensor *t, int axes, bool depthwise, int64_t from, int64_t to) {
    const lode_tensor *k = t->src[0];
    const int64_t channels = axes == 3 ? LODE_PAR(t, lode_conv_desc)->channels : depthwise ? 1 : k->ne[2];
    const int64_t volume = k->ne[0] * k->ne[1] * (axes == 3 ? k->ne[2] : 1) * channels;
    const int64_t n_out = axes == 3 ? k->ne[3] / channels : t->ne[2];
    for (int64_t r = from; r < to; r++) {
        int64_t i[LODE_MAX_DIMS] = { 0, r % t->ne[1], r / t->ne[1] % t->ne[2], r / t->ne[1] / t->ne[2] };
        const int64_t oc = axes == 3 ? i[3] % n_out : i[2], image = axes == 3 ? i[3] / n_out * channels : i[3];
        const filter f = { oc * volume, channels, depthwise ? oc : 0 };
        for (i[0] = 0; i[0] < t->ne[0]; i[0]++) put(t, i, window(t, axes, &f, i, image));
    }
}

static void ref_conv_2d(const lode_tensor *t, int64_t a, int64_t b) { ref_conv(t, 2, false, a, b); }
static void ref_conv_2d_dw(const lode_tensor *t, int64_t a, int64_t b) { ref_conv(t, 2, true, a, b); }
static void ref_conv_3d(const lode_tensor *t, int64_t a, int64_t b) { ref_conv(t, 3, false, a, b); }

#define CONV(ID, lower, infer_fn, ref_fn, text, case_list)                \
    static lode_tensor *make_##lower(lode_graph *g, const lode_case *c) { \
        const lode_conv_desc d = desc_of(c);                              \
        return node(g, LODE_##ID, c->src[0], c->src[1], &d);              \
    }                                                                     \
    const lode_op_info lode_op_##lower = {                                \
        .name = #lower,                                                   \
        .doc = text,                                                      \
        .n_src = 2,                                                       \
        .infer = infer_fn,                                                \
        .ref = ref_fn,                                                    \
        .strided = true,                                                  \
        .make = make_##lower,                                             \
        .cases = case_list,                                               \
    };

CONV(IM2COL_1D, im2col_1d, infer_im2col_1, ref_im2col_1, "windows of signals as columns",
     "k=f16[3,5,2] x=f32[20,5,2] s=2 p=1 | k=f32[3,4,1] x=f32[9,4] d=2 type=1")
CONV(IM2COL, im2col, infer_im2col_2, ref_im2col_2, "windows of images as columns",
     "k=f32[3,2,4,5] x=f32[10,9,4,2] p=1 | k=f16[3,3,2,1] x=f32[8,8,2] s=2 d=2 p=2 type=1")
CONV(IM2COL_3D, im2col_3d, infer_im2col_3, ref_im2col_3, "windows of volumes as columns",
     "k=f32[3,2,2,6] x=f32[7,6,5,6] c=3 p=1 | k=f32[2,2,2,4] x=f32[5,6,4,4] c=2 s=2")
CONV(CONV_2D, conv_2d, infer_conv_2d, ref_conv_2d, "convolution of images",
     "k=f32[3,2,4,5] x=f32[10,9,4,2] p=1 | k=f16[3,3,2,3] x=f32[8,8,2] s=2 d=2 p=2")
CONV(CONV_2D_DW, conv_2d_dw, infer_conv_2d_dw, ref_conv_2d_dw, "convolution of each channel by itself",
     "k=f32[3,2,1,4] x=f32[10,9,4,2] p=1 | k=f16[3,3,1,3] x=f32[8,8,3] s=2")
CONV(CONV_3D, conv_3d, infer_conv_3d, ref_conv_3d, "convolution of volumes",
     "k=f32[3,2,2,6] x=f32[7,6,5,6] c=3 p=1 | k=f16[2,2,2,4] x=f32[5,6,4,4] c=2 s=2")

/* ---- Transposed ---- */

typedef struct {
    int32_t stride, pad, oc;
} up_par;

lode_tensor *lode_conv_transpose_1d(lode_graph *g, lode_tensor *k, lode_tensor *x, int stride) {
    const up_par par = { stride, 0, 0 };
    return lode_op_new2(g, LODE_CONV_TRANSPOSE_1D, &par, sizeof par, k, x);
}

lode_tensor *lode_conv_transpose_2d(lode_graph *g, lode_tensor *k, lode_tensor *x, int stride) {
    const up_par par = { stride, 0, 0 };
    return lode_op_new2(g, LODE_CONV_TRANSPOSE_2D, &par, sizeof par, k, x);
}

static lode_status infer_up(lode_tensor *t, int axes, lode_err *err) {
    const lode_tensor *k = t->src[0], *x = t->src[1];
    LODE_TRY(lode_want_float(t, 0, err));
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want(t, LODE_PAR(t, up_par)->stride > 0, "want a stride above 0", err));
    LODE_TRY(lode_want(t, k->ne[axes + 1] == x->ne[axes] && lode_is_contiguous(k),
                       "want packed kernels of the image's channels", err));
    LODE_TRY(lode_want(t, axes != 1 || (x->ne[2] == 1 && x->ne[3] == 1), "want one signal [w, c]", err));
    t->type = LODE_F32;
    for (int i = 0; i < axes; i++) t->ne[i] = (x->ne[i] - 1) * LODE_PAR(t, up_par)->stride + k->ne[i];
    t->ne[axes] = k->ne[axes];
    t->ne[axes + 1] = x->ne[axes + 1];
    return lode_dense(t, err);
}

static lode_status infer_up_1(lode_tensor *t, lode_err *err) { return infer_up(t, 1, err); }
static lode_status infer_up_2(lode_tensor *t, lode_err *err) { return infer_up(t, 2, err); }

/* Sources of element `out` along one dimension: x with x stride + k = out, 0 <= k < size. */
static void sources(int64_t out, int64_t stride, int64_t size, int64_t n, int64_t range[2]) {
    range[0] = out - size + 1 > 0 ? (out - size + stride) / stride : 0;
    range[1] = out / stride < n - 1 ? out / stride : n - 1;
}

static double up_element(const lode_tensor *t, int axes, const int64_t o[LODE_MAX_DIMS]) {
    const lode_tensor *k = t->src[0], *x = t->src[1];
    const int64_t s = LODE_PAR(t, up_par)->stride, kh = axes == 2 ? k->ne[1] : 1;
    int64_t rx[2], ry[2] = { 0, 0 };
    sources(o[0], s, k->ne[0], x->ne[0], rx);
    if (axes == 2) sources(o[1], s, kh, x->ne[1], ry);
    double sum = 0;
    for (int64_t c = 0; c < x->ne[axes]; c++)
        for (int64_t b = ry[0]; b <= ry[1]; b++)
            for (int64_t a = rx[0]; a <= rx[1]; a++) {
                const int64_t at[LODE_MAX_DIMS] = { a, axes == 2 ? b : c, axes == 2 ? c : 0, axes == 2 ? o[3] : 0 };
                const int64_t dy = axes == 2 ? o[1] - b * s : 0, channel = c * k->ne[axes] + o[axes];
                sum += (double)pixel(x, at) * weight(k, (channel * kh + dy) * k->ne[0] + o[0] - a * s);
            }
    return sum;
}

static void ref_up(const lode_tensor *t, int axes, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
        int64_t i[LODE_MAX_DIMS] = { 0, r % t->ne[1], r / t->ne[1] % t->ne[2], r / t->ne[1] / t->ne[2] };
        for (i[0] = 0; i[0] < t->ne[0]; i[0]++) put(t, i, up_element(t, axes, i));
    }
}

static void ref_up_1(const lode_tensor *t, int64_t a, int64_t b) { ref_up(t, 1, a, b); }
static void ref_up_2(const lode_tensor *t, int64_t a, int64_t b) { ref_up(t, 2, a, b); }

static lode_tensor *make_up_1(lode_graph *g, const lode_case *c) {
    return lode_conv_transpose_1d(g, c->src[0], c->src[1], (int)lode_case_num(c, "s", 1));
}

static lode_tensor *make_up_2(lode_graph *g, const lode_case *c) {
    return lode_conv_transpose_2d(g, c->src[0], c->src[1], (int)lode_case_num(c, "s", 1));
}

const lode_op_info lode_op_conv_transpose_1d = {
    .name = "conv_transpose_1d",
    .doc = "each element of a signal spread by a kernel",
    .n_src = 2,
    .infer = infer_up_1,
    .ref = ref_up_1,
    .make = make_up_1,
    .cases = "k=f32[3,2,4] x=f32[7,4] | k=f16[5,3,2] x=f32[6,2] s=3",
};

const lode_op_info lode_op_conv_transpose_2d = {
    .name = "conv_transpose_2d",
    .doc = "each element of an image spread by a kernel",
    .n_src = 2,
    .infer = infer_up_2,
    .ref = ref_up_2,
    .make = make_up_2,
    .cases = "k=f32[3,2,2,4] x=f32[7,5,4,2] s=2 | k=f16[2,2,3,2] x=f32[4,4,2]",
};

lode_tensor *lode_col2im_1d(lode_graph *g, lode_tensor *x, int oc, int stride, int pad) {
    const up_par par = { stride, pad, oc };
    return lode_op_new1(g, LODE_COL2IM_1D, &par, sizeof par, x);
}

static lode_status infer_col2im(lode_tensor *t, lode_err *err) {
    const up_par *p = LODE_PAR(t, up_par);
    const lode_tensor *x = t->src[0];
    LODE_TRY(lode_want_float(t, 0, err));
    LODE_TRY(lode_want(
        t, p->stride > 0 && p->pad >= 0 && p->oc > 0 && x->ne[0] % p->oc == 0 && x->ne[2] == 1 && x->ne[3] == 1,
        "want [k oc, t]", err));
    t->type = x->type;
    t->ne[0] = (x->ne[1] - 1) * p->stride + x->ne[0] / p->oc - 2 * (int64_t)p->pad;
    t->ne[1] = p->oc;
    LODE_TRY(lode_want(t, t->ne[0] > 0, "the padding is larger than the result", err));
    return lode_dense(t, err);
}

static void ref_col2im(const lode_tensor *t, int64_t from, int64_t to) {
    const up_par *p = LODE_PAR(t, up_par);
    const lode_tensor *x = t->src[0];
    const int64_t k = x->ne[0] / p->oc;
    for (int64_t oc = from; oc < to; oc++)
        for (int64_t o = 0; o < t->ne[0]; o++) {
            int64_t range[2];
            sources(o + p->pad, p->stride, k, x->ne[1], range);
            double sum = 0;
            for (int64_t u = range[0]; u <= range[1]; u++) {
                float v;
                lode_load(x, lode_host_row(x, u, 0, 0), oc * k + o + p->pad - u * p->stride, 1, &v);
                sum += (double)v;
            }
            const float y = (float)sum;
            lode_store(t, lode_host_row(t, oc, 0, 0), o, 1, &y);
        }
}

static lode_tensor *make_col2im(lode_graph *g, const lode_case *c) {
    return lode_col2im_1d(g, c->src[0], (int)lode_case_num(c, "oc", 1), (int)lode_case_num(c, "s", 1),
                          (int)lode_case_num(c, "p", 0));
}

const lode_op_info lode_op_col2im_1d = {
    .name = "col2im_1d",
    .doc = "columns added up at their places in a signal",
    .n_src = 1,
    .infer = infer_col2im,
    .ref = ref_col2im,
    .make = make_col2im,
    .cases = "x=f32[12,7] oc=3 s=2 p=1 | x=f16[10,5] oc=2 s=5 | x=bf16[6,4] oc=2",
};
