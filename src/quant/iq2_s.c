/* iq2_s.c - rows of IQ2_S. Decoding only. */
#include "quant/iq2_s.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq2_s, 256)

const quant_info lode_quant_IQ2_S = { decode, NULL };
