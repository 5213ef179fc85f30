/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_bench.c Measuring drivers: every mode and scenario gives samples, and what goes wrong is told. No times.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/bench/row.h"
#include "mlts/networks/mobilenet.h"
#include "reference/eval/eval.h"

enum { SETS = 3, SIZE = 64, CLASSES = 20 };

struct fixture {
    struct nnv_arena *arena;
    struct nnv_model model;
    struct nnv_value input[SETS], output;
    const struct nnv_value *inputs[SETS];
    struct nnv_bench_work work;
    struct nnv_bench_options options;
};

static char folder[4096];

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct nnv_err err = {0};
    const struct nnv_mobilenet net = {2, 0.25, SIZE, {ANEURALNETWORKS_TENSOR_FLOAT32, false}, CLASSES, 7};
    f->arena = nnv_arena_new();
    if (!f->arena || nnv_mobilenet_build(&net, f->arena, &f->model, &err) != NNV_OK) return -1;
    for (int s = 0; s < SETS; s++) {
        f->input[s] = (struct nnv_value){.rank = 4, .dims = {1, SIZE, SIZE, 3}, .bytes = SIZE * SIZE * 3 * 4};
        float *x = nnv_arena_alloc(f->arena, 1, f->input[s].bytes);
        for (int i = 0; i < SIZE * SIZE * 3; i++) x[i] = (float)((i * (s + 3)) % 17) / 17;
        f->input[s].data = x;
        f->inputs[s] = &f->input[s];
    }
    f->output = (struct nnv_value){.rank = 2, .dims = {1, CLASSES}, .bytes = CLASSES * 4};
    f->work =
        (struct nnv_bench_work){.model = &f->model, .sets = SETS, .inputs = f->inputs, .output_shapes = &f->output};
    f->options = (struct nnv_bench_options){.streams = 2,
                                            .time_ns = 30000000,
                                            .least = 20,
                                            .seed = 1,
                                            .timeout_ns = UINT64_C(60000000000),
                                            .preference = 1};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    nnv_arena_free(f->arena);
    free(f);
    return 0;
}

/** Sets path and options of a driver "name:options". */
static void choose(struct fixture *f, const char *driver) {
    char name[64];
    const char *colon = strchr(driver, ':');
    static char path[4200];
    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - driver : (long)strlen(driver)), driver);
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    f->options.path = path;
    f->options.options = colon ? colon + 1 : NULL;
}

static struct nnv_bench_result measure(struct fixture *f, const char *driver) {
    struct nnv_bench_result r;
    struct nnv_err err = {0};
    choose(f, driver);
    if (nnv_bench_measure(&f->work, &f->options, f->arena, &r, &err) != NNV_OK) fail_msg("%s", err.text);
    return r;
}

static void every_mode_and_scenario(void **state) {
    struct fixture *f = *state;
    for (int scenario = 0; scenario < NNV_SCENARIO_COUNT; scenario++)
        for (int mode = 0; mode < NNV_MODES; mode++) {
            f->options.scenario = (enum nnv_scenario)scenario;
            f->options.mode = (enum nnv_mode)mode;
            struct nnv_bench_result r = measure(f, "cpu");
            if (r.state != NNV_BENCH_DONE)
                fail_msg("%s %s: %s", nnv_scenario_names[scenario], nnv_bench_modes[mode], r.reason);
            assert_true(r.count >= f->options.least);
            for (uint32_t i = 0; i < r.count; i++) assert_true(r.sample_ns[i] > 0);
            assert_true(r.compile_ns > 0 && r.compile_cached_ns > 0 && r.first_ns > 0);
            assert_true(r.warm_ups > 0 && r.elapsed_ns > 0 && r.noise >= 1 && r.peak_bytes > 0);
            assert_true(r.unique_ns > 0 && r.repeated_ns > 0);
            assert_true(r.in_driver_ns > 0 && r.in_driver_ns < 1e9);
            assert_string_not_equal(r.device, "");
        }
}

static void what_goes_wrong_is_told(void **state) {
    struct fixture *f = *state;
    struct nnv_bench_result r = measure(f, "sample:minimal");
    assert_int_equal(r.state, NNV_BENCH_UNSUPPORTED);
    assert_non_null(strstr(r.reason, "not supported"));
    r = measure(f, "faulty:crash-execute@SOFTMAX");
    assert_int_equal(r.state, NNV_BENCH_CRASHED);
    assert_non_null(strstr(r.reason, "SIGSEGV"));
    f->options.timeout_ns = 300000000;
    r = measure(f, "faulty:hang-execute@SOFTMAX");
    assert_int_equal(r.state, NNV_BENCH_TIMED_OUT);
    assert_string_equal(nnv_bench_state_name(r.state), "timeout");
}

/** Its breach is the driver's, and no crash of the process that measures. */
static void a_missing_prepared_model(void **state) {
    struct fixture *f = *state;
    struct nnv_bench_result r = measure(f, "faulty:null-prepared@CONV_2D");
    assert_int_equal(r.state, NNV_BENCH_FAILED);
    assert_string_equal(r.reason, "prepare_model answered NONE without a prepared model");
}

