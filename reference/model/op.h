/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file op.h The operation record: all that is known of an operation, in one place.
 *
 * reference/model declares the record, reference/ops defines them, one operation or tight family a file, ops.def
 * lists them, the linker joins them. Validation, shape inference, feature levels, generated cases, the reference
 * executor, documentation and dumps follow from the record.
 */
#ifndef NNV_MODEL_OP_H
#define NNV_MODEL_OP_H

#include "base/rng.h"
#include "reference/model/model.h"

struct nnv_kernel; /* reference/eval/kernel.h */
struct nnv_call;
struct nnv_sample;

enum {
    NNV_MAX_SLOTS = 64, /**< slots of one form, and ids */
};

/** The largest extent: NNAPI's extents are numbers of INT32. */
#define NNV_DIM_MAX INT32_MAX
/** An extent that is not known yet. */
#define NNV_DIM_UNKNOWN UINT32_MAX

/** The shape of a tensor during inference: rank and extents may be unknown. A scalar has rank 0, known. */
struct nnv_shape {
    bool known_rank;
    uint32_t rank;
    uint32_t dims[NNV_MAX_RANK]; /**< real extents (0 is a real zero) or NNV_DIM_UNKNOWN */
};

/** Type variables: an operation's slots name them, its signatures give them values. */
enum nnv_var {
    NNV_T, /**< the main type, of input 0 unless stated */
    NNV_W, /**< filter or weights */
    NNV_B, /**< bias */
    NNV_S, /**< float scalars */
    NNV_O, /**< output, where it differs from T */
    NNV_V, /**< any further type */
    NNV_VARS,
    NNV_FIXED /**< the slot's own type member */
};

/** One combination of types that the operation accepts, and the feature level that allowed it. */
struct nnv_sig {
    uint8_t level;
    int32_t type[NNV_VARS];
};

/** What a scalar's value must fulfil. */
enum nnv_rule {
    NNV_ANY,
    NNV_FUSE,         /**< a FuseCode; the evaluator clamps the outputs */
    NNV_PADDING_CODE, /**< SAME or VALID */
    NNV_POSITIVE,
    NNV_NOT_NEGATIVE,
    NNV_AXIS, /**< in [-rank, rank) of input 0 */
    NNV_RULE_COUNT
};

/** What a quantised slot's scale and zero point must fulfil. */
enum nnv_quant_rule {
    NNV_Q_FREE,
    NNV_Q_SAME, /**< as input 0 */
    NNV_Q_BIAS, /**< TENSOR_INT32: scale = scale of input 0 times scale of input 1 (0 for per-channel), zero point 0 */
    NNV_Q_UNIT_256, /**< 1/256, zero point at the type's minimum (0 or -128) */
    NNV_Q_UNIT_128, /**< 1/128, zero point 128 or 0 (signed) */
    NNV_Q_ONE,      /**< scale 1, zero point 0 */
    NNV_Q_SAME_1,   /**< as input 1 (EMBEDDING_LOOKUP) */
    NNV_Q_SAME_2,   /**< as input 2 (HASHTABLE_LOOKUP) */
    NNV_Q_EIGHTH,   /**< 16 bits, coordinates of boxes: scale 1/8, zero point 0 */
};

/** Which numbers a tensor takes in tests at the limits of its type, beside the slot's own edges. */
enum nnv_domain {
    NNV_DOMAIN_DRAWN,    /**< those that are drawn */
    NNV_DOMAIN_ALL,      /**< every number of its type */
    NNV_DOMAIN_ENDLESS,  /**< the same, and infinities */
    NNV_DOMAIN_ANY,      /**< the same, and NaN */
    NNV_DOMAIN_OPPOSITE, /**< every number whose opposite it has: not the smallest integer */
    NNV_DOMAIN_POSITIVE, /**< 0 and above */
    NNV_DOMAIN_DIVISOR,  /**< those with an opposite, but no integer 0 */
};

