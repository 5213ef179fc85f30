/* SPDX-License-Identifier: Apache-2.0 */
/* What a program prints. */
#include <signal.h>

#include "base/process.h"
#include "base/text.h"
#include "tests/kit/test.h"

static const uint64_t ENOUGH_NS = UINT64_C(20000000000);

static bool output(const char *script, size_t most, uint64_t timeout_ns, struct nnv_text *out) {
    char *const words[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
    nnv_text_clear(out);
    return nnv_process_output(words, most, timeout_ns, out);
}

static void test_output(void **state) {
    (void)state;
    struct nnv_text out = {0};
    assert_true(output("echo one; echo two >&2; cat", 1 << 20, ENOUGH_NS, &out)); /* stdin is empty */
    assert_string_equal(out.data, "one\n");
    /* more than is read at once, and nothing behind it */
    assert_true(output("printf %010000d 7", 1 << 20, ENOUGH_NS, &out));
    assert_true(out.len == 10000 && strlen(out.data) == 10000 && out.data[9999] == '7');
    assert_true(output("true", 10, ENOUGH_NS, &out));
    assert_int_equal(out.len, 0);
    nnv_text_free(&out);
}

static void test_no_output(void **state) {
    (void)state;
    struct nnv_text out = {0};
    char *const nobody[] = {"nnvts-no-such-program", NULL};
    assert_false(nnv_process_output(nobody, 10, ENOUGH_NS, &out));
    assert_false(output("echo one; exit 1", 10, ENOUGH_NS, &out));
    assert_false(output("echo one; sleep 30", 10, 100000000, &out));
    assert_false(output("exec printf %0100d 7", 10, ENOUGH_NS, &out)); /* there is no room for so much */
    assert_int_equal(out.len, 0);
    nnv_text_free(&out);
}

static void test_signal_names(void **state) {
    (void)state;
    static const struct {
        int signal;
        const char *name;
    } rows[] = {{SIGHUP, "SIGHUP"},   {SIGABRT, "SIGABRT"}, {SIGKILL, "SIGKILL"},
                {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {77, "signal 77"},
                {32, "signal 32"},    {0, "signal 0"},      {-1, "signal -1"}};
    char name[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(nnv_signal_name(rows[i].signal, name), rows[i].name);
    for (int i = 1; i <= SIGSYS; i++) assert_memory_equal(nnv_signal_name(i, name), "SIG", 3); /* none is missing */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_output), cmocka_unit_test(test_no_output),
                                       cmocka_unit_test(test_signal_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
