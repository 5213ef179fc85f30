/* SPDX-License-Identifier: Apache-2.0 */
/** @file spec.c The suite "spec": specs from files. A case is a place in a file; its worker reads it from there. */
#include "reference/spec/spec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "harness/suites/suites.h"
#include "randgraph/single/single.h"
#include "mlts/onnx/onnx.h"
#include "reference/model/op.h"

/* Of the files in folders; .example.cpp are AOSP's generated tests, /model.onnx and .onnx ONNX's. */
static const char *const suffixes[] = {".json", ".jsonl", ".example.cpp", ".onnx", "/model.onnx", NULL};

/* ------------------------------------------------------------------- listing */

/** A file that is being listed. */
struct source {
    const char *path; /**< arena's */
    const char *stem; /**< the path below the folder, without its suffix */
};

/** The path below root (a folder or the file itself), without any of the suffixes. */
static char *stem_of(const char *root, const char *path, struct nnv_arena *arena) {
    size_t n = strlen(root);
    const char *below = path;
    if (strncmp(path, root, n) == 0 && path[n]) {
        below = path + n;
        while (*below == '/') below++;
    } else if (strrchr(path, '/')) {
        below = strrchr(path, '/') + 1;
    }
    size_t len = strlen(below), cut = 0;
    for (const char *const *s = suffixes; *s; s++)
        if (len > strlen(*s) && strcmp(below + len - strlen(*s), *s) == 0) cut = strlen(*s);
    return nnv_arena_printf(arena, "%.*s", (int)(len - cut), below);
}

/** Case names are words: all else becomes '_'. */
static void make_word(char *s, bool slashes) {
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("_-.+", *s) && !(slashes && *s == '/')) *s = '_';
}

/** Where a spec is in its file. */
struct place {
    size_t offset, len, line;
};

/** What selection asks of a case. */
struct traits {
    const char *name, *op, *type;
    bool relaxed, fails, malformed;
    int level;
};

/** Appends the case of one spec. */
static enum nnv_status add_case(struct nnv_case_list *list, const struct source *source, struct place at,
                                const struct traits *t, struct nnv_err *err) {
    char *word = *t->name ? nnv_arena_strdup(list->arena, t->name) : nnv_arena_printf(list->arena, "line%zu", at.line);
    if (word) make_word(word, false);
    const struct nnv_case c = {
        .name = nnv_arena_printf(list->arena, "spec/%s/%s", source->stem, word ? word : ""),
        .suite = "spec",
        .op = t->op,
        .type = t->type,
        .tags = t->malformed             ? "malformed"
                : t->relaxed && t->fails ? "relaxed expect_failure"
                : t->relaxed             ? "relaxed"
                : t->fails               ? "expect_failure"
                                         : "",
        .level = t->level,
        .a = at.offset,
        .b = at.len,
        .c = at.line,
        .file = source->path,
    };
    return word && c.name ? nnv_case_add(list, &c, err) : nnv_no_memory(err);
}

/** Element i of the array, or none. */
static struct nnv_json_span find_element(struct nnv_json_span array, uint64_t i) {
    struct nnv_json_walk w = {.at = array.begin, .end = array.end, .depth = NNV_JSON_DEPTH};
    bool there = array.begin && *array.begin == '[' && nnv_json_next(&w);
    while (there && i-- > 0) there = nnv_json_next(&w);
    return there ? (struct nnv_json_span){w.value, w.value_end} : (struct nnv_json_span){NULL, NULL};
}

/** A string; "" if the value is none, NULL when out of memory. */
static const char *string_at(struct nnv_json_span value, struct nnv_arena *arena) {
    const char *text;
    size_t n;
    if (!value.begin || *value.begin != '"') return "";
    if (nnv_json_plain(value.begin, value.end, &text, &n)) {
        char *copy = NNV_NEW(arena, char, n + 1);
        if (copy) memcpy(copy, text, n);
        return copy;
    }
    json_t *decoded = json_loadb(value.begin, (size_t)(value.end - value.begin), JSON_DECODE_ANY, NULL);
    const char *copy = nnv_arena_strdup(arena, decoded ? json_string_value(decoded) : "");
    json_decref(decoded);
    return copy;
}

