/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Everything that binding one operation looks at. */
struct binding {
    const struct nnv_subgraph *s;
    const struct nnv_operation *use;
    const struct nnv_shape *shapes;
    const void *const *data; /* NULL: no values are looked at */
    const bool *present;
    bool signature;  /* nothing but the signature is checked, and what the record has checked as early */
    bool incomplete; /* an input has no value that must have one */
    const struct nnv_op *op;
    uint8_t *slot_in, *slot_out; /* slot index of each position */
    struct nnv_call *call;
    int level;
};

static void raise_level(struct binding *b, int level) {
    if (b->level < level) b->level = level;
}

/* ------------------------------------------------------------ which slot stands where */

static int repeated(const struct nnv_slot *slots, uint8_t n) {
    for (uint8_t i = 0; i < n; i++)
        if (slots[i].flags & NNV_REPEAT) return i;
    return -1;
}

/* The numbers of operands that the slots allow: cumulative by group. */
static uint8_t allowed_counts(const struct nnv_slot *slots, uint8_t n, uint8_t counts[NNV_MAX_SLOTS]) {
    uint8_t k = 0;
    for (uint8_t i = 1; i <= n; i++)
        if (i == n || slots[i].group != slots[i - 1].group) counts[k++] = i;
    if (n == 0 || slots[0].group > 0) { /* all optional: none at all is allowed, too */
        memmove(counts + 1, counts, k++);
        counts[0] = 0;
    }
    return k;
}

static bool lay_out(const struct nnv_slot *slots, uint8_t n, uint32_t count, uint8_t *slot) {
    int rep = repeated(slots, n);
    if (rep >= 0) {
        bool none = slots[rep].group && rep == n - 1 && count == n - 1u;
        if (count < n && !none) return false;
        for (uint32_t i = 0, more = none ? 0 : count - n; i < count; i++)
            slot[i] = (uint8_t)(i <= (uint32_t)rep ? i : i <= (uint32_t)rep + more ? (uint32_t)rep : i - more);
        return true;
    }
    uint8_t counts[NNV_MAX_SLOTS + 1], k = allowed_counts(slots, n, counts);
    for (uint8_t i = 0; i < k; i++)
        if (counts[i] == count) {
            for (uint32_t j = 0; j < count; j++) slot[j] = (uint8_t)j;
            return true;
        }
    return false;
}

/* "7, 8 or 10", "at least 2"; of inputs with the name of the form if there is one. */
static void counts_text(const struct nnv_form *f, bool outputs, char *buf, size_t room) {
    const struct nnv_slot *slots = outputs ? f->out : f->in;
    uint8_t n = outputs ? f->nout : f->nin, counts[NNV_MAX_SLOTS + 1], k = allowed_counts(slots, n, counts);
    size_t at = 0;
    buf[0] = 0;
    int rep = repeated(slots, n);
    if (rep >= 0) at += (size_t)snprintf(buf, room, "at least %u", slots[rep].group ? n - 1u : n);
    for (uint8_t i = 0; at < room && rep < 0 && i < k; i++)
        at += (size_t)snprintf(buf + at, room - at, "%s%u", i == 0 ? "" : i + 1 == k ? " or " : ", ", counts[i]);
    if (at < room && f->name[0] && !outputs) snprintf(buf + at, room - at, " (%s)", f->name);
}

static enum nnv_status refuse_count(const struct nnv_op *op, uint32_t count, bool outputs, struct nnv_err *err) {
    char text[256] = "", one[96];
    for (uint8_t i = 0; i < op->nforms; i++) {
        counts_text(&op->forms[i], outputs, one, sizeof one);
        if (strstr(text, one)) continue;
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", i ? " or " : "", one);
    }
    return nnv_fail(err, NNV_INVALID, "%u %s%s: expected %s", count, outputs ? "output" : "input",
                    count == 1 ? "" : "s", text);
}

/* ------------------------------------------------------------------------------ types */

static int32_t slot_type(const struct nnv_slot *slot, const struct nnv_sig *sig) {
    return slot->var == NNV_FIXED ? slot->type : sig->type[slot->var];
}

static int32_t operand_type(const struct binding *b, bool outputs, uint32_t i) {
    return b->s->operands[outputs ? b->use->out[i] : b->use->in[i]].type;
}

