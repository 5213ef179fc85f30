/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged specs: each byte cut off, changed or replaced gives one clear error, or a spec that all writers take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

#define HEAD(more) "{\"format\":\"nnvts-spec/1\",\"name\":\"n\"," more "\"main\":"
#define FLOATS "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],\"lifetime\":"
#define IN0 FLOATS "\"SUBGRAPH_INPUT\",\"data\":[1.5,-2]}"
#define OUT1 FLOATS "\"SUBGRAPH_OUTPUT\",\"data\":[1.5,0]}"
#define RELU(operands)                                                                                                 \
    "{\"operands\":[" operands                                                                                         \
    "],\"operations\":[{\"type\":\"RELU\",\"inputs\":[0],\"outputs\":[1]}],\"inputs\":[0],\"outputs\":[1]}"
#define INNER RELU(FLOATS "\"SUBGRAPH_INPUT\"}," FLOATS "\"SUBGRAPH_OUTPUT\"}")

static const char *const seeds[] = {
    HEAD("\"min_version\":\"1.0\",") RELU(IN0 "," OUT1) "}",
    HEAD("\"relaxed\":true,\"exact\":true,\"source\":null,") RELU(IN0 "," OUT1) ",\"referenced\":[]}",
    HEAD("\"expect_failure\":true,") RELU(IN0 "," FLOATS "\"SUBGRAPH_OUTPUT\"}") "}",
    HEAD("\"expect_failure\":true,") RELU("{\"type\":99,\"dims\":[3],\"lifetime\":\"CONSTANT_COPY\",\"data\":{"
                                          "\"base64\":\"AQI=\",\"bytes\":2}}," OUT1) "}",
    HEAD("") RELU(FLOATS "\"SUBGRAPH_INPUT\",\"data\":[]}," OUT1) "}",
    HEAD("\"multinomial_tolerance\":0.05,")
        RELU(IN0 ",{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[1,3],\"scale\":0.5,\"zero_point\":128,\"lifetime\":"
                 "\"SUBGRAPH_OUTPUT\",\"data\":[0,7,255]}") "}",
    HEAD("") RELU("{\"type\":\"TENSOR_QUANT8_SYMM_PER_CHANNEL\",\"dims\":[2,1],\"channel_quant\":{\"dim\":0,\"scales\":"
                  "[0.5,2]},\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[-1,1]}," OUT1) "}",
    HEAD("") RELU("{\"type\":\"TENSOR_FLOAT16\",\"dims\":[0,2],\"value_dims\":[1,2],\"lifetime\":\"SUBGRAPH_INPUT\","
                  "\"data\":{\"base64\":\"ADwAPA==\"}}," OUT1) "}",
    HEAD("") RELU("{\"type\":\"TENSOR_BOOL8\",\"dims\":[1],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[true]}," FLOATS
                  "\"SUBGRAPH_OUTPUT\",\"ignored\":true,\"data\":[\"NaN\",\"-Infinity\"]}") "}",
    HEAD("") RELU(IN0 "," OUT1 ",{\"type\":\"SUBGRAPH\",\"dims\":[],\"lifetime\":\"SUBGRAPH\",\"data\":[0]},{\"type\":"
                      "\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_REFERENCE\",\"data\":[3]},{\"type\":"
                      "\"TENSOR_INT32\",\"dims\":[0],\"lifetime\":\"NO_VALUE\"}") ",\"referenced\":[" INNER "]}",
};
enum { SEEDS = sizeof seeds / sizeof *seeds, ROOM = 4096, MOST_MEMORY = 1 << 20 };

static struct nnv_text text, copy;
static size_t valid, refused;

static int drop(void **state) {
    nnv_text_free(&text);
    nnv_text_free(&copy);
    return tear_down(state);
}

