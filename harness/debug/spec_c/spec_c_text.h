/* SPDX-License-Identifier: Apache-2.0 */
/** @file spec_c_text.h Lines of the programs that nnv_spec_write_c() writes; each list ends with NULL. */
#ifndef NNV_DEBUG_SPEC_C_TEXT_H
#define NNV_DEBUG_SPEC_C_TEXT_H

#include <stddef.h>

/** Of both dialects: behind the head, and behind the model. */
extern const char *const nnv_c_values[], *const nnv_c_check[];
extern const char *const nnv_c_driver_head[], *const nnv_c_driver_run[];
extern const char *const nnv_c_ndk_head[], *const nnv_c_ndk_run[];

#endif
