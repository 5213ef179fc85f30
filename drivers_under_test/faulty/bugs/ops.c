/* SPDX-License-Identifier: Apache-2.0 */
/** @file ops.c Bugs that single operations show, and those of the device and the process: a row each. */
#include <string.h>

#include "faulty.h"

/* --------------------------------------------------------------------- values */

static bool is_uint8(int32_t type) { return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM; }

static void put_nan(const struct call *c, const struct value *v) {
    const uint32_t nan32 = 0x7fc00000;
    const uint16_t nan16 = 0x7e00;
    uint32_t n = v->elem ? v->bytes / v->elem : 0;
    uint8_t *at = n ? v->data + (c->count * 7919 % n) * v->elem : NULL;
    if (at && v->type == ANEURALNETWORKS_TENSOR_FLOAT32) memcpy(at, &nan32, 4);
    if (at && v->type == ANEURALNETWORKS_TENSOR_FLOAT16) memcpy(at, &nan16, 2);
}

static void some_nan(struct call *c) {
    if (c->count % 3 == 2) each_output(c, put_nan);
}

static void flip_high_bit(const struct call *c, const struct value *v) {
    uint32_t n = v->elem ? v->bytes / v->elem : 0;
    /* A quarter of the first byte that counts: the sign of a float, 64 units of a byte. */
    if (n) v->data[(c->count * 104729 % n + 1) * v->elem - 1] ^= v->elem == 1 ? 0x40 : 0x80;
}

static void unsteady(struct call *c) {
    if (c->count % 2) each_output(c, flip_high_bit);
}

static void restore(const struct call *c, const struct value *v) { (void)c, memcpy(v->data, v->before, v->bytes); }
static void unwritten(struct call *c) { each_output(c, restore); }

/* ---------------------------------------------------------- memory not its own */

static void zero_behind(const struct call *c, const struct value *v) { (void)c, memset(v->data + v->bytes, 0, 4); }
static void write_behind(struct call *c) { each_output(c, zero_behind); }
static void zero_before(const struct call *c, const struct value *v) { (void)c, memset(v->data - 4, 0, 4); }
static void write_before(struct call *c) { each_output(c, zero_before); }

static void write_inputs(struct call *c) {
    for (uint32_t i = 0; i < c->request->input_count; i++)
        if (c->inputs[i].data && c->inputs[i].bytes) c->inputs[i].data[c->inputs[i].bytes - 1] ^= 1;
}

static void write_constants(struct call *c) {
    const struct nnvts_model *m = c->model;
    if (!succeeded(c)) return;
    if (m->operand_values_bytes) *(uint8_t *)m->operand_values ^= 1;
    for (uint32_t i = 0; i < m->pool_count; i++)
        if (m->pools[i].data && m->pools[i].size) *(uint8_t *)m->pools[i].data ^= 1;
}

/* -------------------------------------------------------------------- answers */

static void wrong_extent(struct call *c) {
    for (uint32_t i = 0; i < c->result->shape_count; i++) {
        struct nnvts_output_shape *s = &c->result->shapes[i];
        if (s->dimension_count) s->dimensions[s->dimension_count - 1]++;
    }
}

static void insufficient(struct call *c) {
    for (uint32_t i = 0; i < c->result->shape_count; i++) c->result->shapes[i].is_sufficient = false;
}

static void one_shape_more(struct call *c) { c->result->shape_count = c->request->output_count + 1; }
static void give_times(struct call *c) { c->result->timing = (struct nnvts_timing){2, 1}; }

static void deny_all(struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operation_count && succeeded(c); i++) c->supported[i] = false;
}

/** What an array held that nobody wrote. */
static void leave_last(struct call *c) {
    if (succeeded(c) && c->model->main.operation_count)
        memset((uint8_t *)c->supported + c->model->main.operation_count - 1, 0xa5, 1);
}

static void lose_prepared(struct call *c) {
    if (!succeeded(c)) return;
    (*c->out)->release(*c->out);
    *c->out = NULL;
}

