/* SPDX-License-Identifier: Apache-2.0 */
/** Patches of results: where they are judged, they are what the whole result is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness/datasheet/cliffs/patch.h"
#include "randgraph/single/single.h"

/** An axis: a factor of an operation, of a pair 0 its height, 1 its width. */
struct growing {
    const struct nnv_op *op;
    int sig, factor, part;
};

static struct nnv_spec *build(const struct growing *g, int32_t extent, struct nnv_arena *arena) {
    int32_t row[NNV_MAX_FACTORS] = {0};
    const struct nnv_single what = {
        .op = g->op, .sig = g->sig, .plan = NNV_PLAN_ROW, .seed = 1, .name = g->op->name, .row = row};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    for (uint8_t i = 0; i < g->op->nfactors; i++) row[i] = g->op->factors[i].values[0];
    int32_t *at = &row[g->factor];
    *at = !g->op->factors[g->factor].pair ? extent
          : g->part == 0                  ? NNV_PAIR(extent, nnv_pair_width(*at))
                                          : NNV_PAIR(nnv_pair_height(*at), extent);
    return nnv_single_build(&what, arena, &spec, &err) == NNV_OK ? spec : NULL;
}

static void text_free(struct nnv_result *r) {
    nnv_text_free(&r->reason);
    nnv_text_free(&r->outputs);
    nnv_text_free(&r->answer);
}

/** What the whole result of the spec is by patches. */
static enum nnvts_verdict judged(const struct nnv_patch_rule *rule, const struct nnv_spec *base,
                                 const struct nnv_spec *spec, const struct nnv_value *outputs, uint64_t seed,
                                 struct nnv_arena *arena, size_t *compared) {
    struct nnv_case_env env = {.arena = arena};
    struct nnv_result r = {0};
    *compared = nnv_patch_judge(&env, rule, base, spec, outputs, seed, NULL, &r);
    text_free(&r);
    return r.verdict;
}

/** The rule of an axis, learnt and verified on extents of some hundred; *base is arena's. */
static bool learn(const struct growing *g, struct nnv_arena *arena, struct nnv_patch_rule *rule,
                  const struct nnv_spec **base) {
    enum { SHORTER = 256, WHOLE = 512 };
    struct nnv_case_env env = {.arena = arena};
    nnv_arena_reset(arena);
    *base = build(g, SHORTER, arena);
    const struct nnv_spec *whole = build(g, WHOLE, arena);
    return *base && whole && nnv_patch_learn(*base, whole, rule) && nnv_patch_verify(&env, rule, *base, whole, 1);
}

/** The factor is an extent that grows far. */
static bool grows_far(const struct nnv_factor *f) {
    int32_t longest = f->large > f->huge ? f->large : f->huge;
    for (uint8_t i = 0; i < f->nsizes; i++) {
        const int32_t size = f->pair ? nnv_pair_width(f->sizes[i]) : f->sizes[i];
        if (size > longest) longest = size;
    }
    return f->words == NULL && longest >= 16;
}

/** The axis of the operation, by its factor's name; of the signature with this main type. */
static struct growing axis_of(int32_t code, int32_t type, const char *name, int part) {
    struct growing g = {.op = nnv_op(code), .factor = -1, .part = part};
    for (uint8_t i = 0; i < g.op->nfactors; i++)
        if (strcmp(g.op->factors[i].name, name) == 0) g.factor = i;
    while (g.sig < g.op->nsigs && g.op->sigs[g.sig].type[NNV_T] != type) g.sig++;
    assert_true(g.factor >= 0 && g.sig < g.op->nsigs);
    return g;
}

