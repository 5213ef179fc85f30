/* SPDX-License-Identifier: Apache-2.0 */
/** @file padding.c Preferred alignment and padding, and buffers that are longer than their values. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/suites/api/api.h"

static const float in0[] = {1, 2, 3, 4}, in1[] = {10, 20, 30, 40}, sum[] = {11, 22, 33, 44};
enum { BYTES = sizeof in0, ROOM = 8192 };

struct wishes {
    uint32_t alignment[3], padding[3]; /**< of inputs 0, 1 and the output */
};

static bool ask(struct nnv_api *a, struct wishes *w) {
    *w = (struct wishes){{0}, {0}};
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (!OK(Compilation_getPreferredMemoryAlignmentForInput, a->compilation, i, &w->alignment[i]) ||
            !OK(Compilation_getPreferredMemoryPaddingForInput, a->compilation, i, &w->padding[i]))
            return false;
    return OK(Compilation_getPreferredMemoryAlignmentForOutput, a->compilation, 0, &w->alignment[2]) &&
           OK(Compilation_getPreferredMemoryPaddingForOutput, a->compilation, 0, &w->padding[2]);
}

static bool is_power(uint32_t n) { return n && !(n & (n - 1)); }

static void powers_of_two(struct nnv_api *a) {
    struct wishes w;
    if (!ask(a, &w)) return;
    for (int i = 0; i < 3; i++) {
        nnv_expect(&a->s, is_power(w.alignment[i]), "a preferred alignment of %u is no power of two", w.alignment[i]);
        nnv_expect(&a->s, is_power(w.padding[i]), "a preferred padding of %u is no power of two", w.padding[i]);
    }
}

static void stable(struct nnv_api *a) {
    struct wishes one, two;
    if (ask(a, &one) && ask(a, &two))
        nnv_expect(&a->s, memcmp(&one, &two, sizeof one) == 0, "asked twice, the preferences are others");
}

/** Each value at `offset` of aligned memory, of `bytes` bytes. */
static void padded_by(struct nnv_api *a, const size_t offset[3], const size_t bytes[3]) {
    static _Alignas(ROOM) uint8_t room[3][ROOM];
    memset(room, 0x5a, sizeof room);
    memcpy(room[0] + offset[0], in0, BYTES);
    memcpy(room[1] + offset[1], in1, BYTES);
    if (!nnv_api_advance(a, NNV_API_EXECUTION) || !OK(Execution_enableInputAndOutputPadding, a->execution, true) ||
        !OK(Execution_setInput, a->execution, 0, NULL, room[0] + offset[0], bytes[0]) ||
        !OK(Execution_setInput, a->execution, 1, NULL, room[1] + offset[1], bytes[1]) ||
        !OK(Execution_setOutput, a->execution, 0, NULL, room[2] + offset[2], bytes[2]) ||
        !nnv_api_compute(a, a->execution))
        return;
    float out[4];
    memcpy(out, room[2] + offset[2], BYTES);
    nnv_api_check_floats(a, "the sum in a padded buffer", out, sum, 4);
    for (size_t i = 0; i < ROOM; i++)
        if ((i < offset[2] || i >= offset[2] + bytes[2]) &&
            !nnv_expect(&a->s, room[2][i] == 0x5a, "the computation wrote outside of the output"))
            return;
}

/** As the library prefers it. */
static void as_preferred(struct nnv_api *a) {
    struct wishes w;
    size_t at[3], bytes[3];
    if (!ask(a, &w)) return;
    for (int i = 0; i < 3; i++) {
        at[i] = 0;
        if (w.padding[i] == 0) {
            nnv_expect(&a->s, false, "a preferred padding of 0");
            return;
        }
        bytes[i] = (BYTES + w.padding[i] - 1) / w.padding[i] * w.padding[i];
        if (bytes[i] > ROOM || w.alignment[i] > ROOM) {
            nnv_context_decline(&a->s, NNVTS_WHY_NOT_APPLICABLE, "the library prefers more room than there is");
            return;
        }
    }
    padded_by(a, at, bytes);
}

