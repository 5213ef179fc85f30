/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: get_valid_counts and non_max_suppression: types of results, kernels, rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/relay/ops/kernel.h"

/* ------------------------------------------------------------------- types */

/* Boxes are rows of numbers: an attribute says where one of them is. */
static bool column(struct nnv_relay_typing *t, const char *key, int64_t otherwise, int64_t least, int64_t columns) {
    int64_t at = nnv_relay_int(t, key, otherwise);
    if (at >= least && (columns < 0 || at < columns)) return true;
    return nnv_relay_wrong(t, "%s is %" PRId64 ", and a box has %" PRId64 " numbers", key, at, columns);
}

static const struct nnv_relay_type *infer_valid_counts(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 3);
    if (x == NULL || !column(t, "score_index", 1, 0, x->dims[2]) || !column(t, "id_index", 0, -1, x->dims[2]))
        return NULL;
    if (t->call->n_args == 2 && !nnv_relay_of_rank(t, 1, 0)) return NULL;
    if (!nnv_relay_dtype_is_float(x->dtype)) return nnv_relay_wrong(t, "operand 0 must be of a floating-point type");
    const struct nnv_relay_type *counts = nnv_relay_made(t, NNV_RELAY_INT32, 1, x->dims),
                                *places = nnv_relay_made(t, NNV_RELAY_INT32, 2, x->dims);
    if (counts == NULL || places == NULL) return NULL;
    return nnv_relay_tuple_type(t->m->arena, 3, (const struct nnv_relay_type *[]){counts, x, places});
}

/* Operands: boxes, how many of them are valid, their numbers; the most to keep, and the overlap that is too much. */
static const struct nnv_relay_type *infer_nms(struct nnv_relay_typing *t) {
    const struct nnv_relay_type *x = nnv_relay_of_rank(t, 0, 3), *n = x ? nnv_relay_of_rank(t, 1, 1) : NULL,
                                *places = n ? nnv_relay_of_rank(t, 2, 2) : NULL;
    if (places == NULL || !column(t, "score_index", 1, 0, x->dims[2]) || !column(t, "id_index", 0, -1, x->dims[2]) ||
        !column(t, "coord_start", 2, 0, x->dims[2] < 0 ? -1 : x->dims[2] - 3))
        return NULL;
    for (size_t i = 3; i < t->call->n_args; i++)
        if (!nnv_relay_of_rank(t, i, 0)) return NULL;
    if (!nnv_relay_dtype_is_float(x->dtype)) return nnv_relay_wrong(t, "operand 0 must be of a floating-point type");
    if (n->dtype != NNV_RELAY_INT32 || places->dtype != NNV_RELAY_INT32 || n->dims[0] != x->dims[0] ||
        places->dims[0] != x->dims[0] || places->dims[1] != x->dims[1])
        return nnv_relay_wrong(t, "operands 1 and 2 must be int32, for each image and each box");
    if (!nnv_relay_int(t, "return_indices", 1)) return x;
    const struct nnv_relay_type *fields[] = {nnv_relay_made(t, NNV_RELAY_INT32, 2, x->dims),
                                             nnv_relay_made(t, NNV_RELAY_INT32, 2, (int64_t[]){x->dims[0], 1})};
    return fields[0] && fields[1] ? nnv_relay_tuple_type(t->m->arena, 2, fields) : NULL;
}

/* ----------------------------------------------------------------- kernels */

/** One image. Outputs: rows of `width` numbers, and the number of the box that a row is. */
struct boxes {
    const double *in;
    double *out;
    int64_t *from; /**< row of the operand; -1: none */
    size_t width, valid, all;
    int64_t score, id, corner; /**< columns; id -1: there are no classes */
};

/* ------------------------------------------------------------- valid counts */

