/* SPDX-License-Identifier: Apache-2.0 */
/** @file values.c Tampering with the values of outputs. */
#include <string.h>

#include "faulty.h"

/** Calls work for each output that can be reached, after an execution that went well. */
static enum nnvts_status each(struct tamper *t, enum nnvts_status status,
                              void (*work)(const struct tamper_value *v, uint32_t n)) {
    for (uint32_t i = 0; i < t->request->output_count && status == NNVTS_STATUS_NONE; i++) {
        const struct tamper_value *v = &t->outputs[i];
        if (v->data && v->elem && v->bytes >= v->elem) work(v, v->bytes / v->elem);
    }
    return status;
}

static bool is_float(const struct tamper_value *v) { return v->type == ANEURALNETWORKS_TENSOR_FLOAT32; }

static uint32_t load32(const struct tamper_value *v, uint32_t i) {
    uint32_t bits;
    memcpy(&bits, v->data + 4 * (size_t)i, 4);
    return bits;
}

static void store32(const struct tamper_value *v, uint32_t i, uint32_t bits) {
    memcpy(v->data + 4 * (size_t)i, &bits, 4);
}

static bool is_finite(uint32_t bits) { return (bits & 0x7f800000) != 0x7f800000; }

#define TAMPER(name)                                                                                                   \
    enum nnvts_status tamper_##name(struct tamper *t, enum nnvts_status status) { return each(t, status, name); }

static void signed_(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && v->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED; i++) v->data[i] ^= 0x80;
}

enum nnvts_status tamper_signed(struct tamper *t, enum nnvts_status status) { return each(t, status, signed_); }

static void bfloat(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && is_float(v); i++) store32(v, i, load32(v, i) & 0xffff0000);
}
TAMPER(bfloat)

/** Eight of the eleven bits. */
static void half_truncated(const struct tamper_value *v, uint32_t n) {
    uint16_t bits;
    for (uint32_t i = 0; i < n && v->type == ANEURALNETWORKS_TENSOR_FLOAT16; i++) {
        memcpy(&bits, v->data + 2 * (size_t)i, 2);
        bits &= 0xfff8;
        memcpy(v->data + 2 * (size_t)i, &bits, 2);
    }
}
TAMPER(half_truncated)

static void constant(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) memcpy(v->data + (size_t)i * v->elem, v->data, v->elem);
}
TAMPER(constant)

static void plus_one(const struct tamper_value *v, uint32_t n) {
    uint8_t top = v->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? UINT8_MAX : INT8_MAX;
    for (uint32_t i = 0; i < n && type_is_quant8(v->type); i++)
        if (v->data[i] != top) v->data[i]++;
}
TAMPER(plus_one)

/** The largest value becomes the smallest. */
static void saturation(const struct tamper_value *v, uint32_t n) {
    uint8_t top = v->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? UINT8_MAX : INT8_MAX;
    for (uint32_t i = 0; i < n && type_is_quant8(v->type); i++)
        if (v->data[i] == top) v->data[i]++;
}
TAMPER(saturation)

static void true_255(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && v->type == ANEURALNETWORKS_TENSOR_BOOL8; i++)
        if (v->data[i]) v->data[i] = 255;
}
TAMPER(true_255)

static void reverse(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n / 2; i++)
        for (uint32_t k = 0; k < v->elem; k++) {
            uint8_t *a = v->data + (size_t)i * v->elem + k, *b = v->data + (size_t)(n - 1 - i) * v->elem + k, c = *a;
            *a = *b;
            *b = c;
        }
}
TAMPER(reverse)

static void stale_head(const struct tamper_value *v, uint32_t n) {
    (void)n;
    memcpy(v->data, v->before, v->elem);
}
TAMPER(stale_head)

static void int_as_float(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && v->type == ANEURALNETWORKS_TENSOR_INT32; i++) {
        float f = (float)(int32_t)load32(v, i);
        store32(v, i, f >= 0x1p31f ? (uint32_t)INT32_MAX : (uint32_t)(int32_t)f);
    }
}
TAMPER(int_as_float)

static void never_negative(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && is_float(v); i++)
        if (load32(v, i) >> 31) store32(v, i, 0);
}
TAMPER(never_negative)

static void flush(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && is_float(v); i++)
        if ((load32(v, i) & 0x7fffffff) < 0x3a800000) store32(v, i, 0);
}
TAMPER(flush)

static void finite(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && is_float(v); i++)
        if ((load32(v, i) & 0x7fffffff) == 0x7f800000) store32(v, i, load32(v, i) - 0x01000000);
}
TAMPER(finite)

static void batches_reversed(const struct tamper_value *v, uint32_t n) {
    (void)n;
    if (v->batches < 2 || v->bytes % v->batches) return;
    uint32_t bytes = v->bytes / v->batches;
    uint8_t *last = v->data + v->bytes - bytes;
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t c = v->data[i];
        v->data[i] = last[i];
        last[i] = c;
    }
}
TAMPER(batches_reversed)

static void overlap(const struct tamper_value *v, uint32_t n) {
    if (n > 4) memmove(v->data + (size_t)(n - 4) * v->elem, v->data + (size_t)(n - 5) * v->elem, (size_t)4 * v->elem);
}
TAMPER(overlap)

/** Each float32 that was rounded (all its bits are in use) one unit in the last place nearer to 0. */
static void towards_zero(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && is_float(v); i++)
        if (is_finite(load32(v, i)) && (load32(v, i) & 0x7f800000) && (load32(v, i) & 0xff))
            store32(v, i, load32(v, i) - 1);
}
TAMPER(towards_zero)

/** The real value of 8-bit element i. */
static double real_of(const struct tamper_value *v, uint32_t i) {
    const int32_t stored = v->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? v->data[i] : (int8_t)v->data[i];
    return (double)v->scale * (stored - v->zero_point);
}

/** A model of one QUANTIZE of float32: what lies exactly between two numbers goes to the lower one. */
enum nnvts_status tamper_ties_down(struct tamper *t, enum nnvts_status status) {
    const struct tamper_value *x = t->inputs, *y = t->outputs;
    if (status != NNVTS_STATUS_NONE || t->request->input_count != 1 || t->request->output_count != 1 || !x->data ||
        !y->data || !is_float(x) || !type_is_quant8(y->type))
        return status;
    const uint8_t lowest = y->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 0 : 0x80;
    for (uint32_t i = 0; i < y->bytes && i < x->bytes / 4; i++) {
        float v;
        memcpy(&v, x->data + 4 * (size_t)i, 4);
        /* half a unit below what was stored: it was rounded up */
        if ((double)v == real_of(y, i) - (double)y->scale / 2 && y->data[i] != lowest) y->data[i]--;
    }
    return status;
}
