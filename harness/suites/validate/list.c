/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/validate/list.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/suites/kit/cases.h"
#include "harness/suites/suites.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

/* ----------------------------------------------------------------- the tables */

const char *const nnv_validate_tables[NNV_VALIDATE_TABLES] = {"model", "request", "near_miss"};

bool nnv_validate_row_at(enum nnv_validate_table table, size_t i, struct nnv_validate_row *row) {
    if (table == NNV_VALIDATE_MODEL) {
        const struct nnv_model_mutator *m = nnv_model_mutator(i);
        if (m) *row = (struct nnv_validate_row){m->name, m->needs, m->level, m->type, false};
        return m != NULL;
    }
    if (table == NNV_VALIDATE_REQUEST && i < nnv_request_mutator_count) {
        const struct nnv_request_mutator *m = &nnv_request_mutators[i];
        *row = (struct nnv_validate_row){m->name, m->needs | (m->side == NNV_SIDE_INPUT ? NNV_NEEDS_INPUT : 0),
                                         m->level, 0, m->all_operations};
        return true;
    }
    if (table == NNV_VALIDATE_BOUNDARY && i < nnv_boundary_case_count) {
        *row = (struct nnv_validate_row){nnv_boundary_cases[i].name, nnv_boundary_cases[i].needs, 0, 0, false};
        return true;
    }
    return false;
}

/* -------------------------------------------------------------------- sources */

/** A valid model: an operation with a signature, or (op NULL) a fixture. */
struct source {
    const struct nnv_op *op;
    size_t at;    /**< the signature, or the fixture */
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
    const uint32_t number = nnv_slot_is_number(slot) ? NNV_NEEDS_NUMBER : 0;
    if (slot->flags & NNV_OMITTABLE) return slot->flags & NNV_SCALAR ? 0 : NNV_NEEDS_OMITTABLE;
    if (slot->flags & NNV_SCALAR) return number | NNV_NEEDS_SCALAR | NNV_NEEDS_CONSTANT;
    uint32_t has = number | has_type(type) | (slot->rank_max ? NNV_NEEDS_RANKED : 0);
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
static uint32_t has_of_fixture(const struct nnv_fixture_kind *kind, struct nnv_arena *arena, int32_t *type) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    uint32_t in[NNV_FIXTURE_MAX_IO], out[NNV_FIXTURE_MAX_IO], nin = 0, nout = 0;
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
    for (size_t k = 0; k < nnv_fixture_count && ok; k++) {
        const struct nnv_fixture_kind *kind = &nnv_fixtures[k];
        struct source s = {.at = k, .name = kind->name, .op_name = kind->op, .type = kind->type};
        s.has = has_of_fixture(kind, arena, &s.main_type);
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
 * when operations are added, and the fixtures, of which most drivers support some.
 */
struct tier {
    size_t operations;
    bool fixtures;
};
static const struct tier tiers[] = {{1, false}, {8, true}, {SIZE_MAX, true}};
static_assert(sizeof tiers / sizeof *tiers - 1 == NNV_VALIDATE_LAST_TIER, "a row for each tier");

struct choice {
    uint64_t key;
    const struct source *source;
};

static int by_key(const void *a, const void *b) {
    const struct choice *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/** The models of a row that come into question, of which operations stand in the order of the sources. */
struct choices {
    struct choice *item;
    size_t count, operations; /**< operations: of them */
    size_t most;              /**< of those that are kept: the ones with the smallest keys */
    bool once;                /**< of each operation, the signature with the smallest key alone */
};

static void choose(struct choices *c, const struct choice *one) {
    struct choice *last = c->count > 0 ? &c->item[c->count - 1] : NULL;
    if (one->source->op == NULL) {
        c->item[c->count++] = *one;
    } else if (c->once && last != NULL && last->source->op == one->source->op) { /* signatures are neighbours */
        if (by_key(one, last) < 0) *last = *one;
    } else if (c->once || c->operations < c->most) {
        c->item[c->count++] = *one;
        c->operations++;
    } else {
        struct choice *greatest = NULL;
        for (size_t i = 0; i < c->count; i++)
            if (c->item[i].source->op != NULL && (greatest == NULL || by_key(&c->item[i], greatest) > 0))
                greatest = &c->item[i];
        if (greatest != NULL && by_key(one, greatest) < 0) *greatest = *one;
    }
}

static enum nnv_status list_row(struct nnv_case_list *list, enum nnv_validate_table table, size_t index,
                                const struct nnv_validate_row *row, const struct sources *sources,
                                struct choice *chosen, const struct tier *tier, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    struct choices c = {.item = chosen, .most = tier->operations, .once = row->all_operations && tier->fixtures};
    struct nnv_text name = {0};
    nnv_text_addf(&name, "%s/%s/", nnv_validate_tables[table], row->name);
    const size_t prefix = name.len;
    for (size_t i = 0; i < sources->count; i++) {
        const struct source *s = &sources->item[i];
        if ((row->needs & s->has) != row->needs || (row->type && row->type == s->main_type)) continue;
        name.len = prefix;
        nnv_text_add(&name, s->name);
        if (!name.failed) choose(&c, &(struct choice){nnv_hash_bytes(name.data, name.len), s});
    }
    if (name.failed) st = nnv_no_memory(err);
    nnv_text_free(&name);
    qsort(chosen, c.count, sizeof *chosen, by_key);
    for (size_t i = 0; i < c.count && !st; i++) {
        const struct source *s = chosen[i].source;
        if (!s->op && !tier->fixtures && i > 0) continue;
        const struct nnv_case made = {.op = s->op_name,
                                      .type = s->type,
                                      .level = s->level > row->level ? s->level : row->level,
                                      .a = index,
                                      .b = (uint64_t)table,
                                      .c = s->at,
                                      .data = s->op};
        st = nnv_list_case(list, made, err, "validate/%s/%s/%s", nnv_validate_tables[table], row->name, s->name);
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

enum nnv_status nnv_validate_list(const struct nnv_run_config *config, struct nnv_case_list *list,
                                  struct nnv_err *err) {
    struct sources sources = {0};
    struct nnv_validate_row row;
    enum nnv_status st = all_sources(&sources, list->arena, err);
    struct choice *chosen = calloc(sources.count + 1, sizeof *chosen);
    if (!chosen && !st) st = nnv_no_memory(err);
    for (int table = 0; table < NNV_VALIDATE_TABLES; table++)
        for (size_t i = 0; !st && nnv_validate_row_at((enum nnv_validate_table)table, i, &row); i++)
            st = list_row(list, (enum nnv_validate_table)table, i, &row, &sources, chosen, &tiers[nnv_tier(config)],
                          err);
    free(chosen);
    free(sources.item);
    return st ? st : list_specs(config, list, err);
}
