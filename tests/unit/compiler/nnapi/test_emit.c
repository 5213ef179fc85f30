/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of regions: JSON that reads back to the same model, and constants in one file. */
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/sha256.h"
#include "reference/spec/spec.h"
#include "tests/kit/emit.h"
#include "tests/kit/arena.h"

static struct nnv_emit_weights weights;
static struct nnv_text text;
static struct nnv_err err;

static int drop(void **state) {
    nnv_text_free(&weights.bytes);
    nnv_text_free(&text);
    return tear_down(state);
}

static void gather(const struct nnv_emit *regions, size_t n) {
    nnv_text_free(&weights.bytes);
    if (nnv_emit_gather(regions, n, "weights.bin", arena, &weights, &err) != NNV_OK) fail_msg("%s", err.text);
}

static const char *json_of(const struct nnv_converted *c) {
    const struct nnv_emit region = {"f", c};
    gather(&region, 1);
    nnv_text_clear(&text);
    nnv_emit_json(&region, 0, &weights, &text);
    assert_false(text.failed);
    return text.data;
}

static enum nnv_status read_back(const char *json, struct nnv_model *model) {
    return nnv_emit_read(json, strlen(json), "f.json", weights.bytes.data, weights.bytes.len, arena, model, &err);
}

static void check_round_trip(const struct nnv_converted *c, const char *what) {
    struct nnv_model model;
    if (read_back(json_of(c), &model) != NNV_OK) fail_msg("%s: %s", what, err.text);
    if (!equal_models(&c->model, &model)) fail_msg("%s: another model comes back:\n%s", what, text.data);
}

/* --------------------------------------------------------------------------- JSON */

static void models_come_back(void **state) {
    (void)state;
    check_round_trip(emit_small(arena), "small");
    check_round_trip(emit_conv(arena, 1), "conv");
    check_round_trip(emit_quantised(arena), "quantised");
    struct nnv_converted *relaxed = emit_small(arena);
    relaxed->model.relaxed = true;
    check_round_trip(relaxed, "relaxed");
}

/* The comparison above sees a difference of one bit, one index or one extent. */
static void other_models_differ(void **state) {
    (void)state;
    struct nnv_model a, b;
    const char *json = nnv_arena_strdup(arena, json_of(emit_small(arena)));
    static const char *const edits[][2] = {{"0.5, -0.0", "0.5, 0.0"},
                                           {"\"value\": 1}", "\"value\": 0}"},
                                           {"\"input\": [0, 1, 2]", "\"input\": [1, 0, 2]"},
                                           {"\"relaxed\": false", "\"relaxed\": true"}};
    assert_int_equal(read_back(json, &a), NNV_OK);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const char *at = strstr(json, edits[i][0]);
        assert_non_null(at);
        const char *edited =
            nnv_arena_printf(arena, "%.*s%s%s", (int)(at - json), json, edits[i][1], at + strlen(edits[i][0]));
        assert_int_equal(read_back(edited, &b), NNV_OK);
        assert_false(equal_models(&a, &b));
    }
}

static bool all_known(const struct nnv_subgraph *s) {
    bool known = true;
    for (uint32_t i = 0; known && i < s->noperands; i++) {
        size_t elems, bytes;
        const struct nnv_operand *o = &s->operands[i];
        known = o->lifetime == NNV_NO_VALUE || o->lifetime == NNV_SUBGRAPH || nnv_operand_size(o, &elems, &bytes);
    }
    return known;
}

/* Every model of the conformance specs that can be written. */
static void specs_come_back(void **state) {
    (void)state;
    static const char *const suffixes[] = {".jsonl", NULL};
    char **paths = NULL;
    size_t n = 0, written = 0, with_branches = 0;
    assert_int_equal(nnv_file_list("tests/conformance", suffixes, &paths, &n, &err), NNV_OK);
    for (size_t p = 0; p < n; p++) {
        struct nnv_spec_file *file = NULL;
        assert_int_equal(nnv_spec_open(paths[p], &file, &err), NNV_OK);
        for (size_t i = 0; i < nnv_spec_count(file); i++) {
            struct nnv_spec *spec = NULL;
            struct nnv_converted c = {.level = 1};
            nnv_arena_reset(arena);
            if (nnv_spec_read(file, i, arena, &spec, &err) != NNV_OK || spec->expect_failure) continue;
            bool known = all_known(&spec->model.main);
            for (uint32_t k = 0; k < spec->model.nreferenced; k++)
                known = known && all_known(&spec->model.referenced[k]);
            if (!known || nnv_validate(&spec->model, arena, NULL, NULL) != NNV_OK) continue;
            c.model = spec->model;
            check_round_trip(&c, spec->name);
            written++;
            with_branches += spec->model.nreferenced > 0;
        }
        nnv_spec_close(file);
    }
    nnv_file_list_free(paths, n);
    assert_true(written > 100 && with_branches > 0);
}

