/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file partition.h What the parts of the suite "partition" share: a graph, devices to split it over, and its way
 * through the runtime.
 *
 * Functions that return false have written verdict and reason: the case only has to clean up.
 */
#ifndef NNV_SUITES_PARTITION_H
#define NNV_SUITES_PARTITION_H

#include "base/rng.h"
#include "harness/suites/partition/partial.h"
#include "harness/suites/kit/context.h"
#include "reference/runtime/api/compilation.h"
#include "reference/runtime/api/model/from_spec.h"

enum { NNV_PARTITION_DEVICES = 6 };

struct nnv_partition_case {
    struct nnv_context *s;
    const struct nnv_spec *spec;
    struct nnv_rng rng; /**< of all that is not the graph */
    uint32_t count;     /**< partial devices */
    struct nnv_partial_options options[NNV_PARTITION_DEVICES];
    struct nnvts_device *partial[NNV_PARTITION_DEVICES];
    struct nnv_rt_spec_model built;
    struct ANeuralNetworksDevice *choice[NNV_PARTITION_DEVICES + 1]; /**< what the compilation chooses from */
    uint32_t choices;
    bool explicit_devices; /**< they were named: no fallback */
    bool strict;           /**< they were not, but there is no fallback either: NNVTS_PARTITIONING=strict */
    int32_t preference;
    ANeuralNetworksCompilation *compilation; /**< of the last nnv_partition_compile() */
    enum nnv_mode mode;
    bool from_memory;         /**< arguments are parts of memory objects */
    bool open_outputs;        /**< shapes that the model leaves open stay so */
    uint32_t small;           /**< 1 + the output whose buffer is too small; 0: none */
    uint32_t executions;      /**< so far, of the compilation */
    struct nnv_value *answer; /**< one an output, after an execution that went well */
};

/* ---------------------------------------------------------------------- devices */

/** Draws between one and six devices with different names, levels, shares and prices. */
void nnv_partition_draw_devices(struct nnv_partition_case *p);
/** Opens them, makes the runtime know no others but the CPU, and builds the model. */
bool nnv_partition_begin(struct nnv_partition_case *p);
/** Frees all, and lets the runtime find its own devices again. Adds the devices and the plan to a failure's reason. */
void nnv_partition_end(struct nnv_partition_case *p);
/** The first operation of the main graph that the driver under test supports; false: UNSUPPORTED, there is none. */
bool nnv_partition_supported(struct nnv_partition_case *p, uint32_t *op);
/** Nothing was wrong in what the devices were given, and in what the driver under test answered. */
bool nnv_partition_check_devices(struct nnv_partition_case *p);

/* ------------------------------------------------------------------ compilations */

/** Names the devices (in any order, perhaps without the CPU), or leaves it to the runtime. */
void nnv_partition_choose(struct nnv_partition_case *p, bool explicit_devices, bool with_cpu);
/** A new compilation by these choices, in place of an earlier one; *result is what finish answered. */
bool nnv_partition_compile(struct nnv_partition_case *p, int *result);
/** The plan keeps all rules of plans. */
bool nnv_partition_check_plan(struct nnv_partition_case *p);
/** True if steps of partial device i are in the plan. */
bool nnv_partition_uses(const struct nnv_partition_case *p, uint32_t i);
/** Each device executed as often as the plan says, where that is known. */
bool nnv_partition_check_counts(struct nnv_partition_case *p);

/* -------------------------------------------------------------------- executions */

/** Draws p->mode. */
void nnv_partition_draw_mode(struct nnv_partition_case *p);

/**
 * One execution in the mode of p (reusable, burst: two). *result is the code of the last that was asked for. Guard
 * zones are whole and inputs unchanged, or false.
 */
bool nnv_partition_execute(struct nnv_partition_case *p, int *result);
/** An output that the model leaves open and that has elements, counted from 1; 0: there is none. */
uint32_t nnv_partition_open_output(const struct nnv_partition_case *p);
/** An execution with too small a buffer for that output: OUTPUT_INSUFFICIENT_SIZE, with shapes that are right. */
bool nnv_partition_execute_small(struct nnv_partition_case *p);
/** Shapes and values of the answer are right, within the budget of the whole graph. */
bool nnv_partition_judge(struct nnv_partition_case *p);
/** "FUNCTION answered BAD_DATA, expected NO_ERROR". */
bool nnv_partition_expect(struct nnv_partition_case *p, const char *function, int got, int want);

/* ---------------------------------------------------------------------- failures */

/** A point at which a driver fails. */
struct nnv_partition_failure {
    const char *name;
    enum nnv_partial_fault fault;
    enum nnvts_status status;
    uint32_t variant;
    int code;       /**< ResultCode without fallback; ANEURALNETWORKS_NO_ERROR: the operations go elsewhere */
    bool at_finish; /**< of the compilation, not of the execution */
};
extern const struct nnv_partition_failure nnv_partition_failures[];
extern const size_t nnv_partition_failure_count;
/** With one device that fails so, and others: what is due with fallback and without. */
void nnv_partition_run_failure(struct nnv_partition_case *p, const struct nnv_partition_failure *failure);

#endif
