/* SPDX-License-Identifier: Apache-2.0 */
/** @file recurrent.h What the recurrent operations share; all data are float32. */
#ifndef CPU_RECURRENT_H
#define CPU_RECURRENT_H

#include "driver/op.h"

/** Activation codes beyond those of FuseCode. */
enum { CPU_ACT_TANH = 4, CPU_ACT_SIGMOID = 6 };

/** The activation code at an input is legal, absent or not known yet. */
bool cpu_recurrent_activation_ok(const struct cpu_call *c, uint32_t input);
/** In place. */
void cpu_recurrent_activate(const struct cpu_kernels *kernels, int32_t activation, size_t n, float *x);
/** y[batch, units] += x[batch, inputs] * weights[units, inputs]^T. */
void cpu_recurrent_product(const struct cpu_kernels *kernels, const struct cpu_tensor *weights, size_t batch,
                           const float *x, float *y);
/** A sequence as [time, batch, values]: t's own data if that is its layout (major), or a copy from [batch, time,
 * values] in scratch memory; NULL without memory. */
const float *cpu_recurrent_in(struct cpu_run *run, const struct cpu_tensor *t, bool time_major);
/** Where to write [time, batch, values]: out's data, or scratch memory that cpu_recurrent_done brings into its order.
 */
float *cpu_recurrent_out(struct cpu_run *run, const struct cpu_tensor *out, bool time_major);
void cpu_recurrent_done(struct cpu_run *run, const struct cpu_tensor *out, bool time_major, const float *data);

#endif
