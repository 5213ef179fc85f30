/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisations by a cover: zero points at the ends, ratios of scales, results that still say something. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/single/draft.h"
#include "randgraph/single/scales.h"
#include "randgraph/single/single.h"
#include "reference/spec/spec.h"

static struct nnv_spec *build(const struct nnv_single *w, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_single_build(w, arena, &spec, &err)) fail_msg("%s %d: %s", w->op->name, w->index, err.text);
    return spec;
}

static struct nnv_single of(const char *op, int32_t type) {
    struct nnv_single w = {.op = nnv_op_by_name(op), .plan = NNV_PLAN_SCALES, .seed = 1};
    while (w.op->sigs[w.sig].type[NNV_T] != type) assert_true(++w.sig < w.op->nsigs);
    return w;
}

static int32_t wanted_zero(int32_t choice, const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    return (int32_t)(choice == NNV_ZERO_LOWEST ? t->min : choice == NNV_ZERO_HIGHEST ? t->max : o->zero_point);
}

/* A model of one operation on codes 2 and 10, which are -1 and 3, and 0 and 16, which are 0 and 4. */
#define PAIR(op)                                                                                                       \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"pair\",\"min_version\":\"1.2\",\"main\":{\"operands\":["                  \
    "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[1,2],\"scale\":0.5,\"zero_point\":4,"                                 \
    "\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[2,10]},"                                                                \
    "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[1,2],\"scale\":0.25,\"zero_point\":0,"                                \
    "\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[0,16]},"                                                                \
    "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]},"                                    \
    "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[1,2],\"scale\":0.5,\"zero_point\":4,"                                 \
    "\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[4,4]}],\"operations\":[{\"type\":\"" op                                \
    "\",\"inputs\":[0,1,2],\"outputs\":[3]}],\"inputs\":[0,1],\"outputs\":[3]}}"

/* Products are likely to be within half of the largest of either sign; sums of two numbers, what input 0 is. */
static void test_ranges_are_guessed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double lo, hi;
    } rows[] = {{PAIR("MUL"), -6, 6}, {PAIR("ADD"), -1, 3}};
    struct nnv_arena *arena = nnv_arena_new();
    for (int i = 0; i < 2; i++) {
        struct nnv_spec *spec = NULL;
        struct nnv_err err = {0};
        double lo, hi;
        if (nnv_spec_parse(rows[i].text, strlen(rows[i].text), "pair", arena, &spec, &err)) fail_msg("%s", err.text);
        const struct nnv_single what = {.op = nnv_op(spec->model.main.operations[0].type)};
        const struct nnv_single_draft b = {
            .what = &what, .arena = arena, .spec = spec, .s = &spec->model.main, .values = spec->inputs};
        nnv_results_guess(&b, &lo, &hi);
        assert_true(lo == rows[i].lo && hi == rows[i].hi);
    }
    nnv_arena_free(arena);
}

