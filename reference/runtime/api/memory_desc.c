/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory_desc.c Memory descriptors: which inputs and outputs a memory is to be, and the memory for them. */
#include "reference/runtime/api/memory_desc.h"

#include <stdlib.h>
#include <string.h>

#include "reference/runtime/api/execution.h"
#include "reference/runtime/log.h"

static int null_pointer(const char *function) { return nnv_rt_null_pointer(function); }

int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc) {
    if (!desc) return null_pointer(NNV_RT_FUNCTION);
    *desc = calloc(1, sizeof **desc);
    return *desc ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUT_OF_MEMORY;
}

void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc) {
    if (!desc) return;
    free(desc->roles);
    free(desc->frequencies);
    free(desc);
}

/* --------------------------------------------------------------------- roles */

static const struct nnvts_operand *operand_of(const struct nnv_rt_role *r) {
    const struct nnvts_subgraph *main = &r->compilation->model->model.main;
    return &main->operands[(r->is_output ? main->outputs : main->inputs)[r->index]];
}

static bool same_parameters(const struct nnvts_operand *a, const struct nnvts_operand *b) {
    const struct nnvts_channel_quant *p = &a->channel_quant, *q = &b->channel_quant;
    if (a->type != b->type || a->scale != b->scale || a->zero_point != b->zero_point) return false;
    if (a->extension_data_bytes != b->extension_data_bytes ||
        (a->extension_data_bytes && memcmp(a->extension_data, b->extension_data, a->extension_data_bytes) != 0))
        return false;
    return p->scale_count == q->scale_count &&
           (p->scale_count == 0 || (p->channel_dim == q->channel_dim &&
                                    memcmp(p->scales, q->scales, p->scale_count * sizeof *p->scales) == 0));
}

/** Takes what rank and dims know more; false if they contradict. */
static bool join(uint32_t *rank, uint32_t *dims, uint32_t other_rank, const uint32_t *other) {
    if (other_rank > NNV_MAX_RANK) return false;
    if (other_rank == 0) return true;
    if (*rank && *rank != other_rank) return false;
    for (uint32_t i = 0; i < other_rank; i++)
        if (*rank && dims[i] && other[i] && dims[i] != other[i]) return false;
    for (uint32_t i = 0; i < other_rank; i++)
        if (!*rank || !dims[i]) dims[i] = other[i];
    *rank = other_rank;
    return true;
}

static bool is_tensor(const struct nnvts_operand *o) {
    bool tensor = false;
    nnv_rt_type_bytes(o->type, &tensor);
    return tensor;
}

/** Why the role can't be; NULL if it can. */
static const char *refusal(const ANeuralNetworksMemoryDesc *d, const struct nnv_rt_role *role, float frequency) {
    if (!nnv_rt_compilation_plan(role->compilation)) return "the compilation is not finished, or finishing it failed";
    const struct nnvts_subgraph *main = &role->compilation->model->model.main;
    if (role->index >= (role->is_output ? main->output_count : main->input_count))
        return "the model has no such input or output";
    if (!(frequency > 0 && frequency <= 1)) return "a frequency is above 0 and at most 1";
    for (uint32_t i = 0; i < d->role_count; i++)
        if (d->roles[i].compilation == role->compilation && d->roles[i].index == role->index &&
            d->roles[i].is_output == role->is_output)
            return "the role was added before";
    if (d->role_count && !same_parameters(operand_of(&d->roles[0]), operand_of(role)))
        return "the operand is of another type, or quantised otherwise, than the roles before";
    if (d->rank && !is_tensor(operand_of(role))) return "a scalar has no dimensions";
    return NULL;
}

static int add_role(ANeuralNetworksMemoryDesc *d, const struct nnv_rt_role *role, float frequency,
                    const char *function) {
    if (d->finished) return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "the descriptor is finished");
    const char *why = refusal(d, role, frequency);
    if (why) return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "index %u: %s", role->index, why);
    const struct nnvts_operand *o = operand_of(role);
    if (!join(&d->rank, d->dims, o->dimension_count, o->dimensions))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "index %u: its shape contradicts what was set before",
                            role->index);
    struct nnv_rt_role *roles = realloc(d->roles, (d->role_count + 1) * sizeof *roles);
    if (roles) d->roles = roles;
    float *frequencies = realloc(d->frequencies, (d->role_count + 1) * sizeof *frequencies);
    if (frequencies) d->frequencies = frequencies;
    if (!roles || !frequencies) return ANEURALNETWORKS_OUT_OF_MEMORY;
    roles[d->role_count] = *role;
    frequencies[d->role_count++] = frequency;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
                                           const ANeuralNetworksCompilation *compilation, uint32_t index,
                                           float frequency) {
    if (!desc || !compilation) return null_pointer(NNV_RT_FUNCTION);
    return add_role(desc, &(struct nnv_rt_role){compilation, index, false}, frequency, NNV_RT_FUNCTION);
}

