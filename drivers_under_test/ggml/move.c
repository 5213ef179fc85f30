/* SPDX-License-Identifier: Apache-2.0 */
/** @file move.c Operations that move values: other places, other extents, more or fewer of them. */
#include <string.h>

#include "convert.h"

static enum gg_type type_of(const struct gg_conversion *c) { return gg_type_of(engine_out(&c->op, 0)); }

void gg_copy(struct gg_conversion *c) {
    if (!engine_constant(&c->op, 1, 1)) gg_refuse(c, "a parameter is no constant");
    gg_out(c, 0, gg_one(c, c->name, gg_in(c, 0)), type_of(c));
}

void gg_permute(struct gg_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const int32_t *list = gg_list(c, 1);
    int64_t dims[ENGINE_MAX_RANK];
    uint32_t order[ENGINE_MAX_RANK];
    for (uint32_t i = 0; i < x->rank; i++) order[i] = list ? (uint32_t)list[i] : i;
    gg_dims(x, dims);
    gg_out(c, 0, gg_transpose(c, gg_in(c, 0), x->rank, dims, order), type_of(c));
}

/** Inputs [first, first + count) one behind the other, as blocks: what they have from the axis on. */
static void concatenate(struct gg_conversion *c, uint32_t first, uint32_t count, uint32_t axis) {
    enum { SECOND_EXTENT = 0 };
    gg_tensor *all = NULL;
    for (uint32_t i = first; i < first + count; i++) {
        const struct engine_tensor *t = engine_in(&c->op, i);
        const int64_t before = (int64_t)engine_extent(t, 0, axis), dims[] = {before, (int64_t)t->count / before};
        gg_tensor *block = gg_shape(c, gg_in(c, i), 2, dims);
        if (!block) return;
        all = all ? gg_made(c, c->graph->lib->concat(c->graph->context, all, block, SECOND_EXTENT)) : block;
    }
    gg_out(c, 0, count == 1 ? gg_one(c, "cont", all) : all, type_of(c));
}

void gg_concatenation(struct gg_conversion *c) {
    const uint32_t n = c->op.node->in_count - 1;
    concatenate(c, 0, n, engine_axis(engine_int(&c->op, n, 0), engine_in(&c->op, 0)->rank));
}

void gg_pack(struct gg_conversion *c) {
    concatenate(c, 1, c->op.node->in_count - 1, engine_axis(engine_int(&c->op, 0, 0), engine_out(&c->op, 0)->rank));
}

/**
 * A part of input 0, copied: at each axis `count` of its values from `start` on, every `step` of them. Behind the last
 * of the extents stands one of 1, where there is room: ggml's first can't be taken in steps.
 */
static gg_tensor *part(struct gg_conversion *c, const int64_t *start, const int64_t *count, const int64_t *step) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    gg_tensor *t = gg_in(c, 0);
    const bool room = x->rank < GG_EXTENTS;
    if (x->rank > GG_EXTENTS || (!room && step[x->rank - 1] != 1)) gg_refuse(c, "ggml's tensors have four extents");
    if (!t || c->refused) return NULL;
    const size_t element = c->graph->lib->element_size(t);
    int64_t n[GG_EXTENTS] = {1, 1, 1, 1};
    size_t distance[GG_EXTENTS] = {element, element, element, element}, offset = 0, behind = element;
    for (uint32_t i = x->rank, at = room; i-- > 0; at++) {
        n[at] = count[i];
        distance[at] = behind * (size_t)step[i];
        offset += behind * (size_t)start[i];
        behind *= x->dims[i];
    }
    return gg_one(c, "cont",
                  c->graph->lib->view_4d(c->graph->context, t, n[0], n[1], n[2], n[3], distance[1], distance[2],
                                         distance[3], offset));
}

void gg_slice(struct gg_conversion *c) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    const int32_t *starts = gg_list(c, 1);
    int64_t start[ENGINE_MAX_RANK], count[ENGINE_MAX_RANK], step[ENGINE_MAX_RANK] = {0};
    if (!engine_constant(&c->op, 2, 2)) gg_refuse(c, "a parameter is no constant");
    for (uint32_t i = 0; starts && i < y->rank; i++) {
        start[i] = starts[i];
        count[i] = y->dims[i];
        step[i] = 1;
    }
    if (starts) gg_out(c, 0, part(c, start, count, step), type_of(c));
}

