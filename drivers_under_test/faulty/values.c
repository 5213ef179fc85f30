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

static void true_255(const struct tamper_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n && v->type == ANEURALNETWORKS_TENSOR_BOOL8; i++)
        if (v->data[i]) v->data[i] = 255;
}
TAMPER(true_255)

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
        !y->data || !is_float(x) ||
        (y->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM && y->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED))
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
