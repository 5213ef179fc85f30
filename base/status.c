/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void nnv_err_plain(char *text) {
    for (unsigned char *p = (unsigned char *)text; *p != '\0'; p++) {
        const bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0; /* U+0080 to U+009F in UTF-8 */
        if ((*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f || c1) *p = '?';
        if (c1) *++p = '?';
    }
}

void nnv_err_set(struct nnv_err *err, enum nnv_status status, const char *fmt, ...) {
    if (!err) return;
    err->status = status;
    va_list ap;
    va_start(ap, fmt);
    if (vsnprintf(err->text, sizeof err->text, fmt, ap) < 0) err->text[0] = '\0';
    va_end(ap);
    nnv_err_plain(err->text);
}

void nnv_err_at(struct nnv_err *err, enum nnv_status status, const char *fmt, ...) {
    if (!err) return;
    char place[NNV_ERR_TEXT], message[NNV_ERR_TEXT];
    memcpy(message, err->text, sizeof message);
    va_list ap;
    va_start(ap, fmt);
    if (vsnprintf(place, sizeof place, fmt, ap) < 0) place[0] = '\0';
    va_end(ap);
    if (snprintf(err->text, sizeof err->text, "%s: %s", place, message) < 0) err->text[0] = '\0';
    nnv_err_plain(err->text);
    err->status = status;
}
