/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_debug_reduce.c
 * Reducing and bisecting random graphs that fail on drivers with planted bugs. What bisect names is compared with
 * where the driver's values first differ from those of the same driver without the bug.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "harness/debug/bisect/bisect.h"
#include "harness/debug/reduce/reduce.h"
#include "randgraph/graph/graph.h"
#include "reference/spec/spec.h"
#include "reference/model/validate.h"

static const uint64_t SECOND_NS = 1000000000;

/* Forking is slow under the sanitizer: one dump of each kind. */
#if defined(__SANITIZE_ADDRESS__)
enum { MOST_OF_A_KIND = 1, LEAST_DUMPS = 12 };
#else
enum { MOST_OF_A_KIND = 100, LEAST_DUMPS = 40 };
#endif

static const char *driver_path(void) {
    static char path[4096];
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    snprintf(path, sizeof path, "%s/faulty.so", folder ? folder : "build/drivers");
    return path;
}

static struct nnv_oracle oracle_of(const char *bug, double seconds) {
    return (struct nnv_oracle){.path = driver_path(),
                               .options = bug,
                               .precision = NNV_PRECISION_BUDGET,
                               .timeout_ns = (uint64_t)(seconds * (double)SECOND_NS)};
}

static struct nnv_spec *build(struct nnv_arena *a, const char *profile, uint64_t index) {
    const struct nnv_graph_options o = {
        .profile = nnv_graph_profile_by_name(profile), .seed = 11, .index = index, .name = "graph"};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    assert_non_null(o.profile);
    if (nnv_graph_build(&o, a, &spec, &err) != NNV_OK) fail_msg("%s %u: %s", profile, (unsigned)index, err.text);
    return spec;
}

static struct nnv_opinion ask(const struct nnv_oracle *o, const struct nnv_spec *spec) {
    struct nnv_opinion opinion;
    struct nnv_err err = {0};
    if (nnv_oracle_judge(o, spec, &opinion, &err) != NNV_OK) fail_msg("%s", err.text);
    return opinion;
}

/** How it went with the dumps of one or all bugs. */
struct score {
    int dumps, small, right;
    uint64_t most_ns;
    size_t candidates;
};

/** The first operation whose values differ from those of the driver without the bug; UINT32_MAX if that shows none. */
static uint32_t first_different(const struct nnv_spec *spec, const char *bug, struct nnv_arena *a) {
    const struct nnv_oracle with = oracle_of(bug, 10), without = oracle_of("none", 10);
    struct nnv_known known;
    struct nnv_spec *all;
    struct nnv_value *x, *y;
    struct nnv_opinion p, q;
    struct nnv_err err = {0};
    uint32_t first = UINT32_MAX;
    assert_int_equal(nnv_known_make(spec, false, a, &known, &err), NNV_OK);
    assert_int_equal(nnv_extract(&known, &(struct nnv_extraction){.all_shown = true}, a, &all, &err), NNV_OK);
    assert_int_equal(nnv_oracle_run(&without, all, a, &y, &q, &err), NNV_OK);
    assert_int_equal(nnv_oracle_run(&with, all, a, &x, &p, &err), NNV_OK);
    if (p.verdict != NNVTS_PASS || q.verdict != NNVTS_PASS) return UINT32_MAX;
    const struct nnv_subgraph *m = &all->model.main;
    for (uint32_t i = 0; i < m->nout; i++) {
        uint32_t producer = nnv_producer(m, m->out[i]);
        if (!m->operands[m->out[i]].ignored && producer < first && memcmp(x[i].data, y[i].data, x[i].bytes) != 0)
            first = producer;
    }
    return first;
}

/** The first operation of a kind. */
static uint32_t first_of(const struct nnv_spec *spec, int32_t type) {
    uint32_t i = 0;
    while (i < spec->model.main.noperations && spec->model.main.operations[i].type != type) i++;
    return i;
}

