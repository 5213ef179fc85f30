/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_relate.c Relations between models: each applies, gives a valid model, and holds; what must not be
 * related is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/graph/graph.h"
#include "randgraph/relate/relate.h"
#include "reference/eval/eval.h"
#include "reference/model/builder.h"
#include "reference/model/validate.h"
#include "tests/kit/arena.h"

static const struct nnv_relation *by_name(const char *name) {
    for (size_t i = 0; i < nnv_relation_count; i++)
        if (strcmp(nnv_relations[i].name, name) == 0) return &nnv_relations[i];
    fail_msg("no relation %s", name);
    return NULL;
}

static bool relate(const char *name, const struct nnv_spec *spec, uint64_t seed, struct nnv_related *r) {
    struct nnv_err err = {0};
    bool applies = false;
    if (nnv_relate(by_name(name), spec, seed, arena, r, &applies, &err) != NNV_OK) fail_msg("%s", err.text);
    return applies;
}

static struct nnv_golden *evaluate(const struct nnv_spec *spec) {
    const struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 1};
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, spec->model.main.nout);
    struct nnv_err err = {0};
    assert_non_null(golden);
    if (nnv_eval(&spec->model, spec->inputs, &options, arena, golden, &err) != NNV_OK) fail_msg("%s", err.text);
    return golden;
}

/* ------------------------------------------------------------ they hold, by the golden values */

/* Number n of output k of r->to is that of r->from, within both spreads; NaN spreads and infinities are open. */
static void expect_number(const char *name, const struct nnv_related *r, uint32_t k, size_t n,
                          const struct nnv_golden *was, const struct nnv_golden *is) {
    const int32_t type = r->to->model.main.operands[r->to->model.main.out[k]].type;
    const size_t size = nnv_type(type)->size;
    const struct nnv_golden *a = &was[r->output[k]], *b = &is[k];
    size_t at = n;
    if (r->rows) {
        const size_t row = b->value.bytes / size / r->nrows;
        at = r->rows[n / row] * row + n % row;
    }
    double x, y;
    nnv_load(type, (const char *)a->value.data + at * size, 1, &x);
    nnv_load(type, (const char *)b->value.data + n * size, 1, &y);
    const double allowed = 4 * (a->spread[at] + b->spread[n]) + 1e-6 * fabs(x);
    if (fabs(x - y) > allowed)
        fail_msg("%s: output %u, element %zu: %.9g and %.9g, allowed %g", name, (unsigned)k, n, x, y, allowed);
}

static void expect_related(const char *name, const struct nnv_related *r) {
    const struct nnv_golden *was = evaluate(r->from), *is = evaluate(r->to);
    const struct nnv_subgraph *m = &r->to->model.main;
    uint32_t related = 0;
    for (uint32_t k = 0; k < m->nout; k++) {
        if (r->output[k] == NNV_RELATED_NONE) continue;
        related++;
        if (m->operands[m->out[k]].ignored || was[0].open || is[0].open) continue;
        const size_t n = is[k].value.bytes / nnv_type(m->operands[m->out[k]].type)->size;
        if (!r->rows) assert_int_equal(was[r->output[k]].value.bytes, is[k].value.bytes);
        for (size_t e = 0; e < n; e++) expect_number(name, r, k, e, was, is);
    }
    assert_int_equal(related, r->from->model.main.nout);
}

/* Each relation is had of at least 3 of 100 graphs, gives valid models, and holds for the golden values. */
static void relations_hold(void **state) {
    (void)state;
    enum { GRAPHS = 100, LEAST = 3 };
    static const char *const profiles[] = {"conv", "small", "quant", "single"};
    for (size_t i = 0; i < nnv_relation_count; i++) {
        int applied = 0;
        for (uint64_t n = 0; n < GRAPHS; n++) {
            const char *profile = nnv_relations[i].profile ? nnv_relations[i].profile : profiles[n % 4];
            const struct nnv_graph_options o = {.profile = nnv_graph_profile_by_name(profile),
                                                .operations = nnv_relations[i].operations,
                                                .seed = 9,
                                                .index = n,
                                                .name = "graph"};
            struct nnv_spec *spec;
            struct nnv_related r;
            struct nnv_err err = {0};
            nnv_arena_reset(arena);
            assert_int_equal(nnv_graph_build(&o, arena, &spec, &err), NNV_OK);
            if (!relate(nnv_relations[i].name, spec, n, &r)) continue;
            applied++;
            if (nnv_validate(&r.to->model, arena, NULL, &err)) fail_msg("%s: %s", nnv_relations[i].name, err.text);
            expect_related(nnv_relations[i].name, &r);
        }
        if (applied < LEAST) fail_msg("%s applies to %d of %d graphs", nnv_relations[i].name, applied, (int)GRAPHS);
    }
}

