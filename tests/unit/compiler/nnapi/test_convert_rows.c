/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every row of the converter: a program that converts at the row's level, gives what the interpreter gives, and is
 * refused one level below; and docs/compile/compiling.md, which says what the rows say.
 */
#include "tests/kit/convert.h"
#include "tests/kit/convert_programs.h"

#include "base/file.h"
#include "compiler/nnapi/convert/convert_in.h"
#include "compiler/relay/ops/ops.h"
#include "compiler/nnapi/decompile/decompile.h"

/* An operation of a model that the row does not name, beside changes of shape, which any may need; NULL: there is none.
 */
static const char *unnamed(const struct conversion *c, const char *makes) {
    for (uint32_t i = 0; i < c->out.model.main.noperations; i++) {
        const char *name = nnv_op(c->out.model.main.operations[i].type)->name, *at = strstr(makes, name);
        if (!at && strcmp(name, "RESHAPE") != 0 && strcmp(name, "TRANSPOSE") != 0) return name;
    }
    return NULL;
}

static void test_rows(void **state) {
    (void)state;
    const struct nnv_rc_row *row;
    size_t n = 0;
    for (; (row = nnv_rc_row_at(n)); n++) {
        size_t i = program_of(row->name);
        const char *text = main_of(programs[i].params, programs[i].body);
        double by = compare(text, row->level, NULL);
        bool quantised = strncmp(row->name, "qnn.", 4) == 0;
        if (!(by <= (quantised ? 1 : 1e-4))) fail_msg("%s differs by %g", row->name, by);
        struct conversion c = converted(text, row->level);
        const char *other = unnamed(&c, row->makes);
        if (row->makes[0] != '(' && other) fail_msg("%s becomes %s, which its row does not name", row->name, other);
        if (row->level == 1) continue;
        c = converted(text, row->level - 1);
        if (c.st != NNV_UNSUPPORTED || !strstr(relay_err.text, "level"))
            fail_msg("%s at level %d: status %d, %s", row->name, row->level - 1, (int)c.st, relay_err.text);
    }
    assert_int_equal(n, program_count);
    assert_true(n >= 60);
}

static const char *replaced(const char *text, const char *old, const char *now) {
    struct nnv_text t = {0};
    for (const char *at; (at = strstr(text, old)); text = at + strlen(old)) {
        nnv_text_add_n(&t, text, (size_t)(at - text));
        nnv_text_add(&t, now);
    }
    nnv_text_add(&t, text);
    const char *kept = nnv_arena_strdup(arena, t.data);
    nnv_text_free(&t);
    return kept;
}

/* Each row takes the types that it names, and no others that the operator itself takes. */
static void test_types(void **state) {
    (void)state;
    static const enum nnv_relay_dtype types[] = {NNV_RELAY_FLOAT16, NNV_RELAY_INT32, NNV_RELAY_INT8,
                                                 NNV_RELAY_UINT8,   NNV_RELAY_INT64, NNV_RELAY_FLOAT64};
    const struct nnv_rc_row *row;
    size_t tried = 0;
    for (size_t n = 0; (row = nnv_rc_row_at(n)); n++) {
        size_t i = program_of(row->name);
        if (strstr(programs[i].params, "bool") || strstr(programs[i].params, "uint8")) continue;
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            const char *params = replaced(programs[i].params, "float32", nnv_relay_dtype_name(types[k]));
            const char *text = main_of(params, programs[i].body);
            struct nnv_relay_module *m = NULL;
            if (nnv_relay_parse(text, strlen(text), "a.relay", arena, &m, NULL) != NNV_OK ||
                nnv_relay_check(m, NULL) != NNV_OK)
                continue; /* the operator has no such type */
            struct conversion c = converted(text, 0);
            bool named = row->types >> types[k] & 1;
            if (strstr(relay_err.text, "bilinear means of integers")) continue; /* the row is right for the nearest */
            if ((c.st == NNV_OK) != named)
                fail_msg("%s of %s: %s", row->name, nnv_relay_dtype_name(types[k]),
                         named ? relay_err.text : "converts");
            tried++;
        }
    }
    assert_true(tried > 200);
}

