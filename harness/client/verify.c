/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/guard.h"
#include "reference/model/op.h"

bool nnv_breach(struct nnv_breach *b, enum nnv_breach_kind kind, uint32_t argument, const char *fmt, ...) {
    if (b->kind != NNV_BREACH_NONE) return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b->text, sizeof b->text, fmt, ap);
    va_end(ap);
    b->kind = kind;
    b->argument = argument;
    return false;
}

enum nnvts_reason nnv_breach_why(enum nnv_breach_kind kind) {
    switch (kind) {
    case NNV_BREACH_NONE:
        return NNVTS_WHY_NONE;
    case NNV_BREACH_STATUS:
        return NNVTS_WHY_STATUS;
    case NNV_BREACH_SHAPES:
    case NNV_BREACH_SHAPE:
        return NNVTS_WHY_SHAPE;
    case NNV_BREACH_UNWRITTEN:
        return NNVTS_WHY_UNWRITTEN;
    case NNV_BREACH_MEMORY:
        return NNVTS_WHY_MEMORY;
    case NNV_BREACH_OBJECT:
    case NNV_BREACH_TIME:
    case NNV_BREACH_CALLBACK:
        return NNVTS_WHY_RULE;
    case NNV_BREACH_OURS:
        return NNVTS_WHY_HARNESS;
    }
    return NNVTS_WHY_RULE;
}

bool nnv_verify_status(enum nnvts_status status, struct nnv_breach *b) {
    if ((unsigned)status <= NNVTS_STATUS_DEAD_OBJECT) return true;
    return nnv_breach(b, NNV_BREACH_STATUS, 0, "answered status %d, which does not exist", (int)status);
}

bool nnv_verify_prepared(enum nnvts_status status, const struct nnvts_prepared_model *p, struct nnv_breach *b) {
    char buf[32];
    if (!nnv_verify_status(status, b)) return false;
    if (status != NNVTS_STATUS_NONE)
        return !p || nnv_breach(b, NNV_BREACH_OBJECT, 0, "answered %s and a prepared model",
                                nnv_abi_status_name((int)status, buf));
    if (!p) return nnv_breach(b, NNV_BREACH_OBJECT, 0, "answered NONE without a prepared model");
    if (p->struct_size < sizeof *p)
        return nnv_breach(
            b, NNV_BREACH_OBJECT, 0,
            "gave a prepared model without all required members: its struct_size %u is too small, not %zu",
            p->struct_size, sizeof *p);
    return (p->execute && p->release) ||
           nnv_breach(b, NNV_BREACH_OBJECT, 0, "gave a prepared model without all required members: it has no %s",
                      p->execute ? "release" : "execute");
}

/* --------------------------------------------------------------------- memory */

static bool guards_whole(const char *what, uint32_t i, const uint8_t *data, size_t bytes, uint32_t salt,
                         struct nnv_breach *b) {
    int64_t at;
    if (nnv_guard_check(data, bytes, salt + i, &at)) return true;
    if (at < 0)
        return nnv_breach(b, NNV_BREACH_MEMORY, i, "wrote %lld bytes before the start of %s %u", (long long)-at, what,
                          i);
    return nnv_breach(b, NNV_BREACH_MEMORY, i, "wrote behind the end of %s %u: byte %lld of a buffer of %zu", what, i,
                      (long long)at, bytes);
}

bool nnv_verify_memory(const struct nnv_request *r, struct nnv_breach *b) {
    for (uint32_t i = 0; i < r->model->main.nout; i++)
        if (!guards_whole("output", i, r->output_at[i], r->out[i].bytes, NNV_SALT_OUTPUT, b)) return false;
    for (uint32_t i = 0; i < r->model->main.nin; i++) {
        const struct nnv_value *v = &r->in[i];
        if (v->omitted) continue;
        if (!guards_whole("input", i, r->input_at[i], v->bytes, NNV_SALT_INPUT, b)) return false;
        if (v->bytes && memcmp(r->input_at[i], v->data, v->bytes) != 0)
            return nnv_breach(b, NNV_BREACH_MEMORY, i, "changed the value of input %u", i);
    }
    return true;
}

bool nnv_verify_written(const struct nnv_request *r, struct nnv_breach *b) {
    const struct nnv_subgraph *main = &r->model->main;
    for (uint32_t i = 0; i < main->nout; i++) {
        /* Fewer bytes may equal the poison by chance; comparing their values will tell. */
        const size_t bytes = r->out[i].bytes;
        if (bytes < 8 || main->operands[main->out[i]].ignored) continue;
        if (nnv_guard_unwritten(r->output_at[i], bytes, NNV_SALT_OUTPUT + i) == bytes)
            return nnv_breach(b, NNV_BREACH_UNWRITTEN, i, "answered NONE, but no byte of output %u was written", i);
    }
    return true;
}

/* --------------------------------------------------------------------- shapes */

