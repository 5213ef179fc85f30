/* SPDX-License-Identifier: Apache-2.0 */
/** @file result.h Names of NNAPI's result codes, for messages. */
#ifndef NNV_BASE_RESULT_H
#define NNV_BASE_RESULT_H

/** "BAD_DATA" for a ResultCode; "result 77", written to buf, for what is none. The name lives as long as buf does. */
const char *nnv_result_name(int code, char buf[static 32]);

#endif
