/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Memory from file descriptors: offsets, protection, sharing, constants, copies. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/suites/api/api.h"

static const float in0[] = {1, 2, 3, 4}, in1[] = {10, 20, 30, 40}, sum[] = {11, 22, 33, 44};
enum { BYTES = sizeof in0, PAGE = 4096 };

/** Where each of the three arguments lies in one memory, and what lies around them. */
struct layout {
    size_t bytes, in0, in1, out;
};
static const struct layout layouts[] = {
    {3 * BYTES, 0, BYTES, 2 * BYTES}, {3 * BYTES, 2 * BYTES, BYTES, 0},   {PAGE, 64, 1024, 4000},
    {3 * PAGE, PAGE, 2 * PAGE, 0},    {1 << 20, (1 << 20) - 16, 512, 64},
};

static bool holds(const uint8_t *at, const float *want) {
    float got[4];
    memcpy(got, at, BYTES);
    for (int i = 0; i < 4; i++)
        if (got[i] != want[i]) return false;
    return true;
}

/** All arguments in one memory, in one execution. */
static bool sum_in(struct nnv_api *a, ANeuralNetworksMemory *memory, uint8_t *at, const struct layout *l) {
    memset(at, 0x5a, l->bytes);
    memcpy(at + l->in0, in0, BYTES);
    memcpy(at + l->in1, in1, BYTES);
    ANeuralNetworksExecution *e = nnv_api_execution(a, a->compilation);
    if (!e || !OK(Execution_setInputFromMemory, e, 0, NULL, memory, l->in0, BYTES) ||
        !OK(Execution_setInputFromMemory, e, 1, NULL, memory, l->in1, BYTES) ||
        !OK(Execution_setOutputFromMemory, e, 0, NULL, memory, l->out, BYTES) || !nnv_api_compute(a, e))
        return false;
    float out[4];
    memcpy(out, at + l->out, BYTES);
    if (!nnv_api_check_floats(a, "the sum in the memory", out, sum, 4)) return false;
    memset(at + l->out, 0x5a, BYTES);
    bool whole = holds(at + l->in0, in0) && holds(at + l->in1, in1);
    memset(at + l->in0, 0x5a, BYTES);
    memset(at + l->in1, 0x5a, BYTES);
    for (size_t i = 0; i < l->bytes; i++) whole = whole && at[i] == 0x5a;
    return nnv_expect(&a->s, whole, "the computation wrote into the memory outside of its output");
}

static void one_memory(struct nnv_api *a) {
    const struct layout *l = &layouts[a->c->param];
    void *at;
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    ANeuralNetworksMemory *memory = nnv_api_memory(a, l->bytes, &at);
    for (int i = 0; i < 2 && memory; i++)
        if (!sum_in(a, memory, at, l)) return;
}

/** The descriptor may be closed at once, and stand anywhere in its file. */
static void descriptor_closed(struct nnv_api *a) {
    void *at;
    ANeuralNetworksMemory *memory = NULL;
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    int fd = nnv_api_file(a, layouts[0].bytes, &at), other = fd < 0 ? -1 : dup(fd);
    if (other < 0) return;
    lseek(other, 7, SEEK_SET);
    bool ok = OK(Memory_createFromFd, layouts[0].bytes, PROT_READ | PROT_WRITE, other, 0, &memory);
    close(other);
    nnv_api_keep_memory(a, memory);
    if (ok) sum_in(a, memory, at, &layouts[0]);
}

/** The memory begins at an offset of its file. */
static void file_offset(struct nnv_api *a) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE); /* files are mapped by pages */
    void *at;
    ANeuralNetworksMemory *memory = NULL;
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    int fd = nnv_api_file(a, 3 * page, &at);
    if (fd < 0) return;
    memset(at, 0x77, 3 * page);
    if (!OK(Memory_createFromFd, page, PROT_READ | PROT_WRITE, fd, page, &memory)) return;
    nnv_api_keep_memory(a, memory);
    if (!sum_in(a, memory, (uint8_t *)at + page, &layouts[2])) return;
    const uint8_t *bytes = at;
    bool whole = true;
    for (size_t i = 0; i < page; i++) whole = whole && bytes[i] == 0x77 && bytes[2 * page + i] == 0x77;
    nnv_expect(&a->s, whole, "the computation wrote into the file outside of the memory");
}

