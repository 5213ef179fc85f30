/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow.c IF and WHILE, as the runtime walks through them. */
#include "base/clock.h"
#include "reference/runtime/log.h"
#include "reference/runtime/run/run.h"

static int graph_of(struct nnv_rt_activation *a, uint32_t step, int which, struct nnv_rt_activation **out) {
    struct nnv_rt_activation **kept = &a->flows[step].graphs[which];
    if (!*kept) *kept = nnv_rt_activation_new(a->plan, a->graph->steps[step].graphs[which]);
    *out = *kept;
    return *kept ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUT_OF_MEMORY;
}

int nnv_rt_run_if(struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step) {
    const struct nnv_rt_step *s = &a->graph->steps[step];
    struct nnv_rt_flow *f = &a->flows[step];
    struct nnv_rt_activation *branch = NULL;
    bool yes = false;
    int result = nnv_rt_value_read_bool(a->at[s->condition], &yes);
    if (!result) result = graph_of(a, step, yes ? 0 : 1, &branch);
    if (result) return result;
    nnv_rt_vlog(NNV_RT_LOG_EXECUTION, "graph %u step %u: IF takes the %s branch", a->number, step,
                yes ? "then" : "else");
    for (uint32_t i = 0; i < s->input_count; i++) f->in[i] = a->at[s->inputs[i]];
    for (uint32_t i = 0; i < s->output_count; i++) f->out[i] = a->at[s->outputs[i]];
    return nnv_rt_run_graph(run, branch, f->in, f->out);
}

/** The condition on what f->in holds now. */
static int ask(struct nnv_rt_run *run, struct nnv_rt_activation *condition, struct nnv_rt_flow *f, uint64_t began_ns,
               bool *go_on) {
    struct nnv_rt_value *verdict = &f->verdict;
    nnv_rt_value_reset(verdict);
    int result = nnv_rt_run_graph(run, condition, f->in, &verdict);
    if (result) return result;
    const uint64_t limit = run->config.loop_timeout_ns;
    if (nnv_now_ns() - began_ns > (limit == NNVTS_NO_TIME ? NNVTS_LOOP_TIMEOUT_DEFAULT_NS : limit)) {
        run->final = true;
        nnv_rt_vlog(NNV_RT_LOG_EXECUTION, "WHILE ran longer than its timeout");
        return ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT;
    }
    return nnv_rt_value_read_bool(verdict, go_on);
}

/** The last values of the variables, which may be what came in, go out. */
static int leave(struct nnv_rt_activation *a, const struct nnv_rt_step *s, const struct nnv_rt_flow *f) {
    int result = ANEURALNETWORKS_NO_ERROR;
    for (uint32_t i = 0; i < s->output_count; i++) {
        int copied = nnv_rt_value_copy(f->in[i], a->at[s->outputs[i]]);
        if (copied && copied != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) return copied;
        if (copied) result = copied;
    }
    return result;
}

int nnv_rt_run_while(struct nnv_rt_run *run, struct nnv_rt_activation *a, uint32_t step) {
    const struct nnv_rt_step *s = &a->graph->steps[step];
    struct nnv_rt_flow *f = &a->flows[step];
    struct nnv_rt_activation *condition = NULL, *body = NULL;
    int result = graph_of(a, step, 0, &condition);
    if (!result) result = graph_of(a, step, 1, &body);
    if (result) return result;
    const uint64_t began_ns = nnv_now_ns();
    for (uint32_t i = 0; i < s->input_count; i++) f->in[i] = a->at[s->inputs[i]];
    for (uint64_t turn = 0;; turn++) {
        bool go_on = false;
        result = ask(run, condition, f, began_ns, &go_on);
        if (result) return result;
        if (!go_on) {
            nnv_rt_vlog(NNV_RT_LOG_EXECUTION, "graph %u step %u: WHILE ends after %llu iterations", a->number, step,
                        (unsigned long long)turn);
            return leave(a, s, f);
        }
        for (uint32_t i = 0; i < f->carried_count; i++) {
            f->out[i] = &f->carried[turn & 1][i];
            nnv_rt_value_reset(f->out[i]);
        }
        result = nnv_rt_run_graph(run, body, f->in, f->out);
        if (result) return result;
        for (uint32_t i = 0; i < f->carried_count; i++) f->in[i] = f->out[i];
    }
}
