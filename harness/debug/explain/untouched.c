/* SPDX-License-Identifier: Apache-2.0 */
/** @file untouched.c Elements that were never written: whether they hold the bytes that their buffer held before. */
#include <string.h>

#include "harness/debug/explain/fit.h"

enum { EVIDENCE = 4 /* bytes that are as they were, for it not to be chance */ };

bool nnv_explain_is_untouched(const struct nnv_explaining *x, const struct nnv_fault *fault) {
    static const double mark = 0x1.8p900; /* no type's number */
    for (uint32_t i = 0; i < x->spec->model.main.nout; i++) {
        const struct nnv_operand *o = nnv_explain_output(x, i);
        const size_t n = nnv_explain_elems(x, i), size = nnv_type(o->type)->size;
        double *marks = NNV_NEW(x->work, double, n + 1), *to = NNV_NEW(x->work, double, n + 1),
               *v = NNV_NEW(x->work, double, n + 1);
        if (!marks || !to || !v) return false;
        for (size_t k = 0; k < n; k++) marks[k] = mark;
        const struct nnv_fault_output y = {.type = o->type, .n = n, .v = v, .poison = marks};
        if (n == 0 || o->ignored || !nnv_fault_spoil(fault, &y, to)) continue;
        const unsigned char *held = x->poison_bytes[i], *actual = x->actual_values[i].data;
        for (size_t k = 0; k < n; k++)
            if (to[k] == mark && memcmp(held + k * size, actual + k * size, size) != 0) return false;
    }
    return true;
}

/** True if the wrong elements, and only these need be, hold the bytes that were there before; *bytes of them. */
static bool are_untouched(const struct nnv_explaining *x, size_t *bytes) {
    size_t at = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < x->spec->model.main.nout; at += nnv_explain_elems(x, i++)) {
        const size_t size = nnv_type(nnv_explain_output(x, i)->type)->size;
        const unsigned char *held = x->poison_bytes[i], *actual = x->actual_values[i].data;
        for (size_t k = 0; k < nnv_explain_elems(x, i); k++) {
            if (!x->wrong[at + k]) continue;
            if (memcmp(held + k * size, actual + k * size, size) != 0) return false;
            *bytes += size;
        }
    }
    return true;
}

enum nnv_status nnv_explain_untouched(struct nnv_explaining *x, struct nnv_err *err) {
    const struct nnv_explain_place everywhere = {-1, -1};
    struct nnv_explain_numbers c;
    size_t bytes;
    x->out->tried++;
    if (!are_untouched(x, &bytes) || bytes < (x->words ? 1 : EVIDENCE)) return NNV_OK;
    if (!nnv_explain_new_numbers(x->work, x->n, &c)) return nnv_no_memory(err);
    for (size_t k = 0; k < x->n; k++) {
        c.v[k] = x->wrong[k] ? x->poison[k] : x->right.v[k];
        c.bound[k] = x->right.bound[k];
    }
    const struct nnv_explain_fit f = {x->out->compared, x->out->wrong, x->out->wrong, 0};
    return nnv_explain_keep(x, nnv_fault_untouched(), everywhere, &c, &f, err);
}
