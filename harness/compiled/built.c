/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/built.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "compiler/nnapi/compile.h"
#include "compiler/relay/text/params.h"

/** What is being read. */
struct reader {
    const char *folder;
    const json_t *plan;
    struct nnv_arena *arena;
    struct nnv_err *err;
    struct file {
        const char *name;
        char *data;
        size_t size;
    } * files;
    size_t n_files;
    struct nnv_built made;
};

static enum nnv_status no_memory(const struct reader *r) { return nnv_no_memory(r->err); }

#define wrong(r, ...) nnv_fail((r)->err, NNV_INVALID, __VA_ARGS__)

/* ------------------------------------------------------------------------- files */

static enum nnv_status read_file(const struct reader *r, const char *name, char **data, size_t *size) {
    const char *path = nnv_arena_printf(r->arena, "%s/%s", r->folder, name);
    return path ? nnv_file_load(path, NNV_FILE_LARGE, r->arena, data, size, r->err) : no_memory(r);
}

static bool has_hash(const void *data, size_t size, const char *hex) {
    uint8_t digest[NNV_SHA256_BYTES];
    char text[2 * NNV_SHA256_BYTES + 1];
    struct nnv_sha256 h;
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, data, size);
    nnv_sha256_end(&h, digest);
    for (int i = 0; i < NNV_SHA256_BYTES; i++) snprintf(text + (size_t)2 * i, 3, "%02x", digest[i]);
    return hex && strcmp(text, hex) == 0;
}

/** All files that the plan lists, each with the bytes that were written. */
static enum nnv_status read_files(struct reader *r) {
    json_t *list = json_object_get(r->plan, "files"), *hash;
    const char *name;
    if (!json_is_object(list)) return wrong(r, "%s/plan.json: files: expected an object", r->folder);
    if (!(r->files = NNV_NEW(r->arena, struct file, json_object_size(list)))) return no_memory(r);
    json_object_foreach(list, name, hash) {
        struct file *f = &r->files[r->n_files];
        if (strchr(name, '/') || *name == '.')
            return wrong(r, "%s/plan.json: files: '%s' is not a name in this folder", r->folder, name);
        if (!(f->name = nnv_arena_strdup(r->arena, name))) return no_memory(r);
        enum nnv_status st = read_file(r, name, &f->data, &f->size);
        if (st != NNV_OK) return nnv_at(r->err, st, "a file of the compiled program is missing");
        if (!has_hash(f->data, f->size, json_string_value(hash)))
            return wrong(r, "%s/%s: not the file that was written (its SHA-256 is another); run nnvts compile again",
                         r->folder, name);
        r->n_files++;
    }
    return NNV_OK;
}

static const struct file *find_file(const struct reader *r, const char *name) {
    for (size_t i = 0; name && i < r->n_files; i++)
        if (strcmp(r->files[i].name, name) == 0) return &r->files[i];
    return NULL;
}

/** The file that a member of the plan names; *f is NULL if it is null. */
static enum nnv_status named_file(const struct reader *r, const char *key, const struct file **f) {
    const json_t *v = json_object_get(r->plan, key);
    *f = find_file(r, json_string_value(v));
    if (*f || json_is_null(v)) return NNV_OK;
    return wrong(r, "%s/plan.json: %s: expected null or one of the files", r->folder, key);
}

/* ----------------------------------------------------------------------- regions */

static enum nnv_status get_int(const struct reader *r, const json_t *object, const char *key, json_int_t below,
                               uint32_t *out) {
    const json_t *v = json_object_get(object, key);
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= below)
        return wrong(r, "%s: expected an integer from 0 to %lld", key, (long long)below - 1);
    *out = (uint32_t)json_integer_value(v);
    return NNV_OK;
}

static enum nnv_status read_results(const struct reader *r, const json_t *entry, struct nnv_built_region *to) {
    const json_t *results = json_object_get(entry, "results");
    to->n_results = (uint32_t)json_array_size(results);
    to->number = NNV_NEW(r->arena, uint32_t, to->n_results);
    to->from_input = NNV_NEW(r->arena, bool, to->n_results);
    if (!to->number || !to->from_input) return no_memory(r);
    for (uint32_t i = 0; i < to->n_results; i++) {
        const json_t *result = json_array_get(results, i);
        to->from_input[i] = json_object_get(result, "input") != NULL;
        enum nnv_status st = to->from_input[i] ? get_int(r, result, "input", to->model.main.nin, &to->number[i])
                                               : get_int(r, result, "output", to->model.main.nout, &to->number[i]);
        if (st != NNV_OK) return nnv_at(r->err, st, "results[%u]", i);
    }
    return NNV_OK;
}