static bool is_true(struct nnv_json_span value) { return value.begin && *value.begin == 't'; }

/** Reads the traits of a spec from its text; false when out of memory. */
static bool read_traits(struct nnv_json_span text, struct nnv_arena *arena, struct traits *t) {
    enum { NAME, RELAXED, FAILS, LEVEL, MAIN, MEMBERS };
    enum { OPERATIONS, OPERANDS, INPUTS, OUTPUTS, PARTS };
    static const char *const members[] = {"name", "relaxed", "expect_failure", "min_version", "main"};
    static const char *const parts[] = {"operations", "operands", "inputs", "outputs"};
    static const char *const type[] = {"type"};
    struct nnv_json_span member[MEMBERS], part[PARTS], of[1];
    text.begin += strspn(text.begin, " \t\r\n");
    t->malformed = !nnv_json_members(text, members, MEMBERS, member);
    if (t->malformed) return true;
    nnv_json_members(member[MAIN], parts, PARTS, part);
    nnv_json_members(find_element(part[OPERATIONS], 0), type, 1, of);
    t->op = string_at(of[0], arena);
    struct nnv_json_span first = find_element(part[INPUTS], 0);
    if (!first.begin) first = find_element(part[OUTPUTS], 0);
    if (first.begin && *first.begin >= '0' && *first.begin <= '9') {
        nnv_json_members(find_element(part[OPERANDS], strtoull(first.begin, NULL, 10)), type, 1, of);
        const char *name = string_at(of[0], arena);
        const struct nnv_type *its = name ? nnv_type_by_name(name) : NULL;
        if (its) t->type = its->tag;
    }
    t->name = string_at(member[NAME], arena);
    t->relaxed = is_true(member[RELAXED]);
    t->fails = is_true(member[FAILS]);
    const char *level = string_at(member[LEVEL], arena);
    t->level = level ? nnv_level_by_name(level) : 0;
    return t->name && t->op && level;
}

/** Appends a spec in JSON. Text that is no JSON becomes a case, too: its worker tells what is wrong. */
static enum nnv_status add_json(struct nnv_case_list *list, const struct source *source, const char *text,
                                struct place at, struct nnv_arena *arena, struct nnv_err *err) {
    struct traits t = {.name = "", .op = "", .type = ""};
    nnv_arena_reset(arena);
    return read_traits((struct nnv_json_span){text, text + at.len}, arena, &t) ? add_case(list, source, at, &t, err)
                                                                               : nnv_no_memory(err);
}

/** Appends a model in C++. One that cannot be read becomes a case, too: its worker tells what is wrong. */
static enum nnv_status add_cpp(struct nnv_case_list *list, const struct source *source, const char *text,
                               struct place at, struct nnv_arena *arena, struct nnv_err *err) {
    struct traits t = {.name = "", .op = "", .type = ""};
    struct nnv_spec *spec;
    nnv_arena_reset(arena);
    enum nnv_status st = nnv_spec_parse_cpp(text, at.len, source->path, at.line, arena, &spec, NULL);
    if (st == NNV_NO_MEMORY) return nnv_fail(err, st, "%s: out of memory", source->path);
    if (st == NNV_OK) {
        const struct nnv_subgraph *main = &spec->model.main;
        const uint32_t *first = main->nin ? main->in : main->nout ? main->out : NULL;
        t.name = spec->name;
        if (main->noperations) t.op = nnv_op(main->operations[0].type)->name;
        if (first) t.type = nnv_type(main->operands[*first].type)->tag;
        t.relaxed = spec->model.relaxed;
        t.fails = spec->expect_failure;
        t.level = spec->min_version;
    } else {
        const char *name = nnv_spec_cpp_name(text, at.len, source->path, arena);
        t.malformed = true;
        if (name) t.name = name;
    }
    return add_case(list, source, at, &t, err);
}

/** Appends a case for each set of test data beside an ONNX model. A model without any becomes a case, too: its worker
 * tells so. */
