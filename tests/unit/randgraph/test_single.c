/* SPDX-License-Identifier: Apache-2.0 */
/* Generated cases of one operation: every record gives valid, deterministic, meaningful specs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/type.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

struct tally {
    size_t cases, vacuous, elems;
};

static bool all_equal(const struct nnv_value *v, size_t size) {
    for (size_t at = size; at < v->bytes; at += size)
        if (memcmp(v->data, (const char *)v->data + at, size) != 0) return false;
    return true;
}

static uint64_t fingerprint(const struct nnv_spec *s) {
    uint64_t h = (uint64_t)s->min_version;
    for (uint32_t i = 0; i < s->model.main.nin; i++)
        if (!s->inputs[i].omitted) h = h * 31 + nnv_hash_bytes(s->inputs[i].data, s->inputs[i].bytes);
    for (uint32_t i = 0; i < s->model.main.nout; i++)
        h = h * 31 + nnv_hash_bytes(s->outputs[i].data, s->outputs[i].bytes);
    for (uint32_t i = 0; i < s->model.main.noperands; i++) {
        const struct nnv_operand *o = &s->model.main.operands[i];
        if (o->data) h = h * 31 + nnv_hash_bytes(o->data, o->bytes);
        h = h * 31 + nnv_hash_bytes(o->dims, o->rank * sizeof *o->dims);
        h = h * 31 + nnv_hash_bytes(&o->scale, sizeof o->scale) + (uint64_t)o->zero_point;
    }
    return h;
}

static struct nnv_spec *build(const struct nnv_single *w, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    char sig[96];
    if (nnv_single_build(w, arena, &spec, &err))
        fail_msg("%s %s %s %s %d: %s", w->op->name, nnv_single_sig_name(w->op, w->sig, sig, sizeof sig),
                 w->op->variants[w->variant], nnv_fill_mode_name(w->mode), w->index, err.text);
    return spec;
}

static void check_case(const struct nnv_single *w, struct nnv_arena *arena, struct tally *t) {
    struct nnv_err err = {0};
    int level = 0;
    struct nnv_spec *s = build(w, arena);
    enum nnv_status st = nnv_validate(&s->model, arena, &level, &err);
    assert_int_equal(s->expect_failure, w->mode == NNV_FILL_REFUSED);
    if (s->expect_failure) {
        assert_int_equal(st, NNV_INVALID);
        assert_non_null(s->source); /* says what is wrong */
    } else {
        if (st) fail_msg("%s: %s", w->op->name, err.text);
        assert_true(s->min_version >= level && level >= w->op->level);
    }
    assert_int_equal(fingerprint(s), fingerprint(build(w, arena)));
    t->cases++;
    bool vacuous = strcmp(w->op->variants[w->variant], "misses") != 0; /* of a table: all zeros, as it should be */
    vacuous &= w->op->code != ANEURALNETWORKS_FILL;
    for (uint32_t i = 0; i < s->model.main.nout; i++) {
        const struct nnv_operand *o = &s->model.main.operands[s->model.main.out[i]];
        size_t size = nnv_type(o->type)->size;
        t->elems += s->outputs[i].bytes / size;
        vacuous &= o->ignored || (s->outputs[i].bytes > size && all_equal(&s->outputs[i], size));
    }
    t->vacuous += vacuous;
    nnv_arena_reset(arena);
}

static void test_every_record(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) {
        struct tally t = {0};
        for (int sig = 0; sig < ops[i]->nsigs; sig++)
            for (int v = 0; v < nnv_single_variants(ops[i]); v++)
                for (int k = 0; k < 4; k++) {
                    struct nnv_single w = {.op = ops[i], .sig = sig, .variant = v, .index = k, .seed = 1};
                    w.relaxed = k == 3 && nnv_single_relaxable(ops[i], sig);
                    check_case(&w, arena, &t);
                }
        assert_true(t.cases > 0);
        if (t.vacuous * 20 > t.cases) fail_msg("%s: %zu of %zu cases say nothing", ops[i]->name, t.vacuous, t.cases);
    }
    nnv_arena_free(arena);
}

static void test_every_mode(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (int mode = NNV_FILL_EXACT; mode < NNV_FILL_COUNT; mode++) {
            struct tally t = {0};
            for (int sig = 0; sig < ops[i]->nsigs; sig++)
                for (int v = 0; v < nnv_single_variants(ops[i]); v++)
                    for (int k = 0; k < 2; k++) {
                        struct nnv_single w = {.op = ops[i],
                                               .sig = sig,
                                               .variant = v,
                                               .index = k,
                                               .mode = (enum nnv_fill_mode)mode,
                                               .seed = 7};
                        if (nnv_single_has(ops[i], sig, w.mode)) check_case(&w, arena, &t);
                    }
            if (mode == NNV_FILL_EXACT && t.vacuous * 5 > t.cases)
                fail_msg("%s: %zu of %zu exact cases say nothing", ops[i]->name, t.vacuous, t.cases);
        }
    nnv_arena_free(arena);
}

