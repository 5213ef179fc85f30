/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/placement/contract.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/select.h"

#define FORMAT "nnvts-contract/1"

/** How a case stands to a contract. */
enum standing {
    KEPT,
    LOST,   /**< not answered */
    WRONG,  /**< fails the run */
    SILENT, /**< says nothing about the driver: it did not apply */
};

static enum standing standing_of(const struct nnv_report_case *c) {
    if (nnv_case_bad(c)) return WRONG;
    if (c->verdict == NNVTS_UNSUPPORTED || c->verdict == NNVTS_NOTRUN) return LOST;
    if (c->verdict == NNVTS_SKIP) return c->why == NNVTS_WHY_FEATURE_LEVEL ? LOST : SILENT;
    return KEPT;
}

/* --------------------------------------------------------------------- from a run */

struct writer {
    const struct nnv_report_case **item; /* in the order of their names */
    const char **cases;
    size_t count;
    struct nnv_arena *arena;
    bool failed;
};

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct nnv_report_case *const *)a)->name, (*(const struct nnv_report_case *const *)b)->name);
}

static void add_expression(struct writer *w, const char *name, size_t bytes, bool all_below) {
    struct nnv_text t = {0};
    char *part = nnv_arena_printf(w->arena, "%.*s", (int)bytes, name);
    if (part != NULL) nnv_select_exactly(part, &t);
    if (all_below) nnv_text_add(&t, "*");
    w->cases[w->count] = part != NULL && !t.failed ? nnv_arena_strdup(w->arena, t.data) : NULL;
    w->failed = w->failed || w->cases[w->count] == NULL;
    w->count++;
    nnv_text_free(&t);
}

/** Levels of names that a glob has at least: "ops/ADD/". A run of some operations says nothing of all. */
static bool is_deep(const char *name, size_t prefix) {
    const char *slash = memchr(name, '/', prefix);
    return slash != NULL && memchr(slash + 1, '/', prefix - (size_t)(slash + 1 - name)) != NULL;
}

/** Cases from to to - 1, whose names agree in their first `prefix` bytes, which are whole levels. */
static void write_range(struct writer *w, size_t from, size_t to, size_t prefix) {
    size_t kept = 0, against = 0;
    for (size_t i = from; i < to; i++) {
        const enum standing s = standing_of(w->item[i]);
        kept += s == KEPT;
        against += s == LOST || s == WRONG;
    }
    if (kept == 0) return;
    if (to - from == 1) {
        add_expression(w, w->item[from]->name, strlen(w->item[from]->name), false);
        return;
    }
    if (against == 0 && is_deep(w->item[from]->name, prefix)) {
        add_expression(w, w->item[from]->name, prefix, true);
        return;
    }
    for (size_t i = from, end; i < to; i = end) {
        const char *name = w->item[i]->name;
        const size_t level = prefix + strcspn(name + prefix, "/") + 1; /* with the slash, or the end */
        for (end = i + 1; end < to && strncmp(name, w->item[end]->name, level) == 0; end++) continue;
        write_range(w, i, end, level);
    }
}

enum nnv_status nnv_contract_of_run(const struct nnv_report *run, struct nnv_arena *arena, struct nnv_contract *out,
                                    struct nnv_err *err) {
    struct writer w = {.arena = arena,
                       .item = NNV_NEW(arena, const struct nnv_report_case *, run->count),
                       .cases = NNV_NEW(arena, const char *, run->count)};
    if (w.item == NULL || w.cases == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < run->count; i++) w.item[i] = &run->item[i];
    qsort(w.item, run->count, sizeof *w.item, by_name);
    write_range(&w, 0, run->count, 0);
    *out = (struct nnv_contract){
        .driver = nnv_json_text(json_object_get(run->header, "driver"), "argument", ""),
        .tier = nnv_json_text(run->header, "tier", ""),
        .cases = w.cases,
        .count = w.count,
    };
    if (w.failed) return nnv_no_memory(err);
    return w.count > 0 ? NNV_OK : nnv_fail(err, NNV_INVALID, "%s: nothing passed in this run", run->folder);
}

