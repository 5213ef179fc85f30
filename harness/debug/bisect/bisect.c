/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/bisect/bisect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/journal/record.h"
#include "harness/journal/verdict.h"

static const uint32_t NONE = UINT32_MAX;

static const uint64_t HANG_NS = 1000000000; /* that one try of a driver that hangs may take */

/** A bisection on its way. */
struct bisecting {
    const struct nnv_oracle *oracle;
    struct nnv_oracle quick; /**< with less time, for drivers that hang */
    struct nnv_known known;  /**< golden values */
    struct nnv_known actual; /**< the driver's own, where they are known */
    struct nnv_arena *arena, *scratch;
    struct nnv_bisection *out;
};

static const struct nnv_subgraph *main_of(const struct bisecting *b) { return &b->known.spec->model.main; }

/** The operations [from, to) as a spec; index as of nnv_cut. */
static enum nnv_status cut_into(struct bisecting *b, struct nnv_arena *arena, const struct nnv_known *values,
                                uint32_t from, uint32_t to, uint32_t **index, struct nnv_known *cut,
                                struct nnv_err *err) {
    bool *keep = NNV_NEW(arena, bool, main_of(b)->noperations);
    uint32_t *map = NNV_NEW(arena, uint32_t, main_of(b)->noperands);
    struct nnv_spec *spec;
    if (!keep || !map) return nnv_no_memory(err);
    for (uint32_t i = from; i < to; i++) keep[i] = true;
    enum nnv_status st = nnv_extract(values, &(struct nnv_extraction){.keep = keep, .index = map}, arena, &spec, err);
    if (st == NNV_OK) st = nnv_known_make(spec, false, arena, cut, err);
    if (index) *index = map;
    return st;
}

/** The same in scratch memory. */
static enum nnv_status cut_range(struct bisecting *b, const struct nnv_known *values, uint32_t from, uint32_t to,
                                 uint32_t **index, struct nnv_known *cut, struct nnv_err *err) {
    nnv_arena_reset(b->scratch);
    return cut_into(b, b->scratch, values, from, to, index, cut, err);
}

/** Does the driver fail on the operations [from, to), with these values as inputs? *same: in the way of the whole. */
static bool fails(struct bisecting *b, const struct nnv_known *values, uint32_t from, uint32_t to, bool *same) {
    struct nnv_known cut;
    struct nnv_opinion opinion;
    *same = false;
    if (cut_range(b, values, from, to, NULL, &cut, NULL) != NNV_OK) return false;
    if (nnv_oracle_judge(&b->quick, cut.spec, &opinion, NULL) != NNV_OK) return false;
    const struct nnv_signature s = nnv_signature_of(cut.spec, &opinion);
    const struct nnv_signature *w = &b->out->signature;
    *same = nnv_signature_equal(&s, w) || (s.values && w->values);
    return nnv_is_bad(s.verdict);
}

/* ------------------------------------------------------- step by step, from the driver's values */

/** The outputs of an operation as the driver computed them; NULL if their shapes are not those of the golden result. */
static struct nnv_value *actual_outputs(struct bisecting *b, const struct nnv_known *cut, const uint32_t *index) {
    const struct nnv_subgraph *m = &cut->spec->model.main;
    struct nnv_value *v = NNV_NEW(b->scratch, struct nnv_value, m->nout);
    for (uint32_t i = 0; v && i < main_of(b)->noperands; i++)
        for (uint32_t k = 0; index[i] != NONE && k < m->nout; k++)
            if (m->out[k] == index[i]) v[k] = b->actual.value[i];
    for (uint32_t k = 0; v && k < m->nout; k++) {
        const struct nnv_value *want = &cut->spec->outputs[k];
        if (v[k].omitted || !v[k].data || v[k].rank != want->rank || v[k].bytes != want->bytes) return NULL;
        if (want->rank && memcmp(v[k].dims, want->dims, want->rank * sizeof *want->dims) != 0) return NULL;
    }
    return v;
}

static void add_output(struct nnv_step *s, const struct nnv_output_opinion *o) {
    s->compared += o->compared;
    s->wrong += o->wrong;
    if (o->compared == 0 || !(o->ratio >= s->ratio || isnan(o->ratio))) return;
    s->ratio = o->ratio;
    s->error = o->error;
}

