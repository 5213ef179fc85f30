/* SPDX-License-Identifier: Apache-2.0 */
/** @file probe.c What a driver says of itself, told by a process of its own through shared memory. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "harness/runner/ask.h"
#include "harness/runner/run.h"

enum { CAPABILITIES_BYTES = 16 << 10, OPTIONS_BYTES = 64 << 10 };

/** What the process tells; all text is the driver's word. */
struct card {
    char name[256], version[1024];
    int32_t type, level;
    uint32_t model_cache_files, data_cache_files;
    char capabilities[CAPABILITIES_BYTES];
    char options[OPTIONS_BYTES]; /* each terminated, an empty one at the end */
};

/* -------------------------------------------------------- in the new process */

static void add_performance(struct nnv_text *t, const char *name, const struct nnvts_performance *p) {
    nnv_text_addf(t, "%s\"%s\":[", t->len > 1 && t->data[t->len - 1] != '{' ? "," : "", name);
    nnv_text_add_float(t, p->exec_time);
    nnv_text_add(t, ",");
    nnv_text_add_float(t, p->power_usage);
    nnv_text_add(t, "]");
}

static void add_capabilities(struct nnv_text *t, const struct nnvts_capabilities *c) {
    nnv_text_add(t, "{");
    add_performance(t, "relaxed_scalar", &c->relaxed_scalar);
    add_performance(t, "relaxed_tensor", &c->relaxed_tensor);
    add_performance(t, "if", &c->if_performance);
    add_performance(t, "while", &c->while_performance);
    nnv_text_add(t, ",\"operands\":{");
    for (uint32_t i = 0; c->operand_performance != NULL && i < c->operand_performance_count; i++) {
        const struct nnv_type *type = nnv_type(c->operand_performance[i].type);
        char number[32];
        snprintf(number, sizeof number, "%d", c->operand_performance[i].type);
        add_performance(t, type != NULL ? type->name : number, &c->operand_performance[i].info);
    }
    nnv_text_add(t, "}}");
}

static void copy_options(const struct nnvts_driver *driver, char *to) {
    size_t at = 0;
    if (driver->struct_size < offsetof(struct nnvts_driver, options) + sizeof driver->options) return;
    for (const char *const *o = driver->options; o != NULL && *o != NULL; o++) {
        size_t n = strlen(*o) + 1;
        if (n == 1) continue;
        if (at + n >= OPTIONS_BYTES) return;
        memcpy(to + at, *o, n);
        at += n;
    }
}

/** Who is probed. */
struct probed {
    const char *path, *options;
};

static enum nnv_status fill_card(struct nnv_answering *in, struct nnv_err *err) {
    const struct probed *p = in->context;
    struct card *card = in->shared;
    *in->phase = NNV_PHASE_OPEN;
    enum nnv_status st = nnv_client_open(in->client, p->path, p->options, err);
    if (in->client->driver) copy_options(in->client->driver, card->options);
    if (st != NNV_OK) return st;
    const struct nnvts_device *d = in->client->device;
    struct nnv_text t = {0};
    snprintf(card->name, sizeof card->name, "%s", d->name);
    snprintf(card->version, sizeof card->version, "%s", d->version);
    card->type = d->type;
    card->level = d->feature_level;
    card->model_cache_files = d->model_cache_files;
    card->data_cache_files = d->data_cache_files;
    add_capabilities(&t, &d->capabilities);
    bool fits = !t.failed && t.len < CAPABILITIES_BYTES;
    snprintf(card->capabilities, sizeof card->capabilities, "%s", fits ? t.data : "{}");
    nnv_text_free(&t);
    atomic_store(in->answered, 1);
    nnv_client_close(in->client);
    return NNV_OK;
}

/* --------------------------------------------------------- in the supervisor */

static const char *type_name(int32_t type) {
    switch (type) {
    case ANEURALNETWORKS_DEVICE_CPU:
        return "CPU";
    case ANEURALNETWORKS_DEVICE_GPU:
        return "GPU";
    case ANEURALNETWORKS_DEVICE_ACCELERATOR:
        return "ACCELERATOR";
    case ANEURALNETWORKS_DEVICE_OTHER:
        return "OTHER";
    }
    return "UNKNOWN";
}

/** The options as a NULL-terminated array, or NULL if there are none. */
static const char *const *unpack_options(const char *options, struct nnv_arena *arena, bool *failed) {
    size_t count = 0;
    for (const char *o = options; *o != '\0'; o += strlen(o) + 1) count++;
    if (count == 0) return NULL;
    const char **list = NNV_NEW(arena, const char *, count + 1);
    for (size_t i = 0; list != NULL && i < count; i++, options += strlen(options) + 1) {
        list[i] = nnv_arena_strdup(arena, options);
        *failed = *failed || list[i] == NULL;
    }
    *failed = *failed || list == NULL;
    return (const char *const *)list;
}

static enum nnv_status read_card(struct card *card, struct nnv_arena *arena, struct nnv_driver_info *info,
                                 struct nnv_err *err) {
    card->name[sizeof card->name - 1] = card->version[sizeof card->version - 1] = '\0';
    card->capabilities[CAPABILITIES_BYTES - 1] = '\0';
    card->options[OPTIONS_BYTES - 1] = card->options[OPTIONS_BYTES - 2] = '\0';
    bool failed = false;
    struct nnv_driver_info got = {
        .name = nnv_arena_strdup(arena, card->name),
        .version = nnv_arena_strdup(arena, card->version),
        .type = type_name(card->type),
        .level = card->level,
        .capabilities = nnv_arena_strdup(arena, card->capabilities),
        .options = unpack_options(card->options, arena, &failed),
        .model_cache_files = card->model_cache_files,
        .data_cache_files = card->data_cache_files,
    };
    if (failed || !got.name || !got.version || !got.capabilities) return nnv_no_memory(err);
    *info = got;
    return NNV_OK;
}

enum nnv_status nnv_driver_probe(const char *path, const char *options, uint64_t timeout_ns, struct nnv_arena *arena,
                                 struct nnv_driver_info *info, struct nnv_err *err) {
    struct probed probed = {path, options};
    struct nnv_ask ask = {
        .answer = fill_card, .context = &probed, .bytes = sizeof(struct card), .timeout_ns = timeout_ns};
    *info = (struct nnv_driver_info){0};
    enum nnv_status st = nnv_ask(&ask, err);
    struct card *card = ask.shared;
    if (st == NNV_OK && !ask.complete) {
        st = nnv_fail(err, NNV_INVALID, "driver '%s' %s", path, ask.how);
    } else if (st == NNV_OK) {
        st = read_card(card, arena, info, err);
    } else if (ask.complete) {
        bool failed = false;
        card->options[OPTIONS_BYTES - 1] = card->options[OPTIONS_BYTES - 2] = '\0';
        info->options = unpack_options(card->options, arena, &failed);
    }
    nnv_ask_free(&ask);
    return st;
}