/** How an output is judged where more than one answer may be right; the same in all forms. See docs/use/tolerances.md.
 */
enum nnv_judged {
    NNV_JUDGED_VALUE,   /**< by its value */
    NNV_JUDGED_LARGEST, /**< indices of the largest numbers of input 0 along its axis (the slot with NNV_AXIS, else the
                             last), falling: at a proven tie any of the tied */
    NNV_JUDGED_LEAST,   /**< the same of the least numbers, rising */
    NNV_JUDGED_CHOICE,  /**< follows from a choice among tied numbers, see nnv_kernel.choice */
    NNV_JUDGED_SAMPLES, /**< drawn at random: classes by the logits along the last axis of input 0 */
    NNV_JUDGED_COUNT
};

/** Tied numbers among which choices are tried, one after the other (nnv_eval_options.choice). */
enum { NNV_MOST_CHOICES = 64 };

enum nnv_slot_flags {
    NNV_SCALAR = 1,    /**< a scalar; otherwise a tensor */
    NNV_OMITTABLE = 2, /**< may be NO_VALUE, or omitted by the request */
    NNV_REPEAT = 4,    /**< stands one or more times (CONCATENATION), the last slot of group 1 any number of times (IF);
                            an output that does is the last (SPLIT) */
    NNV_PARAM = 8,     /**< usually a constant: filter, bias, weights, shape, axes */
    NNV_IGNORED = 16,  /**< an output whose contents are the implementation's own (LSTM's scratch): never compared */
    NNV_ANY_TYPE = 32, /**< takes every type but MODEL, whatever the signature: var is that of the generated cases */
    NNV_LIMITED = 64,  /**< a list of numbers each of which has limits that NNAPI's documentation states */
};

/** One input or output of an operation. */
struct nnv_slot {
    uint8_t id; /**< how record and kernel name it, whatever its position: 0 to NNV_MAX_SLOTS - 1 */
    const char *name;
    uint8_t var;  /**< enum nnv_var */
    int32_t type; /**< where var is NNV_FIXED */
    uint8_t flags;
    uint8_t rank_min, rank_max; /**< tensors; rank_max 0: any */
    uint8_t
        group; /**< 0 required; 1, 2, ...: trailing optional inputs, a group comes whole and after its predecessors */
    uint8_t level;  /**< the feature level that added it; 0: the operation's */
    uint8_t rule;   /**< enum nnv_rule */
    uint8_t quant;  /**< enum nnv_quant_rule */
    uint8_t judged; /**< outputs: enum nnv_judged */
    uint8_t run;    /**< NNV_JUDGED_CHOICE: so many elements belong to one choice */
    double dflt;    /**< the value of a trailing scalar that is absent */
    double lo, hi;  /**< values to draw for tests, real numbers; both 0: [-8, 8] */
    uint8_t domain; /**< enum nnv_domain */
    uint8_t nedges;
    const double *edges; /**< numbers at which the operation changes its ways: thresholds, tails; or NULL */
};

/** The slot says what is done, in INT32s, and holds no data: an index, an axis, a size. */
static inline bool nnv_slot_is_number(const struct nnv_slot *slot) {
    return slot->var == NNV_FIXED && slot->quant != NNV_Q_BIAS &&
           (slot->type == ANEURALNETWORKS_INT32 || slot->type == ANEURALNETWORKS_TENSOR_INT32);
}

/** One list of inputs (CONV_2D has two: implicit and explicit padding). */
struct nnv_form {
    const char *name; /**< "implicit", "explicit"; "" where there is one */
    const struct nnv_slot *in;
    uint8_t nin; /**< slots of in */
    const struct nnv_slot *out;
    uint8_t nout; /**< slots of out */
};

/** The slot of output i: the last one's if that stands several times. */
static inline const struct nnv_slot *nnv_out_slot(const struct nnv_form *f, uint32_t i) {
    return &f->out[i < f->nout ? i : f->nout - 1u];
}

