/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "randgraph/single/draft.h"
#include "randgraph/single/parts.h"
#include "reference/model/validate.h"

enum { MORE = 8 }; /* entries that arrays have room for */

/* A model that may be changed: the arrays of its main subgraph have room for some entries more. */
struct draft {
    struct nnv_subgraph s;
    struct nnv_operation *op;
    const struct nnv_model *model;       /* before the change */
    const struct nnv_form *form;         /* of the operation; NULL: none that says what its inputs are */
    const struct nnv_slot *const *slots; /* of its inputs; NULL with the form */
    int turn;                            /* which of several places is the one */
    struct nnv_arena *arena;
};

struct mistake {
    const char *what;
    /* Makes it at the place of the turn; false where it can't be made, or without memory. */
    bool (*make)(struct draft *d);
    bool places; /* there may be several */
};

static void *larger(struct nnv_arena *a, const void *from, size_t count, size_t size) {
    void *copy = nnv_arena_alloc(a, count + MORE, size);
    if (copy && count) memcpy(copy, from, count * size);
    return copy;
}

static bool open_draft(struct draft *d, const struct nnv_single_draft *b, int turn) {
    const struct nnv_subgraph *s = &b->spec->model.main;
    struct nnv_arena *arena = b->arena;
    *d = (struct draft){.s = *s, .model = &b->spec->model, .turn = turn, .arena = arena};
    if (!b->what->op->check_subgraphs) {
        d->form = b->sample->form;
        d->slots = b->slots;
    }
    d->s.operands = larger(arena, s->operands, s->noperands, sizeof *s->operands);
    d->s.in = larger(arena, s->in, s->nin, sizeof *s->in);
    d->s.out = larger(arena, s->out, s->nout, sizeof *s->out);
    d->op = d->s.operations = larger(arena, s->operations, s->noperations, sizeof *s->operations);
    if (!d->s.operands || !d->s.in || !d->s.out || !d->op) return false;
    d->op->in = larger(arena, d->op->in, d->op->nin, sizeof *d->op->in);
    d->op->out = larger(arena, d->op->out, d->op->nout, sizeof *d->op->out);
    return d->op->in && d->op->out;
}

static struct nnv_operand *input(struct draft *d, uint32_t i) { return &d->s.operands[d->op->in[i]]; }
static struct nnv_operand *output(struct draft *d) { return &d->s.operands[d->op->out[0]]; }

static enum nnv_status validate(const struct draft *d) {
    struct nnv_model m = *d->model;
    struct nnv_err why = {0};
    m.main = d->s;
    return nnv_validate(&m, d->arena, NULL, &why);
}

static void add_scalar(struct draft *d, int32_t type, const void *value) {
    d->s.operands[d->s.noperands] =
        (struct nnv_operand){.type = type, .lifetime = NNV_CONSTANT_COPY, .data = value, .bytes = nnv_type(type)->size};
    d->op->in[d->op->nin++] = d->s.noperands++;
}

static bool surplus_input(struct draft *d) {
    static const int32_t value = 1;
    add_scalar(d, ANEURALNETWORKS_INT32, &value);
    return true;
}

static bool missing_input(struct draft *d) {
    d->op->nin--; /* the operand stays, and is read by nobody */
    return d->op->nin > 0;
}

static bool input_type(struct draft *d) {
    for (uint32_t i = 0; i < d->op->nin; i++) {
        struct nnv_operand *o = input(d, i);
        if (o->lifetime != NNV_SUBGRAPH_INPUT || !nnv_type(o->type)->tensor) continue;
        o->type = o->type == ANEURALNETWORKS_TENSOR_BOOL8 ? ANEURALNETWORKS_TENSOR_INT32 : ANEURALNETWORKS_TENSOR_BOOL8;
        o->scale = 0;
        o->zero_point = 0;
        o->channel.count = 0;
        return true;
    }
    return false;
}

static bool output_type(struct draft *d) {
    struct nnv_operand *o = output(d);
    o->type = o->type == ANEURALNETWORKS_TENSOR_BOOL8 ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_BOOL8;
    o->scale = 0;
    o->zero_point = 0;
    return true;
}

