/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/spec_c/spec_c.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "harness/client/driver.h"
#include "harness/client/abi.h"
#include "harness/debug/spec_c/spec_c_text.h"
#include "reference/model/validate.h"

enum { GUARD = 64, PAGE = 1 << 16, A_LINE = 12 };

/** What is not the same in programs of all dialects. */
static const struct dialect {
    const char *tags; /**< what the tags of the structs of a model begin with */
    const char *const *head, *const *run;
    const char *how;
} dialects[] = {
    [NNV_C_DRIVER] = {"nnvts_", nnv_c_driver_head, nnv_c_driver_run,
                      " * Build: cc -std=c17 -I include FILE.c -ldl -lm -o repro    Run: ./repro ./driver.so "
                      "[OPTIONS]\n"},
    [NNV_C_NDK] = {"", nnv_c_ndk_head, nnv_c_ndk_run,
                   " * Build: cc -std=c17 FILE.c ./libneuralnetworks.so -lm -o repro    Run: ./repro\n"},
};

enum nnv_c_dialect nnv_c_dialect_of(const char *driver) {
    return nnv_client_is_library(driver) ? NNV_C_NDK : NNV_C_DRIVER;
}

/** What one program knows. */
struct writer {
    const struct nnv_spec *spec;
    const struct dialect *dialect;
    const struct nnv_bounds *bounds;
    struct nnv_text *out;
    size_t pool_at, values_at; /**< where the next constant goes */
    uint32_t constants;
};

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static void add_lines(struct nnv_text *t, const char *const *lines) {
    for (; *lines; lines++) nnv_text_addf(t, "%s\n", *lines);
}

/** A comment must not end early. */
static void add_comment(struct nnv_text *t, const char *s) {
    for (; *s; s++) nnv_text_addf(t, "%c", *s == '*' || (unsigned char)*s < ' ' ? '_' : *s);
}

/* -------------------------------------------------------------------- numbers */

static void add_float(struct nnv_text *t, const char *digits, const char *suffix) {
    nnv_text_addf(t, "%s%s%s", digits, strpbrk(digits, ".e") ? "" : ".0", suffix);
}

static void add_double(struct nnv_text *t, double v) {
    char digits[40];
    if (isnan(v)) {
        nnv_text_add(t, "NAN");
    } else if (isinf(v)) {
        nnv_text_add(t, v < 0 ? "-INFINITY" : "INFINITY");
    } else {
        snprintf(digits, sizeof digits, "%.17g", v);
        add_float(t, digits, "");
    }
}

/** The C type of an element as it is written; floats with NaNs or infinities, and float16, as their bits. */
static const char *element_type(int32_t type, const void *data, size_t n, bool *bits) {
    const struct nnv_type *t = nnv_type(type);
    *bits = t->kind == NNV_KIND_FLOAT && t->size == 2;
    for (size_t i = 0; t->kind == NNV_KIND_FLOAT && t->size == 4 && i < n; i++) {
        float f;
        memcpy(&f, (const char *)data + 4 * i, sizeof f);
        *bits = *bits || !isfinite(f);
    }
    if (t->kind == NNV_KIND_FLOAT && !*bits) return "float";
    const bool is_signed = !*bits && t->min < 0;
    if (t->size == 4) return is_signed ? "int32_t" : "uint32_t";
    if (t->size == 2) return is_signed ? "int16_t" : "uint16_t";
    return is_signed ? "int8_t" : "uint8_t";
}

static void add_bits(struct nnv_text *t, const char *p, size_t size) {
    uint32_t u = 0;
    memcpy(&u, p, size);
    nnv_text_addf(t, "0x%0*" PRIx32, (int)(2 * size), u);
}

static void add_element(struct nnv_text *t, int32_t type, const char *p, bool bits) {
    char digits[40];
    double v;
    if (bits) {
        add_bits(t, p, nnv_type(type)->size);
        return;
    }
    if (nnv_type(type)->kind == NNV_KIND_BOOL) {
        nnv_text_addf(t, "%u", (unsigned)(unsigned char)*p);
        return;
    }
    nnv_load(type, p, 1, &v);
    if (nnv_is_float(type)) {
        snprintf(digits, sizeof digits, "%.9g", v);
        add_float(t, digits, "f");
    } else if (v == (double)INT32_MIN) {
        nnv_text_add(t, "-2147483647 - 1");
    } else {
        nnv_text_addf(t, "%.0f%s", v, v > INT32_MAX ? "u" : "");
    }
}

