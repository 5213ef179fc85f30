/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fusion.h Chains of operations that backends fuse, each drawn on purpose.
 *
 * The table of chains (fusion.def) is crossed with types and with who reads the value in the middle: a backend that
 * fuses where it must not, or loses one of two operations, is wrong in the case that is named by chain and consumers.
 */
#ifndef NNV_RANDGRAPH_FUSION_FUSION_H
#define NNV_RANDGRAPH_FUSION_FUSION_H

#include "reference/model/op.h"

/** Who reads a value between two operations of the chain. */
enum nnv_consumers {
    NNV_CONSUMERS_ONE,     /**< the next operation alone */
    NNV_CONSUMERS_SEVERAL, /**< another operation, too */
    NNV_CONSUMERS_OUTPUT,  /**< it is an output of the model, too */
    /** The next one alone, but the chain stands twice: both have the same constants, or some that differ in one number.
     */
    NNV_CONSUMERS_SHARED,
    NNV_CONSUMERS_COUNT
};
/** "one", "several", "output", "shared". */
const char *nnv_consumers_name(enum nnv_consumers c);

enum { NNV_FUSION_STEPS = 4, NNV_FUSION_TYPES = 4 };

/** A way through a row of the table. */
struct nnv_fusion_chain {
    int step[NNV_FUSION_STEPS];  /**< numbers of steps, private to this folder */
    int fused[NNV_FUSION_STEPS]; /**< the FuseCode that the step's operation has; negative: as the step draws it */
    int count;
    char name[80];    /**< "pad+conv+relu" */
    const char *main; /**< name of an operation that it is about, for selection */
};

/** The types of the value that a chain begins with: float32, float16, quant8_asymm, quant8_asymm_signed. */
extern const int32_t nnv_fusion_types[NNV_FUSION_TYPES];
/** Chains of the table. */
size_t nnv_fusion_chains(void);
/** Chain `index` of the table. */
void nnv_fusion_chain_of(size_t index, struct nnv_fusion_chain *chain);
/** True if all operations of the chain exist for what they get where it begins with the type. */
bool nnv_fusion_takes(const struct nnv_fusion_chain *chain, int32_t type);

/** What names a case: the same members give the same bytes. */
struct nnv_fusion {
    const struct nnv_fusion_chain *chain;
    int32_t type;
    enum nnv_consumers consumers;
    uint64_t seed, index;
    const char *name; /**< of the spec; borrowed */
};
/** A valid spec with golden results; all of it is arena's. NNV_INTERNAL: the chain can't be built so. */
NNV_USE_RESULT enum nnv_status nnv_fusion_build(const struct nnv_fusion *what, struct nnv_arena *arena,
                                                struct nnv_spec **spec, struct nnv_err *err);

#endif
