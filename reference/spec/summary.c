/* SPDX-License-Identifier: Apache-2.0 */
/* A spec in lines for people. */
#include <string.h>

#include "reference/model/op.h"
#include "reference/spec/spec.h"
#include "reference/spec/write.h"

/* "%3 TENSOR_FLOAT32 [1,2]", "%4 = 1" */
static void add_operand(struct nnv_text *t, const struct nnv_subgraph *s, uint32_t i) {
    nnv_text_addf(t, "%%%u", i);
    if (i >= s->noperands) {
        nnv_text_add(t, " (out of range)");
        return;
    }
    const struct nnv_operand *o = &s->operands[i];
    size_t start = t->len;
    nnv_text_add(t, " = ");
    if (o->lifetime == NNV_SUBGRAPH) {
        nnv_text_addf(t, "subgraph %u", o->subgraph);
        return;
    }
    if (nnv_spec_add_small_constant(t, o)) return;
    if (t->data && !t->failed) t->data[t->len = start] = '\0';
    nnv_text_add(t, " ");
    nnv_spec_add_type(t, o->type);
    if (o->rank) {
        nnv_text_add(t, " ");
        nnv_spec_add_dims(t, o->rank, o->dims, "?");
    }
    if (nnv_is_constant(o)) nnv_text_add(t, " constant");
    if (o->lifetime == NNV_NO_VALUE) nnv_text_add(t, " omitted");
}

/* One input or output on a line, with its quantisation and its actual extents. */
static void add_port(struct nnv_text *t, const struct nnv_subgraph *s, uint32_t i, const struct nnv_value *v) {
    nnv_text_add(t, "    ");
    add_operand(t, s, i);
    if (i < s->noperands) {
        const struct nnv_operand *o = &s->operands[i];
        if (o->scale != 0) nnv_text_addf(t, ", scale %.6g zero point %d", (double)o->scale, o->zero_point);
        if (o->channel.count) nnv_text_addf(t, ", %u scales along %u", o->channel.count, o->channel.dim);
        if (o->ignored) nnv_text_add(t, ", not compared");
        bool same = !v || (v->rank == o->rank && (!v->rank || !memcmp(v->dims, o->dims, v->rank * sizeof *v->dims)));
        if (v && v->omitted) {
            nnv_text_add(t, ", no value");
        } else if (!same) {
            nnv_text_add(t, ", here ");
            nnv_spec_add_dims(t, v->rank, v->dims, "0");
        }
    }
    nnv_text_add(t, "\n");
}

static void add_operands(struct nnv_text *t, const struct nnv_subgraph *s, uint32_t n, const uint32_t *list) {
    for (uint32_t i = 0; i < n; i++) {
        nnv_text_add(t, i ? ", " : "");
        add_operand(t, s, list[i]);
    }
}

static void add_constants(struct nnv_text *t, const struct nnv_subgraph *s) {
    size_t count = 0, total = 0, largest = 0;
    uint32_t which = 0;
    for (uint32_t i = 0; i < s->noperands; i++) {
        if (!nnv_is_constant(&s->operands[i])) continue;
        count++;
        total += s->operands[i].bytes;
        if (s->operands[i].bytes <= largest) continue;
        largest = s->operands[i].bytes;
        which = i;
    }
    if (!count) return;
    nnv_text_addf(t, "  constants: %zu, %zu bytes; largest ", count, total);
    add_operand(t, s, which);
    nnv_text_addf(t, ", %zu bytes\n", largest);
}

static void add_subgraph(struct nnv_text *t, const struct nnv_subgraph *s, const struct nnv_value *inputs,
                         const struct nnv_value *outputs) {
    nnv_text_add(t, "  inputs\n");
    for (uint32_t i = 0; i < s->nin; i++) add_port(t, s, s->in[i], inputs ? &inputs[i] : NULL);
    nnv_text_add(t, "  operations\n");
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *op = &s->operations[i];
        nnv_text_addf(t, "    %u  ", i);
        nnv_spec_add_operation(t, op->type);
        nnv_text_add(t, "(");
        add_operands(t, s, op->nin, op->in);
        nnv_text_add(t, ") -> ");
        add_operands(t, s, op->nout, op->out);
        nnv_text_add(t, "\n");
    }
    nnv_text_add(t, "  outputs\n");
    for (uint32_t i = 0; i < s->nout; i++) add_port(t, s, s->out[i], outputs ? &outputs[i] : NULL);
    add_constants(t, s);
}

void nnv_spec_write_summary(const struct nnv_spec *spec, struct nnv_text *out) {
    const struct nnv_subgraph *m = &spec->model.main;
    nnv_text_addf(out, "%s: level %s, %u operation%s, %u operands, %u input%s, %u output%s",
                  spec->name ? spec->name : "", spec->min_version ? nnv_level_name(spec->min_version) : "not given",
                  m->noperations, m->noperations == 1 ? "" : "s", m->noperands, m->nin, m->nin == 1 ? "" : "s", m->nout,
                  m->nout == 1 ? "" : "s");
    if (spec->model.relaxed) nnv_text_add(out, ", relaxed float32");
    if (spec->exact) nnv_text_add(out, ", exact");
    if (spec->expect_failure) nnv_text_add(out, ", must be refused");
    if (spec->multinomial_tolerance != 0) nnv_text_addf(out, ", multinomial tolerance %g", spec->multinomial_tolerance);
    nnv_text_add(out, "\n");
    if (spec->source) nnv_text_addf(out, "  from %s\n", spec->source);
    add_subgraph(out, m, spec->inputs, spec->outputs);
    for (uint32_t i = 0; i < spec->model.nreferenced; i++) {
        nnv_text_addf(out, "subgraph %u\n", i);
        add_subgraph(out, &spec->model.referenced[i], NULL, NULL);
    }
}
