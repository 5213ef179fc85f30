/* SPDX-License-Identifier: Apache-2.0 */
/* What is left to run, and in which company: suspects first, what nnvts was killed in last. And the file that tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/runner/pool/agenda.h"
#include "harness/runner/pool/running.h"

enum { COUNT = 6 };

static void expect_round(const struct nnv_agenda *a, const char *order, bool one_each, bool alone, unsigned last) {
    char got[COUNT + 1] = "";
    for (size_t i = 0; i < a->round; i++) got[i] = (char)('0' + a->order[i]);
    assert_string_equal(got, order);
    assert_int_equal(a->one_each, one_each);
    assert_int_equal(a->alone, alone);
    assert_int_equal(a->last, last);
    assert_int_equal(nnv_agenda_only(a), alone ? a->order[0] : COUNT);
}

static void test_rounds(void **state) {
    (void)state;
    static const uint32_t listed[COUNT] = {5, 4, 3, 2, 1, 0};
    static const bool skip[COUNT] = {[4] = true};
    static const unsigned char last[COUNT] = {[5] = 1, [1] = 2};
    struct nnv_agenda a = {.count = COUNT, .listed = listed};
    assert_int_equal(nnv_agenda_begin(&a, skip, last, NULL), NNV_OK);
    nnv_agenda_next(&a);
    expect_round(&a, "320", false, false, 0);
    a.due[3] = NNV_DUE_DONE;
    assert_true(nnv_agenda_suspect(&a, 0));
    nnv_agenda_next(&a);
    expect_round(&a, "0", true, false, 0);
    assert_false(nnv_agenda_suspect(&a, 0)); /* that was the run in a fresh worker */
    nnv_agenda_next(&a);                     /* which was lost */
    expect_round(&a, "0", true, false, 0);
    a.due[0] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "2", false, false, 0);
    a.due[2] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "5", true, true, 1);
    a.due[5] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "1", true, true, 2);
    a.due[1] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    assert_int_equal(a.round, 0);
    nnv_agenda_free(&a);
}

/* What measures time comes behind all that may run at once, one worker at a time, and what goes wrong there runs alone.
 */
static void test_timed(void **state) {
    (void)state;
    struct nnv_agenda a = {.count = COUNT};
    assert_int_equal(nnv_agenda_begin(&a, (const bool[COUNT]){[0] = true}, (const unsigned char[COUNT]){[5] = 1}, NULL),
                     NNV_OK);
    for (uint32_t i = 0; i < 3; i++) nnv_agenda_timed(&a, i); /* the first is done already */
    nnv_agenda_timed(&a, 5);                                  /* and the last runs alone anyway */
    nnv_agenda_next(&a);
    expect_round(&a, "34", false, false, 0);
    assert_false(a.quiet);
    a.due[3] = a.due[4] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "12", false, false, 0);
    assert_true(a.quiet);
    assert_true(nnv_agenda_suspect(&a, 1));
    nnv_agenda_suspect_taken(&a, 2);
    nnv_agenda_next(&a);
    expect_round(&a, "1", true, true, 0);
    a.due[1] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "2", true, true, 0);
    a.due[2] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "5", true, true, 1);
    assert_false(a.quiet);
    nnv_agenda_free(&a);
}

/* One of the first three did harm to all: each of those that are not done runs alone. */
static void test_careful(void **state) {
    (void)state;
    struct nnv_agenda a = {.count = COUNT};
    assert_int_equal(nnv_agenda_begin(&a, NULL, NULL, NULL), NNV_OK);
    nnv_agenda_next(&a);
    expect_round(&a, "012345", false, false, 0);
    a.due[1] = NNV_DUE_DONE;
    nnv_agenda_suspect_taken(&a, 3);
    nnv_agenda_next(&a);
    expect_round(&a, "0", true, true, 0);
    a.due[0] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "2", true, true, 0);
    a.due[2] = NNV_DUE_DONE;
    nnv_agenda_next(&a);
    expect_round(&a, "345", false, false, 0);
    nnv_agenda_suspect_taken(&a, 1000);
    assert_int_equal(a.due[5], NNV_DUE_SUSPECT);
    nnv_agenda_free(&a);
}

static void see(void *context, const char *name, unsigned alone) {
    char text[64];
    snprintf(text, sizeof text, "%s%.*s ", name, (int)alone, "!!!!");
    strcat(context, text);
}

static void test_running(void **state) {
    (void)state;
    char folder[] = "/tmp/nnvts-running-XXXXXX", seen[256] = "";
    struct nnv_running r;
    assert_non_null(mkdtemp(folder));
    nnv_running_read(folder, see, seen);
    assert_string_equal(seen, ""); /* no file */
    nnv_running_open(&r, folder, 3);
    assert_non_null(nnv_running_page(&r, 2));
    assert_null(nnv_running_page(&r, 3));
    nnv_running_note(NULL, 0, "nowhere", 0);
    nnv_running_note(nnv_running_page(&r, 0), 64, "ops/a/longer", 1);
    nnv_running_note(nnv_running_page(&r, 0), 0, "ops/a", 0);
    nnv_running_note(nnv_running_page(&r, 0), 1, "ops/next", 0);
    nnv_running_note(nnv_running_page(&r, 2), 3, "ops/b", 2);
    nnv_running_close(&r, folder, false);
    nnv_running_read(folder, see, seen);
    assert_string_equal(seen, "ops/a ops/next ops/b!! ");
    nnv_running_open(&r, folder, 1); /* empty again */
    nnv_running_close(&r, folder, false);
    seen[0] = '\0';
    nnv_running_read(folder, see, seen);
    assert_string_equal(seen, "");
    nnv_running_open(&r, folder, 1);
    nnv_running_close(&r, folder, true);
    assert_int_equal(rmdir(folder), 0); /* nothing stays of a run that came to its end */
    nnv_running_open(&r, "/nowhere", 1);
    assert_null(nnv_running_page(&r, 0));
    nnv_running_close(&r, "/nowhere", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_timed),
        cmocka_unit_test(test_careful),
        cmocka_unit_test(test_running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
