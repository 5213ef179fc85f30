/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file refusals.c Every function with every argument wrong in turn, as rows
 *
 *     R(stage, code, function, what, (arguments))
 *
 * The small model is taken to the stage, the function is called and must answer with the code; afterwards the model
 * must go on to the right sum, as if nothing had been asked (E: it ends there, since the call changes the model or what
 * follows is not stated; L: as E, from a feature level on). The few rows with code NO_ERROR are near misses: what looks
 * wrong, but is allowed.
 */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "NeuralNetworksOEM.h"
#include "harness/suites/api/api.h"

enum { NNV_API_NULL_OR_DATA = NNV_API_UNEXPECTED_NULL | NNV_API_BAD_DATA, MEMORY_BYTES = 64 };

/* ---------------------------------------------------------- what the rows name */

static ANeuralNetworksMemory *memory(struct nnv_api *a) { return nnv_api_memory(a, MEMORY_BYTES, NULL); }

/** Adds an operand to the small model, which is empty; its index. */
static int32_t added(struct nnv_api *a, const ANeuralNetworksOperandType *type) {
    return OK(Model_addOperand, a->model, type) ? 0 : -1;
}

/** The same after so many operands. */
static uint32_t added_after(struct nnv_api *a, uint32_t count, const ANeuralNetworksOperandType *type) {
    return OK(Model_addOperand, a->model, type) ? count : UINT32_MAX;
}

static const ANeuralNetworksOperandType *without_dims(struct nnv_api *a) {
    static ANeuralNetworksOperandType type;
    type = *OF(FLOAT32, 2, 2);
    type.dimensions = NULL;
    return &type;
}

static const ANeuralNetworksOperandType *scalar_with_dims(struct nnv_api *a) {
    static ANeuralNetworksOperandType type;
    type = *SCALAR(INT32);
    type.dimensions = a->to.dims;
    return &type;
}

static int32_t per_channel(struct nnv_api *a) { return added(a, OF(QUANT8_SYMM_PER_CHANNEL, 2, 3)); }

static const ANeuralNetworksSymmPerChannelQuantParams *scales(struct nnv_api *a, uint32_t dimension, uint32_t count,
                                                              float last) {
    static float scale[4];
    static ANeuralNetworksSymmPerChannelQuantParams params;
    (void)a;
    for (uint32_t i = 0; i < 4; i++) scale[i] = i + 1 == count ? last : 1;
    params = (ANeuralNetworksSymmPerChannelQuantParams){dimension, count, scale};
    return &params;
}

static const ANeuralNetworksSymmPerChannelQuantParams *no_scales(struct nnv_api *a) {
    static ANeuralNetworksSymmPerChannelQuantParams params;
    params = *scales(a, 1, 3, 1);
    params.scales = NULL;
    return &params;
}

static ANeuralNetworksModel *finished_model(struct nnv_api *a) {
    struct nnv_api_net net;
    return nnv_api_net_add(a, LIST(2, 2), &net) ? net.model : NULL;
}

static uint32_t device_count(struct nnv_api *a) {
    uint32_t count = 0;
    return OK(_getDeviceCount, &count) ? count : 0;
}

/** The same device, count times. */
static const ANeuralNetworksDevice *const *devices(struct nnv_api *a, int count) {
    static const ANeuralNetworksDevice *list[2];
    ANeuralNetworksDevice *device = a->named;
    if (!device) OK(_getDevice, 0, &device);
    for (int i = 0; i < 2; i++) list[i] = i < count ? device : NULL;
    return list;
}

static const ANeuralNetworksDevice *const *devices_and_null(struct nnv_api *a) { return devices(a, 1); }

static ANeuralNetworksMemoryDesc *desc_input(struct nnv_api *a) {
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    return desc && OK(MemoryDesc_addInputRole, desc, a->compilation, 0, 1) ? desc : NULL;
}

static ANeuralNetworksMemoryDesc *desc_output(struct nnv_api *a) {
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    return desc && OK(MemoryDesc_addOutputRole, desc, a->compilation, 0, 1) ? desc : NULL;
}

