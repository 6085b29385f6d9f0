/* bytes.c - bytes that stand for themselves: the alphabet of byte-level BPE, and byte tokens.
 *
 * Byte-level BPE writes each byte as a visible character: printable ASCII and Latin-1 as themselves, the other 68 in
 * rising order as U+0100 and on. SPM has a token <0xNN> for each byte. */
#include "tok/vocab.h"

#include <stdio.h>

/* Bytes written as themselves: 21..7E, A1..AC, AE..FF. */
static bool is_own(int b) { return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD); }

/* How many bytes below b are not written as themselves. */
static int others_below(int b) {
    if (b <= 0x20) return b;
    if (b <= 0x7F) return 33;
    if (b <= 0xA0) return 33 + b - 0x7F;
    return b <= 0xAD ? 67 : 68;
}

int lode_byte_char(uint8_t byte, char out[2]) {
    const unsigned cp = is_own(byte) ? byte : 0x100u + (unsigned)others_below(byte);
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    out[0] = (char)(0xC0u | cp >> 6);
    out[1] = (char)(0x80u | (cp & 63u));
    return 2;
}

int lode_char_byte(uint32_t cp) {
    if (cp < 0x100) return is_own((int)cp) ? (int)cp : -1;
    if (cp > 0x143) return -1;
    const int k = (int)cp - 0x100;
    if (k < 33) return k;
    if (k < 67) return 0x7F + k - 33;
    return 0xAD;
}

void lode_find_byte_tokens(lode_vocab *v) {
    for (int b = 0; b < 256; b++) {
        char text[8];
        int n = snprintf(text, sizeof text, "<0x%02X>", (unsigned)b);
        lode_token id = LODE_NO_TOKEN;
        if (v->kind == LODE_VOCAB_SPM) {
            id = lode_token_find(v, text, (size_t)n);
            text[0] = (char)b;
            n = 1;
        } else {
            n = lode_byte_char((uint8_t)b, text);
        }
        if (id < 0) {
            id = lode_token_find(v, text, (size_t)n);
            if (id >= 0 && !lode_token_is_plain(v, id)) id = LODE_NO_TOKEN;
        }
        v->byte_token[b] = id;
    }
}
