/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/layers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "harness/runner/signals.h"
#include "reference/model/validate.h"

enum { WORST = 12, LEAST_NS = 10000000 };

/** "right", "wrong" ... */
static const char *layers_kind(enum nnv_step_kind kind) {
    static const char *const names[] = {[NNV_STEP_RIGHT] = "right",
                                        [NNV_STEP_WRONG] = "wrong",
                                        [NNV_STEP_UNTRUSTED] = "untrusted",
                                        [NNV_STEP_UNJUDGED] = "unjudged"};
    return names[kind];
}

const char *nnv_layers_name(const struct nnv_layers *l, uint32_t i) {
    const struct nnv_op *op = nnv_op(l->found.spec->model.main.operations[i].type);
    return op ? op->name : "?";
}

const char *nnv_layers_result(const struct nnv_layers *l, uint32_t i, char *buf, size_t room) {
    const struct nnv_subgraph *m = &l->found.spec->model.main;
    const struct nnv_operand *o = &m->operands[m->operations[i].out[0]];
    const struct nnv_shape shape = nnv_operand_shape(o);
    char dims[256];
    snprintf(buf, room, "%s %s", nnv_type(o->type)->tag, nnv_shape_text(&shape, dims, sizeof dims));
    return buf;
}

/** Is step a to be told before b? What is wrong comes first, then what is nearest to its bound. */
static bool before(const struct nnv_step *a, const struct nnv_step *b) {
    if ((a->kind == NNV_STEP_WRONG) != (b->kind == NNV_STEP_WRONG)) return a->kind == NNV_STEP_WRONG;
    if (isnan(a->ratio) || isnan(b->ratio)) return isnan(a->ratio) && !isnan(b->ratio);
    return a->ratio > b->ratio;
}

/** Counts, and puts the worst first: by insertion, for the operations of one network. */
static void rank(struct nnv_layers *l) {
    const struct nnv_step *step = l->found.step;
    for (uint32_t i = 0; i < l->count; i++) {
        l->out_of_budget += step[i].kind == NNV_STEP_WRONG;
        if (step[i].kind == NNV_STEP_UNJUDGED) continue;
        uint32_t k = l->judged++;
        for (; k > 0 && before(&step[i], &step[l->worst[k - 1]]); k--) l->worst[k] = l->worst[k - 1];
        l->worst[k] = i;
    }
}

enum nnv_status nnv_layers_judge(const struct nnv_network *net, const struct nnv_value *inputs,
                                 const struct nnv_bench_options *options, struct nnv_arena *arena,
                                 struct nnv_layers *out, struct nnv_err *err) {
    const struct nnv_oracle oracle = {.path = options->path,
                                      .options = options->options,
                                      .precision = NNV_PRECISION_BUDGET,
                                      .timeout_ns = options->timeout_ns};
    struct nnv_spec spec = {.name = net->name, .model = net->model};
    *out = (struct nnv_layers){.present = true};
    spec.inputs = nnv_arena_copy(arena, inputs, net->model.main.nin * sizeof *inputs);
    spec.outputs = NNV_NEW(arena, struct nnv_value, net->model.main.nout);
    if (!spec.inputs || !spec.outputs) return nnv_no_memory(err);
    for (uint32_t i = 0; i < net->model.main.nout; i++) spec.outputs[i].omitted = true;
    enum nnv_status st = nnv_judge_steps(&spec, &oracle, arena, &out->found, err);
    if (st != NNV_OK) return nnv_at(err, st, "%s, operation by operation", net->name);
    out->count = out->found.spec->model.main.noperations;
    out->worst = NNV_NEW(arena, uint32_t, out->count);
    out->work = NNV_NEW(arena, struct nnv_op_work, out->count);
    if (!out->worst || !out->work) return nnv_no_memory(err);
    rank(out);
    struct nnv_op_work whole;
    return nnv_model_work(&out->found.spec->model, arena, out->work, &whole, err);
}

/** Times operation i of what is known. */
static enum nnv_status time_one(const struct nnv_known *known, uint32_t i, const struct nnv_timing_options *timing,
                                struct nnv_timed *out, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    bool *keep = arena ? NNV_NEW(arena, bool, known->spec->model.main.noperations) : NULL;
    struct nnv_spec *alone;
    if (keep) keep[i] = true;
    enum nnv_status st =
        keep ? nnv_extract(known, &(struct nnv_extraction){.keep = keep}, arena, &alone, err) : nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_time_model(&alone->model, timing, out, err);
    if (st == NNV_UNSUPPORTED) { /* a shape that only values tell */
        *out = (struct nnv_timed){.state = NNV_BENCH_UNSUPPORTED};
        st = NNV_OK;
    }
    nnv_arena_free(arena);
    return st;
}

