/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/relay/text/literal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/type.h"

bool nnv_relay_is_literal(const struct nnv_relay_tensor *t) {
    if (t->data == NULL || t->type == NULL || t->type->n_dims) return false;
    int64_t whole = 0;
    float f;
    double d;
    switch (t->type->dtype) {
    case NNV_RELAY_BOOL:
        return *(const uint8_t *)t->data <= 1;
    case NNV_RELAY_INT16:
    case NNV_RELAY_INT32:
        return true;
    case NNV_RELAY_INT64:
        memcpy(&whole, t->data, sizeof whole);
        return whole != INT64_MIN;
    case NNV_RELAY_FLOAT16:
        return (*(const uint16_t *)t->data & 0x7c00) != 0x7c00;
    case NNV_RELAY_FLOAT32:
        memcpy(&f, t->data, sizeof f);
        return !isnan(f);
    case NNV_RELAY_FLOAT64:
        memcpy(&d, t->data, sizeof d);
        return isfinite(d);
    case NNV_RELAY_INT8:
    case NNV_RELAY_UINT8:
    case NNV_RELAY_UINT16:
    case NNV_RELAY_UINT32:
    case NNV_RELAY_UINT64:
    case NNV_RELAY_BFLOAT16:
    case NNV_RELAY_DTYPES:
        break;
    }
    return false;
}

void nnv_relay_print_literal(const struct nnv_relay_tensor *t, struct nnv_text *out) {
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f;
    double d;
    switch (t->type->dtype) {
    case NNV_RELAY_BOOL:
        nnv_text_add(out, *(const uint8_t *)t->data ? "True" : "False");
        break;
    case NNV_RELAY_INT16:
        memcpy(&i16, t->data, sizeof i16);
        nnv_text_addf(out, "%di16", (int)i16);
        break;
    case NNV_RELAY_INT32:
        memcpy(&i32, t->data, sizeof i32);
        nnv_text_addf(out, "%" PRId32 "%s", i32, i32 == INT32_MIN ? "i32" : "");
        break;
    case NNV_RELAY_INT64:
        memcpy(&i64, t->data, sizeof i64);
        nnv_text_addf(out, "%" PRId64 "i64", i64);
        break;
    case NNV_RELAY_FLOAT16:
        nnv_text_add_float(out, (float)nnv_half_to_double(*(const uint16_t *)t->data));
        nnv_text_add(out, "f16");
        break;
    case NNV_RELAY_FLOAT32:
        memcpy(&f, t->data, sizeof f);
        if (isinf(f))
            nnv_text_add(out, f < 0 ? "-inf" : "inf");
        else
            nnv_text_add_float(out, f);
        nnv_text_add(out, "f");
        break;
    case NNV_RELAY_FLOAT64:
        memcpy(&d, t->data, sizeof d);
        nnv_text_add_double(out, d);
        nnv_text_add(out, "f64");
        break;
    case NNV_RELAY_INT8:
    case NNV_RELAY_UINT8:
    case NNV_RELAY_UINT16:
    case NNV_RELAY_UINT32:
    case NNV_RELAY_UINT64:
    case NNV_RELAY_BFLOAT16:
    case NNV_RELAY_DTYPES:
        break;
    }
}
