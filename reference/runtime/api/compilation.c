/* SPDX-License-Identifier: Apache-2.0 */
/** @file compilation.c ANeuralNetworksCompilation_*: settings, finish, and what is asked of a finished one. */
#include "reference/runtime/api/compilation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "reference/runtime/log.h"
#include "reference/runtime/api/sl_diag.h"

enum { LEVEL_PADDING = 5, PREFERRED = 64, LEAST_ALIGNMENT = 16 };

#define MISUSE(code, ...) nnv_rt_error((code), __func__, __VA_ARGS__)

enum nnv_rt_partitioning nnv_rt_partitioning(void) {
    const char *v = getenv("NNVTS_PARTITIONING");
    if (v != NULL && strcmp(v, "none") == 0) return NNV_RT_PARTITION_NONE;
    if (v != NULL && strcmp(v, "strict") == 0) return NNV_RT_PARTITION_WITHOUT_FALLBACK;
    if (v != NULL && *v != '\0' && strcmp(v, "fallback") != 0)
        nnv_rt_error(0, __func__, "NNVTS_PARTITIONING is '%s': expected none, fallback or strict", v);
    return NNV_RT_PARTITION_WITH_FALLBACK;
}

/* ------------------------------------------------------------------- create */

static int create(const char *function, ANeuralNetworksModel *model, const ANeuralNetworksDevice *const *devices,
                  size_t count, ANeuralNetworksCompilation **out) {
    if (model->state != NNV_RT_MODEL_FINISHED)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function,
                            "the model is not finished, or not valid: call ANeuralNetworksModel_finish first");
    ANeuralNetworksCompilation *c = calloc(1, sizeof *c);
    if (c == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    c->devices = calloc(count + 1, sizeof *c->devices);
    if (c->devices == NULL) {
        free(c);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    c->model = model;
    c->explicit_devices = devices != NULL;
    c->preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER;
    c->priority = ANEURALNETWORKS_PRIORITY_DEFAULT;
    for (size_t i = 0; i < count; i++)
        c->devices[i] = devices != NULL ? (struct ANeuralNetworksDevice *)devices[i] : nnv_rt_device_at(i);
    c->device_count = count;
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model, ANeuralNetworksCompilation **compilation) {
    if (compilation != NULL) *compilation = NULL;
    if (model == NULL || compilation == NULL) return MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "an argument is NULL");
    return create(__func__, model, NULL, nnv_rt_device_count(), compilation);
}

/** True if the pointer is that of a device. */
static bool is_device(const ANeuralNetworksDevice *device) {
    for (size_t i = 0; i < nnv_rt_device_count(); i++)
        if (nnv_rt_device_at(i) == device) return true;
    return false;
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                const ANeuralNetworksDevice *const *devices, uint32_t numDevices,
                                                ANeuralNetworksCompilation **compilation) {
    if (compilation != NULL) *compilation = NULL;
    if (model == NULL || devices == NULL || compilation == NULL)
        return MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "an argument is NULL");
    if (numDevices == 0) return MISUSE(ANEURALNETWORKS_BAD_DATA, "no device is named");
    for (uint32_t i = 0; i < numDevices; i++) {
        if (devices[i] == NULL) return MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "device %u is NULL", i);
        if (!is_device(devices[i]))
            return MISUSE(ANEURALNETWORKS_BAD_DATA, "device %u is none of ANeuralNetworks_getDevice", i);
        for (uint32_t j = 0; j < i; j++)
            if (devices[i] == devices[j]) return MISUSE(ANEURALNETWORKS_BAD_DATA, "devices %u and %u are one", j, i);
    }
    return create(__func__, model, devices, numDevices, compilation);
}

static void free_cache(ANeuralNetworksCompilation *c) {
    for (uint32_t i = 0; i < c->cache_fd_count; i++) close(c->cache_fds[i]);
    free(c->cache_fds);
    free(c->cache_dir);
    c->cache_fds = NULL;
    c->cache_dir = NULL;
    c->cache_fd_count = 0;
    c->has_token = false;
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *c) {
    if (c == NULL) return;
    nnv_rt_plan_release(c->plan);
    nnv_rt_plan_release(c->cpu_plan);
    for (struct nnv_rt_cpu_step *s = c->cpu_steps, *next; s != NULL; s = next) {
        next = s->next;
        s->prepared->release(s->prepared);
        free(s);
    }
    for (uint32_t i = 0; i < c->attribute_count; i++) {
        free(c->attributes[i].extension);
        free(c->attributes[i].data);
    }
    free(c->attributes);
    free_cache(c);
    pthread_mutex_destroy(&c->lock);
    free(c->devices);
    free(c);
}