/* ----------------------------------------------------------------- worked by hand */

static const struct nnv_encoding f32 = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};

static struct nnv_spec *make_spec(struct nnv_builder *b, uint32_t in, uint32_t out, const float *values) {
    struct nnv_spec *spec = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_err err = {0};
    assert_non_null(spec);
    if (nnv_builder_end(b, 1, &in, 1, &out, &spec->model, &err) != NNV_OK) fail_msg("%s", err.text);
    const struct nnv_operand *o = &spec->model.main.operands[in];
    struct nnv_value *v = spec->inputs = NNV_NEW(arena, struct nnv_value, 1);
    size_t elems;
    assert_true(nnv_operand_size(o, &elems, &v->bytes));
    v->rank = o->rank;
    memcpy(v->dims, o->dims, o->rank * sizeof *v->dims);
    v->data = nnv_arena_copy(arena, values, v->bytes);
    spec->outputs = NNV_NEW(arena, struct nnv_value, 1);
    spec->name = "by hand";
    if (nnv_validate(&spec->model, arena, &spec->min_version, &err)) fail_msg("%s", err.text);
    return spec;
}

/* SOFTMAX of [3,2] along `axis`. */
static struct nnv_spec *softmax(int32_t axis) {
    static const uint32_t dims[] = {3, 2};
    static const float values[] = {1, 2, 3, 5, 8, 13};
    struct nnv_builder b = {.arena = arena};
    const uint32_t in = nnv_builder_tensor(&b, f32, 2, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t out = nnv_builder_tensor(&b, f32, 2, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t list[] = {in, nnv_builder_float(&b, 1), nnv_builder_int(&b, axis)};
    nnv_builder_add(&b, ANEURALNETWORKS_SOFTMAX, 3, list, out);
    return make_spec(&b, in, out, values);
}

static void rows_turn(void **state) {
    (void)state;
    struct nnv_related r;
    assert_true(relate("rows_permuted", softmax(1), 1, &r));
    assert_int_equal(r.nrows, 3);
    const float *x = r.from->inputs[0].data, *y = r.to->inputs[0].data;
    uint32_t seen = 0, moved = 0;
    for (uint32_t i = 0; i < 3; i++) {
        assert_in_range(r.rows[i], 0, 2);
        seen |= 1u << r.rows[i];
        moved += r.rows[i] != i;
        assert_true(y[2 * i] == x[2 * r.rows[i]] && y[2 * i + 1] == x[2 * r.rows[i] + 1]);
    }
    assert_int_equal(seen, 7);
    assert_true(moved > 0);
    expect_related("rows_permuted", &r);
}

static void rows_are_repeated_and_taken_out(void **state) {
    (void)state;
    struct nnv_related r;
    assert_true(relate("rows_repeated", softmax(-1), 1, &r));
    assert_int_equal(r.nrows, 6);
    assert_int_equal(r.to->inputs[0].bytes, 12 * sizeof(float));
    assert_int_equal(r.to->model.main.operands[r.to->model.main.in[0]].dims[0], 6);
    expect_related("rows_repeated", &r);
    assert_true(relate("row_alone", softmax(-1), 1, &r));
    assert_int_equal(r.nrows, 1);
    const float *x = r.from->inputs[0].data, *y = r.to->inputs[0].data;
    assert_true(y[0] == x[2 * r.rows[0]]);
    expect_related("row_alone", &r);
}

/* Along axis 0 the rows depend on each other. */
static void dependent_rows_are_not_related(void **state) {
    (void)state;
    struct nnv_related r;
    assert_false(relate("rows_permuted", softmax(0), 1, &r));
    assert_false(relate("rows_repeated", softmax(-2), 1, &r));
    assert_false(relate("row_alone", softmax(0), 1, &r));
    assert_false(relate("halves", softmax(0), 1, &r));
}

/* Each row of [2,3] has a scale of its own. */
static void rows_with_their_own_scales_are_not_related(void **state) {
    (void)state;
    static const uint32_t dims[] = {2, 3};
    static const float values[] = {0, 0, 0, 0, 0, 0};
    const float scales[] = {0.5f, 2};
    struct nnv_builder b = {.arena = arena};
    const struct nnv_encoding per_channel = {ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0};
    const uint32_t in = nnv_builder_tensor(&b, per_channel, 2, dims, NNV_SUBGRAPH_INPUT);
    b.operand[in].channel = (struct nnv_channel_quant){0, 2, nnv_arena_copy(arena, scales, sizeof scales)};
    const uint32_t out = nnv_builder_tensor(&b, f32, 2, dims, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_DEQUANTIZE, 1, &in, out);
    const struct nnv_spec *spec = make_spec(&b, in, out, values);
    struct nnv_related r;
    assert_false(relate("rows_permuted", spec, 1, &r));
    assert_false(relate("halves", spec, 1, &r));
    bool any = false; /* one order in two is another one */
    for (uint64_t seed = 0; seed < 32; seed++) any = any || relate("operands_renumbered", spec, seed, &r);
    assert_true(any);
}

/* x[1,2,2,1] = 1 2 3 4, a filter of ones of 2x2, explicit padding left 1, right 0, top 0, bottom 1. */
static void padding_goes_into_an_operation_of_its_own(void **state) {
    (void)state;
    static const uint32_t xd[] = {1, 2, 2, 1}, bd[] = {1}, yd[] = {1, 2, 2, 1};
    static const float values[] = {1, 2, 3, 4};
    /* Rows of y: 1+3, 1+2+3+4; 3, 3+4. */
    static const float expected[] = {4, 10, 3, 7};
    static const int32_t pads[] = {0, 0, 0, 1, 1, 0, 0, 0};
    struct nnv_builder b = {.arena = arena};
    const uint32_t in = nnv_builder_tensor(&b, f32, 4, xd, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_weights(&b, f32, 4, xd, 1), bias = nnv_builder_weights(&b, f32, 1, bd, 1);
    const float ones[] = {1, 1, 1, 1}, zero = 0;
    b.operand[w].data = nnv_arena_copy(arena, ones, sizeof ones);
    b.operand[bias].data = nnv_arena_copy(arena, &zero, sizeof zero);
    const uint32_t out = nnv_builder_tensor(&b, f32, 4, yd, NNV_SUBGRAPH_OUTPUT);
    const uint32_t list[] = {in,
                             w,
                             bias,
                             nnv_builder_int(&b, 1),
                             nnv_builder_int(&b, 0),
                             nnv_builder_int(&b, 0),
                             nnv_builder_int(&b, 1),
                             nnv_builder_int(&b, 1),
                             nnv_builder_int(&b, 1),
                             nnv_builder_int(&b, 0)};
    nnv_builder_add(&b, ANEURALNETWORKS_CONV_2D, 10, list, out);
    const struct nnv_spec *spec = make_spec(&b, in, out, values);
    struct nnv_related r;
    assert_true(relate("pad_apart", spec, 1, &r));
    const struct nnv_subgraph *m = &r.to->model.main;
    assert_int_equal(m->noperations, 2);
    assert_int_equal(m->operations[0].type, ANEURALNETWORKS_PAD);
    assert_memory_equal(m->operands[m->operations[0].in[1]].data, pads, sizeof pads);
    assert_int_equal(m->operations[1].nin, 7);
    const struct nnv_golden *is = evaluate(r.to), *was = evaluate(spec);
    assert_memory_equal(was[0].value.data, expected, sizeof expected);
    assert_memory_equal(is[0].value.data, expected, sizeof expected);
}

/* x + w as both branches of an IF, whose condition is either a constant or the last input. */
static void a_model_is_both_branches(void **state) {
    (void)state;
    static const uint32_t dims[] = {3};
    static const float values[] = {1, 2, 3}, weights[] = {10, 20, 40}, expected[] = {11, 22, 43};
    struct nnv_builder b = {.arena = arena};
    const uint32_t in = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_weights(&b, f32, 1, dims, 1);
    b.operand[w].data = nnv_arena_copy(arena, weights, sizeof weights);
    const uint32_t out = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t list[] = {in, w, nnv_builder_int(&b, 0)};
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, list, out);
    const struct nnv_spec *spec = make_spec(&b, in, out, values);
    unsigned conditions = 0; /* bit 0: a constant, bit 1: an input; bits 2 and 3: false, true */
    for (uint64_t seed = 1; seed <= 32; seed++) {
        struct nnv_related r;
        assert_true(relate("branched", spec, seed, &r));
        const struct nnv_subgraph *m = &r.to->model.main;
        assert_int_equal(m->noperations, 1);
        assert_int_equal(m->operations[0].type, ANEURALNETWORKS_IF);
        assert_int_equal(r.to->model.nreferenced, 1);
        assert_int_equal(m->operands[m->operations[0].in[1]].subgraph, 0);
        assert_int_equal(m->operands[m->operations[0].in[2]].subgraph, 0);
        assert_int_equal(r.to->model.referenced[0].operations[0].type, ANEURALNETWORKS_ADD);
        const struct nnv_operand *condition = &m->operands[m->operations[0].in[0]];
        const bool fed = !condition->data;
        assert_int_equal(m->nin, 1 + fed);
        const uint8_t value = *(const uint8_t *)(fed ? r.to->inputs[1].data : condition->data);
        conditions |= 1u << fed | 4u << value;
        assert_memory_equal(evaluate(r.to)[0].value.data, expected, sizeof expected);
    }
    assert_int_equal(conditions, 15);
    assert_int_equal(spec->model.main.nin, 1); /* what it was made of has not changed */
    assert_int_equal(spec->model.nreferenced, 0);
}

/* The decoy has the constant in the opposite order, and `to` takes it as an input. */
static void a_constant_is_fed(void **state) {
    (void)state;
    static const uint32_t dims[] = {3};
    static const float values[] = {1, 2, 3}, weights[] = {10, 20, 40}, reversed[] = {40, 20, 10};
    struct nnv_builder b = {.arena = arena};
    const uint32_t in = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_weights(&b, f32, 1, dims, 1);
    b.operand[w].data = nnv_arena_copy(arena, weights, sizeof weights);
    const uint32_t out = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t list[] = {in, w, nnv_builder_int(&b, 0)};
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, list, out);
    const struct nnv_spec *spec = make_spec(&b, in, out, values);
    struct nnv_related r;
    assert_true(relate("constant_fed", spec, 1, &r));
    assert_int_equal(r.to->model.main.nin, 2);
    assert_memory_equal(r.to->inputs[1].data, weights, sizeof weights);
    assert_memory_equal(r.decoy->model.main.operands[w].data, reversed, sizeof reversed);
    /* What it was made of has not changed. */
    assert_memory_equal(spec->model.main.operands[w].data, weights, sizeof weights);
    assert_int_equal(spec->model.main.nin, 1);
    expect_related("constant_fed", &r);
}

/** x + w, of three numbers. */
static const struct nnv_spec *sum_with(const float weights[3], uint32_t *w) {
    static const uint32_t dims[] = {3};
    static const float values[] = {1, 2, 3};
    struct nnv_builder b = {.arena = arena};
    const uint32_t in = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_INPUT);
    *w = nnv_builder_weights(&b, f32, 1, dims, 1);
    b.operand[*w].data = nnv_arena_copy(arena, weights, 3 * sizeof *weights);
    const uint32_t out = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t list[] = {in, *w, nnv_builder_int(&b, 0)};
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, list, out);
    return make_spec(&b, in, out, values);
}

