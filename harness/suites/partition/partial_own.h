/* SPDX-License-Identifier: Apache-2.0 */
/** @file partial_own.h What the two halves of partial devices share: the device, and wrapping what it prepares. */
#ifndef NNV_SUITES_PARTIAL_OWN_H
#define NNV_SUITES_PARTIAL_OWN_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "harness/suites/partition/partial.h"

enum { NNV_PARTIAL_TYPES = 32, NNV_PARTIAL_ANSWERS = 1024 };

struct nnv_partial {
    struct nnvts_device base;
    struct nnv_partial_options options;
    struct nnvts_operand_performance performance[NNV_PARTIAL_TYPES];
    atomic_uint supported, prepared, executed;
    atomic_bool dead;
    atomic_bool untold;   /**< the driver did not say what an output needs, or how large it is, and need not */
    pthread_mutex_t lock; /**< guards what follows */
    struct nnv_arena *arena;
    char complaint[512];
    bool by_driver;
    struct nnv_partial_answer {
        uint64_t signature;
        bool asked, yes;
    } answers[NNV_PARTIAL_ANSWERS]; /**< open addressing */
};

/** Notes the first thing that is wrong. */
void nnv_partial_complain(struct nnv_partial *p, bool by_driver, const char *fmt, ...) NNV_PRINTF(3, 4);
/** The driver under test answered `call` otherwise than with NONE: in its own words, too, where it has any. */
void nnv_partial_complain_of_answer(struct nnv_partial *p, const char *call, enum nnvts_status st);
/** The prepared model behind one that checks requests, counts, and fails where it is told to. */
enum nnvts_status nnv_partial_wrap(struct nnv_partial *p, const struct nnvts_model *model,
                                   struct nnvts_prepared_model *inner, struct nnvts_prepared_model **out);

#endif
