/* SPDX-License-Identifier: Apache-2.0 */
/* Spec files: one document, one a line, or the models of C++ source. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "reference/spec/spec.h"

static const size_t LIMIT = (size_t)1 << 30;

struct line {
    const char *text;
    size_t len, number;
};

struct nnv_spec_file {
    char *path, *data;
    struct line *lines;
    size_t count;
};

static bool is_blank(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strchr(" \t\r", s[i]) || !s[i]) return false;
    return true;
}

/* Notes where a spec is; false when out of memory. */
static bool add_line(struct nnv_spec_file *f, size_t *cap, struct line line) {
    if (f->count == *cap) {
        *cap = *cap ? *cap * 2 : 16;
        struct line *p = reallocarray(f->lines, *cap, sizeof *p);
        if (!p) return false;
        f->lines = p;
    }
    f->lines[f->count++] = line;
    return true;
}

/* Notes where the lines that are not blank begin; false when out of memory. */
static bool split_lines(struct nnv_spec_file *f, size_t size) {
    size_t cap = 0, number = 0;
    const char *end = f->data + size;
    for (const char *s = f->data; s < end;) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        size_t n = (size_t)((newline ? newline : end) - s);
        number++;
        if (!is_blank(s, n) && !add_line(f, &cap, (struct line){s, n, number})) return false;
        s += n + 1;
    }
    return true;
}

static bool split_models(struct nnv_spec_file *f, size_t size) {
    size_t cap = 0;
    struct nnv_spec_pieces p = nnv_spec_cpp_pieces(f->data, size);
    while (nnv_spec_cpp_next(&p))
        if (!add_line(f, &cap, (struct line){p.text, p.len, p.line})) return false;
    return true;
}

bool nnv_spec_is_cpp(const char *path) { return nnv_ends_with(path, ".cpp"); }

enum nnv_status nnv_spec_open(const char *path, struct nnv_spec_file **file, struct nnv_err *err) {
    size_t size = 0;
    struct nnv_spec_file *f = calloc(1, sizeof *f);
    enum nnv_status status = NNV_NO_MEMORY;
    if (!f || !(f->path = strdup(path))) goto no_memory;
    status = nnv_file_read(path, LIMIT, &f->data, &size, err);
    if (status != NNV_OK) goto out;
    bool ok;
    if (nnv_spec_is_cpp(path))
        ok = split_models(f, size);
    else if (nnv_ends_with(path, ".jsonl"))
        ok = split_lines(f, size);
    else
        ok = add_line(f, &(size_t){0}, (struct line){f->data, size, 1});
    if (!ok) goto no_memory;
    *file = f;
    return NNV_OK;
no_memory:
    status = nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
out:
    nnv_spec_close(f);
    return status;
}

void nnv_spec_close(struct nnv_spec_file *file) {
    if (!file) return;
    free(file->lines);
    free(file->data);
    free(file->path);
    free(file);
}

size_t nnv_spec_count(const struct nnv_spec_file *file) { return file->count; }

size_t nnv_spec_text(const struct nnv_spec_file *file, size_t i, const char **text, size_t *len, size_t *line) {
    *text = file->lines[i].text;
    *len = file->lines[i].len;
    *line = file->lines[i].number;
    return (size_t)(*text - file->data);
}

enum nnv_status nnv_spec_parse_part(const char *path, const char *text, size_t len, size_t line,
                                    struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err) {
    if (nnv_spec_is_cpp(path)) return nnv_spec_parse_cpp(text, len, path, line, arena, spec, err);
    const char *where = nnv_ends_with(path, ".jsonl") ? nnv_arena_printf(arena, "%s:%zu", path, line) : path;
    if (!where) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    return nnv_spec_parse(text, len, where, arena, spec, err);
}

enum nnv_status nnv_spec_read(const struct nnv_spec_file *file, size_t i, struct nnv_arena *arena,
                              struct nnv_spec **spec, struct nnv_err *err) {
    const struct line *l = &file->lines[i];
    return nnv_spec_parse_part(file->path, l->text, l->len, l->number, arena, spec, err);
}
