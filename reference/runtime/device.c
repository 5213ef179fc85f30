/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.c The list of devices: who is on it, and what each is asked. */
#include "reference/runtime/device.h"

#include <float.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/driver.h"
#include "reference/cpu/executor.h"
#include "reference/runtime/log.h"

/* Tests build older libraries. */
#ifndef NNV_RUNTIME_LEVEL
#define NNV_RUNTIME_LEVEL 8
#endif

/* A list never changes, and is freed only on request: a device that was given out stays. */
struct list {
    struct list *before; /* made earlier */
    size_t count;
    struct ANeuralNetworksDevice devices[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct list *) current; /* NULL until it is asked for */
static struct list *found, *newest;

int32_t nnv_rt_level(void) { return NNV_RUNTIME_LEVEL; }

int64_t nnv_rt_level_code(int32_t level) {
    return level <= 5 ? ANEURALNETWORKS_FEATURE_LEVEL_1 + level - 1 : ANEURALNETWORKS_FEATURE_LEVEL_6 + level - 6;
}

/* ------------------------------------------------------------------ the list */

const char *nnv_rt_device_unfit(const struct nnvts_device *d, struct nnv_err *err) {
    if (nnv_driver_check_device(d, "its", err)) return err->text;
    if (!*d->name) return "its name is empty";
    if (d->feature_level < 1 || d->feature_level > 8) return "its feature level is not one of 1 to 8";
    if (d->model_cache_files > NNVTS_MAX_CACHE_FILES || d->data_cache_files > NNVTS_MAX_CACHE_FILES)
        return "it needs more than 32 cache files";
    if (d->capabilities.operand_performance_count && !d->capabilities.operand_performance)
        return "its table of capabilities is missing";
    if (d->extension_count && !d->extensions) return "its table of extensions is missing";
    for (uint32_t i = 0; i < d->extension_count; i++)
        if (!d->extensions[i].name || !*d->extensions[i].name ||
            (d->extensions[i].operand_type_count && !d->extensions[i].operand_types))
            return "an extension of it has no name or no types";
    return NULL;
}

/* Why a driver cannot be another device of the list, or NULL. */
static const char *refusal(const struct list *l, const struct nnvts_device *d, struct nnv_err *err) {
    const char *why = nnv_rt_device_unfit(d, err);
    if (why) return why;
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->devices[i].name, d->name) == 0) return "another device has the same name";
    return NULL;
}

static void append(struct list *l, struct nnvts_device *driver, const char *name, bool is_cpu) {
    struct ANeuralNetworksDevice *d = &l->devices[l->count++];
    d->driver = driver;
    d->name = name;
    d->version = *driver->version ? driver->version : "UNKNOWN";
    d->type = driver->type;
    d->driver_level = driver->feature_level < nnv_rt_level() ? driver->feature_level : nnv_rt_level();
    d->level = nnv_rt_level_code(d->driver_level);
    d->is_cpu = is_cpu;
    atomic_init(&d->dead, false);
}

/* The CPU reference's driver, opened once; without it there is no runtime. */
static struct nnvts_device *cpu_driver(void) {
    static struct nnv_driver opened;
    struct nnv_err err = {0};
    if (!opened.device && nnv_driver_attach(&opened, nnv_runtime_cpu(), "reference", NULL, &err)) {
        fprintf(stderr, "nnapi: the CPU reference cannot be opened: %s\n", err.text);
        abort();
    }
    return opened.device;
}

static struct list *make_list(struct nnvts_device *const *drivers, size_t count) {
    struct list *l = calloc(1, sizeof *l + (count + 1) * sizeof *l->devices);
    if (!l) abort();
    l->before = newest;
    newest = l;
    static const char cpu_name[] = "nnapi-reference";
    for (size_t i = 0; i < count; i++) {
        struct nnv_err err = {0};
        const char *why = refusal(l, drivers[i], &err);
        if (!why && strcmp(drivers[i]->name, cpu_name) == 0) why = "that is the name of the CPU reference";
        if (why)
            nnv_rt_error(0, "devices", "driver %zu (%s) is no device: %s", i,
                         drivers[i]->name ? drivers[i]->name : "no name", why);
        else
            append(l, drivers[i], drivers[i]->name, false);
    }
    append(l, cpu_driver(), cpu_name, true);
    for (size_t i = 0; i < l->count; i++)
        nnv_rt_vlog(NNV_RT_LOG_MANAGER, "device %zu: %s, version %s, feature level %d", i, l->devices[i].name,
                    l->devices[i].version, l->devices[i].driver_level);
    return l;
}

