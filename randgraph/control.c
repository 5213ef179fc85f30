/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/control.h"

#include <string.h>

enum { MOST_OPERANDS = 32, MOST_OPERATIONS = 6, MOST_LIST = 8, MOST_SUBGRAPHS = 8 };

/* What the subgraphs do with values x and z of the case's type. */
enum deed { FIRST, SECOND, THIRD, DEEDS };

struct build {
    const struct nnv_control *c;
    const struct nnv_sample *sample;
    struct nnv_arena *arena;
    struct nnv_rng rng;
    struct nnv_spec *spec;
    struct nnv_operand x, z; /* type, dims and quantisation of the two arguments */
    int index;
    bool failed; /* out of memory */
};

static bool is_cast_only(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT16_SYMM ||
           type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM;
}

bool nnv_control_has_zero(int32_t type) { return !is_cast_only(type) && type != ANEURALNETWORKS_TENSOR_BOOL8; }

/* ------------------------------------------------------------------ subgraphs */

static void start_subgraph(struct build *b, struct nnv_subgraph *s) {
    *s = (struct nnv_subgraph){
        .operands = NNV_NEW(b->arena, struct nnv_operand, MOST_OPERANDS),
        .operations = NNV_NEW(b->arena, struct nnv_operation, MOST_OPERATIONS),
        .in = NNV_NEW(b->arena, uint32_t, MOST_LIST),
        .out = NNV_NEW(b->arena, uint32_t, MOST_LIST),
    };
    if (!s->operands || !s->operations || !s->in || !s->out) b->failed = true;
}

/* The index of a new referenced subgraph. */
static uint32_t add_subgraph(struct build *b) {
    start_subgraph(b, &b->spec->model.referenced[b->spec->model.nreferenced]);
    return b->spec->model.nreferenced++;
}

static struct nnv_subgraph *referenced(struct build *b, uint32_t i) { return &b->spec->model.referenced[i]; }

static uint32_t add_operand(struct build *b, struct nnv_subgraph *s, const struct nnv_operand *like,
                            enum nnv_lifetime lifetime) {
    if (b->failed) return 0;
    s->operands[s->noperands] = *like;
    s->operands[s->noperands].lifetime = lifetime;
    if (lifetime == NNV_SUBGRAPH_INPUT) s->in[s->nin++] = s->noperands;
    if (lifetime == NNV_SUBGRAPH_OUTPUT) s->out[s->nout++] = s->noperands;
    return s->noperands++;
}

static uint32_t add_input(struct build *b, struct nnv_subgraph *s, const struct nnv_operand *like) {
    return add_operand(b, s, like, NNV_SUBGRAPH_INPUT);
}

static uint32_t add_output(struct build *b, struct nnv_subgraph *s, const struct nnv_operand *like) {
    return add_operand(b, s, like, NNV_SUBGRAPH_OUTPUT);
}

static uint32_t add_constant(struct build *b, struct nnv_subgraph *s, const struct nnv_operand *like, const void *data,
                             size_t bytes) {
    uint32_t i = add_operand(b, s, like, NNV_CONSTANT_COPY);
    if (b->failed) return 0;
    struct nnv_operand *o = &s->operands[i];
    if (bytes > ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES) o->lifetime = NNV_CONSTANT_REFERENCE;
    o->data = nnv_arena_copy(b->arena, data, bytes);
    o->bytes = bytes;
    if (!o->data) b->failed = true;
    return i;
}

static uint32_t one_extent[] = {1};
static const struct nnv_operand counter = {.type = ANEURALNETWORKS_TENSOR_INT32, .rank = 1, .dims = one_extent};
static const struct nnv_operand truth = {.type = ANEURALNETWORKS_TENSOR_BOOL8, .rank = 1, .dims = one_extent};
static const struct nnv_operand scalar = {.type = ANEURALNETWORKS_INT32};

static uint32_t add_int(struct build *b, struct nnv_subgraph *s, const struct nnv_operand *like, int32_t v) {
    return add_constant(b, s, like, &v, sizeof v);
}

