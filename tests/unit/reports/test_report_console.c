/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_console.c What a person sees while a run goes on. */
#include "tests/kit/report.h"

static const struct nnv_console_style plain = {0};

/** All that a console prints for a run, the caller's; ticks: the live line is drawn after every record. */
static char *output_of(const struct fx *f, struct nnv_console_style style, bool ticks) {
    char *text = NULL, *line = NULL;
    size_t size = 0, cap = 0;
    FILE *to = open_memstream(&text, &size), *journal = fopen(fx_path(f, "journal.jsonl"), "r");
    struct nnv_console *c = NULL;
    ssize_t n;
    while ((n = getline(&line, &cap, journal)) > 0 && line[n - 1] == '\n') {
        line[n - 1] = '\0';
        if (c == NULL) {
            c = nnv_console_new(to, style, line, "nnvts-out/");
            assert_non_null(c);
            continue;
        }
        nnv_console_case(c, line);
        if (ticks) nnv_console_tick(c);
    }
    nnv_console_end(c, f->report, 11.2, 0);
    nnv_console_free(c);
    fclose(journal);
    fclose(to);
    free(line);
    return text;
}

/** The output with the folder's own name as "RUN". */
static char *golden_output(const char *run, struct nnv_console_style style, bool ticks) {
    struct fx f = fx_golden(run);
    char *text = output_of(&f, style, ticks);
    struct nnv_text t = {0};
    for (char *p = text; *p != '\0';) {
        size_t n = strlen(f.folder);
        bool here = strncmp(p, f.folder, n) == 0;
        nnv_text_add_n(&t, here ? "RUN" : p, here ? 3 : 1);
        p += here ? n : 1;
    }
    free(text);
    fx_remove(&f);
    return t.data;
}

static void a_passing_run_is_five_lines(void **state) {
    (void)state;
    char *text = golden_output("pass", plain, true);
    assert_string_equal(text, "nnvts 1.0.0  driver cpu 1.0.0 (CPU, level 7)  11 cases  seed 1  2 jobs  out nnvts-out/\n"
                              "  device   2 pass\n"
                              "  ops      8 pass   1 unsupported\n"
                              "10 passed, 0 failed, 1 unsupported; 9,872 values compared in 11.2 s\n"
                              "report: RUN/report.html   junit: RUN/junit.xml\n");
    free(text);
}

static int count(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text++) n++;
    return n;
}

/* At once a line for each reason; at the end one for each cause, and what to do next. */
static void a_cause_is_one_line(void **state) {
    (void)state;
    char *text = golden_output("every", plain, false);
    assert_non_null(strstr(text, "\nFAIL ops/DEPTHWISE_CONV_2D/quant8_asymm/dilation_2x3/0: output 0 "));
    assert_int_equal(count(text, "\nFAIL "), 1); /* all for the same reason */
    assert_non_null(strstr(text, "\nCRASH validate/CONV_2D/wrong_rank: driver died with SIGSEGV in prepare_model\n"));
    assert_null(strstr(text, "     dump ")); /* of a case */
    assert_non_null(strstr(text, "\n  3 x DEPTHWISE_CONV_2D (quant8_asymm): "));
    assert_int_equal(count(text, "; smallest: dumps/ops.DEPTHWISE_CONV_2D.quant8_asymm.dilation_2x3.2.json\n"), 1);
    assert_non_null(strstr(text,
                           "\nnext: explain (which mistake), reduce (a smaller model) or bisect (which operation) "
                           "in place of replay; the report "));
    free(text);
}

static void verbose_has_a_block_for_a_failure(void **state) {
    (void)state;
    char *text = golden_output("every", (struct nnv_console_style){.verbose = true}, false);
    assert_non_null(strstr(text, "\nFAIL ops/SOFTMAX/float32/axis/0   driver faulty:dilation-ignored\n"
                                 "     output 0 [4,10]: 12 of 40 values wrong; worst at [0,7]: expected "));
    assert_non_null(strstr(text, "\n     and a second line\n"
                                 "     dump nnvts-out/dumps/ops.SOFTMAX.float32.axis.0.json\n"
                                 "     again: nnvts replay nnvts-out/dumps/ops.SOFTMAX.float32.axis.0.json --driver "
                                 "faulty:dilation-ignored\n"));
    assert_non_null(strstr(text, "\nCRASH validate/CONV_2D/wrong_rank   driver faulty:dilation-ignored\n"
                                 "     driver died with SIGSEGV in prepare_model\n     backtrace in the report\n"));
    assert_non_null(strstr(text, "5 passed, 4 failed, 1 crashed, 1 timed out, 1 untrusted, 1 in error, 2 unsupported, "
                                 "1 skipped, 2 not run; 1,454 values compared in 11.2 s\n"));
    assert_non_null(
        strstr(text, "\n6 bugs behind 8 failures; start with: nnvts replay nnvts-out/dumps/"
                     "ops.DEPTHWISE_CONV_2D.quant8_asymm.dilation_2x3.2.json --driver faulty:dilation-ignored\n"));
    assert_null(strchr(text, '\033'));
    free(text);
}

