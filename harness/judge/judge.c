/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/judge.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "harness/client/run.h"
#include "harness/judge/answers.h"
#include "harness/judge/compare.h"
#include "harness/judge/degenerate.h"
#include "harness/judge/words.h"
#include "nnvts/result.h"
#include "reference/model/validate.h"

/** What judging one spec knows. */
struct judging {
    struct nnv_case_env *env;
    const struct nnv_spec *spec;
    struct nnv_result *result;
    struct nnv_outcome outcome;
    struct nnv_comparer compare;
};

static void enter(const struct judging *j, enum nnv_phase phase) {
    if (j->env->phase) *j->env->phase = (uint32_t)phase;
}

struct nnv_arithmetic nnv_env_arithmetic(const struct nnv_case_env *env, const struct nnv_spec *spec) {
    return env->arithmetic ? *env->arithmetic : spec->arithmetic;
}

enum nnvts_verdict nnv_why_verdict(enum nnvts_reason why) {
    static const enum nnvts_verdict of[NNVTS_REASON_COUNT] = {
#define X(name, verdict, sentence) [NNVTS_WHY_##name] = NNVTS_##verdict,
        NNVTS_REASONS(X)
#undef X
    };
    return of[why];
}

void nnv_result_end(struct nnv_result *result, enum nnvts_reason why, const char *fmt, ...) {
    va_list ap;
    result->verdict = (int)nnv_why_verdict(why);
    result->why = why;
    va_start(ap, fmt);
    nnv_text_vaddf(&result->reason, fmt, ap);
    va_end(ap);
}

void nnv_result_start(struct nnv_result *result) {
    result->verdict = NNVTS_ERROR;
    result->why = NNVTS_WHY_NONE;
    result->mode = 0;
    result->compared = result->not_compared = result->values = 0;
    result->driver_ns = 0;
    result->worker_damaged = false;
    nnv_text_clear(&result->reason);
    nnv_text_clear(&result->outputs);
    nnv_text_clear(&result->answer);
    nnv_text_clear(&result->drift);
}

bool nnv_result_level(const struct nnv_case_env *env, int level, struct nnv_result *result) {
    int has = env->client->device->feature_level;
    if (level == 0 || level <= has) return true; /* whatever a driver says of itself */
    nnv_result_end(result, NNVTS_WHY_FEATURE_LEVEL, "needs feature level %d, the driver has %d", level, has);
    return false;
}

static const struct nnv_operand *output_operand(const struct judging *j, uint32_t i) {
    const struct nnv_subgraph *main = &j->spec->model.main;
    return &main->operands[main->out[i]];
}

/**
 * The driver reported other shapes than the expected ones. Where decisions are open there may be another number of
 * results: the driver runs once more, and is judged by an alternative of the shapes that it reported.
 */
static void run_alternative(struct judging *j) {
    const struct nnv_outcome first = j->outcome;
    const uint32_t n = j->spec->model.main.nout;
    struct nnv_spec *spec = nnv_arena_copy(j->env->arena, j->spec, sizeof *spec);
    enter(j, NNV_PHASE_CHECK);
    if (!spec || !(spec->outputs = NNV_NEW(j->env->arena, struct nnv_value, n))) return;
    const struct nnv_golden *golden = nnv_comparer_alternative(&j->compare, first.reported);
    if (!golden) return;
    for (uint32_t i = 0; i < n; i++) spec->outputs[i] = golden[i].value;
    j->spec = j->compare.spec = spec;
    nnv_client_run(j->env->client, spec, j->env->arena, j->env->phase, &j->outcome);
    j->outcome.supported_ns += first.supported_ns;
    j->outcome.prepare_ns += first.prepare_ns;
    j->outcome.execute_ns += first.execute_ns;
}

/** A file's own expectation that disagrees with the golden result: the reader of a failure must know. */
static void add_doubts(const struct judging *j, struct nnv_text *t) {
    struct nnv_err err = {0};
    const bool budget = nnv_comparer_uses_budget(&j->compare);
    struct nnv_comparison *c = budget ? NNV_NEW(j->env->arena, struct nnv_comparison, 1) : NULL;
    for (uint32_t i = 0; c && i < j->spec->model.main.nout; i++) {
        struct nnv_expectation e = j->compare.taken[i];
        if (nnv_comparer_output(&j->compare, i, j->spec->outputs[i].data, &e, c, &err) == NNV_OK && c->wrong &&
            !c->note[0])
            nnv_text_addf(
                t, "\nnote: the spec's own expectation of output %u differs from the golden result in %zu values", i,
                c->wrong);
    }
}

