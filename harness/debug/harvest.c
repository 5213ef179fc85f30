/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/harvest.h"

#include <inttypes.h>
#include <string.h>

#include "NeuralNetworksTypes.h"
#include "base/text.h"
#include "harness/judge/check.h"
#include "reference/model/op.h"
#include "reference/model/validate.h"

static const uint32_t NONE = UINT32_MAX;

enum { MOST = NNV_HARVEST_BRANCH_MAX + 1 };

/** One network. */
struct field {
    struct nnv_harvest *h;
    const struct nnv_known *known;
    const struct nnv_subgraph *s;
    nnv_harvest_sink *sink;
    void *own;
    struct nnv_arena *arena; /* of one group */
    uint32_t *producer;      /* per operand: the operation that writes it, or NONE */
    bool *keep, *reached;    /* per operation */
    uint8_t *wish;           /* per operand */
    uint32_t *number;        /* per operand: in a description */
};

/** Operations in the order of the network. */
struct group {
    uint32_t op[MOST], n;
};

/* ----------------------------------------------------------------- description */

static bool is_bias(const struct nnv_operation *op, uint32_t input) {
    const struct nnv_op *record = nnv_op(op->type);
    for (uint32_t f = 0; record && f < record->nforms; f++)
        if (input < record->forms[f].nin && record->forms[f].in[input].quant == NNV_Q_BIAS) return true;
    return false;
}

/** Scalars, and small constants of integers (axes, paddings, shapes) but biases, say what an operation does. */
static bool is_attribute(const struct nnv_operand *o, bool bias) {
    if (!nnv_is_constant(o)) return false;
    if (!nnv_type(o->type)->tensor) return true;
    return o->type == ANEURALNETWORKS_TENSOR_INT32 && o->bytes <= 64 && !bias;
}

/** Type and shape of an operand, where it comes from, and its value where that is an attribute. */
static void describe_operand(struct nnv_text *t, const struct nnv_operand *o, const struct nnv_value *v, bool bias) {
    const bool actual = v && !v->omitted && !nnv_is_constant(o);
    const uint32_t rank = actual ? v->rank : o->rank, *dims = actual ? v->dims : o->dims;
    nnv_text_addf(t, "%" PRId32 "%c", o->type, nnv_is_constant(o) ? 'c' : o->lifetime == NNV_NO_VALUE ? 'n' : 'v');
    for (uint32_t d = 0; d < rank; d++) nnv_text_addf(t, "%c%" PRIu32, d ? ',' : '[', dims[d]);
    if (o->channel.count) nnv_text_addf(t, "~%" PRIu32, o->channel.dim);
    if (!is_attribute(o, bias)) return;
    nnv_text_add(t, "=");
    nnv_text_add_base64(t, o->data, o->bytes);
}

enum { MOST_TEXT = 1 << 20 }; /* of one description: subgraphs may refer to each other many times */

/** A subgraph: its operands by their index. */
static void describe_graph(struct nnv_text *t, const struct nnv_model *m, const struct nnv_subgraph *s) {
    nnv_text_add(t, "{");
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *op = &s->operations[i];
        nnv_text_addf(t, "%" PRId32 "(", op->type);
        for (uint32_t k = 0; k < op->nin + op->nout; k++) {
            const uint32_t at = k < op->nin ? op->in[k] : op->out[k - op->nin];
            const struct nnv_operand *o = &s->operands[at];
            nnv_text_addf(t, " %" PRIu32 ":", at);
            describe_operand(t, o, NULL, is_bias(op, k));
            /* References go to subgraphs behind: they cannot go in circles. */
            if (o->lifetime == NNV_SUBGRAPH && &m->referenced[o->subgraph] > s && t->len < MOST_TEXT)
                describe_graph(t, m, &m->referenced[o->subgraph]);
            else if (o->lifetime == NNV_SUBGRAPH)
                nnv_text_addf(t, "@%" PRIu32, o->subgraph);
        }
        nnv_text_add(t, ")");
    }
    nnv_text_add(t, "}");
}

/** A group: its operands by numbers in the order in which they first stand there, and which results it shows. */
static void describe_group(struct field *f, const struct group *g, struct nnv_text *t) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->s->noperands; i++) f->number[i] = NONE;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct nnv_operation *op = &f->s->operations[g->op[i]];
        nnv_text_addf(t, "%" PRId32 "(", op->type);
        for (uint32_t k = 0; k < op->nin + op->nout; k++) {
            const uint32_t at = k < op->nin ? op->in[k] : op->out[k - op->nin];
            const struct nnv_operand *o = &f->s->operands[at];
            const bool first = f->number[at] == NONE;
            if (first) f->number[at] = count++;
            nnv_text_addf(t, " %" PRIu32, f->number[at]);
            if (!first && f->wish[at] == NNV_WISH_SHOWN) nnv_text_add(t, "!"); /* read here and elsewhere */
            if (!first) continue;
            nnv_text_add(t, ":");
            describe_operand(t, o, &f->known->value[at], is_bias(op, k));
            if (o->lifetime == NNV_SUBGRAPH)
                describe_graph(t, &f->known->spec->model, &f->known->spec->model.referenced[o->subgraph]);
        }
        nnv_text_add(t, ")");
    }
    if (f->known->spec->model.relaxed) nnv_text_add(t, "relaxed");
}

