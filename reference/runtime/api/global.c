/* SPDX-License-Identifier: Apache-2.0 */
/** @file global.c The functions of the API about devices and about the library itself. */
#include <time.h>

#include "base/clock.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"

enum {
    OK = ANEURALNETWORKS_NO_ERROR,
    NULL_ARGUMENT = ANEURALNETWORKS_UNEXPECTED_NULL,
};

uint64_t ANeuralNetworks_getDefaultLoopTimeout(void) { return NNVTS_LOOP_TIMEOUT_DEFAULT_NS; }

uint64_t ANeuralNetworks_getMaximumLoopTimeout(void) { return NNVTS_LOOP_TIMEOUT_MAX_NS; }

int64_t ANeuralNetworks_getRuntimeFeatureLevel(void) { return nnv_rt_level_code(nnv_rt_level()); }

int ANeuralNetworks_getDeviceCount(uint32_t *numDevices) {
    if (!numDevices) return nnv_rt_error(NULL_ARGUMENT, "getDeviceCount", "numDevices is NULL");
    *numDevices = (uint32_t)nnv_rt_device_count();
    return OK;
}

int ANeuralNetworks_getDevice(uint32_t devIndex, ANeuralNetworksDevice **device) {
    if (!device) return nnv_rt_error(NULL_ARGUMENT, "getDevice", "device is NULL");
    *device = nnv_rt_device_at(devIndex);
    if (*device) return OK;
    return nnv_rt_error(ANEURALNETWORKS_BAD_DATA, "getDevice", "there is no device %u: there are %zu", devIndex,
                        nnv_rt_device_count());
}

/* Neither is NULL. */
static int check(const ANeuralNetworksDevice *device, const void *result, const char *function) {
    if (device && result) return OK;
    return nnv_rt_error(NULL_ARGUMENT, function, "%s is NULL", device ? "the result" : "device");
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name) {
    int result = check(device, name, "Device_getName");
    if (!result) *name = device->name;
    return result;
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type) {
    int result = check(device, type, "Device_getType");
    if (result) return result;
    if (device->type < 0)
        return nnv_rt_error(ANEURALNETWORKS_OP_FAILED, "Device_getType", "the driver of %s tells no type",
                            device->name);
    *type = device->type;
    return OK;
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice *device, const char **version) {
    int result = check(device, version, "Device_getVersion");
    if (!result) *version = device->version;
    return result;
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *device, int64_t *featureLevel) {
    int result = check(device, featureLevel, "Device_getFeatureLevel");
    if (!result) *featureLevel = device->level;
    return result;
}

int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice *device, const char *extensionName,
                                              bool *isExtensionSupported) {
    int result = check(device, isExtensionSupported, "Device_getExtensionSupport");
    if (!result && !extensionName)
        result = nnv_rt_error(NULL_ARGUMENT, "Device_getExtensionSupport", "extensionName is NULL");
    if (!result) *isExtensionSupported = nnv_rt_device_extension(device, extensionName) != NULL;
    return result;
}

int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice *device) {
    static const uint64_t patience_ns = UINT64_C(2000000000);
    static const struct timespec pause = {.tv_nsec = 10000000};
    if (!device) return nnv_rt_error(NULL_ARGUMENT, "Device_wait", "device is NULL");
    struct ANeuralNetworksDevice *d = (struct ANeuralNetworksDevice *)device; /* all are the runtime's own */
    for (uint64_t since = nnv_now_ns();;) {
        enum nnvts_device_status status = d->driver->get_status(d->driver);
        if (status == NNVTS_DEVICE_AVAILABLE || status == NNVTS_DEVICE_BUSY) {
            atomic_store(&d->dead, false);
            return OK;
        }
        if (nnv_now_ns() - since > patience_ns)
            return nnv_rt_error(atomic_load(&d->dead) ? ANEURALNETWORKS_DEAD_OBJECT
                                                      : ANEURALNETWORKS_UNAVAILABLE_DEVICE,
                                "Device_wait", "%s does not come back", d->name);
        nanosleep(&pause, NULL);
    }
}
