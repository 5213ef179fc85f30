/* SPDX-License-Identifier: Apache-2.0 */
/** The suite exec: its rules of times, callbacks and fences break where they should; cases have names of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/kit/fake_driver.h"
#include "harness/suites/exec/exec.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"

static struct nnv_arena *arena;
static struct nnv_client client;
static struct nnv_result result;
static struct nnv_context s;
static struct nnv_exec x;
static struct nnv_run_config config;

/* ------------------------------------------------------------ a fake's executions */

static enum way {
    WELL,
    TWICE,
    EARLY, /**< the callback comes before the values */
    NO_RESULT,
    FAILED,
    HUGE_RANK,
    MANY_SHAPES,
    WRITES_BEHIND,
    UNASKED_TIME,
    REFUSED_LOUDLY,
    ENDS_WITHOUT_FENCE,
    NO_GET_RESULT,
    RESULT_FAILS,
    LONG_TIME
} way;

static void write_answer(const struct nnvts_request *r) {
    uint8_t *out = fake_data(r, &r->outputs[0]);
    memcpy(out, fake.answer, r->outputs[0].location.length);
    if (way == WRITES_BEHIND) out[r->outputs[0].location.length] ^= 1;
}

static enum nnvts_status fake_async(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                    const struct nnvts_execution_config *c, nnvts_execute_callback callback,
                                    void *context) {
    uint32_t dims[] = {2, 3};
    struct nnvts_output_shape shape = {true, way == HUGE_RANK ? 1000000 : 2, dims};
    struct nnvts_execution_result answer = {
        .shape_count = way == MANY_SHAPES ? 1 << 30 : 1, .shapes = &shape, .timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    (void)self, (void)c;
    if (way == REFUSED_LOUDLY) {
        callback(context, NNVTS_STATUS_GENERAL_FAILURE, &answer);
        return NNVTS_STATUS_GENERAL_FAILURE;
    }
    if (way == UNASKED_TIME) answer.timing = (struct nnvts_timing){1, 1};
    if (way == MANY_SHAPES) answer.shapes = NULL;
    if (way != EARLY) write_answer(r);
    callback(context, way == FAILED ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_NONE,
             way == NO_RESULT ? NULL : &answer);
    if (way == EARLY) write_answer(r);
    if (way == TWICE) callback(context, NNVTS_STATUS_NONE, &answer);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status fake_get_result(void *context, struct nnvts_fenced_result *r) {
    struct nnvts_timing t = {NNVTS_NO_TIME, NNVTS_NO_TIME};
    (void)context;
    if (way == LONG_TIME) t.in_driver_ns = NNVTS_NO_TIME - 1;
    *r = (struct nnvts_fenced_result){way == RESULT_FAILS ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_NONE, t, t};
    return NNVTS_STATUS_NONE;
}

static void fake_release_fenced(void *context) {
    (void)context;
    fake.released++;
}

static enum nnvts_status fake_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                     const int *wait_for, uint32_t count, const struct nnvts_execution_config *c,
                                     uint64_t duration_ns, struct nnvts_fenced_execution *out) {
    (void)self, (void)wait_for, (void)count, (void)c, (void)duration_ns;
    assert_int_equal(r->outputs[0].dimension_count, 2);
    if (way != ENDS_WITHOUT_FENCE) write_answer(r);
    *out =
        (struct nnvts_fenced_execution){-1, NULL, way == NO_GET_RESULT ? NULL : fake_get_result, fake_release_fenced};
    return NNVTS_STATUS_NONE;
}

/* --------------------------------------------------------------------- fixture */

static struct nnvts_prepared_model prepared = {
    .struct_size = sizeof prepared, .execute_async = fake_async, .execute_fenced = fake_fenced};

/** A context on the model c = a + b of fake_driver.h, and a request for it. */
static void begin(enum way w) {
    static uint32_t phase;
    static struct nnv_case_env env;
    way = w;
    nnv_text_free(&result.reason);
    result = (struct nnv_result){0};
    env = (struct nnv_case_env){.config = &config, .client = &client, .arena = arena, .phase = &phase};
    nnv_context_begin(&s, &env, &result);
    x = (struct nnv_exec){.s = &s, .seed = 1, .prepared = &prepared};
    assert_true(nnv_context_model(&s, fake_spec(SUM, arena), &x.fixture));
    assert_true(nnv_context_request(&s, &x.fixture, NNV_POOL_READ_ONLY, &x.values));
}

static int set_up(void **state) {
    (void)state;
    arena = nnv_arena_new();
    config = (struct nnv_run_config){.driver = "fake", .precision = -1, .seed = 1};
    fake_start(&client, 7);
    return arena ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    nnv_client_close(&client);
    nnv_text_free(&result.reason);
    result = (struct nnv_result){0};
    nnv_arena_free(arena);
    return 0;
}

static void assert_failed(bool ok, const char *part) {
    const char *reason = result.reason.data ? result.reason.data : "";
    if (ok || !strstr(reason, part)) fail_msg("'%s', expected '%s'", reason, part);
    nnv_context_end(&s);
    assert_int_equal(result.verdict, NNVTS_FAIL);
}

/* ----------------------------------------------------------------------- times */

static void times(void **state) {
    (void)state;
    const uint64_t no = NNVTS_NO_TIME;
    const struct {
        bool asked;
        struct nnvts_timing t;
        bool ok;
    } rows[] = {
        {false, {no, no}, true},  {false, {no, 5}, false},   {false, {0, no}, false}, {true, {no, no}, true},
        {true, {0, 0}, true},     {true, {5, 5}, true},      {true, {5, 100}, true},  {true, {100, 100}, true},
        {true, {no, 7}, true},    {true, {7, no}, true},     {true, {6, 5}, false},   {true, {5, 101}, false},
        {true, {101, no}, false}, {true, {101, 102}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(WELL);
        bool ok = nnv_exec_check_times(&s, "a call", rows[i].asked, &rows[i].t, 100);
        nnv_context_end(&s);
        if (ok != rows[i].ok || (result.verdict == NNVTS_PASS) != ok) fail_msg("row %zu: %d", i, ok);
    }
}

/* -------------------------------------------------------------------- variants */

/** a = 1 2 .. 6 and b = 10 20 .. 60: turned by 1 and by 2 elements, the sum is 2 + 30, 3 + 40, .. */
static void variants(void **state) {
    (void)state;
    static const float a[] = {2, 3, 4, 5, 6, 1}, b[] = {30, 40, 50, 60, 10, 20}, sum[] = {32, 43, 54, 65, 16, 21};
    struct nnv_fixture other;
    begin(WELL);
    assert_true(nnv_exec_variant(&x, 1, &other));
    assert_memory_equal(other.spec->inputs[0].data, a, sizeof a);
    assert_memory_equal(other.spec->inputs[1].data, b, sizeof b);
    assert_memory_equal(other.expected[0].value->data, sum, sizeof sum);
    nnv_context_fill(&x.values, &other);
    assert_memory_equal(x.values.input_at[1], b, sizeof b);
    assert_true(nnv_context_check_memory(&s, "nothing", &x.values));
    nnv_context_end(&s);
}

/* ------------------------------------------------------------------- callbacks */

static void callbacks(void **state) {
    (void)state;
    static const struct {
        enum way way;
        const char *reason;
    } rows[] = {
        {EARLY, "6 of 6 values wrong"},
        {NO_RESULT, "came without a result"},
        {FAILED, "answered GENERAL_FAILURE, expected NONE"},
        {HUGE_RANK, "reports rank 1000000 for output 0"},
        {MANY_SHAPES, "reports 1073741824 shapes"},
        {WRITES_BEHIND, "wrote behind the end of output 0: byte 24"},
        {UNASKED_TIME, "reports a time although none was asked for"},
    };
    begin(WELL);
    nnv_surplus_callbacks(false);
    assert_true(nnv_exec_run(&x, &prepared, NNV_MODE_ASYNC, &x.values, NULL));
    assert_true(nnv_exec_called_once(&x));
    nnv_context_end(&s);
    assert_int_equal(result.verdict, NNVTS_PASS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].way);
        assert_failed(nnv_exec_run(&x, &prepared, NNV_MODE_ASYNC, &x.values, NULL), rows[i].reason);
    }
    begin(TWICE);
    nnv_surplus_callbacks(false);
    for (int i = 0; i < 3; i++) assert_true(nnv_exec_run(&x, &prepared, NNV_MODE_ASYNC, &x.values, NULL));
    assert_failed(nnv_exec_called_once(&x), "the callback of an execution must come once; it came again 3 times");
    assert_true(nnv_surplus_callbacks(true) == 0); /* they are counted once */
}

