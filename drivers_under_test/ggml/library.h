/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file library.h A backend of ggml, opened at run time, and ggml's own library, which it brings with it. The driver
 * calls functions only and reads no struct of ggml, except the first member of a registration: its version.
 */
#ifndef GGML_LIBRARY_H
#define GGML_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What ggml_init takes. */
struct gg_memory {
    size_t bytes;
    void *at; /**< NULL: allocated */
    bool no_values;
};

enum { GG_EXTENTS = 4 }; /**< every tensor has as many, the one that varies fastest first */

typedef struct gg_tensor gg_tensor; /**< of ggml */

/** What it returns, name behind "ggml_", what it takes. */
#define GG_FUNCTIONS(X)                                                                                                \
    X(void *, init, (struct gg_memory))                                                                                \
    X(void, free, (void *context))                                                                                     \
    X(void, log_set, (void (*say)(int level, const char *text, void *user), void *user))                               \
    X(void *, set_abort_callback, (void (*say)(const char *text)))                                                     \
    X(size_t, tensor_overhead, (void))                                                                                 \
    X(size_t, graph_overhead_custom, (size_t nodes, bool gradients))                                                   \
    X(size_t, element_size, (const gg_tensor *))                                                                       \
    X(int64_t, nelements, (const gg_tensor *))                                                                         \
    X(const char *, op_desc, (const gg_tensor *))                                                                      \
    X(gg_tensor *, new_tensor, (void *context, int type, int rank, const int64_t *extents))                            \
    X(void, set_input, (gg_tensor *))                                                                                  \
    X(void, set_output, (gg_tensor *))                                                                                 \
    X(void *, new_graph_custom, (void *context, size_t nodes, bool gradients))                                         \
    X(void, build_forward_expand, (void *graph, gg_tensor *))                                                          \
    X(void *, gallocr_new, (void *buffer_type))                                                                        \
    X(bool, gallocr_alloc_graph, (void *allocator, void *graph))                                                       \
    X(void, gallocr_free, (void *allocator))                                                                           \
    X(void *, backend_alloc_ctx_tensors, (void *context, void *backend))                                               \
    X(void, backend_buffer_free, (void *buffer))                                                                       \
    X(void *, backend_get_default_buffer_type, (void *backend))                                                        \
    X(const char *, backend_reg_name, (void *registration))                                                            \
    X(size_t, backend_reg_dev_count, (void *registration))                                                             \
    X(void *, backend_reg_dev_get, (void *registration, size_t i))                                                     \
    X(void *, backend_reg_get_proc_address, (void *registration, const char *name))                                    \
    X(const char *, backend_dev_name, (void *device))                                                                  \
    X(bool, backend_dev_supports_op, (void *device, const gg_tensor *))                                                \
    X(void *, backend_dev_init, (void *device, const char *parameters))                                                \
    X(void, backend_free, (void *backend))                                                                             \
    X(void, backend_tensor_set, (gg_tensor *, const void *data, size_t offset, size_t bytes))                          \
    X(void, backend_tensor_get, (const gg_tensor *, void *data, size_t offset, size_t bytes))                          \
    X(int, backend_graph_compute, (void *backend, void *graph))                                                        \
    X(gg_tensor *, reshape_4d, (void *context, gg_tensor *, int64_t, int64_t, int64_t, int64_t))                       \
    X(gg_tensor *, permute, (void *context, gg_tensor *, int, int, int, int))                                          \
    X(gg_tensor *, view_4d,                                                                                            \
      (void *context, gg_tensor *, int64_t, int64_t, int64_t, int64_t, size_t, size_t, size_t, size_t offset))         \
    X(gg_tensor *, cast, (void *context, gg_tensor *, int type))                                                       \
    X(gg_tensor *, clamp, (void *context, gg_tensor *, float least, float most))                                       \
    X(gg_tensor *, concat, (void *context, gg_tensor *, gg_tensor *, int axis))                                        \
    X(gg_tensor *, repeat_4d, (void *context, gg_tensor *, int64_t, int64_t, int64_t, int64_t))                        \
    X(gg_tensor *, soft_max_ext, (void *context, gg_tensor *, gg_tensor *mask, float scale, float max_bias))           \
    X(gg_tensor *, l2_norm, (void *context, gg_tensor *, float epsilon))                                               \
    X(gg_tensor *, norm, (void *context, gg_tensor *, float epsilon))                                                  \
    X(gg_tensor *, scale_bias, (void *context, gg_tensor *, float scale, float bias))                                  \
    X(gg_tensor *, im2col,                                                                                             \
      (void *context, gg_tensor *filter, gg_tensor *image, int, int, int, int, int dilation_w, int dilation_h,         \
       bool is_2d, int type))                                                                                          \
    X(gg_tensor *, conv_2d_dw_direct,                                                                                  \
      (void *context, gg_tensor *filter, gg_tensor *image, int, int, int, int, int dilation_w, int dilation_h))        \
    X(gg_tensor *, pool_2d, (void *context, gg_tensor *, int kind, int, int, int, int, float, float))                  \
    X(gg_tensor *, interpolate, (void *context, gg_tensor *, int64_t, int64_t, int64_t, int64_t, uint32_t mode))       \
    X(gg_tensor *, pad_ext, (void *context, gg_tensor *, int, int, int, int, int, int, int, int))

struct gg_library {
    void *handle;
    void *registration, *device;                     /**< of the backend */
    void (*set_threads)(void *backend, int threads); /**< NULL: it has none */
#define X(RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;
    GG_FUNCTIONS(X)
#undef X
};

/**
 * Opens a backend: `lib` is its file, or a folder of backends, or NULL for the one that setup brought; `backend` names
 * one of the folder ("cpu-haswell": libggml-cpu-haswell.so), or NULL for that of the CPU which suits this machine best;
 * `device` names one of its devices, or NULL for the first. A static string says why it can't; NULL: it is.
 */
const char *gg_open_library(const char *lib, const char *backend, const char *device, struct gg_library *out);

#endif
