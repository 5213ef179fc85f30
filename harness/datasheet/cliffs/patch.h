/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file patch.h Patches of a result that is too large to be computed as a whole: a stretch of it along one axis is the
 * result of a small model, whose inputs are stretches, too.
 *
 * Which stretch of which tensor belongs to one is no table by operation: it follows from the shapes of two models that
 * differ in one extent. Whether results depend on nothing else is no belief: it is verified against whole results.
 */
#ifndef NNV_DATASHEET_PATCH_H
#define NNV_DATASHEET_PATCH_H

#include "harness/judge/judge.h"
#include "reference/model/op.h"

enum { NNV_PATCH_OPERANDS = 2 * NNV_MAX_SLOTS, NNV_PATCHES = 64 };

/** An operand that grows: its extent along axis is step * units + what is over. */
struct nnv_patch_operand {
    bool grows;
    uint8_t axis;
    uint32_t step;
};

/** How the operands of a model of one operation grow along one of its axes, in units that all steps are multiples of.
 */
struct nnv_patch_rule {
    uint32_t unit; /**< the operand that has as many units as extents */
    struct nnv_patch_operand operand[NNV_PATCH_OPERANDS];
    uint32_t halo; /**< units on either side, that a patch is larger than what is compared of it */
};

/** So many units from `from` to `to`, of which those from `first` to `last` are compared. */
struct nnv_patch {
    uint32_t from, to, first, last;
};

/**
 * Learns the rule from two models of the same use, of which b has a longer axis. False: there is none, since no output
 * grows, or operands grow along several axes, or unevenly. The halo is 0.
 */
bool nnv_patch_learn(const struct nnv_spec *a, const struct nnv_spec *b, struct nnv_patch_rule *rule);
/** How many units the model has. */
uint32_t nnv_patch_units(const struct nnv_patch_rule *rule, const struct nnv_spec *spec);
/**
 * Chooses patches, in rising order: the first and the last, those where the index of a unit or of an element passes a
 * power of two, and some drawn from the seed. Returns how many; 0: the model is not larger than a few of them.
 */
uint32_t nnv_patch_choose(const struct nnv_patch_rule *rule, const struct nnv_spec *spec, uint64_t seed,
                          struct nnv_patch patches[NNV_PATCHES]);
/**
 * The small model of a patch, with its golden outputs. base: a model with fewer units by the same rule. Numbers that
 * say an extent (a shape, a count of groups) grow with it: they are between those of base and spec. NNV_INVALID: the
 * operation does not take it, NNV_NO_MEMORY.
 */
NNV_USE_RESULT enum nnv_status nnv_patch_make(const struct nnv_patch_rule *rule, const struct nnv_spec *base,
                                              const struct nnv_spec *spec, const struct nnv_patch *patch,
                                              struct nnv_arena *arena, struct nnv_spec **out, struct nnv_err *err);
/**
 * Judges outputs of the whole model by patches of it, by the error budget, up to the first that is wrong, which is
 * *wrong then (may be NULL). Returns how many elements were compared. env needs an arena.
 */
size_t nnv_patch_judge(struct nnv_case_env *env, const struct nnv_patch_rule *rule, const struct nnv_spec *base,
                       const struct nnv_spec *spec, const struct nnv_value *outputs, uint64_t seed,
                       struct nnv_patch *wrong, struct nnv_result *result);
/**
 * Finds the halo with which patches of models, of which the golden outputs are known, are the same elements of these.
 * False: with none; results depend on more.
 */
bool nnv_patch_verify(struct nnv_case_env *env, struct nnv_patch_rule *rule, const struct nnv_spec *base,
                      const struct nnv_spec *spec, uint64_t seed);

#endif
