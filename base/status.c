/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum nnv_status nnv_fail(struct nnv_err *err, enum nnv_status status, const char *fmt, ...) {
    if (!err) return status;
    err->status = status;
    va_list ap;
    va_start(ap, fmt);
    if (vsnprintf(err->text, sizeof err->text, fmt, ap) < 0) err->text[0] = '\0';
    va_end(ap);
    return status;
}

enum nnv_status nnv_at(struct nnv_err *err, enum nnv_status status, const char *fmt, ...) {
    if (!err) return status;
    char old[NNV_ERR_TEXT];
    memcpy(old, err->text, sizeof old);
    old[sizeof old - 1] = '\0';
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len < sizeof err->text) snprintf(err->text + len, sizeof err->text - len, ": %s", old);
    err->status = status;
    return status;
}
