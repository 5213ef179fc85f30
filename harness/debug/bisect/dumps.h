/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dumps.h Results of single operations that were computed elsewhere and written to files: a vendor's simulator, a
 * debug build, another framework. A file for each, .npy or raw (.raw, .bin), called by the number of the operation:
 * 7.npy, 007_conv.raw; 7.1.npy is its second output.
 */
#ifndef NNV_DEBUG_DUMPS_H
#define NNV_DEBUG_DUMPS_H

#include "reference/model/op.h"

/**
 * Reads the files in the folder: given[i] becomes the value of operand i of the spec's main subgraph, in its own type
 * and shape (known from `like`); data is NULL where there is none. Floats stand for real numbers, whole numbers of
 * quantised operands for codes; raw data are of the operand's type, or of float32. Images may be [N,C,H,W] for
 * [N,H,W,C]. *count: files read. NNV_INVALID names a file that does not fit, or a folder without any.
 */
NNV_USE_RESULT enum nnv_status nnv_dumps_read(const char *folder, const struct nnv_spec *spec,
                                              const struct nnv_value *like, struct nnv_arena *arena,
                                              struct nnv_value *given, size_t *count, struct nnv_err *err);

#endif
