/* iq2_xxs.c - rows of IQ2_XXS. Decoding only. */
#include "quant/iq2_xxs.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq2_xxs, 256)

const quant_info lode_quant_IQ2_XXS = { decode, NULL };
