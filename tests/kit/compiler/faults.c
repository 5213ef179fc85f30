/* SPDX-License-Identifier: Apache-2.0 */
/** @file faults.c Faults of the compiler: the list, and what changes converted models. */
#include <string.h>

#include "tests/kit/compiler/faults.h"
#include "reference/model/op.h"

static bool is_conv(const struct nnv_operation *op) {
    return op->type == ANEURALNETWORKS_CONV_2D || op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D ||
           op->type == ANEURALNETWORKS_GROUPED_CONV_2D;
}

static bool is_pool(const struct nnv_operation *op) {
    return op->type == ANEURALNETWORKS_MAX_POOL_2D || op->type == ANEURALNETWORKS_AVERAGE_POOL_2D;
}

static struct nnv_operand *input(const struct nnv_model *m, const struct nnv_operation *op, uint32_t i) {
    return i < op->nin ? &m->main.operands[op->in[i]] : NULL;
}

static void swap(struct nnv_operation *op, uint32_t a, uint32_t b) {
    if (a >= op->nin || b >= op->nin) return;
    uint32_t x = op->in[a];
    op->in[a] = op->in[b];
    op->in[b] = x;
}

/* Gives the operation an operand of its own for input i, a copy, whose bytes are returned; NULL: it has no value. */
static void *own_input(struct nnv_model *m, struct nnv_operation *op, uint32_t i, struct nnv_arena *arena) {
    const struct nnv_operand *o = input(m, op, i);
    if (!o || !nnv_is_constant(o)) return NULL;
    uint32_t n = m->main.noperands;
    struct nnv_operand *all = NNV_NEW(arena, struct nnv_operand, n + 1);
    void *data = nnv_arena_copy(arena, o->data, o->bytes);
    if (!all || !data) return NULL;
    memcpy(all, m->main.operands, n * sizeof *all);
    all[n] = *o;
    all[n].data = data;
    m->main.operands = all;
    m->main.noperands = n + 1;
    op->in[i] = n;
    return data;
}

static void set_int(struct nnv_model *m, struct nnv_operation *op, uint32_t i, int32_t value, struct nnv_arena *arena) {
    const struct nnv_operand *o = input(m, op, i);
    void *data = o && o->bytes == sizeof value ? own_input(m, op, i, arena) : NULL;
    if (data) memcpy(data, &value, sizeof value);
}

static int32_t int_of(const struct nnv_model *m, const struct nnv_operation *op, uint32_t i) {
    const struct nnv_operand *o = input(m, op, i);
    int32_t value = 0;
    if (o && nnv_is_constant(o) && o->bytes == sizeof value) memcpy(&value, o->data, sizeof value);
    return value;
}

/* ---------------------------------------------------------------- windows and layers */

/* Inputs of operations with explicit padding: 3 to 6 left, right, top, bottom; 7 and 8 the strides across and down. */
enum { PADS = 3, STRIDES = 7 };

static uint32_t pads_at(const struct nnv_operation *op) { return is_pool(op) ? 1 : PADS; }
static bool is_explicit(const struct nnv_operation *op) {
    return (is_conv(op) && op->nin >= 11) || (is_pool(op) && op->nin >= 10);
}

static void swap_strides(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    (void)m;
    (void)arena;
    if (is_explicit(op)) swap(op, pads_at(op) + 4, pads_at(op) + 5);
}
static void swap_axes_of_pads(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    (void)m;
    (void)arena;
    if (!is_explicit(op)) return;
    swap(op, pads_at(op), pads_at(op) + 2);
    swap(op, pads_at(op) + 1, pads_at(op) + 3);
}
static void swap_ends_of_pads(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    (void)m;
    (void)arena;
    if (!is_explicit(op)) return;
    swap(op, pads_at(op), pads_at(op) + 1);
    swap(op, pads_at(op) + 2, pads_at(op) + 3);
}
static void swap_window(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    (void)m;
    (void)arena;
    if (is_pool(op) && op->nin >= 10) swap(op, 7, 8);
}
static void drop_dilation(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    uint32_t at = op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D ? 12 : 11;
    if (!is_conv(op) || op->type == ANEURALNETWORKS_GROUPED_CONV_2D || op->nin < at + 2) return;
    set_int(m, op, at, 1, arena);
    set_int(m, op, at + 1, 1, arena);
}

