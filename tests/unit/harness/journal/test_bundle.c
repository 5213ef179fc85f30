/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_bundle.c What a folder's manifest says of it: what is told, and that its cost grows with the files. */
#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/folder.h"
#include "harness/journal/bundle.h"

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
                                       cmocka_unit_test(differences_are_told), cmocka_unit_test(long_names_come_back)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
