/* SPDX-License-Identifier: Apache-2.0 */
/** The client executes in every mode, and says which rule a driver breaks in it. */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/fake_driver.h"
#include "harness/client/execute.h"
#include "harness/client/prepare.h"

static struct nnv_arena *arena;
static struct nnv_client client;
static struct nnv_request request;
static struct nnv_abi_pool pools[2];

void fake_set_rounding(void) {}

/* ------------------------------------------------------------ a driver of all modes */

static enum breaks {
    NOTHING,
    NO_OBJECT,    /**< a burst or reusable execution that is NULL */
    NO_EXECUTE,   /**< one without a required member */
    CREATE_FAILS, /**< or the launch is refused */
    CREATE_77,    /**< a status that does not exist */
    EXECUTE_ENDS_77,
    NO_CALLBACK,
    LATE_CALLBACK, /**< when it is not waited for any more */
    NO_RESULT,
    RESULT_FAILS, /**< get_result */
} breaks;

static struct nnvts_prepared_model *inner; /**< the fake driver's, which answers */
static struct nnvts_burst burst;
static struct nnvts_execution reusable;
static int released;
static int64_t token;
static uint64_t deadline;
static nnvts_execute_callback late;
static void *late_context;

static enum nnvts_status created(void) {
    return breaks == CREATE_FAILS ? NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT
           : breaks == CREATE_77  ? (enum nnvts_status)77
                                  : NNVTS_STATUS_NONE;
}

static enum nnvts_status ended(const struct nnvts_request *r, struct nnvts_execution_result *result) {
    if (breaks == EXECUTE_ENDS_77) return (enum nnvts_status)77;
    return inner->execute(inner, r, NULL, result);
}

static enum nnvts_status burst_execute(struct nnvts_burst *self, const struct nnvts_request *r, const int64_t *tokens,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    (void)self, (void)config;
    token = tokens[0];
    return ended(r, result);
}
static enum nnvts_status burst_forget(struct nnvts_burst *self, int64_t memory_token) {
    (void)self, (void)memory_token;
    return NNVTS_STATUS_NONE;
}
static void burst_release(struct nnvts_burst *self) {
    (void)self;
    released++;
}
static enum nnvts_status create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    (void)self;
    burst = (struct nnvts_burst){sizeof burst, burst_execute, burst_forget, burst_release};
    if (breaks == NO_EXECUTE) burst.release_memory = NULL;
    if (breaks != NO_OBJECT) *out = &burst;
    return created();
}

static enum nnvts_status reusable_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                          struct nnvts_execution_result *result) {
    (void)self;
    deadline = deadline_ns;
    return ended(&request.abi, result);
}
static void reusable_release(struct nnvts_execution *self) {
    (void)self;
    released++;
}
static enum nnvts_status create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                          const struct nnvts_execution_config *config, struct nnvts_execution **out) {
    (void)self, (void)r;
    assert_true(config->deadline_ns == NNVTS_NO_TIME);
    reusable = (struct nnvts_execution){sizeof reusable, reusable_execute, reusable_release};
    if (breaks == NO_EXECUTE) reusable.execute = NULL;
    if (breaks != NO_OBJECT) *out = &reusable;
    return created();
}

