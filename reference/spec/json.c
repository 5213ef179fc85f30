/* SPDX-License-Identifier: Apache-2.0 */
/* Writing spec JSON: one line, or one line an operand and operation. */
#include <math.h>
#include <string.h>

#include "base/json_out.h"
#include "reference/model/op.h"
#include "reference/spec/spec.h"
#include "reference/spec/write.h"

enum { MOST_LISTED = 64 }; /* elements; more are written as base64 */

/* In the pretty form what comes next stands on a line of its own, that many levels deep. */
static void line(struct nnv_json_out *j, int depth) {
    static const char *const lines[] = {"\n", "\n  ", "\n    ", "\n      ", "\n        "};
    if (j->spaced) j->line = lines[depth];
}

static void add_indices(struct nnv_json_out *j, const char *name, uint32_t n, const uint32_t *v) {
    nnv_json_open(j, name, '[');
    for (uint32_t i = 0; i < n; i++) nnv_json_uint(j, NULL, v[i]);
    nnv_json_close(j, ']');
}

/* ---------------------------------------------------------------------- data */

/* Do decimals keep every bit of n elements? A NaN with a payload and a boolean of 7 do not. */
static bool decimals_are_exact(int32_t type, const void *data, size_t n) {
    double v[MOST_LISTED];
    unsigned char again[MOST_LISTED * sizeof(uint32_t)];
    if (n == 0) return true;
    nnv_load(type, data, n, v);
    for (size_t i = 0; i < n; i++)
        if (isnan(v[i])) v[i] = (double)NAN;
    nnv_store(type, v, n, again);
    return memcmp(again, data, n * nnv_type(type)->size) == 0;
}

/* data as numbers if they are few and exact, else as base64; with its size if that is not what dims say. */
static void add_data(struct nnv_json_out *j, const char *name, int32_t type, uint32_t rank, const uint32_t *dims,
                     const void *data, size_t bytes) {
    size_t elems;
    bool fits = nnv_spec_fits(type, rank, dims, bytes, &elems);
    if (fits && elems <= MOST_LISTED && decimals_are_exact(type, data, elems)) {
        nnv_json_open(j, name, '[');
        nnv_spec_add_numbers(j->text, type, data, elems, j->spaced ? ", " : ",");
        nnv_json_close(j, ']');
        return;
    }
    nnv_json_open(j, name, '{');
    nnv_json_raw(j, "base64", "\"");
    nnv_text_add_base64(j->text, data, bytes);
    nnv_text_add(j->text, "\"");
    if (!fits) nnv_json_uint(j, "bytes", bytes);
    nnv_json_close(j, '}');
}

/* The value of an input or expected output. An empty list means omitted where it is an input's, unless dims are given.
 */
static void add_value(struct nnv_json_out *j, const struct nnv_operand *o, const struct nnv_value *v, bool input) {
    if (v->omitted) {
        if (input) nnv_json_raw(j, "data", "[]");
        return;
    }
    bool same = v->rank == o->rank && (!v->rank || memcmp(v->dims, o->dims, v->rank * sizeof *v->dims) == 0);
    if (!same || (input && v->bytes == 0)) add_indices(j, "value_dims", v->rank, v->dims);
    add_data(j, "data", o->type, v->rank, v->dims, v->data, v->bytes);
}

/* ------------------------------------------------------------------ subgraphs */

static void add_channel_quant(struct nnv_json_out *j, const struct nnv_channel_quant *q) {
    nnv_json_open(j, "channel_quant", '{');
    nnv_json_uint(j, "dim", q->dim);
    nnv_json_open(j, "scales", '[');
    for (uint32_t i = 0; i < q->count; i++) nnv_json_float(j, NULL, q->scales[i]);
    nnv_json_close(j, ']');
    nnv_json_close(j, '}');
}

/* What a driver answered at the output, and the bounds of its elements; null: not compared. */
static void add_answer(struct nnv_json_out *j, const struct nnv_spec *spec, uint32_t operand) {
    const struct nnv_subgraph *s = &spec->model.main;
    uint32_t i = 0;
    while (i < s->nout && s->out[i] != operand) i++;
    if (i == s->nout || spec->outputs[i].omitted) return;
    const struct nnv_value *v = &spec->outputs[i];
    const int32_t type = s->operands[operand].type;
    if (spec->actual) add_data(j, "actual", type, v->rank, v->dims, spec->actual[i].data, spec->actual[i].bytes);
    if (!spec->bounds || !spec->bounds[i]) return;
    nnv_json_open(j, "bounds", '[');
    for (size_t e = 0; e < v->bytes / nnv_type(type)->size; e++) {
        const double bound = spec->bounds[i][e];
        if (isnan(bound))
            nnv_json_raw(j, NULL, "null");
        else
            nnv_json_raw(j, NULL, "%.9g", isinf(bound) ? 1e300 : bound);
    }
    nnv_json_close(j, ']');
}