static enum nnv_status add_onnx(struct nnv_case_list *list, const struct source *source, struct nnv_err *err) {
    const uint32_t sets = nnv_onnx_test_count(source->path);
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; i < (sets ? sets : 1) && st == NNV_OK; i++) {
        const struct nnv_case c = {.name = nnv_arena_printf(list->arena, "spec/%s/%u", source->stem, i),
                                   .suite = "spec",
                                   .op = "",
                                   .type = "",
                                   .tags = "onnx",
                                   .foreign = true,
                                   .a = i,
                                   .b = sets,
                                   .file = source->path};
        st = c.name ? nnv_case_add(list, &c, err) : nnv_no_memory(err);
    }
    return st;
}

static enum nnv_status add_file(const char *root, const char *path, struct nnv_case_list *list, struct nnv_err *err) {
    struct nnv_spec_file *file = NULL;
    char *stem = stem_of(root, path, list->arena);
    struct source source = {nnv_arena_strdup(list->arena, path), stem};
    if (!source.path || !stem) return nnv_no_memory(err);
    make_word(stem, true);
    if (nnv_is_onnx(path)) return add_onnx(list, &source, err);
    struct nnv_arena *arena = nnv_arena_new();
    if (!arena) return nnv_no_memory(err);
    enum nnv_status st = nnv_spec_open(path, &file, err);
    size_t n = st == NNV_OK ? nnv_spec_count(file) : 0;
    for (size_t i = 0; i < n && st == NNV_OK; i++) {
        struct place at;
        const char *text;
        at.offset = nnv_spec_text(file, i, &text, &at.len, &at.line);
        st = nnv_spec_is_cpp(path) ? add_cpp(list, &source, text, at, arena, err)
                                   : add_json(list, &source, text, at, arena, err);
    }
    nnv_spec_close(file);
    nnv_arena_free(arena);
    return st;
}

static int by_name(const void *a, const void *b) {
    const struct nnv_case *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x > *y) - (*x < *y);
}

/** Gives the second, third ... case of a name a suffix that no word has. */
static enum nnv_status make_unique(struct nnv_case_list *list, size_t first, struct nnv_err *err) {
    size_t n = list->count - first;
    struct nnv_case **sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) sorted[i] = &list->item[first + i];
    qsort(sorted, n, sizeof *sorted, by_name);
    bool ok = true;
    for (size_t i = 0, same; i < n && ok; i += same) {
        const char *name = sorted[i]->name;
        for (same = 1; i + same < n && strcmp(sorted[i + same]->name, name) == 0; same++) {
            sorted[i + same]->name = nnv_arena_printf(list->arena, "%s~%zu", name, same + 1);
            ok = ok && sorted[i + same]->name;
            if (!ok) break;
        }
    }
    free(sorted);
    return ok ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    if (!config->specs) return NNV_OK;
    char **paths;
    size_t count, first = list->count;
    enum nnv_status st = nnv_file_list(config->specs, suffixes, &paths, &count, err);
    if (st != NNV_OK) return st;
    if (count == 0) st = nnv_fail(err, NNV_INVALID, "%s: no .json, .jsonl, .example.cpp or .onnx files", config->specs);
    for (size_t i = 0; i < count && st == NNV_OK; i++) st = add_file(config->specs, paths[i], list, err);
    nnv_file_list_free(paths, count);
    return st == NNV_OK ? make_unique(list, first, err) : st;
}

/* ------------------------------------------------------------------ building */

