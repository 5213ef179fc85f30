/* SPDX-License-Identifier: Apache-2.0 */
/** @file isolation.c Bugs of what clients share, and of what is left behind. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "faulty.h"

/* ---------------------------------------------------------------------- leaks */

static void keep_file(struct call *c) {
    if (succeeded(c)) (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void keep_file_of_failure(struct call *c) {
    if (!succeeded(c)) (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/** Where the request is well formed, and it is the values that lead nowhere. */
static void keep_file_of_wrong_inputs(struct call *c) {
    const struct nnvts_request *r = c->request;
    bool formed = !was_missed(c);
    for (uint32_t i = 0; i < r->output_count; i++) formed = formed && r->outputs[i].location.pool < r->pool_count;
    if (formed) keep_file_of_failure(c);
}

static void keep_fences(struct call *c) {
    for (uint32_t i = 0; i < c->wait_for_count; i++) (void)!dup(c->wait_for[i]);
}

static void keep_file_of_load(struct call *c) { (void)c, (void)!open("/dev/null", O_RDONLY | O_CLOEXEC); }

static void *wait_for_work(void *arg) {
    for (;;) pause();
    return arg;
}

static void keep_thread(struct call *c) {
    enum { STACK_BYTES = 64 << 10 };
    pthread_attr_t small;
    pthread_t thread;
    if (!succeeded(c)) return;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    if (pthread_create(&thread, &small, wait_for_work, NULL) == 0) pthread_detach(thread);
    pthread_attr_destroy(&small);
}

/** Memory that nothing points to any more. */
static void lose(size_t bytes) {
    static _Atomic(void *) last; /* only the last one can still be found */
    void *lost = malloc(bytes);
    if (lost) memset(lost, 1, bytes);
    atomic_store(&last, lost);
}

static void keep_memory(struct call *c) { (void)c, lose(1024); }

static void keep_late(struct call *c) {
    enum { BEFORE = 100 };
    uint64_t *n = (uint64_t *)state_of(c->prepared);
    if (++*n > BEFORE) lose(64);
}

static void device_keeps_file(struct nnvts_device *device) {
    if (eventfd(0, EFD_CLOEXEC) < 0) device->name = "out of descriptors";
}

static void keep_ring(struct call *c) { (void)c, lose(16 << 10); }

/* --------------------------------------------------------------------- sharing */

enum { SCRATCH_BYTES = 4096 };

/** The value of the first output, kept for all devices of the process: who asks with as much gets it again. */
static void reuse_result(struct call *c) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint8_t scratch[SCRATCH_BYTES];
    static uint32_t kept;
    const struct value *v = c->outputs;
    if (!succeeded(c) || !v->data || v->bytes > SCRATCH_BYTES) return;
    pthread_mutex_lock(&lock);
    if (kept == v->bytes)
        memcpy(v->data, scratch, kept);
    else
        memcpy(scratch, v->data, kept = v->bytes);
    pthread_mutex_unlock(&lock);
}

/** Devices and models that live; what one of them releases is gone for all until another is made. */
static atomic_bool gone;

static void fail_when_gone(struct call *c) {
    if (c->kind == CALL_EXECUTE && atomic_load(&gone)) {
        c->result->shape_count = 0;
        c->status = NNVTS_STATUS_GENERAL_FAILURE;
    }
    if (c->kind == CALL_CLOSE || c->kind == CALL_RELEASE) atomic_store(&gone, true);
    if ((c->kind == CALL_PREPARE || c->kind == CALL_LOAD) && succeeded(c)) atomic_store(&gone, false);
}

static void device_is_there(struct nnvts_device *device) { (void)device, atomic_store(&gone, false); }

static const struct bug bugs[] = {
    BUG("leak-descriptor", "a file that a compilation opens and never closes", "each prepared model", .on = ON(PREPARE),
        .after = keep_file),
    BUG("leak-fence", "copies of the fences that an execution waits for, never closed",
        "fenced executions that wait for something", .on = ON(FENCED), .after = keep_fences),
    BUG("leak-refused-model", "a file that a compilation opens and closes only where it goes well",
        "each model that is refused", .on = ON(PREPARE), .after = keep_file_of_failure),
    BUG("leak-failed-execution", "a file that an execution opens and closes only where it goes well",
        "each execution that fails", .on = ON(EXECUTE), .after = keep_file_of_failure),
    BUG("leak-wrong-inputs", "a file that an execution opens and does not close where it gives up on its inputs",
        "executions whose inputs lead out of a tensor or do not fit each other", .on = ON(EXECUTE),
        .after = keep_file_of_wrong_inputs),
    BUG("leak-cache-load", "a file that is opened for a cache and never closed", "each load of a cache", .on = ON(LOAD),
        .after = keep_file_of_load),
    BUG("leak-thread", "a worker thread that outlives its model", "each prepared model", .on = ON(PREPARE),
        .after = keep_thread),
    BUG("leak-memory", "scratch memory of an execution that is never freed", "each execution", .on = ON(EXECUTE),
        .after = keep_memory),
    BUG("leak-late", "a few bytes of an execution that are never freed",
        "executions behind the hundredth of a prepared model", .on = ON(EXECUTE), .after = keep_late,
        .survives = "no suite executes a model so often: nnvts run --stress tells"),
    BUG("leak-device", "a device that keeps a descriptor when it is released", "each open",
        .device = device_keeps_file),
    BUG("leak-burst", "the queue of a burst that is never freed", "each burst", .on = ON(BURST), .after = keep_ring),
    BUG("shared-scratch", "a result kept in memory that all devices share",
        "executions whose first output is as large as the one before", .tamper = reuse_result),
    BUG("release-device-frees-all", "a device whose release frees what other devices use",
        "executions after a device was released", .on = ON(EXECUTE) | ON(CLOSE), .after = fail_when_gone,
        .device = device_is_there),
    BUG("release-model-frees-all", "a prepared model whose release frees what others use",
        "executions after a prepared model was released", .on = ON(EXECUTE) | ON(PREPARE) | ON(LOAD) | ON(RELEASE),
        .after = fail_when_gone),
};
const struct bug_group bugs_isolation = {bugs, sizeof bugs / sizeof *bugs};