/* The filter's values in an order that its extents no longer describe. */
static void permute_filter(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    const struct nnv_operand *o = input(m, op, 1);
    uint8_t *to = is_conv(op) && o && o->rank == 4 ? own_input(m, op, 1, arena) : NULL;
    if (!to) return;
    o = input(m, op, 1);
    const uint8_t *from = nnv_arena_copy(arena, to, o->bytes);
    uint32_t area = o->dims[1] * o->dims[2], depth = o->dims[3];
    size_t size = nnv_type(o->type)->size;
    for (uint32_t n = 0, at = 0; from && n < o->dims[0]; n++)
        for (uint32_t c = 0; c < depth; c++)
            for (uint32_t k = 0; k < area; k++, at++)
                memcpy(to + at * size, from + (((size_t)n * area + k) * depth + c) * size, size);
}

static void swap_groups(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    uint8_t *data = op->type == ANEURALNETWORKS_GROUPED_CONV_2D ? own_input(m, op, 1, arena) : NULL;
    if (!data) return;
    size_t half = input(m, op, 1)->bytes / 2;
    for (size_t i = 0; i < half; i++) {
        uint8_t byte = data[i];
        data[i] = data[half + i];
        data[half + i] = byte;
    }
}

static void drop_bias(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    void *data = is_conv(op) || op->type == ANEURALNETWORKS_FULLY_CONNECTED ? own_input(m, op, 2, arena) : NULL;
    if (data) memset(data, 0, input(m, op, 2)->bytes);
}

static uint32_t activation_at(const struct nnv_operation *op) {
    if (is_pool(op)) return op->nin >= 10 ? 9 : UINT32_MAX;
    switch (op->type) {
    case ANEURALNETWORKS_CONV_2D:
        return op->nin >= 10 ? 9 : 6;
    case ANEURALNETWORKS_GROUPED_CONV_2D:
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
        return op->nin >= 11 ? 10 : 7;
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return 3;
    case ANEURALNETWORKS_ADD:
    case ANEURALNETWORKS_SUB:
    case ANEURALNETWORKS_MUL:
    case ANEURALNETWORKS_DIV:
        return 2;
    default:
        return UINT32_MAX;
    }
}

static void drop_activation(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    if (activation_at(op) != UINT32_MAX) set_int(m, op, activation_at(op), ANEURALNETWORKS_FUSED_NONE, arena);
}
static void relu6_as_relu(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    uint32_t at = activation_at(op);
    if (op->type == ANEURALNETWORKS_RELU6) op->type = ANEURALNETWORKS_RELU;
    if (at != UINT32_MAX && int_of(m, op, at) == ANEURALNETWORKS_FUSED_RELU6)
        set_int(m, op, at, ANEURALNETWORKS_FUSED_RELU, arena);
}
static void relu1_as_relu6(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    uint32_t at = activation_at(op);
    if (op->type == ANEURALNETWORKS_RELU1) op->type = ANEURALNETWORKS_RELU6;
    if (at != UINT32_MAX && int_of(m, op, at) == ANEURALNETWORKS_FUSED_RELU1)
        set_int(m, op, at, ANEURALNETWORKS_FUSED_RELU6, arena);
}

/* ------------------------------------------------------------------- other operations */

static void swap_operands(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    (void)m;
    (void)arena;
    if (op->type == ANEURALNETWORKS_SUB || op->type == ANEURALNETWORKS_DIV || op->type == ANEURALNETWORKS_LESS)
        swap(op, 0, 1);
}
static void last_axis(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    if (op->type == ANEURALNETWORKS_SOFTMAX) set_int(m, op, 2, -1, arena);
    if (op->type == ANEURALNETWORKS_LOG_SOFTMAX) set_int(m, op, 2, -1, arena);
}
static void inverse_permutation(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    int32_t *p = op->type == ANEURALNETWORKS_TRANSPOSE ? own_input(m, op, 1, arena) : NULL, was[NNV_MAX_RANK];
    size_t n = p ? input(m, op, 1)->bytes / sizeof *p : 0;
    for (size_t i = 0; i < n && n <= NNV_MAX_RANK; i++) was[i] = p[i];
    for (size_t i = 0; i < n && n <= NNV_MAX_RANK; i++)
        if (was[i] >= 0 && (size_t)was[i] < n) p[was[i]] = (int32_t)i;
}
static void flip_adjoint(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    uint8_t *flag = op->type == ANEURALNETWORKS_BATCH_MATMUL ? own_input(m, op, 3, arena) : NULL;
    if (flag) *flag = !*flag;
}
static void radius_plus_one(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    if (op->type == ANEURALNETWORKS_LOCAL_RESPONSE_NORMALIZATION) set_int(m, op, 1, int_of(m, op, 1) + 1, arena);
}
static void drop_corners(struct nnv_model *m, struct nnv_operation *op, struct nnv_arena *arena) {
    bool resize = op->type == ANEURALNETWORKS_RESIZE_BILINEAR || op->type == ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR;
    for (uint32_t i = 4; resize && i < op->nin; i++) {
        uint8_t *flag = own_input(m, op, i, arena);
        if (flag) *flag = 0;
    }
}

