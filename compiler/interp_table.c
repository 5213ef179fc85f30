/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's table of kernels, and the functions on numbers that its rows name. */
#include <math.h>
#include <string.h>

#include "compiler/interp_kernel.h"

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

static double sum(double a, double b) { return a + b; }
static double difference(double a, double b) { return a - b; }
static double product(double a, double b) { return a * b; }
static double quotient(double a, double b) { return a / b; }
static double greatest(double a, double b) { return isnan(a) || a > b ? a : b; }
static double least(double a, double b) { return isnan(a) || a < b ? a : b; }
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

static int64_t whole_product(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t whole_quotient(int64_t a, int64_t b) { return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
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
    {"any", REDUCE(zero, either)},
    {"argmax", KERNEL(arg), .two = greater},
    {"argmin", KERNEL(arg), .two = less},
    {"cast", KERNEL(cast)},
    {"ceil", UNARY(ceil)},
    {"clip", KERNEL(clip)},
    {"concatenate", KERNEL(concatenate)},
    {"copy", KERNEL(view)},
    {"cos", UNARY(cos)},
    {"divide", BINARY(quotient), .whole = whole_quotient, .divides = true},
    {"equal", BINARY(equal)},
    {"erf", UNARY(erf)},
    {"exp", UNARY(exp)},
    {"expand_dims", KERNEL(view)},
    {"floor", UNARY(floor)},
    {"greater", BINARY(greater)},
    {"greater_equal", BINARY(greater_equal)},
    {"image.resize2d", KERNEL(resize2d)},
    {"less", BINARY(less)},
    {"less_equal", BINARY(less_equal)},
    {"log", UNARY(log)},
    {"logical_and", BINARY(both)},
    {"logical_not", UNARY(inverted)},
    {"logical_or", BINARY(either)},
    {"max", REDUCE(lowest, greatest)},
    {"maximum", BINARY(greatest)},
    {"mean", KERNEL(mean)},
    {"min", REDUCE(highest, least)},
    {"minimum", BINARY(least)},
    {"multiply", BINARY(product), .whole = whole_product},
    {"negative", UNARY(negated)},
    {"nn.adaptive_avg_pool2d", KERNEL(adaptive_pool)},
    {"nn.avg_pool2d", KERNEL(avg_pool2d)},
    {"nn.batch_flatten", KERNEL(view)},
    {"nn.batch_matmul", KERNEL(batch_matmul)},
    {"nn.batch_norm", KERNEL(batch_norm)},
    {"nn.bias_add", KERNEL(bias_add)},
    {"nn.conv2d", KERNEL(conv2d)},
    {"nn.dense", KERNEL(dense)},
    {"nn.global_avg_pool2d", KERNEL(adaptive_pool)},
    {"nn.global_max_pool2d", KERNEL(adaptive_pool)},
    {"nn.leaky_relu", KERNEL(leaky_relu)},
    {"nn.log_softmax", KERNEL(softmax), .two = log_part},
    {"nn.lrn", KERNEL(lrn)},
    {"nn.max_pool2d", KERNEL(max_pool2d)},
    {"nn.pad", KERNEL(pad)},
    {"nn.prelu", KERNEL(prelu)},
    {"nn.relu", UNARY(rectified)},
    {"nn.softmax", KERNEL(softmax), .two = part},
    {"not_equal", BINARY(unequal)},
    {"ones", KERNEL(fill), .one = one},
    {"ones_like", KERNEL(fill), .one = one},
    {"power", BINARY(pow), .whole = whole_power},
    {"prod", REDUCE(one, product), .whole = whole_product},
    {"qnn.add", KERNEL(qnn_binary)},
    {"qnn.concatenate", KERNEL(qnn_concatenate)},
    {"qnn.conv2d", KERNEL(conv2d)},
    {"qnn.dense", KERNEL(dense)},
    {"qnn.dequantize", KERNEL(dequantize)},
    {"qnn.mul", KERNEL(qnn_binary)},
    {"qnn.quantize", KERNEL(quantize)},
    {"qnn.requantize", KERNEL(requantize)},
    {"qnn.subtract", KERNEL(qnn_binary)},
    {"reshape", KERNEL(view)},
    {"round", UNARY(round)},
    {"rsqrt", UNARY(inverse_root)},
    {"sigmoid", UNARY(sigmoid)},
    {"sign", UNARY(sign)},
    {"sin", UNARY(sin)},
    {"split", KERNEL(split)},
    {"sqrt", UNARY(sqrt)},
    {"squeeze", KERNEL(view)},
    {"strided_slice", KERNEL(slice)},
    {"subtract", BINARY(difference)},
    {"sum", REDUCE(zero, sum)},
    {"tanh", UNARY(tanh)},
    {"transpose", KERNEL(transpose)},
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
