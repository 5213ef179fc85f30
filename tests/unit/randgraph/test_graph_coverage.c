/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_graph_coverage.c Random graphs come to every operation, type, rank and form, and to many pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/graph/catalogue.h"
#include "randgraph/graph/graph.h"
#include "randgraph/graph/coverage.h"
#include "randgraph/graph/plan.h"

/*
 * What AOSP's random graphs contain, operation by operation: types of the main operand, its ranks, and numbers of
 * inputs (which tell the forms of convolutions and pools, and optional inputs, apart).
 * F float32, H float16, Q quant8 asymmetric, S the same signed, Y quant8 symmetric, A quant16 asymmetric, M the same
 * symmetric, I int32, B bool8.
 */
static const struct row {
    const char *op, *types;
    uint32_t least, most;
    uint32_t inputs[6];
} rows[] = {
    {"ABS", "FHI", 1, 5, {1}},
    {"ADD", "FHQSI", 1, 4, {3}},
    {"ARGMAX", "FHIQS", 1, 5, {2}},
    {"ARGMIN", "FHIQS", 1, 5, {2}},
    {"AVERAGE_POOL_2D", "FHQS", 4, 4, {7, 8, 10, 11}},
    {"BATCH_TO_SPACE_ND", "FHQS", 4, 4, {2, 3}},
    {"CAST", "FHQIBAMSY", 1, 5, {1}},
    {"CHANNEL_SHUFFLE", "FHQS", 1, 4, {3}},
    {"CONCATENATION", "FHQS", 1, 4, {3, 4}},
    {"CONV_2D", "FHQS", 4, 4, {7, 8, 10, 11, 13}},
    {"DEPTHWISE_CONV_2D", "FHQS", 4, 4, {8, 9, 11, 12, 14}},
    {"DEPTH_TO_SPACE", "FHQS", 4, 4, {2, 3}},
    {"DEQUANTIZE", "QYS", 1, 4, {1}},
    {"DIV", "FHI", 1, 4, {3}},
    {"ELU", "FH", 1, 5, {2}},
    {"EMBEDDING_LOOKUP", "FHIQS", 2, 4, {2}},
    {"EQUAL", "FHIQSB", 1, 4, {2}},
    {"EXP", "FH", 1, 5, {1}},
    {"EXPAND_DIMS", "FHIQS", 1, 5, {2}},
    {"FILL", "FHI", 1, 5, {2}},
    {"FLOOR", "FH", 1, 4, {1}},
    {"FULLY_CONNECTED", "FHQS", 2, 4, {4}},
    {"GATHER", "FHIQS", 1, 5, {3}},
    {"GREATER", "FHIQS", 1, 4, {2}},
    {"GREATER_EQUAL", "FHIQS", 1, 4, {2}},
    {"GROUPED_CONV_2D", "FHQS", 4, 4, {9, 12}},
    {"HARD_SWISH", "FHQ", 1, 4, {1}},
    {"HASHTABLE_LOOKUP", "FIQ", 2, 4, {3}},
    {"HEATMAP_MAX_KEYPOINT", "FQS", 4, 4, {3}},
    {"INSTANCE_NORMALIZATION", "FH", 4, 4, {5}},
    {"L2_NORMALIZATION", "FHQS", 1, 4, {1, 2}},
    {"L2_POOL_2D", "FH", 4, 4, {7, 8, 10, 11}},
    {"LESS", "FHIQS", 1, 4, {2}},
    {"LESS_EQUAL", "FHIQS", 1, 4, {2}},
    {"LOCAL_RESPONSE_NORMALIZATION", "FH", 1, 4, {5, 6}},
    {"LOG", "FH", 1, 5, {1}},
    {"LOGICAL_AND", "B", 1, 5, {2}},
    {"LOGICAL_NOT", "B", 1, 5, {1}},
    {"LOGICAL_OR", "B", 1, 5, {2}},
    {"LOGISTIC", "FHQS", 1, 4, {1}},
    {"LOG_SOFTMAX", "FH", 1, 4, {3}},
    {"MAXIMUM", "FHIQS", 1, 5, {2}},
    {"MAX_POOL_2D", "FHQS", 4, 4, {7, 8, 10, 11}},
    {"MEAN", "FHQS", 1, 4, {3}},
    {"MINIMUM", "FHIQS", 1, 5, {2}},
    {"MUL", "FHQSI", 1, 4, {3}},
    {"NEG", "FHI", 1, 5, {1}},
    {"NOT_EQUAL", "FHIQSB", 1, 4, {2}},
    {"PAD", "FQ", 1, 4, {2}},
    {"PAD_V2", "FHQS", 1, 4, {3}},
    {"POW", "FH", 1, 5, {2}},
    {"PRELU", "FHQS", 1, 5, {2}},
    {"QUANTIZE", "FH", 1, 4, {1}},
    {"RANK", "FHIQB", 1, 5, {1}},
    {"REDUCE_ALL", "B", 1, 4, {3}},
    {"REDUCE_ANY", "B", 1, 4, {3}},
    {"REDUCE_MAX", "FHQS", 1, 4, {3}},
    {"REDUCE_MIN", "FHQS", 1, 4, {3}},
    {"REDUCE_PROD", "FH", 1, 4, {3}},
    {"REDUCE_SUM", "FH", 1, 4, {3}},
    {"RELU", "FHQS", 1, 4, {1}},
    {"RELU1", "FHQS", 1, 4, {1}},
    {"RELU6", "FHQS", 1, 4, {1}},
    {"RESHAPE", "FQ", 1, 4, {2}},
    {"RESIZE_BILINEAR", "FHQS", 4, 4, {3, 4, 6}},
    {"RESIZE_NEAREST_NEIGHBOR", "FHQS", 4, 4, {4, 6}},
    {"ROI_ALIGN", "FQS", 4, 4, {10}},
    {"ROI_POOLING", "FQS", 4, 4, {8}},
    {"RSQRT", "FH", 1, 5, {1}},
    {"SELECT", "FHIQS", 1, 4, {3}},
    {"SIN", "FH", 1, 5, {1}},
    {"SLICE", "FHIQS", 1, 4, {3}},
    {"SOFTMAX", "FHQS", 1, 4, {2, 3}},
    {"SPACE_TO_BATCH_ND", "FHQS", 4, 4, {3, 4}},
    {"SPACE_TO_DEPTH", "FHQS", 4, 4, {2, 3}},
    {"SPLIT", "FHIQS", 1, 4, {3}},
    {"SQRT", "FH", 1, 5, {1}},
    {"SQUEEZE", "FHQS", 2, 4, {2}},
    {"STRIDED_SLICE", "FHQS", 1, 4, {7}},
    {"SUB", "FHQSI", 1, 4, {3}},
    {"TANH", "FHQS", 1, 4, {1}},
    {"TILE", "FHIQS", 1, 5, {2}},
    {"TOPK_V2", "FHIQS", 1, 4, {2}},
    {"TRANSPOSE", "FHQS", 1, 4, {2}},
    {"TRANSPOSE_CONV_2D", "FHQS", 4, 4, {9, 11}},
    /* what AOSP's leave out */
    {"AXIS_ALIGNED_BBOX_TRANSFORM", "FHA", 2, 2, {4}},
    {"BATCH_MATMUL", "FHS", 2, 4, {4}},
    {"BIDIRECTIONAL_SEQUENCE_LSTM", "FH", 3, 3, {61}},
    {"BIDIRECTIONAL_SEQUENCE_RNN", "FH", 3, 3, {15}},
    {"BOX_WITH_NMS_LIMIT", "FHQS", 2, 2, {9}},
    {"DETECTION_POSTPROCESSING", "FH", 3, 3, {14}},
    {"GENERATE_PROPOSALS", "FHQS", 4, 4, {11}},
    {"IF", "FHIQS", 1, 1, {0}},
    {"LSH_PROJECTION", "FH", 2, 2, {4}},
    {"LSTM", "FH", 2, 2, {23, 27}},
    {"MIRROR_PAD", "FHIQS", 2, 4, {3}},
    {"PACK", "FHIQS", 1, 4, {0}},
    {"QUANTIZED_16BIT_LSTM", "Q", 2, 2, {15}},
    {"QUANTIZED_LSTM", "S", 2, 2, {32}},
    {"RANDOM_MULTINOMIAL", "FH", 2, 2, {3}},
    {"REVERSE", "FHIQS", 1, 4, {2}},
    {"RNN", "FH", 2, 2, {6}},
    {"SVDF", "FH", 2, 2, {7}},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "FH", 3, 3, {28}},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", "FH", 3, 3, {7}},
    {"WHILE", "FHIQS", 1, 1, {0}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int32_t type_of(char letter) {
    switch (letter) {
    case 'F':
        return ANEURALNETWORKS_TENSOR_FLOAT32;
    case 'H':
        return ANEURALNETWORKS_TENSOR_FLOAT16;
    case 'Q':
        return ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    case 'S':
        return ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    case 'Y':
        return ANEURALNETWORKS_TENSOR_QUANT8_SYMM;
    case 'A':
        return ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
    case 'M':
        return ANEURALNETWORKS_TENSOR_QUANT16_SYMM;
    case 'I':
        return ANEURALNETWORKS_TENSOR_INT32;
    default:
        return ANEURALNETWORKS_TENSOR_BOOL8;
    }
}

/* What was seen of a row: ranks by type, and numbers of inputs. */
struct seen {
    size_t times;
    uint32_t ranks[NNV_TYPE_COUNT]; /* bits 1 << rank: of the largest tensor of the type that the operation reads */
    bool inputs[128];
};

static void see(struct seen *seen, const struct nnv_subgraph *m, const struct nnv_operation *op) {
    uint32_t most[NNV_TYPE_COUNT] = {0};
    seen->times++;
    seen->inputs[op->nin < 128 ? op->nin : 127] = true;
    for (uint32_t i = 0; i < op->nin + op->nout; i++) {
        const struct nnv_operand *o = &m->operands[i < op->nin ? op->in[i] : op->out[i - op->nin]];
        /* a FILL reads none */
        if (i >= op->nin && op->type != ANEURALNETWORKS_FILL) continue;
        if (o->rank > most[o->type]) most[o->type] = o->rank;
    }
    for (int t = 0; t < NNV_TYPE_COUNT; t++) seen->ranks[t] |= 1U << most[t];
}

static struct nnv_spec *build(struct nnv_arena *a, const char *profile, uint64_t seed, uint64_t index, bool unplanned) {
    const struct nnv_graph_options o = {.profile = nnv_graph_profile_by_name(profile),
                                        .seed = seed,
                                        .index = index,
                                        .name = "graph",
                                        .unplanned = unplanned};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_graph_build(&o, a, &spec, &err) != NNV_OK) fail_msg("%s %u: %s", profile, (unsigned)index, err.text);
    return spec;
}

