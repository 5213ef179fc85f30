/* SPDX-License-Identifier: Apache-2.0 */
/** @file onnx_writer.h Small ONNX models for tests: values and nodes are added one by one, then written. */
#ifndef KIT_ONNX_WRITER_H
#define KIT_ONNX_WRITER_H

#include "base/text.h"
#include "mlts/onnx/onnx.h"
#include "tests/kit/test.h"

struct onnx_writer {
    struct nnv_text graph, node; /**< what is done, and the node that attributes go to */
    int64_t opset;
    uint64_t seed; /**< of the weights */
    unsigned names;
};

void ow_begin(struct onnx_writer *w, int64_t opset);
void ow_free(struct onnx_writer *w);

/** Inputs, outputs, constants. An extent of -1 is open. */
void ow_input(struct onnx_writer *w, const char *name, int type, uint32_t rank, const int64_t *dims);
void ow_output(struct onnx_writer *w, const char *name, int type, uint32_t rank, const int64_t *dims);
void ow_tensor(struct onnx_writer *w, const char *name, int type, uint32_t rank, const int64_t *dims, const void *data,
               size_t bytes);
#define OW_DIMS(...)                                                                                                   \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }
/** A list of integers; a number; weights of a standard deviation; bytes of a quantised constant. */
void ow_ints(struct onnx_writer *w, const char *name, uint32_t n, const int64_t *v);
void ow_number(struct onnx_writer *w, const char *name, float v);
void ow_weights(struct onnx_writer *w, const char *name, double deviation, uint32_t rank, const int64_t *dims);
void ow_codes(struct onnx_writer *w, const char *name, int type, int64_t code, uint32_t rank, const int64_t *dims);

/** A node; inputs and outputs are separated by blanks, "-" is an omitted one. Attributes follow. */
void ow_node(struct onnx_writer *w, const char *op, const char *in, const char *out);
void ow_attr_int(struct onnx_writer *w, const char *name, int64_t v);
void ow_attr_float(struct onnx_writer *w, const char *name, float v);
void ow_attr_string(struct onnx_writer *w, const char *name, const char *v);
void ow_attr_ints(struct onnx_writer *w, const char *name, uint32_t n, const int64_t *v);
#define OW_ATTR(w, name, ...) ow_attr_ints((w), (name), OW_DIMS(__VA_ARGS__))

/** The model's bytes; text's. */
void ow_end(struct onnx_writer *w, struct nnv_text *model);
/** Writes and imports. */
enum nnv_status ow_import(struct onnx_writer *w, struct nnv_arena *arena, struct nnv_network *net, struct nnv_err *err);

/* --------------------------------------------------------------------- networks */

/** The networks that tests over whole models take, small ones of their kind. */
enum ow_network {
    OW_MOBILENET,
    OW_RESNET,
    OW_ENCODER,
    OW_MOBILENET_INT8,
    OW_RESNET_INT8,
    OW_ENCODER_INT8,
    OW_NETWORKS
};
extern const char *const ow_network_names[OW_NETWORKS];
void ow_network(struct onnx_writer *w, enum ow_network which);

#endif