static enum nnv_status read_text(const struct nnv_case *c, struct nnv_arena *arena, char **text, struct nnv_err *err) {
    const char *path = c->file;
    const size_t bytes = (size_t)c->b;
    char *buffer = NNV_NEW(arena, char, bytes + 1);
    if (!buffer) return nnv_no_memory(err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return nnv_fail(err, NNV_IO, "%s: %s", path, strerror(errno));
    size_t done = 0;
    ssize_t n = 1;
    while (done < bytes && n > 0) {
        n = pread(fd, buffer + done, bytes - done, (off_t)(c->a + done));
        if (n > 0) done += (size_t)n;
        if (n < 0 && errno == EINTR) n = 1;
    }
    enum nnv_status st = done == bytes ? NNV_OK
                         : n < 0       ? nnv_fail(err, NNV_IO, "%s: %s", path, strerror(errno))
                                       : nnv_fail(err, NNV_IO, "%s: the file became shorter during the run", path);
    close(fd);
    if (st == NNV_OK) *text = buffer;
    return st;
}

static const char *string_of(const json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/** Appends the operations of a subgraph that have no record, each once. */
static void add_unknown(const json_t *subgraph, struct nnv_text *t) {
    const json_t *operations = json_object_get(subgraph, "operations"), *operation;
    size_t i;
    json_array_foreach(operations, i, operation) {
        const char *name = string_of(operation, "type");
        if (!*name || nnv_op_by_name(name)) continue;
        size_t n = strlen(name);
        bool known = false;
        for (const char *at = t->data; at && !known && (at = strstr(at, name)) != NULL; at += n)
            known = (at == t->data || at[-1] == ' ') && (at[n] == 0 || at[n] == ',');
        if (!known) nnv_text_addf(t, "%s%s", t->len ? ", " : "", name);
    }
}

/** The error of a spec with operations that have no record: all of them, not just the first. */
static enum nnv_status name_unknown(const char *text, size_t len, struct nnv_err *err) {
    json_t *spec = json_loadb(text, len, 0, NULL);
    const json_t *referenced = json_object_get(spec, "referenced"), *subgraph;
    struct nnv_text t = {0};
    size_t i;
    add_unknown(json_object_get(spec, "main"), &t);
    json_array_foreach(referenced, i, subgraph) add_unknown(subgraph, &t);
    if (t.len) {
        *err = (struct nnv_err){0};
        nnv_fail(err, NNV_UNSUPPORTED, "nnvts does not know %s yet", t.data);
    }
    nnv_text_free(&t);
    json_decref(spec);
    return NNV_UNSUPPORTED;
}

/** A valid model of the operation and type that a malformed spec is about; NULL: there is none. */
static const struct nnv_model *valid_model(const struct nnv_case *c, uint64_t seed, struct nnv_arena *arena) {
    struct nnv_single what = {.op = nnv_op_by_name(c->op), .seed = seed, .name = c->name};
    struct nnv_spec *spec;
    struct nnv_err ignored = {0};
    for (int sig = 0; what.op && sig < what.op->nsigs; sig++)
        if (strcmp(nnv_type(what.op->sigs[sig].type[NNV_T])->tag, c->type) == 0) what.sig = sig;
    return what.op && nnv_single_build(&what, arena, &spec, &ignored) == NNV_OK ? &spec->model : NULL;
}

static enum nnv_status build_onnx(const struct nnv_case *c, struct nnv_arena *arena, struct nnv_spec **spec,
                                  struct nnv_err *err) {
    *spec = NNV_NEW(arena, struct nnv_spec, 1);
    if (!*spec) return nnv_no_memory(err);
    if (c->b == 0)
        return nnv_fail(err, NNV_UNSUPPORTED, "%s: there are no test data beside it (--models takes such a file)",
                        (const char *)c->file);
    enum nnv_status st = nnv_onnx_test(c->file, (uint32_t)c->a, arena, *spec, err);
    (*spec)->name = c->name;
    return st;
}

static enum nnv_status build(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                             struct nnv_spec **spec, struct nnv_err *err) {
    if (c->foreign) return build_onnx(c, arena, spec, err);
    char *text = NULL;
    enum nnv_status st = read_text(c, arena, &text, err);
    if (st != NNV_OK) return st;
    st = nnv_spec_parse_part(c->file, text, (size_t)c->b, (size_t)c->c, arena, spec, err);
    if (st == NNV_OK && (*spec)->expect_failure) (*spec)->valid = valid_model(c, config->seed, arena);
    return st == NNV_UNSUPPORTED ? name_unknown(text, (size_t)c->b, err) : st;
}

const struct nnv_suite nnv_suite_spec = {
    .name = "spec",
    .summary = "models with expected outputs, from spec files (--specs)",
    .precision = NNV_PRECISION_NNAPI,
    .by_default = true,
    .list = list,
    .build = build,
};