/* ----------------------------------------------------------------- settings */

/** What every setting checks first: BAD_STATE once finish was called. */
static int check_open(const ANeuralNetworksCompilation *c, const char *function) {
    if (c == NULL) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "the compilation is NULL");
    if (c->finished) return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function, "the compilation is finished");
    return ANEURALNETWORKS_NO_ERROR;
}

static int check_one_device(const ANeuralNetworksCompilation *c, const char *function) {
    if (nnv_rt_compilation_has_one_device(c)) return ANEURALNETWORKS_NO_ERROR;
    return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function,
                        "only for a compilation that ANeuralNetworksCompilation_createForDevices made for one device");
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference) {
    int result = check_open(compilation, __func__);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    if (preference < ANEURALNETWORKS_PREFER_LOW_POWER || preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED)
        return MISUSE(ANEURALNETWORKS_BAD_DATA, "%d is no PreferenceCode", preference);
    compilation->preference = preference;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority) {
    int result = check_open(compilation, __func__);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    if (priority != ANEURALNETWORKS_PRIORITY_LOW && priority != ANEURALNETWORKS_PRIORITY_MEDIUM &&
        priority != ANEURALNETWORKS_PRIORITY_HIGH)
        return MISUSE(ANEURALNETWORKS_BAD_DATA, "%d is no PriorityCode", priority);
    compilation->priority = priority;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation, uint64_t duration) {
    int result = check_open(compilation, __func__);
    if (result == ANEURALNETWORKS_NO_ERROR) result = check_one_device(compilation, __func__);
    if (result == ANEURALNETWORKS_NO_ERROR) compilation->timeout_ns = duration;
    return result;
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation, const char *cacheDir,
                                          const uint8_t *token) {
    if (compilation == NULL || cacheDir == NULL || token == NULL)
        return MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "an argument is NULL");
    int result = check_open(compilation, __func__);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    char *dir = strdup(cacheDir);
    if (dir == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    free_cache(compilation);
    compilation->cache_dir = dir;
    compilation->has_token = true;
    memcpy(compilation->token, token, sizeof compilation->token);
    return ANEURALNETWORKS_NO_ERROR;
}

/** File i of both lists. */
static int given_fd(const int *model_fds, uint32_t model_fd_count, const int *data_fds, uint32_t i) {
    return i < model_fd_count ? model_fds[i] : data_fds[i - model_fd_count];
}

