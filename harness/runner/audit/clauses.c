/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/audit/clauses.h"

#include <string.h>

#include "base/file.h"
#include "base/json_out.h"
#include "base/words.h"
#include "harness/journal/select.h"
#include "harness/journal/verdict.h"

/** The kinds of rows of clauses.def. */
enum kind { CLAUSE, OF_OPERATION, WITHOUT };

static const struct {
    enum kind kind;
    const char *id, *text;
} table[] = {
#define X(ID, GLOBS) {CLAUSE, ID, GLOBS},
#define OF(KIND, GLOBS) {OF_OPERATION, KIND, GLOBS},
#define NONE(ID, REASON) {WITHOUT, ID, REASON},
#include "harness/runner/audit/clauses.def"
#undef X
#undef OF
#undef NONE
};

/* ------------------------------------------------------------------ the table */

/**
 * True if the kind of a row, "RANK", "BY-*" or "TYPE-%", is that of a clause of an operation, whose id ends with
 * `rest`.
 */
static bool is_of(const char *kind, const char *rest) {
    const size_t n = strlen(kind);
    return strchr("*%", kind[n - 1]) ? strncmp(kind, rest, n - 1) == 0 : strcmp(kind, rest) == 0;
}

/** The first letters of globs that take in: a row is mostly of one suite, or two. */
static uint32_t letters_of(const char *globs) {
    uint32_t letters = 0;
    for (const char *p = globs; *p; p += strcspn(p, " "), p += *p == ' ')
        if (*p >= 'a' && *p <= 'z') letters |= UINT32_C(1) << (*p - 'a');
    return letters;
}

/** Adds the rows of one operation, whose clauses are first to end. */
static void add_op(struct nnv_clause_book *b, const struct nnv_op *op, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const char *rest = b->all.item[i].id + strlen("NN-") + strlen(op->name) + 1;
        for (size_t k = 0; k < NNV_COUNT_OF(table); k++)
            if (table[k].kind == OF_OPERATION && is_of(table[k].id, rest)) {
                b->globs[i] = table[k].text;
                b->of_op[b->of_ops++] =
                    (struct nnv_clause_row){.clause = i,
                                            .globs = table[k].text,
                                            .letters = letters_of(table[k].text),
                                            .op = op->name,
                                            .type = strchr(table[k].id, '%') ? strchr(rest, '-') + 1 : NULL};
            }
    }
}

/** Adds the rows of all operations: the clauses of each stand together. */
static enum nnv_status add_ops(struct nnv_clause_book *b, struct nnv_arena *arena, struct nnv_err *err) {
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    b->ops.arena = arena;
    b->first = NNV_NEW(arena, uint32_t, nops + 1);
    b->of_op = NNV_NEW(arena, struct nnv_clause_row, b->all.count * 2u);
    if (!b->first || !b->of_op) return nnv_no_memory(err);
    uint32_t at = 0;
    for (size_t i = 0; i < nops; i++) {
        while (at < b->all.count && strcmp(b->all.item[at].subject, ops[i]->name) != 0) at++;
        uint32_t end = at;
        while (end < b->all.count && strcmp(b->all.item[end].subject, ops[i]->name) == 0) end++;
        b->first[i] = b->of_ops;
        if (nnv_map_add(&b->ops, ops[i]->name) != i) return nnv_no_memory(err);
        add_op(b, ops[i], at, end);
        at = end;
    }
    b->first[nops] = b->of_ops;
    return NNV_OK;
}

