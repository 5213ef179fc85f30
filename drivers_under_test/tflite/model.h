/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.h A TensorFlow Lite model while it is made: tensors and operators, which become a flatbuffer. */
#ifndef TFLITE_MODEL_H
#define TFLITE_MODEL_H

#include "engine/engine.h"
#include "flatbuffer.h"

/** TensorType of the file format. */
enum tf_type {
    TF_FLOAT32 = 0,
    TF_FLOAT16 = 1,
    TF_INT32 = 2,
    TF_UINT8 = 3,
    TF_BOOL = 6,
    TF_INT16 = 7,
    TF_INT8 = 9,
    TF_NO_TYPE = -1,
};

struct tf_tensor {
    enum tf_type type;
    uint32_t rank;
    int32_t dims[ENGINE_MAX_RANK];
    float scale; /**< 0: not quantised, unless there are scales */
    int32_t zero_point;
    uint32_t channels, channel_dim; /**< channels 0: one scale */
    const float *scales;
    const void *value; /**< of a constant, else NULL */
    size_t bytes;
    void *own; /**< value and scales, if they are the model's; to be freed */
};

enum { TF_MOST_OPTIONS = 8 };

struct tf_operator {
    int32_t builtin, version;
    uint8_t options_tag; /**< of the union; 0: it has no options */
    uint32_t node;       /**< of the graph that it was made for */
    uint32_t option_count;
    struct fb_field options[TF_MOST_OPTIONS];
    const int32_t *option_list; /**< of the field whose bytes are 0 */
    uint32_t option_list_count;
    uint32_t first, in_count, out_count; /**< in tf_model.lists */
};

struct tf_model {
    struct tf_tensor *tensors;
    struct tf_operator *operators;
    int32_t *lists; /**< of each operator its inputs, then its outputs */
    uint32_t tensor_count, operator_count, list_count;
    bool failed; /**< out of memory */
};

void tf_model_free(struct tf_model *m);
/** Appends a tensor: its index. */
int32_t tf_add_tensor(struct tf_model *m, const struct tf_tensor *tensor);
/** Appends an operator; inputs and outputs are appended to the last one, inputs first. */
void tf_add_operator(struct tf_model *m, const struct tf_operator *op);
void tf_add_input(struct tf_model *m, int32_t tensor);
void tf_add_output(struct tf_model *m, int32_t tensor);
/** The file; in and out: its inputs and outputs. NULL: out of memory, or too large. To be freed. */
uint8_t *tf_write(const struct tf_model *m, const int32_t *in, uint32_t in_count, const int32_t *out,
                  uint32_t out_count, size_t *size);

#endif
