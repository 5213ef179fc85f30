/* SPDX-License-Identifier: Apache-2.0 */
/** @file desc.c Memory made from descriptors, which may lie in the device: roles, values, copies. */
#include <string.h>

#include "harness/suites/api/api.h"
#include "base/words.h"

static const float in0[] = {1, 2, 3, 4}, in1[] = {10, 20, 30, 40}, sum[] = {11, 22, 33, 44};
enum { BYTES = sizeof in0, INPUT_0 = 1, INPUT_1 = 2, OUTPUT = 4 };

/** Memory with these roles of a compilation. NULL: UNSUPPORTED where the device gives no memory. */
static ANeuralNetworksMemory *with_roles(struct nnv_api *a, ANeuralNetworksCompilation *compilation, unsigned roles) {
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    ANeuralNetworksMemory *memory = NULL;
    char buf[32];
    if (!desc || !compilation || (roles & INPUT_0 && !OK(MemoryDesc_addInputRole, desc, compilation, 0, 1)) ||
        (roles & INPUT_1 && !OK(MemoryDesc_addInputRole, desc, compilation, 1, 0.5f)) ||
        (roles & OUTPUT && !OK(MemoryDesc_addOutputRole, desc, compilation, 0, 1)) || !OK(MemoryDesc_finish, desc))
        return NULL;
    int code = a->nn->Memory_createFromDesc(desc, &memory);
    nnv_api_free_now(a, desc);
    if (code == ANEURALNETWORKS_OP_FAILED) {
        nnv_expect(&a->s, memory == NULL, "Memory_createFromDesc failed, and did not write NULL");
        nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "no memory for these roles: %s", nnv_result_name(code, buf));
        return NULL;
    }
    if (!nnv_api_check(a, "Memory_createFromDesc", code, NNV_API_NO_ERROR)) return NULL;
    nnv_expect(&a->s, memory != NULL, "Memory_createFromDesc answered NO_ERROR without a memory");
    nnv_api_keep_memory(a, memory);
    return memory;
}

static ANeuralNetworksMemory *for_small_model(struct nnv_api *a, unsigned roles) {
    return nnv_api_advance(a, NNV_API_EXECUTION) ? with_roles(a, a->compilation, roles) : NULL;
}

/** Puts a value in, through a memory of the same size. */
static bool put(struct nnv_api *a, ANeuralNetworksMemory *memory, const float *value) {
    void *at;
    ANeuralNetworksMemory *staging = nnv_api_memory(a, BYTES, &at);
    if (!staging) return false;
    memcpy(at, value, BYTES);
    return OK(Memory_copy, staging, memory);
}

static bool take(struct nnv_api *a, ANeuralNetworksMemory *memory, const float *want) {
    void *at;
    ANeuralNetworksMemory *staging = nnv_api_memory(a, BYTES, &at);
    return staging && OK(Memory_copy, memory, staging) &&
           nnv_api_check_floats(a, "the memory, copied out,", at, want, 4);
}

/** Sets all arguments of an execution of the small model: a memory, or (NULL) the case's own buffer. */
static bool set(struct nnv_api *a, ANeuralNetworksExecution *e, const ANeuralNetworksMemory *const in[2],
                const ANeuralNetworksMemory *out) {
    for (int i = 0; i < 2; i++)
        if (!e || !(in[i] ? OK(Execution_setInputFromMemory, e, i, NULL, in[i], 0, 0)
                          : OK(Execution_setInput, e, i, NULL, a->in[i], BYTES)))
            return false;
    return out ? OK(Execution_setOutputFromMemory, e, 0, NULL, out, 0, 0)
               : OK(Execution_setOutput, e, 0, NULL, a->out, BYTES);
}
#define MEMORIES(...) ((const ANeuralNetworksMemory *const[2]){__VA_ARGS__})

static void copy_in_and_out(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    if (memory && put(a, memory, in0) && take(a, memory, in0) && put(a, memory, in1)) take(a, memory, in1);
}

static void as_input(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    memcpy(a->in[1], in1, BYTES);
    if (memory && put(a, memory, in0) && set(a, a->execution, MEMORIES(memory), NULL) &&
        nnv_api_compute(a, a->execution))
        nnv_api_check_sum(a);
}

