/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file partial.h Partial devices: the driver under test behind a device of its own name, level and price that takes
 * some operations and leaves others. It notes what it is given that it must not be given, what the driver under test
 * answers that it must not answer, and fails where it is told to.
 */
#ifndef NNV_SUITES_PARTIAL_H
#define NNV_SUITES_PARTIAL_H

#include <stdbool.h>

#include "nnvts/driver.h"

/** Where a device fails. */
enum nnv_partial_fault {
    NNV_PARTIAL_FINE,
    NNV_PARTIAL_SUPPORTED, /**< get_supported_operations answers `status` */
    NNV_PARTIAL_UNFILLED,  /**< get_supported_operations answers NONE and writes nothing */
    NNV_PARTIAL_PREPARE,   /**< prepare_model answers `status` */
    NNV_PARTIAL_NOTHING,   /**< prepare_model answers NONE without a prepared model */
    NNV_PARTIAL_EXECUTE,   /**< executions answer `status` */
    NNV_PARTIAL_LATE,      /**< the same, but the driver under test has written its outputs */
    NNV_PARTIAL_NONSENSE,  /**< executions answer OUTPUT_INSUFFICIENT_SIZE with shapes that can't be, by `variant` */
    NNV_PARTIAL_DIES       /**< DEAD_OBJECT from the first execution on, whatever is asked */
};
enum { NNV_PARTIAL_NONSENSE_VARIANTS = 5 };

/** Which operations a device takes: by a hash of their signature, so that the same use is always answered alike. */
enum nnv_partial_share {
    NNV_PARTIAL_ONE,  /**< each signature belongs to one of the devices, or to none */
    NNV_PARTIAL_SOME, /**< to any number of them */
    NNV_PARTIAL_ALL,  /**< every device takes everything */
};

struct nnv_partial_options {
    struct nnvts_device *inner; /**< the driver under test; borrowed */
    const char *name;           /**< borrowed */
    int32_t level;              /**< 1 to the driver's */
    uint64_t seed;              /**< of shares and prices */
    enum nnv_partial_share share;
    uint32_t index, count; /**< among the devices that share */
    double unit;           /**< prices lie around it; 0: all are exactly 1, as the CPU's */
    bool plain;            /**< has the executions of HAL 1.0 alone */
    bool no_control;       /**< takes no IF and no WHILE */
    bool takes_first;      /**< takes the signature `first`, whoever it belongs to */
    uint64_t first;
    enum nnv_partial_fault fault;
    enum nnvts_status status;
    uint32_t variant;
};

/** What a device has been asked so far. */
struct nnv_partial_counts {
    uint32_t supported, prepared, executed;
};

/** The device, to be released by its release; NULL: out of memory. */
struct nnvts_device *nnv_partial_make(const struct nnv_partial_options *options);
/** The device is one of these. */
bool nnv_partial_is(const struct nnvts_device *device);
struct nnv_partial_counts nnv_partial_counts(const struct nnvts_device *device);
/** The driver under test did not say what an output needs, or how large it is, and need not: then nobody knows. */
bool nnv_partial_untold(const struct nnvts_device *device);
/**
 * The first thing that was wrong, "" if nothing; failures that it was told to make are not. *by_driver (may be NULL):
 * the driver under test did it, and not who called.
 */
const char *nnv_partial_complaint(const struct nnvts_device *device, bool *by_driver);
/**
 * Hash of what a use of an operation looks like, and a driver may go by: code; types, shapes, scales and zero points of
 * its operands, and which are constants; values of scalars.
 */
uint64_t nnv_partial_signature(const struct nnvts_model *model, const struct nnvts_subgraph *graph,
                               const struct nnvts_operation *op);
/** What it answered when it was asked for such an operation: 1 yes, 0 no, -1: it was not asked. */
int nnv_partial_said(const struct nnvts_device *device, uint64_t signature);

#endif
