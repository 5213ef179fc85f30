/* SPDX-License-Identifier: Apache-2.0 */
/** @file agenda.h What a run has still to do: the cases that are left, and in which company each may run. */
#ifndef NNV_HARNESS_AGENDA_H
#define NNV_HARNESS_AGENDA_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is to become of a case, by its number. */
enum nnv_due {
    NNV_DUE_LEFT,    /**< it has not run, or was lost with a worker */
    NNV_DUE_SUSPECT, /**< it ended in a way that an earlier case may be behind: once more, in a fresh worker */
    NNV_DUE_RETRIED, /**< that run has begun: what happens now is its own */
    NNV_DUE_TIMED,   /**< it measures time: when all others are done, in one worker after the other */
    NNV_DUE_LAST,    /**< nnvts itself was killed while it ran: when all others are done, alone */
    NNV_DUE_DONE,    /**< it has been handed on */
};

/** Zero-initialise but for what nnv_agenda_begin() takes. */
struct nnv_agenda {
    size_t count;
    const unsigned char *lasts; /**< of nnv_agenda_begin() */
    const uint32_t *listed;     /**< the numbers of the cases in the order in which they begin; NULL: 0, 1, 2 ... */
    unsigned char *due;         /**< enum nnv_due */
    uint32_t *order;            /**< of this round: numbers of cases */
    size_t round;               /**< entries of order */
    bool one_each;              /**< a worker runs one case of this round, and ends */
    bool quiet;                 /**< one worker at a time, and nothing else runs */
    bool alone;                 /**< the round is one case, and nothing else runs beside it */
    unsigned last;              /**< it is one of NNV_DUE_LAST, and runs alone for the so manyth time; else 0 */
    bool careful;               /**< suspects run alone: their worker may have harmed the others */
};

/** skip: cases that are done; last: those of NNV_DUE_LAST, with how often each has run
 * alone, from 1; each count entries, or NULL. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_agenda_begin(struct nnv_agenda *a, const bool *skip, const unsigned char *last,
                                                struct nnv_err *err);
void nnv_agenda_free(struct nnv_agenda *a);
/** A case that is left measures time. */
void nnv_agenda_timed(struct nnv_agenda *a, uint32_t index);
/** Makes the next round: suspects, or else what is left, or else what measures time, or else a last one. a->round is 0
 * when all is done. */
void nnv_agenda_next(struct nnv_agenda *a);
/** A case is to run again in a fresh worker; false if that was this run. */
bool nnv_agenda_suspect(struct nnv_agenda *a, uint32_t index);
/** So with all cases among the first `taken` of this round that are not done: one of them did harm to all. */
void nnv_agenda_suspect_taken(struct nnv_agenda *a, size_t taken);
/** The case that the round is about if it is of one case, else count. */
uint32_t nnv_agenda_only(const struct nnv_agenda *a);

static inline bool nnv_agenda_done(const struct nnv_agenda *a, uint32_t index) { return a->due[index] == NNV_DUE_DONE; }

#endif