static size_t *sizes(const struct reader *r, const struct nnv_subgraph *s, const uint32_t *list, uint32_t n) {
    size_t *bytes = NNV_NEW(r->arena, size_t, n), elems;
    for (uint32_t i = 0; i < n && bytes; i++)
        if (!nnv_operand_size(&s->operands[list[i]], &elems, &bytes[i])) return NULL;
    return bytes;
}

/** The tensors of a type, tuples opened, are as many as n and have these sizes; a function's parameter or result. */
static bool fit(const struct nnv_relay_type *type, const size_t *bytes, uint32_t n, uint32_t *at) {
    size_t elems, size;
    if (!type) return false;
    if (type->kind == NNV_RELAY_TUPLE_TYPE) {
        for (size_t i = 0; i < type->n_fields; i++)
            if (!fit(type->fields[i], bytes, n, at)) return false;
        return true;
    }
    return type->kind == NNV_RELAY_TENSOR && *at < n && nnv_relay_type_elems(type, &elems, &size) &&
           bytes[(*at)++] == size;
}

/** The model has the inputs and outputs of the function that it stands for. */
static bool fits_function(const struct reader *r, const struct nnv_built_region *g) {
    const struct nnv_relay_expr *f = nnv_relay_find(r->made.module, g->function);
    size_t *results = NNV_NEW(r->arena, size_t, g->n_results);
    uint32_t at = 0;
    if (!f || f->kind != NNV_RELAY_FUNCTION || !f->type || !nnv_relay_fn_attr(f, "Compiler") || !results) return false;
    for (size_t i = 0; i < f->n_params; i++)
        if (!fit(f->params[i]->type, g->in_bytes, g->model.main.nin, &at)) return false;
    if (at != g->model.main.nin) return false;
    for (uint32_t i = 0; i < g->n_results; i++)
        results[i] = g->from_input[i] ? g->in_bytes[g->number[i]] : g->out_bytes[g->number[i]];
    at = 0;
    return fit(f->type->result, results, g->n_results, &at) && at == g->n_results;
}

static enum nnv_status read_region(const struct reader *r, const json_t *entry, struct nnv_built_region *to) {
    const char *function = json_string_value(json_object_get(entry, "function"));
    const struct file *weights, *json;
    const char *name = function ? nnv_arena_printf(r->arena, "%s.json", function) : NULL;
    if (function && nnv_built_find(&r->made, function)) return wrong(r, "function: '%s' is there twice", function);
    if (!(json = find_file(r, name))) return wrong(r, "function: expected a name, NAME.json being one of the files");
    enum nnv_status st = named_file(r, "weights", &weights);
    if (st == NNV_OK)
        st = nnv_emit_read(json->data, json->size, name, weights ? weights->data : NULL, weights ? weights->size : 0,
                           r->arena, &to->model, r->err);
    if (st != NNV_OK) return st;
    const struct nnv_subgraph *s = &to->model.main;
    to->function = nnv_arena_strdup(r->arena, function);
    to->in_bytes = sizes(r, s, s->in, s->nin);
    to->out_bytes = sizes(r, s, s->out, s->nout);
    if (!to->function) return no_memory(r);
    if (!to->in_bytes || !to->out_bytes) return wrong(r, "a shape of the model is not known");
    st = read_results(r, entry, to);
    if (st != NNV_OK) return st;
    return fits_function(r, to) ? NNV_OK : wrong(r, "the model does not fit the function @%s", function);
}

/** The sizes of a type's tensors, tuples opened. */
static bool type_sizes(const struct reader *r, const struct nnv_relay_type *type, size_t **bytes, uint32_t *n) {
    size_t elems;
    if (type->kind == NNV_RELAY_TUPLE_TYPE) {
        for (size_t i = 0; i < type->n_fields; i++)
            if (!type_sizes(r, type->fields[i], bytes, n)) return false;
        return true;
    }
    size_t *more = NNV_NEW(r->arena, size_t, *n + 1);
    if (!more || !nnv_relay_type_elems(type, &elems, &more[*n])) return false;
    if (*n) memcpy(more, *bytes, *n * sizeof *more);
    *bytes = more;
    ++*n;
    return true;
}

