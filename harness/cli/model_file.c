/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/model_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "compiler/nnapi/decompile/decompile.h"
#include "mlts/data/dataset.h"
#include "mlts/networks/networks.h"
#include "mlts/onnx/onnx.h"
#include "mlts/tflite/tflite.h"
#include "harness/judge/check.h"
#include "mlts/tflite/tflite_file.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

enum { MOST_BYTES = 1 << 30 };

/* --------------------------------------------------------------------- a spec */

/** What a model is called: "dir/net.tflite" is net, "net/model.tflite" too (and .onnx). arena's; NULL when out of
 * memory. */
static const char *cli_model_name(const char *path, struct nnv_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    if (slash && (strcmp(name, "model.tflite") == 0 || strcmp(name, "model.onnx") == 0)) {
        const char *from = slash;
        while (from > path && from[-1] != '/') from--;
        if (from < slash) return nnv_arena_printf(arena, "%.*s", (int)(slash - from), from);
    }
    const bool file = dot && (nnv_network_is_file(name) || strcmp(dot, ".json") == 0 || strcmp(dot, ".jsonl") == 0);
    return nnv_arena_printf(arena, "%.*s", file ? (int)(dot - name) : (int)strlen(name), name);
}

/** Draws inputs; outputs get room. */
static enum nnv_status draw(const struct nnv_network *net, uint64_t seed, struct nnv_arena *arena,
                            struct nnv_spec *spec, struct nnv_err *err) {
    struct nnv_dataset d;
    struct nnv_truth truth;
    spec->inputs = NNV_NEW(arena, struct nnv_value, net->model.main.nin);
    spec->outputs = NNV_NEW(arena, struct nnv_value, net->model.main.nout);
    if (!spec->inputs || !spec->outputs) return nnv_no_memory(err);
    enum nnv_status st = nnv_dataset_open("random", net, 1, arena, &d, err);
    d.seed = seed;
    return st == NNV_OK ? nnv_dataset_item(&d, 0, net, arena, spec->inputs, &truth, err) : st;
}

/** Draws inputs and computes outputs. */
static enum nnv_status fill(const struct nnv_network *net, uint64_t seed, struct nnv_arena *arena,
                            struct nnv_spec *spec, struct nnv_err *err) {
    const struct nnv_eval_options options = {0};
    const uint32_t n = net->model.main.nout;
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, n);
    enum nnv_status st = golden ? draw(net, seed, arena, spec, err) : nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_eval(&net->model, spec->inputs, &options, arena, golden, err);
    for (uint32_t i = 0; st == NNV_OK && i < n; i++) spec->outputs[i] = golden[i].value;
    return st;
}

enum nnv_status nnv_cli_network_spec(const char *model, uint64_t seed, struct nnv_arena *arena, struct nnv_spec *spec,
                                     struct nnv_err *err) {
    struct nnv_network net;
    const char *usual;
    enum nnv_status st = nnv_network_open(model, arena, &net, &usual, err);
    if (st != NNV_OK) return st;
    *spec = (struct nnv_spec){.name = cli_model_name(model, arena), .model = net.model};
    return spec->name ? draw(&net, seed, arena, spec, err) : nnv_no_memory(err);
}

uint32_t nnv_cli_model_specs(const char *path) {
    const uint32_t sets = nnv_is_onnx(path) ? nnv_onnx_test_count(path) : 0;
    return sets ? sets : 1;
}

/** One of the sets of test data beside the file. */
static enum nnv_status tested(const char *path, uint32_t i, struct nnv_arena *arena, struct nnv_spec *s,
                              struct nnv_err *err) {
    const char *name = cli_model_name(path, arena);
    enum nnv_status st = nnv_onnx_test(path, i, arena, s, err);
    s->name = i && name ? nnv_arena_printf(arena, "%s_%u", name, i) : name;
    return st == NNV_OK && !s->name ? nnv_no_memory(err) : st;
}