/** Two memories of one file are the same bytes. */
static void two_of_one_file(struct nnv_api *a) {
    void *at;
    ANeuralNetworksMemory *memory[2] = {NULL, NULL};
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    int fd = nnv_api_file(a, PAGE, &at);
    for (int i = 0; i < 2 && fd >= 0; i++) {
        if (!OK(Memory_createFromFd, PAGE, PROT_READ | PROT_WRITE, fd, 0, &memory[i])) return;
        nnv_api_keep_memory(a, memory[i]);
    }
    ANeuralNetworksExecution *e = nnv_api_execution(a, a->compilation);
    if (!e || !memory[1]) return;
    memcpy(at, in0, BYTES);
    memcpy((uint8_t *)at + BYTES, in1, BYTES);
    if (OK(Execution_setInputFromMemory, e, 0, NULL, memory[0], 0, BYTES) &&
        OK(Execution_setInputFromMemory, e, 1, NULL, memory[1], BYTES, BYTES) &&
        OK(Execution_setOutputFromMemory, e, 0, NULL, memory[0], 2 * BYTES, BYTES) && nnv_api_compute(a, e))
        nnv_api_check_floats(a, "the sum", (const float *)at + 8, sum, 4);
}

/** Inputs in memory that may only be read. */
static void read_only(struct nnv_api *a) {
    void *at;
    ANeuralNetworksMemory *memory = NULL;
    if (!nnv_api_advance(a, NNV_API_EXECUTION)) return;
    int fd = nnv_api_file(a, PAGE, &at);
    if (fd < 0) return;
    memcpy(at, in0, BYTES);
    memcpy((uint8_t *)at + 100, in1, BYTES);
    if (!OK(Memory_createFromFd, PAGE, PROT_READ, fd, 0, &memory)) return;
    nnv_api_keep_memory(a, memory);
    if (OK(Execution_setInputFromMemory, a->execution, 0, NULL, memory, 0, BYTES) &&
        OK(Execution_setInputFromMemory, a->execution, 1, NULL, memory, 100, BYTES) &&
        OK(Execution_setOutput, a->execution, 0, NULL, a->out, sizeof a->out) && nnv_api_compute(a, a->execution))
        nnv_api_check_sum(a);
}

/** One range of memory is both inputs; then one input and a buffer. */
static void shared_input(struct nnv_api *a) {
    static const float twice[] = {2, 4, 6, 8};
    void *at;
    if (!nnv_api_advance(a, NNV_API_EXECUTION)) return;
    ANeuralNetworksMemory *memory = nnv_api_memory(a, PAGE, &at);
    if (!memory) return;
    memcpy((uint8_t *)at + 48, in0, BYTES);
    if (OK(Execution_setInputFromMemory, a->execution, 0, NULL, memory, 48, BYTES) &&
        OK(Execution_setInputFromMemory, a->execution, 1, NULL, memory, 48, BYTES) &&
        OK(Execution_setOutput, a->execution, 0, NULL, a->out, sizeof a->out) && nnv_api_compute(a, a->execution))
        nnv_api_check_floats(a, "in0 + in0", a->out, twice, 4);
}

/** The memory is read when it is computed, not when it is set. */
static void read_late(struct nnv_api *a) {
    void *at;
    if (!nnv_api_advance(a, NNV_API_EXECUTION)) return;
    ANeuralNetworksMemory *memory = nnv_api_memory(a, PAGE, &at);
    if (!memory || !OK(Execution_setInputFromMemory, a->execution, 0, NULL, memory, 0, BYTES) ||
        !OK(Execution_setInput, a->execution, 1, NULL, a->in[1], BYTES) ||
        !OK(Execution_setOutput, a->execution, 0, NULL, a->out, sizeof a->out))
        return;
    memcpy(at, in0, BYTES);
    memcpy(a->in[1], in1, BYTES);
    if (nnv_api_compute(a, a->execution)) nnv_api_check_sum(a);
}

/** The activation and the second summand are constants of one memory; param: where the summand lies. */
static void constants(struct nnv_api *a) {
    const size_t offset = a->c->param;
    void *at;
    float out[4] = {0};
    ANeuralNetworksMemory *memory = nnv_api_memory(a, 2 * PAGE, &at);
    if (!memory) return;
    memcpy((uint8_t *)at + offset, in1, BYTES);
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2, 2)), c = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    uint32_t none = nnv_api_add(&net, SCALAR(INT32)), z = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    if (!net.ok || !OK(Model_setOperandValueFromMemory, net.model, (int32_t)c, memory, offset, BYTES) ||
        !OK(Model_setOperandValueFromMemory, net.model, (int32_t)none, memory, PAGE, 4))
        return;
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, c, none), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x), LIST(z))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (e && OK(Execution_setInput, e, 0, NULL, in0, BYTES) && OK(Execution_setOutput, e, 0, NULL, out, BYTES) &&
        nnv_api_compute(a, e))
        nnv_api_check_floats(a, "the sum with a constant from memory", out, sum, 4);
}