/** The bytes of all outputs, unless they are many. */
static void keep_answer(const struct judging *j, struct nnv_text *answer) {
    enum { MOST = 1 << 20 };
    size_t bytes = 0;
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++) bytes += j->outcome.outputs[i].bytes;
    for (uint32_t i = 0; i < j->spec->model.main.nout && bytes <= MOST; i++)
        nnv_text_add_n(answer, j->outcome.outputs[i].data, j->outcome.outputs[i].bytes);
}

/** What of the inputs is no finite number: NaN, infinities. */
static void find_special(const struct judging *j, bool *nan, bool *infinity) {
    const struct nnv_subgraph *m = &j->spec->model.main;
    *nan = *infinity = false;
    for (uint32_t i = 0; i < m->nin; i++) {
        const int32_t type = m->operands[m->in[i]].type;
        const struct nnv_value *v = &j->spec->inputs[i];
        if (!nnv_is_float(type) || v->omitted) continue;
        const size_t size = nnv_type(type)->size;
        for (size_t e = 0; e < v->bytes / size; e++) {
            double number;
            nnv_load(type, (const char *)v->data + e * size, 1, &number);
            *nan = *nan || isnan(number);
            *infinity = *infinity || isinf(number);
        }
    }
}

/**
 * An output of which nothing was compared but by its class, NaN beside NaN and infinity beside infinity, which is no
 * evidence; UINT32_MAX: there is none. Inputs that hold such numbers excuse one output beside others, and infinities
 * all, which may well stay what they are.
 */
static uint32_t find_empty(const struct judging *j) {
    uint32_t empty = UINT32_MAX;
    bool all = true, infinite = false, nan, infinity;
    for (uint32_t i = j->spec->model.main.nout; i-- > 0;) {
        const struct nnv_comparison *c = &j->compare.comparison[i];
        if (c->compared == 0) continue;
        all = all && c->undefined == c->compared;
        if (c->undefined == c->compared) empty = i;
        infinite = infinite || c->infinite > 0;
    }
    if (empty == UINT32_MAX) return empty;
    find_special(j, &nan, &infinity);
    const bool excused = all ? infinite && infinity : nan || infinity;
    return excused ? UINT32_MAX : empty;
}

/** Verdict, sums, reason and record from the comparisons. */
static void conclude(struct judging *j) {
    struct nnv_result *r = j->result;
    size_t wrong = 0, elems = 0;
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++) {
        const struct nnv_comparison *c = &j->compare.comparison[i];
        r->compared += c->compared;
        r->not_compared += c->not_compared;
        wrong += c->wrong;
        if (j->compare.taken[i].ignored) continue;
        elems += c->elems;
        if (c->wrong) nnv_judge_add_wrong(&j->compare, j->outcome.outputs, i, j->env->before, &r->reason);
    }
    const uint32_t empty = wrong ? UINT32_MAX : find_empty(j);
    r->values = r->compared;
    if (r->compared) {
        nnv_text_add(&r->outputs, "[");
        for (uint32_t i = 0; i < j->spec->model.main.nout; i++)
            nnv_judge_add_output(&j->compare, j->outcome.outputs, i, &r->outputs);
        nnv_text_add(&r->outputs, "]");
    }
    if (wrong) {
        r->verdict = NNVTS_FAIL;
        r->why = NNVTS_WHY_VALUES;
        if (j->env->keep_answer) keep_answer(j, &r->answer);
        add_doubts(j, &r->reason);
    } else if (empty != UINT32_MAX) {
        nnv_result_end(r, NNVTS_WHY_NOTHING_COMPARED,
                       "output %u: NaN beside NaN and infinity beside infinity are no evidence, and none of its %zu "
                       "compared values is finite",
                       empty, j->compare.comparison[empty].compared);
    } else if (r->compared || elems == 0) {
        /* outputs without elements were judged by their shapes; a spec that ignores all outputs asks for no more than
           an execution by the rules */
        r->verdict = NNVTS_PASS;
        if (j->env->keep_right) keep_answer(j, &r->answer);
        if (!r->compared) r->compared = j->spec->model.main.nout;
    } else if (nnv_arithmetic_is_weak(&j->compare.arithmetic)) {
        nnv_result_end(r, NNVTS_WHY_ARITHMETIC, "the promised arithmetic leaves none of the %zu values to compare",
                       elems);
    } else {
        nnv_result_end(r, NNVTS_WHY_NOTHING_COMPARED,
                       "nothing was compared: the budget of each of the %zu values is as large as the value", elems);
    }
}

