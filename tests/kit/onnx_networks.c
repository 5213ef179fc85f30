/* SPDX-License-Identifier: Apache-2.0 */
/* MobileNet v2, ResNet-18 and an encoder block of a transformer, narrow ones, and their quantised forms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/kit/onnx_writer.h"

const char *const ow_network_names[OW_NETWORKS] = {"mobilenet_v2",      "resnet18",      "encoder",
                                                   "mobilenet_v2_int8", "resnet18_int8", "encoder_int8"};

/** A name of its own: of a value or a constant. */
static const char *fresh(struct onnx_writer *w, const char *what, char *name) {
    snprintf(name, 24, "%s%u", what, w->names++);
    return name;
}

enum { NAME = 24, LINE = 200 };

/** A convolution without a bias that batch normalisation follows, and a clip to 6 or RELU (0: neither). */
static void convolve(struct onnx_writer *w, char *x, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                     int64_t group, int most) {
    static const char *const params[] = {"scale", "shift", "mean", "variance"};
    char f[NAME], y[NAME], z[NAME], p[4][NAME], line[LINE];
    ow_weights(w, fresh(w, "w", f), sqrt(2.0 / (double)(in / group * kernel * kernel)),
               OW_DIMS(out, in / group, kernel, kernel));
    snprintf(line, sizeof line, "%s %s", x, f);
    ow_node(w, "Conv", line, fresh(w, "v", y));
    OW_ATTR(w, "pads", kernel / 2, kernel / 2, kernel / 2, kernel / 2);
    OW_ATTR(w, "strides", stride, stride);
    ow_attr_int(w, "group", group);
    for (int i = 0; i < 4; i++) {
        float *v = malloc((size_t)out * sizeof *v);
        assert_non_null(v);
        for (int64_t k = 0; k < out; k++) v[k] = i == 0 || i == 3 ? 1 + 0.1f * (float)(k % 3) : 0.05f * (float)(k % 5);
        ow_tensor(w, fresh(w, params[i], p[i]), NNV_ONNX_FLOAT, 1, &out, v, (size_t)out * sizeof *v);
        free(v);
    }
    snprintf(line, sizeof line, "%s %s %s %s %s", y, p[0], p[1], p[2], p[3]);
    ow_node(w, "BatchNormalization", line, fresh(w, "v", z));
    strcpy(x, z);
    if (most == 0) return;
    if (most == 6) {
        char low[NAME], high[NAME];
        ow_number(w, fresh(w, "low", low), 0);
        ow_number(w, fresh(w, "high", high), 6);
        snprintf(line, sizeof line, "%s %s %s", z, low, high);
        ow_node(w, "Clip", line, fresh(w, "v", x));
    } else {
        ow_node(w, "Relu", z, fresh(w, "v", x));
    }
}

static void add(struct onnx_writer *w, char *x, const char *shortcut) {
    char line[LINE];
    snprintf(line, sizeof line, "%s %s", x, shortcut);
    ow_node(w, "Add", line, fresh(w, "v", x));
}

/** The mean of the image, a matrix, and probabilities. */
static void classify(struct onnx_writer *w, char *x, int64_t channels) {
    char f[NAME], b[NAME], y[NAME], z[NAME], line[LINE];
    ow_node(w, "GlobalAveragePool", x, fresh(w, "v", y));
    ow_node(w, "Flatten", y, fresh(w, "v", z));
    ow_weights(w, fresh(w, "w", f), sqrt(1.0 / (double)channels), OW_DIMS(10, channels));
    ow_weights(w, fresh(w, "b", b), 0.1, OW_DIMS(10));
    snprintf(line, sizeof line, "%s %s %s", z, f, b);
    ow_node(w, "Gemm", line, fresh(w, "v", x));
    ow_attr_int(w, "transB", 1);
    ow_node(w, "Softmax", x, "probabilities");
    ow_output(w, "probabilities", NNV_ONNX_FLOAT, OW_DIMS(-1, 10));
}

