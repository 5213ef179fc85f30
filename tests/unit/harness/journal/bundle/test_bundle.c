/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_bundle.c What a folder's manifest says of it: what is told, and that its cost grows with the files. */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "harness/journal/bundle/bundle.h"
#include "tests/kit/test.h"

static char root[] = "/tmp/nnvts-bundle-XXXXXX";

/* Counts what is asked of the manifest. */
static size_t asked;

json_t *json_object_get(const json_t *object, const char *key) {
    static json_t *(*real)(const json_t *, const char *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "json_object_get");
    asked++;
    return real(object, key);
}

static void write_file(const char *name, const void *data, size_t n) {
    char path[PATH_MAX];
    struct nnv_err err = {0};
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (nnv_file_create(path, data, n, &err) != NNV_OK) fail_msg("%s", err.text);
}

/** Writes the files from..to, with the manifest of all up to to. */
static void fill(size_t from, size_t to) {
    json_t *files = json_array();
    char name[32], path[PATH_MAX], hex[NNV_HEX_SHA256];
    struct nnv_err err = {0};
    for (size_t i = 0; i < to; i++) {
        snprintf(name, sizeof name, "file%zu", i);
        snprintf(path, sizeof path, "%s/%s", root, name);
        if (i >= from) write_file(name, name, strlen(name));
        assert_int_equal(nnv_bundle_hash(path, hex, &err), NNV_OK);
        json_array_append_new(files, json_pack("{s:s, s:s}", "name", name, "sha256", hex));
    }
    json_t *manifest = json_pack("{s:o}", "files", files);
    char *text = json_dumps(manifest, 0);
    write_file("manifest.json", text, strlen(text));
    free(text);
    json_decref(manifest);
}

static void hear(void *context, const char *text) {
    char *told = context;
    snprintf(told + strlen(told), PATH_MAX - strlen(told), "%s;", text);
}

