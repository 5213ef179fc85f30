/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file driver.c A backend of ggml as a driver: a model becomes a graph of ggml's, each operation of which the backend
 * was asked about, and is computed by it alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "convert.h"

struct gg_engine {
    struct gg_library lib;
    uint32_t threads;
};

/** An input or output, and where it lies in ggml's graph. */
struct gg_place {
    uint32_t tensor;
    gg_tensor *at;
    size_t bytes;
};

struct gg_state {
    const struct gg_library *lib;
    void *backend;             /**< its own: a backend computes one graph at a time */
    void *context, *constants; /**< ggml's, of tensors */
    void *values, *allocator;  /**< ggml's, of what constants and all others hold */
    void *graph;
    uint32_t in_count, out_count, check_count;
    struct gg_place *places; /**< inputs, then outputs */
    struct gg_check *checks;
};

/* --------------------------------------------------------------------- compiling */

static void discard(void *state) {
    struct gg_state *s = state;
    const struct gg_library *lib = s->lib;
    if (s->allocator) lib->gallocr_free(s->allocator);
    if (s->values) lib->backend_buffer_free(s->values);
    if (s->context) lib->free(s->context);
    if (s->constants) lib->free(s->constants);
    if (s->backend) lib->backend_free(s->backend);
    free(s->places);
    free(s->checks);
    free(s);
}

/** How many tensors of ggml a graph can become. */
static size_t most_tensors(const struct engine_graph *graph) {
    size_t most = (size_t)graph->in_count + 1;
    for (uint32_t i = 0; i < graph->node_count; i++)
        most += GG_MOST_TENSORS + (size_t)GG_MOST_PER_OPERAND * (graph->nodes[i].in_count + graph->nodes[i].out_count);
    return most;
}

static struct gg_state *new_state(const struct gg_engine *e, const struct engine_graph *graph) {
    const struct gg_library *lib = &e->lib;
    const size_t most = most_tensors(graph), one = lib->tensor_overhead();
    struct gg_state *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (struct gg_state){
        .lib = lib,
        .context = lib->init(
            (struct gg_memory){.bytes = most * one + lib->graph_overhead_custom(most, false), .no_values = true}),
        .constants = lib->init((struct gg_memory){.bytes = ((size_t)graph->tensor_count + 1) * one, .no_values = true}),
        .backend = lib->backend_dev_init(lib->device, NULL),
        .in_count = graph->in_count,
        .out_count = graph->out_count,
        .places = calloc((size_t)graph->in_count + graph->out_count + 1, sizeof *s->places),
        .checks = calloc((size_t)graph->node_count + 1, sizeof *s->checks)};
    if (s->backend && lib->set_threads) lib->set_threads(s->backend, (int)e->threads);
    if (s->context && s->constants) s->graph = lib->new_graph_custom(s->context, most, false);
    if (!s->backend) common_tell("the backend does not start");
    if (s->graph && s->backend && s->places && s->checks) return s;
    discard(s);
    return NULL;
}

/** Gives values of the model their places in memory, and constants what they hold. */
static bool allocate(struct gg_state *s, const struct gg_graph *g) {
    const struct gg_library *lib = s->lib;
    const struct engine_graph *graph = g->from;
    bool constants = false;
    for (uint32_t i = 0; i < s->in_count + s->out_count; i++) {
        const uint32_t tensor = i < s->in_count ? graph->in[i] : graph->out[i - s->in_count];
        s->places[i] = (struct gg_place){tensor, g->of[tensor], graph->tensors[tensor].bytes};
        if (!s->places[i].at) continue; /* an input that nothing reads */
        if (i >= s->in_count) lib->set_output(s->places[i].at);
        lib->build_forward_expand(s->graph, s->places[i].at);
    }
    for (uint32_t i = 0; i < graph->tensor_count; i++) constants = constants || (g->of[i] && graph->tensors[i].value);
    if (constants) s->values = lib->backend_alloc_ctx_tensors(s->constants, s->backend);
    s->allocator = lib->gallocr_new(lib->backend_get_default_buffer_type(s->backend));
    if ((constants && !s->values) || !s->allocator || !lib->gallocr_alloc_graph(s->allocator, s->graph)) {
        common_tell("ggml has no memory for the model");
        return false;
    }
    for (uint32_t i = 0; i < graph->tensor_count; i++)
        if (g->of[i] && graph->tensors[i].value)
            lib->backend_tensor_set(g->of[i], graph->tensors[i].value, 0, graph->tensors[i].bytes);
    return true;
}

