/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the spec reader: file, place in the document, what was expected and what is there. */
#include <stdarg.h>

#include "base/text.h"
#include "reference/spec/read.h"

enum { MOST_SHOWN = 40 };

/* "main.operands[3].type" */
static void add_path(struct nnv_text *t, const struct nnv_path *where) {
    if (where->up) add_path(t, where->up);
    if (where->key)
        nnv_text_addf(t, "%s%s", where->up ? "." : "", where->key);
    else
        nnv_text_addf(t, "[%zu]", where->index);
}

static void add_found(struct nnv_text *t, const json_t *got) {
    if (!got) {
        nnv_text_add(t, "nothing");
        return;
    }
    switch (json_typeof(got)) {
    case JSON_OBJECT:
        nnv_text_add(t, "an object");
        return;
    case JSON_ARRAY:
        nnv_text_addf(t, "an array of %zu", json_array_size(got));
        return;
    case JSON_STRING:
        nnv_text_addf(t, "'%.*s'%s", MOST_SHOWN, json_string_value(got),
                      json_string_length(got) > MOST_SHOWN ? "..." : "");
        return;
    case JSON_INTEGER:
        nnv_text_addf(t, "%lld", (long long)json_integer_value(got));
        return;
    case JSON_REAL:
        nnv_text_add_double(t, json_real_value(got));
        return;
    case JSON_TRUE:
        nnv_text_add(t, "true");
        return;
    case JSON_FALSE:
        nnv_text_add(t, "false");
        return;
    case JSON_NULL:
        nnv_text_add(t, "null");
        return;
    }
}

/* Sets the error from a finished message; frees it. */
static enum nnv_status report(const struct nnv_reader *r, const struct nnv_path *where, enum nnv_status status,
                              struct nnv_text *message) {
    struct nnv_text path = {0};
    add_path(&path, where);
    nnv_fail(r->err, status, "%s: %s: %s", r->where, path.data ? path.data : "?",
             message->data ? message->data : NNV_OUT_OF_MEMORY);
    nnv_text_free(&path);
    nnv_text_free(message);
    return status;
}

enum nnv_status nnv_spec_bad(const struct nnv_reader *r, const struct nnv_path *where, const json_t *got,
                             const char *expected, ...) {
    struct nnv_text message = {0};
    nnv_text_add(&message, "expected ");
    va_list ap;
    va_start(ap, expected);
    nnv_text_vaddf(&message, expected, ap);
    va_end(ap);
    nnv_text_add(&message, ", got ");
    add_found(&message, got);
    return report(r, where, NNV_INVALID, &message);
}

enum nnv_status nnv_spec_refuse(const struct nnv_reader *r, const struct nnv_path *where, enum nnv_status status,
                                const char *fmt, ...) {
    struct nnv_text message = {0};
    va_list ap;
    va_start(ap, fmt);
    nnv_text_vaddf(&message, fmt, ap);
    va_end(ap);
    return report(r, where, status, &message);
}