int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
                                            const ANeuralNetworksCompilation *compilation, uint32_t index,
                                            float frequency) {
    if (!desc || !compilation) return null_pointer(NNV_RT_FUNCTION);
    return add_role(desc, &(struct nnv_rt_role){compilation, index, true}, frequency, NNV_RT_FUNCTION);
}

int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
                                            const uint32_t *dimensions) {
    if (!desc || (!dimensions && rank)) return null_pointer(NNV_RT_FUNCTION);
    if (desc->finished) return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION, "the descriptor is finished");
    if (rank && desc->role_count && !is_tensor(operand_of(&desc->roles[0])))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "a scalar has no dimensions");
    if (!join(&desc->rank, desc->dims, rank, dimensions))
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION,
                            "they contradict the roles, or dimensions set before");
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc) {
    if (!desc) return null_pointer(NNV_RT_FUNCTION);
    if (desc->finished) return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION, "it was finished before");
    if (!desc->role_count) return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, NNV_RT_FUNCTION, "it has no roles");
    desc->finished = true;
    return ANEURALNETWORKS_NO_ERROR;
}

/* -------------------------------------------------------------------- memories */

/** The descriptor's roles as the steps of the plans have them. */
struct gathering {
    struct nnv_arena *arena;
    struct ANeuralNetworksDevice *device; /**< of all steps so far */
    bool several, failed;
    float frequency; /**< of the role that is looked at */
    uint32_t prepared_count, prepared_room;
    struct nnvts_prepared_model **prepared;
    uint32_t count[2], room[2]; /**< roles of inputs, and of outputs */
    struct nnvts_buffer_role *roles[2];
};

/** A list one longer, arena's; NULL when out of memory. */
static void *longer(struct gathering *g, void *list, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room) return list;
    const uint32_t more = *room ? *room * 2 : 8;
    void *grown = nnv_arena_alloc(g->arena, more, size);
    if (grown && count) memcpy(grown, list, count * size);
    *room = more;
    return grown;
}

static uint32_t index_of(struct gathering *g, struct nnvts_prepared_model *prepared) {
    for (uint32_t i = 0; i < g->prepared_count; i++)
        if (g->prepared[i] == prepared) return i;
    void *grown = longer(g, g->prepared, g->prepared_count, &g->prepared_room, sizeof *g->prepared);
    if (!grown) {
        g->failed = true;
        return 0;
    }
    g->prepared = grown;
    g->prepared[g->prepared_count] = prepared;
    return g->prepared_count++;
}

static void gather(void *context, const struct nnv_rt_step *step, bool is_output, uint32_t io) {
    struct gathering *g = context;
    if (g->device && g->device != step->device) g->several = true;
    g->device = step->device;
    if (g->several || g->failed) return;
    const uint32_t model = index_of(g, step->prepared), n = g->count[is_output];
    for (uint32_t i = 0; i < n; i++)
        if (g->roles[is_output][i].model == model && g->roles[is_output][i].io == io) return;
    void *grown = longer(g, g->roles[is_output], n, &g->room[is_output], sizeof(struct nnvts_buffer_role));
    g->failed = g->failed || !grown;
    if (g->failed) return;
    g->roles[is_output] = grown;
    g->roles[is_output][n] = (struct nnvts_buffer_role){model, io, g->frequency};
    g->count[is_output] = n + 1;
}

static bool is_buffer(const struct nnvts_buffer *b) {
    return b && NNV_RT_HAS(b, copy_to) && NNV_RT_HAS(b, copy_from) && NNV_RT_HAS(b, release) && b->token > 0;
}