static enum nnvts_status execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                       const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                       void *context) {
    uint32_t dims[NNV_MAX_RANK];
    struct nnvts_output_shape shape = {.dimension_count = NNV_MAX_RANK, .dimensions = dims};
    struct nnvts_execution_result result = {.shapes = &shape, .timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    (void)self, (void)config;
    late = callback;
    late_context = context;
    if (created() != NNVTS_STATUS_NONE || breaks == NO_CALLBACK || breaks == LATE_CALLBACK) return created();
    const enum nnvts_status status = ended(r, &result);
    callback(context, status, breaks == NO_RESULT ? NULL : &result);
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status get_result(void *context, struct nnvts_fenced_result *r) {
    const struct nnvts_timing none = {NNVTS_NO_TIME, NNVTS_NO_TIME};
    (void)context;
    *r =
        (struct nnvts_fenced_result){breaks == EXECUTE_ENDS_77 ? (enum nnvts_status)77 : NNVTS_STATUS_NONE, none, none};
    return breaks == RESULT_FAILS ? NNVTS_STATUS_GENERAL_FAILURE : NNVTS_STATUS_NONE;
}
static void release_fenced(void *context) {
    (void)context;
    released++;
}
static enum nnvts_status execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                        const int *wait_for, uint32_t count,
                                        const struct nnvts_execution_config *config, uint64_t duration_ns,
                                        struct nnvts_fenced_execution *out) {
    struct nnvts_execution_result unused = request.result;
    (void)self, (void)wait_for, (void)count, (void)config, (void)duration_ns;
    if (created() != NNVTS_STATUS_NONE) return created();
    inner->execute(inner, r, NULL, &unused);
    *out = (struct nnvts_fenced_execution){-1, NULL, get_result, breaks == NO_EXECUTE ? NULL : release_fenced};
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status execute_sync(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                      const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    (void)self, (void)config;
    return ended(r, result);
}

static void release_prepared(struct nnvts_prepared_model *self) { (void)self; }

static struct nnvts_prepared_model prepared = {.struct_size = sizeof prepared,
                                               .execute = execute_sync,
                                               .execute_async = execute_async,
                                               .execute_fenced = execute_fenced,
                                               .create_burst = create_burst,
                                               .create_execution = create_execution,
                                               .release = release_prepared};

/* --------------------------------------------------------------------- fixture */

static int set_up(void **state) {
    struct nnv_err err = {0};
    (void)state;
    arena = nnv_arena_new();
    fake_start(&client, 7);
    released = 0;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    const struct nnvts_model none = {0};
    if (client.device->prepare_model(client.device, &none, &nnv_prepare_config, &inner) != NNVTS_STATUS_NONE) return -1;
    if (nnv_request_init(&request, &spec->model, spec->inputs, spec->outputs, arena, &err) != NNV_OK) return -1;
    for (int i = 0; i < 2; i++)
        if (nnv_abi_pool_make(request.bytes[i], NNV_POOL_WRITABLE, &pools[i], &err) != NNV_OK) return -1;
    nnv_request_place(&request, &pools[0], &pools[1]);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) nnv_abi_pool_free(&pools[i]);
    nnv_client_close(&client);
    nnv_arena_free(arena);
    return 0;
}

static struct nnv_execution begin(enum nnv_mode mode, enum breaks what) {
    breaks = what;
    nnv_request_reset(&request);
    struct nnv_execution x = nnv_execution_make(mode, &prepared, &request);
    x.patience_ns = 20000000;
    return x;
}

/* ----------------------------------------------------------------------- tests */

/** What the driver gave out is released once, and is opened for several executions. */
static void every_mode(void **state) {
    (void)state;
    for (int mode = 0; mode < NNV_MODES; mode++) {
        struct nnv_execution x = begin((enum nnv_mode)mode, NOTHING);
        const bool one_object = mode == NNV_MODE_BURST || mode == NNV_MODE_REUSABLE;
        const int before = released;
        assert_true(nnv_mode_offered(&prepared, x.mode));
        for (int i = 0; i < 3; i++) {
            nnv_request_reset(&request);
            x.config.deadline_ns = 1000 + (uint64_t)i;
            if (!nnv_execute(&x)) fail_msg("%s: %s %s", nnv_mode_name(x.mode), x.call, x.breach.text);
            assert_int_equal(x.status, NNVTS_STATUS_NONE);
            assert_memory_equal(request.output_at[0], fake.answer, 24);
            assert_true(nnv_verify_memory(&request, &x.breach));
            assert_true(nnv_verify_shapes(&request, x.status, &x.breach));
            assert_true(nnv_verify_written(&request, &x.breach));
        }
        if (mode == NNV_MODE_ASYNC) assert_int_equal(nnv_execution_callbacks(&x), 1);
        nnv_execution_close(&x);
        assert_int_equal(released - before, one_object ? 1 : mode == NNV_MODE_FENCED ? 3 : 0);
    }
    assert_int_equal(token, -1);
    assert_int_equal(deadline, 1002);
}

/** A fence that nobody has closed before the next launch is released nevertheless. */
static void launched_again(void **state) {
    (void)state;
    struct nnv_execution x = begin(NNV_MODE_FENCED, NOTHING);
    const int before = released;
    for (int i = 0; i < 3; i++) assert_true(nnv_execution_launch(&x) && nnv_execution_wait(&x));
    nnv_execution_close(&x);
    assert_int_equal(released - before, 3);
}

static void breaches(void **state) {
    (void)state;
    static const struct {
        enum nnv_mode mode;
        enum breaks what;
        enum nnv_breach_kind kind;
        const char *call, *text;
    } rows[] = {
        {NNV_MODE_SYNC, EXECUTE_ENDS_77, NNV_BREACH_STATUS, "execute", "status 77"},
        {NNV_MODE_BURST, NO_OBJECT, NNV_BREACH_OBJECT, "create_burst", "without a burst"},
        {NNV_MODE_BURST, NO_EXECUTE, NNV_BREACH_OBJECT, "create_burst", "all required members"},
        {NNV_MODE_BURST, CREATE_77, NNV_BREACH_STATUS, "create_burst", "status 77"},
        {NNV_MODE_BURST, EXECUTE_ENDS_77, NNV_BREACH_STATUS, "execute of a burst", "status 77"},
        {NNV_MODE_REUSABLE, NO_OBJECT, NNV_BREACH_OBJECT, "create_execution", "without an execution"},
        {NNV_MODE_REUSABLE, NO_EXECUTE, NNV_BREACH_OBJECT, "create_execution", "all required members"},
        {NNV_MODE_REUSABLE, EXECUTE_ENDS_77, NNV_BREACH_STATUS, "execute of a reusable execution", "status 77"},
        {NNV_MODE_ASYNC, CREATE_77, NNV_BREACH_STATUS, "execute_async", "status 77"},
        {NNV_MODE_ASYNC, EXECUTE_ENDS_77, NNV_BREACH_STATUS, "the callback of execute_async", "status 77"},
        {NNV_MODE_ASYNC, NO_RESULT, NNV_BREACH_CALLBACK, "the callback of execute_async", "without a result"},
        {NNV_MODE_ASYNC, NO_CALLBACK, NNV_BREACH_CALLBACK, "the callback of execute_async", "never came"},
        {NNV_MODE_FENCED, NO_EXECUTE, NNV_BREACH_OBJECT, "execute_fenced", "get_result, release"},
        {NNV_MODE_FENCED, EXECUTE_ENDS_77, NNV_BREACH_STATUS, "a fenced execution", "status 77"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_execution x = begin(rows[i].mode, rows[i].what);
        if (nnv_execute(&x) || x.breach.kind != rows[i].kind || strcmp(x.call, rows[i].call) != 0 ||
            !strstr(x.breach.text, rows[i].text))
            fail_msg("row %zu: kind %d, '%s %s'", i, x.breach.kind, x.call, x.breach.text);
        nnv_execution_close(&x);
    }
}

/** Another status than NONE breaks no rule: it is told with the call that answered it. */
static void refusals(void **state) {
    (void)state;
    static const struct {
        enum nnv_mode mode;
        enum breaks what;
        const char *call;
    } rows[] = {
        {NNV_MODE_BURST, CREATE_FAILS, "create_burst"},
        {NNV_MODE_REUSABLE, CREATE_FAILS, "create_execution"},
        {NNV_MODE_ASYNC, CREATE_FAILS, "execute_async"},
        {NNV_MODE_FENCED, CREATE_FAILS, "execute_fenced"},
        {NNV_MODE_FENCED, RESULT_FAILS, "get_result of a fenced execution"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_execution x = begin(rows[i].mode, rows[i].what);
        assert_false(nnv_execute(&x));
        assert_int_equal(x.breach.kind, NNV_BREACH_NONE);
        assert_string_equal(x.call, rows[i].call);
        assert_int_not_equal(x.status, NNVTS_STATUS_NONE);
        assert_false(x.launched);
        nnv_execution_close(&x);
    }
    breaks = NOTHING;
    fake.fault = EXECUTE_FAILS;
    struct nnv_execution x = nnv_execution_make(NNV_MODE_SYNC, &prepared, &request);
    assert_true(nnv_execute(&x)); /* it ended, with that status */
    assert_int_equal(x.status, NNVTS_STATUS_GENERAL_FAILURE);
}

/** A callback that comes when nobody waits for it any more changes nothing. */
static void late_callbacks(void **state) {
    (void)state;
    struct nnvts_execution_result result = {.shape_count = 7, .timing = {1, 2}};
    struct nnv_execution x = begin(NNV_MODE_ASYNC, LATE_CALLBACK);
    assert_false(nnv_execute(&x));
    nnv_execution_close(&x);
    late(late_context, NNVTS_STATUS_DEVICE_UNAVAILABLE, &result);
    assert_int_equal(request.result.shape_count, 0);
    assert_int_not_equal(x.status, NNVTS_STATUS_DEVICE_UNAVAILABLE);
    assert_int_equal(nnv_execution_callbacks(&x), 1);
}

/** What a prepared model must be is the same whoever asks. */
static void preparations(void **state) {
    (void)state;
    static const struct {
        enum fault fault;
        const char *text;
    } rows[] = {
        {PREPARE_NOTHING, "answered NONE without a prepared model"},
        {PREPARE_FAILS_WITH_MODEL, "answered GENERAL_FAILURE and a prepared model"},
        {PREPARE_SMALL, "without all required members"},
        {PREPARE_NO_EXECUTE, "it has no execute"},
        {PREPARE_77, "status 77"},
        {PREPARE_FAILS, ""},
    };
    struct nnvts_model model = {.main = {.operation_count = 1}};
    uint32_t phase = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_preparation p = {.device = client.device, .abi = &model, .phase = &phase};
        fake.fault = rows[i].fault;
        assert_true(nnv_ask_supported(&p, arena));
        assert_int_equal(phase, NNV_PHASE_SUPPORTED);
        assert_false(nnv_prepare(&p));
        assert_int_equal(phase, NNV_PHASE_PREPARE);
        assert_null(p.prepared);
        if (!strstr(p.breach.text, rows[i].text)) fail_msg("'%s', expected '%s'", p.breach.text, rows[i].text);
        assert_int_equal(p.breach.kind == NNV_BREACH_NONE, rows[i].text[0] == 0);
    }
}

/** Pools are what their kind says, in the file that they name. */
static void pools_of_each_kind(void **state) {
    (void)state;
    struct nnv_err err = {0};
    for (int kind = 0; kind <= NNV_POOL_FD_ONLY; kind++) {
        struct nnv_abi_pool p;
        uint8_t byte = 0;
        assert_int_equal(nnv_abi_pool_make(100, (enum nnv_pool_kind)kind, &p, &err), NNV_OK);
        assert_int_equal(p.memory.size, 100);
        assert_int_equal(p.memory.data == NULL, kind == NNV_POOL_FD_ONLY);
        assert_int_equal(p.memory.data == p.data, kind == NNV_POOL_WRITABLE);
        assert_int_equal((p.memory.prot & NNVTS_PROT_WRITE) != 0, kind == NNV_POOL_WRITABLE);
        p.data[99] = 42;
        if (p.memory.data) assert_int_equal(((uint8_t *)p.memory.data)[99], 42);
        assert_int_equal(pread(p.memory.fd, &byte, 1, 99), 1);
        assert_int_equal(byte, 42);
        assert_int_not_equal(ftruncate(p.memory.fd, 10), 0); /* whoever maps it need not fear that it shrinks */
        nnv_abi_pool_free(&p);
        assert_null(p.data);
    }
    assert_int_not_equal(nnv_abi_pool_make(SIZE_MAX - 4096, NNV_POOL_WRITABLE, &pools[0], &err), NNV_OK);
}

static bool is_mapped(uint8_t *at) {
    unsigned char resident;
    return mincore(at, 1, &resident) == 0;
}

/** The memory of a pool that is closed stays mapped until it is said, whatever mappings the pool had. */
static void closed_pools_are_mapped_until_unmap(void **state) {
    (void)state;
    struct nnv_err err = {0};
    for (int kind = 0; kind <= NNV_POOL_FD_ONLY; kind++) {
        struct nnv_mapped mapped = {0};
        struct nnv_abi_pool p;
        assert_int_equal(nnv_abi_pool_make(100, (enum nnv_pool_kind)kind, &p, &err), NNV_OK);
        uint8_t *data = p.data;
        nnv_abi_pool_close(&p, &mapped);
        assert_null(p.data);
        assert_true(is_mapped(data));
        nnv_unmap(&mapped);
        if (!in_emulator()) assert_false(is_mapped(data)); /* which may keep the room for itself */
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_mode),     TEST(launched_again), TEST(breaches),           TEST(refusals),
        TEST(late_callbacks), TEST(preparations),   TEST(pools_of_each_kind), TEST(closed_pools_are_mapped_until_unmap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
