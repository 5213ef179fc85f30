/* SPDX-License-Identifier: Apache-2.0 */
/* A model from NNAPI JSON. The text is untrusted: each reference is checked, and then the whole model. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/type.h"
#include "compiler/nnapi/emit/emit.h"
#include "compiler/nnapi/emit/emit_tables.h"
#include "reference/model/op.h"
#include "reference/model/validate.h"

/** What is read. */
struct reader {
    struct nnv_arena *arena;
    struct nnv_err *err;
    const json_t *memories;
    const char *weights;
    size_t weights_bytes;
    uint32_t n_referenced;
    /* of the graph at hand */
    const json_t *types, *constants, *operands, *operations;
    struct nnv_subgraph graph;
};

#define expected(r, ...) nnv_fail((r)->err, NNV_INVALID, __VA_ARGS__)

static enum nnv_status no_memory(struct reader *r) { return nnv_no_memory(r->err); }

/** A member that is an integer from lo to hi. */
static enum nnv_status get_int(struct reader *r, const json_t *object, const char *key, int64_t lo, int64_t hi,
                               int64_t *out) {
    const json_t *v = json_object_get(object, key);
    if (!json_is_integer(v) || json_integer_value(v) < lo || json_integer_value(v) > hi)
        return expected(r, "%s: expected an integer from %lld to %lld", key, (long long)lo, (long long)hi);
    *out = json_integer_value(v);
    return NNV_OK;
}

static enum nnv_status get_list(struct reader *r, const json_t *object, const char *key, const json_t **out) {
    *out = json_object_get(object, key);
    return json_is_array(*out) ? NNV_OK : expected(r, "%s: expected a list", key);
}

/** A list of integers below a limit. */
static enum nnv_status get_indices(struct reader *r, const json_t *object, const char *key, int64_t below,
                                   uint32_t **out, uint32_t *n) {
    const json_t *list;
    enum nnv_status st = get_list(r, object, key, &list);
    if (st != NNV_OK) return st;
    *n = (uint32_t)json_array_size(list);
    if (!(*out = NNV_NEW(r->arena, uint32_t, *n))) return no_memory(r);
    for (uint32_t i = 0; i < *n; i++) {
        const json_t *v = json_array_get(list, i);
        if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= below)
            return expected(r, "%s[%u]: expected an integer from 0 to %lld", key, i, (long long)below - 1);
        (*out)[i] = (uint32_t)json_integer_value(v);
    }
    return NNV_OK;
}

/* --------------------------------------------------------------------------- types */

static enum nnv_status read_channels(struct reader *r, const json_t *type, struct nnv_channel_quant *q) {
    const json_t *scales;
    int64_t dim;
    enum nnv_status st = get_list(r, type, "scales", &scales);
    if (st == NNV_OK) st = get_int(r, type, "channelDim", 0, NNV_MAX_RANK - 1, &dim);
    if (st != NNV_OK) return st;
    *q = (struct nnv_channel_quant){(uint32_t)dim, (uint32_t)json_array_size(scales),
                                    NNV_NEW(r->arena, float, json_array_size(scales))};
    if (!q->scales) return no_memory(r);
    for (uint32_t i = 0; i < q->count; i++) {
        const json_t *v = json_array_get(scales, i);
        if (!json_is_number(v)) return expected(r, "scales[%u]: expected a number", i);
        q->scales[i] = (float)json_number_value(v);
    }
    return NNV_OK;
}

static enum nnv_status read_type(struct reader *r, const json_t *type, struct nnv_operand *o) {
    const char *name = json_string_value(json_object_get(type, "type"));
    const struct nnv_type *t = name ? nnv_type_by_name(name) : NULL;
    const json_t *scale = json_object_get(type, "scale");
    int64_t zero = 0;
    enum nnv_status st = NNV_OK;
    if (!t) return expected(r, "type: expected the name of an operand type");
    o->type = t->code;
    if (t->tensor) st = get_indices(r, type, "shape", (int64_t)NNV_DIM_MAX + 1, &o->dims, &o->rank);
    if (st == NNV_OK && scale && !json_is_number(scale)) st = expected(r, "scale: expected a number");
    if (st == NNV_OK && json_object_get(type, "zeroPoint"))
        st = get_int(r, type, "zeroPoint", INT32_MIN, INT32_MAX, &zero);
    if (st == NNV_OK && json_object_get(type, "scales")) st = read_channels(r, type, &o->channel);
    o->scale = (float)json_number_value(scale);
    o->zero_point = (int32_t)zero;
    return st;
}

/* ---------------------------------------------------------------------- constants */

