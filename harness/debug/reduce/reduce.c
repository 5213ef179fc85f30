/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/reduce/reduce.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness/journal/record.h"
#include "harness/debug/reduce/reducer.h"
#include "harness/journal/verdict.h"
#include "reference/model/op.h"

enum { MOST_SINGLES = 256, ROUNDS = 8 };

static const uint64_t HANG_NS = 1000000000; /* that a candidate of a driver that hangs may take */
enum { SLOWER = 20 };                       /* than the original a candidate may be, beyond that */

/* ------------------------------------------------------------------- signatures */

/** The text without numbers and lists of them. */
static void copy_words(char *to, size_t room, const char *from) {
    size_t n = 0;
    bool number = false;
    for (; *from != '\0' && *from != '\n' && n + 1 < room; from++) {
        bool part = isdigit((unsigned char)*from) || strchr("[],", *from) != NULL;
        if (!part) to[n++] = *from;
        if (part && !number) to[n++] = '#';
        number = part;
    }
    to[n] = '\0';
}

struct nnv_signature nnv_signature_of(const struct nnv_spec *spec, const struct nnv_opinion *opinion) {
    const struct nnv_subgraph *m = &spec->model.main;
    struct nnv_signature s = {.verdict = opinion->verdict, .operation = -1};
    if (s.verdict == NNVTS_CRASH || s.verdict == NNVTS_TIMEOUT) {
        s.phase = opinion->phase;
        s.signal = opinion->signal;
    }
    if (opinion->of_check && (s.verdict == NNVTS_FAIL || s.verdict == NNVTS_CRASH)) {
        memcpy(s.reason, opinion->reason, sizeof s.reason); /* with the exit code, or the signal */
        return s;
    }
    if (s.verdict != NNVTS_FAIL) return s;
    s.values = opinion->has_outputs;
    if (!s.values) {
        copy_words(s.reason, sizeof s.reason, opinion->reason);
        return s;
    }
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < m->nout && i < NNV_OPINION_OUTPUTS; i++) {
        uint32_t producer = opinion->output[i].wrong ? nnv_producer(m, m->out[i]) : UINT32_MAX;
        if (producer >= first) continue;
        first = producer;
        s.operation = m->operations[producer].type;
        s.not_finite = opinion->output[i].not_finite;
    }
    return s;
}

bool nnv_signature_equal(const struct nnv_signature *a, const struct nnv_signature *b) {
    return a->verdict == b->verdict && a->phase == b->phase && a->signal == b->signal && a->values == b->values &&
           a->not_finite == b->not_finite && a->operation == b->operation && strcmp(a->reason, b->reason) == 0;
}

const char *nnv_signature_text(const struct nnv_signature *s, char *buf) {
    const struct nnv_op *op = nnv_op(s->operation);
    const size_t room = NNV_OPINION_REASON + 32;
    const char *verdict = nnv_verdict_name(s->verdict);
    if (s->values)
        snprintf(buf, room, "%s: %s of %s", verdict, s->not_finite ? "a NaN or an infinity" : "wrong values",
                 op ? op->name : "an output");
    else if (!*s->reason && (s->verdict == NNVTS_CRASH || s->verdict == NNVTS_TIMEOUT))
        snprintf(buf, room, "%s in %s", verdict, nnv_phase_name(s->phase));
    else
        snprintf(buf, room, "%s%s%s", verdict, *s->reason ? ": " : "", s->reason);
    return buf;
}

/* ------------------------------------------------------------------- candidates */

bool nnv_reducer_over(const struct nnv_reducer *r) { return r->stopped || nnv_now_ns() >= r->end_ns; }

struct nnv_spec *nnv_reducer_copy(struct nnv_reducer *r, const struct nnv_extraction *cut) {
    struct nnv_spec *spec = NULL;
    nnv_arena_reset(r->trial);
    return nnv_extract(&r->best, cut, r->trial, &spec, NULL) == NNV_OK ? spec : NULL;
}

