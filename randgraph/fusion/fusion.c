/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/fusion/fusion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "randgraph/fusion/chain.h"
#include "reference/model/validate.h"

enum { DRAWS = 8 };

/* ---------------------------------------------------------------------- the table */

static const char *const rows[] = {
#define FUSION(chain) chain,
#include "randgraph/fusion/fusion.def"
#undef FUSION
};
enum { ROWS = sizeof rows / sizeof *rows };

const int32_t nnv_fusion_types[NNV_FUSION_TYPES] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_FLOAT16,
                                                    ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                                    ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED};

const char *nnv_consumers_name(enum nnv_consumers c) {
    static const char *const names[NNV_CONSUMERS_COUNT] = {"one", "several", "output", "shared"};
    return names[c];
}

static size_t count_in(const char *s, size_t n, char what) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += s[i] == what;
    return count;
}

/* Ways through a row. */
static size_t ways(const char *row) {
    size_t n = 1;
    for (const char *p = row; *p;) {
        const size_t length = strcspn(p, " ");
        n *= count_in(p, length, '|') + 1;
        p += length + (p[length] == ' ');
    }
    return n;
}

size_t nnv_fusion_chains(void) {
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) n += ways(rows[i]);
    return n;
}

/* The step of that word; -1: none. */
static int step_of(const char *word, size_t length) {
    for (int i = 0; i < nnv_chain_step_count; i++)
        if (strlen(nnv_chain_steps[i].word) == length && memcmp(nnv_chain_steps[i].word, word, length) == 0) return i;
    return -1;
}

static bool takes_activation(int step) {
    const struct nnv_form *form = nnv_op(nnv_chain_steps[step].codes[0])->forms;
    for (uint8_t i = 0; i < form->nin; i++)
        if (form->in[i].rule == NNV_FUSE) return true;
    return false;
}

/* The same of "conv_relu6": the step conv, whose operation has the activation fused. */
static int fused_step_of(const char *word, size_t length, int *fused) {
    static const char *const ends[] = {"", "_relu", "_relu1", "_relu6"}; /* by FuseCode */
    const int whole = step_of(word, length);
    *fused = -1;
    for (int code = ANEURALNETWORKS_FUSED_RELU; whole < 0 && code <= ANEURALNETWORKS_FUSED_RELU6; code++) {
        const size_t n = strlen(ends[code]);
        const int step = length > n && memcmp(word + length - n, ends[code], n) == 0 ? step_of(word, length - n) : -1;
        if (step < 0 || !takes_activation(step)) continue;
        *fused = code;
        return step;
    }
    return whole;
}

/* Adds word number `which` of those with bars between them to the chain. */
static void add_alternative(struct nnv_fusion_chain *chain, const char *words, size_t which) {
    const char *p = words;
    for (; which > 0; which--) p += strcspn(p, "|") + 1;
    const size_t n = strcspn(p, "| "), at = strlen(chain->name);
    chain->step[chain->count] = fused_step_of(p, n, &chain->fused[chain->count]);
    const bool known = chain->step[chain->count++] >= 0;
    snprintf(chain->name + at, sizeof chain->name - at, "%s%.*s", at ? "+" : "", known ? (int)n : 1, known ? p : "?");
}

void nnv_fusion_chain_of(size_t index, struct nnv_fusion_chain *chain) {
    size_t row = 0;
    *chain = (struct nnv_fusion_chain){.count = 0};
    while (row + 1 < ROWS && index >= ways(rows[row])) index -= ways(rows[row++]);
    for (const char *p = rows[row]; *p && chain->count < NNV_FUSION_STEPS;) {
        const size_t length = strcspn(p, " "), n = count_in(p, length, '|') + 1;
        add_alternative(chain, p, index % n);
        index /= n;
        p += length + (p[length] == ' ');
    }
    const int main = chain->step[chain->count > 1 && nnv_chain_steps[chain->step[0]].rank == 0];
    chain->main = nnv_op(nnv_chain_steps[main].codes[0])->name;
}

/* ------------------------------------------------------------------------- types */

