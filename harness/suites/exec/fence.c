/* SPDX-License-Identifier: Apache-2.0 */
/** @file fence.c Fences that nnvts signals. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness/suites/exec/exec.h"

bool nnv_exec_fence_make(struct nnv_exec *x, enum nnv_exec_fence_kind kind, struct nnv_exec_fence *fence) {
    int ends[2];
    *fence = (struct nnv_exec_fence){-1, -1};
    switch (kind) {
    case NNV_EXEC_EVENT:
        fence->wait = fence->signal = eventfd(0, EFD_CLOEXEC);
        break;
    case NNV_EXEC_BROKEN: /* the writing end of a pipe reports an error when the reading end is closed */
        if (pipe(ends) == 0) *fence = (struct nnv_exec_fence){.wait = ends[1], .signal = ends[0]};
        break;
    }
    return fence->wait >= 0 || nnv_context_error(x->s, "no fence: %s", strerror(errno));
}

void nnv_exec_fence_signal(struct nnv_exec_fence *fence) {
    if (fence->wait == fence->signal) {
        eventfd_write(fence->signal, 1);
        return;
    }
    close(fence->signal);
    fence->signal = -1;
}

void nnv_exec_fence_free(struct nnv_exec_fence *fence) {
    if (fence->signal >= 0 && fence->signal != fence->wait) close(fence->signal);
    if (fence->wait >= 0) close(fence->wait);
    *fence = (struct nnv_exec_fence){-1, -1};
}
