/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/run/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "reference/runtime/log.h"

enum { LEVEL_DEADLINES = 4 };

/* -------------------------------------------------------------------- token */

static void add_number(struct nnv_sha256 *h, uint64_t v) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(v >> 8 * i);
    nnv_sha256_add(h, bytes, sizeof bytes);
}

/** With its length in front, so that where one ends and the next begins is a part of the sum. */
static void add_bytes(struct nnv_sha256 *h, const void *data, size_t n) {
    add_number(h, n);
    nnv_sha256_add(h, data, n);
}

void nnv_rt_cache_token(const struct nnv_rt_plan *plan, uint32_t graph, const struct nnv_rt_step *step,
                        const struct nnv_rt_prepare_options *options, uint8_t token[static NNVTS_CACHE_TOKEN_BYTES]) {
    struct nnv_sha256 h;
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, options->token, NNVTS_CACHE_TOKEN_BYTES);
    add_bytes(&h, step->device->name, strlen(step->device->name));
    add_bytes(&h, step->device->version, strlen(step->device->version));
    add_number(&h, (uint32_t)options->preference);
    add_number(&h, (uint32_t)options->priority);
    add_number(&h, options->attribute_count);
    for (uint32_t i = 0; i < options->attribute_count; i++) {
        const struct nnv_rt_attribute *a = &options->attributes[i];
        add_bytes(&h, a->extension, strlen(a->extension));
        add_number(&h, a->code);
        add_bytes(&h, a->data, a->length);
    }
    if (!plan->simple) {
        add_number(&h, graph);
        add_number(&h, step->operation_count);
        for (uint32_t i = 0; i < step->operation_count; i++) add_number(&h, step->operations[i]);
    }
    nnv_sha256_end(&h, token);
}

/* -------------------------------------------------------------------- files */

/** The open files of a step. */
struct files {
    int fds[2 * NNVTS_MAX_CACHE_FILES];
    uint32_t count;
    bool borrowed;
    struct nnvts_cache cache;
};

static void files_close(struct files *f) {
    for (uint32_t i = 0; i < f->count && !f->borrowed; i++) close(f->fds[i]);
    f->count = 0;
}

/** DIR/, two letters for each byte of the token, 1 or 2 for model or data, the file's number. malloc'ed. */
static char *file_name(const char *dir, const uint8_t *token, bool is_data, uint32_t index) {
    char letters[2 * NNVTS_CACHE_TOKEN_BYTES + 1] = {0}, *name = NULL;
    size_t n = strlen(dir);
    for (uint32_t i = 0; i < NNVTS_CACHE_TOKEN_BYTES; i++) {
        letters[2 * i] = (char)('A' + (token[i] & 15));
        letters[2 * i + 1] = (char)('A' + (token[i] >> 4));
    }
    const char *slash = n > 0 && dir[n - 1] == '/' ? "" : "/";
    return asprintf(&name, "%s%s%s%c%u", dir, slash, letters, is_data ? '2' : '1', index) < 0 ? NULL : name;
}

/** Opens the files of a device under f->cache.token; false where one cannot be had. */
static bool files_open(struct files *f, const struct nnvts_device *device, const struct nnv_rt_prepare_options *options,
                       bool create) {
    uint32_t models = device->model_cache_files, all = models + device->data_cache_files;
    files_close(f);
    f->borrowed = options->cache_dir == NULL;
    for (uint32_t i = 0; i < all; i++) {
        if (f->borrowed) {
            f->fds[i] = options->cache_fds[i];
        } else {
            char *name = file_name(options->cache_dir, f->cache.token, i >= models, i < models ? i : i - models);
            f->fds[i] = name == NULL ? -1 : open(name, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
            free(name);
        }
        if (f->fds[i] < 0) {
            files_close(f);
            return false;
        }
        f->count++;
    }
    f->cache.model_fds = f->fds;
    f->cache.model_fd_count = models;
    f->cache.data_fds = f->fds + models;
    f->cache.data_fd_count = device->data_cache_files;
    return true;
}

/** True if a step of the device is to be kept in files. */
static bool wants_cache(const struct nnvts_device *d, const struct nnv_rt_prepare_options *options) {
    return options->token != NULL && (options->cache_dir != NULL || options->cache_fds != NULL) &&
           d->model_cache_files <= NNVTS_MAX_CACHE_FILES && d->data_cache_files <= NNVTS_MAX_CACHE_FILES &&
           d->model_cache_files + d->data_cache_files > 0;
}

/* ------------------------------------------------------------------ prepare */

/** From the cache's files (config NULL) or from the model. A driver that answers NONE without a model has failed. */
static int prepare(struct nnv_rt_step *step, const struct nnvts_prepare_config *config, const struct files *f,
                   uint64_t deadline_ns) {
    struct nnvts_device *driver = step->device->driver;
    struct nnvts_prepared_model *prepared = NULL;
    uint64_t since = nnv_rt_trace_begin();
    enum nnvts_status status = config ? driver->prepare_model(driver, &step->model, config, &prepared)
                                      : driver->prepare_from_cache(driver, &f->cache, deadline_ns, &prepared);
    nnv_rt_trace_end(since, NNV_RT_TRACE_DRIVER, "compilation", config ? "prepare_model" : "prepare_from_cache");
    nnv_rt_device_note(step->device, status);
    int result = nnv_rt_result(status);
    if (status == NNVTS_STATUS_NONE && prepared == NULL) result = ANEURALNETWORKS_OP_FAILED;
    if (result == ANEURALNETWORKS_NO_ERROR) step->prepared = prepared;
    nnv_rt_vlog(NNV_RT_LOG_COMPILATION, "%s: a step of %u operations %s: result %d", step->device->name,
                step->operation_count, config ? "prepared" : "from the cache", result);
    return result;
}

int nnv_rt_prepare_step(const struct nnv_rt_plan *plan, uint32_t graph, struct nnv_rt_step *step,
                        const struct nnv_rt_prepare_options *options) {
    const struct nnvts_device *driver = step->device->driver;
    struct nnvts_prepare_config config = {
        .preference = (uint32_t)options->preference, .priority = NNVTS_PRIORITY_MEDIUM, .deadline_ns = NNVTS_NO_TIME};
    struct files files = {0};
    if (options->deadline_ns != NNVTS_NO_TIME && nnv_now_ns() >= options->deadline_ns)
        return ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT;
    if (nnv_rt_device_has_level(step->device, LEVEL_DEADLINES)) {
        config.deadline_ns = options->deadline_ns;
        config.priority = options->priority <= ANEURALNETWORKS_PRIORITY_LOW    ? NNVTS_PRIORITY_LOW
                          : options->priority >= ANEURALNETWORKS_PRIORITY_HIGH ? NNVTS_PRIORITY_HIGH
                                                                               : NNVTS_PRIORITY_MEDIUM;
    }
    int result = ANEURALNETWORKS_OP_FAILED;
    if (wants_cache(driver, options)) {
        nnv_rt_cache_token(plan, graph, step, options, files.cache.token);
        if (driver->prepare_from_cache != NULL && files_open(&files, driver, options, false))
            result = prepare(step, NULL, &files, config.deadline_ns);
        if (result != ANEURALNETWORKS_NO_ERROR && files_open(&files, driver, options, true))
            config.cache = &files.cache;
    }
    if (result != ANEURALNETWORKS_NO_ERROR) result = prepare(step, &config, &files, config.deadline_ns);
    files_close(&files);
    return result;
}
