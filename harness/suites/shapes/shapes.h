/* SPDX-License-Identifier: Apache-2.0 */
/** @file shapes.h Models that leave shapes open, and what the cases of the suite "shapes" do with them. */
#ifndef NNV_SUITES_SHAPES_H
#define NNV_SUITES_SHAPES_H

#include "harness/suites/kit/context.h"

/** Which tensors of the main subgraph lose their shape, and how much of it. */
enum nnv_open {
    NNV_OPEN_INPUTS = 1,
    NNV_OPEN_TEMPORARIES = 2,
    NNV_OPEN_OUTPUTS = 4,
    NNV_OPEN_RANKS = 8, /**< the rank, too, not the extents alone */
};

/**
 * A copy of spec whose model leaves open what `which` (a sum of enum nnv_open) says, its min_version the level that the
 * new model needs. Where the rules ask for a shape it stays. *opened: tensors that are open now. All memory is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_shapes_open(const struct nnv_spec *spec, unsigned which, struct nnv_arena *arena,
                                               struct nnv_spec **out, uint32_t *opened, struct nnv_err *err);

/** What a case has at hand: a prepared model that leaves shapes open, and a request. */
struct nnv_shape_fixture {
    struct nnv_context *s;
    struct nnv_fixture fixture;
    struct nnvts_prepared_model *prepared;
    struct nnv_request values;
    enum nnv_mode mode;
};

static inline uint32_t nnv_shapes_outputs(const struct nnv_shape_fixture *b) {
    return b->fixture.spec->model.main.nout;
}
/**
 * Executes and judges the values. An output of unknown shape is more than some drivers can do; they say so by
 * GENERAL_FAILURE, and write nothing: UNSUPPORTED. False: the case is over.
 */
bool nnv_shapes_execute(struct nnv_shape_fixture *b);
/** The same, but *cannot (false before) tells of GENERAL_FAILURE, and the case is not over. */
bool nnv_shapes_try(struct nnv_shape_fixture *b, bool *cannot);
/** Executes a model that has been executed, as it must if the same model prepared anew does. False: the case is over.
 */
bool nnv_shapes_execute_used(struct nnv_shape_fixture *b);
/** The same, on the inputs of spec. */
bool nnv_shapes_execute_other(const struct nnv_shape_fixture *b, const struct nnv_spec *spec);
/** The results of spec on its inputs, arena's. False where these do not fit the model, or a result has no elements. */
bool nnv_shapes_evaluate(const struct nnv_context *s, const struct nnv_spec *spec, struct nnv_golden **out);

/**
 * A case: the prepared model on its inputs, on inputs of which one extent after the other is another, and on the first
 * again. Nothing of an execution may stick: neither shapes nor what was worked out from them. What the model can't do
 * when it has been executed before, but can when it is prepared anew, is a failure.
 */
void nnv_shapes_regrown(struct nnv_shape_fixture *b);
/** The same, but before each of the others the first inputs are executed once more, with outputs that are too small. */
void nnv_shapes_regrown_short(struct nnv_shape_fixture *b);
/** Executes with outputs that are one byte too small, and does not judge the status. False: the case is over. */
bool nnv_shapes_fall_short(struct nnv_shape_fixture *b);
/**
 * A case: a model whose parameters (begins, sizes, axes, paddings, activations, weights) are inputs is executed with
 * some values of them, in the same memory with others, and with the first again; and likewise with values that give the
 * results other shapes, where the model leaves these open.
 */
void nnv_shapes_parameters(struct nnv_shape_fixture *b);

/* Cases: each of the first outputs in turn is one byte short; all have one byte; all have room for more. */
void nnv_shapes_one_too_small(struct nnv_shape_fixture *b);
void nnv_shapes_all_too_small(struct nnv_shape_fixture *b);
void nnv_shapes_roomy(struct nnv_shape_fixture *b);
/** A case: extents and ranks, of each input and output in turn, that are not the model's or the value's. */
void nnv_shapes_contradictions(struct nnv_shape_fixture *b);

#endif
