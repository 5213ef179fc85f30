/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/accuracy.h"

#include <math.h>
#include <stdlib.h>

#include "base/type.h"
#include "mlts/metrics/metric.h"
#include "mlts/data/speech.h"

enum { ROUNDS = 2000, FEWEST_ITEMS = 7 };
static const double significance = 0.01;

/** One comparison under way. */
struct work {
    const struct nnv_network *net;
    const struct nnv_bench_answers *golden, *driver;
    struct nnv_accuracy *out;
    struct nnv_arena *scratch; /* reset for each item */
    double *loss;              /* of the judged items */
    double squares, peak;      /* of output 0, over all items */
    size_t numbers;
};

static const struct nnv_operand *output_of(const struct nnv_network *net, uint32_t i) {
    return &net->model.main.operands[net->model.main.out[i]];
}

/** Elements of an output as stored numbers, or as real ones. */
static double *load(const struct nnv_operand *o, const void *data, size_t bytes, bool real, struct nnv_arena *arena) {
    size_t n = bytes / nnv_type(o->type)->size;
    double *x = NNV_NEW(arena, double, n);
    if (x) nnv_load(o->type, data, n, x);
    if (x && real && nnv_is_quant(o->type))
        for (size_t i = 0; i < n; i++) x[i] = (x[i] - o->zero_point) * (double)o->scale;
    return x;
}

static size_t count_of(const struct work *w, uint32_t out) {
    return w->golden->shape[out].bytes / nnv_type(output_of(w->net, out)->type)->size;
}

static size_t first_class(const double *score, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (score[i] > score[best] || isnan(score[best])) best = i;
    return best;
}

static void classify(struct work *w, const double *g, const double *d, size_t n, int32_t label) {
    struct nnv_accuracy *a = w->out;
    a->agree += first_class(g, n) == first_class(d, n);
    if (label < 0 || (size_t)label >= n) return;
    size_t at = (size_t)label;
    bool golden = nnv_metric_top(g, n, at, 1), driver = nnv_metric_top(d, n, at, 1);
    a->judged++;
    a->golden.top1 += golden;
    a->driver.top1 += driver;
    a->golden.top5 += nnv_metric_top(g, n, at, 5);
    a->driver.top5 += nnv_metric_top(d, n, at, 5);
    a->only_golden += golden && !driver;
    a->only_driver += driver && !golden;
}

/** Edits from what was said to what per-frame scores [frames, classes] spell; SIZE_MAX: out of memory. */
static size_t edits_of(const struct work *w, const double *score, const struct nnv_truth *truth) {
    const struct nnv_value *v = &w->golden->shape[0];
    size_t classes = v->rank ? v->dims[v->rank - 1] : 1, frames = count_of(w, 0) / classes;
    int32_t *label = NNV_NEW(w->scratch, int32_t, frames), *said = NNV_NEW(w->scratch, int32_t, frames);
    if (!label || !said) return SIZE_MAX;
    for (size_t t = 0; t < frames; t++) label[t] = (int32_t)first_class(score + t * classes, classes);
    uint32_t n = nnv_speech_spell(label, (uint32_t)frames, said);
    return nnv_metric_edits(truth->phone, truth->phones, said, n);
}

static bool spell(struct work *w, const double *g, const double *d, const struct nnv_truth *truth) {
    struct nnv_accuracy *a = w->out;
    if (!truth->phone) return true;
    size_t golden = edits_of(w, g, truth), driver = edits_of(w, d, truth);
    if (golden == SIZE_MAX || driver == SIZE_MAX) return false;
    a->golden.edits += golden;
    a->driver.edits += driver;
    a->phones += truth->phones;
    w->loss[a->judged++] = (double)driver - (double)golden;
    return true;
}

/** How far the outputs are from the input that they restore. */
static bool restore(struct work *w, const double *g, const double *d, size_t n, const struct nnv_value *input) {
    struct nnv_accuracy *a = w->out;
    const struct nnv_operand *o = &w->net->model.main.operands[w->net->model.main.in[0]];
    if (input->bytes / nnv_type(o->type)->size != n) return true;
    const double *x = load(o, input->data, input->bytes, true, w->scratch);
    if (!x) return false;
    double golden = nnv_metric_mse(g, x, n), driver = nnv_metric_mse(d, x, n);
    a->golden.error += golden;
    a->driver.error += driver;
    w->loss[a->judged++] = driver - golden;
    return true;
}

