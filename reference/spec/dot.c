/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing a spec for Graphviz: operands are ellipses, operations boxes, referenced subgraphs frames. */
#include <stdio.h>

#include "reference/model/op.h"
#include "reference/spec/spec.h"
#include "reference/spec/write.h"

struct drawing {
    struct nnv_text *t;
    const struct nnv_subgraph *s;
    const char *prefix; /* of node names: "m" or "r0_" */
};

static void add_operand_label(struct nnv_text *t, const struct nnv_operand *o, uint32_t i) {
    nnv_text_addf(t, "%%%u", i);
    if (o->lifetime == NNV_SUBGRAPH) {
        nnv_text_addf(t, "\\nsubgraph %u", o->subgraph);
        return;
    }
    nnv_text_add(t, "\\n");
    nnv_spec_add_type(t, o->type);
    if (o->rank) {
        nnv_text_add(t, " ");
        nnv_spec_add_dims(t, o->rank, o->dims, "?");
    }
    if (o->scale != 0) nnv_text_addf(t, "\\nscale %.6g zero point %d", (double)o->scale, o->zero_point);
    if (o->channel.count) nnv_text_addf(t, "\\n%u scales along %u", o->channel.count, o->channel.dim);
    struct nnv_text value = {0};
    if (nnv_spec_add_small_constant(&value, o) && value.data) {
        nnv_text_add(t, "\\n= ");
        nnv_text_add_dot(t, value.data);
    }
    nnv_text_free(&value);
}

/* How a lifetime looks. */
static const char *style_of(const struct nnv_operand *o) {
    switch (o->lifetime) {
    case NNV_SUBGRAPH_INPUT:
        return ", style=filled, fillcolor=\"#d7ecd9\"";
    case NNV_SUBGRAPH_OUTPUT:
        return o->ignored ? ", style=\"filled,dashed\", fillcolor=\"#d6e4f2\""
                          : ", style=filled, fillcolor=\"#d6e4f2\"";
    case NNV_CONSTANT_COPY:
    case NNV_CONSTANT_REFERENCE:
    case NNV_SUBGRAPH:
        return ", color=\"#aaaaaa\", fontcolor=\"#666666\", fontsize=8";
    case NNV_NO_VALUE:
        return ", style=dashed, color=\"#aaaaaa\", fontcolor=\"#666666\", fontsize=8";
    case NNV_TEMPORARY_VARIABLE:
    case NNV_LIFETIME_COUNT:
        break;
    }
    return "";
}

static void add_edges(struct drawing *d, uint32_t operation, const struct nnv_operation *op) {
    const char *p = d->prefix;
    for (uint32_t i = 0; i < op->nin; i++)
        if (op->in[i] < d->s->noperands)
            nnv_text_addf(d->t, "  %so%u -> %sp%u [label=\"%u\"%s];\n", p, op->in[i], p, operation, i,
                          nnv_is_constant(&d->s->operands[op->in[i]]) ? ", color=\"#aaaaaa\"" : "");
    for (uint32_t i = 0; i < op->nout; i++)
        if (op->out[i] < d->s->noperands)
            nnv_text_addf(d->t, "  %sp%u -> %so%u [label=\"%u\"];\n", p, operation, p, op->out[i], i);
}

static void add_graph(struct drawing *d, int mark) {
    for (uint32_t i = 0; i < d->s->noperands; i++) {
        nnv_text_addf(d->t, "  %so%u [shape=ellipse, label=\"", d->prefix, i);
        add_operand_label(d->t, &d->s->operands[i], i);
        nnv_text_addf(d->t, "\"%s];\n", style_of(&d->s->operands[i]));
    }
    for (uint32_t i = 0; i < d->s->noperations; i++) {
        nnv_text_addf(d->t, "  %sp%u [shape=box, label=\"%u: ", d->prefix, i, i);
        nnv_spec_add_operation(d->t, d->s->operations[i].type);
        nnv_text_add(d->t, mark >= 0 && (uint32_t)mark == i
                               ? "\", style=filled, fillcolor=\"#ffd0d0\", color=\"#c00000\", penwidth=3];\n"
                               : "\", style=filled, fillcolor=\"#f2f2f2\"];\n");
        add_edges(d, i, &d->s->operations[i]);
    }
}

void nnv_spec_write_dot(const struct nnv_spec *spec, int mark, struct nnv_text *out) {
    const char *name = spec->name ? spec->name : "";
    nnv_text_add(out, "digraph \"");
    nnv_text_add_dot(out, name);
    nnv_text_add(out, "\" {\n  label=\"");
    nnv_text_add_dot(out, name);
    nnv_text_add(out, "\";\n  node [fontname=\"sans-serif\", fontsize=10];\n"
                      "  edge [fontname=\"sans-serif\", fontsize=7, fontcolor=\"#666666\"];\n");
    struct drawing d = {.t = out, .s = &spec->model.main, .prefix = "m"};
    add_graph(&d, mark);
    for (uint32_t i = 0; i < spec->model.nreferenced; i++) {
        char prefix[24];
        snprintf(prefix, sizeof prefix, "r%u_", i);
        nnv_text_addf(out, "  subgraph cluster_%u {\n  label=\"subgraph %u\";\n", i, i);
        struct drawing r = {.t = out, .s = &spec->model.referenced[i], .prefix = prefix};
        add_graph(&r, -1);
        nnv_text_add(out, "  }\n");
    }
    nnv_text_add(out, "}\n");
}