/* --------------------------------------------------------------------- cutting */

/** Marks the group's operations, and which of its results the rest of the network reads. */
static void mark(struct field *f, const struct group *g) {
    memset(f->keep, 0, f->s->noperations * sizeof *f->keep);
    memset(f->wish, NNV_WISH_NONE, f->s->noperands * sizeof *f->wish);
    for (uint32_t i = 0; i < g->n; i++) f->keep[g->op[i]] = true;
    for (uint32_t i = 0; i < f->s->noperations; i++) {
        const struct nnv_operation *op = &f->s->operations[i];
        for (uint32_t k = 0; k < op->nin && !f->keep[i]; k++) {
            const uint32_t from = f->producer[op->in[k]];
            if (from != NONE && f->keep[from]) f->wish[op->in[k]] = NNV_WISH_SHOWN;
        }
    }
}

/** No way leads out of the group and back into it: a driver can run it as one. */
static bool is_convex(struct field *f, const struct group *g) {
    for (uint32_t i = g->op[0]; i <= g->op[g->n - 1]; i++) {
        const struct nnv_operation *op = &f->s->operations[i];
        f->reached[i] = false;
        for (uint32_t k = 0; k < op->nin; k++) {
            const uint32_t from = f->producer[op->in[k]];
            if (from == NONE || from < g->op[0]) continue;
            if (f->keep[i] && f->reached[from]) return false;
            if (!f->keep[i] && (f->keep[from] || f->reached[from])) f->reached[i] = true;
        }
    }
    return true;
}

/** "CONV_2D+RELU6.3-4": the operations, and which of the network they are. */
static const char *name_of(struct field *f, const struct group *g) {
    const char *name = "";
    for (uint32_t i = 0; i < g->n && name; i++) {
        const struct nnv_op *op = nnv_op(f->s->operations[g->op[i]].type);
        name = nnv_arena_printf(f->arena, "%s%s%s", name, i ? "+" : "", op ? op->name : "?");
    }
    if (name) name = nnv_arena_printf(f->arena, "%s.%" PRIu32, name, g->op[0]);
    if (name && g->n > 1) name = nnv_arena_printf(f->arena, "%s-%" PRIu32, name, g->op[g->n - 1]);
    return name;
}

/** The group as a spec. */
static enum nnv_status make_spec(struct field *f, const struct group *g, struct nnv_spec **out, struct nnv_err *err) {
    struct nnv_spec *spec;
    const struct nnv_extraction cut = {.keep = f->keep, .wish = f->wish};
    nnv_arena_reset(f->arena);
    enum nnv_status st = nnv_extract(f->known, &cut, f->arena, &spec, err);
    if (st != NNV_OK) return st;
    const char *of = f->known->spec->name ? f->known->spec->name : "";
    spec->name = name_of(f, g);
    spec->precision = nnv_precision_name(
        NNV_PRECISION_BUDGET); /* as of generated cases: a group of several has no bound of its own in NNAPI */
    spec->source = nnv_arena_printf(f->arena, "%s of %s", spec->name ? spec->name : "", of);
    if (!spec->name || !spec->source) return nnv_no_memory(err);
    st = nnv_validate(&spec->model, f->arena, &spec->min_version, err);
    *out = spec;
    return st == NNV_OK ? NNV_OK : nnv_at(err, st, "%s", spec->source);
}

/** Hands the group on if no way leads out of it and back; with its spec if it is new. */
static enum nnv_status take(struct field *f, const struct group *g, struct nnv_err *err) {
    struct nnv_text t = {0};
    mark(f, g);
    if (!is_convex(f, g)) return NNV_OK;
    f->h->met++;
    describe_group(f, g, &t);
    const uint32_t before = f->h->key.count;
    const char *key = t.failed ? NULL : nnv_arena_strdup(f->h->arena, t.data);
    const uint32_t number = key ? nnv_map_add(&f->h->key, key) : NNV_MAP_NONE;
    nnv_text_free(&t);
    if (number == NNV_MAP_NONE) return nnv_no_memory(err);
    struct nnv_spec *spec = NULL;
    enum nnv_status st = number < before ? NNV_OK : make_spec(f, g, &spec, err);
    if (spec) ++*(g->n == 1 ? &f->h->operations : &f->h->groups);
    const struct nnv_harvested found = {.number = number, .op = g->op, .n = g->n, .spec = spec};
    return st == NNV_OK ? f->sink(f->own, &found, err) : st;
}

/* --------------------------------------------------------------------- finding */

/** The operations that write what op reads, each once, in the order of its inputs. */
static uint32_t producers_of(const struct field *f, uint32_t op, uint32_t *list, uint32_t most) {
    const struct nnv_operation *o = &f->s->operations[op];
    uint32_t n = 0;
    for (uint32_t k = 0; k < o->nin && n < most; k++) {
        const uint32_t from = f->producer[o->in[k]];
        bool known = from == NONE;
        for (uint32_t i = 0; i < n; i++) known = known || list[i] == from;
        if (!known) list[n++] = from;
    }
    return n;
}