/** The candidate in the trial arena is the best from now on. */
static void take(struct nnv_reducer *r, const struct nnv_known *known) {
    struct nnv_arena *kept = r->kept;
    r->kept = r->trial;
    r->trial = kept;
    r->best = *known;
}

bool nnv_reducer_try(struct nnv_reducer *r, const struct nnv_spec *candidate, bool relax) {
    struct nnv_known known;
    struct nnv_opinion opinion;
    if (!candidate || nnv_reducer_over(r)) return false;
    if (nnv_known_make(candidate, relax, r->trial, &known, NULL) != NNV_OK) return false;
    if (nnv_oracle_judge(&r->oracle, known.spec, &opinion, NULL) != NNV_OK) return false;
    const struct nnv_signature s = nnv_signature_of(known.spec, &opinion);
    bool same = nnv_signature_equal(&s, &r->wanted);
    if (same) take(r, &known);
    r->candidates++;
    const struct nnv_reduce_options *o = r->options;
    if (o->progress && !o->progress(o->context, r->best.spec, r->candidates)) r->stopped = true;
    return same;
}

static bool try_extraction(struct nnv_reducer *r, const struct nnv_extraction *cut) {
    return nnv_reducer_try(r, nnv_reducer_copy(r, cut), false);
}

/* ------------------------------------------------------------------- operations */

/** Tries the operation alone. keep is scratch. */
static bool try_single(struct nnv_reducer *r, uint32_t operation, bool *keep) {
    memset(keep, 0, r->best.spec->model.main.noperations);
    keep[operation] = true;
    return try_extraction(r, &(struct nnv_extraction){.keep = keep});
}

/** One operation that fails alone; those of the wanted kind first. */
static bool find_single(struct nnv_reducer *r, bool *keep) {
    const struct nnv_subgraph *m = &r->best.spec->model.main;
    uint32_t n = m->noperations, tried = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n && tried < MOST_SINGLES && !nnv_reducer_over(r); i++) {
            bool wanted = m->operations[i].type == r->wanted.operation;
            if (wanted != (pass == 0) || !(wanted || !r->wanted.values)) continue;
            if (try_single(r, i, keep)) return true;
            tried++;
        }
    return false;
}

/** Delta debugging: halves, quarters ... of the list are left out, or all but them. */
static bool minimise_list(struct nnv_reducer *r, bool *keep) {
    bool any = false;
    for (uint32_t parts = 2; r->best.spec->model.main.noperations > 1 && !nnv_reducer_over(r);) {
        const uint32_t n = r->best.spec->model.main.noperations;
        bool found = false;
        if (parts > n) parts = n;
        for (uint32_t p = 0; p < 2 * parts && !found; p++) {
            const uint32_t k = p % parts, from = (uint32_t)((uint64_t)n * k / parts);
            const uint32_t to = (uint32_t)((uint64_t)n * (k + 1) / parts);
            const bool alone = p < parts;
            if (parts == 2 && !alone) break; /* the complement of a half is the other half */
            for (uint32_t i = 0; i < n; i++) keep[i] = (i >= from && i < to) == alone;
            found = try_extraction(r, &(struct nnv_extraction){.keep = keep});
            if (found) parts = alone ? 2 : parts > 2 ? parts - 1 : 2;
        }
        any = any || found;
        if (found) continue;
        if (parts == n) break;
        parts *= 2;
    }
    return any;
}

