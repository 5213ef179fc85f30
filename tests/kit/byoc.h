/* SPDX-License-Identifier: Apache-2.0 */
/** @file byoc.h Relay text through the partitioning passes, for tests. */
#ifndef KIT_BYOC_H
#define KIT_BYOC_H

#include "compiler/byoc/byoc.h"
#include "tests/kit/test.h"

/** One program and all that belongs to it; byoc_end() frees it. */
struct byoc {
    struct nnv_arena *arena;
    struct nnv_relay_module *m;
    struct nnv_partition partition;
    struct nnv_text json;
    struct nnv_err err;
};

void byoc_end(struct byoc *b);

struct nnv_relay_module *byoc_parse(struct byoc *b, const char *text);

struct byoc byoc_begin(const char *text);

void byoc_merge(struct byoc *b, const char *patterns);

/** Partitions; the result as JSON without blanks and line ends is b->json. */
void byoc_partition(struct byoc *b, const char *supported, const char *prune_text);

/** "nnapi.a(relu,add;2)" for each composite, in evaluation order. */
void byoc_composites(struct byoc *b, const char *wanted);

/** "%0,%1>nnapi;params/outputs" for each region, in evaluation order, then "|" and what stays on the host. */
void byoc_regions(struct byoc *b, const char *wanted);

#endif
