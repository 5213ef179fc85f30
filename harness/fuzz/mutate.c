/* SPDX-License-Identifier: Apache-2.0 */
/** @file mutate.c Changing an image: a function for each kind of mutation. */
#include <string.h>

#include "harness/fuzz/image.h"

/** Element i of a list, modulo its length; NULL if it is empty. */
#define ELEMENT(type, list, count, i) ((count) ? &nnv_fuzz_own(type, list)[(i) % (count)] : NULL)

static struct nnvts_operand *operand(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_subgraph *s = nnv_fuzz_subgraph(m, x->at[0]);
    return ELEMENT(struct nnvts_operand, s->operands, s->operand_count, x->at[1]);
}

static struct nnvts_operation *operation(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_subgraph *s = nnv_fuzz_subgraph(m, x->at[0]);
    return ELEMENT(struct nnvts_operation, s->operations, s->operation_count, x->at[1]);
}

/** Sets element i of a list to value, if there is one. */
static void set(const uint32_t *list, uint32_t count, uint32_t i, uint32_t value) {
    uint32_t *at = ELEMENT(uint32_t, list, count, i);
    if (at != NULL) *at = value;
}

/** Gives a list another length; false, and *count as it was, if there is no memory. */
static bool resize(struct nnv_fuzz_image *m, const void *list, uint32_t *count, uint32_t to, size_t size,
                   void **resized) {
    to = to > NNV_FUZZ_COUNT_MAX ? NNV_FUZZ_COUNT_MAX : to;
    *resized = nnv_fuzz_resize(m, list, *count, to, size);
    if (*resized == NULL) return false;
    *count = to;
    return true;
}

/** Gives a list of the ABI another length. */
#define RESIZE(m, list, count, to)                                                                                     \
    do {                                                                                                               \
        void *resized_;                                                                                                \
        if (resize((m), (list), &(count), (to), sizeof *(list), &resized_)) (list) = resized_;                         \
    } while (0)

/* ------------------------------------------------------------------ operands */

/** Mutations that set 32 bits of an operand. */
static bool operand_word(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    static const struct {
        enum nnv_fuzz_kind kind;
        size_t at;
    } words[] = {
        {NNV_FUZZ_OPERAND_TYPE, offsetof(struct nnvts_operand, type)},
        {NNV_FUZZ_OPERAND_SCALE, offsetof(struct nnvts_operand, scale)},
        {NNV_FUZZ_OPERAND_ZERO_POINT, offsetof(struct nnvts_operand, zero_point)},
        {NNV_FUZZ_OPERAND_LIFETIME, offsetof(struct nnvts_operand, lifetime)},
        {NNV_FUZZ_LOCATION_POOL, offsetof(struct nnvts_operand, location.pool)},
        {NNV_FUZZ_LOCATION_OFFSET, offsetof(struct nnvts_operand, location.offset)},
        {NNV_FUZZ_LOCATION_LENGTH, offsetof(struct nnvts_operand, location.length)},
        {NNV_FUZZ_LOCATION_PADDING, offsetof(struct nnvts_operand, location.padding)},
        {NNV_FUZZ_CHANNEL_DIM, offsetof(struct nnvts_operand, channel_quant.channel_dim)},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].kind != x->kind) continue;
        struct nnvts_operand *o = operand(m, x);
        if (o != NULL) memcpy((uint8_t *)o + words[i].at, &x->value, sizeof x->value);
        return true;
    }
    return false;
}

/** Word at[2] of a constant's value. */
static void set_constant(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x, const struct nnvts_operand *o) {
    uint8_t *data = NULL;
    uint64_t size = 0;
    if (o->lifetime == NNVTS_CONSTANT_COPY) {
        data = nnv_fuzz_own(uint8_t, m->model.operand_values);
        size = m->model.operand_values_bytes;
    } else if (o->lifetime == NNVTS_CONSTANT_REFERENCE && o->location.pool < m->model.pool_count) {
        data = m->memory + m->model.pools[o->location.pool].offset;
        size = m->model.pools[o->location.pool].size;
    }
    if (o->location.offset > size || o->location.length > size - o->location.offset || o->location.length < 4) return;
    size_t at = (size_t)(x->at[2] % (o->location.length / 4)) * 4;
    memcpy(data + o->location.offset + at, &x->value, sizeof x->value);
}