static bool takes(const struct nnv_slot *slot, const struct nnv_sig *sig, int32_t type) {
    if (slot->flags & NNV_ANY_TYPE) return type != ANEURALNETWORKS_MODEL;
    return type == slot_type(slot, sig);
}

/* How many operands, inputs before outputs, are of the types that the signature gives the form's slots. */
static uint32_t matched(const struct binding *b, const struct nnv_form *f, const struct nnv_sig *sig) {
    for (uint32_t i = 0; i < b->use->nin; i++)
        if (!takes(&f->in[b->slot_in[i]], sig, operand_type(b, false, i))) return i;
    for (uint32_t i = 0; i < b->use->nout; i++)
        if (!takes(&f->out[b->slot_out[i]], sig, operand_type(b, true, i))) return b->use->nin + i;
    return b->use->nin + b->use->nout;
}

static const char *type_name(int32_t code, char buf[24]) {
    const struct nnv_type *t = nnv_type(code);
    if (t) return t->name;
    snprintf(buf, 24, "type %d", code);
    return buf;
}

/* The operand at `place` has the wrong type: says which types the signatures that fit so far would accept. */
static enum nnv_status refuse_type(const struct binding *b, const struct nnv_form *f, uint32_t place,
                                   struct nnv_err *err) {
    bool outputs = place >= b->use->nin;
    uint32_t i = outputs ? place - b->use->nin : place;
    const struct nnv_slot *slot = outputs ? &f->out[b->slot_out[i]] : &f->in[b->slot_in[i]];
    int32_t seen[NNV_TYPE_COUNT];
    int n = 0;
    for (uint8_t k = 0; k < b->op->nsigs; k++) {
        int32_t t = slot_type(slot, &b->op->sigs[k]);
        bool known = matched(b, f, &b->op->sigs[k]) < place;
        for (int j = 0; j < n; j++) known |= seen[j] == t;
        if (!known && n < NNV_TYPE_COUNT) seen[n++] = t;
    }
    char text[400] = "", buf[24], got[24];
    for (int j = 0; j < n; j++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s",
                 j == 0       ? ""
                 : j + 1 == n ? " or "
                              : ", ",
                 type_name(seen[j], buf));
    }
    const char *name = type_name(operand_type(b, outputs, i), got);
    nnv_fail(err, NNV_INVALID, "%s is not accepted here, expected %s", name, text);
    return nnv_at(err, NNV_INVALID, "%s %u (%s)", outputs ? "output" : "input", i, slot->name);
}

/* Finds form and signature; otherwise gives the reason of the form that got furthest. */
static enum nnv_status choose(struct binding *b, struct nnv_err *err) {
    const struct nnv_op *op = b->op;
    const struct nnv_form *best = NULL;
    uint32_t furthest = 0, all = b->use->nin + b->use->nout;
    bool inputs_fit = false;
    for (uint8_t i = 0; i < op->nforms; i++) {
        const struct nnv_form *f = &op->forms[i];
        if (!lay_out(f->in, f->nin, b->use->nin, b->slot_in)) continue;
        inputs_fit = true;
        if (!lay_out(f->out, f->nout, b->use->nout, b->slot_out)) continue;
        for (uint8_t k = 0; k < op->nsigs; k++) {
            uint32_t m = matched(b, f, &op->sigs[k]);
            if (!best || m > furthest) {
                best = f;
                furthest = m;
            }
            if (m == all) {
                b->call->form = f;
                b->call->sig = &op->sigs[k];
                return NNV_OK;
            }
        }
    }
    if (!inputs_fit) return refuse_count(op, b->use->nin, false, err);
    if (!best) return refuse_count(op, b->use->nout, true, err);
    (void)lay_out(best->in, best->nin, b->use->nin, b->slot_in);
    (void)lay_out(best->out, best->nout, b->use->nout, b->slot_out);
    return refuse_type(b, best, furthest, err);
}

/* --------------------------------------------------------------------- rules of a slot */

