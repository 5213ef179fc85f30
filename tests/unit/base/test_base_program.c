/* SPDX-License-Identifier: Apache-2.0 */
/* What a program prints, and how it and a command of the user end. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/program.h"
#include "base/text.h"
#include "tests/kit/test.h"

static const uint64_t ENOUGH_NS = UINT64_C(20000000000);

/** Runs a program that is a script; out and err are set anew. */
static bool run(const char *script, struct nnv_tool p, struct nnv_text *out, struct nnv_err *err) {
    char *const words[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
    p.words = words;
    if (p.timeout_ns == 0) p.timeout_ns = ENOUGH_NS;
    nnv_text_clear(out);
    *err = (struct nnv_err){0};
    const enum nnv_status st = nnv_tool_run(&p, out, err);
    assert_true(st == NNV_OK || st == NNV_INVALID);
    return st == NNV_OK;
}

static void test_output(void **state) {
    (void)state;
    const struct nnv_tool much = {.most = 1 << 20};
    struct nnv_text out = {0};
    struct nnv_err err;
    assert_true(run("echo one; echo two >&2; cat", much, &out, &err)); /* stdin is empty */
    assert_string_equal(out.data, "one\n");
    /* more than is read at once, and nothing behind it */
    assert_true(run("printf %010000d 7", much, &out, &err));
    assert_true(out.len == 10000 && strlen(out.data) == 10000 && out.data[9999] == '7');
    assert_true(run("true", (struct nnv_tool){.most = 10}, &out, &err));
    assert_int_equal(out.len, 0);
    assert_true(run("pwd", (struct nnv_tool){.most = 10, .folder = "/usr"}, &out, &err));
    assert_string_equal(out.data, "/usr\n");
    nnv_text_free(&out);
}

static void test_no_output(void **state) {
    (void)state;
    const struct nnv_tool little = {.most = 10}, short_time = {.most = 10, .timeout_ns = 100000000};
    char *const nobody[] = {"nnvts-no-such-program", NULL};
    struct nnv_text out = {0};
    struct nnv_err err;
    const struct nnv_tool missing = {.words = nobody, .most = 10, .timeout_ns = ENOUGH_NS};
    assert_int_equal(nnv_tool_run(&missing, &out, NULL), NNV_INVALID);
    assert_false(run("echo one; exit 1", little, &out, &err));
    assert_string_equal(err.text, "it called exit(1)");
    assert_false(run("echo one; sleep 30", short_time, &out, &err));
    assert_string_equal(err.text, "it did not end within 0.1 s");
    assert_false(run("echo one; kill -SEGV $$", little, &out, &err));
    assert_string_equal(err.text, "it died with SIGSEGV");
    assert_false(run("exec printf %0100d 7", little, &out, &err)); /* there is no room for so much */
    assert_false(run("echo one", (struct nnv_tool){.most = 10, .folder = "/nonexistent"}, &out, &err));
    assert_int_equal(out.len, 0);
    nnv_text_free(&out);
}

/* What a program says of its failure is kept, and so is why it could not be run. */
static void test_program_that_speaks(void **state) {
    (void)state;
    const struct nnv_tool speaks = {.most = 1000, .speaks = true};
    char *const nobody[] = {"nnvts-no-such-program", NULL};
    struct nnv_tool missing = {.words = nobody, .most = 1000, .speaks = true, .timeout_ns = ENOUGH_NS};
    struct nnv_text out = {0};
    struct nnv_err err;
    assert_true(run("echo one; echo two >&2", speaks, &out, &err));
    assert_string_equal(out.data, "one\ntwo\n");
    assert_false(run("echo one; echo two >&2; exit 3", speaks, &out, &err));
    assert_string_equal(out.data, "one\ntwo\n");
    assert_string_equal(err.text, "it called exit(3)");
    nnv_text_clear(&out);
    assert_int_equal(nnv_tool_run(&missing, &out, &err), NNV_INVALID);
    assert_string_equal(out.data, "nnvts-no-such-program: No such file or directory\n");
    missing.folder = "/nonexistent";
    nnv_text_clear(&out);
    assert_int_equal(nnv_tool_run(&missing, &out, &err), NNV_INVALID);
    assert_string_equal(out.data, "nnvts-no-such-program: No such file or directory\n");
    nnv_text_free(&out);
}

/** How the command ends. */
static struct nnv_end shell(const char *line, bool speaks, uint64_t timeout_ns) {
    static const char *const variable[] = {"NNVTS_ONE", "1", "NNVTS_TWO", "it's", NULL};
    const struct nnv_shell s = {.line = line, .variable = variable, .speaks = speaks, .timeout_ns = timeout_ns};
    struct nnv_end end;
    assert_int_equal(nnv_shell_run(&s, &end, NULL), NNV_OK);
    return end;
}

static void test_shell(void **state) {
    (void)state;
    struct nnv_end end = shell("test \"$NNVTS_ONE $NNVTS_TWO\" = \"1 it's\" && exit 5", false, ENOUGH_NS);
    assert_true(end.code == CLD_EXITED && end.status == 5);
    end = shell("nnvts-no-such-program", false, ENOUGH_NS);
    assert_true(end.code == CLD_EXITED && end.status == 127);
    end = shell("kill -TERM $$", false, ENOUGH_NS);
    assert_true(end.code == CLD_KILLED && end.status == SIGTERM);
    end = shell("sleep 30", false, 100000000);
    assert_true(end.timed_out);
    assert_null(getenv("NNVTS_ONE"));
}

/* What it prints goes to stderr if it speaks, and nowhere else. */
static void test_shell_prints_to_stderr(void **state) {
    (void)state;
    char path[] = "/tmp/nnvts-shell-XXXXXX", said[64];
    const int file = mkstemp(path), before = dup(STDERR_FILENO);
    assert_true(file >= 0 && before >= 0);
    unlink(path);
    dup2(file, STDERR_FILENO);
    for (int speaks = 0; speaks < 2; speaks++)
        shell(speaks == 1 ? "echo one; echo two >&2" : "cat; echo three; echo four >&2", speaks == 1, ENOUGH_NS);
    dup2(before, STDERR_FILENO);
    close(before);
    const ssize_t n = pread(file, said, sizeof said, 0);
    close(file);
    assert_int_equal(n, strlen("one\ntwo\n"));
    assert_memory_equal(said, "one\ntwo\n", (size_t)n);
}

/* A server that a command starts outside of its group of processes serves on. */
static void test_shell_leaves_a_server(void **state) {
    (void)state;
    static const char wanted[] = "on\nstill\n";
    char path[] = "/tmp/nnvts-shell-XXXXXX", line[256];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    /* the command ends when the server has left its group */
    snprintf(line, sizeof line,
             "setsid sh -c 'echo on >> %s; sleep 0.3; echo still >> %s' & until test -s %s; do sleep 0.01; done", path,
             path, path);
    const struct nnv_end end = shell(line, false, ENOUGH_NS);
    assert_true(end.code == CLD_EXITED && end.status == 0 && end.left == 0);
    off_t bytes = 0;
    for (int i = 0; i < 2000 && bytes < (off_t)strlen(wanted); i++) {
        usleep(10000);
        bytes = lseek(file, 0, SEEK_END);
    }
    close(file);
    unlink(path);
    assert_int_equal(bytes, strlen(wanted));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_output),
                                       cmocka_unit_test(test_no_output),
                                       cmocka_unit_test(test_program_that_speaks),
                                       cmocka_unit_test(test_shell),
                                       cmocka_unit_test(test_shell_prints_to_stderr),
                                       cmocka_unit_test(test_shell_leaves_a_server)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