static const uint32_t float_types = 1u << ANEURALNETWORKS_TENSOR_FLOAT32 | 1u << ANEURALNETWORKS_TENSOR_FLOAT16;
static const uint32_t quant_types =
    1u << ANEURALNETWORKS_TENSOR_QUANT8_ASYMM | 1u << ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;

static bool reads(int32_t code, int32_t type) {
    const struct nnv_op *op = nnv_op(code);
    for (int i = 0; i < op->nsigs; i++)
        if (op->sigs[i].type[NNV_T] == type) return true;
    return false;
}

/* The types (bits 1 << OperandCode) that the step makes of any of these; 0: it does not take them all. */
static uint32_t types_after(const struct nnv_chain_step *s, uint32_t types) {
    switch (s->codes[0]) {
    case ANEURALNETWORKS_QUANTIZE:
        return types & quant_types ? 0 : quant_types;
    case ANEURALNETWORKS_DEQUANTIZE:
        return types & float_types ? 0 : float_types;
    case ANEURALNETWORKS_CAST:
        if (strcmp(s->word, "cast_int") == 0) return types & ~float_types ? 0 : 1u << ANEURALNETWORKS_TENSOR_INT32;
        return types & quant_types                           ? 0
               : types == 1u << ANEURALNETWORKS_TENSOR_INT32 ? 1u << ANEURALNETWORKS_TENSOR_FLOAT32
                                                             : float_types;
    }
    for (const int32_t *code = s->codes; *code >= 0; code++)
        for (int32_t type = 0; type < 32; type++) {
            const bool stored = *code == ANEURALNETWORKS_DEQUANTIZE; /* weights, for this type of floats */
            if (types >> type & 1 && !(stored ? float_types >> type & 1 : reads(*code, type))) return 0;
        }
    return types;
}

bool nnv_fusion_takes(const struct nnv_fusion_chain *chain, int32_t type) {
    uint32_t types = 1u << type;
    for (int i = 0; i < chain->count && types; i++) types = types_after(&nnv_chain_steps[chain->step[i]], types);
    return types != 0;
}

/* ---------------------------------------------------------------------- building */

/* Extents of the value that the chain begins with. */
static uint32_t draw_extents(const struct nnv_fusion *what, struct nnv_chain *c, uint32_t *dims) {
    static const uint32_t images[][4] = {{1, 8, 8, 4}, {2, 7, 6, 3}, {1, 6, 6, 5},
                                         {2, 5, 9, 8}, {1, 9, 9, 3}, {1, 8, 4, 16}};
    enum { SQUARE = 1 };
    static const uint32_t others[][3] = {{2, 5, 6}, {1, 8, 8}, {3, 4, 17}, {1, 1, 16}};
    uint32_t rank = 0, turns = 0;
    for (int i = 0; i < what->chain->count; i++) {
        const struct nnv_chain_step *s = &nnv_chain_steps[what->chain->step[i]];
        turns += s->codes[0] == ANEURALNETWORKS_TRANSPOSE;
        if (rank == 0) rank = s->rank;
        if (rank != 0) continue;
        if (s->codes[0] == ANEURALNETWORKS_FULLY_CONNECTED) rank = nnv_chain_chance(c, 0.6) ? 2 : 4;
        if (s->codes[0] == ANEURALNETWORKS_BATCH_MATMUL) rank = 3;
    }
    if (rank == 0) rank = 4;
    /* two that do not cancel each other leave the extents alone where they are equal */
    if (rank == 4 && turns > 1 && nnv_chain_chance(c, 0.5))
        memcpy(dims, (const uint32_t[]){2, 5, 5, 5}, 4 * sizeof *dims);
    else if (rank < 4 && turns > 0 && nnv_chain_chance(c, 0.5)) /* so does one that is taken for a transposition */
        memcpy(dims, others[SQUARE] + (3 - rank), rank * sizeof *dims);
    else if (rank == 4)
        memcpy(dims, images[nnv_chain_int(c, 0, 5)], sizeof images[0]);
    else
        memcpy(dims, others[nnv_chain_int(c, 0, 3)] + (3 - rank), rank * sizeof *dims);
    return rank;
}

