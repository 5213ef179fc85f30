/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sums.c The options "sums-...": drivers of FULLY_CONNECTED whose sums are known to be wrong, each in its own
 * way: what nnvts datasheet must recognise (tests/system/quirks.tsv).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/pool.h"
#include "sample.h"

/** A layer, with weights and bias as stored numbers; codes are less their zero points. */
struct layer {
    uint32_t units, size;
    double *weights, *bias;
    double multiplier; /**< of codes */
    int32_t zero, out_zero, type;
    double low; /**< of the activation RELU; else minus infinity */
};

struct sums_prepared {
    struct nnvts_prepared_model base;
    struct nnvts_prepared_model *inner;
    enum sample_sums how;
    uint32_t layers;
    struct layer layer[];
};

/* ------------------------------------------------------------------------ values */

static uint32_t bytes_of(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_TENSOR_INT32 ? 4 : 1;
}

static double load(int32_t type, const uint8_t *from, uint32_t i) {
    float f;
    int32_t n;
    switch (type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        memcpy(&f, from + (size_t)i * 4, 4);
        return (double)f;
    case ANEURALNETWORKS_TENSOR_INT32:
        memcpy(&n, from + (size_t)i * 4, 4);
        return n;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        return from[i];
    default:
        return (int8_t)from[i];
    }
}

static void store(int32_t type, double v, uint8_t *to, uint32_t i) {
    const float f = (float)v;
    if (type == ANEURALNETWORKS_TENSOR_FLOAT32)
        memcpy(to + (size_t)i * 4, &f, 4);
    else if (type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM)
        to[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    else
        to[i] = (uint8_t)(int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
}

/** All numbers of a constant; NULL: it is none, or there is no memory. */
static double *constant(const struct nnvts_model *m, const struct nnvts_operand *o, uint32_t count, int32_t zero) {
    struct common_mapping pool = {0};
    const uint8_t *from = NULL;
    if (o->location.length != count * bytes_of(o->type)) return NULL;
    if (o->lifetime == NNVTS_CONSTANT_COPY) {
        from = (const uint8_t *)m->operand_values + o->location.offset;
    } else if (o->lifetime == NNVTS_CONSTANT_REFERENCE &&
               common_map(&m->pools[o->location.pool], &pool) == NNVTS_STATUS_NONE) {
        from = pool.data + o->location.offset;
    }
    double *out = from ? calloc(count, sizeof *out) : NULL;
    for (uint32_t i = 0; out && i < count; i++) out[i] = load(o->type, from, i) - zero;
    common_unmap(&pool);
    return out;
}

/* -------------------------------------------------------------------------- sums */

/** The float32 on that side of v which an accumulator keeps. */
static double kept(enum sample_sums how, double v) {
    const float nearest = (float)v;
    if (how == SAMPLE_SUMS_TRUNCATED && fabs((double)nearest) > fabs(v)) return (double)nextafterf(nearest, 0);
    if (how != SAMPLE_SUMS_UPWARDS) return (double)nearest;
    const double unit = (double)nextafterf(fabsf(nearest), INFINITY) - (double)fabsf(nearest);
    return (double)(float)(v + 0.1 * unit);
}

static double saturated(double v) { return v < -32768 ? -32768 : v > 32767 ? 32767 : v; }

static double sum_up(enum sample_sums how, const struct layer *l, const double *x, uint32_t unit) {
    const double *w = l->weights + (size_t)unit * l->size;
    double sum = l->bias[unit];
    for (uint32_t i = 0; i < l->size; i++) {
        const double product = (x[i] - l->zero) * w[i];
        switch (how) {
        case SAMPLE_SUMS_SATURATING:
            sum = saturated(sum + product);
            break;
        case SAMPLE_SUMS_WRAPPING:
            sum = (double)(int16_t)(uint16_t)(int64_t)(sum + product);
            break;
        case SAMPLE_SUMS_PAIRS:
            sum += i + 1 < l->size ? saturated(product + (x[i + 1] - l->zero) * w[i + 1]) : product;
            i++;
            break;
        default:
            sum = kept(how, sum + kept(how, product));
        }
    }
    return sum;
}

/** Computes a layer for each row of x into y, stored numbers both. */
static void compute(enum sample_sums how, const struct layer *l, uint32_t rows, const double *x, double *y) {
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t u = 0; u < l->units; u++) {
            double v = sum_up(how, l, x + (size_t)r * l->size, u);
            if (l->type != ANEURALNETWORKS_TENSOR_FLOAT32) {
                v = l->out_zero + round(v * l->multiplier);
                v = l->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? fmin(fmax(v, 0), 255) : fmin(fmax(v, -128), 127);
            }
            y[(size_t)r * l->units + u] = v < l->low ? l->low : v;
        }
}

/** Computes all layers on the first input into the first output. */
static enum nnvts_status compute_all(const struct sums_prepared *p, const struct nnvts_request *r) {
    const struct layer *first = &p->layer[0], *last = &p->layer[p->layers - 1];
    const struct nnvts_location *from = &r->inputs[0].location, *to = &r->outputs[0].location;
    const uint32_t rows = from->length / bytes_of(first->type) / first->size;
    uint32_t widest = first->size;
    struct common_mapping in = {0}, out = {0};
    for (uint32_t i = 0; i < p->layers; i++)
        if (p->layer[i].units > widest) widest = p->layer[i].units;
    double *x = calloc((size_t)rows * widest, sizeof *x), *y = calloc((size_t)rows * widest, sizeof *y);
    enum nnvts_status st = x && y ? common_map(&r->pools[from->pool], &in) : NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    if (st == NNVTS_STATUS_NONE) st = common_map(&r->pools[to->pool], &out);
    if (st == NNVTS_STATUS_NONE) {
        for (uint32_t i = 0; i < rows * first->size; i++) x[i] = load(first->type, in.data + from->offset, i);
        for (uint32_t i = 0; i < p->layers; i++) {
            compute(p->how, &p->layer[i], rows, x, y);
            double *const last_input = x;
            x = y;
            y = last_input;
        }
        for (uint32_t i = 0; i < rows * last->units; i++) store(last->type, x[i], out.data + to->offset, i);
    }
    common_unmap(&out);
    common_unmap(&in);
    free(x);
    free(y);
    return st;
}

static enum nnvts_status execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    const struct sums_prepared *p = (struct sums_prepared *)self;
    const enum nnvts_status st = p->inner->execute(p->inner, request, config, result);
    return st == NNVTS_STATUS_NONE ? compute_all(p, request) : st;
}

