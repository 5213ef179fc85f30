/* SPDX-License-Identifier: Apache-2.0 */
/** @file show.c A comparison in lines. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "reports/compare/compare.h"
#include "harness/journal/load.h"

enum { SHOWN = 10, WIDTH = 160 };

/** What a file says, as one line. */
static void add(struct nnv_text *t, const char *s) { nnv_text_add_shown(t, s, strlen(s), WIDTH); }

static void put(struct nnv_text *t, const char *before, const char *s, const char *after) {
    nnv_text_add(t, before);
    add(t, s);
    nnv_text_add(t, after);
}

static bool is_bench(const json_t *j) { return strcmp(nnv_json_text(j, "form", ""), "nnvts-compare-bench-1") == 0; }

void nnv_compare_sentence(struct nnv_text *t, const json_t *j) {
    const json_t *counts = json_object_get(j, "counts");
    size_t before = t->len;
    for (int k = 0; k < NNV_CHANGE_COUNT; k++) {
        const struct nnv_compare_list *l = &nnv_compare_lists[k];
        uint64_t n = nnv_json_count(counts, l->member);
        if (n == 0) continue;
        nnv_text_addf(t, "%s%s %s", t->len > before ? ", " : "", nnv_count(n).s, n == 1 ? l->one : l->many);
    }
    if (t->len == before) nnv_text_add(t, is_bench(j) ? "no row fails that did not" : "no verdict changed");
}

static void add_side(struct nnv_text *t, const json_t *of) {
    if (of == NULL) {
        nnv_text_add(t, "-");
        return;
    }
    add(t, nnv_json_text(of, "outcome", nnv_json_text(of, "verdict", "?")));
}

static void add_case(struct nnv_text *t, const json_t *c) {
    const json_t *a = json_object_get(c, "a"), *b = json_object_get(c, "b");
    nnv_text_add(t, "  ");
    add_side(t, a);
    nnv_text_add(t, " -> ");
    add_side(t, b);
    put(t, "  ", nnv_json_text(c, "case", "?"), "\n");
    const char *reason = nnv_json_text(b, "reason", "");
    if (*reason == '\0') return;
    put(t, "       ", reason, "\n");
}

static void add_lists(struct nnv_text *t, const json_t *j) {
    for (int k = 0; k < NNV_CHANGE_COUNT; k++) {
        const struct nnv_compare_list *l = &nnv_compare_lists[k];
        const json_t *list = json_object_get(j, l->member);
        uint64_t all = nnv_json_count(json_object_get(j, "counts"), l->member);
        if (all == 0) continue;
        nnv_text_addf(t, "%s: %s\n", l->heading, nnv_count(all).s);
        size_t n = json_array_size(list);
        for (size_t i = 0; i < n && i < SHOWN; i++) add_case(t, json_array_get(list, i));
        if (all > SHOWN) nnv_text_addf(t, "  and %s more (all with --json)\n", nnv_count(all - SHOWN).s);
    }
}

static void add_time(struct nnv_text *t, const json_t *time) {
    const json_t *all = json_object_get(time, "all"), *ops = json_object_get(time, "operations"), *op;
    const json_t *cases = json_object_get(time, "cases"), *c;
    size_t i;
    if (all == NULL) return;
    nnv_text_addf(t, "time in the driver: B takes %.2f times as long as A [%.2f, %.2f], median of %s cases\n",
                  nnv_json_real(all, "ratio"), nnv_json_real(all, "low"), nnv_json_real(all, "high"),
                  nnv_count(nnv_json_count(all, "cases")).s);
    json_array_foreach(ops, i, op) {
        if (i == SHOWN) break;
        nnv_text_add(t, "  ");
        add(t, nnv_json_text(op, "op", "?"));
        nnv_text_addf(t, " %.2f times that [%.2f, %.2f], %s cases\n", nnv_json_real(op, "ratio"),
                      nnv_json_real(op, "low"), nnv_json_real(op, "high"), nnv_count(nnv_json_count(op, "cases")).s);
    }
    json_array_foreach(cases, i, c) {
        if (i == SHOWN) break;
        nnv_text_addf(t, "  %.1f ms -> %.1f ms  ", nnv_json_real(c, "a_us") / 1000, nnv_json_real(c, "b_us") / 1000);
        add(t, nnv_json_text(c, "case", "?"));
        nnv_text_add(t, "\n");
    }
}

static void add_error(struct nnv_text *t, const json_t *error) {
    const json_t *ops = json_object_get(error, "operations"), *op;
    size_t i;
    if (json_array_size(ops) == 0) return;
    nnv_text_add(t, "errors by their bounds, worst of what passed:\n");
    json_array_foreach(ops, i, op) {
        if (i == SHOWN) {
            nnv_text_addf(t, "  and %zu more operations (all with --json)\n", json_array_size(ops) - SHOWN);
            break;
        }
        nnv_text_add(t, "  ");
        add(t, nnv_json_text(op, "op", "?"));
        nnv_text_addf(t, " %.3g -> %.3g", nnv_json_real(op, "a"), nnv_json_real(op, "b"));
        if (json_is_true(json_object_get(error, "same_values")))
            nnv_text_addf(t, "; of %s cases %s rose, %s fell", nnv_count(nnv_json_count(op, "cases")).s,
                          nnv_count(nnv_json_count(op, "rose")).s, nnv_count(nnv_json_count(op, "fell")).s);
        double mse = nnv_json_real(op, "mse_ratio");
        if (!isnan(mse)) nnv_text_addf(t, "; mean square error %.3g times", mse);
        nnv_text_add(t, "\n");
    }
}

static void add_run(struct nnv_text *t, const char *name, const json_t *run) {
    nnv_text_addf(t, "%s  ", name);
    add(t, nnv_json_text(run, "folder", "?"));
    put(t, "  driver ", nnv_json_text(run, "driver", "?"), " ");
    add(t, nnv_json_text(run, "version", "?"));
    nnv_text_addf(t, "  %s cases  seed ", nnv_count(nnv_json_count(run, "cases")).s);
    add(t, nnv_json_text(run, "seed", "?"));
    put(t, "  ", nnv_json_text(run, "start", "?"), "\n");
}

static void add_differences(struct nnv_text *t, const json_t *j) {
    const json_t *list = json_object_get(j, "differ"), *member;
    size_t i;
    json_array_foreach(list, i, member) {
        const char *name = json_is_string(member) ? json_string_value(member) : "?";
        put(t, "not the same ", name, ": ");
        add(t, nnv_json_text(json_object_get(j, "a"), name, "?"));
        put(t, " and ", nnv_json_text(json_object_get(j, "b"), name, "?"), "\n");
    }
}

void nnv_compare_print(const json_t *j, struct nnv_text *to) {
    if (is_bench(j)) {
        nnv_compare_print_benches(j, to);
        return;
    }
    add_run(to, "A", json_object_get(j, "a"));
    add_run(to, "B", json_object_get(j, "b"));
    add_differences(to, j);
    add_lists(to, j);
    add_time(to, json_object_get(j, "time"));
    add_error(to, json_object_get(j, "error"));
    nnv_text_addf(to, "%s: ", nnv_compare_worse(j) ? "WORSE" : "not worse");
    nnv_compare_sentence(to, j);
    nnv_text_add(to, "\n");
}