/* The operand that stands for referenced subgraph index. */
static uint32_t add_model(struct build *b, struct nnv_subgraph *s, uint32_t index) {
    static const struct nnv_operand model = {.type = ANEURALNETWORKS_MODEL};
    uint32_t i = add_operand(b, s, &model, NNV_SUBGRAPH);
    if (!b->failed) s->operands[i].subgraph = index;
    return i;
}

static void add_operation(struct build *b, struct nnv_subgraph *s, int32_t type, uint32_t nin, const uint32_t *in,
                          uint32_t nout, const uint32_t *out) {
    if (b->failed) return;
    struct nnv_operation *o = &s->operations[s->noperations++];
    *o = (struct nnv_operation){.type = type, .nin = nin, .nout = nout};
    o->in = nnv_arena_copy(b->arena, in, nin * sizeof *in);
    o->out = nnv_arena_copy(b->arena, out, nout * sizeof *out);
    if (!o->in || !o->out) b->failed = true;
}

static void add_binary(struct build *b, struct nnv_subgraph *s, int32_t type, uint32_t x, uint32_t z, uint32_t y) {
    uint32_t in[] = {x, z, add_int(b, s, &scalar, ANEURALNETWORKS_FUSED_NONE)};
    add_operation(b, s, type, 3, in, 1, &y);
}

/* y = x, of any type. */
static void add_copy(struct build *b, struct nnv_subgraph *s, uint32_t x, uint32_t y) {
    if (b->c->what->mode == NNV_FILL_ZERO) /* no CAST takes them; there is nothing to add either */
        add_binary(b, s, ANEURALNETWORKS_ADD, x, x, y);
    else
        add_operation(b, s, ANEURALNETWORKS_CAST, 1, &x, 1, &y);
}

/* y from x and z of equal shape, differently for each deed. */
static void add_deed(struct build *b, struct nnv_subgraph *s, enum deed deed, uint32_t x, uint32_t z, uint32_t y) {
    static const int32_t numbers[DEEDS] = {ANEURALNETWORKS_ADD, ANEURALNETWORKS_SUB, ANEURALNETWORKS_MUL};
    if (is_cast_only(b->x.type)) {
        add_copy(b, s, deed == SECOND ? z : x, y);
    } else if (b->x.type != ANEURALNETWORKS_TENSOR_BOOL8) {
        add_binary(b, s, numbers[deed], x, z, y);
    } else if (deed == THIRD) {
        add_operation(b, s, ANEURALNETWORKS_LOGICAL_NOT, 1, &x, 1, &y);
    } else {
        uint32_t in[] = {x, z};
        add_operation(b, s, deed == FIRST ? ANEURALNETWORKS_LOGICAL_OR : ANEURALNETWORKS_LOGICAL_AND, 2, in, 1, &y);
    }
}

/* ---------------------------------------------------------------------- values */

/* Scale and zero point of all operands of the type: a subgraph's are those of what it is given. */
static void choose_quantisation(struct build *b, struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    if (!nnv_is_quant(o->type)) return;
    bool symmetric = t->min < 0 && o->type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    o->scale = (float)(nnv_rng_uniform(&b->rng, 18, 30) / (t->max - t->min));
    if (!symmetric) o->zero_point = (int32_t)((t->max + t->min) / 2) + (int32_t)nnv_rng_int(&b->rng, -30, 30);
}

static void fill(struct build *b, const struct nnv_operand *o, double most, size_t elems, void *data) {
    struct nnv_fill f = {.mode = b->c->what->mode,
                         .lo = most != 0 ? -most : 0,
                         .hi = most,
                         .half = b->c->what->relaxed,
                         .magnitude = b->c->magnitude < 1000 ? b->c->magnitude : 1000,
                         .density = 1};
    nnv_fill(&f, o, &b->rng, elems, data);
}

/* Makes the values of the main subgraph's newest input. */
static void add_value(struct build *b, const struct nnv_operand *like, const void *data, double most) {
    const struct nnv_subgraph *s = &b->spec->model.main;
    if (b->failed) return;
    struct nnv_value *v = &b->spec->inputs[s->nin - 1];
    size_t elems;
    if (!nnv_size_bytes(like->type, like->rank, like->dims, &elems, &v->bytes) ||
        !(v->data = nnv_arena_alloc(b->arena, v->bytes, 1))) {
        b->failed = true;
        return;
    }
    v->rank = like->rank;
    memcpy(v->dims, like->dims, like->rank * sizeof *like->dims);
    if (data)
        memcpy(v->data, data, v->bytes);
    else
        fill(b, like, most, elems, v->data);
}