void nnv_contract_write(const struct nnv_contract *c, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out, .spaced = true, .line = ""};
    nnv_json_open(&j, NULL, '{');
    j.line = "\n  ";
    nnv_json_string(&j, "format", FORMAT);
    j.line = "\n  ";
    nnv_json_string(&j, "driver", c->driver);
    j.line = "\n  ";
    nnv_json_string(&j, "tier", c->tier);
    j.line = "\n  ";
    nnv_json_open(&j, "cases", '[');
    for (size_t i = 0; i < c->count; i++) {
        j.line = "\n    ";
        nnv_json_string(&j, NULL, c->cases[i]);
    }
    nnv_json_close(&j, ']');
    j.line = "\n  ";
    nnv_json_open(&j, "models", '[');
    for (size_t i = 0; i < c->models; i++) {
        j.line = "\n    ";
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "model", c->model[i].model);
        nnv_json_double(&j, "on_device", c->model[i].on_device);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_text_add(out, "\n");
    nnv_json_close(&j, '}');
    nnv_text_add(out, "\n");
}

/* ------------------------------------------------------------------------ reading */

static enum nnv_status read_cases(const char *path, const json_t *list, struct nnv_arena *arena, struct nnv_contract *c,
                                  struct nnv_err *err) {
    const size_t n = json_array_size(list);
    const char **cases = NNV_NEW(arena, const char *, n + 1), **written = NNV_NEW(arena, const char *, n + 1);
    if (cases == NULL || written == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const char *expression = json_string_value(json_array_get(list, i));
        if (expression == NULL) return nnv_fail(err, NNV_INVALID, "%s: cases[%zu]: expected a string", path, i);
        cases[i] = nnv_arena_strdup(arena, expression);
        written[i] = nnv_arena_printf(arena, "%s: cases[%zu]", path, i);
        if (cases[i] == NULL || written[i] == NULL) return nnv_no_memory(err);
    }
    c->cases = cases;
    c->written = written;
    c->count = n;
    return NNV_OK;
}

static enum nnv_status read_models(const char *path, const json_t *list, struct nnv_arena *arena,
                                   struct nnv_contract *c, struct nnv_err *err) {
    const size_t n = json_array_size(list);
    c->model = NNV_NEW(arena, struct nnv_contract_model, n + 1);
    if (c->model == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const json_t *m = json_array_get(list, i), *share = json_object_get(m, "on_device");
        const char *name = json_string_value(json_object_get(m, "model"));
        const double on = json_number_value(share);
        if (name == NULL || !json_is_number(share) || !(on >= 0) || on > 1)
            return nnv_fail(err, NNV_INVALID, "%s: models[%zu]: expected {\"model\": NAME, \"on_device\": 0 to 1}",
                            path, i);
        c->model[i] = (struct nnv_contract_model){nnv_arena_strdup(arena, name), on};
        if (c->model[i].model == NULL) return nnv_no_memory(err);
    }
    c->models = n;
    return NNV_OK;
}

enum nnv_status nnv_contract_read(const char *path, struct nnv_arena *arena, struct nnv_contract *c,
                                  struct nnv_err *err) {
    json_error_t where;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    enum nnv_status s = NNV_OK;
    *c = (struct nnv_contract){0};
    if (root == NULL)
        s = nnv_fail(err, NNV_INVALID, "%s:%d: %s", path, where.line, where.text);
    else if (strcmp(nnv_json_text(root, "format", ""), FORMAT) != 0)
        s = nnv_fail(err, NNV_INVALID, "%s: is no contract: no \"format\": \"%s\"", path, FORMAT);
    if (s == NNV_OK) {
        c->driver = nnv_arena_strdup(arena, nnv_json_text(root, "driver", ""));
        c->tier = nnv_arena_strdup(arena, nnv_json_text(root, "tier", ""));
        s = c->driver != NULL && c->tier != NULL ? NNV_OK : nnv_no_memory(err);
    }
    if (s == NNV_OK) s = read_cases(path, json_object_get(root, "cases"), arena, c, err);
    if (s == NNV_OK) s = read_models(path, json_object_get(root, "models"), arena, c, err);
    json_decref(root);
    return s;
}

/* ----------------------------------------------------------------------- checking */

enum nnv_status nnv_breach_add(struct nnv_breaches *b, const char *about, const char *text, struct nnv_err *err) {
    if (about == NULL || text == NULL) return nnv_no_memory(err);
    if (b->count == b->room) {
        struct nnv_contract_breach *grown = NNV_NEW(b->arena, struct nnv_contract_breach, 2 * b->room + 16);
        if (grown == NULL) return nnv_no_memory(err);
        if (b->count > 0) memcpy(grown, b->item, b->count * sizeof *grown);
        b->item = grown;
        b->room = 2 * b->room + 16;
    }
    b->item[b->count++] = (struct nnv_contract_breach){about, text};
    return NNV_OK;
}

