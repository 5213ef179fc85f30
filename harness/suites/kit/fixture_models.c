/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/fixture_models.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

static const struct nnv_encoding float32 = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
/* Unequal scales and zero points: what hides bugs is what is alike. */
static const struct nnv_encoding quant_a = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0.03125f, 120};
static const struct nnv_encoding quant_b = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0.0625f, 131};
static const struct nnv_encoding quant_c = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0.0859375f, 127};
static const struct nnv_encoding quant_w = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0.0078125f, 129};
static const struct nnv_encoding quant_bias = {ANEURALNETWORKS_TENSOR_INT32, 0.03125f * 0.0078125f, 0};

static uint32_t none(struct nnv_builder *b) { return nnv_builder_int(b, ANEURALNETWORKS_FUSED_NONE); }

/* y = x0 + x1 of one shape. */
static void add(struct nnv_builder *b, struct nnv_encoding x, struct nnv_encoding y, struct nnv_encoding z,
                uint32_t rank, const uint32_t *dims, uint32_t *in, uint32_t *out) {
    in[0] = nnv_builder_tensor(b, x, rank, dims, NNV_SUBGRAPH_INPUT);
    in[1] = nnv_builder_tensor(b, y, rank, dims, NNV_SUBGRAPH_INPUT);
    out[0] = nnv_builder_tensor(b, z, rank, dims, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){in[0], in[1], none(b)}, out[0]);
}

static void add_float32(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    add(b, float32, float32, float32, 2, (uint32_t[]){3, 5}, in, out);
    *nin = 2, *nout = 1;
}
static void add_quant8(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    add(b, quant_a, quant_b, quant_c, 2, (uint32_t[]){3, 5}, in, out);
    *nin = 2, *nout = 1;
}
/* The first extent is known when the model is executed. */
static void open_float32(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    add(b, float32, float32, float32, 2, (uint32_t[]){0, 4}, in, out);
    *nin = 2, *nout = 1;
}
static void open_quant8(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    add(b, quant_a, quant_b, quant_c, 2, (uint32_t[]){0, 4}, in, out);
    *nin = 2, *nout = 1;
}

/* A convolution with weights large enough to lie in a pool. */
static void conv(struct nnv_builder *b, struct nnv_encoding x, struct nnv_encoding w, struct nnv_encoding c,
                 struct nnv_encoding y, uint32_t *in, uint32_t *out) {
    in[0] = nnv_builder_tensor(b, x, 4, (uint32_t[]){2, 7, 5, 3}, NNV_SUBGRAPH_INPUT);
    uint32_t filter = nnv_builder_weights(b, w, 4, (uint32_t[]){4, 3, 3, 3}, 0.25);
    uint32_t bias = nnv_builder_weights(b, c, 1, (uint32_t[]){4}, 0.5);
    uint32_t same = nnv_builder_int(b, ANEURALNETWORKS_PADDING_SAME), one = nnv_builder_int(b, 1);
    out[0] = nnv_builder_tensor(b, y, 4, (uint32_t[]){2, 7, 5, 4}, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(b, ANEURALNETWORKS_CONV_2D, 7, (uint32_t[]){in[0], filter, bias, same, one, one, none(b)}, out[0]);
}
static void conv_float32(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    conv(b, float32, float32, float32, float32, in, out);
    *nin = 1, *nout = 1;
}
static void conv_quant8(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    conv(b, quant_a, quant_w, quant_bias, quant_c, in, out);
    *nin = 1, *nout = 1;
}

/* Six operations, values that are read twice, two outputs, one of them read on. */
static void net_float32(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    const uint32_t dims[] = {4, 6}, wide[] = {8, 6}, rows[] = {8}, result[] = {4, 8};
    in[0] = nnv_builder_tensor(b, float32, 2, dims, NNV_SUBGRAPH_INPUT);
    in[1] = nnv_builder_tensor(b, float32, 2, dims, NNV_SUBGRAPH_INPUT);
    uint32_t t[4];
    for (int i = 0; i < 4; i++) t[i] = nnv_builder_tensor(b, float32, 2, dims, NNV_TEMPORARY_VARIABLE);
    out[0] = nnv_builder_tensor(b, float32, 2, dims, NNV_SUBGRAPH_OUTPUT);
    out[1] = nnv_builder_tensor(b, float32, 2, result, NNV_SUBGRAPH_OUTPUT);
    uint32_t w = nnv_builder_weights(b, float32, 2, wide, 0.5), c = nnv_builder_weights(b, float32, 1, rows, 0.5);
    nnv_builder_add(b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){in[0], in[1], none(b)}, t[0]);
    nnv_builder_add(b, ANEURALNETWORKS_MUL, 3, (uint32_t[]){t[0], in[1], none(b)}, t[1]);
    nnv_builder_add(b, ANEURALNETWORKS_RELU, 1, (uint32_t[]){t[0]}, t[2]);
    nnv_builder_add(b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){t[1], t[2], none(b)}, t[3]);
    nnv_builder_add(b, ANEURALNETWORKS_LOGISTIC, 1, (uint32_t[]){t[3]}, out[0]);
    nnv_builder_add(b, ANEURALNETWORKS_FULLY_CONNECTED, 4, (uint32_t[]){out[0], w, c, none(b)}, out[1]);
    *nin = 2, *nout = 2;
}

