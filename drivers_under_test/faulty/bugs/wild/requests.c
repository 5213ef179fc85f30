/* SPDX-License-Identifier: Apache-2.0 */
/** @file requests.c Bugs of requests and their memory as drivers in the field have had them. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "requests.h"

/* ---------------------------------------------------------------------- offsets */

enum { LINE = 64, PAGE = 4096, WORD = 4, CHUNK = 65536, POOLS = 8 };

/** Inputs begin with a line of the cache. */
static void round_offsets(struct call *c) {
    struct nnvts_argument *inputs = own_inputs(c);
    for (uint32_t i = 0; inputs && i < c->request->input_count; i++)
        inputs[i].location.offset -= inputs[i].location.offset % LINE;
}

/** Outputs lie in the first page of their pool. */
static void first_page(struct call *c) {
    struct nnvts_argument *outputs = own_outputs(c);
    for (uint32_t i = 0; outputs && i < c->request->output_count; i++) outputs[i].location.offset %= PAGE;
}

/** A pool is bound once: inputs of one length that share it are all the first. */
static void first_of_pool(struct call *c) {
    struct nnvts_argument *inputs = own_inputs(c);
    for (uint32_t i = 0; inputs && i < c->request->input_count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct nnvts_location *a = &inputs[k].location, *b = &inputs[i].location;
            if (inputs[k].has_no_value || inputs[i].has_no_value || a->pool != b->pool || a->length != b->length)
                continue;
            inputs[i].location.offset = a->offset;
            break;
        }
}

static bool has_many_pools(const struct call *c) { return c->request->pool_count > POOLS; }

/* ---------------------------------------------------------------------- copying */

static void whole_words(const struct call *c, const struct value *v) {
    const uint32_t whole = v->bytes - v->bytes % WORD;
    (void)c;
    memcpy(v->data + whole, v->before + whole, v->bytes - whole);
}
static void copy_words(struct call *c) { each_output(c, whole_words); }

static void second_chunk(const struct call *c, const struct value *v) {
    (void)c;
    if (v->bytes >= CHUNK + LINE) memcpy(v->data + CHUNK, v->data, LINE);
}
static void copy_chunks(struct call *c) { each_output(c, second_chunk); }

/** An open batch is of one image: more are not computed. */
static void one_image(struct call *c) {
    for (uint32_t i = 0; succeeded(c) && i < c->request->output_count && i < c->result->shape_count; i++) {
        const struct value *v = &c->outputs[i];
        const struct nnvts_output_shape *s = &c->result->shapes[i];
        if (!v->data || v->rank == 0 || v->rank > 4 || v->dims[0] != 0) continue;
        const uint32_t rows = s->dimension_count ? s->dimensions[0] : 1, row = rows ? v->bytes / rows : 0;
        if (rows > 1) memcpy(v->data + row, v->before + row, v->bytes - row);
    }
}

/** Of a truth only the lowest bit counts. */
static void lowest_bits(struct call *c) {
    const struct faulty_prepared *p = (const struct faulty_prepared *)c->prepared;
    for (uint32_t i = 0; i < c->request->input_count && i < p->nin; i++) {
        const struct nnvts_argument *a = &c->request->inputs[i];
        const uint8_t *data = p->inputs[i].type == ANEURALNETWORKS_TENSOR_BOOL8 ? data_of(c->request, a) : NULL;
        const uint32_t length = a->location.length;
        uint8_t *bits = data ? call_alloc(c, length + 1u) : NULL;
        for (uint32_t k = 0; bits && k < length; k++) bits[k] = data[k] & 1;
        if (bits) replace_input(c, i, bits, length);
    }
}

/* ----------------------------------------------------------------------- bursts */

enum { ARGUMENTS = 16 };

/** A burst that keeps the places of inputs along with the memory they lie in. */
struct placed {
    struct nnvts_burst base;
    struct nnvts_burst *inner;
    int64_t token[ARGUMENTS];
    uint32_t offset[ARGUMENTS];
    bool seen[ARGUMENTS];
};

static enum nnvts_status placed_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                        const int64_t *tokens, const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    struct placed *b = (struct placed *)self;
    struct nnvts_argument inputs[ARGUMENTS];
    struct nnvts_request r = *request;
    if (!tokens || r.input_count > ARGUMENTS || !r.inputs)
        return b->inner->execute(b->inner, request, tokens, config, result);
    for (uint32_t i = 0; i < r.input_count; i++) {
        inputs[i] = r.inputs[i];
        struct nnvts_location *l = &inputs[i].location;
        if (inputs[i].has_no_value || l->pool >= r.pool_count || tokens[l->pool] < 0) continue;
        if (!b->seen[i] || b->token[i] != tokens[l->pool]) b->offset[i] = l->offset;
        b->seen[i] = true;
        b->token[i] = tokens[l->pool];
        l->offset = b->offset[i];
    }
    r.inputs = inputs;
    return b->inner->execute(b->inner, &r, tokens, config, result);
}