static void mobilenet(struct onnx_writer *w) {
    static const int64_t rows[][4] = {{1, 8, 1, 1}, {6, 12, 2, 2}, {6, 16, 2, 2}, {6, 24, 1, 2}}; /* t, c, n, s */
    int64_t in = 16;
    char x[NAME] = "image", before[NAME];
    ow_input(w, "image", NNV_ONNX_FLOAT, OW_DIMS(-1, 3, 32, 32));
    convolve(w, x, 3, in, 3, 2, 1, 6);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int64_t i = 0; i < rows[r][2]; i++) {
            const int64_t wide = in * rows[r][0], out = rows[r][1], stride = i == 0 ? rows[r][3] : 1;
            strcpy(before, x);
            if (rows[r][0] > 1) convolve(w, x, in, wide, 1, 1, 1, 6);
            convolve(w, x, wide, wide, 3, stride, wide, 6);
            convolve(w, x, wide, out, 1, 1, 1, 0);
            if (stride == 1 && in == out) add(w, x, before);
            in = out;
        }
    convolve(w, x, in, 48, 1, 1, 1, 6);
    classify(w, x, 48);
}

static void resnet(struct onnx_writer *w) {
    char x[NAME] = "image", y[NAME], before[NAME];
    int64_t in = 8;
    ow_input(w, "image", NNV_ONNX_FLOAT, OW_DIMS(-1, 3, 32, 32));
    convolve(w, x, 3, in, 7, 2, 1, 1);
    ow_node(w, "MaxPool", x, fresh(w, "v", y));
    OW_ATTR(w, "kernel_shape", 3, 3);
    OW_ATTR(w, "strides", 2, 2);
    OW_ATTR(w, "pads", 1, 1, 1, 1);
    strcpy(x, y);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < 2; i++) {
            const int64_t out = 8 << stage, stride = stage > 0 && i == 0 ? 2 : 1;
            strcpy(before, x);
            convolve(w, x, in, out, 3, stride, 1, 1);
            convolve(w, x, out, out, 3, 1, 1, 0);
            if (stride != 1 || in != out) convolve(w, before, in, out, 1, stride, 1, 0);
            add(w, x, before);
            ow_node(w, "Relu", x, fresh(w, "v", y));
            strcpy(x, y);
            in = out;
        }
    classify(w, x, in);
}

/* ---------------------------------------------------------------------- an encoder */

enum { TOKENS = 6, WIDTH = 16, HEADS = 2 };

/** x by a matrix and a bias: in float, or with the matrix between DequantizeLinear as quantisers leave it. */
static void dense(struct onnx_writer *w, const char *x, int64_t in, int64_t out, bool int8, char *y) {
    char f[NAME], b[NAME], t[NAME], s[NAME], z[NAME], q[NAME], line[LINE];
    if (int8) {
        ow_codes(w, fresh(w, "w", q), NNV_ONNX_INT8, INT64_MIN, OW_DIMS(in, out));
        ow_number(w, fresh(w, "s", s), 0.004f);
        ow_codes(w, fresh(w, "z", z), NNV_ONNX_INT8, 0, 0, NULL);
        snprintf(line, sizeof line, "%s %s %s", q, s, z);
        ow_node(w, "DequantizeLinear", line, fresh(w, "f", f));
    } else {
        ow_weights(w, fresh(w, "w", f), sqrt(1.0 / (double)in), OW_DIMS(in, out));
    }
    ow_weights(w, fresh(w, "b", b), 0.1, OW_DIMS(out));
    snprintf(line, sizeof line, "%s %s", x, f);
    ow_node(w, "MatMul", line, fresh(w, "v", t));
    snprintf(line, sizeof line, "%s %s", t, b);
    ow_node(w, "Add", line, fresh(w, "v", y));
}

/** To bytes and back, as between layers of a quantised model. */
static void requantise(struct onnx_writer *w, char *x, float scale) {
    char s[NAME], z[NAME], q[NAME], line[LINE];
    ow_number(w, fresh(w, "s", s), scale);
    ow_codes(w, fresh(w, "z", z), NNV_ONNX_UINT8, 128, 0, NULL);
    snprintf(line, sizeof line, "%s %s %s", x, s, z);
    ow_node(w, "QuantizeLinear", line, fresh(w, "q", q));
    snprintf(line, sizeof line, "%s %s %s", q, s, z);
    ow_node(w, "DequantizeLinear", line, fresh(w, "v", x));
}

