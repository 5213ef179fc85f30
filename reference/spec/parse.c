/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a spec: the document, its subgraphs and operands. Values are spec_data.c's. */
#include "reference/spec/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/words.h"
#include "reference/model/op.h"
#include "reference/spec/spec.h"

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        enum nnv_status try_status = (call);                                                                           \
        if (try_status != NNV_OK) return try_status;                                                                   \
    } while (0)

enum { MOST_SHOWN = 40 };

static enum nnv_status no_memory(const struct nnv_reader *r, const struct nnv_path *where) {
    return nnv_spec_refuse(r, where, NNV_NO_MEMORY, NNV_OUT_OF_MEMORY);
}

/* --------------------------------------------------------------- small parts */

static enum nnv_status read_array(const struct nnv_reader *r, const struct nnv_path *where, const json_t *json,
                                  const char *of) {
    return json_is_array(json) ? NNV_OK : nnv_spec_bad(r, where, json, "an array of %s", of);
}

/* An optional member that is true or false; absent leaves *v alone. */
static enum nnv_status read_bool(const struct nnv_reader *r, const struct nnv_path *up, const json_t *object,
                                 const char *key, bool *v) {
    struct nnv_path here = {up, key, 0};
    const json_t *json = json_object_get(object, key);
    if (!json) return NNV_OK;
    if (!json_is_boolean(json)) return nnv_spec_bad(r, &here, json, "true or false");
    *v = json_is_true(json);
    return NNV_OK;
}

/* A member that is a string, copied; NULL if optional and absent or null. */
static enum nnv_status read_string(const struct nnv_reader *r, const json_t *object, const char *key, bool optional,
                                   const char **v) {
    struct nnv_path here = {NULL, key, 0};
    const json_t *json = json_object_get(object, key);
    if (optional && (!json || json_is_null(json))) return NNV_OK;
    if (!json_is_string(json)) return nnv_spec_bad(r, &here, json, "a string");
    char *copy = nnv_arena_strdup(r->arena, json_string_value(json));
    if (!copy) return no_memory(r, &here);
    *v = copy;
    return NNV_OK;
}

/* The name is a line that is shown, and a part of the names of cases. */
static enum nnv_status read_name(const struct nnv_reader *r, const json_t *root, const char **name) {
    struct nnv_path here = {NULL, "name", 0};
    struct nnv_text shown = {0};
    const char *given = "";
    TRY(read_string(r, root, "name", false, &given));
    nnv_text_add_shown(&shown, given, strlen(given), SIZE_MAX / 2);
    const char *copy = shown.failed ? NULL : nnv_arena_strdup(r->arena, shown.len > 0 ? shown.data : "");
    nnv_text_free(&shown);
    if (!copy) return no_memory(r, &here);
    *name = copy;
    return NNV_OK;
}

/* An array of integers in [0, below), each of what's kind. */
static enum nnv_status read_indices(const struct nnv_reader *r, const struct nnv_path *up, const json_t *object,
                                    const char *key, const char *what, int64_t most, uint32_t **list, uint32_t *count) {
    struct nnv_path here = {up, key, 0};
    const json_t *json = json_object_get(object, key);
    TRY(read_array(r, &here, json, "integers"));
    size_t n = json_array_size(json);
    if (n > UINT32_MAX) return nnv_spec_bad(r, &here, json, "fewer elements");
    uint32_t *v = NNV_NEW(r->arena, uint32_t, n);
    if (!v) return no_memory(r, &here);
    for (size_t i = 0; i < n; i++) {
        struct nnv_path item = {&here, NULL, i};
        int64_t value;
        if (most < 0)
            return nnv_spec_bad(r, &item, json_array_get(json, i), "no index, as there is nothing to refer to");
        TRY(nnv_spec_int(r, &item, json_array_get(json, i), what, 0, most, &value));
        v[i] = (uint32_t)value;
    }
    *list = v;
    *count = (uint32_t)n;
    return NNV_OK;
}

static enum nnv_status read_dims(const struct nnv_reader *r, const struct nnv_path *up, const json_t *object,
                                 const char *key, uint32_t **dims, uint32_t *rank) {
    struct nnv_path here = {up, key, 0};
    const json_t *json = json_object_get(object, key);
    TRY(read_array(r, &here, json, "extents"));
    if (json_array_size(json) > NNV_MAX_RANK) return nnv_spec_bad(r, &here, json, "at most %d extents", NNV_MAX_RANK);
    return read_indices(r, up, object, key, "an extent", UINT32_MAX, dims, rank);
}