static enum nnvts_status placed_release_memory(struct nnvts_burst *self, int64_t token) {
    struct nnvts_burst *inner = ((struct placed *)self)->inner;
    return inner->release_memory(inner, token);
}

static void placed_release(struct nnvts_burst *self) {
    struct nnvts_burst *inner = ((struct placed *)self)->inner;
    inner->release(inner);
    free(self);
}

static void place_burst(struct call *c) {
    struct placed *b = succeeded(c) ? calloc(1, sizeof *b) : NULL;
    if (!b) return;
    b->base = (struct nnvts_burst){sizeof b->base, placed_execute, placed_release_memory, placed_release};
    b->inner = *c->burst;
    *c->burst = &b->base;
}

/* --------------------------------------------------------------------- reusable */

/** An execution whose inputs were copied when it was made. */
struct early {
    struct nnvts_execution base;
    struct nnvts_execution *inner;
    uint8_t *values[ARGUMENTS];
};

static enum nnvts_status early_execute(struct nnvts_execution *self, uint64_t deadline_ns,
                                       struct nnvts_execution_result *result) {
    struct nnvts_execution *inner = ((struct early *)self)->inner;
    return inner->execute(inner, deadline_ns, result);
}

static void early_release(struct nnvts_execution *self) {
    struct early *x = (struct early *)self;
    x->inner->release(x->inner);
    for (int i = 0; i < ARGUMENTS; i++) free(x->values[i]);
    free(x);
}

static void copy_early(struct call *c) {
    struct early *x = calloc(1, sizeof *x);
    c->note = x;
    for (uint32_t i = 0; x && i < c->request->input_count && i < ARGUMENTS; i++) {
        const struct nnvts_argument *a = &c->request->inputs[i];
        const uint8_t *data = data_of(c->request, a);
        const uint32_t length = a->location.length;
        x->values[i] = data ? malloc(length + 1u) : NULL;
        if (!x->values[i]) continue;
        memcpy(x->values[i], data, length);
        replace_input(c, i, x->values[i], length);
    }
}

static void keep_early(struct call *c) {
    struct early *x = c->note;
    if (!x) return;
    x->base = (struct nnvts_execution){sizeof x->base, early_execute, early_release};
    if (!succeeded(c)) {
        for (int i = 0; i < ARGUMENTS; i++) free(x->values[i]);
        free(x);
        return;
    }
    x->inner = *c->reusable;
    *c->reusable = &x->base;
}

static const struct bug bugs[] = {
    BUG("input-offset-rounded", "inputs are read from the beginning of a line of the cache",
        "inputs at offsets that are no multiple of 64", .on = ON(EXECUTE), .before = round_offsets),
    BUG("output-in-first-page", "outputs are written to the first page of their pool",
        "outputs at offsets of 4096 and more", .on = ON(EXECUTE), .before = first_page),
    BUG("pool-bound-once", "inputs of one pool and length are all the first of them",
        "two inputs of one length in one pool", .on = ON(EXECUTE), .before = first_of_pool),
    BUG("many-pools-fail", "no more than eight pools", "requests with nine pools or more", .on = ON(EXECUTE),
        .when = has_many_pools, .to = NNVTS_STATUS_GENERAL_FAILURE),
    BUG("copied-by-words", "bytes behind the last whole word are not copied", "outputs of no multiple of 4 bytes",
        .tamper = copy_words),
    BUG("copied-by-chunks", "the second chunk begins as the first", "outputs above 64 KiB", .tamper = copy_chunks),
    BUG("open-batch-of-one", "images behind the first are not computed",
        "outputs of an open first extent that is above 1", .tamper = one_image),
    BUG("truth-of-lowest-bit", "truths other than 1 taken by their lowest bit", "TENSOR_BOOL8 inputs of even bytes",
        .on = ON(EXECUTE), .before = lowest_bits),
    BUG("burst-keeps-places", "an offset that is kept along with the memory",
        "bursts: an input at another offset of a memory used before", .on = ON(BURST), .after = place_burst),
    BUG("reusable-copies-early", "inputs copied when the execution is made",
        "reusable executions whose inputs change before they are executed", .on = ON(REUSABLE), .before = copy_early,
        .after = keep_early),
};
const struct bug_group bugs_wild_requests = {bugs, sizeof bugs / sizeof *bugs};
