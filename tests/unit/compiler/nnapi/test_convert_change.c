/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs of all rows with some of their numbers changed: shapes, attributes, scales. Most are wrong or refused; what
 * converts must still give what the interpreter gives, and nothing may be an internal error.
 */
#include "tests/kit/convert_programs.h"

#include "base/rng.h"

enum { ROUNDS = 12 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A copy with one to three digits changed that are numbers, not parts of names: "%0", "float32", "conv2d". */
static char *changed(const char *text, struct nnv_rng *rng) {
    char *copy = nnv_arena_strdup(arena, text);
    size_t n = strlen(copy), times = 1 + (size_t)nnv_rng_int(rng, 0, 2);
    for (size_t tries = 0; times && tries < 1000; tries++) {
        size_t i = (size_t)nnv_rng_int(rng, 1, (int64_t)n - 1);
        bool number = copy[i - 1] == '(' || copy[i - 1] == '[' || copy[i - 1] == ' ' || copy[i - 1] == '=' ||
                      copy[i - 1] == '.' || copy[i - 1] == '-';
        if (!is_digit(copy[i]) || !number) continue;
        copy[i] = (char)('0' + nnv_rng_int(rng, 0, 7));
        times--;
    }
    return copy;
}

static bool is_small(const struct nnv_relay_module *m) {
    const struct nnv_relay_expr *f = nnv_relay_find(m, "main");
    for (size_t i = 0; i < f->n_params; i++) {
        size_t n, bytes;
        if (!nnv_relay_type_elems(f->params[i]->declared, &n, &bytes) || n > 10000) return false;
    }
    return true;
}

/* 0: wrong or refused; 1: converted, and compared. */
static int one_changed(size_t i, struct nnv_rng *rng) {
    const char *text = main_of(changed(programs[i].params, rng), changed(programs[i].body, rng));
    struct nnv_relay_module *m = NULL;
    if (nnv_relay_parse(text, strlen(text), "a.relay", arena, &m, NULL) != NNV_OK ||
        nnv_relay_check(m, NULL) != NNV_OK || !is_small(m))
        return 0;
    int level = (int)nnv_rng_int(rng, 1, 7);
    struct conversion c = converted(text, level);
    if (c.st == NNV_UNSUPPORTED) return 0;
    if (c.st != NNV_OK) fail_msg("status %d: %s\n%s", (int)c.st, relay_err.text, text);
    bool quantised = strncmp(programs[i].op, "qnn.", 4) == 0;
    double by = compare(text, level, NULL);
    if (!(by <= (quantised ? 1 : 1e-4))) fail_msg("differs by %g at level %d: %s\n%s", by, level, operations(&c), text);
    return 1;
}

static void test_changed(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(5, 0, 0);
    struct nnv_arena *all = arena;
    int converted_programs = 0;
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < program_count; i++) {
            arena = nnv_arena_new();
            assert_non_null(arena);
            converted_programs += one_changed(i, &rng);
            nnv_arena_free(arena);
        }
    arena = all;
    print_message("%d programs were converted and compared\n", converted_programs);
    assert_true(converted_programs > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_changed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