int nnv_rt_compilation_set_cache_fds(ANeuralNetworksCompilation *c, const int *model_fds, uint32_t model_fd_count,
                                     const int *data_fds, uint32_t data_fd_count, const uint8_t *token) {
    static const char function[] = "SL_ANeuralNetworksCompilation_setCachingFromFds";
    if (c == NULL || token == NULL || (model_fds == NULL && model_fd_count > 0) ||
        (data_fds == NULL && data_fd_count > 0))
        return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "an argument is NULL");
    int result = check_open(c, function);
    if (result == ANEURALNETWORKS_NO_ERROR) result = check_one_device(c, function);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    const struct nnvts_device *driver = c->devices[0]->driver;
    if (model_fd_count != driver->model_cache_files || data_fd_count != driver->data_cache_files)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function,
                            "%u model and %u data files: the device asks for %u and %u", model_fd_count, data_fd_count,
                            driver->model_cache_files, driver->data_cache_files);
    uint32_t count = model_fd_count + data_fd_count;
    /* All are looked at before the first is duplicated, which might get the number of one that is closed. */
    for (uint32_t i = 0; i < count; i++)
        if (fcntl(given_fd(model_fds, model_fd_count, data_fds, i), F_GETFD) < 0)
            return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "file %u is not open", i);
    int *fds = calloc((size_t)count + 1, sizeof *fds);
    if (fds == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    free_cache(c);
    c->cache_fds = fds;
    while (c->cache_fd_count < count) {
        int fd = fcntl(given_fd(model_fds, model_fd_count, data_fds, c->cache_fd_count), F_DUPFD_CLOEXEC, 0);
        if (fd < 0) {
            free_cache(c);
            return ANEURALNETWORKS_OUT_OF_MEMORY;
        }
        fds[c->cache_fd_count++] = fd;
    }
    c->has_token = true;
    memcpy(c->token, token, sizeof c->token);
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_addExtensionAttribute(ANeuralNetworksCompilation *compilation, const char *extensionName,
                                                     uint16_t attributeCodeWithinExtension, const void *data,
                                                     size_t length) {
    if (compilation == NULL || extensionName == NULL || (data == NULL && length > 0))
        return MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "an argument is NULL");
    int result = check_open(compilation, __func__);
    if (result == ANEURALNETWORKS_NO_ERROR) result = check_one_device(compilation, __func__);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    bool known = false;
    result = ANeuralNetworksDevice_getExtensionSupport(compilation->devices[0], extensionName, &known);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    if (!known) return MISUSE(ANEURALNETWORKS_BAD_DATA, "the device does not know the extension '%s'", extensionName);
    for (uint32_t i = 0; i < compilation->attribute_count; i++)
        if (compilation->attributes[i].code == attributeCodeWithinExtension &&
            strcmp(compilation->attributes[i].extension, extensionName) == 0)
            return MISUSE(ANEURALNETWORKS_BAD_DATA, "attribute %u of '%s' is given twice",
                          (unsigned)attributeCodeWithinExtension, extensionName);
    struct nnv_rt_attribute *grown =
        realloc(compilation->attributes, (compilation->attribute_count + (size_t)1) * sizeof *grown);
    if (grown == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    compilation->attributes = grown;
    struct nnv_rt_attribute a = {strdup(extensionName), attributeCodeWithinExtension, malloc(length + 1), length};
    if (a.extension == NULL || a.data == NULL) {
        free(a.extension);
        free(a.data);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    if (length > 0) memcpy(a.data, data, length);
    grown[compilation->attribute_count++] = a;
    return ANEURALNETWORKS_NO_ERROR;
}

/* ------------------------------------------------------------------- finish */

static struct nnv_rt_prepare_options prepare_options(const ANeuralNetworksCompilation *c, uint64_t deadline_ns) {
    return (struct nnv_rt_prepare_options){
        .preference = c->preference,
        .priority = c->priority,
        .deadline_ns = deadline_ns,
        .token = c->has_token ? c->token : NULL,
        .cache_dir = c->cache_dir,
        .cache_fds = c->cache_fds,
        .attributes = c->attributes,
        .attribute_count = c->attribute_count,
    };
}

/** A prepared plan on these devices; those that are dead support nothing. */
static int compile(ANeuralNetworksCompilation *c, struct ANeuralNetworksDevice *const *devices, size_t count,
                   uint64_t deadline_ns, struct nnv_rt_plan **out) {
    const struct nnv_rt_plan_options options = {
        .devices = devices, .device_count = count, .preference = c->preference, .only = c->only};
    const struct nnv_rt_prepare_options how = prepare_options(c, deadline_ns);
    struct nnv_rt_plan *plan = NULL;
    uint64_t since = nnv_rt_trace_begin();
    int result = nnv_rt_plan_make(c->model, &options, &plan);
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "compilation", "plan");
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    nnv_rt_vlog(NNV_RT_LOG_COMPILATION, "a plan of %u steps, %u values pass between them", plan->graphs[0].step_count,
                nnv_rt_plan_crossings(plan));
    result = nnv_rt_plan_prepare(plan, &how);
    if (result == ANEURALNETWORKS_NO_ERROR)
        *out = plan;
    else
        nnv_rt_plan_release(plan);
    return result;
}

/** The whole model on the CPU reference. */
static int compile_for_cpu(ANeuralNetworksCompilation *c, struct nnv_rt_plan **out) {
    struct ANeuralNetworksDevice *cpu = nnv_rt_device_cpu();
    return compile(c, &cpu, 1, NNVTS_NO_TIME, out);
}

static int finish(ANeuralNetworksCompilation *c) {
    enum nnv_rt_partitioning policy = c->explicit_devices ? NNV_RT_PARTITION_WITHOUT_FALLBACK : nnv_rt_partitioning();
    uint64_t deadline = NNVTS_NO_TIME, now = nnv_now_ns();
    if (c->timeout_ns > 0 && c->timeout_ns < NNVTS_NO_TIME - now) deadline = now + c->timeout_ns;
    if (policy == NNV_RT_PARTITION_NONE) return compile_for_cpu(c, &c->plan);
    c->fallback = policy == NNV_RT_PARTITION_WITH_FALLBACK && !c->model->has_extension && !c->model->has_oem;
    int result = compile(c, c->devices, c->device_count, deadline, &c->plan);
    if (result == ANEURALNETWORKS_NO_ERROR || !c->fallback) return result;
    nnv_rt_vlog(NNV_RT_LOG_COMPILATION, "result %d: all on the CPU reference instead", result);
    return compile_for_cpu(c, &c->plan);
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation) {
    int result = check_open(compilation, __func__);
    if (result != ANEURALNETWORKS_NO_ERROR) return result;
    uint64_t since = nnv_rt_trace_begin(), told_since = nnv_rt_diag_begin();
    compilation->finished = true;
    result = finish(compilation);
    nnv_rt_diag_compiled(compilation, result, told_since);
    nnv_rt_trace_end(since, NNV_RT_TRACE_RUNTIME, "compilation", "finish");
    nnv_rt_vlog(NNV_RT_LOG_COMPILATION, "finish: result %d", result);
    return result;
}

/* ----------------------------------------------------------- once finished */

int nnv_rt_compilation_cpu_plan(ANeuralNetworksCompilation *c, const struct nnv_rt_plan **out) {
    int result = ANEURALNETWORKS_NO_ERROR;
    pthread_mutex_lock(&c->lock);
    if (c->cpu_plan == NULL) result = compile_for_cpu(c, &c->cpu_plan);
    if (result == ANEURALNETWORKS_NO_ERROR) *out = c->cpu_plan;
    pthread_mutex_unlock(&c->lock);
    return result;
}

/** Prepares a step's model for the CPU reference and keeps it. The caller holds the lock. */
static int cpu_step_new(ANeuralNetworksCompilation *c, const struct nnv_rt_step *step,
                        struct nnvts_prepared_model **out) {
    struct nnvts_device *cpu = nnv_rt_device_cpu()->driver;
    const struct nnvts_prepare_config config = {
        .preference = (uint32_t)c->preference, .priority = NNVTS_PRIORITY_MEDIUM, .deadline_ns = NNVTS_NO_TIME};
    struct nnv_rt_cpu_step *s = calloc(1, sizeof *s);
    if (s == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    enum nnvts_status status = cpu->prepare_model(cpu, &step->model, &config, &s->prepared);
    if (status != NNVTS_STATUS_NONE || s->prepared == NULL) {
        free(s);
        return status == NNVTS_STATUS_NONE ? ANEURALNETWORKS_OP_FAILED : nnv_rt_result(status);
    }
    s->step = step;
    s->next = c->cpu_steps;
    c->cpu_steps = s;
    *out = s->prepared;
    return ANEURALNETWORKS_NO_ERROR;
}

int nnv_rt_compilation_cpu_step(ANeuralNetworksCompilation *c, const struct nnv_rt_step *step,
                                struct nnvts_prepared_model **out) {
    int result = ANEURALNETWORKS_NO_ERROR;
    pthread_mutex_lock(&c->lock);
    const struct nnv_rt_cpu_step *s = c->cpu_steps;
    while (s != NULL && s->step != step) s = s->next;
    if (s != NULL)
        *out = s->prepared;
    else
        result = cpu_step_new(c, step, out);
    pthread_mutex_unlock(&c->lock);
    return result;
}

/** The largest of what the devices of the steps prefer. */
struct preferred {
    uint32_t alignment, padding;
};

static void join_preferred(void *context, const struct nnv_rt_step *step, bool is_output, uint32_t io) {
    struct preferred *p = context;
    (void)is_output;
    (void)io;
    p->alignment = PREFERRED;
    if (nnv_rt_device_has_level(step->device, LEVEL_PADDING)) p->padding = PREFERRED;
}

static int preferred(const char *function, const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                     const uint32_t *out, struct preferred *p) {
    *p = (struct preferred){.alignment = LEAST_ALIGNMENT, .padding = 1};
    if (c == NULL || out == NULL) return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "an argument is NULL");
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(c);
    if (plan == NULL)
        return nnv_rt_error(ANEURALNETWORKS_BAD_STATE, function,
                            "the compilation is not finished, or not valid: call ANeuralNetworksCompilation_finish");
    const struct nnvts_subgraph *g = &c->model->model.main;
    uint32_t count = is_output ? g->output_count : g->input_count;
    if (index >= count)
        return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, function, "index %u: the model has %u %s", index, count,
                            is_output ? "outputs" : "inputs");
    return nnv_rt_plan_roles(plan, is_output, index, join_preferred, p);
}

#define PREFERRED_MEMORY(WHAT, DIRECTION, IS_OUTPUT, MEMBER)                                                           \
    int ANeuralNetworksCompilation_getPreferredMemory##WHAT##For##DIRECTION(                                           \
        const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *MEMBER) {                             \
        struct preferred p;                                                                                            \
        int result = preferred(__func__, compilation, IS_OUTPUT, index, MEMBER, &p);                                   \
        if (result == ANEURALNETWORKS_NO_ERROR) *MEMBER = p.MEMBER;                                                    \
        return result;                                                                                                 \
    }
PREFERRED_MEMORY(Alignment, Input, false, alignment)
PREFERRED_MEMORY(Padding, Input, false, padding)
PREFERRED_MEMORY(Alignment, Output, true, alignment)
PREFERRED_MEMORY(Padding, Output, true, padding)
