/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert.c See convert.h. */
#include "tests/kit/convert.h"

#include <math.h>

struct nnv_relay_datum *random_datum(const struct nnv_relay_expr *param, uint64_t seed) {
    struct nnv_relay_datum *d = nnv_relay_datum_random(param->declared, seed, arena);
    assert_non_null(d);
    for (size_t i = 0; i < d->n && param->name[0] == 'i'; i++) d->values[i] = (double)((i * 7 + 1) % 3);
    for (size_t i = 0; i < d->n && (param->name[0] == 'p' || param->name[1] == 'p'); i++)
        d->values[i] = (double)(float)(fabs(d->values[i]) + 0.125);
    for (size_t i = 0; i < d->n && param->declared->dtype == NNV_RELAY_INT32 && param->name[0] != 'i'; i++)
        d->values[i] = fmod(d->values[i], 1000);
    return d;
}

struct conversion program(const char *text) {
    struct conversion c = {.m = checked(text)};
    struct nnv_relay_param bound[32];
    struct nnv_relay_params params = {bound, 0};
    c.f = nnv_relay_find(c.m, "main");
    for (size_t i = 0; i < c.f->n_params; i++) {
        const struct nnv_relay_expr *p = c.f->params[i];
        if (p->name[0] != 'k') continue;
        struct nnv_relay_datum *d = random_datum(p, i + 100);
        struct nnv_relay_tensor *t = NNV_NEW(arena, struct nnv_relay_tensor, 1);
        size_t n, bytes;
        assert_true(nnv_relay_type_elems(p->declared, &n, &bytes));
        void *data = nnv_arena_alloc(arena, bytes, 1);
        nnv_relay_datum_write(d, data);
        *t = (struct nnv_relay_tensor){p->declared, data, bytes};
        bound[params.n++] = (struct nnv_relay_param){p->name, t};
    }
    if (nnv_relay_params_bind(c.m, &params, &relay_err) != NNV_OK || nnv_relay_check(c.m, &relay_err) != NNV_OK)
        fail_msg("%s\n%s", relay_err.text, text);
    c.f = nnv_relay_find(c.m, "main");
    return c;
}

struct conversion converted(const char *text, int level) {
    struct conversion c = program(text);
    const struct nnv_convert_options options = {.level = level};
    relay_err = (struct nnv_err){0};
    c.st = nnv_convert(c.m, c.f, &options, arena, &c.out, &relay_err);
    return c;
}

const char *operations(const struct conversion *c) {
    const char *text = "";
    for (uint32_t i = 0; i < c->out.model.main.noperations; i++)
        text =
            nnv_arena_printf(arena, "%s%s%s", text, i ? " " : "", nnv_op(c->out.model.main.operations[i].type)->name);
    return text;
}

size_t flat(struct nnv_relay_datum *d, struct nnv_relay_datum **to) {
    size_t n = 0;
    if (d->type->kind == NNV_RELAY_TENSOR) {
        to[0] = d;
        return 1;
    }
    for (size_t i = 0; i < d->n_fields; i++) n += flat(d->fields[i], to + n);
    return n;
}

double difference(const struct nnv_relay_datum *d, const struct nnv_golden *g, const struct nnv_operand *o) {
    double worst = 0;
    double *stored = NNV_NEW(arena, double, d->n);
    nnv_load(o->type, g->value.data, d->n, stored);
    for (size_t i = 0; i < d->n; i++) {
        bool floats = nnv_is_float(o->type);
        double is = floats ? g->exact[i] : stored[i], by = fabs(is - d->values[i]);
        if (isnan(is) && isnan(d->values[i])) continue;
        if (is == d->values[i]) continue;
        if (floats) by /= 1e-3 + fabs(d->values[i]);
        if (by == 1 && nnv_is_quant(o->type)) { /* halves may be rounded either way */
            double code = g->exact[i] / (double)o->scale;
            if (fabs(code - floor(code) - 0.5) < 1e-4) continue;
        }
        if (!(by <= worst)) worst = by;
    }
    return worst;
}

double compare(const char *text, int level, const char *ops) {
    struct conversion c = converted(text, level);
    if (c.st != NNV_OK) fail_msg("%s\n%s", relay_err.text, text);
    if (ops) {
        if (strcmp(operations(&c), ops) != 0) fail_msg("%s, not %s\n%s", operations(&c), ops, text);
    }
    assert_true(c.out.level <= (level ? level : 7));
    struct nnv_relay_datum *args[16], *result = NULL, *fields[32], *inputs[32];
    size_t n_in = 0;
    for (size_t i = 0; i < c.f->n_params; i++) {
        args[i] = random_datum(c.f->params[i], i + 1);
        n_in += flat(args[i], inputs + n_in);
    }
    if (nnv_relay_run(c.m, "main", args, c.f->n_params, NULL, arena, &result, &relay_err) != NNV_OK)
        fail_msg("%s\n%s", relay_err.text, text);
    const struct nnv_subgraph *s = &c.out.model.main;
    struct nnv_value *given = NNV_NEW(arena, struct nnv_value, n_in);
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, s->nout);
    assert_int_equal(n_in, s->nin);
    for (size_t i = 0; i < n_in; i++) {
        const struct nnv_operand *o = &s->operands[s->in[i]];
        given[i] = (struct nnv_value){.rank = o->rank};
        memcpy(given[i].dims, o->dims, o->rank * sizeof *o->dims);
        given[i].bytes = inputs[i]->n * nnv_type(o->type)->size;
        given[i].data = nnv_arena_alloc(arena, given[i].bytes, 1);
        nnv_relay_datum_write(inputs[i], given[i].data);
    }
    const struct nnv_eval_options options = {0};
    if (nnv_eval(&c.out.model, given, &options, arena, golden, &relay_err) != NNV_OK)
        fail_msg("%s\n%s", relay_err.text, text);
    double worst = 0;
    size_t n = flat(result, fields);
    assert_int_equal(n, c.out.n_results);
    for (size_t i = 0; i < n; i++) {
        if (c.out.from_input[i]) {
            assert_ptr_equal(fields[i]->values, inputs[c.out.output_of[i]]->values);
            continue;
        }
        uint32_t k = c.out.output_of[i];
        assert_int_equal(fields[i]->n * nnv_type(s->operands[s->out[k]].type)->size, golden[k].value.bytes);
        double by = difference(fields[i], &golden[k], &s->operands[s->out[k]]);
        if (!(by <= worst)) worst = by;
    }
    return worst;
}

void same_at(const char *params, const char *body, int level, const char *ops) {
    const char *text = main_of(params, body);
    double by = compare(text, level, ops);
    if (!(by <= (strchr(ops, ' ') ? 1e-6 : 1e-9))) fail_msg("the model differs from the program by %g:\n%s", by, text);
}

void same(const char *params, const char *body, const char *ops) { same_at(params, body, 0, ops); }

void near_to(const char *params, const char *body, double most, const char *ops) {
    const char *text = main_of(params, body);
    double by = compare(text, 0, ops);
    if (!(by <= most)) fail_msg("the model differs from the program by %g:\n%s", by, text);
}

void refused_at(const char *params, const char *body, int level, const char *part) {
    const char *text = main_of(params, body);
    struct conversion c = converted(text, level);
    if (c.st != NNV_UNSUPPORTED || !strstr(relay_err.text, part) || !strstr(relay_err.text, "a.relay:1:"))
        fail_msg("status %d: %s\n%s", (int)c.st, relay_err.text, text);
}

void refused(const char *params, const char *body, const char *part) { refused_at(params, body, 0, part); }