/** What is compared of each patch's golden outputs is, to the last bits of sums, what the whole result has there. */
static void check_elements(const struct nnv_patch_rule *rule, const struct nnv_spec *base, const struct nnv_spec *spec,
                           struct nnv_arena *arena) {
    struct nnv_patch patches[NNV_PATCHES];
    const uint32_t n = nnv_patch_choose(rule, spec, 3, patches), out = spec->model.main.out[0];
    const struct nnv_patch_operand *o = &rule->operand[out];
    const struct nnv_value *whole = &spec->outputs[0];
    const int32_t type = spec->model.main.operands[out].type;
    const size_t size = nnv_type(type)->size;
    size_t outer = 1, inner = 1, seen = 0;
    for (uint32_t d = 0; d < o->axis; d++) outer *= whole->dims[d];
    for (uint32_t d = o->axis + 1u; d < whole->rank; d++) inner *= whole->dims[d];
    assert_true(n >= 4);
    assert_int_equal(patches[0].from, 0);
    assert_int_equal(patches[n - 1].to, nnv_patch_units(rule, spec));
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_patch *p = &patches[i];
        struct nnv_spec *small = NULL;
        struct nnv_err err = {0};
        assert_int_equal(nnv_patch_make(rule, base, spec, p, arena, &small, &err), NNV_OK);
        const size_t places = small->outputs[0].dims[o->axis], all = whole->dims[o->axis];
        assert_true(places < all);
        for (size_t line = 0; line < outer; line++)
            for (size_t at = (size_t)o->step * p->first; at < (size_t)o->step * p->last && at < all; at++)
                for (size_t e = 0; e < inner && at - (size_t)o->step * p->from < places; e++, seen++) {
                    double x, y;
                    nnv_load(type, (char *)whole->data + ((line * all + at) * inner + e) * size, 1, &x);
                    nnv_load(type,
                             (char *)small->outputs[0].data +
                                 ((line * places + at - (size_t)o->step * p->from) * inner + e) * size,
                             1, &y);
                    assert_true(fabs(x - y) <= 1e-6 * fabs(x));
                }
    }
    assert_true(seen > 0);
}

/** Extents that the rule was not learnt from. */
static const int32_t others[] = {801, 1000, 1444};

/* Of every axis of every operation and main type that has a rule, what is sampled is what the whole is. */
static void test_patches_are_the_whole(void **state) {
    size_t all, rules = 0;
    const struct nnv_op *const *ops = nnv_ops(&all);
    struct nnv_arena *arena = *state;
    for (size_t i = 0; i < all; i++)
        for (struct growing g = {.op = ops[i]}; g.sig < ops[i]->nsigs; g.sig++)
            for (g.factor = 0; nnv_single_is_first(ops[i], g.sig) && g.factor < ops[i]->nfactors; g.factor++)
                for (g.part = 0; g.part < (ops[i]->factors[g.factor].pair ? 2 : 1); g.part++) {
                    const struct nnv_spec *base;
                    struct nnv_patch_rule rule;
                    size_t compared;
                    if (!grows_far(&ops[i]->factors[g.factor]) || !learn(&g, arena, &rule, &base)) continue;
                    const struct nnv_spec *spec = build(&g, others[rules++ % NNV_COUNT_OF(others)], arena);
                    assert_non_null(spec);
                    check_elements(&rule, base, spec, arena);
                    if (judged(&rule, base, spec, spec->outputs, 5, arena, &compared) != NNVTS_PASS)
                        fail_msg("%s, %s: patches are not the whole", ops[i]->name, ops[i]->factors[g.factor].name);
                    assert_true(compared > 0);
                }
    printf("%zu axes have a rule\n", rules);
    assert_true(rules >= 430);
}