/** static const TYPE NAME[] = {...}; at least one element, since C knows no empty arrays. */
static void add_data(struct nnv_text *t, const char *name, int32_t type, const void *data, size_t bytes) {
    const size_t size = nnv_type(type)->size, n = size ? bytes / size : 0;
    bool bits;
    const char *element = element_type(type, data, n, &bits);
    nnv_text_addf(t, "static const %s %s[] = {", element, name);
    for (size_t i = 0; i < n; i++) {
        nnv_text_add(t, i == 0 ? "" : i % A_LINE ? ", " : ",\n    ");
        add_element(t, type, (const char *)data + i * size, bits);
    }
    nnv_text_add(t, n ? "};\n" : "0};\n");
}

static void add_doubles(struct nnv_text *t, const char *name, uint32_t i, const double *v, size_t n, bool bound) {
    nnv_text_addf(t, "static const double %s_%u[] = {", name, i);
    for (size_t k = 0; k < n; k++) {
        nnv_text_add(t, k == 0 ? "" : k % A_LINE ? ", " : ",\n    ");
        add_double(t, bound && isnan(v[k]) ? -1 : v[k]);
    }
    nnv_text_add(t, n ? "};\n" : "0};\n");
}

static void add_indices(struct nnv_text *t, const char *name, const uint32_t *v, uint32_t n) {
    nnv_text_addf(t, "static const uint32_t %s[] = {", name);
    for (uint32_t i = 0; i < n; i++) nnv_text_addf(t, "%s%u", i ? ", " : "", v[i]);
    nnv_text_add(t, n ? "};\n" : "0};\n");
}

/* ---------------------------------------------------------------------- model */

static const struct nnv_subgraph *subgraph_at(const struct writer *w, uint32_t g) {
    return g == 0 ? &w->spec->model.main : &w->spec->model.referenced[g - 1];
}

static bool in_pool(const struct nnv_operand *o) {
    return o->lifetime == NNV_CONSTANT_REFERENCE || o->bytes > NNV_ABI_COPY_MAX;
}

/** Arrays that the operands of a subgraph point to. */
static void add_operand_data(struct writer *w, uint32_t g) {
    const struct nnv_subgraph *s = subgraph_at(w, g);
    char name[48];
    for (uint32_t i = 0; i < s->noperands; i++) {
        const struct nnv_operand *o = &s->operands[i];
        snprintf(name, sizeof name, "dims_%u_%u", g, i);
        if (o->rank) add_indices(w->out, name, o->dims, o->rank);
        snprintf(name, sizeof name, "data_%u_%u", g, i);
        if (nnv_is_constant(o)) add_data(w->out, name, o->type, o->data, o->bytes);
        snprintf(name, sizeof name, "scales_%u_%u", g, i);
        if (o->channel.count)
            add_data(w->out, name, ANEURALNETWORKS_TENSOR_FLOAT32, o->channel.scales, o->channel.count * sizeof(float));
    }
}

