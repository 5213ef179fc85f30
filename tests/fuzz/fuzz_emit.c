/* SPDX-License-Identifier: Apache-2.0 */
/* NNAPI JSON: one clear error, or a model that is written as JSON and C++ and reads back the same. */
#include "compiler/nnapi/emit/emit.h"
#include "tests/fuzz/target.h"

enum { WEIGHTS = 512 };

static void write_cpp(const struct nnv_emit *region, const struct nnv_emit_weights *w) {
    struct nnv_text out = {0};
    nnv_emit_header(region, 0, w, &out);
    nnv_emit_source(region, 0, w, &out);
    MUST(!out.failed);
    nnv_text_free(&out);
}

/** What is written reads back, and is written alike. */
static void round_trip(const struct nnv_converted *converted, struct nnv_arena *arena) {
    const struct nnv_emit region = {"f", converted};
    struct nnv_converted again = {.level = converted->level};
    const struct nnv_emit second = {"f", &again};
    struct nnv_emit_weights w = {0}, v = {0};
    struct nnv_text once = {0}, twice = {0};
    struct nnv_err err = {0};
    if (nnv_emit_gather(&region, 1, "w", arena, &w, &err) != NNV_OK) return;
    nnv_emit_json(&region, 0, &w, &once);
    MUST(nnv_emit_read(once.data, once.len, "again", w.bytes.data, w.bytes.len, arena, &again.model, &err) == NNV_OK);
    MUST(nnv_emit_gather(&second, 1, "w", arena, &v, &err) == NNV_OK);
    nnv_emit_json(&second, 0, &v, &twice);
    MUST(strcmp(once.data, twice.data) == 0);
    write_cpp(&region, &w);
    nnv_text_free(&once);
    nnv_text_free(&twice);
    nnv_text_free(&w.bytes);
    nnv_text_free(&v.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char weights[WEIGHTS] = "some weights";
    struct nnv_arena *arena = scratch();
    struct nnv_converted converted = {.level = 1};
    struct nnv_err err = {0};
    char *text = text_of(data, size);
    enum nnv_status st = nnv_emit_read(text, size, "fuzz", weights, WEIGHTS, arena, &converted.model, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    if (st == NNV_OK) round_trip(&converted, arena);
    free(text);
    return 0;
}
