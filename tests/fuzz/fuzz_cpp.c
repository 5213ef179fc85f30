/* SPDX-License-Identifier: Apache-2.0 */
/* AOSP's generated test models (.example.cpp): every piece is read, or refused with file, line and column. */
#include "reference/spec/spec.h"
#include "reference/model/validate.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nnv_arena *arena = scratch();
    char *text = text_of(data, size);
    struct nnv_spec_pieces p = nnv_spec_cpp_pieces(text, size);
    while (nnv_spec_cpp_next(&p)) {
        struct nnv_spec *spec = NULL;
        struct nnv_err err = {0};
        MUST(p.text >= text && p.len <= size && p.text + p.len <= text + size);
        enum nnv_status st = nnv_spec_parse_cpp(p.text, p.len, "fuzz.example.cpp", p.line, arena, &spec, &err);
        MUST(st == NNV_OK || strncmp(err.text, "fuzz.example.cpp", 16) == 0);
        if (st == NNV_OK) (void)!nnv_validate(&spec->model, arena, NULL, &err);
    }
    free(text);
    return 0;
}
