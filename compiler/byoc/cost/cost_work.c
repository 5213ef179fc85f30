/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a call: operations on numbers, and bytes that are moved. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "compiler/byoc/cost/cost_model.h"
#include "reference/model/work.h"

const struct nnv_relay_type *nnv_cost_type(const struct nnv_relay_expr *e) {
    if (e->type) return e->type;
    if (e->declared) return e->declared;
    if (e->kind == NNV_RELAY_CONSTANT && e->tensor) return e->tensor->type;
    if (e->kind != NNV_RELAY_GET) return NULL;
    const struct nnv_relay_type *t = nnv_cost_type(e->args[0]);
    bool known = t && t->kind == NNV_RELAY_TUPLE_TYPE && e->index >= 0 && (uint64_t)e->index < t->n_fields;
    return known ? t->fields[e->index] : NULL;
}

enum { MOST_NESTING = 64 };

/* Elements and bytes of a type, tuples with all their fields; what is not known counts nothing. */
static void add_size(const struct nnv_relay_type *t, int nesting, double *elems, double *bytes) {
    size_t n = 0, size = 0;
    if (!t || nesting == MOST_NESTING) return;
    if (t->kind == NNV_RELAY_TUPLE_TYPE)
        for (size_t i = 0; i < t->n_fields; i++) add_size(t->fields[i], nesting + 1, elems, bytes);
    if (t->kind != NNV_RELAY_TENSOR || !nnv_relay_type_elems(t, &n, &size)) return;
    *elems += (double)n;
    *bytes += (double)size;
}

double nnv_cost_bytes(const struct nnv_relay_type *t) {
    double elems = 0, bytes = 0;
    add_size(t, 0, &elems, &bytes);
    return bytes;
}

static double elements(const struct nnv_relay_type *t) {
    double elems = 0, bytes = 0;
    add_size(t, 0, &elems, &bytes);
    return elems;
}

static const struct nnv_relay_type *operand(const struct nnv_relay_expr *call, size_t i) {
    const struct nnv_relay_type *t = i < call->n_args ? nnv_cost_type(call->args[i]) : NULL;
    return t && t->kind == NNV_RELAY_TENSOR ? t : NULL;
}

/* The extent of the dimension that a layout text calls by this letter; 0: there is none. */
static double extent(const struct nnv_relay_type *t, const struct nnv_relay_value *layout, char letter) {
    const char *text = layout && layout->kind == NNV_RELAY_STRING ? layout->text : "", *at = strchr(text, letter);
    return t && at && (size_t)(at - text) < t->n_dims ? (double)t->dims[at - text] : 0;
}

static double product(const struct nnv_relay_value *v, double otherwise) {
    if (!v) return otherwise;
    if (v->kind == NNV_RELAY_INT) return (double)v->i;
    double p = 1;
    for (size_t i = 0; v->kind == NNV_RELAY_LIST && i < v->n; i++) p *= (double)v->list[i].i;
    return p;
}

static double last_extent(const struct nnv_relay_type *t) {
    return t && t->n_dims ? (double)t->dims[t->n_dims - 1] : 0;
}

static double flops_of(const struct nnv_cost_model *m, const struct nnv_relay_expr *call, const char *op) {
    const struct nnv_relay_type *in = operand(call, 0), *weight = operand(call, 1);
    double made = elements(nnv_cost_type(call)), most = fmax(made, elements(in)), per;
    const struct nnv_relay_value *kernel = nnv_relay_attr(call, "kernel_layout");
    if (kernel && weight) {
        bool transposed = nnv_ends_with(op, "_transpose");
        return nnv_work_convolution(elements(weight), extent(weight, kernel, transposed ? 'I' : 'O'),
                                    transposed ? elements(in) : made);
    }
    if (nnv_ends_with(op, "dense") || nnv_ends_with(op, "batch_matmul")) {
        const struct nnv_relay_value *transposed = nnv_relay_attr(call, "transpose_a");
        bool swapped = transposed && transposed->i && in && in->n_dims >= 2;
        return nnv_work_product(made, swapped ? (double)in->dims[in->n_dims - 2] : last_extent(in));
    }
    const struct nnv_relay_value *window = nnv_relay_attr(call, "pool_size");
    if (window) return made * product(window, 1);
    return nnv_cost_per_element(m, op, &per) ? most * per : most;
}

static bool add_work(const struct nnv_cost_model *m, const struct nnv_relay_expr *call, struct nnv_cost_work *w) {
    const char *op = nnv_relay_op_name(call);
    if (!op) return false;
    w->ops++;
    if (!nnv_cost_is_view(m, op)) w->flops += flops_of(m, call, op);
    return true;
}

/* Operands, results, and constants within a composite. */
static double bytes_of(const struct nnv_relay_expr *call, const struct nnv_relay_list *inside) {
    double bytes = nnv_cost_bytes(nnv_cost_type(call));
    for (size_t i = 0; i < call->n_args; i++) bytes += nnv_cost_bytes(nnv_cost_type(call->args[i]));
    for (size_t i = 0; i < inside->n; i++)
        if (inside->exprs[i]->kind == NNV_RELAY_CONSTANT) bytes += nnv_cost_bytes(nnv_cost_type(inside->exprs[i]));
    return bytes;
}

/* The type whose rate counts: that of the first operand that is a tensor, or else of the result. */
static enum nnv_relay_dtype rate_of(const struct nnv_relay_expr *call) {
    const struct nnv_relay_type *t = NULL;
    for (size_t i = 0; i < call->n_args && !t; i++) t = operand(call, i);
    if (!t) t = nnv_cost_type(call);
    return t && t->kind == NNV_RELAY_TENSOR ? t->dtype : NNV_RELAY_FLOAT32;
}

bool nnv_cost_work(const struct nnv_cost_model *m, const struct nnv_relay_expr *call, struct nnv_arena *scratch,
                   struct nnv_cost_work *out) {
    struct nnv_relay_list inside = {0};
    bool any = false;
    *out = (struct nnv_cost_work){.dtype = rate_of(call)};
    if (nnv_composite_name(call)) {
        if (nnv_relay_post_order(call->callee->args[0], NULL, NULL, scratch, &inside) != NNV_OK) return false;
        for (size_t i = 0; i < inside.n; i++)
            if (inside.exprs[i]->kind == NNV_RELAY_CALL && add_work(m, inside.exprs[i], out))
                any |= !nnv_cost_is_view(m, nnv_relay_op_name(inside.exprs[i]));
    } else if (add_work(m, call, out)) {
        any = !nnv_cost_is_view(m, nnv_relay_op_name(call));
    }
    if (any) out->bytes = bytes_of(call, &inside);
    return true;
}

double nnv_cost_static_us(const struct nnv_cost_device *d, const struct nnv_cost_work *w) {
    return fmax(w->flops / (d->gflops[w->dtype] * 1e3), w->bytes / (d->gbytes * 1e3)) + d->op_us * (double)w->ops;
}
