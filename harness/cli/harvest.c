/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/harvest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/cli/cli.h"
#include "harness/cli/model_file.h"
#include "mlts/data/dataset.h"
#include "mlts/networks/networks.h"
#include "reference/spec/spec.h"

static const char *const suffixes[] = {".tflite", ".onnx", NULL};

struct work {
    struct nnv_cli_harvest *h;
    const char *folder;
    uint64_t seed;
    struct nnv_arena *arena; /* of all models */
    struct nnv_map names;    /* of files that are written */
    FILE *file;              /* of the network; NULL: it has had nothing new */
    const char *path;
};

/** The network with inputs drawn by seed. */
static enum nnv_status draw(const char *model, uint64_t seed, struct nnv_arena *arena, struct nnv_spec *spec,
                            struct nnv_err *err) {
    struct nnv_network net;
    struct nnv_dataset data;
    struct nnv_truth truth;
    const char *usual;
    enum nnv_status st = nnv_network_open(model, arena, &net, &usual, err);
    if (st == NNV_OK) st = nnv_dataset_open("random", &net, 1, arena, &data, err);
    if (st != NNV_OK) return st;
    *spec = (struct nnv_spec){.name = nnv_cli_model_name(model, arena), .model = net.model};
    spec->inputs = NNV_NEW(arena, struct nnv_value, net.model.main.nin);
    spec->outputs = NNV_NEW(arena, struct nnv_value, net.model.main.nout);
    if (!spec->name || !spec->inputs || !spec->outputs) return nnv_no_memory(err);
    data.seed = seed;
    return nnv_dataset_item(&data, 0, &net, arena, spec->inputs, &truth, err);
}

/** Opens the network's file when the first spec comes: "net.jsonl", and "net-2.jsonl" of another network of the name.
 */
static enum nnv_status open_file(struct work *w, const char *network, struct nnv_err *err) {
    char *name = nnv_arena_strdup(w->arena, network);
    for (int i = 2; name && nnv_map_find(&w->names, name) != NNV_MAP_NONE; i++)
        name = nnv_arena_printf(w->arena, "%s-%d", network, i);
    if (!name || nnv_map_add(&w->names, name) == NNV_MAP_NONE) return nnv_no_memory(err);
    w->path = nnv_arena_printf(w->arena, "%s/%s.jsonl", w->folder, name);
    if (!w->path) return nnv_no_memory(err);
    w->file = fopen(w->path, "we");
    return w->file ? NNV_OK : nnv_fail(err, NNV_IO, "%s: %s", w->path, strerror(errno));
}

static enum nnv_status write_spec(void *own, const struct nnv_spec *spec, struct nnv_err *err) {
    struct work *w = own;
    struct nnv_text t = {0};
    nnv_spec_write_json(spec, false, &t);
    nnv_text_add(&t, "\n");
    enum nnv_status st = t.failed ? nnv_no_memory(err) : NNV_OK;
    if (st == NNV_OK && !w->file) st = open_file(w, strrchr(spec->source, ' ') + 1, err);
    if (st == NNV_OK && fwrite(t.data, 1, t.len, w->file) != t.len)
        st = nnv_fail(err, NNV_IO, "%s: %s", w->path, strerror(errno));
    nnv_text_free(&t);
    return st;
}

/** Harvests one model. What is wrong with it is printed; only other failures are returned. */
static enum nnv_status take_model(struct work *w, const char *model, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_spec spec;
    struct nnv_known known;
    enum nnv_status st = arena ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK) st = draw(model, w->seed, arena, &spec, err);
    if (st == NNV_OK) st = nnv_known_make(&spec, false, arena, &known, err);
    if (st == NNV_OK) st = nnv_harvest_take(&w->h->found, &known, write_spec, w, err);
    if (w->file && fclose(w->file) != 0 && st == NNV_OK) st = nnv_fail(err, NNV_IO, "%s: %s", w->path, strerror(errno));
    w->file = NULL;
    w->h->models += st == NNV_OK;
    nnv_arena_free(arena);
    if (st == NNV_OK) return NNV_OK;
    if (!strstr(err->text, model)) st = nnv_at(err, st, "%s", model);
    if (st != NNV_INVALID && st != NNV_UNSUPPORTED) return st;
    nnv_cli_error(err);
    *err = (struct nnv_err){0};
    w->h->bad++;
    return NNV_OK;
}

static enum nnv_status take_path(struct work *w, const char *path, struct nnv_err *err) {
    struct stat at;
    if (stat(path, &at) != 0 || !S_ISDIR(at.st_mode)) return take_model(w, path, err);
    char **files;
    size_t n;
    enum nnv_status st = nnv_file_list(path, suffixes, &files, &n, err);
    if (st != NNV_OK) return st;
    if (n == 0) st = nnv_fail(err, NNV_INVALID, "%s: no .tflite or .onnx files", path);
    for (size_t i = 0; i < n && st == NNV_OK; i++) st = take_model(w, files[i], err);
    nnv_file_list_free(files, n);
    return st;
}

/** Removes what an earlier harvest left. */
static enum nnv_status clear(const char *folder, struct nnv_err *err) {
    static const char *const written[] = {".jsonl", NULL};
    char **files;
    size_t n;
    enum nnv_status st = nnv_file_list(folder, written, &files, &n, err);
    if (st != NNV_OK) return st;
    for (size_t i = 0; i < n && st == NNV_OK; i++)
        if (unlink(files[i]) != 0) st = nnv_fail(err, NNV_IO, "%s: %s", files[i], strerror(errno));
    nnv_file_list_free(files, n);
    return st;
}

enum nnv_status nnv_cli_harvest(const struct nnv_opt_list *models, const char *folder, uint64_t seed,
                                struct nnv_arena *arena, struct nnv_cli_harvest *h, struct nnv_err *err) {
    struct work w = {.h = h, .folder = folder, .seed = seed, .arena = arena, .names.arena = arena};
    h->found.arena = arena;
    enum nnv_status st = nnv_file_mkdir(folder, err);
    if (st == NNV_OK && h->clear) st = clear(folder, err);
    for (int i = 0; i < models->count && st == NNV_OK; i++) st = take_path(&w, models->item[i], err);
    return st;
}
