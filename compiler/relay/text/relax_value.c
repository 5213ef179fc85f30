/* SPDX-License-Identifier: Apache-2.0 */
/* Printing TVMScript: values of attributes, and types. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/relay/text/print.h"

/* -------------------------------------------------------------------- values */

static void print_number(double v, struct nnv_text *out) {
    if (!isfinite(v)) {
        nnv_text_add(out, isnan(v) ? "float(\"nan\")" : v < 0 ? "float(\"-inf\")" : "float(\"inf\")");
        return;
    }
    const size_t from = out->len;
    nnv_text_add_double(out, v);
    if (!out->failed && strpbrk(out->data + from, ".e") == NULL) nnv_text_add(out, ".0");
}

void nnv_relax_print_value(const struct nnv_relay_value *v, struct nnv_text *out) {
    const bool member = v->kind == NNV_RELAY_STRING && strncmp(v->text, "cls.", 4) == 0;
    if (v->kind == NNV_RELAY_FLOAT) {
        print_number(v->f, out);
    } else if (member) {
        nnv_text_add(out, v->text);
    } else if (v->kind == NNV_RELAY_LIST) {
        nnv_text_add(out, "[");
        for (size_t i = 0; i < v->n; i++) {
            if (i) nnv_text_add(out, ", ");
            nnv_relax_print_value(&v->list[i], out);
        }
        nnv_text_add(out, "]");
    } else {
        nnv_relay_value_print(v, out);
    }
}

/* Pairs are a flat list in Relax. */
void nnv_relax_print_pairs(const struct nnv_relay_value *v, struct nnv_text *out) {
    nnv_text_add(out, "[");
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < v->list[i].n; k++) {
            if (i || k) nnv_text_add(out, ", ");
            nnv_relax_print_value(&v->list[i].list[k], out);
        }
    nnv_text_add(out, "]");
}

/* ---------------------------------------------------------------------- types */

static void print_tensor_type(const struct nnv_relay_type *t, struct nnv_text *out) {
    const char *dtype = nnv_relay_dtype_name(t->dtype);
    if (!nnv_relay_type_known(t)) {
        nnv_text_addf(out, "R.Tensor(dtype=\"%s\", ndim=%zu)", dtype, t->n_dims);
        return;
    }
    nnv_text_add(out, "R.Tensor((");
    for (size_t i = 0; i < t->n_dims; i++) nnv_text_addf(out, "%s%" PRId64, i ? ", " : "", t->dims[i]);
    nnv_text_addf(out, "%s), dtype=\"%s\")", t->n_dims == 1 ? "," : "", dtype);
}

void nnv_relax_print_types(const struct nnv_relay_type *tuple, struct nnv_text *out) {
    for (size_t i = 0; i < tuple->n_fields; i++) {
        if (i) nnv_text_add(out, ", ");
        nnv_relax_print_type(tuple->fields[i], out);
    }
}

void nnv_relax_print_type(const struct nnv_relay_type *t, struct nnv_text *out) {
    if (t && t->kind == NNV_RELAY_TENSOR) {
        print_tensor_type(t, out);
    } else if (t && t->kind == NNV_RELAY_TUPLE_TYPE && t->n_fields) {
        nnv_text_add(out, "R.Tuple(");
        nnv_relax_print_types(t, out);
        nnv_text_add(out, ")");
    } else {
        nnv_text_add(out, t && t->kind == NNV_RELAY_TUPLE_TYPE ? "R.Tuple" : "R.Object");
    }
}