static void the_counts_of_suites_are_aligned(void **state) {
    (void)state;
    struct fx f = fx_make("a\tlong_name\t\t\t\nb\tx\t\t\t\nc\tx\t\t\t\n",
                          "{\"case\":\"a\",\"verdict\":\"UNSUPPORTED\"}\n{\"case\":\"b\",\"verdict\":\"PASS\"}\n"
                          "{\"case\":\"c\",\"verdict\":\"SKIP\"}\n");
    fx_load(&f);
    char *text = output_of(&f, plain, false);
    assert_non_null(strstr(text, "\n  long_name            1 unsupported\n"
                                 "  x           1 pass                   1 skip\n"));
    assert_non_null(strstr(text, "\nnothing was compared: "));
    free(text);
    fx_remove(&f);
}

/* What the trial of a replay line showed is said only where it differs from the case. */
static void a_failure_that_comes_and_goes_is_told(void **state) {
    (void)state;
    static const struct {
        const char *again, *shown;
    } tried[] = {{"\"PASS\"", "   (tried: PASS, so it does not fail every time)"},
                 {"\"CRASH\"", "   (tried: CRASH, so it does not fail in the same way every time)"},
                 {"\"FAIL\"", ""},
                 {"\"nonsense\"", ""},
                 {"7", ""}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        char records[256], expected[128];
        snprintf(records, sizeof records,
                 "{\"case\":\"a\",\"verdict\":\"FAIL\",\"reason\":\"r\",\"replay\":\"nnvts replay x\",\"again\":%s}\n",
                 tried[i].again);
        snprintf(expected, sizeof expected, "\n     again: nnvts replay x%s\n", tried[i].shown);
        struct fx f = fx_make("a\tops\tADD\tfloat32\t\n", records);
        fx_load(&f);
        char *text = output_of(&f, (struct nnv_console_style){.verbose = true}, false);
        if (strstr(text, expected) == NULL) fail_msg("no '%s' in '%s'", expected, text);
        free(text);
        fx_remove(&f);
    }
}

/** A run of n failures that are alike. */
static struct fx alike(int n) {
    struct nnv_text cases = {0}, records = {0};
    for (int i = 0; i < n; i++) {
        nnv_text_addf(&cases, "ops/ADD/float32/%d\tops\tADD\tfloat32\t\n", i);
        nnv_text_addf(&records,
                      "{\"case\":\"ops/ADD/float32/%d\",\"op\":\"ADD\",\"type\":\"float32\",\"verdict\":\"FAIL\","
                      "\"why\":\"VALUES\",\"reason\":\"%d values wrong\",\"compared\":%d}\n",
                      i, i + 1, 1000 - i);
    }
    struct fx f = fx_make(cases.data, records.data);
    nnv_text_free(&cases);
    nnv_text_free(&records);
    fx_load(&f);
    return f;
}

static void many_alike_are_counted(void **state) {
    (void)state;
    struct fx f = alike(210);
    char *text = output_of(&f, plain, false);
    assert_int_equal(count(text, "values wrong"), 1);
    assert_int_equal(count(text, "\n  210 x ADD (float32): values are wrong; smallest: ops/ADD/float32/209\n"), 1);
    assert_non_null(strstr(text, "\n1 bug behind 210 failures\n")); /* the records have no line that repeats them */
    free(text);
    text = output_of(&f, (struct nnv_console_style){.verbose = true}, false);
    assert_int_equal(count(text, "values wrong"), 210);
    free(text);
    fx_remove(&f);
}

