/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file apart.c Models of each operation whose constants lie in several pools, and some among the copied values; of
 * 8-bit types also with weights whose zero point is an end of the codes, so that they do not fit eight bits without it,
 * or whose channels have scales far apart.
 */
#include <string.h>

#include "harness/suites/cache/cache.h"
#include "harness/suites/kit/cases.h"
#include "randgraph/relate/relate.h"
#include "randgraph/single/scales.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

enum {
    POOLS = 3,
    COPIED = 4,   /* the last of so many constants is copied, where it is small */
    FEW = 16,     /* the smallest tier has the first signature of every so manieth operation */
    DECOY = 0x55, /* in a pool where a constant of another one is */
};

/* -------------------------------------------------------------------- listing */

/** The operation takes two tensors or more: one of them may be a constant. */
static bool takes_tensors(const struct nnv_op *op) {
    int tensors = 0;
    for (uint8_t i = 0; i < op->forms[0].nin; i++) tensors += !(op->forms[0].in[i].flags & NNV_SCALAR);
    return tensors > 1;
}

/** Most drivers have the types of the default tier. */
static bool is_common(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ||
           type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
}

/** Where the zero point of the second tensor lies, which is the weights of what has some; scales of their channels. */
static const struct weights {
    const char *name;
    enum nnv_scale_factor factor;
    int32_t value;
} weights[] = {{"_lowest_zero", NNV_SCALE_ZERO_B, NNV_ZERO_LOWEST},
               {"_highest_zero", NNV_SCALE_ZERO_B, NNV_ZERO_HIGHEST},
               {"_spread_scales", NNV_SCALE_CHANNELS, NNV_CHANNELS_SPREAD},
               {"_scales_in_turn", NNV_SCALE_CHANNELS, NNV_CHANNELS_IN_TURN}};
enum { WEIGHTS = sizeof weights / sizeof *weights };

/** The first row of quantisations with such weights, their codes anywhere; -1: none. */
static int row_of(const struct nnv_op *op, int sig, const struct weights *w) {
    int32_t row[NNV_SCALE_FACTORS];
    const size_t rows = nnv_scales_rows(op, sig);
    for (size_t i = 0; i < rows; i++) {
        nnv_scales_row(op, sig, i, row);
        if (row[w->factor] == w->value && row[NNV_SCALE_CODES] != NNV_CODES_NEAR) return (int)i;
    }
    return -1;
}

static bool has_channels(const struct nnv_sig *sig) {
    for (int v = 0; v < NNV_VARS; v++)
        if (sig->type[v] == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) return true;
    return false;
}

static bool is_listed(int tier, size_t i, const struct nnv_op *op, int sig) {
    if (tier == NNV_AMOUNT_SMOKE) return sig == 0 && i % FEW == 0;
    return tier == NNV_AMOUNT_FULL ||
           (is_common(op->sigs[sig].type[NNV_T]) && (nnv_single_is_first(op, sig) || has_channels(&op->sigs[sig])));
}

enum nnv_status nnv_cache_apart_list(const struct nnv_run_config *config, struct nnv_case_list *list, const char *row,
                                     struct nnv_case c, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < n; i++)
        for (int sig = 0; takes_tensors(ops[i]) && sig < ops[i]->nsigs && !st; sig++) {
            char types[96];
            if (!is_listed(nnv_tier(config), i, ops[i], sig)) continue;
            c.op = ops[i]->name;
            c.type = nnv_type(ops[i]->sigs[sig].type[NNV_T])->tag;
            c.b = (uint64_t)sig;
            c.c = 0;
            c.data = ops[i];
            nnv_single_sig_name(ops[i], sig, types, sizeof types);
            st = nnv_list_case(list, c, err, "%s/%s_%s", row, ops[i]->name, types);
            for (int k = 0; k < WEIGHTS && !st; k++) {
                const int first = row_of(ops[i], sig, &weights[k]);
                if (first < 0) continue;
                c.c = (uint64_t)first + 1;
                st = nnv_list_case(list, c, err, "%s/%s_%s%s", row, ops[i]->name, types, weights[k].name);
            }
        }
    return st;
}