/* A model input of drawn values, at most `most` (0: the type's usual ones). */
static uint32_t main_input(struct build *b, const struct nnv_operand *like, double most) {
    uint32_t i = add_input(b, &b->spec->model.main, like);
    add_value(b, like, NULL, most);
    return i;
}

static uint32_t main_int(struct build *b, int32_t value) {
    uint32_t i = add_input(b, &b->spec->model.main, &counter);
    add_value(b, &counter, &value, 0);
    return i;
}

/* True is every byte but 0. */
static uint32_t main_truth(struct build *b, bool value) {
    static const uint8_t truths[] = {1, 255, 2, 128};
    const uint8_t byte = value ? truths[b->index % 4] : 0;
    uint32_t i = add_input(b, &b->spec->model.main, &truth);
    add_value(b, &truth, &byte, 0);
    return i;
}

/* The operand with its first extent unknown, or every second time with unknown rank. */
static struct nnv_operand open_shape(struct build *b, const struct nnv_operand *like) {
    struct nnv_operand o = *like;
    if (b->index % 2) {
        o.rank = 0;
        return o;
    }
    o.dims = nnv_arena_copy(b->arena, like->dims, like->rank * sizeof *like->dims);
    if (o.dims)
        o.dims[0] = 0;
    else
        b->failed = true;
    return o;
}

/* -------------------------------------------------------------------------- IF */

/* y = deed(x, z); with a condition as a third argument, which is never read. */
static uint32_t plain_branch(struct build *b, enum deed deed, bool condition) {
    uint32_t index = add_subgraph(b);
    struct nnv_subgraph *s = referenced(b, index);
    uint32_t x = add_input(b, s, &b->x), z = add_input(b, s, &b->z);
    if (condition) add_input(b, s, &truth);
    add_deed(b, s, deed, x, z, add_output(b, s, &b->x));
    return index;
}

/* y = deed(x, a large constant) */
static uint32_t constant_branch(struct build *b, enum deed deed) {
    uint32_t index = add_subgraph(b);
    struct nnv_subgraph *s = referenced(b, index);
    size_t elems, bytes;
    void *data = NULL;
    if (nnv_size_bytes(b->x.type, b->x.rank, b->x.dims, &elems, &bytes)) data = nnv_arena_alloc(b->arena, bytes, 1);
    if (!data) {
        b->failed = true;
        return index;
    }
    fill(b, &b->x, 0, elems, data);
    uint32_t x = add_input(b, s, &b->x), z = add_input(b, s, &b->z);
    if (bytes) z = add_constant(b, s, &b->z, data, bytes);
    add_deed(b, s, deed, x, z, add_output(b, s, &b->x));
    return index;
}

/* Arguments x, z, x, z, of which one is never read. An operation whose result nobody reads, three outputs. */
static uint32_t several_branch(struct build *b, bool taken) {
    uint32_t index = add_subgraph(b), in[4], out[3];
    struct nnv_subgraph *s = referenced(b, index);
    for (int i = 0; i < 4; i++) in[i] = add_input(b, s, i % 2 ? &b->z : &b->x);
    for (int i = 0; i < 3; i++) out[i] = add_output(b, s, &b->x);
    add_deed(b, s, FIRST, in[0], in[0], add_operand(b, s, &b->x, NNV_TEMPORARY_VARIABLE));
    add_deed(b, s, taken ? FIRST : SECOND, in[0], in[1], out[taken ? 0 : 1]);
    add_deed(b, s, taken ? SECOND : THIRD, in[2], in[1], out[taken ? 1 : 0]);
    add_copy(b, s, in[taken ? 0 : 1], out[2]);
    return index;
}

