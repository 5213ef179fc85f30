/* SPDX-License-Identifier: Apache-2.0 */
/* The records themselves: complete, consistent, documented. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "reference/model/op_doc.h"
#include "reference/model/sample.h"

static void check_slots(const struct nnv_op *op, const struct nnv_slot *slots, uint8_t n, bool inputs) {
    uint8_t group = 0, repeats = 0;
    for (uint8_t i = 0; i < n; i++) {
        const struct nnv_slot *s = &slots[i];
        assert_non_null(s->name);
        assert_true(s->id < NNV_MAX_SLOTS);
        assert_true(s->group == group || s->group == group + 1); /* optional groups stand in order, at the end */
        group = s->group;
        const bool any_number = s->group > 0 && s->flags & NNV_REPEAT; /* the last slot, alone in its group */
        assert_true(!any_number || (i + 1 == n && i > 0 && slots[i - 1].group == 0));
        if (any_number) group = 0;
        repeats = (uint8_t)(repeats + (s->flags & NNV_REPEAT ? 1 : 0));
        assert_true(s->rank_max == 0 || s->rank_min <= s->rank_max);
        assert_true(s->lo <= s->hi);
        if (s->var == NNV_FIXED) assert_int_equal(nnv_type(s->type)->tensor, !(s->flags & NNV_SCALAR));
        for (uint8_t k = 0; s->var != NNV_FIXED && k < op->nsigs; k++)
            assert_int_equal(nnv_type(op->sigs[k].type[s->var])->tensor, !(s->flags & NNV_SCALAR));
        for (uint8_t j = 0; inputs && j < i; j++) assert_int_not_equal(slots[j].id, s->id);
        assert_true(inputs || i + 1 == n || !(s->flags & NNV_REPEAT)); /* see nnv_out_slot */
    }
    assert_true(repeats == 0 || (repeats == 1 && group == 0));
}

static void test_records_are_complete(void **state) {
    (void)state;
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        const struct nnv_op *op = ops[i];
        assert_true(i == 0 || ops[i - 1]->code < op->code);
        assert_ptr_equal(nnv_op(op->code), op);
        assert_ptr_equal(nnv_op_by_name(op->name), op);
        assert_true(op->level >= NNV_LEVEL_MIN && op->level <= NNV_LEVEL_MAX);
        assert_true(op->formula && op->formula[0] && !strchr(op->formula, '\n'));
        assert_true(op->infer && op->eval && op->sample && op->nforms > 0 && op->nsigs > 0);
        assert_true(op->variants && op->variants[0]);
        assert_true((unsigned)op->rounding < NNV_ROUND_COUNT);
        for (uint8_t f = 0; f < op->nforms; f++) {
            assert_true(op->forms[f].name && op->forms[f].nin > 0 && op->forms[f].nout > 0);
            check_slots(op, op->forms[f].in, op->forms[f].nin, true);
            check_slots(op, op->forms[f].out, op->forms[f].nout, false);
        }
        for (uint8_t k = 0; k < op->nsigs; k++) assert_true(op->sigs[k].level >= op->level);
    }
    assert_null(nnv_op(-1));
    assert_null(nnv_op_by_name("CONV"));
    assert_non_null(nnv_op_by_name("conv_2d"));
}

static void test_variant_names(void **state) {
    (void)state;
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++)
        for (int v = 0; ops[i]->variants[v]; v++) {
            const char *name = ops[i]->variants[v];
            assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
            for (int w = 0; w < v; w++) assert_string_not_equal(name, ops[i]->variants[w]);
        }
}