static void add_operand(struct writer *w, uint32_t g, uint32_t i, struct nnv_text *constants) {
    const struct nnv_operand *o = &subgraph_at(w, g)->operands[i];
    const struct nnv_type *type = nnv_type(o->type);
    char scale[40];
    snprintf(scale, sizeof scale, "%.9g", (double)o->scale);
    nnv_text_addf(w->out, "    /* %u %s */ {.type = %d, .lifetime = %d", i, type ? type->name : "", o->type,
                  nnv_is_constant(o) ? (in_pool(o) ? NNVTS_CONSTANT_REFERENCE : NNVTS_CONSTANT_COPY)
                                     : (int)o->lifetime);
    if (o->rank) nnv_text_addf(w->out, ", .dimension_count = %u, .dimensions = dims_%u_%u", o->rank, g, i);
    if (o->scale != 0) {
        nnv_text_add(w->out, ", .scale = ");
        add_float(w->out, scale, "f");
    }
    if (o->zero_point) nnv_text_addf(w->out, ", .zero_point = %d", o->zero_point);
    if (o->channel.count)
        nnv_text_addf(w->out, ", .channel_quant = {%u, %u, scales_%u_%u}", o->channel.dim, o->channel.count, g, i);
    if (o->lifetime == NNV_SUBGRAPH) nnv_text_addf(w->out, ", .location = {.offset = %u}", o->subgraph);
    if (nnv_is_constant(o)) {
        size_t *at = in_pool(o) ? &w->pool_at : &w->values_at;
        nnv_text_addf(w->out, ", .location = {.offset = %zu, .length = %zu}", *at, o->bytes);
        nnv_text_addf(constants, "    {data_%u_%u, %zu, %zu, %d},\n", g, i, o->bytes, *at, in_pool(o));
        *at = round_up(*at + o->bytes, in_pool(o) ? GUARD : sizeof(uint64_t)) + (in_pool(o) ? GUARD : 0);
        w->constants++;
    }
    nnv_text_add(w->out, "},\n");
}

static void add_operations(struct writer *w, uint32_t g) {
    const struct nnv_subgraph *s = subgraph_at(w, g);
    char name[48];
    for (uint32_t i = 0; i < s->noperations; i++) {
        snprintf(name, sizeof name, "in_%u_%u", g, i);
        add_indices(w->out, name, s->operations[i].in, s->operations[i].nin);
        snprintf(name, sizeof name, "out_%u_%u", g, i);
        add_indices(w->out, name, s->operations[i].out, s->operations[i].nout);
    }
    nnv_text_addf(w->out, "static const struct %soperation operations_%u[] = {\n", w->dialect->tags, g);
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *o = &s->operations[i];
        const struct nnv_op *op = nnv_op(o->type);
        nnv_text_addf(w->out, "    /* %u %s */ {%d, %u, %u, in_%u_%u, out_%u_%u},\n", i, op ? op->name : "", o->type,
                      o->nin, o->nout, g, i, g, i);
    }
    nnv_text_add(w->out, s->noperations ? "};\n" : "    {0, 0, 0, 0, 0}};\n");
    snprintf(name, sizeof name, "inputs_%u", g);
    add_indices(w->out, name, s->in, s->nin);
    snprintf(name, sizeof name, "outputs_%u", g);
    add_indices(w->out, name, s->out, s->nout);
}

static void add_subgraph(struct nnv_text *t, const struct nnv_subgraph *s, uint32_t g) {
    nnv_text_addf(t, "{%u, %u, %u, %u, operands_%u, operations_%u, inputs_%u, outputs_%u}", s->noperands,
                  s->noperations, s->nin, s->nout, g, g, g, g);
}

