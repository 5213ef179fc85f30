/* SPDX-License-Identifier: Apache-2.0 */
/** @file answers.h What a driver, and the golden reference, answer for every item of a dataset. */
#ifndef NNV_BENCH_ANSWERS_H
#define NNV_BENCH_ANSWERS_H

#include "harness/bench/measure.h"
#include "mlts/data/dataset.h"

/** The outputs of all items: as many bytes an item, output after output, in the operands' types. */
struct nnv_bench_answers {
    uint32_t items, outputs;
    const struct nnv_value *shape; /**< one an output: dims and bytes; no data */
    size_t item_bytes;
    size_t *offset; /**< of each output within an item */
    uint8_t *data;  /**< items * item_bytes; shared memory: nnv_answers_free() */
    /* how it went */
    enum nnv_bench_state state;
    char reason[NNV_BENCH_REASON];
};

/** Output `out` of an item. */
static inline const uint8_t *nnv_answer(const struct nnv_bench_answers *a, uint32_t item, uint32_t out) {
    return a->data + item * a->item_bytes + a->offset[out];
}

/**
 * The golden answers, by `jobs` processes. Every item must give outputs of the same shape. NNV_INVALID names an item
 * that can't be read or evaluated. progress may be NULL.
 */
NNV_USE_RESULT enum nnv_status nnv_answers_golden(const struct nnv_network *net, const struct nnv_dataset *d,
                                                  unsigned jobs, void (*progress)(void *context, double part),
                                                  void *context, struct nnv_arena *arena, struct nnv_bench_answers *out,
                                                  struct nnv_err *err);
/**
 * A driver's answers, of the shapes that `golden` has, from a process of its own. What the driver does wrong is state
 * and reason. NNV_INVALID: the driver can't be opened. options: path, options, timeout_ns, preference and progress
 * count.
 */
NNV_USE_RESULT enum nnv_status nnv_answers_driver(const struct nnv_network *net, const struct nnv_dataset *d,
                                                  const struct nnv_bench_options *options,
                                                  const struct nnv_bench_answers *golden, struct nnv_arena *arena,
                                                  struct nnv_bench_answers *out, struct nnv_err *err);
void nnv_answers_free(struct nnv_bench_answers *a);

/**
 * The largest distance between elements of an answer and of golden's, in stored numbers: real ones for floats, units
 * for quantised types. One that is NaN alone is infinitely far.
 */
double nnv_answer_error(int32_t type, const void *golden, const void *answer, size_t bytes);

#endif
