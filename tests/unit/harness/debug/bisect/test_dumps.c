/* SPDX-License-Identifier: Apache-2.0 */
/** Files of results that somebody else has computed: what they stand for, and those that are damaged. */
#include "base/file.h"
#include "harness/debug/bisect/dumps.h"
#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

enum { N = 12 };

static char folder[] = "/tmp/nnvts-dumps-XXXXXX";
static struct nnv_value given[2];

/** RELU of an image [1,2,3,2] in codes of 0.5 from 10 on. */
static struct nnv_spec *relu(void) {
    static const char text[] =
        "{\"format\":\"nnvts-spec/1\",\"name\":\"relu\",\"main\":{\"operands\":["
        "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[1,2,3,2],\"scale\":0.5,\"zero_point\":10,"
        "\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[10,11,12,13,14,15,16,17,18,19,20,21]},"
        "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[1,2,3,2],\"scale\":0.5,\"zero_point\":10,"
        "\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[10,11,12,13,14,15,16,17,18,19,20,21]}],"
        "\"operations\":[{\"type\":\"RELU\",\"inputs\":[0],\"outputs\":[1]}],\"inputs\":[0],\"outputs\":[1]}}";
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    if (nnv_spec_parse(text, sizeof text - 1, "test", arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    return spec;
}

static void put(const char *name, const void *data, size_t size) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(nnv_file_create(path, data, size, NULL), NNV_OK);
}

/** A header of version 1 and the data behind it. */
static void put_npy(const char *name, const char *head, const void *data, size_t size) {
    unsigned char file[512] = "\x93NUMPY\1";
    const size_t n = strlen(head);
    file[8] = (unsigned char)n;
    memcpy(file + 10, head, n);
    memcpy(file + 10 + n, data, size);
    put(name, file, 10 + n + size);
}

static enum nnv_status read_them(struct nnv_err *err) {
    struct nnv_spec *spec = relu();
    const struct nnv_value like[2] = {spec->inputs[0], spec->outputs[0]};
    size_t count;
    memset(given, 0, sizeof given);
    return nnv_dumps_read(folder, spec, like, arena, given, &count, err);
}

/** What is read is the result as it should be. */
static void is_right(void) {
    struct nnv_err err = {0};
    if (read_them(&err) != NNV_OK) fail_msg("%s", err.text);
    for (int i = 0; i < N; i++) assert_int_equal(((const unsigned char *)given[1].data)[i], 10 + i);
    assert_int_equal(given[1].rank, 4);
    assert_null(given[0].data);
}

static void refused(const char *why) {
    struct nnv_err err = {0};
    assert_int_equal(read_them(&err), NNV_INVALID);
    if (!strstr(err.text, why)) fail_msg("'%s' does not say '%s'", err.text, why);
}

static void remove_file(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
}

static int begin(void **state) {
    strcpy(folder, "/tmp/nnvts-dumps-XXXXXX");
    return set_up(state) || make_folder(folder);
}
static int end(void **state) { return tear_down(state) || remove_folder(folder); }

static void test_meanings(void **state) {
    (void)state;
    float reals[N], nchw[N];
    unsigned char codes[N];
    int64_t wide[N];
    for (int i = 0; i < N; i++) {
        reals[i] = (float)i / 2;
        codes[i] = (unsigned char)(10 + i);
        wide[i] = 10 + i;
        nchw[i % 2 * 6 + i / 2] = reals[i];
    }
    put("0.raw", codes, sizeof codes);
    is_right();
    put("0.raw", reals, sizeof reals);
    is_right();
    remove_file("0.raw");
    put_npy("000_relu.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3, 2), }\n", reals, sizeof reals);
    is_right();
    put_npy("000_relu.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2, 3), }\n", nchw, sizeof nchw);
    is_right();
    put_npy("000_relu.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (12,), }\n", wide, sizeof wide);
    is_right();
    put_npy("000_relu.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (12,), }\n", codes, sizeof codes);
    is_right();
    put("relu.raw", codes, sizeof codes); /* somebody else's */
    is_right();
}

/** Numbers that count otherwise than nnvts would be taken for nothing wrong. */
static void test_of_no_operation(void **state) {
    (void)state;
    const unsigned char codes[N] = {0};
    put("0.raw", codes, sizeof codes);
    put("1.raw", codes, sizeof codes);
    refused("1.raw is called by the number of an operation that the model does not have");
    remove_file("1.raw");
    put("0.7.raw", codes, sizeof codes);
    refused("0.7.raw is of a result that its operation does not have");
}

static void test_damaged(void **state) {
    (void)state;
    static const struct {
        const char *head, *why;
    } files[] = {{"{'descr': '<f4', 'fortran_order': False, 'shape': (13,), }", "fewer elements"},
                 {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", "another number of elements"},
                 {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 4), }", "fewer elements"},
                 {"{'descr': '<f4', 'fortran_order': False, 'shape': (12", "fewer elements"},
                 {"{'descr': '<f4', 'fortran_order': False, }", "fewer elements"},
                 {"{'descr': '<f4', 'fortran_order': True, 'shape': (12,), }", "Fortran"},
                 {"{'descr': '<c8', 'fortran_order': False, 'shape': (12,), }", "a type that is not read"},
                 {"{'descr':", "a type that is not read"},
                 {"", "a type that is not read"}};
    const float zeros[N] = {0};
    refused("no file is called");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put_npy("0.npy", files[i].head, zeros, sizeof zeros);
        refused(files[i].why);
    }
    put("0.npy", "\x93NUMPY\1\0\xff\xff{}", 12);
    refused("cut off");
    put("0.npy", "short", 5);
    refused("no .npy file");
    remove_file("0.npy");
    put("0.bin", zeros, 7);
    refused("another number of bytes");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_meanings), TEST(test_of_no_operation), TEST(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