/* Beside the sum stands one with the numbers the other way round; its own constant comes before, and behind. */
static void constants_are_alike(void **state) {
    (void)state;
    static const float weights[] = {10, 20, 40}, turned[] = {40, 20, 10}, same[] = {10, 20, 10};
    bool before = false, behind = false;
    uint32_t w;
    struct nnv_related r;
    const struct nnv_spec *spec = sum_with(weights, &w);
    for (uint64_t seed = 0; seed < 16; seed++) {
        assert_true(relate("constants_alike", spec, seed, &r));
        const struct nnv_subgraph *m = &r.to->model.main;
        assert_int_equal(m->noperations, 2);
        assert_int_equal(m->nout, 2);
        assert_int_equal(r.output[0], 0);
        assert_int_equal(r.output[1], NNV_RELATED_NONE);
        const uint32_t own = m->operations[0].out[0] == m->out[0] ? 0 : 1;
        const uint32_t mine = m->operations[own].in[1], others = m->operations[1 - own].in[1];
        assert_int_equal(m->operations[1 - own].out[0], m->out[1]);
        assert_memory_equal(m->operands[mine].data, weights, sizeof weights);
        assert_memory_equal(m->operands[others].data, turned, sizeof turned);
        before = before || mine < others;
        behind = behind || mine > others;
        expect_related("constants_alike", &r);
    }
    assert_true(before && behind);
    assert_int_equal(spec->model.main.operations[0].in[1], w);
    assert_false(relate("constants_alike", sum_with(same, &w), 1, &r));
}

