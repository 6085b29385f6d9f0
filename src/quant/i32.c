/* i32.c - token ids and positions: integers are never rows of floats, so there is nothing to decode. */
#include "quant/row.h"

const quant_info lode_quant_I32 = { NULL, NULL };
