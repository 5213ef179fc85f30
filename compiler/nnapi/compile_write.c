/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that a compiled program is written to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/sha256.h"
#include "compiler/nnapi/build.h"
#include "compiler/nnapi/compile.h"
#include "compiler/nnapi/emit/emit_cpp.h"
#include "compiler/relay/text/params.h"

static const char LIBRARY[] = "libregions.so";

struct writer {
    const struct nnv_compiled *c;
    const struct nnv_compile_output *to;
    bool build;
    const char **classes, **sources; /**< names of classes, and of the files that are built */
    size_t n_classes, n_sources;
    struct nnv_text text, files; /**< of one file; of plan.json: the list of files */
    struct nnv_arena *arena;
    struct nnv_err *err;
};

static enum nnv_status no_memory(struct writer *w) { return nnv_no_memory(w->err); }

static const char *path_of(struct writer *w, const char *name) {
    return nnv_arena_printf(w->arena, "%s/%s", w->to->folder, name);
}

/* ------------------------------------------------------------------------- files */

/** Adds a file to the list, with the hash of its bytes. */
static void list_file(struct writer *w, const char *name, const void *data, size_t size) {
    uint8_t digest[NNV_SHA256_BYTES];
    struct nnv_sha256 h;
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, data, size);
    nnv_sha256_end(&h, digest);
    nnv_text_add(&w->files, w->files.len ? ",\n  " : "\n  ");
    nnv_text_add_json(&w->files, name);
    nnv_text_add(&w->files, ": \"");
    for (int i = 0; i < NNV_SHA256_BYTES; i++) nnv_text_addf(&w->files, "%02x", digest[i]);
    nnv_text_add(&w->files, "\"");
}

static enum nnv_status put(struct writer *w, const char *name, const char *data, size_t size) {
    const char *path = path_of(w, name);
    enum nnv_status st = path ? nnv_file_create(path, data, size, w->err) : no_memory(w);
    if (st == NNV_OK) list_file(w, name, data, size);
    return st;
}

/** Writes w->text, and empties it. */
static enum nnv_status put_text(struct writer *w, const char *name) {
    enum nnv_status st = w->text.failed || !name ? no_memory(w) : put(w, name, w->text.data, w->text.len);
    nnv_text_clear(&w->text);
    return st;
}

static enum nnv_status put_program(struct writer *w) {
    enum nnv_status st = w->c->source ? put(w, "program.relay", w->c->source, w->c->source_len) : NNV_OK;
    if (st == NNV_OK && w->c->params) {
        nnv_relay_params_write(w->c->params, &w->text);
        st = put_text(w, "program.params");
    }
    if (st != NNV_OK) return st;
    nnv_relay_print(w->c->m, NNV_RELAY_PRINT_META, &w->text);
    return put_text(w, "module.relay");
}

typedef void emit_fn(const struct nnv_emit *, size_t, const struct nnv_emit_weights *, struct nnv_text *);

/** Adds a file of C++ to what is built. */
static enum nnv_status put_source(struct writer *w, const char *name) {
    w->sources[w->n_sources++] = name;
    return put_text(w, name);
}

static enum nnv_status put_region(struct writer *w, size_t r) {
    static const struct {
        const char *suffix;
        emit_fn *emit;
    } texts[] = {{"json", nnv_emit_json}, {"h", nnv_emit_header}};
    const char *function = w->c->regions[r].function;
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && st == NNV_OK; i++) {
        texts[i].emit(w->c->regions, r, &w->c->weights, &w->text);
        st = put_text(w, nnv_arena_printf(w->arena, "%s.%s", function, texts[i].suffix));
    }
    w->classes[w->n_classes++] = function;
    nnv_emit_source(w->c->regions, r, &w->c->weights, &w->text);
    return st == NNV_OK ? put_source(w, nnv_arena_printf(w->arena, "%s.cpp", function)) : st;
}

static enum nnv_status put_program_class(struct writer *w) {
    nnv_program_header(w->c->program, &w->text);
    enum nnv_status st = put_text(w, "program.h");
    w->classes[w->n_classes++] = "program";
    nnv_program_source(w->c->program, &w->text);
    return st == NNV_OK ? put_source(w, "program.cpp") : st;
}

