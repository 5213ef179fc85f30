/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/signals.h"

#include <errno.h>
#include <stddef.h>

static const int taken[NNV_SIGNALS] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGXFSZ};

/* A handler has no argument of its own. */
static struct nnv_hub *volatile hub;
static volatile sig_atomic_t interrupts;

static void on_signal(int number) {
    int saved = errno;
    if (number != SIGCHLD) interrupts = interrupts + 1;
    if (hub != NULL) nnv_hub_notify(hub);
    errno = saved;
}

void nnv_signals_take(struct nnv_signals *s, struct nnv_hub *h) {
    struct sigaction now;
    sigaction(SIGCHLD, NULL, &now);
    if (now.sa_handler != on_signal) interrupts = 0;
    s->hub = hub;
    hub = h;
    for (int i = 0; i < NNV_SIGNALS; i++) {
        struct sigaction a = {.sa_handler = taken[i] == SIGXFSZ ? SIG_IGN : on_signal, .sa_flags = SA_RESTART};
        sigemptyset(&a.sa_mask);
        sigaction(taken[i], NULL, &s->before[i]);
        if (s->before[i].sa_handler != SIG_IGN || taken[i] == SIGCHLD) sigaction(taken[i], &a, NULL);
    }
}

void nnv_signals_give_back(const struct nnv_signals *s) {
    for (int i = 0; i < NNV_SIGNALS; i++) sigaction(taken[i], &s->before[i], NULL);
    hub = s->hub;
}

int nnv_signals_interrupts(void) { return interrupts; }