/* Equal types and equal constants are there once: four scalars of two values, two types of images. */
static void equal_entries_are_one(void **state) {
    (void)state;
    const char *json = json_of(emit_conv(arena, 1));
    assert_non_null(strstr(json, "\"constants\": [\n"
                                 "  {\"type\": \"array\", \"dtype\": \"float32\", \"value\": ["));
    assert_non_null(strstr(json, "]},\n  {\"type\": \"scalar\", \"dtype\": \"int32\", \"value\": 1},\n"
                                 "  {\"type\": \"scalar\", \"dtype\": \"int32\", \"value\": 0}],\n"));
    assert_non_null(strstr(json, "\"types\": [\n  {\"type\": \"TENSOR_FLOAT32\", \"shape\": [1, 6, 5, 3]},\n"
                                 "  {\"type\": \"TENSOR_FLOAT32\", \"shape\": [4, 3, 3, 3]},\n"
                                 "  {\"type\": \"TENSOR_FLOAT32\", \"shape\": [4]},\n  {\"type\": \"INT32\"},\n"
                                 "  {\"type\": \"TENSOR_FLOAT32\", \"shape\": [1, 6, 5, 4]}],\n"));
    assert_non_null(strstr(json, "\"memories\": [\n  {\"file_name\": \"weights.bin\", \"size\": 432}],\n"));
    assert_non_null(strstr(json, "{\"type\": 1, \"value\": {\"type\": \"ann_memory\", \"value\": 0, \"offset\": 0, "
                                 "\"length\": 432}},\n"));
}

static void quantisation_is_written(void **state) {
    (void)state;
    const char *json = json_of(emit_quantised(arena));
    assert_non_null(strstr(json, "{\"type\": \"TENSOR_QUANT8_ASYMM_SIGNED\", \"shape\": [1, 4, 4, 2], \"scale\": 0.5, "
                                 "\"zeroPoint\": 3}"));
    assert_non_null(strstr(json, "{\"type\": \"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"shape\": [2, 1, 1, 2], "
                                 "\"channelDim\": 0, \"scales\": [0.25, 0.125]}"));
    assert_non_null(strstr(json, "\"dtype\": \"int32\", \"value\": [-3, -2147483648]}"));
    assert_non_null(strstr(json, "\"memories\": [],\n"));
}

/* A float that JSON has no number for. */
static void special_floats_come_back(void **state) {
    (void)state;
    struct nnv_converted *c = emit_small(arena);
    const float special[] = {INFINITY, -INFINITY};
    c->model.main.operands[1].data = special;
    check_round_trip(c, "infinities");
}

/* ---------------------------------------------------------------- what is refused */

static void bad_texts_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } edits[] = {
        {"{\"function\"", "[", "f.json:1:"},
        {"\"types\"", "\"kinds\"", "f.json: types: expected a list"},
        {"TENSOR_FLOAT32", "TENSOR_FLOAT31",
         "f.json: operands[0]: types[0]: type: expected the name of an operand type"},
        {"TENSOR_FLOAT32", "MODEL", "f.json: operands[0]: value: type: expected model_idx, as of a MODEL"},
        {"\"shape\": [1, 6", "\"shape\": [-1, 6", "types[0]: shape[0]: expected an integer from 0 to 2147483647"},
        {"{\"type\": 0,", "{\"type\": 5,", "operands[0]: type: expected an integer from 0 to 4"},
        {"\"op\": \"CONV_2D\"", "\"op\": \"CONV\"", "operations[0].op: expected the name of an operation"},
        {"\"input\": [0,", "\"input\": [9,", "operations[0]: input[0]: expected an integer from 0 to 6"},
        {"\"offset\": 0", "\"offset\": 64", "operands[1]: value: length: expected an integer from 0 to 368"},
        {"\"offset\": 0", "\"offset\": -1", "operands[1]: value: offset: expected an integer from 0 to 432"},
        {"\"length\": 432", "\"length\": 428", "a constant of 432 bytes has a value of 428 bytes"},
        {"\"size\": 432", "\"size\": 431", "size: expected an integer from 432 to 432"},
        {"\"constant_idx\"", "\"constant\"", "value: type: expected constant_idx, ann_memory, memory_ptr or no_value"},
        {"\"constant_idx\", \"value\": 1", "\"constant_idx\", \"value\": 3", "value: expected an integer from 0 to 2"},
        {"\"int32\", \"value\": 1", "\"int32\", \"value\": 1.5", "constants[1]: value[0]: expected an integer from"},
        {"\"int32\", \"value\": 1", "\"int32\", \"value\": 2147483648", "constants[1]: value[0]: expected an integer"},
        {"\"int32\", \"value\": 1", "\"int32\", \"value\": [1]", "constants[1]: value: expected one number"},
        {"\"int32\", \"value\": 1", "\"int8\", \"value\": 1", "constants[1]: dtype: expected \"int32\""},
        {"\"outputs\": [5, 6]", "\"outputs\": [5, 1]", "f.json: "},
        {"\"outputs\": [5, 6]", "\"outputs\": {}", "outputs: expected a list"},
    };
    const char *json = nnv_arena_strdup(arena, json_of(emit_conv(arena, 1)));
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct nnv_model model;
        const char *at = strstr(json, edits[i].from);
        if (!at) fail_msg("no '%s' in %s", edits[i].from, json);
        const char *edited =
            nnv_arena_printf(arena, "%.*s%s%s", (int)(at - json), json, edits[i].to, at + strlen(edits[i].from));
        if (read_back(edited, &model) != NNV_INVALID) fail_msg("taken: %s", edits[i].to);
        if (!strstr(err.text, edits[i].message)) fail_msg("'%s' instead of '%s'", err.text, edits[i].message);
    }
}

