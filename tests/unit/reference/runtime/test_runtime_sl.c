/* SPDX-License-Identifier: Apache-2.0 */
/* The Support Library's table: its layout, and what only a Support Library is asked. */
#include "tests/kit/runtime_api.h"
#include "tests/kit/toy.h"

#include <sys/mman.h>
#include <unistd.h>

#include "NeuralNetworksSupportLibraryImpl.h"
#include "base/clock.h"
#include "reference/runtime/api/sl_diag.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    BAD = ANEURALNETWORKS_BAD_DATA,
    IS_NULL = ANEURALNETWORKS_UNEXPECTED_NULL,
    F32 = ANEURALNETWORKS_TENSOR_FLOAT32,
};

static NnApiSLDriverImplFL8 *table(void) { return (NnApiSLDriverImplFL8 *)(void *)ANeuralNetworks_getSLDriverImpl(); }

static int forget_devices(void **state) {
    (void)state;
    table()->base.SL_ANeuralNetworksDiagnostic_registerCallbacks(NULL, NULL, NULL);
    nnv_rt_device_override(NULL, 0);
    return 0;
}

/* Members by their place, counted from 1, which is what a loader that was built elsewhere relies on. */
static void layout(void **state) {
    (void)state;
#define PLACE(name, place) assert_int_equal(offsetof(NnApiSLDriverImplFL5, name), 8 + sizeof(void *) * ((place)-1))
    PLACE(ANeuralNetworksBurst_create, 1);
    PLACE(ANeuralNetworksCompilation_setTimeout, 13);
    PLACE(ANeuralNetworksDevice_getExtensionSupport, 14);
    PLACE(ANeuralNetworksEvent_wait, 23);
    PLACE(ANeuralNetworksExecution_startComputeWithDependencies, 40);
    PLACE(ANeuralNetworksMemory_free, 51);
    PLACE(ANeuralNetworksModel_setOperandValueFromModel, 66);
    PLACE(ANeuralNetworks_getRuntimeFeatureLevel, 71);
    PLACE(SL_ANeuralNetworksCompilation_setCachingFromFds, 72);
    PLACE(SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation, 78);
    PLACE(SL_ANeuralNetworksDiagnosticCompilationInfo_getSessionId, 79);
    PLACE(SL_ANeuralNetworksDiagnosticCompilationInfo_areDynamicTensorsUsed, 89);
    PLACE(SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode, 94);
    PLACE(SL_ANeuralNetworksDiagnosticExecutionInfo_areDynamicTensorsUsed, 103);
    PLACE(SL_ANeuralNetworksDiagnostic_registerCallbacks, 104);
    assert_int_equal(sizeof(NnApiSLDriverImplFL5), 8 + sizeof(void *) * 104);
    assert_int_equal(sizeof(NnApiSLDriverImplFL8), 8 + sizeof(void *) * 106);
    assert_int_equal(sizeof(SL_ANeuralNetworksOperandPerformanceInfo), 12);
    assert_int_equal(sizeof(SL_ANeuralNetworksExtensionOperandTypeInformation), 8);
    assert_int_equal(table()->base.base.implFeatureLevel, 1000008);
    void *const *members = (void *const *)(void *)((const char *)table() + 8);
    for (int i = 0; i < 106; i++)
        if (!members[i]) fail_msg("member %d is missing", i + 1);
    assert_true(table()->base.ANeuralNetworksModel_create == ANeuralNetworksModel_create);
    assert_ptr_equal(table(), table());
}

/* ------------------------------------------------------------------------ devices */

static SL_ANeuralNetworksOperandPerformanceInfo seen[4];
static SL_ANeuralNetworksExtensionOperandTypeInformation types[4];
static int count;

static void note_performance(SL_ANeuralNetworksOperandPerformanceInfo info, void *context) {
    assert_ptr_equal(context, &count);
    seen[count++] = info;
}

static void note_type(SL_ANeuralNetworksExtensionOperandTypeInformation info, void *context) {
    assert_ptr_equal(context, &count);
    types[count++] = info;
}

