/* SPDX-License-Identifier: Apache-2.0 */
/** @file each.c Each operation alone: executed with some inputs, with others, and with the first again, as a state is
 * the caller's and nothing of an execution may show in the next; and by two threads at once. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"
#include "harness/suites/kit/cases.h"
#include "randgraph/fusion/fusion.h"
#include "randgraph/single/single.h"

enum { VARIANTS = 3, ROUNDS = 3, CHAINS = 16 };

/** Of one signature, by the operation's code and `turn`; turn negative: of all. */
static enum nnv_status list_variant(struct nnv_case_list *list, struct nnv_case made, const char *group,
                                    const struct nnv_op *op, int variant, int turn, struct nnv_err *err) {
    const int first = turn < 0 ? 0 : (op->code + turn) % op->nsigs, end = turn < 0 ? op->nsigs : first + 1;
    enum nnv_status st = NNV_OK;
    for (int sig = first; sig < end && !st; sig++) {
        char name[96];
        made.op = op->name;
        made.type = nnv_type(op->sigs[sig].type[NNV_T])->tag;
        made.data = op;
        made.b = (uint64_t)sig;
        made.d = (uint64_t)variant;
        st = nnv_list_case(list, made, err, "exec/%s/%s/%s/%s", group, op->name,
                           nnv_single_sig_name(op, sig, name, sizeof name), op->variants[variant]);
    }
    return st;
}

enum nnv_status nnv_exec_list_again(struct nnv_case_list *list, struct nnv_case made, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < n; i++) {
        if (nnv_has_order(ops[i]) || ops[i]->sizes) continue;
        const bool state = nnv_op_is_recurrent(ops[i]); /* without one a signature, of all types in turn */
        const int variants = state ? VARIANTS : 1;
        for (int variant = 0; variant < variants && variant < nnv_single_variants(ops[i]) && !st; variant++)
            st = list_variant(list, made, "again", ops[i], variant, state ? -1 : 0, err);
    }
    return st;
}

/** Chains of operations: what they hand on lies in memory that executions at once must not share. */
static enum nnv_status list_chains(struct nnv_case_list *list, struct nnv_case made, size_t count,
                                   struct nnv_err *err) {
    const size_t chains = nnv_fusion_chains();
    enum nnv_status st = NNV_OK;
    for (size_t k = 0; k < count && !st; k++) {
        struct nnv_fusion_chain chain;
        made.b = chains * k / count;
        made.d = k % NNV_FUSION_TYPES;
        nnv_fusion_chain_of((size_t)made.b, &chain);
        if (!nnv_fusion_takes(&chain, nnv_fusion_types[made.d])) continue;
        made.op = chain.main;
        made.type = nnv_type(nnv_fusion_types[made.d])->tag;
        st = nnv_list_case(list, made, err, "exec/at_once/chain/%s/%s", chain.name, made.type);
    }
    return st;
}

/* The last variants are those with an axis, a layout, large images. */
enum nnv_status nnv_exec_list_at_once(struct nnv_case_list *list, struct nnv_case made, int most, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < n; i++) {
        const int variants = nnv_single_variants(ops[i]);
        if (nnv_has_order(ops[i]) || ops[i]->sizes || ops[i]->check_subgraphs) continue;
        for (int variant = variants > most ? variants - most : 0; variant < variants && !st; variant++)
            st = list_variant(list, made, "at_once", ops[i], variant, variant, err);
    }
    return st ? st : list_chains(list, made, (size_t)CHAINS * (size_t)most, err);
}

static enum nnv_status draw(const struct nnv_exec *x, const struct nnv_case *c, int index, struct nnv_spec **spec,
                            struct nnv_err *err) {
    struct nnv_fusion_chain chain;
    if (c->data) {
        const struct nnv_single single = {
            .op = c->data, .sig = (int)c->b, .variant = (int)c->d, .index = index, .seed = x->seed, .name = c->name};
        return nnv_single_build(&single, x->s->env->arena, spec, err);
    }
    nnv_fusion_chain_of((size_t)c->b, &chain);
    const struct nnv_fusion fusion = {.chain = &chain,
                                      .type = nnv_fusion_types[c->d],
                                      .consumers = NNV_CONSUMERS_SHARED,
                                      .seed = x->seed,
                                      .name = c->name};
    return nnv_fusion_build(&fusion, x->s->env->arena, spec, err);
}

