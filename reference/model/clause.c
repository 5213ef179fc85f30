/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/clause.h"

#include <stdio.h>
#include <string.h>

#include "reference/model/op_doc.h"

static const struct nnv_clause written[] = {
#define X(ID, SUBJECT, TEXT) {ID, SUBJECT, TEXT},
#include "reference/model/clauses.def"
#undef X
};

/** Clauses that are being made. */
struct maker {
    struct nnv_arena *arena;
    struct nnv_clause_list *list;
    size_t room;
    const struct nnv_op *op;
    struct nnv_text words; /**< the sentence so far */
    bool failed;
};

static void add(struct maker *m, const char *id, const char *subject, const char *text) {
    struct nnv_clause_list *l = m->list;
    if (l->count == m->room) {
        const size_t room = m->room * 2;
        struct nnv_clause *item = NNV_NEW(m->arena, struct nnv_clause, room);
        if (item && l->count) memcpy(item, l->item, l->count * sizeof *item);
        m->failed = m->failed || !item;
        if (!item) return;
        l->item = item;
        m->room = room;
    }
    const uint32_t before = l->ids.count;
    if (!id || !text || nnv_map_add(&l->ids, id) != before)
        m->failed = true;
    else
        l->item[l->count++] = (struct nnv_clause){id, subject, text};
}

/** Adds the clause of the operation whose sentence is in m->words, unless that is empty. */
static void end(struct maker *m, const char *kind, const char *name) {
    if (m->words.len > 0 && !m->words.failed)
        add(m, nnv_arena_printf(m->arena, "NN-%s-%s%s", m->op->name, kind, name), m->op->name,
            nnv_arena_printf(m->arena, "%s.", m->words.data));
    m->failed = m->failed || m->words.failed;
    nnv_text_clear(&m->words);
}

/** Adds what `say` says of each slot, each name once, "filter: rank 4; bias: rank 1". */
static void add_slots(struct maker *m, const struct nnv_slot *slot, uint8_t n, bool outputs,
                      void (*say)(const struct nnv_slot *slot, char *buf, size_t room)) {
    for (uint8_t i = 0; i < n; i++) {
        char words[200], part[300];
        say(&slot[i], words, sizeof words);
        snprintf(part, sizeof part, "%s %s: %s", outputs ? "output" : "input", slot[i].name, words);
        if (!*words || (m->words.data && strstr(m->words.data, part))) continue;
        nnv_text_addf(&m->words, "%s%s", m->words.len ? "; " : "", part);
    }
}

/** A clause of what all forms say of their slots. */
static void add_rule(struct maker *m, const char *kind,
                     void (*say)(const struct nnv_slot *slot, char *buf, size_t room)) {
    for (uint8_t f = 0; f < m->op->nforms; f++) {
        const struct nnv_form *form = &m->op->forms[f];
        add_slots(m, form->in, form->nin, false, say);
        add_slots(m, form->out, form->nout, true, say);
    }
    end(m, kind, "");
}

static void say_optional(const struct nnv_slot *s, char *buf, size_t room) {
    *buf = '\0';
    if (s->flags & NNV_OMITTABLE) snprintf(buf, room, "may be omitted");
    if (s->flags & NNV_REPEAT) snprintf(buf, room, s->group ? "any number" : "one or more");
    if (s->group && s->flags & NNV_SCALAR) snprintf(buf, room, "%g if absent", s->dflt);
}

static void add_count(struct maker *m) {
    for (uint8_t f = 0; f < m->op->nforms; f++) {
        const struct nnv_form *form = &m->op->forms[f];
        uint8_t least = 0;
        while (least < form->nin && form->in[least].group == 0) least++;
        nnv_text_addf(&m->words, "%s%s%s%u", f ? "; " : "", form->name, *form->name ? ": " : "", least);
        if (least < form->nin) nnv_text_addf(&m->words, " to %u", form->nin);
        nnv_text_addf(&m->words, " input%s and %u output%s", form->nin == 1 ? "" : "s", form->nout,
                      form->nout == 1 ? "" : "s");
    }
    for (uint8_t f = 0; f < m->op->nforms; f++)
        add_slots(m, m->op->forms[f].in, m->op->forms[f].nin, false, say_optional);
    end(m, "COUNT", "");
}

