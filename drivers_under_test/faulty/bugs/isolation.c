/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_isolation.c Bugs of what clients share, and of what is left behind. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "faulty.h"

/* ---------------------------------------------------------------------- leaks */

static enum nnvts_status prepare_keeps_file(const struct nnvts_model *model, enum nnvts_status status) {
    (void)model;
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    return status;
}

static void *wait_for_work(void *arg) {
    for (;;) pause();
    return arg;
}

static enum nnvts_status prepare_keeps_thread(const struct nnvts_model *model, enum nnvts_status status) {
    enum { STACK_BYTES = 64 << 10 };
    pthread_attr_t small;
    pthread_t thread;
    (void)model;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    if (pthread_create(&thread, &small, wait_for_work, NULL) == 0) pthread_detach(thread);
    pthread_attr_destroy(&small);
    return status;
}

/** Memory that nothing points to any more. */
static void lose(size_t bytes) {
    static _Atomic(void *) last; /* only the last one can still be found */
    void *lost = malloc(bytes);
    if (lost) memset(lost, 1, bytes);
    atomic_store(&last, lost);
}

static enum nnvts_status execute_keeps_memory(struct tamper *t, enum nnvts_status status) {
    (void)t;
    lose(1024);
    return status;
}

static void device_keeps_file(struct nnvts_device *device) {
    if (eventfd(0, EFD_CLOEXEC) < 0) device->name = "out of descriptors";
}

static enum nnvts_status create_keeping_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out) {
    enum { RING_BYTES = 16 << 10 };
    struct nnvts_prepared_model *inner = faulty_inner(self);
    lose(RING_BYTES);
    return inner->create_burst(inner, out);
}

static void keeping_bursts(struct nnvts_prepared_model *prepared) {
    if (prepared->create_burst) prepared->create_burst = create_keeping_burst;
}

/* --------------------------------------------------------------------- sharing */

enum { SCRATCH_BYTES = 4096 };

/** The value of the first output, kept for all devices of the process: who asks with as much gets it again. */
static enum nnvts_status execute_from_scratch(struct tamper *t, enum nnvts_status status) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint8_t scratch[SCRATCH_BYTES];
    static uint32_t kept;
    const struct tamper_value *v = t->outputs;
    if (status != NNVTS_STATUS_NONE || !v->data || v->bytes > SCRATCH_BYTES) return status;
    pthread_mutex_lock(&lock);
    if (kept == v->bytes)
        memcpy(v->data, scratch, kept);
    else
        memcpy(scratch, v->data, kept = v->bytes);
    pthread_mutex_unlock(&lock);
    return status;
}

/** Devices and models that live; what one of them releases is gone for all until another is made. */
static atomic_bool gone;

static enum nnvts_status execute_unless_gone(struct tamper *t, enum nnvts_status status) {
    t->result->shape_count = atomic_load(&gone) ? 0 : t->result->shape_count;
    return atomic_load(&gone) ? NNVTS_STATUS_GENERAL_FAILURE : status;
}

static void (*release_device)(struct nnvts_device *);

static void release_for_all_devices(struct nnvts_device *device) {
    atomic_store(&gone, true);
    release_device(device);
}

static void device_releases_others(struct nnvts_device *device) {
    release_device = device->release;
    device->release = release_for_all_devices;
    atomic_store(&gone, false);
}

static void (*release_prepared)(struct nnvts_prepared_model *);

static void release_for_all_models(struct nnvts_prepared_model *prepared) {
    atomic_store(&gone, true);
    release_prepared(prepared);
}

static void model_releases_others(struct nnvts_prepared_model *prepared) {
    release_prepared = prepared->release;
    prepared->release = release_for_all_models;
    atomic_store(&gone, false);
}

static const struct bug bugs[] = {
    BUG("leak-descriptor", "a file that a compilation opens and never closes", "each prepared model",
        .prepare = prepare_keeps_file),
    BUG("leak-thread", "a worker thread that outlives its model", "each prepared model",
        .prepare = prepare_keeps_thread),
    BUG("leak-memory", "scratch memory of an execution that is never freed", "each execution",
        .execute = execute_keeps_memory),
    BUG("leak-device", "a device that keeps a descriptor when it is released", "each open",
        .device = device_keeps_file),
    BUG("leak-burst", "the queue of a burst that is never freed", "each burst", .prepared = keeping_bursts),
    BUG("shared-scratch", "a result kept in memory that all devices share",
        "executions whose first output is as large as the one before", .execute = execute_from_scratch),
    BUG("release-device-frees-all", "a device whose release frees what other devices use",
        "executions after a device was released", .execute = execute_unless_gone, .device = device_releases_others),
    BUG("release-model-frees-all", "a prepared model whose release frees what others use",
        "executions after a prepared model was released", .execute = execute_unless_gone,
        .prepared = model_releases_others),
};
const struct bug_group bugs_isolation = {bugs, sizeof bugs / sizeof *bugs};
