/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/harvest.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "harness/cli/cli.h"
#include "harness/cli/model_file.h"
#include "reference/spec/spec.h"

static const char *const suffixes[] = {".tflite", ".onnx", NULL};

struct work {
    struct nnv_cli_harvest *h;
    const char *folder;
    uint64_t seed;
    struct nnv_arena *arena; /* of all models */
    struct nnv_map networks; /* their names, as of their files */
    const char *network;     /* that is being harvested */
    struct nnv_stream file;  /* of it; closed: it has had nothing new */
    const char *path;
    json_t *cases;  /* by number of what was found: the case that is of it */
    json_t *places; /* what NNV_HARVEST_NETWORKS will hold */
};

/** A network's name is its model's, in characters that names of cases have; "net-2" of another one called net. */
static enum nnv_status name_network(struct work *w, const char *model, struct nnv_err *err) {
    char *given = nnv_arena_strdup(w->arena, model), *name = given;
    for (char *c = given; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.+", *c)) *c = '_';
    for (int i = 2; name && nnv_map_find(&w->networks, name) != NNV_MAP_NONE; i++)
        name = nnv_arena_printf(w->arena, "%s-%d", given, i);
    if (!name || nnv_map_add(&w->networks, name) == NNV_MAP_NONE) return nnv_no_memory(err);
    w->network = name;
    w->path = nnv_arena_printf(w->arena, "%s/%s.jsonl", w->folder, name);
    return w->path ? NNV_OK : nnv_no_memory(err);
}

/** Writes a spec into the network's file, which the first one opens. */
static enum nnv_status write_spec(struct work *w, const struct nnv_spec *spec, struct nnv_err *err) {
    struct nnv_text t = {0};
    nnv_spec_write_json(spec, false, &t);
    nnv_text_add(&t, "\n");
    enum nnv_status st = t.failed ? nnv_no_memory(err) : NNV_OK;
    if (st == NNV_OK && w->file.fd < 0) st = nnv_stream_open(&w->file, w->path, err);
    if (st == NNV_OK) st = nnv_stream_add(&w->file, t.data, t.len, err);
    nnv_text_free(&t);
    return st;
}

/** Notes a place of the network under the case that it is judged by. */
static enum nnv_status take_place(void *own, const struct nnv_harvested *found, struct nnv_err *err) {
    struct work *w = own;
    if (found->spec) json_array_append_new(w->cases, json_sprintf("spec/%s/%s", w->network, found->spec->name));
    const char *name = json_string_value(json_array_get(w->cases, found->number));
    json_t *cases = json_object_get(json_object_get(w->places, w->network), "cases"), *place = json_array();
    for (uint32_t i = 0; i < found->n; i++) json_array_append_new(place, json_integer(found->op[i]));
    if (name && !json_object_get(cases, name)) json_object_set_new(cases, name, json_array());
    if (!name || json_array_append_new(json_object_get(cases, name), place) != 0) return nnv_no_memory(err);
    return found->spec ? write_spec(w, found->spec, err) : NNV_OK;
}

/** Harvests one model. What is wrong with it is printed; only other failures are returned. */
static enum nnv_status take_model(struct work *w, const char *model, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_spec spec;
    struct nnv_known known;
    enum nnv_status st = arena ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_cli_network_spec(model, w->seed, arena, &spec, err);
    if (st == NNV_OK) st = nnv_known_make(&spec, false, arena, &known, err);
    if (st == NNV_OK) st = name_network(w, spec.name, err);
    if (st == NNV_OK)
        json_object_set_new(w->places, w->network,
                            json_pack("{s:i,s:{}}", "operations", (int)known.spec->model.main.noperations, "cases"));
    if (st == NNV_OK) st = nnv_harvest_take(&w->h->found, &known, take_place, w, err);
    /* What it had before it failed stays: models after it may have the same. */
    const enum nnv_status ended = w->file.fd >= 0 ? nnv_stream_end(&w->file, st == NNV_OK ? err : NULL) : NNV_OK;
    if (st == NNV_OK) st = ended;
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
    for (size_t i = 0; i < n && st == NNV_OK; i++) st = nnv_folder_remove(files[i], err);
    nnv_file_list_free(files, n);
    return st;
}

static enum nnv_status write_places(const struct work *w, struct nnv_err *err) {
    const char *path = nnv_arena_printf(w->arena, "%s/" NNV_HARVEST_NETWORKS, w->folder);
    char *text = json_dumps(w->places, JSON_COMPACT);
    enum nnv_status st = path && text ? nnv_file_write(path, text, strlen(text), err) : nnv_no_memory(err);
    free(text);
    return st;
}

enum nnv_status nnv_cli_harvest(const struct nnv_opt_list *models, const char *folder, uint64_t seed,
                                struct nnv_arena *arena, struct nnv_cli_harvest *h, struct nnv_err *err) {
    struct work w = {.h = h,
                     .file = NNV_STREAM_NONE,
                     .folder = folder,
                     .seed = seed,
                     .arena = arena,
                     .networks.arena = arena,
                     .cases = json_array(),
                     .places = json_object()};
    h->found.arena = arena;
    enum nnv_status st = nnv_folder_make(folder, err);
    if (st == NNV_OK && h->clear) st = clear(folder, err);
    for (int i = 0; i < models->count && st == NNV_OK; i++) st = take_path(&w, models->item[i], err);
    if (st == NNV_OK) st = write_places(&w, err);
    json_decref(w.cases);
    json_decref(w.places);
    return st;
}

enum nnv_status nnv_cli_networks(const char *specs, struct nnv_arena *arena, const char **out, struct nnv_err *err) {
    const char *path = nnv_arena_printf(arena, "%s/" NNV_HARVEST_NETWORKS, specs);
    json_error_t where;
    *out = NULL;
    if (!path) return nnv_no_memory(err);
    if (access(path, F_OK) != 0) return NNV_OK;
    json_t *places = json_load_file(path, 0, &where);
    char *text = json_is_object(places) ? json_dumps(places, JSON_COMPACT) : NULL;
    *out = text ? nnv_arena_strdup(arena, text) : NULL;
    enum nnv_status st = !json_is_object(places) ? nnv_fail(err, NNV_INVALID, "%s: %s", path, where.text)
                         : *out                  ? NNV_OK
                                                 : nnv_no_memory(err);
    json_decref(places);
    free(text);
    return st;
}
