/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/recurrent/sequence.h"

#include <string.h>

/* ---------------------------------------------------------------------- extents */

struct nnv_sequence nnv_sequence_of(const struct nnv_call *c, int id) {
    bool known = nnv_known(c, id);
    return (struct nnv_sequence){
        .known = known, .time_major = known && nnv_int(c, id) != 0, .time = NNV_DIM_UNKNOWN, .batch = NNV_DIM_UNKNOWN};
}

enum nnv_status nnv_sequence_agree(const struct nnv_call *c, int id, struct nnv_sequence *s, uint32_t *width,
                                   struct nnv_err *err) {
    enum nnv_status st = nnv_extent_agree(c, id, 2, width, err);
    if (!st && s->known) st = nnv_extent_agree(c, id, s->time_major ? 0 : 1, &s->time, err);
    if (!st && s->known) st = nnv_extent_agree(c, id, s->time_major ? 1 : 0, &s->batch, err);
    return st;
}

struct nnv_shape nnv_sequence_shape(const struct nnv_sequence *s, uint32_t width) {
    uint32_t outer = s->time_major ? s->time : s->batch, inner = s->time_major ? s->batch : s->time;
    if (!s->known) outer = inner = NNV_DIM_UNKNOWN;
    return nnv_shape_make(3, (uint32_t[]){outer, inner, width});
}

/* ------------------------------------------------------------------------ steps */

/* Number of the row of a tensor [time, batch, ...] or [batch, time, ...]. */
static size_t row_of(const struct nnv_sequence *s, size_t t, size_t b) {
    return s->time_major ? t * s->batch + b : b * s->time + t;
}

const double *nnv_sequence_steps(struct nnv_kernel *k, int id, const struct nnv_sequence *s, size_t width) {
    const double *x = nnv_real(k, id);
    if (s->time_major) return x;
    double *to = NNV_NEW(k->scratch, double, (size_t)s->time * s->batch * width);
    for (size_t t = 0; to && t < s->time; t++)
        for (size_t b = 0; b < s->batch; b++)
            memcpy(to + (t * s->batch + b) * width, x + row_of(s, t, b) * width, width * sizeof *to);
    return to;
}

void nnv_sequence_store(const struct nnv_steps *s, uint32_t t, const double *results, size_t width) {
    for (size_t b = 0; b < s->seq.batch; b++)
        memcpy(s->to + row_of(&s->seq, t, b) * s->row + s->at, results + b * width, width * sizeof *results);
}

/* ------------------------------------------------------------------- directions */

/* How the two directions of a bidirectional operation are linked with an auxiliary input. */
enum linking {
    LINK_NONE,     /* no auxiliary input: both directions read the input */
    LINK_PARALLEL, /* without weights: the backward direction reads it instead of the input */
    LINK_CROSS,    /* with weights of both directions: both read it beside the input */
    LINK_UNKNOWN   /* model inputs may yet be omitted */
};

/* What is known of the linking. */
static enum linking linking_of(const struct nnv_call *c, const struct nnv_linking_ids *ids) {
    enum nnv_presence aux = nnv_presence(c, ids->aux), weights = nnv_presence(c, ids->forward);
    if (weights == NNV_MAYBE) weights = nnv_presence(c, ids->backward);
    if (weights == NNV_PRESENT) return LINK_CROSS;
    if (aux == NNV_ABSENT) return LINK_NONE;
    return aux == NNV_PRESENT && weights == NNV_ABSENT ? LINK_PARALLEL : LINK_UNKNOWN;
}

enum nnv_status nnv_linking_check(const struct nnv_call *c, const struct nnv_linking_ids *ids, struct nnv_err *err) {
    const int both[] = {ids->forward, ids->backward};
    enum nnv_status st = nnv_all_or_none(c, "auxiliary weights", both, 2, err);
    if (st) return st;
    if (linking_of(c, ids) == LINK_CROSS && nnv_presence(c, ids->aux) == NNV_ABSENT)
        return nnv_fail(err, NNV_INVALID, "there are auxiliary weights but there is no auxiliary input");
    return NNV_OK;
}

uint32_t nnv_linked_width(const struct nnv_call *c, const struct nnv_linking_ids *ids, int d, uint32_t input,
                          uint32_t aux) {
    enum linking linking = linking_of(c, ids);
    if (d == 0 || linking == LINK_NONE || linking == LINK_CROSS) return input;
    return linking == LINK_PARALLEL ? aux : NNV_DIM_UNKNOWN;
}

enum nnv_status nnv_linked_steps(struct nnv_kernel *k, int x, const struct nnv_linking_ids *ids, int d,
                                 struct nnv_steps *steps, struct nnv_err *err) {
    enum linking linking = linking_of(k->call, ids);
    int reads = linking == LINK_PARALLEL && d == 1 ? ids->aux : x;
    bool both = linking == LINK_CROSS;
    steps->x = nnv_sequence_steps(k, reads, &steps->seq, nnv_in_shape(k, reads)->dims[2]);
    if (both) steps->aux = nnv_sequence_steps(k, ids->aux, &steps->seq, nnv_in_shape(k, ids->aux)->dims[2]);
    return steps->x && (!both || steps->aux) ? NNV_OK : nnv_no_memory(err);
}

enum nnv_status nnv_merge_check(const struct nnv_call *c, int id, bool merge, struct nnv_err *err) {
    if (!nnv_known(c, id) || (nnv_int(c, id) != 0) == merge) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "merge outputs is %s, but there %s of the two directions",
                    merge ? "false" : "true", merge ? "is one output" : "are two outputs");
}

enum nnv_status nnv_directions_infer(const struct nnv_sequence *s, const struct nnv_directions *d,
                                     struct nnv_shape *out, struct nnv_err *err) {
    uint32_t fw = d->width[0], bw = d->width[1], both = NNV_DIM_UNKNOWN;
    if (d->merge && fw != NNV_DIM_UNKNOWN && bw != NNV_DIM_UNKNOWN) {
        if (bw > NNV_DIM_MAX - fw)
            return nnv_fail(err, NNV_INVALID, "%u and %u results a step are too many for one output", fw, bw);
        both = fw + bw;
    }
    out[0] = nnv_sequence_shape(s, d->merge ? both : fw);
    if (!d->merge) out[1] = nnv_sequence_shape(s, bw);
    return NNV_OK;
}

struct nnv_steps nnv_directions_steps(struct nnv_kernel *k, const struct nnv_sequence *s,
                                      const struct nnv_directions *dirs, int d) {
    return (struct nnv_steps){.seq = *s,
                              .backward = d == 1,
                              .to = k->out[dirs->merge ? 0 : d],
                              .row = dirs->merge ? (size_t)dirs->width[0] + dirs->width[1] : dirs->width[d],
                              .at = dirs->merge && d == 1 ? dirs->width[0] : 0};
}