static void *compile(void *self, const struct engine_graph *graph, bool *taken) {
    const struct gg_engine *e = self;
    struct gg_state *s = new_state(e, graph);
    struct gg_graph g = {.lib = &e->lib, .from = graph, .of = calloc((size_t)graph->tensor_count + 1, sizeof *g.of)};
    bool ok = s && g.of;
    (void)taken;
    if (ok) {
        g.context = s->context;
        g.constants = s->constants;
        g.checks = s->checks;
    }
    for (uint32_t i = 0; ok && i < graph->node_count; i++) ok = gg_convert(&g, i);
    ok = ok && allocate(s, &g);
    if (ok) s->check_count = g.check_count;
    free(g.of);
    if (ok || !s) return s;
    discard(s);
    return NULL;
}

/* ----------------------------------------------------------------------- running */

/** The indices of an execution lie where they may. */
static bool in_range(const struct gg_state *s, void *const *data) {
    for (uint32_t i = 0; i < s->check_count; i++) {
        const int32_t *list = data[s->checks[i].tensor];
        size_t n = 0;
        for (uint32_t k = 0; k < s->in_count; k++)
            if (s->places[k].tensor == s->checks[i].tensor) n = s->places[k].bytes / sizeof *list;
        for (size_t k = 0; k < n; k++) {
            if (list[k] >= 0 && list[k] < s->checks[i].limit) continue;
            common_tell("index %d is not below %d", list[k], s->checks[i].limit);
            return false;
        }
    }
    return true;
}

static bool run(void *self, void *state, void *const *data) {
    const struct gg_state *s = state;
    const struct gg_library *lib = s->lib;
    (void)self;
    if (!in_range(s, data)) return false;
    for (uint32_t i = 0; i < s->in_count; i++)
        if (s->places[i].at) lib->backend_tensor_set(s->places[i].at, data[s->places[i].tensor], 0, s->places[i].bytes);
    if (lib->backend_graph_compute(s->backend, s->graph) != 0) {
        common_tell("the backend can't compute the graph");
        return false;
    }
    for (uint32_t i = s->in_count; i < s->in_count + s->out_count; i++)
        lib->backend_tensor_get(s->places[i].at, data[s->places[i].tensor], 0, s->places[i].bytes);
    return true;
}

/* ----------------------------------------------------------------------- opening */

static const char *const own_options[] = {"PATH", "lib=PATH", "backend=NAME", "device=NAME", NULL};

/** What ggml says: errors are the reason of what follows. */
static void listen(int level, const char *text, void *user) {
    enum { ERROR = 4 };
    (void)user;
    if (level == ERROR) common_tell("%.*s", (int)strcspn(text, "\n"), text);
}

/** What ggml says before it ends the process; without this it would start a debugger. */
static void mourn(const char *text) { fprintf(stderr, "ggml ends the process: %s\n", text); }

static const char *open_engine(void *self, const struct engine_options *options) {
    struct gg_engine *e = self;
    const char *lib = NULL, *backend = NULL, *device = NULL;
    for (uint32_t i = 0; i < options->count; i++) {
        const char *key = options->own[i].key, *value = options->own[i].value;
        if (strcmp(key, "lib") == 0 && *value)
            lib = value;
        else if (strcmp(key, "backend") == 0 && *value)
            backend = value;
        else if (strcmp(key, "device") == 0 && *value)
            device = value;
        else if (strchr(key, '/') && !*value)
            lib = key;
        else
            return "options are the path of a backend, \"lib=PATH\", \"backend=NAME\" and \"device=NAME\", beside "
                   "those of "
                   "all engines: \"threads=N\", \"loose\"";
    }
    e->threads = options->threads;
    const char *error = gg_open_library(lib, backend, device, &e->lib);
    if (error) return error;
    e->lib.log_set(listen, NULL);
    e->lib.set_abort_callback(mourn);
    return NULL;
}

const struct engine this_engine = {
    .name = "ggml",
    .device = "nnvts-ggml",
    .version = "1.0.0",
    .own_options = own_options,
    .whole = true,
    .bytes = sizeof(struct gg_engine),
    .open = open_engine,
    .compile = compile,
    .run = run,
    .discard = discard,
};
