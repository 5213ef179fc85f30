/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's table of kernels, and the functions on numbers that its rows name. */
#include <math.h>
#include <string.h>

#include "compiler/relay/interp/interp_kernel.h"

/* ---------------------------------------------------------------- functions */

static double zero(double x) { return (void)x, 0; }
static double one(double x) { return (void)x, 1; }
static double lowest(double x) { return (void)x, -INFINITY; }
static double highest(double x) { return (void)x, INFINITY; }
static double negated(double x) { return -x; }
static double inverted(double x) { return x == 0; }
static double rectified(double x) { return x < 0 ? 0 : x; }
static double sign(double x) { return isnan(x) ? x : (x > 0) - (x < 0); }
static double inverse_root(double x) { return 1 / sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static double complement(double x) { return -x - 1; }
static double is_nan(double x) { return isnan(x); }
static double is_infinite(double x) { return isinf(x) != 0; }
static double is_finite(double x) { return isfinite(x); }
static double hard_swish(double x) { return x * fmin(fmax(x + 3, 0), 6) / 6; }

static double sum(double a, double b) { return a + b; }
static double difference(double a, double b) { return a - b; }
static double product(double a, double b) { return a * b; }
static double quotient(double a, double b) { return a / b; }
static double greatest(double a, double b) { return isnan(a) || a > b ? a : b; }
static double least(double a, double b) { return isnan(a) || a < b ? a : b; }
static double floor_quotient(double a, double b) { return floor(a / b); }
static double floor_rest(double a, double b) { return a - floor(a / b) * b; }
static double leaky(double x, double alpha) { return x > 0 ? x : x * alpha; }
static double both(double a, double b) { return a != 0 && b != 0; }
static double either(double a, double b) { return a != 0 || b != 0; }
static double equal(double a, double b) { return a == b; }
static double unequal(double a, double b) { return a != b; }
static double less(double a, double b) { return a < b; }
static double less_equal(double a, double b) { return a <= b; }
static double greater(double a, double b) { return a > b; }
static double greater_equal(double a, double b) { return a >= b; }
static double part(double x, double all) { return exp(x) / all; }
static double log_part(double x, double all) { return x - log(all); }

static int64_t whole_sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t whole_product(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t whole_quotient(int64_t a, int64_t b) { return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
static int64_t whole_rest(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
static int64_t whole_floor_quotient(int64_t a, int64_t b) {
    return whole_quotient(a, b) - (whole_rest(a, b) != 0 && (a < 0) != (b < 0));
}
static int64_t whole_floor_rest(int64_t a, int64_t b) {
    int64_t rest = whole_rest(a, b);
    return rest != 0 && (a < 0) != (b < 0) ? rest + b : rest;
}
static int64_t bits_and(int64_t a, int64_t b) { return a & b; }
static int64_t bits_or(int64_t a, int64_t b) { return a | b; }
static int64_t bits_xor(int64_t a, int64_t b) { return a ^ b; }
static int64_t shift_left(int64_t a, int64_t b) { return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b); }
static int64_t shift_right(int64_t a, int64_t b) { return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b; }
static int64_t whole_power(int64_t a, int64_t b) {
    uint64_t result = 1, base = (uint64_t)a;
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (; b; b /= 2, base *= base)
        if (b % 2) result *= base;
    return (int64_t)result;
}

/* --------------------------------------------------------------------- rows */

#define KERNEL(name) .run = nnv_interp_##name
#define UNARY(f) .run = nnv_interp_unary, .one = (f)
#define BINARY(f) .run = nnv_interp_binary, .two = (f)
#define REDUCE(from, f) .run = nnv_interp_reduce, .one = (from), .two = (f)

/* In the order of their names. */
static const struct nnv_interp_row rows[] = {
    {"abs", UNARY(fabs)},
    {"add", BINARY(sum)},
    {"all", REDUCE(one, both)},
    {"annotation.stop_fusion", KERNEL(view)},
    {"any", REDUCE(zero, either)},
    {"arange", KERNEL(arange)},
    {"argmax", KERNEL(arg), .two = greater},
    {"argmin", KERNEL(arg), .two = less},
    {"argsort", KERNEL(argsort)},
    {"atan", UNARY(atan)},
    {"bitwise_and", KERNEL(binary), .whole = bits_and},
    {"bitwise_not", UNARY(complement)},
    {"bitwise_or", KERNEL(binary), .whole = bits_or},
    {"bitwise_xor", KERNEL(binary), .whole = bits_xor},
    {"broadcast_to", KERNEL(broadcast)},
    {"broadcast_to_like", KERNEL(broadcast)},
    {"cast", KERNEL(cast)},
    {"ceil", UNARY(ceil)},
    {"clip", KERNEL(clip)},
    {"concatenate", KERNEL(concatenate)},
    {"copy", KERNEL(view)},
    {"cos", UNARY(cos)},
    {"cosh", UNARY(cosh)},
    {"cumprod", KERNEL(cumulate), .one = one, .two = product, .whole = whole_product},
    {"cumsum", KERNEL(cumulate), .one = zero, .two = sum, .whole = whole_sum},
    {"divide", BINARY(quotient), .whole = whole_quotient, .divides = true},
    {"equal", BINARY(equal)},
    {"erf", UNARY(erf)},
    {"exp", UNARY(exp)},
    {"expand_dims", KERNEL(view)},
    {"floor", UNARY(floor)},
    {"floor_divide", BINARY(floor_quotient), .whole = whole_floor_quotient, .divides = true},
    {"floor_mod", BINARY(floor_rest), .whole = whole_floor_rest, .divides = true},
    {"full", KERNEL(fill)},
    {"full_like", KERNEL(fill)},
    {"gather", KERNEL(gather)},
    {"gather_nd", KERNEL(gather_nd)},
    {"greater", BINARY(greater)},
    {"greater_equal", BINARY(greater_equal)},
    {"image.resize2d", KERNEL(resize2d)},
    {"isfinite", UNARY(is_finite)},
    {"isinf", UNARY(is_infinite)},
    {"isnan", UNARY(is_nan)},
    {"layout_transform", KERNEL(layout_transform)},
    {"left_shift", KERNEL(binary), .whole = shift_left},
    {"less", BINARY(less)},
    {"less_equal", BINARY(less_equal)},
    {"log", UNARY(log)},
    {"log10", UNARY(log10)},
    {"log2", UNARY(log2)},
    {"logical_and", BINARY(both)},
    {"logical_not", UNARY(inverted)},
    {"logical_or", BINARY(either)},
    {"logical_xor", BINARY(unequal)},
    {"logsumexp", KERNEL(logsumexp)},
    {"max", REDUCE(lowest, greatest)},
    {"maximum", BINARY(greatest)},
    {"mean", KERNEL(mean)},
    {"min", REDUCE(highest, least)},
    {"minimum", BINARY(least)},
    {"mod", BINARY(fmod), .whole = whole_rest, .divides = true},
    {"multiply", BINARY(product), .whole = whole_product},
    {"negative", UNARY(negated)},
    {"nn.adaptive_avg_pool2d", KERNEL(adaptive_pool)},
    {"nn.adaptive_max_pool2d", KERNEL(adaptive_pool)},
    {"nn.avg_pool2d", KERNEL(avg_pool2d)},
    {"nn.batch_flatten", KERNEL(view)},
    {"nn.batch_matmul", KERNEL(batch_matmul)},
    {"nn.batch_norm", KERNEL(batch_norm)},
    {"nn.batch_to_space_nd", KERNEL(batch_to_space)},
    {"nn.bias_add", KERNEL(bias_add)},
    {"nn.conv1d", KERNEL(conv1d)},
    {"nn.conv2d", KERNEL(conv2d)},
    {"nn.conv2d_transpose", KERNEL(conv2d_transpose)},
    {"nn.dense", KERNEL(dense)},
    {"nn.depth_to_space", KERNEL(depth_to_space)},
    {"nn.dropout", KERNEL(dropout)},
    {"nn.global_avg_pool2d", KERNEL(adaptive_pool)},
    {"nn.global_max_pool2d", KERNEL(adaptive_pool)},
    {"nn.group_norm", KERNEL(norm)},
    {"nn.instance_norm", KERNEL(norm)},
    {"nn.l2_normalize", KERNEL(l2_normalize)},
    {"nn.layer_norm", KERNEL(norm)},
    {"nn.leaky_relu", KERNEL(leaky_relu)},
    {"nn.log_softmax", KERNEL(softmax), .two = log_part},
    {"nn.lrn", KERNEL(lrn)},
    {"nn.matmul", KERNEL(matmul)},
    {"nn.max_pool2d", KERNEL(max_pool2d)},
    {"nn.mirror_pad", KERNEL(mirror_pad)},
    {"nn.pad", KERNEL(pad)},
    {"nn.prelu", KERNEL(prelu)},
    {"nn.relu", UNARY(rectified)},
    {"nn.softmax", KERNEL(softmax), .two = part},
    {"nn.space_to_batch_nd", KERNEL(space_to_batch)},
    {"nn.space_to_depth", KERNEL(space_to_depth)},
    {"nn.upsampling", KERNEL(upsampling)},
    {"not_equal", BINARY(unequal)},
    {"one_hot", KERNEL(one_hot)},
    {"ones", KERNEL(fill), .one = one},
    {"ones_like", KERNEL(fill), .one = one},
    {"power", BINARY(pow), .whole = whole_power},
    {"prod", REDUCE(one, product), .whole = whole_product},
    {"qnn.abs", KERNEL(qnn_unary), .one = fabs},
    {"qnn.add", KERNEL(qnn_binary)},
    {"qnn.batch_matmul", KERNEL(batch_matmul)},
    {"qnn.concatenate", KERNEL(qnn_concatenate)},
    {"qnn.conv2d", KERNEL(conv2d)},
    {"qnn.conv2d_transpose", KERNEL(conv2d_transpose)},
    {"qnn.dense", KERNEL(dense)},
    {"qnn.dequantize", KERNEL(dequantize)},
    {"qnn.erf", KERNEL(qnn_unary), .one = erf},
    {"qnn.exp", KERNEL(qnn_unary), .one = exp},
    {"qnn.hardswish", KERNEL(qnn_unary), .one = hard_swish},
    {"qnn.leaky_relu", KERNEL(qnn_unary), .two = leaky},
    {"qnn.log", KERNEL(qnn_unary), .one = log},
    {"qnn.mul", KERNEL(qnn_binary)},
    {"qnn.quantize", KERNEL(quantize)},
    {"qnn.requantize", KERNEL(requantize)},
    {"qnn.rsqrt", KERNEL(qnn_unary), .one = inverse_root},
    {"qnn.sigmoid", KERNEL(qnn_unary), .one = sigmoid},
    {"qnn.sqrt", KERNEL(qnn_unary), .one = sqrt},
    {"qnn.subtract", KERNEL(qnn_binary)},
    {"qnn.tanh", KERNEL(qnn_unary), .one = tanh},
    {"repeat", KERNEL(repeat)},
    {"reshape", KERNEL(view)},
    {"reshape_like", KERNEL(view)},
    {"reverse", KERNEL(reverse)},
    {"right_shift", KERNEL(binary), .whole = shift_right},
    {"round", UNARY(round)},
    {"rsqrt", UNARY(inverse_root)},
    {"sigmoid", UNARY(sigmoid)},
    {"sign", UNARY(sign)},
    {"sin", UNARY(sin)},
    {"sinh", UNARY(sinh)},
    {"slice_like", KERNEL(slice_like)},
    {"sort", KERNEL(sort)},
    {"split", KERNEL(split)},
    {"sqrt", UNARY(sqrt)},
    {"squeeze", KERNEL(view)},
    {"stack", KERNEL(stack)},
    {"strided_slice", KERNEL(slice)},
    {"subtract", BINARY(difference)},
    {"sum", REDUCE(zero, sum)},
    {"take", KERNEL(take)},
    {"tan", UNARY(tan)},
    {"tanh", UNARY(tanh)},
    {"tile", KERNEL(tile)},
    {"topk", KERNEL(topk)},
    {"transpose", KERNEL(transpose)},
    {"trunc", UNARY(trunc)},
    {"variance", KERNEL(variance)},
    {"vision.get_valid_counts", KERNEL(valid_counts)},
    {"vision.non_max_suppression", KERNEL(nms)},
    {"where", KERNEL(where)},
    {"zeros", KERNEL(fill), .one = zero},
    {"zeros_like", KERNEL(fill), .one = zero},
};

const struct nnv_interp_row *nnv_interp_row(const char *name) {
    size_t low = 0, high = sizeof rows / sizeof *rows;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, rows[middle].name);
        if (order == 0) return &rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

bool nnv_relay_runs(const char *op) { return nnv_interp_row(op) != NULL; }
