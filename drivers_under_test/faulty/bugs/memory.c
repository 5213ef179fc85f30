/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_memory.c Bugs of device memory. */
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

/* -------------------------------------------------------------------- buffers */

static struct nnvts_buffer theirs; /**< the functions of the other driver's buffers */

/** Allocates, and notes the functions. */
static enum nnvts_status allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                  struct nnvts_buffer **out) {
    enum nnvts_status st = faulty_allocate(self, desc, out);
    if (st == NNVTS_STATUS_NONE) theirs = **out;
    return st;
}

static enum nnvts_status copy_unset(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    enum nnvts_status st = theirs.copy_to(self, destination);
    return st == NNVTS_STATUS_GENERAL_FAILURE ? NNVTS_STATUS_NONE : st;
}
static enum nnvts_status allocate_set(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                      struct nnvts_buffer **out) {
    enum nnvts_status st = allocate(self, desc, out);
    if (st == NNVTS_STATUS_NONE) (*out)->copy_to = copy_unset;
    return st;
}
static void readable_when_unset(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_set;
}

static enum nnvts_status copy_most(struct nnvts_buffer *self, const struct nnvts_memory *destination) {
    uint8_t *data = destination->data, last = data && destination->size ? data[destination->size - 1] : 0;
    enum nnvts_status st = theirs.copy_to(self, destination);
    if (st == NNVTS_STATUS_NONE && data && destination->size) data[destination->size - 1] = last;
    return st;
}
static enum nnvts_status allocate_short(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                        struct nnvts_buffer **out) {
    enum nnvts_status st = allocate(self, desc, out);
    if (st == NNVTS_STATUS_NONE) (*out)->copy_to = copy_most;
    return st;
}
static void copies_all_but_one(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_short;
}

static enum nnvts_status copy_any(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                  const uint32_t *dimensions, uint32_t dimension_count) {
    enum nnvts_status st = theirs.copy_from(self, source, dimensions, dimension_count);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_NONE : st;
}
static enum nnvts_status allocate_any(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                      struct nnvts_buffer **out) {
    enum nnvts_status st = allocate(self, desc, out);
    if (st == NNVTS_STATUS_NONE) (*out)->copy_from = copy_any;
    return st;
}
static void size_unchecked(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_any;
}

static enum nnvts_status copy_over(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count) {
    static struct nnvts_buffer *last; /* what was filled last is taken to be up to date */
    if (last == self) return NNVTS_STATUS_NONE;
    last = self;
    return theirs.copy_from(self, source, dimensions, dimension_count);
}
static enum nnvts_status allocate_once(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                       struct nnvts_buffer **out) {
    enum nnvts_status st = allocate(self, desc, out);
    if (st == NNVTS_STATUS_NONE) (*out)->copy_from = copy_over;
    return st;
}
static void filled_once(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_once;
}

static enum nnvts_status allocate_same(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                       struct nnvts_buffer **out) {
    enum nnvts_status st = allocate(self, desc, out);
    if (st == NNVTS_STATUS_NONE) (*out)->token = 1;
    return st;
}
static void same_token(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_same;
}

static void keep(struct nnvts_buffer *self) { (void)self; }

static enum nnvts_status allocate_for_good(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                           struct nnvts_buffer **out) {
    enum nnvts_status st = allocate(self, desc, out);
    if (st == NNVTS_STATUS_NONE) (*out)->release = keep;
    return st;
}
static void never_released(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_for_good;
}

/* ----------------------------------------------------------------- descriptions */

enum { MOST_ROLES = 16 };

/** Allocates by other roles. */
static enum nnvts_status allocate_roles(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                        struct nnvts_buffer **out, bool (*change)(struct nnvts_buffer_role *role)) {
    struct nnvts_buffer_role in[MOST_ROLES], to[MOST_ROLES];
    struct nnvts_buffer_desc other = *desc;
    if (desc->input_role_count > MOST_ROLES || desc->output_role_count > MOST_ROLES)
        return faulty_allocate(self, desc, out);
    other.input_role_count = other.output_role_count = 0;
    for (uint32_t i = 0; i < desc->input_role_count; i++) {
        struct nnvts_buffer_role *r = &in[other.input_role_count];
        *r = desc->input_roles[i];
        if (change(r)) other.input_role_count++;
    }
    for (uint32_t i = 0; i < desc->output_role_count; i++) {
        struct nnvts_buffer_role *r = &to[other.output_role_count];
        *r = desc->output_roles[i];
        if (change(r)) other.output_role_count++;
    }
    other.input_roles = in;
    other.output_roles = to;
    return faulty_allocate(self, &other, out);
}

static bool make_likely(struct nnvts_buffer_role *role) {
    role->probability = 1;
    return true;
}
static enum nnvts_status allocate_likely(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                         struct nnvts_buffer **out) {
    return allocate_roles(self, desc, out, make_likely);
}
static void any_probability(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_likely;
}

static uint32_t roles_taken;
static bool take_first(struct nnvts_buffer_role *role) {
    (void)role;
    return roles_taken++ == 0;
}
static enum nnvts_status allocate_first(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                        struct nnvts_buffer **out) {
    roles_taken = 0;
    return allocate_roles(self, desc, out, take_first);
}
static void first_role(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_first;
}

