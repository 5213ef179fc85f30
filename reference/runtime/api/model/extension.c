/* SPDX-License-Identifier: Apache-2.0 */
/** @file extension.c Extensions: names, the prefixes that stand for them, and the types that devices say they have. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "NeuralNetworksOEM.h"
#include "base/type.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"
#include "reference/runtime/api/model/model.h"

enum { LAST_PREFIX = 0x7fff };

/* The names by prefix, 1 the first. A name is given out once and stays. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *names[LAST_PREFIX + 1];
static uint16_t given;

const struct nnvts_extension *nnv_rt_device_extension(const struct ANeuralNetworksDevice *device, const char *name) {
    for (uint32_t i = 0; i < device->driver->extension_count; i++)
        if (strcmp(device->driver->extensions[i].name, name) == 0) return &device->driver->extensions[i];
    return NULL;
}

static const struct nnvts_extension_operand_type *find_type(const struct nnvts_extension *e, uint16_t type) {
    for (uint32_t i = 0; i < e->operand_type_count; i++)
        if (e->operand_types[i].type == type) return &e->operand_types[i];
    return NULL;
}

/* Both have the same types. */
static bool agree(const struct nnvts_extension *a, const struct nnvts_extension *b) {
    if (a->operand_type_count != b->operand_type_count) return false;
    for (uint32_t i = 0; i < a->operand_type_count; i++) {
        const struct nnvts_extension_operand_type *x = &a->operand_types[i], *y = find_type(b, x->type);
        if (!y || x->is_tensor != y->is_tensor || x->byte_size != y->byte_size) return false;
    }
    return true;
}

/* The extension as all devices have it that have it at all; NULL: none, or they disagree. */
static const struct nnvts_extension *known_extension(const char *name) {
    const struct nnvts_extension *known = NULL;
    for (size_t i = 0; i < nnv_rt_device_count(); i++) {
        struct ANeuralNetworksDevice *device = nnv_rt_device_at(i);
        const struct nnvts_extension *e = device ? nnv_rt_device_extension(device, name) : NULL;
        if (e && known && !agree(known, e)) {
            nnv_rt_vlog(NNV_RT_LOG_MANAGER, "extension %s is disabled: devices disagree about its types", name);
            return NULL;
        }
        if (e) known = e;
    }
    return known;
}

bool nnv_rt_extension_is_known(uint16_t prefix) {
    const char *name = nnv_rt_extension_name(prefix);
    return name && known_extension(name);
}

uint16_t nnv_rt_extension_prefix(const char *name) {
    pthread_mutex_lock(&lock);
    uint16_t prefix = given;
    while (prefix && strcmp(names[prefix], name) != 0) prefix--;
    if (!prefix && given < LAST_PREFIX && (names[given + 1] = strdup(name))) prefix = ++given;
    pthread_mutex_unlock(&lock);
    return prefix;
}

const char *nnv_rt_extension_name(uint16_t prefix) {
    pthread_mutex_lock(&lock);
    const char *name = prefix <= given ? names[prefix] : NULL;
    pthread_mutex_unlock(&lock);
    return name;
}

size_t nnv_rt_type_bytes(int32_t type, bool *is_tensor) {
    bool ignored;
    if (!is_tensor) is_tensor = &ignored;
    if (type == ANEURALNETWORKS_OEM_SCALAR || type == ANEURALNETWORKS_TENSOR_OEM_BYTE) {
        *is_tensor = type == ANEURALNETWORKS_TENSOR_OEM_BYTE;
        return 1;
    }
    const struct nnv_type *t = nnv_type(type);
    *is_tensor = t && t->tensor;
    if (t || type < 0) return t ? t->size : 0;
    const char *name = nnv_rt_extension_name((uint16_t)(type >> 16));
    const struct nnvts_extension *e = name ? known_extension(name) : NULL;
    const struct nnvts_extension_operand_type *x = e ? find_type(e, (uint16_t)type) : NULL;
    *is_tensor = x && x->is_tensor;
    return x ? x->byte_size : 0;
}