/* ----------------------------------------------------------------------- quantisation */

static void drop_zero_point(struct nnv_model *m, struct nnv_arena *arena) {
    (void)arena;
    for (uint32_t i = 0; i < m->main.nin; i++) m->main.operands[m->main.in[i]].zero_point = 0;
}
static void take_first_scale(struct nnv_model *m, struct nnv_arena *arena) {
    (void)arena;
    for (uint32_t i = 1; i < m->main.nin; i++) {
        struct nnv_operand *o = &m->main.operands[m->main.in[i]];
        if (o->scale > 0) o->scale = m->main.operands[m->main.in[0]].scale;
    }
}
static void take_first_channel(struct nnv_model *m, struct nnv_arena *arena) {
    for (uint32_t i = 0; i < m->main.noperands; i++) {
        struct nnv_channel_quant *q = &m->main.operands[i].channel;
        float *scales = NNV_NEW(arena, float, q->count);
        for (uint32_t k = 0; scales && k < q->count; k++) scales[k] = q->scales[0];
        if (scales && q->count) q->scales = scales;
    }
}
static void take_other_channels(struct nnv_model *m, struct nnv_arena *arena) {
    (void)arena;
    for (uint32_t i = 0; i < m->main.noperands; i++)
        if (m->main.operands[i].channel.count)
            m->main.operands[i].channel.dim = m->main.operands[i].channel.dim ? 0 : 3;
}
static void double_output_scale(struct nnv_model *m, struct nnv_arena *arena) {
    (void)arena;
    for (uint32_t i = 0; i < m->main.nout; i++) m->main.operands[m->main.out[i]].scale *= 2;
}

static void swap_first(uint32_t *list, uint32_t n) {
    if (n < 2) return;
    uint32_t first = list[0];
    list[0] = list[1];
    list[1] = first;
}
static void swap_inputs(struct nnv_model *m, struct nnv_arena *arena) {
    (void)arena;
    swap_first(m->main.in, m->main.nin);
}
static void swap_outputs(struct nnv_model *m, struct nnv_arena *arena) {
    (void)arena;
    swap_first(m->main.out, m->main.nout);
}

/* ------------------------------------------------------------------------------- all */

