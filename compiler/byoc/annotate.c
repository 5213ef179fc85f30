/* SPDX-License-Identifier: Apache-2.0 */
/* Which target takes an operation: by composite name, or by a list of operators and conditions. */
#include <stdio.h>
#include <string.h>

#include "compiler/byoc/byoc.h"

int nnv_annotate(const struct nnv_annotator *a, const struct nnv_relay_expr *e) {
    const char *composite = nnv_composite_name(e);
    if (composite) {
        size_t len = strcspn(composite, ".");
        for (size_t t = 0; t < a->n_targets; t++)
            if (strlen(a->targets[t]) == len && !memcmp(a->targets[t], composite, len) &&
                (!a->accepts_composite || a->accepts_composite(a->ctx, t, e)))
                return (int)t;
        return NNV_HOST;
    }
    if (!nnv_relay_op_name(e) || !e->n_args) return NNV_HOST;
    for (size_t t = 0; t < a->n_targets; t++)
        if (a->accepts(a->ctx, t, e)) return (int)t;
    return NNV_HOST;
}

/* ---------------------------------------------------------------------- the list */

struct entry {
    const char *op;
    struct nnv_call_conditions conditions;
};

struct entries {
    struct entry *entries;
    size_t n;
};

struct nnv_support {
    const char **targets;
    struct entries *by_target;
    size_t n;
};

static bool accepts(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct entries *list = &((const struct nnv_support *)ctx)->by_target[target];
    const char *op = nnv_relay_op_name(call);
    for (size_t i = 0; i < list->n; i++) {
        const struct entry *e = &list->entries[i];
        if (!strcmp(e->op, op) && nnv_conditions_hold(&e->conditions, call)) return true;
    }
    return false;
}

struct nnv_annotator nnv_support_annotator(struct nnv_support *s) {
    return (struct nnv_annotator){.targets = s->targets, .n_targets = s->n, .accepts = accepts, .ctx = s};
}

static enum nnv_status read_entry(const json_t *json, const char *at, struct nnv_arena *arena, struct entry *e,
                                  struct nnv_err *err) {
    const json_t *op = json_is_object(json) ? json_object_get(json, "op") : json;
    if (!json_string_length(op))
        return nnv_fail(err, NNV_INVALID,
                        "%s: expected the name of an operator, or {\"op\": name, \"attr\": name, \"in\": [values]}",
                        at);
    if (!(e->op = nnv_arena_strdup(arena, json_string_value(op)))) return nnv_no_memory(err);
    if (!json_is_object(json)) return NNV_OK;
    enum nnv_status s = nnv_pattern_members(json, at, "op all " NNV_CONDITION_MEMBERS, err);
    return s == NNV_OK ? nnv_conditions_read(json, at, arena, &e->conditions, err) : s;
}

static enum nnv_status read_list(const json_t *list, const char *at, struct nnv_arena *arena, struct entries *out,
                                 struct nnv_err *err) {
    if (!json_is_array(list))
        return nnv_fail(err, NNV_INVALID, "%s: expected a list of operators that are supported", at);
    out->n = json_array_size(list);
    if (!(out->entries = NNV_NEW(arena, struct entry, out->n))) return nnv_no_memory(err);
    for (size_t i = 0; i < out->n; i++) {
        char place[256];
        int cut = snprintf(place, sizeof place, "%.200s[%zu]", at, i);
        if (cut < 0) return nnv_fail(err, NNV_INTERNAL, "snprintf failed");
        enum nnv_status s = read_entry(json_array_get(list, i), place, arena, &out->entries[i], err);
        if (s != NNV_OK) return s;
    }
    return NNV_OK;
}

