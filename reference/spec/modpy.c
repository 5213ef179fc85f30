/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a spec as a .mod.py file. Floats are hexadecimal, so that every bit survives; short ones follow as a comment.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/model/op.h"
#include "reference/spec/spec.h"
#include "reference/spec/write.h"

enum { MOST_EXPLAINED = 16, MOST_NESTED = 64, PREFIX = 24, CHUNK = 256 };

struct writer {
    struct nnv_text *t;
    const struct nnv_spec *spec;
    const struct nnv_subgraph *s; /* the subgraph being written */
    char prefix[PREFIX];          /* of its operands' names: "op", "sub2_op" */
};

/* ------------------------------------------------------------------- values */

static void add_hex(struct nnv_text *t, double v) {
    if (isnan(v))
        nnv_text_add(t, "nan");
    else if (isinf(v))
        nnv_text_add(t, v > 0 ? "inf" : "-inf");
    else
        nnv_text_addf(t, "%a", v);
}

/* Elements as a Python list. */
static void add_list(struct nnv_text *t, int32_t type, const void *data, size_t n) {
    const struct nnv_type *traits = nnv_type(type);
    bool is_float = traits->kind == NNV_KIND_FLOAT;
    double v[CHUNK];
    nnv_text_add(t, is_float ? "from_hex([" : "[");
    for (size_t start = 0; start < n; start += CHUNK) {
        size_t k = n - start < CHUNK ? n - start : CHUNK;
        nnv_load(type, (const char *)data + start * traits->size, k, v);
        for (size_t i = 0; i < k; i++) {
            nnv_text_add(t, start + i ? ", " : "");
            if (traits->kind == NNV_KIND_BOOL) {
                nnv_text_add(t, v[i] != 0 ? "True" : "False");
            } else if (is_float) {
                nnv_text_add(t, "\"");
                add_hex(t, v[i]);
                nnv_text_add(t, "\"");
            } else {
                nnv_text_addf(t, "%.0f", v[i]);
            }
        }
    }
    nnv_text_add(t, is_float ? "])" : "]");
}

/* Data as a list; None if they are not what dims say. */
static void add_data(struct nnv_text *t, int32_t type, uint32_t rank, const uint32_t *dims, const void *data,
                     size_t bytes) {
    size_t n;
    if (nnv_spec_fits(type, rank, dims, bytes, &n))
        add_list(t, type, data, n);
    else
        nnv_text_add(t, "None");
}

/* Decimals of a few floats, as a comment. */
static void add_decimals(struct nnv_text *t, int32_t type, uint32_t rank, const uint32_t *dims, const void *data,
                         size_t bytes) {
    size_t n;
    if (!nnv_is_float(type) || !nnv_spec_fits(type, rank, dims, bytes, &n) || n == 0 || n > MOST_EXPLAINED) return;
    nnv_text_add(t, "  # ");
    nnv_spec_add_numbers(t, type, data, n, ", ");
}

/* Text in a comment: no line break. */
static void add_comment(struct nnv_text *t, const char *s) {
    nnv_text_add(t, "# ");
    for (; *s; s++) nnv_text_addf(t, "%c", (unsigned char)*s < 0x20 ? ' ' : *s);
    nnv_text_add(t, "\n");
}

/* ----------------------------------------------------------------- operands */

/* ("TENSOR_QUANT8_ASYMM", [1, 2], float.fromhex("0x1p-1"), 128) */
static void add_type(struct nnv_text *t, const struct nnv_operand *o, uint32_t rank, const uint32_t *dims) {
    nnv_text_add(t, "(\"");
    nnv_spec_add_type(t, o->type);
    nnv_text_add(t, "\", [");
    for (uint32_t i = 0; i < rank; i++) nnv_text_addf(t, "%s%u", i ? ", " : "", dims[i]);
    nnv_text_add(t, "]");
    if (o->scale != 0 || o->zero_point != 0) {
        nnv_text_add(t, ", float.fromhex(\"");
        add_hex(t, (double)o->scale);
        nnv_text_addf(t, "\"), %d", o->zero_point);
    }
    nnv_text_add(t, ")");
}