void gg_strided_slice(struct gg_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const int32_t *starts = gg_list(c, 1), *ends = gg_list(c, 2), *steps = gg_list(c, 3);
    const int32_t begin = engine_int(&c->op, 4, 0), end = engine_int(&c->op, 5, 0), shrink = engine_int(&c->op, 6, 0);
    int64_t start[ENGINE_MAX_RANK], count[ENGINE_MAX_RANK], step[ENGINE_MAX_RANK] = {0};
    if (!starts || !ends || !steps || c->op.not_constant) return;
    for (uint32_t i = 0; i < x->rank; i++) {
        const int64_t extent = x->dims[i];
        int64_t from = starts[i] < 0 ? starts[i] + extent : starts[i], to = ends[i] < 0 ? ends[i] + extent : ends[i];
        if (steps[i] < 0) gg_refuse(c, "ggml takes values forwards");
        if (begin >> i & 1 || from < 0) from = 0;
        if (end >> i & 1 || to > extent) to = extent;
        if (shrink >> i & 1) to = from + 1;
        start[i] = from;
        step[i] = shrink >> i & 1 ? 1 : steps[i];
        if (from >= to) gg_refuse(c, "ggml takes values forwards");
        if (c->refused) return;
        count[i] = (to - from + step[i] - 1) / step[i];
    }
    gg_out(c, 0, part(c, start, count, step), type_of(c));
}

void gg_split(struct gg_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const uint32_t axis = engine_axis(engine_int(&c->op, 1, 0), x->rank), n = c->op.node->out_count;
    int64_t start[ENGINE_MAX_RANK] = {0}, count[ENGINE_MAX_RANK], step[ENGINE_MAX_RANK] = {0};
    if (!engine_constant(&c->op, 1, 2)) gg_refuse(c, "a parameter is no constant");
    gg_dims(x, count);
    count[axis] /= n;
    for (uint32_t i = 0; i < x->rank; i++) step[i] = 1;
    for (uint32_t i = 0; i < n && !c->refused; i++) {
        start[axis] = count[axis] * i;
        gg_out(c, i, part(c, start, count, step), type_of(c));
    }
}

void gg_tile(struct gg_conversion *c) {
    const struct engine_tensor *y = engine_out(&c->op, 0);
    int64_t d[GG_EXTENTS] = {1, 1, 1, 1};
    gg_tensor *x = gg_in(c, 0);
    if (!engine_constant(&c->op, 1, 1)) gg_refuse(c, "a parameter is no constant");
    if (y->rank > GG_EXTENTS) gg_refuse(c, "ggml's tensors have four extents");
    if (!x || c->refused) return;
    for (uint32_t i = 0; i < y->rank; i++) d[i] = y->dims[y->rank - 1 - i];
    gg_out(c, 0, gg_made(c, c->graph->lib->repeat_4d(c->graph->context, x, d[0], d[1], d[2], d[3])), type_of(c));
}

void gg_pad(struct gg_conversion *c) {
    const uint32_t rank = engine_in(&c->op, 0)->rank;
    const int32_t *list = gg_list(c, 1);
    int head[GG_EXTENTS] = {0}, tail[GG_EXTENTS] = {0};
    if (rank > GG_EXTENTS) gg_refuse(c, "ggml's tensors have four extents");
    gg_tensor *x = gg_real(c, 0);
    if (!x || c->refused) return;
    for (uint32_t i = 0; i < rank; i++) {
        head[rank - 1 - i] = list[2 * i];
        tail[rank - 1 - i] = list[2 * i + 1];
    }
    x = gg_made(c, c->graph->lib->pad_ext(c->graph->context, x, head[0], tail[0], head[1], tail[1], head[2], tail[2],
                                          head[3], tail[3]));
    gg_out(c, 0, x, GG_FLOAT);
}