static void loud_refusal(void **state) {
    (void)state;
    struct nnv_exec_run run;
    begin(REFUSED_LOUDLY);
    assert_true(nnv_exec_make(&x, &run, &prepared, NNV_MODE_ASYNC, &x.values, NULL));
    assert_true(nnv_exec_try_launch(&x, &run));
    assert_false(run.x.launched);
    assert_int_equal(run.x.status, NNVTS_STATUS_GENERAL_FAILURE);
    assert_int_equal(nnv_execution_callbacks(&run.x), 1); /* the case refused says that it must be 0 */
    nnv_context_end(&s);
    begin(REFUSED_LOUDLY);
    assert_failed(nnv_exec_run(&x, &prepared, NNV_MODE_ASYNC, &x.values, NULL), "execute_async answered");
}

/* ------------------------------------------------------------------- refusals */

static int refusals,
    most_refusals; /**< of requests with a wrong number of inputs: answered, and before it takes them */

static enum nnvts_status fake_sync(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                   const struct nnvts_execution_config *c, struct nnvts_execution_result *answer) {
    (void)self, (void)c;
    if (r->input_count != 2 && refusals++ < most_refusals) return NNVTS_STATUS_INVALID_ARGUMENT;
    write_answer(r);
    answer->shapes[0].is_sufficient = true;
    answer->shapes[0].dimension_count = 2;
    memcpy(answer->shapes[0].dimensions, (const uint32_t[]){2, 3}, 2 * sizeof(uint32_t));
    answer->shape_count = 1;
    return NNVTS_STATUS_NONE;
}