struct checking {
    const struct nnv_report *run;
    struct nnv_breaches *out;
    bool *meant, *told;
    size_t seen; /* cases of the expression */
};

static void see(void *context, size_t i) {
    struct checking *x = context;
    x->meant[i] = true;
    x->seen++;
}

/** Marks the cases that each expression means. */
static enum nnv_status mark(struct checking *x, const struct nnv_contract *c, struct nnv_err *err) {
    const struct nnv_report *run = x->run;
    struct nnv_case_list list = {.count = run->count, .item = NNV_NEW(x->out->arena, struct nnv_case, run->count + 1)};
    if (list.item == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < run->count; i++) {
        const struct nnv_report_case *r = &run->item[i];
        list.item[i] = (struct nnv_case){.name = r->name,
                                         .suite = run->suites.key[r->suite],
                                         .op = run->ops.key[r->op],
                                         .type = run->types.key[r->type],
                                         .tags = run->tags.key[r->tags]};
    }
    for (size_t k = 0; k < c->count; k++) {
        const uint32_t named = nnv_report_find(run, c->cases[k]);
        x->seen = 0;
        enum nnv_status s = NNV_OK;
        if (named != NNV_MAP_NONE)
            see(x, named);
        else
            s = nnv_select_each(&list, c->cases[k], NULL, see, x, err);
        if (s == NNV_OK && x->seen == 0)
            s = nnv_breach_add(x->out, c->cases[k], "means no case of the run: nothing shows that it is kept", err);
        if (s != NNV_OK) return nnv_at(err, s, "%s", c->written != NULL ? c->written[k] : c->cases[k]);
    }
    return NNV_OK;
}

/** One breach for all cases like case `first`: of its operation, type and standing. */
static enum nnv_status tell(struct checking *x, size_t first, struct nnv_err *err) {
    const struct nnv_report_case *c = &x->run->item[first];
    const enum standing s = standing_of(c);
    size_t all = 0, broken = 0;
    for (size_t i = 0; i < x->run->count; i++) {
        const struct nnv_report_case *o = &x->run->item[i];
        if (o->op != c->op || o->type != c->type || o->suite != c->suite || !x->meant[i]) continue;
        all++;
        if (standing_of(o) != s) continue;
        broken++;
        x->told[i] = true;
    }
    const char *op = x->run->ops.key[c->op], *type = x->run->types.key[c->type];
    char *about = *op != '\0' ? nnv_arena_printf(x->out->arena, "%s%s%s", op, *type ? " " : "", type)
                              : nnv_arena_strdup(x->out->arena, x->run->suites.key[c->suite]);
    char *text = nnv_arena_printf(x->out->arena, "%zu of %zu cases %s: %s%s%s", broken, all,
                                  s == LOST ? "are not answered any more" : "go wrong", c->name,
                                  *c->more->reason ? ": " : "", c->more->reason);
    return nnv_breach_add(x->out, about, text, err);
}

enum nnv_status nnv_contract_check(const struct nnv_contract *c, const struct nnv_report *run, struct nnv_breaches *out,
                                   size_t *meant, struct nnv_err *err) {
    struct checking x = {run, out, NNV_NEW(out->arena, bool, run->count + 1), NNV_NEW(out->arena, bool, run->count + 1),
                         0};
    const char *tier = nnv_json_text(run->header, "tier", "");
    if (x.meant == NULL || x.told == NULL) return nnv_no_memory(err);
    if (*c->tier != '\0' && strcmp(c->tier, tier) != 0)
        return nnv_fail(err, NNV_INVALID, "%s: is of the tier %s, the contract of %s; run --tier %s", run->folder, tier,
                        c->tier, c->tier);
    enum nnv_status s = mark(&x, c, err);
    *meant = 0;
    for (size_t i = 0; i < run->count; i++) *meant += x.meant[i];
    for (size_t i = 0; s == NNV_OK && i < run->count; i++) {
        const enum standing is = standing_of(&run->item[i]);
        if (x.meant[i] && !x.told[i] && (is == LOST || is == WRONG)) s = tell(&x, i, err);
    }
    return s;
}
