/* SPDX-License-Identifier: Apache-2.0 */
/** @file sequence.h What the operations on sequences share: time-major and batch-major tensors, linked directions. */
#ifndef NNV_OPS_SEQUENCE_H
#define NNV_OPS_SEQUENCE_H

#include "reference/ops/common.h"

/** A tensor of a cell: a slot of one rank, whose generated numbers lie within LIMIT. */
#define NNV_CELL_TENSOR(ID, NAME, RANK, FLAGS, LIMIT)                                                                  \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_T, .flags = FLAGS, .rank_min = RANK, .rank_max = RANK, .lo = -(LIMIT),      \
        .hi = LIMIT                                                                                                    \
    }

/** Factors of all cells. */
#define NNV_CELL_FACTORS                                                                                               \
    {.name = "batch", NNV_VALUES(2, 1, 3, 4), NNV_SIZES(8, 9, 17, 33, 65)},                                            \
        {.name = "input",                                                                                              \
         NNV_VALUES(8, 1, 3, 5, 16),                                                                                   \
         NNV_SIZES(15, 17, 31, 33, 64, 65, 127, 129, 257, 513, 1025),                                                  \
         .large = 8193,                                                                                                \
         .huge = 524289},                                                                                              \
    {                                                                                                                  \
        .name = "units", NNV_VALUES(8, 4, 3, 5, 16), NNV_SIZES(15, 17, 31, 33, 64, 65, 127, 129, 257)                  \
    }
/** Those of sequences; the states as outputs; two directions. */
#define NNV_SEQUENCE_FACTORS                                                                                           \
    {.name = "time", NNV_VALUES(3, 1, 2, 5), NNV_SIZES(16, 17, 33, 64, 65, 100, 129, 200, 257)},                       \
        {.name = "order", NNV_WORDS("time", "batch")}, {                                                               \
        .name = "states", NNV_WORDS("none", "state")                                                                   \
    }
#define NNV_DIRECTION_FACTORS                                                                                          \
    {.name = "outputs", NNV_WORDS("two", "merge")}, { .name = "linking", NNV_WORDS("plain", "parallel", "cross") }

/** The extents of a sequence [time, batch, width], or [batch, time, width]. */
struct nnv_sequence {
    bool known;      /**< which of the two it is */
    bool time_major; /**< where known */
    uint32_t time, batch;
};

/** The order that scalar input id tells (not 0: time-major), with unknown extents. */
struct nnv_sequence nnv_sequence_of(const struct nnv_call *c, int id);
/** As nnv_extent_agree, for tensor input id and the extents of the sequence and *width. */
NNV_USE_RESULT enum nnv_status nnv_sequence_agree(const struct nnv_call *c, int id, struct nnv_sequence *s,
                                                  uint32_t *width, struct nnv_err *err);
/** The shape of a sequence of this width. */
struct nnv_shape nnv_sequence_shape(const struct nnv_sequence *s, uint32_t width);

/** A sequence that a cell walks through, time-major, and where the results go. */
struct nnv_steps {
    struct nnv_sequence seq; /**< the order and extents of the output */
    bool backward;           /**< from the last step to the first */
    const double *x, *aux;   /**< time-major; aux may be NULL */
    double *to;              /**< out: the operation's output */
    size_t row, at;          /**< width of the output, and where in it the results of a step go */
};

/** The real values of tensor input id in time-major order, a row of width for each batch; NULL: out of memory. */
const double *nnv_sequence_steps(struct nnv_kernel *k, int id, const struct nnv_sequence *s, size_t width);
/** Stores the results of step t, [batch, width], where they belong in the output. */
void nnv_sequence_store(const struct nnv_steps *s, uint32_t t, const double *results, size_t width);

/** The ids: auxiliary input, and its weights, of each direction one that tells whether there are any. */
struct nnv_linking_ids {
    int aux, forward, backward;
};
/** NNV_INVALID if one direction alone surely has weights, or both have and there is surely no auxiliary input. */
NNV_USE_RESULT enum nnv_status nnv_linking_check(const struct nnv_call *c, const struct nnv_linking_ids *ids,
                                                 struct nnv_err *err);
/** The width of what direction d (1: backward) reads as its input, as far as the linking is known. */
uint32_t nnv_linked_width(const struct nnv_call *c, const struct nnv_linking_ids *ids, int d, uint32_t input,
                          uint32_t aux);
/** Finds what direction d reads, input x and the auxiliary input, and writes it into *steps. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_linked_steps(struct nnv_kernel *k, int x, const struct nnv_linking_ids *ids, int d,
                                                struct nnv_steps *steps, struct nnv_err *err);

/** The outputs of a bidirectional operation: merged along the last axis, or one a direction; then the states. */
struct nnv_directions {
    bool merge;
    uint32_t width[2]; /**< of the results of the forward and the backward direction */
};
/** NNV_INVALID if scalar input id, where known, does not fit the form: two outputs, or one. */
NNV_USE_RESULT enum nnv_status nnv_merge_check(const struct nnv_call *c, int id, bool merge, struct nnv_err *err);
/** Number of sequence outputs: the states come after them. */
static inline uint32_t nnv_directions_outputs(const struct nnv_directions *d) { return d->merge ? 1 : 2; }
/** Writes the shapes of the sequence outputs; NNV_INVALID if the merged one is too wide. */
NNV_USE_RESULT enum nnv_status nnv_directions_infer(const struct nnv_sequence *s, const struct nnv_directions *d,
                                                    struct nnv_shape *out, struct nnv_err *err);
/** The walk of direction d (1: backward), but for x and aux. */
struct nnv_steps nnv_directions_steps(struct nnv_kernel *k, const struct nnv_sequence *s,
                                      const struct nnv_directions *dirs, int d);

#endif