static size_t check_off(const struct row *row, const struct seen *seen) {
    size_t missing = 0;
    for (const char *t = row->types; *t; t++)
        for (uint32_t rank = row->least; rank <= row->most; rank++)
            if (!(seen->ranks[type_of(*t)] >> rank & 1)) {
                print_message("missing: %s of %c, rank %u\n", row->op, *t, rank);
                missing++;
            }
    for (int i = 0; i < 6; i++)
        if (row->inputs[i] && !seen->inputs[row->inputs[i]]) {
            print_message("missing: %s of %u inputs\n", row->op, row->inputs[i]);
            missing++;
        }
    return missing;
}

static void see_graph(struct seen *seen, const struct nnv_spec *s) {
    const struct nnv_subgraph *m = &s->model.main;
    for (uint32_t k = 0; k < m->noperations; k++)
        for (int r = 0; r < ROWS; r++)
            if (strcmp(nnv_op(m->operations[k].type)->name, rows[r].op) == 0) see(&seen[r], m, &m->operations[k]);
}

/* Every row of the table is an operation, every operation has a row, and graphs of one operation show all of it. */
static void graphs_of_one_operation_show_the_whole_table(void **state) {
    (void)state;
    enum { GRAPHS = 40000 };
    struct seen *seen = calloc(ROWS, sizeof *seen);
    struct nnv_arena *a = nnv_arena_new();
    size_t nops, missing = 0;
    assert_non_null(seen);
    nnv_ops(&nops);
    assert_int_equal(ROWS, nops);
    for (int r = 0; r < ROWS; r++) assert_non_null(nnv_op_by_name(rows[r].op));
    for (uint64_t i = 0; i < GRAPHS; i++) {
        see_graph(seen, build(a, "single", 1, i, false));
        nnv_arena_reset(a);
    }
    for (int r = 0; r < ROWS; r++) missing += check_off(&rows[r], &seen[r]);
    assert_int_equal(missing, 0);
    nnv_arena_free(a);
    free(seen);
}