/** Whether there is one input or as many as the driver can remember: what is never seen before is not known. */
static void answers_that_are_remembered(void **state) {
    struct fixture *f = *state;
    for (f->work.sets = 1; f->work.sets <= SETS; f->work.sets++) {
        const struct nnv_bench_result r = measure(f, "faulty:remembers-answer");
        assert_int_equal(r.state, NNV_BENCH_DONE);
        assert_true(r.caches_answers);
        assert_true(r.repeated_ns < r.unique_ns);
        assert_false(measure(f, "cpu").caches_answers);
    }
}

/** Right where it is asked plainly, and wrong while it is timed; what it has not seen before shows that. */
static void answers_while_timed(void **state) {
    struct fixture *f = *state;
    enum { SHOWN = 2 };
    struct nnv_value golden[SETS];
    const struct nnv_value *answers[SETS];
    struct nnv_err err = {0};
    for (int i = 0; i < SETS; i++) {
        const struct nnv_eval_options none = {0};
        struct nnv_golden *g = NNV_NEW(f->arena, struct nnv_golden, 1);
        assert_int_equal(nnv_eval(&f->model, &f->input[i], &none, f->arena, g, &err), NNV_OK);
        golden[i] = g->value;
        answers[i] = &golden[i];
    }
    f->work.sets = SHOWN;
    f->work.held_back = SETS - SHOWN;
    f->work.golden = answers;
    f->options.least = 100;
    f->options.timeout_ns *= 10; /* of a processor that is emulated, and busy */
    for (int scenario = 0; scenario < NNV_SCENARIO_COUNT; scenario++) {
        f->options.scenario = (enum nnv_scenario)scenario;
        struct nnv_bench_result r = measure(f, "cpu");
        if (r.state != NNV_BENCH_DONE) fail_msg("%s: %s", nnv_scenario_names[scenario], r.reason);
        assert_true(r.checked >= 100 / 8 / 2 && r.checked < r.count);
        assert_true(r.timed_error < 1e-4);
    }
    f->options.scenario = NNV_SCENARIO_SINGLE;
    assert_true(measure(f, "faulty:answers-anything").timed_error > 1e-3);
    assert_true(measure(f, "faulty:timed-kernel").timed_error > 1e-4);
    f->work.held_back = 0; /* it remembers those that it has seen */
    assert_true(measure(f, "faulty:answers-anything").timed_error < 1e-4);
    f->work.golden = NULL;
    struct nnv_bench_result r = measure(f, "cpu");
    assert_true(r.checked == 0 && isnan(r.timed_error));
}

static struct nnv_layers judge(struct fixture *f, const char *driver) {
    const struct nnv_network net = {.name = "net", .origin = "here", .model = f->model};
    struct nnv_layers l;
    struct nnv_err err = {0};
    choose(f, driver);
    if (nnv_layers_judge(&net, &f->input[0], &f->options, f->arena, &l, &err) != NNV_OK) fail_msg("%s", err.text);
    return l;
}

static void every_operation_by_itself(void **state) {
    struct fixture *f = *state;
    struct nnv_layers l = judge(f, "cpu");
    assert_int_equal(l.count, f->model.main.noperations);
    assert_int_equal(l.judged, l.count);
    assert_int_equal(l.out_of_budget, 0);
    assert_int_equal(l.found.culprit, UINT32_MAX);
    for (uint32_t i = 1; i < l.judged; i++)
        assert_true(l.found.step[l.worst[i - 1]].ratio >= l.found.step[l.worst[i]].ratio);
    l = judge(f, "faulty:bias-channel0-missing@CONV_2D");
    assert_true(l.out_of_budget > 1 && l.out_of_budget < l.count);
    for (uint32_t i = 0; i < l.found.culprit; i++) assert_int_equal(l.found.step[i].kind, NNV_STEP_RIGHT);
    assert_string_equal(nnv_layers_name(&l, l.found.culprit), "CONV_2D");
    assert_int_equal(l.found.alone, NNV_ALONE_FAILS);
    for (uint32_t i = 0; i < l.judged; i++)
        assert_int_equal(l.found.step[l.worst[i]].kind == NNV_STEP_WRONG, i < l.out_of_budget);
    json_t *j = nnv_layers_json(&l);
    assert_int_equal(json_integer_value(json_object_get(j, "out_of_budget")), l.out_of_budget);
    assert_int_equal(json_array_size(json_object_get(j, "steps")), l.count);
    assert_int_equal(json_integer_value(json_object_get(j, "first")), l.found.culprit);
    json_decref(j);
}