static void test_patterns(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    for (int mode = NNV_FILL_RAMP; mode <= NNV_FILL_IMPULSE; mode++) {
        struct nnv_single w = {.op = nnv_op_by_name("LOGISTIC"), .mode = (enum nnv_fill_mode)mode, .seed = 1};
        const struct nnv_value *x = &build(&w, arena)->inputs[0];
        const size_t n = x->bytes / sizeof(float);
        const float *v = x->data;
        size_t rises = 0, zeros = 0;
        for (size_t i = 0; i < n; i++) {
            rises += i > 0 && v[i] > v[i - 1];
            zeros += v[i] == 0;
        }
        assert_true(n > 3);
        if (mode == NNV_FILL_RAMP)
            assert_int_equal(rises, n - 1);
        else
            assert_true(zeros == n - 1 && v[n / 2] > 0);
    }
    nnv_arena_free(arena);
}

static bool has_empty_input(const struct nnv_spec *s) {
    for (uint32_t i = 0; i < s->model.main.nin; i++)
        if (!s->inputs[i].omitted && s->inputs[i].bytes == 0) return true;
    return false;
}

static void test_zero_sized_inputs_are_empty(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops, n = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (int v = 0; v < nnv_single_variants(ops[i]) && ops[i]->zero != NNV_ZERO_REFUSED; v++, n++) {
            struct nnv_single w = {.op = ops[i], .variant = v, .mode = NNV_FILL_ZERO, .seed = 3};
            struct nnv_spec *s = build(&w, arena);
            if (!has_empty_input(s)) fail_msg("%s %s: no input is empty", ops[i]->name, ops[i]->variants[v]);
            assert_true(s->min_version >= 3);
            nnv_arena_reset(arena);
        }
    assert_true(n > 0);
    nnv_arena_free(arena);
}

static void test_sweep_has_every_code(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = {.op = nnv_op_by_name("TANH"), .mode = NNV_FILL_SWEEP, .seed = 1};
    for (; w.sig < w.op->nsigs; w.sig++) {
        static uint8_t seen[65536];
        size_t want = 0, got = 0;
        memset(seen, 0, sizeof seen);
        if (w.op->sigs[w.sig].type[NNV_T] == ANEURALNETWORKS_TENSOR_FLOAT32)
            continue; /* not every code: test_sweep.c */
        for (w.index = 0; w.index < nnv_single_sweep_cases(w.op, w.sig); w.index++) {
            struct nnv_spec *s = build(&w, arena);
            bool half = w.op->sigs[w.sig].type[NNV_T] == ANEURALNETWORKS_TENSOR_FLOAT16;
            want = half ? 2 * 0x7c00 : 256;
            for (size_t at = 0; at < s->inputs[0].bytes; at += half ? 2 : 1) {
                uint16_t code = 0;
                memcpy(&code, (const char *)s->inputs[0].data + at, half ? 2 : 1);
                seen[code] = 1;
            }
            nnv_arena_reset(arena);
        }
        for (size_t c = 0; c < sizeof seen; c++) got += seen[c];
        assert_int_equal(got, want);
    }
    nnv_arena_free(arena);
}

/* Of data one is a constant, or all but one; of pairs each, some of them of one number: never all there is. */
static void test_data_as_constants(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) {
        int cases = 0, data[4] = {0}, numbers = 0;
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            struct nnv_single w = {.op = ops[i], .sig = sig, .plan = NNV_PLAN_CONSTANTS, .seed = 1, .name = "t"};
            for (const int n = nnv_single_planned(ops[i], sig, w.plan); w.index < n; w.index += 2, cases++) {
                struct nnv_spec *s = NULL;
                struct nnv_err err = {0};
                assert_int_equal(nnv_single_build(&w, arena, &s, &err), NNV_OK);
                if (s->model.main.nin == 0) fail_msg("%s %d: no inputs", ops[i]->name, w.index);
                for (uint32_t k = 0; k < 2 && ops[i]->pairs; k++) {
                    const struct nnv_operand *o = &s->model.main.operands[k];
                    const size_t size = nnv_type(o->type)->size;
                    if (!o->data) continue;
                    data[k]++;
                    numbers += o->bytes > size && memcmp(o->data, (const char *)o->data + size, o->bytes - size) == 0;
                }
                nnv_arena_reset(arena);
            }
        }
        if (ops[i]->pairs && cases > 0 && (data[0] < 5 || data[1] < 5))
            fail_msg("%s: %d, %d", ops[i]->name, data[0], data[1]);
        if (ops[i]->pairs && numbers * 8 < cases) fail_msg("%s: %d of %d", ops[i]->name, numbers, cases);
    }
    nnv_arena_free(arena);
}

