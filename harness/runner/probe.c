/* SPDX-License-Identifier: Apache-2.0 */
/** @file probe.c What a driver says of itself, told by a process of its own through shared memory. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness/runner/ask.h"
#include "harness/runner/coverage/counters.h"
#include "harness/runner/run.h"

enum { CAPABILITIES_BYTES = 16 << 10, WORDS_BYTES = 64 << 10 };

/** What the process tells; all text is the driver's word. */
struct card {
    char name[256], version[1024];
    int32_t type, level;
    uint32_t model_cache_files, data_cache_files, edges;
    char capabilities[CAPABILITIES_BYTES];
    char options[WORDS_BYTES], faults[WORDS_BYTES],
        libraries[WORDS_BYTES]; /* words, each terminated, an empty one at the end */
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

/** Appends a word to those that are at `to`; false if it does not fit. */
static bool add_word(char *to, size_t *at, const char *word) {
    const size_t n = strlen(word) + 1;
    if (n > 1 && *at + n >= WORDS_BYTES) return false;
    if (n > 1) memcpy(to + *at, word, n);
    *at += n > 1 ? n : 0;
    return true;
}

static void copy_words(const char *const *words, char *to) {
    size_t at = 0;
    for (; words != NULL && *words != NULL; words++)
        if (!add_word(to, &at, *words)) return;
}

/** The lists that a driver's table may be too old to have. */
static void copy_lists(const struct nnvts_driver *d, struct card *card) {
    if (d->struct_size >= offsetof(struct nnvts_driver, options) + sizeof d->options)
        copy_words(d->options, card->options);
    if (d->struct_size >= offsetof(struct nnvts_driver, faults) + sizeof d->faults) copy_words(d->faults, card->faults);
}

/** The objects that this process has loaded; those behind the first `skip` become words. */
struct loaded {
    size_t seen, skip, at;
    char *words; /* NULL: they are only counted */
};

static int see_loaded(struct dl_phdr_info *info, size_t size, void *context) {
    struct loaded *l = context;
    (void)size;
    if (l->seen++ >= l->skip && l->words != NULL && info->dlpi_name[0] == '/')
        add_word(l->words, &l->at, info->dlpi_name);
    return 0;
}

/** Who is probed. */
struct probed {
    const char *path, *options;
};

static enum nnv_status fill_card(struct nnv_answering *in, struct nnv_err *err) {
    const struct probed *p = in->context;
    struct card *card = in->shared;
    struct loaded before = {0};
    *in->phase = NNV_PHASE_OPEN;
    dl_iterate_phdr(see_loaded, &before);
    enum nnv_status st = nnv_client_open(in->client, p->path, p->options, err);
    if (in->client->driver) copy_lists(in->client->driver, card);
    if (st != NNV_OK) return st;
    dl_iterate_phdr(see_loaded, &(struct loaded){.skip = before.seen, .words = card->libraries});
    const struct nnvts_device *d = in->client->device;
    struct nnv_text t = {0};
    snprintf(card->name, sizeof card->name, "%s", d->name);
    snprintf(card->version, sizeof card->version, "%s", d->version);
    card->type = d->type;
    card->level = d->feature_level;
    card->model_cache_files = d->model_cache_files;
    card->data_cache_files = d->data_cache_files;
    card->edges = nnv_coverage_edges();
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

/** The words as a NULL-terminated array, or NULL if there are none. */
static const char *const *unpack(char *words, struct nnv_arena *arena, bool *failed) {
    size_t count = 0;
    words[WORDS_BYTES - 1] = words[WORDS_BYTES - 2] = '\0';
    for (const char *o = words; *o != '\0'; o += strlen(o) + 1) count++;
    if (count == 0) return NULL;
    const char **list = NNV_NEW(arena, const char *, count + 1);
    for (size_t i = 0; list != NULL && i < count; i++, words += strlen(words) + 1) {
        list[i] = nnv_arena_strdup(arena, words);
        *failed = *failed || list[i] == NULL;
    }
    *failed = *failed || list == NULL;
    return (const char *const *)list;
}

static enum nnv_status read_card(struct card *card, struct nnv_arena *arena, struct nnv_driver_info *info,
                                 struct nnv_err *err) {
    card->name[sizeof card->name - 1] = card->version[sizeof card->version - 1] = '\0';
    card->capabilities[CAPABILITIES_BYTES - 1] = '\0';
    bool failed = false;
    struct nnv_driver_info got = {
        .name = nnv_arena_strdup(arena, card->name),
        .version = nnv_arena_strdup(arena, card->version),
        .type = type_name(card->type),
        .level = card->level,
        .capabilities = nnv_arena_strdup(arena, card->capabilities),
        .options = unpack(card->options, arena, &failed),
        .faults = unpack(card->faults, arena, &failed),
        .libraries = unpack(card->libraries, arena, &failed),
        .model_cache_files = card->model_cache_files,
        .data_cache_files = card->data_cache_files,
        .edges = card->edges,
    };
    if (failed || !got.name || !got.version || !got.capabilities) return nnv_no_memory(err);
    *info = got;
    return NNV_OK;
}

struct nnv_probe {
    struct probed who;
    struct nnv_ask ask;
};

enum nnv_status nnv_probe_start(const char *path, const char *options, uint64_t timeout_ns, struct nnv_probe **probe,
                                struct nnv_err *err) {
    struct nnv_probe *p = calloc(1, sizeof *p);
    if (p == NULL) return nnv_no_memory(err);
    p->who = (struct probed){path, options};
    p->ask = (struct nnv_ask){
        .answer = fill_card, .context = &p->who, .bytes = sizeof(struct card), .timeout_ns = timeout_ns};
    const enum nnv_status st = nnv_ask_start(&p->ask, err);
    if (st == NNV_OK)
        *probe = p;
    else
        nnv_probe_free(p);
    return st;
}

enum nnv_status nnv_probe_end(struct nnv_probe *p, struct nnv_arena *arena, struct nnv_driver_info *info,
                              struct nnv_err *err) {
    *info = (struct nnv_driver_info){0};
    enum nnv_status st = nnv_ask_wait(&p->ask, err);
    struct card *card = p->ask.shared;
    if (st == NNV_OK && !p->ask.complete) {
        st = nnv_fail(err, NNV_INVALID, "driver '%s' %s%s", p->who.path, p->ask.how,
                      p->ask.end.timed_out ? ": a longer --timeout lets it open" : "");
    } else if (st == NNV_OK) {
        st = read_card(card, arena, info, err);
    } else if (p->ask.complete) {
        bool failed = false;
        info->options = unpack(card->options, arena, &failed);
    }
    info->left = p->ask.end.left;
    return st;
}

void nnv_probe_free(struct nnv_probe *p) {
    if (p != NULL) nnv_ask_free(&p->ask);
    free(p);
}

enum nnv_status nnv_driver_probe(const char *path, const char *options, uint64_t timeout_ns, struct nnv_arena *arena,
                                 struct nnv_driver_info *info, struct nnv_err *err) {
    struct nnv_probe *probe = NULL;
    *info = (struct nnv_driver_info){0};
    enum nnv_status st = nnv_probe_start(path, options, timeout_ns, &probe, err);
    if (st == NNV_OK) st = nnv_probe_end(probe, arena, info, err);
    nnv_probe_free(probe);
    return st;
}
