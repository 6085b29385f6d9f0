/* iq1_s.c - rows of IQ1_S. Decoding only. */
#include "quant/iq1_s.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq1_s, 256)

const quant_info lode_quant_IQ1_S = { decode, NULL };