/* Cut anywhere, the text is refused, never taken. */
static void cut_texts_are_refused(void **state) {
    (void)state;
    struct nnv_model model;
    const char *json = nnv_arena_strdup(arena, json_of(emit_quantised(arena)));
    for (size_t n = 0; n + 2 < strlen(json); n += 7)
        assert_int_equal(nnv_emit_read(json, n, "f.json", NULL, 0, arena, &model, &err), NNV_INVALID);
}

static void unknown_shapes_are_refused(void **state) {
    (void)state;
    struct nnv_converted *c = emit_small(arena);
    const struct nnv_emit region = {"f", c};
    c->model.main.operands[0].dims[0] = 0;
    assert_int_equal(nnv_emit_gather(&region, 1, "weights.bin", arena, &weights, &err), NNV_UNSUPPORTED);
    assert_string_equal(err.text, "f: operand 0: its shape is not known");
}

/* ------------------------------------------------------------ the file of constants */

static void equal_weights_are_stored_once(void **state) {
    (void)state;
    const struct nnv_emit regions[] = {
        {"f", emit_conv(arena, 1)}, {"g", emit_conv(arena, 2)}, {"h", emit_conv(arena, 1)}, {"i", emit_small(arena)}};
    gather(regions, 4);
    assert_int_equal(weights.n_places[0], 1);
    assert_int_equal(weights.n_places[3], 0);
    assert_int_equal(weights.places[0][0].offset, 0);
    assert_int_equal(weights.places[0][0].bytes, 432);
    assert_int_equal(weights.places[0][0].operand, 1);
    assert_int_equal(weights.places[1][0].offset, 448);
    assert_int_equal(weights.places[2][0].offset, 0);
    assert_int_equal(weights.bytes.len, 448 + 432);
    for (size_t r = 0; r < 3; r++)
        assert_memory_equal(weights.bytes.data + weights.places[r][0].offset,
                            regions[r].converted->model.main.operands[1].data, 432);
    for (size_t i = 432; i < 448; i++) assert_int_equal(weights.bytes.data[i], 0);
}

/* 128 bytes stand in the code, 129 do not: 32 and 33 floats. */
static void small_constants_stay(void **state) {
    (void)state;
    for (uint32_t n = 32; n <= 33; n++) {
        check_round_trip(emit_sum(arena, n), "sum");
        assert_int_equal(weights.bytes.len, n == 32 ? 0 : 132);
    }
}

/* -------------------------------------------------------------------------- digest */

static void digest_of(const struct nnv_converted *c, uint8_t *digest) {
    const struct nnv_emit region = {"f", c};
    gather(&region, 1);
    assert_true(nnv_emit_digest(&region, 0, &weights, digest));
}

static void digest_follows_json_and_weights(void **state) {
    (void)state;
    uint8_t one[NNV_SHA256_BYTES], again[NNV_SHA256_BYTES], other[NNV_SHA256_BYTES], byhand[NNV_SHA256_BYTES];
    struct nnv_sha256 h;
    digest_of(emit_conv(arena, 1), one);
    digest_of(emit_conv(arena, 1), again);
    assert_memory_equal(one, again, sizeof one);
    /* Another weight changes no letter of the text. */
    struct nnv_converted *c = emit_conv(arena, 1);
    const char *json = nnv_arena_strdup(arena, json_of(c));
    float *w = nnv_arena_copy(arena, c->model.main.operands[1].data, 432);
    w[107] += 1;
    c->model.main.operands[1].data = w;
    assert_string_equal(json, json_of(c));
    digest_of(c, other);
    assert_memory_not_equal(one, other, sizeof one);
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, json, strlen(json));
    nnv_sha256_add(&h, w, 432);
    nnv_sha256_end(&h, byhand);
    assert_memory_equal(other, byhand, sizeof other);
}