/** How a correct implementation may round the result; see reference/eval. */
enum nnv_rounding {
    NNV_ROUND_NONE,    /**< moves or chooses values: exact */
    NNV_ROUND_LINEAR,  /**< sums of products; quantised: one multiplier, given by the kernel for each element */
    NNV_ROUND_RESCALE, /**< quantised: inputs rescaled, added, averaged */
    NNV_ROUND_TABLE,   /**< quantised: tables or fixed point, within one unit */
    NNV_ROUND_FLOOR,   /**< the result is the floor of the kernel's real result */
    NNV_ROUND_COUNT
};

/** Zero-sized inputs: accepted where? */
enum nnv_zero { NNV_ZERO_REFUSED, NNV_ZERO_ANY, NNV_ZERO_BATCH };

/**
 * NNAPI's runtime looks at the signature of an operation when it is added to a model: counts and types, and ranks of
 * inputs that may have any rank from 1 on to a highest one. All else is found when the model is computed, but for what
 * a record says here.
 */
enum nnv_early {
    NNV_EARLY_CHECK = 1,    /**< what check demands */
    NNV_EARLY_SCALES = 2,   /**< what slots demand of scales and zero points */
    NNV_EARLY_RANKS = 4,    /**< what slots demand of the ranks of inputs */
    NNV_EARLY_INPUTS = 8,   /**< what infer demands of the shapes of inputs, and NNV_EARLY_RANKS */
    NNV_EARLY_OUTPUTS = 16, /**< outputs have the shapes that infer tells; without NNV_EARLY_INPUTS their ranks */
};

/**
 * An attribute that generated cases vary: a pairwise cover (randgraph/single/cover.h) gives each pair of values of two
 * attributes a case, tables of layers give it values of real networks. The sample hook reads it with
 * nnv_sample_value().
 */
struct nnv_factor {
    const char *name;         /**< "window": as text, "window=3x3" */
    const int32_t *values;    /**< that the cover gives it; the first is the usual one */
    const int32_t *sizes;     /**< further values, each drawn once with the usual values of all others, or NULL */
    const char *const *words; /**< the names of the values 0, 1, ...; NULL: they are numbers */
    uint8_t n, nsizes;
    uint8_t with_sizes; /**< position of the value that unusual sizes and large tensors of other factors come with */
    bool pair;          /**< a value is NNV_PAIR(height, width): "3x2" */
    bool sums;          /**< its sizes make sums longer */
    int32_t large;      /**< the value that makes a tensor of more than 2^16 elements; 0: the usual one will do */
    int32_t plane; /**< that makes more than 2^16 rows: the layout of large planes, the outer extents; 0: as large */
    int32_t point; /**< the same for such planes in the usual layout below a window of a single place; 0: as plane */
    int32_t huge;  /**< the same as large of more than 2^24 bytes */
};
#define NNV_PAIR(HEIGHT, WIDTH) ((HEIGHT) << 16 | (WIDTH))
static inline int32_t nnv_pair_height(int32_t pair) { return pair >> 16; }
static inline int32_t nnv_pair_width(int32_t pair) { return pair & 0xffff; }
#define NNV_VALUES(...)                                                                                                \
    .values = (const int32_t[]){__VA_ARGS__}, .n = sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)
#define NNV_SIZES(...)                                                                                                 \
    .sizes = (const int32_t[]){__VA_ARGS__}, .nsizes = sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)
/** Values 0, 1, ... with these names. */
#define NNV_WORDS(...)                                                                                                 \
    .words = (const char *const[]){__VA_ARGS__}, .values = nnv_first_numbers,                                          \
    .n = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)
extern const int32_t nnv_first_numbers[16];
enum { NNV_MAX_FACTORS = 16 };

/** The edges of a slot. */
#define NNV_EDGES(...)                                                                                                 \
    .edges = (const double[]){__VA_ARGS__}, .nedges = sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

