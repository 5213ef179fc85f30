/* SPDX-License-Identifier: Apache-2.0 */
/** @file validate.c The suite "validate": what a driver must refuse, and what it must not. */
#include "harness/suites/validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/suites/kit/subjects.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

/* ----------------------------------------------------------------- the tables */

/** The three kinds of rows, as nnv_case.b holds them. */
enum table { MODEL, REQUEST, BOUNDARY, TABLES };
static const char *const table_names[TABLES] = {"model", "request", "near_miss"};

/** What listing asks of a row. */
struct row {
    const char *name;
    uint32_t needs;
    int level;
    int32_t type; /**< not for models of this type; 0: for all */
};

/** False behind the last row. */
static bool row_at(enum table table, size_t i, struct row *row) {
    if (table == MODEL) {
        const struct nnv_model_mutator *m = nnv_model_mutator(i);
        if (m) *row = (struct row){m->name, m->needs, m->level, m->type};
        return m != NULL;
    }
    if (table == REQUEST && i < nnv_request_mutator_count) {
        const struct nnv_request_mutator *m = &nnv_request_mutators[i];
        *row = (struct row){m->name, m->needs | (m->side == NNV_SIDE_INPUT ? NNV_NEEDS_INPUT : 0), m->level, 0};
        return true;
    }
    if (table == BOUNDARY && i < nnv_boundary_case_count) {
        *row = (struct row){nnv_boundary_cases[i].name, nnv_boundary_cases[i].needs, 0, 0};
        return true;
    }
    return false;
}

/* -------------------------------------------------------------------- sources */

/** A valid model: an operation with a signature, or (op NULL) a subject. */
struct source {
    const struct nnv_op *op;
    size_t at;    /**< the signature, or the subject */
    uint32_t has; /**< enum nnv_needs */
    int level;
    int32_t main_type;
    const char *name, *op_name, *type;
};

static uint32_t has_type(int32_t type) {
    const struct nnv_type *t = nnv_type(type);
    const uint32_t wide = t->size > 1 ? NNV_NEEDS_WIDE : 0;
    if (t->per_channel) return NNV_NEEDS_CHANNELS;
    if (t->kind == NNV_KIND_QUANT) {
        bool symmetric = type == ANEURALNETWORKS_TENSOR_QUANT16_SYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM;
        return wide | NNV_NEEDS_QUANT | (symmetric ? NNV_NEEDS_SYMM : NNV_NEEDS_ASYMM);
    }
    if (type == ANEURALNETWORKS_TENSOR_INT32) return wide | NNV_NEEDS_INT32;
    return t->tensor && nnv_is_float(type) ? wide | NNV_NEEDS_FLOAT : 0;
}

static int32_t slot_type(const struct nnv_op *op, int sig, const struct nnv_slot *slot) {
    return slot->var == NNV_FIXED ? slot->type : op->sigs[sig].type[slot->var];
}

static uint32_t has_of_input(const struct nnv_op *op, int sig, const struct nnv_slot *slot) {
    const int32_t type = slot_type(op, sig, slot);
    if (slot->flags & NNV_OMITTABLE) return slot->flags & NNV_SCALAR ? 0 : NNV_NEEDS_OMITTABLE;
    if (slot->flags & NNV_SCALAR) return NNV_NEEDS_SCALAR | NNV_NEEDS_CONSTANT;
    uint32_t has = has_type(type) | (slot->rank_max ? NNV_NEEDS_RANKED : 0);
    if (slot->quant == NNV_Q_BIAS && type == ANEURALNETWORKS_TENSOR_INT32) has |= NNV_NEEDS_BIAS;
    return has | (slot->flags & NNV_PARAM ? NNV_NEEDS_CONSTANT | NNV_NEEDS_TENSOR_CONSTANT : NNV_NEEDS_INPUT);
}