static void devices(void **state) {
    (void)state;
    static const struct nnvts_operand_performance performance[] = {{0, {2, 3}}, {3, {4, 5}}};
    static const struct nnvts_extension_operand_type operand_types[] = {{3, true, 2}, {9, false, 12}};
    static const struct nnvts_extension extensions[] = {{"com.acme.a", 0, NULL}, {"com.acme.b", 2, operand_types}};
    struct toy_device f = toy_driver("npu", 7);
    f.driver.capabilities = (struct nnvts_capabilities){{1, 2}, {3, 4}, {5, 6}, {7, 8}, 2, performance};
    f.driver.extension_count = 2;
    f.driver.extensions = extensions;
    f.driver.model_cache_files = 2;
    f.driver.data_cache_files = 1;
    nnv_rt_device_override((struct nnvts_device *[]){&f.driver}, 1);
    const ANeuralNetworksDevice *d = nnv_rt_device_at(0);
    const NnApiSLDriverImplFL5 *t = &table()->base;

    uint32_t model = 9, data = 9, extension_count = 9;
    assert_int_equal(t->SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(d, &model, &data), OK);
    assert_int_equal(model, 2);
    assert_int_equal(data, 1);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(NULL, &model, &data), IS_NULL);
    for (int kind = 0; kind < 4; kind++) {
        SL_ANeuralNetworksPerformanceInfo info;
        assert_int_equal(t->SL_ANeuralNetworksDevice_getPerformanceInfo(d, kind, &info), OK);
        assert_true(info.execTime == (float)(2 * kind + 1) && info.powerUsage == (float)(2 * kind + 2));
    }
    SL_ANeuralNetworksPerformanceInfo info;
    assert_int_equal(t->SL_ANeuralNetworksDevice_getPerformanceInfo(d, 4, &info), BAD);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getPerformanceInfo(d, -1, &info), BAD);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getPerformanceInfo(d, 0, NULL), IS_NULL);
    count = 0;
    assert_int_equal(t->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d, &count, note_performance), OK);
    assert_int_equal(count, 2);
    assert_int_equal(seen[1].operandType, 3);
    assert_true(seen[1].performanceInfo.execTime == 4 && seen[1].performanceInfo.powerUsage == 5);
    assert_int_equal(t->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(d, &count, NULL), IS_NULL);

    const char *name = NULL;
    assert_int_equal(t->SL_ANeuralNetworksDevice_getVendorExtensionCount(d, &extension_count), OK);
    assert_int_equal(extension_count, 2);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getVendorExtensionName(d, 1, &name), OK);
    assert_string_equal(name, "com.acme.b");
    assert_int_equal(t->SL_ANeuralNetworksDevice_getVendorExtensionName(d, 2, &name), BAD);
    count = 0;
    assert_int_equal(t->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d, 1, &count, note_type),
                     OK);
    assert_int_equal(count, 2);
    assert_true(types[0].isTensor && types[0].byteSize == 2 && types[0].type == 3);
    assert_true(!types[1].isTensor && types[1].byteSize == 12 && types[1].type == 9);
    assert_int_equal(t->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d, 2, &count, note_type),
                     BAD);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getVendorExtensionCount(NULL, &extension_count), IS_NULL);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getVendorExtensionCount(d, NULL), IS_NULL);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getVendorExtensionName(NULL, 1, &name), IS_NULL);
    assert_int_equal(t->SL_ANeuralNetworksDevice_getVendorExtensionName(d, 1, NULL), IS_NULL);
    assert_int_equal(
        t->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(NULL, 1, &count, note_type), IS_NULL);
    assert_int_equal(t->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(d, 1, &count, NULL),
                     IS_NULL);
}

/* -------------------------------------------------------------------- diagnostics */

/* What the callbacks were told. */
struct told {
    unsigned compiled, executed;
    int32_t session, error;
    int64_t version;
    uint8_t hash[32];
    char ids[64];
    int input, output, mode;
    bool caching, control_flow, dynamic;
    uint64_t time_ns, driver_ns, hardware_ns;
};