/* x, or z of another shape. */
static uint32_t dynamic_branch(struct build *b, bool taken) {
    uint32_t index = add_subgraph(b);
    struct nnv_subgraph *s = referenced(b, index);
    struct nnv_operand any = open_shape(b, &b->x);
    uint32_t x = add_input(b, s, &any), z = add_input(b, s, &b->z);
    if (taken && !is_cast_only(b->x.type))
        add_deed(b, s, FIRST, x, x, add_output(b, s, &any));
    else
        add_copy(b, s, taken ? x : z, add_output(b, s, taken ? &any : &b->z));
    return index;
}

/* Of x, z and a condition: `depth` times another IF, which ends in deed where the condition is true. */
static uint32_t nested_branch(struct build *b, int depth, enum deed deed) {
    if (depth == 0) return plain_branch(b, deed, true);
    uint32_t index = add_subgraph(b), then = nested_branch(b, depth - 1, deed);
    uint32_t other = plain_branch(b, deed == FIRST ? SECOND : FIRST, true);
    struct nnv_subgraph *s = referenced(b, index);
    uint32_t x = add_input(b, s, &b->x), z = add_input(b, s, &b->z), c = add_input(b, s, &truth);
    uint32_t y = add_output(b, s, &b->x), first = add_model(b, s, then), second = add_model(b, s, other);
    add_operation(b, s, ANEURALNETWORKS_IF, 6, (uint32_t[]){c, first, second, x, z, c}, 1, &y);
    return index;
}

static bool is_variant(const struct build *b, const char *word) { return nnv_sample_is(b->sample, word); }

static void build_if(struct build *b) {
    struct nnv_subgraph *s = &b->spec->model.main;
    const bool taken = b->sample->arg[0].value != 0, several = is_variant(b, "several");
    const uint8_t byte = taken;
    uint32_t in[7], out[3], n = 3;
    in[0] = is_variant(b, "constant") ? add_constant(b, s, &truth, &byte, 1) : main_truth(b, taken);
    in[n++] = main_input(b, &b->x, 0);
    in[n++] = main_input(b, &b->z, 0);
    if (several) { /* the same operands once more */
        in[n++] = in[3];
        in[n++] = in[4];
    }
    if (is_variant(b, "nested")) in[n++] = main_truth(b, b->index % 3 != 0);
    uint32_t branch[2];
    for (int i = 0; i < 2; i++) {
        const bool then = i == 0;
        branch[i] = several                     ? several_branch(b, then)
                    : is_variant(b, "dynamic")  ? dynamic_branch(b, then)
                    : is_variant(b, "constant") ? constant_branch(b, then ? FIRST : SECOND)
                    : is_variant(b, "nested")   ? nested_branch(b, then ? 2 : 1, then ? FIRST : SECOND)
                                                : plain_branch(b, then ? FIRST : SECOND, false);
        in[1 + i] = add_model(b, s, branch[i]);
    }
    const struct nnv_operand like = is_variant(b, "dynamic") ? open_shape(b, &b->x) : b->x;
    uint32_t nout = several ? 3 : 1;
    for (uint32_t i = 0; i < nout; i++) out[i] = add_output(b, s, &like);
    add_operation(b, s, ANEURALNETWORKS_IF, n, in, nout, out);
}

/* ----------------------------------------------------------------------- WHILE */

/* What a loop carries: counter, x (in either order) and w; then the limit and z, which never change. */
struct loop {
    struct nnv_operand args[6];
    uint32_t nargs, carried, counter, x, limit, z;
};

static struct loop loop_of(const struct build *b, const struct nnv_operand *x) {
    if (is_variant(b, "several"))
        return (struct loop){{*x, counter, *x, counter, b->z, b->z}, 6, 3, .counter = 1, .x = 0, .limit = 3, .z = 5};
    return (struct loop){{counter, *x, counter, b->z}, 4, 2, .counter = 0, .x = 1, .limit = 2, .z = 3};
}

static uint32_t loop_condition(struct build *b, const struct loop *l) {
    uint32_t index = add_subgraph(b), in[6] = {0};
    struct nnv_subgraph *s = referenced(b, index);
    for (uint32_t i = 0; i < l->nargs; i++) in[i] = add_input(b, s, &l->args[i]);
    uint32_t y = add_output(b, s, &truth);
    add_operation(b, s, ANEURALNETWORKS_LESS, 2, (uint32_t[]){in[l->counter], in[l->limit]}, 1, &y);
    return index;
}