/* ------------------------------------------------------------------ operands */

static enum nnv_status read_channel_quant(const struct nnv_reader *r, const struct nnv_path *up, const json_t *json,
                                          struct nnv_channel_quant *q) {
    struct nnv_path here = {up, "channel_quant", 0}, dim_at = {&here, "dim", 0}, scales_at = {&here, "scales", 0};
    if (!json_is_object(json)) return nnv_spec_bad(r, &here, json, "an object with dim and scales");
    int64_t dim;
    TRY(nnv_spec_int(r, &dim_at, json_object_get(json, "dim"), "a dimension", 0, UINT32_MAX, &dim));
    const json_t *scales = json_object_get(json, "scales");
    TRY(read_array(r, &scales_at, scales, "numbers"));
    size_t n = json_array_size(scales);
    if (n > UINT32_MAX) return nnv_spec_bad(r, &scales_at, scales, "fewer scales");
    float *v = NNV_NEW(r->arena, float, n);
    if (!v) return no_memory(r, &scales_at);
    for (size_t i = 0; i < n; i++) {
        struct nnv_path item = {&scales_at, NULL, i};
        TRY(nnv_spec_float(r, &item, json_array_get(scales, i), &v[i]));
    }
    *q = (struct nnv_channel_quant){.dim = (uint32_t)dim, .count = (uint32_t)n, .scales = v};
    return NNV_OK;
}

static enum nnv_status read_type(const struct nnv_reader *r, const struct nnv_path *up, const json_t *object,
                                 int32_t *type) {
    struct nnv_path here = {up, "type", 0};
    const json_t *json = json_object_get(object, "type");
    if (r->malformed && json_is_integer(json)) {
        int64_t code;
        TRY(nnv_spec_int(r, &here, json, "an operand code", INT32_MIN, INT32_MAX, &code));
        *type = (int32_t)code;
        return NNV_OK;
    }
    const struct nnv_type *t = json_is_string(json) ? nnv_type_by_name(json_string_value(json)) : NULL;
    if (!t) return nnv_spec_bad(r, &here, json, "an operand type such as \"TENSOR_FLOAT32\"");
    *type = t->code;
    return NNV_OK;
}

static enum nnv_status read_lifetime(const struct nnv_reader *r, const struct nnv_path *up, const json_t *object,
                                     enum nnv_lifetime *lifetime) {
    struct nnv_path here = {up, "lifetime", 0};
    const json_t *json = json_object_get(object, "lifetime");
    for (int i = 0; json_is_string(json) && i < NNV_LIFETIME_COUNT; i++) {
        if (strcmp(json_string_value(json), nnv_lifetime_name((enum nnv_lifetime)i)) != 0) continue;
        *lifetime = (enum nnv_lifetime)i;
        return NNV_OK;
    }
    return nnv_spec_bad(r, &here, json, "a lifetime such as \"CONSTANT_COPY\"");
}

/* A SUBGRAPH operand's data: [index into referenced]. */
static enum nnv_status read_subgraph_index(const struct nnv_reader *r, const struct nnv_path *where, const json_t *json,
                                           uint32_t nreferenced, uint32_t *index) {
    struct nnv_path item = {where, NULL, 0};
    int64_t v;
    if (json_array_size(json) != 1) return nnv_spec_bad(r, where, json, "an array with one index into \"referenced\"");
    if (nreferenced == 0) return nnv_spec_bad(r, where, json, "subgraphs in \"referenced\" to refer to");
    TRY(nnv_spec_int(r, &item, json_array_get(json, 0), "an index into \"referenced\"", 0, (int64_t)nreferenced - 1,
                     &v));
    *index = (uint32_t)v;
    return NNV_OK;
}

