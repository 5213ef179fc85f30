/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file frame.h A subgraph that is being evaluated: its operands' values in all rows. Between the evaluator's files
 * eval.c, frame.c and flow.c only.
 */
#ifndef NNV_EVAL_FRAME_H
#define NNV_EVAL_FRAME_H

#include "reference/eval/eval.h"
#include "reference/eval/rows.h"

/** The value of an operand in all rows. */
struct nnv_cell {
    double *rows;                    /**< stored numbers of rows 0 to n, where they are not all equal */
    void *data;                      /**< of an intermediate or output: row 0 in the operand's type; owned */
    double *exact;                   /**< of an output: unrounded results, see nnv_golden; owned; NULL: as data */
    const double *spread;            /**< of an output of main that nothing else reads, instead of rows; arena's */
    const struct nnv_source *source; /**< of an output of main: what its indices point at; arena's */
    bool borrowed;                   /**< rows belongs to another frame */
    uint32_t readers;                /**< operations that will still read it */
};

/** Arrays have one entry an operand. */
struct nnv_frame {
    const struct nnv_subgraph *s;
    uint64_t key; /**< of the noise of relaxed constants: 0 for main, 1 + i for referenced subgraph i */
    struct nnv_shape *shapes;
    const void **data;
    bool *present;
    struct nnv_cell *cells;
};

struct nnv_evaluator {
    const struct nnv_model *model;
    const struct nnv_eval_options *options;
    struct nnv_arena *results; /**< the caller's */
    struct nnv_arena *op;      /**< emptied after each operation */
    struct nnv_arena *scratch; /**< emptied after each row */
    double *space;             /**< doubles of the inputs of the operation */
    size_t space_room;
    int choices;      /**< the most tied numbers that a kernel chose from */
    uint64_t counter; /**< of executed operations: key of the noise */
    uint64_t runs;    /**< of referenced subgraphs */
    bool open;        /**< a decision was, see nnv_decide */
    bool half;        /**< options->half of the operation */
};

/** Numbers (8 bytes) that one operation may need: a bound on the memory that a hostile model can ask for. */
#define NNV_MOST_NUMBERS ((size_t)1 << 29)

/** An empty frame for s; arrays are arena's. Close it even after a failure. */
NNV_USE_RESULT enum nnv_status nnv_frame_open(struct nnv_frame *f, const struct nnv_subgraph *s, uint64_t key,
                                              struct nnv_arena *arena, struct nnv_err *err);
void nnv_frame_close(struct nnv_frame *f);
/** True if the operand is an output of the frame's subgraph. */
bool nnv_frame_is_output(const struct nnv_frame *f, uint32_t operand);
/** Forgets the value of an operand, but not its readers. */
void nnv_frame_free_cell(struct nnv_frame *f, uint32_t operand);
/** An operation that read these inputs is done: frees what is not read again. */
void nnv_frame_release(struct nnv_frame *f, const struct nnv_operation *o);
/** The actual shape s must be what the model declares. */
NNV_USE_RESULT enum nnv_status nnv_frame_check_shape(const struct nnv_shape *declared, const struct nnv_shape *s,
                                                     struct nnv_err *err);
/**
 * In a relaxed model float32 constants, and the inputs of the main subgraph, may be rounded to float16 before they are
 * used: gives them rows.
 */
NNV_USE_RESULT enum nnv_status nnv_frame_relax(const struct nnv_evaluator *ev, struct nnv_frame *f,
                                               struct nnv_err *err);
/** Executes the operations of the frame's subgraph; its inputs stand in the frame. */
NNV_USE_RESULT enum nnv_status nnv_frame_run(struct nnv_evaluator *ev, struct nnv_frame *f, struct nnv_err *err);

/** Executes one operation that is control flow. */
NNV_USE_RESULT enum nnv_status nnv_flow_operation(struct nnv_evaluator *ev, struct nnv_frame *f,
                                                  const struct nnv_operation *o, struct nnv_err *err);

#endif