/** True if x is y with two axes, *a and *b, the other way round. */
static bool is_exchanged(const struct nnv_shape *x, const struct nnv_shape *y, uint32_t *a, uint32_t *b) {
    uint32_t differing = 0, at[2] = {0};
    for (uint32_t d = 0; x->rank == y->rank && d < x->rank; d++) {
        if (x->dims[d] == y->dims[d]) continue;
        if (differing < 2) at[differing] = d;
        differing++;
    }
    *a = at[0];
    *b = at[1];
    return differing == 2 && x->dims[*a] == y->dims[*b] && x->dims[*b] == y->dims[*a];
}

/** Reported shape i against the rules and the expected dimensions. */
static bool shape_right(const struct nnv_request *r, uint32_t i, struct nnv_breach *b) {
    const struct nnvts_output_shape *s = &r->result.shapes[i];
    const struct nnv_value *want = &r->out[i];
    if (!s->is_sufficient)
        return nnv_breach(b, NNV_BREACH_SHAPES, i, "answered NONE but says that the buffer of output %u is too small",
                          i);
    if (s->dimension_count > NNV_MAX_RANK)
        return nnv_breach(b, NNV_BREACH_SHAPES, i, "reports rank %u for output %u, room was for %d", s->dimension_count,
                          i, NNV_MAX_RANK);
    if (r->model->main.operands[r->model->main.out[i]].ignored) return true;
    if (s->dimension_count == want->rank &&
        (want->rank == 0 || memcmp(s->dimensions, want->dims, want->rank * sizeof *want->dims) == 0))
        return true;
    char got[256], expected[256];
    struct nnv_shape x = nnv_shape_make(s->dimension_count, s->dimensions);
    struct nnv_shape y = nnv_shape_make(want->rank, want->dims);
    uint32_t first, second;
    char hint[64] = "";
    if (is_exchanged(&x, &y, &first, &second))
        snprintf(hint, sizeof hint, ": axes %u and %u are exchanged", first, second);
    return nnv_breach(b, NNV_BREACH_SHAPE, i, "reports shape %s for output %u, expected %s%s",
                      nnv_shape_text(&x, got, sizeof got), i, nnv_shape_text(&y, expected, sizeof expected), hint);
}

static bool done_shapes(const struct nnv_request *r, struct nnv_breach *b) {
    const uint32_t n = r->result.shape_count, nout = r->model->main.nout;
    if (n != nout && n != 0)
        return nnv_breach(b, NNV_BREACH_SHAPES, 0, "reports %u shapes, the model has %u outputs", n, nout);
    for (uint32_t i = 0; i < nout; i++) {
        if (n == nout && !shape_right(r, i, b)) return false;
        if (n != nout && nnv_request_leaves_open(r, i))
            return nnv_breach(b, NNV_BREACH_SHAPES, i,
                              "reports no shapes, but the model leaves the shape of output %u open", i);
    }
    return true;
}

bool nnv_verify_shapes(const struct nnv_request *r, enum nnvts_status status, struct nnv_breach *b) {
    char buf[32];
    const uint32_t n = r->result.shape_count, nout = r->model->main.nout;
    if (status == NNVTS_STATUS_NONE) return done_shapes(r, b);
    if (status != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE)
        return n == 0 || nnv_breach(b, NNV_BREACH_SHAPES, 0, "answered %s and %u shapes, expected none",
                                    nnv_abi_status_name((int)status, buf), n);
    if (n != nout)
        return nnv_breach(b, NNV_BREACH_SHAPES, 0, "answered OUTPUT_INSUFFICIENT_SIZE and %u shapes, expected %u", n,
                          nout);
    for (uint32_t i = 0; i < n; i++)
        if (!r->result.shapes[i].is_sufficient) return true;
    return nnv_breach(b, NNV_BREACH_SHAPES, 0, "answered OUTPUT_INSUFFICIENT_SIZE, but says that all buffers suffice");
}

/* ---------------------------------------------------------------------- times */

bool nnv_verify_times(bool asked, const struct nnvts_timing *t, uint64_t wall_ns, struct nnv_breach *b) {
    const unsigned long long device = t->on_device_ns, driver = t->in_driver_ns, wall = wall_ns;
    if (!asked)
        return (device == NNVTS_NO_TIME && driver == NNVTS_NO_TIME) ||
               nnv_breach(b, NNV_BREACH_TIME, 0,
                          "reports a time although none was asked for: %llu and %llu ns instead of NNVTS_NO_TIME",
                          device, driver);
    if (driver != NNVTS_NO_TIME && driver > wall)
        return nnv_breach(b, NNV_BREACH_TIME, 0, "reports %llu ns in the driver, but took %llu ns by the wall clock",
                          driver, wall);
    if (device != NNVTS_NO_TIME && device > wall)
        return nnv_breach(b, NNV_BREACH_TIME, 0, "reports %llu ns on the device, but took %llu ns by the wall clock",
                          device, wall);
    return device == NNVTS_NO_TIME || driver == NNVTS_NO_TIME || device <= driver ||
           nnv_breach(b, NNV_BREACH_TIME, 0, "reports %llu ns on the device, more than the %llu ns in the driver",
                      device, driver);
}