/* Constants and subgraph indices; the data of inputs and outputs are read with the lists of them. */
static enum nnv_status read_operand_data(const struct nnv_reader *r, const struct nnv_path *up, const json_t *object,
                                         uint32_t nreferenced, struct nnv_operand *o) {
    struct nnv_path here = {up, "data", 0};
    const json_t *json = json_object_get(object, "data");
    if (o->lifetime == NNV_SUBGRAPH) return read_subgraph_index(r, &here, json, nreferenced, &o->subgraph);
    if (!nnv_is_constant(o)) return NNV_OK;
    if (!json) return nnv_spec_bad(r, &here, json, "the value of a %s", nnv_lifetime_name(o->lifetime));
    void *data;
    TRY(nnv_spec_data(r, &here, json, o->type, o->rank, o->dims, &data, &o->bytes));
    o->data = data;
    return NNV_OK;
}

static enum nnv_status read_operand(const struct nnv_reader *r, const struct nnv_path *where, const json_t *json,
                                    uint32_t nreferenced, struct nnv_operand *o) {
    struct nnv_path scale_at = {where, "scale", 0}, zero_at = {where, "zero_point", 0};
    if (!json_is_object(json)) return nnv_spec_bad(r, where, json, "an operand, an object");
    TRY(read_type(r, where, json, &o->type));
    TRY(read_dims(r, where, json, "dims", &o->dims, &o->rank));
    TRY(read_lifetime(r, where, json, &o->lifetime));
    TRY(read_bool(r, where, json, "ignored", &o->ignored));
    const json_t *part = json_object_get(json, "scale");
    if (part) TRY(nnv_spec_float(r, &scale_at, part, &o->scale));
    part = json_object_get(json, "zero_point");
    int64_t zero_point = 0;
    if (part) TRY(nnv_spec_int(r, &zero_at, part, "a zero point", INT32_MIN, INT32_MAX, &zero_point));
    o->zero_point = (int32_t)zero_point;
    part = json_object_get(json, "channel_quant");
    if (part) TRY(read_channel_quant(r, where, part, &o->channel));
    return read_operand_data(r, where, json, nreferenced, o);
}

/* ----------------------------------------------------------------- subgraphs */

static enum nnv_status read_operation_type(const struct nnv_reader *r, const struct nnv_path *up, const json_t *object,
                                           int32_t *type) {
    struct nnv_path here = {up, "type", 0};
    const json_t *json = json_object_get(object, "type");
    if (r->malformed && json_is_integer(json)) {
        int64_t code;
        TRY(nnv_spec_int(r, &here, json, "an operation code", INT32_MIN, INT32_MAX, &code));
        *type = (int32_t)code;
        return NNV_OK;
    }
    if (!json_is_string(json)) return nnv_spec_bad(r, &here, json, "an operation such as \"CONV_2D\"");
    const struct nnv_op *op = nnv_op_by_name(json_string_value(json));
    if (!op)
        return nnv_spec_refuse(r, &here, NNV_UNSUPPORTED, "no operation is called '%.*s' here", MOST_SHOWN,
                               json_string_value(json));
    *type = op->code;
    return NNV_OK;
}

static enum nnv_status read_operation(const struct nnv_reader *r, const struct nnv_path *where, const json_t *json,
                                      uint32_t noperands, struct nnv_operation *op) {
    if (!json_is_object(json)) return nnv_spec_bad(r, where, json, "an operation, an object");
    TRY(read_operation_type(r, where, json, &op->type));
    int64_t last = (int64_t)noperands - 1;
    TRY(read_indices(r, where, json, "inputs", "an operand index", last, &op->in, &op->nin));
    return read_indices(r, where, json, "outputs", "an operand index", last, &op->out, &op->nout);
}

/* The array member key, its length in *n, and as many zeroed elements of size in *list. */
static enum nnv_status begin_list(const struct nnv_reader *r, const struct nnv_path *where, const json_t *object,
                                  size_t size, const json_t **json, uint32_t *n, void *list) {
    *json = json_object_get(object, where->key);
    TRY(read_array(r, where, *json, where->key));
    size_t count = json_array_size(*json);
    void *p = count <= INT32_MAX ? nnv_arena_alloc(r->arena, count, size) : NULL;
    if (!p) return no_memory(r, where);
    *n = (uint32_t)count;
    memcpy(list, &p, sizeof p);
    return NNV_OK;
}

