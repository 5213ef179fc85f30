/* SPDX-License-Identifier: Apache-2.0 */
/* Cases in which data are constants of the model: tables that are looked up, thresholds, factors that change nothing.
 */
#include "randgraph/single/draft.h"

/* Of two inputs one is a constant in turn; of more, now one, now all but one. Recurrent cells have many. */
enum { PAIR = 2, MOST = 3 };

static bool is_data(const struct nnv_slot *slot) { return !(slot->flags & (NNV_SCALAR | NNV_PARAM)); }

int nnv_constants_planned(const struct nnv_op *op) {
    const struct nnv_form *form = op->forms;
    int n = 0;
    for (uint8_t i = 0; i < form->nin && !op->check_subgraphs; i++)
        if (is_data(&form->in[i])) n += form->in[i].flags & NNV_REPEAT ? PAIR : 1;
    return n < PAIR ? 0 : (n < MOST ? n : MOST) * nnv_single_variants(op);
}

/* The place of an argument among the sample's data, and how many these are. */
static int place_of(const struct nnv_sample *s, const struct nnv_sample_arg *wanted, int *count) {
    int place = -1, n = 0;
    for (uint8_t i = 0; i < s->form->nin; i++) {
        const struct nnv_slot *slot = &s->form->in[i];
        const bool repeat = slot->flags & NNV_REPEAT;
        for (uint32_t k = 0; is_data(slot) && k < (repeat ? s->nrep : 1); k++) {
            const struct nnv_sample_arg *a = repeat ? &s->rep[k] : &s->arg[slot->id];
            if (!a->set) continue;
            if (a == wanted) place = n;
            n++;
        }
    }
    *count = n;
    return place;
}

bool nnv_constants_choose(const struct nnv_single_draft *b, const struct nnv_sample_arg *a, bool *constant) {
    int n;
    const int place = place_of(b->sample, a, &n), index = b->what->index;
    if (place < 0 || n < PAIR) return false;
    const bool chosen = place == (index + index / n) % n; /* also where only each second case is taken */
    *constant = n > PAIR && index / PAIR % 2 ? !chosen : chosen;
    return true;
}

bool nnv_constants_number(struct nnv_single_draft *b, const struct nnv_slot *slot, const struct nnv_sample_arg *a,
                          double *v) {
    enum { HOLD = 4 }; /* each place is once without it */
    static const double numbers[] = {0, 1, 2, -1, 0.5, 6};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    const struct nnv_single *w = b->what;
    bool constant = false;
    if (!w->op->pairs || slot->var != NNV_T || (w->index / HOLD + w->sig / 2) % 2 == 0) return false;
    if (!nnv_constants_choose(b, a, &constant) || !constant) return false;
    const struct nnv_type *t = nnv_type(nnv_single_slot_type(b, slot));
    const bool positive = slot->domain == NNV_DOMAIN_POSITIVE, divisor = slot->domain == NNV_DOMAIN_DIVISOR;
    do *v = numbers[nnv_rng_int(&b->rng, 0, NUMBERS - 1)];
    while ((positive && *v <= 0) || (divisor && *v == 0) || (t->kind == NNV_KIND_INT && *v == 0.5));
    return true;
}