/** Three operations in the order of the network. */
static struct group three(uint32_t a, uint32_t b, uint32_t c) {
    return a < b ? (struct group){{a, b, c}, 3} : (struct group){{b, a, c}, 3};
}

/** Groups of two and three that end in an operation: what writes its inputs, and what writes those'. */
static enum nnv_status take_groups(struct field *f, uint32_t op, struct nnv_err *err) {
    enum { FEW = 8 };
    uint32_t from[FEW], before[FEW];
    const uint32_t n = producers_of(f, op, from, FEW);
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; i < n && st == NNV_OK; i++) {
        st = take(f, &(struct group){{from[i], op}, 2}, err);
        if (f->h->group < 3) continue;
        const uint32_t m = producers_of(f, from[i], before, FEW);
        for (uint32_t k = 0; k < m && st == NNV_OK; k++)
            st = take(f, &(struct group){{before[k], from[i], op}, 3}, err);
        const struct group joined = three(from[i ? i - 1 : 0], from[i], op);
        if (st == NNV_OK && i > 0) st = take(f, &joined, err);
    }
    return st;
}

/**
 * The block of a branch that comes back: an operation one of whose inputs is another one (x), sent through a chain of
 * operations: x + f(x) of a residual block, x * f(x) of squeeze-and-excite, x - mean(x).
 */
static enum nnv_status take_block(struct field *f, uint32_t op, uint32_t branch, uint32_t x, struct nnv_err *err) {
    struct group g = {{op}, 1};
    for (uint32_t at = branch; at != x;) {
        const uint32_t from = f->producer[at];
        uint32_t ways = 0;
        if (from == NONE || g.n == MOST) return NNV_OK;
        memmove(g.op + 1, g.op, g.n * sizeof *g.op);
        g.op[0] = from;
        g.n++;
        const struct nnv_operation *o = &f->s->operations[from];
        for (uint32_t k = 0; k < o->nin; k++) {
            const uint32_t in = o->in[k];
            if (nnv_is_constant(&f->s->operands[in]) || f->s->operands[in].lifetime == NNV_NO_VALUE) continue;
            if (ways++ == 0 || in == x) at = in;
        }
        if (ways == 0 || (ways > 1 && at != x)) return NNV_OK;
    }
    return g.n > NNV_HARVEST_GROUP_MAX ? take(f, &g, err) : NNV_OK; /* smaller ones are groups */
}

static enum nnv_status take_blocks(struct field *f, uint32_t op, struct nnv_err *err) {
    const struct nnv_operation *o = &f->s->operations[op];
    enum nnv_status st = NNV_OK;
    if (o->nin < 2 || nnv_is_constant(&f->s->operands[o->in[0]]) || nnv_is_constant(&f->s->operands[o->in[1]]))
        return NNV_OK;
    if (o->in[0] != o->in[1]) st = take_block(f, op, o->in[0], o->in[1], err);
    if (o->in[0] != o->in[1] && st == NNV_OK) st = take_block(f, op, o->in[1], o->in[0], err);
    return st;
}

static bool prepare(struct field *f, struct nnv_arena *arena) {
    const struct nnv_subgraph *s = f->s;
    f->producer = NNV_NEW(arena, uint32_t, s->noperands);
    f->number = NNV_NEW(arena, uint32_t, s->noperands);
    f->wish = NNV_NEW(arena, uint8_t, s->noperands);
    f->keep = NNV_NEW(arena, bool, s->noperations);
    f->reached = NNV_NEW(arena, bool, s->noperations);
    if (!f->producer || !f->number || !f->wish || !f->keep || !f->reached) return false;
    for (uint32_t i = 0; i < s->noperands; i++) f->producer[i] = NONE;
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t k = 0; k < s->operations[i].nout; k++) f->producer[s->operations[i].out[k]] = i;
    return true;
}

enum nnv_status nnv_harvest_take(struct nnv_harvest *h, const struct nnv_known *network, nnv_harvest_sink *sink,
                                 void *own, struct nnv_err *err) {
    struct field f = {.h = h, .known = network, .s = &network->spec->model.main, .sink = sink, .own = own};
    struct nnv_arena *arena = nnv_arena_new();
    f.arena = nnv_arena_new();
    h->key.arena = h->arena;
    enum nnv_status st = arena && f.arena && prepare(&f, arena) ? NNV_OK : nnv_no_memory(err);
    for (uint32_t i = 0; i < network->spec->model.main.noperations && st == NNV_OK; i++) {
        st = take(&f, &(struct group){{i}, 1}, err);
        if (st == NNV_OK && h->group > 1) st = take_groups(&f, i, err);
        if (st == NNV_OK && h->group > 1) st = take_blocks(&f, i, err);
    }
    nnv_arena_free(arena);
    nnv_arena_free(f.arena);
    return st;
}