static enum nnv_status check_rank(const struct nnv_slot *slot, const struct nnv_shape *shape, struct nnv_err *err) {
    if (slot->flags & NNV_SCALAR || !shape->known_rank) return NNV_OK;
    if (shape->rank < slot->rank_min)
        return nnv_fail(err, NNV_INVALID, "rank %u is below %u", shape->rank, slot->rank_min);
    if (slot->rank_max && shape->rank > slot->rank_max)
        return nnv_fail(err, NNV_INVALID, "rank %u is above %u", shape->rank, slot->rank_max);
    return NNV_OK;
}

static enum nnv_status check_scalar(const struct nnv_call *c, const struct nnv_slot *slot, const struct nnv_arg *a,
                                    struct nnv_err *err) {
    if (!(slot->flags & NNV_SCALAR) || !a->data) return NNV_OK;
    double v = 0;
    nnv_load(a->operand->type, a->data, 1, &v);
    switch ((enum nnv_rule)slot->rule) {
    case NNV_ANY:
    case NNV_RULE_COUNT:
        break;
    case NNV_FUSE:
        if (v < ANEURALNETWORKS_FUSED_NONE || v > ANEURALNETWORKS_FUSED_RELU6)
            return nnv_fail(err, NNV_INVALID, "%.0f is not a fuse code", v);
        break;
    case NNV_PADDING_CODE:
        if (v != ANEURALNETWORKS_PADDING_SAME && v != ANEURALNETWORKS_PADDING_VALID)
            return nnv_fail(err, NNV_INVALID, "%.0f is not a padding code", v);
        break;
    case NNV_POSITIVE:
        if (!(v > 0)) return nnv_fail(err, NNV_INVALID, "%.9g is not above 0", v);
        break;
    case NNV_NOT_NEGATIVE:
        if (!(v >= 0)) return nnv_fail(err, NNV_INVALID, "%.9g is negative", v);
        break;
    case NNV_AXIS:
        if (c->in[0].present && c->in[0].shape.known_rank && nnv_axis((int32_t)v, c->in[0].shape.rank) < 0)
            return nnv_fail(err, NNV_INVALID, "%.0f is not an axis of a tensor of rank %u", v, c->in[0].shape.rank);
        break;
    }
    return NNV_OK;
}

static enum nnv_status check_scale(const struct nnv_operand *o, double scale, int32_t zero_point, const char *why,
                                   struct nnv_err *err) {
    if ((double)o->scale != scale)
        return nnv_fail(err, NNV_INVALID, "scale %.9g, expected %.9g%s", (double)o->scale, scale, why);
    if (o->zero_point != zero_point)
        return nnv_fail(err, NNV_INVALID, "zero point %d, expected %d%s", o->zero_point, zero_point, why);
    return NNV_OK;
}

static enum nnv_status check_as(const struct nnv_call *c, const struct nnv_operand *o, uint32_t input,
                                struct nnv_err *err) {
    if (input >= c->nin || !c->in[input].present) return NNV_OK;
    const struct nnv_operand *model = c->in[input].operand;
    char why[32];
    snprintf(why, sizeof why, " as input %u has", input);
    return check_scale(o, (double)model->scale, model->zero_point, why, err);
}

static enum nnv_status check_bias(const struct nnv_call *c, const struct nnv_operand *o, struct nnv_err *err) {
    const struct nnv_operand *w = c->in[1].operand;
    if (w->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL)
        return check_scale(o, 0, 0, " beside a filter with a scale for each channel", err);
    double want = (double)c->in[0].operand->scale * (double)w->scale;
    if (!(fabs((double)o->scale - want) <= 1e-6 * want))
        return nnv_fail(err, NNV_INVALID, "scale %.9g is not the product %.9g of the scales of inputs 0 and 1",
                        (double)o->scale, want);
    if (o->zero_point != 0) return nnv_fail(err, NNV_INVALID, "zero point %d, expected 0", o->zero_point);
    return NNV_OK;
}

