/* SPDX-License-Identifier: Apache-2.0 */
/** The driver "faulty": every bug opens, is harmless where it does not fire, and is noticed where it does. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/kit/fake_driver.h"
#include "harness/runner/suite.h"
#include "harness/suites/kit/cases.h"
#include "nnvts/result.h"

static struct nnv_arena *arena, *case_arena;
static const char *path, *options;

/** The drivers lie beside the folder of the tests. */
static int find_drivers(void **state) {
    (void)state;
    char exe[2048], folder[2112];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return -1;
    exe[n] = 0;
    *strrchr(exe, '/') = 0;
    snprintf(folder, sizeof folder, "%s/../drivers", exe);
    arena = nnv_arena_new();
    case_arena = nnv_arena_new();
    struct nnv_err err = {0};
    if (!arena || !case_arena || setenv("NNVTS_DRIVER_PATH", folder, 0) != 0) return -1;
    if (nnv_client_resolve("faulty", arena, &path, &options, &err) == NNV_OK) return 0;
    print_error("%s (make builds it)\n", err.text);
    return -1;
}

static int forget_drivers(void **state) {
    (void)state;
    nnv_arena_free(case_arena);
    nnv_arena_free(arena);
    return 0;
}

static void open_bug(struct nnv_client *client, const char *bug) {
    char option[128];
    struct nnv_err err = {0};
    snprintf(option, sizeof option, "%s,over=reference", bug);
    if (nnv_client_open(client, path, option, &err) != NNV_OK) fail_msg("%s", err.text);
}

/** Name i of the driver's own list, or NULL behind the last. */
static const char *bug_at(size_t i) {
    struct nnv_client client = {0};
    open_bug(&client, "nameless");
    const char *name = client.driver->options[i];
    nnv_client_close(&client);
    return name;
}

static int judge(const char *bug, const struct nnv_spec *spec, int times) {
    struct nnv_client client = {0};
    struct nnv_result result = {0};
    const struct nnv_run_config config = {.precision = -1};
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = NULL};
    int worst = NNVTS_PASS;
    open_bug(&client, bug);
    for (int i = 0; i < times && worst == NNVTS_PASS; i++) {
        nnv_judge(&env, spec, 0, NNV_PRECISION_NNAPI, &result);
        worst = result.verdict;
        nnv_arena_reset(case_arena);
    }
    nnv_client_close(&client);
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    return worst;
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

static void every_bug_opens(void **state) {
    (void)state;
    size_t n = 0;
    for (const char *name; (name = bug_at(n)) != NULL; n++) {
        struct nnv_client client = {0};
        open_bug(&client, name);
        char shown[128];
        snprintf(shown, sizeof shown, "nnvts-faulty-%s", name);
        assert_string_equal(client.device->name, strcmp(name, "nameless") == 0 ? "" : shown);
        nnv_client_close(&client);
        for (size_t i = 0; i < n; i++) assert_string_not_equal(name, bug_at(i));
    }
    assert_true(n >= 24);
}

static void wrong_options(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "no-such-bug",
                                        "abort@NO_OP",
                                        "abort@",
                                        "abort,under=cpu",
                                        "abort,over=",
                                        "abort,over=no-such-driver",
                                        "abortion"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct nnv_client client = {0};
        struct nnv_err err = {0};
        assert_int_equal(nnv_client_open(&client, path, wrong[i], &err), NNV_INVALID);
        assert_non_null(strstr(err.text, "refused to open"));
    }
}