static void add_channel_quant(struct nnv_text *t, const struct nnv_channel_quant *q) {
    if (!q->count) return;
    nnv_text_addf(t, ", extraParams=SymmPerChannelQuantParams(channelDim=%u, scales=", q->dim);
    add_list(t, ANEURALNETWORKS_TENSOR_FLOAT32, q->scales, q->count);
    nnv_text_add(t, ")");
}

static const char *class_of(const struct nnv_operand *o) {
    switch (o->lifetime) {
    case NNV_SUBGRAPH_INPUT:
        return "Input";
    case NNV_SUBGRAPH_OUTPUT:
        return o->ignored ? "IgnoredOutput" : "Output";
    case NNV_CONSTANT_COPY:
    case NNV_CONSTANT_REFERENCE:
    case NNV_NO_VALUE:
        return "Parameter";
    case NNV_SUBGRAPH:
        return "SubgraphReference";
    case NNV_TEMPORARY_VARIABLE:
    case NNV_LIFETIME_COUNT:
        break;
    }
    return "Internal";
}

static void add_operand(struct writer *w, uint32_t i) {
    const struct nnv_operand *o = &w->s->operands[i];
    const struct nnv_value *v = nnv_spec_value(w->spec, w->s, i);
    bool actual = v && !v->omitted; /* a value's extents are known where the operand's may not be */
    nnv_text_addf(w->t, "%s%u = %s(\"%s%u\", ", w->prefix, i, class_of(o), w->prefix, i);
    if (o->lifetime == NNV_SUBGRAPH) {
        nnv_text_addf(w->t, "sub%u)\n", o->subgraph);
        return;
    }
    add_type(w->t, o, actual ? v->rank : o->rank, actual ? v->dims : o->dims);
    if (nnv_is_constant(o)) {
        nnv_text_add(w->t, ", ");
        add_data(w->t, o->type, o->rank, o->dims, o->data, o->bytes);
    } else if (o->lifetime == NNV_NO_VALUE) {
        nnv_text_add(w->t, ", None");
    }
    add_channel_quant(w->t, &o->channel);
    nnv_text_add(w->t, ")");
    if (nnv_is_constant(o)) add_decimals(w->t, o->type, o->rank, o->dims, o->data, o->bytes);
    if (o->scale != 0) nnv_text_addf(w->t, "  # scale %.9g", (double)o->scale);
    if (actual && (v->rank != o->rank || (v->rank && memcmp(v->dims, o->dims, v->rank * sizeof *v->dims) != 0))) {
        nnv_text_add(w->t, "  # declared ");
        nnv_spec_add_dims(w->t, o->rank, o->dims, "?");
    }
    nnv_text_add(w->t, "\n");
}

/* ---------------------------------------------------------------- subgraphs */

static void add_names(struct writer *w, uint32_t n, const uint32_t *list, bool first) {
    for (uint32_t i = 0; i < n; i++) nnv_text_addf(w->t, "%s%s%u", i || !first ? ", " : "", w->prefix, list[i]);
}

static void add_operation(struct writer *w, const char *model, const struct nnv_operation *op) {
    nnv_text_addf(w->t, "%s = %s.Operation(\"", model, model);
    nnv_spec_add_operation(w->t, op->type);
    nnv_text_add(w->t, "\"");
    add_names(w, op->nin, op->in, false);
    nnv_text_add(w->t, ")");
    if (op->nout) {
        nnv_text_add(w->t, ".To(");
        add_names(w, op->nout, op->out, true);
        nnv_text_add(w->t, ")");
    }
    nnv_text_add(w->t, "\n");
}

/* One model: its operands, its inputs and outputs in order, its operations. */
static void add_model(struct writer *w, const struct nnv_subgraph *s, const char *name, bool named) {
    w->s = s;
    for (uint32_t i = 0; i < s->noperands; i++) add_operand(w, i);
    nnv_text_addf(w->t, "%s = Model(%s%s%s)", name, named ? "\"" : "", named ? name : "", named ? "\"" : "");
    if (s->nin) {
        nnv_text_add(w->t, ".IdentifyInputs(");
        add_names(w, s->nin, s->in, true);
        nnv_text_add(w->t, ")");
    }
    if (s->nout) {
        nnv_text_add(w->t, ".IdentifyOutputs(");
        add_names(w, s->nout, s->out, true);
        nnv_text_add(w->t, ")");
    }
    nnv_text_add(w->t, "\n");
    for (uint32_t i = 0; i < s->noperations; i++) add_operation(w, name, &s->operations[i]);
    if (w->spec->model.relaxed) nnv_text_addf(w->t, "%s = %s.RelaxedExecution(True)\n", name, name);
}

