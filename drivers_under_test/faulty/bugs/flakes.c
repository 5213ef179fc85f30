/* SPDX-License-Identifier: Apache-2.0 */
/** @file flakes.c Bugs that do not show every time, and answers that are right but not the same each time. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "faulty.h"

/** Scatters the bits of x (Steele, Lea and Flood's mixer, 2014). */
static uint64_t scatter(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* -------------------------------------------------------------- now and then */

static void execute_one_in_twenty(struct call *c) {
    static atomic_ullong calls;
    const uint64_t dice = scatter(clock_ns() ^ scatter((uint64_t)getpid() ^ atomic_fetch_add(&calls, 1) << 32));
    if (dice % 20 == 0) flip_outputs(c);
}

/* ------------------------------------------------------- after something else */

static atomic_bool floor_seen, is_abs;

static void prepare_leaves_state(struct call *c) {
    const struct nnvts_model *model = c->model;
    bool abs = false;
    if (!succeeded(c)) return;
    for (uint32_t i = 0; i < model->main.operation_count; i++) {
        if (model->main.operations[i].type == ANEURALNETWORKS_FLOOR) atomic_store(&floor_seen, true);
        abs = abs || model->main.operations[i].type == ANEURALNETWORKS_ABS;
    }
    atomic_store(&is_abs, abs);
}

static void execute_in_state(struct call *c) {
    if (atomic_load(&floor_seen) && atomic_load(&is_abs)) flip_outputs(c);
}

/* ----------------------------------------------------- right, but not the same */

/** Flips the lowest bit of the float32 elements that `key` chooses, about half of them. */
static void flip_low_bits(struct call *c, uint64_t key) {
    for (uint32_t i = 0; i < c->request->output_count && succeeded(c); i++) {
        const struct value *v = &c->outputs[i];
        if (!v->data || !is_float32(v->type)) continue;
        for (uint32_t at = 0; at + 4 <= v->bytes; at += 4) {
            uint32_t bits;
            memcpy(&bits, v->data + at, 4);
            /* not of what is exact: 0, 1 */
            if (bits & 0x7fffff && scatter(key ^ at) & 1) bits ^= 1;
            memcpy(v->data + at, &bits, 4);
        }
    }
}

static void execute_by_turn(struct call *c) { flip_low_bits(c, c->count); }

static atomic_ullong models;

static void prepare_counts(struct call *c) {
    if (succeeded(c)) atomic_fetch_add(&models, 1);
}

static void execute_by_model(struct call *c) { flip_low_bits(c, atomic_load(&models)); }

static void execute_by_process(struct call *c) { flip_low_bits(c, (uint64_t)getpid()); }

static void execute_by_threads(struct call *c) {
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    flip_low_bits(c, count == 1);
}

#define UNSTEADY(label, class, where, function, ...)                                                                   \
    {                                                                                                                  \
        .name = label, .models = class, .fires = where ", float32 outputs of LOGISTIC, unless @OP says another",       \
        .op = ANEURALNETWORKS_LOGISTIC, .tamper = function,                                                            \
        .survives = "its answers are right: nnvts run --determinism sees it", __VA_ARGS__                              \
    }

static const struct bug bugs[] = {
    BUG("flake-5-percent", "a race that is lost now and then", "one execution in twenty, by chance",
        .tamper = execute_one_in_twenty, .spoils = "*"),
    BUG("state-left-behind", "a mode of the processor that an operation leaves behind",
        "ABS, once the process has compiled a FLOOR", .on = ON(PREPARE), .after = prepare_leaves_state,
        .tamper = execute_in_state, .spoils = "ABS"),
    UNSTEADY("low-bit-by-execution", "sums in the order in which threads end", "each execution", execute_by_turn, ),
    UNSTEADY("low-bit-by-model", "kernels that are chosen by timing them", "each prepared model", execute_by_model,
             .on = ON(PREPARE), .after = prepare_counts),
    UNSTEADY("low-bit-by-process", "an order of sums that depends on where memory lies", "each process",
             execute_by_process, ),
    UNSTEADY("low-bit-by-threads", "sums cut into as many parts as there are threads", "one processor or several",
             execute_by_threads, ),
};
const struct bug_group bugs_flakes = {bugs, sizeof bugs / sizeof *bugs};
