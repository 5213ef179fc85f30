/* SPDX-License-Identifier: Apache-2.0 */
/** @file control.c See control.h. */
#include "tests/kit/control.h"

#include <math.h>

struct nnv_spec *parse_as(const char *json, enum nnv_status want, struct nnv_err *err) {
    char *text = nnv_arena_strdup(arena, json);
    for (char *p = text; *p; p++)
        if (*p == '\'') *p = '"';
    struct nnv_spec *spec = NULL;
    *err = (struct nnv_err){0};
    if (nnv_spec_parse(text, strlen(text), "t", arena, &spec, err) != want) fail_msg("%s", err->text);
    return spec;
}

struct nnv_spec *parse(const char *json) {
    struct nnv_err err;
    return parse_as(json, NNV_OK, &err);
}

enum nnv_status evaluate(const struct nnv_spec *spec, const struct nnv_eval_options *options, struct nnv_golden *out,
                         struct nnv_err *err) {
    *err = (struct nnv_err){0};
    enum nnv_status st = nnv_validate(&spec->model, arena, NULL, err);
    return st ? st : nnv_eval(&spec->model, spec->inputs, options, arena, out, err);
}

void holds(const char *json) {
    const struct nnv_spec *spec = parse(json);
    for (int rows = 0; rows <= 8; rows += 8) {
        struct nnv_golden out[4];
        struct nnv_err err;
        const struct nnv_eval_options options = {.rows = rows, .k = 2, .seed = 1};
        if (evaluate(spec, &options, out, &err)) fail_msg("%s", err.text);
        for (uint32_t i = 0; i < spec->model.main.nout; i++) {
            const struct nnv_value *want = &spec->outputs[i], *got = &out[i].value;
            assert_int_equal(got->rank, want->rank);
            for (uint32_t d = 0; d < got->rank; d++) assert_int_equal(got->dims[d], want->dims[d]);
            assert_int_equal(got->bytes, want->bytes);
            assert_memory_equal(got->data, want->data, want->bytes);
            assert_non_null(out[i].exact);
        }
    }
}