static void run_valid_counts(struct nnv_interp_op *op) {
    const int64_t *d = op->in[0]->type->dims;
    double threshold = op->n_in == 2 ? op->in[1]->values[0] : nnv_relay_number(&op->t, "score_threshold", 0);
    int64_t id = nnv_relay_int(&op->t, "id_index", 0), score = nnv_relay_int(&op->t, "score_index", 1);
    size_t rows = (size_t)d[1], width = (size_t)d[2];
    struct nnv_relay_datum *const *out = op->out->fields;
    for (size_t i = 0; i < out[1]->n; i++) out[1]->values[i] = -1;
    for (size_t i = 0; i < out[2]->n; i++) out[2]->values[i] = -1;
    for (size_t b = 0; b < (size_t)d[0]; b++) {
        size_t n = 0;
        for (size_t r = 0; r < rows; r++) {
            const double *row = op->in[0]->values + (b * rows + r) * width;
            if (!(row[score] > threshold) || (id >= 0 && row[id] < 0)) continue;
            memcpy(out[1]->values + (b * rows + n) * width, row, width * sizeof *row);
            out[2]->values[b * rows + n++] = (double)r;
        }
        out[0]->values[b] = (double)n;
    }
}

/* -------------------------------------------------------------- suppression */

struct scored {
    double score;
    size_t row;
};

