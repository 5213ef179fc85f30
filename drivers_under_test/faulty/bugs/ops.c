/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_ops.c Bugs that single operations show, and those of the device and the process: a row each. */

#include "faulty.h"

#define REWRITE(label, operations, class, where, function)                                                             \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = (where), .op = ANY_OPERATION, .rewrite = (function),              \
        .spoils = (operations)                                                                                         \
    }
/** What every result of a model suffers. */
#define SPOIL(label, class, where, function)                                                                           \
    { .name = (label), .models = (class), .fires = (where), .op = ANY_OPERATION, .execute = (function), .spoils = "*" }
#define TAMPER(label, class, where, function)                                                                          \
    { .name = (label), .models = (class), .fires = (where), .op = ANY_OPERATION, .execute = (function) }
#define SUPPORTED(label, class, where, operation, function)                                                            \
    { .name = (label), .models = (class), .fires = (where), .op = (operation), .supported = (function) }
#define STRIKE(label, class, at, function)                                                                             \
    {                                                                                                                  \
        .name = (label), .models = (class), .fires = "models with a TANH, unless @OP says another",                    \
        .op = ANEURALNETWORKS_TANH, .strike = (function), .place = (at)                                                \
    }

static const struct bug bugs[] = {
    {.name = "none", .models = "no bug: the control", .fires = "never", .op = ANY_OPERATION},
    /* geometry and attributes */
    REWRITE("dilation-ignored", "CONV_2D,DEPTHWISE_CONV_2D", "dilation ignored",
            "convolutions with constant filter and dilation", rewrite_dilation),
    REWRITE("pads-swapped", "CONV_2D,DEPTHWISE_CONV_2D,AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D",
            "the odd cell of SAME padding put first", "windows of which SAME pads an odd number", rewrite_pads),
    REWRITE("filter-flipped", "CONV_2D,DEPTHWISE_CONV_2D", "convolution for correlation",
            "convolutions with constant filter above 1x1", rewrite_flip),
    REWRITE("depthwise-channel-order", "DEPTHWISE_CONV_2D", "channel and multiplier swapped",
            "DEPTHWISE_CONV_2D with multiplier above 1", rewrite_channel_order),
    REWRITE("avg-pool-counts-padding", "AVERAGE_POOL_2D", "padding counted in the divisor",
            "float32 AVERAGE_POOL_2D with padding", rewrite_average),
    REWRITE("max-pool-starts-at-zero", "MAX_POOL_2D", "maximum that starts at 0", "MAX_POOL_2D of negative values",
            rewrite_max_pool),
    REWRITE("beta-ignored", "SOFTMAX", "SOFTMAX beta taken for 1", "SOFTMAX with another beta", rewrite_beta),
    REWRITE("axis-ignored", "SOFTMAX,L2_NORMALIZATION,LOCAL_RESPONSE_NORMALIZATION", "axis taken for the last",
            "SOFTMAX, L2_NORMALIZATION, LRN with another axis", rewrite_axis),
    REWRITE("align-corners-ignored", "RESIZE_BILINEAR", "attribute ignored", "RESIZE_BILINEAR with align corners",
            rewrite_align_corners),
    REWRITE("half-pixel-ignored", "RESIZE_BILINEAR", "attribute ignored", "RESIZE_BILINEAR with half pixel centres",
            rewrite_half_pixel),
    REWRITE("width-height-swapped", "RESIZE_BILINEAR", "width and height swapped", "RESIZE_BILINEAR to unequal extents",
            rewrite_width_height),
    REWRITE("lrn-radius-plus-one", "LOCAL_RESPONSE_NORMALIZATION", "off by one in an attribute",
            "LOCAL_RESPONSE_NORMALIZATION", rewrite_lrn_radius),
    REWRITE("lstm-forget-bias-missing", "LSTM", "a gate's bias left out", "LSTM", rewrite_forget_bias),
    REWRITE("cell-clip-ignored", "LSTM", "clipping ignored", "LSTM with cell clip", rewrite_cell_clip),
    REWRITE("bias-channel0-missing", "CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED", "bias left out",
            "convolutions, FULLY_CONNECTED with constant bias", rewrite_bias0),
    REWRITE("relu6-as-relu",
            "RELU6,ADD,SUB,MUL,DIV,FULLY_CONNECTED,CONV_2D,DEPTHWISE_CONV_2D,AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D",
            "upper limit of an activation ignored", "RELU6, fused or not, of values above 6", rewrite_relu6),
    REWRITE("activation-ignored", "ADD,MUL", "fused activation lost", "ADD, MUL with activation",
            rewrite_no_activation),
    /* control flow, of which the cpu driver knows nothing */
    {.name = "wrong-branch",
     .models = "then and else swapped",
     .fires = "IF",
     .over = "reference",
     .op = ANEURALNETWORKS_IF,
     .rewrite = rewrite_branch},
    {.name = "last-iteration-missing",
     .models = "one iteration too few",
     .fires = "WHILE that runs at least once",
     .over = "reference",
     .op = ANEURALNETWORKS_WHILE,
     .rewrite = rewrite_last_iteration},
    /* quantisation */
    REWRITE("fused-relu-zero-point",
            "ADD,SUB,MUL,FULLY_CONNECTED,CONV_2D,DEPTHWISE_CONV_2D,AVERAGE_POOL_2D,MAX_POOL_2D",
            "clamp at literal 0 instead of the zero point", "quant8_asymm with fused RELU and a zero point",
            rewrite_quantised_relu),
    REWRITE("per-channel-first-scale-only", "CONV_2D,DEPTHWISE_CONV_2D,GROUPED_CONV_2D,TRANSPOSE_CONV_2D",
            "one scale for all channels", "filters with scales per channel", rewrite_first_scale),
    REWRITE("concat-scale-ignored", "CONCATENATION", "inputs joined without rescaling",
            "CONCATENATION of quantised inputs of unequal scale", rewrite_concat_scale),
    REWRITE("add-scale-ignored", "ADD", "second input's scale taken for the first's",
            "ADD of quantised inputs of unequal scale", rewrite_add_scale),
    REWRITE("zero-point-off-by-one", "CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED,ADD,MUL,DEQUANTIZE,LOGISTIC",
            "input zero point off by one", "quantised convolutions, ADD, MUL, DEQUANTIZE ...", rewrite_zero_point),
    REWRITE("requantise-truncates", "CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED", "floor instead of rounding",
            "quantised convolutions, FULLY_CONNECTED", rewrite_truncate),
    SPOIL("low-bit-dropped", "precision lost in requantisation", "8-bit outputs", tamper_low_bit),
    /* values */
    SPOIL("float16-inside", "float32 computed as float16", "float32 outputs", tamper_half),
    SPOIL("stale-tail-element", "SIMD tail not written", "all outputs", tamper_stale_tail),
    SPOIL("batch1-uses-batch0", "batches above the first wrong", "outputs of two or more batches", tamper_batch),
    SPOIL("output-unwritten", "result left in scratch memory", "all outputs", tamper_unwritten),
    SPOIL("random-nan", "uninitialised scratch memory", "each third execution, float outputs", tamper_nan),
    SPOIL("nondeterministic", "race between threads", "each second execution", tamper_unsteady),
    /* memory */
    TAMPER("guard-write-after", "write behind a buffer", "all outputs", tamper_behind),
    TAMPER("guard-write-before", "write before a buffer", "all outputs", tamper_before),
    TAMPER("input-modified", "in-place computation on an input", "all inputs", tamper_input),
    {.name = "constant-modified",
     .models = "in-place repacking of constants",
     .fires = "models with constants",
     .op = ANY_OPERATION,
     .prepare = prepare_writes},
    /* answers */
    TAMPER("wrong-output-shape", "reported shape wrong", "outputs of known rank", tamper_shape),
    TAMPER("says-insufficient", "NONE and an insufficient buffer at once", "all executions", tamper_insufficient),
    TAMPER("shape-count-wrong", "more shapes than outputs", "all executions", tamper_shape_count),
    TAMPER("unasked-timing", "times although none were asked for", "all executions", tamper_time),
    {.name = "nonsense-status",
     .models = "a status that does not exist",
     .fires = "models with a TANH, unless @OP says another",
     .op = ANEURALNETWORKS_TANH,
     .execute = tamper_nonsense},
    {.name = "claims-but-fails",
     .models = "claimed operations that do not compile",
     .fires = "models with a TANH, unless @OP says another",
     .op = ANEURALNETWORKS_TANH,
     .prepare = prepare_fails},
    {.name = "null-prepared",
     .models = "NONE without a prepared model",
     .fires = "models with a TANH, unless @OP says another",
     .op = ANEURALNETWORKS_TANH,
     .no_prepared = true},
    SUPPORTED("refuses-everything", "nothing supported", "all models", ANY_OPERATION, answer_unsupported),
    SUPPORTED("supported-unfilled", "answers left out", "all models", ANY_OPERATION, answer_unfilled),
    SUPPORTED("refuses-valid", "a legal model called invalid", "models with a TANH, unless @OP says another",
              ANEURALNETWORKS_TANH, answer_invalid),
    {.name = "nameless", .models = "no name", .fires = "device", .op = ANY_OPERATION, .device = device_nameless},
    {.name = "unsorted-capabilities",
     .models = "operand performances not sorted",
     .fires = "device",
     .op = ANY_OPERATION,
     .device = device_unsorted},
    {.name = "greedy-cache",
     .models = "too many cache files",
     .fires = "device",
     .op = ANY_OPERATION,
     .device = device_greedy},
    /* the process */
    STRIKE("crash-supported", "invalid pointer", STRIKE_SUPPORTED, strike_crash),
    STRIKE("crash-prepare", "invalid pointer", STRIKE_PREPARE, strike_crash),
    STRIKE("crash-execute", "invalid pointer", STRIKE_EXECUTE, strike_crash),
    STRIKE("crash-release", "invalid pointer", STRIKE_RELEASE, strike_crash),
    STRIKE("abort", "failed assertion", STRIKE_EXECUTE, strike_abort),
    STRIKE("exit-0", "a driver that ends the process as if all were well", STRIKE_EXECUTE, strike_exit),
    STRIKE("hang-prepare", "endless wait", STRIKE_PREPARE, strike_hang),
    STRIKE("hang-execute", "endless wait", STRIKE_EXECUTE, strike_hang),
    STRIKE("close-descriptors", "files of others closed", STRIKE_EXECUTE, strike_close),
    STRIKE("stack-smash", "write over the end of a local array", STRIKE_EXECUTE, strike_stack),
    STRIKE("heap-smash", "write over the end of an allocation", STRIKE_EXECUTE, strike_heap),
    STRIKE("stops-itself", "a signal that stops the process", STRIKE_EXECUTE, strike_stop),
    STRIKE("out-of-memory", "memory that is not there, unnoticed", STRIKE_EXECUTE, strike_memory),
    STRIKE("out-of-descriptors", "files opened and never closed, until none can be opened", STRIKE_EXECUTE,
           strike_descriptors),
};
const struct bug_group bugs_ops = {bugs, sizeof bugs / sizeof *bugs};
