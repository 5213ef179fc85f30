/* SPDX-License-Identifier: Apache-2.0 */
/* Values of attributes: comparing and printing them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/relay.h"

static bool is_number(const struct nnv_relay_value *v) {
    return v->kind == NNV_RELAY_INT || v->kind == NNV_RELAY_FLOAT || v->kind == NNV_RELAY_TRUTH;
}

static double number_of(const struct nnv_relay_value *v) { return v->kind == NNV_RELAY_FLOAT ? v->f : (double)v->i; }

bool nnv_relay_value_equal(const struct nnv_relay_value *a, const struct nnv_relay_value *b) {
    if (is_number(a) && is_number(b)) {
        if (a->kind != NNV_RELAY_FLOAT && b->kind != NNV_RELAY_FLOAT) return a->i == b->i;
        double x = number_of(a), y = number_of(b);
        return x == y || (isnan(x) && isnan(y));
    }
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case NNV_RELAY_STRING:
        return strcmp(a->text, b->text) == 0;
    case NNV_RELAY_META:
        return strcmp(a->text, b->text) == 0 && a->i == b->i;
    case NNV_RELAY_LIST:
        if (a->n != b->n) return false;
        for (size_t i = 0; i < a->n; i++)
            if (!nnv_relay_value_equal(&a->list[i], &b->list[i])) return false;
        return true;
    case NNV_RELAY_NONE:
    case NNV_RELAY_TRUTH:
    case NNV_RELAY_INT:
    case NNV_RELAY_FLOAT:
        break;
    }
    return true;
}

/* The literal of a float64 needs its suffix to be read back as it was; attributes are float64. */
static void print_float(double v, struct nnv_text *out) {
    if (isnan(v))
        nnv_text_add(out, "nanf");
    else if (isinf(v))
        nnv_text_add(out, v < 0 ? "-inff" : "inff");
    else {
        nnv_text_add_double(out, v);
        nnv_text_add(out, "f");
    }
}

static void print_string(const char *s, struct nnv_text *out) {
    nnv_text_add(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            nnv_text_addf(out, "\\%c", *s);
        else if (*s == '\n')
            nnv_text_add(out, "\\n");
        else
            nnv_text_add_n(out, s, 1);
    }
    nnv_text_add(out, "\"");
}

void nnv_relay_value_print(const struct nnv_relay_value *v, struct nnv_text *out) {
    switch (v->kind) {
    case NNV_RELAY_NONE:
        nnv_text_add(out, "None");
        break;
    case NNV_RELAY_TRUTH:
        nnv_text_add(out, v->i ? "True" : "False");
        break;
    case NNV_RELAY_INT:
        nnv_text_addf(out, "%" PRId64, v->i);
        break;
    case NNV_RELAY_FLOAT:
        print_float(v->f, out);
        break;
    case NNV_RELAY_STRING:
        print_string(v->text, out);
        break;
    case NNV_RELAY_LIST:
        nnv_text_add(out, "[");
        for (size_t i = 0; i < v->n; i++) {
            if (i) nnv_text_add(out, ", ");
            nnv_relay_value_print(&v->list[i], out);
        }
        nnv_text_add(out, "]");
        break;
    case NNV_RELAY_META:
        nnv_text_addf(out, "meta[%s][%" PRId64 "]", v->text, v->i);
        break;
    }
}
