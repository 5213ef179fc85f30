/* SPDX-License-Identifier: Apache-2.0 */
/** @file again.c Operations executed with some inputs, with others, and with the first again: a state is the caller's,
 * and nothing of an execution may show in the next. */
#include <stdio.h>

#include "harness/suites/exec/exec.h"
#include "harness/suites/kit/cases.h"
#include "randgraph/single/single.h"

enum { VARIANTS = 3, ROUNDS = 3 };

/** Numbers that are turned by one break what these demand of them: keys ascend, corners of boxes are in order. */
static bool has_order(const struct nnv_op *op) {
    switch (op->code) {
    case ANEURALNETWORKS_HASHTABLE_LOOKUP:
    case ANEURALNETWORKS_ROI_ALIGN:
    case ANEURALNETWORKS_ROI_POOLING:
    case ANEURALNETWORKS_AXIS_ALIGNED_BBOX_TRANSFORM:
        return true;
    }
    return false;
}

enum nnv_status nnv_exec_list_again(struct nnv_case_list *list, struct nnv_case made, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < n; i++) {
        /* without a state one signature, of all types in turn */
        if (has_order(ops[i]) || ops[i]->sizes) continue;
        const bool state = nnv_op_is_recurrent(ops[i]);
        const int only = ops[i]->code % ops[i]->nsigs, variants = state ? VARIANTS : 1;
        for (int sig = state ? 0 : only; sig < (state ? ops[i]->nsigs : only + 1); sig++)
            for (int variant = 0; variant < variants && variant < nnv_single_variants(ops[i]) && !st; variant++) {
                char name[96];
                made.op = ops[i]->name;
                made.type = nnv_type(ops[i]->sigs[sig].type[NNV_T])->tag;
                made.data = ops[i];
                made.b = (uint64_t)sig;
                made.d = (uint64_t)variant;
                st = nnv_list_case(list, made, err, "exec/again/%s/%s/%s", ops[i]->name,
                                   nnv_single_sig_name(ops[i], sig, name, sizeof name), ops[i]->variants[variant]);
            }
    }
    return st;
}

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
    const struct nnv_single what = {
        .op = c->data, .sig = (int)c->b, .variant = (int)c->d, .seed = x->seed, .name = c->name};
    struct nnv_spec *spec;
    struct nnv_fixture fixtures[2];
    struct nnv_request values[2];
    struct nnv_err err = {0};
    if (nnv_single_build(&what, x->s->env->arena, &spec, &err) != NNV_OK) {
        nnv_context_error(x->s, "%s", err.text);
        return;
    }
    if (!nnv_result_level(x->s->env, spec->min_version, x->s->result)) return;
    bool ok = nnv_context_model(x->s, spec, &x->fixture) &&
              nnv_context_ready(x->s, &x->fixture, &x->prepared, &x->values) &&
              nnv_exec_variants(x, NNV_POOL_READ_ONLY, 2, fixtures, values);
    for (int i = 0; ok && i < 2; i++) nnv_context_forgive_choices(&fixtures[i]);
    for (int mode = 0; mode < NNV_MODES && ok; mode++) {
        if (!nnv_mode_offered(x->prepared, (enum nnv_mode)mode)) continue;
        for (int i = 0; i < ROUNDS && ok; i++)
            ok = nnv_exec_run(x, x->prepared, (enum nnv_mode)mode, &values[i % 2], NULL);
        ok = ok && in_place(x, (enum nnv_mode)mode, fixtures);
    }
}
