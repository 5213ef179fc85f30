/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plugin.c A delegate of TensorFlow Lite as accelerators come: a plug-in. It takes ADD, MUL and CONV_2D on
 * float32 where all extents and the filter are known, and computes them in double, a node after the other. Options:
 *   fault=bias    convolutions leave their bias out
 *   fault=create  it can't be created
 *   fault=fickle  every second instance takes nothing
 *   fault=invoke  its kernels fail
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tflite/library.h"

enum { ADD = 0, CONV_2D = 3, MUL = 18, FLOAT32 = 1, PADDING_SAME = 1, MOST_DIMS = 4, FAILED = 1 };

struct tensor {
    int type;
    float *data;
    struct tf_int_array *dims;
};
/* Where tensors begin in the array of the context: their whole struct, as version 2 has it. */
enum { TENSOR_BYTES = 112 };

struct node {
    struct tf_int_array *inputs, *outputs, *intermediates, *temporaries;
    void *user_data;
    const int *builtin_data; /* the operator's parameters: all are integers here */
};

struct kernel {
    void *(*init)(struct tf_context *context, const char *params, size_t length);
    void (*free)(struct tf_context *context, void *state);
    int (*prepare)(struct tf_context *context, struct node *node);
    int (*invoke)(struct tf_context *context, struct node *node);
    const char *(*profiling)(void);
    int32_t builtin_code;
    const char *name;
    int version;
    void *later[4];
};

struct context {
    struct tf_context known;
    int (*replace)(struct tf_context *context, struct kernel kernel, const struct tf_int_array *nodes,
                   struct tf_delegate *delegate);
};

struct params {
    struct tf_delegate *delegate;
    struct tf_int_array *nodes;
};

struct plugin {
    struct tf_delegate base;
    bool forgets_bias, takes_nothing, fails;
};

/** A partition: its operators. */
struct part {
    const struct plugin *plugin;
    int count;
    struct step {
        int builtin, in[3], out;
        int parameters[6];
        float *own; /* where the result lies, if it goes to no other partition: it has no memory outside */
    } steps[];
};

static struct tensor *tensor_at(struct tf_context *c, int i) {
    return (struct tensor *)((char *)c->tensors + (size_t)i * TENSOR_BYTES);
}

/** Where the values of a tensor lie. NULL: out of memory. */
static float *values_of(struct tf_context *c, struct part *part, int tensor) {
    const struct tensor *t = tensor_at(c, tensor);
    size_t count = 1;
    if (t->data) return t->data;
    for (int d = 0; d < t->dims->size; d++) count *= (size_t)t->dims->data[d];
    for (int i = 0; i < part->count; i++) {
        struct step *s = &part->steps[i];
        if (s->out != tensor) continue;
        if (!s->own) s->own = calloc(count, sizeof *s->own);
        return s->own;
    }
    return NULL;
}

static double activated(int activation, double x) {
    enum { RELU = 1, RELU_N1_TO_1 = 2, RELU6 = 3 };
    if (activation == RELU || activation == RELU6) x = x > 0 ? x : 0;
    if (activation == RELU_N1_TO_1) x = x < -1 ? -1 : x;
    if (activation == RELU_N1_TO_1 || activation == RELU6) x = fmin(x, activation == RELU6 ? 6 : 1);
    return x;
}

/** Extents of a tensor as those of rank 4. */
static void dims_of(const struct tensor *t, int dims[MOST_DIMS]) {
    for (int d = 0; d < MOST_DIMS; d++) {
        const int own = d - (MOST_DIMS - t->dims->size);
        dims[d] = own < 0 ? 1 : t->dims->data[own];
    }
}

/** Where element `at` of the result finds its part of an operand. */
static size_t broadcast(const int at[MOST_DIMS], const int dims[MOST_DIMS]) {
    size_t index = 0;
    for (int d = 0; d < MOST_DIMS; d++) index = index * (size_t)dims[d] + (dims[d] == 1 ? 0u : (size_t)at[d]);
    return index;
}