static void add_output(struct nnv_chain *c, uint32_t operand) {
    for (uint32_t i = 0; i < c->nout; i++)
        if (c->out[i] == operand) return;
    if (c->nout == NNV_CHAIN_IO) nnv_chain_fail(c);
    if (!c->failed) c->out[c->nout++] = operand;
}

/* The case's number among those of the chain. */
static uint64_t number_of(const struct nnv_fusion *what) {
    return (what->index * 32 + (uint64_t)what->type) * NNV_CONSUMERS_COUNT + what->consumers;
}

/* The values of the first input reach so far: beyond 6 where something clamps there. */
static double reach_of(const struct nnv_fusion_chain *chain) {
    static const double usual = 2.5, beyond = 6.5;
    bool six = false;
    for (int i = 0; i < chain->count; i++) {
        const int32_t code = nnv_chain_steps[chain->step[i]].codes[0];
        six |= code == ANEURALNETWORKS_RELU6 || code == ANEURALNETWORKS_HARD_SWISH ||
               chain->fused[i] == ANEURALNETWORKS_FUSED_RELU6;
    }
    return six ? beyond : usual;
}

/* One pass over the steps; its last value is an output. */
static void add_steps(const struct nnv_fusion *what, struct nnv_chain *c, int draw) {
    uint32_t dims[NNV_MAX_RANK];
    c->rng = nnv_rng_make(what->seed, nnv_hash_str(what->chain->name) + (uint64_t)draw, number_of(what));
    const uint32_t rank = draw_extents(what, c, dims);
    c->nwritten = 0;
    c->at = nnv_chain_input(c, what->type, rank, dims, -reach_of(what->chain), reach_of(what->chain));
    for (int i = 0; i < what->chain->count && !c->failed; i++) {
        const struct nnv_chain_step *s = &nnv_chain_steps[what->chain->step[i]];
        if (s->rank && nnv_chain_operand(c, c->at)->rank != s->rank) nnv_chain_fail(c);
        c->fused = what->chain->fused[i];
        if (!c->failed) s->add(c, s->arg);
    }
    add_output(c, c->at);
}

/* A value in the middle that is no output yet. */
static uint32_t choose_middle(struct nnv_chain *c) {
    uint32_t middle[NNV_CHAIN_IO], n = 0;
    for (uint32_t i = 0; i < c->nwritten; i++) {
        bool is_output = false;
        for (uint32_t k = 0; k < c->nout; k++) is_output |= c->out[k] == c->written[i];
        if (!is_output) middle[n++] = c->written[i];
    }
    if (n == 0) nnv_chain_fail(c);
    return n ? middle[nnv_chain_int(c, 0, (int)n - 1)] : 0;
}

/* One of the constants, numbers, goes to an operation of another kind. */
static void read_constant(struct nnv_chain *c) {
    uint32_t numbers[NNV_CHAIN_OPERANDS], n = 0;
    for (uint32_t i = 0; i < c->nconstants; i++) {
        const struct nnv_operand *o = nnv_chain_operand(c, c->constant[i]);
        if (o->rank > 0 && o->rank <= 4 && reads(ANEURALNETWORKS_RELU, o->type)) numbers[n++] = c->constant[i];
    }
    if (n == 0 || c->failed) return;
    add_output(c, NNV_CHAIN_ADD(c, RELU, numbers[nnv_chain_int(c, 0, (int)n - 1)]));
}

static bool gives(const struct nnv_operation *o, uint32_t operand) {
    for (uint32_t i = 0; i < o->nout; i++)
        if (o->out[i] == operand) return true;
    return false;
}

/* The last operation is done right behind the one that gives what it reads, or at the end, as it is: who reads a value
 * last may not be the chain. */
static void move_forward(struct nnv_chain *c, uint32_t read) {
    struct nnv_operation *o = c->b.operation, last;
    const uint32_t n = c->b.noperations;
    if (c->failed || c->b.failed || n < 2 || nnv_chain_chance(c, 0.5)) return;
    uint32_t at = n - 1;
    last = o[at];
    for (; at > 0 && !gives(&o[at - 1], read); at--) o[at] = o[at - 1];
    o[at] = last;
}