/* Of each second case the tensors come from outside, of the others all there is. */
static void test_all_inputs_are_inputs(void **state) {
    (void)state;
    size_t n, planned = 0;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        struct nnv_arena *arena = nnv_arena_new();
        struct nnv_single w = {.op = ops[i], .plan = NNV_PLAN_INPUTS, .seed = 1, .name = "t"};
        const int cases = nnv_single_planned(ops[i], 0, NNV_PLAN_INPUTS);
        planned += cases > 0;
        for (w.index = 0; w.index < cases; w.index++) {
            const struct nnv_spec *s = build(&w, arena);
            for (uint32_t k = 0; k < s->model.main.operations[0].nin; k++) {
                const struct nnv_operand *o = &s->model.main.operands[s->model.main.operations[0].in[k]];
                if (nnv_is_constant(o) && (w.index % 2 || nnv_type(o->type)->tensor))
                    fail_msg("%s %d: input %u is a constant", ops[i]->name, w.index, k);
            }
        }
        nnv_arena_free(arena);
    }
    assert_true(planned >= 70);
}

/* Integer values, quantised scales that are powers of two, results that need no rounding. */
static void test_exact_cases_are_exact(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = {.op = nnv_op_by_name("CONV_2D"), .mode = NNV_FILL_EXACT, .seed = 1};
    for (; w.sig < w.op->nsigs; w.sig++)
        for (w.variant = 0; w.variant < nnv_single_variants(w.op); w.variant++) {
            struct nnv_spec *s = build(&w, arena);
            assert_true(s->exact);
            const struct nnv_operand *y = &s->model.main.operands[s->model.main.out[0]];
            size_t size = nnv_type(y->type)->size;
            for (size_t at = 0; at < s->outputs[0].bytes; at += size) {
                double v;
                nnv_load(y->type, (const char *)s->outputs[0].data + at, 1, &v);
                assert_true(v == (double)(int64_t)v);
                if (size == 2) assert_true(v >= -2048 && v <= 2048);
            }
            if (nnv_is_quant(y->type)) assert_true(y->scale == 1.0f);
            nnv_arena_reset(arena);
        }
    nnv_arena_free(arena);
}

/** Number e of an operand, which is a constant or an input. */
static double number_of(const struct nnv_spec *s, uint32_t operand, size_t e) {
    const struct nnv_operand *o = &s->model.main.operands[operand];
    const void *data = o->data;
    for (uint32_t i = 0; i < s->model.main.nin; i++)
        if (s->model.main.in[i] == operand) data = s->inputs[i].data;
    double v;
    nnv_load(o->type, (const char *)data + e * nnv_type(o->type)->size, 1, &v);
    return v;
}

/* No partial sum, in whatever order, is beyond the integers of float16. */
static void test_exact_sums_are_short(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = {.op = nnv_op_by_name("FULLY_CONNECTED"), .mode = NNV_FILL_EXACT, .seed = 1};
    while (w.op->sigs[w.sig].type[NNV_T] != ANEURALNETWORKS_TENSOR_FLOAT16) w.sig++;
    double longest = 0;
    for (w.variant = 0; w.variant < nnv_single_variants(w.op); w.variant++)
        for (w.index = 0; w.index < 8; w.index++) {
            const struct nnv_spec *s = build(&w, arena);
            const struct nnv_subgraph *m = &s->model.main;
            const uint32_t *in = m->operations[0].in;
            const uint32_t units = m->operands[in[1]].dims[0], k = m->operands[in[1]].dims[1];
            const size_t rows = s->outputs[0].bytes / 2 / units;
            for (size_t at = 0; at < rows * units; at++) {
                double sum = fabs(number_of(s, in[2], at % units));
                for (size_t i = 0; i < k; i++)
                    sum += fabs(number_of(s, in[0], at / units * k + i) * number_of(s, in[1], at % units * k + i));
                assert_true(sum <= 2048);
                longest = fmax(longest, sum);
            }
            nnv_arena_reset(arena);
        }
    assert_true(longest > 64); /* nor are they nothing */
    nnv_arena_free(arena);
}