/** A wrong number of inputs is refused each time: too few, too many, too few. */
static void refused_again(void **state) {
    (void)state;
    static const char *const taken[] = {"execute with an input too few answered NONE",
                                        "execute with an input too many answered NONE",
                                        "execute with an input too few answered NONE"};
    const struct nnv_exec_case *c = nnv_exec_sync.cases;
    prepared.execute = fake_sync;
    while (strcmp(c->name, "after_refusal") != 0) c++;
    for (refusals = most_refusals = 0; most_refusals <= 3; refusals = 0, most_refusals++) {
        begin(WELL);
        c->run(&x);
        if (most_refusals < 3) {
            assert_failed(false, taken[most_refusals]);
            continue;
        }
        nnv_context_end(&s);
        assert_int_equal(result.verdict, NNVTS_PASS);
    }
    prepared.execute = NULL;
}

/* ---------------------------------------------------------------------- bursts */

static struct nnvts_burst bursts[2];
static int made;
static struct nnv_text told; /**< executions of a burst by its number, releases by - */

static int fd_of(const struct nnvts_request *r, const struct nnvts_argument *a) {
    return r->pools[a->location.pool].fd;
}
static off_t place_of(const struct nnvts_request *r, const struct nnvts_argument *a) {
    return (off_t)(r->pools[a->location.pool].offset + a->location.offset);
}