/* The second sum reads a copy of the constant. */
static void constants_are_repeated(void **state) {
    (void)state;
    static const uint32_t dims[] = {3};
    static const float values[] = {1, 2, 3}, weights[] = {10, 20, 40};
    struct nnv_builder b = {.arena = arena};
    const uint32_t in = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_weights(&b, f32, 1, dims, 1);
    b.operand[w].data = nnv_arena_copy(arena, weights, sizeof weights);
    const uint32_t sum = nnv_builder_tensor(&b, f32, 1, dims, NNV_TEMPORARY_VARIABLE);
    const uint32_t out = nnv_builder_tensor(&b, f32, 1, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t list[] = {in, w, nnv_builder_int(&b, 0)}, more[] = {sum};
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, list, sum);
    nnv_builder_add(&b, ANEURALNETWORKS_RELU, 1, more, out);
    const struct nnv_spec *spec = make_spec(&b, in, out, values);
    struct nnv_related r;
    int applied = 0;
    for (uint64_t seed = 0; seed < 16; seed++) {
        if (!relate("constants_repeated", spec, seed, &r)) continue; /* it drew the model's input */
        const struct nnv_subgraph *m = &r.to->model.main;
        assert_int_equal(m->noperations, 3);
        assert_int_equal(m->operations[0].in[1], w);
        assert_int_not_equal(m->operations[1].in[1], w);
        assert_ptr_not_equal(m->operands[m->operations[1].in[1]].data, m->operands[w].data);
        assert_memory_equal(m->operands[m->operations[1].in[1]].data, weights, sizeof weights);
        assert_int_equal(m->operations[2].in[0], m->operations[1].out[0]);
        expect_related("constants_repeated", &r);
        applied++;
    }
    assert_true(applied > 0);
}