/* --------------------------------------------------------------------- device */

static void nameless(struct nnvts_device *device) { device->name = ""; }

static void unsorted(struct nnvts_device *device) {
    static const struct nnvts_operand_performance table[] = {
        {ANEURALNETWORKS_TENSOR_FLOAT32, {1, 1}}, {ANEURALNETWORKS_FLOAT32, {1, 1}}, {ANEURALNETWORKS_FLOAT32, {1, 1}}};
    device->capabilities.operand_performance = table;
    device->capabilities.operand_performance_count = 3;
}

static void greedy(struct nnvts_device *device) { device->model_cache_files = NNVTS_MAX_CACHE_FILES + 1; }

static const struct bug bugs[] = {
    BUG("none", "no bug: the control", "never", .legal = false),
    /* geometry and attributes */
    BUG("dilation-ignored", "dilation ignored", "convolutions with constant filter and dilation",
        .fault = {"dilation-ignored"}, .spoils = "CONV_2D,DEPTHWISE_CONV_2D"),
    BUG("pads-swapped", "the odd cell of SAME padding put first", "windows of which SAME pads an odd number",
        .fault = {"same-padding-odd-first"},
        .spoils = "CONV_2D,DEPTHWISE_CONV_2D,AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D"),
    BUG("filter-flipped", "convolution for correlation", "convolutions with constant filter above 1x1",
        .fault = {"filter-flipped"}, .spoils = "CONV_2D,DEPTHWISE_CONV_2D"),
    BUG("depthwise-channel-order", "channel and multiplier swapped", "DEPTHWISE_CONV_2D with multiplier above 1",
        .fault = {"depthwise-channel-order"}, .spoils = "DEPTHWISE_CONV_2D"),
    BUG("avg-pool-counts-padding", "padding counted in the divisor", "float32 AVERAGE_POOL_2D with padding",
        .fault = {"padding-counted"}, .type = is_float32, .spoils = "AVERAGE_POOL_2D"),
    BUG("max-pool-starts-at-zero", "maximum that starts at 0", "MAX_POOL_2D of negative values",
        .fault = {"maximum-starts-at-zero"}, .spoils = "MAX_POOL_2D"),
    BUG("beta-ignored", "SOFTMAX beta taken for 1", "SOFTMAX with another beta", .fault = {"beta-ignored"},
        .spoils = "SOFTMAX"),
    BUG("axis-ignored", "axis taken for the last", "SOFTMAX, L2_NORMALIZATION, LRN with another axis",
        .fault = {"axis-last"}, .spoils = "SOFTMAX,L2_NORMALIZATION,LOCAL_RESPONSE_NORMALIZATION"),
    BUG("align-corners-ignored", "attribute ignored", "RESIZE_BILINEAR with align corners",
        .fault = {"align-corners-ignored"}, .spoils = "RESIZE_BILINEAR"),
    BUG("half-pixel-ignored", "attribute ignored", "RESIZE_BILINEAR with half pixel centres",
        .fault = {"half-pixel-ignored"}, .spoils = "RESIZE_BILINEAR"),
    BUG("width-height-swapped", "width and height swapped", "RESIZE_BILINEAR to unequal extents",
        .fault = {"width-height-swapped"}, .resized = true, .spoils = "RESIZE_BILINEAR"),
    BUG("lrn-radius-plus-one", "off by one in an attribute", "LOCAL_RESPONSE_NORMALIZATION",
        .fault = {"radius-plus-one"}, .spoils = "LOCAL_RESPONSE_NORMALIZATION"),
    BUG("lstm-forget-bias-missing", "a gate's bias left out", "LSTM", .fault = {"forget-bias-missing"},
        .spoils = "LSTM"),
    BUG("cell-clip-ignored", "clipping ignored", "LSTM with cell clip", .fault = {"cell-clip-ignored"},
        .spoils = "LSTM"),
    BUG("bias-channel0-missing", "bias left out", "convolutions, FULLY_CONNECTED with constant bias",
        .fault = {"bias-first-missing"}, .spoils = "CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED"),
    BUG("relu6-as-relu", "upper limit of an activation ignored", "RELU6, fused or not, of values above 6",
        .fault = {"relu6-as-relu"},
        .spoils =
            "RELU6,ADD,SUB,MUL,DIV,FULLY_CONNECTED,CONV_2D,DEPTHWISE_CONV_2D,AVERAGE_POOL_2D,MAX_POOL_2D,L2_POOL_2D"),
    BUG("activation-ignored", "fused activation lost", "ADD, MUL with activation", .fault = {"activation-ignored"},
        .spoils = "ADD,MUL"),
    /* control flow, of which the cpu driver knows nothing */
    BUG_OF(IF, "wrong-branch", "then and else swapped", "IF", .over = "reference", .fault = {"branches-swapped"}),
    BUG_OF(WHILE, "last-iteration-missing", "one iteration too few", "WHILE that runs at least once",
           .over = "reference", .rewrite = rewrite_last_iteration),
    /* quantisation */
    BUG("fused-relu-zero-point", "clamp at literal 0 instead of the zero point",
        "quant8_asymm with fused RELU and a zero point", .fault = {"clamp-at-stored-zero"}, .type = is_uint8,
        .spoils = "ADD,SUB,MUL,FULLY_CONNECTED,CONV_2D,DEPTHWISE_CONV_2D,AVERAGE_POOL_2D,MAX_POOL_2D"),
    BUG("per-channel-first-scale-only", "one scale for all channels", "filters with scales per channel",
        .fault = {"first-scale-for-all"}, .spoils = "CONV_2D,DEPTHWISE_CONV_2D,GROUPED_CONV_2D,TRANSPOSE_CONV_2D"),
    BUG("concat-scale-ignored", "inputs joined without rescaling", "CONCATENATION of quantised inputs of unequal scale",
        .fault = {"concat-not-rescaled"}, .spoils = "CONCATENATION"),
    BUG("add-scale-ignored", "second input's scale taken for the first's", "ADD of quantised inputs of unequal scale",
        .fault = {"second-like-first"}, .spoils = "ADD"),
    BUG("zero-point-off-by-one", "input zero point off by one", "quantised convolutions, ADD, MUL, DEQUANTIZE ...",
        .fault = {"input-zero-point-plus-one"},
        .spoils = "CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED,ADD,MUL,DEQUANTIZE,LOGISTIC"),
    BUG("requantise-truncates", "floor instead of rounding", "quantised convolutions, FULLY_CONNECTED",
        .fault = {"accumulator-floor", "accumulator-floor-dense"},
        .spoils = "CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED"),
    BUG("low-bit-dropped", "precision lost in requantisation", "8-bit outputs", .fault = {"low-bit-dropped"},
        .spoils = "*"),
    /* values */
    BUG("float16-inside", "float32 computed as float16", "float32 outputs", .fault = {"float16-inside"}, .spoils = "*"),
    BUG("stale-tail-element", "SIMD tail not written", "all outputs",
        .fault = {"last-element-unwritten", "output-unwritten"}, .spoils = "*"),
    BUG("batch1-uses-batch0", "batches above the first wrong", "outputs of two or more batches",
        .fault = {"first-batch-repeated"}, .spoils = "*"),
    BUG("output-unwritten", "result left in scratch memory", "all outputs", .tamper = unwritten, .spoils = "*"),
    BUG("random-nan", "uninitialised scratch memory", "each third execution, float outputs", .tamper = some_nan,
        .spoils = "*"),
    BUG("nondeterministic", "race between threads", "each second execution", .tamper = unsteady, .spoils = "*"),
    /* memory */
    BUG("guard-write-after", "write behind a buffer", "all outputs", .tamper = write_behind),
    BUG("guard-write-before", "write before a buffer", "all outputs", .tamper = write_before),
    BUG("input-modified", "in-place computation on an input", "all inputs", .tamper = write_inputs),
    BUG("constant-modified", "in-place repacking of constants", "models with constants", .on = ON(PREPARE),
        .after = write_constants),
    /* answers */
    BUG("wrong-output-shape", "reported shape wrong", "outputs of known rank", .tamper = wrong_extent),
    BUG("says-insufficient", "NONE and an insufficient buffer at once", "all executions", .tamper = insufficient),
    BUG("shape-count-wrong", "more shapes than outputs", "all executions", .tamper = one_shape_more),
    BUG("unasked-timing", "times although none were asked for", "all executions", .tamper = give_times),
    BUG_OF(TANH, "nonsense-status", "a status that does not exist", WITH_TANH, .on = ON(EXECUTE),
           .to = (enum nnvts_status)77),
    BUG_OF(TANH, "claims-but-fails", "claimed operations that do not compile", WITH_TANH, .on = ON(PREPARE),
           .to = NNVTS_STATUS_GENERAL_FAILURE),
    BUG_OF(TANH, "null-prepared", "NONE without a prepared model", WITH_TANH, .on = ON(PREPARE),
           .after = lose_prepared),
    BUG("refuses-everything", "nothing supported", "all models", .on = ON(SUPPORTED), .after = deny_all),
    BUG("supported-unfilled", "answers left out", "all models", .on = ON(SUPPORTED), .after = leave_last),
    BUG_OF(TANH, "refuses-valid", "a legal model called invalid", WITH_TANH, .on = ON(SUPPORTED),
           .to = NNVTS_STATUS_INVALID_ARGUMENT),
    BUG("nameless", "no name", "device", .device = nameless),
    BUG("unsorted-capabilities", "operand performances not sorted", "device", .device = unsorted),
    BUG("greedy-cache", "too many cache files", "device", .device = greedy),
    /* the process */
    BUG_OF(TANH, "crash-supported", "invalid pointer", WITH_TANH, .strike = strike_crash, .on = ON(SUPPORTED)),
    BUG_OF(TANH, "crash-prepare", "invalid pointer", WITH_TANH, .strike = strike_crash, .on = ON(PREPARE)),
    BUG_OF(TANH, "crash-execute", "invalid pointer", WITH_TANH, .strike = strike_crash, .on = ON(EXECUTE)),
    BUG_OF(TANH, "crash-release", "invalid pointer", WITH_TANH, .strike = strike_crash, .on = ON(RELEASE)),
    BUG_OF(TANH, "abort", "failed assertion", WITH_TANH, .strike = strike_abort, .on = ON(EXECUTE)),
    BUG_OF(TANH, "exit-0", "a driver that ends the process as if all were well", WITH_TANH, .strike = strike_exit,
           .on = ON(EXECUTE)),
    BUG_OF(TANH, "hang-prepare", "endless wait", WITH_TANH, .strike = strike_hang, .on = ON(PREPARE)),
    BUG_OF(TANH, "hang-execute", "endless wait", WITH_TANH, .strike = strike_hang, .on = ON(EXECUTE)),
    BUG_OF(TANH, "close-descriptors", "files of others closed", WITH_TANH, .strike = strike_close, .on = ON(EXECUTE)),
    BUG_OF(TANH, "stack-smash", "write over the end of a local array", WITH_TANH, .strike = strike_stack,
           .on = ON(EXECUTE)),
    BUG_OF(TANH, "heap-smash", "write over the end of an allocation", WITH_TANH, .strike = strike_heap,
           .on = ON(EXECUTE)),
    BUG_OF(TANH, "stops-itself", "a signal that stops the process", WITH_TANH, .strike = strike_stop,
           .on = ON(EXECUTE)),
    BUG_OF(TANH, "out-of-memory", "memory that is not there, unnoticed", WITH_TANH, .strike = strike_memory,
           .on = ON(EXECUTE)),
    BUG_OF(TANH, "out-of-descriptors", "files opened and never closed, until none can be opened", WITH_TANH,
           .strike = strike_descriptors, .on = ON(EXECUTE)),
};
const struct bug_group bugs_ops = {bugs, sizeof bugs / sizeof *bugs};