/** Draws the case's model, and prepares it. False: the case is over. */
static bool make(struct nnv_exec *x, const struct nnv_case *c, int index) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    if (draw(x, c, index, &spec, &err) != NNV_OK) {
        nnv_context_error(x->s, "%s", err.text);
        return false;
    }
    return nnv_result_level(x->s->env, spec->min_version, x->s->result) && nnv_context_model(x->s, spec, &x->fixture) &&
           nnv_context_ready(x->s, &x->fixture, &x->prepared, &x->values);
}

/** Where an argument of this element size begins behind a multiple of 64, not before the last one did: at a multiple of
 * its size, and of 4 only if that is one. */
static uint32_t shift_of(uint32_t last, uint32_t size) {
    uint32_t by = (last + size - 1) / size * size;
    if (by % 4 == 0 && (size < 4 || by == 0)) by += size;
    return by;
}

/** Arguments begin behind multiples of 64 bytes: bytes at odd offsets, and so on. */
static bool shift(struct nnv_exec *x, struct nnv_request *v) {
    enum { SLACK = 512 };
    const struct nnv_subgraph *main = &v->model->main;
    struct nnv_abi_pool pools[2];
    for (int k = 0; k < 2; k++)
        if (!nnv_context_memory(x->s, v->bytes[k] + SLACK, k ? NNV_POOL_WRITABLE : NNV_POOL_READ_ONLY, &pools[k].memory,
                                &pools[k].data))
            return false;
    nnv_request_place(v, &pools[0], &pools[1]);
    for (uint32_t i = 0, by = 0; i < main->nin; i++) {
        if (v->in[i].omitted) continue;
        by = shift_of(by, (uint32_t)nnv_type(main->operands[main->in[i]].type)->size);
        v->inputs[i].location.offset += by;
        v->input_at[i] += by;
    }
    for (uint32_t i = 0, by = 0; i < main->nout; i++) {
        by = shift_of(by, (uint32_t)nnv_type(main->operands[main->out[i]].type)->size);
        v->output_places[i].offset += by;
        v->output_at[i] += by;
    }
    nnv_request_fill(v, v->in);
    nnv_request_reset(v);
    return true;
}

/** Two sets of inputs, and a request for each. */
static bool make_inputs(struct nnv_exec *x, struct nnv_fixture *fixtures, struct nnv_request *values) {
    const bool ok = nnv_exec_variants(x, NNV_POOL_READ_ONLY, 2, fixtures, values);
    for (int i = 0; ok && i < 2; i++) nnv_context_forgive_choices(&fixtures[i]);
    return ok;
}

/* ------------------------------------------------------------------------ again */

/** In the same memory, and by the same execution or burst where the mode has one that serves again. */
static bool in_place(struct nnv_exec *x, enum nnv_mode mode, const struct nnv_fixture *fixtures) {
    struct nnv_exec_run run;
    int64_t tokens[NNV_MOST_TOKENS];
    if (!nnv_exec_make(x, &run, x->prepared, mode, &x->values, NULL)) return false;
    for (int i = 0; i < NNV_MOST_TOKENS; i++) tokens[i] = 1 + i;
    run.x.tokens = tokens;
    bool ok = mode != NNV_MODE_REUSABLE || nnv_context_open(x->s, &run.x);
    for (int i = 0; i < ROUNDS && ok; i++) {
        nnv_context_fill(&x->values, &fixtures[i % 2]);
        ok = nnv_exec_once(x, &run);
    }
    nnv_exec_end(x, &run);
    return ok;
}

void nnv_exec_again(struct nnv_exec *x, const struct nnv_case *c) {
    struct nnv_fixture fixtures[2];
    struct nnv_request values[2];
    bool ok = make(x, c, 0) && make_inputs(x, fixtures, values) && shift(x, &values[1]);
    for (int mode = 0; mode < NNV_MODES && ok; mode++) {
        if (!nnv_mode_offered(x->prepared, (enum nnv_mode)mode)) continue;
        for (int i = 0; i < ROUNDS && ok; i++)
            ok = nnv_exec_run(x, x->prepared, (enum nnv_mode)mode, &values[i % 2], NULL);
        ok = ok && in_place(x, (enum nnv_mode)mode, fixtures);
    }
}

