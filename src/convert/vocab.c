/* vocab.c - the tokenizer of a converted model. A folder without tokenizer.json gives a file that says so. */
#include "base/file.h"
#include "base/str.h"
#include "convert/model.h"

lode_status convert_vocab(convert_model *m, lode_err *err) {
    lode_str path = { 0 };
    lode_str_printf(&path, "%s/tokenizer.json", m->desc->in_dir);
    const bool there = !path.failed && lode_is_file(path.p);
    lode_str_free(&path);
    if (there)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s/tokenizer.json: tokenizers cannot be converted", m->desc->in_dir);
    lode_gguf_set_str(m->w, "tokenizer.ggml.model", "no_vocab", 8);
    return LODE_OK;
}