/** a + b, in memory without a pointer. */
static enum nnvts_status burst_execute(struct nnvts_burst *self, const struct nnvts_request *r, const int64_t *tokens,
                                       const struct nnvts_execution_config *c, struct nnvts_execution_result *answer) {
    enum { N = 6 };
    float v[2][N];
    (void)tokens, (void)c;
    nnv_text_addf(&told, " %d", (int)(self - bursts) + 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pread(fd_of(r, &r->inputs[i]), v[i], sizeof v[i], place_of(r, &r->inputs[i])), sizeof v[i]);
    for (int i = 0; i < N; i++) v[0][i] += v[1][i];
    assert_int_equal(pwrite(fd_of(r, r->outputs), v[0], sizeof v[0], place_of(r, r->outputs)), sizeof v[0]);
    answer->shapes[0].is_sufficient = true;
    answer->shapes[0].dimension_count = 2;
    memcpy(answer->shapes[0].dimensions, (const uint32_t[]){2, 3}, 2 * sizeof(uint32_t));
    answer->shape_count = 1;
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status burst_forget(struct nnvts_burst *self, int64_t token) {
    (void)self, (void)token;
    return NNVTS_STATUS_NONE;
}

static void burst_release(struct nnvts_burst *self) { nnv_text_addf(&told, " -%d", (int)(self - bursts) + 1); }

static enum nnvts_status create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    (void)self;
    assert_in_range(made, 0, 1);
    *out = &bursts[made++];
    **out = (struct nnvts_burst){sizeof **out, burst_execute, burst_forget, burst_release};
    return NNVTS_STATUS_NONE;
}

/** Two bursts in turns; the second serves on when the first one is gone, and then goes, too. */
static void two_bursts(void **state) {
    (void)state;
    struct nnvts_prepared_model p = {.struct_size = sizeof p, .execute = fake_sync, .create_burst = create_burst};
    const struct nnv_exec_case *c = nnv_exec_burst.cases;
    while (strcmp(c->name, "two_bursts") != 0) c++;
    begin(WELL);
    made = 0;
    x.prepared = &p;
    c->run(&x);
    nnv_context_end(&s);
    assert_int_equal(result.verdict, NNVTS_PASS);
    assert_string_equal(told.data, " 1 2 1 2 -1 2 -2");
    nnv_text_free(&told);
}

/* ---------------------------------------------------------------------- fences */

static void fenced(void **state) {
    (void)state;
    static const struct {
        enum way way;
        const char *reason;
    } rows[] = {
        {ENDS_WITHOUT_FENCE, "6 of 6 values wrong"},
        {NO_GET_RESULT, "without get_result"},
        {RESULT_FAILS, "answered GENERAL_FAILURE, expected NONE"},
        {LONG_TIME, "reports a time although none was asked for"},
    };
    begin(WELL);
    assert_true(nnv_exec_run(&x, &prepared, NNV_MODE_FENCED, &x.values, NULL));
    nnv_context_end(&s);
    assert_int_equal(fake.released, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].way);
        assert_failed(nnv_exec_run(&x, &prepared, NNV_MODE_FENCED, &x.values, NULL), rows[i].reason);
    }
    begin(LONG_TIME);
    struct nnvts_execution_config measured = nnv_execution_config;
    measured.measure_timing = true;
    assert_failed(nnv_exec_run(&x, &prepared, NNV_MODE_FENCED, &x.values, &measured), "by the wall clock");
}

/** The two kinds of fences are what they say before and after they are signalled. */
static void fences(void **state) {
    (void)state;
    begin(WELL);
    for (int kind = 0; kind < 2; kind++) {
        struct nnv_exec_fence f;
        assert_true(nnv_exec_fence_make(&x, kind ? NNV_EXEC_BROKEN : NNV_EXEC_EVENT, &f));
        struct nnv_exec_run run;
        assert_true(nnv_exec_make(&x, &run, &prepared, NNV_MODE_FENCED, &x.values, NULL));
        run.x.fence = (struct nnvts_fenced_execution){f.wait, NULL, fake_get_result, fake_release_fenced};
        assert_false(nnv_execution_fence_signalled(&run.x));
        nnv_exec_fence_signal(&f);
        assert_true(nnv_execution_fence_signalled(&run.x));
        if (kind) assert_failed(nnv_exec_finish(&x, &run), "reports an error");
        nnv_exec_fence_free(&f);
    }
}

/* ------------------------------------------------------------------- constants */

