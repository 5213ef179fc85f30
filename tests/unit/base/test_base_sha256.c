/* SPDX-License-Identifier: Apache-2.0 */
/** HMAC-SHA-256, by the examples of RFC 4231. */
#include "base/sha256.h"
#include "tests/kit/test.h"

static void test_hmac(void **state) {
    (void)state;
    static const struct {
        const char *key, *data, *code;
    } rows[] = {
        /* cases 2 and 6 */
        {"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {NULL, "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    };
    uint8_t big[131], code[NNV_SHA256_BYTES];
    memset(big, 0xaa, sizeof big);
    for (size_t i = 0; i < 2; i++) {
        char hex[2 * NNV_SHA256_BYTES + 1];
        nnv_hmac_sha256(rows[i].key ? (const void *)rows[i].key : big, rows[i].key ? strlen(rows[i].key) : sizeof big,
                        rows[i].data, strlen(rows[i].data), code);
        for (int k = 0; k < NNV_SHA256_BYTES; k++) snprintf(hex + 2 * k, 3, "%02x", code[k]);
        assert_string_equal(hex, rows[i].code);
    }
    uint8_t other[NNV_SHA256_BYTES];
    memcpy(other, code, sizeof other);
    assert_true(nnv_hmac_equal(code, other));
    other[NNV_SHA256_BYTES - 1] ^= 1;
    assert_false(nnv_hmac_equal(code, other));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hmac)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