/** A buffer of the one device that all steps are on. OP_FAILED if there is none. */
static int allocate(const ANeuralNetworksMemoryDesc *d, struct ANeuralNetworksMemory *m) {
    struct gathering g = {.arena = nnv_arena_new()};
    int result = ANEURALNETWORKS_OP_FAILED;
    if (!g.arena) return ANEURALNETWORKS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < d->role_count; i++) {
        g.frequency = d->frequencies[i];
        nnv_rt_plan_roles(d->roles[i].compilation->plan, d->roles[i].is_output, d->roles[i].index, gather, &g);
    }
    if (g.device && !g.several && !g.failed && nnv_rt_device_has_level(g.device, 4) &&
        NNV_RT_HAS(g.device->driver, allocate)) {
        const struct nnvts_buffer_desc wanted = {d->rank,    d->dims,    g.prepared_count, g.count[0],
                                                 g.count[1], g.prepared, g.roles[0],       g.roles[1]};
        struct nnvts_buffer *buffer = NULL;
        result =
            nnv_rt_result(nnv_rt_device_note(g.device, g.device->driver->allocate(g.device->driver, &wanted, &buffer)));
        if (!result && !is_buffer(buffer)) result = ANEURALNETWORKS_OP_FAILED;
        if (!result) {
            m->buffer = buffer;
            m->device = g.device;
            m->memory = (struct nnvts_memory){.kind = NNVTS_MEMORY_DEVICE,
                                              .prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE,
                                              .fd = -1,
                                              .token = buffer->token};
        }
        nnv_rt_vlog(NNV_RT_LOG_MEMORY, "device memory of %s: result %d", g.device->name, result);
    }
    nnv_arena_free(g.arena);
    return result;
}

/** Shared memory instead: only if the size is known and no compilation is for devices that were named. */
static bool may_be_shared(const ANeuralNetworksMemoryDesc *d, uint64_t *bytes) {
    const struct nnvts_operand *o = operand_of(&d->roles[0]);
    for (uint32_t i = 0; i < d->role_count; i++)
        if (d->roles[i].compilation->explicit_devices) return false;
    for (uint32_t i = 0; i < d->rank; i++)
        if (d->dims[i] == 0) return false;
    return (d->rank || !is_tensor(o)) && nnv_rt_value_bytes(o->type, d->rank, d->dims, bytes) && *bytes;
}

/** What the descriptor says goes to the memory. */
static bool describe(const ANeuralNetworksMemoryDesc *d, struct ANeuralNetworksMemory *m) {
    const struct nnvts_operand *o = operand_of(&d->roles[0]);
    m->has_roles = true;
    m->role_count = d->role_count;
    m->type = o->type;
    m->scale = o->scale;
    m->zero_point = o->zero_point;
    m->rank = d->rank;
    m->roles = calloc(d->role_count, sizeof *m->roles);
    m->dims = calloc(NNV_MAX_RANK, sizeof *m->dims);
    m->current_dims = calloc(NNV_MAX_RANK, sizeof *m->current_dims);
    if (!m->roles || !m->dims || !m->current_dims) return false;
    memcpy(m->roles, d->roles, d->role_count * sizeof *m->roles);
    memcpy(m->dims, d->dims, d->rank * sizeof *m->dims);
    return true;
}

int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory **memory) {
    if (memory) *memory = NULL;
    if (!desc || !memory) return null_pointer(NNV_RT_FUNCTION);
    if (!desc->finished) return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, NNV_RT_FUNCTION, "finish the descriptor first");
    struct ANeuralNetworksMemory *m = calloc(1, sizeof *m);
    if (!m) return ANEURALNETWORKS_OUT_OF_MEMORY;
    pthread_mutex_init(&m->lock, NULL);
    m->memory.fd = -1;
    uint64_t bytes = 0;
    int result = allocate(desc, m);
    if (result && may_be_shared(desc, &bytes)) {
        struct ANeuralNetworksMemory *shared = nnv_rt_memory_shared(bytes);
        if (shared) {
            ANeuralNetworksMemory_free(m);
            m = shared;
            result = ANEURALNETWORKS_NO_ERROR;
        }
    }
    if (!result && !describe(desc, m)) result = ANEURALNETWORKS_OUT_OF_MEMORY;
    if (!result) {
        *memory = m;
        return result;
    }
    ANeuralNetworksMemory_free(m);
    return nnv_rt_error(result, NNV_RT_FUNCTION,
                        "no device has memory for all roles, and shared memory is no substitute: a size is unknown, or "
                        "a compilation is for named devices");
}
