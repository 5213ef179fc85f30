/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fuzz/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "harness/runner/coverage/counters.h"
#include "harness/runner/worker/limits.h"

enum { ANSWERS_MAX = 512 };

/* More than one input shows it. */
#define SEVERAL UINTPTR_MAX

/* Address space that a driver may take on top of what a worker has: a model that asks for more must be refused. */
#define HEADROOM (UINT64_C(2) << 30)

const char *nnv_fuzz_wrong_name(enum nnv_fuzz_wrong w) {
    static const char *const names[NNV_WRONG_COUNT] = {"crash", "hang", "memory", "status", "refused", "values"};
    return (unsigned)w < NNV_WRONG_COUNT ? names[w] : "unknown";
}

struct nnv_fuzz_input nnv_fuzz_batch_input(const struct nnv_fuzz_batch *b, uint32_t i) {
    if (b->given != NULL) return b->given[i];
    struct nnv_fuzz_input input = b->parent;
    struct nnv_rng rng = nnv_rng_make(b->seed, b->number, i);
    /* Room for a new mutation: a parent that is full loses one. */
    if (input.count == NNV_FUZZ_MUTATIONS_MAX) input.count--;
    nnv_fuzz_draw_mutations(&rng, &input);
    return input;
}

/** Once a process: what the model asks for shall not take the machine's memory. */
static void limit_memory(void) {
    static bool done;
    if (!done) nnv_limit_memory(HEADROOM);
    done = true;
}

struct running {
    struct nnv_case_env *env;
    const struct nnv_fuzz_batch *batch;
    struct nnv_result *result;
    struct nnv_arena *base_arena, *arena;
    struct nnv_fuzz_base base; /**< of spec */
    struct nnv_spec *spec;
    struct nnv_id_map shown; /**< kinds of answers and edges that were written down; the value: of how many inputs */
    uint32_t input, answers; /**< the input that runs; kinds of answers so far */
    bool supported;
};

/** Writes down that the input shows it: of the first two inputs that do, which is what an estimate of the rest takes.
 */
static void note(struct running *r, char kind, uint64_t key) {
    const uint32_t i = nnv_id_add(&r->shown, key);
    const uintptr_t by = (uintptr_t)r->input + 1;
    const uintptr_t before = i == NNV_MAP_NONE ? SEVERAL : (uintptr_t)r->shown.item[i].value;
    if (before == SEVERAL || before == by) return;
    r->shown.item[i].value = (void *)(before == 0 ? by : SEVERAL);
    nnv_text_addf(&r->result->outputs, "%c %016" PRIx64 " %" PRIu32 "\n", kind, key, r->input);
}

static void note_answer(struct running *r, uint64_t hash) {
    const uint64_t key = hash | 1;
    const bool known = nnv_id_find(&r->shown, key) != NNV_MAP_NONE;
    if (!known && r->answers == ANSWERS_MAX) return;
    r->answers += !known;
    note(r, 'a', key);
}

static void note_edge(void *context, uint64_t key) { note(context, 'e', key & ~UINT64_C(1)); }

static void note_wrong(struct running *r, enum nnv_fuzz_wrong kind, uint32_t input, const char *text) {
    r->result->verdict = NNVTS_FAIL;
    nnv_text_addf(&r->result->outputs, "w %s %" PRIu32 " ", nnv_fuzz_wrong_name(kind), input);
    for (const char *c = text; *c != '\0'; c++)
        nnv_text_add_n(&r->result->outputs, *c == '\n' ? "; " : c, *c == '\n' ? 2 : 1);
    nnv_text_add(&r->result->outputs, "\n");
}

static bool same_base(const struct nnv_fuzz_base *a, const struct nnv_fuzz_base *b) {
    return a->op == b->op && a->profile == b->profile && a->sig == b->sig && a->variant == b->variant &&
           a->mode == b->mode && a->index == b->index && a->seed == b->seed;
}

