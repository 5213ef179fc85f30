/* SPDX-License-Identifier: Apache-2.0 */
/* A region as NNAPI JSON; docs/compile/compiling.md says what it means. */
#include <math.h>
#include <string.h>

#include "base/sha256.h"
#include "base/type.h"
#include "compiler/nnapi/emit/emit.h"
#include "compiler/nnapi/emit/emit_tables.h"
#include "reference/model/op.h"

/** An entry of a list begins on a line of its own. */
static void begin_entry(struct nnv_text *out, uint32_t i) { nnv_text_add(out, i ? ",\n  " : "\n  "); }

static void add_indices(struct nnv_text *out, const uint32_t *v, uint32_t n) {
    nnv_text_add(out, "[");
    for (uint32_t i = 0; i < n; i++) nnv_text_addf(out, "%s%u", i ? ", " : "", v[i]);
    nnv_text_add(out, "]");
}

/** The sign of a zero stays, which a JSON integer would lose. */
static void add_real(struct nnv_text *out, float v) {
    if (v == 0 && signbit(v))
        nnv_text_add(out, "-0.0");
    else
        nnv_text_add_float(out, v);
}

static void add_element(struct nnv_text *out, int32_t type, const char *p) {
    const struct nnv_type *t = nnv_type(type);
    if (t->kind == NNV_KIND_FLOAT && t->size == 4) {
        float v;
        memcpy(&v, p, sizeof v);
        add_real(out, v);
    } else if (t->kind == NNV_KIND_FLOAT) {
        uint16_t bits;
        memcpy(&bits, p, sizeof bits);
        nnv_text_addf(out, "%u", bits);
    } else if (t->kind == NNV_KIND_BOOL) {
        nnv_text_addf(out, "%u", (unsigned)(unsigned char)*p);
    } else {
        double v;
        nnv_load(type, p, 1, &v);
        nnv_text_addf(out, "%.0f", v);
    }
}

static void add_type(struct nnv_text *out, const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    nnv_text_addf(out, "{\"type\": \"%s\"", t->name);
    if (t->tensor) {
        nnv_text_add(out, ", \"shape\": ");
        add_indices(out, o->dims, o->rank);
    }
    if (o->scale != 0) {
        nnv_text_add(out, ", \"scale\": ");
        nnv_text_add_float(out, o->scale);
    }
    if (o->zero_point) nnv_text_addf(out, ", \"zeroPoint\": %d", o->zero_point);
    if (o->channel.count) {
        nnv_text_addf(out, ", \"channelDim\": %u, \"scales\": [", o->channel.dim);
        for (uint32_t i = 0; i < o->channel.count; i++) {
            if (i) nnv_text_add(out, ", ");
            nnv_text_add_float(out, o->channel.scales[i]);
        }
        nnv_text_add(out, "]");
    }
    nnv_text_add(out, "}");
}

static void add_constant(struct nnv_text *out, const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    nnv_text_addf(out, "{\"type\": \"%s\", \"dtype\": \"%s\", \"value\": ", t->tensor ? "array" : "scalar",
                  nnv_emit_dtype(o->type));
    if (t->tensor) nnv_text_add(out, "[");
    for (size_t at = 0; at < o->bytes; at += t->size) {
        if (at) nnv_text_add(out, ", ");
        add_element(out, o->type, (const char *)o->data + at);
    }
    nnv_text_add(out, t->tensor ? "]}" : "}");
}

/** The number of operand i in a list of arguments, or -1. */
static int64_t position(const uint32_t *list, uint32_t n, uint32_t i) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == i) return k;
    return -1;
}

static void add_operand(const struct nnv_emit_tables *t, uint32_t i, struct nnv_text *out) {
    const struct nnv_operand *o = &t->graph->operands[i];
    const struct nnv_emit_place *place = t->place[i];
    const char *name = nnv_emit_value_name(t, i);
    nnv_text_addf(out, "{\"type\": %u", t->type_of[i]);
    if (place)
        nnv_text_addf(out, ", \"value\": {\"type\": \"ann_memory\", \"value\": 0, \"offset\": %zu, \"length\": %zu}",
                      place->offset, place->bytes);
    else if (nnv_emit_is_small(o))
        nnv_text_addf(out, ", \"value\": {\"type\": \"constant_idx\", \"value\": %u}", t->constant_of[i]);
    else if (o->lifetime == NNV_NO_VALUE)
        nnv_text_add(out, ", \"value\": {\"type\": \"no_value\"}");
    else if (o->lifetime == NNV_SUBGRAPH)
        nnv_text_addf(out, ", \"value\": {\"type\": \"model_idx\", \"value\": %u}", o->subgraph);
    else if (o->lifetime == NNV_SUBGRAPH_INPUT)
        nnv_text_addf(out, ", \"value\": {\"type\": \"memory_ptr\", \"value\": \"input%lld\"}",
                      (long long)position(t->graph->in, t->graph->nin, i));
    else if (o->lifetime == NNV_SUBGRAPH_OUTPUT)
        nnv_text_addf(out, ", \"value\": {\"type\": \"memory_ptr\", \"value\": \"output%lld\"}",
                      (long long)position(t->graph->out, t->graph->nout, i));
    if (*name) {
        nnv_text_add(out, ", \"name\": ");
        nnv_text_add_json(out, name);
    }
    nnv_text_add(out, "}");
}

