/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file driver.c ONNX Runtime as a driver: models become ONNX, run by its C library on the execution provider asked
 * for. Nodes that the provider does not take are not its work: a session that would leave some to the CPU is refused.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "convert.h"
#include "engine/passed.h"
#include "library.h"

struct or_engine {
    struct or_library lib;
    void *env, *memory;
    uint32_t threads;
    char *provider;               /**< NULL: the CPU */
    struct engine_passed options; /**< for the provider */
};

/** An input or output of a session. */
struct or_place {
    char name[OR_NAME_BYTES];
    uint32_t tensor; /**< of the graph */
    enum or_type type;
    uint32_t rank;
    int64_t dims[OR_MOST_RANK];
    size_t bytes;
    uint8_t *bools; /**< NNAPI has 255 true bytes, ONNX one: inputs are copied here; else NULL */
};

struct or_state {
    const struct or_engine *engine;
    void *session;
    uint32_t in_count, out_count;
    struct or_place *places; /**< inputs, then outputs */
    const char **names;
    void **values;
};

/** True for success; else what it said is told. */
static bool succeeded(const struct or_library *lib, void *status) {
    if (!status) return true;
    common_tell("%s", lib->GetErrorMessage(status));
    lib->ReleaseStatus(status);
    return false;
}

/* --------------------------------------------------------------------- compiling */

static void discard(void *state) {
    struct or_state *s = state;
    if (s->session) s->engine->lib.ReleaseSession(s->session);
    for (uint32_t i = 0; s->places && i < s->in_count; i++) free(s->places[i].bools);
    free(s->places);
    free(s->names);
    free(s->values);
    free(s);
}

static bool fill_place(struct or_place *p, const struct or_graph *g, const struct engine_graph *graph, uint32_t tensor,
                       bool is_input) {
    const struct engine_tensor *t = &graph->tensors[tensor];
    *p = (struct or_place){.tensor = tensor, .type = or_type_of(t), .rank = t->rank, .bytes = t->bytes};
    or_name(g->of[tensor], p->name);
    or_dims(t, p->dims);
    if (!is_input || p->type != OR_BOOL) return true;
    p->bools = malloc(t->bytes);
    return p->bools != NULL;
}

static struct or_state *new_state(const struct or_engine *e, const struct or_graph *g,
                                  const struct engine_graph *graph) {
    struct or_state *s = calloc(1, sizeof *s);
    const size_t count = (size_t)graph->in_count + graph->out_count;
    if (!s) return NULL;
    *s = (struct or_state){.engine = e,
                           .in_count = graph->in_count,
                           .out_count = graph->out_count,
                           .places = calloc(count + 1, sizeof *s->places),
                           .names = calloc(count + 1, sizeof *s->names),
                           .values = calloc(count + 1, sizeof *s->values)};
    bool ok = s->places && s->names && s->values;
    for (uint32_t i = 0; ok && i < count; i++) {
        const bool is_input = i < graph->in_count;
        const uint32_t tensor = is_input ? graph->in[i] : graph->out[i - graph->in_count];
        ok = fill_place(&s->places[i], g, graph, tensor, is_input);
        s->names[i] = s->places[i].name;
    }
    if (ok) return s;
    discard(s);
    return NULL;
}

/** Options of a session; false: it told why. */
static bool set_options(const struct or_engine *e, void *options) {
    enum { ALL_OPTIMISATIONS = 99 };
    const struct or_library *lib = &e->lib;
    if (!succeeded(lib, lib->SetSessionGraphOptimizationLevel(options, ALL_OPTIMISATIONS)) ||
        !succeeded(lib, lib->SetIntraOpNumThreads(options, (int)e->threads)) ||
        !succeeded(lib, lib->SetInterOpNumThreads(options, 1)) ||
        !succeeded(lib, lib->AddSessionConfigEntry(options, "session.intra_op.allow_spinning", "0")))
        return false;
    return !e->provider ||
           (succeeded(lib, lib->AddSessionConfigEntry(options, "session.disable_cpu_ep_fallback", "1")) &&
            succeeded(lib, lib->SessionOptionsAppendExecutionProvider(
                               options, e->provider, (const char *const *)e->options.keys,
                               (const char *const *)e->options.values, e->options.count)));
}

static bool start(struct or_state *s, const struct pb *model) {
    const struct or_library *lib = &s->engine->lib;
    void *options = NULL;
    if (!succeeded(lib, lib->CreateSessionOptions(&options))) return false;
    const bool ok =
        set_options(s->engine, options) &&
        succeeded(lib, lib->CreateSessionFromArray(s->engine->env, model->data, model->size, options, &s->session));
    lib->ReleaseSessionOptions(options);
    return ok;
}

/** Converts all nodes; false, having told why: one has no form. */
static bool convert(struct or_graph *g, const struct engine_graph *graph) {
    for (uint32_t i = 0; i < graph->in_count; i++) or_use(g, graph->tensors, graph->in[i]);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        const char *reason = NULL;
        if (or_convert(g, graph, n, &reason)) continue;
        common_tell("%s", reason);
        return false;
    }
    return true;
}