enum nnv_status nnv_cli_model_spec(const char *path, uint32_t i, uint64_t seed, struct nnv_arena *arena,
                                   struct nnv_spec **spec, struct nnv_err *err) {
    char *data = NULL;
    size_t size = 0;
    struct nnv_network net;
    struct nnv_spec *s = NNV_NEW(arena, struct nnv_spec, 1);
    if (!s) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    *spec = s;
    if (nnv_is_onnx(path) && nnv_onnx_test_count(path) > 0) return tested(path, i, arena, s, err);
    enum nnv_status st = nnv_file_read(path, MOST_BYTES, &data, &size, err);
    if (st == NNV_OK) st = nnv_network_import(data, size, path, arena, &net, err);
    free(data);
    if (st != NNV_OK) return st;
    net.name = s->name = cli_model_name(path, arena);
    s->source = nnv_arena_strdup(arena, path);
    s->model = net.model;
    s->precision = nnv_precision_name(NNV_PRECISION_BUDGET); /* NNAPI's tolerances are of one operation, not of many */
    st = nnv_validate(&s->model, arena, &s->min_version, err);
    if (st == NNV_OK) st = fill(&net, seed, arena, s, err);
    return st == NNV_OK ? NNV_OK : nnv_at(err, st, "%s", path);
}

/* ------------------------------------------------------------------ a summary */

