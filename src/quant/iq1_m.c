/* iq1_m.c - rows of IQ1_M. Decoding only. */
#include "quant/iq1_m.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq1_m, 256)

const quant_info lode_quant_IQ1_M = { decode, NULL };