static void test_edge_values_stay_in_their_range(void **state) {
    (void)state;
    enum { N = 4096 };
    static float v[N];
    static const double ranges[][2] = {{0.05, 0.95}, {0, 4}, {-1, 1}, {2, 1000}};
    const struct nnv_operand o = {.type = ANEURALNETWORKS_TENSOR_FLOAT32};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        const struct nnv_fill f = {
            .mode = NNV_FILL_EDGE, .lo = ranges[r][0], .hi = ranges[r][1], .magnitude = 60000, .density = 1};
        struct nnv_rng rng = nnv_rng_make(1, 2, r);
        nnv_fill(&f, &o, &rng, N, v);
        size_t ends = 0;
        for (size_t i = 0; i < N; i++) {
            assert_true(v[i] >= (float)f.lo && v[i] <= (float)f.hi);
            ends += v[i] == (float)f.hi || v[i] == (float)f.lo;
        }
        assert_true(ends > N / 50);
    }
    const struct nnv_fill f = {.mode = NNV_FILL_EDGE, .magnitude = 64, .density = 1};
    struct nnv_rng rng = nnv_rng_make(1, 2, 9);
    nnv_fill(&f, &o, &rng, N, v);
    for (size_t i = 0; i < N; i++) assert_true(fabsf(v[i]) <= 64);
}

/* Each second edge case of an operation that moves values moves infinities and NaN; one that adds does not. */
static void test_edge_cases_move_infinities(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    static const char *const names[] = {"RESHAPE", "RELU", "TRANSPOSE", "ADD"};
    for (size_t i = 0; i < 4; i++) {
        for (int index = 0; index < 2; index++) {
            const struct nnv_single w = {
                .op = nnv_op_by_name(names[i]), .seed = 1, .mode = NNV_FILL_EDGE, .index = index};
            const struct nnv_spec *s = build(&w, arena);
            const struct nnv_value *v = &s->outputs[0];
            assert_int_equal(s->model.main.operands[s->model.main.out[0]].type, ANEURALNETWORKS_TENSOR_FLOAT32);
            size_t infinite = 0, nan = 0;
            for (size_t at = 0; at < v->bytes; at += 4) {
                float f;
                memcpy(&f, (const char *)v->data + at, 4);
                infinite += isinf(f) != 0;
                nan += isnan(f) != 0;
            }
            const bool moves = index == 1 && strcmp(names[i], "ADD") != 0;
            assert_int_equal(infinite > 0, moves);
            assert_int_equal(nan > 0, moves && strcmp(names[i], "RELU") != 0); /* which NNAPI says nothing of */
        }
    }
    nnv_arena_free(arena);
}

/* Scales at and beside powers of two: the output's is above the product of the inputs' as the rule rounds it, too. */
static void test_edge_scales_of_products(void **state) {
    (void)state;
    enum { DRAWS = 32 };
    struct nnv_arena *arena = nnv_arena_new();
    struct tally t = {0};
    const struct nnv_op *op = nnv_op_by_name("MUL");
    for (int sig = 0; sig < op->nsigs; sig++)
        for (int v = 0; v < nnv_single_variants(op); v++)
            for (int index = 0; index < DRAWS; index++) {
                const struct nnv_single w = {
                    .op = op, .sig = sig, .variant = v, .index = index, .mode = NNV_FILL_EDGE, .seed = 1};
                if (nnv_single_has(op, sig, w.mode)) check_case(&w, arena, &t);
            }
    nnv_arena_free(arena);
}

static void test_seed_changes_values(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = {.op = nnv_op_by_name("ADD"), .seed = 1}, x = w;
    x.seed = 2;
    assert_int_not_equal(fingerprint(build(&w, arena)), fingerprint(build(&x, arena)));
    x = w;
    x.index = 1;
    assert_int_not_equal(fingerprint(build(&w, arena)), fingerprint(build(&x, arena)));
    nnv_arena_free(arena);
}

static void test_signature_names_differ(void **state) {
    (void)state;
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (int a = 0; a < ops[i]->nsigs; a++)
            for (int b = 0; b < a; b++) {
                char one[96], two[96];
                nnv_single_sig_name(ops[i], a, one, sizeof one);
                nnv_single_sig_name(ops[i], b, two, sizeof two);
                assert_string_not_equal(one, two);
            }
    char name[96];
    const struct nnv_op *conv = nnv_op_by_name("CONV_2D");
    int found = 0;
    for (int a = 0; a < conv->nsigs; a++)
        found += strcmp(nnv_single_sig_name(conv, a, name, sizeof name), "quant8_asymm_per_channel") == 0;
    assert_int_equal(found, 1);
}