static bool output_extent(struct draft *d) {
    struct nnv_operand *o = output(d);
    if (o->rank == 0) return false;
    o->dims = nnv_arena_copy(d->arena, o->dims, o->rank * sizeof *o->dims);
    if (!o->dims) return false;
    o->dims[o->rank - 1]++;
    return true;
}

/* A first extent of 1 more: as many values. */
static bool rank_above(struct draft *d, struct nnv_operand *o) {
    uint32_t *dims = NNV_NEW(d->arena, uint32_t, o->rank + 1);
    if (!dims || o->rank == NNV_MAX_RANK) return false;
    dims[0] = 1;
    memcpy(dims + 1, o->dims, o->rank * sizeof *dims);
    o->dims = dims;
    o->rank++;
    return true;
}

static bool output_rank(struct draft *d) { return rank_above(d, output(d)); }
static bool input_rank(struct draft *d) { return nnv_type(input(d, 0)->type)->tensor && rank_above(d, input(d, 0)); }

/* Weights twice, one behind the other, where their first extent is 1. */
static bool weights_twice(struct draft *d) {
    if (d->op->nin < 2) return false;
    struct nnv_operand *o = input(d, 1);
    uint32_t *dims = nnv_arena_copy(d->arena, o->dims, o->rank * sizeof *dims);
    char *data = NNV_NEW(d->arena, char, 2 * o->bytes + 1);
    if (!dims || !data || !nnv_type(o->type)->tensor || o->rank < 2 || dims[0] != 1 || !nnv_is_constant(o))
        return false;
    memcpy(data, o->data, o->bytes);
    memcpy(data + o->bytes, o->data, o->bytes);
    dims[0] = 2;
    o->dims = dims;
    o->data = data;
    o->bytes *= 2;
    return true;
}

static bool output_scale(struct draft *d) {
    struct nnv_operand *o = output(d);
    o->scale *= 1.5f;
    return o->scale > 0;
}

static bool surplus_output(struct draft *d) {
    d->s.operands[d->s.noperands] = *output(d);
    d->op->out[d->op->nout++] = d->s.noperands;
    d->s.out[d->s.nout++] = d->s.noperands++;
    return true;
}

/* The last INT32 or BOOL scalar gets a value that no attribute may have. */
static bool attribute(struct draft *d) {
    static const int32_t value = -77;
    for (uint32_t i = d->op->nin; i-- > 0;) {
        struct nnv_operand *o = input(d, i);
        if (o->type != ANEURALNETWORKS_INT32 || o->lifetime != NNV_CONSTANT_COPY) continue;
        o->data = &value;
        return true;
    }
    return false;
}

/* One of a list of codes, such as that of an activation: its neighbour need not be one at all. */
static bool is_code(const struct draft *d, uint32_t i) {
    const uint8_t rule = d->slots ? d->slots[d->op->in[i]]->rule : NNV_ANY;
    return rule == NNV_FUSE || rule == NNV_PADDING_CODE || nnv_op_is_recurrent(nnv_op(d->op->type));
}

/* ------------------------------------------------------------------ just beyond a limit */

/* The extents of outputs are left for the driver to find out: where they say enough, no other rule is broken. False: no
 * memory. */
static bool open_outputs(struct draft *d) {
    for (uint32_t i = 0; i < d->op->nout; i++) {
        struct nnv_operand *o = &d->s.operands[d->op->out[i]];
        o->dims = NNV_NEW(d->arena, uint32_t, o->rank + 1);
        if (!o->dims) return false;
    }
    return true;
}

/* Moves the number upwards, or downwards, to the first that the rules refuse. False: they take all that are near, or
 * refuse one that must be positive before it is 0, for another reason. */
static bool go_beyond(struct draft *d, int32_t *number, int32_t step, bool positive) {
    enum { NEAR = 1 << 8 };
    const int32_t was = *number;
    int32_t good = 0, bad = 1;
    while (bad <= NEAR && (*number = was + step * bad, validate(d)) == NNV_OK) good = bad, bad *= 2;
    if (bad > NEAR) return false;
    while (bad - good > 1) {
        const int32_t middle = good + (bad - good) / 2;
        *number = was + step * middle;
        if (validate(d) == NNV_OK)
            good = middle;
        else
            bad = middle;
    }
    *number = was + step * bad;
    return validate(d) == NNV_INVALID && (!positive || *number == 0);
}

