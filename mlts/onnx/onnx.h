/* SPDX-License-Identifier: Apache-2.0 */
/** @file onnx.h ONNX models as NNAPI models, and ONNX's test folders as specs. */
#ifndef NNV_MLTS_ONNX_H
#define NNV_MLTS_ONNX_H

#include "mlts/networks/network.h"
#include "mlts/onnx/onnx_file.h"

/** True if the path is called .onnx. */
bool nnv_is_onnx(const char *path);

/** An output that follows from constants and shapes alone: no part of the model, whose outputs are computed. */
struct nnv_onnx_known {
    uint32_t output; /**< of the file */
    struct nnv_operand value;
};

/** What became of the file's inputs and outputs. */
struct nnv_onnx_map {
    uint32_t *in;  /**< by input of the model: number of the file's */
    uint32_t *out; /**< by output of the model */
    uint32_t nknown;
    struct nnv_onnx_known *known;
};

/**
 * Converts a model. where names it in errors; name, origin and task are left to the caller. All memory is arena's and
 * data need not outlive the call. The model passes nnv_validate(). What is known when the file is read is computed
 * then: shapes, folded weights; inputs that nothing needs are left out.
 * given: values for the file's inputs, one each, entries may be NULL; or NULL. They say what extents an input has that
 * the file leaves open (else 1), and inputs that NNAPI must know when the model is made (axes, shapes, scales) become
 * constants. map may be NULL.
 * NNV_INVALID: the file is damaged, one error with its place; NNV_UNSUPPORTED: names all operators that have no equal
 * in NNAPI, with how often they stand in the file.
 */
NNV_USE_RESULT enum nnv_status nnv_onnx_import(const void *data, size_t size, const char *where,
                                               const struct nnv_onnx_tensor *const *given, struct nnv_arena *arena,
                                               struct nnv_network *net, struct nnv_onnx_map *map, struct nnv_err *err);

/**
 * Test data that lie beside the file: folders test_data_set_0, _1 ... of a "model.onnx"; of a "NAME.onnx" the files
 * NAME_input_0.pb, NAME_output_0.pb ... as one set. 0: none.
 */
uint32_t nnv_onnx_test_count(const char *path);
/**
 * The file with the inputs and expected outputs of a test as a spec, which is judged by the error budget; where the
 * inputs are not given (ONNX's networks with constant weights: 0, 1/n, 2/n ... then) by the expected outputs. The
 * golden result has been compared with the expected outputs: where they disagree by more than ONNX's own tests allow
 * (1e-3 relative, 1e-7 absolute; a unit of quantised numbers), NNV_INVALID says where. All is arena's. The spec has no
 * name.
 */
NNV_USE_RESULT enum nnv_status nnv_onnx_test(const char *path, uint32_t set, struct nnv_arena *arena,
                                             struct nnv_spec *spec, struct nnv_err *err);

#endif
