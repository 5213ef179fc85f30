/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file networks.h A run of harvested cases, weighted by how often the networks that they are of have them. An
 * operation is what its own case says; one that is right alone is wrong where a group that it belongs to goes wrong and
 * all its operations are right alone.
 */
#ifndef NNV_REPORTS_NETWORKS_H
#define NNV_REPORTS_NETWORKS_H

#include "base/text.h"
#include "harness/journal/causes/bug.h"

/** Operations of networks, counted as often as they occur. */
struct nnv_weighed {
    uint32_t operations, right, wrong, unsupported; /**< the rest was not judged */
};

struct nnv_weighed_network {
    const char *name; /**< the report's */
    struct nnv_weighed all;
    uint32_t first; /**< of its operations among all */
};

/** What a bug, or all bad cases, make wrong. */
struct nnv_touched {
    uint32_t networks, operations;
};

/** Zero-initialise. */
struct nnv_networks {
    struct nnv_weighed_network *item;
    uint32_t count; /**< 0: the cases are of no networks */
    struct nnv_weighed all;
    struct nnv_touched touched; /**< by all that went wrong */
    unsigned char *state;       /**< private, with all below: of each operation */
    struct nnv_place *place;    /**< where a case stands */
    size_t places, room;
};

/** The networks that the first line of the journal tells of. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_networks_of(const struct nnv_report *r, struct nnv_networks *out,
                                               struct nnv_err *err);
void nnv_networks_free(struct nnv_networks *n);
/** What bug number `bug` touches. */
struct nnv_touched nnv_networks_touched(const struct nnv_networks *n, const struct nnv_bugs *bugs, uint32_t bug);
/** Adds "31 % of the networks, 4 % of their operations" between before and behind; nothing of nothing. */
void nnv_text_add_touched(struct nnv_text *t, const struct nnv_networks *n, struct nnv_touched touched,
                          const char *before, const char *behind);
/** Adds "2, of 61 operations 95 % right, 5 % wrong, 0 % not supported, 0 % not judged; what is wrong touches ...", the
 * same way. */
void nnv_text_add_networks(struct nnv_text *t, const struct nnv_networks *n, const char *before, const char *behind);

#endif