static enum nnv_status read_subgraph(const struct nnv_reader *r, const struct nnv_path *where, const json_t *json,
                                     uint32_t nreferenced, struct nnv_subgraph *s) {
    struct nnv_path operands_at = {where, "operands", 0}, operations_at = {where, "operations", 0};
    const json_t *list;
    if (!json_is_object(json)) return nnv_spec_bad(r, where, json, "a subgraph, an object");
    TRY(begin_list(r, &operands_at, json, sizeof *s->operands, &list, &s->noperands, &s->operands));
    for (uint32_t i = 0; i < s->noperands; i++) {
        struct nnv_path item = {&operands_at, NULL, i};
        TRY(read_operand(r, &item, json_array_get(list, i), nreferenced, &s->operands[i]));
    }
    TRY(begin_list(r, &operations_at, json, sizeof *s->operations, &list, &s->noperations, &s->operations));
    for (uint32_t i = 0; i < s->noperations; i++) {
        struct nnv_path item = {&operations_at, NULL, i};
        TRY(read_operation(r, &item, json_array_get(list, i), s->noperands, &s->operations[i]));
    }
    int64_t last = (int64_t)s->noperands - 1;
    TRY(read_indices(r, where, json, "inputs", "an operand index", last, &s->in, &s->nin));
    return read_indices(r, where, json, "outputs", "an operand index", last, &s->out, &s->nout);
}

/* -------------------------------------------------- values of inputs and outputs */

/* Values by operand of the main subgraph: one that is listed twice is read once. */
struct values {
    const json_t *operands;
    struct nnv_value **of; /* NULL: not listed */
};

/* The value of operand i, which is an input of the main subgraph or an expected output. */
static enum nnv_status read_value(const struct nnv_reader *r, const struct nnv_path *where, const json_t *object,
                                  const struct nnv_operand *o, bool input, struct nnv_value *v) {
    struct nnv_path here = {where, "data", 0};
    const json_t *json = json_object_get(object, "data"), *actual = json_object_get(object, "value_dims");
    uint32_t *dims = o->dims;
    v->rank = o->rank;
    if (actual) TRY(read_dims(r, where, object, "value_dims", &dims, &v->rank));
    if (v->rank) memcpy(v->dims, dims, v->rank * sizeof *dims);
    if (nnv_is_constant(o)) {
        v->data = nnv_arena_copy(r->arena, o->data, o->bytes);
        v->bytes = o->bytes;
        return v->data ? NNV_OK : no_memory(r, where);
    }
    if (o->lifetime == NNV_SUBGRAPH) json = NULL; /* its data are an index */
    if (!json && !r->malformed)
        return nnv_spec_bad(r, &here, json, "%s",
                            input ? "the input's value ([] if it is omitted)" : "the expected output");
    v->omitted = !json || (input && !actual && json_is_array(json) && json_array_size(json) == 0);
    return v->omitted ? NNV_OK : nnv_spec_data(r, &here, json, o->type, v->rank, v->dims, &v->data, &v->bytes);
}

/* The values of the operands in list, which are the inputs or the outputs. */
static enum nnv_status read_values(const struct nnv_reader *r, const struct nnv_path *operands_at,
                                   const struct nnv_subgraph *s, const struct values *values, bool input,
                                   struct nnv_value **list) {
    uint32_t n = input ? s->nin : s->nout;
    const uint32_t *index = input ? s->in : s->out;
    struct nnv_value *v = NNV_NEW(r->arena, struct nnv_value, n);
    if (!v) return no_memory(r, operands_at);
    for (uint32_t i = 0; i < n; i++) {
        struct nnv_path item = {operands_at, NULL, index[i]};
        struct nnv_value **known = &values->of[index[i]];
        if (*known) {
            v[i] = **known;
            continue;
        }
        TRY(read_value(r, &item, json_array_get(values->operands, index[i]), &s->operands[index[i]], input, &v[i]));
        *known = &v[i];
    }
    *list = v;
    return NNV_OK;
}

/* "bounds" of output i: as many numbers as it has elements, null for those that are not compared. */
static enum nnv_status read_bounds(const struct nnv_reader *r, const struct nnv_path *where, const json_t *object,
                                   size_t elems, double **bounds) {
    struct nnv_path here = {where, "bounds", 0};
    const json_t *json = json_object_get(object, "bounds");
    if (!json) return NNV_OK;
    if (!json_is_array(json) || json_array_size(json) != elems)
        return nnv_spec_bad(r, &here, json, "an array of a number or null for each of the %zu elements", elems);
    *bounds = NNV_NEW(r->arena, double, elems);
    if (!*bounds) return no_memory(r, where);
    for (size_t e = 0; e < elems; e++) {
        const json_t *bound = json_array_get(json, e);
        struct nnv_path item = {&here, NULL, (uint32_t)e};
        if (!json_is_null(bound) && !(json_number_value(bound) >= 0 && json_is_number(bound)))
            return nnv_spec_bad(r, &item, bound, "a number of at least 0, or null");
        (*bounds)[e] = json_is_null(bound) ? (double)NAN : json_number_value(bound);
    }
    return NNV_OK;
}