/* What drivers compute in another form, and convert where they deliver it. */
static void add_float16(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    const struct nnv_encoding float16 = {ANEURALNETWORKS_TENSOR_FLOAT16, 0, 0};
    add(b, float16, float16, float16, 2, (uint32_t[]){3, 5}, in, out);
    *nin = 2, *nout = 1;
}
static void add_signed8(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    const struct nnv_encoding x = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 0.03125f, -8},
                              y = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 0.0625f, 3},
                              z = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 0.0859375f, -1};
    add(b, x, y, z, 2, (uint32_t[]){3, 5}, in, out);
    *nin = 2, *nout = 1;
}

/* So many operations that what a driver writes of its structure has some thousand bytes. */
static void deep_float32(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    enum { OPERATIONS = 48 };
    const uint32_t dims[] = {2, 3};
    in[0] = nnv_builder_tensor(b, float32, 2, dims, NNV_SUBGRAPH_INPUT);
    uint32_t at = in[0];
    for (int i = 0; i < OPERATIONS; i++) {
        const bool last = i == OPERATIONS - 1;
        const uint32_t to =
            nnv_builder_tensor(b, float32, 2, dims, last ? NNV_SUBGRAPH_OUTPUT : NNV_TEMPORARY_VARIABLE);
        const uint32_t row = nnv_builder_weights(b, float32, 1, (uint32_t[]){3}, 0.5);
        nnv_builder_add(b, i % 2 ? ANEURALNETWORKS_SUB : ANEURALNETWORKS_ADD, 3, (uint32_t[]){at, row, none(b)}, to);
        at = to;
    }
    out[0] = at;
    *nin = 1, *nout = 1;
}

/**
 * Two chains side by side, whose inputs and outputs the model lists in another order than that of their operands, and
 * in another one for each: y0 is made of x1. So many operations that what is written of them is long; their constants
 * begin alike, row i of one chain as row i of the other.
 */
static void crossed(struct nnv_builder *b, struct nnv_encoding e, uint32_t *in, uint32_t *nin, uint32_t *out,
                    uint32_t *nout) {
    enum { OPERATIONS = 14 };
    const uint32_t dims[2][2] = {{2, 3}, {4, 3}};
    for (int k = 1; k >= 0; k--) in[k] = nnv_builder_tensor(b, e, 2, dims[k], NNV_SUBGRAPH_INPUT);
    for (int k = 0; k < 2; k++) {
        uint32_t at = in[k];
        for (int i = 0; i < OPERATIONS; i++) {
            const uint32_t to =
                nnv_builder_tensor(b, e, 2, dims[k], i + 1 < OPERATIONS ? NNV_TEMPORARY_VARIABLE : NNV_SUBGRAPH_OUTPUT);
            double v[] = {i * 5 % 11 - 5, i * 3 % 7 - 3, (i * 7 + k * 6) % 13 - 6};
            for (int n = 0; n < 3; n++) v[n] = e.scale > 0 ? v[n] + e.zero_point : v[n] / 16;
            const uint32_t row = nnv_builder_numbers(b, e, 1, (uint32_t[]){3}, v);
            nnv_builder_add(b, i % 2 ? ANEURALNETWORKS_ADD : ANEURALNETWORKS_SUB, 3, (uint32_t[]){at, row, none(b)},
                            to);
            at = to;
        }
        out[1 - k] = at;
    }
    *nin = 2, *nout = 2;
}
static void crossed_float32(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    crossed(b, float32, in, nin, out, nout);
}
static void crossed_quant8(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout) {
    crossed(b, quant_b, in, nin, out, nout);
}

const struct nnv_fixture_kind nnv_fixtures[] = {
    {"add_float32", "ADD", "float32", add_float32},
    {"add_quant8", "ADD", "quant8_asymm", add_quant8},
    {"conv_float32", "CONV_2D", "float32", conv_float32},
    {"conv_quant8", "CONV_2D", "quant8_asymm", conv_quant8},
    {"net_float32", "FULLY_CONNECTED", "float32", net_float32},
    {"open_float32", "ADD", "float32", open_float32},
    {"open_quant8", "ADD", "quant8_asymm", open_quant8},
    {"add_float16", "ADD", "float16", add_float16},
    {"add_signed8", "ADD", "quant8_asymm_signed", add_signed8},
    {"deep_float32", "ADD", "float32", deep_float32},
    {"crossed_float32", "SUB", "float32", crossed_float32},
    {"crossed_quant8", "SUB", "quant8_asymm", crossed_quant8},
};
const size_t nnv_fixture_count = sizeof nnv_fixtures / sizeof *nnv_fixtures;