/* --------------------------------------------------------------------- models */

/** All inputs but the first become constants, where the operation allows it. */
static bool fix_inputs(struct nnv_context *s, const struct nnv_spec *spec, struct nnv_spec **out) {
    struct nnv_spec *fixed = nnv_relate_copy(spec, s->env->arena);
    bool changed = false;
    if (!fixed) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    for (uint32_t i = fixed->model.main.nin; i-- > 1;) changed |= nnv_relate_fix_input(fixed, i, false);
    const bool valid = changed && nnv_validate(&fixed->model, s->env->arena, &fixed->min_version, NULL) == NNV_OK;
    *out = valid ? fixed : nnv_relate_copy(spec, s->env->arena);
    return *out || nnv_context_error(s, NNV_OUT_OF_MEMORY);
}

static bool is_tensor(const struct nnv_operand *o) { return nnv_is_constant(o) && o->rank > 0 && o->bytes > 0; }

/** Constant tensors lie in the pool, but for every COPIED-th small one. */
static void refer(struct nnv_subgraph *main) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < main->noperands; i++) {
        struct nnv_operand *o = &main->operands[i];
        if (is_tensor(o)) o->lifetime = ++k % COPIED ? NNV_CONSTANT_REFERENCE : NNV_CONSTANT_COPY;
    }
}

/**
 * Spreads the constants of the fixture's pool over pools, each of them at its old offset: the second, third, first and
 * so on. Who takes one pool for another finds other bytes there.
 */
static bool spread(struct nnv_context *s, struct nnv_fixture *fixture) {
    struct nnvts_model *m = &fixture->model;
    struct nnvts_memory *pools = NNV_NEW(s->env->arena, struct nnvts_memory, POOLS);
    struct nnvts_operand *operands =
        nnv_arena_copy(s->env->arena, m->main.operands, m->main.operand_count * sizeof *operands);
    uint8_t *bytes[POOLS] = {fixture->constants};
    if (!pools || !operands) return nnv_context_error(s, NNV_OUT_OF_MEMORY);
    if (m->pool_count != 1) return true;
    pools[0] = m->pools[0];
    for (uint32_t p = 1; p < POOLS; p++) {
        if (!nnv_context_memory(s, (size_t)pools[0].size, NNV_POOL_READ_ONLY, &pools[p], &bytes[p])) return false;
        memcpy(bytes[p], bytes[0], (size_t)pools[0].size); /* with the guard zones */
    }
    for (uint32_t i = 0, k = 0; i < m->main.operand_count; i++) {
        struct nnvts_location *l = &operands[i].location;
        if (operands[i].lifetime != NNVTS_CONSTANT_REFERENCE || l->length == 0) continue;
        l->pool = ++k % POOLS;
        for (uint32_t p = 0; p < POOLS; p++)
            if (p != l->pool) memset(bytes[p] + l->offset, DECOY, l->length);
    }
    m->main.operands = operands;
    m->pools = pools;
    m->pool_count = POOLS;
    return true;
}

bool nnv_cache_apart_draw(struct nnv_context *s, const struct nnv_case *c, struct nnv_fixture *fixture) {
    struct nnv_single what = {
        .op = c->data, .sig = (int)c->b, .seed = s->env->config->seed, .mode = NNV_FILL_NORMAL, .name = c->name};
    struct nnv_spec *drawn, *spec;
    struct nnv_err err = {0};
    if (c->c > 0) {
        what.plan = NNV_PLAN_SCALES;
        what.index = (int)c->c - 1;
    }
    if (nnv_single_build(&what, s->env->arena, &drawn, &err) != NNV_OK) return nnv_context_error(s, "%s", err.text);
    if (!fix_inputs(s, drawn, &spec)) return false;
    refer(&spec->model.main);
    if (!nnv_result_level(s->env, spec->min_version, s->result) || !nnv_context_model(s, spec, fixture)) return false;
    nnv_context_forgive_choices(fixture);
    return spread(s, fixture);
}
