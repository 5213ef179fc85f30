/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file driver.c TensorFlow Lite as a driver: models become .tflite files, run by its C library, accelerated by a
 * delegate. Operations that the delegate leaves to TensorFlow Lite are not supported, unless fallback is allowed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/library.h"
#include "common/text.h"
#include "convert.h"
#include "interpreter.h"

struct tf_engine {
    struct tf_library lib;
    struct tf_accelerator accelerator;
    uint32_t threads;
    bool loose, fallback;
};

/** A compiled graph. */
struct tf_state {
    struct tf_interpreter *interpreter;
    uint32_t in_count, out_count;
    uint32_t *in, *out; /**< tensors of the graph */
    size_t *bytes;      /**< of inputs, then of outputs */
    bool *is_bool;      /**< of inputs: NNAPI has 255 true bytes, TensorFlow Lite one */
};

/* --------------------------------------------------------------------- compiling */

/** A graph on its way. */
struct work {
    const struct tf_engine *engine;
    const struct engine_graph *graph;
    struct tf_model model;
    int32_t *of; /**< for each tensor of the graph's model: its index in the model, or -1 */
};

/** Converts all nodes; false, having told why: one has no form. */
static bool convert(struct work *w) {
    for (uint32_t n = 0; n < w->graph->node_count; n++) {
        const char *reason = NULL;
        if (tf_convert(&w->model, w->graph, n, w->engine->loose, w->of, &reason)) continue;
        common_tell("%s", reason);
        return false;
    }
    return true;
}

/** The file of a converted graph; NULL: out of memory. */
static uint8_t *write(struct work *w, size_t *bytes) {
    const struct engine_graph *g = w->graph;
    struct tf_conversion c = {.model = &w->model, .op = {.tensors = g->tensors}, .of = w->of};
    int32_t *lists = calloc((size_t)g->in_count + g->out_count + 1, sizeof *lists);
    if (!lists) return NULL;
    for (uint32_t i = 0; i < g->in_count; i++) lists[i] = tf_use(&c, g->in[i]);
    for (uint32_t i = 0; i < g->out_count; i++) lists[g->in_count + i] = tf_use(&c, g->out[i]);
    uint8_t *file = tf_write(&w->model, lists, g->in_count, lists + g->in_count, g->out_count, bytes);
    free(lists);
    return file;
}

static void discard(void *state) {
    struct tf_state *s = state;
    tf_interpreter_free(s->interpreter);
    free(s->in);
    free(s->bytes);
    free(s->is_bool);
    free(s);
}

/** What the graph's inputs and outputs are; NULL: out of memory. */
static struct tf_state *new_state(const struct engine_graph *g) {
    struct tf_state *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (struct tf_state){.in_count = g->in_count,
                           .out_count = g->out_count,
                           .in = calloc((size_t)g->in_count + g->out_count + 1, sizeof *s->in),
                           .bytes = calloc((size_t)g->in_count + g->out_count + 1, sizeof *s->bytes),
                           .is_bool = calloc((size_t)g->in_count + 1, sizeof *s->is_bool)};
    if (!s->in || !s->bytes || !s->is_bool) {
        discard(s);
        return NULL;
    }
    s->out = s->in + g->in_count;
    for (uint32_t i = 0; i < g->in_count; i++) {
        s->in[i] = g->in[i];
        s->is_bool[i] = g->tensors[g->in[i]].type == ANEURALNETWORKS_TENSOR_BOOL8;
    }
    for (uint32_t i = 0; i < g->out_count; i++) s->out[i] = g->out[i];
    for (uint32_t i = 0; i < g->in_count + g->out_count; i++) s->bytes[i] = g->tensors[s->in[i]].bytes;
    return s;
}

/** TensorFlow Lite sees inputs and outputs of the sizes that the graph has. */
static bool sizes_agree(const struct tf_library *lib, const struct tf_state *s) {
    const void *handle = tf_interpreter_handle(s->interpreter);
    bool agree = true;
    for (uint32_t i = 0; i < s->in_count; i++)
        agree = agree && lib->TensorByteSize(lib->InterpreterGetInputTensor(handle, (int32_t)i)) == s->bytes[i];
    for (uint32_t i = 0; i < s->out_count; i++)
        agree = agree &&
                lib->TensorByteSize(lib->InterpreterGetOutputTensor(handle, (int32_t)i)) == s->bytes[s->in_count + i];
    return agree;
}

