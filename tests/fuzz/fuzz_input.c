/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of nnvts fuzz: refused with file and line, or printed as they were read. */
#include "harness/fuzz/input.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nnv_fuzz_input *inputs = NULL, *again = NULL;
    size_t count = 0, more = 0;
    struct nnv_err err = {0};
    struct nnv_text once = {0}, twice = {0};
    char *text = text_of(data, size);
    if (nnv_fuzz_parse(text, "fuzz", &inputs, &count, &err) == NNV_OK) {
        for (size_t i = 0; i < count; i++) nnv_fuzz_print(&once, &inputs[i]);
        MUST(nnv_fuzz_parse(once.data, "again", &again, &more, &err) == NNV_OK && more == count);
        for (size_t i = 0; i < count; i++) nnv_fuzz_print(&twice, &again[i]);
        MUST(strcmp(once.data, twice.data) == 0);
    } else {
        MUST(strncmp(err.text, "fuzz:", 5) == 0);
    }
    nnv_text_free(&once);
    nnv_text_free(&twice);
    free(inputs);
    free(again);
    free(text);
    return 0;
}