/** A clause for each main type: with which others, since when. */
static void add_types(struct maker *m) {
    const struct nnv_op *op = m->op;
    for (uint8_t i = 0; i < op->nsigs; i++) {
        const int32_t type = op->sigs[i].type[NNV_T];
        bool seen = false;
        for (uint8_t k = 0; k < i; k++) seen = seen || op->sigs[k].type[NNV_T] == type;
        for (uint8_t k = i; k < op->nsigs && !seen; k++) {
            if (op->sigs[k].type[NNV_T] != type) continue;
            if (m->words.len) nnv_text_add(&m->words, "; ");
            nnv_op_sig_words(op, k, &m->words);
        }
        if (!seen) end(m, "TYPE-", nnv_type(type)->tag);
    }
}

static void add_factor(struct maker *m, const struct nnv_factor *f) {
    nnv_text_addf(&m->words, "The result is right for every %s, such as ", f->name);
    for (uint8_t i = 0; i < f->n; i++) {
        nnv_text_add(&m->words, i ? ", " : "");
        if (f->words)
            nnv_text_add(&m->words, f->words[f->values[i]]);
        else if (f->pair)
            nnv_text_addf(&m->words, "%dx%d", nnv_pair_height(f->values[i]), nnv_pair_width(f->values[i]));
        else
            nnv_text_addf(&m->words, "%d", f->values[i]);
    }
    end(m, "BY-", f->name);
}

static bool has_ties(const struct nnv_op *op) {
    bool ties = false;
    for (uint8_t i = 0; i < op->forms->nout; i++) ties = ties || op->forms->out[i].judged != NNV_JUDGED_VALUE;
    return ties;
}

static void add_op(struct maker *m, const struct nnv_op *op) {
    m->op = op;
    nnv_text_addf(&m->words, "%s. Rounding: %s", op->formula, nnv_rounding_words(op->rounding));
    end(m, "VALUE", "");
    add_count(m);
    add_types(m);
    add_rule(m, "RANK", nnv_slot_rank_words);
    add_rule(m, "QUANT", nnv_slot_quant_words);
    add_rule(m, "ATTRIBUTE", nnv_slot_rule_words);
    nnv_text_add(&m->words, op->sizes ? "The extents of the outputs follow from the inputs, some of them from values"
                                      : "The extents of the outputs follow from the inputs, which fit each other");
    end(m, "SHAPE", "");
    if (op->zero != NNV_ZERO_REFUSED) nnv_text_add(&m->words, nnv_zero_words(op->zero));
    end(m, "ZERO", "");
    nnv_text_addf(&m->words, "The operation came with feature level %u", op->level);
    end(m, "LEVEL", "");
    if (nnv_op_has_limits(op))
        nnv_text_add(&m->words, "The result is right at the limits of the types, and where the operation changes its "
                                "ways");
    end(m, "LIMITS", "");
    if (has_ties(op)) nnv_text_add(&m->words, "Where numbers are equal, each choice among them is right");
    end(m, "TIES", "");
    for (uint8_t i = 0; i < op->nfactors; i++) add_factor(m, &op->factors[i]);
}

enum nnv_status nnv_clauses(struct nnv_arena *arena, struct nnv_clause_list *list, struct nnv_err *err) {
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    *list = (struct nnv_clause_list){.ids = {.arena = arena}};
    struct maker m = {.arena = arena, .list = list, .room = 1024};
    list->item = NNV_NEW(arena, struct nnv_clause, m.room);
    m.failed = !list->item;
    for (size_t i = 0; !m.failed && i < NNV_COUNT_OF(written); i++)
        add(&m, written[i].id, written[i].subject, written[i].text);
    for (size_t i = 0; !m.failed && i < nops; i++) add_op(&m, ops[i]);
    nnv_text_free(&m.words);
    return m.failed ? nnv_no_memory(err) : NNV_OK;
}