/** The class of the whole program: inputs and outputs of @main. */
static enum nnv_status read_class(struct reader *r) {
    const struct nnv_relay_expr *main = nnv_relay_find(r->made.module, "main");
    const char *name = json_string_value(json_object_get(r->plan, "class"));
    struct nnv_built_region *to = &r->made.regions[r->made.n_regions];
    if (!name) return NNV_OK;
    bool ok = strcmp(name, "program") == 0;
    to->function = "program";
    for (size_t i = 0; i < main->n_params && ok; i++)
        ok = type_sizes(r, main->params[i]->type, &to->in_bytes, &to->model.main.nin);
    ok = ok && type_sizes(r, main->type->result, &to->out_bytes, &to->model.main.nout);
    r->made.has_class = ok;
    return ok ? NNV_OK : wrong(r, "%s/plan.json: class: expected null or \"program\"", r->folder);
}

static enum nnv_status read_regions(struct reader *r) {
    const json_t *list = json_object_get(r->plan, "regions");
    r->made.regions = NNV_NEW(r->arena, struct nnv_built_region, json_array_size(list) + 1);
    if (!r->made.regions) return no_memory(r);
    for (; r->made.n_regions < json_array_size(list); r->made.n_regions++) {
        size_t i = r->made.n_regions;
        enum nnv_status st = read_region(r, json_array_get(list, i), &r->made.regions[i]);
        if (st != NNV_OK) return nnv_at(r->err, st, "%s/plan.json: regions[%zu]", r->folder, i);
    }
    return read_class(r);
}

/* ---------------------------------------------------------------------- programs */

static enum nnv_status read_programs(struct reader *r) {
    const struct file *module, *program, *params, *library;
    struct nnv_relay_params values;
    struct nnv_built *b = &r->made;
    enum nnv_status st = named_file(r, "module", &module);
    if (st == NNV_OK) st = named_file(r, "program", &program);
    if (st == NNV_OK) st = named_file(r, "params", &params);
    if (st == NNV_OK) st = named_file(r, "library", &library);
    if (st != NNV_OK) return st;
    if (!module) return wrong(r, "%s/plan.json: module: expected one of the files", r->folder);
    st = nnv_compile_load(module->data, module->size, module->name, NULL, r->arena, &b->module, r->err);
    if (st == NNV_OK && !nnv_relay_find(b->module, "main")) st = wrong(r, "%s: there is no @main", module->name);
    if (st == NNV_OK && program && params)
        st = nnv_relay_params_read(params->data, params->size, params->name, r->arena, &values, r->err);
    if (st == NNV_OK && program)
        st = nnv_compile_load(program->data, program->size, program->name, params ? &values : NULL, r->arena,
                              &b->program, r->err);
    const char *machine = json_string_value(json_object_get(r->plan, "machine"));
    if (st == NNV_OK && machine && !(b->machine = nnv_arena_strdup(r->arena, machine))) return no_memory(r);
    if (st == NNV_OK && library) {
        b->library = nnv_arena_printf(r->arena, "%s/%s", r->folder, library->name);
        if (!b->library) return no_memory(r);
    }
    return st;
}

enum nnv_status nnv_built_read(const char *folder, struct nnv_arena *arena, struct nnv_built *out,
                               struct nnv_err *err) {
    struct reader r = {.folder = folder, .arena = arena, .err = err, .made = {.folder = folder}};
    char *text;
    size_t len;
    json_error_t e;
    enum nnv_status st = read_file(&r, "plan.json", &text, &len);
    if (st != NNV_OK) return nnv_at(err, st, "not a folder that nnvts compile has written");
    json_t *plan = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!plan) return wrong(&r, "%s/plan.json:%d:%d: %s", folder, e.line, e.column, e.text);
    r.plan = plan;
    if (json_integer_value(json_object_get(plan, "format")) != 1)
        st = wrong(&r, "%s/plan.json: format: expected 1; run nnvts compile again", folder);
    if (st == NNV_OK) st = read_files(&r);
    if (st == NNV_OK) st = read_programs(&r);
    if (st == NNV_OK) st = read_regions(&r);
    json_decref(plan);
    if (st == NNV_OK) *out = r.made;
    return st;
}

const struct nnv_built_region *nnv_built_find(const struct nnv_built *b, const char *function) {
    for (size_t i = 0; i < b->n_regions; i++)
        if (strcmp(b->regions[i].function, function) == 0) return &b->regions[i];
    return NULL;
}