/* The scales of channels are those of the patch's. */
static void test_scales_of_channels(void **state) {
    static const struct {
        int32_t code;
        const char *factor;
    } cases[] = {{ANEURALNETWORKS_CONV_2D, "filters"}, {ANEURALNETWORKS_DEPTHWISE_CONV_2D, "channels"}};
    struct nnv_arena *arena = *state;
    size_t looked = 0;
    for (size_t i = 0; i < NNV_COUNT_OF(cases); i++) {
        struct growing g = axis_of(cases[i].code, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, cases[i].factor, 0);
        for (g.sig = 0; g.sig < g.op->nsigs; g.sig++) {
            const struct nnv_spec *base;
            struct nnv_patch_rule rule;
            if (!nnv_type(g.op->sigs[g.sig].type[NNV_W])->per_channel) continue;
            assert_true(learn(&g, arena, &rule, &base));
            const struct nnv_spec *spec = build(&g, others[i], arena);
            assert_non_null(spec);
            check_elements(&rule, base, spec, arena);
            looked++;
        }
    }
    assert_true(looked >= 4);
}

/* Axes that must have a rule, and the halo of each. */
static void test_rules_there_are(void **state) {
    enum { FLOAT = ANEURALNETWORKS_TENSOR_FLOAT32, CODES = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM };
    static const struct {
        int32_t code, type;
        const char *factor;
        int part;
        uint32_t halo;
    } known[] = {
        {ANEURALNETWORKS_ADD, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_ADD, CODES, "inner", 0, 0},
        {ANEURALNETWORKS_NEG, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_LOGICAL_AND, ANEURALNETWORKS_TENSOR_BOOL8, "inner", 0, 0},
        {ANEURALNETWORKS_SELECT, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_LESS, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_CAST, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_QUANTIZE, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_DEQUANTIZE, CODES, "inner", 0, 0},
        {ANEURALNETWORKS_PRELU, CODES, "inner", 0, 0},
        {ANEURALNETWORKS_FULLY_CONNECTED, FLOAT, "units", 0, 0},
        {ANEURALNETWORKS_FULLY_CONNECTED, CODES, "units", 0, 0},
        {ANEURALNETWORKS_FULLY_CONNECTED, CODES, "batch", 0, 0},
        {ANEURALNETWORKS_CONV_2D, FLOAT, "image", 0, 4},
        {ANEURALNETWORKS_CONV_2D, CODES, "image", 1, 4},
        {ANEURALNETWORKS_CONV_2D, CODES, "filters", 0, 0},
        {ANEURALNETWORKS_CONV_2D, FLOAT, "batch", 0, 0},
        {ANEURALNETWORKS_DEPTHWISE_CONV_2D, FLOAT, "channels", 0, 0},
        {ANEURALNETWORKS_GROUPED_CONV_2D, FLOAT, "groups", 0, 0},
        {ANEURALNETWORKS_TRANSPOSE_CONV_2D, FLOAT, "image", 1, 4},
        {ANEURALNETWORKS_MAX_POOL_2D, CODES, "image", 0, 4},
        {ANEURALNETWORKS_L2_POOL_2D, FLOAT, "channels", 0, 0},
        {ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION, FLOAT, "inner", 0, 4},
        {ANEURALNETWORKS_REDUCE_SUM, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_PAD, CODES, "inner", 0, 4},
        {ANEURALNETWORKS_TRANSPOSE, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_DEPTH_TO_SPACE, FLOAT, "image", 0, 0},
        {ANEURALNETWORKS_BATCH_MATMUL, FLOAT, "columns", 0, 0},
        {ANEURALNETWORKS_EMBEDDING_LOOKUP, FLOAT, "lookups", 0, 0},
        {ANEURALNETWORKS_FILL, FLOAT, "inner", 0, 0},
        {ANEURALNETWORKS_LSTM, FLOAT, "batch", 0, 0},
    };
    for (size_t i = 0; i < NNV_COUNT_OF(known); i++) {
        const struct growing g = axis_of(known[i].code, known[i].type, known[i].factor, known[i].part);
        const struct nnv_spec *base;
        struct nnv_patch_rule rule;
        if (!learn(&g, *state, &rule, &base) || rule.halo != known[i].halo)
            fail_msg("%s, %s: halo %u", g.op->name, known[i].factor, rule.halo);
    }
}