/* -------------------------------------------------------------------- stored texts */

/** Runs of blanks and line ends are one blank. */
static void normalise(char *s) {
    char *to = s;
    for (; *s; s++) {
        const bool blank = *s == ' ' || *s == '\n' || *s == '\t';
        if (!blank)
            *to++ = *s;
        else if (to[-1] != ' ')
            *to++ = ' ';
    }
    *to = 0;
}

static void check_stored(const char *file, void (*write)(const struct nnv_emit *, size_t,
                                                         const struct nnv_emit_weights *, struct nnv_text *)) {
    const char *path = nnv_arena_printf(arena, "tests/emit/%s", file);
    const struct nnv_emit region = {"tvmgen_default_nnapi_main_0", emit_small(arena)};
    char *stored = NULL;
    size_t size;
    gather(&region, 1);
    nnv_text_clear(&text);
    write(&region, 0, &weights, &text);
    if (getenv("NNVTS_UPDATE")) assert_int_equal(nnv_file_write(path, text.data, text.len, &err), NNV_OK);
    if (nnv_file_read(path, 1 << 20, &stored, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    normalise(stored);
    normalise(text.data);
    assert_string_equal(text.data, stored);
    free(stored);
}

static void texts_are_as_stored(void **state) {
    (void)state;
    check_stored("add_relu.json", nnv_emit_json);
    check_stored("add_relu.header.txt", nnv_emit_header);
    check_stored("add_relu.source.txt", nnv_emit_source);
}

/* For people to read: no line is wider than 120 columns, that of the digest neither. */
static void lines_are_not_wide(void **state) {
    (void)state;
    const struct nnv_emit region = {"tvmgen_default_nnapi_main_0", emit_small(arena)};
    gather(&region, 1);
    nnv_text_clear(&text);
    nnv_emit_header(&region, 0, &weights, &text);
    nnv_emit_source(&region, 0, &weights, &text);
    for (const char *s = text.data; *s;) {
        const size_t n = strcspn(s, "\n");
        if (n > 120) fail_msg("%.*s", (int)n, s);
        s += n + (s[n] == '\n');
    }
}

/* The example of the documentation is that text, too. */
static void documentation_shows_the_json(void **state) {
    (void)state;
    const struct nnv_emit region = {"tvmgen_default_nnapi_main_0", emit_small(arena)};
    char *page = NULL;
    size_t size;
    if (nnv_file_read("docs/compile/compiling.md", 1 << 20, &page, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    char *from = strstr(page, "```json\n");
    char *to = from ? strstr(from += 8, "```") : NULL;
    assert_non_null(to);
    *to = 0;
    gather(&region, 1);
    nnv_text_clear(&text);
    nnv_emit_json(&region, 0, &weights, &text);
    normalise(from);
    normalise(text.data);
    assert_string_equal(from, text.data);
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(models_come_back, set_up, drop),
        cmocka_unit_test_setup_teardown(other_models_differ, set_up, drop),
        cmocka_unit_test_setup_teardown(specs_come_back, set_up, drop),
        cmocka_unit_test_setup_teardown(equal_entries_are_one, set_up, drop),
        cmocka_unit_test_setup_teardown(quantisation_is_written, set_up, drop),
        cmocka_unit_test_setup_teardown(special_floats_come_back, set_up, drop),
        cmocka_unit_test_setup_teardown(bad_texts_are_refused, set_up, drop),
        cmocka_unit_test_setup_teardown(cut_texts_are_refused, set_up, drop),
        cmocka_unit_test_setup_teardown(unknown_shapes_are_refused, set_up, drop),
        cmocka_unit_test_setup_teardown(equal_weights_are_stored_once, set_up, drop),
        cmocka_unit_test_setup_teardown(small_constants_stay, set_up, drop),
        cmocka_unit_test_setup_teardown(digest_follows_json_and_weights, set_up, drop),
        cmocka_unit_test_setup_teardown(texts_are_as_stored, set_up, drop),
        cmocka_unit_test_setup_teardown(lines_are_not_wide, set_up, drop),
        cmocka_unit_test_setup_teardown(documentation_shows_the_json, set_up, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
