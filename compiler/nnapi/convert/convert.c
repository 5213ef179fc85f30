/* SPDX-License-Identifier: Apache-2.0 */
/* From a function to a model that is right. */
#include "compiler/nnapi/convert/convert.h"

#include "compiler/nnapi/convert/convert_in.h"
#include "reference/model/validate.h"

/* The model as it stands must be right: what is wrong with it is the converter's mistake. */
static void validate(struct nnv_rc *c, struct nnv_converted *out) {
    struct nnv_err err = {0};
    int level = NNV_LEVEL_MIN;
    if (!nnv_rc_ok(c)) return;
    enum nnv_status st = nnv_validate(&out->model, c->scratch, &level, &err);
    if (st == NNV_NO_MEMORY)
        nnv_rc_no_memory(c);
    else if (st)
        c->st = nnv_fail(c->err, NNV_INTERNAL, "internal error: the converted model is not valid: %s", err.text);
    else if (level > c->limit)
        c->st = nnv_fail(c->err, NNV_INTERNAL, "internal error: the converted model needs level %d, above %d", level,
                         c->limit);
    out->level = level;
}

enum nnv_status nnv_convert(const struct nnv_relay_module *m, struct nnv_relay_expr *function,
                            const struct nnv_convert_options *options, struct nnv_arena *arena,
                            struct nnv_converted *out, struct nnv_err *err) {
    struct nnv_err own = {0};
    *out = (struct nnv_converted){0};
    if (function->kind != NNV_RELAY_FUNCTION) return nnv_fail(err, NNV_INVALID, "only functions are converted");
    struct nnv_arena *scratch = nnv_arena_new();
    if (!scratch) return nnv_no_memory(err);
    struct nnv_rc c = nnv_rc_begin(m, options->level, arena, scratch, err ? err : &own);
    nnv_rc_function(&c, function, options->relaxed, out);
    validate(&c, out);
    nnv_arena_free(scratch);
    return c.st;
}
