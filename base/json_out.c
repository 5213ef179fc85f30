/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"

/* What stands before a value: comma, line or space, and name. */
static void begin(struct nnv_json_out *j, const char *name) {
    if (j->inside) nnv_text_add(j->text, ",");
    if (j->line)
        nnv_text_add(j->text, j->line);
    else if (j->inside && j->spaced)
        nnv_text_add(j->text, " ");
    j->line = NULL;
    j->inside = true;
    if (!name) return;
    nnv_text_add_json(j->text, name);
    nnv_text_add(j->text, j->spaced ? ": " : ":");
}

void nnv_json_open(struct nnv_json_out *j, const char *name, char bracket) {
    begin(j, name);
    nnv_text_add_n(j->text, &bracket, 1);
    j->inside = false;
}

void nnv_json_close(struct nnv_json_out *j, char bracket) {
    if (j->line) nnv_text_add(j->text, j->line);
    j->line = NULL;
    nnv_text_add_n(j->text, &bracket, 1);
    j->inside = true;
}

void nnv_json_string(struct nnv_json_out *j, const char *name, const char *s) {
    begin(j, name);
    nnv_text_add_json(j->text, s);
}

void nnv_json_uint(struct nnv_json_out *j, const char *name, uint64_t v) {
    begin(j, name);
    nnv_text_add_uint(j->text, v);
}

void nnv_json_bool(struct nnv_json_out *j, const char *name, bool v) {
    begin(j, name);
    nnv_text_add(j->text, v ? "true" : "false");
}

void nnv_json_double(struct nnv_json_out *j, const char *name, double v) {
    begin(j, name);
    nnv_text_add_double(j->text, v);
}

void nnv_json_float(struct nnv_json_out *j, const char *name, float v) {
    begin(j, name);
    nnv_text_add_float(j->text, v);
}

void nnv_json_raw(struct nnv_json_out *j, const char *name, const char *format, ...) {
    va_list ap;
    begin(j, name);
    va_start(ap, format);
    nnv_text_vaddf(j->text, format, ap);
    va_end(ap);
}