/* Every operation appears between others, too. */
static void every_operation_is_in_graphs(void **state) {
    (void)state;
    static const char *const profiles[] = {"small", "mixed", "large", "rnn", "control"};
    enum { GRAPHS = 400 };
    struct seen *seen = calloc(ROWS, sizeof *seen);
    struct nnv_arena *a = nnv_arena_new();
    size_t missing = 0;
    assert_non_null(seen);
    for (size_t p = 0; p < sizeof profiles / sizeof *profiles; p++)
        for (uint64_t i = 0; i < GRAPHS; i++) {
            const struct nnv_spec *s = build(a, profiles[p], 1, i, false);
            if (s->model.main.noperations > 1) see_graph(seen, s);
            nnv_arena_reset(a);
        }
    for (int r = 0; r < ROWS; r++)
        if (seen[r].times == 0) {
            print_message("in no graph: %s\n", rows[r].op);
            missing++;
        }
    assert_int_equal(missing, 0);
    nnv_arena_free(a);
    free(seen);
}

/* The tape has every label in each row, and every ordered pair once before any comes again. */
static void the_tape_has_every_pair_once(void **state) {
    (void)state;
    static const uint32_t sizes[] = {2, 6, 22, 104};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint32_t n = sizes[k];
        uint8_t *times = calloc((size_t)n * n, 1);
        assert_non_null(times);
        for (uint32_t row = 0; row < n; row++)
            for (uint32_t i = 0; i + 1 < n; i++) {
                const uint64_t at = (uint64_t)row * n + i;
                times[nnv_graph_tape(n, at) * n + nnv_graph_tape(n, at + 1)]++;
            }
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t y = 0; y < n; y++) assert_int_equal(times[x * n + y], x != y);
        free(times);
    }
}

