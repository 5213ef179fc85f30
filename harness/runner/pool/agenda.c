/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/pool/agenda.h"

#include <stdlib.h>

enum nnv_status nnv_agenda_begin(struct nnv_agenda *a, const bool *skip, const unsigned char *last,
                                 struct nnv_err *err) {
    a->order = calloc(a->count, sizeof *a->order);
    a->due = calloc(a->count, sizeof *a->due);
    if (a->order == NULL || a->due == NULL) return nnv_no_memory(err);
    a->lasts = last;
    for (size_t i = 0; i < a->count; i++)
        a->due[i] = skip != NULL && skip[i] ? NNV_DUE_DONE : last != NULL && last[i] > 0 ? NNV_DUE_LAST : NNV_DUE_LEFT;
    return NNV_OK;
}

void nnv_agenda_free(struct nnv_agenda *a) {
    free(a->order);
    free(a->due);
}

/** Makes a round of the cases that are due so or so, in their order, at most `most`. */
static void take(struct nnv_agenda *a, enum nnv_due one, enum nnv_due other, size_t most) {
    a->round = 0;
    for (size_t k = 0; k < a->count && a->round < most; k++) {
        const uint32_t i = a->listed != NULL ? a->listed[k] : (uint32_t)k;
        if (a->due[i] == one || a->due[i] == other) a->order[a->round++] = i;
    }
}

void nnv_agenda_timed(struct nnv_agenda *a, uint32_t index) {
    if (a->due[index] == NNV_DUE_LEFT) a->due[index] = NNV_DUE_TIMED;
}

void nnv_agenda_next(struct nnv_agenda *a) {
    a->quiet = false;
    take(a, NNV_DUE_SUSPECT, NNV_DUE_RETRIED, a->careful ? 1 : a->count);
    a->one_each = a->round > 0;
    a->alone = a->round > 0 && a->careful;
    a->last = 0;
    for (size_t i = 0; i < a->round; i++) a->due[a->order[i]] = NNV_DUE_RETRIED;
    if (a->round == 0) take(a, NNV_DUE_LEFT, NNV_DUE_LEFT, a->count);
    if (a->round > 0) return;
    take(a, NNV_DUE_TIMED, NNV_DUE_TIMED, a->count);
    a->quiet = a->round > 0;
    if (a->quiet) a->careful = true; /* suspects of this round are to be alone, too */
    if (a->round > 0) return;
    take(a, NNV_DUE_LAST, NNV_DUE_LAST, 1);
    a->one_each = a->alone = a->round > 0;
    if (a->alone) a->last = a->lasts[a->order[0]];
}

bool nnv_agenda_suspect(struct nnv_agenda *a, uint32_t index) {
    if (a->due[index] == NNV_DUE_RETRIED) return false;
    a->due[index] = NNV_DUE_SUSPECT;
    return true;
}

void nnv_agenda_suspect_taken(struct nnv_agenda *a, size_t taken) {
    for (size_t k = 0; k < a->round && k < taken; k++)
        if (a->due[a->order[k]] == NNV_DUE_LEFT || a->due[a->order[k]] == NNV_DUE_TIMED)
            a->due[a->order[k]] = NNV_DUE_SUSPECT;
    a->careful = true;
}

uint32_t nnv_agenda_only(const struct nnv_agenda *a) { return a->alone ? a->order[0] : (uint32_t)a->count; }