/** A sum of positive numbers without activation: what is neither tampering nor wrong there must pass. */
static void bugs_fire_where_they_should(void **state) {
    (void)state;
    static const char *const firing[] = {
        "float16-inside",    "stale-tail-element", "batch1-uses-batch0", "output-unwritten",
        "random-nan",        "nondeterministic",   "guard-write-after",  "guard-write-before",
        "input-modified",    "constant-modified",  "wrong-output-shape", "says-insufficient",
        "shape-count-wrong", "unasked-timing",     "supported-unfilled", NULL};
    static const char *const unsupported[] = {"refuses-everything", NULL};
    const struct nnv_spec *spec = fake_spec(
        ADD_SPEC(NAMED, OPERAND("TENSOR_FLOAT32", "2,3", "SUBGRAPH_INPUT", DATA("1.3,2.3,3.3,4.3,5.3,6.3")), B23,
                 OPERAND("TENSOR_FLOAT32", "2,3", "SUBGRAPH_OUTPUT", DATA("11.3,22.3,33.3,44.3,55.3,66.3"))),
        arena);
    const char *name;
    /* the group `ops` stands first and ends here; others are judged by the suites that are for them */
    bool last = false;
    for (size_t i = 0; !last && (name = bug_at(i)) != NULL; i++) {
        last = strcmp(name, "heap-smash") == 0;
        int expected = is_one_of(name, unsupported) ? NNVTS_UNSUPPORTED
                       : is_one_of(name, firing)    ? NNVTS_FAIL
                                                    : NNVTS_PASS;
        int verdict = judge(name, spec, 3);
        if (verdict != expected) fail_msg("%s: verdict %d, expected %d", name, verdict, expected);
    }
}

/** The level that a bug pretends is the one in its name, whatever the driver below has. */
static void levels_are_pretended(void **state) {
    (void)state;
    static const struct {
        const char *bug;
        int level;
    } rows[] = {{"level-1-too-much", 1}, {"level-3-too-much", 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_client client = {0};
        open_bug(&client, rows[i].bug);
        assert_int_equal(client.device->feature_level, rows[i].level);
        nnv_client_close(&client);
    }
}

/** Microseconds said to be milliseconds: a time is a thousand times what it was, so whole thousands. */
static void wrong_units_lengthen(void **state) {
    (void)state;
    const struct nnv_run_config config = {.precision = -1};
    struct nnv_client client = {0};
    struct nnv_result result = {0};
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = NULL};
    struct nnv_context s;
    struct nnv_fixture fixture;
    struct nnv_request values;
    struct nnvts_prepared_model *prepared = NULL;
    open_bug(&client, "timing-wall");
    nnv_context_begin(&s, &env, &result);
    assert_true(nnv_context_model(&s, fake_spec(SUM, arena), &fixture));
    assert_true(nnv_context_ready(&s, &fixture, &prepared, &values));
    for (int i = 0; i < 4; i++) {
        struct nnv_execution e = nnv_execution_make(NNV_MODE_SYNC, prepared, &values);
        const struct nnvts_timing *t = &values.result.timing;
        e.config.measure_timing = true;
        nnv_request_reset(&values);
        assert_true(nnv_execute(&e));
        assert_int_equal(e.status, NNVTS_STATUS_NONE);
        assert_true(t->in_driver_ns != NNVTS_NO_TIME && t->in_driver_ns >= 1000 && t->in_driver_ns % 1000 == 0);
        assert_true(t->in_driver_ns / 1000 >= t->on_device_ns);
    }
    nnv_context_release(&s, prepared);
    nnv_context_end(&s);
    nnv_client_close(&client);
    nnv_text_free(&result.reason);
    nnv_arena_reset(case_arena);
}

/** @OP moves a bug to another operation. */
static void bugs_move(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    assert_int_equal(judge("claims-but-fails", spec, 1), NNVTS_PASS);
    assert_int_equal(judge("claims-but-fails@ADD", spec, 1), NNVTS_FAIL);
    assert_int_equal(judge("nonsense-status@ADD", spec, 1), NNVTS_FAIL);
    assert_int_equal(judge("null-prepared@ADD", spec, 1), NNVTS_FAIL);
    assert_int_equal(judge("refuses-valid@ADD", spec, 1), NNVTS_FAIL);
    assert_int_equal(judge("refuses-everything@MUL", spec, 1), NNVTS_PASS);
    assert_int_equal(judge("stale-tail-element@MUL", spec, 1), NNVTS_PASS);
}

