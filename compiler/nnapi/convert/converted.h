/* SPDX-License-Identifier: Apache-2.0 */
/** @file converted.h What a function has become: a model, and how it stands to the function. */
#ifndef NNV_COMPILER_CONVERTED_H
#define NNV_COMPILER_CONVERTED_H

#include "compiler/relay/relay.h"
#include "reference/model/model.h"

struct nnv_converted {
    struct nnv_model model; /**< valid (nnv_validate), all shapes known */
    int level;              /**< the least feature level that it needs */
    uint32_t n_results;     /**< fields of the function's result, flattened */
    uint32_t *output_of;    /**< by field: number of the model's output */
    bool *from_input; /**< by field: the field is a parameter as it is; output_of is then the parameter's number */
    const char **operand_name;          /**< by operand of main: name of its Relay value ("%3", "%data"), or "" */
    const struct nnv_relay_expr **from; /**< by operation of main: the Relay call that it was made for */
};

#endif