/* Are all subgraphs that s refers to written? */
static bool is_ready(const struct nnv_subgraph *s, uint32_t nreferenced, const bool *written) {
    for (uint32_t i = 0; i < s->noperands; i++) {
        const struct nnv_operand *o = &s->operands[i];
        if (o->lifetime == NNV_SUBGRAPH && o->subgraph < nreferenced && !written[o->subgraph]) return false;
    }
    return true;
}

/* Each subgraph after those that it refers to; one that refers to itself in the end has no place and is left out. */
static void add_referenced(struct writer *w) {
    const struct nnv_model *m = &w->spec->model;
    bool *written = calloc(m->nreferenced + 1, sizeof *written), progress = true;
    if (!written) {
        w->t->failed = true;
        return;
    }
    for (int pass = 0; progress && pass < MOST_NESTED; pass++) {
        progress = false;
        for (uint32_t i = m->nreferenced; i-- > 0;) {
            if (written[i] || !is_ready(&m->referenced[i], m->nreferenced, written)) continue;
            char name[PREFIX];
            snprintf(name, sizeof name, "sub%u", i);
            snprintf(w->prefix, sizeof w->prefix, "sub%u_op", i);
            add_model(w, &m->referenced[i], name, true);
            nnv_text_add(w->t, "\n");
            written[i] = progress = true;
        }
    }
    free(written);
}

/* ----------------------------------------------------------------- document */

static void add_example_values(struct writer *w, uint32_t n, const uint32_t *list, const struct nnv_value *values) {
    for (uint32_t k = 0; k < n; k++) {
        const struct nnv_value *v = &values[k];
        int32_t type = list[k] < w->s->noperands ? w->s->operands[list[k]].type : -1;
        nnv_text_addf(w->t, "    %s%u: ", w->prefix, list[k]);
        if (v->omitted) {
            nnv_text_add(w->t, "[],\n");
            continue;
        }
        add_data(w->t, type, v->rank, v->dims, v->data, v->bytes);
        nnv_text_add(w->t, ",");
        add_decimals(w->t, type, v->rank, v->dims, v->data, v->bytes);
        nnv_text_add(w->t, "\n");
    }
}

void nnv_spec_write_modpy(const struct nnv_spec *spec, struct nnv_text *out) {
    static const char *const versions[NNV_LEVEL_MAX + 1] = {NULL,   "V1_0",    "V1_1",    "V1_2",
                                                            "V1_3", "AIDL_V1", "AIDL_V2", "AIDL_V3"};
    struct writer w = {.t = out, .spec = spec};
    add_comment(out, spec->name ? spec->name : "");
    if (spec->source) add_comment(out, spec->source);
    nnv_text_add(out, "\nfrom_hex = lambda values: [float.fromhex(v) for v in values]\n\n");
    add_referenced(&w);
    snprintf(w.prefix, sizeof w.prefix, "op");
    add_model(&w, &spec->model.main, "model", false);
    if (spec->min_version >= NNV_LEVEL_MIN && spec->min_version <= NNV_LEVEL_MAX)
        nnv_text_addf(out, "model = model.IntroducedIn(\"%s\")\n", versions[spec->min_version]);
    nnv_text_add(out, "\nexample = Example({\n");
    if (spec->inputs) add_example_values(&w, spec->model.main.nin, spec->model.main.in, spec->inputs);
    if (spec->outputs) add_example_values(&w, spec->model.main.nout, spec->model.main.out, spec->outputs);
    nnv_text_add(out, "}, model=model).DisableLifeTimeVariation()\n");
    if (spec->expect_failure) nnv_text_add(out, "example.ExpectFailure()\n");
    if (spec->multinomial_tolerance != 0)
        nnv_text_addf(out, "example.WithMultinomialDistributionTolerance(%.17g)\n", spec->multinomial_tolerance);
}