static void test_terminal(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_op_doc(nnv_op_by_name("CONV_2D"), NNV_DOC_TERMINAL, &t);
    assert_non_null(strstr(t.data, "CONV_2D  operation 3, since level 1 (1.0)\n"));
    assert_non_null(strstr(t.data, "Inputs, form explicit\n"));
    assert_non_null(strstr(t.data, "  8    dilation width                     INT32                    "
                                   "scalar; above 0; optional, 1 if absent; since level 3\n"));
    assert_non_null(strstr(t.data, "W TENSOR_QUANT8_SYMM_PER_CHANNEL"));
    assert_non_null(strstr(t.data, "exact cases"));
    assert_null(strstr(t.data, "sweeps"));
    assert_non_null(strstr(t.data, "Outputs\n"));
    nnv_text_free(&t);
    t = (struct nnv_text){0};
    nnv_op_doc(nnv_op_by_name("BIDIRECTIONAL_SEQUENCE_RNN"), NNV_DOC_TERMINAL, &t);
    assert_non_null(strstr(t.data, "Inputs\n"));
    assert_non_null(strstr(t.data, "Outputs, form separate\n"));
    assert_non_null(strstr(t.data, "Outputs, form merged\n"));
    nnv_text_free(&t);
}

/* The pages of docs/ops are what the records say: make docs writes them. */
static void test_markdown(void **state) {
    (void)state;
    struct nnv_text t = {0};
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        char path[128], *page = NULL;
        size_t size;
        struct nnv_err err = {0};
        nnv_text_clear(&t);
        nnv_op_doc(ops[i], NNV_DOC_MARKDOWN, &t);
        snprintf(path, sizeof path, "docs/ops/%s.md", ops[i]->name);
        if (nnv_file_read(path, 1 << 20, &page, &size, &err) != NNV_OK) fail_msg("%s", err.text);
        assert_string_equal(t.data, page);
        free(page);
    }
    nnv_text_free(&t);
}

static struct nnv_sample sample_of(const char *op, int variant) {
    const struct nnv_op *record = nnv_op_by_name(op);
    return (struct nnv_sample){
        .op = record, .sig = record->sigs, .variant = variant, .rng = nnv_rng_make(1, 2, 3), .form = record->forms};
}

static void test_sample_words(void **state) {
    (void)state;
    struct nnv_sample s = sample_of("RELU", 0);
    static const char *const variants[] = {"nchw_dilation", NULL};
    struct nnv_op op = *s.op;
    op.variants = variants;
    s.op = &op;
    assert_true(nnv_sample_is(&s, "nchw") && nnv_sample_is(&s, "dilation"));
    assert_false(nnv_sample_is(&s, "nch") || nnv_sample_is(&s, "dilation_x") || nnv_sample_is(&s, ""));
    /* of a row it is the words of its factors */
    static const char *const layouts[] = {"nhwc", "nchw_packed"};
    const struct nnv_factor factors[] = {{.name = "n"}, {.name = "layout", .words = layouts}};
    op.factors = factors;
    op.nfactors = 2;
    s.row = (int32_t[]){1, 1};
    assert_true(nnv_sample_is(&s, "nchw") && nnv_sample_is(&s, "packed"));
    assert_false(nnv_sample_is(&s, "nhwc") || nnv_sample_is(&s, "dilation"));
}

static void test_sample_sizes(void **state) {
    (void)state;
    struct nnv_sample s = sample_of("RELU", 0);
    uint32_t odd = 0, dims[NNV_MAX_RANK];
    for (int i = 0; i < 2000; i++) {
        uint32_t d = nnv_sample_dim(&s, 5, 40);
        assert_true(d >= 5 && d <= 40);
        odd += d % 2;
    }
    assert_true(odd > 1500);
    assert_int_equal(nnv_sample_dim(&s, 4, 4), 4);
    for (uint32_t rank = 1; rank <= 5; rank++)
        for (uint32_t limit = 1; limit <= 600; limit++) {
            uint64_t product = 1;
            nnv_sample_dims(&s, rank, limit, dims);
            for (uint32_t i = 0; i < rank; i++) {
                product *= dims[i];
                for (uint32_t j = 0; j < i && limit >= 150; j++) assert_int_not_equal(dims[i], dims[j]);
            }
            assert_true(product >= 1 && product <= limit);
        }
}

