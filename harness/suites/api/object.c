/* SPDX-License-Identifier: Apache-2.0 */
/** @file object.c Objects of a library that are freed when their case ends. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/suites/api/api.h"

enum kind { MODEL, COMPILATION, EXECUTION, BURST, EVENT, MEMORY, DESC, FILE_DESCRIPTOR, MAPPING, FREED };

struct nnv_api_object {
    struct nnv_api_object *next; /**< made before */
    enum kind kind;
    void *object;
    size_t bytes; /**< of a MAPPING */
    int fd;
};

static void free_object(const struct nnvts_ndk *nn, struct nnv_api_object *o) {
    switch (o->kind) {
    case MODEL:
        nn->Model_free(o->object);
        break;
    case COMPILATION:
        nn->Compilation_free(o->object);
        break;
    case EXECUTION:
        nn->Execution_free(o->object);
        break;
    case BURST:
        nn->Burst_free(o->object);
        break;
    case EVENT:
        nn->Event_free(o->object);
        break;
    case MEMORY:
        nn->Memory_free(o->object);
        break;
    case DESC:
        nn->MemoryDesc_free(o->object);
        break;
    case FILE_DESCRIPTOR:
        close(o->fd);
        break;
    case MAPPING:
        munmap(o->object, o->bytes);
        break;
    case FREED:
        break;
    }
    o->kind = FREED;
}

static struct nnv_api_object *keep(struct nnv_api *a, enum kind kind, void *object) {
    static struct nnv_api_object none;
    if (!object) return &none;
    struct nnv_api_object *o = NNV_NEW(a->s.env->arena, struct nnv_api_object, 1);
    if (!o) {
        nnv_context_error(&a->s, NNV_OUT_OF_MEMORY);
        return &none;
    }
    *o = (struct nnv_api_object){.next = a->objects, .kind = kind, .object = object};
    a->objects = o;
    return o;
}

static void api_keep_model(struct nnv_api *a, ANeuralNetworksModel *model) { keep(a, MODEL, model); }
void nnv_api_keep_compilation(struct nnv_api *a, ANeuralNetworksCompilation *c) { keep(a, COMPILATION, c); }
static void api_keep_execution(struct nnv_api *a, ANeuralNetworksExecution *execution) {
    keep(a, EXECUTION, execution);
}
static void api_keep_burst(struct nnv_api *a, ANeuralNetworksBurst *burst) { keep(a, BURST, burst); }
void nnv_api_keep_event(struct nnv_api *a, ANeuralNetworksEvent *event) { keep(a, EVENT, event); }
void nnv_api_keep_memory(struct nnv_api *a, ANeuralNetworksMemory *memory) { keep(a, MEMORY, memory); }
static void api_keep_desc(struct nnv_api *a, ANeuralNetworksMemoryDesc *desc) { keep(a, DESC, desc); }
void nnv_api_keep_fd(struct nnv_api *a, int fd) {
    if (fd >= 0) keep(a, FILE_DESCRIPTOR, a)->fd = fd;
}

void nnv_api_free_now(struct nnv_api *a, void *object) {
    for (struct nnv_api_object *o = a->objects; o; o = o->next)
        if (o->kind < FILE_DESCRIPTOR && o->object == object) free_object(a->nn, o);
}

void nnv_api_free_all(struct nnv_api *a) {
    for (struct nnv_api_object *o = a->objects; o; o = o->next) free_object(a->nn, o);
    a->objects = NULL;
}

/* --------------------------------------------------------------------- making */

ANeuralNetworksModel *nnv_api_model(struct nnv_api *a) {
    ANeuralNetworksModel *model = NULL;
    if (!OK(Model_create, &model)) return NULL;
    nnv_expect(&a->s, model != NULL, "Model_create answered NO_ERROR without a model");
    api_keep_model(a, model);
    return model;
}

bool nnv_api_find_device(struct nnv_api_net *net, ANeuralNetworksDevice **device) {
    struct nnv_api *a = net->a;
    uint32_t count = 0;
    bool all = false;
    if (net->operations > NNV_API_MAX_OPERATIONS) return nnv_context_error(&a->s, "the model is too large");
    if (a->named) {
        count = 1;
    } else if (!OK(_getDeviceCount, &count)) {
        return false;
    }
    for (uint32_t i = 0; i < count && !all; i++) {
        *device = a->named;
        if (!a->named && !OK(_getDevice, i, device)) return false;
        const ANeuralNetworksDevice *one = *device;
        if (!OK(Model_getSupportedOperationsForDevices, net->model, &one, 1, a->to.flag)) return false;
        all = true;
        for (uint32_t k = 0; k < net->operations; k++) all = all && a->to.flag[k];
    }
    return all || nnv_context_decline(&a->s, NNVTS_WHY_OPERATION,
                                      a->named ? "the device does not support the model"
                                               : "no device of the library supports the model");
}

