/* SPDX-License-Identifier: Apache-2.0 */
/** @file shapes.c The suite "shapes": models that leave shapes open, outputs that do not fit, requests that contradict.
 */
#include "harness/suites/shapes.h"

#include <stdio.h>
#include <string.h>

#include "harness/core/ties.h"
#include "harness/suites/session.h"
#include "harness/suites/subjects.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "randgraph/graph.h"
#include "randgraph/single.h"

/** What a case has at hand: a prepared model that leaves shapes open, and a request. */
struct bench {
    struct nnv_session *s;
    struct nnv_subject subject;
    struct nnvts_prepared_model *prepared;
    struct nnv_values values;
};

enum source { SINGLE = 1, ZERO = 2, GRAPH = 4, SUBJECT = 8, FREE = 16 };

/** What a case does with each model of its sources. */
struct shape_case {
    const char *name;
    unsigned open;    /**< enum nnv_open */
    unsigned sources; /**< enum source */
    void (*run)(struct bench *b);
};

static uint32_t outputs_of(const struct bench *b) { return b->subject.spec->model.main.nout; }

/* ---------------------------------------------------------------- executions */

/* An output of unknown shape is more than some drivers can do; they say so by GENERAL_FAILURE, and write nothing. */
static bool execute_open(struct bench *b) {
    struct nnv_session *s = b->s;
    nnv_values_reset(&b->values);
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status st =
        b->prepared->execute(b->prepared, &b->values.request, &nnv_session_execution_config, &b->values.result);
    if (st != NNVTS_STATUS_GENERAL_FAILURE) return nnv_session_check_values(s, "execute", st, &b->values);
    if (!nnv_session_check_memory(s, "execute", &b->values)) return false;
    return nnv_session_unsupported(s, "the driver can't execute a model whose shapes are left open");
}

static void execute_once(struct bench *b) { execute_open(b); }

/* The request says what the model does not. */
static void give_outputs(struct bench *b) {
    for (uint32_t i = 0; i < outputs_of(b); i++) {
        const struct nnv_value *want = b->subject.expected[i].value;
        b->values.outputs[i].dimension_count = want->rank;
        b->values.outputs[i].dimensions = want->dims;
    }
}

/* An extent of 0 says nothing in a request: such an output stays open. */
static void execute_given(struct bench *b) {
    bool empty = false;
    give_outputs(b);
    for (uint32_t i = 0; i < outputs_of(b); i++) empty = empty || b->subject.expected[i].value->bytes == 0;
    if (empty)
        execute_open(b);
    else
        nnv_session_execute(b->s, b->prepared, &b->values);
}

/* ------------------------------------------------------------ outputs too small */

/* What the driver says of one output that it was given `length` bytes for. */
static void expect_shape(struct bench *b, uint32_t i, uint32_t length) {
    struct nnv_session *s = b->s;
    const struct nnvts_output_shape *got = &b->values.result.shapes[i];
    const struct nnv_value *want = b->subject.expected[i].value;
    const bool fits = want->bytes <= length;
    nnv_expect(s, got->is_sufficient == fits,
               "output %u has %u bytes and needs %zu: is_sufficient must be %s in the answer, it is not", i, length,
               want->bytes, fits ? "true" : "false");
    if (fits && got->dimension_count == 0) return; /* not computed any more */
    if (!nnv_expect(s, got->dimension_count == want->rank, "output %u: rank %u is reported, its result has rank %u", i,
                    got->dimension_count, want->rank))
        return;
    for (uint32_t k = 0; k < want->rank; k++)
        nnv_expect(s, got->dimensions[k] == want->dims[k] || (fits && got->dimensions[k] == 0),
                   "output %u: extent %u is reported as %u, a buffer for the result needs %u", i, k, got->dimensions[k],
                   want->dims[k]);
}

/* Bytes of the output pool that the request's buffers do not have are as they were. */
static void expect_untouched(struct bench *b, const uint8_t *before) {
    const struct nnv_values *v = &b->values;
    uint64_t from = 0;
    for (uint32_t i = 0; i <= outputs_of(b); i++) {
        const struct nnvts_location *l = i < outputs_of(b) ? &v->outputs[i].location : NULL;
        const uint64_t to = l ? l->offset : v->pools[1].size;
        if (!nnv_expect(b->s, memcmp(before + from, v->output_pool + from, to - from) == 0,
                        "execute wrote behind the buffer of output %u, which was given as too small", i ? i - 1 : 0))
            b->s->result->worker_damaged = true;
        if (l) from = (uint64_t)l->offset + l->length;
    }
}

