/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/** U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 in UTF-8: marks that reorder text, and ends of lines. */
static bool reorders(const unsigned char *p) {
    if (p[0] != 0xe2 || p[1] == '\0') return false;
    return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
           (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

void nnv_err_plain(char *text) {
    for (unsigned char *p = (unsigned char *)text; *p != '\0'; p++) {
        const bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0; /* U+0080 to U+009F in UTF-8 */
        const size_t bytes = reorders(p) ? 3 : c1 ? 2 : (*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f ? 1 : 0;
        memset(p, '?', bytes);
        p += bytes > 0 ? bytes - 1 : 0;
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
