/* SPDX-License-Identifier: Apache-2.0 */
/** @file relay.c See relay.h. */
#include "tests/kit/relay.h"

#include <math.h>

struct nnv_err relay_err;

struct nnv_relay_module *checked(const char *text) {
    struct nnv_relay_module *m = NULL;
    char *kept = nnv_arena_strdup(arena, text);
    if (nnv_relay_parse(kept, strlen(kept), "a.relay", arena, &m, &relay_err) != NNV_OK ||
        nnv_relay_check(m, &relay_err) != NNV_OK)
        fail_msg("%s\n%s", relay_err.text, text);
    return m;
}

/** A value of the type from the numbers at *at, which moves on; dimensions that are not known are 2. */
static struct nnv_relay_datum *datum_of(const struct nnv_relay_type *type, const char **at) {
    struct nnv_relay_datum *d = NNV_NEW(arena, struct nnv_relay_datum, 1);
    size_t bytes;
    assert_non_null(d);
    int64_t dims[NNV_RELAY_RANK];
    for (size_t i = 0; i < type->n_dims; i++) dims[i] = type->dims[i] < 0 ? 2 : type->dims[i];
    d->type = type->n_dims ? nnv_relay_tensor_type(arena, type->dtype, type->n_dims, dims) : type;
    if (type->kind == NNV_RELAY_TENSOR) {
        assert_true(nnv_relay_type_elems(d->type, &d->n, &bytes));
        d->values = NNV_NEW(arena, double, d->n);
        for (size_t i = 0; i < d->n; i++) {
            char *end;
            d->values[i] = strtod(*at, &end);
            if (end == *at) fail_msg("more numbers are needed: element %zu", i);
            *at = end;
        }
        return d;
    }
    d->n_fields = type->n_fields;
    d->fields = NNV_NEW(arena, struct nnv_relay_datum *, d->n_fields);
    for (size_t i = 0; i < d->n_fields; i++) d->fields[i] = datum_of(type->fields[i], at);
    return d;
}

enum nnv_status run_on(const struct nnv_relay_module *m, const char *numbers, const struct nnv_relay_external *external,
                       struct nnv_relay_datum **out) {
    const struct nnv_relay_expr *f = nnv_relay_find(m, "main");
    struct nnv_relay_datum *args[16];
    assert_true(f->n_params <= 16);
    for (size_t i = 0; i < f->n_params; i++) args[i] = datum_of(f->params[i]->declared, &numbers);
    if (strspn(numbers, " ") != strlen(numbers)) fail_msg("numbers are left: %s", numbers);
    return nnv_relay_run(m, "main", args, f->n_params, external, arena, out, &relay_err);
}

void equals(const struct nnv_relay_datum *d, const char **at, const char *text) {
    for (size_t i = 0; i < d->n; i++) {
        char *end;
        double wanted = strtod(*at, &end);
        if (end == *at) fail_msg("more values than wanted, from element %zu, which is %g:\n%s", i, d->values[i], text);
        *at = end;
        if (d->values[i] == wanted || (isnan(d->values[i]) && isnan(wanted)) ||
            fabs(d->values[i] - wanted) <= 1e-9 * (1 + fabs(wanted)))
            continue;
        fail_msg("element %zu is %.17g, not %.17g:\n%s", i, d->values[i], wanted, text);
    }
    for (size_t i = 0; i < d->n_fields; i++) equals(d->fields[i], at, text);
}

void module_gives(const char *text, const char *numbers, const char *wanted) {
    struct nnv_relay_datum *out = NULL;
    if (run_on(checked(text), numbers, NULL, &out) != NNV_OK) fail_msg("%s\n%s", relay_err.text, text);
    equals(out, &wanted, text);
    if (strspn(wanted, " ") != strlen(wanted)) fail_msg("fewer values than wanted: %s are left\n%s", wanted, text);
}

const char *main_of(const char *params, const char *body) {
    return nnv_arena_printf(arena, "def @main(%s) { %s }", params, body);
}

void gives(const char *params, const char *body, const char *numbers, const char *wanted) {
    module_gives(main_of(params, body), numbers, wanted);
}

void of_x(size_t n, const char *body, const char *numbers, const char *wanted) {
    gives(nnv_arena_printf(arena, "%%x: Tensor[(%zu), float32]", n), body, numbers, wanted);
}

void run_fails(const char *text, const char *numbers, enum nnv_status status, const char *part) {
    struct nnv_relay_datum *out = NULL;
    relay_err = (struct nnv_err){0};
    enum nnv_status st = run_on(checked(text), numbers, NULL, &out);
    if (st != status || strstr(relay_err.text, part) == NULL)
        fail_msg("status %d: %s\n%s", (int)st, relay_err.text, text);
}
