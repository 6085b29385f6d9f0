/* iq4_xs.c - rows of IQ4_XS. Decoding only. */
#include "quant/iq4_xs.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq4_xs, 256)

const quant_info lode_quant_IQ4_XS = { decode, NULL };