/** What the opinion of an operation alone makes of its step. */
static void take_opinion(const struct nnv_spec *spec, const struct nnv_opinion *opinion, struct nnv_step *s) {
    for (uint32_t i = 0; opinion->has_outputs && i < spec->model.main.nout && i < NNV_OPINION_OUTPUTS; i++)
        add_output(s, &opinion->output[i]);
    s->kind = NNV_STEP_UNJUDGED;
    if (opinion->verdict == NNVTS_PASS)
        s->kind = NNV_STEP_RIGHT;
    else if (opinion->verdict == NNVTS_UNTRUSTED || opinion->verdict == NNVTS_SKIP)
        s->kind = NNV_STEP_UNTRUSTED;
    else if (nnv_is_bad(opinion->verdict))
        s->kind = NNV_STEP_WRONG;
    if (s->kind == NNV_STEP_UNJUDGED || (s->kind == NNV_STEP_WRONG && !opinion->has_outputs))
        snprintf(s->note, sizeof s->note, "%s%s%.140s", nnv_verdict_name(opinion->verdict),
                 *opinion->reason ? ": " : "", opinion->reason);
}

static void judge_step(struct bisecting *b, uint32_t operation, struct nnv_step *s) {
    struct nnv_known cut;
    struct nnv_opinion opinion;
    struct nnv_err err = {0};
    uint32_t *index;
    s->kind = NNV_STEP_UNJUDGED;
    if (cut_range(b, &b->actual, operation, operation + 1, &index, &cut, &err) != NNV_OK) {
        snprintf(s->note, sizeof s->note, "%.159s", err.text);
        return;
    }
    struct nnv_value *outputs = actual_outputs(b, &cut, index);
    if (!outputs) {
        snprintf(s->note, sizeof s->note, "its golden result on the driver's values has another shape");
        return;
    }
    /* what was integer-valued is so no more once something went wrong */
    cut.spec->exact = cut.spec->exact && b->out->culprit == NONE;
    nnv_oracle_compare(cut.spec, NNV_PRECISION_BUDGET, outputs, b->scratch, &opinion);
    take_opinion(cut.spec, &opinion, s);
}

static enum nnv_status judge_steps(struct bisecting *b, struct nnv_err *err) {
    const uint32_t n = main_of(b)->noperations;
    b->out->step = NNV_NEW(b->arena, struct nnv_step, n);
    if (!b->out->step) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        judge_step(b, i, &b->out->step[i]);
        if (b->out->step[i].kind == NNV_STEP_WRONG && b->out->culprit == NONE) b->out->culprit = i;
    }
    if (b->out->culprit == NONE) return NNV_OK;
    bool same;
    b->out->alone =
        fails(b, &b->actual, b->out->culprit, b->out->culprit + 1, &same) ? NNV_ALONE_FAILS : NNV_ALONE_PASSES;
    if (b->out->alone == NNV_ALONE_PASSES) return NNV_OK;
    struct nnv_known cut;
    enum nnv_status st = cut_into(b, b->arena, &b->actual, b->out->culprit, b->out->culprit + 1, NULL, &cut, err);
    if (st == NNV_OK) b->out->isolated = cut.spec;
    return st;
}

/* ------------------------------------------------------------- without the driver's values */

/** The first operation that fails alone in the same way, on golden values. */
static void find_alone(struct bisecting *b) {
    bool same;
    for (uint32_t i = 0; i < main_of(b)->noperations && b->out->culprit == NONE; i++)
        if (fails(b, &b->known, i, i + 1, &same) && same) {
            b->out->culprit = i;
            b->out->alone = NNV_ALONE_FAILS;
        }
}

/** The last operation of the shortest beginning of the graph that fails. */
static void find_beginning(struct bisecting *b) {
    uint32_t good = 0, bad = main_of(b)->noperations;
    bool same;
    if (bad == 0 || !fails(b, &b->known, 0, bad, &same) || !same) return;
    while (bad - good > 1) {
        uint32_t middle = good + (bad - good) / 2;
        if (fails(b, &b->known, 0, middle, &same) && same)
            bad = middle;
        else
            good = middle;
    }
    b->out->culprit = bad - 1;
    b->out->alone = NNV_ALONE_PASSES;
}

/** Results that, made outputs one by one, make the failure vanish; the culprit is the first one's operation. */
static enum nnv_status find_joint(struct bisecting *b, struct nnv_err *err) {
    const struct nnv_subgraph *m = main_of(b);
    b->out->joint = NNV_NEW(b->arena, bool, m->noperands);
    if (!b->out->joint) return nnv_no_memory(err);
    for (uint32_t i = 0; i < m->noperands; i++) {
        struct nnv_spec *spec;
        struct nnv_opinion opinion;
        if (m->operands[i].lifetime != NNV_TEMPORARY_VARIABLE) continue;
        nnv_arena_reset(b->scratch);
        uint8_t *wish = NNV_NEW(b->scratch, uint8_t, m->noperands);
        if (!wish) return nnv_no_memory(err);
        wish[i] = NNV_WISH_SHOWN;
        enum nnv_status st = nnv_extract(&b->known, &(struct nnv_extraction){.wish = wish}, b->scratch, &spec, err);
        if (st == NNV_OK) st = nnv_oracle_judge(&b->quick, spec, &opinion, err);
        if (st != NNV_OK) return st;
        b->out->joint[i] = !nnv_is_bad(opinion.verdict);
        if (b->out->joint[i] && b->out->culprit == NONE) b->out->culprit = nnv_producer(m, i);
    }
    if (b->out->culprit != NONE) b->out->alone = NNV_ALONE_PASSES;
    return NNV_OK;
}