/* Every case has what its row says. */
static void test_rows_are_kept(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    static const char *const names[] = {"ADD", "CONV_2D", "MAXIMUM"};
    for (int i = 0; i < 3; i++) {
        struct nnv_single w = of(names[i], ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
        int kept = 0, rows = 0, like = 0, alike = 0, shifted = 0, n = nnv_single_planned(w.op, w.sig, w.plan);
        assert_true(n >= 48); /* eight ratios by six scales of the output */
        for (; w.index < n; w.index++) {
            int32_t row[NNV_SCALE_FACTORS];
            nnv_scales_row(w.op, w.sig, (size_t)w.index, row);
            const struct nnv_spec *s = build(&w, arena);
            const struct nnv_operand *a = &s->model.main.operands[0], *b = a + 1;
            const double exact = ldexp((double)a->scale, row[NNV_SCALE_RATIO]), ratio = (double)b->scale / exact;
            const bool fits[] = {b->scale == (float)exact,
                                 ratio > 1 && ratio<1.0001, ratio<1 && ratio> 0.9999, ratio> 1.3};
            const bool keeps = a->zero_point == wanted_zero(row[NNV_SCALE_ZERO_A], a) &&
                               b->zero_point == wanted_zero(row[NNV_SCALE_ZERO_B], b) && fits[row[NNV_SCALE_BESIDE]];
            const struct nnv_operand *of = row[NNV_SCALE_OUT] == NNV_OUT_FIRST    ? a
                                           : row[NNV_SCALE_OUT] == NNV_OUT_SECOND ? b
                                                                                  : NULL;
            const struct nnv_operand *y = &s->model.main.operands[s->model.main.out[0]];
            like += of != NULL;
            alike += of && keeps && y->zero_point == of->zero_point && y->scale == of->scale;
            shifted += row[NNV_SCALE_OUT] == NNV_OUT_SHIFTED && y->scale == a->scale && y->zero_point != a->zero_point;
            rows += !of;
            kept += !of && keeps;
            nnv_arena_reset(arena);
        }
        /* results said nothing: usual ones; of outputs like an input more often */
        if (kept < rows - 2) fail_msg("%s: %d of %d", names[i], kept, rows);
        if (shifted < 4) fail_msg("%s: %d shifted", names[i], shifted);
        if (like < 12 || 4 * alike < 3 * like) fail_msg("%s: %d of %d like an input", names[i], alike, like);
    }
    nnv_arena_free(arena);
}

/* The code that would stand for the upper bound of RELU6 in the case's output. */
static double code_of_six(const struct nnv_spec *s) {
    const struct nnv_operand *o = &s->model.main.operands[s->model.main.out[0]];
    return o->zero_point + 6 / (double)o->scale;
}

/* Of every clamp of each operation: its bound lies on the last code, on the next, and beyond. */
static void test_bounds_of_activations(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    static const char *const names[] = {"ADD", "CONV_2D", "FULLY_CONNECTED", "MAX_POOL_2D", "AVERAGE_POOL_2D", "RELU6"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct nnv_single w = of(names[i], ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
        int found[NNV_BOUND_FAR + 1] = {0};
        for (const int n = nnv_single_planned(w.op, w.sig, w.plan); w.index < n; w.index++) {
            int32_t row[NNV_SCALE_FACTORS];
            nnv_scales_row(w.op, w.sig, (size_t)w.index, row);
            int32_t bound = row[NNV_SCALE_BOUND];
            if (row[NNV_SCALE_OUT] >= NNV_OUT_BOUND_LAST)
                bound = NNV_BOUND_LAST + row[NNV_SCALE_OUT] - NNV_OUT_BOUND_LAST;
            if (row[NNV_SCALE_ACTIVATION] != ANEURALNETWORKS_FUSED_RELU6) continue;
            const double code = code_of_six(build(&w, arena));
            nnv_arena_reset(arena);
            found[bound] += bound == NNV_BOUND_LAST   ? fabs(code - 255) < 0.01
                            : bound == NNV_BOUND_NEXT ? fabs(code - 256) < 0.01
                                                      : code > 300;
        }
        if (!found[NNV_BOUND_LAST] || !found[NNV_BOUND_NEXT] || !found[NNV_BOUND_FAR]) fail_msg("%s", names[i]);
    }
    nnv_arena_free(arena);
}

/* The share of the codes of the first output that lie inside the range of its type. */
static double unsaturated(const struct nnv_spec *s) {
    const struct nnv_operand *o = &s->model.main.operands[s->model.main.out[0]];
    const struct nnv_type *t = nnv_type(o->type);
    const size_t n = s->outputs[0].bytes / t->size;
    size_t inside = 0;
    if (t->kind != NNV_KIND_QUANT || n == 0) return 1;
    for (size_t e = 0; e < n; e++) {
        double v;
        nnv_load(o->type, (const char *)s->outputs[0].data + e * t->size, 1, &v);
        inside += v > t->min && v < t->max;
    }
    return (double)inside / (double)n;
}

static void test_results_say_something(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops, cases = 0, poor = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            struct nnv_single w = {.op = ops[i], .sig = sig, .plan = NNV_PLAN_SCALES, .seed = 1};
            for (int n = nnv_single_planned(ops[i], sig, w.plan); w.index < n; w.index++, cases++) {
                poor += unsaturated(build(&w, arena)) < 0.1;
                nnv_arena_reset(arena);
            }
        }
    if (poor * 10 > cases) fail_msg("%zu of %zu cases are saturated", poor, cases);
    assert_true(cases > 1000);
    nnv_arena_free(arena);
}

/* One element whose result is nearly 0 has a scale of nearly 0, and a budget of all codes: it is drawn again. */
static void test_single_results_are_judged(void **state) {
    (void)state;
    enum { SEEDS = 40 };
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = of("SUB", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    for (w.seed = 1; w.seed <= SEEDS; w.seed++)
        for (w.index = 0; w.index < nnv_single_planned(w.op, w.sig, w.plan); w.index++) {
            const struct nnv_spec *s = build(&w, arena);
            const struct nnv_operand *y = &s->model.main.operands[s->model.main.out[0]];
            if (s->outputs[0].bytes == 1 && y->scale < 1e-6f)
                fail_msg("seed %d, %d: a scale of %g", (int)w.seed, w.index, (double)y->scale);
            nnv_arena_reset(arena);
        }
    nnv_arena_free(arena);
}

/* Filters with scales for channels: far apart, and the lowest code of all. */
static void test_channels(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = of("CONV_2D", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    while (w.op->sigs[w.sig].type[NNV_W] != ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) w.sig++;
    bool lowest = false, far = false;
    for (const int n = nnv_single_planned(w.op, w.sig, w.plan); w.index < n; w.index++) {
        const struct nnv_spec *s = build(&w, arena);
        const struct nnv_operand *f = &s->model.main.operands[1];
        const int8_t *v = f->data ? f->data : s->inputs[1].data;
        const size_t bytes = f->data ? f->bytes : s->inputs[1].bytes;
        lowest |= memchr(v, 0x80, bytes) != NULL;
        for (uint32_t c = 1; c < f->channel.count; c++) far |= f->channel.scales[0] == 256 * f->channel.scales[c];
        nnv_arena_reset(arena);
    }
    assert_true(lowest && far);
    nnv_arena_free(arena);
}

/* Quantisations come with the usual attributes, with rows of the attributes' cover, and with drawn ones. */
static void test_attributes_of_quantisations(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = of("DEPTHWISE_CONV_2D", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    int usual = 0, others = 0, drawn = 0;
    for (const int n = nnv_single_planned(w.op, w.sig, w.plan); w.index < n; w.index++) {
        const char *words = build(&w, arena)->source;
        assert_non_null(words);
        if (strstr(words, "window=") == NULL)
            drawn++;
        else if (strstr(words, "window=3x3 stride=1x1 "))
            usual++;
        else
            others++;
        nnv_arena_reset(arena);
    }
    assert_true(usual >= 10);
    assert_true(others >= 10);
    assert_true(drawn >= 20);
    nnv_arena_free(arena);
}

/* Inputs that repeat have the scales and zero points of the row, and an output that may be like neither. */
static void test_inputs_that_repeat(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = of("CONCATENATION", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    int lowest = 0, highest = 0, far = 0, near = 0, finer = 0;
    for (const int n = nnv_single_planned(w.op, w.sig, w.plan); w.index < n; w.index++) {
        const struct nnv_spec *s = build(&w, arena);
        const struct nnv_operand *a = &s->model.main.operands[0], *b = a + 1;
        const struct nnv_operand *y = &s->model.main.operands[s->model.main.out[0]];
        if (s->model.main.operations[0].nin > 2) {
            const double ratio = (double)b->scale / (double)a->scale;
            lowest += a->zero_point == 0 || b->zero_point == 0;
            highest += a->zero_point == 255 || b->zero_point == 255;
            far += ratio > 100 || ratio < 0.01;
            near += ratio != 1 && fabs(ratio - 1) < 0.0001;
            finer += (double)y->scale < 0.5 * (double)a->scale;
        }
        nnv_arena_reset(arena);
    }
    if (lowest < 8 || highest < 8 || far < 4 || near < 1 || finer < 4)
        fail_msg("%d %d %d %d %d", lowest, highest, far, near, finer);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_are_guessed),          cmocka_unit_test(test_rows_are_kept),
        cmocka_unit_test(test_bounds_of_activations),       cmocka_unit_test(test_results_say_something),
        cmocka_unit_test(test_single_results_are_judged),   cmocka_unit_test(test_channels),
        cmocka_unit_test(test_attributes_of_quantisations), cmocka_unit_test(test_inputs_that_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