static enum nnv_status store(struct reader *r, const struct nnv_type *t, const json_t *v, char *to) {
    double number;
    const bool half = t->kind == NNV_KIND_FLOAT && t->size == 2;
    const double lo = half || t->kind == NNV_KIND_BOOL ? 0 : t->min;
    const double hi = half ? UINT16_MAX : t->kind == NNV_KIND_BOOL ? UINT8_MAX : t->max;
    if (!nnv_json_number(v, &number)) return expected(r, "expected a number");
    if (t->kind == NNV_KIND_FLOAT && !half) {
        const float f = (float)number;
        memcpy(to, &f, sizeof f);
        return NNV_OK;
    }
    if (!json_is_integer(v) || number < lo || number > hi)
        return expected(r, "expected an integer from %.0f to %.0f", lo, hi);
    if (half) {
        const uint16_t bits = (uint16_t)number;
        memcpy(to, &bits, sizeof bits);
    } else if (t->kind == NNV_KIND_BOOL) {
        *to = (char)(unsigned char)number;
    } else {
        nnv_store(t->code, &number, 1, to);
    }
    return NNV_OK;
}

static enum nnv_status read_constant(struct reader *r, const json_t *constant, struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    const char *dtype = json_string_value(json_object_get(constant, "dtype"));
    const json_t *value = json_object_get(constant, "value");
    const size_t n = json_is_array(value) ? json_array_size(value) : 1;
    if (!dtype || strcmp(dtype, nnv_emit_dtype(o->type)) != 0)
        return expected(r, "dtype: expected \"%s\", as the operand has", nnv_emit_dtype(o->type));
    if (!value || json_is_array(value) != t->tensor)
        return expected(r, "value: expected %s", t->tensor ? "a list" : "one number");
    char *data = nnv_arena_alloc(r->arena, n, t->size);
    if (!data) return no_memory(r);
    for (size_t i = 0; i < n; i++) {
        enum nnv_status st = store(r, t, json_is_array(value) ? json_array_get(value, i) : value, data + i * t->size);
        if (st != NNV_OK) return nnv_at(r->err, st, "value[%zu]", i);
    }
    o->lifetime = NNV_CONSTANT_COPY;
    o->data = data;
    o->bytes = n * t->size;
    return NNV_OK;
}

static enum nnv_status read_from_file(struct reader *r, const json_t *value, struct nnv_operand *o) {
    int64_t memory, offset, length;
    enum nnv_status st = get_int(r, value, "value", 0, (int64_t)json_array_size(r->memories) - 1, &memory);
    if (st == NNV_OK) st = get_int(r, value, "offset", 0, (int64_t)r->weights_bytes, &offset);
    if (st == NNV_OK) st = get_int(r, value, "length", 0, (int64_t)r->weights_bytes - offset, &length);
    if (st != NNV_OK) return st;
    o->lifetime = NNV_CONSTANT_REFERENCE;
    o->bytes = (size_t)length;
    o->data = nnv_arena_copy(r->arena, r->weights + offset, o->bytes);
    return o->data ? NNV_OK : no_memory(r);
}

/* ------------------------------------------------------------------------ operands */

static enum nnv_status read_reference(struct reader *r, const json_t *value, struct nnv_operand *o) {
    const char *kind = json_string_value(json_object_get(value, "type"));
    int64_t at;
    if (!kind || strcmp(kind, "model_idx") != 0) return expected(r, "type: expected model_idx, as of a MODEL");
    enum nnv_status st = get_int(r, value, "value", 0, (int64_t)r->n_referenced - 1, &at);
    if (st != NNV_OK) return st;
    o->lifetime = NNV_SUBGRAPH;
    o->subgraph = (uint32_t)at;
    return NNV_OK;
}

static enum nnv_status read_value(struct reader *r, const json_t *value, struct nnv_operand *o) {
    const char *kind = json_string_value(json_object_get(value, "type"));
    int64_t at;
    if (nnv_type(o->type)->kind == NNV_KIND_MODEL) return read_reference(r, value, o);
    if (!value || (kind && strcmp(kind, "memory_ptr") == 0))
        return NNV_OK; /* inputs and outputs are lists of their own */
    if (kind && strcmp(kind, "ann_memory") == 0) return read_from_file(r, value, o);
    if (kind && strcmp(kind, "no_value") == 0) {
        o->lifetime = NNV_NO_VALUE;
        return NNV_OK;
    }
    if (!kind || strcmp(kind, "constant_idx") != 0)
        return expected(r, "type: expected constant_idx, ann_memory, memory_ptr or no_value");
    enum nnv_status st = get_int(r, value, "value", 0, (int64_t)json_array_size(r->constants) - 1, &at);
    if (st != NNV_OK) return st;
    st = read_constant(r, json_array_get(r->constants, (size_t)at), o);
    return st == NNV_OK ? st : nnv_at(r->err, st, "constants[%lld]", (long long)at);
}

static enum nnv_status read_operand(struct reader *r, const json_t *operand, struct nnv_operand *o) {
    int64_t type;
    enum nnv_status st = get_int(r, operand, "type", 0, (int64_t)json_array_size(r->types) - 1, &type);
    if (st != NNV_OK) return st;
    st = read_type(r, json_array_get(r->types, (size_t)type), o);
    if (st != NNV_OK) return nnv_at(r->err, st, "types[%lld]", (long long)type);
    st = read_value(r, json_object_get(operand, "value"), o);
    return st == NNV_OK ? st : nnv_at(r->err, st, "value");
}

