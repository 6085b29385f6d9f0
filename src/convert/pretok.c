/* pretok.c - recognises the pre-tokenizer of a byte-level BPE by its structure. The table is pretok.def. */
#include "base/str.h"
#include "convert/vocab.h"

#include <string.h>

enum { STEPS = 8 };

static const struct {
    const char *name;
    int ignore_merges;
    const char *step[STEPS];
} known[] = {
#define PRETOK(name, ignore_merges, ...) { name, ignore_merges, { __VA_ARGS__ } },
#include "convert/pretok.def"
#undef PRETOK
};
enum { N_KNOWN = sizeof known / sizeof *known };

/* One step of tokenizer.json in the table's notation; the text lives as long as the JSON or is a literal. */
typedef struct step {
    const char *kind; /* "@words"; NULL: a Split by `regex` */
    const char *regex;
} step;

static lode_status read_split(const convert_source *s, const json_t *o, step *out, lode_err *err) {
    const char *regex = convert_json_text(json_object_get(o, "pattern"), "Regex", NULL);
    const char *behavior = convert_json_text(o, "behavior", NULL);
    const bool invert = convert_json_bool(o, "invert", false);
    if (!regex) regex = convert_json_text(json_object_get(o, "pattern"), "String", NULL);
    /* "Removed, inverted" keeps the matches; with expressions that match everything that is the same as "Isolated". */
    const bool isolated =
        behavior && ((!strcmp(behavior, "Isolated") && !invert) || (!strcmp(behavior, "Removed") && invert));
    if (!regex || !isolated)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: a Split with behavior '%.20s' is not supported", s->path,
                         behavior ? behavior : "");
    out->regex = regex;
    return LODE_OK;
}

static lode_status read_step(const convert_source *s, const json_t *o, step *out, lode_err *err) {
    const char *type = convert_json_text(o, "type", NULL);
    *out = (step){ 0 };
    if (!type) return lode_fail(err, LODE_E_FORMAT, "%s: a pre_tokenizer has no type", s->path);
    if (!strcmp(type, "Split")) return read_split(s, o, out, err);
    if (!strcmp(type, "ByteLevel")) out->kind = convert_json_bool(o, "use_regex", true) ? "@words" : "@bytes";
    if (!strcmp(type, "Digits")) out->kind = convert_json_bool(o, "individual_digits", false) ? "@digit" : "@digits";
    if (!strcmp(type, "Punctuation")) out->kind = "@punct";
    if (out->kind) return LODE_OK;
    return lode_fail(err, LODE_E_UNSUPPORTED, "%s: pre_tokenizer '%.40s' is not supported", s->path, type);
}

static bool fits(const char *want, const step *have) {
    if (!want) return !have->kind && !have->regex;
    if (want[0] == '@') return have->kind && !strcmp(want, have->kind);
    if (!have->regex) return false;
    return want[0] == '=' ? !strcmp(want + 1, have->regex) : !strncmp(want + 1, have->regex, strlen(want + 1));
}

static lode_status unknown(const convert_source *s, const step *steps, lode_err *err) {
    lode_str text = { 0 };
    for (int i = 0; i < STEPS && (steps[i].kind || steps[i].regex); i++)
        lode_str_printf(&text, "%s%s", i ? ", " : "", steps[i].kind ? steps[i].kind : steps[i].regex);
    const lode_status st =
        lode_fail(err, LODE_E_UNSUPPORTED, "%s: pre-tokenizer not recognised (%.160s); give its name with --pre",
                  s->path, text.p ? text.p : "none");
    lode_str_free(&text);
    return st;
}

lode_status convert_pretok(const convert_source *s, const char **name, lode_err *err) {
    step steps[STEPS + 1] = { { 0 } };
    const json_t *pre = json_object_get(s->tokenizer, "pre_tokenizer");
    const json_t *list = json_object_get(pre, "pretokenizers");
    const size_t n = json_is_array(list) ? json_array_size(list) : 1;
    if (n > STEPS) return lode_fail(err, LODE_E_UNSUPPORTED, "%s: a pre-tokenizer of %zu steps", s->path, n);
    for (size_t i = 0; i < n; i++)
        LODE_TRY(read_step(s, json_is_array(list) ? json_array_get(list, i) : pre, &steps[i], err));
    const int ignore = convert_json_bool(s->model, "ignore_merges", false);
    for (int k = 0; k < N_KNOWN; k++) {
        bool all = known[k].ignore_merges == -1 || known[k].ignore_merges == ignore;
        for (int i = 0; i < STEPS && all; i++) all = fits(known[k].step[i], &steps[i]);
        if (!all) continue;
        *name = known[k].name;
        return LODE_OK;
    }
    return unknown(s, steps, err);
}