/* Results that depend on all of the axis have none; nor has a state that fades, which a wide halo would pass for. */
static void test_rules_there_are_not(void **state) {
    enum { FLOAT = ANEURALNETWORKS_TENSOR_FLOAT32, CODES = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM };
    static const struct {
        int32_t code, type;
        const char *factor;
    } none[] = {
        {ANEURALNETWORKS_SOFTMAX, FLOAT, "inner"},
        {ANEURALNETWORKS_SOFTMAX, CODES, "inner"},
        {ANEURALNETWORKS_LOG_SOFTMAX, FLOAT, "inner"},
        {ANEURALNETWORKS_L2_NORMALIZATION, CODES, "inner"},
        {ANEURALNETWORKS_INSTANCE_NORMALIZATION, FLOAT, "image"},
        {ANEURALNETWORKS_TOPK_V2, FLOAT, "inner"},
        {ANEURALNETWORKS_ARGMAX, FLOAT, "inner"},
        {ANEURALNETWORKS_REVERSE, FLOAT, "inner"},
        {ANEURALNETWORKS_CHANNEL_SHUFFLE, FLOAT, "inner"},
        {ANEURALNETWORKS_FULLY_CONNECTED, FLOAT, "size"},
        {ANEURALNETWORKS_CONV_2D, FLOAT, "channels"},
        {ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN, FLOAT, "time"},
        {ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN, ANEURALNETWORKS_TENSOR_FLOAT16, "time"},
        {ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_LSTM, ANEURALNETWORKS_TENSOR_FLOAT16, "time"},
    };
    for (size_t i = 0; i < NNV_COUNT_OF(none); i++) {
        const struct growing g = axis_of(none[i].code, none[i].type, none[i].factor, 0);
        const struct nnv_spec *base;
        struct nnv_patch_rule rule;
        if (learn(&g, *state, &rule, &base)) fail_msg("%s, %s: has a rule", g.op->name, none[i].factor);
        assert_non_null(base);
    }
}

/* One wrong element in the last place, or where an index passes a power of two, is seen; and it is told where. */
static void test_what_is_wrong_is_seen(void **state) {
    const struct growing g =
        axis_of(ANEURALNETWORKS_NEG, ANEURALNETWORKS_TENSOR_FLOAT32, "inner", 0); /* [1,1,3,n]: elements at 3 n */
    struct nnv_arena *arena = *state;
    struct nnv_case_env env = {.arena = arena};
    const struct nnv_spec *base;
    struct nnv_patch_rule rule;
    assert_true(learn(&g, arena, &rule, &base));
    const struct nnv_spec *spec = build(&g, 7000, arena);
    assert_non_null(spec);
    const size_t elements = spec->outputs[0].bytes / sizeof(float), line = spec->outputs[0].dims[3];
    assert_true(elements > 1 << 14);
    const size_t places[] = {0, elements - 1, 1 << 12, 1 << 14, line - 1};
    for (size_t i = 0; i < NNV_COUNT_OF(places); i++) {
        struct nnv_value answer = spec->outputs[0];
        struct nnv_patch wrong = {0};
        struct nnv_result r = {0};
        float *v = answer.data = nnv_arena_copy(arena, answer.data, answer.bytes);
        v[places[i]] += 1;
        nnv_patch_judge(&env, &rule, base, spec, &answer, 1, &wrong, &r);
        assert_int_equal(r.verdict, NNVTS_FAIL);
        assert_in_range(places[i] % line, wrong.first, wrong.last - 1);
        text_free(&r);
    }
}

static int make_arena(void **state) { return (*state = nnv_arena_new()) == NULL; }

static int free_arena(void **state) {
    nnv_arena_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches_are_the_whole), cmocka_unit_test(test_scales_of_channels),
        cmocka_unit_test(test_rules_there_are),       cmocka_unit_test(test_rules_there_are_not),
        cmocka_unit_test(test_what_is_wrong_is_seen),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
