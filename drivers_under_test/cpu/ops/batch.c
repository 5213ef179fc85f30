/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch.c BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND: images cut into blocks, a batch for each place of a block. */
#include <string.h>

#include "layers/image.h"
#include "move.h"

enum { X, BLOCK };

static bool to_batch(const struct cpu_call *c) { return c->node->code == ANEURALNETWORKS_SPACE_TO_BATCH_ND; }

static bool is_nchw(const struct cpu_call *c) { return cpu_int(c, to_batch(c) ? 3 : 2, 0) != 0; }

enum { TOP, BOTTOM, LEFT, RIGHT };

/** The blocks, and where there are paddings those; values are known. */
struct blocks {
    uint32_t h, w;
    int32_t pad[4];
};

static bool read_blocks(const struct cpu_call *c, struct blocks *b) {
    enum { PADDINGS = 2 };
    const int32_t h = cpu_list_at(c, BLOCK, 0), w = cpu_list_at(c, BLOCK, 1);
    *b = (struct blocks){.h = (uint32_t)h, .w = (uint32_t)w};
    for (uint32_t i = 0; to_batch(c) && i < 4; i++) {
        b->pad[i] = cpu_list_at(c, PADDINGS, i);
        if (b->pad[i] < 0) return false;
    }
    return h >= 1 && w >= 1;
}

static bool check(const struct cpu_call *c) {
    return cpu_shape_fits(cpu_in(c, BLOCK), 1, 2, 0) && (!to_batch(c) || cpu_shape_fits(cpu_in(c, 2), 2, 2, 2)) &&
           cpu_out_has_rank(c, 4);
}

/** The extent with its cells, in blocks; false if they don't fill it. */
static bool in_blocks(uint32_t extent, int32_t head, int32_t tail, uint32_t block, uint32_t *out) {
    if (!cpu_extent_add(extent, (uint64_t)head + (uint64_t)tail, out)) return false;
    if (extent == CPU_UNKNOWN) return true;
    const bool whole = *out % block == 0;
    *out /= block;
    return whole;
}

static bool infer(struct cpu_call *c) {
    struct blocks b;
    if (!read_blocks(c, &b)) return false;
    const struct cpu_image in = cpu_image_of(&cpu_in(c, X)->shape, is_nchw(c));
    struct cpu_image out = in;
    const uint64_t places = (uint64_t)b.h * b.w;
    bool ok;
    if (to_batch(c)) {
        ok = in_blocks(in.h, b.pad[TOP], b.pad[BOTTOM], b.h, &out.h) &&
             in_blocks(in.w, b.pad[LEFT], b.pad[RIGHT], b.w, &out.w) && cpu_extent_mul(in.n, places, &out.n);
    } else {
        ok = cpu_extent_mul(in.h, b.h, &out.h) && cpu_extent_mul(in.w, b.w, &out.w);
        if (in.n != CPU_UNKNOWN) {
            ok = ok && in.n % places == 0;
            out.n = (uint32_t)(in.n / places);
        }
    }
    c->out_shapes[0] = cpu_image_shape(out, is_nchw(c));
    return ok;
}

/** Steps between images, rows, columns and channels. */
struct steps {
    ptrdiff_t n, h, w, c;
};

static struct steps steps_of(struct cpu_image i, bool nchw) {
    const ptrdiff_t h = i.h, w = i.w, c = i.c;
    return nchw ? (struct steps){h * w * c, w, 1, h * w} : (struct steps){h * w * c, w * c, c, 1};
}

/** The pixels of a batch, [first, first + count), that lie on the image: pixel i at i * block + place - pad. */
static void inside(uint32_t place, uint32_t block, int32_t pad, uint32_t extent, size_t *first, size_t *count) {
    const int64_t at = (int64_t)place - pad, step = block;
    const int64_t begin = at < 0 ? (-at + step - 1) / step : 0;
    const int64_t end = extent > at ? ((int64_t)extent - 1 - at) / step + 1 : 0;
    *first = (size_t)begin;
    *count = end > begin ? (size_t)(end - begin) : 0;
}

struct layout {
    const struct cpu_call *c;
    struct blocks blocks;
    struct cpu_image wide; /**< the image that is not cut */
    struct steps wide_step, deep_step;
    bool nchw;
};

/** Place (u, v) of all blocks: one run of batches. */
static void move_place(const struct layout *l, uint32_t u, uint32_t v) {
    const struct cpu_tensor *x = cpu_in(l->c, X), *out = cpu_out(l->c, 0);
    const struct blocks *b = &l->blocks;
    const struct steps *wide = &l->wide_step, *deep = &l->deep_step;
    size_t row, rows, col, cols;
    inside(u, b->h, b->pad[TOP], l->wide.h, &row, &rows);
    inside(v, b->w, b->pad[LEFT], l->wide.w, &col, &cols);
    if (rows == 0 || cols == 0) return;
    const ptrdiff_t y = (ptrdiff_t)(row * b->h + u) - b->pad[TOP], z = (ptrdiff_t)(col * b->w + v) - b->pad[LEFT];
    const ptrdiff_t wide_at = y * wide->h + z * wide->w;
    const ptrdiff_t deep_at = ((ptrdiff_t)u * b->w + v) * (ptrdiff_t)l->wide.n * deep->n + (ptrdiff_t)row * deep->h +
                              (ptrdiff_t)col * deep->w;
    const struct cpu_stride axes[] = {
        {l->wide.n, wide->n, deep->n},
        {l->nchw ? l->wide.c : 1, wide->c, deep->c},
        {rows, wide->h * (ptrdiff_t)b->h, deep->h},
        {cols, wide->w * (ptrdiff_t)b->w, deep->w},
        {l->nchw ? 1 : l->wide.c, wide->c, deep->c},
    };
    const bool cut = to_batch(l->c);
    struct cpu_move m = cpu_move_of(x);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        cpu_move_axis(&m, axes[i].count, cut ? axes[i].from : axes[i].to, cut ? axes[i].to : axes[i].from);
    cpu_move_run(l->c->run->threads, &m, cpu_values_at(x, x->data, (size_t)(cut ? wide_at : deep_at)),
                 cpu_values_to(out, out->data, (size_t)(cut ? deep_at : wide_at)));
}

static bool run(struct cpu_call *c) {
    const struct cpu_tensor *x = cpu_in(c, X), *out = cpu_out(c, 0);
    struct layout l = {.c = c, .nchw = is_nchw(c)};
    if (!read_blocks(c, &l.blocks)) return false;
    const struct cpu_image in = cpu_image_of(&x->shape, l.nchw), made = cpu_image_of(&out->shape, l.nchw);
    l.wide = to_batch(c) ? in : made;
    l.wide_step = steps_of(l.wide, l.nchw);
    l.deep_step = steps_of(to_batch(c) ? made : in, l.nchw);
    if (to_batch(c) && cpu_count(out) > cpu_count(x))
        memset(out->data, cpu_is_quant8(x) ? x->zero_point : 0, cpu_count(out) * cpu_element(x->type));
    for (uint32_t u = 0; u < l.blocks.h; u++)
        for (uint32_t v = 0; v < l.blocks.w; v++) move_place(&l, u, v);
    return true;
}

const struct cpu_op_fns cpu_op_batch_space = {.check = check, .infer = infer, .run = run};
