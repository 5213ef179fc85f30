/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/opts.h"

struct values {
    bool quiet, verbose;
    const char *driver, *page, *kept;
    uint64_t jobs, timeout;
    int tier;
    struct nnv_opt_list suites, rest;
    bool help;
    struct nnv_err err;
};

static const char *const tiers[] = {"smoke", "default", "full", NULL};

/* Parses up to 8 arguments, the last NULL; *v is given its defaults first. */
static enum nnv_status parse(struct values *v, const char *const *args) {
    *v = (struct values){.driver = "cpu", .jobs = 2, .timeout = 1500000000, .tier = 1};
    const struct nnv_opt table[] = {
        {'d', "driver", NNV_OPT_STRING, &v->driver, "NAME", "the driver to judge", NULL},
        {'j', "jobs", NNV_OPT_U64, &v->jobs, "N", "worker processes", NULL},
        {0, "timeout", NNV_OPT_SECONDS, &v->timeout, "S", "time that one case may take", NULL},
        {'t', "tier", NNV_OPT_CHOICE, &v->tier, "TIER", "how much to run", tiers},
        {'s', "suite", NNV_OPT_LIST, &v->suites, "NAME", "a suite to run", NULL},
        {'q', "quiet", NNV_OPT_FLAG, &v->quiet, NULL, "say less", NULL},
        {'v', "verbose", NNV_OPT_FLAG, &v->verbose, NULL, "say more", NULL},
        {0, "page", NNV_OPT_OUT, &v->page, "FILE", "write a page", NULL},
        {0, "kept", NNV_OPT_KEPT, &v->kept, "FILE", "bring a file up to date", NULL},
        {0, NULL, NNV_OPT_FLAG, NULL, NULL, NULL, NULL},
    };
    char *argv[NNV_OPT_LIST_MAX + 16] = {(char *)"nnvts"};
    int argc = 1;
    while (args[argc - 1]) {
        argv[argc] = (char *)args[argc - 1];
        argc++;
    }
    return nnv_opts_parse(table, argc, argv, &v->rest, &v->help, &v->err);
}

#define PARSE(v, ...) parse(v, (const char *const[]){__VA_ARGS__, NULL})

static void all_spellings_are_alike(void **state) {
    (void)state;
    static const char *const spellings[][3] = {{"-j4"},         {"-j", "4"}, {"--jobs=4"},
                                               {"--jobs", "4"}, {"-qj4"},    {"-j0x4"}};
    struct values v;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        assert_int_equal(parse(&v, spellings[i]), NNV_OK);
        assert_int_equal(v.jobs, 4);
        assert_int_equal(v.quiet, i == 4);
    }
    assert_int_equal(PARSE(&v, "a", "-v", "b", "--driver=x=y", "-", "--", "-j", "--help"), NNV_OK);
    assert_true(v.verbose && !v.quiet && !v.help);
    assert_string_equal(v.driver, "x=y");
    assert_int_equal(v.rest.count, 5);
    assert_string_equal(v.rest.item[2], "-");
    assert_string_equal(v.rest.item[4], "--help");
    assert_int_equal(v.jobs, 2);
    assert_int_equal(PARSE(&v, "--driver="), NNV_OK);
    assert_string_equal(v.driver, "");
}

static void values_are_read(void **state) {
    (void)state;
    struct values v;
    assert_int_equal(PARSE(&v, "--timeout", "2.5", "-t", "full", "-s", "ops", "--suite=spec"), NNV_OK);
    assert_true(v.timeout == 2500000000u);
    assert_int_equal(v.tier, 2);
    assert_int_equal(v.suites.count, 2);
    assert_string_equal(v.suites.item[1], "spec");
    assert_int_equal(PARSE(&v, "--timeout=.0000000019"), NNV_OK);
    assert_true(v.timeout == 1);
    assert_int_equal(PARSE(&v, "--timeout=18446744073.709551615", "--jobs", "18446744073709551615"), NNV_OK);
    assert_true(v.timeout == UINT64_MAX && v.jobs == UINT64_MAX);
    static const struct {
        const char *text;
        uint64_t value;
    } numbers[] = {{"0xFFffffffffffffff", UINT64_MAX}, {"0X1f", 31}, {"0", 0}, {"010", 10}, {"00", 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_int_equal(PARSE(&v, "-j", numbers[i].text), NNV_OK);
        assert_true(v.jobs == numbers[i].value);
    }
}

static void a_file_may_be_stdout(void **state) {
    (void)state;
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    struct values v;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(PARSE(&v, "--page", names[i]), NNV_OK);
        assert_string_equal(v.page, "/dev/stdout");
    }
    assert_int_equal(PARSE(&v, "--page=./-"), NNV_OK);
    assert_string_equal(v.page, "./-");
}