static void *compile(void *self, const struct engine_graph *graph, bool *taken) {
    const struct or_engine *e = self;
    struct or_graph g = {.of = malloc(((size_t)graph->tensor_count + 1) * sizeof *g.of)};
    struct pb model = {0};
    struct or_state *s = NULL;
    (void)taken;
    for (uint32_t i = 0; g.of && i < graph->tensor_count; i++) g.of[i] = OR_NOWHERE;
    if (g.of && convert(&g, graph)) {
        or_write(&g, graph, &model);
        s = model.failed ? NULL : new_state(e, &g, graph);
    }
    if (s && !start(s, &model)) {
        discard(s);
        s = NULL;
    }
    pb_free(&g.nodes);
    pb_free(&g.initializers);
    pb_free(&g.attributes);
    pb_free(&model);
    free(g.of);
    return s;
}

/* ----------------------------------------------------------------------- running */

static bool run(void *self, void *state, void *const *data) {
    const struct or_engine *e = self;
    const struct or_library *lib = &e->lib;
    struct or_state *s = state;
    const uint32_t count = s->in_count + s->out_count;
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct or_place *p = &s->places[i];
        uint8_t *at = data[p->tensor];
        for (size_t k = 0; p->bools && k < p->bytes; k++) p->bools[k] = at[k] != 0;
        if (p->bools) at = p->bools;
        ok = succeeded(lib, lib->CreateTensorWithDataAsOrtValue(e->memory, at, p->bytes, p->dims, p->rank, (int)p->type,
                                                                &s->values[i]));
    }
    ok = ok && succeeded(lib, lib->Run(s->session, NULL, s->names, (const void *const *)s->values, s->in_count,
                                       s->names + s->in_count, s->out_count, s->values + s->in_count));
    for (uint32_t i = 0; i < count; i++) {
        if (s->values[i]) lib->ReleaseValue(s->values[i]);
        s->values[i] = NULL;
    }
    return ok;
}

/* ----------------------------------------------------------------------- opening */

static const char *const own_options[] = {"lib=PATH", "ep=NAME", "option.KEY=VALUE", NULL};

static const char *read_options(const struct engine_options *options, struct or_engine *e, const char **lib) {
    const char *error = NULL;
    for (uint32_t i = 0; i < options->count; i++) {
        const char *key = options->own[i].key, *value = options->own[i].value;
        if (strcmp(key, "lib") == 0) {
            *lib = value;
        } else if (strcmp(key, "ep") == 0 && *value) {
            free(e->provider);
            e->provider = strdup(value);
        } else if (engine_pass(&e->options, &options->own[i], &error)) {
            if (error) return error;
        } else {
            return "options are \"lib=PATH\", \"ep=NAME\" and \"option.KEY=VALUE\" for the execution provider, beside "
                   "those of all engines: \"threads=N\", \"loose\"";
        }
    }
    return e->options.count && !e->provider ? "\"option.KEY=VALUE\" is for an execution provider" : NULL;
}

/** The library keeps one environment: it is made once, and stays. */
static const char *open_environment(struct or_engine *e) {
    enum { ERRORS_ONLY = 3, DEVICE_ALLOCATOR = 0, DEFAULT_MEMORY = 0 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *env; /* guarded by lock */
    pthread_mutex_lock(&lock);
    bool ok = env || succeeded(&e->lib, e->lib.CreateEnv(ERRORS_ONLY, "nnvts", &env));
    e->env = env;
    pthread_mutex_unlock(&lock);
    ok = ok && succeeded(&e->lib, e->lib.CreateCpuMemoryInfo(DEVICE_ALLOCATOR, DEFAULT_MEMORY, &e->memory));
    return ok ? NULL : common_keep_text(common_told());
}

/** Options that a session can be made with; else why it can't. */
static const char *try_options(const struct or_engine *e) {
    void *options = NULL;
    bool ok = succeeded(&e->lib, e->lib.CreateSessionOptions(&options));
    ok = ok && set_options(e, options);
    if (options) e->lib.ReleaseSessionOptions(options);
    return ok ? NULL : common_keep_text(common_told());
}

static void close_engine(void *self) {
    struct or_engine *e = self;
    if (e->memory) e->lib.ReleaseMemoryInfo(e->memory);
    engine_pass_nothing(&e->options);
    free(e->provider);
}

static const char *open_engine(void *self, const struct engine_options *options) {
    const char *lib = NULL;
    struct or_engine *e = self;
    e->threads = options->threads;
    const char *error = read_options(options, e, &lib);
    if (!error) error = or_open_library(lib, &e->lib);
    if (!error) error = open_environment(e);
    return error ? error : try_options(e);
}

const struct engine this_engine = {
    .name = "ort",
    .device = "nnvts-ort",
    .version = "1.0.0",
    .own_options = own_options,
    .whole = true,
    .bytes = sizeof(struct or_engine),
    .open = open_engine,
    .close = close_engine,
    .compile = compile,
    .run = run,
    .discard = discard,
};