static enum nnv_status check_quant(const struct nnv_call *c, const struct nnv_slot *slot, const struct nnv_operand *o,
                                   struct nnv_err *err) {
    const struct nnv_type *t = nnv_type(o->type);
    bool quant = nnv_is_quant(o->type);
    switch ((enum nnv_quant_rule)slot->quant) {
    case NNV_Q_FREE:
        break;
    case NNV_Q_SAME:
        return quant ? check_as(c, o, 0, err) : NNV_OK;
    case NNV_Q_SAME_1:
        return quant ? check_as(c, o, 1, err) : NNV_OK;
    case NNV_Q_SAME_2:
        return quant ? check_as(c, o, 2, err) : NNV_OK;
    case NNV_Q_BIAS:
        return o->type == ANEURALNETWORKS_TENSOR_INT32 ? check_bias(c, o, err) : NNV_OK;
    case NNV_Q_UNIT_256:
        return quant ? check_scale(o, 1.0 / 256, (int32_t)t->min, "", err) : NNV_OK;
    case NNV_Q_UNIT_128:
        return quant ? check_scale(o, 1.0 / 128, t->min < 0 ? 0 : 128, "", err) : NNV_OK;
    case NNV_Q_ONE:
        return quant ? check_scale(o, 1, 0, "", err) : NNV_OK;
    case NNV_Q_EIGHTH:
        return quant ? check_scale(o, 0.125, 0, "", err) : NNV_OK;
    }
    return NNV_OK;
}

/* A real extent of zero, where the operation takes none. */
static enum nnv_status check_zero(const struct nnv_op *op, uint32_t pos, const struct nnv_arg *a, struct nnv_err *err) {
    if (!a->shape.known_rank || op->zero == NNV_ZERO_ANY) return NNV_OK;
    for (uint32_t d = 0; d < a->shape.rank; d++)
        if (a->shape.dims[d] == 0 && !(op->zero == NNV_ZERO_BATCH && pos == 0 && d == 0))
            return nnv_fail(err, NNV_INVALID, "dimension %u is 0, which %s does not take", d, op->name);
    return NNV_OK;
}

static bool has_zero(const struct nnv_shape *s) {
    for (uint32_t d = 0; s->known_rank && d < s->rank; d++)
        if (s->dims[d] == 0) return true;
    return false;
}

static bool fits_rank(const struct nnv_slot *slot, const struct nnv_shape *shape) {
    return check_rank(slot, shape, &(struct nnv_err){0}) == NNV_OK;
}

/* A model input that no value fits, its rank is wrong and an extent open, stands for an input that will be omitted. */
static bool is_placeholder(const struct nnv_slot *slot, const struct nnv_arg *a) {
    if (!(slot->flags & NNV_OMITTABLE) || a->operand->lifetime != NNV_SUBGRAPH_INPUT) return false;
    return !fits_rank(slot, &a->shape) && !nnv_shape_known(&a->shape);
}

/* IF and WHILE pass on operands of extensions, too, which came with level 3. */
static int type_level(int32_t code) {
    const struct nnv_type *t = nnv_type(code);
    return t ? t->level : 3;
}

/* Whether a rule is checked; of a signature only if the record has it among these. */
static bool checks(const struct binding *b, unsigned early) { return !b->signature || b->op->early & early; }

static bool checks_rank(const struct binding *b, const struct nnv_slot *slot) {
    return checks(b, NNV_EARLY_RANKS | NNV_EARLY_INPUTS) || (slot->rank_min <= 1 && slot->rank_max > 1);
}

static enum nnv_status check_present(struct binding *b, const struct nnv_slot *slot, uint32_t pos,
                                     struct nnv_err *err) {
    const struct nnv_arg *a = &b->call->in[pos];
    if (!a->shape.known_rank || has_zero(&a->shape)) raise_level(b, 3);
    enum nnv_status st = checks_rank(b, slot) ? check_rank(slot, &a->shape, err) : NNV_OK;
    if (!st && !b->signature) st = check_scalar(b->call, slot, a, err);
    if (!st && checks(b, NNV_EARLY_SCALES)) st = check_quant(b->call, slot, a->operand, err);
    if (!st && !b->signature) st = check_zero(b->op, pos, a, err);
    return st;
}

static enum nnv_status check_input(struct binding *b, uint32_t pos, struct nnv_err *err) {
    const struct nnv_slot *slot = &b->call->form->in[b->slot_in[pos]];
    struct nnv_arg *a = &b->call->in[pos];
    if (is_placeholder(slot, a)) a->present = false;
    raise_level(b, type_level(a->operand->type));
    raise_level(b, slot->level);
    enum nnv_status st = NNV_OK;
    if (a->present)
        st = check_present(b, slot, pos, err);
    else if (!(slot->flags & NNV_OMITTABLE))
        b->incomplete = true;
    if (b->incomplete && !b->signature) st = nnv_fail(err, NNV_INVALID, "has no value, but may not be omitted");
    return st ? nnv_at(err, st, "input %u (%s)", pos, slot->name) : NNV_OK;
}