/** Errors from golden of all outputs, the driver's and another engine's. */
static bool distances(struct work *w, uint32_t item, const struct nnv_truth *truth) {
    struct nnv_accuracy *a = w->out;
    for (uint32_t i = 0; i < w->golden->outputs; i++) {
        const struct nnv_operand *o = output_of(w->net, i);
        const uint8_t *g = nnv_answer(w->golden, item, i), *d = nnv_answer(w->driver, item, i);
        size_t bytes = w->golden->shape[i].bytes, n = count_of(w, i);
        a->largest_error = fmax(a->largest_error, nnv_answer_error(o->type, g, d, bytes));
        if (!truth->outputs || truth->outputs[i].omitted || truth->outputs[i].bytes != bytes) continue;
        const double e = nnv_answer_error(o->type, g, truth->outputs[i].data, bytes);
        a->other_error = isnan(a->other_error) ? e : fmax(a->other_error, e);
        if (i > 0 || a->task != NNV_TASK_CLASSIFY) continue;
        const double *ours = load(o, d, bytes, false, w->scratch);
        const double *other = load(o, truth->outputs[i].data, bytes, false, w->scratch);
        if (!ours || !other) return false;
        a->other_items++;
        a->other_agree += first_class(ours, n) == first_class(other, n);
    }
    return true;
}

/** What a detector found: boxes, which are stored one after the other, and NULL or what else is known of each. */
struct found {
    size_t count, per_image;
    const double *box, *score, *class;
};

/** An output, in real numbers; NULL where the network has none or there is no memory, which *failed tells. */
static const double *load_output(const struct work *w, const struct nnv_bench_answers *a, uint32_t item, uint32_t out,
                                 bool *failed) {
    if (out == UINT32_MAX) return NULL;
    const double *x = load(output_of(w->net, out), nnv_answer(a, item, out), a->shape[out].bytes, true, w->scratch);
    *failed = *failed || !x;
    return x;
}

static struct found found_in(const struct work *w, const struct nnv_bench_answers *a, uint32_t item, bool *failed) {
    const struct nnv_network_boxes *b = &w->net->boxes;
    const struct nnv_value *shape = &a->shape[b->boxes];
    const size_t count = count_of(w, b->boxes) / 4;
    return (struct found){.count = count,
                          .per_image = shape->rank == 3 && shape->dims[1] > 0 ? shape->dims[1] : count,
                          .box = load_output(w, a, item, b->boxes, failed),
                          .score = load_output(w, a, item, b->scores, failed),
                          .class = load_output(w, a, item, b->classes, failed)};
}

/** Places for boxes that nothing was found for have no score, or no area. */
static bool is_box(const struct found *f, size_t i) {
    const double *b = f->box + 4 * i;
    return (!f->score || f->score[i] > 0) && b[2] > b[0] && b[3] > b[1];
}

/** Golden boxes, the best first, each take the driver's box that covers them best, if nobody has taken it. */
static bool match_boxes(struct work *w, uint32_t item) {
    static const double least = 0.5;
    struct nnv_accuracy *a = w->out;
    bool failed = false;
    const struct found g = found_in(w, w->golden, item, &failed), d = found_in(w, w->driver, item, &failed);
    bool *taken = NNV_NEW(w->scratch, bool, d.count);
    if (failed || !taken || !g.box || !d.box) return false;
    for (size_t i = 0; i < g.count; i++) {
        size_t best = d.count;
        double iou = least;
        if (!is_box(&g, i)) continue;
        a->boxes++;
        for (size_t k = 0; k < d.count; k++) {
            if (taken[k] || !is_box(&d, k) || i / g.per_image != k / g.per_image) continue;
            if (g.class && g.class[i] != d.class[k]) continue;
            const double covered = nnv_metric_iou(g.box + 4 * i, d.box + 4 * k);
            if (!(covered >= iou)) continue;
            iou = covered;
            best = k;
        }
        if (best == d.count) continue;
        taken[best] = true;
        a->found++;
        a->iou += iou;
    }
    for (size_t k = 0; k < d.count; k++) a->extra += is_box(&d, k) && !taken[k];
    return true;
}

