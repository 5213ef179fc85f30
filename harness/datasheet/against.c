/* SPDX-License-Identifier: Apache-2.0 */
/** @file against.c A datasheet beside an earlier one: what was lost, what came, what computes otherwise. */
#include <jansson.h>
#include <string.h>

#include "harness/datasheet/datasheet.h"

/** What comparing knows. */
struct comparing {
    struct nnv_datasheet *sheet;
    struct nnv_arena *arena;
    size_t room;
    bool failed;
};

static void add(struct comparing *c, const char *about, const char *text, bool breaks) {
    struct nnv_datasheet *s = c->sheet;
    if (!about || !text || !nnv_grow(c->arena, &s->change, s->changes, &c->room, sizeof *s->change))
        c->failed = true;
    else
        s->change[s->changes++] = (struct nnv_sheet_change){about, text, breaks};
}

static const char *text_of(const json_t *object, const char *name) {
    const char *s = json_string_value(json_object_get(object, name));
    return s ? s : "";
}

/** Counts models that were supported and are not, and the other way round. */
static void count(const char *before, const char *now, size_t *was, size_t *lost, size_t *gained) {
    *was = *lost = *gained = 0;
    for (size_t i = 0; before[i] && now[i]; i++) {
        *was += before[i] == 'y';
        *lost += before[i] == 'y' && now[i] != 'y';
        *gained += before[i] != 'y' && now[i] == 'y';
    }
}

static void compare_row(struct comparing *c, const struct nnv_sheet_row *r, const json_t *old) {
    char now[NNV_SUPPORT_PROBES + 1];
    size_t was, lost, gained;
    const char *about = nnv_arena_printf(c->arena, "%s %s", r->op->name, r->types), *must = "";
    nnv_sheet_answers(&r->support, now);
    count(text_of(old, "answers"), now, &was, &lost, &gained);
    if (*r->support.must)
        must = nnv_arena_printf(c->arena, "; now %.*s", (int)strcspn(r->support.must, "\n"), r->support.must);
    if (lost > 0)
        add(c, about, nnv_arena_printf(c->arena, "%zu of %zu models that were supported are not%s", lost, was, must),
            true);
    if (gained > 0) add(c, about, nnv_arena_printf(c->arena, "%zu models that were not supported are", gained), false);
    const json_int_t wrong = json_integer_value(json_object_get(old, "wrong")),
                     unprepared = json_integer_value(json_object_get(old, "unprepared"));
    if (wrong + unprepared == 0 && r->support.wrong + r->support.unprepared > 0)
        add(c, about,
            nnv_arena_printf(c->arena, "%u of %u claims are wrong, and were not: %s",
                             r->support.wrong + r->support.unprepared, r->support.claimed, r->support.trouble),
            true);
}

static void compare_facts(struct comparing *c, const json_t *old) {
    const struct nnv_numeric *n = &c->sheet->numeric;
    size_t i;
    const json_t *was;
    json_array_foreach(json_object_get(old, "numeric"), i, was) {
        for (uint32_t k = 0; k < n->count; k++) {
            const struct nnv_numeric_fact *f = &n->fact[k];
            if (strcmp(f->about, text_of(was, "about")) != 0 || strcmp(f->what, text_of(was, "what")) != 0 ||
                strcmp(f->is, text_of(was, "is")) == 0)
                continue;
            add(c, f->about, nnv_arena_printf(c->arena, "%s: was %s, is %s", f->what, text_of(was, "is"), f->is), true);
        }
    }
}

static void compare_rows(struct comparing *c, const json_t *old) {
    size_t i;
    const json_t *was;
    json_array_foreach(json_object_get(old, "support"), i, was) {
        for (size_t k = 0; k < c->sheet->rows; k++) {
            const struct nnv_sheet_row *r = &c->sheet->row[k];
            if (!r->unfinished && !json_is_true(json_object_get(was, "unfinished")) &&
                strcmp(r->op->name, text_of(was, "operation")) == 0 && strcmp(r->types, text_of(was, "types")) == 0)
                compare_row(c, r, was);
        }
    }
}

/** The datasheet in the file. */
static enum nnv_status load(const char *file, json_t **out, struct nnv_err *err) {
    json_error_t where;
    *out = json_load_file(file, 0, &where);
    if (json_is_array(json_object_get(*out, "support"))) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s: is no datasheet.json%s%s", file, *out ? "" : ": ", *out ? "" : where.text);
}

enum nnv_status nnv_datasheet_compare(struct nnv_datasheet *sheet, const char *file, struct nnv_arena *arena,
                                      struct nnv_err *err) {
    struct comparing c = {.sheet = sheet, .arena = arena};
    json_t *old;
    enum nnv_status st = load(file, &old, err);
    if (st == NNV_OK && json_integer_value(json_object_get(old, "seed")) != (json_int_t)sheet->seed)
        st = nnv_fail(err, NNV_INVALID, "%s: is of another seed; give --seed %lld", file,
                      (long long)json_integer_value(json_object_get(old, "seed")));
    sheet->against = file;
    if (st == NNV_OK) {
        compare_rows(&c, old);
        compare_facts(&c, old);
    }
    json_decref(old);
    return st == NNV_OK && c.failed ? nnv_no_memory(err) : st;
}

enum nnv_status nnv_datasheet_arithmetic(const char *file, struct nnv_arithmetic *out, struct nnv_err *err) {
    json_t *sheet;
    enum nnv_status st = load(file, &sheet, err);
    if (st == NNV_OK && json_array_size(json_object_get(sheet, "numeric")) == 0)
        st = nnv_fail(err, NNV_INVALID, "%s: says nothing of arithmetic, which nnvts datasheet measures without -k",
                      file);
    if (st == NNV_OK) st = nnv_arithmetic_parse(text_of(sheet, "arithmetic"), out, err);
    json_decref(sheet);
    return st;
}
