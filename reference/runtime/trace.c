/* SPDX-License-Identifier: Apache-2.0 */
/** @file trace.c The Chrome trace: an array of complete events, one a line, in the file that NNVTS_TRACE names. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "reference/runtime/log.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;  /* NULL: no trace */
static pid_t owner; /* a forked child does not write into its parent's file */

/* The closing bracket of the array; the file is one even without it, as the format allows. */
static void end_file(void) {
    pthread_mutex_lock(&lock);
    if (file && getpid() == owner) {
        fputs("\n]\n", file);
        fclose(file);
    }
    file = NULL;
    pthread_mutex_unlock(&lock);
}

static void open_file(void) {
    const char *path = getenv("NNVTS_TRACE");
    if (!path || !*path) return;
    file = fopen(path, "we");
    if (!file) {
        nnv_rt_error(0, "NNVTS_TRACE", "cannot write %s", path);
        return;
    }
    owner = getpid();
    fputc('[', file);
    atexit(end_file);
}

uint64_t nnv_rt_trace_begin(void) {
    pthread_once(&once, open_file);
    return file ? nnv_now_ns() : 0;
}

static void write_slice(uint64_t begin, uint64_t duration, enum nnv_rt_layer layer, const char *phase,
                        const char *name) {
    static const char *const layers[] = {
        [NNV_RT_TRACE_APPLICATION] = "application",
        [NNV_RT_TRACE_RUNTIME] = "runtime",
        [NNV_RT_TRACE_DRIVER] = "driver",
        [NNV_RT_TRACE_DEVICE] = "device",
    };
    static bool more;
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"ph\":\"X\",\"name\":");
    nnv_text_add_json(&t, name);
    nnv_text_addf(&t, ",\"cat\":\"%s\",\"ts\":%llu.%03u,\"dur\":%llu.%03u,\"pid\":%d,\"tid\":%ld,\"args\":{\"phase\":",
                  layers[layer], (unsigned long long)(begin / 1000), (unsigned)(begin % 1000),
                  (unsigned long long)(duration / 1000), (unsigned)(duration % 1000), (int)owner,
                  layer == NNV_RT_TRACE_DEVICE ? 0 : (long)syscall(SYS_gettid));
    nnv_text_add_json(&t, phase);
    nnv_text_add(&t, "}}");
    pthread_mutex_lock(&lock);
    if (file && !t.failed && getpid() == owner) {
        fprintf(file, "%s\n%s", more ? "," : "", t.data);
        more = true;
    }
    pthread_mutex_unlock(&lock);
    nnv_text_free(&t);
}

void nnv_rt_trace_end(uint64_t since, enum nnv_rt_layer layer, const char *phase, const char *name) {
    if (!since) return;
    uint64_t now = nnv_now_ns();
    write_slice(since, now > since ? now - since : 0, layer, phase, name);
}

void nnv_rt_trace_slice(uint64_t duration_ns, enum nnv_rt_layer layer, const char *phase, const char *name) {
    uint64_t now = nnv_rt_trace_begin();
    if (!now) return;
    if (duration_ns > now) duration_ns = now;
    write_slice(now - duration_ns, duration_ns, layer, phase, name);
}
