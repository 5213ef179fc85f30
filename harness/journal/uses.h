/* SPDX-License-Identifier: Apache-2.0 */
/** @file uses.h How cases use their operations, and who computed them: sums over a run. */
#ifndef NNV_JOURNAL_USES_H
#define NNV_JOURNAL_USES_H

#include "base/map.h"
#include "harness/journal/line.h"

/** Cases of an operation that agree in one thing: "layout=nchw". */
struct nnv_use {
    uint32_t op;
    const char *words; /**< "layout=nchw" */
    size_t verdicts[NNVTS_VERDICT_COUNT];
    size_t computed; /**< of those that passed: with values compared */
};

/** Zero-initialise, with arenas set. */
struct nnv_uses {
    struct nnv_map map;     /**< values: struct nnv_use, arena's, in the order in which they were met */
    struct nnv_map devices; /**< values: uint64_t, operations that the device has computed */
};

/** Adds a record of a case of operation number op. */
NNV_USE_RESULT enum nnv_status nnv_uses_add(struct nnv_uses *u, uint32_t op, const struct nnv_line *line,
                                            struct nnv_err *err);
static inline const struct nnv_use *nnv_use_at(const struct nnv_uses *u, uint32_t i) {
    return nnv_map_value(&u->map, i);
}
static inline uint64_t nnv_uses_computed(const struct nnv_uses *u, uint32_t device) {
    return *(const uint64_t *)nnv_map_value(&u->devices, device);
}

#endif
