/* iq2_xs.c - rows of IQ2_XS. Decoding only. */
#include "quant/iq2_xs.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq2_xs, 256)

const quant_info lode_quant_IQ2_XS = { decode, NULL };