ANeuralNetworksCompilation *nnv_api_compilation(struct nnv_api_net *net) {
    struct nnv_api *a = net->a;
    ANeuralNetworksCompilation *compilation = NULL;
    ANeuralNetworksDevice *device = NULL;
    if (!net->ok) return NULL;
    if (!a->nn->Compilation_createForDevices) return nnv_api_automatic(a, net->model);
    if (!nnv_api_find_device(net, &device)) return NULL;
    const ANeuralNetworksDevice *one = device;
    if (!OK(Compilation_createForDevices, net->model, &one, 1, &compilation)) return NULL;
    nnv_expect(&a->s, compilation != NULL, "Compilation_createForDevices answered NO_ERROR without a compilation");
    nnv_api_keep_compilation(a, compilation);
    return compilation;
}

ANeuralNetworksCompilation *nnv_api_compiled(struct nnv_api_net *net) {
    struct nnv_api *a = net->a;
    ANeuralNetworksCompilation *compilation = nnv_api_compilation(net);
    return compilation && OK(Compilation_finish, compilation) ? compilation : NULL;
}

ANeuralNetworksCompilation *nnv_api_automatic(struct nnv_api *a, ANeuralNetworksModel *model) {
    ANeuralNetworksCompilation *compilation = NULL;
    if (!OK(Compilation_create, model, &compilation)) return NULL;
    nnv_expect(&a->s, compilation != NULL, "Compilation_create answered NO_ERROR without a compilation");
    nnv_api_keep_compilation(a, compilation);
    return compilation;
}

ANeuralNetworksCompilation *nnv_api_for_two(struct nnv_api_net *net) {
    struct nnv_api *a = net->a;
    ANeuralNetworksCompilation *compilation = NULL;
    ANeuralNetworksDevice *first = NULL, *other = NULL;
    uint32_t count = 0;
    if (!OK(_getDeviceCount, &count)) return NULL;
    if (count < 2) {
        nnv_context_decline(&a->s, NNVTS_WHY_NOT_APPLICABLE, "the library has one device alone");
        return NULL;
    }
    if (!nnv_api_find_device(net, &first) || !OK(_getDevice, 0, &other)) return NULL;
    if (other == first && !OK(_getDevice, 1, &other)) return NULL;
    const ANeuralNetworksDevice *two[] = {first, other};
    if (!OK(Compilation_createForDevices, net->model, two, 2, &compilation)) return NULL;
    nnv_api_keep_compilation(a, compilation);
    return compilation;
}

ANeuralNetworksExecution *nnv_api_execution(struct nnv_api *a, ANeuralNetworksCompilation *compilation) {
    ANeuralNetworksExecution *execution = NULL;
    if (!compilation || !OK(Execution_create, compilation, &execution)) return NULL;
    nnv_expect(&a->s, execution != NULL, "Execution_create answered NO_ERROR without an execution");
    api_keep_execution(a, execution);
    return execution;
}

ANeuralNetworksBurst *nnv_api_burst(struct nnv_api *a, ANeuralNetworksCompilation *compilation) {
    ANeuralNetworksBurst *burst = NULL;
    if (!compilation || !OK(Burst_create, compilation, &burst)) return NULL;
    nnv_expect(&a->s, burst != NULL, "Burst_create answered NO_ERROR without a burst");
    api_keep_burst(a, burst);
    return burst;
}

ANeuralNetworksMemoryDesc *nnv_api_desc(struct nnv_api *a) {
    ANeuralNetworksMemoryDesc *desc = NULL;
    if (!OK(MemoryDesc_create, &desc)) return NULL;
    nnv_expect(&a->s, desc != NULL, "MemoryDesc_create answered NO_ERROR without a descriptor");
    api_keep_desc(a, desc);
    return desc;
}

int nnv_api_file(struct nnv_api *a, size_t bytes, void **at) {
    /* Its size is sealed, so that whoever maps it need not fear that it shrinks. */
    int fd = nnv_memory_file("nnvts-api", bytes, F_SEAL_SHRINK | F_SEAL_GROW);
    if (fd < 0) {
        nnv_context_error(&a->s, "no shared memory: %s", strerror(errno));
        return -1;
    }
    nnv_api_keep_fd(a, fd);
    if (!at) return fd;
    *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*at == MAP_FAILED) {
        nnv_context_error(&a->s, "no shared memory: %s", strerror(errno));
        return -1;
    }
    keep(a, MAPPING, *at)->bytes = bytes;
    return fd;
}

ANeuralNetworksMemory *nnv_api_memory(struct nnv_api *a, size_t bytes, void **at) {
    ANeuralNetworksMemory *memory = NULL;
    int fd = nnv_api_file(a, bytes, at);
    if (fd < 0 || !OK(Memory_createFromFd, bytes, PROT_READ | PROT_WRITE, fd, 0, &memory)) return NULL;
    nnv_expect(&a->s, memory != NULL, "Memory_createFromFd answered NO_ERROR without a memory");
    nnv_api_keep_memory(a, memory);
    return memory;
}