static bool is_alike(const struct nnv_operand *a, const struct nnv_operand *b) {
    return a->type == b->type && a->rank == b->rank && a->scale == b->scale && a->zero_point == b->zero_point &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/** Tries to let those who read the operation's result read one of its inputs. */
static bool try_bypass(struct nnv_reducer *r, uint32_t operation, uint32_t input) {
    struct nnv_spec *spec = nnv_reducer_copy(r, &(struct nnv_extraction){0});
    if (!spec) return false;
    struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_operation op = m->operations[operation];
    const uint32_t from = op.out[0], to = op.in[input];
    if (!is_alike(&m->operands[from], &m->operands[to]) || nnv_producer(m, to) == UINT32_MAX) return false;
    for (uint32_t i = operation + 1; i < m->noperations; i++)
        for (uint32_t k = 0; k < m->operations[i].nin; k++)
            if (m->operations[i].in[k] == from) m->operations[i].in[k] = to;
    m->noperations--;
    memmove(&m->operations[operation], &m->operations[operation + 1],
            (m->noperations - operation) * sizeof *m->operations);
    return nnv_reducer_try(r, spec, true);
}

/** Operations in the middle of what is left, which no cut can take out. */
static bool bypass_operations(struct nnv_reducer *r) {
    bool any = false;
    for (uint32_t i = r->best.spec->model.main.noperations; i-- > 0 && !nnv_reducer_over(r);) {
        const struct nnv_subgraph *m = &r->best.spec->model.main;
        if (i >= m->noperations || m->noperations < 2 || m->operations[i].nout != 1) continue;
        bool found = false;
        for (uint32_t k = 0; !found && i < m->noperations && k < m->operations[i].nin; k++) {
            found = try_bypass(r, i, k);
            m = &r->best.spec->model.main;
        }
        any = any || found;
    }
    return any;
}

static bool reduce_operations(struct nnv_reducer *r) {
    uint32_t n = r->best.spec->model.main.noperations;
    struct nnv_arena *arena = nnv_arena_new();
    bool *keep = arena ? NNV_NEW(arena, bool, n) : NULL;
    bool any = n > 1 && keep && (find_single(r, keep) || minimise_list(r, keep));
    any = bypass_operations(r) || any;
    nnv_arena_free(arena);
    return any;
}

/* ------------------------------------------------------------ inputs and outputs */

static bool is_read(const struct nnv_subgraph *s, uint32_t operand) {
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t k = 0; k < s->operations[i].nin; k++)
            if (s->operations[i].in[k] == operand) return true;
    return false;
}

/** Operands keep their places, since nothing is left out. */
static bool try_wish(struct nnv_reducer *r, uint32_t operand, enum nnv_wish wish) {
    struct nnv_arena *arena = nnv_arena_new();
    uint8_t *wishes = arena ? NNV_NEW(arena, uint8_t, r->best.spec->model.main.noperands) : NULL;
    if (wishes) wishes[operand] = (uint8_t)wish;
    bool smaller = wishes && try_extraction(r, &(struct nnv_extraction){.wish = wishes});
    nnv_arena_free(arena);
    return smaller;
}

/** Tries a wish for each operand of this lifetime but one. */
static bool try_wishes(struct nnv_reducer *r, enum nnv_lifetime lifetime, enum nnv_wish wish, uint32_t spared) {
    bool any = false;
    for (uint32_t i = r->best.spec->model.main.noperands; i-- > 0 && !nnv_reducer_over(r);) {
        const struct nnv_subgraph *m = &r->best.spec->model.main;
        if (i >= m->noperands || m->operands[i].lifetime != lifetime || i == spared) continue;
        if (wish == NNV_WISH_HIDDEN && !is_read(m, i)) continue;
        any = try_wish(r, i, wish) || any;
    }
    return any;
}

/**
 * Outputs that are read need not be outputs. The first input of the first operation is to be an input of the model, all
 * else that is not computed a constant.
 */
static bool reduce_arguments(struct nnv_reducer *r) {
    bool any =
        r->best.spec->model.main.noperations > 1 && try_wishes(r, NNV_SUBGRAPH_OUTPUT, NNV_WISH_HIDDEN, UINT32_MAX);
    const struct nnv_subgraph *m = &r->best.spec->model.main;
    const uint32_t first = m->noperations && m->operations[0].nin ? m->operations[0].in[0] : UINT32_MAX;
    if (m->nin == 0 && first != UINT32_MAX) any = try_wish(r, first, NNV_WISH_INPUT) || any;
    const uint32_t spared = r->best.spec->model.main.nin ? r->best.spec->model.main.in[0] : UINT32_MAX;
    return try_wishes(r, NNV_SUBGRAPH_INPUT, NNV_WISH_CONSTANT, spared) || any;
}

