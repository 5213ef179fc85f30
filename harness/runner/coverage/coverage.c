/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/coverage/coverage.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/driver.h"
#include "base/file.h"
#include "base/json_out.h"
#include "base/map.h"
#include "harness/journal/load.h"
#include "harness/runner/coverage/gcov.h"
#include "harness/runner/worker/symbols.h"

static const uint64_t SYMBOLS_NS = UINT64_C(60000000000);

/** A shared object. */
struct nnv_coverage_sum {
    char path[NNV_COVERAGE_PATH_BYTES];
    uint32_t count;
    uint64_t *place; /* see nnv_coverage_told */
    uint8_t *reached;
};

enum nnv_status nnv_coverage_begin(struct nnv_coverage *c, const char *argument, const char *path, uint32_t edges,
                                   const char *out, struct nnv_err *err) {
    if (edges > 0) return NNV_OK;
    if (nnv_gcov_counts(path)) return nnv_gcov_begin(out, &c->gcov, err);
    if (nnv_driver_is_apart(argument))
        return nnv_fail(err, NNV_INVALID, "--coverage: '%s' runs in another process: give the driver itself", argument);
    return nnv_fail(
        err, NNV_INVALID,
        "--coverage: driver '%s' does not count what it reaches: build it with clang -g "
        "-fsanitize-coverage=inline-8bit-counters,pc-table, or with gcc --coverage (see docs/use/coverage.md)",
        argument);
}

/* ------------------------------------------------------------------- adding */

static struct nnv_coverage_sum *find(const struct nnv_coverage *c, const struct nnv_coverage_module *m) {
    for (size_t i = 0; i < c->count; i++)
        if (c->module[i].count == m->count && strcmp(c->module[i].path, m->path) == 0) return &c->module[i];
    return NULL;
}

static struct nnv_coverage_sum *append(struct nnv_coverage *c, const struct nnv_coverage_module *m) {
    struct nnv_coverage_sum *grown = realloc(c->module, (c->count + 1) * sizeof *grown);
    if (grown == NULL) return NULL;
    c->module = grown;
    struct nnv_coverage_sum *s = &grown[c->count];
    *s = (struct nnv_coverage_sum){
        .count = m->count, .place = calloc(m->count, sizeof *s->place), .reached = calloc(m->count, 1)};
    memcpy(s->path, m->path, sizeof s->path);
    if (s->place == NULL || s->reached == NULL) {
        free(s->place);
        free(s->reached);
        return NULL;
    }
    c->count++;
    c->edges += m->count;
    return s;
}

enum nnv_status nnv_coverage_add(struct nnv_coverage *c, const struct nnv_coverage_told *told, struct nnv_err *err) {
    const uint32_t modules = told->modules;
    for (uint32_t k = 0; k < modules && k < NNV_COVERAGE_MODULES; k++) {
        const struct nnv_coverage_module m = told->module[k];
        const bool sound = memchr(m.path, '\0', sizeof m.path) != NULL && m.count > 0 &&
                           m.count <= NNV_COVERAGE_EDGES && m.first <= NNV_COVERAGE_EDGES - m.count;
        struct nnv_coverage_sum *s = sound ? find(c, &m) : NULL;
        if (!sound || (s == NULL && c->count >= NNV_COVERAGE_MODULES)) continue;
        if (s == NULL) s = append(c, &m);
        if (s == NULL) return nnv_no_memory(err);
        for (uint32_t i = 0; i < m.count; i++) {
            if (s->place[i] == 0) s->place[i] = told->place[m.first + i];
            if (s->reached[i] || !told->reached[m.first + i]) continue;
            s->reached[i] = 1;
            c->reached++;
        }
    }
    return NNV_OK;
}

void nnv_coverage_free(struct nnv_coverage *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->module[i].place);
        free(c->module[i].reached);
    }
    free(c->module);
    free(c->gcov);
    *c = (struct nnv_coverage){0};
}