/* --------------------------------------------------------------------- preparing */

static void free_layers(struct sums_prepared *p) {
    for (uint32_t i = 0; i < p->layers; i++) {
        free(p->layer[i].weights);
        free(p->layer[i].bias);
    }
    free(p);
}

static void release(struct nnvts_prepared_model *self) {
    struct sums_prepared *p = (struct sums_prepared *)self;
    p->inner->release(p->inner);
    free_layers(p);
}

/** False: the layer is none that this driver computes on its own. */
static bool take(const struct nnvts_model *m, const struct nnvts_operation *op, struct layer *l) {
    const struct nnvts_operand *all = m->main.operands, *x = &all[op->inputs[0]], *w = &all[op->inputs[1]],
                               *b = &all[op->inputs[2]], *act = &all[op->inputs[3]], *y = &all[op->outputs[0]];
    const bool quant = x->type != ANEURALNETWORKS_TENSOR_FLOAT32;
    int32_t activation;
    if (w->dimension_count != 2 || act->lifetime != NNVTS_CONSTANT_COPY || w->dimensions[1] == 0) return false;
    memcpy(&activation, (const uint8_t *)m->operand_values + act->location.offset, sizeof activation);
    if (activation > ANEURALNETWORKS_FUSED_RELU) return false;
    *l = (struct layer){.units = w->dimensions[0],
                        .size = w->dimensions[1],
                        .weights = constant(m, w, w->dimensions[0] * w->dimensions[1], w->zero_point),
                        .bias = constant(m, b, w->dimensions[0], 0),
                        .multiplier = quant ? (double)x->scale * (double)w->scale / (double)y->scale : 1,
                        .zero = x->zero_point,
                        .out_zero = y->zero_point,
                        .type = x->type,
                        .low = activation == ANEURALNETWORKS_FUSED_RELU ? y->zero_point : (double)-INFINITY};
    return l->weights && l->bias;
}

enum nnvts_status sample_plant_sums(enum sample_sums sums, const struct nnvts_model *m,
                                    struct nnvts_prepared_model *inner, struct nnvts_prepared_model **out) {
    const uint32_t count = m->main.operation_count;
    struct sums_prepared *p = calloc(1, sizeof *p + count * sizeof p->layer[0]);
    bool chain = p && count > 0 && m->main.input_count == 1 && m->main.output_count == 1 && m->referenced_count == 0;
    *out = inner;
    for (uint32_t i = 0; chain && i < count; i++) {
        const struct nnvts_operation *op = &m->main.operations[i];
        p->layers++;
        chain = op->inputs[0] == (i > 0 ? m->main.operations[i - 1].outputs[0] : m->main.inputs[0]) &&
                take(m, op, &p->layer[i]);
    }
    const bool quant = chain && p->layer[0].type != ANEURALNETWORKS_TENSOR_FLOAT32;
    if (!chain || quant != (sums >= SAMPLE_SUMS_SATURATING)) {
        if (p) free_layers(p);
        return NNVTS_STATUS_NONE;
    }
    p->base = (struct nnvts_prepared_model){.struct_size = sizeof p->base, .execute = execute, .release = release};
    p->inner = inner;
    p->how = sums;
    *out = &p->base;
    return NNVTS_STATUS_NONE;
}