/*
 * Executes with buffers of these lengths, of which one at least is too small; allowed: bits of the statuses. Then with
 * buffers of the right size.
 */
static void execute_short(struct bench *b, const uint32_t *lengths, uint32_t allowed) {
    struct nnv_session *s = b->s;
    struct nnv_values *v = &b->values;
    nnv_values_reset(v);
    for (uint32_t i = 0; i < outputs_of(b); i++) v->outputs[i].location.length = lengths[i];
    const uint8_t *before = nnv_arena_copy(s->env->arena, v->output_pool, (size_t)v->pools[1].size);
    if (!before) {
        nnv_session_error(s, "out of memory");
        return;
    }
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status st = b->prepared->execute(b->prepared, &v->request, &nnv_session_execution_config, &v->result);
    nnv_session_enter(s, NNV_PHASE_CHECK);
    expect_untouched(b, before);
    if (s->result->worker_damaged) return;
    if (st == NNVTS_STATUS_GENERAL_FAILURE && (allowed & 1u << st)) {
        nnv_session_unsupported(s, "the driver can't execute a model whose shapes are left open");
        return;
    }
    if (!nnv_expect_status_in(s, "execute with an output buffer that is too small", st, allowed)) return;
    const uint32_t shapes = st == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE ? outputs_of(b) : 0;
    if (!nnv_expect(s, v->result.shape_count == shapes,
                    "execute with an output buffer that is too small reports %u shapes, expected %u",
                    v->result.shape_count, shapes))
        return;
    for (uint32_t i = 0; i < shapes; i++) expect_shape(b, i, lengths[i]);
    if (s->result->verdict == NNVTS_PASS) nnv_session_execute(s, b->prepared, v);
}

static uint32_t insufficient(const struct bench *b) {
    const struct nnv_subgraph *main = &b->subject.spec->model.main;
    uint32_t allowed = 1u << NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE;
    for (uint32_t i = 0; i < main->nout; i++) {
        size_t elems, bytes;
        const bool known = nnv_operand_size(&main->operands[main->out[i]], &elems, &bytes);
        /* A declared shape shows the mistake at once; an open one may be more than the driver can do. */
        allowed |= 1u << (known ? NNVTS_STATUS_INVALID_ARGUMENT : NNVTS_STATUS_GENERAL_FAILURE);
    }
    return allowed;
}

/* Each of the first outputs in turn is one byte short. */
static void one_too_small(struct bench *b) {
    enum { MOST = 4 };
    bool any = false;
    uint32_t *lengths = NNV_NEW(b->s->env->arena, uint32_t, outputs_of(b));
    for (uint32_t i = 0; i < outputs_of(b) && i < MOST && lengths; i++) {
        for (uint32_t k = 0; k < outputs_of(b); k++) lengths[k] = (uint32_t)b->subject.expected[k].value->bytes;
        if (lengths[i] < 2 || b->subject.expected[i].ignored) continue;
        lengths[i]--;
        any = true;
        execute_short(b, lengths, insufficient(b));
        if (b->s->result->verdict != NNVTS_PASS) return;
    }
    if (!any) nnv_session_execute(b->s, b->prepared, &b->values);
}

static void all_too_small(struct bench *b) {
    uint32_t *lengths = NNV_NEW(b->s->env->arena, uint32_t, outputs_of(b));
    for (uint32_t i = 0; i < outputs_of(b) && lengths; i++) lengths[i] = 1;
    if (lengths) execute_short(b, lengths, insufficient(b));
}

/* -------------------------------------------------------------- contradictions */

enum { INVALID = 1u << NNVTS_STATUS_INVALID_ARGUMENT, FAILS = 1u << NNVTS_STATUS_GENERAL_FAILURE };

static void expect_refused(struct bench *b, const char *what, uint32_t io, uint32_t allowed) {
    struct nnv_session *s = b->s;
    char call[128];
    snprintf(call, sizeof call, "execute with %s %u", what, io);
    nnv_values_reset(&b->values);
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status st =
        b->prepared->execute(b->prepared, &b->values.request, &nnv_session_execution_config, &b->values.result);
    nnv_session_enter(s, NNV_PHASE_CHECK);
    if (!nnv_session_check_memory(s, call, &b->values)) return;
    nnv_expect_status_in(s, call, st, allowed);
    nnv_expect(s, b->values.result.shape_count == 0, "%s was refused, but reports shapes", call);
}

/* The shape of the value, with one extent too large or a dimension too many; wrong has room. */
static uint32_t bend(const struct nnv_value *value, bool rank, uint32_t *wrong) {
    if (value->rank) memcpy(wrong, value->dims, value->rank * sizeof *wrong);
    wrong[value->rank] = 1;
    if (!rank) wrong[value->rank - 1]++;
    return value->rank + rank;
}