/* ------------------------------------------------------------------ by file */

/** A line on which an edge leads. */
struct line {
    uint32_t number;
    bool reached;
};

/** A file of the source; where that is not known, the shared object by its last name. */
struct source {
    const char *path;
    uint32_t edges, reached;
    struct line *line; /* sorted, when all are there */
    uint32_t lines, room, lines_reached;
};

struct sources {
    struct nnv_arena *arena;
    struct nnv_map names; /* of files; the value: struct source */
};

/** The file of this name; NULL: no memory. */
static struct source *source_of(struct sources *all, const char *path, size_t bytes) {
    const uint32_t at = nnv_map_find_n(&all->names, path, bytes);
    struct source *s = at != NNV_MAP_NONE ? nnv_map_value(&all->names, at) : NULL;
    if (s == NULL) {
        s = NNV_NEW(all->arena, struct source, 1);
        if (s == NULL || (s->path = nnv_arena_printf(all->arena, "%.*s", (int)bytes, path)) == NULL ||
            !nnv_map_put(&all->names, s->path, s))
            return NULL;
    }
    return s;
}

static bool add_line(struct sources *all, struct source *s, uint32_t number, bool reached) {
    if (s->lines == s->room) {
        const uint32_t room = s->room ? 2 * s->room : 64;
        struct line *grown = NNV_NEW(all->arena, struct line, room);
        if (grown == NULL) return false;
        if (s->lines > 0) memcpy(grown, s->line, s->lines * sizeof *grown);
        s->line = grown;
        s->room = room;
    }
    s->line[s->lines++] = (struct line){number, reached};
    return true;
}

/** Adds an edge that leads to a line; 0: it is not known. */
static bool add_edge(struct sources *all, const char *path, size_t bytes, uint32_t number, bool reached) {
    struct source *s = source_of(all, path, bytes);
    if (s == NULL) return false;
    s->edges++;
    s->reached += reached;
    return number == 0 || add_line(all, s, number, reached);
}

/** Of gcov: a line, without its edges. */
static bool see_line(void *context, const char *file, uint32_t number, bool reached) {
    struct source *s = source_of(context, file, strlen(file));
    return s != NULL && add_line(context, s, number, reached);
}

/** Adds all edges of a shared object. */
static enum nnv_status add_module(struct sources *all, const struct nnv_coverage_sum *m, struct nnv_err *err) {
    struct nnv_text answer = {0};
    nnv_symbols_ask(m->path, "-e", m->place, m->count, SYMBOLS_NS, &answer);
    const char *at = answer.data != NULL ? answer.data : "";
    const char *slash = strrchr(m->path, '/'), *name = slash != NULL ? slash + 1 : m->path;
    bool ok = true;
    for (uint32_t i = 0; i < m->count && ok; i++) {
        /* "/home/npu/conv.c:12", "/home/npu/conv.c:12 (discriminator 3)", "??:0", "??:?" */
        const size_t n = strcspn(at, "\n");
        const char *colon = memrchr(at, ':', n);
        const unsigned long number = colon != NULL ? strtoul(colon + 1, NULL, 10) : 0;
        const bool known = colon != NULL && number > 0 && number <= UINT32_MAX && *at != '?';
        ok = known ? add_edge(all, at, (size_t)(colon - at), (uint32_t)number, m->reached[i] != 0)
                   : add_edge(all, name, strlen(name), 0, m->reached[i] != 0);
        at += n + (at[n] == '\n');
    }
    nnv_text_free(&answer);
    return ok ? NNV_OK : nnv_no_memory(err);
}

static int by_number(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (int)y->reached - (int)x->reached;
}