static void test_sample_arguments(void **state) {
    (void)state;
    struct nnv_sample s = sample_of("CONCATENATION", 0);
    s.arena = nnv_arena_new();
    nnv_sample_tensor(&s, 0, 2, (uint32_t[]){2, 3});
    nnv_sample_tensor(&s, 0, 2, (uint32_t[]){2, 5});
    nnv_sample_scalar(&s, 1, 1);
    assert_int_equal(s.nrep, 2);
    assert_int_equal(s.rep[1].dims[1], 5);
    assert_true(s.arg[1].set && s.arg[1].value == 1);
    s = (struct nnv_sample){
        .op = nnv_op_by_name("RESHAPE"), .form = nnv_op_by_name("RESHAPE")->forms, .arena = s.arena};
    nnv_sample_ints(&s, 1, 2, (int32_t[]){-1, 4});
    assert_true(s.arg[1].rank == 1 && s.arg[1].dims[0] == 2 && s.arg[1].ints[0] == -1 && s.arg[1].ints[1] == 4);
    uint32_t image[4];
    nnv_sample_image(image, 1, 2, 3, 4, true);
    assert_memory_equal(image, ((uint32_t[]){1, 4, 2, 3}), sizeof image);
    nnv_sample_image(image, 1, 2, 3, 4, false);
    assert_memory_equal(image, ((uint32_t[]){1, 2, 3, 4}), sizeof image);
    nnv_arena_free(s.arena);
}

/* The 106 operations of feature levels 1 to 7: each code of NNAPI's header has a record, and the record a page. */
static void test_every_code_of_the_header(void **state) {
    (void)state;
    enum { OPERATIONS = 106 };
    size_t n;
    nnv_ops(&n);
    assert_int_equal(n, OPERATIONS);
    FILE *header = fopen("include/NeuralNetworksTypes.h", "r");
    assert_non_null(header);
    char line[512], name[128];
    bool inside = false;
    int code, found = 0;
    while (fgets(line, sizeof line, header)) {
        if (strstr(line, "ANEURALNETWORKS_ADD = 0")) inside = true;
        if (!inside || sscanf(line, " ANEURALNETWORKS_%127[A-Z0-9_] = %d", name, &code) != 2) continue;
        const struct nnv_op *op = nnv_op(code);
        if (!op || strcmp(op->name, name) != 0) fail_msg("code %d (%s) has no record of its name", code, name);
        char page[256];
        snprintf(page, sizeof page, "docs/ops/%s.md", name);
        FILE *f = fopen(page, "r");
        if (!f) fail_msg("no page %s", page);
        fclose(f);
        if (++found == OPERATIONS) break;
    }
    fclose(header);
    assert_int_equal(found, OPERATIONS);
}

static void operations_with_a_state_are_told(void **state) {
    size_t n, found = 0;
    const struct nnv_op *const *ops = nnv_ops(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) found += nnv_op_is_recurrent(ops[i]);
    assert_int_equal(found, 9);
    assert_true(nnv_op_is_recurrent(nnv_op(ANEURALNETWORKS_QUANTIZED_16BIT_LSTM)));
    assert_true(nnv_op_is_recurrent(nnv_op(ANEURALNETWORKS_SVDF)));
    assert_true(nnv_op_is_recurrent(nnv_op(ANEURALNETWORKS_BIDIRECTIONAL_SEQUENCE_RNN)));
    assert_false(nnv_op_is_recurrent(nnv_op(ANEURALNETWORKS_WHILE)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_of_the_header),
        cmocka_unit_test(test_records_are_complete),
        cmocka_unit_test(test_variant_names),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_sample_words),
        cmocka_unit_test(test_sample_sizes),
        cmocka_unit_test(operations_with_a_state_are_told),
        cmocka_unit_test(test_sample_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
