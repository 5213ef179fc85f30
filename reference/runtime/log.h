/* SPDX-License-Identifier: Apache-2.0 */
/** @file log.h What the runtime says: errors, verbose logging by tags (NNVTS_VLOG), and a Chrome trace (NNVTS_TRACE).
 */
#ifndef NNV_RUNTIME_LOG_H
#define NNV_RUNTIME_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum nnv_rt_tag {
    NNV_RT_LOG_MODEL,
    NNV_RT_LOG_COMPILATION,
    NNV_RT_LOG_EXECUTION,
    NNV_RT_LOG_CPUEXE,
    NNV_RT_LOG_MANAGER,
    NNV_RT_LOG_DRIVER,
    NNV_RT_LOG_MEMORY,
    NNV_RT_LOG_TAG_COUNT
};
/** Bits of the tags that are on, read once. */
unsigned nnv_rt_vlog_mask(void);
void nnv_rt_vlog_write(enum nnv_rt_tag tag, const char *fmt, ...) NNV_PRINTF(2, 3);
/** nnv_rt_vlog(tag, format, ...): a line on stderr if the tag is on; arguments are not evaluated otherwise. */
#define nnv_rt_vlog(tag, ...)                                                                                          \
    do {                                                                                                               \
        if (nnv_rt_vlog_mask() & 1u << (tag)) nnv_rt_vlog_write((tag), __VA_ARGS__);                                   \
    } while (0)
/** A misuse: one line "nnapi: FUNCTION: what and remedy" on stderr unless NNVTS_LOG=0; its value is code. */
int nnv_rt_error(int code, const char *function, const char *fmt, ...) NNV_PRINTF(3, 4) __attribute__((cold));
/** A misuse: a required pointer is NULL. UNEXPECTED_NULL. */
int nnv_rt_null_pointer(const char *function) __attribute__((cold));

/** The name of the function of the API that this stands in, without the prefix, for messages. */
#define NNV_RT_FUNCTION (__func__ + sizeof "ANeuralNetworks" - 1)

/** Layers of the trace. */
enum nnv_rt_layer { NNV_RT_TRACE_APPLICATION, NNV_RT_TRACE_RUNTIME, NNV_RT_TRACE_DRIVER, NNV_RT_TRACE_DEVICE };
/** Now, in ns, if NNVTS_TRACE names a file; else 0. */
uint64_t nnv_rt_trace_begin(void);
/** Writes a slice from `since` (nothing where it is 0) until now; phase as in "execution". */
void nnv_rt_trace_end(uint64_t since, enum nnv_rt_layer layer, const char *phase, const char *name);
/** A slice of known length that ends now: what a device reports of itself. */
void nnv_rt_trace_slice(uint64_t duration_ns, enum nnv_rt_layer layer, const char *phase, const char *name);

#endif
