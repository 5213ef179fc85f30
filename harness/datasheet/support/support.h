/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file support.h Under which conditions a driver supports an operation: learnt from its own answers, within the
 * process that asks it.
 */
#ifndef NNV_DATASHEET_SUPPORT_H
#define NNV_DATASHEET_SUPPORT_H

#include "harness/judge/judge.h"
#include "reference/model/op.h"

enum { NNV_SUPPORT_TEXT = 2048, NNV_SUPPORT_PROBES = 960, NNV_SUPPORT_CLAIMS = 12, NNV_SUPPORT_FIRST = 420 };

/** What a driver answered when asked whether it supports a model. */
enum nnv_support_answer {
    NNV_SUPPORT_UNKNOWN, /**< not asked yet */
    NNV_SUPPORT_YES,
    NNV_SUPPORT_NO,
    NNV_SUPPORT_NONE,  /**< the model could not be made, or is beyond the driver's feature level */
    NNV_SUPPORT_BROKE, /**< it answered with an error, or broke a rule */
    NNV_SUPPORT_DIED   /**< its process ended, or still waits */
};

/** What became of a model that it claims to support. */
enum nnv_claim {
    NNV_CLAIM_UNKNOWN,
    NNV_CLAIM_RIGHT,
    NNV_CLAIM_WRONG,
    NNV_CLAIM_UNPREPARED,
    NNV_CLAIM_SKIPPED,
    NNV_CLAIM_DIED
};

/** One operation with one combination of types. Plain bytes: it lies in shared memory. */
struct nnv_support {
    /* What was asked. An answer is DIED while it is waited for: where the process ends, the next one goes on behind. */
    uint8_t answer[NNV_SUPPORT_PROBES];
    uint8_t claim[NNV_SUPPORT_CLAIMS];
    uint8_t level[NNV_SUPPORT_FIRST]; /**< the feature level of each model that was asked first; 0: it cannot be made */
    uint32_t first;                   /**< answers to models that every driver is asked about: they can be compared */
    uint32_t asked, yes, no, broke, died; /**< of the answers */
    uint32_t conditions;                  /**< lines of must */
    uint32_t unexplained;                 /**< refusals that no condition explains */
    char must[NNV_SUPPORT_TEXT];          /**< what must be so, a condition a line */
    /** The conditions on models that they were not learnt from: said and answered yes, and so on. */
    uint32_t yes_yes, yes_no, no_yes, no_no;
    uint32_t claimed, right, wrong, unprepared; /**< models that it claims to support, and what became of them */
    char trouble[256];                          /**< the first that went wrong */
};

/** What the process that asks works with. Zero-initialise the rest. */
struct nnv_support_asking {
    struct nnv_client *client;
    const struct nnv_arithmetic *arithmetic;
    uint64_t seed;
    volatile uint32_t *phase;
    _Atomic uint32_t *serial; /**< counts answers */
};

/** Asks all that is still unknown, learns, and fills *s. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_support_learn(const struct nnv_support_asking *x, const struct nnv_op *op, int sig,
                                                 struct nnv_support *s, struct nnv_err *err);

#endif
