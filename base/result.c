/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result.h"

#include <stdio.h>

#include "nnvts/ndk_results.h"

const char *nnv_result_name(int code, char buf[static 32]) {
#define X(NAME) [ANEURALNETWORKS_##NAME] = #NAME,
    static const char *const names[] = {NNVTS_NDK_RESULTS(X)};
#undef X
    if (code >= 0 && (size_t)code < sizeof names / sizeof *names) return names[code];
    snprintf(buf, 32, "result %d", code);
    return buf;
}
