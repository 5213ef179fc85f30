/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan.c Slots and steps. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------- slots */

static int add_slot(struct dn_plan *p, const dn_form *form, uint32_t tensor, void *handle, bool constant) {
    struct dn_slot *slots = realloc(p->slots, ((size_t)p->slot_count + 1) * sizeof *slots);
    if (!slots) return DN_NOWHERE;
    p->slots = slots;
    struct dn_slot *s = &slots[p->slot_count];
    *s = (struct dn_slot){.form = *form, .tensor = tensor, .constant = constant};
    if (dnnl_memory_create(&s->memory, form, p->engine->cpu, handle) != dnnl_success) return DN_NOWHERE;
    return p->slot_count++;
}

int dn_see(struct dn_plan *p, uint32_t tensor, const dn_form *form) {
    const void *value = p->op.tensors[tensor].value;
    return add_slot(p, form, tensor, value ? (void *)(uintptr_t)value : DNNL_MEMORY_NONE, value != NULL);
}

int dn_own(struct dn_plan *p, const dn_form *form) {
    return add_slot(p, form, UINT32_MAX, DNNL_MEMORY_ALLOCATE, false);
}

int dn_values(struct dn_plan *p, const dn_form *form, const void *values) {
    const int slot = dn_own(p, form);
    void *to = NULL;
    if (slot == DN_NOWHERE || dnnl_memory_get_data_handle(p->slots[slot].memory, &to) != dnnl_success)
        return DN_NOWHERE;
    memcpy(to, values, dnnl_memory_desc_get_size(form));
    p->slots[slot].constant = true;
    return slot;
}

int dn_into(struct dn_plan *p, int slot, const dn_form *form) {
    if (slot == DN_NOWHERE || dnnl_memory_desc_equal(&p->slots[slot].form, form)) return slot;
    const int to = dn_own(p, form);
    if (to == DN_NOWHERE) return DN_NOWHERE;
    if (dn_copy(p, slot, to, NULL)) return to;
    /* Some blocked forms are made from dense ones only. */
    dn_form dense;
    const dn_form *from = &p->slots[slot].form;
    if (!dn_form_dense(from->data_type, from->ndims, from->dims, &dense) || dnnl_memory_desc_equal(from, &dense))
        return DN_NOWHERE;
    const int middle = dn_own(p, &dense);
    return middle != DN_NOWHERE && dn_copy(p, slot, middle, NULL) && dn_copy(p, middle, to, NULL) ? to : DN_NOWHERE;
}

int dn_real(struct dn_plan *p, int slot, const struct engine_tensor *t, float scale) {
    if (slot == DN_NOWHERE) return DN_NOWHERE;
    if (p->slots[slot].form.data_type == dnnl_f32 && scale == 1.0f) return slot;
    const dn_form form = dn_form_typed(&p->slots[slot].form, dnnl_f32);
    const int to = dn_own(p, &form);
    struct dn_attr attr = dn_attr_new();
    dn_attr_scales(&attr, 1, 0, &scale);
    if (engine_is_quant(t)) dn_attr_zero_point(&attr, DNNL_ARG_SRC, t->zero_point);
    const bool ok = to != DN_NOWHERE && dn_copy(p, slot, to, &attr);
    dn_attr_free(&attr);
    return ok ? to : DN_NOWHERE;
}

bool dn_store(struct dn_plan *p, int from, int to, const struct engine_tensor *t, float scale) {
    struct dn_attr attr = dn_attr_new();
    dn_attr_scales(&attr, 1, 0, &scale);
    if (engine_is_quant(t)) dn_attr_zero_point(&attr, DNNL_ARG_DST, t->zero_point);
    const bool ok = dn_copy(p, from, to, &attr);
    dn_attr_free(&attr);
    return ok;
}

/* ----------------------------------------------------------------------- steps */

dnnl_primitive_desc_t dn_describe(const struct dn_plan *p, const_dnnl_op_desc_t op, const struct dn_attr *attr) {
    dnnl_primitive_desc_t desc = NULL;
    if (attr->failed) return NULL;
    return dnnl_primitive_desc_create(&desc, op, attr->attr, p->engine->cpu, NULL) == dnnl_success ? desc : NULL;
}

dn_form dn_chosen(const_dnnl_primitive_desc_t desc, int arg) {
    return *dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arg);
}

