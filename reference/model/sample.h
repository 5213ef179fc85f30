/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sample.h Drawing one use of an operation: the interface of the record's sample hook.
 *
 * The hook is given a signature and a variant; it chooses the form and sets a shape or a value for every
 * input that is to be present. Trailing inputs that it leaves alone are absent, omittable ones are omitted.
 * Who calls it fills the tensors with values and derives the outputs.
 */
#ifndef NNV_MODEL_SAMPLE_H
#define NNV_MODEL_SAMPLE_H

#include "reference/model/op.h"

enum { NNV_MAX_REPEAT = 8, NNV_MAX_OUT_AS = 4 };

/** One input of the use. */
struct nnv_sample_arg {
    bool set;
    bool input;    /**< a model input even though the slot says NNV_PARAM */
    bool constant; /**< a constant even though the slot does not say so */
    uint32_t rank; /**< tensors */
    uint32_t dims[NNV_MAX_RANK];
    double value;        /**< scalars */
    const int32_t *ints; /**< TENSOR_INT32 with given values, arena's; else NULL: filled by the caller */
    const double *reals; /**< tensors with given real values, arena's, rounded to what the type can hold; else NULL */
    double lo, hi;       /**< real values to draw; both 0: the slot's */
    float scale;         /**< quantised: wanted scale and zero point; 0: the caller's choice */
    int32_t zero_point;
    uint32_t channel_dim; /**< per-channel: the dimension that the scales run along (DEPTHWISE_CONV_2D: 3) */
};

struct nnv_sample {
    /* given */
    const struct nnv_op *op;
    const struct nnv_sig *sig;
    int variant; /**< index into op->variants */
    int index;   /**< the number of the case within its variant, from 0: hooks may walk through attributes by it */
    /** The values of op->factors that the case must have, or NULL: the hook draws by the variant. Where a row asks for
     * what cannot be (a window larger than the image), the hook enlarges the extents. */
    const int32_t *row;
    bool exact; /**< integer-valued inputs: keep sums of products below 2^24 (float16: 2^11) */
    bool empty; /**< give the input a zero extent, where op->zero allows it */
    int fused;  /**< 1 + the FuseCode of the case; 0: as the row or the variant says */
    struct nnv_rng rng;
    struct nnv_arena *arena;
    /* set by the hook */
    const struct nnv_form *form;               /**< preset to the first */
    struct nnv_sample_arg arg[NNV_MAX_SLOTS];  /**< by id */
    struct nnv_sample_arg rep[NNV_MAX_REPEAT]; /**< the repeated slot */
    uint32_t nrep;
    uint32_t nout;   /**< outputs, where one stands several times; 0: the form's */
    float out_scale; /**< quantised output 0: 0 is the caller's choice (from the range of the results) */
    int32_t out_zero_point;
    /** Quantised outputs: 1 + the id of the input whose scale and zero point the output takes; 0: as above. */
    uint8_t out_as[NNV_MAX_OUT_AS];
};

/** The value of factor f in the row. */
static inline int32_t nnv_sample_value(const struct nnv_sample *s, int f) { return s->row[f]; }
/** True if the variant's name, or that of a value in the row, contains word as one of its '_'-separated words. */
bool nnv_sample_is(const struct nnv_sample *s, const char *word);
/** Sets tensor id (a repeated slot: its next use) to rank extents. Returns the argument for more settings. */
struct nnv_sample_arg *nnv_sample_tensor(struct nnv_sample *s, int id, uint32_t rank, const uint32_t *dims);
/** Sets scalar id. */
void nnv_sample_scalar(struct nnv_sample *s, int id, double value);
/** Sets TENSOR_INT32 id of shape [n] to the values (copied). */
void nnv_sample_ints(struct nnv_sample *s, int id, uint32_t n, const int32_t *values);
/** Uniform integer in [lo, hi]. */
int nnv_sample_int(struct nnv_sample *s, int lo, int hi);
/** One of n values. */
int nnv_sample_of(struct nnv_sample *s, int n, const int *values);
/** An extent in [lo, hi], odd sizes and sizes beside SIMD widths preferred. */
uint32_t nnv_sample_dim(struct nnv_sample *s, uint32_t lo, uint32_t hi);
/** A shape of rank unequal extents with at most limit elements. */
void nnv_sample_dims(struct nnv_sample *s, uint32_t rank, uint32_t limit, uint32_t *dims);
/** Layout helper: writes {n,h,w,c} to dims in the order of the layout. */
void nnv_sample_image(uint32_t dims[4], uint32_t n, uint32_t h, uint32_t w, uint32_t c, bool nchw);

