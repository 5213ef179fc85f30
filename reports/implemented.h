/* SPDX-License-Identifier: Apache-2.0 */
/** @file implemented.h Which operations a driver has, for which types: learnt from the cases of a run. */
#ifndef NNV_REPORTS_IMPLEMENTED_H
#define NNV_REPORTS_IMPLEMENTED_H

#include "base/text.h"
#include "harness/journal/load.h"

enum nnv_has {
    NNV_HAS_NOT_ASKED, /**< no case says */
    NNV_HAS_NOT,       /**< it declined all cases that a driver may decline */
    NNV_HAS,           /**< it computed values, right or wrong */
};

struct nnv_implemented {
    enum nnv_has *has;   /**< [operation * types + type], numbers of the report's maps */
    uint32_t types;      /**< of the map */
    uint32_t operations; /**< of which it has some type */
    uint32_t pairs, of;  /**< of operation and type that it has; that it has or has not */
    bool untold;         /**< the driver cannot be asked what it supports: what fails to compile, it has not */
};

/** Free it with nnv_implemented_free(). NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_implemented(const struct nnv_report *r, struct nnv_implemented *out,
                                               struct nnv_err *err);
void nnv_implemented_free(struct nnv_implemented *x);
/**
 * Adds, each between the two texts, what a driver has that cannot be asked, and how many operations the devices
 * computed that it divides models between; of one that can be asked, and divides nothing, nothing.
 */
void nnv_text_add_untold(struct nnv_text *t, const struct nnv_report *r, const char *before, const char *behind);

#endif
