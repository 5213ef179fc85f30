/* SPDX-License-Identifier: Apache-2.0 */
/** @file layout.c Operations that move values: CONCATENATION, RESHAPE, DEPTH_TO_SPACE, SPACE_TO_DEPTH. */
#include <string.h>

#include "layers/image.h"
#include "move.h"

enum { X };

/* -------------------------------------------------------------- CONCATENATION */

static uint32_t part_count(const struct cpu_call *c) { return c->node->in_count - 1; }

static int32_t concatenation_axis(const struct cpu_call *c) { return cpu_int(c, part_count(c), 0); }

static bool check_concatenation(const struct cpu_call *c) {
    return cpu_int_within(c, part_count(c), 0, CPU_MAX_RANK - 1);
}

static bool infer_concatenation(struct cpu_call *c) {
    struct cpu_shape *out = &c->out_shapes[0];
    const int32_t axis = concatenation_axis(c);
    *out = cpu_in(c, 0)->shape;
    if (axis < 0 || (uint32_t)axis >= out->rank) return false;
    uint64_t total = 0;
    bool known = true;
    for (uint32_t i = 0; i < part_count(c); i++) {
        const struct cpu_shape *s = &cpu_in(c, i)->shape;
        if (s->rank != out->rank) return false;
        for (uint32_t d = 0; d < s->rank; d++) {
            if (d == (uint32_t)axis) continue;
            if (!cpu_agree(s->dims[d], out->dims[d])) return false;
            out->dims[d] = cpu_merge(out->dims[d], s->dims[d]);
        }
        known = known && s->dims[axis] != CPU_UNKNOWN;
        total += s->dims[axis];
        if (known && total >= UINT32_MAX) return false;
    }
    out->dims[axis] = known ? (uint32_t)total : CPU_UNKNOWN;
    return true;
}

static bool run_concatenation(struct cpu_call *c) {
    struct cpu_tensor *out = cpu_out(c, 0);
    const uint32_t axis = (uint32_t)concatenation_axis(c), element = cpu_element(out->type);
    const size_t outer = cpu_extent(&out->shape, 0, axis), inner = cpu_extent(&out->shape, axis + 1, out->shape.rank);
    const size_t out_line = out->shape.dims[axis] * inner * element;
    uint8_t *to = out->data;
    for (uint32_t i = 0; i < part_count(c); i++) {
        const struct cpu_tensor *part = cpu_in(c, i);
        const size_t line = part->shape.dims[axis] * inner * element;
        const uint8_t *from = part->data;
        uint8_t table[256];
        const bool rescale = cpu_is_quant8(out) && !cpu_same_quant(part, out);
        if (rescale) cpu_requantize_table(part, out, table);
        for (size_t o = 0; o < outer && line; o++, from += line) {
            uint8_t *at = to + o * out_line;
            if (rescale)
                for (size_t k = 0; k < line; k++) at[k] = table[from[k]];
            else
                memcpy(at, from, line);
        }
        to += line;
    }
    return true;
}

const struct cpu_op_fns cpu_op_concatenation = {
    .check = check_concatenation, .infer = infer_concatenation, .run = run_concatenation};

/* -------------------------------------------------------------------- RESHAPE */

enum { NEW_SHAPE = 1 };

static bool check_reshape(const struct cpu_call *c) {
    const struct cpu_tensor *shape = cpu_in(c, NEW_SHAPE);
    return cpu_shape_fits(shape, 1, CPU_UNKNOWN, 0) &&
           (!shape->known_rank || cpu_out_has_rank(c, shape->shape.dims[0]));
}