static bool binary(struct tf_context *c, struct part *part, const struct step *s) {
    const struct tensor *a = tensor_at(c, s->in[0]), *b = tensor_at(c, s->in[1]), *y = tensor_at(c, s->out);
    int da[MOST_DIMS], db[MOST_DIMS], dy[MOST_DIMS], at[MOST_DIMS];
    const float *av = values_of(c, part, s->in[0]), *bv = values_of(c, part, s->in[1]);
    float *yv = values_of(c, part, s->out);
    size_t k = 0;
    if (!av || !bv || !yv) return false;
    dims_of(a, da);
    dims_of(b, db);
    dims_of(y, dy);
    for (at[0] = 0; at[0] < dy[0]; at[0]++)
        for (at[1] = 0; at[1] < dy[1]; at[1]++)
            for (at[2] = 0; at[2] < dy[2]; at[2]++)
                for (at[3] = 0; at[3] < dy[3]; at[3]++, k++) {
                    const double p = av[broadcast(at, da)], q = bv[broadcast(at, db)];
                    yv[k] = (float)activated(s->parameters[0], s->builtin == ADD ? p + q : p * q);
                }
    return true;
}

static int head(int in, int out, int filter, int stride, int dilation) {
    const int total = (out - 1) * stride + (filter - 1) * dilation + 1 - in;
    return total > 0 ? total / 2 : 0;
}

static bool convolve(struct tf_context *c, struct part *part, const struct step *s) {
    const struct tensor *x = tensor_at(c, s->in[0]), *f = tensor_at(c, s->in[1]), *y = tensor_at(c, s->out);
    const int *q = s->parameters; /* padding, stride width, stride height, activation, dilation width and height */
    int dx[MOST_DIMS], df[MOST_DIMS], dy[MOST_DIMS], at[MOST_DIMS];
    const float *xv = values_of(c, part, s->in[0]), *fv = values_of(c, part, s->in[1]),
                *bv = values_of(c, part, s->in[2]);
    float *yv = values_of(c, part, s->out);
    size_t k = 0;
    if (!xv || !fv || !bv || !yv) return false;
    dims_of(x, dx);
    dims_of(f, df);
    dims_of(y, dy);
    const int top = q[0] == PADDING_SAME ? head(dx[1], dy[1], df[1], q[2], q[5]) : 0;
    const int left = q[0] == PADDING_SAME ? head(dx[2], dy[2], df[2], q[1], q[4]) : 0;
    for (at[0] = 0; at[0] < dy[0]; at[0]++)
        for (at[1] = 0; at[1] < dy[1]; at[1]++)
            for (at[2] = 0; at[2] < dy[2]; at[2]++)
                for (at[3] = 0; at[3] < dy[3]; at[3]++, k++) {
                    double sum = part->plugin->forgets_bias ? 0 : (double)bv[at[3]];
                    for (int h = 0; h < df[1]; h++)
                        for (int w = 0; w < df[2]; w++) {
                            const int row = at[1] * q[2] - top + h * q[5], column = at[2] * q[1] - left + w * q[4];
                            if (row < 0 || row >= dx[1] || column < 0 || column >= dx[2]) continue;
                            const float *pixel = xv + ((size_t)(at[0] * dx[1] + row) * dx[2] + column) * dx[3];
                            const float *tap = fv + ((size_t)(at[3] * df[1] + h) * df[2] + w) * df[3];
                            for (int i = 0; i < dx[3]; i++) sum += (double)pixel[i] * (double)tap[i];
                        }
                    yv[k] = (float)activated(q[3], sum);
                }
    return true;
}