static void samples_are_not_related(void **state) {
    (void)state;
    static const uint32_t dims[] = {1, 3}, seeds[] = {2}, samples[] = {1, 4};
    static const float values[] = {1, 2, 3};
    static const int32_t seed[] = {1, 2};
    struct nnv_builder b = {.arena = arena};
    const uint32_t in = nnv_builder_tensor(&b, f32, 2, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t count = nnv_builder_int(&b, 4), seed_at = nnv_builder_ints(&b, seeds[0], seed);
    const struct nnv_encoding ints = {ANEURALNETWORKS_TENSOR_INT32, 0, 0};
    const uint32_t out = nnv_builder_tensor(&b, ints, 2, samples, NNV_SUBGRAPH_OUTPUT);
    const uint32_t list[] = {in, count, seed_at};
    nnv_builder_add(&b, ANEURALNETWORKS_RANDOM_MULTINOMIAL, 3, list, out);
    const struct nnv_spec *spec = make_spec(&b, in, out, values);
    struct nnv_related r;
    for (size_t i = 0; i < nnv_relation_count; i++) assert_false(relate(nnv_relations[i].name, spec, 1, &r));
}

/** There is room for so many more operands; what is beyond gets no number, and harms none. */
static void room_for_operands_ends(void **state) {
    (void)state;
    struct nnv_related r;
    assert_true(relate("rows_permuted", softmax(1), 1, &r));
    const struct nnv_subgraph *m = &r.to->model.main;
    assert_true(m->noperands < r.operand_room);
    for (uint32_t i = m->noperands; i < r.operand_room; i++) assert_int_equal(nnv_relate_int(&r, 7), i);
    assert_int_equal(nnv_relate_int(&r, 8), NNV_RELATED_NONE);
    assert_int_equal(m->noperands, r.operand_room);
    assert_int_equal(*(const int32_t *)m->operands[m->noperands - 1].data, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(relations_hold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_are_repeated_and_taken_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dependent_rows_are_not_related, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_with_their_own_scales_are_not_related, set_up, tear_down),
        cmocka_unit_test_setup_teardown(padding_goes_into_an_operation_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_model_is_both_branches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_constant_is_fed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(constants_are_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(constants_are_repeated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_are_not_related, set_up, tear_down),
        cmocka_unit_test_setup_teardown(room_for_operands_ends, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