/** The record. */
struct nnv_op {
    int32_t code;        /**< OperationCode */
    const char *name;    /**< "CONV_2D" */
    uint8_t level;       /**< the feature level that introduced it */
    const char *formula; /**< one line for the documentation */
    const struct nnv_form *forms;
    uint8_t nforms;
    const struct nnv_sig *sigs; /**< lower levels first */
    uint8_t nsigs;
    enum nnv_rounding rounding;
    enum nnv_zero zero;
    bool linear;    /**< integer inputs give integer results: exact cases exist */
    bool moves;     /**< only carries elements from one place to another, numbers as they are */
    bool bounds;    /**< an index out of range fails the execution; elsewhere NNAPI does not say what becomes of it */
    bool raw;       /**< works on the encoding of its inputs (hashes them) */
    bool unary;     /**< elementwise on one tensor: exhaustive 8-bit sweeps exist */
    bool pairs;     /**< elementwise on two tensors of type T: exhaustive sweeps of 8-bit pairs exist */
    bool sizes;     /**< eval gives outputs the extents that infer leaves unknown (nnv_give_shape) */
    uint8_t early;  /**< enum nnv_early */
    bool any_order; /**< row i of all outputs is one result; the last output groups them, in a group any order is right
                     */
    /** Optional. Rules beyond those of the slots, on whatever is known; NNV_INVALID with the reason. */
    enum nnv_status (*check)(const struct nnv_call *c, struct nnv_err *err);
    /**
     * Control flow only, NULL for all others. Checks a bound use against the referenced subgraphs of the model; shapes
     * are as much as is known. NNV_INVALID with the reason. Such a record's eval runs subgraphs, see eval/flow.h.
     */
    enum nnv_status (*check_subgraphs)(const struct nnv_call *c, const struct nnv_model *model, struct nnv_err *err);
    /** Optional. The feature level that this use needs beyond signature and slots. */
    int (*level_of)(const struct nnv_call *c);
    /**
     * Required. Writes the shapes of the outputs: as much as is known. NNV_INVALID with the reason if the
     * inputs do not fit each other.
     */
    enum nnv_status (*infer)(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);
    /** Required. The golden kernel; see reference/eval/kernel.h. */
    enum nnv_status (*eval)(struct nnv_kernel *k, struct nnv_err *err);
    /** The axes of the generated cases: NULL-terminated lower-case names, at least one. */
    const char *const *variants;
    /** Optional. The attributes that the pairwise cover of the operation's cases varies. */
    const struct nnv_factor *factors;
    uint8_t nfactors;
    /** Required. Draws shapes, attributes and options for s->variant or s->row; see reference/model/sample.h. */
    void (*sample)(struct nnv_sample *s);
};

/** What records are written with: each says one thing that the struct spreads over several members. */
#define NNV_COUNT_OF(array) (sizeof(array) / sizeof *(array))
/** Code and name of an operation. */
#define NNV_OP_NAMED(NAME) .code = ANEURALNETWORKS_##NAME, .name = #NAME
/** A list of inputs and outputs, arrays of slots. */
#define NNV_FORM(NAME, IN, OUT)                                                                                        \
    { NAME, IN, NNV_COUNT_OF(IN), OUT, NNV_COUNT_OF(OUT) }
