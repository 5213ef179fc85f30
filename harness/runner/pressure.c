/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pressure.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"

static void use_processor(void) {
    for (volatile uint64_t n = 0;; n++) continue;
}

static void use_memory(void) {
    const uint64_t most = (uint64_t)2 << 30, page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * page / 4;
    if (bytes > most) bytes = most;
    volatile uint8_t *at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) _exit(1);
    for (;;)
        for (uint64_t i = 0; i < bytes; i += page) at[i]++;
}

static enum nnv_status start(struct nnv_pressure *p, void (*use)(void), struct nnv_err *err) {
    if (p->count == NNV_PRESSURE_PROCESSES) return NNV_OK;
    const pid_t child = nnv_process_fork(); /* what else is a child was left behind by a driver, and is ended */
    if (child < 0) return nnv_fail(err, NNV_IO, "no process for --pressure: %s", strerror(errno));
    if (child == 0) use();
    p->process[p->count++] = child;
    return NNV_OK;
}

enum nnv_status nnv_pressure_begin(struct nnv_pressure *p, const char *kinds, struct nnv_err *err) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    enum nnv_status st = NNV_OK;
    for (const char *k = kinds; k && *k && !st;) {
        const size_t n = strcspn(k, ",");
        if (n == 3 && memcmp(k, "cpu", n) == 0)
            for (long i = 0; i < processors && !st; i++) st = start(p, use_processor, err);
        else if (n == 6 && memcmp(k, "memory", n) == 0)
            st = start(p, use_memory, err);
        else
            st = nnv_fail(err, NNV_INVALID, "--pressure '%.*s': expected cpu, memory, or both", (int)n, k);
        k += n + (k[n] == ',');
    }
    if (st) nnv_pressure_end(p);
    return st;
}

void nnv_pressure_end(struct nnv_pressure *p) {
    struct nnv_end end;
    for (int i = 0; i < p->count; i++) nnv_process_kill(p->process[i]);
    for (int i = 0; i < p->count; i++) nnv_process_wait(p->process[i], 0, &end);
    p->count = 0;
}
