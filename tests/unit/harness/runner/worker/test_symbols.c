/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_symbols.c Frames of this program have functions, files and lines. */
#include "harness/runner/worker/symbols.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/test.h"

/** In the table of symbols, so that dladdr() finds the program. */
static int here(void) { return __LINE__; }

static void add(struct nnv_symbols *s, const char *trace, struct nnv_text *to) {
    nnv_text_clear(to);
    nnv_symbols_add(s, trace, strlen(trace), to);
    assert_false(to->failed);
}

static void lines(void **state) {
    (void)state;
    struct nnv_symbols s = {0};
    struct nnv_text trace = {0}, to = {0}, line = {0};
    Dl_info info;
    if (system("addr2line --version >/dev/null 2>&1") != 0) skip();
    assert_int_not_equal(dladdr((void *)(uintptr_t)here, &info), 0);
    char *path = realpath(info.dli_fname, NULL);
    assert_non_null(path);
    nnv_text_addf(&trace, "address 0x8\n#0 test+0x%tx\n#1 other.so+0x10 f+0x2\ntest=%s\n",
                  (const char *)(uintptr_t)here - (const char *)info.dli_fbase, path);
    nnv_text_addf(&line, "test_symbols.c:%d\n#1 other.so+0x10 f+0x2\n", here());
    for (int again = 0; again < 2; again++) {
        add(&s, trace.data, &to);
        assert_int_equal(strncmp(to.data, "address 0x8\n#0 test+0x", 22), 0);
        assert_non_null(strstr(to.data, "\there at "));
        assert_non_null(strstr(to.data, line.data));
        assert_null(strstr(to.data, "=/"));
    }
    assert_int_equal(s.asked, 1); /* what is known is not asked for again */
    nnv_symbols_free(&s);
    nnv_text_free(&trace);
    nnv_text_free(&to);
    nnv_text_free(&line);
    free(path);
}

/* A trace may be cut anywhere, and its files may not be there. */
static void anything(void **state) {
    (void)state;
    static const char *const traces[][2] = {{"", ""},
                                            {"#", "#\n"},
                                            {"#0", "#0\n"},
                                            {"#0 ", "#0 \n"},
                                            {"#0 a+0x", "#0 a+0x\n"},
                                            {"#0 a+0x1 \na=/", "#0 a+0x1 \n"},
                                            {"#0 a+0x1 b\na=/nowhere/a\n", "#0 a+0x1 b\n"},
                                            {"#0 0x7f0001\n", "#0 0x7f0001\n"}};
    struct nnv_symbols s = {0};
    struct nnv_text to = {0};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        add(&s, traces[i][0], &to);
        assert_string_equal(to.data ? to.data : "", traces[i][1]);
    }
    nnv_symbols_free(&s);
    nnv_text_free(&to);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
