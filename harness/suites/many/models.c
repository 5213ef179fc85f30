/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/many/many.h"

#include "harness/suites/kit/fixture_models.h"

const int32_t nnv_many_types[NNV_MANY_TYPES] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                                ANEURALNETWORKS_TENSOR_FLOAT16,
                                                ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED};

/** A unit of quantised values; constants are so many of them, and sums of constants are exact in both types. */
#define UNIT 0.03125f
enum { ZERO = 127, ROWS = 2, COLUMNS = 3, WIDE = 256, JOINED = 8 };

/** A model while it is made. */
struct nnv_many {
    struct nnv_builder b;
    struct nnv_encoding of;
    uint32_t n;      /**< so many */
    uint32_t shares; /**< constants so far */
    uint32_t *in, *out;
    uint32_t nin, nout;
    struct nnv_subgraph *referenced; /**< room for 2 n */
    uint32_t nreferenced;
};

static const uint32_t small[] = {ROWS, COLUMNS};

/* ------------------------------------------------------------------- parts */

static uint32_t tensor(struct nnv_many *c, const uint32_t dims[2], enum nnv_lifetime lifetime) {
    return nnv_builder_tensor(&c->b, c->of, 2, dims, lifetime);
}

static uint32_t input(struct nnv_many *c, const uint32_t dims[2]) {
    return c->in[c->nin++] = tensor(c, dims, NNV_SUBGRAPH_INPUT);
}

static uint32_t none(struct nnv_many *c) { return nnv_builder_int(&c->b, ANEURALNETWORKS_FUSED_NONE); }

/**
 * A row of so many numbers, of seven that come again: rows a power of two apart are unlike. Sums of rows stay small,
 * and so do those of alternating sign.
 */
static uint32_t row(struct nnv_many *c, uint32_t columns) {
    static const int units[] = {1, 2, -3, -4, 3, -1, 2};
    enum { UNITS = sizeof units / sizeof *units };
    double v[WIDE];
    for (uint32_t i = 0; i < columns; i++) {
        const int u = units[(c->shares + i) % UNITS];
        v[i] = c->of.scale > 0 ? u + c->of.zero_point : u * (double)UNIT;
    }
    c->shares++;
    return nnv_builder_numbers(&c->b, c->of, 1, &columns, v);
}

/** y = x op z */
static uint32_t pair(struct nnv_many *c, int32_t op, uint32_t x, uint32_t z, const uint32_t dims[2]) {
    const uint32_t y = tensor(c, dims, NNV_TEMPORARY_VARIABLE);
    nnv_builder_add(&c->b, op, 3, (uint32_t[]){x, z, none(c)}, y);
    return y;
}

/** y = x + a row of its own */
static uint32_t moved(struct nnv_many *c, uint32_t x) {
    return pair(c, ANEURALNETWORKS_ADD, x, row(c, COLUMNS), small);
}

static void output(struct nnv_many *c, uint32_t operand) {
    if (nnv_builder_ok(&c->b)) c->b.operand[operand].lifetime = NNV_SUBGRAPH_OUTPUT;
    c->out[c->nout++] = operand;
}

static uint32_t rows_of(const struct nnv_many *c, uint32_t operand) {
    return nnv_builder_ok(&c->b) ? c->b.operand[operand].dims[0] : 0;
}

/** x[0] to x[n - 1] one below the other, a few at once; writes over x. */
static uint32_t joined(struct nnv_many *c, uint32_t *x, uint32_t n) {
    while (n > 1) {
        uint32_t parts = 0;
        for (uint32_t i = 0; i < n; parts++) {
            uint32_t list[JOINED + 1], k = 0, rows = 0;
            for (; k < JOINED && i < n; k++, i++) {
                list[k] = x[i];
                rows += rows_of(c, x[i]);
            }
            list[k] = nnv_builder_int(&c->b, 0);
            x[parts] = k == 1 ? list[0] : tensor(c, (uint32_t[]){rows, COLUMNS}, NNV_TEMPORARY_VARIABLE);
            if (k > 1) nnv_builder_add(&c->b, ANEURALNETWORKS_CONCATENATION, k + 1, list, x[parts]);
        }
        n = parts;
    }
    return x[0];
}

/** Room for n numbers of operands; NULL: out of memory. */
static uint32_t *list_of(struct nnv_many *c, size_t n) {
    uint32_t *list = NNV_NEW(c->b.arena, uint32_t, n);
    if (!list) c->b.failed = true;
    return list;
}

/* ------------------------------------------------------------------ models */