static ANeuralNetworksMemoryDesc *desc_finished(struct nnv_api *a) {
    ANeuralNetworksMemoryDesc *desc = desc_input(a);
    return desc && OK(MemoryDesc_finish, desc) ? desc : NULL;
}

/** Of a model that adds tensors of shape [3]. */
static ANeuralNetworksCompilation *other_shape(struct nnv_api *a) {
    struct nnv_api_net net;
    return nnv_api_net_add(a, LIST(3), &net) ? nnv_api_compiled(&net) : NULL;
}

/** Another finished compilation of the small model. */
static ANeuralNetworksCompilation *other_compilation(struct nnv_api *a) { return nnv_api_compiled(&a->net); }

static ANeuralNetworksBurst *foreign_burst(struct nnv_api *a) { return nnv_api_burst(a, other_compilation(a)); }

static ANeuralNetworksExecution *all_set(struct nnv_api *a, ANeuralNetworksCompilation *compilation) {
    if (!compilation || !OK(Compilation_finish, compilation)) return NULL;
    ANeuralNetworksExecution *execution = nnv_api_execution(a, compilation);
    return nnv_api_set_all(a, execution) ? execution : NULL;
}

static ANeuralNetworksExecution *automatic_execution(struct nnv_api *a) {
    return all_set(a, nnv_api_automatic(a, a->model));
}

static ANeuralNetworksExecution *execution_for_two(struct nnv_api *a) { return all_set(a, nnv_api_for_two(&a->net)); }

/** Computed, and measured. */
static ANeuralNetworksExecution *measured_execution(struct nnv_api *a) {
    ANeuralNetworksExecution *execution = all_set(a, nnv_api_compilation(&a->net));
    return execution && OK(Execution_setMeasureTiming, execution, true) && nnv_api_compute(a, execution) ? execution
                                                                                                         : NULL;
}

static const ANeuralNetworksEvent *const *no_event(struct nnv_api *a) {
    static const ANeuralNetworksEvent *const none[1];
    (void)a;
    return none;
}

/* --------------------------------------------- families of rows that are alike */