static size_t pairs_of(struct nnv_arena *a, const char *profile, uint64_t seed, bool unplanned, size_t *operations) {
    enum { GRAPHS = 150 };
    struct nnv_graph_coverage c = {0};
    for (uint64_t i = 0; i < GRAPHS; i++) {
        assert_true(nnv_graph_cover(&c, build(a, profile, seed, i, unplanned)));
        nnv_arena_reset(a);
    }
    const size_t pairs = c.pairs.count;
    assert_true(c.graphs == GRAPHS && c.ways.count >= pairs && pairs <= nnv_graph_all_pairs());
    *operations += c.operations;
    nnv_graph_coverage_free(&c);
    return pairs;
}

/* The plan covers more pairs with no more operations than chance does: at least a tenth. */
static void the_plan_covers_more_pairs_than_chance(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    size_t planned = 0, chance = 0, more = 0, less = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        planned += pairs_of(a, "mixed", seed, false, &more) + pairs_of(a, "small", seed, false, &more);
        chance += pairs_of(a, "mixed", seed, true, &less) + pairs_of(a, "small", seed, true, &less);
    }
    print_message("pairs: %zu by the plan in %zu operations, %zu by chance in %zu\n", planned, more, chance, less);
    assert_true(planned * 10 >= chance * 11);
    assert_true(more * 100 <= less * 103);
    nnv_arena_free(a);
}

