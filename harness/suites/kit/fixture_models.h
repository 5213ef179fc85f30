/* SPDX-License-Identifier: Apache-2.0 */
/** @file fixture_models.h Small models for suites that test how a driver handles a model, rather than what an operation
 * computes. */
#ifndef NNV_SUITES_FIXTURE_MODELS_H
#define NNV_SUITES_FIXTURE_MODELS_H

#include "reference/model/builder.h"

/** A model, and who asks for it: a driver that supports no float32 is judged by the quantised ones. */
struct nnv_fixture_kind {
    const char *name;      /**< "add_float32": the last part of a case's name */
    const char *op, *type; /**< of its main operation, for selection: "ADD", "float32" */
    /** Adds operands and operations; writes inputs and outputs, and their numbers. */
    void (*describe)(struct nnv_builder *b, uint32_t *in, uint32_t *nin, uint32_t *out, uint32_t *nout);
};

enum { NNV_FIXTURE_MAX_IO = 8 };

/** The models: one operation or a network, float32 or quantised, with and without constants. */
extern const struct nnv_fixture_kind nnv_fixtures[];
extern const size_t nnv_fixture_count;
/** By name, or NULL. */
const struct nnv_fixture_kind *nnv_fixture_by_name(const char *name);
/**
 * A square matrix product of float32, done `times` in a row: work that takes long where it is asked for. Its cost grows
 * with times.
 */
NNV_USE_RESULT enum nnv_status nnv_fixture_work(uint32_t times, struct nnv_arena *arena, struct nnv_spec **spec,
                                                struct nnv_err *err);

/**
 * The model with inputs drawn by seed, and its golden results as expected outputs. Inputs whose extents the model
 * leaves open get 3. All memory is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_fixture_build(const struct nnv_fixture_kind *kind, uint64_t seed,
                                                 struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err);
/** The same, open extents getting `open`. */
NNV_USE_RESULT enum nnv_status nnv_fixture_build_as(const struct nnv_fixture_kind *kind, uint32_t open, uint64_t seed,
                                                    struct nnv_arena *arena, struct nnv_spec **spec,
                                                    struct nnv_err *err);
/** The spec of a model that is made already, likewise; the model's operands are the spec's. */
NNV_USE_RESULT enum nnv_status nnv_fixture_finish(const char *name, uint32_t open, uint64_t seed,
                                                  const struct nnv_model *model, struct nnv_arena *arena,
                                                  struct nnv_spec **spec, struct nnv_err *err);

#endif
