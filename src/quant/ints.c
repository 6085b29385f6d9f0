/* ints.c - token ids, positions, tables: integers are never rows of floats, so there is nothing to decode. */
#include "quant/row.h"

const quant_info lode_quant_I8 = { NULL, NULL };
const quant_info lode_quant_I16 = { NULL, NULL };
const quant_info lode_quant_I32 = { NULL, NULL };
const quant_info lode_quant_I64 = { NULL, NULL };