/* In which a number leaves its limits. */
enum direction { UPWARDS = 1, DOWNWARDS = 2, BOTH = UPWARDS | DOWNWARDS };

/* The directions of the input's numbers. Of others NNAPI's own implementation takes some, or its documentation says
 * nothing. */
static uint32_t directions_of(struct draft *d, uint32_t i) {
    const struct nnv_slot *slot = d->slots[d->op->in[i]];
    const struct nnv_operand *o = input(d, i);
    if (!nnv_is_constant(o)) return 0;
    if (o->type == ANEURALNETWORKS_TENSOR_INT32) return slot->flags & NNV_LIMITED ? BOTH : 0;
    if (o->type != ANEURALNETWORKS_INT32) return 0;
    return slot->rule == NNV_AXIS ? BOTH : slot->rule == NNV_POSITIVE ? DOWNWARDS : 0;
}

/* The number that leaves at the place-th limit, its *step, and whether it must be *positive; *places: how many there
 * are. NULL: none, or no memory. */
static int32_t *number_at(struct draft *d, uint32_t place, uint32_t *places, int32_t *step, bool *positive) {
    int32_t *found = NULL;
    *places = 0;
    for (uint32_t i = 0; i < d->op->nin && d->slots; i++) {
        struct nnv_operand *o = input(d, i);
        const uint32_t towards = directions_of(d, i), each = towards == BOTH ? 2 : towards > 0;
        const uint32_t own = each * (uint32_t)(o->bytes / sizeof(int32_t));
        if (each && place >= *places && place < *places + own) {
            int32_t *numbers = nnv_arena_copy(d->arena, o->data, o->bytes);
            if (!numbers) return NULL;
            o->data = numbers;
            found = &numbers[(place - *places) / each];
            *step = towards == DOWNWARDS || (place - *places) % each == 1 ? -1 : 1;
            *positive = towards == DOWNWARDS;
        }
        *places += own;
    }
    return found;
}

/* A number is just beyond its upper or its lower limit: the first that has one, from the turn on. */
static bool number_beyond(struct draft *d) {
    enum { TRIES = 6 };
    const struct draft was = *d;
    uint32_t places;
    int32_t step;
    bool positive = false;
    number_at(d, UINT32_MAX, &places, &step, &positive);
    for (uint32_t k = 0; k < places && k < TRIES; k++) {
        const uint32_t place = ((uint32_t)d->turn + k) % places;
        struct nnv_operand *operands = nnv_arena_copy(d->arena, was.s.operands, was.s.noperands * sizeof *operands);
        d->s.operands = operands;
        if (!operands || !open_outputs(d)) return false;
        int32_t *number = number_at(d, place, &places, &step, &positive);
        if (number && go_beyond(d, number, step, positive)) return true;
    }
    return false;
}

/* A shape in which one extent is to be found out: another is the least larger that does not divide what there is. */
static bool extent_unfit(struct draft *d) {
    enum { TRIES = 8 };
    if (d->op->type != ANEURALNETWORKS_RESHAPE || !nnv_is_constant(input(d, 1)) || !open_outputs(d)) return false;
    struct nnv_operand *o = input(d, 1);
    const uint32_t n = (uint32_t)(o->bytes / sizeof(int32_t));
    int32_t *extents = nnv_arena_copy(d->arena, o->data, o->bytes);
    if (!extents || n < 2) return false;
    o->data = extents;
    uint32_t open = 0;
    while (open < n && extents[open] >= 0) open++;
    if (open == n) extents[open = (uint32_t)d->turn % n] = -1;
    int32_t *other = &extents[(open + 1) % n];
    for (int i = 0; i < TRIES && validate(d) != NNV_INVALID; i++) ++*other;
    return validate(d) == NNV_INVALID;
}

/* ------------------------------------------ what may be by itself, but not beside the rest */

static bool is_scalar_constant(const struct nnv_operand *o, int32_t type) {
    return o->type == type && o->lifetime == NNV_CONSTANT_COPY;
}

