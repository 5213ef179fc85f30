/* SPDX-License-Identifier: Apache-2.0 */
/* ANeuralNetworksCompilation_*: result codes, the three policiesand fallback. */
#include <stdio.h>

#include "base/clock.h"
#include "reference/runtime/api/compilation.h"
#include "tests/kit/toy.h"

#define OK ANEURALNETWORKS_NO_ERROR
#define BAD ANEURALNETWORKS_BAD_DATA
#define STATE ANEURALNETWORKS_BAD_STATE
#define IS_NULL ANEURALNETWORKS_UNEXPECTED_NULL

static struct toy_device a, b;
static const uint8_t token[32] = {1, 2, 3};

/** x + y, and its product with y: two outputs where wanted. Freed by the caller. */
static ANeuralNetworksModel *new_model(void) {
    static const uint32_t four = 4;
    const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, &four, 0, 0};
    const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
    const int32_t none = 0;
    ANeuralNetworksModel *m = NULL;
    assert_int_equal(ANeuralNetworksModel_create(&m), OK);
    for (int i = 0; i < 4; i++) assert_int_equal(ANeuralNetworksModel_addOperand(m, &tensor), OK);
    assert_int_equal(ANeuralNetworksModel_addOperand(m, &scalar), OK);
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, 4, &none, sizeof none), OK);
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, (const uint32_t[]){0, 1, 4}, 1,
                                                       (const uint32_t[]){2}),
                     OK);
    assert_int_equal(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MUL, 3, (const uint32_t[]){2, 1, 4}, 1,
                                                       (const uint32_t[]){3}),
                     OK);
    assert_int_equal(
        ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (const uint32_t[]){0, 1}, 1, (const uint32_t[]){3}), OK);
    return m;
}

static ANeuralNetworksModel *model;

/** Drivers a (additions) and b (all else), both better than the CPU. */
static int set_up(void **state) {
    (void)state;
    toy_device(&a, "a", 0.5f, 0.5f);
    toy_device(&b, "b", 0.6f, 0.6f);
    toy_supports_only(&a, (const int32_t[]){ANEURALNETWORKS_ADD, -1});
    setenv("NNVTS_LOG", "0", 1);
    unsetenv("NNVTS_PARTITIONING");
    nnv_rt_device_override((struct nnvts_device *[]){&a.driver, &b.driver}, 2);
    model = new_model();
    assert_int_equal(ANeuralNetworksModel_finish(model), OK);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ANeuralNetworksModel_free(model);
    assert_int_equal(a.living, 0);
    assert_int_equal(b.living, 0);
    return 0;
}

static ANeuralNetworksCompilation *new_compilation(void) {
    ANeuralNetworksCompilation *c = NULL;
    assert_int_equal(ANeuralNetworksCompilation_create(model, &c), OK);
    return c;
}

/** For these of the devices: bit i for device i. */
static ANeuralNetworksCompilation *new_for(unsigned which) {
    const ANeuralNetworksDevice *devices[3];
    uint32_t n = 0;
    ANeuralNetworksCompilation *c = NULL;
    for (uint32_t i = 0; i < 3; i++)
        if (which & 1u << i) devices[n++] = nnv_rt_device_at(i);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, devices, n, &c), OK);
    return c;
}

/* ----------------------------------------------------------------- creation */

static void test_create(void **state) {
    (void)state;
    ANeuralNetworksCompilation *c = (ANeuralNetworksCompilation *)model;
    assert_int_equal(ANeuralNetworksCompilation_create(NULL, &c), IS_NULL);
    assert_null(c);
    assert_int_equal(ANeuralNetworksCompilation_create(model, NULL), IS_NULL);
    ANeuralNetworksModel *unfinished = new_model();
    assert_int_equal(ANeuralNetworksCompilation_create(unfinished, &c), STATE);
    assert_null(c);
    ANeuralNetworksModel_free(unfinished);
    ANeuralNetworksCompilation_free(NULL);
    c = new_compilation();
    assert_int_equal(c->device_count, 3);
    assert_false(c->explicit_devices);
    ANeuralNetworksCompilation_free(c);
}

