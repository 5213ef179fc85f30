/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/data/dataset_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/type.h"

enum { MOST_TEXT = 16 << 20, MOST_ITEMS = 10000000 };

/** A text file's lines without their ends; an empty last line is none. *lines is arena's. */
static enum nnv_status read_lines(const char *path, struct nnv_arena *arena, const char ***lines, uint32_t *count,
                                  struct nnv_err *err) {
    char *copy;
    size_t size, n = 0;
    enum nnv_status st = nnv_file_load(path, MOST_TEXT, arena, &copy, &size, err);
    if (st != NNV_OK) return st;
    for (size_t i = 0; i < size; i++) n += copy[i] == '\n';
    *lines = NNV_NEW(arena, const char *, n + 1);
    if (!*lines) return nnv_no_memory(err);
    *count = 0;
    for (char *at = copy, *end; at < copy + size; at = end + 1) {
        end = memchr(at, '\n', (size_t)(copy + size - at));
        if (!end) end = copy + size;
        *end = '\0';
        if (end > at && end[-1] == '\r') end[-1] = '\0';
        (*lines)[(*count)++] = at;
    }
    return NNV_OK;
}

/** The class of a name, or of a number; -1: none such. */
static int32_t class_of(const struct nnv_dataset *d, const char *name, size_t length) {
    for (uint32_t i = 0; i < d->class_count; i++)
        if (strlen(d->class_names[i]) == length && memcmp(d->class_names[i], name, length) == 0) return (int32_t)i;
    char *end;
    long n = strtol(name, &end, 10);
    return length && end == name + length && n >= 0 && n < (long)(d->class_count ? d->class_count : 1000000)
               ? (int32_t)n
               : -1;
}

/** Pictures as index.tsv names them. */
static enum nnv_status read_index(const char *folder, const char *path, struct nnv_arena *arena, struct nnv_dataset *d,
                                  struct nnv_err *err) {
    const char **lines;
    uint32_t n;
    enum nnv_status st = read_lines(path, arena, &lines, &n, err);
    if (st != NNV_OK) return st;
    const char **files = NNV_NEW(arena, const char *, n);
    int32_t *labels = NNV_NEW(arena, int32_t, n);
    if (!files || !labels) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        const char *tab = strchr(lines[i], '\t');
        if (!tab || tab == lines[i]) return nnv_fail(err, NNV_INVALID, "%s:%u: expected FILE<tab>CLASS", path, i + 1);
        labels[i] = class_of(d, tab + 1, strlen(tab + 1));
        if (labels[i] < 0)
            return nnv_fail(err, NNV_INVALID, "%s:%u: no class '%s' (classes are lines of labels.txt)", path, i + 1,
                            tab + 1);
        if (!(files[i] = nnv_arena_printf(arena, "%s/%.*s", folder, (int)(tab - lines[i]), lines[i])))
            return nnv_no_memory(err);
    }
    d->files = files;
    d->labels = labels;
    d->count = n;
    return NNV_OK;
}

/** All pictures below the folder; those in a folder named as a class are of that class. */
static enum nnv_status list_pictures(const char *folder, char **paths, size_t n, struct nnv_arena *arena,
                                     struct nnv_dataset *d, struct nnv_err *err) {
    const char **files = NNV_NEW(arena, const char *, n);
    int32_t *labels = NNV_NEW(arena, int32_t, n);
    if (!files || !labels) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const char *rest = paths[i] + strlen(folder);
        while (*rest == '/') rest++;
        const char *slash = strchr(rest, '/');
        labels[i] = slash && d->class_names ? class_of(d, rest, (size_t)(slash - rest)) : -1;
        if (!(files[i] = nnv_arena_strdup(arena, paths[i]))) return nnv_no_memory(err);
    }
    d->files = files;
    d->labels = labels;
    d->count = (uint32_t)n;
    return NNV_OK;
}

