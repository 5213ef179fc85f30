/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
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

/* Told before the work, and nothing is left behind. */
static void what_can_be_written_is_tried(void **state) {
    (void)state;
    struct nnv_err err;
    static const char *const any[] = {"", NULL};
    char **before, **after, dir[512];
    size_t n = 0, now = 0;
    snprintf(dir, sizeof dir, "%s", in_folder("tried"));
    assert_int_equal(nnv_folder_make(dir, &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("tried/file"), "x", 1, &err), NNV_OK);
    assert_int_equal(nnv_file_list(dir, any, &before, &n, &err), NNV_OK);
    assert_int_equal(nnv_file_try(dir, true, &err), NNV_OK);
    assert_int_equal(nnv_file_try(in_folder("tried/new/er"), true, &err), NNV_OK);
    assert_int_equal(nnv_file_try(in_folder("tried/file"), false, &err), NNV_OK);
    assert_int_equal(nnv_file_try(in_folder("tried/other"), false, &err), NNV_OK);
    assert_int_equal(nnv_file_try("/dev/stdout", false, &err), NNV_OK);
    assert_int_equal(nnv_file_try(in_folder("tried/none/other"), false, &err), NNV_INVALID);
    assert_int_equal(nnv_file_try(in_folder("tried/file"), true, &err), NNV_INVALID);
    assert_int_equal(nnv_file_try(in_folder("tried/file/below"), true, &err), NNV_INVALID);
    assert_int_equal(nnv_file_try(dir, false, &err), NNV_INVALID);
    assert_int_equal(nnv_file_try("/proc/nnvts/out", true, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "/proc/nnvts/out: cannot create"));
    assert_int_equal(nnv_file_list(dir, any, &after, &now, &err), NNV_OK);
    assert_int_equal(now, n);
    nnv_file_list_free(before, n);
    nnv_file_list_free(after, now);
}