static bool compare_item(struct work *w, uint32_t item, const struct nnv_value *inputs, const struct nnv_truth *truth) {
    const struct nnv_operand *o = output_of(w->net, 0);
    size_t bytes = w->golden->shape[0].bytes, n = count_of(w, 0);
    const double *g = load(o, nnv_answer(w->golden, item, 0), bytes, true, w->scratch);
    const double *d = load(o, nnv_answer(w->driver, item, 0), bytes, true, w->scratch);
    if (!g || !d) return false;
    for (size_t i = 0; i < n; i++) {
        w->squares += (g[i] - d[i]) * (g[i] - d[i]);
        w->peak = fmax(w->peak, fabs(g[i]));
    }
    w->numbers += n;
    bool ok = true;
    switch (w->out->task) {
    case NNV_TASK_NONE:
        break;
    case NNV_TASK_CLASSIFY:
        classify(w, g, d, n, truth->label);
        break;
    case NNV_TASK_SPELL:
        ok = spell(w, g, d, truth);
        break;
    case NNV_TASK_RESTORE:
        ok = restore(w, g, d, n, &inputs[0]);
        break;
    }
    if (ok && w->net->boxes.present) ok = match_boxes(w, item);
    return ok && distances(w, item, truth);
}

/**
 * On average by more than a ten-thousandth of the golden error, which is what rounding may cost; and on items enough:
 * that all of fewer are worse happens by chance more often than `significance` allows (2^-7 < 0.01).
 */
static bool is_worse(const struct nnv_accuracy *a) {
    static const double rounding = 1e-4;
    return a->judged >= FEWEST_ITEMS && a->loss.low > rounding * a->golden.error;
}

/** Significance, and whether the driver is worse. */
static void conclude(struct work *w, uint64_t seed) {
    struct nnv_accuracy *a = w->out;
    a->mean_square_error = w->numbers ? w->squares / (double)w->numbers : 0;
    a->psnr = nnv_metric_psnr(a->mean_square_error, w->peak);
    a->p = (double)NAN;
    if (a->boxes > 0) a->iou /= (double)a->boxes;
    if (a->judged == 0) return;
    if (a->task == NNV_TASK_CLASSIFY) {
        a->p = nnv_mcnemar(a->only_golden, a->only_driver);
        a->worse = a->only_golden > a->only_driver && a->p < significance;
        return;
    }
    a->golden.error /= a->judged;
    a->driver.error /= a->judged;
    a->loss = nnv_bootstrap_mean(w->loss, a->judged, ROUNDS, 1 - significance, seed);
    a->worse = is_worse(a);
}

enum nnv_status nnv_accuracy_compare(const struct nnv_network *net, const struct nnv_dataset *d,
                                     const struct nnv_bench_answers *golden, const struct nnv_bench_answers *driver,
                                     uint64_t seed, struct nnv_accuracy *out, struct nnv_err *err) {
    *out = (struct nnv_accuracy){.task = net->task, .items = golden->items, .other_error = (double)NAN};
    if (golden->outputs == 0) return nnv_fail(err, NNV_INVALID, "%s has no outputs", net->name);
    struct work w = {.net = net, .golden = golden, .driver = driver, .out = out, .scratch = nnv_arena_new()};
    w.loss = malloc(golden->items * sizeof *w.loss);
    enum nnv_status st = w.loss && w.scratch ? NNV_OK : nnv_no_memory(err);
    for (uint32_t item = 0; st == NNV_OK && item < golden->items; item++) {
        nnv_arena_reset(w.scratch);
        struct nnv_value *inputs = NNV_NEW(w.scratch, struct nnv_value, net->model.main.nin);
        struct nnv_truth truth;
        st = inputs ? nnv_dataset_item(d, item, net, w.scratch, inputs, &truth, err) : NNV_NO_MEMORY;
        if (st == NNV_OK && !compare_item(&w, item, inputs, &truth)) st = NNV_NO_MEMORY;
        if (st == NNV_NO_MEMORY) st = nnv_no_memory(err);
    }
    if (st == NNV_OK) conclude(&w, seed);
    nnv_arena_free(w.scratch);
    free(w.loss);
    return st;
}
