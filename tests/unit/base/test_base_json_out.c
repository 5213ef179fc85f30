/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: commas, layout and escaping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

#include "base/json_out.h"

static void write_all(struct nnv_json_out *j, const char *line) {
    nnv_json_open(j, NULL, '{');
    nnv_json_open(j, "none", '[');
    nnv_json_close(j, ']');
    nnv_json_string(j, "a\"", "b\n\xff");
    nnv_json_string(j, "null", NULL);
    nnv_json_uint(j, "most", UINT64_MAX);
    j->line = line;
    nnv_json_open(j, "list", '[');
    for (int i = 0; i < 2; i++) {
        nnv_json_open(j, NULL, '{');
        nnv_json_bool(j, "b", i == 0);
        nnv_json_double(j, "d", i ? INFINITY : 0.5);
        nnv_json_close(j, '}');
    }
    nnv_json_raw(j, NULL, "%d", -1);
    j->line = line;
    nnv_json_close(j, ']');
    nnv_json_bool(j, "end", true);
    nnv_json_close(j, '}');
}

static void layouts(void **state) {
    (void)state;
    struct nnv_text t = {0};
    struct nnv_json_out compact = {.text = &t}, spaced = {.text = &t, .spaced = true};
    write_all(&compact, NULL);
    assert_string_equal(t.data,
                        "{\"none\":[],\"a\\\"\":\"b\\n\xef\xbf\xbd\",\"null\":null,\"most\":18446744073709551615,"
                        "\"list\":[{\"b\":true,\"d\":0.5},{\"b\":false,\"d\":\"Infinity\"},-1],\"end\":true}");
    nnv_text_clear(&t);
    write_all(&spaced, "\n ");
    assert_string_equal(
        t.data, "{\"none\": [], \"a\\\"\": \"b\\n\xef\xbf\xbd\", \"null\": null, \"most\": 18446744073709551615,\n "
                "\"list\": [{\"b\": true, \"d\": 0.5}, {\"b\": false, \"d\": \"Infinity\"}, -1\n ], \"end\": true}");
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