static void as_both_inputs(struct nnv_api *a) {
    static const float twice[] = {2, 4, 6, 8};
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0 | INPUT_1);
    if (memory && put(a, memory, in0) && set(a, a->execution, MEMORIES(memory, memory), NULL) &&
        nnv_api_compute(a, a->execution))
        nnv_api_check_floats(a, "in0 + in0", a->out, twice, 4);
}

static bool sum_into(struct nnv_api *a, ANeuralNetworksMemory *memory, ANeuralNetworksCompilation *compilation) {
    ANeuralNetworksExecution *e = nnv_api_execution(a, compilation);
    memcpy(a->in[0], in0, BYTES);
    memcpy(a->in[1], in1, BYTES);
    return set(a, e, MEMORIES(NULL), memory) && nnv_api_compute(a, e);
}

static void as_output(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, OUTPUT);
    if (memory && sum_into(a, memory, a->compilation)) take(a, memory, sum);
}

/** The output of one execution is the input of the next. */
static void chained(struct nnv_api *a) {
    static const float want[] = {21, 42, 63, 84};
    ANeuralNetworksMemory *memory = for_small_model(a, OUTPUT | INPUT_0);
    if (memory && sum_into(a, memory, a->compilation) && set(a, a->execution, MEMORIES(memory), NULL) &&
        nnv_api_compute(a, a->execution))
        nnv_api_check_floats(a, "in0 + in1 + in1", a->out, want, 4);
}

/** The same between two compilations of the model. */
static void between_compilations(struct nnv_api *a) {
    static const float want[] = {21, 42, 63, 84};
    if (!nnv_api_advance(a, NNV_API_EXECUTION)) return;
    ANeuralNetworksCompilation *other = nnv_api_compiled(&a->net);
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    ANeuralNetworksMemory *memory = NULL;
    if (!other || !desc || !OK(MemoryDesc_addOutputRole, desc, other, 0, 1) ||
        !OK(MemoryDesc_addInputRole, desc, a->compilation, 0, 1) || !OK(MemoryDesc_finish, desc))
        return;
    int code = a->nn->Memory_createFromDesc(desc, &memory);
    if (code == ANEURALNETWORKS_OP_FAILED) {
        nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "no memory for these roles");
        return;
    }
    nnv_api_keep_memory(a, memory);
    if (nnv_api_check(a, "Memory_createFromDesc", code, NNV_API_NO_ERROR) && sum_into(a, memory, other) &&
        set(a, a->execution, MEMORIES(memory), NULL) && nnv_api_compute(a, a->execution))
        nnv_api_check_floats(a, "in0 + in1 + in1", a->out, want, 4);
}

static void between_memories(struct nnv_api *a) {
    ANeuralNetworksMemory *one = for_small_model(a, INPUT_0), *two = one ? for_small_model(a, INPUT_0) : NULL;
    if (one && two && put(a, one, in0) && OK(Memory_copy, one, two) && put(a, one, in1)) take(a, two, in0);
}

static void to_itself(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    if (memory && put(a, memory, in0) && OK(Memory_copy, memory, memory)) take(a, memory, in0);
}

/** For devices that the library chooses there is always memory. */
static void automatic(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_FINISHED)) return;
    ANeuralNetworksCompilation *compilation = nnv_api_automatic(a, a->model);
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    ANeuralNetworksMemory *memory = NULL;
    if (!compilation || !desc || !OK(Compilation_finish, compilation) ||
        !OK(MemoryDesc_addOutputRole, desc, compilation, 0, 1) || !OK(MemoryDesc_finish, desc) ||
        !OK(Memory_createFromDesc, desc, &memory))
        return;
    nnv_api_keep_memory(a, memory);
    if (sum_into(a, memory, compilation)) take(a, memory, sum);
}

static void reused_as_output(struct nnv_api *a) {
    static const float want[] = {2, 4, 6, 8};
    ANeuralNetworksMemory *memory = for_small_model(a, OUTPUT);
    if (!memory || !sum_into(a, memory, a->compilation)) return;
    memcpy(a->in[1], in0, BYTES);
    if (set(a, a->execution, MEMORIES(NULL), memory) && nnv_api_compute(a, a->execution)) take(a, memory, want);
}

