/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compiler.c Bugs of the compiler from Relay, not of a driver: this driver only carries their names to the
 * suite "compiler", which plants them in what one stage of the compiler hands to the next, and does as the other one
 * does.
 */
#include "faulty.h"

#define COMPILER_BUG(called, ...) BUG("compiler-" called, __VA_ARGS__, .legal = false)

static const struct bug bugs[] = {
    COMPILER_BUG("escape-accepted", "a match whose value is used outside is accepted, and the value computed twice",
                 "programs in which a part of a match has another user"),
    COMPILER_BUG("sinks-into-branch", "a value joins the branch that uses it, though it is written outside",
                 "values that one branch alone uses"),
    COMPILER_BUG("priority-reversed", "the last entry of a pattern table wins", "tables with entries that overlap"),
    COMPILER_BUG("alternatives-reversed", "the last alternative that fits is taken",
                 "patterns with alternatives or optional parts"),
    COMPILER_BUG("wildcard-no-identity", "a wildcard that stands twice may be two values",
                 "patterns that name a wildcard"),
    COMPILER_BUG("checks-ignored", "an entry's conditions are not looked at", "patterns with checks"),
    COMPILER_BUG("pattern-attributes-ignored", "attributes of a pattern are not compared", "patterns with attributes"),
    COMPILER_BUG("constant-pattern-any", "a constant in a pattern fits any value", "patterns with constants"),
    COMPILER_BUG("last-target", "the last target that accepts an operation takes it",
                 "several targets with common operators"),
    COMPILER_BUG("condition-on-default", "conditions look at the default of an attribute, whatever is written",
                 "conditions of support"),
    COMPILER_BUG("never-prunes", "rules for regions are not applied", "pruning"),
    COMPILER_BUG("cyclic-merge", "two regions are joined although a third stands between them",
                 "two regions of one target"),
    COMPILER_BUG("never-merges", "each operation is a region of its own", "regions of several operations"),
    COMPILER_BUG("constant-not-bound", "constants of a region are passed at each call", "regions with constants"),
    COMPILER_BUG("operand-passed-twice", "equal operands are two parameters", "regions with parameters"),
    COMPILER_BUG("output-dropped", "the last output of a region is lost", "regions with several outputs"),
    COMPILER_BUG("outputs-swapped", "outputs of a region in another order than their users expect",
                 "regions with several outputs"),
    COMPILER_BUG("operands-swapped", "operands in another order than the parameters",
                 "regions with several parameters"),
    COMPILER_BUG("axis-lost", "an axis is taken for the default", "operators with an axis that is written"),
    COMPILER_BUG("strides-swapped", "stride of the height in the slot of the width", "windows with unequal strides"),
    COMPILER_BUG("padding-axes-swapped", "padding of the height in the slots of the width",
                 "windows with unequal padding"),
    COMPILER_BUG("padding-ends-swapped", "padding before and behind in each other's slots",
                 "windows with unequal padding"),
    COMPILER_BUG("window-swapped", "height of a window in the slot of the width",
                 "pools with windows that are not square"),
    COMPILER_BUG("dilation-ignored", "dilation is not looked at", "convolutions with dilation"),
    COMPILER_BUG("kernel-not-transposed", "a filter's values stay in the order of another layout",
                 "convolutions with constant filters"),
    COMPILER_BUG("groups-swapped", "groups of a filter in another order", "GROUPED_CONV_2D"),
    COMPILER_BUG("bias-dropped", "a bias that was merged is lost", "convolutions and FULLY_CONNECTED with bias"),
    COMPILER_BUG("activation-dropped", "an activation that was merged is lost", "fused activations"),
    COMPILER_BUG("relu6-as-relu", "clip(0, 6) without its upper end", "RELU6, fused or not"),
    COMPILER_BUG("relu1-as-relu6", "clip(-1, 1) as another clip", "RELU1, fused or not"),
    COMPILER_BUG("order-of-operands", "operands of what does not commute change places", "SUB, DIV, LESS"),
    COMPILER_BUG("softmax-last-axis", "the axis is taken for the last", "SOFTMAX and LOG_SOFTMAX with another axis"),
    COMPILER_BUG("inverse-transpose", "a permutation the other way round", "TRANSPOSE"),
    COMPILER_BUG("matmul-transposed", "a flag of transposition is inverted", "BATCH_MATMUL of square matrices"),
    COMPILER_BUG("lrn-size-as-radius", "a size taken for a radius", "LOCAL_RESPONSE_NORMALIZATION"),
    COMPILER_BUG("resize-mode-ignored", "how coordinates are transformed is not looked at", "RESIZE_BILINEAR"),
    COMPILER_BUG("zero-point-lost", "zero points of inputs are 0", "quantised inputs with a zero point"),
    COMPILER_BUG("first-scale-for-all", "the first input's scale for all inputs", "quantised inputs of unequal scale"),
    COMPILER_BUG("first-channel-scale", "one scale for all channels", "filters with scales per channel"),
    COMPILER_BUG("channel-dimension", "scales run along another dimension", "filters with scales per channel"),
    COMPILER_BUG("output-scale", "a result has another scale than the program says", "quantised outputs"),
    COMPILER_BUG("model-inputs-swapped", "inputs in another order than the parameters", "models with several inputs"),
    COMPILER_BUG("model-outputs-swapped", "outputs in another order than the results", "models with several outputs"),
};
const struct bug_group bugs_compiler = {bugs, sizeof bugs / sizeof *bugs};
