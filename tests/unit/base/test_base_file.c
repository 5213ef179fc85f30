/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/kit/test.h"

static char folder[64];

static const char *in_folder(const char *name) {
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int begin(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/nnvts-test-XXXXXX");
    return make_folder(folder);
}

static int end(void **state) {
    (void)state;
    return remove_folder(folder);
}

static void writes_and_reads(void **state) {
    (void)state;
    struct nnv_err err;
    size_t n = 300000, size = 0;
    char *data = malloc(n), *back = NULL;
    for (size_t i = 0; i < n; i++) data[i] = (char)(i * 7);
    for (size_t i = 0; i < 2; i++) { /* the second replaces the first */
        assert_int_equal(nnv_file_write(in_folder("a"), data + i, n - i, &err), NNV_OK);
        assert_int_equal(nnv_file_read(in_folder("a"), n, &back, &size, &err), NNV_OK);
        assert_int_equal(size, n - i);
        assert_memory_equal(back, data + i, size);
        assert_int_equal(back[size], '\0');
        free(back);
    }
    assert_int_equal(nnv_file_write(in_folder("empty"), NULL, 0, &err), NNV_OK);
    assert_int_equal(nnv_file_read(in_folder("empty"), 0, &back, &size, &err), NNV_OK);
    assert_string_equal(back, "");
    free(back);
    char **paths = NULL;
    size_t count = 0;
    static const char *const any[] = {"", NULL};
    assert_int_equal(nnv_file_list(folder, any, &paths, &count, &err), NNV_OK);
    assert_int_equal(count, 2); /* no temporary file is left */
    nnv_file_list_free(paths, count);
    free(data);
}

static void limits_are_kept(void **state) {
    (void)state;
    struct nnv_err err;
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(nnv_file_write(in_folder("ten"), "0123456789", 10, &err), NNV_OK);
    assert_int_equal(nnv_file_read(in_folder("ten"), 9, &data, &size, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "ten: larger than the limit of 9 bytes"));
    assert_int_equal(nnv_file_read("/dev/zero", 1000, &data, &size, &err), NNV_INVALID);
    assert_int_equal(nnv_file_read("/dev/zero", 200000, &data, &size, &err), NNV_INVALID);
    assert_null(data);
    assert_int_equal(nnv_file_read("/proc/self/status", 1 << 20, &data, &size, &err),
                     NNV_OK); /* a size of 0 that lies */
    assert_true(size > 100);
    free(data);
}

static void refusals_name_the_path(void **state) {
    (void)state;
    struct nnv_err err;
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(nnv_file_read(in_folder("none"), 9, &data, &size, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "/none: cannot open: No such file"));
    assert_int_equal(nnv_file_read(folder, 9, &data, &size, &err), NNV_INVALID);
    assert_int_equal(nnv_file_write(in_folder("no/such"), "x", 1, &err), NNV_IO);
    assert_non_null(strstr(err.text, "no/such: cannot create"));
    assert_int_equal(nnv_file_write(folder, "x", 1, &err), NNV_IO);
    char **paths = NULL;
    size_t count = 0;
    static const char *const any[] = {"", NULL};
    assert_int_equal(nnv_file_list(in_folder("none"), any, &paths, &count, &err), NNV_INVALID);
    assert_null(paths);
}

static void a_full_disk_says_so(void **state) {
    (void)state;
    struct nnv_err err;
    int fd = open("/dev/full", O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(nnv_write_all(fd, "x", 1, "journal.jsonl", &err), NNV_IO);
    assert_non_null(strstr(err.text, "journal.jsonl: cannot write: No space left"));
    assert_non_null(strstr(err.text, "free some space"));
    close(fd);
    assert_int_equal(nnv_file_write("/dev/full", "x", 1, &err), NNV_IO);
    struct stat st;
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(nnv_file_write("/dev/null", "x", 1, &err), NNV_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode)); /* not replaced */
}

static void folders_are_made_with_parents(void **state) {
    (void)state;
    struct nnv_err err;
    assert_int_equal(nnv_file_mkdir(in_folder("x//y/z/"), &err), NNV_OK);
    assert_int_equal(nnv_file_mkdir(in_folder("x/y/z"), &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("x/file"), "x", 1, &err), NNV_OK);
    assert_int_equal(nnv_file_mkdir(in_folder("x/file"), &err), NNV_IO);
    assert_int_equal(nnv_file_mkdir(in_folder("x/file/y"), &err), NNV_IO);
    assert_non_null(strstr(err.text, "x/file: cannot create the folder"));
    assert_int_equal(nnv_file_mkdir("", &err), NNV_IO);
}

/* Nobody who may write to the folder can have prepared where a file is written first. */
static void temporary_files_are_new(void **state) {
    (void)state;
    char *a, *b;
    const int one = nnv_file_temporary("x", &a), two = nnv_file_temporary("x", &b);
    assert_true(one >= 0 && two >= 0);
    assert_string_not_equal(a, b);
    assert_int_equal(fcntl(one, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(one);
    close(two);
    unlink(a);
    unlink(b);
    free(a);
    free(b);
    assert_true(nnv_file_temporary("/nowhere/x", &a) < 0);
    assert_null(a);
    struct nnv_err err;
    assert_int_equal(symlink("victim", "link"), 0);
    assert_int_equal(nnv_file_create("link", "x", 1, &err), NNV_IO);
    assert_int_equal(access("victim", F_OK), -1);
    assert_int_equal(nnv_file_write("link", "x", 1, &err), NNV_OK); /* replaced, not followed */
    assert_int_equal(access("victim", F_OK), -1);
    unlink("link");
}

/* What others wrote reaches a terminal through errors. */
static void errors_hold_no_control_characters(void **state) {
    (void)state;
    struct nnv_err err;
    nnv_err_set(&err, NNV_INVALID, "%s",
                "\033]0;x\007 a\tb\nc\r\x7f \xc2\x9b"
                "2J \xc3\xa4");
    assert_string_equal(err.text, "?]0;x? a\tb\nc?? ??2J \xc3\xa4");
    nnv_err_at(&err, NNV_INVALID, "%s", "\033[1m");
    assert_int_equal(strncmp(err.text, "?[1m: ?]0;x?", 12), 0);
}

static void listings_are_sorted_and_filtered(void **state) {
    (void)state;
    struct nnv_err err;
    static const char *const names[] = {"l/b.jsonl", "l/a.json", "l/sub/c.json", "l/d.txt", "l/json"};
    static const char *const suffixes[] = {".json", ".jsonl", NULL};
    assert_int_equal(nnv_file_mkdir(in_folder("l/sub/deep"), &err), NNV_OK);
    for (size_t i = 0; i < 5; i++) assert_int_equal(nnv_file_write(in_folder(names[i]), "", 0, &err), NNV_OK);
    assert_int_equal(symlink("..", in_folder("l/sub/circle")), 0);
    assert_int_equal(symlink("../a.json", in_folder("l/sub/link.json")), 0);
    assert_int_equal(symlink("nowhere", in_folder("l/sub/broken.json")), 0);
    char **paths = NULL;
    size_t count = 0;
    assert_int_equal(nnv_file_list(in_folder("l/"), suffixes, &paths, &count, &err), NNV_OK);
    assert_int_equal(count, 4);
    static const char *const want[] = {"l/a.json", "l/b.jsonl", "l/sub/c.json", "l/sub/link.json"};
    for (size_t i = 0; i < 4; i++) assert_string_equal(paths[i], in_folder(want[i]));
    nnv_file_list_free(paths, count);
    assert_int_equal(nnv_file_list(in_folder("l/a.json"), suffixes, &paths, &count, &err), NNV_OK);
    assert_int_equal(count, 1);
    nnv_file_list_free(paths, count);
    assert_int_equal(nnv_file_list(in_folder("l/sub/deep"), suffixes, &paths, &count, &err), NNV_OK);
    assert_int_equal(count, 0);
    nnv_file_list_free(paths, count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(refusals_name_the_path),
        cmocka_unit_test(a_full_disk_says_so),
        cmocka_unit_test(folders_are_made_with_parents),
        cmocka_unit_test(temporary_files_are_new),
        cmocka_unit_test(errors_hold_no_control_characters),
        cmocka_unit_test(listings_are_sorted_and_filtered),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
