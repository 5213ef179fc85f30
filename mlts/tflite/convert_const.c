/* SPDX-License-Identifier: Apache-2.0 */
/* Constants, and the options of operators. */
#include <math.h>
#include <string.h>

#include "mlts/tflite/convert.h"

/* ----------------------------------------------------------------- constants */

const int32_t *nnv_cv_ints_of(struct nnv_cv *c, uint32_t i, uint32_t *count) {
    static const int32_t none[1];
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    *count = 0;
    if (!t) return NULL;
    if (t->rank == 1 && t->dims[0] == 0) return none; /* a list that is empty */
    uint32_t operand = nnv_cv_in(c, i);
    if (!nnv_cv_ok(c)) return NULL;
    if (nnv_cv_at(c, operand)->type != ANEURALNETWORKS_TENSOR_INT32) {
        nnv_cv_fail(c, "input %u holds %s, not integers", i, nnv_tfl_type_name(t->type));
        return NULL;
    }
    if (!nnv_cv_is_const(c, operand)) {
        nnv_cv_refuse(c, " with a computed input %u", i);
        return NULL;
    }
    *count = (uint32_t)nnv_cv_elements(c, operand);
    return nnv_cv_at(c, operand)->data;
}

const int32_t *nnv_cv_ints_exact(struct nnv_cv *c, uint32_t i, uint32_t n) {
    uint32_t count;
    const int32_t *v = nnv_cv_ints_of(c, i, &count);
    if (v && count != n) nnv_cv_fail(c, "input %u holds %u numbers, not %u", i, count, n);
    return nnv_cv_ok(c) ? v : NULL;
}

/** Which scale element i has. */
static uint32_t channel_of(const struct nnv_tfl_tensor *t, size_t i) {
    size_t inner = 1;
    if (t->scale_count <= 1) return 0;
    for (uint32_t d = t->axis + 1; d < t->rank; d++) inner *= t->dims[d];
    return (uint32_t)(i / inner % t->scale_count);
}

static double stored_number(const struct nnv_tfl_tensor *t, size_t i, bool as_signed) {
    if (t->type == NNV_TFL_INT4) {
        int v = t->data[i / 2] >> (i % 2 ? 4 : 0) & 15;
        return v < 8 ? v : v - 16;
    }
    return t->type == NNV_TFL_INT8 || as_signed ? (double)(int8_t)t->data[i] : (double)t->data[i];
}

uint32_t nnv_cv_weights_float(struct nnv_cv *c, uint32_t i) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    if (!t || !nnv_cv_ok(c)) return 0;
    if (t->type == NNV_TFL_FLOAT32 || t->type == NNV_TFL_FLOAT16) return nnv_cv_in(c, i);
    if (!t->data || t->sparse || t->scale_count == 0 ||
        (t->type != NNV_TFL_INT8 && t->type != NNV_TFL_UINT8 && t->type != NNV_TFL_INT4)) {
        nnv_cv_refuse(c, " with weights of %s", nnv_tfl_type_name(t->type));
        return 0;
    }
    /* Old files say UINT8 for bytes that are signed: no zero point tells them. */
    const bool as_signed = t->type == NNV_TFL_UINT8 && t->zero_points[0] == 0;
    size_t n = nnv_tfl_elements(t);
    float *to = nnv_cv_room(c, n * sizeof *to) ? NNV_NEW(c->b.arena, float, n) : NULL;
    if (!to) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return 0;
    }
    for (size_t e = 0; e < n; e++) {
        uint32_t s = channel_of(t, e);
        to[e] = (float)((stored_number(t, e, as_signed) - (double)t->zero_points[s]) * (double)t->scales[s]);
    }
    return nnv_cv_const(c, NNV_CV_F32, t->rank, t->dims, to);
}

/* ------------------------------------------------------------------- options */

/** Takes over what went wrong in the file. */
static bool sound(struct nnv_cv *c) {
    if (nnv_flat_failed(c->op->options.file)) nnv_cv_fail(c, "options: %s", c->op->options.file->err.text);
    return nnv_cv_ok(c);
}

int32_t nnv_cv_option(struct nnv_cv *c, unsigned slot, int32_t absent, const char *what) {
    if (!nnv_cv_ok(c) || !nnv_flat_present(c->op->options)) return absent;
    int32_t v = (int32_t)nnv_flat_int(c->op->options, slot, 4, true, absent, what);
    return sound(c) ? v : absent;
}

int32_t nnv_cv_option_positive(struct nnv_cv *c, unsigned slot, int32_t absent, const char *what) {
    int32_t v = nnv_cv_option(c, slot, absent, what);
    if (v < 1) nnv_cv_fail(c, "%s is %d, not a number above 0", what, v);
    return v < 1 ? 1 : v;
}

int nnv_cv_option_enum(struct nnv_cv *c, unsigned slot, int most, const char *what) {
    if (!nnv_cv_ok(c) || !nnv_flat_present(c->op->options)) return 0;
    int64_t v = nnv_flat_int(c->op->options, slot, 1, true, 0, what);
    if (sound(c) && (v < 0 || v > most))
        nnv_cv_fail(c, "%s is %lld, which the schema does not have", what, (long long)v);
    return nnv_cv_ok(c) ? (int)v : 0;
}

bool nnv_cv_option_bool(struct nnv_cv *c, unsigned slot, bool absent, const char *what) {
    if (!nnv_cv_ok(c) || !nnv_flat_present(c->op->options)) return absent;
    int64_t v = nnv_flat_int(c->op->options, slot, 1, false, absent, what);
    return sound(c) ? v != 0 : absent;
}

float nnv_cv_option_float(struct nnv_cv *c, unsigned slot, const char *what) {
    if (!nnv_cv_ok(c) || !nnv_flat_present(c->op->options)) return 0;
    float v = nnv_flat_float(c->op->options, slot, 0, what);
    if (sound(c) && !isfinite(v)) nnv_cv_fail(c, "%s is %g, not a finite number", what, (double)v);
    return nnv_cv_ok(c) ? v : 0;
}

uint32_t nnv_cv_padding(struct nnv_cv *c, unsigned slot) {
    static const int32_t codes[] = {ANEURALNETWORKS_PADDING_SAME, ANEURALNETWORKS_PADDING_VALID};
    return nnv_builder_int(&c->b, codes[nnv_cv_option_enum(c, slot, 1, "padding")]);
}

uint32_t nnv_cv_fused(struct nnv_cv *c, unsigned slot) {
    enum { RELU6 = 3, TANH = 4, SIGN_BIT = 5 };
    int v = nnv_cv_option_enum(c, slot, SIGN_BIT, "fused_activation_function");
    if (v > RELU6) nnv_cv_refuse(c, " with the activation %s", v == TANH ? "TANH" : "SIGN_BIT");
    return nnv_builder_int(&c->b, v); /* up to RELU6 the numbers are NNAPI's */
}
