/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX models: one clear error, or a network whose model is valid. */
#include "mlts/onnx/onnx.h"
#include "reference/model/validate.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nnv_arena *arena = scratch();
    struct nnv_network net;
    struct nnv_err err = {0};
    enum nnv_status st = nnv_onnx_import(data, size, "fuzz", NULL, arena, &net, NULL, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    MUST(st == NNV_OK || st == NNV_INVALID || st == NNV_UNSUPPORTED);
    if (st == NNV_OK) MUST(nnv_validate(&net.model, arena, NULL, &err) == NNV_OK);
    return 0;
}
