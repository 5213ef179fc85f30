/* SPDX-License-Identifier: Apache-2.0 */
/** @file group.h Joining the buckets that have one cause: the rules of bug.h. */
#ifndef NNV_JOURNAL_CAUSES_GROUP_H
#define NNV_JOURNAL_CAUSES_GROUP_H

#include "harness/journal/causes/bug.h"

/** Grouping the buckets of a report: each points to another of its bug, the first to itself. */
struct nnv_grouping {
    const struct nnv_report *r;
    struct nnv_bugs *bugs;
    struct nnv_map keys; /* of what makes buckets one: the number of the first with it */
    uint32_t *owner;     /* of the key's number: that bucket */
    uint32_t *parent;
    bool *promised;    /* of a first bucket: a weaker promise explains cases of its group */
    const char **kind; /* of a first bucket: the kind of case that alone goes wrong, in several operations; or NULL */
    uint32_t *reasons; /* of a first bucket: how many wordings were joined since they are of one kind; 0: none */
    uint32_t plain; /* a bucket of the group that nothing explains though some of its cases seem to be; NNV_MAP_NONE */
};

/** The first bucket of the group of bucket n. */
uint32_t nnv_group_root(const struct nnv_grouping *g, uint32_t n);
void nnv_group_join(struct nnv_grouping *g, uint32_t a, uint32_t b);
/** No more is known than that values are wrong: any bug may be behind it. */
bool nnv_bucket_is_of_values(const struct nnv_bucket *b);

/** The wording behind the device of a part of a split model, "part-b: ", where it begins with one. */
const char *nnv_beyond_part(const char *text);

/** Joins by what buckets say: their mistake, condition, wording, crash. */
NNV_USE_RESULT enum nnv_status nnv_group_by_keys(struct nnv_grouping *g, struct nnv_err *err);
/** Joins wordings of one kind, where there are several: see families.c. */
NNV_USE_RESULT enum nnv_status nnv_group_families(struct nnv_grouping *g, struct nnv_err *err);
/** Joins what operations share. */
NNV_USE_RESULT enum nnv_status nnv_group_shared(struct nnv_grouping *g, struct nnv_err *err);

#endif
