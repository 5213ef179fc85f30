/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.h The device and the prepared models of this driver: the other driver's, with the bug in between. */
#ifndef NNVTS_FAULTY_DEVICE_H
#define NNVTS_FAULTY_DEVICE_H

#include <stdatomic.h>

#include "faulty.h"

struct faulty_device {
    struct nnvts_device base;
    struct nnvts_device *inner;
    const struct bug *bug;
    int32_t op;
    char name[96];
    atomic_ullong executions;
};

struct faulty_prepared {
    struct nnvts_prepared_model base;
    struct nnvts_prepared_model *inner;
    struct faulty_device *device;
    bool fires;     /**< the bug concerns this model */
    bool rewritten; /**< the inner driver got another model */
    void *state;    /**< the bug's own */
    uint32_t nin, nout;
    struct signature {
        int32_t type;
        float scale;
        int32_t zero_point;
        uint32_t rank, dims[4];
        bool fixed; /**< all extents are known, and here */
    } * inputs, *outputs;
};

/** Puts the functions of calls.c into the device, those that the other driver has. */
void faulty_device_calls(struct faulty_device *d);
/** A prepared model round the other driver's, whose model this is; NULL when out of memory. prepared.c. */
struct faulty_prepared *faulty_wrap(struct faulty_device *d, const struct nnvts_model *model,
                                    struct nnvts_prepared_model *inner);
/** The bug concerns a model with its operation. */
bool faulty_fires(const struct faulty_device *d, const struct nnvts_model *model);
/** Goes through with a call: the bug, the other driver by `ask`, the bug; the answer. */
enum nnvts_status faulty_call(struct call *c, void (*ask)(struct call *c));

#endif