/* What a dump holds of the driver's answer: of all outputs, or of none. */
static enum nnv_status read_answer(const struct nnv_reader *r, const struct nnv_path *operands_at,
                                   const json_t *operands, struct nnv_spec *spec) {
    const struct nnv_subgraph *s = &spec->model.main;
    bool all = s->nout > 0;
    spec->actual = NNV_NEW(r->arena, struct nnv_value, s->nout);
    spec->bounds = NNV_NEW(r->arena, double *, s->nout);
    if (!spec->actual || !spec->bounds) return no_memory(r, operands_at);
    for (uint32_t i = 0; i < s->nout; i++) {
        struct nnv_path item = {operands_at, NULL, s->out[i]}, here = {&item, "actual", 0};
        const json_t *object = json_array_get(operands, s->out[i]), *json = json_object_get(object, "actual");
        const struct nnv_operand *o = &s->operands[s->out[i]];
        struct nnv_value *v = &spec->actual[i];
        *v = spec->outputs[i];
        all = all && json && !v->omitted && nnv_type(o->type);
        if (v->omitted || !nnv_type(o->type)) continue;
        TRY(read_bounds(r, &item, object, v->bytes / nnv_type(o->type)->size, &spec->bounds[i]));
        if (json) TRY(nnv_spec_data(r, &here, json, o->type, v->rank, v->dims, &v->data, &v->bytes));
    }
    if (!all) spec->actual = NULL;
    return NNV_OK;
}