/* -------------------------------------------------------------------- judging */

/** Validates the model. False if that ends the case; *level is raised to what the model needs where the spec is silent.
 */
static bool check_model(const struct judging *j, int *level) {
    struct nnv_err err = {0};
    int needed = 0;
    enter(j, NNV_PHASE_BUILD);
    enum nnv_status st = nnv_validate(&j->spec->model, j->env->arena, &needed, &err);
    if (st == NNV_UNSUPPORTED) {
        nnv_result_end(j->result, NNVTS_WHY_NO_REFERENCE, "%s", err.text);
        return false;
    }
    if (*level < j->spec->min_version) *level = j->spec->min_version;
    if (st == NNV_INVALID && j->spec->expect_failure) return true;
    if (st != NNV_OK) {
        nnv_result_end(j->result, NNVTS_WHY_MALFORMED, "the spec's model is invalid: %s", err.text);
        return false;
    }
    /* some vectors declare less than they need: a driver that knows only the declared level may refuse them */
    if (*level < needed) *level = needed;
    return true;
}

/**
 * A refusal is right where the driver supports the same model without the mistake; else it shows nothing. Who dies of
 * either has not refused.
 */
static void judge_refusal(const struct judging *j) {
    const struct nnv_model *valid = j->spec->valid;
    struct nnv_text what = {0};
    enum nnvts_status status = j->outcome.status;
    if (status == NNVTS_STATUS_DEAD_OBJECT) {
        nnv_result_end(j->result, j->outcome.why, "%s", j->outcome.reason);
    } else if (!valid || nnv_client_supports(j->env->client, valid, j->env->arena, j->env->phase, &status, &what)) {
        j->result->verdict = NNVTS_PASS;
        j->result->compared = 1;
    } else if (status == NNVTS_STATUS_DEAD_OBJECT) {
        nnv_result_end(j->result, NNVTS_WHY_REFUSED, "without the mistake: %s", what.data ? what.data : "");
    } else {
        nnv_result_end(j->result, NNVTS_WHY_VALID_MODEL, "without the mistake: %s", what.data ? what.data : "");
    }
    nnv_text_free(&what);
}

/** What a driver that did not come to an answer deserves. False if there is an answer to compare. */
static bool judge_outcome(const struct judging *j) {
    const struct nnv_outcome *o = &j->outcome;
    switch (o->kind) {
    case NNV_OUTCOME_DONE:
        if (!j->spec->expect_failure) return false;
        nnv_result_end(j->result, NNVTS_WHY_ACCEPTED, "executed a model that a driver must refuse");
        break;
    case NNV_OUTCOME_COMPILED:
        j->result->compared = 1; /* that it compiles; what has a mistake may be refused when it is executed */
        nnv_result_end(j->result, j->spec->expect_failure ? NNVTS_WHY_NOT_APPLICABLE : NNVTS_WHY_NONE, "%s", "");
        break;
    case NNV_OUTCOME_REFUSED:
        if (j->spec->expect_failure)
            judge_refusal(j);
        else
            nnv_result_end(j->result, o->why, "%s", o->reason);
        break;
    case NNV_OUTCOME_UNSUPPORTED:
    case NNV_OUTCOME_BROKEN:
        nnv_result_end(j->result, o->why, "%s", o->reason);
        break;
    case NNV_OUTCOME_HARNESS:
        nnv_result_end(j->result, NNVTS_WHY_HARNESS, "%s", o->reason);
        break;
    }
    return true;
}

/** Adds the outputs, but those that are ignored or drawn at random. */
static void add_answers(const struct judging *j, const struct nnv_value *outputs, struct nnv_answers *to) {
    for (uint32_t i = 0; i < j->spec->model.main.nout; i++)
        if (!output_operand(j, i)->ignored && nnv_comparer_rule(&j->compare, i) != NNV_JUDGED_SAMPLES)
            nnv_answers_add(to, i, output_operand(j, i), &outputs[i]);
}

