/* SPDX-License-Identifier: Apache-2.0 */
/* One model's time on one driver: inputs are drawn, the median of many executions is taken. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/stats.h"
#include "harness/bench/time_model.h"

enum { SETS = 2 };

static void fill(const struct nnv_operand *o, struct nnv_rng *r, size_t elems, size_t bytes, void *to) {
    const struct nnv_type *t = nnv_type(o->type);
    for (size_t i = 0; i < elems && t->size == 4 && nnv_is_float(o->type); i++)
        ((float *)to)[i] = (float)nnv_rng_normal(r);
    for (size_t i = 0; i < elems && t->size == 2 && nnv_is_float(o->type); i++)
        ((uint16_t *)to)[i] = nnv_double_to_half(nnv_rng_normal(r));
    for (size_t i = 0; i < bytes && nnv_is_quant(o->type); i++) ((uint8_t *)to)[i] = (uint8_t)nnv_rng_u64(r);
    for (size_t i = 0; i < elems && o->type == ANEURALNETWORKS_TENSOR_BOOL8; i++)
        ((uint8_t *)to)[i] = (uint8_t)(nnv_rng_u64(r) & 1);
}

/* Values that fit an operand; data NULL: the shape alone. */
static enum nnv_status make_value(const struct nnv_operand *o, struct nnv_rng *r, struct nnv_arena *arena,
                                  struct nnv_value *out, struct nnv_err *err) {
    size_t elems = 0, bytes = 0;
    if (!nnv_operand_size(o, &elems, &bytes) || o->rank > NNV_MAX_RANK)
        return nnv_fail(err, NNV_UNSUPPORTED, "an input or output has a shape that is not known");
    *out = (struct nnv_value){.rank = o->rank, .bytes = bytes};
    for (uint32_t d = 0; d < o->rank; d++) out->dims[d] = o->dims[d];
    if (!r) return NNV_OK;
    if (!(out->data = nnv_arena_alloc(arena, bytes + 1, 1))) return nnv_no_memory(err);
    fill(o, r, elems, bytes, out->data);
    return NNV_OK;
}

static enum nnv_status make_work(const struct nnv_model *m, struct nnv_arena *arena, struct nnv_bench_work *work,
                                 struct nnv_err *err) {
    const struct nnv_value **inputs = NNV_NEW(arena, const struct nnv_value *, SETS);
    struct nnv_value *outputs = NNV_NEW(arena, struct nnv_value, m->main.nout);
    enum nnv_status s = inputs && outputs ? NNV_OK : nnv_no_memory(err);
    for (uint32_t k = 0; s == NNV_OK && k < SETS; k++) {
        struct nnv_value *in = NNV_NEW(arena, struct nnv_value, m->main.nin);
        if (!in) return nnv_no_memory(err);
        for (uint32_t i = 0; s == NNV_OK && i < m->main.nin; i++) {
            struct nnv_rng r = nnv_rng_make(1, k, i);
            s = make_value(&m->main.operands[m->main.in[i]], &r, arena, &in[i], err);
        }
        inputs[k] = in;
    }
    for (uint32_t i = 0; s == NNV_OK && i < m->main.nout; i++)
        s = make_value(&m->main.operands[m->main.out[i]], NULL, arena, &outputs[i], err);
    *work = (struct nnv_bench_work){.model = m, .sets = SETS, .inputs = inputs, .output_shapes = outputs};
    return s;
}

static void summarise(struct nnv_bench_result *r, bool remote, struct nnv_timed *out) {
    *out = (struct nnv_timed){.state = r->state,
                              .samples = r->count,
                              .steady = r->steady,
                              .noise = remote ? 1 : r->noise,
                              .round_trip_us = remote ? r->call_ns / 1e3 : (double)NAN};
    snprintf(out->reason, sizeof out->reason, "%s", r->reason);
    if (r->state != NNV_BENCH_DONE && (unsigned)r->state <= NNV_BENCH_ERROR) return;
    /* a driver could have written over state and samples */
    bool sane = r->state == NNV_BENCH_DONE && r->count > 0;
    for (uint32_t i = 0; i < r->count; i++) sane &= isfinite(r->sample_ns[i]) && r->sample_ns[i] >= 0;
    if (!sane) {
        out->state = NNV_BENCH_CRASHED;
        snprintf(out->reason, sizeof out->reason, "the driver damaged the memory of the measurement");
        return;
    }
    nnv_sort(r->sample_ns, r->count);
    struct nnv_interval i = nnv_quantile_interval(r->sample_ns, r->count, 0.5, 0.95);
    out->us = nnv_median(r->sample_ns, r->count) / 1e3;
    out->low_us = isfinite(i.low) ? i.low / 1e3 : r->sample_ns[0] / 1e3;
    out->high_us = isfinite(i.high) ? i.high / 1e3 : r->sample_ns[r->count - 1] / 1e3;
}

enum nnv_status nnv_time_model(const struct nnv_model *model, const struct nnv_timing_options *options,
                               struct nnv_timed *out, struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_bench_work work;
    struct nnv_bench_result result;
    const struct nnv_bench_options bench = {.path = options->path,
                                            .options = options->options,
                                            .streams = 1,
                                            .time_ns = options->time_ns,
                                            .remote = options->remote,
                                            .own_time = options->remote,
                                            .least = 5,
                                            .timeout_ns = options->timeout_ns,
                                            .preference = ANEURALNETWORKS_PREFER_SUSTAINED_SPEED};
    enum nnv_status s = arena ? make_work(model, arena, &work, err) : nnv_no_memory(err);
    if (s == NNV_OK) s = nnv_bench_measure(&work, &bench, arena, &result, err);
    if (s == NNV_OK) summarise(&result, options->remote, out);
    nnv_arena_free(arena);
    return s;
}