/* Inferred and declared shape of an output become one. */
static enum nnv_status merge(const struct nnv_shape *inferred, struct nnv_shape *declared, struct nnv_err *err) {
    if (!inferred->known_rank) return NNV_OK;
    if (!declared->known_rank) {
        *declared = *inferred;
        return NNV_OK;
    }
    bool agree = inferred->rank == declared->rank;
    for (uint32_t d = 0; agree && d < inferred->rank; d++) agree = nnv_dim_agree(inferred->dims[d], declared->dims[d]);
    if (!agree) {
        char is[256], should[256];
        return nnv_fail(err, NNV_INVALID, "declared shape %s does not agree with %s, which the inputs give",
                        nnv_shape_text(declared, is, sizeof is), nnv_shape_text(inferred, should, sizeof should));
    }
    for (uint32_t d = 0; d < inferred->rank; d++)
        declared->dims[d] = nnv_dim_merge(declared->dims[d], inferred->dims[d]);
    return NNV_OK;
}

/* inferred is NULL where shapes are not checked. */
static enum nnv_status check_output(struct binding *b, uint32_t pos, const struct nnv_shape *inferred,
                                    struct nnv_err *err) {
    const struct nnv_slot *slot = &b->call->form->out[b->slot_out[pos]];
    struct nnv_arg *a = &b->call->out[pos];
    raise_level(b, type_level(a->operand->type));
    raise_level(b, slot->level);
    if (!a->shape.known_rank) raise_level(b, 3);
    enum nnv_status st = inferred ? merge(inferred, &a->shape, err) : NNV_OK;
    if (!st && inferred) st = check_rank(slot, &a->shape, err);
    if (!st && checks(b, NNV_EARLY_SCALES)) st = check_quant(b->call, slot, a->operand, err);
    return st ? nnv_at(err, st, "output %u (%s)", pos, slot->name) : NNV_OK;
}

/* ------------------------------------------------------------------------------ binding */

static void fill(const struct binding *b, uint32_t index, struct nnv_arg *a) {
    a->operand = &b->s->operands[index];
    a->present = a->operand->lifetime != NNV_NO_VALUE && (!b->present || b->present[index]);
    a->shape = b->shapes[index];
    a->data = a->present && b->data ? b->data[index] : NULL;
}

static enum nnv_status start(struct binding *b, struct nnv_arena *arena, struct nnv_err *err) {
    b->op = nnv_op(b->use->type);
    enum { OEM_OPERATION = 10000 }; /* a vendor's own, before there were extensions */
    if (!b->op && (b->use->type < 0 || b->use->type > ANEURALNETWORKS_REVERSE) && b->use->type != OEM_OPERATION)
        return nnv_fail(err, NNV_INVALID, "%d is no operation code", b->use->type);
    if (!b->op) return nnv_fail(err, NNV_UNSUPPORTED, "operation code %d is not known here", b->use->type);
    b->level = b->op->level;
    uint32_t nin = b->use->nin, nout = b->use->nout;
    b->slot_in = NNV_NEW(arena, uint8_t, nin);
    b->slot_out = NNV_NEW(arena, uint8_t, nout);
    struct nnv_call *c = b->call = NNV_NEW(arena, struct nnv_call, 1);
    if (!b->slot_in || !b->slot_out || !c) return nnv_no_memory(err);
    *c = (struct nnv_call){.op = b->op, .nin = nin, .nout = nout};
    c->in = NNV_NEW(arena, struct nnv_arg, nin);
    c->out = NNV_NEW(arena, struct nnv_arg, nout);
    if (!c->in || !c->out) return nnv_no_memory(err);
    for (uint32_t i = 0; i < nin; i++) fill(b, b->use->in[i], &c->in[i]);
    for (uint32_t i = 0; i < nout; i++) fill(b, b->use->out[i], &c->out[i]);
    return NNV_OK;
}