static void test_create_for_devices(void **state) {
    (void)state;
    ANeuralNetworksCompilation *c = NULL;
    struct toy_device other;
    const ANeuralNetworksDevice *devices[] = {nnv_rt_device_at(0), nnv_rt_device_at(1), nnv_rt_device_at(0), NULL,
                                              toy_device(&other, "other", 1, 1)};
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(NULL, devices, 1, &c), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, NULL, 1, &c), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, devices, 1, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, devices, 0, &c), BAD);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, devices, 3, &c), BAD);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, devices + 2, 2, &c), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, devices + 4, 1, &c), BAD);
    assert_null(c);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(model, devices, 2, &c), OK);
    assert_true(c->explicit_devices);
    ANeuralNetworksCompilation_free(c);
}

/* ----------------------------------------------------------------- settings */

static void test_settings(void **state) {
    (void)state;
    ANeuralNetworksCompilation *c = new_for(1), *two = new_for(3), *open = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_setPreference(NULL, 0), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_setPreference(c, 3), BAD);
    assert_int_equal(ANeuralNetworksCompilation_setPreference(c, 2), OK);
    assert_int_equal(ANeuralNetworksCompilation_setPriority(NULL, 90), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_setPriority(c, 91), BAD);
    assert_int_equal(ANeuralNetworksCompilation_setPriority(c, 110), OK);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(NULL, 1), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(two, 1), BAD);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(open, 1), BAD);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(c, 1000), OK);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(c, 0), OK);
    assert_int_equal(ANeuralNetworksCompilation_setCaching(NULL, "x", token), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_setCaching(c, NULL, token), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_setCaching(c, "x", NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_setCaching(c, "x", token), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_finish(two), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(two), STATE);
    assert_int_equal(ANeuralNetworksCompilation_setPreference(two, 2), STATE);
    assert_int_equal(ANeuralNetworksCompilation_setPriority(two, 90), STATE);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(two, 1), STATE);
    assert_int_equal(ANeuralNetworksCompilation_setCaching(two, "x", token), STATE);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(two);
    ANeuralNetworksCompilation_free(open);
}

static void test_attributes(void **state) {
    (void)state;
    static const struct nnvts_extension extension = {"org.example", 0, NULL};
    static const uint8_t data[4] = {1};
    a.driver.extension_count = 1;
    a.driver.extensions = &extension;
    ANeuralNetworksCompilation *c = new_for(1), *open = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(NULL, "org.example", 1, data, 4), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(c, NULL, 1, data, 4), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(c, "org.example", 1, NULL, 4), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(open, "org.example", 1, data, 4), BAD);
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(c, "org.other", 1, data, 4), BAD);
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(c, "org.example", 1, data, 4), OK);
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(c, "org.example", 1, data, 4), BAD);
    assert_int_equal(ANeuralNetworksCompilation_addExtensionAttribute(c, "org.example", 2, data, 4), OK);
    assert_int_equal(c->attribute_count, 2);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(open);
}

/* ------------------------------------------------------------------- finish */

static void test_partitioned(void **state) {
    (void)state;
    ANeuralNetworksCompilation *c = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_setPreference(c, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED), OK);
    assert_int_equal(ANeuralNetworksCompilation_setPriority(c, ANEURALNETWORKS_PRIORITY_HIGH), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(c);
    assert_non_null(plan);
    assert_false(plan->simple);
    assert_int_equal(plan->graphs[0].step_count, 2);
    assert_int_equal(a.prepared, 1);
    assert_int_equal(b.prepared, 1);
    assert_int_equal(a.config.preference, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED);
    assert_int_equal(a.config.priority, NNVTS_PRIORITY_HIGH);
    assert_true(a.config.deadline_ns == NNVTS_NO_TIME);
    assert_false(a.had_cache);
    ANeuralNetworksCompilation_free(c);
}

