/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relay text, and TVMScript of Relax: one clear error, or a module that prints as text that parses back to an equal
 * module; and that the passes divide once and for all: a second run finds nothing to do.
 */
#include "compiler/byoc/byoc.h"
#include "compiler/relay/text/params.h"
#include "compiler/byoc/tables.h"
#include "tests/fuzz/target.h"
#include "tests/kit/relay_equal.h"

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

/* What Relax has words for is written as text that can be read; a broken program may be refused the second time. */
static void script_round_trip(const struct nnv_relay_module *m, struct nnv_arena *arena) {
    struct nnv_text text = {0};
    struct nnv_relay_module *again = NULL;
    struct nnv_err err = {0};
    enum nnv_status st = nnv_relax_print(m, &text, &err);
    if (st == NNV_OK) st = nnv_relay_parse(text.data, text.len, "again.py", arena, &again, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    nnv_text_free(&text);
}

/* Some operators, whatever they are called. */
static bool accepts(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const char *name = nnv_relay_op_name(call);
    (void)ctx;
    return (name[0] + name[strlen(name) - 1]) % 3 == (int)target;
}

static void divide(struct nnv_relay_module *m, struct nnv_arena *arena) {
    static const char *const targets[] = {"nnapi", "other"};
    const struct nnv_annotator annotator = {.targets = targets, .n_targets = 2, .accepts = accepts};
    struct nnv_pattern_table table;
    struct nnv_partition once, again;
    struct nnv_err err = {0};
    size_t len;
    const char *text = nnv_shipped_table("nnapi", &len);
    enum nnv_status st = nnv_relay_infer(m, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    if (st != NNV_OK) return;
    MUST(nnv_pattern_read(text, len, "nnapi", arena, &table, &err) == NNV_OK);
    st = nnv_merge_composite(m, &table, &err);
    if (st == NNV_OK) st = nnv_partition(m, &annotator, NULL, &once, &err);
    MUST((st == NNV_OK) == (err.text[0] == '\0'));
    if (st != NNV_OK) return;
    st = nnv_partition(m, &annotator, NULL, &again, &err);
    MUST(st == NNV_OK && again.n_extracted == 0 && again.n_host == once.n_host);
    struct nnv_text printed = {0};
    nnv_relay_print(m, 0, &printed);
    nnv_text_free(&printed);
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
        if (st == NNV_OK && m->script) script_round_trip(m, arena);
        divide(m, arena);
    } else {
        err = (struct nnv_err){0};
        st = nnv_relay_params_read(text, size, "fuzz", arena, &params, &err);
        MUST((st == NNV_OK) == (err.text[0] == '\0'));
    }
    free(text);
    return 0;
}
