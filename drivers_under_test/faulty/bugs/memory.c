/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Bugs of device memory. */
#include <string.h>

#include "faulty.h"

/* -------------------------------------------------------------------- buffers */

static enum nnvts_status copy_unset(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    enum nnvts_status st = their_buffer.copy_to(self, destination);
    return st == NNVTS_STATUS_GENERAL_FAILURE ? NNVTS_STATUS_NONE : st;
}

static enum nnvts_status copy_most(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    uint8_t *data = destination->data, last = data && destination->size ? data[destination->size - 1] : 0;
    enum nnvts_status st = their_buffer.copy_to(self, destination);
    if (st == NNVTS_STATUS_NONE && data && destination->size) data[destination->size - 1] = last;
    return st;
}

static enum nnvts_status give_any(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    enum nnvts_status st = their_buffer.copy_to(self, destination);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_NONE : st;
}

static enum nnvts_status copy_any(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                  const uint32_t *dimensions, uint32_t dimension_count) {
    enum nnvts_status st = their_buffer.copy_from(self, source, dimensions, dimension_count);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_NONE : st;
}

static enum nnvts_status copy_once(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count) {
    static struct nnvts_buffer *last; /* what was filled last is taken to be up to date */
    if (last == self) return NNVTS_STATUS_NONE;
    last = self;
    return their_buffer.copy_from(self, source, dimensions, dimension_count);
}

static enum nnvts_status copy_growing(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                      const uint32_t *dimensions, uint32_t dimension_count) {
    static uint64_t held;
    static uint32_t last;
    if (last == self->token && source->size < held) return NNVTS_STATUS_INVALID_ARGUMENT;
    last = self->token;
    held = source->size;
    return their_buffer.copy_from(self, source, dimensions, dimension_count);
}

/** What living buffers were filled with last. */
enum { BUFFERS = 256 };
static struct {
    uint32_t token, rank, dims[NNV_MAX_RANK];
    uint64_t size;
} filled[BUFFERS];

/** The shape is looked at where the size is another one. */
static enum nnvts_status copy_shaped_once(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                          const uint32_t *dimensions, uint32_t dimension_count) {
    const uint32_t i = self->token % BUFFERS;
    if (filled[i].token == self->token && filled[i].size == source->size && filled[i].rank == dimension_count)
        return their_buffer.copy_from(self, source, filled[i].dims, dimension_count);
    const enum nnvts_status st = their_buffer.copy_from(self, source, dimensions, dimension_count);
    if (st != NNVTS_STATUS_NONE) return st;
    filled[i].token = self->token;
    filled[i].size = source->size;
    filled[i].rank = dimension_count <= NNV_MAX_RANK ? dimension_count : 0;
    if (dimensions) memcpy(filled[i].dims, dimensions, filled[i].rank * sizeof *dimensions);
    return st;
}
static void forget_shape(struct nnvts_buffer *self) {
    filled[self->token % BUFFERS].token = 0;
    their_buffer.release(self);
}

static void keep(struct nnvts_buffer *self) { (void)self; }

/* ----------------------------------------------------------------- descriptions */

static const struct nnvts_buffer_role *own_roles(struct call *c, const struct nnvts_buffer_role *from, uint32_t n) {
    struct nnvts_buffer_role *to = call_alloc(c, n * sizeof *to);
    for (uint32_t i = 0; to && i < n; i++) {
        to[i] = from[i];
        to[i].probability = 1;
    }
    return to;
}

static void any_probability(struct call *c) {
    struct nnvts_buffer_desc *d = own_desc(c);
    d->input_roles = own_roles(c, d->input_roles, d->input_role_count);
    d->output_roles = own_roles(c, d->output_roles, d->output_role_count);
}

static void first_role(struct call *c) {
    struct nnvts_buffer_desc *d = own_desc(c);
    if (d->input_role_count) {
        d->input_role_count = 1;
        d->output_role_count = 0;
    } else if (d->output_role_count) {
        d->output_role_count = 1;
    }
}

static bool has_wrong_index(const struct call *c) {
    for (uint32_t i = 0; i < c->desc->input_role_count; i++)
        if (c->desc->input_roles[i].model >= c->desc->prepared_count) return true;
    return false;
}

static void forget_hint(struct call *c) { own_desc(c)->dimension_count = 0; }

/* ------------------------------------------------------------------- executions */

static bool in_device(const struct nnvts_request *r, const struct nnvts_argument *a) {
    return !a->has_no_value && a->location.pool < r->pool_count &&
           r->pools[a->location.pool].kind == NNVTS_MEMORY_DEVICE;
}