/* The same graph twice covers nothing new. */
static void coverage_counts_what_is_new(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    struct nnv_graph_coverage c = {0};
    const struct nnv_spec *s = build(a, "mixed", 1, 0, false);
    assert_true(nnv_graph_cover(&c, s));
    const size_t pairs = c.pairs.count, uses = c.uses.count, ops = c.ops.count, ways = c.ways.count;
    assert_true(pairs > 0 && uses > 0 && ops > 0 && ops <= uses);
    assert_true(nnv_graph_cover(&c, s));
    assert_true(c.graphs == 2 && c.operations == 2 * s->model.main.noperations);
    assert_true(c.pairs.count == pairs && c.uses.count == uses && c.ops.count == ops && c.ways.count == ways);
    nnv_graph_coverage_free(&c);
    nnv_arena_free(a);
}

/* FLOOR of floats and DEQUANTIZE of bytes: FLOOR may read a float of either, and none of them writes bytes. */
static void all_pairs_are_of_writers_and_readers(void **state) {
    (void)state;
    const struct nnv_graph_catalogue *all = nnv_graph_whole_catalogue();
    bool *uses = calloc(all->count, sizeof *uses);
    assert_non_null(uses);
    for (size_t i = 0; i < all->count; i++) {
        const int32_t op = all->use[i].op->code, type = nnv_graph_use_type(&all->use[i]);
        uses[i] = (op == ANEURALNETWORKS_FLOOR && type == ANEURALNETWORKS_TENSOR_FLOAT32) ||
                  (op == ANEURALNETWORKS_DEQUANTIZE && type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM);
    }
    assert_true(nnv_graph_restrict(uses));
    assert_int_equal(nnv_graph_all_pairs(), 2);
    assert_true(nnv_graph_restrict(NULL));
    free(uses);
}

/* ------------------------------------------------------ geometry of what is drawn */

static const int32_t *numbers_of(const struct nnv_operand *o) { return o->data; }
static int32_t number_of(const struct nnv_subgraph *m, const struct nnv_operation *op, uint32_t i) {
    int32_t v = 0;
    const struct nnv_operand *o = &m->operands[op->in[i]];
    if (o->data && o->bytes == sizeof v) memcpy(&v, o->data, sizeof v);
    return v;
}

/* What accelerators have special paths for. */
enum {
    CONV_STRIDE_2,
    CONV_3X3_STRIDE_2,
    CONV_SQUARE,
    DILATION_2,
    POOL_2X2_STRIDE_2,
    POOL_3X3,
    RESIZE_2,
    MEAN_SPATIAL,
    SQUARE_IMAGE,
    TRANSPOSED_SQUARE,
    PROPERTIES
};
static const char *const property_names[PROPERTIES] = {"convolution at stride 2x2",
                                                       "convolution of 3x3 at stride 2x2",
                                                       "convolution with a square filter",
                                                       "dilation 2x2",
                                                       "pooling of 2x2 at stride 2x2",
                                                       "pooling of 3x3",
                                                       "resizing by 2",
                                                       "mean over axes 1 and 2 of rank 4",
                                                       "convolution of a square image",
                                                       "transposing a square"};

static void count_convolution(size_t n[PROPERTIES], const struct nnv_subgraph *m, const struct nnv_operation *op) {
    const struct nnv_operand *x = &m->operands[op->in[0]], *f = &m->operands[op->in[1]];
    const bool implicit = op->nin < 10 || m->operands[op->in[7]].type == ANEURALNETWORKS_BOOL;
    const uint32_t stride = implicit ? 4 : 7;
    const bool by_2 = number_of(m, op, stride) == 2 && number_of(m, op, stride + 1) == 2;
    const bool square = f->rank == 4 && f->dims[1] == f->dims[2] && f->dims[1] > 1;
    n[CONV_STRIDE_2] += by_2;
    n[CONV_SQUARE] += square;
    n[CONV_3X3_STRIDE_2] += by_2 && square && f->dims[1] == 3;
    n[SQUARE_IMAGE] += x->rank == 4 && x->dims[2] > 1 && (x->dims[1] == x->dims[2] || x->dims[2] == x->dims[3]);
    n[DILATION_2] +=
        op->nin == (implicit ? 10 : 13) && number_of(m, op, op->nin - 1) == 2 && number_of(m, op, op->nin - 2) == 2;
}

