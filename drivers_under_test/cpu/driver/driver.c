/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c The device: what it can do, which models it takes, compilation. */
#include <float.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "driver.h"

enum { DEFAULT_THREADS = 8, MOST_THREADS = 64, FEATURE_LEVEL = 7 };
static const char options_expected[] =
    "options are \"threads=N\" (1 to 64) and \"isa=base\", of x86 "
    "\"isa=avx2|avx512|avx512vnni|amx\", of Arm \"isa=neon|dotprod|i8mm\", separated by commas";
/** Names the instruction set where the options do not, so that a whole program, or a suite of tests, runs with it. */
static const char isa_variable[] = "NNVTS_CPU_ISA";
static const char variable_expected[] =
    "NNVTS_CPU_ISA in the environment names no instruction set that this processor has";

#define FAST                                                                                                           \
    { 0.5f, 0.5f }
#define SLOW                                                                                                           \
    { 1.0f, 1.0f }

static const struct nnvts_operand_performance performance[] = {
    {ANEURALNETWORKS_FLOAT32, FAST},
    {ANEURALNETWORKS_INT32, FAST},
    {ANEURALNETWORKS_UINT32, FAST},
    {ANEURALNETWORKS_TENSOR_FLOAT32, FAST},
    {ANEURALNETWORKS_TENSOR_INT32, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, FAST},
    {ANEURALNETWORKS_BOOL, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT16_SYMM, SLOW},
    {ANEURALNETWORKS_TENSOR_FLOAT16, FAST},
    {ANEURALNETWORKS_TENSOR_BOOL8, SLOW},
    {ANEURALNETWORKS_FLOAT16, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, SLOW},
    {ANEURALNETWORKS_TENSOR_QUANT8_SYMM, FAST},
    {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, FAST},
};

static enum nnvts_device_status get_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

/* --------------------------------------------------------------------- models */

/** The model's pools, mapped for the length of a call. */
struct pools {
    struct cpu_mapping *mappings;
    const uint8_t **data;
    uint32_t count;
};

static void pools_unmap(struct pools *p) {
    for (uint32_t i = 0; i < p->count; i++) cpu_memory_unmap(&p->mappings[i]);
    free(p->mappings);
    free(p->data);
    *p = (struct pools){0};
}

/** *p is to be unmapped whatever is returned. */
static enum nnvts_status pools_map(const struct nnvts_model *model, struct pools *p) {
    *p = (struct pools){0};
    if (model->pool_count && !model->pools) return NNVTS_STATUS_INVALID_ARGUMENT;
    p->mappings = calloc((size_t)model->pool_count + 1, sizeof *p->mappings);
    p->data = calloc((size_t)model->pool_count + 1, sizeof *p->data);
    if (!p->mappings || !p->data) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; i < model->pool_count; i++) {
        enum nnvts_status st = cpu_memory_map(&model->pools[i], NNVTS_PROT_READ, &p->mappings[i]);
        if (st != NNVTS_STATUS_NONE) return st;
        p->data[i] = p->mappings[i].data;
        p->count++;
    }
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status get_supported_operations(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported) {
    (void)self;
    if (!model || !supported) return NNVTS_STATUS_INVALID_ARGUMENT;
    struct pools pools;
    struct cpu_model imported = {0};
    enum nnvts_status st = pools_map(model, &pools);
    if (st == NNVTS_STATUS_NONE) st = cpu_model_import(model, pools.data, &imported);
    for (uint32_t i = 0; st == NNVTS_STATUS_NONE && i < imported.node_count; i++)
        supported[i] = cpu_model_supports(&imported, i);
    cpu_model_free(&imported);
    pools_unmap(&pools);
    return st;
}

static bool all_supported(const struct cpu_model *m) {
    for (uint32_t i = 0; i < m->node_count; i++)
        if (!cpu_model_supports(m, i)) return false;
    return true;
}

/** What a cache depends on beside the model. */
static struct cpu_cache_maker maker(const struct cpu_device *device) {
    return (struct cpu_cache_maker){device->base.version, device->kernels->name};
}

/** What there is of a cache: files to write, or what was read of them; or neither. */
struct caching {
    const struct nnvts_cache *save; /**< failing to write it is no error */
    struct cpu_cached *loaded;      /**< what the program keeps of it is taken */
};