static struct list *find(void) {
    if (!found) {
        struct nnvts_device **drivers;
        size_t count = nnv_rt_find_drivers(&drivers);
        found = make_list(drivers, count);
        free(drivers);
    }
    return found;
}

static struct list *devices(void) {
    struct list *l = atomic_load(&current);
    if (l) return l;
    pthread_mutex_lock(&lock);
    l = atomic_load(&current);
    if (!l) {
        l = find();
        atomic_store(&current, l);
    }
    pthread_mutex_unlock(&lock);
    return l;
}

void nnv_rt_device_override(struct nnvts_device *const *drivers, size_t count) {
    pthread_mutex_lock(&lock);
    atomic_store(&current, drivers || count ? make_list(drivers, count) : find());
    pthread_mutex_unlock(&lock);
}

void nnv_rt_device_forget(void) {
    pthread_mutex_lock(&lock);
    for (struct list **at = &newest; *at;) {
        struct list *l = *at;
        if (l == found || l == atomic_load(&current)) {
            at = &l->before;
            continue;
        }
        *at = l->before;
        free(l);
    }
    pthread_mutex_unlock(&lock);
}

size_t nnv_rt_device_count(void) { return devices()->count; }

struct ANeuralNetworksDevice *nnv_rt_device_at(size_t index) {
    struct list *l = devices();
    return index < l->count ? &l->devices[index] : NULL;
}

struct ANeuralNetworksDevice *nnv_rt_device_cpu(void) {
    struct list *l = devices();
    return &l->devices[l->count - 1];
}

/* ---------------------------------------------------------------- one device */

float nnv_rt_device_cost(const struct ANeuralNetworksDevice *device, int32_t operand_type, bool relaxed,
                         int32_t preference) {
    const struct nnvts_capabilities *c = &device->driver->capabilities;
    const struct nnvts_performance *p = NULL;
    if (relaxed && operand_type == ANEURALNETWORKS_FLOAT32) p = &c->relaxed_scalar;
    if (relaxed && operand_type == ANEURALNETWORKS_TENSOR_FLOAT32) p = &c->relaxed_tensor;
    for (uint32_t i = 0; i < c->operand_performance_count && !p; i++)
        if (c->operand_performance[i].type == operand_type) p = &c->operand_performance[i].info;
    if (!p) return FLT_MAX;
    return preference == ANEURALNETWORKS_PREFER_LOW_POWER ? p->power_usage : p->exec_time;
}

enum nnvts_status nnv_rt_device_note(struct ANeuralNetworksDevice *device, enum nnvts_status status) {
    if (status == NNVTS_STATUS_DEAD_OBJECT && !atomic_exchange(&device->dead, true))
        nnv_rt_vlog(NNV_RT_LOG_MANAGER, "%s has died", device->name);
    return status;
}

bool nnv_rt_device_is_alive(struct ANeuralNetworksDevice *device) {
    if (!atomic_load(&device->dead)) return true;
    enum nnvts_device_status status = device->driver->get_status(device->driver);
    if (status != NNVTS_DEVICE_AVAILABLE && status != NNVTS_DEVICE_BUSY) return false;
    if (atomic_exchange(&device->dead, false)) nnv_rt_vlog(NNV_RT_LOG_MANAGER, "%s is back", device->name);
    return true;
}

int nnv_rt_result(enum nnvts_status status) {
    switch (status) {
    case NNVTS_STATUS_NONE:
        return ANEURALNETWORKS_NO_ERROR;
    case NNVTS_STATUS_DEVICE_UNAVAILABLE:
        return ANEURALNETWORKS_UNAVAILABLE_DEVICE;
    case NNVTS_STATUS_GENERAL_FAILURE:
        return ANEURALNETWORKS_OP_FAILED;
    case NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE:
        return ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    case NNVTS_STATUS_INVALID_ARGUMENT:
        return ANEURALNETWORKS_BAD_DATA;
    case NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT:
        return ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT;
    case NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT:
        return ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT;
    case NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT:
        return ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT;
    case NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT:
        return ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT;
    case NNVTS_STATUS_DEAD_OBJECT:
        return ANEURALNETWORKS_DEAD_OBJECT;
    }
    return ANEURALNETWORKS_OP_FAILED;
}

const struct nnvts_computed *nnvts_runtime_computed(uint32_t *count) {
    enum { MOST = 64 };
    static _Thread_local struct nnvts_computed told[MOST];
    const size_t n = nnv_rt_device_count();
    *count = n < MOST ? (uint32_t)n : MOST;
    for (uint32_t i = 0; i < *count; i++) {
        struct ANeuralNetworksDevice *d = nnv_rt_device_at(i);
        told[i] = (struct nnvts_computed){d->name, atomic_load(&d->computed)};
    }
    return told;
}