/* --------------------------------------------------------------------- beginning */

static enum nnv_status judge_first(struct nnv_reducer *r, const struct nnv_spec *spec, struct nnv_signature *s,
                                   struct nnv_opinion *opinion, struct nnv_err *err) {
    enum nnv_status st = nnv_oracle_judge(&r->oracle, spec, opinion, err);
    if (st != NNV_OK) return st;
    *s = nnv_signature_of(spec, opinion);
    r->candidates++;
    if (nnv_is_bad(s->verdict)) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s: it does not fail %s (%s%s%.300s): nothing to reduce", spec->name,
                    r->oracle.check ? "by the check" : "on this driver", nnv_verdict_name(s->verdict),
                    *opinion->reason ? ": " : "", opinion->reason);
}

/** True if an output is wrong in both; those of the first spec stand first in the second, too. */
static bool share_wrong(const struct nnv_opinion *a, const struct nnv_opinion *b, uint32_t outputs) {
    for (uint32_t i = 0; i < outputs && i < NNV_OPINION_OUTPUTS; i++)
        if (a->output[i].wrong && b->output[i].wrong) return true;
    return false;
}

/**
 * All results as outputs: then the first operation that goes wrong is known. before: without that; an output that was
 * wrong must still be.
 */
static void show_results(struct nnv_reducer *r, const struct nnv_opinion *before) {
    struct nnv_opinion opinion;
    struct nnv_known known;
    const struct nnv_spec *all = nnv_reducer_copy(r, &(struct nnv_extraction){.all_shown = true});
    if (!all || nnv_known_make(all, false, r->trial, &known, NULL) != NNV_OK) return;
    if (nnv_oracle_judge(&r->oracle, known.spec, &opinion, NULL) != NNV_OK) return;
    struct nnv_signature s = nnv_signature_of(known.spec, &opinion);
    r->candidates++;
    if (!s.values || !share_wrong(before, &opinion, r->best.spec->model.main.nout)) return;
    take(r, &known);
    r->wanted = s;
}

/** Whether operations [from, to) give wrong values, from golden ones. If so, and taken, they are the best. */
static bool range_is_wrong(struct nnv_reducer *r, bool *keep, uint32_t from, uint32_t to, bool taken) {
    struct nnv_opinion opinion;
    struct nnv_known known;
    for (uint32_t i = 0; i < r->best.spec->model.main.noperations; i++) keep[i] = i >= from && i < to;
    const struct nnv_spec *range = nnv_reducer_copy(r, &(struct nnv_extraction){.keep = keep});
    if (!range || nnv_known_make(range, false, r->trial, &known, NULL) != NNV_OK) return false;
    if (nnv_oracle_judge(&r->oracle, known.spec, &opinion, NULL) != NNV_OK) return false;
    const struct nnv_signature s = nnv_signature_of(known.spec, &opinion);
    r->candidates++;
    if (s.verdict != NNVTS_FAIL || !s.values) return false;
    if (taken) take(r, &known);
    if (taken) r->wanted = s;
    return true;
}

/**
 * Of a graph of more operations than are looked at as outputs: the shortest beginning that is wrong, and the shortest
 * end of that, each by halves or doubles.
 */
static void narrow(struct nnv_reducer *r) {
    const uint32_t n = r->best.spec->model.main.noperations;
    struct nnv_arena *arena = nnv_arena_new();
    bool *keep = arena ? NNV_NEW(arena, bool, n) : NULL;
    uint32_t right = 0, wrong = n;
    while (keep && wrong - right > 1 && !nnv_reducer_over(r)) {
        const uint32_t middle = right + (wrong - right) / 2;
        if (range_is_wrong(r, keep, 0, middle, false))
            wrong = middle;
        else
            right = middle;
    }
    bool found = false;
    for (uint32_t length = 1; keep && !found && length < wrong && !nnv_reducer_over(r); length *= 2)
        found = range_is_wrong(r, keep, wrong - length, wrong, true);
    if (keep && !found && wrong < n) (void)range_is_wrong(r, keep, 0, wrong, true);
    nnv_arena_free(arena);
}