static enum nnvts_status compile(struct cpu_device *device, const struct nnvts_model *model,
                                 const struct caching *caching, struct cpu_program *out) {
    struct pools pools;
    struct cpu_model imported = {0};
    struct cpu_packs made = {0}, *packs = caching->loaded ? &caching->loaded->packs : &made;
    enum nnvts_status st = pools_map(model, &pools);
    if (st == NNVTS_STATUS_NONE) st = cpu_model_import(model, pools.data, &imported);
    if (st == NNVTS_STATUS_NONE && !all_supported(&imported)) st = NNVTS_STATUS_GENERAL_FAILURE;
    if (st == NNVTS_STATUS_NONE) st = cpu_program_make(&imported, device->kernels, device->threads, packs, out);
    const struct cpu_cache_maker by = maker(device);
    if (st == NNVTS_STATUS_NONE && caching->save) cpu_cache_save(&by, model, pools.data, packs, caching->save);
    if (st == NNVTS_STATUS_NONE && caching->loaded) cpu_cached_give(caching->loaded, &out->model.arena);
    cpu_packs_free(&made);
    cpu_model_free(&imported);
    pools_unmap(&pools);
    return st;
}

static const struct nnvts_prepared_model prepared_members = {
    .struct_size = sizeof(struct nnvts_prepared_model),
    .execute = cpu_prepared_execute,
    .execute_async = cpu_prepared_execute_async,
    .execute_fenced = cpu_prepared_execute_fenced,
    .create_burst = cpu_prepared_create_burst,
    .create_execution = cpu_prepared_create_execution,
    .release = cpu_prepared_release,
};

static enum nnvts_status make_prepared(struct cpu_device *device, const struct nnvts_model *model,
                                       const struct caching *caching, struct nnvts_prepared_model **out) {
    struct cpu_prepared *prepared = calloc(1, sizeof *prepared);
    if (!prepared) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    enum nnvts_status st = compile(device, model, caching, &prepared->program);
    if (st != NNVTS_STATUS_NONE) {
        free(prepared);
        return st;
    }
    prepared->base = prepared_members;
    prepared->device = device;
    prepared->program.buffers = &device->buffers;
    pthread_mutex_lock(&device->lock);
    prepared->program.id = ++device->program_count;
    pthread_mutex_unlock(&device->lock);
    *out = &prepared->base;
    return NNVTS_STATUS_NONE;
}

static enum nnvts_status prepare_model(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    struct cpu_device *device = (struct cpu_device *)self;
    if (!model || !out) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (config &&
        (config->preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED || config->priority > NNVTS_PRIORITY_HIGH))
        return NNVTS_STATUS_INVALID_ARGUMENT;
    if (config && config->deadline_ns <= cpu_now_ns()) return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    return make_prepared(device, model, &(struct caching){.save = config ? config->cache : NULL}, out);
}

static enum nnvts_status prepare_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    struct cpu_device *device = (struct cpu_device *)self;
    const struct cpu_cache_maker by = maker(device);
    struct cpu_cached cached;
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (deadline_ns <= cpu_now_ns()) return NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT;
    enum nnvts_status st = cpu_cache_load(&by, device->threads, cache, &cached);
    if (st != NNVTS_STATUS_NONE) return st;
    st = make_prepared(device, &cached.model, &(struct caching){.loaded = &cached}, out);
    cpu_cached_free(&cached);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_GENERAL_FAILURE : st;
}

/** A role with the operand that it names; false if there is none. */
static bool find_role(const struct cpu_device *device, const struct nnvts_buffer_desc *desc,
                      const struct nnvts_buffer_role *role, bool input, struct cpu_role_operand *out) {
    if (role->model >= desc->prepared_count || !(role->probability > 0 && role->probability <= 1)) return false;
    const struct cpu_prepared *p = (const struct cpu_prepared *)desc->prepared[role->model];
    if (!p || p->base.execute != cpu_prepared_execute || p->device != device) return false;
    const struct cpu_model *m = &p->program.model;
    if (role->io >= (input ? m->in_count : m->out_count)) return false;
    *out = (struct cpu_role_operand){{p->program.id, role->io, input}, &m->tensors[(input ? m->in : m->out)[role->io]]};
    return true;
}

static enum nnvts_status allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                  struct nnvts_buffer **out) {
    enum { MOST_ROLES = 1 << 16 };
    struct cpu_device *device = (struct cpu_device *)self;
    if (!desc || !out || (desc->prepared_count && !desc->prepared) || (desc->input_role_count && !desc->input_roles) ||
        (desc->output_role_count && !desc->output_roles) || (desc->dimension_count && !desc->dimensions) ||
        desc->input_role_count > MOST_ROLES || desc->output_role_count > MOST_ROLES)
        return NNVTS_STATUS_INVALID_ARGUMENT;
    const uint32_t ins = desc->input_role_count, count = ins + desc->output_role_count;
    struct cpu_role_operand *roles = calloc((size_t)count + 1, sizeof *roles);
    if (!roles) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    bool found = true;
    for (uint32_t i = 0; i < count && found; i++)
        found =
            find_role(device, desc, i < ins ? &desc->input_roles[i] : &desc->output_roles[i - ins], i < ins, &roles[i]);
    enum nnvts_status st = NNVTS_STATUS_INVALID_ARGUMENT;
    if (found) st = cpu_buffer_new(&device->buffers, roles, count, desc->dimensions, desc->dimension_count, out);
    free(roles);
    return st;
}