static void add_model(struct writer *w) {
    const struct nnv_model *m = &w->spec->model;
    struct nnv_text constants = {0};
    w->pool_at = GUARD;
    for (uint32_t g = 0; g <= m->nreferenced; g++) {
        const struct nnv_subgraph *s = subgraph_at(w, g);
        nnv_text_addf(w->out, "/* %s */\n", g ? "a referenced subgraph" : "the main subgraph");
        add_operand_data(w, g);
        nnv_text_addf(w->out, "static const struct %soperand operands_%u[] = {\n", w->dialect->tags, g);
        for (uint32_t i = 0; i < s->noperands; i++) add_operand(w, g, i, &constants);
        nnv_text_add(w->out, "};\n");
        add_operations(w, g);
    }
    nnv_text_addf(w->out, "\nenum { CONSTANTS = %u, POOL_BYTES = %zu, VALUES_BYTES = %zu, OPERATIONS = %u };\n",
                  w->constants, round_up(w->pool_at, PAGE), w->values_at ? w->values_at : 1, m->main.noperations);
    nnv_text_addf(w->out, "static const struct constant constants[CONSTANTS + 1] = {\n%s    {0}};\n",
                  constants.data ? constants.data : "");
    nnv_text_add(w->out, "static _Alignas(64) unsigned char values[VALUES_BYTES];\n");
    if (m->nreferenced) {
        nnv_text_addf(w->out, "static const struct %ssubgraph referenced[] = {\n", w->dialect->tags);
        for (uint32_t g = 1; g <= m->nreferenced; g++) {
            nnv_text_add(w->out, "    ");
            add_subgraph(w->out, subgraph_at(w, g), g);
            nnv_text_add(w->out, ",\n");
        }
        nnv_text_add(w->out, "};\n");
    }
    nnv_text_addf(w->out, "static struct %smodel model = {\n    .main = ", w->dialect->tags);
    add_subgraph(w->out, &m->main, 0);
    if (m->nreferenced)
        nnv_text_addf(w->out, ",\n    .referenced = referenced, .referenced_count = %u", m->nreferenced);
    nnv_text_addf(w->out,
                  ",\n    .operand_values = values, .operand_values_bytes = %zu, .pool_count = %d,\n"
                  "    .relax_float32_to_float16 = %s};\n\n",
                  w->values_at, w->pool_at > GUARD, m->relaxed ? "true" : "false");
    w->out->failed = w->out->failed || constants.failed;
    nnv_text_free(&constants);
}

/* -------------------------------------------------------------------- request */

static size_t add_inputs(struct writer *w) {
    const struct nnv_subgraph *m = &w->spec->model.main;
    size_t at = GUARD;
    char name[48];
    for (uint32_t i = 0; i < m->nin; i++) {
        const struct nnv_value *v = &w->spec->inputs[i];
        if (v->omitted) continue;
        snprintf(name, sizeof name, "input_%u", i);
        add_data(w->out, name, m->operands[m->in[i]].type, v->data, v->bytes);
        snprintf(name, sizeof name, "input_dims_%u", i);
        if (nnv_operand_is_open(&m->operands[m->in[i]])) add_indices(w->out, name, v->dims, v->rank);
    }
    nnv_text_addf(w->out, "enum { INPUTS = %u };\nstatic const struct input inputs[INPUTS + 1] = {\n", m->nin);
    for (uint32_t i = 0; i < m->nin; i++) {
        const struct nnv_value *v = &w->spec->inputs[i];
        if (v->omitted) {
            nnv_text_add(w->out, "    {.omitted = 1},\n");
            continue;
        }
        nnv_text_addf(w->out, "    {.data = input_%u, .bytes = %zu, .offset = %zu", i, v->bytes, at);
        if (nnv_operand_is_open(&m->operands[m->in[i]]))
            nnv_text_addf(w->out, ", .rank = %u, .dims = input_dims_%u", v->rank, i);
        nnv_text_add(w->out, "},\n");
        at = round_up(at + v->bytes, GUARD) + GUARD;
    }
    nnv_text_add(w->out, "    {0}};\n");
    return round_up(at, PAGE);
}

static size_t add_outputs(struct writer *w) {
    const struct nnv_subgraph *m = &w->spec->model.main;
    size_t at = GUARD;
    char name[48];
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_value *v = &w->spec->outputs[i];
        add_doubles(w->out, "expected", i, w->bounds[i].expected, w->bounds[i].elems, false);
        nnv_text_add(w->out, "/* how far a value may be off; -1: it is not compared */\n");
        add_doubles(w->out, "bound", i, w->bounds[i].bound, w->bounds[i].elems, true);
        snprintf(name, sizeof name, "output_dims_%u", i);
        add_indices(w->out, name, v->dims, v->rank);
    }
    nnv_text_addf(w->out, "enum { OUTPUTS = %u };\nstatic const struct output outputs[OUTPUTS + 1] = {\n", m->nout);
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_value *v = &w->spec->outputs[i];
        nnv_text_addf(w->out, "    {expected_%u, bound_%u, %zu, %zu, %zu, %d, %u, output_dims_%u, %d},\n", i, i,
                      w->bounds[i].elems, v->bytes, at, m->operands[m->out[i]].type, v->rank, i,
                      nnv_operand_is_open(&m->operands[m->out[i]]));
        at = round_up(at + v->bytes, GUARD) + GUARD;
    }
    nnv_text_add(w->out, "    {0}};\n");
    return round_up(at + GUARD, PAGE);
}

