/* SPDX-License-Identifier: Apache-2.0 */
/** @file jobs.c Executions on a thread of their own: asynchronous ones, and those that wait for fences. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "driver.h"

/** One execution. Its thread is joined by the next launch on the device, or when the device is released. */
struct cpu_job {
    struct cpu_job *next;
    struct cpu_device *device;
    pthread_t thread;
    bool ended; /**< guarded by device->lock: the thread can be joined at once */
    struct cpu_program *program;
    struct cpu_binding binding;
    struct nnvts_execution_config config;
    uint64_t started_ns;
    struct nnvts_execution_result result;
    struct nnvts_output_shape *shapes;
    nnvts_execute_callback callback;
    void *context;
    struct fence *fence; /**< NULL: asynchronous */
};

/** What the holder of a fenced execution and its thread share; the last of the two frees it. */
struct fence {
    pthread_mutex_t lock;
    pthread_cond_t signalled;
    uint32_t holders;
    bool done;
    int event;
    struct nnvts_fenced_result result;
    uint64_t duration_ns;
    uint32_t wait_count;
    int waits[]; /**< duplicates of the fences to wait for */
};

static void job_free(struct cpu_job *job) {
    if (!job) return;
    cpu_binding_free(&job->binding);
    free(job->shapes);
    free(job);
}

/** Takes the jobs whose threads have ended, or all of them, off the list. */
static struct cpu_job *take_jobs(struct cpu_device *device, bool all) {
    struct cpu_job *taken = NULL;
    pthread_mutex_lock(&device->lock);
    for (struct cpu_job **at = &device->jobs; *at;) {
        struct cpu_job *job = *at;
        if (!all && !job->ended) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job->next = taken;
        taken = job;
    }
    pthread_mutex_unlock(&device->lock);
    return taken;
}

static void join(struct cpu_job *jobs) {
    while (jobs) {
        struct cpu_job *next = jobs->next;
        pthread_join(jobs->thread, NULL);
        free(jobs);
        jobs = next;
    }
}

void cpu_jobs_join(struct cpu_device *device) { join(take_jobs(device, true)); }

/** The last thing a job's thread does. */
static void job_end(struct cpu_job *job) {
    pthread_mutex_lock(&job->device->lock);
    job->ended = true;
    pthread_mutex_unlock(&job->device->lock);
}

/** Room for the shapes of all outputs. */
static bool give_shapes(struct cpu_job *job) {
    const uint32_t count = job->program->model.out_count;
    job->shapes = calloc((size_t)count + 1, sizeof *job->shapes + CPU_MAX_RANK * sizeof(uint32_t));
    if (!job->shapes) return false;
    uint32_t *dims = (uint32_t *)(job->shapes + count);
    for (uint32_t i = 0; i < count; i++)
        job->shapes[i] =
            (struct nnvts_output_shape){.dimension_count = CPU_MAX_RANK, .dimensions = dims + i * CPU_MAX_RANK};
    job->result.shapes = job->shapes;
    return true;
}

/** A job with a checked request; not started. */
static enum nnvts_status job_make(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                  const struct nnvts_execution_config *config, struct cpu_job **out) {
    struct cpu_prepared *prepared = (struct cpu_prepared *)self;
    struct cpu_job *job = calloc(1, sizeof *job);
    if (!job) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    job->started_ns = cpu_now_ns();
    job->device = prepared->device;
    job->program = &prepared->program;
    job->config = config ? *config : (struct nnvts_execution_config){NNVTS_NO_TIME, NNVTS_NO_TIME, false};
    enum nnvts_status st = cpu_binding_make(job->program, request, NULL, NULL, &job->binding);
    if (st == NNVTS_STATUS_NONE && !give_shapes(job)) st = NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (st == NNVTS_STATUS_NONE && job->config.deadline_ns <= job->started_ns)
        st = NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    if (st != NNVTS_STATUS_NONE) {
        job_free(job);
        return st;
    }
    *out = job;
    return NNVTS_STATUS_NONE;
}

/** Starts the thread; on failure the job is still the caller's. */
static bool job_start(struct cpu_job *job, void *(*thread)(void *)) {
    struct cpu_device *device = job->device;
    join(take_jobs(device, false));
    pthread_mutex_lock(&device->lock); /* the thread can't end before it is on the list */
    const bool started = pthread_create(&job->thread, NULL, thread, job) == 0;
    if (started) {
        job->next = device->jobs;
        device->jobs = job;
    }
    pthread_mutex_unlock(&device->lock);
    return started;
}

/** Unmaps before anyone is told that the execution has ended: the prepared model may be released then. */
static void forget_request(struct cpu_job *job) { cpu_binding_free(&job->binding); }

/* --------------------------------------------------------------- asynchronous */

static void *run_async(void *arg) {
    struct cpu_job *job = arg;
    enum nnvts_status st = cpu_execute(job->program, &job->binding, &job->config, job->started_ns, &job->result);
    forget_request(job);
    job->callback(job->context, st, &job->result);
    free(job->shapes);
    job->shapes = NULL;
    job_end(job);
    return NULL;
}