/* The targets that are asked for, or else those of the document. */
static enum nnv_status name_targets(const json_t *document, const char *const *targets, size_t n,
                                    struct nnv_arena *arena, struct nnv_support *s, struct nnv_err *err) {
    size_t members = json_is_object(document) ? json_object_size(document) : 1;
    s->n = n ? n : members;
    s->targets = NNV_NEW(arena, const char *, s->n);
    s->by_target = NNV_NEW(arena, struct entries, s->n);
    if (!s->targets || !s->by_target) return nnv_no_memory(err);
    void *member = json_object_iter((json_t *)document);
    for (size_t i = 0; i < s->n; i++) {
        const char *name = n ? targets[i] : member ? json_object_iter_key(member) : "nnapi";
        if (!(s->targets[i] = nnv_arena_strdup(arena, name))) return nnv_no_memory(err);
        if (member) member = json_object_iter_next((json_t *)document, member);
    }
    return NNV_OK;
}

static enum nnv_status read_support(const json_t *document, const char *where, struct nnv_arena *arena,
                                    struct nnv_support *s, struct nnv_err *err) {
    for (size_t i = 0; i < s->n; i++) {
        const json_t *list = json_is_object(document) ? json_object_get(document, s->targets[i]) : document;
        char place[256];
        if (!list) continue; /* a target of composites alone */
        int cut = snprintf(place, sizeof place, "%.120s: %.60s", where, json_is_object(document) ? s->targets[i] : "");
        if (cut < 0) return nnv_fail(err, NNV_INTERNAL, "snprintf failed");
        enum nnv_status status = read_list(list, place, arena, &s->by_target[i], err);
        if (status != NNV_OK) return status;
    }
    return NNV_OK;
}

enum nnv_status nnv_support_read(const char *text, size_t len, const char *where, const char *const *targets,
                                 size_t n_targets, struct nnv_arena *arena, struct nnv_support **out,
                                 struct nnv_err *err) {
    json_error_t e;
    json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!document) return nnv_fail(err, NNV_INVALID, "%s:%d:%d: %s", where, e.line, e.column, e.text);
    struct nnv_support *s = NNV_NEW(arena, struct nnv_support, 1);
    enum nnv_status status = s ? NNV_OK : nnv_no_memory(err);
    if (status == NNV_OK && !json_is_array(document) && !json_is_object(document))
        status = nnv_fail(err, NNV_INVALID, "%s: expected a list of operators, or an object of lists by target", where);
    if (status == NNV_OK) status = name_targets(document, targets, n_targets, arena, s, err);
    if (status == NNV_OK) status = read_support(document, where, arena, s, err);
    if (status == NNV_OK) *out = s;
    json_decref(document);
    return status;
}

/* ------------------------------------------------------------------------ pruning */

static enum nnv_status read_prune(const json_t *document, const char *where, struct nnv_arena *arena,
                                  struct nnv_prune *out, struct nnv_err *err) {
    const json_t *keep = json_object_get(document, "keep_if_any"), *least = json_object_get(document, "min_ops");
    if (!json_is_object(document) || (keep && !json_is_array(keep)) ||
        (least && (!json_is_integer(least) || json_integer_value(least) < 0)))
        return nnv_fail(err, NNV_INVALID, "%s: expected {\"keep_if_any\": [operators], \"min_ops\": n}", where);
    enum nnv_status known = nnv_pattern_members(document, where, "keep_if_any min_ops", err);
    if (known != NNV_OK) return known;
    const char **names = NNV_NEW(arena, const char *, json_array_size(keep));
    if (!names) return nnv_no_memory(err);
    for (size_t i = 0; i < json_array_size(keep); i++) {
        const char *name = json_string_value(json_array_get(keep, i));
        if (!name) return nnv_fail(err, NNV_INVALID, "%s: keep_if_any[%zu]: expected an operator's name", where, i);
        if (!(names[i] = nnv_arena_strdup(arena, name))) return nnv_no_memory(err);
    }
    *out = (struct nnv_prune){
        .keep_if_any = names, .n_keep = json_array_size(keep), .min_ops = (size_t)json_integer_value(least)};
    return NNV_OK;
}

enum nnv_status nnv_prune_read(const char *text, size_t len, const char *where, struct nnv_arena *arena,
                               struct nnv_prune *out, struct nnv_err *err) {
    json_error_t e;
    json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!document) return nnv_fail(err, NNV_INVALID, "%s:%d:%d: %s", where, e.line, e.column, e.text);
    enum nnv_status s = read_prune(document, where, arena, out, err);
    json_decref(document);
    return s;
}