/** Scratch memory as one more argument. */
static bool add_scratch(struct dn_plan *p, const_dnnl_primitive_desc_t desc, struct dn_step *s) {
    const dn_form *form = dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    if (!form || dnnl_memory_desc_get_size(form) == 0) return true;
    const int slot = dn_own(p, form);
    if (slot == DN_NOWHERE) return false;
    s->args[s->count++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, p->slots[slot].memory};
    return true;
}

static bool run_step(const struct dn_engine *e, const struct dn_step *s) {
    return dnnl_primitive_execute(s->primitive, e->stream, s->count, s->args) == dnnl_success;
}

static bool append(struct dn_plan *p, const struct dn_step *s) {
    struct dn_step *steps = realloc(p->steps, ((size_t)p->step_count + 1) * sizeof *steps);
    if (!steps) return false;
    p->steps = steps;
    steps[p->step_count++] = *s;
    return true;
}

bool dn_step(struct dn_plan *p, dnnl_primitive_desc_t desc, const struct dn_arg *args, int count) {
    struct dn_step s = {0};
    if (!desc) return false;
    bool ok = count < DN_MOST_ARGS, constant = true;
    for (int i = 0; ok && i < count; i++) {
        ok = args[i].slot != DN_NOWHERE;
        if (!ok) break;
        const struct dn_slot *slot = &p->slots[args[i].slot];
        constant = constant && (i + 1 < count ? slot->constant : slot->tensor == UINT32_MAX);
        s.args[s.count++] = (dnnl_exec_arg_t){args[i].arg, slot->memory};
    }
    ok = ok && add_scratch(p, desc, &s) && dnnl_primitive_create(&s.primitive, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    if (!ok) return false;
    if (constant) {
        ok = run_step(p->engine, &s) && dnnl_stream_wait(p->engine->stream) == dnnl_success;
        p->slots[args[count - 1].slot].constant = true;
    } else {
        ok = append(p, &s);
    }
    if (constant || !ok) dnnl_primitive_destroy(s.primitive);
    return ok;
}

bool dn_plain(struct dn_plan *p, const_dnnl_op_desc_t op, const struct dn_arg *args, int count) {
    struct dn_attr none = dn_attr_new();
    const bool ok = dn_step(p, dn_describe(p, op, &none), args, count);
    dn_attr_free(&none);
    return ok;
}

bool dn_copy(struct dn_plan *p, int from, int to, const struct dn_attr *attr) {
    struct dn_attr none = {0};
    if (from == DN_NOWHERE || to == DN_NOWHERE || (attr && attr->failed)) return false;
    if (!attr) none = dn_attr_new();
    dnnl_primitive_desc_t desc = NULL;
    const dnnl_status_t st = dnnl_reorder_primitive_desc_create(
        &desc, &p->slots[from].form, p->engine->cpu, &p->slots[to].form, p->engine->cpu, attr ? attr->attr : none.attr);
    dn_attr_free(&none);
    const struct dn_arg args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    return st == dnnl_success && dn_step(p, desc, args, 2);
}

bool dn_apply(struct dn_plan *p, int from, int to, dnnl_alg_kind_t what, float alpha, float beta) {
    dnnl_eltwise_desc_t op;
    if (from == DN_NOWHERE || to == DN_NOWHERE) return false;
    if (dnnl_eltwise_forward_desc_init(&op, dnnl_forward_inference, what, &p->slots[from].form, alpha, beta) !=
        dnnl_success)
        return false;
    const struct dn_arg args[] = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}};
    return dn_plain(p, &op, args, 2);
}

bool dn_run(const struct dn_engine *engine, struct dn_plan *p, void *const *data) {
    for (int i = 0; i < p->slot_count; i++) {
        const struct dn_slot *s = &p->slots[i];
        if (s->tensor != UINT32_MAX && dnnl_memory_set_data_handle(s->memory, data[s->tensor]) != dnnl_success)
            return false;
    }
    for (int i = 0; i < p->step_count; i++)
        if (!run_step(engine, &p->steps[i])) return false;
    return dnnl_stream_wait(engine->stream) == dnnl_success;
}

void dn_clear(struct dn_plan *p) {
    for (int i = 0; i < p->step_count; i++) dnnl_primitive_destroy(p->steps[i].primitive);
    for (int i = 0; i < p->slot_count; i++) dnnl_memory_destroy(p->slots[i].memory);
    free(p->slots);
    free(p->steps);
    p->slots = NULL;
    p->steps = NULL;
    p->slot_count = p->step_count = 0;
}