/** Puts operation i, which is timed, where it belongs among the slowest. */
static void rank_time(struct nnv_layers *l, uint32_t i) {
    uint32_t k = l->timed_count++;
    for (; k > 0 && l->timed[i].us > l->timed[l->slowest[k - 1]].us; k--) l->slowest[k] = l->slowest[k - 1];
    l->slowest[k] = i;
}

enum nnv_status nnv_layers_time(struct nnv_layers *l, const struct nnv_bench_options *options,
                                const struct nnv_roof *roof, struct nnv_arena *arena, struct nnv_err *err) {
    const uint64_t share = options->time_ns / (l->count ? l->count : 1);
    const struct nnv_timing_options timing = {.path = options->path,
                                              .options = options->options,
                                              .remote = options->remote,
                                              .time_ns = share > LEAST_NS ? share : LEAST_NS,
                                              .timeout_ns = options->timeout_ns};
    struct nnv_known known;
    enum nnv_status st = nnv_known_make(l->found.spec, false, arena, &known, err);
    struct nnv_timed *timed = NNV_NEW(arena, struct nnv_timed, l->count);
    l->line = NNV_NEW(arena, struct nnv_roofline, l->count);
    l->slowest = NNV_NEW(arena, uint32_t, l->count);
    if (st == NNV_OK && (!timed || !l->line || !l->slowest)) st = nnv_no_memory(err);
    l->roof = roof;
    l->timed = timed;
    for (uint32_t i = 0; i < l->count && st == NNV_OK && nnv_signals_interrupts() == 0; i++) {
        st = time_one(&known, i, &timing, &timed[i], err);
        if (st != NNV_OK || timed[i].state != NNV_BENCH_DONE) continue;
        rank_time(l, i);
        l->line[i] = nnv_roofline_of(roof, &l->work[i], timed[i].us * 1e3,
                                     (struct nnv_interval){timed[i].low_us * 1e3, timed[i].high_us * 1e3});
        if (options->progress) options->progress(options->context, (double)(i + 1) / l->count);
    }
    return st;
}

static json_t *step_json(const struct nnv_layers *l, uint32_t i) {
    static const char *const alone[] = {"unknown", "fails", "passes"};
    const struct nnv_step *s = &l->found.step[i];
    char result[320];
    json_t *j = json_pack("{s:i,s:s,s:s,s:s}", "operation", (int)i, "name", nnv_layers_name(l, i), "result",
                          nnv_layers_result(l, i, result, sizeof result), "kind", layers_kind(s->kind));
    if (!j) return NULL;
    if (s->compared) {
        json_object_set_new(j, "compared", json_integer((json_int_t)s->compared));
        json_object_set_new(j, "wrong", json_integer((json_int_t)s->wrong));
        json_object_set_new(j, "error", nnv_json_any(s->error));
        json_object_set_new(j, "ratio", nnv_json_any(s->ratio));
    }
    json_object_set_new(j, "work", nnv_work_json(&l->work[i]));
    if (l->timed && l->timed[i].state == NNV_BENCH_DONE)
        json_object_set_new(j, "roofline", nnv_roofline_json(l->roof, &l->work[i], &l->line[i]));
    if (*s->note) json_object_set_new(j, "note", json_string(s->note));
    if (i == l->found.culprit) json_object_set_new(j, "alone", json_string(alone[l->found.alone]));
    return j;
}

json_t *nnv_layers_json(const struct nnv_layers *l) {
    json_t *worst = json_array(), *steps = json_array();
    for (uint32_t i = 0; i < l->judged && i < WORST; i++) json_array_append_new(worst, step_json(l, l->worst[i]));
    for (uint32_t i = 0; i < l->count; i++) json_array_append_new(steps, step_json(l, i));
    json_t *j = json_pack("{s:s,s:s,s:b,s:i,s:i,s:i,s:o,s:o}", "state", "done", "reason", "", "apart",
                          (int)l->found.apart, "operations", (int)l->count, "judged", (int)l->judged, "out_of_budget",
                          (int)l->out_of_budget, "worst", worst, "steps", steps);
    if (j && l->found.culprit != UINT32_MAX) json_object_set_new(j, "first", json_integer(l->found.culprit));
    if (j && *l->found.shown) json_object_set_new(j, "shown", json_string(l->found.shown));
    return j;
}