/** What a step's driver answers: with a fallback, all goes to the CPU; without, it is reported. */
static void test_prepare_fails(void **state) {
    (void)state;
    static const struct {
        enum nnvts_status status;
        int result;
    } rows[] = {
        {NNVTS_STATUS_GENERAL_FAILURE, ANEURALNETWORKS_OP_FAILED},
        {NNVTS_STATUS_INVALID_ARGUMENT, BAD},
        {NNVTS_STATUS_DEVICE_UNAVAILABLE, ANEURALNETWORKS_UNAVAILABLE_DEVICE},
        {NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT},
        {(enum nnvts_status)77, ANEURALNETWORKS_OP_FAILED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        b.prepare_status = rows[i].status;
        ANeuralNetworksCompilation *c = new_compilation();
        assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
        assert_true(c->plan->simple && c->plan->on_cpu);
        ANeuralNetworksCompilation_free(c);
        c = new_for(3);
        assert_int_equal(ANeuralNetworksCompilation_finish(c), rows[i].result);
        assert_null(nnv_rt_compilation_plan(c));
        ANeuralNetworksCompilation_free(c);
        setenv("NNVTS_PARTITIONING", "strict", 1);
        c = new_compilation();
        assert_int_equal(ANeuralNetworksCompilation_finish(c), rows[i].result);
        ANeuralNetworksCompilation_free(c);
        unsetenv("NNVTS_PARTITIONING");
    }
}

static void test_prepare_gives_nothing(void **state) {
    (void)state;
    b.answers_nothing = true;
    ANeuralNetworksCompilation *c = new_for(3);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), ANEURALNETWORKS_OP_FAILED);
    ANeuralNetworksCompilation_free(c);
}

static void test_policies(void **state) {
    (void)state;
    ANeuralNetworksCompilation *c;
    setenv("NNVTS_PARTITIONING", "none", 1);
    assert_int_equal(nnv_rt_partitioning(), NNV_RT_PARTITION_NONE);
    c = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_true(c->plan->simple && c->plan->on_cpu);
    assert_false(c->fallback);
    assert_int_equal(a.asked + b.asked, 0);
    ANeuralNetworksCompilation_free(c);
    /* It does not concern devices that the application names. */
    c = new_for(3);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_false(c->plan->simple);
    ANeuralNetworksCompilation_free(c);
    setenv("NNVTS_PARTITIONING", "fallback", 1);
    c = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_true(c->fallback);
    assert_false(c->plan->simple);
    ANeuralNetworksCompilation_free(c);
    setenv("NNVTS_PARTITIONING", "sometimes", 1);
    assert_int_equal(nnv_rt_partitioning(), NNV_RT_PARTITION_WITH_FALLBACK);
    unsetenv("NNVTS_PARTITIONING");
    c = new_for(3);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_false(c->fallback);
    ANeuralNetworksCompilation_free(c);
}

/** a alone does not multiply; an operation without a device is BAD_DATA, whatever the policy. */
static void test_no_device(void **state) {
    (void)state;
    ANeuralNetworksCompilation *c = new_for(1);
    uint32_t alignment;
    assert_int_equal(ANeuralNetworksCompilation_finish(c), BAD);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), STATE);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 0, &alignment), STATE);
    ANeuralNetworksCompilation_free(c);
}

static void test_dead_devices(void **state) {
    (void)state;
    struct ANeuralNetworksDevice *first = nnv_rt_device_at(0);
    atomic_store(&first->dead, true);
    a.status = NNVTS_DEVICE_OFFLINE;
    ANeuralNetworksCompilation *c = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_int_equal(a.asked, 0);
    assert_true(c->plan->simple);
    ANeuralNetworksCompilation_free(c);
    a.status = NNVTS_DEVICE_AVAILABLE;
    c = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_int_equal(a.asked, 1);
    assert_false(atomic_load(&first->dead));
    ANeuralNetworksCompilation_free(c);
    /* One that dies while it compiles is left out from then on. */
    a.prepare_status = NNVTS_STATUS_DEAD_OBJECT;
    c = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_true(c->plan->on_cpu);
    assert_true(atomic_load(&first->dead));
    ANeuralNetworksCompilation_free(c);
}