static void add_operations(const struct nnv_subgraph *s, struct nnv_text *out) {
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *op = &s->operations[i];
        begin_entry(out, i);
        nnv_text_addf(out, "{\"op\": \"%s\", \"input\": ", nnv_op(op->type)->name);
        add_indices(out, op->in, op->nin);
        nnv_text_add(out, ", \"output\": ");
        add_indices(out, op->out, op->nout);
        nnv_text_add(out, "}");
    }
}

static void add_memories(const struct nnv_emit_tables *t, struct nnv_text *out) {
    nnv_text_add(out, "],\n \"memories\": [");
    if (!t->uses_file) return;
    nnv_text_add(out, "\n  {\"file_name\": ");
    nnv_text_add_json(out, t->weights->file);
    nnv_text_addf(out, ", \"size\": %zu}", t->weights->bytes.len);
}

static void add_graph(const struct nnv_emit_tables *t, struct nnv_text *out) {
    nnv_text_add(out, " \"types\": [");
    for (uint32_t i = 0; i < t->n_types; i++) {
        begin_entry(out, i);
        add_type(out, t->type[i]);
    }
    nnv_text_add(out, "],\n \"constants\": [");
    for (uint32_t i = 0; i < t->n_constants; i++) {
        begin_entry(out, i);
        add_constant(out, t->constant[i]);
    }
    if (t->number == 0) add_memories(t, out);
    nnv_text_add(out, "],\n \"operands\": [");
    for (uint32_t i = 0; i < t->graph->noperands; i++) {
        begin_entry(out, i);
        add_operand(t, i, out);
    }
    nnv_text_add(out, "],\n \"operations\": [");
    add_operations(t->graph, out);
    nnv_text_add(out, "],\n \"inputs\": ");
    add_indices(out, t->graph->in, t->graph->nin);
    nnv_text_add(out, ",\n \"outputs\": ");
    add_indices(out, t->graph->out, t->graph->nout);
}

/** Adds graph g of region r. */
static void add_tabulated(const struct nnv_emit *regions, size_t r, uint32_t g, const struct nnv_emit_weights *w,
                          struct nnv_text *out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_emit_tables t;
    if (arena && nnv_emit_tabulate(regions, r, g, w, arena, &t))
        add_graph(&t, out);
    else
        out->failed = true;
    nnv_arena_free(arena);
}

void nnv_emit_json(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out) {
    const struct nnv_converted *c = regions[r].converted;
    nnv_text_add(out, "{\"function\": ");
    nnv_text_add_json(out, regions[r].function);
    nnv_text_addf(out, ", \"featureLevel\": %d, \"relaxed\": %s,\n", c->level, c->model.relaxed ? "true" : "false");
    add_tabulated(regions, r, 0, w, out);
    for (uint32_t i = 0; i < c->model.nreferenced; i++) {
        nnv_text_add(out, i ? ",\n {\n" : ",\n \"referenced\": [{\n");
        add_tabulated(regions, r, i + 1, w, out);
        nnv_text_add(out, i + 1 < c->model.nreferenced ? "}" : "}]");
    }
    nnv_text_add(out, "}\n");
}

bool nnv_emit_digest(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, uint8_t digest[32]) {
    struct nnv_text json = {0};
    struct nnv_sha256 h;
    nnv_emit_json(regions, r, w, &json);
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, json.data, json.len);
    for (size_t i = 0; i < w->n_places[r]; i++) {
        const struct nnv_emit_place *place = &w->places[r][i];
        const struct nnv_operand *o =
            &nnv_emit_graph(&regions[r].converted->model, place->graph)->operands[place->operand];
        nnv_sha256_add(&h, o->data, o->bytes);
    }
    nnv_sha256_end(&h, digest);
    const bool ok = !json.failed;
    nnv_text_free(&json);
    return ok;
}
