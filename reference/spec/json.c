/* SPDX-License-Identifier: Apache-2.0 */
/* Writing spec JSON: one line, or one line an operand and operation. */
#include <math.h>
#include <string.h>

#include "reference/model/op.h"
#include "reference/spec/spec.h"
#include "reference/spec/write.h"

enum { MOST_LISTED = 64 }; /* elements; more are written as base64 */

struct writer {
    struct nnv_text *t;
    const char *colon, *comma; /* with their spaces if pretty */
    bool pretty;
};

/* A new line of depth levels, if pretty. */
static void line(struct writer *w, int depth) {
    if (w->pretty) nnv_text_addf(w->t, "\n%*s", 2 * depth, "");
}

/* "key": of a member; all but an object's first are preceded by a comma. */
static void member(struct writer *w, const char *key, bool first) {
    nnv_text_addf(w->t, "%s\"%s\"%s", first ? "" : w->comma, key, w->colon);
}

/* A member of the document or of a subgraph, on a line of its own. */
static void row(struct writer *w, int depth, const char *key, bool first) {
    nnv_text_add(w->t, first ? "" : ",");
    line(w, depth);
    member(w, key, true);
}

static void add_indices(struct writer *w, uint32_t n, const uint32_t *v) {
    nnv_text_add(w->t, "[");
    for (uint32_t i = 0; i < n; i++) nnv_text_addf(w->t, "%s%u", i ? w->comma : "", v[i]);
    nnv_text_add(w->t, "]");
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
static void add_data(struct writer *w, const char *name, int32_t type, uint32_t rank, const uint32_t *dims,
                     const void *data, size_t bytes) {
    size_t elems;
    bool fits = nnv_spec_fits(type, rank, dims, bytes, &elems);
    member(w, name, false);
    if (fits && elems <= MOST_LISTED && decimals_are_exact(type, data, elems)) {
        nnv_text_add(w->t, "[");
        nnv_spec_add_numbers(w->t, type, data, elems, w->comma);
        nnv_text_add(w->t, "]");
        return;
    }
    nnv_text_add(w->t, "{");
    member(w, "base64", true);
    nnv_text_add(w->t, "\"");
    nnv_text_add_base64(w->t, data, bytes);
    nnv_text_add(w->t, "\"");
    if (!fits) {
        member(w, "bytes", false);
        nnv_text_addf(w->t, "%zu", bytes);
    }
    nnv_text_add(w->t, "}");
}

/* The value of an input or expected output. An empty list means omitted where it is an input's, unless dims are given.
 */
static void add_value(struct writer *w, const struct nnv_operand *o, const struct nnv_value *v, bool input) {
    if (v->omitted) {
        if (input) {
            member(w, "data", false);
            nnv_text_add(w->t, "[]");
        }
        return;
    }
    bool same = v->rank == o->rank && (!v->rank || memcmp(v->dims, o->dims, v->rank * sizeof *v->dims) == 0);
    if (!same || (input && v->bytes == 0)) {
        member(w, "value_dims", false);
        add_indices(w, v->rank, v->dims);
    }
    add_data(w, "data", o->type, v->rank, v->dims, v->data, v->bytes);
}

/* ------------------------------------------------------------------ subgraphs */

static void add_quantisation(struct writer *w, const struct nnv_operand *o) {
    if (o->scale != 0 || o->zero_point != 0) {
        member(w, "scale", false);
        nnv_text_add_float(w->t, o->scale);
        member(w, "zero_point", false);
        nnv_text_addf(w->t, "%d", o->zero_point);
    }
}

static void add_channel_quant(struct writer *w, const struct nnv_operand *o) {
    if (!o->channel.count) return;
    member(w, "channel_quant", false);
    nnv_text_add(w->t, "{");
    member(w, "dim", true);
    nnv_text_addf(w->t, "%u", o->channel.dim);
    member(w, "scales", false);
    nnv_text_add(w->t, "[");
    for (uint32_t i = 0; i < o->channel.count; i++) {
        nnv_text_add(w->t, i ? w->comma : "");
        nnv_text_add_float(w->t, o->channel.scales[i]);
    }
    nnv_text_add(w->t, "]}");
}

/* What a driver answered at the output, and the bounds of its elements; null: not compared. */
static void add_answer(struct writer *w, const struct nnv_spec *spec, uint32_t operand) {
    const struct nnv_subgraph *s = &spec->model.main;
    uint32_t i = 0;
    while (i < s->nout && s->out[i] != operand) i++;
    if (i == s->nout || spec->outputs[i].omitted) return;
    const struct nnv_value *v = &spec->outputs[i];
    const int32_t type = s->operands[operand].type;
    if (spec->actual) add_data(w, "actual", type, v->rank, v->dims, spec->actual[i].data, spec->actual[i].bytes);
    if (!spec->bounds || !spec->bounds[i]) return;
    member(w, "bounds", false);
    nnv_text_add(w->t, "[");
    for (size_t e = 0; e < v->bytes / nnv_type(type)->size; e++) {
        nnv_text_add(w->t, e ? w->comma : "");
        if (isnan(spec->bounds[i][e]))
            nnv_text_add(w->t, "null");
        else
            nnv_text_addf(w->t, "%.9g", isinf(spec->bounds[i][e]) ? 1e300 : spec->bounds[i][e]);
    }
    nnv_text_add(w->t, "]");
}

static void add_operand(struct writer *w, const struct nnv_spec *spec, const struct nnv_subgraph *s, uint32_t i) {
    const struct nnv_operand *o = &s->operands[i];
    nnv_text_add(w->t, "{");
    member(w, "type", true);
    if (nnv_type(o->type)) {
        nnv_text_add(w->t, "\"");
        nnv_spec_add_type(w->t, o->type);
        nnv_text_add(w->t, "\"");
    } else {
        nnv_text_addf(w->t, "%d", o->type);
    }
    member(w, "dims", false);
    add_indices(w, o->rank, o->dims);
    add_quantisation(w, o);
    member(w, "lifetime", false);
    nnv_text_add_json(w->t, nnv_lifetime_name(o->lifetime));
    add_channel_quant(w, o);
    if (o->ignored) {
        member(w, "ignored", false);
        nnv_text_add(w->t, "true");
    }
    const struct nnv_value *v = nnv_spec_value(spec, s, i);
    if (o->lifetime == NNV_SUBGRAPH) {
        member(w, "data", false);
        nnv_text_addf(w->t, "[%u]", o->subgraph);
    } else if (nnv_is_constant(o)) {
        add_data(w, "data", o->type, o->rank, o->dims, o->data, o->bytes);
    } else if (v) {
        add_value(w, o, v, nnv_spec_is_input(s, i));
        if (s == &spec->model.main) add_answer(w, spec, i);
    }
    nnv_text_add(w->t, "}");
}

static void add_operation(struct writer *w, const struct nnv_operation *op) {
    const struct nnv_op *record = nnv_op(op->type);
    nnv_text_add(w->t, "{");
    member(w, "type", true);
    if (record)
        nnv_text_add_json(w->t, record->name);
    else
        nnv_text_addf(w->t, "%d", op->type);
    member(w, "inputs", false);
    add_indices(w, op->nin, op->in);
    member(w, "outputs", false);
    add_indices(w, op->nout, op->out);
    nnv_text_add(w->t, "}");
}

static void add_subgraph(struct writer *w, int depth, const struct nnv_spec *spec, const struct nnv_subgraph *s) {
    nnv_text_add(w->t, "{");
    row(w, depth + 1, "operands", true);
    nnv_text_add(w->t, "[");
    for (uint32_t i = 0; i < s->noperands; i++) {
        nnv_text_add(w->t, i ? "," : "");
        line(w, depth + 2);
        add_operand(w, spec, s, i);
    }
    line(w, depth + 1);
    nnv_text_add(w->t, "]");
    row(w, depth + 1, "operations", false);
    nnv_text_add(w->t, "[");
    for (uint32_t i = 0; i < s->noperations; i++) {
        nnv_text_add(w->t, i ? "," : "");
        line(w, depth + 2);
        add_operation(w, &s->operations[i]);
    }
    line(w, depth + 1);
    nnv_text_add(w->t, "]");
    row(w, depth + 1, "inputs", false);
    add_indices(w, s->nin, s->in);
    row(w, depth + 1, "outputs", false);
    add_indices(w, s->nout, s->out);
    line(w, depth);
    nnv_text_add(w->t, "}");
}

/* ------------------------------------------------------------------- document */

static void add_bool(struct writer *w, const char *key, bool v) {
    row(w, 1, key, false);
    nnv_text_add(w->t, v ? "true" : "false");
}

void nnv_spec_write_json(const struct nnv_spec *spec, bool pretty, struct nnv_text *out) {
    struct writer w = {.t = out, .colon = pretty ? ": " : ":", .comma = pretty ? ", " : ",", .pretty = pretty};
    nnv_text_add(out, "{");
    row(&w, 1, "format", true);
    nnv_text_add(out, "\"nnvts-spec/1\"");
    row(&w, 1, "name", false);
    nnv_text_add_json(out, spec->name ? spec->name : "");
    if (spec->source) {
        row(&w, 1, "source", false);
        nnv_text_add_json(out, spec->source);
    }
    row(&w, 1, "min_version", false);
    nnv_text_add_json(out, spec->min_version ? nnv_level_name(spec->min_version) : NULL);
    add_bool(&w, "expect_failure", spec->expect_failure);
    add_bool(&w, "relaxed", spec->model.relaxed);
    if (spec->exact) add_bool(&w, "exact", true);
    if (spec->precision) {
        row(&w, 1, "precision", false);
        nnv_text_add_json(out, spec->precision);
    }
    if (spec->multinomial_tolerance != 0) {
        row(&w, 1, "multinomial_tolerance", false);
        nnv_text_add_double(out, spec->multinomial_tolerance);
    }
    row(&w, 1, "main", false);
    add_subgraph(&w, 1, spec, &spec->model.main);
    row(&w, 1, "referenced", false);
    nnv_text_add(out, "[");
    for (uint32_t i = 0; i < spec->model.nreferenced; i++) {
        nnv_text_add(out, i ? "," : "");
        line(&w, 2);
        add_subgraph(&w, 2, spec, &spec->model.referenced[i]);
    }
    if (spec->model.nreferenced) line(&w, 1);
    nnv_text_add(out, "]");
    line(&w, 0);
    nnv_text_add(out, "}");
}