static void add_consumers(const struct nnv_fusion *what, struct nnv_chain *c, int draw) {
    if (c->failed || what->consumers == NNV_CONSUMERS_ONE) return;
    if (what->consumers == NNV_CONSUMERS_SHARED) {
        c->pass = 1;
        c->nin_first = c->nin;
        add_steps(what, c, draw);
        c->pass = 0;
        if (nnv_chain_chance(c, 0.5)) read_constant(c);
        return;
    }
    const uint32_t middle = choose_middle(c);
    if (what->consumers == NNV_CONSUMERS_OUTPUT || c->failed) {
        add_output(c, middle);
        return;
    }
    c->at = middle;
    const bool relu = nnv_chain_chance(c, 0.5);
    if (relu && reads(ANEURALNETWORKS_RELU, nnv_chain_operand(c, middle)->type)) {
        add_output(c, NNV_CHAIN_ADD(c, RELU, middle));
    } else {
        const uint32_t number = nnv_chain_constant(c, 1, (uint32_t[]){1}, 0.5, 1);
        add_output(c, NNV_CHAIN_ADD(c, ADD, middle, number, nnv_chain_i32(c, ANEURALNETWORKS_FUSED_NONE)));
    }
    move_forward(c, middle);
}

/* Every output has finite elements that are not all alike. */
static bool tells(const struct nnv_chain *c) {
    for (uint32_t i = 0; i < c->nout; i++) {
        const struct nnv_type *t = nnv_type(nnv_chain_operand(c, c->out[i])->type);
        const struct nnv_value *v = &c->value[c->out[i]];
        const size_t n = v->bytes / t->size;
        size_t alike = 0, limits = 0;
        double first = 0, x;
        for (size_t e = 0; e < n; e++) {
            nnv_load(t->code, (const char *)v->data + e * t->size, 1, &x);
            if (!isfinite(x)) return false;
            if (e == 0) first = x;
            alike += x == first;
            limits += t->kind == NNV_KIND_QUANT && (x == t->min || x == t->max);
        }
        if (n == 0 || (n > 1 && alike == n) || (n > 8 && 4 * limits > 3 * n)) return false;
    }
    return true;
}

static enum nnv_status finish(const struct nnv_fusion *what, struct nnv_chain *c, struct nnv_spec **out,
                              struct nnv_err *err) {
    struct nnv_spec *spec = NNV_NEW(c->arena, struct nnv_spec, 1);
    if (!spec) return nnv_no_memory(err);
    spec->name = what->name;
    spec->inputs = NNV_NEW(c->arena, struct nnv_value, c->nin);
    spec->outputs = NNV_NEW(c->arena, struct nnv_value, c->nout);
    if (!spec->inputs || !spec->outputs) return nnv_no_memory(err);
    for (uint32_t i = 0; i < c->nin; i++) spec->inputs[i] = c->value[c->in[i]];
    for (uint32_t i = 0; i < c->nout; i++) {
        spec->outputs[i] = c->value[c->out[i]];
        c->b.operand[c->out[i]].lifetime = NNV_SUBGRAPH_OUTPUT;
    }
    enum nnv_status st = nnv_builder_end(&c->b, c->nin, c->in, c->nout, c->out, &spec->model, err);
    if (!st) st = nnv_validate(&spec->model, c->arena, &spec->min_version, err);
    if (!st) *out = spec;
    return st;
}

enum nnv_status nnv_fusion_build(const struct nnv_fusion *what, struct nnv_arena *arena, struct nnv_spec **spec,
                                 struct nnv_err *err) {
    struct nnv_chain *c = NULL, *best = NULL;
    for (int draw = 0; draw < DRAWS; draw++) {
        c = NNV_NEW(arena, struct nnv_chain, 1);
        if (!c) return nnv_no_memory(err);
        c->arena = c->b.arena = arena;
        c->noise = nnv_rng_make(what->seed, nnv_hash_str(what->chain->name) - (uint64_t)draw - 1, number_of(what));
        add_steps(what, c, draw);
        add_consumers(what, c, draw);
        if (c->b.failed) return nnv_no_memory(err);
        if (!c->failed) best = c;
        if (!c->failed && tells(c)) break;
    }
    if (!best) return nnv_fail(err, NNV_INTERNAL, "%s: %s", what->name, c->why.text);
    return finish(what, best, spec, err);
}
