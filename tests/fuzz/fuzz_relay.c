/* SPDX-License-Identifier: Apache-2.0 */
/* Relay text: one clear error, or a module that prints as text that parses back to an equal module. */
#include "compiler/params.h"
#include "tests/fuzz/target.h"

static void round_trip(struct nnv_relay_module *m, struct nnv_arena *arena) {
    struct nnv_text once = {0}, twice = {0};
    struct nnv_relay_module *again = NULL;
    struct nnv_err err = {0};
    nnv_relay_print(m, NNV_RELAY_PRINT_META, &once);
    if (once.failed) return; /* out of memory */
    enum nnv_status st = nnv_relay_parse(once.data, once.len, "again", arena, &again, &err);
    /* Only depth may be in the way: a let within a let is a block when it is printed. */
    if (st == NNV_INVALID && strstr(err.text, "nested more than")) goto out;
    MUST(st == NNV_OK);
    MUST(nnv_relay_module_equal(m, again));
    nnv_relay_print(again, NNV_RELAY_PRINT_META, &twice);
    MUST(strcmp(once.data, twice.data) == 0);
out:
    nnv_text_free(&once);
    nnv_text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nnv_arena *arena = scratch();
    struct nnv_relay_module *m = NULL;
    struct nnv_relay_params params;
    struct nnv_err err = {0};
    char *text = text_of(data, size);
    enum nnv_status st = nnv_relay_parse(text, size, "fuzz", arena, &m, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    if (st == NNV_OK) {
        round_trip(m, arena);
        st = nnv_relay_check(m, &err);
        MUST((st == NNV_OK) == (err.text[0] == '\0'));
    } else {
        err = (struct nnv_err){0};
        st = nnv_relay_params_read(text, size, "fuzz", arena, &params, &err);
        MUST((st == NNV_OK) == (err.text[0] == '\0'));
    }
    free(text);
    return 0;
}