enum nnv_status nnv_clause_book(struct nnv_arena *arena, struct nnv_clause_book *b, struct nnv_err *err) {
    *b = (struct nnv_clause_book){.arena = arena, .names.arena = arena};
    enum nnv_status st = nnv_clauses(arena, &b->all, err);
    if (st) return st;
    b->reason = NNV_NEW(arena, const char *, b->all.count);
    b->globs = NNV_NEW(arena, const char *, b->all.count);
    b->row = NNV_NEW(arena, struct nnv_clause_row, NNV_COUNT_OF(table));
    if (!b->reason || !b->globs || !b->row) return nnv_no_memory(err);
    for (size_t k = 0; k < NNV_COUNT_OF(table); k++) {
        if (table[k].kind == OF_OPERATION) continue;
        const uint32_t n = nnv_map_find(&b->all.ids, table[k].id);
        if (n == NNV_MAP_NONE) return nnv_fail(err, NNV_INTERNAL, "clauses.def: there is no clause %s", table[k].id);
        *(table[k].kind == CLAUSE ? &b->globs[n] : &b->reason[n]) = table[k].text;
        if (table[k].kind == CLAUSE) {
            b->row[b->rows++] =
                (struct nnv_clause_row){.clause = n, .globs = table[k].text, .letters = letters_of(table[k].text)};
        }
    }
    return add_ops(b, arena, err);
}

/* ------------------------------------------------------------- the clauses of a case */

static bool matches(const char *globs, const char *name) {
    bool found = false;
    for (const char *p = globs; *p;) {
        const size_t n = strcspn(p, " ");
        const bool out = *p == '!';
        if ((out ? found : !found) && p[out] == *name && nnv_glob(p + out, n - out, name)) found = !out;
        p += n + (p[n] == ' ');
    }
    return found;
}

static void take(struct nnv_case_clauses *found, const struct nnv_clause_row *r, const char *name, const char *type) {
    if (*name < 'a' || *name > 'z' || !(r->letters >> (*name - 'a') & 1)) return; /* of another suite */
    if (found->count == NNV_CASE_CLAUSES_MAX || (r->type && strcmp(r->type, type) != 0)) return;
    if (matches(r->globs, name)) found->number[found->count++] = r->clause;
}

static void find(const struct nnv_clause_book *b, const char *name, const char *op, const char *type,
                 struct nnv_case_clauses *found) {
    found->count = 0;
    for (uint32_t i = 0; i < b->rows; i++) take(found, &b->row[i], name, type);
    const uint32_t k = nnv_map_find(&b->ops, op);
    for (uint32_t i = k == NNV_MAP_NONE ? 0 : b->first[k]; k != NNV_MAP_NONE && i < b->first[k + 1]; i++)
        take(found, &b->of_op[i], name, type);
}

/** A copy of what was found for the n bytes at name, for others of that name; without memory there is none. */
static void remember(struct nnv_clause_book *b, const char *name, size_t n) {
    char *copy = NNV_NEW(b->arena, char, n + 1);
    struct nnv_case_clauses *found = NNV_NEW(b->arena, struct nnv_case_clauses, 1);
    if (!copy || !found) return;
    memcpy(copy, name, n);
    copy[n] = '\0';
    *found = b->found;
    (void)nnv_map_put(&b->names, copy, found);
}

uint32_t nnv_clauses_of_case(struct nnv_clause_book *b, const char *name, const char *op, const char *type,
                             const uint32_t **numbers) {
    const char *end = strrchr(name, '/');
    const size_t n = end && strspn(end + 1, "0123456789") == strlen(end + 1) ? (size_t)(end + 1 - name) : strlen(name);
    /* A name without its number tells operation and type where it is of a suite of single operations. */
    const bool single = strncmp(name, "ops/", 4) == 0;
    const uint32_t known = single ? nnv_map_find_n(&b->names, name, n) : NNV_MAP_NONE;
    const struct nnv_case_clauses *found = known == NNV_MAP_NONE ? &b->found : nnv_map_value(&b->names, known);
    if (known == NNV_MAP_NONE) find(b, name, op, type, &b->found);
    if (known == NNV_MAP_NONE && single) remember(b, name, n);
    *numbers = found->number;
    return found->count;
}

/* -------------------------------------------------------------------------- a run */

