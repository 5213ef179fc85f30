/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and refusals, operands, constants. */
#include "mlts/convert/convert.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------- errors */

void nnv_cv_fail(struct nnv_cv *c, const char *fmt, ...) {
    if (!nnv_cv_ok(c)) return;
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    c->all->status = NNV_INVALID;
    c->b.stopped = true;
    char place[160];
    c->all->front->place(c, place, sizeof place);
    nnv_err_set(&c->all->err, NNV_INVALID, "%s: %s", place, text);
}

/** The kind of refusal that is called so; NULL without memory. */
static struct nnv_cv_refusal *refusal(struct nnv_cv_file *all, const char *what) {
    for (uint32_t i = 0; i < all->nrefusals; i++)
        if (strcmp(all->refusals[i].what, what) == 0) return &all->refusals[i];
    if (!nnv_grow(all->arena, &all->refusals, all->nrefusals, &all->refusal_room, sizeof *all->refusals)) return NULL;
    struct nnv_cv_refusal *r = &all->refusals[all->nrefusals++];
    snprintf(r->what, sizeof r->what, "%s", what);
    return r;
}

/** Names are the file's: what no terminal should see is left out. */
static void readable(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e) *text = '?';
}

void nnv_cv_refuse(struct nnv_cv *c, const char *fmt, ...) {
    if (!nnv_cv_ok(c)) return;
    char what[sizeof c->all->refusals->what];
    c->all->front->what(c, what, sizeof what);
    const size_t n = strlen(what);
    va_list args;
    va_start(args, fmt);
    vsnprintf(what + n, sizeof what - n, fmt, args);
    va_end(args);
    readable(what);
    c->b.stopped = true;
    c->all->refused++;
    struct nnv_cv_refusal *r = refusal(c->all, what);
    if (r)
        r->count++;
    else
        c->b.failed = true;
}

void nnv_cv_resume(struct nnv_cv *c) { c->b.stopped = c->all->status != NNV_OK; }

enum nnv_status nnv_cv_refuse_all(const struct nnv_cv_file *all, struct nnv_err *err) {
    char text[NNV_ERR_TEXT];
    size_t n = 0;
    for (uint32_t i = 0; i < all->nrefusals && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s (%u)", i ? ", " : "", all->refusals[i].what,
                              all->refusals[i].count);
    return nnv_fail(err, NNV_UNSUPPORTED, "%u operator%s not supported: %s", all->refused,
                    all->refused == 1 ? " is" : "s are", text);
}

/* ------------------------------------------------------------------ operands */

void nnv_cv_nothing(struct nnv_cv *c) {
    uint32_t *ones = NNV_NEW(c->b.arena, uint32_t, NNV_MAX_RANK);
    for (uint32_t i = 0; ones && i < NNV_MAX_RANK; i++) ones[i] = 1;
    if (!ones) c->b.failed = true;
    nnv_builder_operand(&c->b, (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_FLOAT32, .rank = 4, .dims = ones});
}

const struct nnv_operand *nnv_cv_at(const struct nnv_cv *c, uint32_t operand) { return &c->b.operand[operand]; }

uint32_t nnv_cv_temp(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims) {
    static const uint32_t one = 1;
    if (!nnv_cv_ok(c)) return 0;
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] == 0) {
            nnv_cv_refuse(c, " with a tensor of no elements");
            return 0;
        }
    return nnv_builder_tensor(&c->b, e, rank ? rank : 1, rank ? dims : &one, NNV_TEMPORARY_VARIABLE);
}

uint32_t nnv_cv_temp_as(struct nnv_cv *c, struct nnv_encoding e, uint32_t like) {
    return nnv_cv_temp(c, e, nnv_cv_at(c, like)->rank, nnv_cv_at(c, like)->dims);
}

uint32_t nnv_cv_temp_shaped(struct nnv_cv *c, uint32_t like, uint32_t rank, const uint32_t *dims) {
    return nnv_cv_temp(c, nnv_builder_encoding(&c->b, like), rank, dims);
}