/** Names are the file's: nothing that a terminal obeys. */
static void write_name(struct nnv_text *out, const char *name) {
    for (const char *p = name; *p; p++) nnv_text_addf(out, "%c", (unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p);
}

static void write_tensor(struct nnv_text *out, const char *what, const struct nnv_tfl_tensor *t) {
    nnv_text_addf(out, "  %-7s%s [", what, nnv_tfl_type_name(t->type));
    for (uint32_t d = 0; d < t->rank; d++) nnv_text_addf(out, "%s%u", d ? "," : "", t->dims[d]);
    nnv_text_add(out, "]");
    if (t->scale_count == 1)
        nnv_text_addf(out, " scale %.9g zero point %lld", (double)t->scales[0], (long long)t->zero_points[0]);
    nnv_text_add(out, "  ");
    write_name(out, t->name);
    nnv_text_add(out, "\n");
}

/** Operators by name, with their counts, in the order in which they first stand in the file. */
static void write_operators(struct nnv_text *out, const struct nnv_tfl_graph *g) {
    for (uint32_t i = 0; i < g->noperators; i++) {
        const struct nnv_tfl_operator *a = &g->operators[i];
        uint32_t n = 0, before = 0;
        for (uint32_t k = 0; k < g->noperators; k++)
            if (g->operators[k].code == a->code && strcmp(g->operators[k].custom, a->custom) == 0) {
                n++;
                before += k < i;
            }
        if (before == 0)
            nnv_text_addf(out, "  %5u  %s%s%.60s\n", n, nnv_tfl_operator_name(a->code), *a->custom ? " " : "",
                          a->custom);
    }
}

static void write_graph(struct nnv_text *out, const struct nnv_tfl_graph *g, uint32_t index) {
    enum { MOST_LISTED = 4096 }; /* operators: counting takes their square */
    size_t bytes = 0;
    uint32_t states = 0;
    for (uint32_t i = 0; i < g->ntensors; i++) {
        bytes += g->tensors[i].bytes;
        states += g->tensors[i].variable;
    }
    nnv_text_addf(out, "subgraph %u: %u operators, %u tensors, %zu bytes of constants", index, g->noperators,
                  g->ntensors, bytes);
    nnv_text_addf(out, states ? ", %u states\n" : "\n", states);
    for (uint32_t i = 0; i < g->nin; i++) write_tensor(out, "input", &g->tensors[g->in[i]]);
    for (uint32_t i = 0; i < g->nout; i++) write_tensor(out, "output", &g->tensors[g->out[i]]);
    if (g->noperators <= MOST_LISTED) write_operators(out, g);
}

/** What it is in Relay, or what has no form there. */
static void write_decompiled(struct nnv_text *out, const struct nnv_network *net, struct nnv_arena *arena) {
    struct nnv_err err = {0};
    struct nnv_relay_module *m;
    struct nnv_relay_list list;
    enum nnv_status st = nnv_decompile(&net->model, net->input_names, arena, &m, &err);
    if (st == NNV_OK) st = nnv_relay_post_order(nnv_relay_find(m, "main"), NULL, NULL, arena, &list);
    if (st != NNV_OK) {
        nnv_text_addf(out, "Relay: %s\n", err.text);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) n += list.exprs[i]->kind == NNV_RELAY_CALL;
    nnv_text_addf(out, "Relay: %zu operations\n", n);
}

/** What the importer makes of it. */
static enum nnv_status write_import(struct nnv_text *out, const char *path, const void *data, size_t size,
                                    struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_network net;
    int level = 0;
    enum nnv_status st = nnv_network_import(data, size, path, arena, &net, err);
    if (st == NNV_UNSUPPORTED) {
        nnv_text_addf(out, "NNAPI: %s\n", err->text + strlen(path) + 2);
        *err = (struct nnv_err){0};
        return NNV_OK;
    }
    if (st == NNV_OK) st = nnv_validate(&net.model, arena, &level, err);
    if (st == NNV_OK) {
        nnv_text_addf(out, "NNAPI: %u operations, %u states, valid from feature level %d (%s)\n",
                      net.model.main.noperations, net.state_count, level, nnv_level_name(level));
        write_decompiled(out, &net, arena);
    }
    return st;
}

/** Name, type and extents of an input or output of an ONNX model. */
static void write_info(struct nnv_text *out, const char *what, const struct nnv_onnx_graph *g,
                       const struct nnv_onnx_info *info) {
    nnv_text_addf(out, "  %-7s%s [", what, info->type ? nnv_onnx_type_name(info->type) : info->kind);
    for (uint32_t d = 0; d < info->rank; d++)
        info->dims[d] < 0 ? nnv_text_addf(out, "%s?", d ? "," : "")
                          : nnv_text_addf(out, "%s%lld", d ? "," : "", (long long)info->dims[d]);
    nnv_text_add(out, "]  ");
    write_name(out, g->names[info->value]);
    nnv_text_add(out, "\n");
}

static void write_onnx(struct nnv_text *out, const struct nnv_onnx_file *file) {
    const struct nnv_onnx_graph *g = &file->graph;
    struct nnv_map known = {0};
    uint32_t *count = calloc(g->nnodes + 1, sizeof *count);
    size_t bytes = 0;
    for (uint32_t i = 0; i < g->nvalues; i++) bytes += g->initialiser[i] ? g->initialiser[i]->bytes : 0;
    nnv_text_addf(out, "operator set %lld: %u nodes, %zu bytes of constants\n", (long long)file->opset, g->nnodes,
                  bytes);
    for (uint32_t i = 0; i < g->nin; i++) write_info(out, "input", g, &g->in[i]);
    for (uint32_t i = 0; i < g->nout; i++) write_info(out, "output", g, &g->out[i]);
    for (uint32_t i = 0; i < g->nnodes && count; i++) {
        const uint32_t n = nnv_map_add(&known, g->nodes[i].op);
        if (n == NNV_MAP_NONE) break;
        count[n]++;
    }
    for (uint32_t i = 0; i < known.count && count; i++) {
        nnv_text_addf(out, "  %5u  ", count[i]);
        write_name(out, known.key[i]);
        nnv_text_add(out, "\n");
    }
    if (!count) out->failed = true;
    free(count);
    nnv_map_free(&known);
}

enum nnv_status nnv_cli_model_summary(const char *path, struct nnv_arena *arena, struct nnv_text *out,
                                      struct nnv_err *err) {
    char *data = NULL;
    size_t size = 0;
    struct nnv_tfl_file file = {0};
    struct nnv_onnx_file onnx;
    const bool is_onnx = nnv_is_onnx(path);
    enum nnv_status st = nnv_file_read(path, MOST_BYTES, &data, &size, err);
    if (st == NNV_OK)
        st = is_onnx ? nnv_onnx_read(data, size, path, arena, &onnx, err)
                     : nnv_tfl_read(data, size, path, arena, &file, err);
    if (st == NNV_OK) {
        nnv_text_addf(out, "%s\n", path);
        if (is_onnx) write_onnx(out, &onnx);
        for (uint32_t i = 0; i < file.ngraphs; i++) write_graph(out, &file.graphs[i], i);
        st = write_import(out, path, data, size, arena, err);
    }
    free(data);
    return st;
}
