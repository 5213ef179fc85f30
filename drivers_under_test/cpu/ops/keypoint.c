/* SPDX-License-Identifier: Apache-2.0 */
/** @file keypoint.c HEATMAP_MAX_KEYPOINT: the highest place of each map, refined by the parabola through its
 * neighbours.
 */
#include "layers/image.h"
#include "regions.h"

enum { X, BOXES, NCHW };
enum { SCORE, KEYPOINT };

static bool check(const struct cpu_call *c) { return cpu_shape_fits(cpu_in(c, BOXES), 2, CPU_UNKNOWN, 4); }

static bool infer(struct cpu_call *c) {
    const struct cpu_image in = cpu_image_of(&cpu_in(c, X)->shape, cpu_int(c, NCHW, 0) != 0);
    const uint32_t boxes = cpu_in(c, BOXES)->shape.dims[0];
    if (!cpu_agree(in.n, boxes) || !cpu_agree(in.h, in.w) || cpu_merge(in.h, in.w) < 2) return false;
    c->out_shapes[SCORE] = (struct cpu_shape){2, {cpu_merge(in.n, boxes), in.c}};
    c->out_shapes[KEYPOINT] = (struct cpu_shape){3, {cpu_merge(in.n, boxes), in.c, 2}};
    return true;
}

/** The maps of all boxes and keypoints. */
struct maps {
    const struct cpu_tensor *x, *boxes, *score, *keypoint;
    struct cpu_image in;
    size_t box_step, map_step, row, col; /**< values apart */
    double epsilon;
};

/** The first of the highest places of a map that begins at `first`. */
static void find_top(const struct maps *m, size_t first, uint32_t *top_y, uint32_t *top_x) {
    double most = cpu_real(m->x, first);
    *top_y = *top_x = 0;
    for (uint32_t y = 0; y < m->in.h; y++)
        for (uint32_t x = 0; x < m->in.w; x++) {
            const double v = cpu_real(m->x, first + y * m->row + x * m->col);
            if (v > most) most = v, *top_y = y, *top_x = x;
        }
}

/** Beyond its border a map is mirrored; offset: -1 to 1. */
static size_t mirrored(uint32_t at, int offset, uint32_t extent) {
    if (offset < 0) return at == 0 ? 1 : at - 1;
    if (offset > 0) return at == extent - 1 ? extent - 2 : at + 1;
    return at;
}

/** How far the top of the parabola lies from the place, and its height. */
struct top {
    double x, y, score;
};

static struct top refine(const struct maps *m, size_t first, uint32_t y, uint32_t x) {
    static const double farthest = 1.5;
    double n[3][3];
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            n[p][q] =
                cpu_real(m->x, first + mirrored(y, p - 1, m->in.h) * m->row + mirrored(x, q - 1, m->in.w) * m->col);
    const double gx = (n[1][2] - n[1][0]) / 2, gy = (n[2][1] - n[0][1]) / 2;
    const double xx = n[1][0] - 2 * n[1][1] + n[1][2], yy = n[0][1] - 2 * n[1][1] + n[2][1];
    const double xy = (n[2][2] - n[2][0] - n[0][2] + n[0][0]) / 4, det = xx * yy - xy * xy;
    struct top t = {0, 0, n[1][1]};
    if (fabs(det) < m->epsilon + m->epsilon * xx * yy) return t;
    t.x = (xy * gy - yy * gx) / det;
    t.y = (xy * gx - xx * gy) / det;
    const double far = fmax(fabs(t.x), fabs(t.y));
    if (far > farthest) {
        t.x *= farthest / far;
        t.y *= farthest / far;
    }
    t.score += gx * t.x + gy * t.y + (xx * t.x * t.x + 2 * xy * t.x * t.y + yy * t.y * t.y) / 2;
    return t;
}

static void write_score(const struct maps *m, size_t at, double v) {
    if (cpu_is_quant8(m->x))
        ((uint8_t *)m->score->data)[at] = cpu_quantize(v, m->score);
    else
        ((float *)m->score->data)[at] = (float)v;
}

/** Maps, in the order of the scores. */
static void maps_of(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct maps *m = arg;
    for (uint32_t i = begin; i < end; i++) {
        const size_t box = i / m->in.c, first = box * m->box_step + i % m->in.c * m->map_step;
        uint32_t y, x;
        find_top(m, first, &y, &x);
        const struct top t = refine(m, first, y, x);
        const double x1 = cpu_coordinate(m->boxes, 4 * box), y1 = cpu_coordinate(m->boxes, 4 * box + 1);
        const double width = cpu_coordinate(m->boxes, 4 * box + 2) - x1,
                     height = cpu_coordinate(m->boxes, 4 * box + 3) - y1;
        write_score(m, i, t.score);
        cpu_put_coordinate(m->keypoint, 2 * (size_t)i, (x + t.x + 0.5) / m->in.w * width + x1);
        cpu_put_coordinate(m->keypoint, 2 * (size_t)i + 1, (y + t.y + 0.5) / m->in.h * height + y1);
    }
}

static bool run(struct cpu_call *c) {
    const bool nchw = cpu_int(c, NCHW, 0) != 0;
    const struct cpu_tensor *x = cpu_in(c, X);
    const struct cpu_image in = cpu_image_of(&x->shape, nchw);
    const size_t cells = (size_t)in.h * in.w;
    struct maps m = {
        .x = x,
        .boxes = cpu_in(c, BOXES),
        .score = cpu_out(c, SCORE),
        .keypoint = cpu_out(c, KEYPOINT),
        .in = in,
        .box_step = cells * in.c,
        .map_step = nchw ? cells : 1,
        .row = nchw ? in.w : (size_t)in.w * in.c,
        .col = nchw ? 1 : in.c,
        .epsilon = x->type == ANEURALNETWORKS_TENSOR_FLOAT16 ? 1e-3 : 1e-5,
    };
    cpu_threads_run(c->run->threads, in.n * in.c, (double)cpu_count(x) * 2, maps_of, &m);
    return true;
}

const struct cpu_op_fns cpu_op_heatmap = {.check = check, .infer = infer, .run = run};
