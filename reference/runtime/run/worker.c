/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/run/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_SECONDS = 2, MOST_IDLE = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static struct nnv_rt_task *first, **last = &first; /* waiting; never more than there are idle threads */
static unsigned idle, waiting;
static pid_t owner; /* of the threads: a forked child has none of them */

/** The next task; NULL if none came for a while. The lock is held. */
static struct nnv_rt_task *next_task(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    idle++;
    while (!first && idle <= MOST_IDLE && pthread_cond_timedwait(&wake, &lock, &until) != ETIMEDOUT) {}
    idle--;
    struct nnv_rt_task *task = first;
    if (!task) return NULL;
    first = task->next;
    if (!first) last = &first;
    waiting--;
    return task;
}

static void *work(void *argument) {
    for (struct nnv_rt_task *task = argument; task;) {
        task->run(task);
        pthread_mutex_lock(&lock);
        task = next_task();
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static bool start_thread(struct nnv_rt_task *task) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const bool started = pthread_create(&thread, &attributes, work, task) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/** In a forked child: there is nobody yet. The lock is held. */
static void begin_anew(void) {
    owner = getpid();
    idle = waiting = 0;
    first = NULL;
    last = &first;
    wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

bool nnv_rt_worker_start(struct nnv_rt_task *task) {
    task->next = NULL;
    pthread_mutex_lock(&lock);
    if (owner != getpid()) begin_anew();
    const bool someone_idle = waiting < idle;
    if (someone_idle) {
        *last = task;
        last = &task->next;
        waiting++;
        pthread_cond_signal(&wake);
    }
    pthread_mutex_unlock(&lock);
    return someone_idle || start_thread(task);
}