/* An INT32 scalar is one more than it was, or a flag the opposite. */
static bool attribute_unfit(struct draft *d) {
    static const uint8_t flags[] = {0, 1};
    int turn = d->turn;
    for (uint32_t i = 0; i < d->op->nin; i++) {
        struct nnv_operand *o = input(d, i);
        const bool number = is_scalar_constant(o, ANEURALNETWORKS_INT32) && !is_code(d, i);
        if ((!number && !is_scalar_constant(o, ANEURALNETWORKS_BOOL)) || turn-- > 0) continue;
        int32_t *more = nnv_arena_copy(d->arena, o->data, o->bytes);
        if (!more) return false;
        if (number) ++*more;
        o->data = number ? (const void *)more : &flags[*(const uint8_t *)o->data == 0];
        return true;
    }
    return false;
}

/* A bias or another quantised input behind the first has another scale. */
static bool input_scale(struct draft *d) {
    int turn = d->turn;
    for (uint32_t i = d->op->nin; i-- > 1;) {
        struct nnv_operand *o = input(d, i);
        if (!(o->scale > 0) || turn-- > 0) continue;
        o->scale *= 1.5f;
        return true;
    }
    return false;
}

/* A constant that may be omitted is, but others that stand with it are not. */
static bool omitted_alone(struct draft *d) {
    int turn = d->turn;
    for (uint32_t i = 0; i < d->op->nin && d->slots; i++) {
        struct nnv_operand *o = input(d, i);
        const bool may = d->slots[d->op->in[i]]->flags & NNV_OMITTABLE;
        if (!may || !nnv_is_constant(o) || turn-- > 0) continue;
        o->lifetime = NNV_NO_VALUE;
        o->data = NULL;
        o->bytes = 0;
        return true;
    }
    return false;
}

/* Adds the flags that end the form, and were left out, as they are without. False: it ends with others. */
static bool add_flags(struct draft *d) {
    static const uint8_t no = 0;
    if (!d->form || d->form->nin > d->op->nin + MORE) return false;
    for (uint32_t i = d->op->nin; i < d->form->nin; i++) {
        const struct nnv_slot *slot = &d->form->in[i];
        if (slot->var != NNV_FIXED || slot->type != ANEURALNETWORKS_BOOL || slot->dflt != 0) return false;
        add_scalar(d, slot->type, &no);
    }
    return true;
}

static enum nnv_status with_flags(struct draft *d, uint32_t a, uint32_t b) {
    static const uint8_t yes = 1;
    struct nnv_operand *const flags[] = {input(d, a), input(d, b)};
    const void *const was[] = {flags[0]->data, flags[1]->data};
    for (int i = 0; i < 2; i++) flags[i]->data = &yes;
    enum nnv_status st = validate(d);
    for (int i = 0; i < 2 && st != NNV_INVALID; i++) flags[i]->data = was[i];
    return st;
}

/* Two flags are set each of which may be, alone. */
static bool flags_together(struct draft *d) {
    uint32_t flags[MORE], n = 0;
    if (!add_flags(d)) return false;
    for (uint32_t i = 0; i < d->op->nin; i++) {
        if (n == MORE || !is_scalar_constant(input(d, i), ANEURALNETWORKS_BOOL)) continue;
        const void *was = input(d, i)->data;
        if (with_flags(d, i, i) == NNV_OK) flags[n++] = i;
        input(d, i)->data = was;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            if (with_flags(d, flags[i], flags[k]) == NNV_INVALID) return true;
    return false;
}

/* WHILE's condition as its body, and its body as its condition; IF may have its branches either way. */
static bool subgraphs_swapped(struct draft *d) {
    if (d->op->nin < 2 || input(d, 0)->lifetime != NNV_SUBGRAPH || input(d, 1)->lifetime != NNV_SUBGRAPH) return false;
    uint32_t first = d->op->in[0];
    d->op->in[0] = d->op->in[1];
    d->op->in[1] = first;
    return true;
}

static const struct mistake mistakes[] = {
    {"one input more", surplus_input, false},
    {"one input less", missing_input, false},
    {"another type of input", input_type, false},
    {"another type of output", output_type, false},
    {"a wrong extent of output", output_extent, false},
    {"a rank above of output", output_rank, false},
    {"a rank above of input", input_rank, false},
    {"another scale of output", output_scale, false},
    {"an attribute of -77", attribute, false},
    {"one output more", surplus_output, false},
    {"subgraphs swapped", subgraphs_swapped, false},
    {"weights twice", weights_twice, false},
    {"flags that exclude each other", flags_together, false},
    {"another scale of an input", input_scale, true},
    {"an attribute that does not fit", attribute_unfit, true},
    {"an optional input less", omitted_alone, true},
    {"a number just beyond its limit", number_beyond, false},
    {"an extent that does not divide", extent_unfit, false},
};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };
/* Every case has a mistake of one of these groups, in turn: mistakes by themselves, those that are none but together,
 * limits. Each group ends before: */