/** The forms of a record, an array. */
#define NNV_OP_FORMS(FORMS) .forms = FORMS, .nforms = NNV_COUNT_OF(FORMS)
/** Its only form. */
#define NNV_OP_FORM(IN, OUT) .forms = (const struct nnv_form[]){NNV_FORM("", IN, OUT)}, .nforms = 1
/** Its signatures, an array. */
#define NNV_OP_SIGS(SIGS) .sigs = SIGS, .nsigs = NNV_COUNT_OF(SIGS)
/** Its hooks, functions and lists of these names in its file, behind OF where a file has several operations. */
#define NNV_OP_HOOKS(OF) .infer = OF##infer, NNV_EVAL(OF##eval), .variants = OF##variants, NNV_SAMPLE(OF##sample)
/** The kernel, and what draws cases; the library of the rules alone has neither. */
#ifdef NNV_RULES_ALONE
#define NNV_EVAL(FUNCTION) .eval = NULL
#define NNV_SAMPLE(FUNCTION) .sample = NULL
#else
#define NNV_EVAL(FUNCTION) .eval = FUNCTION
#define NNV_SAMPLE(FUNCTION) .sample = FUNCTION
#endif
/** Its factors, an array. */
#define NNV_OP_FACTORS(FACTORS) .factors = FACTORS, .nfactors = NNV_COUNT_OF(FACTORS)
/** A signature of a tensor and a scalar. */
#define NNV_SIG_SCALAR(LEVEL, TYPE, SCALAR)                                                                            \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##TYPE, [NNV_S] = ANEURALNETWORKS_##SCALAR }                         \
    }
/** A signature where T is the only type. */
#define NNV_SIG(LEVEL, TYPE)                                                                                           \
    {                                                                                                                  \
        LEVEL, { [NNV_T] = ANEURALNETWORKS_TENSOR_##TYPE }                                                             \
    }
/** An INT32 scalar. */
#define NNV_SLOT_INT(ID, NAME, RULE)                                                                                   \
    { .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR, .rule = RULE }
/** A BOOL scalar of a trailing group (0: required) that came with a level (0: the operation's). */
#define NNV_SLOT_FLAG(ID, NAME, GROUP, LEVEL)                                                                          \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_BOOL, .flags = NNV_SCALAR, .group = GROUP,   \
        .level = LEVEL                                                                                                 \
    }
#define NNV_SLOT_BOOL(ID, NAME) NNV_SLOT_FLAG(ID, NAME, 0, 0)
/** A scalar of type S, which a signature gives. */
#define NNV_SLOT_NUMBER(ID, NAME, RULE)                                                                                \
    { .id = ID, .name = NAME, .var = NNV_S, .flags = NNV_SCALAR, .rule = RULE }
/** An INT32 tensor of one rank. */
#define NNV_SLOT_INT_TENSOR(ID, NAME, RANK, FLAGS)                                                                     \
    {                                                                                                                  \
        .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_TENSOR_INT32, .flags = FLAGS,                \
        .rank_min = RANK, .rank_max = RANK                                                                             \
    }
/** An axis that came with level 3 and may be absent: the last. */
#define NNV_SLOT_LATE_AXIS(ID)                                                                                         \
    {                                                                                                                  \
        .id = ID, .name = "axis", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR, .group = 1,    \
        .level = 3, .rule = NNV_AXIS, .dflt = -1                                                                       \
    }
/** A list of numbers that is usually constant. */
#define NNV_SLOT_INTS(ID, NAME) NNV_SLOT_INT_TENSOR(ID, NAME, 1, NNV_PARAM)
/** The same of numbers whose limits NNAPI states: axes, sizes of blocks. */
#define NNV_SLOT_LIMITED_INTS(ID, NAME) NNV_SLOT_INT_TENSOR(ID, NAME, 1, NNV_PARAM | NNV_LIMITED)

/** The record of code, or NULL. */
const struct nnv_op *nnv_op(int32_t code);
/** The record by name ("CONV_2D", any case), or NULL. */
const struct nnv_op *nnv_op_by_name(const char *name);
/** All records, by code. */
const struct nnv_op *const *nnv_ops(size_t *count);
/** True if the operation keeps a state from step to step: LSTM, RNN, SVDF, of whatever form. */
bool nnv_op_is_recurrent(const struct nnv_op *op);
/** True if a slot of the operation has this type variable (enum nnv_var); the others' types mean nothing. */
bool nnv_op_uses(const struct nnv_op *op, int var);

/* ------------------------------------------------------- a use of an operation */