/* ------------------------------------------------------------------------ all of it */

/** What the driver computes with all results as outputs; !*ran: opinion says what became of it. */
static enum nnv_status take_values(struct bisecting *b, const struct nnv_spec *all, bool *ran,
                                   struct nnv_opinion *opinion, struct nnv_err *err) {
    struct nnv_value *outputs;
    enum nnv_status st = nnv_oracle_run(b->oracle, all, b->arena, &outputs, opinion, err);
    if (st != NNV_OK || opinion->verdict != NNVTS_PASS) return st;
    b->actual = b->known;
    b->actual.value = nnv_arena_copy(b->arena, b->known.value, main_of(b)->noperands * sizeof *b->known.value);
    if (!b->actual.value) return nnv_no_memory(err);
    for (uint32_t i = 0; i < all->model.main.nout; i++) b->actual.value[all->model.main.out[i]] = outputs[i];
    *ran = true;
    return NNV_OK;
}

/** All results as outputs: on the driver, and what it computed. */
static enum nnv_status run_shown(struct bisecting *b, bool *ran, struct nnv_err *err) {
    struct nnv_spec *all;
    struct nnv_opinion opinion;
    *ran = false;
    enum nnv_status st = nnv_extract(&b->known, &(struct nnv_extraction){.all_shown = true}, b->arena, &all, err);
    if (st == NNV_OK) st = nnv_oracle_judge(&b->quick, all, &opinion, err);
    if (st != NNV_OK) return st;
    const struct nnv_signature s = nnv_signature_of(all, &opinion);
    b->out->vanishes = !nnv_is_bad(s.verdict);
    if (!b->out->vanishes && !(s.values && b->out->signature.values) && !nnv_signature_equal(&s, &b->out->signature))
        nnv_signature_text(&s, b->out->shown);
    if (!b->out->signature.values || (!s.values && !b->out->vanishes)) return NNV_OK;
    return take_values(b, all, ran, &opinion, err);
}

static enum nnv_status bisect(struct bisecting *b, struct nnv_err *err) {
    struct nnv_opinion opinion;
    bool ran = false;
    enum nnv_status st = nnv_oracle_judge(b->oracle, b->known.spec, &opinion, err);
    if (st != NNV_OK) return st;
    b->out->signature = nnv_signature_of(b->known.spec, &opinion);
    if (!nnv_is_bad(opinion.verdict))
        return nnv_fail(err, NNV_INVALID, "%s: it does not fail %s (%s%s%.300s): nothing to bisect",
                        b->known.spec->name, b->oracle->check ? "by the check" : "on this driver",
                        nnv_verdict_name(opinion.verdict), *opinion.reason ? ": " : "", opinion.reason);
    b->quick = *b->oracle;
    if (opinion.verdict == NNVTS_TIMEOUT && b->quick.timeout_ns > HANG_NS) b->quick.timeout_ns = HANG_NS;
    st = run_shown(b, &ran, err);
    if (st == NNV_OK && ran) st = judge_steps(b, err);
    if (st != NNV_OK || b->out->culprit != NONE || opinion.verdict == NNVTS_UNTRUSTED) return st;
    if (b->out->vanishes) st = find_joint(b, err);
    if (st == NNV_OK && b->out->culprit == NONE && !ran) find_alone(b);
    if (st == NNV_OK && b->out->culprit == NONE && !ran) find_beginning(b);
    return st;
}

enum nnv_status nnv_bisect(const struct nnv_spec *spec, const struct nnv_oracle *oracle, struct nnv_arena *arena,
                           struct nnv_bisection *out, struct nnv_err *err) {
    struct bisecting b = {.oracle = oracle, .arena = arena, .scratch = nnv_arena_new(), .out = out};
    *out = (struct nnv_bisection){.culprit = NONE};
    if (!b.scratch) return nnv_no_memory(err);
    enum nnv_status st = NNV_OK;
    if (spec->expect_failure)
        st = nnv_fail(err, NNV_INVALID, "%s: a driver must refuse this model: there is nothing to bisect", spec->name);
    if (st == NNV_OK) st = nnv_known_make(spec, false, arena, &b.known, err);
    if (st == NNV_OK) {
        out->spec = b.known.spec;
        st = bisect(&b, err);
    }
    nnv_arena_free(b.scratch);
    return st;
}

