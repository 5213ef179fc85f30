/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/op.h"

#include <string.h>

const struct nnv_arg *nnv_in(const struct nnv_call *c, int id) {
    int pos = c->pos[id];
    return pos >= 0 && c->in[pos].present ? &c->in[pos] : NULL;
}

bool nnv_known(const struct nnv_call *c, int id) {
    const struct nnv_arg *a = nnv_in(c, id);
    return !a || a->data;
}

static double default_of(const struct nnv_call *c, int id) {
    for (uint8_t i = 0; i < c->form->nin; i++)
        if (c->form->in[i].id == id) return c->form->in[i].dflt;
    return 0;
}

double nnv_num(const struct nnv_call *c, int id) {
    const struct nnv_arg *a = nnv_in(c, id);
    if (!a) return default_of(c, id);
    double v = 0;
    nnv_load(a->operand->type, a->data, 1, &v);
    return v;
}

int32_t nnv_int(const struct nnv_call *c, int id) { return (int32_t)nnv_num(c, id); }

bool nnv_call_is_nchw(const struct nnv_call *c) {
    for (uint8_t i = 0; i < c->form->nin; i++) {
        const struct nnv_slot *s = &c->form->in[i];
        if (strcmp(s->name, "nchw") == 0) return nnv_known(c, s->id) && nnv_int(c, s->id) != 0;
    }
    return false;
}