static void add_operand(struct nnv_json_out *j, const struct nnv_spec *spec, const struct nnv_subgraph *s, uint32_t i) {
    const struct nnv_operand *o = &s->operands[i];
    const struct nnv_type *type = nnv_type(o->type);
    nnv_json_open(j, NULL, '{');
    if (type)
        nnv_json_string(j, "type", type->kind == NNV_KIND_MODEL ? "SUBGRAPH" : type->name);
    else
        nnv_json_raw(j, "type", "%d", o->type);
    add_indices(j, "dims", o->rank, o->dims);
    if (o->scale != 0 || o->zero_point != 0) {
        nnv_json_float(j, "scale", o->scale);
        nnv_json_raw(j, "zero_point", "%d", o->zero_point);
    }
    nnv_json_string(j, "lifetime", nnv_lifetime_name(o->lifetime));
    if (o->channel.count) add_channel_quant(j, &o->channel);
    if (o->ignored) nnv_json_bool(j, "ignored", true);
    const struct nnv_value *v = nnv_spec_value(spec, s, i);
    if (o->lifetime == NNV_SUBGRAPH) {
        add_indices(j, "data", 1, &o->subgraph);
    } else if (nnv_is_constant(o)) {
        add_data(j, "data", o->type, o->rank, o->dims, o->data, o->bytes);
    } else if (v) {
        add_value(j, o, v, nnv_spec_is_input(s, i));
        if (s == &spec->model.main) add_answer(j, spec, i);
    }
    nnv_json_close(j, '}');
}

static void add_operation(struct nnv_json_out *j, const struct nnv_operation *op) {
    const struct nnv_op *record = nnv_op(op->type);
    nnv_json_open(j, NULL, '{');
    if (record)
        nnv_json_string(j, "type", record->name);
    else
        nnv_json_raw(j, "type", "%d", op->type);
    add_indices(j, "inputs", op->nin, op->in);
    add_indices(j, "outputs", op->nout, op->out);
    nnv_json_close(j, '}');
}

static void add_subgraph(struct nnv_json_out *j, int depth, const char *name, const struct nnv_spec *spec,
                         const struct nnv_subgraph *s) {
    line(j, depth);
    nnv_json_open(j, name, '{');
    line(j, depth + 1);
    nnv_json_open(j, "operands", '[');
    for (uint32_t i = 0; i < s->noperands; i++) {
        line(j, depth + 2);
        add_operand(j, spec, s, i);
    }
    line(j, depth + 1);
    nnv_json_close(j, ']');
    line(j, depth + 1);
    nnv_json_open(j, "operations", '[');
    for (uint32_t i = 0; i < s->noperations; i++) {
        line(j, depth + 2);
        add_operation(j, &s->operations[i]);
    }
    line(j, depth + 1);
    nnv_json_close(j, ']');
    line(j, depth + 1);
    add_indices(j, "inputs", s->nin, s->in);
    line(j, depth + 1);
    add_indices(j, "outputs", s->nout, s->out);
    line(j, depth);
    nnv_json_close(j, '}');
}

/* ------------------------------------------------------------------- document */

static void add_string(struct nnv_json_out *j, const char *name, const char *s) {
    line(j, 1);
    nnv_json_string(j, name, s);
}

static void add_bool(struct nnv_json_out *j, const char *name, bool v) {
    line(j, 1);
    nnv_json_bool(j, name, v);
}

void nnv_spec_write_json(const struct nnv_spec *spec, bool pretty, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out, .spaced = pretty};
    nnv_json_open(&j, NULL, '{');
    add_string(&j, "format", "nnvts-spec/1");
    add_string(&j, "name", spec->name ? spec->name : "");
    if (spec->source) add_string(&j, "source", spec->source);
    add_string(&j, "min_version", spec->min_version ? nnv_level_name(spec->min_version) : NULL);
    add_bool(&j, "expect_failure", spec->expect_failure);
    add_bool(&j, "relaxed", spec->model.relaxed);
    if (spec->exact) add_bool(&j, "exact", true);
    if (spec->precision) add_string(&j, "precision", spec->precision);
    char arithmetic[NNV_ARITHMETIC_TEXT];
    nnv_arithmetic_text(&spec->arithmetic, arithmetic);
    if (strcmp(arithmetic, "strict") != 0) add_string(&j, "arithmetic", arithmetic);
    if (spec->multinomial_tolerance != 0) {
        line(&j, 1);
        nnv_json_double(&j, "multinomial_tolerance", spec->multinomial_tolerance);
    }
    add_subgraph(&j, 1, "main", spec, &spec->model.main);
    line(&j, 1);
    nnv_json_open(&j, "referenced", '[');
    for (uint32_t i = 0; i < spec->model.nreferenced; i++) add_subgraph(&j, 2, NULL, spec, &spec->model.referenced[i]);
    if (spec->model.nreferenced) line(&j, 1);
    nnv_json_close(&j, ']');
    if (spec->origin) {
        line(&j, 1);
        nnv_json_raw(&j, "origin", "%s", spec->origin);
    }
    line(&j, 0);
    nnv_json_close(&j, '}');
}