/* A body that counts; the caller adds what becomes of x (and w). in and out: its inputs and outputs. */
static uint32_t counting_body(struct build *b, const struct loop *l, uint32_t in[6], uint32_t out[3]) {
    uint32_t index = add_subgraph(b);
    struct nnv_subgraph *s = referenced(b, index);
    for (uint32_t i = 0; i < l->nargs; i++) in[i] = add_input(b, s, &l->args[i]);
    for (uint32_t i = 0; i < l->carried; i++) out[i] = add_output(b, s, &l->args[i]);
    uint32_t one = add_int(b, s, &counter, 1);
    add_binary(b, s, ANEURALNETWORKS_ADD, in[l->counter], one, out[l->counter]);
    return index;
}

static enum deed deed_of(const struct build *b) {
    return b->x.type == ANEURALNETWORKS_TENSOR_BOOL8 ? THIRD : (enum deed)(b->index % DEEDS);
}

static uint32_t plain_body(struct build *b, const struct loop *l) {
    uint32_t in[6], out[3], index = counting_body(b, l, in, out);
    add_deed(b, referenced(b, index), deed_of(b), in[l->x], in[l->z], out[l->x]);
    return index;
}

/* w, too: it comes into x one iteration later. */
static uint32_t several_body(struct build *b, const struct loop *l) {
    uint32_t in[6], out[3], index = counting_body(b, l, in, out);
    add_deed(b, referenced(b, index), deed_of(b), in[l->x], in[2], out[l->x]);
    add_deed(b, referenced(b, index), SECOND, in[2], in[l->z], out[2]);
    return index;
}

/* x grows; of types that no operation can enlarge it becomes z. */
static uint32_t growing_body(struct build *b, const struct loop *l) {
    uint32_t in[6], out[3], index = counting_body(b, l, in, out);
    struct nnv_subgraph *s = referenced(b, index);
    bool joined = nnv_is_float(b->x.type) || (nnv_is_quant(b->x.type) && !is_cast_only(b->x.type));
    if (joined) {
        uint32_t operands[] = {in[l->x], in[l->z], add_int(b, s, &scalar, 0)};
        add_operation(b, s, ANEURALNETWORKS_CONCATENATION, 3, operands, 1, &out[l->x]);
    } else if (b->x.type == ANEURALNETWORKS_TENSOR_INT32 && b->c->what->mode != NNV_FILL_ZERO) {
        static const int32_t twice[NNV_MAX_RANK] = {2, 1, 1, 1};
        uint32_t rank = b->x.rank;
        struct nnv_operand like = {.type = ANEURALNETWORKS_TENSOR_INT32, .rank = 1};
        like.dims = nnv_arena_copy(b->arena, &rank, sizeof rank);
        uint32_t operands[] = {in[l->x], add_constant(b, s, &like, twice, rank * sizeof *twice)};
        add_operation(b, s, ANEURALNETWORKS_TILE, 2, operands, 1, &out[l->x]);
    } else {
        add_copy(b, s, in[l->z], out[l->x]);
    }
    return index;
}

/* The first iteration adds, later ones subtract. */
static uint32_t choosing_body(struct build *b, const struct loop *l, int32_t first) {
    uint32_t in[6], out[3], index = counting_body(b, l, in, out);
    uint32_t then = plain_branch(b, FIRST, false), other = plain_branch(b, SECOND, false);
    struct nnv_subgraph *s = referenced(b, index);
    uint32_t early = add_operand(b, s, &truth, NNV_TEMPORARY_VARIABLE), second = add_int(b, s, &counter, first + 1);
    add_operation(b, s, ANEURALNETWORKS_LESS, 2, (uint32_t[]){in[l->counter], second}, 1, &early);
    uint32_t a = add_model(b, s, then), c = add_model(b, s, other);
    add_operation(b, s, ANEURALNETWORKS_IF, 5, (uint32_t[]){early, a, c, in[l->x], in[l->z]}, 1, &out[l->x]);
    return index;
}