/** Makes the model of an input, unless it is the one that is there. */
static bool build(struct running *r, const struct nnv_fuzz_base *base) {
    struct nnv_err err = {0};
    if (r->spec != NULL && same_base(base, &r->base)) return true;
    *r->env->phase = NNV_PHASE_BUILD;
    nnv_arena_reset(r->base_arena);
    r->spec = NULL;
    r->base = *base;
    return nnv_fuzz_base_build(base, r->base_arena, &r->spec, &err) == NNV_OK && r->spec != NULL;
}

/** The model without mutations, judged as in a run. */
static void judge(struct running *r, uint32_t inputs) {
    struct nnv_case_env env = *r->env;
    struct nnv_result judged = {.verdict = NNVTS_ERROR};
    env.arena = r->arena;
    nnv_arena_reset(r->arena);
    if (r->batch->board != NULL) atomic_store(&r->batch->board->current, NNV_FUZZ_UNCHANGED);
    enum nnv_precision precision = NNV_PRECISION_BUDGET;
    nnv_judge(&env, r->spec, 0, precision, &judged);
    r->result->compared += judged.compared;
    r->result->values += judged.values;
    r->result->not_compared += judged.not_compared;
    r->result->driver_ns += judged.driver_ns;
    r->result->worker_damaged = r->result->worker_damaged || judged.worker_damaged;
    if (judged.verdict == NNVTS_FAIL)
        note_wrong(r, NNV_WRONG_VALUES, inputs, judged.reason.data != NULL ? judged.reason.data : "");
    nnv_text_free(&judged.reason);
    nnv_text_free(&judged.outputs);
}

static void run_input(struct running *r, uint32_t i) {
    struct nnv_fuzz_input input = nnv_fuzz_batch_input(r->batch, i);
    struct nnv_fuzz_outcome out;
    if (!build(r, &input.base)) return;
    nnv_arena_reset(r->arena);
    if (r->batch->board != NULL) atomic_store(&r->batch->board->current, i);
    nnv_coverage_forget();
    nnv_fuzz_execute(r->env, r->spec, &input, r->arena, &out);
    r->result->compared++; /* its answer with the rules */
    if (r->batch->board != NULL) atomic_store(&r->batch->board->done, i + 1);
    if (r->env->serial != NULL) atomic_fetch_add(r->env->serial, 1);
    r->supported = r->supported || out.supported;
    r->result->worker_damaged = r->result->worker_damaged || out.damaged;
    r->input = i;
    for (int k = 0; k < out.nanswers; k++) note_answer(r, out.answers[k]);
    if (r->env->config->coverage != NULL) nnv_coverage_each(note_edge, r);
    if (out.wrong) note_wrong(r, out.kind, i, out.text);
}

void nnv_fuzz_batch_run(struct nnv_case_env *env, const struct nnv_fuzz_batch *b, struct nnv_result *result) {
    struct running *r = calloc(1, sizeof *r);
    struct nnv_arena *base_arena = nnv_arena_new();
    struct nnv_arena *arena = nnv_arena_new();
    if (r != NULL && base_arena != NULL && arena != NULL) {
        *r = (struct running){.env = env, .batch = b, .result = result, .base_arena = base_arena, .arena = arena};
        limit_memory();
        result->verdict = NNVTS_PASS;
        uint32_t i = b->first;
        for (; i < b->count && !result->worker_damaged; i++) run_input(r, i);
        if (!result->worker_damaged && build(r, &b->parent.base)) judge(r, i);
        if (result->verdict == NNVTS_PASS && !r->supported) result->verdict = NNVTS_UNSUPPORTED;
    } else {
        nnv_text_add(&result->reason, "nnvts: out of memory");
    }
    nnv_arena_free(arena);
    nnv_arena_free(base_arena);
    if (r != NULL) nnv_id_free(&r->shown);
    free(r);
}