/* The program of a row gives what its model gives as a Relay program again; false: the model has no Relay form. */
static bool decompiles(size_t i, const struct nnv_rc_row *row) {
    const char *text = main_of(programs[i].params, programs[i].body);
    struct conversion c = converted(text, 0);
    struct nnv_relay_module *m = NULL;
    struct nnv_relay_datum *args[16], *before = NULL, *after = NULL, *a[32], *b[32];
    enum nnv_status st = nnv_decompile(&c.out.model, NULL, arena, &m, &relay_err);
    if (st == NNV_UNSUPPORTED) return false;
    if (st != NNV_OK) fail_msg("%s: %s", row->name, relay_err.text);
    for (size_t k = 0; k < c.f->n_params; k++) args[k] = random_datum(c.f->params[k], k + 1);
    if (nnv_relay_run(c.m, "main", args, c.f->n_params, NULL, arena, &before, &relay_err) != NNV_OK ||
        nnv_relay_run(m, "main", args, c.f->n_params, NULL, arena, &after, &relay_err) != NNV_OK)
        fail_msg("%s: %s", row->name, relay_err.text);
    size_t n = flat(before, a), outputs = flat(after, b);
    assert_int_equal(outputs, c.out.model.main.nout);
    for (size_t k = 0; k < n; k++) {
        if (c.out.from_input[k]) continue;
        const struct nnv_relay_datum *was = a[k], *is = b[c.out.output_of[k]];
        assert_int_equal(was->n, is->n);
        double most = nnv_relay_dtype_is_float(was->type->dtype) ? 1e-4 : strncmp(row->name, "qnn.", 4) == 0 ? 1 : 0;
        for (size_t j = 0; j < was->n; j++)
            if (fabs(was->values[j] - is->values[j]) > most * (1 + (most < 1 ? fabs(was->values[j]) : 0)))
                fail_msg("%s: element %zu is %g, not %g", row->name, j, is->values[j], was->values[j]);
    }
    /* and it converts again */
    const struct nnv_convert_options options = {0};
    struct nnv_converted again;
    if (nnv_convert(m, nnv_relay_find(m, "main"), &options, arena, &again, &relay_err) != NNV_OK)
        fail_msg("%s, converted again: %s", row->name, relay_err.text);
    return true;
}

static void test_there_and_back(void **state) {
    (void)state;
    const struct nnv_rc_row *row;
    size_t n = 0;
    for (; (row = nnv_rc_row_at(n)); n++) {
        if (!decompiles(program_of(row->name), row)) fail_msg("no way back: %s: %s", row->name, relay_err.text);
    }
    assert_true(n >= 90);
}

/* Each operator is known to the type checker and the interpreter, and has one row. */
static void test_names(void **state) {
    (void)state;
    const struct nnv_rc_row *row;
    for (size_t i = 0; (row = nnv_rc_row_at(i)); i++) {
        if (!nnv_relay_op(row->name)) fail_msg("Relay does not know %s", row->name);
        assert_ptr_equal(nnv_rc_row(row->name), row);
    }
}

/* ------------------------------------------------------------- documentation */

static void types_of(struct nnv_text *t, const struct nnv_rc_row *row) {
    static const enum nnv_relay_dtype order[] = {NNV_RELAY_FLOAT32, NNV_RELAY_FLOAT16, NNV_RELAY_INT32,
                                                 NNV_RELAY_INT8,    NNV_RELAY_UINT8,   NNV_RELAY_BOOL};
    size_t start = t->len;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (row->types >> order[i] & 1)
            nnv_text_addf(t, "%s%s", t->len > start ? " " : "", nnv_relay_dtype_name(order[i]));
    if (row->flags & NNV_RC_REAL) nnv_text_add(t, t->len > start ? ", quantised" : "quantised");
    if (t->len == start) nnv_text_add(t, "float32 float16 int32 int8 uint8 bool");
}

static void test_documentation(void **state) {
    (void)state;
    struct nnv_text t = {0};
    const struct nnv_rc_row *row;
    nnv_text_add(&t, "| operator | NNAPI operations | from level | types of operand 0 |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; (row = nnv_rc_row_at(i)); i++) {
        nnv_text_addf(&t, "| `%s` | %s | %d | ", row->name, row->makes, row->level);
        types_of(&t, row);
        nnv_text_add(&t, " |\n");
    }
    size_t size;
    char *text = NULL;
    if (nnv_file_read("docs/compile/compiling.md", 1 << 20, &text, &size, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
    if (!strstr(text, t.data)) {
        fputs(t.data, stderr); /* longer than a message may be */
        fail_msg("the table of docs/compile/compiling.md must be the above");
    }
    free(text);
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_there_and_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_documentation, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