static const int group_end[] = {NNV_REFUSED_KINDS, MISTAKES - 2, MISTAKES};
enum { GROUPS = sizeof group_end / sizeof *group_end, LIMITS = GROUPS - 1 };
_Static_assert((int)GROUPS == (int)NNV_REFUSED_GROUPS, "cases are listed for each");
_Static_assert((int)MISTAKES == (int)NNV_REFUSED_KINDS + 6, "cases are listed for each");

/* Makes the mistake at one of the places where the rules notice it, by the index; where it finds its place itself, by
 * chance. False: they do not anywhere. */
static bool make_noticed(const struct nnv_single_draft *b, const struct mistake *m, int index, int chance,
                         struct draft *made) {
    enum { PLACES = 16 };
    int places[PLACES], n = 0;
    for (int turn = 0; turn < PLACES; turn++) {
        if (!open_draft(made, b, m->places ? turn : chance) || !m->make(made)) break;
        /* another number of outputs would need other expectations */
        if (validate(made) == NNV_INVALID && made->s.nout == b->s->nout) places[n++] = turn;
        if (!m->places) return n > 0;
    }
    return n > 0 && open_draft(made, b, places[index % n]) && m->make(made);
}

/* There is room for what a driver computes that takes the number: too small an output would be refused, too. */
static bool enlarge_outputs(const struct nnv_single_draft *b, struct nnv_spec *spec) {
    enum { TIMES = 4, MORE_PLACES = 16 };
    for (uint32_t i = 0; i < b->s->nout; i++) {
        struct nnv_value *v = &spec->outputs[i];
        if (v->rank == 0 || v->dims[0] == 0) continue;
        const size_t row = v->bytes / v->dims[0];
        v->dims[0] = TIMES * v->dims[0] + MORE_PLACES;
        v->bytes = row * v->dims[0];
        v->data = nnv_arena_alloc(b->arena, v->bytes, 1);
        if (!v->data) return false;
    }
    return true;
}

int nnv_single_refused_variant(const struct nnv_single *w) { return (w->index + w->sig) % nnv_single_variants(w->op); }

enum nnv_status nnv_single_refuse(const struct nnv_single_draft *b, struct nnv_err *err) {
    struct nnv_spec *spec = b->spec;
    const int index = b->what->index, turn = index / GROUPS + NNV_REFUSED_STEP * b->what->sig;
    struct nnv_rng rng = b->rng; /* not drawn from */
    const int chance = (int)nnv_rng_int(&rng, 0, INT16_MAX);
    int noticed[GROUPS][MISTAKES], count[GROUPS] = {0};
    struct draft drafts[MISTAKES];
    for (int i = 0, group = 0; i < MISTAKES; i++) {
        group += i == group_end[group];
        if (make_noticed(b, &mistakes[i], turn, chance, &drafts[i])) noticed[group][count[group]++] = i;
    }
    if (count[0] == 0) return nnv_fail(err, NNV_INTERNAL, "the operation's rules notice no mistake");
    const int group = count[index % GROUPS] > 0 ? index % GROUPS : 0;
    const int pick = noticed[group][turn % count[group]];
    spec->valid = nnv_arena_copy(b->arena, &spec->model, sizeof spec->model);
    if (!spec->valid || (group == LIMITS && !enlarge_outputs(b, spec))) return nnv_no_memory(err);
    spec->model.main = drafts[pick].s;
    spec->source = mistakes[pick].what;
    spec->expect_failure = true;
    return NNV_OK;
}