static enum nnvts_status allocate_trusting(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                           struct nnvts_buffer **out) {
    for (uint32_t i = 0; i < desc->input_role_count; i++)
        if (desc->input_roles[i].model >= desc->prepared_count) strike_crash();
    return faulty_allocate(self, desc, out);
}
static void index_unchecked(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_trusting;
}

static enum nnvts_status allocate_unhinted(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                           struct nnvts_buffer **out) {
    struct nnvts_buffer_desc other = *desc;
    other.dimension_count = 0;
    return faulty_allocate(self, &other, out);
}
static void hint_ignored(struct nnvts_device *device) {
    if (device->allocate) device->allocate = allocate_unhinted;
}

/* ------------------------------------------------------------------- executions */

static bool in_device(const struct nnvts_request *r, const struct nnvts_argument *a) {
    return !a->has_no_value && a->location.pool < r->pool_count &&
           r->pools[a->location.pool].kind == NNVTS_MEMORY_DEVICE;
}

/** Executes with arguments in device memory changed. */
static enum nnvts_status execute_changed(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config,
                                         struct nnvts_execution_result *result,
                                         void (*change)(struct nnvts_argument *a)) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    const size_t n = (size_t)request->input_count + request->output_count;
    struct nnvts_argument *a = calloc(n + 1, sizeof *a);
    if (!a) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    memcpy(a, request->inputs, request->input_count * sizeof *a);
    memcpy(a + request->input_count, request->outputs, request->output_count * sizeof *a);
    for (size_t i = 0; i < n; i++)
        if (in_device(request, &a[i])) change(&a[i]);
    struct nnvts_request other = *request;
    other.inputs = a;
    other.outputs = a + request->input_count;
    enum nnvts_status st = inner->execute(inner, &other, config, result);
    free(a);
    return st;
}

static void forget_location(struct nnvts_argument *a) {
    a->location.offset = 0;
    a->location.length = 0;
}
static enum nnvts_status execute_whole(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    return execute_changed(self, request, config, result, forget_location);
}
static void location_ignored(struct nnvts_prepared_model *prepared) { prepared->execute = execute_whole; }

static void forget_extents(struct nnvts_argument *a) { a->dimension_count = 0; }
static enum nnvts_status execute_unsized(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                         const struct nnvts_execution_config *config,
                                         struct nnvts_execution_result *result) {
    return execute_changed(self, request, config, result, forget_extents);
}
static void extents_ignored(struct nnvts_prepared_model *prepared) { prepared->execute = execute_unsized; }

/** What was refused because of device memory is said to be done. */
static enum nnvts_status execute_anyway(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    enum nnvts_status st = inner->execute(inner, request, config, result);
    for (uint32_t i = 0; i < request->pool_count; i++)
        if (request->pools[i].kind == NNVTS_MEMORY_DEVICE && st == NNVTS_STATUS_INVALID_ARGUMENT)
            return NNVTS_STATUS_NONE;
    return st;
}
static void roles_unchecked(struct nnvts_prepared_model *prepared) { prepared->execute = execute_anyway; }

static enum nnvts_status execute_unset(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config,
                                       struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    enum nnvts_status st = inner->execute(inner, request, config, result);
    return st == NNVTS_STATUS_GENERAL_FAILURE ? NNVTS_STATUS_NONE : st;
}
static void unset_input(struct nnvts_prepared_model *prepared) { prepared->execute = execute_unset; }

static const struct bug bugs[] = {
    BUG("memory-unset-readable", "a buffer that gives out a value before it has one", "copies from new buffers",
        .device = readable_when_unset),
    BUG("memory-copy-short", "a copy whose last byte is missing", "copies out of buffers",
        .device = copies_all_but_one),
    BUG("memory-size-unchecked", "a copy of another size than the buffer's", "copies into buffers",
        .device = size_unchecked),
    BUG("memory-filled-once", "a buffer that keeps an old value", "second copies into a buffer", .device = filled_once),
    BUG("memory-same-token", "two buffers with one token", "all buffers", .device = same_token),
    BUG("memory-never-released", "a token that is known after the buffer's release", "released buffers",
        .device = never_released),
    BUG("memory-probability", "roles of impossible probability", "allocations", .device = any_probability),
    BUG("memory-first-role", "roles behind the first that are not looked at", "buffers of more than one role",
        .device = first_role),
    BUG("memory-index-crash", "a crash for a role of a model that is not there", "wrong indices",
        .device = index_unchecked),
    BUG("memory-hint-ignored", "dimensions of an allocation that are not looked at", "allocations with some",
        .device = hint_ignored),
    BUG("memory-location-ignored", "offsets and lengths in device memory that are not looked at",
        "executions with some", .prepared = location_ignored),
    BUG("memory-extents-ignored", "extents of a request that contradict its device memory", "executions with some",
        .prepared = extents_ignored),
    BUG("memory-roles-unchecked", "device memory used in other roles than allocated for", "executions",
        .prepared = roles_unchecked),
    BUG("memory-unset-input", "an input buffer that is read before it has a value", "executions",
        .prepared = unset_input),
};
const struct bug_group bugs_memory = {bugs, sizeof bugs / sizeof *bugs};
