/* iq3_xxs.c - rows of IQ3_XXS. Decoding only. */
#include "quant/iq3_xxs.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq3_xxs, 256)

const quant_info lode_quant_IQ3_XXS = { decode, NULL };