static enum nnv_status open_pictures(const char *folder, char **paths, size_t n, struct nnv_arena *arena,
                                     struct nnv_dataset *d, struct nnv_err *err) {
    char *names = nnv_arena_printf(arena, "%s/labels.txt", folder);
    char *index = nnv_arena_printf(arena, "%s/index.tsv", folder);
    if (!names || !index) return nnv_no_memory(err);
    d->kind = NNV_DATASET_IMAGES;
    if (access(names, F_OK) == 0) {
        const char **lines;
        enum nnv_status st = read_lines(names, arena, &lines, &d->class_count, err);
        if (st != NNV_OK) return st;
        d->class_names = lines;
    }
    return access(index, F_OK) == 0 ? read_index(folder, index, arena, d, err)
                                    : list_pictures(folder, paths, n, arena, d, err);
}

static char *tensor_path(const struct nnv_dataset *d, const char *what, uint32_t i, uint32_t item,
                         struct nnv_arena *arena) {
    return nnv_arena_printf(arena, "%s/%s_%u_%u.bin", d->name, what, i, item);
}

enum nnv_status nnv_dataset_folder(const char *path, const struct nnv_network *net, struct nnv_arena *arena,
                                   struct nnv_dataset *d, struct nnv_err *err) {
    (void)net;
    d->name = path;
    for (d->count = 0; d->count < MOST_ITEMS; d->count++) {
        char *first = tensor_path(d, "input", 0, d->count, arena);
        if (!first) return nnv_no_memory(err);
        if (access(first, F_OK) != 0) break;
    }
    if (d->count) {
        d->kind = NNV_DATASET_TENSORS;
        return NNV_OK;
    }
    static const char *const suffixes[] = {".png", ".PNG", NULL};
    char **paths;
    size_t n;
    enum nnv_status st = nnv_file_list(path, suffixes, &paths, &n, err);
    if (st != NNV_OK) return st;
    st = n ? open_pictures(path, paths, n, arena, d, err)
           : nnv_fail(err, NNV_INVALID, "%s holds neither PNG files nor tensors (input_0_0.bin ...)", path);
    nnv_file_list_free(paths, n);
    return st;
}

/** The bytes of a file as a value that must have exactly so many. */
static enum nnv_status read_tensor(const char *path, size_t bytes, void *to, struct nnv_err *err) {
    char *data;
    size_t size;
    enum nnv_status st = nnv_file_read(path, bytes + 1, &data, &size, err);
    if (st != NNV_OK) return st;
    if (size == bytes)
        memcpy(to, data, bytes);
    else
        st = nnv_fail(err, NNV_INVALID, "%s: %zu bytes, but the tensor has %zu", path, size, bytes);
    free(data);
    return st;
}

enum nnv_status nnv_dataset_tensors(const struct nnv_dataset *d, uint32_t item, const struct nnv_network *net,
                                    struct nnv_arena *arena, struct nnv_value *inputs, struct nnv_truth *truth,
                                    struct nnv_err *err) {
    const struct nnv_subgraph *s = &net->model.main;
    for (uint32_t i = 0; i < s->nin; i++) {
        char *path = tensor_path(d, "input", i, item, arena);
        if (!path) return nnv_no_memory(err);
        if (nnv_network_is_state(net, i) && access(path, F_OK) != 0) continue;
        enum nnv_status st = read_tensor(path, inputs[i].bytes, inputs[i].data, err);
        if (st != NNV_OK) return st;
    }
    struct nnv_value *out = NNV_NEW(arena, struct nnv_value, s->nout);
    if (!out) return nnv_no_memory(err);
    for (uint32_t i = 0; i < s->nout; i++) {
        const struct nnv_operand *o = &s->operands[s->out[i]];
        char *path = tensor_path(d, "output", i, item, arena);
        size_t elems;
        out[i] = (struct nnv_value){.omitted = true, .rank = o->rank};
        for (uint32_t k = 0; k < o->rank; k++) out[i].dims[k] = o->dims[k];
        if (!path) return nnv_no_memory(err);
        if (access(path, F_OK) != 0 || !nnv_operand_size(o, &elems, &out[i].bytes)) continue;
        if (!(out[i].data = nnv_arena_alloc(arena, out[i].bytes, 1))) return nnv_no_memory(err);
        enum nnv_status st = read_tensor(path, out[i].bytes, out[i].data, err);
        if (st != NNV_OK) return st;
        out[i].omitted = false;
    }
    truth->outputs = out;
    return NNV_OK;
}