/* ---------------------------------------------------------------------- at once */

enum { FEWEST_RUNS = 4, SHAPE_INDEX = 2 }; /* index 0 has the smallest shapes */
static const uint64_t LONG_ENOUGH_NS = 1000000, PATIENCE_NS = 100000;

/** A thread that executes the model until an answer is another than it was alone. */
struct racer {
    struct nnvts_prepared_model *prepared;
    struct nnv_request *values;
    void **alone;             /**< its outputs when nothing else ran */
    enum nnvts_status status; /**< of the last execution */
    atomic_int *waiting;
    pthread_t thread;
};

static bool is_as_alone(const struct racer *r) {
    for (uint32_t i = 0; i < r->values->abi.output_count; i++)
        if (memcmp(r->values->output_at[i], r->alone[i], r->values->out[i].bytes) != 0) return false;
    return true;
}

static void *race(void *arg) {
    struct racer *r = arg;
    atomic_fetch_sub(r->waiting, 1);
    uint64_t start = nnv_now_ns();
    while (atomic_load(r->waiting) > 0) /* both on a processor when it begins, unless there is but one */
        if (nnv_now_ns() - start > PATIENCE_NS) sched_yield();
    start = nnv_now_ns();
    for (int i = 0; i < FEWEST_RUNS || nnv_now_ns() - start < LONG_ENOUGH_NS; i++) {
        struct nnv_execution x = nnv_execution_make(NNV_MODE_SYNC, r->prepared, r->values);
        nnv_request_reset(r->values);
        nnv_execute(&x);
        r->status = x.status;
        if (x.status != NNVTS_STATUS_NONE || !is_as_alone(r)) break;
    }
    return NULL;
}

/** Of a chain the values alone are for other suites to judge: what is allowed grows from operation to operation. */
static bool execute_alone(struct nnv_exec *x, struct racer *r, bool chain) {
    struct nnv_execution run = nnv_execution_make(NNV_MODE_SYNC, r->prepared, r->values);
    if (!chain) return nnv_context_execute(x->s, r->prepared, r->values);
    nnv_request_reset(r->values);
    return nnv_context_run(x->s, &run) && nnv_expect_status(x->s, run.call, run.status, NNVTS_STATUS_NONE);
}

static bool run_alone(struct nnv_exec *x, struct racer *r, bool chain) {
    if (!execute_alone(x, r, chain)) return false;
    r->alone = NNV_NEW(x->s->env->arena, void *, r->values->abi.output_count);
    if (!r->alone) return nnv_context_error(x->s, NNV_OUT_OF_MEMORY);
    for (uint32_t i = 0; i < r->values->abi.output_count; i++) {
        r->alone[i] = nnv_arena_copy(x->s->env->arena, r->values->output_at[i], r->values->out[i].bytes);
        if (!r->alone[i]) return nnv_context_error(x->s, NNV_OUT_OF_MEMORY);
    }
    return true;
}

/* An answer that differs is judged by its budgets: engines need not repeat themselves to the bit. */
void nnv_exec_at_once(struct nnv_exec *x, const struct nnv_case *c) {
    struct nnv_fixture fixtures[2];
    struct nnv_request values[2];
    struct racer racers[2];
    atomic_int waiting = 2;
    bool ok = make(x, c, SHAPE_INDEX) && make_inputs(x, fixtures, values);
    for (int i = 0; i < 2 && ok; i++) {
        racers[i] = (struct racer){.prepared = x->prepared, .values = &values[i], .waiting = &waiting};
        ok = run_alone(x, &racers[i], !c->data);
    }
    if (!ok) return;
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    x->s->mode = (int)NNV_MODE_SYNC + 1;
    if (pthread_create(&racers[1].thread, NULL, race, &racers[1]) != 0) {
        nnv_context_error(x->s, "no thread");
        return;
    }
    race(&racers[0]);
    pthread_join(racers[1].thread, NULL);
    for (int i = 0; i < 2 && ok; i++) {
        const bool alike = !c->data && racers[i].status == NNVTS_STATUS_NONE && is_as_alone(&racers[i]);
        ok = alike ? nnv_expect(x->s, true, "the values are those that it gives alone")
                   : nnv_context_check_values(x->s, "execute while another thread executes the model", racers[i].status,
                                              &values[i]);
    }
}