static const struct compiler_fault faults[] = {
    {.name = "escape-accepted",
     .models = "a match whose value is used outside is accepted, and the value computed twice",
     .fires = "programs in which a part of a match has another user",
     .parsed = fault_copies},
    {.name = "sinks-into-branch",
     .models = "a value joins the branch that uses it, though it is written outside",
     .fires = "values that one branch alone uses",
     .parsed = fault_no_places},
    {.name = "priority-reversed",
     .models = "the last entry of a pattern table wins",
     .fires = "tables with entries that overlap",
     .table = fault_reversed},
    {.name = "alternatives-reversed",
     .models = "the last alternative that fits is taken",
     .fires = "patterns with alternatives or optional parts",
     .table = fault_alternatives},
    {.name = "wildcard-no-identity",
     .models = "a wildcard that stands twice may be two values",
     .fires = "patterns that name a wildcard",
     .table = fault_no_identity},
    {.name = "checks-ignored",
     .models = "an entry's conditions are not looked at",
     .fires = "patterns with checks",
     .table = fault_no_checks},
    {.name = "pattern-attributes-ignored",
     .models = "attributes of a pattern are not compared",
     .fires = "patterns with attributes",
     .table = fault_no_attrs},
    {.name = "constant-pattern-any",
     .models = "a constant in a pattern fits any value",
     .fires = "patterns with constants",
     .table = fault_any_constant},
    {.name = "last-target",
     .models = "the last target that accepts an operation takes it",
     .fires = "several targets with common operators",
     .accepts = fault_last_target},
    {.name = "condition-on-default",
     .models = "conditions look at the default of an attribute, whatever is written",
     .fires = "conditions of support",
     .accepts = fault_defaults},
    {.name = "never-prunes", .models = "rules for regions are not applied", .fires = "pruning", .never_prune = true},
    {.name = "cyclic-merge",
     .models = "two regions are joined although a third stands between them",
     .fires = "two regions of one target",
     .cut = fault_cycle},
    {.name = "never-merges",
     .models = "each operation is a region of its own",
     .fires = "regions of several operations",
     .cut = fault_singles},
    {.name = "constant-not-bound",
     .models = "constants of a region are passed at each call",
     .fires = "regions with constants",
     .cut = fault_unbound},
    {.name = "operand-passed-twice",
     .models = "equal operands are two parameters",
     .fires = "regions with parameters",
     .cut = fault_twice},
    {.name = "output-dropped",
     .models = "the last output of a region is lost",
     .fires = "regions with several outputs",
     .cut = fault_dropped},
    {.name = "outputs-swapped",
     .models = "outputs of a region in another order than their users expect",
     .fires = "regions with several outputs",
     .cut = fault_swapped},
    {.name = "operands-swapped",
     .models = "operands in another order than the parameters",
     .fires = "regions with several parameters",
     .cut = fault_arguments},
    {.name = "axis-lost",
     .models = "an axis is taken for the default",
     .fires = "operators with an axis that is written",
     .cut = fault_axis},
    {.name = "strides-swapped",
     .models = "stride of the height in the slot of the width",
     .fires = "windows with unequal strides",
     .operation = swap_strides},
    {.name = "padding-axes-swapped",
     .models = "padding of the height in the slots of the width",
     .fires = "windows with unequal padding",
     .operation = swap_axes_of_pads},
    {.name = "padding-ends-swapped",
     .models = "padding before and behind in each other's slots",
     .fires = "windows with unequal padding",
     .operation = swap_ends_of_pads},
    {.name = "window-swapped",
     .models = "height of a window in the slot of the width",
     .fires = "pools with windows that are not square",
     .operation = swap_window},
    {.name = "dilation-ignored",
     .models = "dilation is not looked at",
     .fires = "convolutions with dilation",
     .operation = drop_dilation},
    {.name = "kernel-not-transposed",
     .models = "a filter's values stay in the order of another layout",
     .fires = "convolutions with constant filters",
     .operation = permute_filter},
    {.name = "groups-swapped",
     .models = "groups of a filter in another order",
     .fires = "GROUPED_CONV_2D",
     .operation = swap_groups},
    {.name = "bias-dropped",
     .models = "a bias that was merged is lost",
     .fires = "convolutions and FULLY_CONNECTED with bias",
     .operation = drop_bias},
    {.name = "activation-dropped",
     .models = "an activation that was merged is lost",
     .fires = "fused activations",
     .operation = drop_activation},
    {.name = "relu6-as-relu",
     .models = "clip(0, 6) without its upper end",
     .fires = "RELU6, fused or not",
     .operation = relu6_as_relu},
    {.name = "relu1-as-relu6",
     .models = "clip(-1, 1) as another clip",
     .fires = "RELU1, fused or not",
     .operation = relu1_as_relu6},
    {.name = "order-of-operands",
     .models = "operands of what does not commute change places",
     .fires = "SUB, DIV, LESS",
     .operation = swap_operands},
    {.name = "softmax-last-axis",
     .models = "the axis is taken for the last",
     .fires = "SOFTMAX and LOG_SOFTMAX with another axis",
     .operation = last_axis},
    {.name = "inverse-transpose",
     .models = "a permutation the other way round",
     .fires = "TRANSPOSE",
     .operation = inverse_permutation},
    {.name = "matmul-transposed",
     .models = "a flag of transposition is inverted",
     .fires = "BATCH_MATMUL of square matrices",
     .operation = flip_adjoint},
    {.name = "lrn-size-as-radius",
     .models = "a size taken for a radius",
     .fires = "LOCAL_RESPONSE_NORMALIZATION",
     .operation = radius_plus_one},
    {.name = "resize-mode-ignored",
     .models = "how coordinates are transformed is not looked at",
     .fires = "RESIZE_BILINEAR",
     .operation = drop_corners},
    {.name = "zero-point-lost",
     .models = "zero points of inputs are 0",
     .fires = "quantised inputs with a zero point",
     .model = drop_zero_point},
    {.name = "first-scale-for-all",
     .models = "the first input's scale for all inputs",
     .fires = "quantised inputs of unequal scale",
     .model = take_first_scale},
    {.name = "first-channel-scale",
     .models = "one scale for all channels",
     .fires = "filters with scales per channel",
     .model = take_first_channel},
    {.name = "channel-dimension",
     .models = "scales run along another dimension",
     .fires = "filters with scales per channel",
     .model = take_other_channels},
    {.name = "output-scale",
     .models = "a result has another scale than the program says",
     .fires = "quantised outputs",
     .model = double_output_scale},
    {.name = "model-inputs-swapped",
     .models = "inputs in another order than the parameters",
     .fires = "models with several inputs",
     .model = swap_inputs},
    {.name = "model-outputs-swapped",
     .models = "outputs in another order than the results",
     .fires = "models with several outputs",
     .model = swap_outputs},
    {.name = "any-condition",
     .models = "one of an operator's conditions is enough, where all must hold",
     .fires = "support with several conditions",
     .text = fault_any_condition},
    {.name = "any-check",
     .models = "one check of an entry is enough, where all must hold",
     .fires = "patterns with several checks",
     .table = fault_any_check},
    {.name = "unknown-members-ignored",
     .models = "a member that nobody knows is passed over",
     .fires = "tables, support and rules with a slip of the pen",
     .text = fault_unknown_members},
    {.name = "measured-region-not-used",
     .models = "a region that was measured as a whole costs the sum of its operations",
     .fires = "profiles with regions",
     .text = fault_no_regions},
    {.name = "noise-ignored",
     .models = "a difference within the noise decides",
     .fires = "profiles with noise",
     .text = fault_no_noise},
    {.name = "launch-not-counted",
     .models = "to start a region costs nothing",
     .fires = "costs of a launch",
     .text = fault_no_launch},
    {.name = "crossing-not-counted",
     .models = "tensors go to the target and back for nothing",
     .fires = "costs of a crossing",
     .text = fault_no_crossing},
    {.name = "targets-cost-the-same",
     .models = "what a target costs of its own is not looked at",
     .fires = "costs of several targets",
     .text = fault_one_target},
    {.name = "variance-negative",
     .models = "a variance is drawn as any value, and the golden result is NaN",
     .fires = "batch norms with their statistics as inputs",
     .drawn = {"nn.batch_norm", 4}},
    {.name = "root-of-negative",
     .models = "what a root is taken of is drawn as any value",
     .fires = "roots of an input",
     .drawn = {"sqrt", 0}},
    {.name = "metadata-field-missing",
     .models = "a field that TVM's loader visits is not written",
     .fires = "programs with constants",
     .text = fault_no_span},
    {.name = "metadata-no-extents",
     .models = "the extents of a shape are not written",
     .fires = "programs of Relax with constants",
     .text = fault_no_extents},
    {.name = "metadata-other-constant",
     .models = "constants have each other's number",
     .fires = "programs with several constants",
     .text = fault_other_constant},
    {.name = "relax-strides-as-dilation",
     .models = "a parameter of Relax becomes the wrong attribute",
     .fires = "convolutions of Relax",
     .relax = {"nn.conv2d", "strides", "dilation"}},
    {.name = "relax-begin-as-end",
     .models = "a parameter of Relax becomes the wrong attribute",
     .fires = "slices of Relax",
     .relax = {"strided_slice", "begin", "end"}},
    {.name = "move-offset",
     .models = "a copy begins at the wrong element",
     .fires = "slices and splits in the class of the whole program",
     .program = fault_offset},
    {.name = "move-source",
     .models = "a copy takes the wrong operand",
     .fires = "concatenations in the class of the whole program",
     .program = fault_source},
    {.name = "cast-wraps",
     .models = "a cast to an integer does not saturate",
     .fires = "casts in the class of the whole program",
     .source = {"return Limits::max();", "return static_cast<To>(static_cast<int64_t>(v));"}},
};

const struct compiler_fault *compiler_faults(size_t *n) {
    *n = sizeof faults / sizeof *faults;
    return faults;
}

void compiler_fault_spoil(const struct compiler_fault *fault, struct nnv_model *m, struct nnv_arena *arena) {
    for (uint32_t i = 0; fault->operation && i < m->main.noperations; i++)
        fault->operation(m, &m->main.operations[i], arena);
    if (fault->model) fault->model(m, arena);
}