#define TAKE(Kind, info)                                                                                               \
    do {                                                                                                               \
        const NnApiSLDriverImplFL5 *t = &table()->base;                                                                \
        told->session = t->SL_ANeuralNetworksDiagnostic##Kind##_getSessionId(info);                                    \
        told->version = t->SL_ANeuralNetworksDiagnostic##Kind##_getNnApiVersion(info);                                 \
        memcpy(told->hash, t->SL_ANeuralNetworksDiagnostic##Kind##_getModelArchHash(info), 32);                        \
        strncpy(told->ids, t->SL_ANeuralNetworksDiagnostic##Kind##_getDeviceIds(info), sizeof told->ids - 1);          \
        told->error = t->SL_ANeuralNetworksDiagnostic##Kind##_getErrorCode(info);                                      \
        told->input = t->SL_ANeuralNetworksDiagnostic##Kind##_getInputDataClass(info);                                 \
        told->output = t->SL_ANeuralNetworksDiagnostic##Kind##_getOutputDataClass(info);                               \
        told->caching = t->SL_ANeuralNetworksDiagnostic##Kind##_isCachingEnabled(info);                                \
        told->control_flow = t->SL_ANeuralNetworksDiagnostic##Kind##_isControlFlowUsed(info);                          \
        told->dynamic = t->SL_ANeuralNetworksDiagnostic##Kind##_areDynamicTensorsUsed(info);                           \
    } while (0)

static void on_compiled(const void *context, const ANeuralNetworksDiagnosticCompilationInfo *info) {
    struct told *told = (struct told *)context;
    told->compiled++;
    TAKE(CompilationInfo, info);
    told->time_ns = table()->base.SL_ANeuralNetworksDiagnosticCompilationInfo_getCompilationTimeNanos(info);
}

static void on_executed(const void *context, const ANeuralNetworksDiagnosticExecutionInfo *info) {
    struct told *told = (struct told *)context;
    told->executed++;
    TAKE(ExecutionInfo, info);
    told->mode = table()->base.SL_ANeuralNetworksDiagnosticExecutionInfo_getExecutionMode(info);
    told->time_ns = table()->base.SL_ANeuralNetworksDiagnosticExecutionInfo_getRuntimeExecutionTimeNanos(info);
    told->driver_ns = table()->base.SL_ANeuralNetworksDiagnosticExecutionInfo_getDriverExecutionTimeNanos(info);
    told->hardware_ns = table()->base.SL_ANeuralNetworksDiagnosticExecutionInfo_getHardwareExecutionTimeNanos(info);
}

/* relu of a tensor with so many rows (0: open), beside an input that nothing reads */
static ANeuralNetworksModel *relu(uint32_t rows, int32_t second) {
    ANeuralNetworksModel *m = new_model();
    add_operand(m, F32, DIMS(rows, 2));
    add_operand(m, second, DIMS(1));
    add_operand(m, F32, DIMS(rows, 2));
    OPERATION(m, ANEURALNETWORKS_RELU, LIST(0), LIST(2));
    IN_OUT(m, LIST(0, 1), LIST(2));
    FINISH(m);
    return m;
}

static ANeuralNetworksCompilation *compile(ANeuralNetworksModel *m, const ANeuralNetworksDevice *d, int want) {
    ANeuralNetworksCompilation *c = NULL;
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(m, &d, 1, &c), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), want);
    return c;
}

static ANeuralNetworksExecution *execution_of(ANeuralNetworksCompilation *c, const float *in, float *out) {
    ANeuralNetworksExecution *e = NULL;
    static const uint32_t dims[2] = {1, 2};
    const ANeuralNetworksOperandType type = {.type = F32, .dimensionCount = 2, .dimensions = dims};
    assert_int_equal(ANeuralNetworksExecution_create(c, &e), OK);
    assert_int_equal(ANeuralNetworksExecution_setInput(e, 0, &type, in, 8), OK);
    assert_int_equal(ANeuralNetworksExecution_setInput(e, 1, NULL, in, 4), OK);
    assert_int_equal(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, 8), OK);
    return e;
}

