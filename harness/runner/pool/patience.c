/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/patience.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/client/driver.h"
#include "harness/journal/verdict.h"

enum { MOST_HANGS = 3 };

/** How often cases of this operation have hung in this phase, with this one; 0 when out of memory. */
static unsigned count_hang(struct nnv_patience *p, const char *op, enum nnv_phase phase) {
    char key[128];
    snprintf(key, sizeof key, "%.64s in %s", op, nnv_phase_name(phase));
    const uint32_t i = nnv_map_add(&p->hangs, key);
    if (i == NNV_MAP_NONE) return 0;
    if (i >= p->room) {
        const size_t room = p->room == 0 ? 64 : 2 * p->room;
        unsigned char *grown = realloc(p->count, room);
        if (grown == NULL) return 0;
        for (size_t k = p->room; k < room; k++) grown[k] = 0;
        p->count = grown;
        p->room = room;
    }
    if (p->count[i] < MOST_HANGS) p->count[i]++;
    snprintf(p->reason, sizeof p->reason, "%u cases of %s did not end", p->count[i], key);
    return p->count[i];
}

enum nnv_patience_end nnv_patience_take(struct nnv_patience *p, const struct nnv_case *c, const struct nnv_ended *e) {
    if (!nnv_verdict_bad(e->verdict)) return NNV_PATIENCE_LEFT;
    const bool hung = e->verdict == NNVTS_TIMEOUT;
    p->failures++;
    p->timeouts += hung;
    if (p->max_timeouts > 0 && hung && p->timeouts >= p->max_timeouts) {
        snprintf(p->reason, sizeof p->reason, "%" PRIu64 " cases did not end: as many as --max-timeouts allows",
                 p->timeouts);
        return NNV_PATIENCE_RUN;
    }
    if (p->max_failures > 0 && p->failures >= p->max_failures) {
        snprintf(p->reason, sizeof p->reason, "%" PRIu64 " cases went wrong: as many as --max-failures allows",
                 p->failures);
        return NNV_PATIENCE_RUN;
    }
    if (!hung || *c->op == '\0') return NNV_PATIENCE_LEFT;
    return count_hang(p, c->op, (enum nnv_phase)e->phase) >= MOST_HANGS ? NNV_PATIENCE_OPERATION : NNV_PATIENCE_LEFT;
}

void nnv_patience_free(struct nnv_patience *p) {
    nnv_map_free(&p->hangs);
    free(p->count);
}
