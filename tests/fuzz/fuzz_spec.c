/* SPDX-License-Identifier: Apache-2.0 */
/* Spec JSON: one clear error, or a spec that the validator and all writers take and that reads back the same. */
#include "reference/spec/spec.h"
#include "reference/model/validate.h"
#include "tests/fuzz/target.h"

/** What is written reads back, and is written alike. */
static void round_trip(const struct nnv_spec *spec, struct nnv_arena *arena) {
    struct nnv_text once = {0}, twice = {0};
    struct nnv_spec *again = NULL;
    struct nnv_err err = {0};
    nnv_spec_write_json(spec, false, &once);
    MUST(nnv_spec_parse(once.data, once.len, "again", arena, &again, &err) == NNV_OK);
    nnv_spec_write_json(again, false, &twice);
    MUST(strcmp(once.data, twice.data) == 0);
    nnv_text_free(&once);
    nnv_text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nnv_arena *arena = scratch();
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    struct nnv_text out = {0};
    char *text = text_of(data, size);
    enum nnv_status st = nnv_spec_parse(text, size, "fuzz", arena, &spec, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    if (st == NNV_OK) {
        int level;
        (void)!nnv_validate(&spec->model, arena, &level, &err);
        nnv_spec_write_modpy(spec, &out);
        nnv_spec_write_dot(spec, -1, &out);
        nnv_spec_write_summary(spec, &out);
        round_trip(spec, arena);
    }
    nnv_text_free(&out);
    free(text);
    return 0;
}
