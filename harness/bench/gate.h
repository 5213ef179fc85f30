/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gate.h Is a driver slower than another? The statistics: pure functions of times, without processes or clocks.
 *
 * Times come in blocks. In each block three fresh processes run: the driver under test, the one it is compared with,
 * and the latter once more, as a control. Which process plays which part, and the order within each round, are drawn
 * from the seed. So if the first two drivers do not differ, their names could as well be exchanged in any block, and
 * the sign of a block's log-ratio is a fair coin, whatever the machine did: drift, spikes, dependence, luck in where a
 * process lies in memory. That is all that the signed rank test asks for; its looks share the false alarms allowed.
 */
#ifndef NNV_BENCH_GATE_H
#define NNV_BENCH_GATE_H

#include <stdint.h>

#include "base/stats.h"

enum nnv_gate_part { NNV_GATE_TESTED, NNV_GATE_AGAINST, NNV_GATE_CONTROL, NNV_GATE_PARTS };
enum nnv_gate_quantile { NNV_GATE_P50, NNV_GATE_P90, NNV_GATE_P99, NNV_GATE_QUANTILES };
extern const double nnv_gate_quantiles[NNV_GATE_QUANTILES];

enum {
    NNV_GATE_ROUNDS = 8,   /**< of a block: pairs */
    NNV_GATE_BURST = 50,   /**< timed executions of a part in a round, at most */
    NNV_GATE_BLOCKS = 256, /**< at most */
    NNV_GATE_FEWEST = 16,  /**< blocks: with fewer no test could say anything */
    NNV_GATE_LOOKS = 3,    /**< after a quarter, half and all of the blocks */
};

struct nnv_gate_options {
    uint32_t blocks; /**< NNV_GATE_FEWEST to NNV_GATE_BLOCKS, at most */
    double margin;   /**< log of a ratio: what is not slower than this is no slowdown */
    double detect;   /**< log of a ratio: a slowdown that must not be missed */
    double alarms;   /**< false alarms, at most: 0.01 */
    uint64_t seed;
};

/** Times of one block, ns: burst executions of each part in each round. */
struct nnv_gate_times {
    uint32_t burst;
    double ns[NNV_GATE_PARTS][NNV_GATE_ROUNDS][NNV_GATE_BURST];
};

/** What is kept of a block. Ratios are logarithms: above 0 is slower. */
struct nnv_gate_block {
    double ratio[NNV_GATE_QUANTILES];   /**< tested by against */
    double control[NNV_GATE_QUANTILES]; /**< control by against */
    double yardstick_ns; /**< lower decile of a fixed piece of work: the processor's speed; 0: not known */
};

/** Which process, in the order of starting, plays which part in the block: part[process]. */
void nnv_gate_roles(uint64_t seed, uint32_t block, enum nnv_gate_part part[NNV_GATE_PARTS]);
/** The order of the parts in a round. */
void nnv_gate_order(uint64_t seed, uint32_t block, uint32_t round, enum nnv_gate_part order[NNV_GATE_PARTS]);
/** Makes a block of its times: for the median pair by pair, so that drift within the block cancels. */
void nnv_gate_block_make(const struct nnv_gate_times *t, struct nnv_gate_block *block);

enum nnv_gate_verdict {
    NNV_GATE_GO_ON,
    NNV_GATE_PASS,    /**< with confidence not slower by `detect` */
    NNV_GATE_SLOWER,  /**< with confidence slower than `margin` */
    NNV_GATE_INVALID, /**< the machine is too noisy to say */
    NNV_GATE_VERDICTS
};
/** "pass", "slower", "invalid"; "go on". */
const char *nnv_gate_verdict_name(enum nnv_gate_verdict v);

/** What the blocks so far say. Ratios as factors, intervals at 99 %. */
struct nnv_gate_answer {
    enum nnv_gate_verdict verdict;
    char why[192]; /**< of INVALID: what about the machine */
    double p;      /**< of the test for a slowdown above the margin */
    double limit;  /**< p may be this at this look */
    double control_p;
    double ratio[NNV_GATE_QUANTILES];
    struct nnv_interval interval[NNV_GATE_QUANTILES];
    double control;
    struct nnv_interval control_interval;
    double detectable; /**< the smallest slowdown that so many blocks like these show in nine of ten runs; a factor */
    double speed;      /**< how much the processor's speed changed: p90 by p10 of the yardsticks; 1: not known */
};

/**
 * Looks at n > 0 blocks; steal: the share of processor time that other machines took in the meantime. GO_ON where n is
 * no look, or says nothing yet and is not the last.
 */
void nnv_gate_look(const struct nnv_gate_block *blocks, uint32_t n, const struct nnv_gate_options *o, double steal,
                   struct nnv_gate_answer *answer);
/** What n blocks, perhaps none, say where no more will come and no look was due: INVALID. */
void nnv_gate_end_early(const struct nnv_gate_block *blocks, uint32_t n, const struct nnv_gate_options *o, double steal,
                        struct nnv_gate_answer *answer);
/** True if nnv_gate_look() decides after n of o->blocks blocks. */
bool nnv_gate_is_look(uint32_t n, const struct nnv_gate_options *o);

#endif
