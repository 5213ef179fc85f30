/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file input.h What a fuzzer feeds a driver with: a valid model, and a list of mutations. A few lines of text are all
 * that is needed to make the same bytes again.
 */
#ifndef NNV_FUZZ_INPUT_H
#define NNV_FUZZ_INPUT_H

#include "base/rng.h"
#include "base/text.h"
#include "randgraph/fill.h"
#include "reference/model/op.h"

/** Names a valid model with values. The same members give the same bytes. */
struct nnv_fuzz_base {
    const struct nnv_op *op;                 /**< one operation; NULL: a small network */
    const struct nnv_graph_profile *profile; /**< of the network */
    int sig, variant;                        /**< as in nnv_single */
    enum nnv_fill_mode mode;
    int index;
    uint64_t seed;
};

/** What mutations change: a row each, in harness/fuzz/mutations.def. */
enum nnv_fuzz_kind {
#define X(name, text, indices, value, draws) NNV_FUZZ_##name,
#include "harness/fuzz/mutations.def"
#undef X
    NNV_FUZZ_KINDS
};

/** How a value is drawn. */
enum nnv_fuzz_draw {
    NNV_DRAW_NONE,
    NNV_DRAW_INDEX, /**< small, or far outside */
    NNV_DRAW_COUNT, /**< as many as memory can hold */
    NNV_DRAW_WORD,  /**< any 32 bits, the ends of ranges preferred */
    NNV_DRAW_FLOAT, /**< bits of a float32 */
    NNV_DRAW_TYPE,  /**< operand type */
    NNV_DRAW_CODE,  /**< operation */
};

enum { NNV_FUZZ_INDICES = 3, NNV_FUZZ_MUTATIONS_MAX = 16, NNV_FUZZ_COUNT_MAX = 4096 };

/** One change. An index counts modulo what is there, so that it means something whatever was changed before. */
struct nnv_fuzz_mutation {
    enum nnv_fuzz_kind kind;
    uint32_t at[NNV_FUZZ_INDICES];
    uint32_t value;
};

struct nnv_fuzz_input {
    struct nnv_fuzz_base base;
    uint32_t count;
    struct nnv_fuzz_mutation mutation[NNV_FUZZ_MUTATIONS_MAX];
};

/** What is known of a kind. */
struct nnv_fuzz_kind_info {
    const char *name; /**< "operand-rank" */
    int indices;
    bool value;
    enum nnv_fuzz_draw draw;
};
extern const struct nnv_fuzz_kind_info nnv_fuzz_kinds[NNV_FUZZ_KINDS];

/** A base drawn by rng: mostly one operation, op if that is not NULL. */
struct nnv_fuzz_base nnv_fuzz_draw_base(struct nnv_rng *rng, const struct nnv_op *op);
/** Appends mutations drawn by rng, at least one if there is room. */
void nnv_fuzz_draw_mutations(struct nnv_rng *rng, struct nnv_fuzz_input *input);
/** Makes the valid model; all of it is arena's. */
NNV_USE_RESULT enum nnv_status nnv_fuzz_base_build(const struct nnv_fuzz_base *base, struct nnv_arena *arena,
                                                   struct nnv_spec **spec, struct nnv_err *err);

/** Appends the lines of an input: "base ..." and one for each mutation. */
void nnv_fuzz_print(struct nnv_text *t, const struct nnv_fuzz_input *input);
/**
 * Reads a file's text: lines of '#' are comments, each "base" begins an input. *inputs is malloc'ed. NNV_INVALID names
 * file and line.
 */
NNV_USE_RESULT enum nnv_status nnv_fuzz_parse(const char *text, const char *where, struct nnv_fuzz_input **inputs,
                                              size_t *count, struct nnv_err *err);

#endif