/* ------------------------------------------------------------- specs that need not fail */

/** Each operation as a model of its own, on golden inputs. */
static enum nnv_status judge_alone(struct bisecting *b, struct nnv_err *err) {
    const uint32_t n = main_of(b)->noperations;
    b->out->step = NNV_NEW(b->arena, struct nnv_step, n);
    if (!b->out->step) return nnv_no_memory(err);
    b->out->apart = true;
    for (uint32_t i = 0; i < n; i++) {
        struct nnv_step *s = &b->out->step[i];
        struct nnv_known cut;
        struct nnv_opinion opinion;
        struct nnv_err why = {0};
        s->kind = NNV_STEP_UNJUDGED;
        enum nnv_status st = cut_range(b, &b->known, i, i + 1, NULL, &cut, &why);
        if (st == NNV_OK) st = nnv_oracle_judge(b->oracle, cut.spec, &opinion, &why);
        if (st == NNV_OK)
            take_opinion(cut.spec, &opinion, s);
        else
            snprintf(s->note, sizeof s->note, "%.159s", why.text);
        if (s->kind == NNV_STEP_WRONG && b->out->culprit == NONE) b->out->culprit = i;
    }
    if (b->out->culprit != NONE) b->out->alone = NNV_ALONE_FAILS;
    return NNV_OK;
}

enum nnv_status nnv_judge_steps(const struct nnv_spec *spec, const struct nnv_oracle *oracle, struct nnv_arena *arena,
                                struct nnv_bisection *out, struct nnv_err *err) {
    struct bisecting b = {.oracle = oracle, .quick = *oracle, .arena = arena, .scratch = nnv_arena_new(), .out = out};
    struct nnv_opinion opinion;
    *out = (struct nnv_bisection){.culprit = NONE, .signature.verdict = NNVTS_PASS};
    if (!b.scratch) return nnv_no_memory(err);
    bool ran = false;
    enum nnv_status st = nnv_known_make(spec, false, arena, &b.known, err);
    if (st == NNV_OK) {
        out->spec = b.known.spec;
        struct nnv_spec *all;
        st = nnv_extract(&b.known, &(struct nnv_extraction){.all_shown = true}, arena, &all, err);
        if (st == NNV_OK) st = take_values(&b, all, &ran, &opinion, err);
    }
    if (st == NNV_OK && ran) st = judge_steps(&b, err);
    if (st == NNV_OK && !ran) {
        out->signature.verdict = opinion.verdict;
        snprintf(out->shown, sizeof out->shown, "%s%s%s", nnv_verdict_name(opinion.verdict),
                 *opinion.reason ? ": " : "", opinion.reason);
        st = judge_alone(&b, err);
    }
    nnv_arena_free(b.scratch);
    return st;
}

/* ------------------------------------------------------------- values that are given */

/** What is missing for judging the operation: its own results, or what it reads; NULL: nothing. */
static const char *missing(const struct nnv_subgraph *m, const struct nnv_operation *o, const struct nnv_value *given) {
    for (uint32_t k = 0; k < o->nout; k++)
        if (!given[o->out[k]].data) return "its result is not there";
    for (uint32_t k = 0; k < o->nin; k++)
        if (nnv_producer(m, o->in[k]) != NONE && !given[o->in[k]].data) return "what it reads is not there";
    return NULL;
}

enum nnv_status nnv_judge_given(const struct nnv_known *known, const struct nnv_value *given, struct nnv_arena *arena,
                                struct nnv_bisection *out, struct nnv_err *err) {
    struct bisecting b = {.known = *known, .actual = *known, .arena = arena, .scratch = nnv_arena_new(), .out = out};
    const struct nnv_subgraph *m = main_of(&b);
    *out = (struct nnv_bisection){
        .spec = known->spec, .culprit = NONE, .step = NNV_NEW(arena, struct nnv_step, m->noperations)};
    b.actual.value = nnv_arena_copy(arena, known->value, m->noperands * sizeof *known->value);
    const bool ready = b.scratch && out->step && b.actual.value;
    for (uint32_t i = 0; ready && i < m->noperands; i++)
        if (given[i].data) b.actual.value[i] = given[i];
    for (uint32_t i = 0; ready && i < m->noperations; i++) {
        struct nnv_step *s = &out->step[i];
        const char *what = missing(m, &m->operations[i], given);
        if (what)
            snprintf(s->note, sizeof s->note, "%s", what), s->kind = NNV_STEP_UNJUDGED;
        else
            judge_step(&b, i, s);
        if (s->kind == NNV_STEP_WRONG && out->culprit == NONE) out->culprit = i;
    }
    nnv_arena_free(b.scratch);
    return ready ? NNV_OK : nnv_no_memory(err);
}
