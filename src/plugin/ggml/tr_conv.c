/* tr_conv.c - convolution, pooling, images. */
#include "plugin/ggml/translate.h"

/* Strides, pads and dilations stand in the slots in this order, w, h and d of each. */
static lode_conv_desc conv(const gg_node *n, int axes) {
    lode_conv_desc d = { .type = (int32_t)n->like.type };
    for (int i = 0; i < axes; i++) d.axis[i] = (lode_conv_axis){ n->par[i], n->par[axes + i], n->par[2 * axes + i] };
    if (axes == 3) d.channels = n->par[9];
    return d;
}

lode_tensor *gg_tr_im2col(const gg_node *n) {
    enum { IS_2D = 6 };
    lode_conv_desc d = conv(n, 2);
    return n->par[IS_2D] ? lode_im2col(n->g, n->src[0], n->src[1], &d) : lode_im2col_1d(n->g, n->src[0], n->src[1], &d);
}

lode_tensor *gg_tr_im2col_3d(const gg_node *n) {
    const lode_conv_desc d = conv(n, 3);
    return lode_im2col_3d(n->g, n->src[0], n->src[1], &d);
}

lode_tensor *gg_tr_conv_2d(const gg_node *n) {
    const lode_conv_desc d = conv(n, 2);
    return lode_conv_2d(n->g, n->src[0], n->src[1], &d);
}

lode_tensor *gg_tr_conv_2d_dw(const gg_node *n) {
    const lode_conv_desc d = conv(n, 2);
    return lode_conv_2d_dw(n->g, n->src[0], n->src[1], &d);
}

lode_tensor *gg_tr_conv_3d(const gg_node *n) {
    const lode_conv_desc d = conv(n, 3);
    return lode_conv_3d(n->g, n->src[0], n->src[1], &d);
}

lode_tensor *gg_tr_conv_transpose_1d(const gg_node *n) {
    return lode_conv_transpose_1d(n->g, n->src[0], n->src[1], n->par[0]);
}

lode_tensor *gg_tr_conv_transpose_2d(const gg_node *n) {
    return lode_conv_transpose_2d(n->g, n->src[0], n->src[1], n->par[0]);
}

lode_tensor *gg_tr_col2im_1d(const gg_node *n) {
    return lode_col2im_1d(n->g, n->src[0], n->par[1], n->par[0], n->par[2]);
}

lode_tensor *gg_tr_pool_1d(const gg_node *n) {
    const int32_t *p = n->par;
    const lode_pool_desc d = { (lode_pool_kind)p[0], { p[1], 1 }, { p[2], 1 }, { p[3], 0 } };
    return lode_pool_1d(n->g, n->src[0], &d);
}

lode_tensor *gg_tr_pool_2d(const gg_node *n) {
    const int32_t *p = n->par;
    const lode_pool_desc d = { (lode_pool_kind)p[0], { p[1], p[2] }, { p[3], p[4] }, { p[5], p[6] } };
    return lode_pool_2d(n->g, n->src[0], &d);
}

lode_tensor *gg_tr_timestep_embedding(const gg_node *n) {
    return lode_timestep_embedding(n->g, n->src[0], n->par[0], n->par[1]);
}