static void count_pool(size_t n[PROPERTIES], const struct nnv_subgraph *m, const struct nnv_operation *op) {
    const uint32_t stride = op->nin <= 8 ? 2 : 5;
    const int32_t w = number_of(m, op, stride + 2), h = number_of(m, op, stride + 3);
    n[POOL_2X2_STRIDE_2] += w == 2 && h == 2 && number_of(m, op, stride) == 2 && number_of(m, op, stride + 1) == 2;
    n[POOL_3X3] += w == 3 && h == 3;
}

static void count_properties(size_t n[PROPERTIES], const struct nnv_subgraph *m, const struct nnv_operation *op) {
    const struct nnv_operand *x = &m->operands[op->in[0]], *y = &m->operands[op->out[0]];
    const struct nnv_operand *axes = op->nin > 1 ? &m->operands[op->in[1]] : NULL;
    switch (op->type) {
    case ANEURALNETWORKS_CONV_2D:
        count_convolution(n, m, op);
        break;
    case ANEURALNETWORKS_AVERAGE_POOL_2D:
    case ANEURALNETWORKS_MAX_POOL_2D:
    case ANEURALNETWORKS_L2_POOL_2D:
        count_pool(n, m, op);
        break;
    case ANEURALNETWORKS_RESIZE_BILINEAR:
    case ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR:
        n[RESIZE_2] += x->rank == 4 && y->rank == 4 && x->dims[2] > 0 && y->dims[2] == 2 * x->dims[2] &&
                       (y->dims[1] == 2 * x->dims[1] || y->dims[3] == 2 * x->dims[3]);
        break;
    case ANEURALNETWORKS_MEAN:
        n[MEAN_SPATIAL] += x->rank == 4 && axes->data && axes->bytes == 2 * sizeof(int32_t) &&
                           numbers_of(axes)[0] == 1 && numbers_of(axes)[1] == 2;
        break;
    case ANEURALNETWORKS_TRANSPOSE:
        n[TRANSPOSED_SQUARE] += x->rank > 1 && x->dims[x->rank - 1] > 1 && x->dims[x->rank - 1] == x->dims[x->rank - 2];
        break;
    default:
        break;
    }
}

/* Graphs draw from the covers of attributes, and so come to the geometry of real networks. */
static void graphs_have_the_geometry_of_networks(void **state) {
    (void)state;
    static const char *const profiles[] = {"small", "mixed", "conv"};
    enum { GRAPHS = 1000, LEAST = 5 };
    size_t n[PROPERTIES] = {0};
    struct nnv_arena *a = nnv_arena_new();
    for (size_t p = 0; p < sizeof profiles / sizeof *profiles; p++)
        for (uint64_t i = 0; i < GRAPHS; i++) {
            const struct nnv_subgraph *m = &build(a, profiles[p], 1, i, false)->model.main;
            for (uint32_t k = 0; k < m->noperations; k++) count_properties(n, m, &m->operations[k]);
            nnv_arena_reset(a);
        }
    for (int i = 0; i < PROPERTIES; i++) {
        print_message("%s: %zu\n", property_names[i], n[i]);
        assert_true(n[i] >= LEAST);
    }
    nnv_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_of_one_operation_show_the_whole_table), cmocka_unit_test(every_operation_is_in_graphs),
        cmocka_unit_test(graphs_have_the_geometry_of_networks),         cmocka_unit_test(the_tape_has_every_pair_once),
        cmocka_unit_test(the_plan_covers_more_pairs_than_chance),       cmocka_unit_test(coverage_counts_what_is_new),
        cmocka_unit_test(all_pairs_are_of_writers_and_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