/** One behind the other. */
static void operations(struct nnv_many *c) {
    uint32_t y = input(c, small);
    for (uint32_t i = 0; i < c->n; i++) y = moved(c, y);
    output(c, y);
}

/** All results are there before the first is read, which is the last that was made. */
static void alive(struct nnv_many *c) {
    uint32_t *list = list_of(c, c->n), x = input(c, small), y;
    if (!list) return;
    for (uint32_t i = 0; i < c->n; i++) list[i] = moved(c, x);
    y = list[c->n - 1];
    for (uint32_t i = c->n - 1; i-- > 0;) y = pair(c, ANEURALNETWORKS_SUB, list[i], y, small);
    output(c, pair(c, ANEURALNETWORKS_ADD, y, x, small));
}

static void inputs(struct nnv_many *c) {
    uint32_t *list = list_of(c, c->n);
    if (!list) return;
    for (uint32_t i = 0; i < c->n; i++) list[i] = input(c, small);
    output(c, joined(c, list, c->n));
}

static void outputs(struct nnv_many *c) {
    const uint32_t x = input(c, small);
    for (uint32_t i = 0; i < c->n; i++) output(c, moved(c, x));
}

/** One result, and so many operations that read it. */
static void readers(struct nnv_many *c) {
    uint32_t *list = list_of(c, c->n), x = moved(c, input(c, small));
    if (!list) return;
    for (uint32_t i = 0; i < c->n; i++) list[i] = moved(c, x);
    output(c, joined(c, list, c->n));
}

/** One operation that joins so many: along the last axis, or a new one. */
static void join(struct nnv_many *c, int32_t op) {
    uint32_t *list = list_of(c, c->n + 1), y;
    const uint32_t x = input(c, small), wide[] = {ROWS, COLUMNS * c->n}, high[] = {ROWS, c->n, COLUMNS};
    const bool packs = op == ANEURALNETWORKS_PACK;
    if (!list) return;
    uint32_t *first = list + packs, *axis = packs ? list : list + c->n;
    *axis = nnv_builder_int(&c->b, 1);
    for (uint32_t i = 0; i < c->n; i++) first[i] = moved(c, x);
    y = nnv_builder_tensor(&c->b, c->of, packs ? 3 : 2, packs ? high : wide, NNV_TEMPORARY_VARIABLE);
    nnv_builder_add(&c->b, op, c->n + 1, list, y);
    output(c, y);
}
static void concatenated(struct nnv_many *c) { join(c, ANEURALNETWORKS_CONCATENATION); }
static void packed(struct nnv_many *c) { join(c, ANEURALNETWORKS_PACK); }

/** One operation that splits into so many, which are joined in the other order. */
static void split(struct nnv_many *c) {
    uint32_t *list = list_of(c, c->n), *turned = list_of(c, c->n);
    const uint32_t part[] = {1, COLUMNS};
    if (!list || !turned) return;
    const uint32_t in[] = {input(c, (uint32_t[]){c->n, COLUMNS}), nnv_builder_int(&c->b, 0),
                           nnv_builder_int(&c->b, (int32_t)c->n)};
    for (uint32_t i = 0; i < c->n; i++) turned[c->n - 1 - i] = list[i] = tensor(c, part, NNV_TEMPORARY_VARIABLE);
    nnv_builder_operation(&c->b, ANEURALNETWORKS_SPLIT, 3, in, c->n, list);
    output(c, joined(c, turned, c->n));
}

/** So many constants that lie in pools: 1 KiB each in float32. */
static void constants(struct nnv_many *c) {
    const uint32_t wide[] = {ROWS, WIDE};
    uint32_t y = input(c, wide);
    for (uint32_t i = 0; i < c->n; i++) y = pair(c, ANEURALNETWORKS_ADD, y, row(c, WIDE), wide);
    output(c, y);
}

/* ------------------------------------------------------------ control flow */

static const struct nnv_encoding truth = {ANEURALNETWORKS_TENSOR_BOOL8, 0, 0};

static uint32_t condition(struct nnv_many *c) {
    return c->in[c->nin++] = nnv_builder_tensor(&c->b, truth, 1, (uint32_t[]){1}, NNV_SUBGRAPH_INPUT);
}

/** Begins a subgraph of its own, which takes the place of what is made; *before is for its end. */
static void begin_subgraph(struct nnv_many *c, struct nnv_many *before) {
    *before = *c;
    c->b = (struct nnv_builder){.arena = before->b.arena, .seed = before->b.seed};
    c->nin = c->nout = 0;
    c->in = list_of(c, 2);
    c->out = list_of(c, 1);
}