/** Operations of which the driver does not give the results are judged as models of their own. */
static void operations_apart(void **state) {
    struct fixture *f = *state;
    struct nnv_layers l = judge(f, "faulty:later-outputs-lost");
    assert_true(l.found.apart);
    assert_non_null(strstr(l.found.shown, "FAIL"));
    assert_true(nnv_is_bad(l.found.signature.verdict));
    assert_int_equal(l.judged, l.count);
    assert_int_equal(l.out_of_budget, 0);
    f->options.timeout_ns = UINT64_C(2000000000);
    l = judge(f, "faulty:crash-execute@SOFTMAX");
    assert_true(l.found.apart);
    assert_int_equal(l.out_of_budget, 1);
    assert_string_equal(nnv_layers_name(&l, l.found.culprit), "SOFTMAX");
    assert_non_null(strstr(l.found.step[l.found.culprit].note, "CRASH"));
}

/** Those that could be timed stand in the order of their times, each once. */
static void the_slowest_operation_first(void **state) {
    struct fixture *f = *state;
    struct nnv_err err = {0};
    struct nnv_roof roof;
    struct nnv_layers l = judge(f, "cpu");
    bool *seen = NNV_NEW(f->arena, bool, l.count);
    f->options.time_ns = 1; /* the least time for each */
    assert_int_equal(nnv_roof_state("100,10", &roof, &err), NNV_OK);
    if (nnv_layers_time(&l, &f->options, &roof, f->arena, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(l.timed_count, l.count);
    for (uint32_t i = 0; i < l.timed_count; i++) {
        assert_true(l.slowest[i] < l.count && !seen[l.slowest[i]]);
        seen[l.slowest[i]] = true;
        if (i > 0) assert_true(l.timed[l.slowest[i - 1]].us >= l.timed[l.slowest[i]].us);
    }
}

/** The median lies in its interval; what lies in memory behind the list of outputs is none of them. */
static void one_model_is_timed(void **state) {
    struct fixture *f = *state;
    struct nnv_err err = {0};
    struct nnv_timed t;
    uint32_t out[] = {f->model.main.out[0], UINT32_MAX};
    choose(f, "cpu");
    const struct nnv_timing_options how = {
        .path = f->options.path, .time_ns = f->options.time_ns, .timeout_ns = f->options.timeout_ns};
    assert_int_equal(f->model.main.nout, 1);
    f->model.main.out = out;
    if (nnv_time_model(&f->model, &how, &t, &err) != NNV_OK) fail_msg("%s", err.text);
    if (t.state != NNV_BENCH_DONE) fail_msg("%s", t.reason);
    assert_true(t.samples > 0 && t.low_us > 0 && t.low_us <= t.us && t.us <= t.high_us);
    assert_true(isnan(t.round_trip_us));
}

/** Of classifiers the items with the reference's class count, of detectors the boxes; enough are enough. */
static void a_gate_of_agreement(void **state) {
    static const struct {
        enum nnv_task task;
        double least;
        const char *gate; /* what is told; "": it passes */
    } rows[] = {{NNV_TASK_CLASSIFY, 0, ""},
                {NNV_TASK_CLASSIFY, 0.75, ""},
                {NNV_TASK_CLASSIFY, 0.76, "it agrees with the reference on 75.00 % of the items, less than 76.00 %"},
                {NNV_TASK_CLASSIFY, 1, "it agrees with the reference on 75.00 % of the items, less than 100.00 %"},
                {NNV_TASK_NONE, 0, ""},
                {NNV_TASK_NONE, 0.5, ""},
                {NNV_TASK_NONE, 0.51, "it finds 50.00 % of the reference's boxes, less than 51.00 %"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool boxes = rows[i].task == NNV_TASK_NONE;
        struct nnv_bench_row row = {
            .has_accuracy = true,
            .accuracy = {
                .task = rows[i].task, .items = 20, .agree = boxes ? 0 : 15, .boxes = boxes ? 8 : 0, .found = 4}};
        nnv_bench_row_gate(&row, NULL, &(struct nnv_bench_gates){.least_agreement = rows[i].least});
        assert_string_equal(row.gate, rows[i].gate);
        assert_int_equal(row.failed, *rows[i].gate != 0);
    }
}

static void a_driver_that_can_t_be_opened(void **state) {
    struct fixture *f = *state;
    struct nnv_bench_result r;
    struct nnv_err err = {0};
    f->options.path = "/nonexistent.so";
    assert_int_equal(nnv_bench_measure(&f->work, &f->options, f->arena, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "/nonexistent.so"));
}

int main(int argc, char **argv) {
    (void)argc;
    const char *slash = strrchr(argv[0], '/');
    snprintf(folder, sizeof folder, "%.*s/../drivers", (int)(slash ? slash - argv[0] : 1), slash ? argv[0] : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_mode_and_scenario, setup, teardown),
        cmocka_unit_test_setup_teardown(a_missing_prepared_model, setup, teardown),
        cmocka_unit_test_setup_teardown(what_goes_wrong_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_that_are_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_while_timed, setup, teardown),
        cmocka_unit_test_setup_teardown(every_operation_by_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(operations_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(the_slowest_operation_first, setup, teardown),
        cmocka_unit_test_setup_teardown(one_model_is_timed, setup, teardown),
        cmocka_unit_test(a_gate_of_agreement),
        cmocka_unit_test_setup_teardown(a_driver_that_can_t_be_opened, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
