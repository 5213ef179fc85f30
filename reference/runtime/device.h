/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.h The devices of the runtime: drivers that were found, and the CPU reference, always last. */
#ifndef NNV_RUNTIME_DEVICE_H
#define NNV_RUNTIME_DEVICE_H

#include <stdatomic.h>

#include "NeuralNetworks.h"
#include "nnvts/driver.h"

struct nnv_err;

/** Lives as long as the process: a pointer that was given out stays valid. */
struct ANeuralNetworksDevice {
    struct nnvts_device *driver;
    const char *name, *version;
    int32_t type;              /**< DeviceTypeCode */
    int32_t driver_level;      /**< 1 to 8: the driver's, at most the runtime's */
    int64_t level;             /**< the same as a FeatureLevelCode */
    bool is_cpu;               /**< the reference, "nnapi-reference" */
    _Atomic uint64_t computed; /**< operations that it has executed, those of each execution */
    atomic_bool dead; /**< answered DEAD_OBJECT: nothing new is planned on it until it answers get_status again */
};

/** The library's feature level. */
int32_t nnv_rt_level(void);
/** FeatureLevelCode of a level, 1 to 8. */
int64_t nnv_rt_level_code(int32_t level);

/** The devices, found on first use; the CPU reference is the last. Thread-safe. */
size_t nnv_rt_device_count(void);
struct ANeuralNetworksDevice *nnv_rt_device_at(size_t index);
struct ANeuralNetworksDevice *nnv_rt_device_cpu(void);
/** Why the runtime leaves a driver out, whatever its other devices are: text of err or a literal; NULL: it takes it. */
const char *nnv_rt_device_unfit(const struct nnvts_device *driver, struct nnv_err *err);
/**
 * For tests and suites in the same process: the devices are these open drivers (borrowed) and the CPU reference, until
 * the next call; count 0 with drivers NULL goes back to those found. Devices given out before stay valid pointers.
 */
void nnv_rt_device_override(struct nnvts_device *const *drivers, size_t count);
/** Frees what overrides before the last have left: nothing may use a device of theirs any more. */
void nnv_rt_device_forget(void);

/**
 * What the devices have computed, *count entries, the calling thread's until it asks again. The one function of the
 * library that is not NNAPI's: the driver "runtime" asks it.
 */
const struct nnvts_computed *nnvts_runtime_computed(uint32_t *count);

/** False while the device is dead: it answered DEAD_OBJECT, and get_status does not say that it is back. */
bool nnv_rt_device_is_alive(struct ANeuralNetworksDevice *device);

/** Cost of one number of this type relative to the CPU's; FLT_MAX where the driver states none. */
float nnv_rt_device_cost(const struct ANeuralNetworksDevice *device, int32_t operand_type, bool relaxed,
                         int32_t preference);
/** True if the driver is at least of this level (1 to 8). */
static inline bool nnv_rt_device_has_level(const struct ANeuralNetworksDevice *d, int32_t level) {
    return d->driver_level >= level;
}
/** Notes a DEAD_OBJECT; returns the status. */
enum nnvts_status nnv_rt_device_note(struct ANeuralNetworksDevice *device, enum nnvts_status status);
/** ResultCode of a driver's status; what is no status is OP_FAILED. */
int nnv_rt_result(enum nnvts_status status);

/**
 * The prefix by which an extension's codes go in this process, the same as long as it lives: 1 to 0x7fff; whether a
 * device has the extension or not. 0: there are too many.
 */
uint16_t nnv_rt_extension_prefix(const char *name);
/** A device of now has the extension of this prefix, and all that have it agree about its types. */
bool nnv_rt_extension_is_known(uint16_t prefix);
/** The extension of a prefix that was given out, or NULL. */
const char *nnv_rt_extension_name(uint16_t prefix);
/** The extension of that name, as the device has it, or NULL. */
const struct nnvts_extension *nnv_rt_device_extension(const struct ANeuralNetworksDevice *device, const char *name);
/** True for types and operations of extensions. */
static inline bool nnv_rt_is_extension(int32_t code) { return code > 0xffff; }

/**
 * Opens the drivers that the environment names, see docs/use/runtime.md; what cannot be opened is told on stderr and
 * left out. *drivers is malloc'ed, the drivers stay open.
 */
size_t nnv_rt_find_drivers(struct nnvts_device ***drivers);

#endif