static void mistakes_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *args[3], *said;
    } cases[] = {
        {{"--drivr", "x"}, "unknown option --drivr (did you mean --driver?)"},
        {{"--time=3"}, "unknown option --time (did you mean --timeout?)"},
        {{"--JOBS"}, "unknown option --JOBS (did you mean --jobs?)"},
        {{"--zzzzzz"}, "unknown option --zzzzzz (--help lists the options)"},
        {{"-x"}, "unknown option -x (--help lists the options)"},
        {{"-qx"}, "unknown option -x"},
        {{"--jobs"}, "--jobs needs a value: --jobs N"},
        {{"-j"}, "-j needs a value: -j N"},
        {{"--quiet=yes"}, "--quiet takes no value (leave out '=yes')"},
        {{"-j", "-3"}, "-j: '-3' is not a whole number"},
        {{"-j", ""}, "-j: '' is not a whole number"},
        {{"-j", "0x"}, "'0x' is not a whole number"},
        {{"-j", "0a1"}, "'0a1' is not a whole number"},
        {{"-j", "3k"}, "'3k' is not a whole number"},
        {{"-j", "18446744073709551616"}, "is not a whole number"},
        {{"--timeout=1s"}, "--timeout: '1s' is not a time in seconds (for example 2 or 0.5)"},
        {{"--timeout=1."}, "is not a time in seconds"},
        {{"--timeout=."}, "is not a time in seconds"},
        {{"--timeout=-1"}, "is not a time in seconds"},
        {{"--timeout=nan"}, "is not a time in seconds"},
        {{"--timeout=18446744073.709551616"}, "is not a time in seconds"},
        {{"-t", "smok"}, "-t: 'smok' is none of smoke, default, full (did you mean smoke?)"},
        {{"--page="}, "--page '': expected a file"},
        {{"--kept", "-"}, "--kept '-': expected a file"},
        {{"--tier=x"}, "--tier: 'x' is none of smoke, default, full"},
    };
    struct values v;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(&v, cases[i].args), NNV_INVALID);
        assert_int_equal(v.err.status, NNV_INVALID);
        if (!strstr(v.err.text, cases[i].said)) fail_msg("'%s' lacks '%s'", v.err.text, cases[i].said);
        assert_true(v.jobs == 2 && v.timeout == 1500000000 && v.tier == 1);
    }
}

static void very_long_names_are_cut(void **state) {
    (void)state;
    char name[5000] = "--";
    memset(name + 2, 'a', sizeof name - 3);
    struct values v;
    assert_int_equal(PARSE(&v, name), NNV_INVALID);
    assert_true(strlen(v.err.text) < 200);
}

static void lists_have_an_end(void **state) {
    (void)state;
    const char *args[NNV_OPT_LIST_MAX + 2] = {NULL};
    for (int i = 0; i < NNV_OPT_LIST_MAX; i++) args[i] = "-sx";
    struct values v;
    assert_int_equal(parse(&v, args), NNV_OK);
    args[NNV_OPT_LIST_MAX] = "-sx";
    assert_int_equal(parse(&v, args), NNV_INVALID);
    assert_string_equal(v.err.text, "-s: more than 1024 values");
    for (int i = 0; i <= NNV_OPT_LIST_MAX; i++) args[i] = "x";
    assert_int_equal(parse(&v, args), NNV_INVALID);
    assert_string_equal(v.err.text, "arguments: more than 1024 values");
}

static void help_wins(void **state) {
    (void)state;
    struct values v;
    assert_int_equal(PARSE(&v, "--bogus", "-j", "5", "--help"), NNV_OK);
    assert_true(v.help && v.jobs == 2);
    assert_int_equal(PARSE(&v, "-h"), NNV_OK);
    assert_true(v.help);
}

static void help_is_aligned(void **state) {
    (void)state;
    const char *driver = "cpu";
    uint64_t timeout = 1500000000;
    int tier = 1;
    bool quiet = false;
    const struct nnv_opt table[] = {
        {'d', "driver", NNV_OPT_STRING, &driver, "NAME", "the driver to judge", NULL},
        {0, "timeout", NNV_OPT_SECONDS, &timeout, "S", "time that one case may take", NULL},
        {'t', "tier", NNV_OPT_CHOICE, &tier, "TIER", "how much to run", tiers},
        {0, "a-very-long-name-indeed", NNV_OPT_FLAG, &quiet, NULL, "below its name", NULL},
        {0, NULL, NNV_OPT_FLAG, NULL, NULL, NULL, NULL},
    };
    const struct nnv_verb_help verb = {"nnvts run [options]", "Judges a driver.", "nnvts run -d cpu\n  judges it\n"};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    nnv_opts_help(f, &verb, table);
    fclose(f);
    assert_string_equal(text, "usage: nnvts run [options]\n"
                              "\n"
                              "Judges a driver.\n"
                              "\n"
                              "options:\n"
                              "  -d, --driver NAME           the driver to judge [cpu]\n"
                              "      --timeout S             time that one case may take [1.5]\n"
                              "  -t, --tier TIER             how much to run: smoke, default, full [default]\n"
                              "      --a-very-long-name-indeed\n"
                              "                              below its name\n"
                              "  -h, --help                  this text\n"
                              "\n"
                              "examples:\n"
                              "  nnvts run -d cpu\n"
                              "    judges it\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_spellings_are_alike), cmocka_unit_test(values_are_read),
        cmocka_unit_test(mistakes_are_explained),  cmocka_unit_test(very_long_names_are_cut),
        cmocka_unit_test(lists_have_an_end),       cmocka_unit_test(help_wins),
        cmocka_unit_test(help_is_aligned),         cmocka_unit_test(a_file_may_be_stdout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