/** The first factors of operations on tensors of any extents, in this order. */
enum { NNV_SHAPE_RANK, NNV_SHAPE_INNER, NNV_SHAPE_OUTER, NNV_SHAPE_OWN /**< the operation's own come behind */ };
/** How nnv_sample_shape() makes the extents before the last one. */
enum { NNV_OUTER_UNEQUAL, NNV_OUTER_EQUAL, NNV_OUTER_ONES, NNV_OUTER_LONG, NNV_OUTER_MANY };
#define NNV_INNER_SIZES 15, 17, 31, 33, 64, 65, 127, 128, 129, 256, 257, 513, 1025, 4097
#define NNV_INNER_AND_OUTER(LARGE, ...)                                                                                \
    {.name = "inner",                                                                                                  \
     .sums = true,                                                                                                     \
     NNV_VALUES(7, 1, 4, 16),                                                                                          \
     NNV_SIZES(__VA_ARGS__),                                                                                           \
     .large = (LARGE),                                                                                                 \
     .plane = 2,                                                                                                       \
     .huge = 1398102},                                                                                                 \
                                                                                                                       \
    {                                                                                                                  \
        .name = "outer", .words = nnv_outer_words, .values = nnv_first_numbers, .n = NNV_OUTER_MANY,                   \
        .plane = NNV_OUTER_MANY                                                                                        \
    }
extern const char *const nnv_outer_words[NNV_OUTER_MANY + 1];
#define NNV_SHAPE_EXTENTS NNV_INNER_AND_OUTER(21847, NNV_INNER_SIZES)
/** The same of operations that make one number of a line, or know all of it: a large tensor is one line. */
enum { NNV_LONG_LINE = 65537 };
#define NNV_LINE_EXTENTS NNV_INNER_AND_OUTER(0, NNV_INNER_SIZES, NNV_LONG_LINE)
#define NNV_SHAPE_RANKS(...)                                                                                           \
    { .name = "rank", NNV_VALUES(__VA_ARGS__) }
/** For ranks from 1 to 4, and for any. */
#define NNV_SHAPE_FACTORS NNV_SHAPE_RANKS(4, 1, 2, 3), NNV_SHAPE_EXTENTS
#define NNV_SHAPE_ANY_RANKS                                                                                            \
    { .name = "rank", NNV_VALUES(4, 1, 2, 3, 5), NNV_SIZES(6, 8) }
#define NNV_SHAPE_ANY_FACTORS NNV_SHAPE_ANY_RANKS, NNV_SHAPE_EXTENTS
/**
 * Writes the extents that the row says, and returns their number. inner is the last extent; the outer ones are unequal
 * and small, equal to it as far as there is room, of 1, or the first of them is long, or makes more than 2^16 rows.
 */
uint32_t nnv_sample_shape(const struct nnv_sample *s, uint32_t *dims);

/** Variants "rank1" to "rank4", "wide": the common hook for elementwise operations on one tensor of id 0. */
extern const char *const nnv_unary_variants[];
extern const struct nnv_factor nnv_unary_factors[NNV_SHAPE_OWN];
void nnv_sample_unary(struct nnv_sample *s);

#endif
