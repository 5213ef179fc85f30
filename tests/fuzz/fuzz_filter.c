/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions that select cases: a syntax error that says where, or a part of the list in its order. */
#include "harness/runner/run.h"
#include "tests/fuzz/target.h"

static const struct nnv_case all[] = {
    {.name = "ops/ADD/float32/plain/0", .suite = "ops", .op = "ADD", .type = "float32", .tags = "", .level = 1},
    {.name = "ops/ADD/quant8_asymm/plain_edge/1", .suite = "ops", .op = "ADD", .type = "quant8_asymm", .tags = "edge"},
    {.name = "ops/CONV_2D/float16/nchw/0", .suite = "ops", .op = "CONV_2D", .type = "float16", .tags = "", .level = 3},
    {.name = "device/name", .suite = "device", .op = "", .type = "", .tags = ""},
};
enum { COUNT = sizeof all / sizeof *all };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct nnv_case cases[COUNT];
    struct nnv_case_list list = {.arena = scratch(), .item = cases, .count = COUNT, .cap = COUNT};
    struct nnv_err err = {0};
    char *text = text_of(data, size);
    memcpy(cases, all, sizeof all);
    enum nnv_status st = nnv_select(&list, text, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    MUST(list.count <= COUNT);
    for (size_t i = 0, from = 0; st == NNV_OK && i < list.count; i++) {
        while (from < COUNT && strcmp(all[from].name, list.item[i].name) != 0) from++;
        MUST(from < COUNT);
    }
    free(text);
    return 0;
}