static void compilations_and_executions_are_told(void **state) {
    (void)state;
    struct told told = {0};
    table()->base.SL_ANeuralNetworksDiagnostic_registerCallbacks(on_compiled, on_executed, &told);
    ANeuralNetworksDevice *cpu = nnv_rt_device_cpu();
    ANeuralNetworksModel *m = relu(1, F32);
    const uint64_t since = nnv_now_ns();
    ANeuralNetworksCompilation *c = compile(m, cpu, OK);
    assert_int_equal(told.compiled, 1);
    assert_int_equal(told.error, OK);
    assert_int_equal(told.version, 1000008);
    assert_true(told.session > 0);
    assert_true(strncmp(told.ids, "nnapi-reference=", 16) == 0);
    assert_int_equal(told.input, ANNDIAG_DATA_CLASS_FLOAT32);
    assert_int_equal(told.output, ANNDIAG_DATA_CLASS_FLOAT32);
    assert_false(told.caching || told.control_flow || told.dynamic);
    assert_true(told.time_ns > 0 && told.time_ns <= nnv_now_ns() - since);
    uint8_t hash[32];
    memcpy(hash, told.hash, sizeof hash);
    const int32_t session = told.session;

    static const float in[2] = {-1, 2};
    float out[2] = {9, 9};
    ANeuralNetworksExecution *e = execution_of(c, in, out);
    const uint64_t start = nnv_now_ns();
    assert_int_equal(ANeuralNetworksExecution_compute(e), OK);
    assert_true(out[0] == 0 && out[1] == 2);
    assert_int_equal(told.executed, 1);
    assert_int_equal(told.mode, ANNDIAG_EXECUTION_MODE_SYNC);
    assert_int_equal(told.session, session);
    assert_memory_equal(told.hash, hash, 32);
    assert_true(told.time_ns > 0 && told.time_ns <= nnv_now_ns() - start);
    assert_true(told.driver_ns == UINT64_MAX && told.hardware_ns == UINT64_MAX); /* nobody asked for them */
    ANeuralNetworksExecution_free(e);

    e = execution_of(c, in, out);
    ANeuralNetworksEvent *event = NULL;
    assert_int_equal(ANeuralNetworksExecution_startCompute(e, &event), OK);
    assert_int_equal(ANeuralNetworksEvent_wait(event), OK);
    assert_int_equal(told.executed, 2);
    assert_int_equal(told.mode, ANNDIAG_EXECUTION_MODE_ASYNC);
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksExecution_free(e);

    e = execution_of(c, in, out);
    assert_int_equal(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &event), OK);
    assert_int_equal(ANeuralNetworksEvent_wait(event), OK);
    assert_int_equal(told.executed, 3);
    assert_int_equal(told.mode, ANNDIAG_EXECUTION_MODE_ASYNC_WITH_DEPS);
    ANeuralNetworksEvent_free(event);
    ANeuralNetworksExecution_free(e);

    ANeuralNetworksBurst *burst = NULL;
    e = execution_of(c, in, out);
    assert_int_equal(ANeuralNetworksBurst_create(c, &burst), OK);
    assert_int_equal(ANeuralNetworksExecution_burstCompute(e, burst), OK);
    assert_int_equal(told.executed, 4);
    assert_int_equal(told.mode, ANNDIAG_EXECUTION_MODE_BURST);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksBurst_free(burst);

    table()->base.SL_ANeuralNetworksDiagnostic_registerCallbacks(NULL, NULL, NULL);
    e = execution_of(c, in, out);
    assert_int_equal(ANeuralNetworksExecution_compute(e), OK);
    assert_int_equal(told.executed, 4);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}