void nnv_clauses_count(struct nnv_clause_book *b, const struct nnv_report *r, struct nnv_clause_tally *tally) {
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        const uint32_t *numbers,
            n = nnv_clauses_of_case(b, c->name, r->ops.key[c->op], r->types.key[c->type], &numbers);
        for (uint32_t k = 0; k < n; k++) {
            struct nnv_clause_tally *t = &tally[numbers[k]];
            t->cases++;
            if (c->verdict == NNVTS_PASS) t->passed++;
            if (c->verdict == NNVTS_NOTRUN || !nnv_verdict_bad(c->verdict)) continue;
            if (t->failed++ == 0) t->first = c->name;
        }
    }
}

static void add_clause(struct nnv_json_out *j, const struct nnv_clause *c) {
    j->line = "\n    ";
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "id", c->id);
    nnv_json_string(j, "subject", c->subject);
    nnv_json_string(j, "text", c->text);
}

static void add_failed(struct nnv_json_out *j, const struct nnv_clause_book *b, const struct nnv_clause_tally *tally) {
    j->line = "\n  ";
    nnv_json_open(j, "failed", '[');
    for (uint32_t i = 0; i < b->all.count; i++) {
        if (tally[i].failed == 0) continue;
        add_clause(j, &b->all.item[i]);
        nnv_json_uint(j, "cases", tally[i].cases);
        nnv_json_uint(j, "failed", tally[i].failed);
        nnv_json_string(j, "first", tally[i].first);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
}

/** Adds the clauses that were not judged: without a case, or with cases none of which passed or failed. */
static void add_unchecked(struct nnv_json_out *j, const struct nnv_clause_book *b, const struct nnv_clause_tally *tally,
                          bool with_cases) {
    j->line = "\n  ";
    nnv_json_open(j, with_cases ? "not_judged" : "without_case", '[');
    for (uint32_t i = 0; i < b->all.count; i++) {
        const struct nnv_clause_tally *t = &tally[i];
        if ((t->cases > 0) != with_cases || t->passed > 0 || t->failed > 0) continue;
        add_clause(j, &b->all.item[i]);
        if (with_cases)
            nnv_json_uint(j, "cases", t->cases);
        else
            nnv_json_string(j, b->reason[i] ? "reason" : "see", b->reason[i] ? b->reason[i] : b->globs[i]);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
}

static void add_all(struct nnv_text *t, const struct nnv_clause_book *b, const struct nnv_clause_tally *tally) {
    struct nnv_json_out j = {.text = t, .spaced = true};
    size_t passed = 0;
    for (uint32_t i = 0; i < b->all.count; i++) passed += tally[i].passed > 0 && tally[i].failed == 0;
    nnv_json_open(&j, NULL, '{');
    j.line = "\n  ";
    nnv_json_uint(&j, "clauses", b->all.count);
    j.line = "\n  ";
    nnv_json_uint(&j, "passed", passed);
    add_failed(&j, b, tally);
    add_unchecked(&j, b, tally, true);
    add_unchecked(&j, b, tally, false);
    nnv_json_close(&j, '}');
    nnv_text_add(t, "\n");
}

enum nnv_status nnv_clauses_write(const struct nnv_report *r, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    if (!arena) return nnv_no_memory(err);
    struct nnv_clause_book book;
    struct nnv_clause_tally *tally = NULL;
    struct nnv_text t = {0}, path = {0};
    enum nnv_status st = nnv_clause_book(arena, &book, err);
    if (st == NNV_OK) tally = NNV_NEW(arena, struct nnv_clause_tally, book.all.count);
    if (st == NNV_OK && !tally) st = nnv_no_memory(err);
    if (st == NNV_OK) {
        nnv_clauses_count(&book, r, tally);
        add_all(&t, &book, tally);
        nnv_text_add_path(&path, r->folder, NNV_CLAUSES_FILE);
        st = t.failed || path.failed ? nnv_no_memory(err) : nnv_file_write(path.data, t.data, t.len, err);
    }
    nnv_text_free(&t);
    nnv_text_free(&path);
    nnv_arena_free(arena);
    return st;
}