/* A record whose hook is wrong is the harness's fault, said with the reason. */
static void sample_nothing(struct nnv_sample *s) { (void)s; }

static void test_bad_hook_is_an_internal_error(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_op broken = *nnv_op_by_name("ADD");
    broken.sample = sample_nothing;
    struct nnv_single w = {.op = &broken, .seed = 1, .name = "ops/ADD/x"};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    assert_int_equal(nnv_single_build(&w, arena, &spec, &err), NNV_INTERNAL);
    assert_string_equal(err.text, "ops/ADD/x: the sample hook did not set input a");
    assert_null(spec);
    nnv_arena_free(arena);
}

/* A state that is fed back has the quantisation of the input that it is fed back to. */
static void test_fed_back(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = {.op = nnv_op(ANEURALNETWORKS_QUANTIZED_LSTM), .seed = 7};
    static const int inputs[] = {18, 19, 18};
    for (w.variant = 0; w.variant < nnv_single_variants(w.op); w.variant++)
        for (w.index = 0; w.index < 6; w.index++) {
            const struct nnv_subgraph *s = &build(&w, arena)->model.main;
            for (int i = 0; i < 3; i++) {
                const struct nnv_operand *in = &s->operands[s->operations[0].in[inputs[i]]];
                const struct nnv_operand *out = &s->operands[s->operations[0].out[i]];
                assert_true(in->scale > 0 && in->scale == out->scale);
                assert_int_equal(in->zero_point, out->zero_point);
            }
            nnv_arena_reset(arena);
        }
    nnv_arena_free(arena);
}

/* Models that nothing was evaluated for are valid, have the shapes that an evaluation gives, and hold most of the range
 * that results have: few lie at the ends of their type. */
static void test_models_alone(void **state) {
    (void)state;
    enum { DRAWS = 3 };
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops, elems = 0, ends = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (int sig = 0; sig < ops[i]->nsigs; sig++)
            for (int index = 0; index < DRAWS; index++) {
                const struct nnv_single w = {.op = ops[i],
                                             .sig = sig,
                                             .variant = index % nnv_single_variants(ops[i]),
                                             .index = index,
                                             .seed = 3};
                struct nnv_spec *s = NULL;
                struct nnv_err err = {0};
                nnv_arena_reset(arena);
                if (nnv_single_model(&w, arena, &s, &err) != NNV_OK ||
                    nnv_validate(&s->model, arena, NULL, &err) != NNV_OK)
                    fail_msg("%s, %d: %s", ops[i]->name, sig, err.text);
                const bool evaluated = s->outputs != NULL;
                assert_int_equal(evaluated, ops[i]->check_subgraphs != NULL || ops[i]->sizes);
                assert_int_equal(nnv_single_expect(s, arena, NULL), NNV_OK);
                for (uint32_t k = 0; k < s->model.main.nout && !evaluated; k++) {
                    const struct nnv_operand *o = &s->model.main.operands[s->model.main.out[k]];
                    const struct nnv_type *t = nnv_type(o->type);
                    assert_int_equal(s->outputs[k].rank, o->rank);
                    assert_memory_equal(s->outputs[k].dims, o->dims, o->rank * sizeof *o->dims);
                    for (size_t at = 0; nnv_is_quant(o->type) && at < s->outputs[k].bytes; at += t->size, elems++) {
                        double v;
                        nnv_load(t->code, (const char *)s->outputs[k].data + at, 1, &v);
                        ends += v <= t->min || v >= t->max;
                    }
                }
            }
    assert_true(elems > 10000 && ends < elems / 4);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_record),
        cmocka_unit_test(test_every_mode),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_zero_sized_inputs_are_empty),
        cmocka_unit_test(test_sweep_has_every_code),
        cmocka_unit_test(test_data_as_constants),
        cmocka_unit_test(test_all_inputs_are_inputs),
        cmocka_unit_test(test_exact_cases_are_exact),
        cmocka_unit_test(test_exact_sums_are_short),
        cmocka_unit_test(test_edge_values_stay_in_their_range),
        cmocka_unit_test(test_edge_cases_move_infinities),
        cmocka_unit_test(test_edge_scales_of_products),
        cmocka_unit_test(test_seed_changes_values),
        cmocka_unit_test(test_signature_names_differ),
        cmocka_unit_test(test_bad_hook_is_an_internal_error),
        cmocka_unit_test(test_fed_back),
        cmocka_unit_test(test_models_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