/* Operands that are neither constants nor listed must have no data. */
static enum nnv_status check_no_data(const struct nnv_reader *r, const struct nnv_path *operands_at,
                                     const json_t *operands, const struct nnv_subgraph *s,
                                     struct nnv_value *const *listed) {
    for (uint32_t i = 0; i < s->noperands; i++) {
        const struct nnv_operand *o = &s->operands[i];
        struct nnv_path item = {operands_at, NULL, i}, here = {&item, "data", 0};
        const json_t *data = json_object_get(json_array_get(operands, i), "data");
        if (data && !nnv_is_constant(o) && o->lifetime != NNV_SUBGRAPH && !(listed && listed[i]))
            return nnv_spec_bad(r, &here, data, "no data for a %s that is not %s", nnv_lifetime_name(o->lifetime),
                                listed ? "listed in inputs or outputs" : "of the main subgraph");
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------ document */

static enum nnv_status read_main(const struct nnv_reader *r, const json_t *root, struct nnv_spec *spec) {
    struct nnv_path main_at = {NULL, "main", 0}, operands_at = {&main_at, "operands", 0};
    const json_t *json = json_object_get(root, "main");
    struct nnv_subgraph *s = &spec->model.main;
    TRY(read_subgraph(r, &main_at, json, spec->model.nreferenced, s));
    struct values values = {.operands = json_object_get(json, "operands"),
                            .of = NNV_NEW(r->arena, struct nnv_value *, s->noperands)};
    if (!values.of) return no_memory(r, &operands_at);
    TRY(read_values(r, &operands_at, s, &values, true, &spec->inputs));
    TRY(read_values(r, &operands_at, s, &values, false, &spec->outputs));
    TRY(read_answer(r, &operands_at, values.operands, spec));
    return check_no_data(r, &operands_at, values.operands, s, values.of);
}

static enum nnv_status read_referenced(const struct nnv_reader *r, const json_t *root, struct nnv_model *m) {
    struct nnv_path list_at = {NULL, "referenced", 0};
    const json_t *list = NULL;
    if (!json_object_get(root, "referenced")) return NNV_OK;
    TRY(begin_list(r, &list_at, root, sizeof *m->referenced, &list, &m->nreferenced, &m->referenced));
    for (uint32_t i = 0; i < m->nreferenced; i++) {
        struct nnv_path item = {&list_at, NULL, i}, operands_at = {&item, "operands", 0};
        const json_t *json = json_array_get(list, i);
        TRY(read_subgraph(r, &item, json, m->nreferenced, &m->referenced[i]));
        TRY(check_no_data(r, &operands_at, json_object_get(json, "operands"), &m->referenced[i], NULL));
    }
    return NNV_OK;
}

static enum nnv_status read_min_version(const struct nnv_reader *r, const json_t *root, int *level) {
    struct nnv_path here = {NULL, "min_version", 0};
    const json_t *json = json_object_get(root, "min_version");
    if (!json || json_is_null(json)) return NNV_OK;
    int l = json_is_string(json) ? nnv_level_by_name(json_string_value(json)) : 0;
    if (!l) return nnv_spec_bad(r, &here, json, "1.0, 1.1, 1.2, 1.3, fl5, fl6, fl7 (as a string) or null");
    *level = l;
    return NNV_OK;
}

static enum nnv_status read_tolerance(const struct nnv_reader *r, const json_t *root, double *tolerance) {
    struct nnv_path here = {NULL, "multinomial_tolerance", 0};
    const json_t *json = json_object_get(root, "multinomial_tolerance");
    if (!json) return NNV_OK;
    double v = json_number_value(json);
    if (!json_is_number(json) || !(v >= 0) || isinf(v)) return nnv_spec_bad(r, &here, json, "a number of at least 0");
    *tolerance = v;
    return NNV_OK;
}

/* What is promised of the driver's arithmetic; strict where nothing is. */
static enum nnv_status read_arithmetic(struct nnv_reader *r, const json_t *root, struct nnv_arithmetic *out) {
    const char *text = NULL;
    TRY(read_string(r, root, "arithmetic", true, &text));
    const enum nnv_status st = text ? nnv_arithmetic_parse(text, out, r->err) : NNV_OK;
    return st ? nnv_at(r->err, st, "arithmetic") : NNV_OK;
}

static enum nnv_status read_document(struct nnv_reader *r, const json_t *root, struct nnv_spec *spec) {
    struct nnv_path format_at = {NULL, "format", 0};
    const json_t *format = json_object_get(root, "format");
    if (!json_is_string(format) || strcmp(json_string_value(format), "nnvts-spec/1") != 0)
        return nnv_spec_bad(r, &format_at, format, "\"nnvts-spec/1\"");
    TRY(read_name(r, root, &spec->name));
    TRY(read_string(r, root, "source", true, &spec->source));
    TRY(read_min_version(r, root, &spec->min_version));
    TRY(read_bool(r, NULL, root, "expect_failure", &spec->expect_failure));
    TRY(read_bool(r, NULL, root, "relaxed", &spec->model.relaxed));
    TRY(read_bool(r, NULL, root, "exact", &spec->exact));
    TRY(read_string(r, root, "precision", true, &spec->precision));
    TRY(read_arithmetic(r, root, &spec->arithmetic));
    TRY(read_tolerance(r, root, &spec->multinomial_tolerance));
    r->malformed = spec->expect_failure;
    TRY(read_referenced(r, root, &spec->model));
    return read_main(r, root, spec);
}

static enum nnv_status not_json(const char *where, const json_error_t *e, struct nnv_err *err) {
    if (e->line > 1)
        return nnv_fail(err, NNV_INVALID, "%s: malformed JSON at line %d, column %d: %s", where, e->line, e->column,
                        e->text);
    return nnv_fail(err, NNV_INVALID, "%s: malformed JSON at column %d: %s", where, e->column, e->text);
}

enum nnv_status nnv_spec_parse(const char *json, size_t len, const char *where, struct nnv_arena *arena,
                               struct nnv_spec **spec, struct nnv_err *err) {
    json_error_t e;
    json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &e);
    if (!root) return not_json(where, &e, err);
    struct nnv_spec *s = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_reader r = {.where = where, .arena = arena, .err = err};
    enum nnv_status status;
    if (!s)
        status = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", where);
    else if (!json_is_object(root))
        status = nnv_fail(err, NNV_INVALID, "%s: expected a spec, an object, got an array", where);
    else
        status = read_document(&r, root, s);
    if (status == NNV_OK) *spec = s;
    json_decref(root);
    return status;
}