static void contradict(struct bench *b, const struct nnv_operand *o, struct nnvts_argument *a,
                       const struct nnv_value *value, bool input, uint32_t io) {
    uint32_t wrong[NNV_MAX_RANK + 1];
    const struct nnvts_argument before = *a;
    if (!nnv_type(o->type)->tensor || value->omitted || value->rank == 0 || value->rank >= NNV_MAX_RANK) return;
    bool whole = o->rank > 0;
    for (uint32_t i = 0; i < o->rank; i++) whole = whole && o->dims[i];
    for (int rank = 0; rank < 2 && !b->s->result->worker_damaged; rank++) {
        /* Where the model says it, it is seen at once; an output's shape that only the results tell is seen later. */
        const bool declared = whole || (rank && o->rank > 0) || input;
        a->dimension_count = bend(value, rank, wrong);
        a->dimensions = wrong;
        if (rank && input && o->rank == 0) continue; /* nothing says that the rank is wrong */
        expect_refused(b,
                       rank    ? input ? "a rank that is not the model's for input" : "a wrong rank for output"
                       : input ? "an extent that is not the value's for input"
                               : "a wrong extent for output",
                       io, declared ? INVALID : INVALID | FAILS);
    }
    *a = before;
}

/* A shape that is neither in the model nor in the request. */
static void leave_open(struct bench *b, uint32_t io) {
    struct nnvts_argument *a = &b->values.inputs[io], before = *a;
    if (a->dimension_count == 0 || a->location.length == 0) return;
    a->dimension_count = 0;
    a->dimensions = NULL;
    expect_refused(b, "an open shape, which the request does not give, of input", io, INVALID);
    *a = before;
}

static void contradictions(struct bench *b) {
    const struct nnv_subgraph *main = &b->subject.spec->model.main;
    struct nnv_values *v = &b->values;
    for (uint32_t i = 0; i < main->nin && !b->s->result->worker_damaged; i++) {
        contradict(b, &main->operands[main->in[i]], &v->inputs[i], &b->subject.spec->inputs[i], true, i);
        leave_open(b, i);
    }
    for (uint32_t i = 0; i < main->nout && !b->s->result->worker_damaged; i++)
        if (!b->subject.expected[i].ignored)
            contradict(b, &main->operands[main->out[i]], &v->outputs[i], b->subject.expected[i].value, false, i);
    /* And it still works. */
    if (b->s->result->verdict == NNVTS_PASS) execute_open(b);
}

/* -------------------------------------------------------------- special models */

/* Fenced executions can't report shapes: open ones are refused unless the request gives them. */
static void fenced(struct bench *b) {
    struct nnv_session *s = b->s;
    struct nnvts_prepared_model *p = b->prepared;
    struct nnvts_fenced_execution fenced = {.sync_fence = -1};
    struct nnvts_fenced_result result = {.status = NNVTS_STATUS_GENERAL_FAILURE};
    if (!p->execute_fenced) {
        nnv_session_unsupported(s, "the driver has no fenced executions");
        return;
    }
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status st =
        p->execute_fenced(p, &b->values.request, NULL, 0, &nnv_session_execution_config, NNVTS_NO_TIME, &fenced);
    if (st == NNVTS_STATUS_NONE && fenced.release) fenced.release(fenced.context);
    if (!nnv_expect_status(s, "execute_fenced with outputs of open shapes", st, NNVTS_STATUS_INVALID_ARGUMENT)) return;
    give_outputs(b);
    nnv_values_reset(&b->values);
    fenced = (struct nnvts_fenced_execution){.sync_fence = -1};
    st = p->execute_fenced(p, &b->values.request, NULL, 0, &nnv_session_execution_config, NNVTS_NO_TIME, &fenced);
    if (!nnv_expect_status(s, "execute_fenced with the shapes in the request", st, NNVTS_STATUS_NONE) ||
        !nnv_expect(s, fenced.get_result && fenced.release, "execute_fenced gave no result"))
        return;
    st = fenced.get_result(fenced.context, &result);
    fenced.release(fenced.context);
    if (nnv_expect_status(s, "get_result", st, NNVTS_STATUS_NONE))
        nnv_session_check_values(s, "execute_fenced", result.status, &b->values);
}