static enum nnv_status begin(struct nnv_reducer *r, const struct nnv_spec *spec, struct nnv_reduction *out,
                             struct nnv_err *err) {
    if (spec->expect_failure)
        return nnv_fail(err, NNV_INVALID, "%s: a driver must refuse this model, which is as small as it is",
                        spec->name);
    struct nnv_opinion opinion;
    enum nnv_status st = judge_first(r, spec, &out->before, &opinion, err);
    if (st == NNV_OK) st = nnv_known_make(spec, false, r->kept, &r->best, err);
    if (st == NNV_OK) st = judge_first(r, r->best.spec, &r->wanted, &opinion, err);
    if (st != NNV_OK) return out->before.verdict == NNVTS_FAIL ? nnv_at(err, st, "against the golden values") : st;
    const uint64_t most = HANG_NS + (r->wanted.verdict == NNVTS_TIMEOUT ? 0 : SLOWER * opinion.ns);
    if (r->oracle.timeout_ns > most) r->oracle.timeout_ns = most;
    if (r->wanted.values && r->best.spec->model.main.noperations > NNV_OPINION_OUTPUTS)
        narrow(r);
    else if (r->wanted.values)
        show_results(r, &opinion);
    return NNV_OK;
}

/* The time of a candidate is cut for drivers that hang: the result must hang for as long as the original. */
static bool is_confirmed(struct nnv_reducer *r) {
    struct nnv_opinion opinion;
    if (r->oracle.timeout_ns == r->options->oracle->timeout_ns) return true;
    if (nnv_oracle_judge(r->options->oracle, r->best.spec, &opinion, NULL) != NNV_OK) return false;
    const struct nnv_signature s = nnv_signature_of(r->best.spec, &opinion);
    return nnv_signature_equal(&s, &r->wanted);
}

static void reduce_all(struct nnv_reducer *r) {
    bool smaller = true;
    for (int round = 0; round < ROUNDS && smaller && !nnv_reducer_over(r); round++) {
        smaller = reduce_operations(r);
        smaller = reduce_arguments(r) || smaller;
        smaller = nnv_reduce_extents(r) || smaller;
        smaller = nnv_reduce_attributes(r) || smaller;
        smaller = nnv_reduce_values(r) || smaller;
    }
}

enum nnv_status nnv_reduce(const struct nnv_spec *spec, const struct nnv_reduce_options *options,
                           struct nnv_arena *arena, struct nnv_reduction *out, struct nnv_err *err) {
    struct nnv_reducer r = {.options = options,
                            .oracle = *options->oracle,
                            .kept = nnv_arena_new(),
                            .trial = nnv_arena_new(),
                            .end_ns = nnv_now_ns() + options->total_ns};
    *out = (struct nnv_reduction){0};
    enum nnv_status st = NNV_OK;
    if (!r.kept || !r.trial) st = nnv_no_memory(err);
    if (st == NNV_OK) st = begin(&r, spec, out, err);
    if (st == NNV_OK) reduce_all(&r);
    if (st == NNV_OK && !is_confirmed(&r)) {
        r.oracle.timeout_ns = options->oracle->timeout_ns;
        nnv_arena_reset(r.kept);
        st = nnv_known_make(spec, false, r.kept, &r.best, err);
        if (st == NNV_OK) reduce_all(&r);
    }
    if (st == NNV_OK) st = nnv_extract(&r.best, &(struct nnv_extraction){0}, arena, &out->spec, err);
    out->after = r.wanted;
    out->candidates = r.candidates;
    out->complete = !nnv_reducer_over(&r);
    nnv_arena_free(r.kept);
    nnv_arena_free(r.trial);
    return st;
}
