/* SPDX-License-Identifier: Apache-2.0 */
/* Errors at a place of a text: line, column, and the line with a caret. */
#include <stdarg.h>

#include "compiler/relay/relay.h"

enum { SHOWN = 96, BEFORE = 60 }; /* bytes of a long line that are shown, and of these before the place */

static bool continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The line of the place, or the part of it around the place, and a caret below. */
static void show_line(const struct nnv_relay_module *m, const struct nnv_relay_span *span, struct nnv_text *out) {
    const char *at = m->text + span->offset, *start = at, *end = at, *last = m->text + m->text_len;
    while (start > m->text && start[-1] != '\n' && at - start < BEFORE) start--;
    while (start < at && continues(*start)) start++;
    while (end < last && *end != '\n' && *end != '\r' && end - start < SHOWN) end++;
    while (end > at && end < last && continues(*end)) end--;
    nnv_text_add(out, "\n  ");
    for (const char *p = start; p < end; p++) {
        bool control = (unsigned char)*p < ' ' || *p == 127;
        nnv_text_add_n(out, control ? " " : p, 1);
    }
    nnv_text_add(out, "\n  ");
    for (const char *p = start; p < at; p++)
        if (!continues(*p)) nnv_text_add(out, " ");
    nnv_text_add(out, "^");
}

enum nnv_status nnv_relay_fail(const struct nnv_relay_module *m, const struct nnv_relay_span *span, struct nnv_err *err,
                               const char *format, ...) {
    struct nnv_text t = {0};
    va_list ap;
    if (span->line) nnv_text_addf(&t, "%s:%u:%u: ", m->file, (unsigned)span->line, (unsigned)span->column);
    va_start(ap, format);
    nnv_text_vaddf(&t, format, ap);
    va_end(ap);
    if (span->line && m->text && span->offset <= m->text_len) show_line(m, span, &t);
    (void)nnv_fail(err, NNV_INVALID, "%s", t.data && !t.failed ? t.data : NNV_OUT_OF_MEMORY);
    nnv_text_free(&t);
    return NNV_INVALID;
}