/* One prepared model, inputs of other extents from execution to execution: none must stick. */
static void resized(struct bench *b) {
    static const uint32_t extents[] = {5, 1, 8, 2, 3};
    struct nnv_session *s = b->s;
    const struct nnv_subject_kind *kind = nnv_subject_by_name(b->subject.spec->name);
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        struct nnv_subject other;
        struct nnv_spec *spec, *open;
        struct nnv_values values;
        struct nnv_err err = {0};
        uint32_t opened;
        if (nnv_subject_build_as(kind, extents[i], s->env->config->seed, s->env->arena, &spec, &err) != NNV_OK ||
            nnv_shapes_open(spec, NNV_OPEN_OUTPUTS, s->env->arena, &open, &opened, &err) != NNV_OK) {
            nnv_session_error(s, "%s", err.text);
            return;
        }
        if (!nnv_session_subject(s, open, &other) || !nnv_session_values(s, &other, NNV_SESSION_READ_ONLY, &values) ||
            !nnv_session_execute(s, b->prepared, &values))
            return;
    }
}

/* ------------------------------------------------------------------ registry */

enum {
    MODELS = SINGLE | GRAPH | SUBJECT,
    EVERYTHING = NNV_OPEN_INPUTS | NNV_OPEN_TEMPORARIES | NNV_OPEN_OUTPUTS,
};
static const struct shape_case cases[] = {
    {"inputs", NNV_OPEN_INPUTS, MODELS, execute_once},
    {"input_ranks", NNV_OPEN_INPUTS | NNV_OPEN_RANKS, MODELS, execute_once},
    {"temporaries", NNV_OPEN_TEMPORARIES, GRAPH, execute_once},
    {"temporary_ranks", NNV_OPEN_TEMPORARIES | NNV_OPEN_RANKS, GRAPH, execute_once},
    {"outputs", NNV_OPEN_OUTPUTS, MODELS | ZERO, execute_once},
    {"output_ranks", NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, MODELS | ZERO, execute_once},
    {"given_outputs", NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, MODELS | ZERO, execute_given},
    {"everything", EVERYTHING, MODELS, execute_once},
    {"every_rank", EVERYTHING | NNV_OPEN_RANKS, MODELS, execute_once},
    {"one_too_small", NNV_OPEN_OUTPUTS, MODELS, one_too_small},
    {"all_too_small", NNV_OPEN_OUTPUTS | NNV_OPEN_RANKS, SUBJECT | GRAPH, all_too_small},
    {"declared_too_small", 0, SUBJECT | GRAPH, one_too_small},
    {"contradictions", 0, SINGLE | SUBJECT, contradictions},
    {"open_contradictions", EVERYTHING, SINGLE | SUBJECT, contradictions},
    {"fenced", NNV_OPEN_OUTPUTS, SUBJECT, fenced},
    {"resized", NNV_OPEN_OUTPUTS, FREE, resized},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What nnv_case.b and .c hold: which source, and which model of it. */
static enum nnv_status add(struct nnv_case_list *list, size_t i, enum source source, uint64_t which, const char *model,
                           const struct nnv_op *op, const char *op_name, const char *type, struct nnv_err *err) {
    char name[192];
    snprintf(name, sizeof name, "shapes/%s/%s", cases[i].name, model);
    const struct nnv_case c = {.name = name,
                               .suite = "shapes",
                               .op = op_name,
                               .type = type,
                               .tags = source == ZERO ? "zero" : "",
                               .a = i,
                               .b = source,
                               .c = which,
                               .data = op};
    return nnv_case_add(list, &c, err);
}

/* Of each operation the first signature and one more; all in tier full. */
static enum nnv_status add_op(struct nnv_case_list *list, int tier, size_t i, enum source source,
                              const struct nnv_op *op, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (int sig = 0; sig < op->nsigs && !st; sig++) {
        char types[96], model[160];
        const bool chosen = sig == 0 || (tier > 0 && sig == (op->code + (int)i) % op->nsigs) || tier > 1;
        if (!chosen || (source == ZERO && !nnv_single_has(op, sig, NNV_MODE_ZERO))) continue;
        nnv_single_sig_name(op, sig, types, sizeof types);
        snprintf(model, sizeof model, "%s/%s%s", op->name, types, source == ZERO ? "_zero" : "");
        st = add(list, i, source, (uint64_t)sig, model, op, op->name, nnv_type(op->sigs[sig].type[NNV_T])->tag, err);
    }
    return st;
}

static enum nnv_status add_graphs(struct nnv_case_list *list, int tier, size_t i, struct nnv_err *err) {
    const size_t each = tier < 1 ? 0 : tier > 1 ? 20 : 2;
    enum { QUICK = 20 }; /* operations: longer graphs take their time */
    enum nnv_status st = NNV_OK;
    for (size_t p = 0; p < nnv_graph_profile_count; p++)
        for (size_t k = 0; k < each && !st && (tier > 1 || nnv_graph_profiles[p].most <= QUICK); k++) {
            char model[96];
            snprintf(model, sizeof model, "%s/%zu", nnv_graph_profiles[p].name, k);
            st = add(list, i, GRAPH, p << 32 | k, model, NULL, "", "", err);
        }
    return st;
}

static bool is_free(const struct nnv_subject_kind *kind) { return strncmp(kind->name, "open_", 5) == 0; }

static enum nnv_status add_subjects(struct nnv_case_list *list, size_t i, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t k = 0; k < nnv_subject_count && !st; k++)
        if ((cases[i].sources & SUBJECT) || is_free(&nnv_subjects[k]))
            st = add(list, i, SUBJECT, k, nnv_subjects[k].name, NULL, nnv_subjects[k].op, nnv_subjects[k].type, err);
    return st;
}