/* -------------------------------------------------------------------- refusals */

static void offset_refused(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0 | OUTPUT);
    if (!memory) return;
    IS(BAD_DATA, Execution_setInputFromMemory, a->execution, 0, NULL, memory, 1, 0);
    IS(BAD_DATA, Execution_setInputFromMemory, a->execution, 0, NULL, memory, 4, BYTES - 4);
    IS(BAD_DATA, Execution_setOutputFromMemory, a->execution, 0, NULL, memory, 1, 0);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void length_refused(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0 | OUTPUT);
    if (!memory) return;
    IS(BAD_DATA, Execution_setInputFromMemory, a->execution, 0, NULL, memory, 0, BYTES - 1);
    IS(BAD_DATA, Execution_setInputFromMemory, a->execution, 0, NULL, memory, 0, BYTES + 1);
    IS(BAD_DATA, Execution_setOutputFromMemory, a->execution, 0, NULL, memory, 0, BYTES + 1);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void undeclared_role(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    if (!memory) return;
    IS(BAD_DATA, Execution_setInputFromMemory, a->execution, 1, NULL, memory, 0, 0);
    IS(BAD_DATA, Execution_setOutputFromMemory, a->execution, 0, NULL, memory, 0, 0);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void other_compilation(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    ANeuralNetworksExecution *e = memory ? nnv_api_execution(a, nnv_api_compiled(&a->net)) : NULL;
    if (!e) return;
    IS(BAD_DATA, Execution_setInputFromMemory, e, 0, NULL, memory, 0, 0);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void as_constant(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    struct nnv_api_net net = nnv_api_net(a);
    if (!memory || !net.ok) return;
    int32_t c = (int32_t)nnv_api_add(&net, OF(FLOAT32, 2, 2));
    IS(BAD_DATA, Model_setOperandValueFromMemory, net.model, c, memory, 0, 0);
    IS(BAD_DATA, Model_setOperandValueFromMemory, net.model, c, memory, 0, BYTES);
}

/** Memory without a value cannot be read, by an execution or a copy; once it has one, it can. */
static void uninitialised_input(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    for (int i = 0; i < 2 && memory; i++) {
        ANeuralNetworksExecution *e = nnv_api_execution(a, a->compilation);
        memcpy(a->in[1], in1, BYTES);
        if (!set(a, e, MEMORIES(memory), NULL)) return;
        unsigned want = i == 0 ? NNV_API_OP_FAILED : NNV_API_NO_ERROR;
        if (!nnv_api_check(a, i == 0 ? "computing from memory without a value" : "computing from memory with a value",
                           nnv_api_computed(a, e), want) ||
            !put(a, memory, in0))
            return;
    }
    if (memory) nnv_api_check_sum(a);
}

static void uninitialised_copy(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    ANeuralNetworksMemory *to = memory ? nnv_api_memory(a, BYTES, NULL) : NULL;
    if (to && IS(BAD_DATA, Memory_copy, memory, to) && put(a, memory, in0)) take(a, memory, in0);
}

static void copy_of_other_size(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, INPUT_0);
    ANeuralNetworksMemory *larger = memory ? nnv_api_memory(a, 2 * BYTES, NULL) : NULL;
    ANeuralNetworksMemory *smaller = memory ? nnv_api_memory(a, BYTES - 4, NULL) : NULL;
    if (!larger || !smaller) return;
    IS(BAD_DATA, Memory_copy, larger, memory);
    IS(BAD_DATA, Memory_copy, smaller, memory);
    if (!put(a, memory, in0)) return;
    IS(BAD_DATA, Memory_copy, memory, larger);
    IS(BAD_DATA, Memory_copy, memory, smaller);
    take(a, memory, in0);
}

/** An execution that fails leaves its output memory without a value. */
static void failed_output(struct nnv_api *a) {
    ANeuralNetworksMemory *memory = for_small_model(a, OUTPUT);
    ANeuralNetworksMemory *unset = memory ? for_small_model(a, INPUT_0) : NULL;
    ANeuralNetworksMemory *to = unset ? nnv_api_memory(a, BYTES, NULL) : NULL;
    if (!to || !sum_into(a, memory, a->compilation) || !take(a, memory, sum) ||
        !set(a, a->execution, MEMORIES(unset), memory))
        return;
    nnv_api_check(a, "computing from memory without a value", nnv_api_computed(a, a->execution), NNV_API_OP_FAILED);
    IS(BAD_DATA, Memory_copy, memory, to);
}

/** Roles of other types do not go together. */
static void type_of_roles(struct nnv_api *a) {
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, OF(FLOAT16, 2, 2)), y = nnv_api_add(&net, OF(FLOAT16, 2, 2));
    uint32_t none = nnv_api_int(&net, 0), z = nnv_api_add(&net, OF(FLOAT16, 2, 2));
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, y, none), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x, y), LIST(z)) || !nnv_api_advance(a, NNV_API_COMPILED)) return;
    ANeuralNetworksCompilation *other = nnv_api_compiled(&net);
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    if (!other || !desc || !OK(MemoryDesc_addInputRole, desc, a->compilation, 0, 1)) return;
    IS(BAD_DATA, MemoryDesc_addInputRole, desc, other, 0, 1);
    IS(BAD_DATA, MemoryDesc_addOutputRole, desc, other, 0, 1);
}