static void expect_content(const char *name, const char *content) {
    struct nnv_err err;
    char *data = NULL;
    size_t size = 0;
    if (nnv_file_read(in_folder(name), 100, &data, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_string_equal(data, content);
    free(data);
}

/* As on a file system that knows no exchange of names: the call fails with this number; 0: it is made. */
static int no_exchange;
static size_t exchanges;

long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list ap;
    va_start(ap, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(ap, long);
    va_end(ap);
    exchanges += number == SYS_renameat2;
    if (number != SYS_renameat2 || no_exchange == 0) return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    errno = no_exchange;
    return -1;
}

/* The call of this number fails; below 0: none. */
static int stuck = -1;

int rename(const char *from, const char *to) {
    if (stuck-- != 0) return renameat(AT_FDCWD, from, AT_FDCWD, to);
    errno = EBUSY;
    return -1;
}

/* What was there is kept once, and nothing is ever deleted. */
static void a_folder_is_set_aside(void **state) {
    (void)state;
    struct nnv_err err;
    char dir[512];
    snprintf(dir, sizeof dir, "%s/", in_folder("aside"));
    assert_int_equal(nnv_folder_set_aside(dir, &err), NNV_OK); /* nothing is there */
    assert_int_equal(access(in_folder("aside.previous"), F_OK), -1);
    assert_int_equal(nnv_folder_make(dir, &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("aside/x"), "1", 1, &err), NNV_OK);
    assert_int_equal(nnv_folder_set_aside(dir, &err), NNV_OK);
    expect_content("aside.previous/x", "1");
    assert_int_equal(access(in_folder("aside"), F_OK), -1);
    assert_int_equal(nnv_folder_make(dir, &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("aside/x"), "2", 1, &err), NNV_OK);
    assert_int_equal(nnv_folder_set_aside(dir, &err), NNV_OK);
    expect_content("aside.previous/x", "2");
    expect_content("aside/x", "1");
    assert_int_equal(access(in_folder("aside.previous~"), F_OK), -1);
}

static void folders_change_places_in_steps(void **state) {
    (void)state;
    static const int unknown[] = {EINVAL, ENOSYS};
    struct nnv_err err;
    char dir[512];
    snprintf(dir, sizeof dir, "%s", in_folder("steps"));
    assert_int_equal(nnv_folder_make(in_folder("steps.previous"), &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("steps.previous/x"), "0", 1, &err), NNV_OK);
    assert_int_equal(nnv_folder_make(dir, &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("steps/x"), "1", 1, &err), NNV_OK);
    for (int i = 0; i < 2; i++) {
        no_exchange = unknown[i];
        exchanges = 0;
        assert_int_equal(nnv_folder_set_aside(dir, &err), NNV_OK);
        assert_int_equal(exchanges, 1);
        expect_content("steps/x", i ? "1" : "0");
        expect_content("steps.previous/x", i ? "0" : "1");
        assert_int_equal(access(in_folder("steps.previous~"), F_OK), -1);
    }
    /* A step that fails, as that of a mount point does: those before it are undone. */
    for (int step = 0; step < 3; step++) {
        stuck = step;
        assert_int_equal(nnv_folder_set_aside(dir, &err), NNV_IO);
        assert_non_null(strstr(err.text, "cannot be kept as the previous one: Device or resource busy"));
        expect_content("steps/x", "1");
        expect_content("steps.previous/x", "0");
        assert_int_equal(access(in_folder("steps.previous~"), F_OK), -1);
    }
    /* Any other failure is none of the file system's knowledge. */
    no_exchange = EACCES;
    assert_int_equal(nnv_folder_set_aside(dir, &err), NNV_IO);
    assert_non_null(strstr(err.text, "cannot be kept as the previous one: Permission denied"));
    expect_content("steps/x", "1");
    no_exchange = 0;
}

static void folders_are_made_with_parents(void **state) {
    (void)state;
    struct nnv_err err;
    assert_int_equal(nnv_folder_make(in_folder("x//y/z/"), &err), NNV_OK);
    assert_int_equal(nnv_folder_make(in_folder("x/y/z"), &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("x/file"), "x", 1, &err), NNV_OK);
    assert_int_equal(nnv_folder_make(in_folder("x/file"), &err), NNV_IO);
    assert_int_equal(nnv_folder_make(in_folder("x/file/y"), &err), NNV_IO);
    assert_non_null(strstr(err.text, "x/file: cannot create the folder"));
    assert_int_equal(nnv_folder_make("", &err), NNV_IO);
}

/* Moves the folder "out" away and puts a symbolic link to "victim" in its place. */
static void exchange_out(void) {
    assert_int_equal(rename(in_folder("out"), in_folder("stolen")), 0);
    assert_int_equal(symlink("victim", in_folder("out")), 0);
}

static size_t files_in(const char *name) {
    static const char *const any[] = {"", NULL};
    struct nnv_err err;
    char **paths = NULL;
    size_t count = 0;
    assert_int_equal(nnv_file_list(in_folder(name), any, &paths, &count, &err), NNV_OK);
    nnv_file_list_free(paths, count);
    return count;
}

/* Whoever exchanges the folder, or a folder in it, for a link gets nothing. */
static void a_kept_folder_stays_where_it_was(void **state) {
    (void)state;
    struct nnv_err err;
    struct nnv_stream s;
    char dir[512];
    snprintf(dir, sizeof dir, "%s", in_folder("out"));
    assert_int_equal(nnv_folder_make(in_folder("victim"), &err), NNV_OK);
    assert_int_equal(nnv_folder_make(dir, &err), NNV_OK);
    assert_int_equal(nnv_stream_open(&s, in_folder("out/begun"), &err), NNV_OK);
    exchange_out();
    assert_int_equal(nnv_stream_add(&s, "1", 1, &err), NNV_OK);
    assert_int_equal(nnv_stream_end(&s, &err), NNV_OK);
    expect_content("stolen/begun", "1");
    assert_int_equal(nnv_folder_make(in_folder("out/"), &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("out//a"), "2", 1, &err), NNV_OK);
    expect_content("stolen/a", "2");
    expect_content("out/a", "2"); /* read from there, too */
    assert_int_equal(nnv_folder_make(in_folder("out/b/c"), &err), NNV_OK);
    assert_int_equal(nnv_file_create(in_folder("out/b/c/d"), "3", 1, &err), NNV_OK);
    expect_content("stolen/b/c/d", "3");
    assert_int_equal(nnv_folder_remove(in_folder("out/a"), &err), NNV_OK);
    assert_int_equal(nnv_folder_remove(in_folder("out/a"), &err), NNV_OK); /* is gone already */
    assert_int_equal(nnv_folder_remove(in_folder("out/b"), &err), NNV_IO);
    assert_int_equal(symlink("../victim", in_folder("stolen/link")), 0);
    assert_int_equal(nnv_file_write(in_folder("out/link/e"), "x", 1, &err), NNV_IO);
    assert_int_equal(nnv_folder_make(in_folder("out/link"), &err), NNV_IO);
    assert_int_equal(nnv_folder_make(in_folder("out/link/f"), &err), NNV_IO);
    assert_int_equal(symlink("/dev/null", in_folder("stolen/null")), 0);
    assert_int_equal(nnv_file_write(in_folder("out/null"), "4", 1, &err), NNV_OK); /* the link is replaced */
    expect_content("stolen/null", "4");
    assert_int_equal(files_in("victim"), 0);
    /* Once it was deleted, it can be made anew: what is there by then. */
    assert_int_equal(remove_folder(in_folder("stolen")), 0);
    assert_int_equal(nnv_file_write(in_folder("out/a"), "x", 1, &err), NNV_IO);
    assert_int_equal(unlink(in_folder("out")), 0);
    assert_int_equal(nnv_folder_make(dir, &err), NNV_OK);
    assert_int_equal(nnv_file_write(in_folder("out/a"), "5", 1, &err), NNV_OK);
    expect_content("out/a", "5");
    assert_int_equal(files_in("victim"), 0);
}

/* A driver may close what it did not open, or put something else in its place. */
static void a_lost_descriptor_is_not_believed(void **state) {
    (void)state;
    struct nnv_err err;
    assert_int_equal(nnv_folder_make(in_folder("lost"), &err), NNV_OK);
    const int next = open("/", O_RDONLY | O_CLOEXEC);
    for (int fd = 3; fd < next; fd++) dup2(next, fd);
    close(next);
    assert_int_equal(nnv_file_write(in_folder("lost/a"), "1", 1, &err), NNV_OK);
    expect_content("lost/a", "1");
    assert_int_equal(nnv_folder_make(in_folder("lost"), &err), NNV_OK); /* and is kept again */
    assert_int_equal(rename(in_folder("lost"), in_folder("found")), 0);
    assert_int_equal(nnv_file_write(in_folder("lost/b"), "2", 1, &err), NNV_OK);
    expect_content("found/b", "2");
}

/* Nobody who may write to the folder can have prepared where a file is written first. */
static void temporary_files_are_new(void **state) {
    (void)state;
    char *a, *b;
    const int one = nnv_file_temporary(AT_FDCWD, "x", &a), two = nnv_file_temporary(AT_FDCWD, "x", &b);
    assert_true(one >= 0 && two >= 0);
    assert_string_not_equal(a, b);
    assert_int_equal(fcntl(one, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(one);
    close(two);
    unlink(a);
    unlink(b);
    free(a);
    free(b);
    assert_true(nnv_file_temporary(AT_FDCWD, "/nowhere/x", &a) < 0);
    assert_null(a);
    struct nnv_err err;
    assert_int_equal(symlink("victim", "link"), 0);
    assert_int_equal(nnv_file_create("link", "x", 1, &err), NNV_OK); /* replaced, not followed */
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
    assert_int_equal(nnv_folder_make(in_folder("l/sub/deep"), &err), NNV_OK);
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

/* Whatever standard output leads to, the name in /dev stays what it is. */
static void test_names_of_devices(void **state) {
    (void)state;
    struct nnv_err err = {0};
    struct stat before, after;
    char path[64], file[] = "/tmp/nnvts-file-XXXXXX", text[8] = "";
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(lstat(path, &before), 0);
    assert_int_equal(nnv_file_write(path, "seen", 4, &err), NNV_OK);
    assert_int_equal(lstat(path, &after), 0);
    assert_true(S_ISLNK(after.st_mode));
    assert_int_equal(pread(fd, text, sizeof text - 1, 0), 4);
    assert_string_equal(text, "seen");
    close(fd);
    unlink(file);
}

static void lines_of_small_files(void **state) {
    static const char text[] = "model name\t: some: cpu \nmodel\t: 7\nRssAnon:\t  12 kB\n0::/a/b\n\nlast";
    static const struct {
        const char *key, *line;
    } rows[] = {{"", "model name\t: some: cpu "},
                {"model name", "some: cpu "},
                {"RssAnon", "12 kB"},
                {"0::", "/a/b"},
                {"last", ""},
                {"none", ""}};
    struct nnv_err err = {0};
    char line[32];
    (void)state;
    assert_int_equal(nnv_file_write(in_folder("lines"), text, sizeof text - 1, &err), NNV_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(nnv_file_line(in_folder("lines"), rows[i].key, line, sizeof line), *rows[i].line != '\0');
        assert_string_equal(line, rows[i].line);
    }
    strcpy(line, "before");
    assert_false(nnv_file_line(in_folder("not there"), "", line, sizeof line));
    assert_string_equal(line, "");
    assert_int_equal(nnv_file_write(in_folder("lines"), "\nx\n", 3, &err), NNV_OK);
    assert_false(nnv_file_line(in_folder("lines"), "", line, sizeof line));
}

static void a_file_into_an_arena(void **state) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_err err = {0};
    char *data = NULL;
    size_t size = 0;
    (void)state;
    assert_non_null(arena);
    assert_int_equal(nnv_file_write(in_folder("ten"), "0123456789", 10, &err), NNV_OK);
    assert_int_equal(nnv_file_load(in_folder("ten"), 10, arena, &data, &size, &err), NNV_OK);
    assert_int_equal(size, 10);
    assert_string_equal(data, "0123456789");
    data = NULL;
    assert_int_equal(nnv_file_load(in_folder("ten"), 9, arena, &data, &size, &err), NNV_INVALID);
    assert_null(data);
    nnv_arena_free(arena);
}

static void the_program_has_a_path(void **state) {
    char path[4096];
    (void)state;
    assert_true(nnv_file_of_program(path, sizeof path));
    assert_string_equal(strrchr(path, '/'), "/test_base_file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_devices),
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(refusals_name_the_path),
        cmocka_unit_test(a_full_disk_says_so),
        cmocka_unit_test(what_can_be_written_is_tried),
        cmocka_unit_test(a_folder_is_set_aside),
        cmocka_unit_test(folders_change_places_in_steps),
        cmocka_unit_test(folders_are_made_with_parents),
        cmocka_unit_test(a_kept_folder_stays_where_it_was),
        cmocka_unit_test(a_lost_descriptor_is_not_believed),
        cmocka_unit_test(temporary_files_are_new),
        cmocka_unit_test(errors_hold_no_control_characters),
        cmocka_unit_test(lines_of_small_files),
        cmocka_unit_test(a_file_into_an_arena),
        cmocka_unit_test(the_program_has_a_path),
        cmocka_unit_test(listings_are_sorted_and_filtered),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