static enum nnv_status read_operands(struct reader *r) {
    struct nnv_subgraph *s = &r->graph;
    s->noperands = (uint32_t)json_array_size(r->operands);
    if (!(s->operands = NNV_NEW(r->arena, struct nnv_operand, s->noperands))) return no_memory(r);
    for (uint32_t i = 0; i < s->noperands; i++) {
        enum nnv_status st = read_operand(r, json_array_get(r->operands, i), &s->operands[i]);
        if (st != NNV_OK) return nnv_at(r->err, st, "operands[%u]", i);
    }
    return NNV_OK;
}

static enum nnv_status read_operations(struct reader *r) {
    struct nnv_subgraph *s = &r->graph;
    s->noperations = (uint32_t)json_array_size(r->operations);
    if (!(s->operations = NNV_NEW(r->arena, struct nnv_operation, s->noperations))) return no_memory(r);
    for (uint32_t i = 0; i < s->noperations; i++) {
        const json_t *entry = json_array_get(r->operations, i);
        struct nnv_operation *to = &s->operations[i];
        const char *name = json_string_value(json_object_get(entry, "op"));
        const struct nnv_op *op = name ? nnv_op_by_name(name) : NULL;
        if (!op) return expected(r, "operations[%u].op: expected the name of an operation", i);
        to->type = op->code;
        enum nnv_status st = get_indices(r, entry, "input", s->noperands, &to->in, &to->nin);
        if (st == NNV_OK) st = get_indices(r, entry, "output", s->noperands, &to->out, &to->nout);
        if (st != NNV_OK) return nnv_at(r->err, st, "operations[%u]", i);
    }
    return NNV_OK;
}

static enum nnv_status read_arguments(struct reader *r, const json_t *json) {
    struct nnv_subgraph *s = &r->graph;
    enum nnv_status st = get_indices(r, json, "inputs", s->noperands, &s->in, &s->nin);
    if (st == NNV_OK) st = get_indices(r, json, "outputs", s->noperands, &s->out, &s->nout);
    for (uint32_t i = 0; st == NNV_OK && i < s->nin; i++) s->operands[s->in[i]].lifetime = NNV_SUBGRAPH_INPUT;
    for (uint32_t i = 0; st == NNV_OK && i < s->nout; i++) s->operands[s->out[i]].lifetime = NNV_SUBGRAPH_OUTPUT;
    return st;
}

static enum nnv_status read_graph(struct reader *r, const json_t *json, struct nnv_subgraph *out) {
    r->graph = (struct nnv_subgraph){0};
    enum nnv_status st = get_list(r, json, "types", &r->types);
    if (st == NNV_OK) st = get_list(r, json, "constants", &r->constants);
    if (st == NNV_OK) st = get_list(r, json, "operands", &r->operands);
    if (st == NNV_OK) st = get_list(r, json, "operations", &r->operations);
    if (st == NNV_OK) st = read_operands(r);
    if (st == NNV_OK) st = read_operations(r);
    if (st == NNV_OK) st = read_arguments(r, json);
    *out = r->graph;
    return st;
}

static enum nnv_status read_model(struct reader *r, const json_t *document, struct nnv_model *model) {
    const json_t *memory, *referenced = NULL;
    int64_t size;
    enum nnv_status st = get_list(r, document, "memories", &r->memories);
    memory = st == NNV_OK ? json_array_get(r->memories, 0) : NULL;
    if (memory) st = get_int(r, memory, "size", (int64_t)r->weights_bytes, (int64_t)r->weights_bytes, &size);
    if (st == NNV_OK && json_object_get(document, "referenced")) st = get_list(r, document, "referenced", &referenced);
    if (st != NNV_OK) return st;
    const uint32_t n = r->n_referenced = (uint32_t)json_array_size(referenced);
    *model = (struct nnv_model){.nreferenced = n,
                                .referenced = NNV_NEW(r->arena, struct nnv_subgraph, n),
                                .relaxed = json_is_true(json_object_get(document, "relaxed"))};
    if (!model->referenced) return no_memory(r);
    st = read_graph(r, document, &model->main);
    for (uint32_t i = 0; i < n && st == NNV_OK; i++) {
        st = read_graph(r, json_array_get(referenced, i), &model->referenced[i]);
        if (st != NNV_OK) return nnv_at(r->err, st, "referenced[%u]", i);
    }
    return st == NNV_OK ? nnv_validate(model, r->arena, NULL, r->err) : st;
}

enum nnv_status nnv_emit_read(const char *json, size_t len, const char *name, const void *weights, size_t weights_bytes,
                              struct nnv_arena *arena, struct nnv_model *model, struct nnv_err *err) {
    json_error_t e;
    json_t *document = json_loadb(json, len, JSON_REJECT_DUPLICATES, &e);
    if (!document) return nnv_fail(err, NNV_INVALID, "%s:%d:%d: %s", name, e.line, e.column, e.text);
    struct reader r = {.arena = arena, .err = err, .weights = weights, .weights_bytes = weights_bytes};
    struct nnv_model made;
    enum nnv_status st = read_model(&r, document, &made);
    json_decref(document);
    if (st != NNV_OK) return nnv_at(err, st, "%s", name);
    *model = made;
    return NNV_OK;
}
