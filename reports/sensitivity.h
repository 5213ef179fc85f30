/* SPDX-License-Identifier: Apache-2.0 */
/** @file sensitivity.h The smallest errors that cases notice, by operation and type, and how that is shown. */
#ifndef NNV_REPORTS_SENSITIVITY_H
#define NNV_REPORTS_SENSITIVITY_H

#include <stdint.h>

#include "base/text.h"

/** Where the error is planted. */
enum nnv_planted_in {
    NNV_PLANTED_ELEMENT, /**< in one element: the one that is judged most leniently */
    NNV_PLANTED_CHANNEL, /**< in all elements of one last index: the channel that is judged most leniently */
    NNV_PLANTED_ALL,     /**< in all elements */
    NNV_PLANTED_IN_COUNT
};

/** One operation with one main type. */
struct nnv_sensitivity {
    const char *op, *type;
    bool is_float;    /**< steps are units in the last place; else units of the type */
    uint32_t cases;   /**< that are judged by a budget, and were tried */
    uint32_t exact;   /**< that must be answered exactly: these notice a step of 1 */
    const char *best; /**< the case that notices least; NULL: none compares values */
    /** The least steps that it notices; 0: none of those that were tried. */
    uint32_t step[NNV_PLANTED_IN_COUNT];
};

struct nnv_sensitivity_table {
    struct nnv_sensitivity *row;
    size_t count;
    double seconds;
};

/** Lines for people, or a page of the documentation. */
void nnv_sensitivity_text(const struct nnv_sensitivity_table *table, bool markdown, struct nnv_text *t);
/** sensitivity.json, and sensitivity.html: a page of its own. */
void nnv_sensitivity_json(const struct nnv_sensitivity_table *table, struct nnv_text *t);
void nnv_sensitivity_html(const struct nnv_sensitivity_table *table, struct nnv_text *t);

#endif
