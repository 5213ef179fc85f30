/* SPDX-License-Identifier: Apache-2.0 */
/** @file told.h What the dumps of a run tell, each and together. */
#ifndef NNV_EXPLAIN_TOLD_H
#define NNV_EXPLAIN_TOLD_H

#include "harness/debug/explain/explain.h"

/** What a dump tells. */
struct nnv_told {
    size_t mistakes;                           /**< that explain it, the nearest first */
    const char *mistake[NNV_FINDINGS];         /**< them, in words */
    const char *op[NNV_FINDINGS];              /**< the operations that make them, or ""; static */
    size_t weaker;                             /**< promises by which it is right */
    const char *right_if[NNV_ARITHMETIC_KEYS]; /**< them, in words; static */
    uint32_t count;                            /**< operations of the model, their codes */
    int32_t *code;
    const enum nnv_element *elements; /**< how they were judged; NULL: they are many */
};

/** Of several dumps. */
struct nnv_told_list {
    struct nnv_told **item;
    size_t count;
};

/** The spec of a dump that holds a driver's answer, and how it is judged; NULL: it can't be explained. */
struct nnv_spec *nnv_told_read(const char *path, struct nnv_arena *arena, enum nnv_precision *precision);
/** Keeps the codes of the model's operations. */
void nnv_told_operations(const struct nnv_spec *spec, struct nnv_arena *kept, struct nnv_told *told);
/** Explains the answer in the spec; kept: for what is told. Takes its work from *left. False: no memory. */
bool nnv_told_explain(const struct nnv_spec *spec, enum nnv_precision precision, uint64_t *left,
                      struct nnv_arena *arena, struct nnv_arena *kept, struct nnv_told *told);
/** True if the mistake explains it. */
bool nnv_told_may_be(const struct nnv_told *told, const char *mistake);
/** True if the promise would do. */
bool nnv_told_would_do(const struct nnv_told *told, const char *promise);
/** True if the models of two dumps have an operation in common. */
bool nnv_told_share_operation(const struct nnv_told *a, const struct nnv_told *b);
/** The dumps that the mistake explains. */
size_t nnv_told_by_mistake(const struct nnv_told_list *l, const char *mistake);
/** The dumps that no mistake explains, but the promise. */
size_t nnv_told_by_promise(const struct nnv_told_list *l, const char *promise);
/** Of the mistakes that explain the dump the one that explains most others; -1: none does. */
int nnv_told_likeliest(const struct nnv_told_list *l, const struct nnv_told *told);
/**
 * True if what is said of the dump, which `says` looks for, explains one in `part` of all that were tried of the same
 * operations: not the odd small one that it fits by chance.
 */
bool nnv_told_is_corroborated(const struct nnv_told_list *l, const struct nnv_told *told, const char *words,
                              bool (*says)(const struct nnv_told *told, const char *words), size_t part);

#endif