static void release(struct nnvts_device *self) {
    struct cpu_device *device = (struct cpu_device *)self;
    cpu_jobs_join(device);
    cpu_threads_destroy(device->threads);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->buffers.lock);
    free(device);
}

/* -------------------------------------------------------------------- opening */

struct options {
    uint32_t threads;
    char isa[16]; /**< empty: the best */
};

static uint32_t default_threads(void) {
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count > DEFAULT_THREADS ? DEFAULT_THREADS : (uint32_t)count;
}

/** One option of length bytes. */
static bool read_option(const char *text, size_t length, struct options *o) {
    static const char threads[] = "threads=", isa[] = "isa=";
    if (length > strlen(threads) && strncmp(text, threads, strlen(threads)) == 0) {
        uint32_t count = 0;
        for (size_t i = strlen(threads); i < length; i++) {
            if (text[i] < '0' || text[i] > '9') return false;
            count = count * 10 + (uint32_t)(text[i] - '0');
            if (count > MOST_THREADS) return false;
        }
        o->threads = count;
        return count > 0;
    }
    if (length <= strlen(isa) || length - strlen(isa) >= sizeof o->isa || strncmp(text, isa, strlen(isa)) != 0)
        return false;
    memcpy(o->isa, text + strlen(isa), length - strlen(isa));
    o->isa[length - strlen(isa)] = '\0';
    return true;
}

static bool read_options(const char *text, struct options *o) {
    *o = (struct options){.threads = default_threads()};
    while (text && *text) {
        const size_t length = strcspn(text, ",");
        if (!read_option(text, length, o)) return false;
        text += length;
        if (*text == ',') text++;
    }
    return true;
}

static const struct nnvts_device device_members = {
    .struct_size = sizeof(struct nnvts_device),
    .feature_level = FEATURE_LEVEL,
    .type = ANEURALNETWORKS_DEVICE_CPU,
    .name = "nnvts-cpu",
    .version = "1.0.0",
    .capabilities =
        {
            .relaxed_scalar = FAST,
            .relaxed_tensor = FAST,
            .if_performance = {FLT_MAX, FLT_MAX},
            .while_performance = {FLT_MAX, FLT_MAX},
            .operand_performance_count = sizeof performance / sizeof *performance,
            .operand_performance = performance,
        },
    .model_cache_files = CPU_CACHE_MODEL_FILES,
    .data_cache_files = CPU_CACHE_DATA_FILES,
    .get_status = get_status,
    .get_supported_operations = get_supported_operations,
    .prepare_model = prepare_model,
    .prepare_from_cache = prepare_from_cache,
    .allocate = allocate,
    .release = release,
};

static enum nnvts_status open_device(const char *text, struct nnvts_device **out, const char **error) {
    struct options options;
    const struct cpu_kernels *kernels = NULL;
    if (!out) return NNVTS_STATUS_INVALID_ARGUMENT;
    const char *complaint = options_expected;
    if (read_options(text, &options)) {
        const char *variable = getenv(isa_variable);
        if (options.isa[0])
            kernels = cpu_kernels_pick(options.isa);
        else if (!(kernels = cpu_kernels_pick(variable && *variable ? variable : NULL)))
            complaint = variable_expected;
    }
    if (!kernels) {
        if (error) *error = complaint;
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    struct cpu_device *device = calloc(1, sizeof *device);
    if (!device) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    device->base = device_members;
    device->kernels = kernels;
    device->threads = cpu_threads_create(options.threads);
    if (!device->threads) {
        free(device);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->buffers.lock, NULL);
    *out = &device->base;
    return NNVTS_STATUS_NONE;
}

static const char *const option_examples[] = {"threads=1", "isa=base", "isa=avx2",    "isa=avx512", "isa=avx512vnni",
                                              "isa=amx",   "isa=neon", "isa=dotprod", "isa=i8mm",   NULL};

static const struct nnvts_driver driver = {
    .struct_size = sizeof driver,
    .abi_version = NNVTS_DRIVER_ABI_VERSION,
    .name = "cpu",
    .open = open_device,
    .options = option_examples,
};

const struct nnvts_driver *nnvts_driver_get(void) { return &driver; }
