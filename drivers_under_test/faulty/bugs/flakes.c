/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_flakes.c Bugs that do not show every time, and answers that are right but not the same each time. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "faulty.h"

/** Scatters the bits of x (Steele, Lea and Flood's mixer, 2014). */
static uint64_t scatter(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/** The highest bit of the last element of each output. */
static enum nnvts_status spoil(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; i < t->request->output_count && status == NNVTS_STATUS_NONE; i++)
        if (t->outputs[i].data && t->outputs[i].bytes) t->outputs[i].data[t->outputs[i].bytes - 1] ^= 0x40;
    return status;
}

/* -------------------------------------------------------------- now and then */

static enum nnvts_status execute_one_in_twenty(struct tamper *t, enum nnvts_status status) {
    static atomic_ullong calls;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t moment = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    const uint64_t dice = scatter(moment ^ scatter((uint64_t)getpid() ^ atomic_fetch_add(&calls, 1) << 32));
    return dice % 20 == 0 ? spoil(t, status) : status;
}

/* ------------------------------------------------------- after something else */

static atomic_bool floor_seen, is_abs;

static enum nnvts_status prepare_leaves_state(const struct nnvts_model *model, enum nnvts_status status) {
    bool abs = false;
    for (uint32_t i = 0; i < model->main.operation_count; i++) {
        if (model->main.operations[i].type == ANEURALNETWORKS_FLOOR) atomic_store(&floor_seen, true);
        abs = abs || model->main.operations[i].type == ANEURALNETWORKS_ABS;
    }
    atomic_store(&is_abs, abs);
    return status;
}

static enum nnvts_status execute_in_state(struct tamper *t, enum nnvts_status status) {
    return atomic_load(&floor_seen) && atomic_load(&is_abs) ? spoil(t, status) : status;
}

/* ----------------------------------------------------- right, but not the same */

/** Flips the lowest bit of the float32 elements that `key` chooses, about half of them. */
static enum nnvts_status flip_low_bits(struct tamper *t, enum nnvts_status status, uint64_t key) {
    for (uint32_t i = 0; i < t->request->output_count && status == NNVTS_STATUS_NONE; i++) {
        const struct tamper_value *v = &t->outputs[i];
        if (!v->data || v->type != ANEURALNETWORKS_TENSOR_FLOAT32) continue;
        for (uint32_t at = 0; at + 4 <= v->bytes; at += 4) {
            uint32_t bits;
            memcpy(&bits, v->data + at, 4);
            /* not of what is exact: 0, 1 */
            if (bits & 0x7fffff && scatter(key ^ at) & 1) bits ^= 1;
            memcpy(v->data + at, &bits, 4);
        }
    }
    return status;
}

static enum nnvts_status execute_by_turn(struct tamper *t, enum nnvts_status status) {
    return flip_low_bits(t, status, t->count);
}

static atomic_ullong models;

static enum nnvts_status prepare_counts(const struct nnvts_model *model, enum nnvts_status status) {
    (void)model;
    atomic_fetch_add(&models, 1);
    return status;
}

static enum nnvts_status execute_by_model(struct tamper *t, enum nnvts_status status) {
    return flip_low_bits(t, status, atomic_load(&models));
}

static enum nnvts_status execute_by_process(struct tamper *t, enum nnvts_status status) {
    return flip_low_bits(t, status, (uint64_t)getpid());
}

static enum nnvts_status execute_by_threads(struct tamper *t, enum nnvts_status status) {
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return flip_low_bits(t, status, count == 1);
}

#define UNSTEADY(label, class, where, function, ...)                                                                   \
    {                                                                                                                  \
        .name = label, .models = class, .fires = where ", float32 outputs of LOGISTIC, unless @OP says another",       \
        .op = ANEURALNETWORKS_LOGISTIC, .execute = function,                                                           \
        .survives = "its answers are right: nnvts run --determinism sees it", __VA_ARGS__                              \
    }

static const struct bug bugs[] = {
    BUG("flake-5-percent", "a race that is lost now and then", "one execution in twenty, by chance",
        .execute = execute_one_in_twenty, .spoils = "*"),
    BUG("state-left-behind", "a mode of the processor that an operation leaves behind",
        "ABS, once the process has compiled a FLOOR", .prepare = prepare_leaves_state, .execute = execute_in_state,
        .spoils = "ABS"),
    UNSTEADY("low-bit-by-execution", "sums in the order in which threads end", "each execution", execute_by_turn, ),
    UNSTEADY("low-bit-by-model", "kernels that are chosen by timing them", "each prepared model", execute_by_model,
             .prepare = prepare_counts),
    UNSTEADY("low-bit-by-process", "an order of sums that depends on where memory lies", "each process",
             execute_by_process, ),
    UNSTEADY("low-bit-by-threads", "sums cut into as many parts as there are threads", "one processor or several",
             execute_by_threads, ),
};
const struct bug_group bugs_flakes = {bugs, sizeof bugs / sizeof *bugs};
