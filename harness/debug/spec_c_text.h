/* SPDX-License-Identifier: Apache-2.0 */
/** @file spec_c_text.h Lines of the programs that nnv_spec_write_c() writes; each list ends with NULL. */
#ifndef NNV_DEBUG_SPEC_C_TEXT_H
#define NNV_DEBUG_SPEC_C_TEXT_H

#include <stddef.h>

extern const char *const nnv_c_head[], *const nnv_c_check[], *const nnv_c_run[], *const nnv_c_main[];

#endif