/** Gives input i its value; false: there is no memory for it. */
static bool set_input(const struct tf_library *lib, const struct tf_state *s, uint32_t i, const void *value) {
    uint8_t *to = lib->TensorData(lib->InterpreterGetInputTensor(tf_interpreter_handle(s->interpreter), (int32_t)i));
    if (!to) return false;
    memcpy(to, value, s->bytes[i]);
    for (size_t k = 0; s->is_bool[i] && k < s->bytes[i]; k++) to[k] = to[k] != 0;
    return true;
}

/** Runs once on numbers that are all alike: some kernels of TensorFlow Lite say only then that they lack a type. */
static bool runs_on(const struct tf_library *lib, const struct tf_state *s, const struct engine_graph *g, bool ones) {
    for (uint32_t i = 0; i < s->in_count; i++) {
        const struct engine_tensor *t = &g->tensors[s->in[i]];
        uint8_t *values = calloc(1, t->bytes + 1);
        if (!values) return false;
        for (size_t k = 0; ones && k < t->count; k++) {
            if (t->type == ANEURALNETWORKS_TENSOR_INT32) memcpy(values + 4 * k, &(int32_t){1}, 4);
            if (t->type == ANEURALNETWORKS_TENSOR_FLOAT32) memcpy(values + 4 * k, &(float){1}, 4);
        }
        const bool ok = set_input(lib, s, i, values);
        free(values);
        if (!ok) return false;
    }
    return lib->InterpreterInvoke(tf_interpreter_handle(s->interpreter)) == TF_OK;
}

/** The state of a converted graph; NULL: refused, or (taken says what) not all of it was delegated. */
static void *build(struct work *w, bool *taken) {
    const struct engine_graph *g = w->graph;
    const struct tf_library *lib = &w->engine->lib;
    size_t bytes = 0;
    uint8_t *file = write(w, &bytes);
    bool *took = calloc((size_t)w->model.operator_count + 1, sizeof *took);
    struct tf_state *s = file && took ? new_state(g) : NULL;
    uint32_t delegated = 0;
    memset(taken, 0, g->node_count * sizeof *taken);
    if (s)
        s->interpreter =
            tf_interpret(lib, &w->engine->accelerator, w->engine->threads, file, bytes, took, w->model.operator_count);
    else
        free(file);
    bool ok = s && s->interpreter;
    if (ok) {
        memset(taken, true, g->node_count * sizeof *taken);
        for (uint32_t i = 0; !w->engine->fallback && i < w->model.operator_count; i++)
            if (!took[i]) taken[w->model.operators[i].node] = false;
        for (uint32_t i = 0; i < g->node_count; i++) delegated += taken[i];
        ok = delegated == g->node_count;
        if (!ok) common_tell("the delegate took %u of %u operations", delegated, g->node_count);
    }
    if (ok && !sizes_agree(lib, s)) {
        common_tell("TensorFlow Lite has other extents");
        ok = false;
    }
    bool kernels = w->engine->accelerator.kind == TF_DELEGATE_NONE; /* of TensorFlow Lite take part */
    for (uint32_t i = 0; ok && i < w->model.operator_count; i++) kernels = kernels || !took[i];
    if (ok && kernels && !runs_on(lib, s, g, false) && !runs_on(lib, s, g, true)) ok = false;
    if (s && !ok) {
        if (delegated == g->node_count) memset(taken, 0, g->node_count * sizeof *taken);
        discard(s);
    }
    free(took);
    return ok ? s : NULL;
}

static void *compile(void *self, const struct engine_graph *graph, bool *taken) {
    struct work w = {.engine = self, .graph = graph};
    void *state = NULL;
    w.of = malloc(((size_t)graph->tensor_count + 1) * sizeof *w.of);
    for (uint32_t i = 0; w.of && i < graph->tensor_count; i++) w.of[i] = -1;
    if (w.of && convert(&w)) state = build(&w, taken);
    tf_model_free(&w.model);
    free(w.of);
    return state;
}

/* ----------------------------------------------------------------------- running */

