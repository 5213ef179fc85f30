/* SPDX-License-Identifier: Apache-2.0 */
/** @file bench_junit.c junit.xml of a bench: a suite a network, a case a driver. The form is tests/junit.xsd. */
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/bench.h"
#include "harness/journal/load.h"

enum kind { PASSED, FAILED, BROKEN, SKIPPED, KINDS };

static enum kind kind_of(const struct nnv_bench_line *l) {
    switch (l->verdict) {
    case NNVTS_PASS:
        return PASSED;
    case NNVTS_UNSUPPORTED:
        return SKIPPED;
    case NNVTS_FAIL:
        return FAILED;
    default:
        return BROKEN;
    }
}

/** The median in seconds: what a chart of a server then shows over time. */
static double seconds_of(const struct nnv_bench_line *l) { return l->p50 > 0 && l->p50 < 1e18 ? l->p50 / 1e9 : 0; }

static void add_attribute(struct nnv_text *t, const char *name, const char *value) {
    nnv_text_addf(t, " %s=\"", name);
    nnv_text_add_xml(t, value);
    nnv_text_add(t, "\"");
}

/** Names differ, or servers take two for one: a driver that was measured again gets the number of its row. */
static const char *name_of(const struct nnv_bench_line *l, size_t row, struct nnv_map *names, struct nnv_arena *arena) {
    struct nnv_text t = {0};
    nnv_text_addf(&t, "%s/%s", l->network, l->driver);
    while (!t.failed && nnv_map_find(names, t.data) != NNV_MAP_NONE) nnv_text_addf(&t, " #%zu", row + 1);
    const char *name = t.failed ? NULL : nnv_arena_strdup(arena, t.data);
    nnv_text_free(&t);
    return name && nnv_map_add(names, name) != NNV_MAP_NONE ? name : NULL;
}

static void add_case(const struct nnv_bench_line *l, const char *name, struct nnv_text *t) {
    static const char *const elements[KINDS] = {[FAILED] = "failure", [BROKEN] = "error", [SKIPPED] = "skipped"};
    enum kind kind = kind_of(l);
    nnv_text_add(t, "    <testcase");
    add_attribute(t, "classname", l->network);
    add_attribute(t, "name", name);
    nnv_text_addf(t, " time=\"%.9f\"", seconds_of(l));
    if (kind == PASSED) {
        nnv_text_add(t, "/>\n");
        return;
    }
    nnv_text_addf(t, ">\n      <%s", elements[kind]);
    if (kind != SKIPPED) add_attribute(t, "type", nnv_verdict_name(l->verdict));
    add_attribute(t, "message", l->why);
    nnv_text_add(t, "/>\n    </testcase>\n");
}

static void add_counts(const size_t *count, size_t tests, struct nnv_text *t) {
    nnv_text_addf(t, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", tests, count[FAILED], count[BROKEN]);
}

static void add_property(struct nnv_text *t, const char *name, const char *value) {
    nnv_text_addf(t, "      <property name=\"%s\"", name);
    add_attribute(t, "value", value);
    nnv_text_add(t, "/>\n");
}

/** False when out of memory. */
static bool add_suite(const struct nnv_bench_sheet *s, uint32_t network, struct nnv_map *names, struct nnv_arena *arena,
                      struct nnv_text *t) {
    size_t count[KINDS] = {0}, tests = 0;
    double seconds = 0;
    const json_t *row = s->line[s->first[network]].all;
    for (size_t i = s->first[network]; i != SIZE_MAX; i = s->line[i].next) {
        count[kind_of(&s->line[i])]++;
        tests++;
        seconds += seconds_of(&s->line[i]);
    }
    nnv_text_add(t, "  <testsuite");
    add_attribute(t, "name", s->networks.key[network]);
    add_counts(count, tests, t);
    nnv_text_addf(t, " skipped=\"%zu\" time=\"%.9f\">\n    <properties>\n", count[SKIPPED], seconds);
    add_property(t, "origin", nnv_json_text(row, "origin", "?"));
    add_property(t, "data", nnv_json_text(row, "data", "?"));
    add_property(t, "scenario", nnv_json_text(row, "scenario", "?"));
    add_property(t, "mode", nnv_json_text(row, "mode", "?"));
    nnv_text_add(t, "    </properties>\n");
    for (size_t i = s->first[network]; i != SIZE_MAX; i = s->line[i].next) {
        const char *name = name_of(&s->line[i], i, names, arena);
        if (!name) return false;
        add_case(&s->line[i], name, t);
    }
    nnv_text_add(t, "  </testsuite>\n");
    return true;
}

enum nnv_status nnv_bench_junit(const struct nnv_bench_sheet *s, struct nnv_err *err) {
    struct nnv_text t = {0}, path = {0};
    struct nnv_map names = {0};
    struct nnv_arena *arena = nnv_arena_new();
    size_t count[KINDS] = {0};
    double seconds = 0;
    bool ok = arena != NULL;
    for (size_t i = 0; i < s->count; i++) {
        count[kind_of(&s->line[i])]++;
        seconds += seconds_of(&s->line[i]);
    }
    nnv_text_add_path(&path, s->folder, "junit.xml");
    nnv_text_add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"nnvts bench\"");
    add_counts(count, s->count, &t);
    nnv_text_addf(&t, " time=\"%.9f\">\n", seconds);
    for (uint32_t n = 0; ok && n < s->networks.count; n++) ok = add_suite(s, n, &names, arena, &t);
    nnv_text_add(&t, "</testsuites>\n");
    enum nnv_status st = !ok || t.failed || path.failed
                             ? nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory for junit.xml", s->folder)
                             : nnv_file_write(path.data, t.data, t.len, err);
    nnv_map_free(&names);
    nnv_arena_free(arena);
    nnv_text_free(&t);
    nnv_text_free(&path);
    return st;
}