/** Heads side by side: [1, tokens, width] as [1, heads, tokens, width / heads], or turned once more for the keys. */
static void split_heads(struct onnx_writer *w, const char *x, bool turned, char *y) {
    char shape[NAME], t[NAME], line[LINE];
    ow_ints(w, fresh(w, "shape", shape), OW_DIMS(0, 0, HEADS, WIDTH / HEADS));
    snprintf(line, sizeof line, "%s %s", x, shape);
    ow_node(w, "Reshape", line, fresh(w, "v", t));
    ow_node(w, "Transpose", t, fresh(w, "v", y));
    if (turned)
        OW_ATTR(w, "perm", 0, 2, 3, 1);
    else
        OW_ATTR(w, "perm", 0, 2, 1, 3);
}

static void normalise(struct onnx_writer *w, const char *x, char *y) {
    char s[NAME], b[NAME], line[LINE];
    ow_weights(w, fresh(w, "s", s), 1, OW_DIMS(WIDTH));
    ow_weights(w, fresh(w, "b", b), 0.1, OW_DIMS(WIDTH));
    snprintf(line, sizeof line, "%s %s %s", x, s, b);
    ow_node(w, "LayerNormalization", line, fresh(w, "v", y));
    ow_attr_int(w, "axis", -1);
}

static void two(struct onnx_writer *w, const char *op, const char *a, const char *b, char *y) {
    char line[LINE];
    snprintf(line, sizeof line, "%s %s", a, b);
    ow_node(w, op, line, fresh(w, "v", y));
}

static void encoder(struct onnx_writer *w, bool int8) {
    char x[NAME] = "tokens", q[NAME], k[NAME], v[NAME], a[NAME], b[NAME], c[NAME], scale[NAME], half[NAME], root[NAME],
         one[NAME], shape[NAME];
    ow_input(w, "tokens", NNV_ONNX_FLOAT, OW_DIMS(1, TOKENS, WIDTH));
    if (int8) requantise(w, x, 0.03f);
    dense(w, x, WIDTH, WIDTH, int8, a);
    split_heads(w, a, false, q);
    dense(w, x, WIDTH, WIDTH, int8, a);
    split_heads(w, a, true, k);
    dense(w, x, WIDTH, WIDTH, int8, a);
    split_heads(w, a, false, v);
    two(w, "MatMul", q, k, a);
    ow_number(w, fresh(w, "c", scale), sqrtf((float)WIDTH / HEADS));
    two(w, "Div", a, scale, b);
    ow_node(w, "Softmax", b, fresh(w, "v", a));
    ow_attr_int(w, "axis", -1);
    two(w, "MatMul", a, v, b);
    ow_node(w, "Transpose", b, fresh(w, "v", a));
    OW_ATTR(w, "perm", 0, 2, 1, 3);
    ow_ints(w, fresh(w, "shape", shape), OW_DIMS(0, 0, -1));
    two(w, "Reshape", a, shape, b);
    if (int8) requantise(w, b, 0.02f);
    dense(w, b, WIDTH, WIDTH, int8, a);
    two(w, "Add", a, x, b);
    normalise(w, b, x);
    if (int8) requantise(w, x, 0.04f);
    dense(w, x, WIDTH, 4 * WIDTH, int8, a);
    /* GELU as PyTorch writes it: a / 2 * (1 + erf(a / sqrt(2))) */
    ow_number(w, fresh(w, "c", root), sqrtf(2));
    ow_number(w, fresh(w, "c", one), 1);
    ow_number(w, fresh(w, "c", half), 0.5f);
    two(w, "Div", a, root, b);
    ow_node(w, "Erf", b, fresh(w, "v", c));
    two(w, "Add", c, one, b);
    two(w, "Mul", a, b, c);
    two(w, "Mul", c, half, a);
    if (int8) requantise(w, a, 0.03f);
    dense(w, a, 4 * WIDTH, WIDTH, int8, b);
    two(w, "Add", b, x, a);
    normalise(w, a, b);
    ow_node(w, "Identity", b, "encoded");
    ow_output(w, "encoded", NNV_ONNX_FLOAT, OW_DIMS(1, TOKENS, WIDTH));
}

/* ------------------------------------------------------------------------- 8 bits */