/** One memory serves as constant, input and output. */
static void constant_and_arguments(struct nnv_api *a) {
    void *at;
    ANeuralNetworksMemory *memory = nnv_api_memory(a, PAGE, &at);
    if (!memory) return;
    float *values = at;
    memcpy(values, in1, BYTES);
    memcpy(values + 4, in0, BYTES);
    struct nnv_api_net net = nnv_api_net(a);
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2, 2)), c = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    uint32_t none = nnv_api_int(&net, 0), z = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    if (!net.ok || !OK(Model_setOperandValueFromMemory, net.model, (int32_t)c, memory, 0, BYTES)) return;
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, c, none), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x), LIST(z))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (e && OK(Execution_setInputFromMemory, e, 0, NULL, memory, BYTES, BYTES) &&
        OK(Execution_setOutputFromMemory, e, 0, NULL, memory, 2 * BYTES, BYTES) && nnv_api_compute(a, e))
        nnv_api_check_floats(a, "the sum", values + 8, sum, 4);
}

static void copy(struct nnv_api *a) {
    void *from, *to;
    ANeuralNetworksMemory *source = nnv_api_memory(a, PAGE, &from), *target = nnv_api_memory(a, PAGE, &to);
    if (!source || !target) return;
    memset(from, 0x31, PAGE);
    if (!OK(Memory_copy, source, target)) return;
    nnv_expect(&a->s, memcmp(from, to, PAGE) == 0, "Memory_copy did not copy everything");
    memset(from, 0x32, PAGE);
    nnv_expect(&a->s, *(uint8_t *)to == 0x31, "Memory_copy made the copy follow its source");
}

static void copy_to_itself(struct nnv_api *a) {
    void *at;
    ANeuralNetworksMemory *memory = nnv_api_memory(a, PAGE, &at);
    if (!memory) return;
    memset(at, 0x31, PAGE);
    OK(Memory_copy, memory, memory);
    nnv_expect(&a->s, *(uint8_t *)at == 0x31, "copying a memory to itself changed it");
}

/** Memory that is freed behind its execution, made and freed often. */
static void made_and_freed(struct nnv_api *a) {
    void *at;
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    int fd = nnv_api_file(a, layouts[0].bytes, &at);
    for (int i = 0; i < 50 && fd >= 0; i++) {
        ANeuralNetworksMemory *memory = NULL;
        if (!OK(Memory_createFromFd, layouts[0].bytes, PROT_READ | PROT_WRITE, fd, 0, &memory)) return;
        nnv_api_keep_memory(a, memory);
        if (!sum_in(a, memory, at, &layouts[0])) return;
    }
}

static const struct nnv_api_case cases[] = {
    {.name = "memory/arguments_side_by_side", .run = one_memory, .param = 0},
    {.name = "memory/arguments_in_other_order", .run = one_memory, .param = 1},
    {.name = "memory/arguments_far_apart", .run = one_memory, .param = 2},
    {.name = "memory/arguments_in_pages", .run = one_memory, .param = 3},
    {.name = "memory/arguments_in_a_mebibyte", .run = one_memory, .param = 4},
    {.name = "memory/descriptor_closed", .run = descriptor_closed},
    {.name = "memory/file_offset", .run = file_offset},
    {.name = "memory/two_of_one_file", .run = two_of_one_file},
    {.name = "memory/read_only", .run = read_only},
    {.name = "memory/shared_input", .run = shared_input},
    {.name = "memory/read_late", .run = read_late},
    {.name = "memory/constants", .run = constants, .param = 0},
    {.name = "memory/constants_at_64", .run = constants, .param = 64},
    {.name = "memory/constants_at_the_end", .run = constants, .param = 2 * PAGE - BYTES},
    {.name = "memory/constant_and_arguments", .run = constant_and_arguments},
    {.name = "memory/copy", .run = copy, .level = 4},
    {.name = "memory/copy_to_itself", .run = copy_to_itself, .level = 4},
    {.name = "memory/made_and_freed", .run = made_and_freed},
};
NNV_API_GROUP(memory);
