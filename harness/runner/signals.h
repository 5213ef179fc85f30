/* SPDX-License-Identifier: Apache-2.0 */
/** @file signals.h Signals that the supervisor receives: children that end, and requests to stop. */
#ifndef NNV_HARNESS_SIGNALS_H
#define NNV_HARNESS_SIGNALS_H

#include <signal.h>

#include "harness/runner/worker/channel.h"

enum { NNV_SIGNALS = 5 };

/** The dispositions before the run. */
struct nnv_signals {
    struct sigaction before[NNV_SIGNALS];
    struct nnv_hub *hub;
};

/**
 * From now on SIGCHLD, SIGINT, SIGTERM and SIGHUP wake the supervisor that sleeps on hub (NULL: only count; those that
 * the process ignores stay ignored), and a write beyond the file size limit is an error instead of the end. May be
 * nested: what was asked for outside is not forgotten inside.
 */
void nnv_signals_take(struct nnv_signals *s, struct nnv_hub *hub);
/** Restores what was before. */
void nnv_signals_give_back(const struct nnv_signals *s);
/** How often the user asked to stop since nnv_signals_take(), the outermost one. */
int nnv_signals_interrupts(void);

#endif