static bool run(void *self, void *state, void *const *data) {
    const struct tf_library *lib = &((const struct tf_engine *)self)->lib;
    const struct tf_state *s = state;
    void *handle = tf_interpreter_handle(s->interpreter);
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->in_count; i++) ok = set_input(lib, s, i, data[s->in[i]]);
    ok = ok && lib->InterpreterInvoke(handle) == TF_OK;
    for (uint32_t i = 0; ok && i < s->out_count; i++)
        ok = lib->TensorCopyToBuffer(lib->InterpreterGetOutputTensor(handle, (int32_t)i), data[s->out[i]],
                                     s->bytes[s->in_count + i]) == TF_OK;
    return ok;
}

/* ----------------------------------------------------------------------- opening */

static const char *const own_options[] = {"lib=PATH",      "delegate=none",    "delegate=xnnpack", "delegate=nnapi",
                                          "delegate=PATH", "fallback=allowed", "option.KEY=VALUE", NULL};

/** What the options ask for; NULL: understood. */
static const char *read_options(const struct engine_options *options, struct tf_engine *e, const char **lib,
                                const char **plugin) {
    const char *error = NULL;
    struct tf_accelerator *a = &e->accelerator;
    for (uint32_t i = 0; i < options->count; i++) {
        const char *key = options->own[i].key, *value = options->own[i].value;
        if (strcmp(key, "lib") == 0) {
            *lib = value;
        } else if (strcmp(key, "fallback") == 0 && strcmp(value, "allowed") == 0) {
            e->fallback = true;
        } else if (strcmp(key, "delegate") == 0 && *value) {
            a->kind = strcmp(value, "none") == 0      ? TF_DELEGATE_NONE
                      : strcmp(value, "xnnpack") == 0 ? TF_DELEGATE_XNNPACK
                      : strcmp(value, "nnapi") == 0   ? TF_DELEGATE_NNAPI
                                                      : TF_DELEGATE_PLUGIN;
            *plugin = value;
        } else if (engine_pass(&a->options, &options->own[i], &error)) {
            if (error) return error;
        } else {
            return "options are \"lib=PATH\", \"delegate=none|xnnpack|nnapi|PATH\", \"fallback=allowed\" and "
                   "\"option.KEY=VALUE\" for the delegate, beside those of all engines: \"threads=N\", \"loose\"";
        }
    }
    if (a->options.count && a->kind != TF_DELEGATE_PLUGIN)
        return "\"option.KEY=VALUE\" is for a delegate that is a plug-in";
    return NULL;
}

/** The delegate for NNAPI opens libneuralnetworks.so by that name: the project's own is there before. */
static const char *open_nnapi(void) {
    char path[4096];
    void *handle;
    return common_open(common_find_runtime(path, sizeof path) ? path : "libneuralnetworks.so", &handle);
}

static const char *open_accelerator(struct tf_engine *e, const char *plugin) {
    switch (e->accelerator.kind) {
    case TF_DELEGATE_NONE:
        return NULL;
    case TF_DELEGATE_XNNPACK:
        return e->lib.XNNPackDelegateCreate && e->lib.XNNPackDelegateDelete ? NULL
                                                                            : "this library has no delegate xnnpack";
    case TF_DELEGATE_NNAPI:
        return e->lib.InterpreterOptionsSetUseNNAPI && e->lib.InterpreterModifyGraphWithDelegate
                   ? open_nnapi()
                   : "this library has no delegate nnapi";
    case TF_DELEGATE_PLUGIN:
        return tf_open_plugin(plugin, &e->accelerator);
    }
    return "no such delegate";
}

static void close_engine(void *self) {
    struct tf_engine *e = self;
    engine_pass_nothing(&e->accelerator.options);
}

static const char *open_engine(void *self, const struct engine_options *options) {
    const char *lib = NULL, *plugin = NULL;
    struct tf_engine *e = self;
    e->threads = options->threads;
    e->loose = options->loose;
    const char *error = read_options(options, e, &lib, &plugin);
    if (!error) error = tf_open_library(lib, &e->lib);
    return error ? error : open_accelerator(e, plugin);
}

const struct engine this_engine = {
    .name = "tflite",
    .device = "nnvts-tflite",
    .version = "1.0.0",
    .own_options = own_options,
    .whole = true,
    .bytes = sizeof(struct tf_engine),
    .open = open_engine,
    .close = close_engine,
    .compile = compile,
    .run = run,
    .discard = discard,
};