/** Each line once: reached, if an edge to it was. */
static void settle(struct source *s) {
    uint32_t n = 0;
    if (s->lines > 0) qsort(s->line, s->lines, sizeof *s->line, by_number);
    for (uint32_t i = 0; i < s->lines; i++)
        if (n == 0 || s->line[n - 1].number != s->line[i].number) s->line[n++] = s->line[i];
    s->lines = n;
    for (uint32_t i = 0; i < n; i++) s->lines_reached += s->line[i].reached;
}

static int by_path(const void *a, const void *b) {
    return strcmp((*(struct source *const *)a)->path, (*(struct source *const *)b)->path);
}

/** The bytes of the folder, with its '/', that all files lie in of which the whole path is known. */
static size_t shared_folder(struct source *const *s, size_t count) {
    const char *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (*s[i]->path != '/') continue;
        if (first == NULL) {
            first = s[i]->path;
            n = (size_t)(strrchr(first, '/') - first) + 1;
        }
        while (strncmp(first, s[i]->path, n) != 0)
            for (n--; first[n - 1] != '/';) n--;
    }
    return n;
}

static void add_source(struct nnv_json_out *j, const struct source *s, size_t folder) {
    j->line = "\n    ";
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "file", *s->path == '/' ? s->path + folder : s->path);
    nnv_json_uint(j, "edges", s->edges);
    nnv_json_uint(j, "edges_reached", s->reached);
    nnv_json_uint(j, "lines", s->lines);
    nnv_json_uint(j, "lines_reached", s->lines_reached);
    nnv_json_open(j, "lines_missed", '[');
    for (uint32_t i = 0; i < s->lines; i++)
        if (!s->line[i].reached) nnv_json_uint(j, NULL, s->line[i].number);
    nnv_json_close(j, ']');
    nnv_json_close(j, '}');
}

static void add_all(struct nnv_text *t, const struct nnv_coverage *c, struct source *const *s, size_t count) {
    struct nnv_json_out j = {.text = t, .spaced = true};
    const size_t folder = shared_folder(s, count);
    uint64_t lines = 0, reached = 0;
    for (size_t i = 0; i < count; i++) {
        lines += s[i]->lines;
        reached += s[i]->lines_reached;
    }
    nnv_json_open(&j, NULL, '{');
    j.line = "\n  ";
    nnv_json_uint(&j, "edges", c->edges);
    nnv_json_uint(&j, "edges_reached", c->reached);
    nnv_json_uint(&j, "lines", lines);
    nnv_json_uint(&j, "lines_reached", reached);
    j.line = "\n  ";
    nnv_json_open(&j, "files", '[');
    for (size_t i = 0; i < count; i++) add_source(&j, s[i], folder);
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(t, "\n");
}

enum nnv_status nnv_coverage_write(const struct nnv_coverage *c, const char *folder, struct nnv_err *err) {
    struct sources all = {.arena = nnv_arena_new()};
    struct nnv_text t = {0};
    struct source **sorted = NULL;
    enum nnv_status st = all.arena != NULL ? NNV_OK : nnv_no_memory(err);
    all.names.arena = all.arena;
    for (size_t i = 0; i < c->count && st == NNV_OK; i++) st = add_module(&all, &c->module[i], err);
    if (st == NNV_OK && c->gcov != NULL) st = nnv_gcov_each(c->gcov, see_line, &all, err);
    if (st == NNV_OK && (sorted = NNV_NEW(all.arena, struct source *, all.names.count + 1)) == NULL)
        st = nnv_no_memory(err);
    for (uint32_t i = 0; i < all.names.count && st == NNV_OK; i++) {
        sorted[i] = nnv_map_value(&all.names, i);
        settle(sorted[i]);
    }
    if (st == NNV_OK) {
        qsort(sorted, all.names.count, sizeof *sorted, by_path);
        add_all(&t, c, sorted, all.names.count);
        st = nnv_file_write_text(folder, NNV_COVERAGE_FILE, &t, err);
    }
    nnv_text_free(&t);
    nnv_arena_free(all.arena);
    return st;
}