/** All values of the model are overwritten, and what stands behind them is not. */
static void overwritten_constants(void **state) {
    (void)state;
    enum { BYTES = 298, BEHIND = 2 };
    struct nnvts_prepared_model p = {.struct_size = sizeof p, .execute = fake_sync};
    uint8_t values[BYTES + BEHIND];
    const struct nnv_exec_case *c = nnv_exec_memory.cases;
    while (strcmp(c->name, "constants_gone") != 0) c++;
    begin(WELL);
    memset(values, 0x55, sizeof values);
    x.prepared = &p;
    x.fixture.model.operand_values = values;
    x.fixture.model.operand_values_bytes = BYTES;
    c->run(&x);
    nnv_context_end(&s);
    assert_int_equal(result.verdict, NNVTS_PASS);
    for (int i = 0; i < BYTES; i++) assert_int_equal(values[i], values[0]);
    assert_int_not_equal(values[0], 0x55);
    assert_int_equal(values[BYTES], 0x55);
    assert_int_equal(values[BYTES + 1], 0x55);
}

/* --------------------------------------------------------- a driver without times */

static enum nnvts_status (*prepare_timed)(struct nnvts_device *, const struct nnvts_model *,
                                          const struct nnvts_prepare_config *, struct nnvts_prepared_model **);
static enum nnvts_status (*execute_timed)(struct nnvts_prepared_model *, const struct nnvts_request *,
                                          const struct nnvts_execution_config *, struct nnvts_execution_result *);

static enum nnvts_status execute_untimed(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                         const struct nnvts_execution_config *c,
                                         struct nnvts_execution_result *answer) {
    const enum nnvts_status status = execute_timed(self, r, c, answer);
    answer->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    return status;
}

static enum nnvts_status prepare_untimed(struct nnvts_device *self, const struct nnvts_model *model,
                                         const struct nnvts_prepare_config *c, struct nnvts_prepared_model **out) {
    const enum nnvts_status status = prepare_timed(self, model, c, out);
    if (*out) {
        execute_timed = (*out)->execute;
        (*out)->execute = execute_untimed;
    }
    return status;
}

/** Who reports no times has not failed: that ten times the work takes longer is not asked of it. */
static void no_times(void **state) {
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    struct nnv_err err = {0};
    uint32_t phase;
    (void)state;
    nnv_client_close(&client);
    const char *path = nnv_arena_printf(arena, "%s/cpu.so", folder ? folder : "build/drivers");
    if (nnv_client_open(&client, path, NULL, &err) != NNV_OK) fail_msg("%s (make builds it)", err.text);
    prepare_timed = client.device->prepare_model;
    client.device->prepare_model = prepare_untimed;
    const struct nnv_exec_case *c = nnv_exec_timing.cases;
    while (strcmp(c->name, "grows") != 0) c++;
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = arena, .phase = &phase};
    nnv_context_begin(&s, &env, &result);
    x = (struct nnv_exec){.s = &s, .seed = 1};
    c->run(&x);
    nnv_context_end(&s);
    assert_int_equal(result.verdict, NNVTS_UNSUPPORTED);
    assert_non_null(strstr(result.reason.data, "the driver reports no times"));
    nnv_context_release(&s, x.prepared);
    client.device->prepare_model = prepare_timed;
}

/* ----------------------------------------------------------------------- names */

static void names(void **state) {
    (void)state;
    struct nnv_case_list list = {.arena = arena};
    struct nnv_err err = {0};
    assert_int_equal(nnv_suite_exec.list(&config, &list, &err), NNV_OK);
    assert_true(list.count > 200);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(strncmp(list.item[i].name, "exec/", 5), 0);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(list.item[i].name, list.item[k].name);
        if (strstr(list.item[i].name, "open_outputs"))
            assert_non_null(strstr(list.item[i].name, "/open_outputs/open_"));
    }
    free(list.item);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(times),      TEST(variants), TEST(callbacks), TEST(loud_refusal),          TEST(refused_again),
        TEST(two_bursts), TEST(fenced),   TEST(fences),    TEST(overwritten_constants), TEST(names),
        TEST(no_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