/** Indices outside [0, limit) would end the process: constants are checked now, others when they are known. */
static gg_tensor *indices(struct gg_conversion *c, uint32_t i, int32_t limit) {
    const struct engine_graph *from = c->graph->from;
    const struct engine_tensor *t = engine_in(&c->op, i);
    const uint32_t tensor = c->op.node->in[i];
    const int32_t *list = t->value;
    bool is_input = false;
    for (size_t k = 0; list && k < t->count; k++)
        if (list[k] < 0 || list[k] >= limit) gg_refuse(c, "an index is out of range");
    for (uint32_t k = 0; k < from->in_count; k++) is_input = is_input || from->in[k] == tensor;
    if (!list && !is_input) gg_refuse(c, "indices that the model computes can't be checked");
    if (!list) c->graph->checks[c->graph->check_count++] = (struct gg_check){tensor, limit};
    return gg_shape(c, gg_in(c, i), 1, (const int64_t[]){(int64_t)t->count});
}

/** Lines by their numbers, in float32; the lines of an embedding, too, whose indices come first. */
void gg_gather(struct gg_conversion *c) {
    const bool is_embedding = c->op.node->code == ANEURALNETWORKS_EMBEDDING_LOOKUP;
    const uint32_t values = is_embedding ? 1 : 0, index = is_embedding ? 0 : 2;
    const struct engine_tensor *x = engine_in(&c->op, values);
    const uint32_t axis = is_embedding ? 0 : engine_axis(engine_int(&c->op, 1, 0), x->rank);
    const int64_t n = x->dims[axis], before = (int64_t)engine_extent(x, 0, axis),
                  behind = (int64_t)engine_extent(x, axis + 1, x->rank),
                  count = (int64_t)engine_in(&c->op, index)->count;
    if (gg_type_of(x) == GG_INT) gg_refuse(c, "only float32 and float16 are computed on");
    gg_tensor *t = gg_in(c, values), *at = indices(c, index, (int32_t)n);
    if (before > 1) t = gg_transpose(c, t, 3, (const int64_t[]){before, n, behind}, (const uint32_t[]){1, 0, 2});
    t = gg_two(c, c->name, gg_shape(c, t, 2, (const int64_t[]){n, before * behind}), at);
    if (before > 1) t = gg_transpose(c, t, 3, (const int64_t[]){count, before, behind}, (const uint32_t[]){1, 0, 2});
    gg_out(c, 0, t, GG_FLOAT);
}

void gg_shuffle(struct gg_conversion *c) {
    const struct engine_tensor *x = engine_in(&c->op, 0);
    const int32_t groups = engine_int(&c->op, 1, 1);
    const uint32_t axis = engine_axis(engine_int(&c->op, 2, -1), x->rank);
    const int64_t dims[] = {(int64_t)engine_extent(x, 0, axis), groups, x->dims[axis] / groups,
                            (int64_t)engine_extent(x, axis + 1, x->rank)};
    gg_out(c, 0, gg_transpose(c, gg_in(c, 0), 4, dims, (const uint32_t[]){0, 2, 1, 3}), type_of(c));
}

/** Depth to space, and back. */
void gg_block(struct gg_conversion *c) {
    const bool to_space = c->op.node->code == ANEURALNETWORKS_DEPTH_TO_SPACE, nchw = engine_int(&c->op, 2, 0) != 0;
    const struct engine_tensor *deep = to_space ? engine_in(&c->op, 0) : engine_out(&c->op, 0);
    const int64_t n = deep->dims[0], block = engine_int(&c->op, 1, 1), h = deep->dims[nchw ? 2 : 1],
                  w = deep->dims[nchw ? 3 : 2], channels = deep->dims[nchw ? 1 : 3] / (block * block);
    gg_tensor *x = gg_in(c, 0);
    if (nchw && to_space) /* [N, block, block, C, H, W] */
        x = gg_transpose(c, x, 6, (const int64_t[]){n, block, block, channels, h, w},
                         (const uint32_t[]){0, 3, 4, 1, 5, 2});
    else if (nchw)
        x = gg_transpose(c, x, 6, (const int64_t[]){n, channels, h, block, w, block},
                         (const uint32_t[]){0, 3, 5, 1, 2, 4});
    else
        x = gg_transpose(c, x, 4,
                         to_space ? (const int64_t[]){n * h, w, block, block * channels}
                                  : (const int64_t[]){n * h, block, w, block * channels},
                         (const uint32_t[]){0, 2, 1, 3});
    gg_out(c, 0, x, type_of(c));
}