/** Keeps the outputs for others to compare, and compares those of a second execution. */
static void keep_answers(const struct judging *j) {
    struct nnv_answers one = {.kept_all = true}, two = {.kept_all = true};
    struct nnv_text where = {0};
    add_answers(j, j->outcome.outputs, j->env->answers);
    if (j->outcome.again != NULL && j->result->verdict == NNVTS_PASS) {
        add_answers(j, j->outcome.outputs, &one);
        add_answers(j, j->outcome.again, &two);
        if (nnv_answers_differ((struct nnv_bytes){one.blob.data, one.blob.len},
                               (struct nnv_bytes){two.blob.data, two.blob.len}, &where))
            nnv_result_end(j->result, NNVTS_WHY_NOT_DETERMINISTIC,
                           "not deterministic: other bytes when it is executed again: %s",
                           where.data != NULL ? where.data : "");
    }
    nnv_text_free(&one.blob);
    nnv_text_free(&two.blob);
    nnv_text_free(&where);
}

/** From the driver's outputs to the verdict. */
static void judge_outputs(struct judging *j) {
    struct nnv_err err = {0};
    size_t wrong;
    enter(j, NNV_PHASE_CHECK);
    if (nnv_comparer_make(&j->compare, &err) != NNV_OK ||
        nnv_comparer_run(&j->compare, j->outcome.outputs, &wrong, &err) != NNV_OK)
        nnv_result_end(j->result, NNVTS_WHY_HARNESS, "%s", err.text);
    else
        conclude(j);
}

static struct judging begin(struct nnv_case_env *env, const struct nnv_spec *spec, enum nnv_precision precision,
                            struct nnv_result *result) {
    nnv_result_start(result);
    return (struct judging){
        .env = env,
        .spec = spec,
        .result = result,
        .compare = {
            .spec = spec, .precision = precision, .arithmetic = nnv_env_arithmetic(env, spec), .arena = env->arena}};
}

void nnv_judge(struct nnv_case_env *env, const struct nnv_spec *spec, int level, enum nnv_precision precision,
               struct nnv_result *result) {
    struct judging j = begin(env, spec, precision, result);
    if (!nnv_result_level(env, level, result) || !check_model(&j, &level) || !nnv_result_level(env, level, result))
        return;
    env->client->twice = env->answers != NULL && env->twice;
    nnv_client_run(env->client, spec, env->arena, env->phase, &j.outcome);
    env->client->twice = false;
    if (j.outcome.reported && nnv_comparer_uses_budget(&j.compare)) run_alternative(&j);
    result->driver_ns = j.outcome.supported_ns + j.outcome.prepare_ns + j.outcome.execute_ns;
    result->worker_damaged = j.outcome.memory_damaged;
    if (judge_outcome(&j)) return;
    judge_outputs(&j);
    if (result->why != NNVTS_WHY_HARNESS)
        nnv_before_note(env->before, j.outcome.outputs, j.compare.taken, spec->model.main.nout);
    if (env->answers != NULL) keep_answers(&j);
}

void nnv_judge_answer(struct nnv_case_env *env, const struct nnv_spec *spec, enum nnv_precision precision,
                      struct nnv_value *outputs, struct nnv_result *result) {
    struct judging j = begin(env, spec, precision, result);
    j.outcome = (struct nnv_outcome){.kind = NNV_OUTCOME_DONE, .outputs = outputs};
    judge_outputs(&j);
}

enum nnv_status nnv_judge_bounds(const struct nnv_spec *spec, enum nnv_precision precision, struct nnv_arena *arena,
                                 struct nnv_bounds *bounds, struct nnv_err *err) {
    struct nnv_comparer c = {.spec = spec, .precision = precision, .arithmetic = spec->arithmetic, .arena = arena};
    enum nnv_status st = nnv_comparer_make(&c, err);
    if (st == NNV_OK) st = nnv_comparer_look_again(&c, err);
    if (st != NNV_OK) return st;
    for (uint32_t i = 0; i < spec->model.main.nout; i++) {
        const struct nnv_expectation *expected = &c.expected[i];
        const size_t elems = nnv_expected_elems(expected);
        double *got = NNV_NEW(arena, double, elems);
        bounds[i] = (struct nnv_bounds){
            .elems = elems, .expected = NNV_NEW(arena, double, elems), .bound = NNV_NEW(arena, double, elems)};
        if (!got || !bounds[i].expected || !bounds[i].bound) return nnv_no_memory(err);
        nnv_check_numbers(expected, expected->value->data, precision, bounds[i].expected, got, bounds[i].bound);
        if (nnv_comparer_rule(&c, i) == NNV_JUDGED_VALUE && !expected->ignored) continue;
        for (size_t e = 0; e < elems; e++) bounds[i].bound[e] = (double)NAN;
    }
    return NNV_OK;
}