static void a_terminal_has_one_live_line(void **state) {
    (void)state;
    char *text = golden_output("every", (struct nnv_console_style){.live = true}, true);
    assert_int_equal(count(text, "/18  "), 16); /* a tick a record */
    assert_non_null(strstr(text, "  16/18  "));
    assert_non_null(strstr(text, " left  8 failed"));
    for (const char *p = text; (p = strstr(p, "/18  ")) != NULL; p++) {
        const char *end = p + strcspn(p, "\r\n"), *start = p;
        while (start > text && start[-1] != 'K') start--;
        assert_true(end - start < 80);                    /* the width of what is no terminal */
        assert_int_equal(strncmp(end, "\r\033[K", 4), 0); /* cleared before what stays */
    }
    free(text);
}

static void a_pipe_has_only_lines_that_stay(void **state) {
    (void)state;
    char *text = golden_output("every", plain, true);
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\033'));
    free(text);
}

static void colours_only_where_wanted(void **state) {
    (void)state;
    char *text = golden_output("every", (struct nnv_console_style){.colour = true}, false);
    assert_non_null(strstr(text, "\n\033[1;31mFAIL\033[m ops/DEPTHWISE"));
    assert_int_equal(count(text, "\033[") % 2, 0);
    free(text);
}

static void quiet_and_verbose(void **state) {
    (void)state;
    char *quiet = golden_output("pass", (struct nnv_console_style){.quiet = true}, true);
    assert_int_equal(strncmp(quiet, "  device   2 pass\n", 18), 0);
    char *verbose = golden_output("pass", (struct nnv_console_style){.verbose = true}, true);
    assert_int_equal(count(verbose, "PASS        ops/"), 8);
    assert_int_equal(count(verbose, "UNSUPPORTED ops/ADD/float16/0  1.2 ms\n"), 1);
    char *failures = golden_output("every", (struct nnv_console_style){.quiet = true}, true);
    assert_null(strstr(failures, "FAIL ops/"));
    assert_non_null(strstr(failures, "\n6 bugs behind 8 failures; start with: "));
    free(quiet);
    free(verbose);
    free(failures);
}

static void hostile_text_does_nothing_to_a_terminal(void **state) {
    (void)state;
    char *text = golden_output("hostile", (struct nnv_console_style){.verbose = true}, true);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) assert_true(*p >= 0x20 || *p == '\n');
    assert_null(strstr(text, "\xc2\x9b"));
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_non_null(strstr(text, "\\x1b[31m"));
    free(text);
}

static void records_that_cannot_be_read_are_said(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    struct nnv_console *c = nnv_console_new(to, plain, "not JSON", "out");
    assert_non_null(c);
    nnv_console_case(c, "{\"case\":");
    nnv_console_case(c, "{\"case\":\"a\",\"verdict\":\"FINE\"}");
    nnv_console_free(c);
    fclose(to);
    assert_int_equal(count(text, "nnvts ?  driver ? ? (?, level 0)  0 cases  seed ?  0 jobs  out out/\n"), 1);
    assert_int_equal(count(text, "ERROR a record of the journal cannot be read: "), 2);
    free(text);
}

static void long_reasons_are_cut(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "{\"case\":\"a\",\"verdict\":\"FAIL\",\"reason\":\"");
    for (int i = 0; i < 100; i++) nnv_text_addf(&t, "line %d\\r\\n", i);
    nnv_text_add(&t, "\"}\n");
    struct fx f = fx_make("a\ts\t\t\t\n", t.data);
    fx_load(&f);
    char *text = output_of(&f, (struct nnv_console_style){.verbose = true}, false);
    assert_int_equal(count(text, "     line "), 12);
    assert_int_equal(count(text, "     ... (more in the report)\n"), 1);
    free(text);
    nnv_text_free(&t);
    fx_remove(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_passing_run_is_five_lines),
        cmocka_unit_test(a_cause_is_one_line),
        cmocka_unit_test(verbose_has_a_block_for_a_failure),
        cmocka_unit_test(a_failure_that_comes_and_goes_is_told),
        cmocka_unit_test(the_counts_of_suites_are_aligned),
        cmocka_unit_test(many_alike_are_counted),
        cmocka_unit_test(a_terminal_has_one_live_line),
        cmocka_unit_test(a_pipe_has_only_lines_that_stay),
        cmocka_unit_test(colours_only_where_wanted),
        cmocka_unit_test(quiet_and_verbose),
        cmocka_unit_test(hostile_text_does_nothing_to_a_terminal),
        cmocka_unit_test(records_that_cannot_be_read_are_said),
        cmocka_unit_test(long_reasons_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