/** What the model needs beyond NNAPI's first level: a library that lacks a function is not asked for it. */
static void add_needs(struct writer *w) {
    const struct nnv_model *m = &w->spec->model;
    bool channels = false, open = false;
    for (uint32_t g = 0; g <= m->nreferenced; g++) {
        const struct nnv_subgraph *s = subgraph_at(w, g);
        for (uint32_t i = 0; i < s->noperands; i++) channels = channels || s->operands[i].channel.count > 0;
    }
    for (uint32_t i = 0; i < m->main.nout; i++) open = open || nnv_operand_is_open(&m->main.operands[m->main.out[i]]);
    nnv_text_addf(w->out,
                  "#define NEEDS_CHANNELS %d\n#define NEEDS_SUBGRAPHS %u\n#define NEEDS_SHAPES %d\n"
                  "#define NEEDS_RELAXED %d\n\n",
                  channels, m->nreferenced, open, m->relaxed);
}

static void add_program(struct writer *w, enum nnv_precision precision) {
    char promise[NNV_ARITHMETIC_TEXT];
    nnv_arithmetic_text(&w->spec->arithmetic, promise);
    nnv_text_add(w->out, "/* ");
    add_comment(w->out, w->spec->name);
    nnv_text_addf(w->out,
                  "\n * Runs one model and compares each value, by the profile \"%s\" and the arithmetic \"%s\".\n"
                  "%s * Exit code 0: all values are right; 1: they are not; 2: it could not be judged.\n */\n",
                  nnv_precision_name(precision), promise, w->dialect->how);
    add_lines(w->out, w->dialect->head);
    add_lines(w->out, nnv_c_values);
    add_model(w);
    size_t in = add_inputs(w), out = add_outputs(w);
    nnv_text_addf(w->out, "enum { INPUT_BYTES = %zu, OUTPUT_BYTES = %zu };\n", in, out);
    nnv_text_add(w->out, "static const uint32_t input_count = INPUTS, output_count = OUTPUTS, "
                         "constant_count = CONSTANTS;\n");
    add_needs(w);
    add_lines(w->out, nnv_c_check);
    add_lines(w->out, w->dialect->run);
}

enum nnv_status nnv_spec_write_c(const struct nnv_spec *spec, enum nnv_precision precision, enum nnv_c_dialect dialect,
                                 struct nnv_arena *arena, struct nnv_text *out, struct nnv_err *err) {
    if (spec->expect_failure)
        return nnv_fail(err, NNV_INVALID, "%s: a model that a driver must refuse is not written as C", spec->name);
    struct nnv_bounds *bounds = NNV_NEW(arena, struct nnv_bounds, spec->model.main.nout);
    if (!bounds) return nnv_no_memory(err);
    enum nnv_status st = nnv_validate(&spec->model, arena, NULL, err);
    if (st == NNV_OK) st = nnv_judge_bounds(spec, precision, arena, bounds, err);
    if (st != NNV_OK) return nnv_at(err, st, "%s", spec->name);
    struct writer w = {.spec = spec, .dialect = &dialects[dialect], .bounds = bounds, .out = out};
    add_program(&w, precision);
    return out->failed ? nnv_no_memory(err) : NNV_OK;
}

enum nnv_status nnv_dump_also(const char *path, const char *driver, const struct nnv_spec *spec,
                              enum nnv_precision precision, struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_text text = {0}, file = {0};
    struct nnv_err why = {0};
    enum nnv_status st = NNV_OK;
    /* models that a driver must refuse have no such program */
    if (nnv_spec_write_c(spec, precision, nnv_c_dialect_of(driver), arena, &text, &why) == NNV_OK) {
        nnv_text_addf(&file, "%s.c", path);
        st = text.failed || file.failed ? nnv_no_memory(err) : nnv_file_create(file.data, text.data, text.len, err);
    }
    nnv_text_free(&text);
    nnv_text_free(&file);
    return st;
}
