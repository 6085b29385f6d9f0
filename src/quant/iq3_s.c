/* iq3_s.c - rows of IQ3_S. Decoding only. */
#include "quant/iq3_s.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq3_s, 256)

const quant_info lode_quant_IQ3_S = { decode, NULL };