static bool operand_list(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_operand *o = operand(m, x);
    if (o == NULL) return false;
    struct nnvts_channel_quant *channel = &o->channel_quant;
    uint32_t bits = x->value;
    if (x->kind == NNV_FUZZ_OPERAND_RANK) {
        RESIZE(m, o->dimensions, o->dimension_count, x->value);
    } else if (x->kind == NNV_FUZZ_OPERAND_DIM) {
        set(o->dimensions, o->dimension_count, x->at[2], x->value);
    } else if (x->kind == NNV_FUZZ_CHANNEL_COUNT) {
        RESIZE(m, channel->scales, channel->scale_count, x->value);
    } else if (x->kind == NNV_FUZZ_CHANNEL_SCALE) {
        float *scale = ELEMENT(float, channel->scales, channel->scale_count, x->at[2]);
        if (scale != NULL) memcpy(scale, &bits, sizeof bits);
    } else if (x->kind == NNV_FUZZ_EXTENSION_BYTES) {
        o->extension_data = nnv_fuzz_alloc(m, x->value % NNV_FUZZ_COUNT_MAX);
        o->extension_data_bytes = x->value % NNV_FUZZ_COUNT_MAX;
    } else if (x->kind == NNV_FUZZ_CONSTANT || x->kind == NNV_FUZZ_CONSTANT_FLOAT) {
        set_constant(m, x, o);
    } else if (x->kind == NNV_FUZZ_OPERAND_COPY) {
        struct nnvts_subgraph *s = nnv_fuzz_subgraph(m, x->at[0]);
        *o = s->operands[x->value % s->operand_count];
        o->dimensions = nnv_fuzz_resize(m, o->dimensions, o->dimension_count, o->dimension_count, sizeof(uint32_t));
    } else {
        return false;
    }
    return true;
}

/* --------------------------------------------------- operations and subgraphs */

static bool operation_field(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_operation *op = operation(m, x);
    if (op == NULL) return false;
    if (x->kind == NNV_FUZZ_OPERATION_TYPE) {
        op->type = (int32_t)x->value;
    } else if (x->kind == NNV_FUZZ_OPERATION_INPUT) {
        set(op->inputs, op->input_count, x->at[2], x->value);
    } else if (x->kind == NNV_FUZZ_OPERATION_OUTPUT) {
        set(op->outputs, op->output_count, x->at[2], x->value);
    } else if (x->kind == NNV_FUZZ_OPERATION_INPUTS) {
        RESIZE(m, op->inputs, op->input_count, x->value);
    } else if (x->kind == NNV_FUZZ_OPERATION_OUTPUTS) {
        RESIZE(m, op->outputs, op->output_count, x->value);
    } else if (x->kind == NNV_FUZZ_OPERATION_SWAP) {
        struct nnvts_subgraph *s = nnv_fuzz_subgraph(m, x->at[0]);
        struct nnvts_operation *other = ELEMENT(struct nnvts_operation, s->operations, s->operation_count, x->value);
        struct nnvts_operation first = *op;
        *op = *other;
        *other = first;
    } else {
        return false;
    }
    return true;
}

static bool subgraph_field(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_subgraph *s = nnv_fuzz_subgraph(m, x->at[0]);
    if (x->kind == NNV_FUZZ_SUBGRAPH_INPUT) {
        set(s->inputs, s->input_count, x->at[1], x->value);
    } else if (x->kind == NNV_FUZZ_SUBGRAPH_OUTPUT) {
        set(s->outputs, s->output_count, x->at[1], x->value);
    } else if (x->kind == NNV_FUZZ_SUBGRAPH_INPUTS) {
        RESIZE(m, s->inputs, s->input_count, x->value);
    } else if (x->kind == NNV_FUZZ_SUBGRAPH_OUTPUTS) {
        RESIZE(m, s->outputs, s->output_count, x->value);
    } else if (x->kind == NNV_FUZZ_OPERAND_COUNT) {
        RESIZE(m, s->operands, s->operand_count, x->value);
    } else if (x->kind == NNV_FUZZ_OPERATION_COUNT) {
        RESIZE(m, s->operations, s->operation_count, x->value);
    } else {
        return false;
    }
    return true;
}