static void models_are_told_apart(void **state) {
    (void)state;
    struct told told = {0};
    table()->base.SL_ANeuralNetworksDiagnostic_registerCallbacks(on_compiled, NULL, &told);
    struct toy_device f = toy_driver("npu", 7); /* refuses to prepare */
    nnv_rt_device_override((struct nnvts_device *[]){&f.driver}, 1);
    ANeuralNetworksModel *models[3] = {relu(1, F32), relu(0, F32), relu(1, ANEURALNETWORKS_TENSOR_INT32)};
    uint8_t hashes[3][32];
    static const bool dynamic[3] = {false, true, false};
    static const int classes[3] = {ANNDIAG_DATA_CLASS_FLOAT32, ANNDIAG_DATA_CLASS_FLOAT32, ANNDIAG_DATA_CLASS_MIXED};
    for (int i = 0; i < 3; i++) {
        ANeuralNetworksCompilation *c = compile(models[i], nnv_rt_device_at(0), ANEURALNETWORKS_OP_FAILED);
        assert_int_equal(told.compiled, i + 1);
        assert_int_equal(told.error, ANEURALNETWORKS_OP_FAILED);
        assert_string_equal(told.ids, "npu=7");
        assert_int_equal(told.dynamic, dynamic[i]);
        assert_int_equal(told.input, classes[i]);
        memcpy(hashes[i], told.hash, 32);
        ANeuralNetworksCompilation_free(c);
        ANeuralNetworksModel_free(models[i]);
    }
    assert_memory_not_equal(hashes[0], hashes[1], 32);
    assert_memory_not_equal(hashes[0], hashes[2], 32);
}

static void files_for_caching(void **state) {
    (void)state;
    const NnApiSLDriverImplFL5 *t = &table()->base;
    ANeuralNetworksDevice *cpu = nnv_rt_device_cpu();
    ANeuralNetworksModel *m = relu(1, F32);
    uint32_t model_files = 0, data_files = 0;
    assert_int_equal(t->SL_ANeuralNetworksDevice_getNumberOfCacheFilesNeeded(cpu, &model_files, &data_files), OK);
    assert_int_equal(model_files, 1);
    assert_int_equal(data_files, 0);
    static const uint8_t token[32] = {1, 2, 3};
    const int fd = memfd_create("cache", 0);
    for (int round = 0; round < 2; round++) { /* saves, then loads */
        ANeuralNetworksCompilation *c = NULL;
        assert_int_equal(
            ANeuralNetworksCompilation_createForDevices(m, (const ANeuralNetworksDevice *const *)&cpu, 1, &c), OK);
        assert_int_equal(t->SL_ANeuralNetworksCompilation_setCachingFromFds(NULL, &fd, 1, NULL, 0, token), IS_NULL);
        assert_int_equal(t->SL_ANeuralNetworksCompilation_setCachingFromFds(c, &fd, 1, NULL, 0, NULL), IS_NULL);
        assert_int_equal(t->SL_ANeuralNetworksCompilation_setCachingFromFds(c, NULL, 1, NULL, 0, token), IS_NULL);
        assert_int_equal(t->SL_ANeuralNetworksCompilation_setCachingFromFds(c, &fd, 1, &fd, 1, token), BAD);
        assert_int_equal(t->SL_ANeuralNetworksCompilation_setCachingFromFds(c, &fd, 1, NULL, 0, token), OK);
        assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
        assert_true(lseek(fd, 0, SEEK_END) > 0);
        ANeuralNetworksCompilation_free(c);
    }
    close(fd);
    ANeuralNetworksModel_free(m);
}

int main(void) {
    setenv("NNVTS_LOG", "0", 0);
    setenv("NNVTS_DRIVERS", "", 1);
#define TEST(name) cmocka_unit_test_teardown(name, forget_devices)
    const struct CMUnitTest tests[] = {
        TEST(layout),
        TEST(devices),
        TEST(compilations_and_executions_are_told),
        TEST(models_are_told_apart),
        TEST(files_for_caching),
    };
    return cmocka_run_group_tests_name("support library", tests, NULL, NULL);
}