/* A loop in the loop: it runs as often as the outer one has. */
static uint32_t looping_body(struct build *b, const struct loop *l, int32_t first) {
    uint32_t in[6], out[3], index = counting_body(b, l, in, out);
    uint32_t condition = loop_condition(b, l), body = plain_body(b, l);
    struct nnv_subgraph *s = referenced(b, index);
    uint32_t start = add_int(b, s, &counter, first), a = add_model(b, s, condition), c = add_model(b, s, body);
    uint32_t results[] = {add_operand(b, s, &counter, NNV_TEMPORARY_VARIABLE), out[l->x]};
    add_operation(b, s, ANEURALNETWORKS_WHILE, 6, (uint32_t[]){a, c, start, in[l->x], in[l->counter], in[l->z]}, 2,
                  results);
    return index;
}

static void build_while(struct build *b) {
    struct nnv_subgraph *s = &b->spec->model.main;
    const bool dynamic = is_variant(b, "dynamic"), several = is_variant(b, "several");
    const int32_t count = (int32_t)b->sample->arg[0].value, first = (int32_t)nnv_rng_int(&b->rng, -3, 3);
    const struct nnv_operand any = dynamic ? open_shape(b, &b->x) : b->x;
    const struct loop l = loop_of(b, &any);
    uint32_t in[8], out[2];
    uint32_t condition = loop_condition(b, &l);
    uint32_t body = several                    ? several_body(b, &l)
                    : dynamic                  ? growing_body(b, &l)
                    : !is_variant(b, "nested") ? plain_body(b, &l)
                    : b->index % 2             ? looping_body(b, &l, first)
                                               : choosing_body(b, &l, first);
    in[0] = add_model(b, s, condition);
    in[1] = add_model(b, s, body);
    in[2 + l.counter] = main_int(b, first);
    in[2 + l.x] = main_input(b, &b->x, 0);
    if (several) in[2 + 2] = main_input(b, &b->x, 2);
    in[2 + l.limit] = main_int(b, count ? first + count : first - b->index % 2);
    in[2 + l.z] = main_input(b, &b->z, 2);
    if (several) in[2 + 4] = in[2 + l.z]; /* twice */
    for (uint32_t i = 0; i < 2; i++) out[i] = add_output(b, s, &l.args[i]);
    add_operation(b, s, ANEURALNETWORKS_WHILE, 2 + l.nargs, in, 2, out);
}

/* -------------------------------------------------------------------- the spec */

static void make_operand(struct build *b, const struct nnv_sample_arg *a, struct nnv_operand *o) {
    o->type = b->sample->sig->type[NNV_T];
    o->rank = a->rank;
    o->dims = nnv_arena_copy(b->arena, a->dims, a->rank * sizeof *a->dims);
    if (!o->dims) b->failed = true;
}

enum nnv_status nnv_control_build(const struct nnv_control *control, struct nnv_arena *arena, struct nnv_spec **spec,
                                  struct nnv_err *err) {
    struct build b = {.c = control,
                      .sample = control->sample,
                      .arena = arena,
                      .rng = control->rng,
                      .spec = NNV_NEW(arena, struct nnv_spec, 1),
                      .index = control->what->index};
    if (!b.spec) return nnv_no_memory(err);
    b.spec->name = control->what->name;
    b.spec->model.relaxed = control->what->relaxed;
    b.spec->inputs = NNV_NEW(arena, struct nnv_value, MOST_LIST);
    b.spec->model.referenced = NNV_NEW(arena, struct nnv_subgraph, MOST_SUBGRAPHS);
    b.failed = !b.spec->inputs || !b.spec->model.referenced;
    if (!b.failed) {
        start_subgraph(&b, &b.spec->model.main);
        make_operand(&b, &b.sample->rep[0], &b.x);
        make_operand(&b, &b.sample->rep[1], &b.z);
    }
    if (!b.failed) {
        choose_quantisation(&b, &b.x);
        b.z.scale = b.x.scale;
        b.z.zero_point = b.x.zero_point;
        control->what->op->code == ANEURALNETWORKS_IF ? build_if(&b) : build_while(&b);
    }
    if (b.failed) return nnv_no_memory(err);
    *spec = b.spec;
    return NNV_OK;
}