/* --------------------------------------------------------------------- pools */

/** What may be changed of a pool so that the driver can see it: it has no means to see that it is too large. */
static bool pool_field(const struct nnvts_memory *list, uint32_t count, const struct nnv_fuzz_mutation *x,
                       enum nnv_fuzz_kind first) {
    if (x->kind < first || x->kind > first + (NNV_FUZZ_POOL_FILELESS - NNV_FUZZ_POOL_KIND)) return false;
    struct nnvts_memory *pool = ELEMENT(struct nnvts_memory, list, count, x->at[0]);
    enum nnv_fuzz_kind kind = x->kind - first + NNV_FUZZ_POOL_KIND;
    if (pool == NULL) return true;
    if (kind == NNV_FUZZ_POOL_KIND) pool->kind = x->value;
    if (kind == NNV_FUZZ_POOL_TOKEN) pool->token = x->value;
    if (kind == NNV_FUZZ_POOL_SIZE) pool->size = x->value % (pool->size + 1);
    if (kind == NNV_FUZZ_POOL_UNMAPPED && pool->fd >= 0) pool->data = NULL;
    if (kind == NNV_FUZZ_POOL_FILELESS && pool->data != NULL) pool->fd = -1;
    return true;
}

/* --------------------------------------------------------------------- models */

static void splice(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnv_rng rng = nnv_rng_make(x->value, x->at[0], NNV_FUZZ_SPLICE);
    struct nnv_spec *second = NULL;
    struct nnv_fuzz_base base;
    do {
        base = nnv_fuzz_draw_base(&rng, NULL);
    } while (base.op == NULL); /* networks take long to make */
    if (nnv_fuzz_base_build(&base, m->arena, &second, NULL) == NNV_OK) nnv_fuzz_splice(m, second);
}

static void announce_extension(struct nnv_fuzz_image *m, uint32_t prefix) {
    struct nnvts_extension_prefix *list =
        nnv_fuzz_resize(m, m->model.extensions, m->model.extension_count, m->model.extension_count + 1, sizeof *list);
    if (list == NULL) return;
    list[m->model.extension_count++] = (struct nnvts_extension_prefix){"com.example.none", (uint16_t)prefix};
    m->model.extensions = list;
}

static void model_field(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_model *model = &m->model;
    if (x->kind == NNV_FUZZ_SPLICE) {
        splice(m, x);
    } else if (x->kind == NNV_FUZZ_REFERENCED_COUNT) {
        RESIZE(m, model->referenced, model->referenced_count, x->value % 64);
    } else if (x->kind == NNV_FUZZ_VALUES_BYTES) {
        uint32_t to = x->value < model->operand_values_bytes ? x->value : model->operand_values_bytes;
        model->operand_values = nnv_fuzz_resize(m, model->operand_values, model->operand_values_bytes, to, 1);
        model->operand_values_bytes = to;
        m->values_bytes = to;
    } else if (x->kind == NNV_FUZZ_POOL_COUNT) {
        RESIZE(m, model->pools, model->pool_count, model->pool_count ? x->value : 0);
    } else if (x->kind == NNV_FUZZ_RELAXED) {
        model->relax_float32_to_float16 = !model->relax_float32_to_float16;
    } else if (x->kind == NNV_FUZZ_EXTENSION) {
        announce_extension(m, x->value);
    } else if (x->kind == NNV_FUZZ_PREFERENCE) {
        m->prepare.preference = x->value;
    } else if (x->kind == NNV_FUZZ_PRIORITY) {
        m->prepare.priority = x->value;
    } else if (x->kind == NNV_FUZZ_PREPARE_LATE) {
        m->prepare.deadline_ns = 1;
    }
}

/* ------------------------------------------------------------------- requests */

/** Inputs first, then outputs. */
static struct nnvts_argument *argument(struct nnv_fuzz_image *m, uint32_t i) {
    const struct nnvts_request *r = &m->request;
    uint32_t n = r->input_count + r->output_count;
    if (n == 0) return NULL;
    i %= n;
    return i < r->input_count ? &nnv_fuzz_own(struct nnvts_argument, r->inputs)[i]
                              : &nnv_fuzz_own(struct nnvts_argument, r->outputs)[i - r->input_count];
}