/** Changes the arguments in device memory. */
static void each_in_device(struct call *c, void (*change)(struct nnvts_argument *a)) {
    struct nnvts_request *r = own_request(c);
    const uint32_t n = r->input_count + r->output_count;
    struct nnvts_argument *a = call_alloc(c, n * sizeof *a);
    if (!a) return;
    memcpy(a, r->inputs, r->input_count * sizeof *a);
    memcpy(a + r->input_count, r->outputs, r->output_count * sizeof *a);
    for (uint32_t i = 0; i < n; i++)
        if (in_device(r, &a[i])) change(&a[i]);
    r->inputs = a;
    r->outputs = a + r->input_count;
}

static void nowhere(struct nnvts_argument *a) { a->location.offset = a->location.length = 0; }
static void ignore_locations(struct call *c) { each_in_device(c, nowhere); }
static void no_extents(struct nnvts_argument *a) { a->dimension_count = 0; }
static void ignore_extents(struct call *c) { each_in_device(c, no_extents); }

static bool uses_device_memory(const struct call *c) {
    for (uint32_t i = 0; i < c->request->pool_count; i++)
        if (c->request->pools[i].kind == NNVTS_MEMORY_DEVICE) return true;
    return false;
}

/** The extents that a request states for inputs in device memory, as one number; 0: it states none. */
static uint64_t device_extents(const struct nnvts_request *r) {
    uint64_t h = 0;
    for (uint32_t i = 0; i < r->input_count; i++)
        for (uint32_t d = 0; in_device(r, &r->inputs[i]) && d < r->inputs[i].dimension_count; d++)
            h = h * 1000003 + r->inputs[i].dimensions[d] + 1;
    return h;
}

/** A prepared model takes no other extents of inputs in device memory than a request stated first. */
static void keep_first_extents(struct call *c) {
    const uint64_t extents = c->kind == CALL_RELEASE ? 0 : device_extents(c->request);
    if ((extents == 0 && c->kind != CALL_RELEASE) || !differs_from_first(c, extents)) return;
    c->result->shape_count = 0;
    answer(c, NNVTS_STATUS_INVALID_ARGUMENT);
}

static const struct bug bugs[] = {
    BUG("memory-unset-readable", "a buffer that gives out a value before it has one", "copies from new buffers",
        .buffer = {.copy_to = copy_unset}),
    BUG("memory-copy-short", "a copy whose last byte is missing", "copies out of buffers",
        .buffer = {.copy_to = copy_most}),
    BUG("memory-size-unchecked", "a copy of another size than the buffer's", "copies into buffers",
        .buffer = {.copy_from = copy_any}),
    BUG("memory-room-unchecked", "a copy into memory of another size", "copies out of buffers",
        .buffer = {.copy_to = give_any}),
    BUG("memory-filled-once", "a buffer that keeps an old value", "second copies into a buffer",
        .buffer = {.copy_from = copy_once}),
    BUG("memory-never-shrinks", "a buffer that stays as large as its largest value",
        "copies of less than a buffer of open extents holds", .buffer = {.copy_from = copy_growing}),
    BUG("memory-shape-kept", "a buffer that keeps its shape where a new value has as many bytes",
        "second copies of other extents into a buffer of open extents",
        .buffer = {.copy_from = copy_shaped_once, .release = forget_shape}),
    BUG("memory-same-token", "two buffers with one token", "all buffers", .buffer = {.token = 1}),
    BUG("memory-never-released", "a token that is known after the buffer's release", "released buffers",
        .buffer = {.release = keep}),
    BUG("memory-probability", "roles of impossible probability", "allocations", .on = ON(ALLOCATE),
        .before = any_probability),
    BUG("memory-first-role", "roles behind the first that are not looked at", "buffers of more than one role",
        .on = ON(ALLOCATE), .before = first_role),
    BUG("memory-index-crash", "a crash for a role of a model that is not there", "wrong indices", .on = ON(ALLOCATE),
        .when = has_wrong_index, .strike = strike_crash),
    BUG("memory-hint-ignored", "dimensions of an allocation that are not looked at", "allocations with some",
        .on = ON(ALLOCATE), .before = forget_hint),
    BUG("memory-location-ignored", "offsets and lengths in device memory that are not looked at",
        "executions with some", .on = ON(EXECUTE), .before = ignore_locations),
    BUG("memory-extents-ignored", "extents of a request that contradict its device memory", "executions with some",
        .on = ON(EXECUTE), .before = ignore_extents),
    BUG("memory-extents-once", "extents of device memory that are compared with the first ones",
        "executions with other extents of inputs in device memory than stated before", .on = ON(EXECUTE) | ON(RELEASE),
        .before = keep_first_extents),
    BUG("memory-roles-unchecked", "device memory used in other roles than allocated for", "executions",
        .on = ON(EXECUTE), .when = uses_device_memory, .from = WAS(INVALID_ARGUMENT), .to = NNVTS_STATUS_NONE),
    BUG("memory-unset-input", "an input buffer that is read before it has a value", "executions", .on = ON(EXECUTE),
        .from = WAS(GENERAL_FAILURE), .to = NNVTS_STATUS_NONE),
};
const struct bug_group bugs_memory = {bugs, sizeof bugs / sizeof *bugs};