/** What an operation has, as its record says of the required inputs of the first form. */
static uint32_t has_of_record(const struct nnv_op *op, int sig) {
    const struct nnv_form *f = &op->forms[0];
    const struct nnv_slot *out = &f->out[0];
    const int32_t type = slot_type(op, sig, out);
    uint32_t has = has_type(type), given = 0;
    if (op->check_subgraphs) return NNV_NEEDS_INPUT; /* their own slots say little of what passes through them */
    for (uint8_t i = 0; i < f->nin; i++) {
        if (f->in[i].group > 0) continue;
        has |= has_of_input(op, sig, &f->in[i]);
        given += !(f->in[i].flags & (NNV_PARAM | NNV_SCALAR | NNV_OMITTABLE));
        if (f->in[i].var == out->var && out->var == NNV_T) has |= NNV_NEEDS_MATCHED;
    }
    if (given > 1) has |= NNV_NEEDS_TWO_INPUTS;
    if (given == 2 && f->in[0].var == NNV_T && f->in[1].var == NNV_T) has |= NNV_NEEDS_ALIKE;
    if (nnv_is_quant(type) && out->quant != NNV_Q_FREE) has |= NNV_NEEDS_TIED;
    if (type == ANEURALNETWORKS_TENSOR_FLOAT32) has |= NNV_NEEDS_FLOAT32;
    return has | (f->nout > 1 ? NNV_NEEDS_TWO_OUTPUTS : 0);
}

static uint32_t has_of_operand(const struct nnv_operand *o) {
    uint32_t has = has_type(o->type);
    if (o->rank) has |= NNV_NEEDS_RANKED;
    if (nnv_is_constant(o)) has |= NNV_NEEDS_CONSTANT | (o->rank ? NNV_NEEDS_TENSOR_CONSTANT : NNV_NEEDS_SCALAR);
    for (uint32_t i = 0; i < o->rank; i++)
        if (o->dims[i] == 0) has |= NNV_NEEDS_OPEN;
    if (o->type == ANEURALNETWORKS_TENSOR_FLOAT32 && o->lifetime == NNV_SUBGRAPH_OUTPUT) has |= NNV_NEEDS_FLOAT32;
    return has;
}

/** *type: that of its first input. */
static uint32_t has_of_subject(const struct nnv_subject_kind *kind, struct nnv_arena *arena, int32_t *type) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    uint32_t in[NNV_SUBJECT_MAX_IO], out[NNV_SUBJECT_MAX_IO], nin = 0, nout = 0;
    uint32_t has = NNV_NEEDS_MATCHED | NNV_NEEDS_INPUT;
    kind->describe(&b, in, &nin, out, &nout);
    for (uint32_t i = 0; i < b.noperands && !b.failed; i++) has |= has_of_operand(&b.operand[i]);
    *type = b.failed ? 0 : b.operand[in[0]].type;
    if (b.noperations > 1) has |= NNV_NEEDS_NET;
    return has | (nin > 1 ? NNV_NEEDS_TWO_INPUTS : 0);
}

struct sources {
    struct source *item;
    size_t count, room;
};

static bool add_source(struct sources *list, const struct source *s) {
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 512;
        struct source *grown = realloc(list->item, room * sizeof *grown);
        if (!grown) return false;
        list->item = grown;
        list->room = room;
    }
    list->item[list->count++] = *s;
    return true;
}

static enum nnv_status all_sources(struct sources *list, struct nnv_arena *arena, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    bool ok = true;
    for (size_t k = 0; k < nnv_subject_count && ok; k++) {
        const struct nnv_subject_kind *kind = &nnv_subjects[k];
        struct source s = {.at = k, .name = kind->name, .op_name = kind->op, .type = kind->type};
        s.has = has_of_subject(kind, arena, &s.main_type);
        ok = add_source(list, &s);
    }
    for (size_t i = 0; i < n; i++)
        for (int sig = 0; sig < ops[i]->nsigs && ok; sig++) {
            char tag[96];
            struct source s = {.op = ops[i],
                               .at = (size_t)sig,
                               .has = has_of_record(ops[i], sig),
                               .level = ops[i]->sigs[sig].level,
                               .main_type = ops[i]->sigs[sig].type[NNV_T],
                               .op_name = ops[i]->name,
                               .type = nnv_type(ops[i]->sigs[sig].type[NNV_T])->tag};
            s.name = nnv_arena_printf(arena, "%s_%s", s.op_name, nnv_single_sig_name(s.op, sig, tag, sizeof tag));
            ok = s.name && add_source(list, &s);
        }
    return ok ? NNV_OK : nnv_no_memory(err);
}

/* -------------------------------------------------------------------- listing */

/*
 * How many models of a row a tier takes: of operations those with the smallest hashes, so that a list stays as it is
 * when operations are added, and the subjects, of which most drivers support some.
 */
