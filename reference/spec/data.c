/* SPDX-License-Identifier: Apache-2.0 */
/* Values in the spec form: numbers, lists of numbers, base64. */
#include "reference/spec/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "reference/model/op.h"

enum { CHUNK = 256, DIMS_TEXT = 240 };

enum nnv_status nnv_spec_int(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json,
                             const char *what, int64_t lo, int64_t hi, int64_t *v) {
    if (!json_is_integer(json) || json_integer_value(json) < lo || json_integer_value(json) > hi)
        return nnv_spec_bad(r, at, json, "%s, an integer from %lld to %lld", what, (long long)lo, (long long)hi);
    *v = json_integer_value(json);
    return NNV_OK;
}

enum nnv_status nnv_spec_float(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json, float *v) {
    double d;
    if (!nnv_json_number(json, &d) || (!r->malformed && !isfinite((float)d)))
        return nnv_spec_bad(r, at, json, "a number of float32's range");
    *v = (float)d;
    return NNV_OK;
}

/* One element as a stored number; errors name what the type takes. */
static enum nnv_status read_element(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json,
                                    const struct nnv_type *t, double *v) {
    if (t->kind == NNV_KIND_FLOAT) {
        if (!nnv_json_number(json, v))
            return nnv_spec_bad(r, at, json, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
        if (isfinite(*v) && !isfinite(nnv_round_to(t->code, *v)))
            return nnv_spec_bad(r, at, json, "a number within %s's range, +-%g", t->name, t->max);
        return NNV_OK;
    }
    if (t->kind == NNV_KIND_BOOL && json_is_boolean(json)) {
        *v = json_is_true(json);
        return NNV_OK;
    }
    if (!json_is_integer(json) || (double)json_integer_value(json) < t->min ||
        (double)json_integer_value(json) > t->max)
        return nnv_spec_bad(r, at, json, "an integer from %.0f to %.0f for %s", t->min, t->max, t->name);
    *v = (double)json_integer_value(json);
    return NNV_OK;
}

static enum nnv_status read_list(const struct nnv_reader *r, const struct nnv_path *at, const json_t *list,
                                 const struct nnv_type *t, unsigned char *to) {
    double chunk[CHUNK];
    size_t n = json_array_size(list);
    for (size_t start = 0; start < n; start += CHUNK) {
        size_t k = n - start < CHUNK ? n - start : CHUNK;
        for (size_t i = 0; i < k; i++) {
            struct nnv_path here = {at, NULL, start + i};
            enum nnv_status status = read_element(r, &here, json_array_get(list, start + i), t, &chunk[i]);
            if (status != NNV_OK) return status;
        }
        nnv_store(t->code, chunk, k, to + start * t->size);
    }
    return NNV_OK;
}

static enum nnv_status read_base64(const struct nnv_reader *r, const struct nnv_path *at, const json_t *text,
                                   size_t bytes, void **data) {
    struct nnv_path here = {at, "base64", 0};
    if (!json_is_string(text)) return nnv_spec_bad(r, &here, text, "a string");
    size_t len = json_string_length(text), want = (bytes + 2) / 3 * 4;
    if (len != want)
        return nnv_spec_refuse(r, &here, NNV_INVALID, "expected %zu characters for %zu bytes, got %zu", want, bytes,
                               len);
    void *p = nnv_arena_alloc(r->arena, bytes, 1);
    if (!p) return nnv_spec_refuse(r, at, NNV_NO_MEMORY, "out of memory for %zu bytes", bytes);
    if (!nnv_base64_decode(json_string_value(text), len, p, bytes))
        return nnv_spec_refuse(r, &here, NNV_INVALID, "expected base64 of exactly %zu bytes, got malformed text",
                               bytes);
    *data = p;
    return NNV_OK;
}

/* Raw bytes of a stated size, as malformed specs may have them. */
static enum nnv_status read_raw(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json, void **data,
                                size_t *bytes) {
    struct nnv_path here = {at, "bytes", 0};
    if (!r->malformed)
        return nnv_spec_refuse(r, &here, NNV_INVALID, "a size is allowed only where \"expect_failure\" is true");
    int64_t n = 0;
    enum nnv_status status =
        nnv_spec_int(r, &here, json_object_get(json, "bytes"), "a number of bytes", 0, UINT32_MAX, &n);
    if (status == NNV_OK) status = read_base64(r, at, json_object_get(json, "base64"), (size_t)n, data);
    if (status == NNV_OK) *bytes = (size_t)n;
    return status;
}

enum nnv_status nnv_spec_data(const struct nnv_reader *r, const struct nnv_path *at, const json_t *json, int32_t type,
                              uint32_t rank, const uint32_t *dims, void **data, size_t *bytes) {
    if (json_object_get(json, "bytes")) return read_raw(r, at, json, data, bytes);
    char text[DIMS_TEXT];
    struct nnv_shape shape = nnv_shape_make(rank, dims);
    size_t elems, size;
    const struct nnv_type *t = nnv_type(type);
    if (!t) return nnv_spec_refuse(r, at, NNV_INVALID, "type %d is unknown: expected base64 with \"bytes\"", type);
    if (!nnv_size_bytes(type, rank, dims, &elems, &size))
        return nnv_spec_refuse(r, at, NNV_INVALID, "dims %s of %s exceed 4294967295 bytes",
                               nnv_shape_text(&shape, text, sizeof text), t->name);
    if (json_is_object(json)) {
        enum nnv_status status = read_base64(r, at, json_object_get(json, "base64"), size, data);
        if (status == NNV_OK) *bytes = size;
        return status;
    }
    if (!json_is_array(json)) return nnv_spec_bad(r, at, json, "an array of numbers or {\"base64\": ...}");
    if (json_array_size(json) != elems)
        return nnv_spec_bad(r, at, json, "%zu elements for dims %s", elems, nnv_shape_text(&shape, text, sizeof text));
    void *p = nnv_arena_alloc(r->arena, size, 1);
    if (!p) return nnv_spec_refuse(r, at, NNV_NO_MEMORY, "out of memory for %zu bytes", size);
    enum nnv_status status = read_list(r, at, json, t, p);
    if (status != NNV_OK) return status;
    *data = p;
    *bytes = size;
    return NNV_OK;
}