/** The reduced spec must be valid, expect the golden values, and fail as the original did. */
static void check_reduced(const struct nnv_reduction *r, const struct nnv_oracle *o, struct nnv_arena *a) {
    struct nnv_err err = {0};
    struct nnv_known k;
    if (nnv_validate(&r->spec->model, a, NULL, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(nnv_known_make(r->spec, false, a, &k, &err), NNV_OK);
    for (uint32_t i = 0; i < r->spec->model.main.nout; i++)
        assert_memory_equal(k.spec->outputs[i].data, r->spec->outputs[i].data, r->spec->outputs[i].bytes);
    const struct nnv_opinion opinion = ask(o, r->spec);
    const struct nnv_signature s = nnv_signature_of(r->spec, &opinion);
    assert_true(nnv_signature_equal(&s, &r->after));
    assert_int_equal(r->before.verdict, r->after.verdict);
}

static void add_dump(const struct nnv_spec *spec, const char *bug, int32_t culprit, double seconds, struct score *s) {
    const struct nnv_oracle o = oracle_of(bug, seconds);
    const struct nnv_reduce_options options = {.oracle = &o, .total_ns = 60 * SECOND_NS};
    struct nnv_arena *a = nnv_arena_new();
    struct nnv_reduction r;
    struct nnv_bisection b;
    struct nnv_err err = {0};
    uint64_t start = nnv_now_ns();
    if (nnv_reduce(spec, &options, a, &r, &err) != NNV_OK) fail_msg("%s: %s", bug, err.text);
    uint64_t ns = nnv_now_ns() - start;
    check_reduced(&r, &o, a);
    if (nnv_bisect(spec, &o, a, &b, &err) != NNV_OK) fail_msg("%s: %s", bug, err.text);
    uint32_t truth = culprit ? first_of(b.spec, culprit) : first_different(b.spec, bug, a);
    s->dumps++;
    s->small += r.spec->model.main.noperations <= 3;
    s->right += truth == b.culprit;
    s->candidates += r.candidates;
    if (ns > s->most_ns) s->most_ns = ns;
    if (truth != b.culprit)
        print_message("%s: bisect names operation %d, the values first differ at %d\n", bug, (int)b.culprit,
                      (int)truth);
    nnv_arena_free(a);
}

/** Looks for graphs of a profile that fail with the bug. culprit: the kind that the bug needs; 0: values tell. */
static void add_bug(const char *bug, const char *profile, int32_t culprit, int wanted, double seconds,
                    struct score *s) {
    const struct nnv_oracle o = oracle_of(bug, seconds);
    struct nnv_arena *a = nnv_arena_new();
    int found = 0;
    for (uint64_t i = 0; i < 150 && found < wanted; i++) {
        nnv_arena_reset(a);
        const struct nnv_spec *spec = build(a, profile, i);
        if (culprit && first_of(spec, culprit) == spec->model.main.noperations) continue;
        if (!nnv_is_bad(ask(&o, spec).verdict)) continue;
        add_dump(spec, bug, culprit, seconds, s);
        found++;
    }
    nnv_arena_free(a);
}

static void planted_bugs_are_reduced_and_named(void **state) {
    (void)state;
    static const struct {
        const char *bug, *profile;
        int32_t culprit;
        int wanted;
        double seconds;
    } plan[] = {
        {"dilation-ignored", "conv", 0, 6, 10},
        {"dilation-ignored", "large", 0, 1, 10},
        {"relu6-as-relu", "mixed", 0, 3, 10},
        {"relu6-as-relu", "conv", 0, 3, 10},
        {"zero-point-off-by-one", "quant", 0, 8, 10},
        {"requantise-truncates", "quant", 0, 6, 10},
        {"requantise-truncates", "conv", 0, 4, 10},
        {"float16-inside", "small", 0, 3, 10},
        {"wrong-branch", "control", ANEURALNETWORKS_IF, 3, 10},
        {"crash-execute@TANH", "mixed", ANEURALNETWORKS_TANH, 3, 10},
        {"crash-execute@TANH", "large", ANEURALNETWORKS_TANH, 2, 10},
        {"claims-but-fails@MUL", "mixed", ANEURALNETWORKS_MUL, 3, 10},
        {"hang-execute@LOGISTIC", "quant", ANEURALNETWORKS_LOGISTIC, 1, 0.4},
    };
    struct score s = {0};
    for (size_t i = 0; i < sizeof plan / sizeof *plan; i++)
        add_bug(plan[i].bug, plan[i].profile, plan[i].culprit,
                plan[i].wanted < MOST_OF_A_KIND ? plan[i].wanted : MOST_OF_A_KIND, plan[i].seconds, &s);
    print_message("%d dumps: %d reduced to 3 operations or fewer, the right operation named in %d; at most %.1f s and "
                  "on average %zu candidates\n",
                  s.dumps, s.small, s.right, (double)s.most_ns / 1e9, s.candidates / (size_t)(s.dumps ? s.dumps : 1));
    assert_true(s.dumps >= LEAST_DUMPS);
    assert_true(s.small * 100 >= s.dumps * 90);
    assert_true(s.right * 100 >= s.dumps * 95);
}

/* What is left of a RELU6 is one element above 6. */
static void reductions_go_to_the_end(void **state) {
    (void)state;
    struct score s = {0};
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_oracle o = oracle_of("relu6-as-relu", 10);
    const struct nnv_reduce_options options = {.oracle = &o, .total_ns = 60 * SECOND_NS};
    for (uint64_t i = 0; i < 150 && s.dumps == 0; i++) {
        nnv_arena_reset(a);
        const struct nnv_spec *spec = build(a, "conv", i);
        struct nnv_reduction r;
        struct nnv_err err = {0};
        if (first_of(spec, ANEURALNETWORKS_RELU6) == spec->model.main.noperations) continue;
        if (ask(&o, spec).verdict != NNVTS_FAIL) continue;
        assert_int_equal(nnv_reduce(spec, &options, a, &r, &err), NNV_OK);
        if (r.after.operation != ANEURALNETWORKS_RELU6) continue;
        const struct nnv_extent e = nnv_spec_extent(r.spec);
        assert_true(r.complete);
        assert_int_equal(e.operations, 1);
        assert_int_equal(e.elements, 2);
        s.dumps++;
    }
    assert_int_equal(s.dumps, 1);
    nnv_arena_free(a);
}

/** n operations, MUL by 1 and a RELU6 among them. */
static struct nnv_spec *chain(struct nnv_arena *a, int n, int relu6) {
    struct nnv_text operands = {0}, operations = {0}, t = {0};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    nnv_text_add(&operands, "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,9]},"
                            "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1,1]},"
                            "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[0]}");
    for (int i = 0, at = 0; i < n; at = 3 + i++) {
        nnv_text_addf(&operands, ",{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":%s}",
                      i + 1 < n ? "\"TEMPORARY_VARIABLE\"" : "\"SUBGRAPH_OUTPUT\",\"data\":[1,6]");
        nnv_text_addf(&operations, "%s{\"type\":\"%s\",\"inputs\":[%d%s],\"outputs\":[%d]}", i ? "," : "",
                      i == relu6 ? "RELU6" : "MUL", at, i == relu6 ? "" : ",1,2", 3 + i);
    }
    nnv_text_addf(&t,
                  "{\"format\":\"nnvts-spec/1\",\"name\":\"chain\",\"main\":{\"operands\":[%s],\"operations\":[%s],"
                  "\"inputs\":[0],\"outputs\":[%d]}}",
                  operands.data, operations.data, 2 + n);
    if (nnv_spec_parse(t.data, t.len, "chain", a, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_text_free(&operands);
    nnv_text_free(&operations);
    nnv_text_free(&t);
    return spec;
}

/** A graph of more operations than are looked at one by one is cut down by halves, wherever the wrong one stands. */
static void large_graphs_take_few_candidates(void **state) {
    (void)state;
    enum { N = 1300 };
    static const int at[] = {0, 800, N - 1};
    const struct nnv_oracle o = oracle_of("relu6-as-relu", 10);
    const struct nnv_reduce_options options = {.oracle = &o, .total_ns = 60 * SECOND_NS};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct nnv_arena *a = nnv_arena_new();
        struct nnv_reduction r;
        struct nnv_err err = {0};
        assert_int_equal(nnv_reduce(chain(a, N, at[i]), &options, a, &r, &err), NNV_OK);
        assert_true(r.complete);
        assert_int_equal(r.spec->model.main.noperations, 1);
        assert_int_equal(r.after.operation, ANEURALNETWORKS_RELU6);
        assert_true(r.candidates < 40);
        check_reduced(&r, &o, a);
        nnv_arena_free(a);
    }
}

/** Of a model of constants alone, what the first operation reads becomes an input: a case has something to give it. */
static void constants_alone_become_an_input(void **state) {
    (void)state;
    static const char text[] =
        "{\"format\":\"nnvts-spec/1\",\"name\":\"constant\",\"main\":{\"operands\":["
        "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"CONSTANT_COPY\",\"data\":[1,9]},"
        "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[1,6]}],"
        "\"operations\":[{\"type\":\"RELU6\",\"inputs\":[0],\"outputs\":[1]}],\"inputs\":[],\"outputs\":[1]}}";
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_oracle o = oracle_of("relu6-as-relu", 10);
    const struct nnv_reduce_options options = {.oracle = &o, .total_ns = 60 * SECOND_NS};
    struct nnv_spec *spec = NULL;
    struct nnv_reduction r;
    struct nnv_err err = {0};
    if (nnv_spec_parse(text, sizeof text - 1, "constant", a, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(nnv_reduce(spec, &options, a, &r, &err), NNV_OK);
    assert_true(r.complete);
    assert_int_equal(r.spec->model.main.nin, 1);
    assert_int_equal(r.spec->model.main.in[0], r.spec->model.main.operations[0].in[0]);
    check_reduced(&r, &o, a);
    nnv_arena_free(a);
}

static void the_same_reduction_twice(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new(), *b = nnv_arena_new();
    const struct nnv_oracle o = oracle_of("zero-point-off-by-one", 10);
    const struct nnv_reduce_options options = {.oracle = &o, .total_ns = 60 * SECOND_NS};
    struct nnv_spec *spec = NULL;
    for (uint64_t i = 0; i < 50; i++) {
        nnv_arena_reset(a);
        spec = build(a, "quant", i);
        if (nnv_is_bad(ask(&o, spec).verdict)) break;
    }
    struct nnv_text text[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        struct nnv_reduction r;
        struct nnv_err err = {0};
        assert_int_equal(nnv_reduce(spec, &options, b, &r, &err), NNV_OK);
        nnv_spec_write_json(r.spec, false, &text[i]);
    }
    assert_string_equal(text[0].data, text[1].data);
    for (int i = 0; i < 2; i++) nnv_text_free(&text[i]);
    nnv_arena_free(a);
    nnv_arena_free(b);
}

static void what_does_not_fail_is_refused(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_oracle good = oracle_of("none", 10), none = {.path = "./no-such.so", .timeout_ns = SECOND_NS};
    struct nnv_reduce_options options = {.oracle = &good, .total_ns = SECOND_NS};
    struct nnv_spec *spec = build(a, "small", 1);
    struct nnv_reduction r;
    struct nnv_bisection b;
    struct nnv_err err = {0};
    assert_int_equal(nnv_reduce(spec, &options, a, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "does not fail"));
    err = (struct nnv_err){0};
    assert_int_equal(nnv_bisect(spec, &good, a, &b, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "does not fail"));
    err = (struct nnv_err){0};
    options.oracle = &none;
    assert_int_equal(nnv_reduce(spec, &options, a, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "no-such.so"));
    err = (struct nnv_err){0};
    options.oracle = &good;
    spec->expect_failure = true;
    assert_int_equal(nnv_reduce(spec, &options, a, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "must refuse"));
    nnv_arena_free(a);
}

/** Stops after so many candidates. */
static bool stop_after(void *context, const struct nnv_spec *best, size_t candidates) {
    (void)best;
    return candidates < *(size_t *)context;
}

static void reductions_can_be_stopped(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const struct nnv_oracle o = oracle_of("float16-inside", 10);
    size_t most = 4;
    const struct nnv_reduce_options options = {
        .oracle = &o, .total_ns = 60 * SECOND_NS, .context = &most, .progress = stop_after};
    struct nnv_spec *spec = NULL;
    for (uint64_t i = 0; i < 50; i++) {
        nnv_arena_reset(a);
        spec = build(a, "small", i);
        if (nnv_is_bad(ask(&o, spec).verdict)) break;
    }
    struct nnv_reduction r;
    struct nnv_err err = {0};
    assert_int_equal(nnv_reduce(spec, &options, a, &r, &err), NNV_OK);
    assert_false(r.complete);
    assert_int_equal(r.candidates, 4);
    assert_true(nnv_is_bad(ask(&o, r.spec).verdict)); /* what there is at that moment still fails */
    nnv_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_bugs_are_reduced_and_named), cmocka_unit_test(reductions_go_to_the_end),
        cmocka_unit_test(the_same_reduction_twice),           cmocka_unit_test(what_does_not_fail_is_refused),
        cmocka_unit_test(reductions_can_be_stopped),          cmocka_unit_test(large_graphs_take_few_candidates),
        cmocka_unit_test(constants_alone_become_an_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