const struct nnv_fixture_kind *nnv_fixture_by_name(const char *name) {
    for (size_t i = 0; i < nnv_fixture_count; i++)
        if (strcmp(nnv_fixtures[i].name, name) == 0) return &nnv_fixtures[i];
    return NULL;
}

/* ----------------------------------------------------------------------- specs */

/* Values between -2 and 2, in the operand's encoding. */
static enum nnv_status draw_input(const struct nnv_operand *o, uint32_t open, struct nnv_rng rng,
                                  struct nnv_arena *arena, struct nnv_value *v, struct nnv_err *err) {
    size_t elems = 1, size = nnv_type(o->type)->size;
    *v = (struct nnv_value){.rank = o->rank};
    for (uint32_t i = 0; i < o->rank; i++) elems *= v->dims[i] = o->dims[i] ? o->dims[i] : open;
    v->bytes = elems * size;
    v->data = nnv_arena_alloc(arena, elems, size);
    if (!v->data) return nnv_no_memory(err);
    for (size_t i = 0; i < elems; i++) {
        double x = nnv_rng_uniform(&rng, -2, 2);
        if (o->scale > 0) x = x / (double)o->scale + o->zero_point;
        nnv_store(o->type, &x, 1, (char *)v->data + i * size);
    }
    return NNV_OK;
}

enum nnv_status nnv_fixture_finish(const char *name, uint32_t open, uint64_t seed, const struct nnv_model *model,
                                   struct nnv_arena *arena, struct nnv_spec **out, struct nnv_err *err) {
    const struct nnv_subgraph *main = &model->main;
    struct nnv_spec *spec = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, main->nout);
    if (!spec || !golden) return nnv_no_memory(err);
    *spec = (struct nnv_spec){.name = name, .model = *model};
    spec->inputs = NNV_NEW(arena, struct nnv_value, main->nin);
    spec->outputs = NNV_NEW(arena, struct nnv_value, main->nout);
    if (!spec->inputs || !spec->outputs) return nnv_no_memory(err);
    enum nnv_status st = nnv_validate(model, arena, &spec->min_version, err);
    for (uint32_t i = 0; !st && i < main->nin; i++)
        st = draw_input(&main->operands[main->in[i]], open, nnv_rng_make(seed, nnv_hash_str(name), i), arena,
                        &spec->inputs[i], err);
    if (!st) st = nnv_eval(model, spec->inputs, &(struct nnv_eval_options){0}, arena, golden, err);
    for (uint32_t i = 0; !st && i < main->nout; i++) spec->outputs[i] = golden[i].value;
    if (!st) *out = spec;
    return st;
}

enum nnv_status nnv_fixture_build(const struct nnv_fixture_kind *kind, uint64_t seed, struct nnv_arena *arena,
                                  struct nnv_spec **spec, struct nnv_err *err) {
    return nnv_fixture_build_as(kind, 3, seed, arena, spec, err);
}

enum nnv_status nnv_fixture_build_as(const struct nnv_fixture_kind *kind, uint32_t open, uint64_t seed,
                                     struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err) {
    struct nnv_builder b = {.arena = arena, .seed = seed};
    uint32_t in[NNV_FIXTURE_MAX_IO], out[NNV_FIXTURE_MAX_IO], nin = 0, nout = 0;
    struct nnv_model model;
    kind->describe(&b, in, &nin, out, &nout);
    enum nnv_status st = nnv_builder_end(&b, nin, in, nout, out, &model, err);
    return st ? st : nnv_fixture_finish(kind->name, open, seed, &model, arena, spec, err);
}

enum nnv_status nnv_fixture_work(uint32_t times, struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err) {
    enum { SIDE = 128 };
    const uint32_t square[] = {SIDE, SIDE}, row[] = {SIDE};
    struct nnv_builder b = {.arena = arena, .seed = 1};
    struct nnv_model model;
    uint32_t in = nnv_builder_tensor(&b, float32, 2, square, NNV_SUBGRAPH_INPUT), last = in;
    /* Sums of SIDE products of variance 1 / SIDE keep the variance. */
    uint32_t w = nnv_builder_weights(&b, float32, 2, square, 0.088), c = nnv_builder_weights(&b, float32, 1, row, 0.1);
    for (uint32_t i = 0; i < times; i++) {
        uint32_t y =
            nnv_builder_tensor(&b, float32, 2, square, i + 1 < times ? NNV_TEMPORARY_VARIABLE : NNV_SUBGRAPH_OUTPUT);
        nnv_builder_add(&b, ANEURALNETWORKS_FULLY_CONNECTED, 4, (uint32_t[]){last, w, c, none(&b)}, y);
        last = y;
    }
    enum nnv_status st = nnv_builder_end(&b, 1, &in, 1, &last, &model, err);
    return st ? st : nnv_fixture_finish("work", 1, 1, &model, arena, spec, err);
}