static void quantisation_of_roles(struct nnv_api *a) {
    ANeuralNetworksCompilation *compilation[3];
    static const struct {
        float scale;
        int32_t zero_point;
    } q[3] = {{1, 0}, {2, 0}, {1, 3}};
    for (int i = 0; i < 3; i++) {
        struct nnv_api_net net = nnv_api_net(a);
        const ANeuralNetworksOperandType *type = TENSOR(QUANT8_ASYMM, q[i].scale, q[i].zero_point, 4);
        uint32_t x = nnv_api_add(&net, type), y = nnv_api_add(&net, type), none = nnv_api_int(&net, 0);
        uint32_t z = nnv_api_add(&net, type);
        nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, y, none), LIST(z));
        if (!nnv_api_net_end(&net, LIST(x, y), LIST(z)) || !(compilation[i] = nnv_api_compiled(&net))) return;
    }
    ANeuralNetworksMemoryDesc *desc = nnv_api_desc(a);
    if (!desc || !OK(MemoryDesc_addInputRole, desc, compilation[0], 0, 1)) return;
    IS(BAD_DATA, MemoryDesc_addInputRole, desc, compilation[1], 0, 1);
    IS(BAD_DATA, MemoryDesc_addOutputRole, desc, compilation[2], 0, 1);
    OK(MemoryDesc_addOutputRole, desc, compilation[0], 0, 1);
}

static const struct nnv_api_case cases[] = {
    {.name = "desc/copy_in_and_out", .run = copy_in_and_out, .level = 4},
    {.name = "desc/as_input", .run = as_input, .level = 4},
    {.name = "desc/as_both_inputs", .run = as_both_inputs, .level = 4},
    {.name = "desc/as_output", .run = as_output, .level = 4},
    {.name = "desc/chained", .run = chained, .level = 4},
    {.name = "desc/between_compilations", .run = between_compilations, .level = 4},
    {.name = "desc/between_memories", .run = between_memories, .level = 4},
    {.name = "desc/to_itself", .run = to_itself, .level = 4},
    {.name = "desc/automatic", .run = automatic, .level = 4},
    {.name = "desc/reused_as_output", .run = reused_as_output, .level = 4},
    {.name = "desc/offset_refused", .run = offset_refused, .level = 4},
    {.name = "desc/length_refused", .run = length_refused, .level = 4},
    {.name = "desc/undeclared_role", .run = undeclared_role, .level = 4},
    {.name = "desc/other_compilation", .run = other_compilation, .level = 4},
    {.name = "desc/as_constant", .run = as_constant, .level = 4},
    {.name = "desc/uninitialised_input", .run = uninitialised_input, .level = 4},
    {.name = "desc/uninitialised_copy", .run = uninitialised_copy, .level = 4},
    {.name = "desc/copy_of_other_size", .run = copy_of_other_size, .level = 4},
    {.name = "desc/failed_output", .run = failed_output, .level = 4},
    {.name = "desc/type_of_roles", .run = type_of_roles, .level = 4},
    {.name = "desc/quantisation_of_roles", .run = quantisation_of_roles, .level = 4},
};
NNV_API_GROUP(desc);