/* Either an error that says where, or a spec that is written, read and written the same. */
static void judge(const char *json, size_t len) {
    struct nnv_spec *s = NULL;
    struct nnv_err err = {0};
    nnv_arena_reset(arena);
    enum nnv_status status = nnv_spec_parse(json, len, "x.json", arena, &s, &err);
    assert_true(nnv_arena_used(arena) < MOST_MEMORY);
    if (status != NNV_OK) {
        assert_true(status == NNV_INVALID || status == NNV_UNSUPPORTED);
        assert_int_equal(err.status, status);
        assert_int_equal(strncmp(err.text, "x.json: ", 8), 0);
        assert_null(s);
        refused++;
        return;
    }
    valid++;
    nnv_text_clear(&text);
    nnv_text_clear(&copy);
    nnv_spec_write_json(s, false, &text);
    if (nnv_spec_parse(text.data, text.len, "again", arena, &s, &err) != NNV_OK)
        fail_msg("%s\n%.*s\n%s", err.text, (int)len, json, text.data);
    nnv_spec_write_json(s, false, &copy);
    assert_string_equal(copy.data, text.data);
    nnv_spec_write_modpy(s, &text);
    nnv_spec_write_dot(s, 0, &text);
    nnv_spec_write_summary(s, &text);
    assert_false(text.failed);
}

static void seeds_are_valid(void **state) {
    (void)state;
    valid = refused = 0;
    for (int i = 0; i < SEEDS; i++) judge(seeds[i], strlen(seeds[i]));
    assert_int_equal(valid, SEEDS);
}

static void every_beginning_is_refused(void **state) {
    (void)state;
    valid = refused = 0;
    size_t total = 0;
    for (int i = 0; i < SEEDS; i++) {
        size_t n = strlen(seeds[i]);
        total += n;
        for (size_t len = 0; len < n; len++) judge(seeds[i], len);
    }
    assert_int_equal(refused, total);
}

static void changed_bytes(void **state) {
    (void)state;
    static const char bytes[] = "0198-+.eE\"\\,:[]{}tnA_ \n\x01\x80\xff";
    struct nnv_rng r = nnv_rng_make(1, 2, 3);
    char json[ROOM];
    valid = refused = 0;
    for (int i = 0; i < SEEDS; i++) {
        size_t n = strlen(seeds[i]);
        assert_true(n < ROOM);
        for (size_t at = 0; at < n; at++)
            for (int k = 0; k < 3; k++) {
                memcpy(json, seeds[i], n);
                json[at] = bytes[nnv_rng_int(&r, 0, sizeof bytes - 1)]; /* the terminator, too */
                judge(json, n);
            }
    }
    assert_true(valid > 100 && refused > 5000);
}

/* Each number, string, and literal of a seed replaced by something of another kind or size. */
static void changed_values(void **state) {
    (void)state;
    static const char *const values[] = {"-1",
                                         "0",
                                         "3",
                                         "4294967295",
                                         "4294967296",
                                         "9223372036854775807",
                                         "1e308",
                                         "-0.0",
                                         "2.5",
                                         "\"\"",
                                         "\"NaN\"",
                                         "null",
                                         "true",
                                         "[]",
                                         "{}",
                                         "[[[[]]]]",
                                         "[0]",
                                         "{\"base64\":\"\"}",
                                         "{\"base64\":\"AAAA\",\"bytes\":3}",
                                         "[4294967295,4294967295,4294967295]"};
    char json[ROOM];
    valid = refused = 0;
    for (int i = 0; i < SEEDS; i++) {
        const char *s = seeds[i];
        for (size_t at = 0; s[at];) {
            size_t len = strspn(s + at, "0123456789.-abcdefghijklmnopqrstuvwxyz");
            if (s[at] == '"') len = strcspn(s + at + 1, "\"") + 2;
            if (s[at] == '[') len = strcspn(s + at, "]") + 1;
            for (size_t k = 0; len && k < sizeof values / sizeof *values; k++) {
                int n = snprintf(json, sizeof json, "%.*s%s%s", (int)at, s, values[k], s + at + len);
                judge(json, (size_t)n);
            }
            at += s[at] == '[' || !len ? 1 : len;
        }
    }
    assert_true(valid > 100 && refused > 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(seeds_are_valid, set_up, drop),
        cmocka_unit_test_setup_teardown(every_beginning_is_refused, set_up, drop),
        cmocka_unit_test_setup_teardown(changed_bytes, set_up, drop),
        cmocka_unit_test_setup_teardown(changed_values, set_up, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