/** What the classes that are written need. */
static enum nnv_status put_supports(struct writer *w) {
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < nnv_emit_n_supports && st == NNV_OK; i++) {
        const struct nnv_emit_support *s = &nnv_emit_supports[i];
        if (strcmp(s->name, "nnapi_program.h") == 0 && !w->c->program) continue;
        if (strcmp(s->name, "nnapi_tvm.h") == 0 && !w->to->tvm) continue;
        st = put(w, s->name, s->begin, (size_t)(s->end - s->begin));
    }
    w->sources[w->n_sources++] = "nnapi_region.cpp";
    return st;
}

static enum nnv_status put_library(struct writer *w) {
    const struct nnv_build build = {.folder = w->to->folder,
                                    .sources = w->sources,
                                    .n_sources = w->n_sources,
                                    .library = LIBRARY,
                                    .target = w->to->target,
                                    .nnapi = w->to->nnapi};
    const char *path = path_of(w, LIBRARY);
    char *data;
    size_t size;
    if (!path) return no_memory(w);
    enum nnv_status st = nnv_build_library(&build, w->arena, w->err);
    if (st == NNV_OK) st = nnv_file_read(path, NNV_FILE_LARGE, &data, &size, w->err);
    if (st != NNV_OK) return st;
    list_file(w, LIBRARY, data, size);
    free(data);
    return NNV_OK;
}

static enum nnv_status put_classes(struct writer *w) {
    const struct nnv_compiled *c = w->c;
    enum nnv_status st = NNV_OK;
    if (c->n_regions == 0) return NNV_OK;
    w->classes = NNV_NEW(w->arena, const char *, c->n_regions + 1);
    w->sources = NNV_NEW(w->arena, const char *, c->n_regions + 3);
    if (!w->classes || !w->sources) return no_memory(w);
    for (size_t r = 0; r < c->n_regions && st == NNV_OK; r++) st = put_region(w, r);
    if (st == NNV_OK && c->program) st = put_program_class(w);
    if (st == NNV_OK && w->to->tvm) {
        nnv_emit_tvm(w->classes, w->n_classes, &w->text);
        st = put_source(w, "tvm.cpp");
    }
    if (st == NNV_OK) st = put_supports(w);
    if (st == NNV_OK && c->weights.bytes.len) st = put(w, c->weights.file, c->weights.bytes.data, c->weights.bytes.len);
    return st == NNV_OK && w->build ? put_library(w) : st;
}

/* ------------------------------------------------------------------------- the plan */

/** "type": the Relay type; of a tensor "dtype" and "shape", too, where null is an extent that is not known. */
static void add_type(struct nnv_text *out, const struct nnv_relay_type *type) {
    struct nnv_text name = {0};
    nnv_relay_type_print(type, &name);
    nnv_text_add(out, "\"type\": ");
    nnv_text_add_json(out, name.data);
    out->failed = out->failed || name.failed;
    nnv_text_free(&name);
    if (type->kind != NNV_RELAY_TENSOR) return;
    nnv_text_addf(out, ", \"dtype\": \"%s\", \"shape\": [", nnv_relay_dtype_name(type->dtype));
    for (size_t i = 0; i < type->n_dims; i++) {
        if (i) nnv_text_add(out, ", ");
        if (type->dims[i] < 0)
            nnv_text_add(out, "null");
        else
            nnv_text_addf(out, "%lld", (long long)type->dims[i]);
    }
    nnv_text_add(out, "]");
}