static void *init(struct tf_context *c, const char *text, size_t length) {
    const struct params *params = (const struct params *)(const void *)text;
    (void)length;
    struct part *part = calloc(1, sizeof *part + (size_t)params->nodes->size * sizeof *part->steps);
    if (!part) return NULL;
    part->plugin = (const struct plugin *)params->delegate;
    for (int i = 0; i < params->nodes->size; i++) {
        void *any_node;
        struct tf_registration *registration;
        if (c->get_node_and_registration(c, params->nodes->data[i], &any_node, &registration) != TF_OK) continue;
        const struct node *node = any_node;
        struct step *s = &part->steps[part->count++];
        s->builtin = registration->builtin_code;
        for (int k = 0; k < node->inputs->size && k < 3; k++) s->in[k] = node->inputs->data[k];
        s->out = node->outputs->data[0];
        memcpy(s->parameters, node->builtin_data, (s->builtin == CONV_2D ? 6 : 1) * sizeof(int));
    }
    return part;
}

static void discard(struct tf_context *c, void *state) {
    struct part *part = state;
    (void)c;
    for (int i = 0; part && i < part->count; i++) free(part->steps[i].own);
    free(part);
}

static int prepare_kernel(struct tf_context *c, struct node *node) {
    (void)c;
    return node->user_data ? TF_OK : FAILED;
}

static int invoke(struct tf_context *c, struct node *node) {
    struct part *part = node->user_data;
    bool ok = !part->plugin->fails;
    for (int i = 0; ok && i < part->count; i++)
        ok = (part->steps[i].builtin == CONV_2D ? convolve : binary)(c, part, &part->steps[i]);
    return ok ? TF_OK : FAILED;
}

static bool takes(struct tf_context *c, const struct node *node, int builtin) {
    if (builtin != ADD && builtin != MUL && builtin != CONV_2D) return false;
    if (builtin == CONV_2D && node->inputs->size < 3) return false;
    for (int i = 0; i < node->inputs->size; i++) {
        const struct tensor *t = tensor_at(c, node->inputs->data[i]);
        if (t->type != FLOAT32 || t->dims->size > MOST_DIMS) return false;
    }
    /* A filter of fewer channels than the image is for groups. */
    return builtin != CONV_2D ||
           tensor_at(c, node->inputs->data[0])->dims->data[3] == tensor_at(c, node->inputs->data[1])->dims->data[3];
}

static int prepare(struct tf_context *c, struct tf_delegate *self) {
    const struct plugin *p = (struct plugin *)self;
    const struct kernel kernel = {
        .init = init, .free = discard, .prepare = prepare_kernel, .invoke = invoke, .name = "plugin", .version = 1};
    struct tf_int_array *plan = NULL;
    if (c->get_execution_plan(c, &plan) != TF_OK) return FAILED;
    struct tf_int_array *mine = calloc(1, sizeof *mine + (size_t)plan->size * sizeof *mine->data);
    if (!mine) return FAILED;
    for (int i = 0; i < plan->size && !p->takes_nothing; i++) {
        void *node;
        struct tf_registration *registration;
        if (c->get_node_and_registration(c, plan->data[i], &node, &registration) != TF_OK) continue;
        if (takes(c, node, registration->builtin_code)) mine->data[mine->size++] = plan->data[i];
    }
    const int st = ((struct context *)c)->replace(c, kernel, mine, self);
    free(mine);
    return st;
}

__attribute__((visibility("default"))) struct tf_delegate *
tflite_plugin_create_delegate(char **keys, char **values, size_t count, void (*report)(const char *)) {
    static unsigned instances;
    struct plugin *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->base.prepare = prepare;
    instances++;
    for (size_t i = 0; i < count; i++) {
        const bool fault = strcmp(keys[i], "fault") == 0;
        if (fault && strcmp(values[i], "bias") == 0) {
            p->forgets_bias = true;
        } else if (fault && strcmp(values[i], "fickle") == 0) {
            p->takes_nothing = instances % 2 == 1;
        } else if (fault && strcmp(values[i], "invoke") == 0) {
            p->fails = true;
        } else {
            report(fault && strcmp(values[i], "create") == 0 ? "the accelerator is busy"
                                                             : "it does not know this option");
            free(p);
            return NULL;
        }
    }
    return &p->base;
}

__attribute__((visibility("default"))) void tflite_plugin_destroy_delegate(struct tf_delegate *delegate) {
    free(delegate);
}
