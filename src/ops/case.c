/* case.c - reads test cases. */
#include "ops/case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Axis i of x becomes axis digit[i]: "10" of [5, 12] is [12, 5]. */
static lode_tensor *permuted(lode_graph *g, lode_tensor *x, const char *digits, char **end) {
    int64_t ne[LODE_MAX_DIMS];
    size_t nb[LODE_MAX_DIMS];
    memcpy(ne, x->ne, sizeof ne);
    memcpy(nb, x->nb, sizeof nb);
    for (int i = 0; i < LODE_MAX_DIMS && *digits >= '0' && *digits < '0' + LODE_MAX_DIMS; i++, digits++) {
        ne[*digits - '0'] = x->ne[i];
        nb[*digits - '0'] = x->nb[i];
    }
    *end = (char *)(uintptr_t)digits;
    return lode_view(g, x, ne, nb, 0);
}

/* "f32[63,3]<7+16^10" -> one input; false when it is not of that form. */
static bool read_tensor(lode_case *c, lode_graph *g, const char *name, const char *p) {
    char type_name[16];
    const char *open = strchr(p, '[');
    if (!open || (size_t)(open - p) >= sizeof type_name || c->n_src == LODE_MAX_SRC) return false;
    snprintf(type_name, sizeof type_name, "%.*s", (int)(open - p), p);
    const lode_type type = lode_type_of_name(type_name);
    if (type == LODE_N_TYPE) return false;
    int64_t ne[LODE_MAX_DIMS];
    int n = 0;
    char *end = (char *)(uintptr_t)open;
    do {
        if (n == LODE_MAX_DIMS) return false;
        ne[n++] = strtoll(end + 1, &end, 10);
    } while (*end == ',');
    if (*end++ != ']') return false;
    const int k = c->n_src++;
    c->below[k] = *end == '<' ? strtoll(end + 1, &end, 10) : 1;
    if (strncmp(end, "..", 2) == 0) {
        c->least[k] = c->below[k];
        c->below[k] = strtoll(end + 2, &end, 10);
    }
    const int64_t used = ne[0];
    if (*end == '+') ne[0] += strtoll(end + 1, &end, 10);
    c->leaf[k] = lode_input(g, name, type, n, ne, LODE_DYN_NONE);
    c->src[k] = ne[0] == used ? c->leaf[k] : lode_columns(g, c->leaf[k], 0, used);
    if (*end == '^') c->src[k] = permuted(g, c->src[k], end + 1, &end);
    return *end == '\0';
}

static bool read_word(lode_case *c, lode_graph *g, char *word) {
    char *eq = strchr(word, '=');
    if (!eq) return false;
    *eq = '\0';
    if (strchr(eq + 1, '[')) return read_tensor(c, g, word, eq + 1);
    if (c->n_num == LODE_CASE_NUMS) return false;
    char *end;
    c->num[c->n_num].value = strtod(eq + 1, &end);
    snprintf(c->num[c->n_num++].name, sizeof c->num[0].name, "%.15s", word);
    return *end == '\0';
}

bool lode_case_next(lode_case *c, lode_graph *g, const char **text) {
    memset(c, 0, sizeof *c);
    const char *p = *text;
    while (*p == ' ' || *p == '|') p++;
    if (!*p) return false;
    while (*p && *p != '|') {
        char word[80];
        const size_t n = strcspn(p, " |");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (n >= sizeof word || !read_word(c, g, word)) {
            lode_graph_fail(g, LODE_E_INPUT, "case: '%.*s' cannot be read", (int)n, p);
            return true;
        }
        p += n;
        while (*p == ' ') p++;
    }
    *text = p;
    return true;
}

double lode_case_num(const lode_case *c, const char *name, double otherwise) {
    for (int i = 0; i < c->n_num; i++)
        if (strcmp(c->num[i].name, name) == 0) return c->num[i].value;
    return otherwise;
}