static void add_arguments(const struct nnv_relay_expr *main, struct nnv_text *out) {
    const struct nnv_relay_type *result = main->type->result;
    const bool tuple = result->kind == NNV_RELAY_TUPLE_TYPE;
    nnv_text_add(out, " \"inputs\": [");
    for (size_t i = 0; i < main->n_params; i++) {
        nnv_text_add(out, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
        nnv_text_add_json(out, main->params[i]->name);
        nnv_text_add(out, ", ");
        add_type(out, main->params[i]->type);
        nnv_text_add(out, "}");
    }
    nnv_text_add(out, "],\n \"outputs\": [");
    for (size_t i = 0; i < (tuple ? result->n_fields : 1); i++) {
        nnv_text_add(out, i ? ",\n  {" : "\n  {");
        add_type(out, tuple ? result->fields[i] : result);
        nnv_text_add(out, "}");
    }
    nnv_text_add(out, "],\n");
}

static void add_region(const struct nnv_emit *region, struct nnv_text *out) {
    const struct nnv_converted *c = region->converted;
    nnv_text_add(out, "{\"function\": ");
    nnv_text_add_json(out, region->function);
    nnv_text_addf(out, ", \"feature_level\": %d, \"operations\": %u, \"inputs\": %u, \"outputs\": %u, \"results\": [",
                  c->level, c->model.main.noperations, c->model.main.nin, c->model.main.nout);
    for (uint32_t i = 0; i < c->n_results; i++)
        nnv_text_addf(out, "%s{\"%s\": %u}", i ? ", " : "", c->from_input[i] ? "input" : "output", c->output_of[i]);
    nnv_text_add(out, "]}");
}

static void add_name(struct nnv_text *out, const char *key, const char *name) {
    nnv_text_addf(out, " \"%s\": ", key);
    nnv_text_add_json(out, name);
    nnv_text_add(out, ",\n");
}

static enum nnv_status put_plan(struct writer *w) {
    const struct nnv_compiled *c = w->c;
    const char *path = path_of(w, "plan.json");
    struct nnv_text *out = &w->text;
    nnv_text_addf(out, "{\"format\": 1,\n \"target\": \"nnapi\", \"feature_level\": %d, \"relaxed\": %s,\n",
                  c->options.level ? c->options.level : NNV_LEVEL_MAX, c->options.relaxed ? "true" : "false");
    add_name(out, "program", c->source ? "program.relay" : NULL);
    add_name(out, "params", c->params ? "program.params" : NULL);
    add_name(out, "module", "module.relay");
    add_name(out, "weights", c->weights.bytes.len ? c->weights.file : NULL);
    add_name(out, "library", w->build ? LIBRARY : NULL);
    add_name(out, "machine", w->to->target);
    add_name(out, "class", c->program ? "program" : NULL);
    add_name(out, "no_class", c->no_program);
    add_arguments(nnv_relay_find(c->m, "main"), out);
    nnv_text_add(out, " \"regions\": [");
    for (size_t i = 0; i < c->n_regions; i++) {
        nnv_text_add(out, i ? ",\n  " : "\n  ");
        add_region(&c->regions[i], out);
    }
    nnv_text_add(out, "],\n \"refused\": [");
    for (size_t i = 0; i < c->n_refused; i++) {
        nnv_text_add(out, i ? ",\n  {\"function\": " : "\n  {\"function\": ");
        nnv_text_add_json(out, c->refused[i].function);
        nnv_text_add(out, ", \"reason\": ");
        nnv_text_add_json(out, c->refused[i].reason);
        nnv_text_add(out, "}");
    }
    nnv_text_add(out, "],\n \"files\": {");
    nnv_text_add_n(out, w->files.data, w->files.len);
    nnv_text_add(out, "}}\n");
    if (!path || out->failed || w->files.failed) return no_memory(w);
    return nnv_file_create(path, out->data, out->len, w->err);
}

enum nnv_status nnv_compile_write(const struct nnv_compiled *c, const struct nnv_compile_output *to,
                                  struct nnv_arena *arena, struct nnv_err *err) {
    struct writer w = {.c = c, .to = to, .build = !to->no_build && c->n_regions, .arena = arena, .err = err};
    enum nnv_status st = nnv_folder_make(to->folder, err);
    const char *plan = path_of(&w, "plan.json");
    if (st == NNV_OK && !plan) st = no_memory(&w);
    /* Until all is written, there is no plan: an old one would not fit. */
    if (st == NNV_OK) st = nnv_folder_remove(plan, err);
    if (st == NNV_OK) st = put_program(&w);
    if (st == NNV_OK) st = put_classes(&w);
    if (st == NNV_OK) st = put_plan(&w);
    nnv_text_free(&w.text);
    nnv_text_free(&w.files);
    return st;
}