struct nnv_arg {
    const struct nnv_operand *operand; /**< type and quantisation */
    bool present;                      /**< false: omitted; shape and data mean nothing then */
    struct nnv_shape shape;
    const void *data; /**< its bytes where known (constants; at run time everything), else NULL */
};

/** An operation bound to its operands: what hooks and kernels are given. */
struct nnv_call {
    const struct nnv_op *op;
    const struct nnv_form *form;
    const struct nnv_sig *sig;
    uint32_t nin, nout;
    struct nnv_arg *in, *out;
    int16_t pos[NNV_MAX_SLOTS]; /**< position in `in` of each input id; -1: absent. A repeated slot's first */
    uint32_t repeat;            /**< how often the repeated slot stands */
};

/** Input id, or NULL if absent or omitted. */
const struct nnv_arg *nnv_in(const struct nnv_call *c, int id);
/** True if input id is absent or its value is known now. */
bool nnv_known(const struct nnv_call *c, int id);
/** Value of an INT32 or BOOL scalar input; the slot's default if absent. Only where nnv_known(). */
int32_t nnv_int(const struct nnv_call *c, int id);
/** Value of a FLOAT32, FLOAT16, INT32 or BOOL scalar input; the slot's default if absent. Only where nnv_known(). */
double nnv_num(const struct nnv_call *c, int id);
/** True if images are in the order NCHW: the operation's slot "nchw" is known to be true. */
bool nnv_call_is_nchw(const struct nnv_call *c);

/* ------------------------------------------------------------ shape helpers */

/** A shape of known rank with unknown extents. */
struct nnv_shape nnv_shape_of_rank(uint32_t rank);
/** The shape of rank extents. */
struct nnv_shape nnv_shape_make(uint32_t rank, const uint32_t *dims);
/** True if rank and all extents are known. */
bool nnv_shape_known(const struct nnv_shape *s);
/** Number of elements; only where nnv_shape_known(). */
size_t nnv_shape_elems(const struct nnv_shape *s);
/** Extent i, or NNV_DIM_UNKNOWN if the rank is unknown. */
uint32_t nnv_dim(const struct nnv_shape *s, uint32_t i);
/** True unless both extents are known and differ. */
bool nnv_dim_agree(uint32_t a, uint32_t b);
/** The extent that is known, or NNV_DIM_UNKNOWN. */
uint32_t nnv_dim_merge(uint32_t a, uint32_t b);
/** Broadcast of a and b (right-aligned, equal or 1); NNV_INVALID names the extents. */
NNV_USE_RESULT enum nnv_status nnv_shape_broadcast(const struct nnv_shape *a, const struct nnv_shape *b,
                                                   struct nnv_shape *out, struct nnv_err *err);
/** "[1,224,224,3]", "?" for what is unknown, into buf (terminated); returns buf. */
char *nnv_shape_text(const struct nnv_shape *s, char *buf, size_t room);
/** axis in [-rank, rank) to [0, rank); -1 if out of range. */
int nnv_axis(int32_t axis, uint32_t rank);

/** One dimension of a convolution or pooling window. */
struct nnv_window {
    uint32_t out;       /**< output extent, NNV_DIM_UNKNOWN if the input extent is unknown */
    int32_t head, tail; /**< padding before and behind */
};
/**
 * Window arithmetic: effective = (filter - 1) * dilation + 1.
 * scheme ANEURALNETWORKS_PADDING_SAME: out = ceil(in / stride), the odd cell at the tail; VALID: no padding;
 * 0: head and tail are given in *w (explicit). NNV_INVALID if a pad is negative or reaches the effective
 * filter, a stride or dilation is below 1, or the output would be empty while the input is not.
 */
NNV_USE_RESULT enum nnv_status nnv_window(uint32_t in, uint32_t filter, int32_t stride, int32_t dilation,
                                          int32_t scheme, struct nnv_window *w, struct nnv_err *err);

#endif