static void test_deadlines(void **state) {
    (void)state;
    toy_supports_only(&a, (const int32_t[]){ANEURALNETWORKS_ADD, ANEURALNETWORKS_MUL, -1});
    ANeuralNetworksCompilation *c = new_for(1);
    uint64_t now = nnv_now_ns();
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(c, UINT64_C(60000000000)), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_true(a.config.deadline_ns >= now + UINT64_C(60000000000));
    assert_true(a.config.deadline_ns <= nnv_now_ns() + UINT64_C(60000000000));
    ANeuralNetworksCompilation_free(c);
    c = new_for(1);
    a.prepared = 0;
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(c, 1), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT);
    assert_int_equal(a.prepared, 0);
    ANeuralNetworksCompilation_free(c);
    c = new_for(1);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(c, UINT64_MAX), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_true(a.config.deadline_ns == NNVTS_NO_TIME);
    ANeuralNetworksCompilation_free(c);
    /* A driver below level 4 knows neither deadlines nor priorities. */
    nnv_rt_device_at(0)->driver_level = 3;
    c = new_for(1);
    assert_int_equal(ANeuralNetworksCompilation_setTimeout(c, UINT64_C(60000000000)), OK);
    assert_int_equal(ANeuralNetworksCompilation_setPriority(c, ANEURALNETWORKS_PRIORITY_LOW), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_true(a.config.deadline_ns == NNVTS_NO_TIME);
    assert_int_equal(a.config.priority, NNVTS_PRIORITY_MEDIUM);
    ANeuralNetworksCompilation_free(c);
}

/* ------------------------------------------------------------ once finished */

static void test_preferred_memory(void **state) {
    (void)state;
    uint32_t v = 0;
    ANeuralNetworksCompilation *c = new_compilation();
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 0, &v), STATE);
    nnv_rt_device_at(0)->driver_level = 4;
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(NULL, 0, &v), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 0, NULL), IS_NULL);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 2, &v), BAD);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(c, 1, &v), BAD);
    /* Input 0 is read by a (level 4), input 1 by a and b (level 8), the output is written by b. */
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 0, &v), OK);
    assert_int_equal(v, 64);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 0, &v), OK);
    assert_int_equal(v, 1);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 1, &v), OK);
    assert_int_equal(v, 64);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(c, 0, &v), OK);
    assert_int_equal(v, 64);
    assert_int_equal(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 0, &v), OK);
    assert_int_equal(v, 64);
    ANeuralNetworksCompilation_free(c);
}

static void test_cpu_plan_and_steps(void **state) {
    (void)state;
    ANeuralNetworksCompilation *c = new_compilation();
    const struct nnv_rt_plan *plan = NULL, *again = NULL;
    struct nnvts_prepared_model *first = NULL, *second = NULL, *same = NULL;
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_int_equal(nnv_rt_compilation_cpu_plan(c, &plan), OK);
    assert_int_equal(nnv_rt_compilation_cpu_plan(c, &again), OK);
    assert_ptr_equal(plan, again);
    assert_true(plan->simple && plan->on_cpu);
    assert_non_null(plan->graphs[0].steps[0].prepared);
    assert_int_equal(nnv_rt_compilation_cpu_step(c, &c->plan->graphs[0].steps[0], &first), OK);
    assert_int_equal(nnv_rt_compilation_cpu_step(c, &c->plan->graphs[0].steps[1], &second), OK);
    assert_int_equal(nnv_rt_compilation_cpu_step(c, &c->plan->graphs[0].steps[0], &same), OK);
    assert_ptr_equal(first, same);
    assert_ptr_not_equal(first, second);
    ANeuralNetworksCompilation_free(c);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_create),
        TEST(test_create_for_devices),
        TEST(test_settings),
        TEST(test_attributes),
        TEST(test_partitioned),
        TEST(test_prepare_fails),
        TEST(test_policies),
        TEST(test_prepare_gives_nothing),
        TEST(test_no_device),
        TEST(test_dead_devices),
        TEST(test_deadlines),
        TEST(test_preferred_memory),
        TEST(test_cpu_plan_and_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