/* get preferred alignment and padding: `count` inputs or outputs */
#define PREFERENCE(what, count)                                                                                        \
    R(COMPILED, UNEXPECTED_NULL, Compilation_getPreferredMemory##what, null_compilation, (NULL, 0, &a->to.u32))        \
    R(COMPILED, UNEXPECTED_NULL, Compilation_getPreferredMemory##what, null_answer, (compilation, 0, NULL))            \
    R(COMPILATION, BAD_STATE, Compilation_getPreferredMemory##what, unfinished, (compilation, 0, &a->to.u32))          \
    R(COMPILED, BAD_DATA, Compilation_getPreferredMemory##what, index_beyond, (compilation, count, &a->to.u32))        \
    R(COMPILED, BAD_DATA, Compilation_getPreferredMemory##what, index_max, (compilation, UINT32_MAX, &a->to.u32))

#define ROLES(Way, Other, count)                                                                                       \
    R(COMPILED, UNEXPECTED_NULL, MemoryDesc_add##Way##Role, null_desc, (NULL, compilation, 0, 1))                      \
    R(COMPILED, UNEXPECTED_NULL, MemoryDesc_add##Way##Role, null_compilation, (nnv_api_desc(a), NULL, 0, 1))           \
    R(COMPILED, BAD_STATE, MemoryDesc_add##Way##Role, finished, (desc_finished(a), other_compilation(a), 0, 1))        \
    R(COMPILATION, BAD_DATA, MemoryDesc_add##Way##Role, unfinished_compilation, (nnv_api_desc(a), compilation, 0, 1))  \
    R(COMPILED, BAD_DATA, MemoryDesc_add##Way##Role, index_beyond, (nnv_api_desc(a), compilation, count, 1))           \
    R(COMPILED, BAD_DATA, MemoryDesc_add##Way##Role, index_max, (nnv_api_desc(a), compilation, UINT32_MAX, 1))         \
    R(COMPILED, BAD_DATA, MemoryDesc_add##Way##Role, frequency_0, (nnv_api_desc(a), compilation, 0, 0))                \
    R(COMPILED, BAD_DATA, MemoryDesc_add##Way##Role, frequency_negative, (nnv_api_desc(a), compilation, 0, -0.5f))     \
    R(COMPILED, BAD_DATA, MemoryDesc_add##Way##Role, frequency_above_1, (nnv_api_desc(a), compilation, 0, 1.5f))       \
    R(COMPILED, BAD_DATA, MemoryDesc_add##Way##Role, twice, (desc_##Way(a), compilation, 0, 1))                        \
    R(COMPILED, BAD_DATA, MemoryDesc_add##Way##Role, other_shape, (desc_input(a), other_shape(a), 0, 1))               \
    R(COMPILED, NO_ERROR, MemoryDesc_add##Way##Role, near_miss_low_frequency,                                          \
      (nnv_api_desc(a), compilation, 0, 1e-6f))                                                                        \
    R(COMPILED, NO_ERROR, MemoryDesc_add##Way##Role, near_miss_two_compilations,                                       \
      (desc_##Way(a), other_compilation(a), 0, 1))                                                                     \
    R(COMPILED, NO_ERROR, MemoryDesc_add##Way##Role, near_miss_input_and_output, (desc_##Other(a), compilation, 0, 1))

#define desc_Input desc_input
#define desc_Output desc_output

/* what only machines of 64 bits can say */
#if SIZE_MAX > UINT32_MAX
#define WIDE(row) row
#else
#define WIDE(row)
#endif

/* set inputs and outputs: `value` is where the value is, at stage `set` it has been set, the model has `count` */
#define ARGUMENT(Way, value, set, count)                                                                               \
    R(EXECUTION, UNEXPECTED_NULL, Execution_set##Way, null_execution, (NULL, 0, NULL, a->value, 16))                   \
    R(EXECUTION, UNEXPECTED_NULL, Execution_set##Way, null_buffer, (execution, 0, NULL, NULL, 16))                     \
    R(EXECUTION, BAD_DATA, Execution_set##Way, index_negative, (execution, -1, NULL, a->value, 16))                    \
    R(EXECUTION, BAD_DATA, Execution_set##Way, index_beyond, (execution, count, NULL, a->value, 16))                   \
    R(EXECUTION, BAD_DATA, Execution_set##Way, index_max, (execution, INT32_MAX, NULL, a->value, 16))                  \
    R(EXECUTION, BAD_DATA, Execution_set##Way, length_0, (execution, 0, NULL, a->value, 0))                            \
    R(EXECUTION, BAD_DATA, Execution_set##Way, length_short, (execution, 0, NULL, a->value, 15))                       \
    R(EXECUTION, BAD_DATA, Execution_set##Way, length_long, (execution, 0, NULL, a->to.bytes, 17))                     \
    WIDE(R(EXECUTION, BAD_DATA, Execution_set##Way, length_beyond_4_gib, (execution, 0, NULL, a->value, 0x100000010))) \
    R(EXECUTION, BAD_DATA, Execution_set##Way, other_type, (execution, 0, OF(INT32, 2, 2), a->value, 16))              \
    R(EXECUTION, BAD_DATA, Execution_set##Way, other_rank, (execution, 0, OF(FLOAT32, 4), a->value, 16))               \
    R(EXECUTION, BAD_DATA, Execution_set##Way, other_extent, (execution, 0, OF(FLOAT32, 1, 4), a->value, 16))          \
    R(EXECUTION, BAD_DATA, Execution_set##Way, other_scale, (execution, 0, TENSOR(FLOAT32, 1, 0, 2, 2), a->value, 16)) \
    R(set, BAD_STATE, Execution_set##Way, twice, (execution, 0, NULL, a->value, 16))                                   \
    R(COMPUTED, BAD_STATE, Execution_set##Way, started, (execution, 0, NULL, a->value, 16))                            \
    E(EXECUTION, NO_ERROR, Execution_set##Way, near_miss_same_type, (execution, 0, OF(FLOAT32, 2, 2), a->value, 16))   \
    R(EXECUTION, UNEXPECTED_NULL, Execution_set##Way##FromMemory, null_execution, (NULL, 0, NULL, memory(a), 0, 16))   \
    R(EXECUTION, UNEXPECTED_NULL, Execution_set##Way##FromMemory, null_memory, (execution, 0, NULL, NULL, 0, 16))      \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, index_negative, (execution, -1, NULL, memory(a), 0, 16))    \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, index_beyond, (execution, count, NULL, memory(a), 0, 16))   \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, implied_size, (execution, 0, NULL, memory(a), 0, 0))        \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, length_short, (execution, 0, NULL, memory(a), 0, 15))       \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, length_long, (execution, 0, NULL, memory(a), 0, 17))        \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, offset_across_end,                                          \
      (execution, 0, NULL, memory(a), MEMORY_BYTES - 12, 16))                                                          \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, offset_at_end,                                              \
      (execution, 0, NULL, memory(a), MEMORY_BYTES, 16))                                                               \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, offset_wraps,                                               \
      (execution, 0, NULL, memory(a), SIZE_MAX - 15, 16))                                                              \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, other_type,                                                 \
      (execution, 0, OF(INT32, 2, 2), memory(a), 0, 16))                                                               \
    R(EXECUTION, BAD_DATA, Execution_set##Way##FromMemory, other_extent,                                               \
      (execution, 0, OF(FLOAT32, 4, 1), memory(a), 0, 16))                                                             \
    R(set, BAD_STATE, Execution_set##Way##FromMemory, twice, (execution, 0, NULL, memory(a), 0, 16))                   \
    R(COMPUTED, BAD_STATE, Execution_set##Way##FromMemory, started, (execution, 0, NULL, memory(a), 0, 16))            \
    E(EXECUTION, NO_ERROR, Execution_set##Way##FromMemory, near_miss_last_bytes,                                       \
      (execution, 0, NULL, memory(a), MEMORY_BYTES - 16, 16))

/* ------------------------------------------------------------------- the tables */

#define R(stage, code, function, what, arguments)                                                                      \
    static int function##__##what(struct nnv_api *a) {                                                                 \
        ANeuralNetworksModel *const model = a->model;                                                                  \
        ANeuralNetworksCompilation *const compilation = a->compilation;                                                \
        ANeuralNetworksExecution *const execution = a->execution;                                                      \
        (void)model, (void)compilation, (void)execution;                                                               \
        return a->nn->function arguments;                                                                              \
    }
#define E R
#define L(since, stage, code, function, what, arguments) R(stage, code, function, what, arguments)
#include "harness/suites/api/compilation.def"
#include "harness/suites/api/execution.def"
#include "harness/suites/api/model.def"
#undef R
#undef E
#undef L

#define ROW(since, at, code, function_, what, shown, on)                                                               \
    {.name = #function_ "/" #what,                                                                                     \
     .level = (since),                                                                                                 \
     .call = function_##__##what,                                                                                      \
     .text = (shown),                                                                                                  \
     .function = offsetof(struct nnvts_ndk, function_),                                                                \
     .stage = NNV_API_##at,                                                                                            \
     .wanted = NNV_API_##code,                                                                                         \
     .goes_on = (on)},
#define R(at, code, function, what, arguments) ROW(0, at, code, function, what, #function #arguments, true)
#define E(at, code, function, what, arguments) ROW(0, at, code, function, what, #function #arguments, false)
#define L(since, at, code, function, what, arguments) ROW(since, at, code, function, what, #function #arguments, false)

static const struct nnv_api_case cases[] = {
#include "harness/suites/api/compilation.def"
#include "harness/suites/api/execution.def"
#include "harness/suites/api/model.def"
};
NNV_API_GROUP(refusals);