/** A QLinearConv from bytes to bytes, all of one scale; RELU6 is what the range of the bytes cuts off. */
static void quantised(struct onnx_writer *w, char *x, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                      int64_t group, bool channels) {
    char f[NAME], s[NAME], z[NAME], b[NAME], y[NAME], line[LINE];
    const float scale = 0.6f / (float)sqrt((double)(in / group * kernel * kernel)) / 60;
    ow_codes(w, fresh(w, "w", f), NNV_ONNX_INT8, INT64_MIN, OW_DIMS(out, in / group, kernel, kernel));
    if (channels) {
        float *v = malloc((size_t)out * sizeof *v);
        assert_non_null(v);
        for (int64_t i = 0; i < out; i++) v[i] = scale * (1 + 0.1f * (float)(i % 4));
        ow_tensor(w, fresh(w, "s", s), NNV_ONNX_FLOAT, 1, &out, v, (size_t)out * sizeof *v);
        ow_codes(w, fresh(w, "z", z), NNV_ONNX_INT8, 0, 1, &out);
        free(v);
    } else {
        ow_number(w, fresh(w, "s", s), scale);
        ow_codes(w, fresh(w, "z", z), NNV_ONNX_INT8, 0, 0, NULL);
    }
    ow_codes(w, fresh(w, "b", b), NNV_ONNX_INT32, INT64_MIN, OW_DIMS(out));
    snprintf(line, sizeof line, "%s step zero %s %s %s step zero %s", x, f, s, z, b);
    ow_node(w, "QLinearConv", line, fresh(w, "q", y));
    OW_ATTR(w, "pads", kernel / 2, kernel / 2, kernel / 2, kernel / 2);
    OW_ATTR(w, "strides", stride, stride);
    ow_attr_int(w, "group", group);
    strcpy(x, y);
}

/** A sum of bytes, in float between. */
static void quantised_sum(struct onnx_writer *w, char *x, const char *shortcut) {
    char a[NAME], b[NAME], c[NAME], line[LINE];
    snprintf(line, sizeof line, "%s step zero", x);
    ow_node(w, "DequantizeLinear", line, fresh(w, "v", a));
    snprintf(line, sizeof line, "%s step zero", shortcut);
    ow_node(w, "DequantizeLinear", line, fresh(w, "v", b));
    two(w, "Add", a, b, c);
    snprintf(line, sizeof line, "%s step zero", c);
    ow_node(w, "QuantizeLinear", line, fresh(w, "q", x));
}

static void int8_network(struct onnx_writer *w, bool residual) {
    char x[NAME], before[NAME], y[NAME], line[LINE];
    int64_t in = 8;
    ow_input(w, "image", NNV_ONNX_FLOAT, OW_DIMS(-1, 3, 32, 32));
    ow_number(w, "step", 0.04f);
    ow_codes(w, "zero", NNV_ONNX_UINT8, residual ? 60 : 100, 0, NULL);
    ow_node(w, "QuantizeLinear", "image step zero", fresh(w, "q", x));
    quantised(w, x, 3, in, 3, 2, 1, true);
    if (residual) {
        ow_node(w, "MaxPool", x, fresh(w, "q", y));
        OW_ATTR(w, "kernel_shape", 2, 2);
        OW_ATTR(w, "strides", 2, 2);
        strcpy(x, y);
    }
    for (int i = 0; i < 4; i++) {
        const int64_t out = i % 2 ? in : in * 2, stride = i % 2 ? 1 : 2, wide = residual ? out : in * 4;
        strcpy(before, x);
        quantised(w, x, in, wide, residual ? 3 : 1, residual ? stride : 1, 1, true);
        if (!residual) quantised(w, x, wide, wide, 3, stride, wide, true);
        quantised(w, x, wide, out, residual ? 3 : 1, 1, 1, false);
        if (residual && stride == 2) quantised(w, before, in, out, 1, 2, 1, false);
        if (residual || stride == 1) quantised_sum(w, x, before);
        in = out;
    }
    snprintf(line, sizeof line, "%s step zero", x);
    ow_node(w, "DequantizeLinear", line, fresh(w, "v", x));
    classify(w, x, in);
}

void ow_network(struct onnx_writer *w, enum ow_network which) {
    switch (which) {
    case OW_MOBILENET:
        mobilenet(w);
        break;
    case OW_RESNET:
        resnet(w);
        break;
    case OW_ENCODER:
        encoder(w, false);
        break;
    case OW_MOBILENET_INT8:
        int8_network(w, false);
        break;
    case OW_RESNET_INT8:
        int8_network(w, true);
        break;
    case OW_ENCODER_INT8:
        encoder(w, true);
        break;
    case OW_NETWORKS:
        break;
    }
}
