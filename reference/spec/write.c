/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/spec/write.h"

#include <math.h>

#include "reference/model/op.h"

enum { CHUNK = 256, SMALL = 4 };

static const struct nnv_value *find(const uint32_t *list, const struct nnv_value *values, uint32_t n, uint32_t i) {
    for (uint32_t k = 0; values && k < n; k++)
        if (list[k] == i) return &values[k];
    return NULL;
}

const struct nnv_value *nnv_spec_value(const struct nnv_spec *spec, const struct nnv_subgraph *s, uint32_t i) {
    if (s != &spec->model.main) return NULL;
    const struct nnv_value *v = find(s->in, spec->inputs, s->nin, i);
    return v ? v : find(s->out, spec->outputs, s->nout, i);
}

bool nnv_spec_is_input(const struct nnv_subgraph *s, uint32_t i) {
    for (uint32_t k = 0; k < s->nin; k++)
        if (s->in[k] == i) return true;
    return false;
}

void nnv_spec_add_operation(struct nnv_text *t, int32_t code) {
    const struct nnv_op *op = nnv_op(code);
    if (op)
        nnv_text_add(t, op->name);
    else
        nnv_text_addf(t, "operation %d", code);
}

void nnv_spec_add_type(struct nnv_text *t, int32_t code) {
    const struct nnv_type *type = nnv_type(code);
    if (type)
        nnv_text_add(t, type->kind == NNV_KIND_MODEL ? "SUBGRAPH" : type->name);
    else
        nnv_text_addf(t, "type %d", code);
}

void nnv_spec_add_dims(struct nnv_text *t, uint32_t rank, const uint32_t *dims, const char *zero) {
    nnv_text_add(t, "[");
    for (uint32_t i = 0; i < rank; i++) {
        nnv_text_add(t, i ? "," : "");
        if (dims[i])
            nnv_text_addf(t, "%u", dims[i]);
        else
            nnv_text_add(t, zero);
    }
    nnv_text_add(t, "]");
}

bool nnv_spec_fits(int32_t type, uint32_t rank, const uint32_t *dims, size_t bytes, size_t *elems) {
    size_t want;
    return nnv_size_bytes(type, rank, dims, elems, &want) && want == bytes;
}

static void add_number(struct nnv_text *t, const struct nnv_type *type, double v) {
    if (type->kind != NNV_KIND_FLOAT)
        nnv_text_addf(t, "%.0f", v);
    else if (type->size == 4)
        nnv_text_add_float(t, (float)v);
    else if (isfinite(v) && v != 0) /* an exact float16 never needs more than 21 digits */
        nnv_text_addf(t, "%.21g", v);
    else
        nnv_text_add_double(t, v);
}

void nnv_spec_add_numbers(struct nnv_text *t, int32_t type, const void *data, size_t n, const char *separator) {
    const struct nnv_type *traits = nnv_type(type);
    double v[CHUNK];
    for (size_t start = 0; start < n; start += CHUNK) {
        size_t k = n - start < CHUNK ? n - start : CHUNK;
        nnv_load(type, (const char *)data + start * traits->size, k, v);
        for (size_t i = 0; i < k; i++) {
            nnv_text_add(t, start + i ? separator : "");
            add_number(t, traits, v[i]);
        }
    }
}

bool nnv_spec_add_small_constant(struct nnv_text *t, const struct nnv_operand *o) {
    size_t n;
    if (!nnv_is_constant(o) || !nnv_spec_fits(o->type, o->rank, o->dims, o->bytes, &n) || n > SMALL) return false;
    bool tensor = nnv_type(o->type)->tensor;
    nnv_text_add(t, tensor ? "[" : "");
    nnv_spec_add_numbers(t, o->type, o->data, n, ",");
    nnv_text_add(t, tensor ? "]" : "");
    return true;
}