static bool infer_reshape(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *shape = cpu_in(c, NEW_SHAPE);
    struct cpu_shape *out = &c->out_shapes[0];
    if (shape->shape.dims[0] > CPU_MAX_RANK || shape->shape.dims[0] == 0) return false;
    out->rank = shape->shape.dims[0];
    uint64_t total = 1, stated = 1;
    uint32_t stretch = CPU_MAX_RANK;
    for (uint32_t i = 0; i < out->rank; i++) {
        const int32_t extent = cpu_list_at(c, NEW_SHAPE, i);
        if (extent == -1 && stretch == CPU_MAX_RANK)
            stretch = i;
        else if (extent <= 0)
            return false;
        else
            stated *= (uint32_t)extent;
        if (stated > UINT32_MAX) return false;
        out->dims[i] = extent == -1 ? CPU_UNKNOWN : (uint32_t)extent;
    }
    for (uint32_t i = 0; i < x->shape.rank; i++) {
        if (x->shape.dims[i] == CPU_UNKNOWN) return true;
        total *= x->shape.dims[i];
        if (total > UINT32_MAX) return false;
    }
    if (stretch == CPU_MAX_RANK) return total == stated;
    out->dims[stretch] = (uint32_t)(total / stated);
    return total % stated == 0;
}

static bool run_reshape(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X);
    memcpy(cpu_out(c, 0)->data, x->data, cpu_count(x) * cpu_element(x->type));
    return true;
}

const struct cpu_op_fns cpu_op_reshape = {.check = check_reshape, .infer = infer_reshape, .run = run_reshape};

/* --------------------------------------------- DEPTH_TO_SPACE, SPACE_TO_DEPTH */

enum { BLOCK = 1, NCHW };

static bool check_block(const struct cpu_call *c) { return cpu_int_within(c, BLOCK, 1, 1 << 15); }

/** extent / by, unknown if extent is; false if it does not divide. */
static bool shrink(uint32_t extent, uint32_t by, uint32_t *out) {
    *out = extent == CPU_UNKNOWN ? CPU_UNKNOWN : extent / by;
    return extent == CPU_UNKNOWN || extent % by == 0;
}

static bool infer_block(struct cpu_call *c) {
    const bool nchw = cpu_int(c, NCHW, 0) != 0, to_space = c->node->code == ANEURALNETWORKS_DEPTH_TO_SPACE;
    const uint32_t block = (uint32_t)cpu_int(c, BLOCK, 1);
    const struct cpu_image in = cpu_image_of(&cpu_in(c, X)->shape, nchw);
    struct cpu_image out = in;
    const bool ok = to_space ? cpu_extent_mul(in.h, block, &out.h) && cpu_extent_mul(in.w, block, &out.w) &&
                                   shrink(in.c, block * block, &out.c)
                             : shrink(in.h, block, &out.h) && shrink(in.w, block, &out.w) &&
                                   cpu_extent_mul(in.c, block * block, &out.c);
    c->out_shapes[0] = cpu_image_shape(out, nchw);
    return ok;
}

/**
 * Deep [N,H,W,block*block*C] and wide [N,H*block,W*block,C]: channels (p * block + q) * C... of a deep pixel are the
 * wide pixel at row p, column q of its block. A row of a block is one run of block * C values in both.
 */
static void move_blocks(struct cpu_image deep, size_t block, size_t run_bytes, const char *from, char *to,
                        bool to_space) {
    size_t wide_at = 0;
    for (size_t row = 0; row < (size_t)deep.n * deep.h; row++)
        for (size_t p = 0; p < block; p++)
            for (size_t x = 0; x < deep.w; x++, wide_at += run_bytes) {
                const size_t deep_at = ((row * deep.w + x) * block + p) * run_bytes;
                memcpy(to + (to_space ? wide_at : deep_at), from + (to_space ? deep_at : wide_at), run_bytes);
            }
}

static bool run_block(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    const bool nchw = cpu_int(c, NCHW, 0) != 0, to_space = c->node->code == ANEURALNETWORKS_DEPTH_TO_SPACE;
    const size_t block = (size_t)cpu_int(c, BLOCK, 1);
    const struct cpu_image deep = cpu_image_of(to_space ? &x->shape : &out->shape, nchw);
    const void *from = cpu_image_in(c->run, x, nchw);
    void *to = cpu_image_out(c->run, out, nchw);
    if (!from || !to) return false;
    move_blocks(deep, block, deep.c / block * cpu_element(x->type), from, to, to_space);
    cpu_image_done(c->run, out, nchw, to);
    return true;
}

const struct cpu_op_fns cpu_op_depth_space = {.check = check_block, .infer = infer_block, .run = run_block};