enum nnvts_status cpu_prepared_execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                             const struct nnvts_execution_config *config,
                                             nnvts_execute_callback callback, void *context) {
    struct cpu_job *job = NULL;
    if (!callback) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = job_make(self, request, config, &job);
    if (st != NNVTS_STATUS_NONE) return st;
    job->callback = callback;
    job->context = context;
    if (job_start(job, run_async)) return NNVTS_STATUS_NONE;
    job_free(job);
    return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* --------------------------------------------------------------------- fenced */

static void close_waits(struct fence *f) {
    for (uint32_t i = 0; i < f->wait_count; i++) close(f->waits[i]);
    f->wait_count = 0;
}

static void fence_drop(struct fence *f) {
    pthread_mutex_lock(&f->lock);
    const bool last = --f->holders == 0;
    pthread_mutex_unlock(&f->lock);
    if (!last) return;
    close_waits(f);
    if (f->event >= 0) close(f->event);
    pthread_cond_destroy(&f->signalled);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static struct fence *fence_make(const int *wait_for, uint32_t count, uint64_t duration_ns) {
    struct fence *f = calloc(1, sizeof *f + count * sizeof *f->waits);
    if (!f) return NULL;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->signalled, NULL);
    f->holders = 1;
    f->duration_ns = duration_ns;
    f->event = eventfd(0, EFD_CLOEXEC);
    bool ok = f->event >= 0;
    for (uint32_t i = 0; i < count && ok; i++) {
        const int copy = fcntl(wait_for[i], F_DUPFD_CLOEXEC, 0);
        ok = copy >= 0;
        if (ok) f->waits[f->wait_count++] = copy;
    }
    if (ok) return f;
    fence_drop(f);
    return NULL;
}

/** Until the descriptor can be read; false if it reports an error, or the deadline passes first (*late). */
static bool wait_for_fence(int fd, uint64_t deadline_ns, bool *late) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        int timeout_ms = -1;
        if (deadline_ns != NNVTS_NO_TIME) {
            const uint64_t now = cpu_now_ns(), left_ms = now < deadline_ns ? (deadline_ns - now) / 1000000 + 1 : 0;
            *late = left_ms == 0;
            if (*late) return false;
            timeout_ms = left_ms < 60000 ? (int)left_ms : 60000;
        }
        const int n = poll(&p, 1, timeout_ms);
        if (n > 0) return (p.revents & POLLIN) && !(p.revents & (POLLERR | POLLNVAL));
        if (n < 0 && errno != EINTR) return false; /* a signal ends a wait, not the fence */
    }
}

static enum nnvts_status run_behind_fences(struct cpu_job *job, uint64_t *fenced_ns) {
    struct fence *f = job->fence;
    bool late = false;
    for (uint32_t i = 0; i < f->wait_count; i++)
        if (!wait_for_fence(f->waits[i], job->config.deadline_ns, &late))
            return late ? NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT : NNVTS_STATUS_GENERAL_FAILURE;
    *fenced_ns = cpu_now_ns();
    struct nnvts_execution_config config = job->config;
    const uint64_t end_ns = f->duration_ns < NNVTS_NO_TIME - *fenced_ns ? *fenced_ns + f->duration_ns : NNVTS_NO_TIME;
    if (end_ns < config.deadline_ns) config.deadline_ns = end_ns;
    return cpu_execute(job->program, &job->binding, &config, *fenced_ns, &job->result);
}

static void *run_fenced(void *arg) {
    struct cpu_job *job = arg;
    struct fence *f = job->fence;
    uint64_t fenced_ns = job->started_ns;
    enum nnvts_status st = run_behind_fences(job, &fenced_ns);
    const struct nnvts_timing fenced = job->result.timing;
    struct nnvts_timing launched = fenced;
    if (fenced.in_driver_ns != NNVTS_NO_TIME) launched.in_driver_ns = cpu_now_ns() - job->started_ns;
    forget_request(job);
    free(job->shapes);
    job->shapes = NULL;
    pthread_mutex_lock(&f->lock);
    f->done = true;
    f->result = (struct nnvts_fenced_result){.status = st, .launched = launched, .fenced = fenced};
    pthread_cond_broadcast(&f->signalled);
    eventfd_write(f->event, 1);
    pthread_mutex_unlock(&f->lock);
    fence_drop(f);
    job_end(job);
    return NULL;
}

static enum nnvts_status fence_result(void *context, struct nnvts_fenced_result *result) {
    struct fence *f = context;
    if (!result) return NNVTS_STATUS_INVALID_ARGUMENT;
    pthread_mutex_lock(&f->lock);
    while (!f->done) pthread_cond_wait(&f->signalled, &f->lock);
    *result = f->result;
    pthread_mutex_unlock(&f->lock);
    return NNVTS_STATUS_NONE;
}

static void fence_release(void *context) {
    struct fence *f = context;
    pthread_mutex_lock(&f->lock);
    while (!f->done) pthread_cond_wait(&f->signalled, &f->lock);
    pthread_mutex_unlock(&f->lock);
    fence_drop(f);
}

static bool fences_open(const int *wait_for, uint32_t count) {
    if (count && !wait_for) return false;
    for (uint32_t i = 0; i < count; i++)
        if (wait_for[i] < 0 || fcntl(wait_for[i], F_GETFD) < 0) return false;
    return true;
}

enum nnvts_status cpu_prepared_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                              const int *wait_for, uint32_t wait_for_count,
                                              const struct nnvts_execution_config *config, uint64_t duration_ns,
                                              struct nnvts_fenced_execution *out) {
    struct cpu_job *job = NULL;
    if (!out || !fences_open(wait_for, wait_for_count)) return NNVTS_STATUS_INVALID_ARGUMENT;
    enum nnvts_status st = job_make(self, request, config, &job);
    if (st != NNVTS_STATUS_NONE) return st;
    if (!cpu_binding_outputs_known(job->program, &job->binding)) {
        job_free(job);
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    struct fence *f = fence_make(wait_for, wait_for_count, duration_ns);
    if (!f) {
        job_free(job);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    job->fence = f;
    f->holders = 2;
    if (!job_start(job, run_fenced)) {
        f->holders = 1;
        fence_drop(f);
        job_free(job);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    *out = (struct nnvts_fenced_execution){
        .sync_fence = f->event, .context = f, .get_result = fence_result, .release = fence_release};
    return NNVTS_STATUS_NONE;
}