static enum nnv_status list_all(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < CASES && !st; i++) {
        if (cases[i].sources & (SUBJECT | FREE)) st = add_subjects(list, i, err);
        for (size_t k = 0; k < n && !st && (cases[i].sources & SINGLE); k++)
            st = add_op(list, config->tier, i, SINGLE, ops[k], err);
        for (size_t k = 0; k < n && !st && (cases[i].sources & ZERO); k++)
            st = add_op(list, config->tier, i, ZERO, ops[k], err);
        if (!st && (cases[i].sources & GRAPH)) st = add_graphs(list, config->tier, i, err);
    }
    return st;
}

/* The model of a case, shapes declared. */
static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    if (c->b == SUBJECT) return nnv_subject_build(&nnv_subjects[c->c], config->seed, arena, spec, err);
    if (c->b == GRAPH) {
        const struct nnv_graph_options o = {.profile = &nnv_graph_profiles[c->c >> 32],
                                            .seed = config->seed,
                                            .index = c->c & UINT32_MAX,
                                            .name = c->name};
        return nnv_graph_build(&o, arena, spec, err);
    }
    const struct nnv_op *op = c->data;
    const struct nnv_single w = {.op = op,
                                 .sig = (int)c->c,
                                 .variant = (int)c->a % nnv_single_variants(op),
                                 .mode = c->b == ZERO ? NNV_MODE_ZERO : NNV_MODE_NORMAL,
                                 .seed = config->seed,
                                 .name = c->name};
    return nnv_single_build(&w, arena, spec, err);
}

/* Indices of what is equally large, random samples: their shapes count here, their values are judged elsewhere. */
static void forgive_choices(struct nnv_subject *subject) {
    uint32_t run;
    for (uint32_t i = 0; i < subject->spec->model.main.nout; i++)
        if (nnv_output_rule(&subject->spec->model.main, i, &run) != NNV_JUDGED_VALUE)
            subject->expected[i].ignored = true;
}

static bool begin(struct bench *b, const struct nnv_case *c) {
    struct nnv_session *s = b->s;
    struct nnv_spec *declared, *spec;
    struct nnv_err err = {0};
    uint32_t opened;
    const unsigned open = cases[c->a].open;
    if (build(s->env->config, c, s->env->arena, &declared, &err) != NNV_OK ||
        nnv_shapes_open(declared, open, s->env->arena, &spec, &opened, &err) != NNV_OK)
        return nnv_session_error(s, "%s", err.text);
    if ((open && !opened) || spec->min_version > s->device->feature_level) {
        s->result->verdict = NNVTS_SKIP;
        if (open && !opened)
            nnv_text_addf(&s->result->reason, "this model has no shapes of that kind that could be left open");
        else
            nnv_text_addf(&s->result->reason, "needs feature level %d, the driver has %d", spec->min_version,
                          s->device->feature_level);
        return false;
    }
    if (!nnv_session_subject(s, spec, &b->subject)) return false;
    forgive_choices(&b->subject);
    b->prepared = nnv_session_prepare(s, &b->subject);
    return b->prepared && nnv_session_values(s, &b->subject, NNV_SESSION_READ_ONLY, &b->values);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_session s;
    struct bench b = {.s = &s};
    nnv_session_begin(&s, env, result);
    if (begin(&b, c)) cases[c->a].run(&b);
    nnv_session_release(&s, b.prepared);
    nnv_session_end(&s);
}

const struct nnv_suite nnv_suite_shapes = {
    .name = "shapes",
    .summary = "shapes that the model leaves open, outputs that are too small or empty, requests that contradict",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list_all,
    .run = run,
};