/** How much was asked of the manifest while the folder was compared with it; told: room for PATH_MAX. */
static size_t compare(char *told) {
    json_t *manifest = NULL;
    struct nnv_err err = {0};
    *told = '\0';
    asked = 0;
    if (nnv_bundle_compare(root, hear, told, &manifest, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_non_null(manifest);
    json_decref(manifest);
    return asked;
}

static void cost_grows_with_the_files(void **state) {
    (void)state;
    enum { FEW = 50, MANY = 8 * FEW };
    char told[PATH_MAX];
    fill(0, FEW);
    const size_t few = compare(told);
    assert_string_equal(told, "");
    fill(FEW, MANY);
    const size_t many = compare(told);
    assert_string_equal(told, "");
    assert_true(many <= 8 * few);
}

static void differences_are_told(void **state) {
    (void)state;
    char path[PATH_MAX], told[PATH_MAX];
    fill(0, 5);
    for (size_t i = 5; i < 400; i++) {
        snprintf(path, sizeof path, "%s/file%zu", root, i);
        unlink(path);
    }
    write_file("more", "x", 1);
    write_file("file3", "x", 1);
    snprintf(path, sizeof path, "%s/file1", root);
    unlink(path);
    compare(told);
    assert_string_equal(told, "file1: is missing;file3: is not what was packed (its SHA-256 differs);"
                              "more: was not packed;");
}

/* A path of more than 100 characters is cut at a slash: the header of a member has two fields. */
static void long_names_come_back(void **state) {
    (void)state;
    enum { LONG = 98 };
    char from[64], to[64], path[PATH_MAX], name[LONG + 1], *data = NULL;
    size_t size = 0;
    struct nnv_err err = {0};
    json_t *manifest = json_object();
    memset(name, 'n', LONG);
    name[LONG] = '\0';
    snprintf(from, sizeof from, "%s/from", root);
    snprintf(to, sizeof to, "%s/to", root);
    snprintf(path, sizeof path, "%s/dumps", from);
    assert_int_equal(nnv_folder_make(path, &err), NNV_OK);
    snprintf(path, sizeof path, "from/dumps/%s", name);
    write_file(path, "1", 1);
    snprintf(path, sizeof path, "%s/run.tar", root);
    if (nnv_bundle_write(from, manifest, path, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_bundle_unpack(path, to, &err) != NNV_OK) fail_msg("%s", err.text);
    snprintf(path, sizeof path, "%s/dumps/%s", to, name);
    if (nnv_file_read(path, 1, &data, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_string_equal(data, "1");
    free(data);
    json_decref(manifest);
}

/** root/NAME; of the last four calls. */
static const char *in_root(const char *name) {
    static char path[4][PATH_MAX];
    static size_t n;
    snprintf(path[n % 4], PATH_MAX, "%s/%s", root, name);
    return path[n++ % 4];
}

static void make(const char *folder) {
    struct nnv_err err = {0};
    if (nnv_folder_make(in_root(folder), &err) != NNV_OK) fail_msg("%s", err.text);
}

/** What is in a file below root, malloc'ed. */
static char *read_file(const char *name, size_t *size) {
    struct nnv_err err = {0};
    char *data = NULL;
    if (nnv_file_read(in_root(name), 1 << 24, &data, size, &err) != NNV_OK) fail_msg("%s", err.text);
    return data;
}

static enum nnv_status pack(const char *folder, const char *archive, struct nnv_err *err) {
    json_t *manifest = json_object();
    const enum nnv_status st = nnv_bundle_write(in_root(folder), manifest, in_root(archive), err);
    json_decref(manifest);
    return st;
}

/* Members are of whole blocks, and read and written in larger pieces. */
static void sizes_come_back(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 511, 512, 513, 65535, 65536, 65537, 200000};
    enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 200000 };
    static char bytes[MOST];
    char name[32], told[PATH_MAX] = "";
    struct nnv_err err = {0};
    for (size_t i = 0; i < MOST; i++) bytes[i] = (char)(i * 7 + i / 251);
    make("sizes");
    for (size_t i = 0; i < SIZES; i++) {
        snprintf(name, sizeof name, "sizes/%06zu", i);
        write_file(name, bytes, sizes[i]);
    }
    if (pack("sizes", "sizes.tar", &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_bundle_unpack(in_root("sizes.tar"), in_root("back"), &err) != NNV_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < SIZES; i++) {
        size_t size = 0;
        snprintf(name, sizeof name, "back/%06zu", i);
        char *data = read_file(name, &size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(data, bytes, size);
        free(data);
    }
    json_t *manifest = NULL;
    assert_int_equal(nnv_bundle_compare(in_root("back"), hear, told, &manifest, &err), NNV_OK);
    assert_string_equal(told, "");
    const json_t *files = json_object_get(manifest, "files"), *file;
    size_t i;
    assert_int_equal(json_array_size(files), SIZES);
    json_array_foreach(files, i, file) {
        assert_int_equal(json_integer_value(json_object_get(file, "bytes")), sizes[i]);
    }
    json_decref(manifest);
}

/** An archive of one file, in bytes; malloc'ed. The first member is the manifest, of one block. */
static char *small_archive(size_t *size) {
    struct nnv_err err = {0};
    make("small");
    write_file("small/a", "1", 1);
    if (pack("small", "small.tar", &err) != NNV_OK) fail_msg("%s", err.text);
    char *data = read_file("small.tar", size);
    assert_int_equal(*size, 6 * 512);
    return data;
}

/** Unpacks n bytes; "" if that goes well, else the words of the error. */
static const char *unpack(const char *data, size_t n) {
    static struct nnv_err err;
    err = (struct nnv_err){0};
    write_file("made.tar", data, n);
    assert_int_equal(remove_folder(in_root("made")) == 0 || access(in_root("made"), F_OK) != 0, 1);
    const enum nnv_status st = nnv_bundle_unpack(in_root("made.tar"), in_root("made"), &err);
    if (st == NNV_OK) return "";
    assert_int_equal(st, NNV_INVALID);
    const char *words = strstr(err.text, "made.tar: ");
    return words ? words + strlen("made.tar: ") : err.text;
}

static void headers_are_ustar(void **state) {
    (void)state;
    size_t size;
    char *data = small_archive(&size), *h = data + 2 * 512;
    assert_string_equal(data, "manifest.json");
    assert_string_equal(h, "a");
    assert_memory_equal(h + 100, "0000644\0000000000\0000000000\00000000000001\00000000000000\0", 48);
    assert_memory_equal(h + 156, "0", 2);
    assert_memory_equal(h + 257, "ustar\00000", 8);
    assert_memory_equal(h + 512, "1\0", 2);
    for (size_t i = 4 * 512; i < size; i++) assert_int_equal(data[i], 0);
    free(data);
}

static void cut_archives(void **state) {
    (void)state;
    size_t size;
    char *data = small_archive(&size);
    static const size_t apart[] = {0, 1, 511};
    for (size_t i = 0; i < 3 * size / 512; i++) {
        const size_t n = i / 3 * 512 + apart[i % 3];
        const char *words = unpack(data, n);
        assert_string_equal(words, n < 5 * 512 ? "is cut off" : ""); /* of two empty blocks one is enough */
    }
    free(data);
}

/* A byte of a header that is changed is found, but for the last of the checksum, which says nothing. */
static void damaged_headers(void **state) {
    (void)state;
    enum { CHECKSUM_END = 155 };
    size_t size;
    char *data = small_archive(&size);
    assert_memory_equal(data + 2 * 512 + CHECKSUM_END - 1, "\0 ", 2); /* as POSIX has it */
    for (size_t i = 0; i < 512; i++) {
        data[2 * 512 + i] ^= 1;
        const char *words = unpack(data, size);
        data[2 * 512 + i] ^= 1;
        const char *expected = i == CHECKSUM_END ? "" : "is no archive that nnvts pack made, or is damaged";
        if (strcmp(words, expected) != 0) fail_msg("byte %zu: '%s'", i, words);
    }
    free(data);
}

/** Makes the checksum of a header right. */
static void seal(char *h) {
    unsigned sum = 0;
    memset(h + 148, ' ', 8);
    for (size_t i = 0; i < 512; i++) sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    h[155] = ' ';
}

static void what_no_bundle_has(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool good;
    } row[] = {{"b", true},     {"b.c/..d", true}, {"...", true},     {"a/b/c", true},  {"", false},    {"/b", false},
               {"../b", false}, {"b/..", false},   {"b/../c", false}, {".", false},     {"./b", false}, {"b/.", false},
               {"b//c", false}, {"b/", false},     {"b\n", false},    {"b\x1f", false}, {"b\x20", true}};
    size_t size;
    char *data = small_archive(&size), *h = data + 2 * 512, expected[256];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        memset(h, 0, 100);
        memcpy(h, row[i].name, strlen(row[i].name));
        seal(h);
        snprintf(expected, sizeof expected, "holds a member that no bundle has: '%s'", row[i].name);
        for (char *c = expected; *c; c++) *c = *c < ' ' && *c != '\n' ? '?' : *c; /* for terminals */
        const char *words = unpack(data, size);
        if (strcmp(words, row[i].good ? "" : expected) != 0) fail_msg("'%s': %s", row[i].name, words);
    }
    memset(h, 0, 100);
    *h = 'a';
    static const struct {
        size_t at;
        const char *bytes, *words;
    } other[] = {{156, "5", "holds a member that no bundle has: 'a'"}, /* a folder */
                 {156, "2", "holds a member that no bundle has: 'a'"}, /* a link */
                 {156, "", ""},
                 {124, "777777777777", "holds a member that no bundle has: 'a'"}, /* too large */
                 {124, "           1", ""},
                 {124, "0000000000x", "holds a member that no bundle has: 'a'"},
                 {124, "            ", "holds a member that no bundle has: 'a'"},
                 {257, "gnu", "is no archive that nnvts pack made, or is damaged"},
                 {345, "p", ""}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char kept[512];
        memcpy(kept, h, 512);
        const size_t n = strlen(other[i].bytes);
        memcpy(h + other[i].at, other[i].bytes, n ? n : 1);
        seal(h);
        assert_string_equal(unpack(data, size), other[i].words);
        memcpy(h, kept, 512);
    }
    assert_int_equal(access(in_root("made/p/a"), F_OK), 0); /* the last one had a prefix */
    /* the same member twice */
    seal(h);
    char *twice = malloc(size + 1024);
    memcpy(twice, data, 4 * 512);
    memcpy(twice + 4 * 512, data + 2 * 512, size - 2 * 512);
    assert_string_equal(unpack(twice, size + 1024), "a member is there twice, or its folder can't be written");
    free(twice);
    free(data);
}

/* A member for which there is no room on the disk is told as what it is. */
static void disk_is_full(void **state) {
    (void)state;
    static char much[64 * 1024];
    struct nnv_err err = {0};
    struct rlimit before, little;
    assert_int_equal(mkdir(in_root("much"), 0700), 0);
    write_file("much/a", much, sizeof much);
    assert_int_equal(pack("much", "much.tar", &err), NNV_OK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = sizeof much / 2;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const enum nnv_status st = nnv_bundle_unpack(in_root("much.tar"), in_root("unmuch"), &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(st, NNV_IO);
    assert_non_null(strstr(err.text, "unmuch/a: can't be written (is the disk full?)"));
}

/** How many files and folders there are in the root itself. */
static size_t entries(void) {
    DIR *dir = opendir(root);
    size_t n = 0;
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

/* Names have room for 100 characters, or for 155 and 100 beside a slash. What has no room is refused, whatever comes
 * behind it, and leaves nothing. */
static void names_have_room(void **state) {
    (void)state;
    static const struct {
        int folder, file;
        bool fits;
    } row[] = {{0, 100, true},   {0, 101, false},   {1, 100, true},  {1, 101, false}, {155, 1, true},
               {155, 100, true}, {155, 101, false}, {156, 1, false}, {99, 1, true}};
    char letters[256], folder[512], name[1024];
    memset(letters, 'n', sizeof letters);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct nnv_err err = {0};
        snprintf(folder, sizeof folder, "room%zu%s%.*s", i, row[i].folder ? "/" : "", row[i].folder, letters);
        make(folder);
        snprintf(name, sizeof name, "%s/%.*s", folder, row[i].file, letters);
        write_file(name, "1", 1);
        snprintf(folder, sizeof folder, "room%zu", i);
        snprintf(name, sizeof name, "room%zu/zz", i);
        write_file(name, "2", 1);
        const size_t before = entries();
        const enum nnv_status st = pack(folder, "room.tar", &err);
        if (st != (row[i].fits ? NNV_OK : NNV_UNSUPPORTED)) fail_msg("%d/%d: %s", row[i].folder, row[i].file, err.text);
        assert_int_equal(entries(), before + row[i].fits);
        if (!row[i].fits) continue;
        snprintf(folder, sizeof folder, "unroom%zu", i);
        if (nnv_bundle_unpack(in_root("room.tar"), in_root(folder), &err) != NNV_OK) fail_msg("%s", err.text);
        snprintf(name, sizeof name, "unroom%zu/%.*s%s%.*s", i, row[i].folder, letters, row[i].folder ? "/" : "",
                 row[i].file, letters);
        assert_int_equal(access(in_root(name), F_OK), 0);
        unlink(in_root("room.tar"));
    }
}

static int setup(void **state) {
    (void)state;
    return mkdtemp(root) == NULL;
}

static int teardown(void **state) {
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cost_grows_with_the_files),
                                       cmocka_unit_test(differences_are_told),
                                       cmocka_unit_test(long_names_come_back),
                                       cmocka_unit_test(sizes_come_back),
                                       cmocka_unit_test(headers_are_ustar),
                                       cmocka_unit_test(cut_archives),
                                       cmocka_unit_test(damaged_headers),
                                       cmocka_unit_test(what_no_bundle_has),
                                       cmocka_unit_test(disk_is_full),
                                       cmocka_unit_test(names_have_room)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
