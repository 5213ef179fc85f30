/* SPDX-License-Identifier: Apache-2.0 */
/** @file bbox.c AXIS_ALIGNED_BBOX_TRANSFORM: regions moved and stretched, once for each class, inside their image. */
#include "regions.h"

enum { REGIONS, DELTAS, BATCH, IMAGES };

static bool in_eighths(const struct cpu_tensor *t) {
    return t->type != ANEURALNETWORKS_TENSOR_QUANT16_ASYMM || (t->scale == 0.125f && t->zero_point == 0);
}

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *regions = cpu_in(c, REGIONS), *deltas = cpu_in(c, DELTAS), *batch = cpu_in(c, BATCH);
    const bool quantised = regions->type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
    const uint32_t count = regions->known_rank && regions->shape.rank == 2 ? regions->shape.dims[0] : CPU_UNKNOWN;
    if (quantised ? !cpu_is_quant8(deltas) : deltas->type != regions->type) return false;
    if (!in_eighths(regions) || !in_eighths(cpu_in(c, IMAGES)) || !in_eighths(cpu_out(c, 0))) return false;
    return cpu_shape_fits(regions, 2, CPU_UNKNOWN, 4) && cpu_shape_fits(deltas, 2, count, CPU_UNKNOWN) &&
           cpu_shape_fits(batch, 1, count, 0) && cpu_shape_fits(cpu_in(c, IMAGES), 2, CPU_UNKNOWN, 2);
}

static bool infer(struct cpu_call *c) {
    const uint32_t *deltas = cpu_in(c, DELTAS)->shape.dims;
    if (deltas[1] != CPU_UNKNOWN && (deltas[1] == 0 || deltas[1] % 4 != 0)) return false;
    if (cpu_in(c, IMAGES)->shape.dims[0] == 0) return false;
    const uint32_t count = cpu_merge(cpu_in(c, REGIONS)->shape.dims[0], cpu_in(c, BATCH)->shape.dims[0]);
    c->out_shapes[0] = (struct cpu_shape){2, {cpu_merge(count, deltas[0]), deltas[1]}};
    return true;
}

/** One direction of one region: both ends, moved by a part of its length and stretched, inside [0, limit]. */
static void transform(double start, double end, double move, double stretch, double limit, double out[2]) {
    const double length = end - start, centre = start + length / 2 + move * length, half = exp(stretch) * length / 2;
    out[0] = fmin(fmax(centre - half, 0), limit);
    out[1] = fmin(fmax(centre + half, 0), limit);
}

struct boxes {
    const struct cpu_tensor *regions, *deltas, *images, *out;
    const int32_t *batch;
    size_t count; /**< deltas of a region */
};

static void regions_of(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct boxes *b = arg;
    for (size_t r = begin; r < end; r++) {
        const double x1 = cpu_coordinate(b->regions, 4 * r), y1 = cpu_coordinate(b->regions, 4 * r + 1);
        const double x2 = cpu_coordinate(b->regions, 4 * r + 2), y2 = cpu_coordinate(b->regions, 4 * r + 3);
        const size_t image = 2 * (size_t)b->batch[r];
        const double height = cpu_coordinate(b->images, image), width = cpu_coordinate(b->images, image + 1);
        for (size_t i = r * b->count; i < (r + 1) * b->count; i += 4) {
            double x[2], y[2];
            transform(x1, x2, cpu_real(b->deltas, i), cpu_real(b->deltas, i + 2), width, x);
            transform(y1, y2, cpu_real(b->deltas, i + 1), cpu_real(b->deltas, i + 3), height, y);
            for (size_t e = 0; e < 2; e++) {
                cpu_put_coordinate(b->out, i + 2 * e, x[e]);
                cpu_put_coordinate(b->out, i + 2 * e + 1, y[e]);
            }
        }
    }
}

static bool run(struct cpu_call *c) {
    struct boxes b = {cpu_in(c, REGIONS), cpu_in(c, DELTAS),      cpu_in(c, IMAGES),
                      cpu_out(c, 0),      cpu_in(c, BATCH)->data, cpu_in(c, DELTAS)->shape.dims[1]};
    const uint32_t regions = b.regions->shape.dims[0], images = b.images->shape.dims[0];
    for (uint32_t r = 0; r < regions; r++) {
        if (b.batch[r] < 0 || (uint32_t)b.batch[r] >= images) return false;
        for (size_t d = 0; d < 2; d++)
            if (cpu_coordinate(b.regions, (size_t)r * 4 + d) > cpu_coordinate(b.regions, (size_t)r * 4 + d + 2))
                return false;
    }
    cpu_threads_run(c->run->threads, regions, (double)cpu_count(b.out) * 8, regions_of, &b);
    return true;
}

const struct cpu_op_fns cpu_op_bbox_transform = {.check = check, .infer = infer, .run = run};