/** The lesser of -x, which operation 0 computes, and |x|, which operations 1 to n do one behind the other. */
static const struct nnv_spec *read_late(unsigned n) {
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"format\":\"nnvts-spec/1\",\"name\":\"late\",\"main\":{\"operands\":[" OPERAND(
                         "TENSOR_FLOAT32", "2", "SUBGRAPH_INPUT", DATA("1,2")));
    for (unsigned i = 0; i <= n; i++) nnv_text_add(&t, "," OPERAND("TENSOR_FLOAT32", "2", "TEMPORARY_VARIABLE", ""));
    nnv_text_add(&t, "," OPERAND("TENSOR_FLOAT32", "2", "SUBGRAPH_OUTPUT", DATA("-1,-2")) "],\"operations\":[");
    for (unsigned i = 0; i <= n; i++)
        nnv_text_addf(&t, "{\"type\":\"%s\",\"inputs\":[%u],\"outputs\":[%u]},", i ? "ABS" : "NEG", i, i + 1);
    nnv_text_addf(&t, "{\"type\":\"MINIMUM\",\"inputs\":[1,%u],\"outputs\":[%u]}],\"inputs\":[0],\"outputs\":[%u]}}",
                  n + 1, n + 2, n + 2);
    const struct nnv_spec *spec = fake_spec(t.data, arena);
    nnv_text_free(&t);
    return spec;
}

/** A ring of 128 still has what was made 128 operations ago; the next one is in the place of what was made first. */
static void values_lie_in_a_ring(void **state) {
    (void)state;
    assert_int_equal(judge("values-in-a-ring", read_late(127), 1), NNVTS_PASS);
    assert_int_equal(judge("values-in-a-ring", read_late(128), 1), NNVTS_FAIL);
}

/* ------------------------------------------------------------- device memory */

static enum nnvts_status (*their_allocate)(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                           struct nnvts_buffer **buffer);

static enum nnvts_status copy_nothing(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                      const uint32_t *dimensions, uint32_t dimension_count) {
    (void)self, (void)source, (void)dimensions, (void)dimension_count;
    return NNVTS_STATUS_GENERAL_FAILURE;
}

static enum nnvts_status allocate_unfillable(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                             struct nnvts_buffer **buffer) {
    const enum nnvts_status st = their_allocate(self, desc, buffer);
    if (st == NNVTS_STATUS_NONE) (*buffer)->copy_from = copy_nothing;
    return st;
}

/** What is refused of a buffer without a value proves nothing: where buffers cannot be filled, these cases fail. */
static void buffers_that_cannot_be_filled(void **state) {
    (void)state;
    static const char *const names[] = {"memory/wrong_second_role/", "memory/wrong_direction/", "memory/stale_role/",
                                        "memory/read_and_written/"};
    const struct nnv_run_config config = {.precision = -1, .seed = 1};
    struct nnv_case_list list = {.arena = arena};
    struct nnv_client client = {0};
    struct nnv_err err = {0};
    size_t failed[sizeof names / sizeof *names] = {0};
    assert_int_equal(nnv_suite_by_name("memory")->list(&config, &list, &err), NNV_OK);
    open_bug(&client, "nameless");
    their_allocate = client.device->allocate;
    client.device->allocate = allocate_unfillable;
    for (size_t i = 0; i < list.count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strncmp(list.item[i].name, names[k], strlen(names[k])) != 0) continue;
            uint32_t phase = 0;
            struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = &phase};
            struct nnv_result result = {0};
            nnv_case_run(&env, &list.item[i], &result);
            assert_int_equal(result.verdict, NNVTS_FAIL);
            assert_non_null(strstr(result.reason.data, "copy_from answered GENERAL_FAILURE"));
            failed[k]++;
            nnv_text_free(&result.reason);
            nnv_text_free(&result.outputs);
            nnv_arena_reset(case_arena);
        }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) assert_true(failed[k] > 0);
    nnv_client_close(&client);
    free(list.item);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bug_opens),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(bugs_fire_where_they_should),
        cmocka_unit_test(levels_are_pretended),
        cmocka_unit_test(wrong_units_lengthen),
        cmocka_unit_test(bugs_move),
        cmocka_unit_test(values_lie_in_a_ring),
        cmocka_unit_test(buffers_that_cannot_be_filled),
    };
    return cmocka_run_group_tests(tests, find_drivers, forget_drivers);
}