struct tier {
    size_t operations;
    bool subjects;
};
static const struct tier tiers[] = {{1, false}, {8, true}, {SIZE_MAX, true}};
static const int last_tier = sizeof tiers / sizeof *tiers - 1;

struct choice {
    uint64_t key;
    const struct source *source;
};

static int by_key(const void *a, const void *b) {
    const struct choice *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static enum nnv_status list_row(struct nnv_case_list *list, enum table table, size_t index, const struct row *row,
                                const struct sources *sources, struct choice *chosen, const struct tier *tier,
                                struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    size_t n = 0, operations = 0;
    char name[256];
    for (size_t i = 0; i < sources->count; i++) {
        const struct source *s = &sources->item[i];
        if ((row->needs & s->has) != row->needs || (row->type && row->type == s->main_type)) continue;
        snprintf(name, sizeof name, "%s/%s/%s", table_names[table], row->name, s->name);
        chosen[n++] = (struct choice){nnv_hash_str(name), s};
    }
    qsort(chosen, n, sizeof *chosen, by_key);
    for (size_t i = 0; i < n && !st; i++) {
        const struct source *s = chosen[i].source;
        if (!s->op && !tier->subjects && i > 0) continue;
        if (s->op && operations++ >= tier->operations) continue;
        snprintf(name, sizeof name, "validate/%s/%s/%s", table_names[table], row->name, s->name);
        const struct nnv_case c = {.name = name,
                                   .suite = "validate",
                                   .op = s->op_name,
                                   .type = s->type,
                                   .tags = "",
                                   .level = s->level > row->level ? s->level : row->level,
                                   .a = index,
                                   .b = (uint64_t)table,
                                   .c = s->at,
                                   .data = s->op};
        st = nnv_case_add(list, &c, err);
    }
    return st;
}

/** A case for each valid spec of a file; its d is not 0. */
static enum nnv_status list_specs(const struct nnv_run_config *config, struct nnv_case_list *list,
                                  struct nnv_err *err) {
    struct nnv_case_list specs = {.arena = list->arena};
    enum nnv_status st = nnv_suite_spec.list(config, &specs, err);
    for (size_t i = 0; i < specs.count && !st; i++) {
        struct nnv_case c = specs.item[i];
        if (strstr(c.tags, "expect_failure")) continue;
        c.name = nnv_arena_printf(list->arena, "validate/%s", c.name);
        c.suite = "validate";
        c.d = 1;
        st = c.name ? nnv_case_add(list, &c, err) : nnv_no_memory(err);
    }
    free(specs.item);
    return st;
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    struct sources sources = {0};
    struct row row;
    int tier = config->tier < 0 ? 0 : config->tier > last_tier ? last_tier : config->tier;
    enum nnv_status st = all_sources(&sources, list->arena, err);
    struct choice *chosen = calloc(sources.count + 1, sizeof *chosen);
    if (!chosen && !st) st = nnv_no_memory(err);
    for (int table = 0; table < TABLES; table++)
        for (size_t i = 0; !st && row_at((enum table)table, i, &row); i++)
            st = list_row(list, (enum table)table, i, &row, &sources, chosen, &tiers[tier], err);
    free(chosen);
    free(sources.item);
    return st ? st : list_specs(config, list, err);
}

/* ------------------------------------------------------------------- the model */

/** What a case has at hand. */
struct fixture {
    struct nnv_session *s;
    const struct nnv_case *c;
    const struct nnv_spec *spec;
    struct nnv_subject subject;
    uint64_t pick;
};

static bool skip(struct nnv_session *s, const char *reason) {
    s->result->verdict = NNVTS_SKIP;
    nnv_text_add(&s->result->reason, reason);
    return false;
}

static bool applied(struct nnv_session *s, enum nnv_applied a) {
    if (a == NNV_APPLY_FAILED) return nnv_session_error(s, NNV_OUT_OF_MEMORY);
    return a == NNV_APPLIED;
}

/** A model of the case: the how-manieth attempt, with another variant or other values each time. */
static bool build(struct fixture *b, int attempt) {
    enum { INDICES = 3 }; /* the third index of a variant leaves more to the request than the others */
    struct nnv_arena *arena = b->s->env->arena;
    struct nnv_err err = {0};
    struct nnv_spec *spec;
    const struct nnv_op *op = b->c->data;
    const int variants = op ? nnv_single_variants(op) : 1;
    const struct nnv_single w = {.op = op,
                                 .sig = (int)b->c->c,
                                 .variant = attempt / INDICES % variants,
                                 .index = attempt / INDICES / variants * INDICES + attempt % INDICES,
                                 .seed = b->s->env->config->seed,
                                 .name = b->c->name};
    enum nnv_status st = op ? nnv_single_build(&w, arena, &spec, &err)
                            : nnv_subject_build(&nnv_subjects[b->c->c], w.seed, arena, &spec, &err);
    if (st) return nnv_session_error(b->s, "%s", err.text);
    b->spec = spec;
    return true;
}

/** Random results are not judged. */
static void ignore_random(struct nnv_subject *subject) {
    const struct nnv_subgraph *main = &subject->spec->model.main;
    for (uint32_t i = 0; i < main->noperations; i++)
        for (uint32_t k = 0; k < main->nout && main->operations[i].type == ANEURALNETWORKS_RANDOM_MULTINOMIAL; k++)
            subject->expected[k].ignored = true;
}

static bool take_subject(struct nnv_session *s, const struct nnv_spec *spec, struct nnv_subject *subject) {
    if (spec->min_version > s->device->feature_level)
        return skip(s, "the model needs a higher feature level than the driver has");
    if (!nnv_session_subject(s, spec, subject)) return false;
    ignore_random(subject);
    return true;
}

/* ------------------------------------------------------------------ the verdicts */

/** The valid model is prepared, executed and right. */
static bool still_serves(struct fixture *b) {
    struct nnv_request v;
    struct nnvts_prepared_model *prepared = nnv_session_prepare(b->s, &b->subject);
    bool ok = prepared && nnv_session_request(b->s, &b->subject, NNV_POOL_READ_ONLY, &v) &&
              nnv_session_execute(b->s, prepared, &v);
    nnv_session_release(b->s, prepared);
    return ok;
}

static bool offer_supported(struct nnv_session *s, const struct nnv_mutation *m, const char *call, uint32_t wanted) {
    enum { MORE = 64 };
    bool *supported = NNV_NEW(s->env->arena, bool, m->abi.main.operation_count + MORE);
    char text[320];
    if (!supported) return nnv_session_error(s, NNV_OUT_OF_MEMORY);
    snprintf(text, sizeof text, "get_supported_operations of a model %s", call);
    nnv_session_enter(s, NNV_PHASE_SUPPORTED);
    return nnv_expect_status_in(s, text, s->device->get_supported_operations(s->device, &m->abi, supported), wanted);
}

static bool offer_prepare(struct nnv_session *s, const struct nnv_mutation *m, const char *call, uint32_t wanted) {
    struct nnvts_prepared_model *prepared = NULL;
    char text[320];
    snprintf(text, sizeof text, "prepare_model of a model %s", call);
    nnv_session_enter(s, NNV_PHASE_PREPARE);
    enum nnvts_status st = s->device->prepare_model(s->device, &m->abi, &m->config, &prepared);
    bool ok = nnv_expect_status_in(s, text, st, wanted);
    if (st != NNVTS_STATUS_NONE) return nnv_expect(s, !prepared, "%s failed, but gave a prepared model", text) && ok;
    if (prepared) nnv_session_release(s, prepared);
    return ok;
}

/** Renders a model into memory of the session. */
static bool render(struct nnv_session *s, const struct nnv_spec *spec, const struct nnv_model *model,
                   struct nnvts_model *abi) {
    struct nnv_spec changed = *spec;
    struct nnv_subject subject;
    changed.model = *model;
    if (!nnv_session_render(s, &changed, &subject)) return false;
    *abi = subject.model;
    return true;
}

/** The mutant is refused. *did: there was a place for it. */
static bool refuse_model(struct fixture *b, const struct nnv_model_mutator *row, bool *did) {
    struct nnv_session *s = b->s;
    struct nnv_mutation m;
    struct nnvts_model abi;
    char call[256];
    *did = applied(s, nnv_mutation_make(&m, row, b->spec, b->pick, s->env->arena)) &&
           render(s, b->spec, m.model, &abi) && applied(s, nnv_mutation_rendered(&m, &abi));
    if (!*did) return s->result->verdict == NNVTS_PASS;
    const uint32_t refused = NNV_ST_INVALID;
    snprintf(call, sizeof call, "that breaks a rule (%s)", row->rule);
    bool ok = offer_supported(s, &m, call, row->supported ? row->supported : refused);
    return offer_prepare(s, &m, call, row->prepare ? row->prepare : refused) && ok;
}

static bool run_model(struct fixture *b) {
    bool did;
    if (refuse_model(b, nnv_model_mutator(b->c->a), &did) && did) still_serves(b);
    return did;
}

static bool refuse_request(struct fixture *b, const struct nnv_request_mutator *row,
                           struct nnvts_prepared_model *prepared, struct nnv_request *v, bool *did) {
    struct nnv_request_mutation m;
    *did = applied(b->s, nnv_request_make(&m, row, v, b->pick, b->s->env->arena));
    if (!*did) return b->s->result->verdict == NNVTS_PASS;
    if (!nnv_request_refused(b->s, prepared, &m, v)) return false;
    return nnv_session_execute(b->s, prepared, v);
}

static bool run_request(struct fixture *b) {
    struct nnv_request v;
    struct nnvts_prepared_model *prepared = nnv_session_prepare(b->s, &b->subject);
    bool did = true;
    if (prepared && nnv_session_request(b->s, &b->subject, NNV_POOL_READ_ONLY, &v))
        refuse_request(b, &nnv_request_mutators[b->c->a], prepared, &v, &did);
    nnv_session_release(b->s, prepared);
    return did;
}

/** All operations are supported, unless the row is one that may be declined. */
static bool boundary_supported(struct nnv_session *s, const struct nnv_mutation *m,
                               const struct nnv_boundary_case *row) {
    struct nnv_preparation p = {.device = s->device, .abi = &m->abi, .phase = s->env->phase};
    char call[256];
    snprintf(call, sizeof call, "get_supported_operations of a valid model (%s)", row->what);
    const bool answered = nnv_ask_supported(&p, s->env->arena);
    if (!nnv_expect_kept(s, call, &p.breach, 0) || !nnv_expect_status(s, call, p.status, NNVTS_STATUS_NONE))
        return false;
    for (uint32_t i = 0; answered && i < m->abi.main.operation_count; i++) {
        if (p.supported[i]) continue;
        if (row->optional) return nnv_session_unsupported(s, "the driver does not support %s", row->what);
        return nnv_expect(s, false, "the driver supports the model, but operation %u no longer: %s", i, row->what);
    }
    return answered;
}

/** The valid boundary case is accepted, and right. */
static bool accept_boundary_case(struct fixture *b, const struct nnv_boundary_case *row, bool *did) {
    struct nnv_session *s = b->s;
    struct nnv_mutation m;
    struct nnv_subject subject;
    struct nnv_request v;
    int level = 0;
    char call[256];
    *did = applied(s, nnv_boundary_case_make(&m, row, b->spec, b->pick, s->env->arena)) &&
           nnv_validate(m.model, s->env->arena, &level, NULL) == NNV_OK && level <= s->device->feature_level;
    if (!*did) return s->result->verdict == NNVTS_PASS;
    if (!take_subject(s, m.spec, &subject)) return false;
    if (!nnv_mutation_take(&m, &subject.model)) return nnv_session_error(s, NNV_OUT_OF_MEMORY);
    *did = (!row->abi_change || row->abi_change(&m)) && nnv_session_request(s, &subject, NNV_POOL_WRITABLE, &v) &&
           (!row->request_change || row->request_change(s, row, &v));
    if (!*did) return s->result->verdict == NNVTS_PASS;
    if (!boundary_supported(s, &m, row)) return false;
    struct nnv_preparation p = {.device = s->device, .abi = &m.abi, .config = &m.config, .phase = s->env->phase};
    nnv_prepare(&p);
    snprintf(call, sizeof call, "prepare_model of a valid model (%s)", row->what);
    if (!nnv_expect_kept(s, call, &p.breach, 2) || !nnv_expect_status(s, call, p.status, NNVTS_STATUS_NONE))
        return false;
    snprintf(call, sizeof call, "execute (%s)", row->what);
    bool ok = nnv_session_check_values(s, call, nnv_session_sync(s, p.prepared, &v), &v);
    nnv_session_release(s, p.prepared);
    return ok;
}

static bool run_boundary_case(struct fixture *b) {
    bool did;
    accept_boundary_case(b, &nnv_boundary_cases[b->c->a], &did);
    return did;
}

/* ----------------------------------------------------------------------- specs */

/** Whether a row's turn is in this spec: all in tier full, else one in a few. */
static bool has_turn(const struct fixture *b, enum table table, size_t i, const struct row *row) {
    enum { ONE_IN = 16 };
    const int tier = b->s->env->config->tier;
    if (row->level > b->s->device->feature_level) return false;
    return tier >= last_tier || (b->pick + i * 7 + (uint64_t)table) % ONE_IN == 0;
}

static bool run_row(struct fixture *b, enum table table, size_t i, struct nnvts_prepared_model *prepared,
                    struct nnv_request *v) {
    bool did;
    switch (table) {
    case MODEL:
        return refuse_model(b, nnv_model_mutator(i), &did);
    case REQUEST:
        return refuse_request(b, &nnv_request_mutators[i], prepared, v, &did);
    case BOUNDARY:
        return nnv_boundary_cases[i].optional || accept_boundary_case(b, &nnv_boundary_cases[i], &did);
    case TABLES:
        break;
    }
    return false;
}

/** Many rows on the model of a spec file, those that have a place in it; and the valid model at the end. */
static void run_spec(struct fixture *b) {
    struct nnv_session *s = b->s;
    struct nnv_request v;
    struct row row;
    struct nnvts_prepared_model *prepared = nnv_session_prepare(s, &b->subject);
    bool ok =
        prepared && nnv_session_request(s, &b->subject, NNV_POOL_READ_ONLY, &v) && nnv_session_execute(s, prepared, &v);
    for (int table = 0; table < TABLES && ok; table++)
        for (size_t i = 0; ok && row_at((enum table)table, i, &row); i++)
            if (has_turn(b, (enum table)table, i, &row) && !run_row(b, (enum table)table, i, prepared, &v))
                ok = nnv_expect(s, false, "in %s/%s", table_names[table], row.name);
    nnv_session_release(s, prepared);
    if (ok) still_serves(b);
}

static bool build_spec(struct fixture *b) {
    enum { LARGE_BYTES = 1 << 20, LARGE_OPERATIONS = 20 };
    struct nnv_session *s = b->s;
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    int level;
    enum nnv_status st = nnv_suite_spec.build(s->env->config, b->c, s->env->arena, &spec, &err);
    if (!st) st = nnv_validate(&spec->model, s->env->arena, &level, &err);
    if (st == NNV_UNSUPPORTED) return skip(s, err.text);
    if (st) return nnv_session_error(s, "%s", err.text);
    if (nnv_abi_pool_bytes(&spec->model) > LARGE_BYTES || spec->model.main.noperations > LARGE_OPERATIONS)
        return skip(s, "the model is large, and smaller ones tell as much");
    if (spec->min_version < level) spec->min_version = level;
    b->spec = spec;
    return true;
}

/* -------------------------------------------------------------------- the suite */

/** The case's row on the first model that has a place for it. */
static void run_row_case(struct fixture *b) {
    static bool (*const runs[TABLES])(struct fixture * b) = {run_model, run_request, run_boundary_case};
    const int attempts = b->c->data ? 24 : 1;
    for (int i = 0; i < attempts; i++)
        if (!build(b, i) || !take_subject(b->s, b->spec, &b->subject) || !nnv_session_supports(b->s, &b->subject) ||
            runs[b->c->b](b) || b->s->result->verdict != NNVTS_PASS)
            return;
    skip(b->s, "no model of this operation can be changed so");
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_session s;
    struct fixture b = {.s = &s, .c = c, .pick = nnv_hash_str(c->name)};
    nnv_session_begin(&s, env, result);
    if (!c->d)
        run_row_case(&b);
    else if (build_spec(&b) && take_subject(&s, b.spec, &b.subject))
        run_spec(&b);
    nnv_session_end(&s);
}

const struct nnv_suite nnv_suite_validate = {
    .name = "validate",
    .summary = "models and requests with one mistake each, which a driver must refuse, and what only looks like one",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list,
    .run = run,
};
