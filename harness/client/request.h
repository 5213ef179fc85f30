/* SPDX-License-Identifier: Apache-2.0 */
/** @file request.h A request: inputs in one pool, room for the outputs in another, all between guard zones. */
#ifndef NNV_CLIENT_REQUEST_H
#define NNV_CLIENT_REQUEST_H

#include "harness/client/memory.h"
#include "reference/model/model.h"

/** The arguments of one execution, and what it answers. */
struct nnv_request {
    const struct nnv_fixture *fixture; /**< the caller's, to judge the answer by; not read here */
    const struct nnv_model *model;
    const struct nnv_value *in;  /**< the model's inputs; an omitted one has no memory */
    const struct nnv_value *out; /**< shapes and sizes that the outputs are expected to have; values are not read */
    struct nnvts_request abi;
    struct nnvts_argument *inputs, *outputs; /**< abi's; the caller may change them */
    struct nnvts_memory pools[2];            /**< of inputs and of outputs; abi's */
    size_t bytes[2];                         /**< that the pools need */
    uint8_t *pool_data[2];                   /**< where nnvts writes them */
    uint8_t **input_at, **output_at;         /**< bytes of each argument where nnvts writes; NULL: omitted */
    struct nnvts_location *output_places;    /**< of outputs, as nnv_request_reset() puts them */
    struct nnvts_execution_result result;
    uint32_t *dims; /**< of result.shapes: NNV_MAX_RANK an output */
};

/** Prepares a request of all but its memory, whose sizes it tells. All is arena's. NNV_INVALID beyond 4 GiB. */
NNV_USE_RESULT enum nnv_status nnv_request_init(struct nnv_request *r, const struct nnv_model *model,
                                                const struct nnv_value *in, const struct nnv_value *out,
                                                struct nnv_arena *arena, struct nnv_err *err);
/** Gives it pools of these sizes, lays the arguments out, fills and resets it. The outputs' pool becomes writable. */
void nnv_request_place(struct nnv_request *r, const struct nnv_abi_pool *in, const struct nnv_abi_pool *out);
/** Puts these inputs, of the sizes of those before, into its memory. */
void nnv_request_fill(struct nnv_request *r, const struct nnv_value *in);
/** Poisons the outputs and empties the result, for another execution. */
void nnv_request_reset(struct nnv_request *r);
/** Empties the result alone: outputs hold what the last execution wrote. */
void nnv_request_empty(struct nnv_request *r);
/** Says the shapes of the outputs in the request, or (false) leaves them to the model. */
void nnv_request_state_outputs(struct nnv_request *r, bool state);
/** Says the shapes that the model leaves open where the device is of a feature level that does not find them out. */
void nnv_request_suit(struct nnv_request *r, const struct nnvts_device *device);
/** True if the driver's interface has no words for one of the inputs, *which; NNVTS_LIMIT_NO_EMPTY_INPUTS. */
bool nnv_inputs_beyond_limits(const struct nnvts_device *device, const struct nnv_model *model,
                              const struct nnv_value *in, uint32_t *which);
/** Neither the model nor the request tells the whole shape of output i. */
bool nnv_request_leaves_open(const struct nnv_request *r, uint32_t i);
/** What an output of so many bytes holds before it is written. */
void nnv_request_poison(uint32_t output, size_t bytes, void *to);

#endif