static bool argument_field(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_argument *a = argument(m, x->at[0]);
    if (a == NULL) return false;
    if (x->kind == NNV_FUZZ_ARGUMENT_NONE) {
        *a = (struct nnvts_argument){.has_no_value = !a->has_no_value};
    } else if (x->kind == NNV_FUZZ_ARGUMENT_POOL) {
        a->location.pool = x->value;
    } else if (x->kind == NNV_FUZZ_ARGUMENT_OFFSET) {
        a->location.offset = x->value;
    } else if (x->kind == NNV_FUZZ_ARGUMENT_LENGTH) {
        a->location.length = x->value;
    } else if (x->kind == NNV_FUZZ_ARGUMENT_PADDING) {
        a->location.padding = x->value;
    } else if (x->kind == NNV_FUZZ_ARGUMENT_RANK) {
        RESIZE(m, a->dimensions, a->dimension_count, x->value);
    } else if (x->kind == NNV_FUZZ_ARGUMENT_DIM) {
        set(a->dimensions, a->dimension_count, x->at[1], x->value);
    } else {
        return false;
    }
    return true;
}

/** Word at[1] of the value of input at[0]. */
static void set_input(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    const struct nnvts_request *r = &m->request;
    const struct nnvts_argument *a = r->input_count ? &r->inputs[x->at[0] % r->input_count] : NULL;
    if (a == NULL || a->has_no_value || a->location.pool != 0 || a->location.length < 4) return;
    if (a->location.offset > NNV_REGION_BYTES || a->location.length > NNV_REGION_BYTES - a->location.offset) return;
    uint8_t *data = m->memory + (size_t)NNV_REGION_INPUTS * NNV_REGION_BYTES + a->location.offset;
    memcpy(data + (size_t)(x->at[1] % (a->location.length / 4)) * 4, &x->value, sizeof x->value);
}

static void request_field(struct nnv_fuzz_image *m, const struct nnv_fuzz_mutation *x) {
    struct nnvts_request *r = &m->request;
    if (x->kind == NNV_FUZZ_REQUEST_INPUTS) {
        RESIZE(m, r->inputs, r->input_count, x->value);
    } else if (x->kind == NNV_FUZZ_REQUEST_OUTPUTS) {
        RESIZE(m, r->outputs, r->output_count, x->value);
    } else if (x->kind == NNV_FUZZ_REQUEST_POOLS) {
        RESIZE(m, r->pools, r->pool_count, r->pool_count ? x->value : 0);
    } else if (x->kind == NNV_FUZZ_INPUT_VALUE || x->kind == NNV_FUZZ_INPUT_FLOAT) {
        set_input(m, x);
    } else if (x->kind == NNV_FUZZ_SHAPE_ROOM) {
        m->shape_room = x->value % (NNV_MAX_RANK + 1);
    } else if (x->kind == NNV_FUZZ_EXECUTE_LATE) {
        m->execution.deadline_ns = 1;
    } else if (x->kind == NNV_FUZZ_MEASURE) {
        m->execution.measure_timing = true;
    }
}

void nnv_fuzz_apply(struct nnv_fuzz_image *m, const struct nnv_fuzz_input *input) {
    for (uint32_t i = 0; i < input->count && !m->failed; i++) {
        const struct nnv_fuzz_mutation *x = &input->mutation[i];
        if (x->kind >= NNV_FUZZ_ARGUMENT_NONE) continue;
        if (pool_field(m->model.pools, m->model.pool_count, x, NNV_FUZZ_POOL_KIND)) continue;
        if (operand_word(m, x) || operand_list(m, x) || operation_field(m, x)) continue;
        if (!subgraph_field(m, x)) model_field(m, x);
    }
    nnv_fuzz_image_request(m);
    for (uint32_t i = 0; i < input->count && !m->failed; i++) {
        const struct nnv_fuzz_mutation *x = &input->mutation[i];
        if (x->kind < NNV_FUZZ_ARGUMENT_NONE || x->kind >= NNV_FUZZ_CACHE) continue;
        if (pool_field(m->request.pools, m->request.pool_count, x, NNV_FUZZ_REQUEST_POOL_KIND)) continue;
        if (!argument_field(m, x)) request_field(m, x);
    }
}