static int by_score(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    if (x->score > y->score) return -1;
    if (x->score < y->score) return 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void put(struct boxes *b, size_t at, int64_t row) {
    b->from[at] = row;
    for (size_t k = 0; k < b->width; k++) b->out[at * b->width + k] = row < 0 ? -1 : b->in[(size_t)row * b->width + k];
}

/* The part of two boxes' union that is in both. */
static double overlap(const double *a, const double *b) {
    double left = fmax(fmin(a[0], a[2]), fmin(b[0], b[2])), right = fmin(fmax(a[0], a[2]), fmax(b[0], b[2]));
    double top = fmax(fmin(a[1], a[3]), fmin(b[1], b[3])), bottom = fmin(fmax(a[1], a[3]), fmax(b[1], b[3]));
    double both = fmax(0, right - left) * fmax(0, bottom - top);
    double sum = fabs((a[2] - a[0]) * (a[3] - a[1])) + fabs((b[2] - b[0]) * (b[3] - b[1])) - both;
    return sum <= 0 ? 0 : both / sum;
}

/* Row k is too much like row j, which is kept. */
static void suppress(struct boxes *b, size_t j, size_t k, bool any_class, double threshold) {
    double *kept = b->out + j * b->width, *other = b->out + k * b->width;
    if (!(other[b->score] > 0)) return;
    if (!any_class && b->id >= 0 && kept[b->id] != other[b->id]) return;
    if (overlap(kept + b->corner, other + b->corner) < threshold) return;
    other[b->score] = -1;
    if (b->id >= 0) other[b->id] = -1;
    b->from[k] = -1;
}

/* Best first, each taking out those behind it that it covers. */
static bool suppress_all(struct nnv_interp_op *op, struct boxes *b, int64_t most, double threshold) {
    int64_t top_k = nnv_relay_int(&op->t, "top_k", -1), kept = 0;
    bool any_class = nnv_relay_int(&op->t, "force_suppress", 0);
    struct scored *order = NNV_NEW(op->scratch, struct scored, b->valid);
    if (order == NULL) return nnv_interp_space(op, SIZE_MAX);
    for (size_t i = 0; i < b->valid; i++) order[i] = (struct scored){b->in[i * b->width + (size_t)b->score], i};
    qsort(order, b->valid, sizeof *order, by_score);
    size_t keep = top_k > 0 && (size_t)top_k < b->valid ? (size_t)top_k : b->valid;
    for (size_t i = 0; i < b->valid; i++) put(b, i, i < keep ? (int64_t)order[i].row : -1);
    for (size_t j = 0; j < b->valid; j++) {
        if (kept == most) {
            put(b, j, -1);
        } else if (b->out[j * b->width + (size_t)b->score] > 0) {
            kept++;
            for (size_t k = j + 1; k < b->valid; k++) suppress(b, j, k, any_class, threshold);
        }
    }
    return true;
}

/* Rows that are kept move up, the rest is -1. */
static void compact(struct boxes *b) {
    size_t n = 0;
    for (size_t i = 0; i < b->all; i++) {
        const double *row = b->out + i * b->width;
        if (!(row[0] >= 0)) continue;
        memmove(b->out + n++ * b->width, row, b->width * sizeof *row);
    }
    for (size_t i = n * b->width; i < b->all * b->width; i++) b->out[i] = -1;
}

/* The numbers of what is kept, in order, and how many there are. */
static void write_numbers(struct nnv_interp_op *op, const struct boxes *b, size_t image) {
    const double *number = op->in[2]->values + image * b->all;
    double *to = op->out->fields[0]->values + image * b->all;
    size_t n = 0;
    for (size_t i = 0; i < b->valid; i++)
        if (b->from[i] >= 0) to[n++] = number[b->from[i]];
    op->out->fields[1]->values[image] = (double)n;
    while (n < b->all) to[n++] = -1;
}

static bool image(struct nnv_interp_op *op, struct boxes *b, size_t at) {
    double most = op->n_in > 3 ? op->in[3]->values[0] : (double)nnv_relay_int(&op->t, "max_output_size", -1);
    double threshold = op->n_in > 4 ? op->in[4]->values[0] : nnv_relay_number(&op->t, "iou_threshold", 0.5);
    double valid = op->in[1]->values[at];
    if (!(valid >= 0 && valid <= (double)b->all))
        return nnv_relay_wrong(&op->t, "%g of %zu boxes can't be valid", valid, b->all);
    b->valid = (size_t)valid;
    for (size_t i = 0; i < b->all; i++) put(b, i, i < b->valid ? (int64_t)i : -1);
    return !(threshold > 0) || suppress_all(op, b, (int64_t)most, threshold);
}

static void run_nms(struct nnv_interp_op *op) {
    const int64_t *d = op->in[0]->type->dims;
    bool numbers = nnv_relay_int(&op->t, "return_indices", 1),
         compacted = nnv_relay_int(&op->t, "invalid_to_bottom", 0);
    struct boxes b = {.width = (size_t)d[2],
                      .all = (size_t)d[1],
                      .score = nnv_relay_int(&op->t, "score_index", 1),
                      .id = nnv_relay_int(&op->t, "id_index", 0),
                      .corner = nnv_relay_int(&op->t, "coord_start", 2)};
    double *space = numbers ? nnv_interp_space(op, b.all * b.width) : op->out->values;
    b.from = NNV_NEW(op->scratch, int64_t, b.all);
    if (space == NULL || b.from == NULL) {
        nnv_interp_space(op, SIZE_MAX);
        return;
    }
    for (size_t i = 0; i < (size_t)d[0]; i++) {
        b.in = op->in[0]->values + i * b.all * b.width;
        b.out = numbers ? space : space + i * b.all * b.width;
        if (!image(op, &b, i)) return;
        if (numbers)
            write_numbers(op, &b, i);
        else if (compacted)
            compact(&b);
    }
}

/* -------------------------------------------------------------------- rows */

#include "compiler/relay/ops/rows.h"

static const struct nnv_relay_op_row rows[] = {
    {"vision.get_valid_counts", 1, 2, infer_valid_counts, run_valid_counts,
     .attrs = {{"score_threshold", K_NUMBER, NUMBER(0)}, {"id_index", K_INT, INT(0)}, {"score_index", K_INT, INT(1)}}},
    {"vision.non_max_suppression", 3, 5, infer_nms, run_nms,
     .attrs = {{"max_output_size", K_INT, INT(-1)},
               {"iou_threshold", K_NUMBER, NUMBER(0.5)},
               {"force_suppress", K_TRUTH, TRUTH(0)},
               {"top_k", K_INT, INT(-1)},
               {"coord_start", K_INT, INT(2)},
               {"score_index", K_INT, INT(1)},
               {"id_index", K_INT, INT(0)},
               {"return_indices", K_TRUTH, TRUTH(1)},
               {"invalid_to_bottom", K_TRUTH, TRUTH(0)}}},
};
const struct nnv_relay_op_rows nnv_relay_vision = {rows, sizeof rows / sizeof *rows};