static void place_ids(struct binding *b) {
    struct nnv_call *c = b->call;
    for (int id = 0; id < NNV_MAX_SLOTS; id++) c->pos[id] = -1;
    for (uint32_t i = 0; i < c->nin; i++) {
        const struct nnv_slot *slot = &c->form->in[b->slot_in[i]];
        if (c->pos[slot->id] < 0) c->pos[slot->id] = (int16_t)i;
        if (slot->flags & NNV_REPEAT) c->repeat++;
    }
}

/* The call as far as ranks tell. */
static const struct nnv_call *of_ranks(const struct nnv_call *c, struct nnv_arena *arena) {
    struct nnv_call *copy = nnv_arena_copy(arena, c, sizeof *c);
    if (copy) copy->in = nnv_arena_copy(arena, c->in, c->nin * sizeof *c->in);
    if (!copy || !copy->in) return NULL;
    for (uint32_t i = 0; i < c->nin; i++) {
        if (c->in[i].shape.known_rank) copy->in[i].shape = nnv_shape_of_rank(c->in[i].shape.rank);
        copy->in[i].data = NULL;
    }
    return copy;
}

/* What the record's hooks demand. *shapes: those that the outputs have; NULL where that is not checked. */
static enum nnv_status ask_hooks(const struct binding *b, struct nnv_arena *arena, struct nnv_shape **shapes,
                                 struct nnv_err *err) {
    const struct nnv_call *c = b->call;
    enum nnv_status st = NNV_OK;
    *shapes = NULL;
    if (b->op->check && checks(b, NNV_EARLY_CHECK)) st = b->op->check(c, err);
    if (st || !checks(b, NNV_EARLY_INPUTS | NNV_EARLY_OUTPUTS)) return st;
    struct nnv_shape *inferred = NNV_NEW(arena, struct nnv_shape, c->nout);
    if (!checks(b, NNV_EARLY_INPUTS)) c = of_ranks(c, arena);
    if (!inferred || !c) return nnv_no_memory(err);
    if (checks(b, NNV_EARLY_OUTPUTS)) *shapes = inferred;
    return b->op->infer(c, inferred, err);
}

static enum nnv_status check_operands(struct binding *b, struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_call *c = b->call;
    struct nnv_shape *inferred = NULL;
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; !st && i < c->nin; i++) st = check_input(b, i, err);
    if (!st && !b->incomplete) st = ask_hooks(b, arena, &inferred, err);
    for (uint32_t i = 0; !st && i < c->nout; i++) st = check_output(b, i, inferred ? &inferred[i] : NULL, err);
    if (st) return st;
    raise_level(b, c->sig->level);
    if (b->op->level_of && !b->incomplete) raise_level(b, b->op->level_of(c));
    return NNV_OK;
}

static enum nnv_status bind(struct binding *b, struct nnv_arena *arena, struct nnv_call **call, int *level,
                            struct nnv_err *err) {
    if (b->use->nin > INT16_MAX || b->use->nout > INT16_MAX)
        return nnv_fail(err, NNV_INVALID, "%u operands are more than an operation may have",
                        b->use->nin > b->use->nout ? b->use->nin : b->use->nout);
    enum nnv_status st = start(b, arena, err);
    if (!st) st = choose(b, err);
    if (!st) {
        place_ids(b);
        st = check_operands(b, arena, err);
    }
    if (st) return st;
    *call = b->call;
    if (level) *level = b->level;
    return NNV_OK;
}

enum nnv_status nnv_bind(const struct nnv_subgraph *s, const struct nnv_operation *op, const struct nnv_shape *shapes,
                         const void *const *data, const bool *present, struct nnv_arena *arena, struct nnv_call **call,
                         int *level, struct nnv_err *err) {
    struct binding b = {.s = s, .use = op, .shapes = shapes, .data = data, .present = present};
    return bind(&b, arena, call, level, err);
}

enum nnv_status nnv_bind_signature(const struct nnv_subgraph *s, const struct nnv_operation *op,
                                   const struct nnv_shape *shapes, struct nnv_arena *arena, struct nnv_call **call,
                                   int *level, struct nnv_err *err) {
    struct binding b = {.s = s, .use = op, .shapes = shapes, .signature = true};
    return bind(&b, arena, call, level, err);
}
