/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file placement.h Which device does which operation of a model, as the runtime would divide it, and why; and the
 * model executed so. To be used in a process of its own: drivers are opened in it.
 */
#ifndef NNV_PLACEMENT_H
#define NNV_PLACEMENT_H

#include "base/text.h"
#include "harness/debug/extract.h"
#include "harness/judge/judge.h"
#include "reference/runtime/api/model/from_spec.h"
#include "reference/runtime/plan/plan.h"

enum { NNV_PLACEMENT_DRIVERS = 32 };

/** The devices to choose from. Zero-initialise; nnv_devices_close(). */
struct nnv_devices {
    struct nnvts_device *open[NNV_PLACEMENT_DRIVERS];
    const char *path[NNV_PLACEMENT_DRIVERS], *driver_options[NNV_PLACEMENT_DRIVERS]; /**< of those open */
    size_t open_count;
    struct ANeuralNetworksDevice *device[NNV_PLACEMENT_DRIVERS + 1];
    struct nnv_rt_plan_options options; /**< of these devices */
    bool no_cpu;                        /**< the CPU reference is left out */
};

/** Opens a driver, named as of --driver, as the next device. NNV_INVALID: it can't be opened, or stands there already.
 */
NNV_USE_RESULT enum nnv_status nnv_devices_add(struct nnv_devices *d, const char *driver, struct nnv_arena *arena,
                                               struct nnv_err *err);
/** The devices are those added, or if there are none those that the runtime finds; the CPU reference is the last unless
 * no_cpu. */
NNV_USE_RESULT enum nnv_status nnv_devices_choose(struct nnv_devices *d, bool no_cpu, int32_t preference,
                                                  struct nnv_err *err);
void nnv_devices_close(struct nnv_devices *d);

/** A model on its devices. Zero-initialise; nnv_placement_free(). */
struct nnv_placement {
    const struct nnv_devices *devices;
    struct nnv_rt_plan_options options; /**< devices->options, and what drivers may do */
    const char *only;
    struct nnv_rt_spec_model models;
    struct nnv_rt_plan *plan;
    struct nnv_rt_choice **choices; /**< one a graph; NULL where it is not planned */
    double *us; /**< median time of each operation of the main graph as a model of its own, on each device: [i * devices
                   + d], NaN where it does not take it; NULL: not measured */
    struct nnv_arena *arena;
};

/**
 * Plans a model. only: "0-11,14", the operations of the main graph that drivers may do, the rest is the CPU
 * reference's; NULL: all. NNV_UNSUPPORTED: there is no plan. All but the plan and the models is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_placement_make(const struct nnv_devices *devices, const struct nnv_model *model,
                                                  const char *only, struct nnv_arena *arena, struct nnv_placement *out,
                                                  struct nnv_err *err);
void nnv_placement_free(struct nnv_placement *p);

/** Has drivers compile their steps; the ResultCode of the first that does not. */
int nnv_placement_prepare(const struct nnv_placement *p);

/** Operations of the graphs that are planned, but for those that the runtime walks through, and those of them that a
 * driver does. */
struct nnv_placed {
    uint32_t operations, on_drivers;
};
struct nnv_placed nnv_placement_count(const struct nnv_placement *p);
/**
 * Appends why operation i (in run order) of a graph is where it is, of each driver that does not do it: "npu: not
 * supported", "npu: supported alone, but not here", "npu: needs feature level 6, has 4", "npu: costs 1.3, 12 us",
 * "npu: not among --only". Nothing where it is on the first device.
 */
void nnv_placement_why(const struct nnv_placement *p, uint32_t graph, uint32_t i, struct nnv_text *out);
/** The number of operation i (in run order) of a graph as the application added it. */
uint32_t nnv_placement_added(const struct nnv_placement *p, uint32_t graph, uint32_t i);
/** The measured time of operation i of the main graph on device d; NaN: not known. */
double nnv_placement_us(const struct nnv_placement *p, uint32_t i, int d);
/** The name of an operation. */
void nnv_placement_add_operation(int32_t type, struct nnv_text *out);

/** What became of a step of the main graph that a driver did. */
struct nnv_placed_step {
    uint32_t step;
    const char *device;
    enum nnvts_verdict verdict;
    size_t values;      /**< compared */
    const char *reason; /**< arena's; "" where it is right */
};

/** A model executed as it is placed. */
struct nnv_placed_run {
    struct nnv_result whole; /**< its outputs, judged; reason, outputs and answer are to be freed */
    struct nnv_placed_step *step;
    uint32_t steps; /**< 0: the model is one step, or an IF or WHILE that the runtime walks through */
};

/**
 * Prepares and executes the plan on the values of the spec, of which it is, and judges the outputs by the error budget;
 * and once more with all that passes between steps as outputs: then each step that a driver did is judged alone, by
 * what it was given. What the devices do wrong is a verdict and a reason.
 */
NNV_USE_RESULT enum nnv_status nnv_placement_run(const struct nnv_placement *p, const struct nnv_known *known,
                                                 struct nnv_placed_run *out, struct nnv_err *err);

#endif
