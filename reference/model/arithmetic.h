/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arithmetic.h What the maker of an engine promises of its arithmetic, which is what the error budget takes for
 * correct: docs/use/tolerances.md. Zero-initialised it is "strict": each sum and each result as exact as its type.
 */
#ifndef NNV_MODEL_ARITHMETIC_H
#define NNV_MODEL_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "reference/model/scheme.h"

enum { NNV_SCHEME_USES = 20 };
/** How an engine requantises: by one scheme, or by one here and the other there, at places that are not known. */
struct nnv_schemes {
    enum nnv_scheme one, other; /**< NNV_SCHEME_ANY: not known; there is no other */
};

/** An operation whose results of one type are requantised by schemes of their own. */
struct nnv_scheme_use {
    int32_t op, type;
    struct nnv_schemes is;
};

struct nnv_arithmetic {
    bool half_sums;       /**< float16, and float32 of relaxed models, may be summed up in float16 */
    bool wide_steps;      /**< float16, and float32 of relaxed models, is rounded where it is stored and nowhere else */
    bool keep_subnormals; /**< numbers below the smallest normal are kept, never taken for 0 */
    bool saturate;        /**< a fused activation of none clamps to the finite numbers */
    double requantise;    /**< units beyond the nearest that a quantised sum of products may be off */
    struct nnv_schemes schemes; /**< how quantised sums of products are requantised: then requantise says nothing */
    struct nnv_scheme_use use[NNV_SCHEME_USES]; /**< and where that is otherwise */
    uint32_t uses;
    double rescale;   /**< the same where quantised inputs are rescaled, added or averaged */
    double functions; /**< ulps that functions may be off, where their own allowance is smaller */
    double logistic;  /**< what LOGISTIC and TANH of floats may be off beside that */
};

enum { NNV_ARITHMETIC_TEXT = 2048 };

/**
 * Reads "strict", "android" (what AOSP's CPU reference does) and KEY=VALUE, several with commas: what comes later
 * changes what came before. requantise=SCHEME is that of all operations, OPERATION/TYPE=SCHEME that of one;
 * SCHEME+SCHEME: either. NNV_INVALID with what is known.
 */
NNV_USE_RESULT enum nnv_status nnv_arithmetic_parse(const char *text, struct nnv_arithmetic *out, struct nnv_err *err);
/** The shortest text that nnv_arithmetic_parse() makes the same of: two promises are the same if their texts are. */
void nnv_arithmetic_text(const struct nnv_arithmetic *a, char text[NNV_ARITHMETIC_TEXT]);
/** True if something is right by this promise that is wrong by "strict". */
bool nnv_arithmetic_is_weak(const struct nnv_arithmetic *a);
/** The schemes by which results of the type of the operation are requantised. */
struct nnv_schemes nnv_arithmetic_schemes(const struct nnv_arithmetic *a, int32_t op, int32_t type);
/** Sets them. False: there is no room. */
bool nnv_arithmetic_use(struct nnv_arithmetic *a, int32_t op, int32_t type, struct nnv_schemes is);
/**
 * What holds of a graph that others compute a part of, too, or whose operations are said in other words: sums of
 * products are requantised by any scheme. Where a scheme was promised that is not exact, one unit more is right.
 */
struct nnv_arithmetic nnv_arithmetic_of_any_scheme(const struct nnv_arithmetic *a);
/** What nnv_arithmetic_weaker() gives: a promise for each key, and one for the schemes. */
enum { NNV_ARITHMETIC_KEYS = 9 };
/**
 * The i-th promise that is weaker than `from` in one more key: *out, and in words what it promises ("sums are
 * float16"). NULL: no more.
 */
const char *nnv_arithmetic_weaker(const struct nnv_arithmetic *from, size_t i, struct nnv_arithmetic *out);
/** `from` and all that "android" promises beside; false if that is no more. In words NNV_ARITHMETIC_ANDROID_WORDS. */
bool nnv_arithmetic_add_android(const struct nnv_arithmetic *from, struct nnv_arithmetic *out);

#define NNV_ARITHMETIC_ANDROID_WORDS "the arithmetic is android"

#endif