size_t nnv_cv_elements(const struct nnv_cv *c, uint32_t operand) {
    const struct nnv_operand *o = nnv_cv_at(c, operand);
    size_t n = 1;
    for (uint32_t i = 0; i < o->rank; i++) n *= o->dims[i];
    return n;
}

bool nnv_cv_is_const(const struct nnv_cv *c, uint32_t operand) { return nnv_is_constant(nnv_cv_at(c, operand)); }

bool nnv_cv_is_quant(const struct nnv_cv *c, uint32_t operand) { return nnv_is_quant(nnv_cv_at(c, operand)->type); }

bool nnv_cv_same_encoding(const struct nnv_cv *c, uint32_t a, uint32_t b) {
    const struct nnv_operand *x = nnv_cv_at(c, a), *y = nnv_cv_at(c, b);
    return x->type == y->type && x->zero_point == y->zero_point &&
           fabsf(x->scale - y->scale) <= 1e-6f * fmaxf(x->scale, y->scale);
}

bool nnv_cv_same_shape(const struct nnv_cv *c, uint32_t a, uint32_t b) {
    const struct nnv_operand *x = nnv_cv_at(c, a), *y = nnv_cv_at(c, b);
    return x->rank == y->rank && memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) == 0;
}

/* ----------------------------------------------------------------- constants */

bool nnv_cv_room(struct nnv_cv *c, size_t bytes) {
    const size_t most = c->all->most_constant;
    if (!nnv_cv_ok(c)) return false;
    if (bytes <= most && c->all->constant <= most - bytes) {
        c->all->constant += bytes;
        return true;
    }
    nnv_cv_fail(c, "constants of more than %zu bytes are not what a file of this size makes", most);
    return false;
}

uint32_t nnv_cv_const(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, const void *data) {
    static const uint32_t one = 1;
    size_t bytes = nnv_type(e.type)->size;
    for (uint32_t i = 0; i < rank; i++) bytes *= dims[i];
    void *copy = nnv_cv_room(c, bytes) ? nnv_arena_copy(c->b.arena, data, bytes) : NULL;
    if (!copy) {
        c->b.failed = c->b.failed || nnv_cv_ok(c);
        return 0;
    }
    return nnv_builder_constant(&c->b, e, rank ? rank : 1, rank ? dims : &one, copy);
}

uint32_t nnv_cv_shape_of(struct nnv_cv *c, uint32_t operand) {
    const struct nnv_operand *o = nnv_cv_at(c, operand);
    int32_t dims[NNV_MAX_RANK] = {0};
    for (uint32_t i = 0; i < o->rank; i++) dims[i] = (int32_t)o->dims[i];
    return nnv_builder_ints(&c->b, o->rank, dims);
}

uint32_t nnv_cv_filled(struct nnv_cv *c, struct nnv_encoding e, uint32_t rank, const uint32_t *dims, double number) {
    size_t bytes = nnv_type(e.type)->size;
    for (uint32_t i = 0; i < rank; i++) bytes *= dims[i];
    return nnv_cv_room(c, bytes) ? nnv_builder_filled(&c->b, e, rank, dims, number) : 0;
}

uint32_t nnv_cv_number(struct nnv_cv *c, uint32_t like, double v) {
    static const uint32_t one = 1;
    return nnv_cv_filled(c, (struct nnv_encoding){.type = nnv_cv_at(c, like)->type}, 1, &one, v);
}

uint32_t nnv_cv_omitted(struct nnv_cv *c, int32_t type) {
    static uint32_t none[1]; /* rank 1, no extent */
    if (!nnv_cv_ok(c)) return 0;
    struct nnv_operand o = {.type = type, .lifetime = NNV_NO_VALUE};
    if (nnv_type(type)->tensor) o.rank = 1, o.dims = nnv_arena_copy(c->b.arena, none, sizeof none);
    if (nnv_is_quant(type)) o.scale = 1;
    return nnv_builder_operand(&c->b, o);
}

uint32_t nnv_cv_axis(struct nnv_cv *c, int64_t axis, uint32_t rank) {
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        nnv_cv_fail(c, "axis %lld of a tensor of rank %u", (long long)axis, rank);
        return 0;
    }
    return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}