/** Ends it; the number of the subgraph. */
static uint32_t end_subgraph(struct nnv_many *c, const struct nnv_many *before) {
    struct nnv_model model = {0};
    struct nnv_err err = {0};
    const bool ok = nnv_builder_end(&c->b, c->nin, c->in, c->nout, c->out, &model, &err) == NNV_OK;
    const uint32_t number = c->nreferenced++, shares = c->shares;
    *c = *before;
    c->nreferenced = number + 1;
    c->shares = shares;
    c->b.failed = c->b.failed || !ok;
    c->referenced[number] = model.main;
    return number;
}

static uint32_t subgraph(struct nnv_many *c, uint32_t number) {
    return nnv_builder_operand(
        &c->b, (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = number});
}

/** A branch: y = x + a row of its own. Conditional: its first input is a condition, which it does not read. */
static uint32_t leaf(struct nnv_many *c, bool conditional) {
    struct nnv_many before;
    begin_subgraph(c, &before);
    if (c->b.failed) return end_subgraph(c, &before);
    if (conditional) condition(c);
    output(c, moved(c, input(c, small)));
    return end_subgraph(c, &before);
}

/** One of two branches of x, which get the condition, too, where it is handed on. */
static uint32_t chosen(struct nnv_many *c, uint32_t when, uint32_t then, uint32_t other, bool hands_on, uint32_t x) {
    const uint32_t y = tensor(c, small, NNV_TEMPORARY_VARIABLE);
    const uint32_t in[] = {when, subgraph(c, then), subgraph(c, other), hands_on ? when : x, x};
    nnv_builder_add(&c->b, ANEURALNETWORKS_IF, hands_on ? 5 : 4, in, y);
    return y;
}

/** IFs one behind the other, each with two branches of its own. */
static void branches(struct nnv_many *c) {
    const uint32_t when = condition(c);
    uint32_t y = input(c, small);
    for (uint32_t i = 0; i < c->n; i++) {
        const uint32_t then = leaf(c, false), other = leaf(c, false);
        y = i % 2 ? chosen(c, when, other, then, false, y) : chosen(c, when, then, other, false, y);
    }
    output(c, y);
}

/** IFs one in the other. */
static void nested(struct nnv_many *c) {
    struct nnv_many before;
    uint32_t then = leaf(c, true);
    for (uint32_t i = 1; i < c->n; i++) {
        const uint32_t other = leaf(c, true);
        begin_subgraph(c, &before);
        if (c->b.failed) {
            end_subgraph(c, &before);
            return;
        }
        const uint32_t when = condition(c), x = input(c, small);
        output(c, moved(c, chosen(c, when, then, other, true, x)));
        then = end_subgraph(c, &before);
    }
    const uint32_t other = leaf(c, true), when = condition(c), x = input(c, small);
    output(c, chosen(c, when, then, other, true, x));
}

const struct nnv_many_kind nnv_many_kinds[] = {
    {"operations", "ADD", 513, operations},
    {"alive", "SUB", 257, alive},
    {"inputs", "CONCATENATION", 129, inputs},
    {"outputs", "ADD", 129, outputs},
    {"readers", "ADD", 513, readers},
    {"concatenated", "CONCATENATION", 257, concatenated},
    {"packed", "PACK", 257, packed},
    {"split", "SPLIT", 257, split},
    {"constants", "ADD", 257, constants},
    {"branches", "IF", 65, branches},
    {"nested", "IF", 17, nested},
};
const size_t nnv_many_kind_count = sizeof nnv_many_kinds / sizeof *nnv_many_kinds;

enum nnv_status nnv_many_build(const struct nnv_many_kind *kind, int32_t type, uint32_t count, const char *name,
                               uint64_t seed, struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err) {
    const bool quantised = nnv_is_quant(type);
    const int32_t zero = type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? ZERO - 128 : ZERO;
    struct nnv_model model = {0};
    struct nnv_many c = {.b = {.arena = arena, .seed = seed},
                         .of = {type, quantised ? UNIT : 0, quantised ? zero : 0},
                         .n = count,
                         .in = NNV_NEW(arena, uint32_t, count + 2),
                         .out = NNV_NEW(arena, uint32_t, count),
                         .referenced = NNV_NEW(arena, struct nnv_subgraph, 2 * (size_t)count + 1)};
    if (!c.in || !c.out || !c.referenced) return nnv_no_memory(err);
    kind->describe(&c);
    enum nnv_status st = nnv_builder_end(&c.b, c.nin, c.in, c.nout, c.out, &model, err);
    model.referenced = c.referenced;
    model.nreferenced = c.nreferenced;
    return st ? st : nnv_fixture_finish(name, 1, seed, &model, arena, spec, err);
}