static void padded_a_little(struct nnv_api *a) { padded_by(a, (size_t[]){0, 16, 32}, (size_t[]){17, 19, 20}); }
static void padded_much(struct nnv_api *a) { padded_by(a, (size_t[]){0, 0, 0}, (size_t[]){4096, 1000, 8192}); }
static void not_padded(struct nnv_api *a) { padded_by(a, (size_t[]){0, 0, 0}, (size_t[]){BYTES, BYTES, BYTES}); }
/** Alignment is a wish: elements that are aligned suffice. */
static void badly_aligned(struct nnv_api *a) { padded_by(a, (size_t[]){4, 12, 20}, (size_t[]){BYTES, 20, BYTES}); }

static void memory_padded(struct nnv_api *a) {
    void *at;
    if (!nnv_api_advance(a, NNV_API_EXECUTION)) return;
    ANeuralNetworksMemory *memory = nnv_api_memory(a, ROOM, &at);
    ANeuralNetworksExecution *e = a->execution;
    if (!memory) return;
    memcpy(at, in0, BYTES);
    memcpy((uint8_t *)at + 256, in1, BYTES);
    if (OK(Execution_enableInputAndOutputPadding, e, true) &&
        OK(Execution_setInputFromMemory, e, 0, NULL, memory, 0, 64) &&
        OK(Execution_setInputFromMemory, e, 1, NULL, memory, 256, 128) &&
        OK(Execution_setOutputFromMemory, e, 0, NULL, memory, 1024, 100) && nnv_api_compute(a, e))
        nnv_api_check_floats(a, "the sum in a padded range of memory", (const float *)at + 256, sum, 4);
}

/** Longer is accepted, shorter never; the rules of memory stay. */
static void too_short(struct nnv_api *a) {
    if (!nnv_api_advance(a, NNV_API_EXECUTION) || !OK(Execution_enableInputAndOutputPadding, a->execution, true))
        return;
    ANeuralNetworksMemory *memory = nnv_api_memory(a, 64, NULL);
    ANeuralNetworksExecution *e = a->execution;
    if (!memory) return;
    IS(BAD_DATA, Execution_setInput, e, 0, NULL, a->in[0], 15);
    IS(BAD_DATA, Execution_setInput, e, 0, NULL, a->in[0], 1);
    IS(BAD_DATA, Execution_setOutput, e, 0, NULL, a->out, 15);
    IS(BAD_DATA, Execution_setInputFromMemory, e, 0, NULL, memory, 0, 15);
    IS(BAD_DATA, Execution_setInputFromMemory, e, 0, NULL, memory, 48, 17);
    IS(BAD_DATA, Execution_setOutputFromMemory, e, 0, NULL, memory, 64, 16);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void switched_off(struct nnv_api *a) {
    uint8_t room[64] = {0};
    if (!nnv_api_advance(a, NNV_API_EXECUTION) || !OK(Execution_enableInputAndOutputPadding, a->execution, true) ||
        !OK(Execution_enableInputAndOutputPadding, a->execution, false))
        return;
    IS(BAD_DATA, Execution_setInput, a->execution, 0, NULL, room, 17);
    IS(BAD_DATA, Execution_setOutput, a->execution, 0, NULL, room, 17);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

/** Padding is one execution's: the next has none. */
static void of_one_execution(struct nnv_api *a) {
    uint8_t room[64] = {0};
    if (!nnv_api_advance(a, NNV_API_COMPILED)) return;
    ANeuralNetworksExecution *padded = nnv_api_execution(a, a->compilation);
    if (!padded || !OK(Execution_enableInputAndOutputPadding, padded, true) || !nnv_api_advance(a, NNV_API_EXECUTION))
        return;
    IS(BAD_DATA, Execution_setInput, a->execution, 0, NULL, room, 17);
    OK(Execution_setInput, padded, 0, NULL, room, 17);
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static const struct nnv_api_case cases[] = {
    {.name = "padding/powers_of_two", .run = powers_of_two, .level = 5},
    {.name = "padding/stable", .run = stable, .level = 5},
    {.name = "padding/as_preferred", .run = as_preferred, .level = 5},
    {.name = "padding/a_little", .run = padded_a_little, .level = 5},
    {.name = "padding/much", .run = padded_much, .level = 5},
    {.name = "padding/none", .run = not_padded, .level = 5},
    {.name = "padding/badly_aligned", .run = badly_aligned, .level = 5},
    {.name = "padding/memory", .run = memory_padded, .level = 5},
    {.name = "padding/too_short", .run = too_short, .level = 5},
    {.name = "padding/switched_off", .run = switched_off, .level = 5},
    {.name = "padding/of_one_execution", .run = of_one_execution, .level = 5},
};
NNV_API_GROUP(padding);
