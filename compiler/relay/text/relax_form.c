/* SPDX-License-Identifier: Apache-2.0 */
/* What the records of operators say of Relax: "name(operand, parameter, name:attribute, name=default, -ignored)". */
#include <string.h>

#include "compiler/relay/text/relax.h"

static const struct nnv_relay_attr_row *attr_of(const struct nnv_relay_op_row *row, const char *key, size_t len) {
    for (size_t i = 0; i < NNV_RELAY_MOST_ATTRS && row->attrs[i].key; i++)
        if (strncmp(row->attrs[i].key, key, len) == 0 && row->attrs[i].key[len] == '\0') return &row->attrs[i];
    return NULL;
}

static struct nnv_relax_param param_of(const struct nnv_relay_op_row *row, const char *text, size_t len) {
    struct nnv_relax_param p = {.ignored = *text == '-'};
    text += p.ignored;
    len -= p.ignored;
    const char *value = memchr(text, '=', len);
    if (value) {
        p.value = value + 1;
        p.value_len = len - (size_t)(p.value - text);
        len = (size_t)(value - text);
    }
    const char *key = memchr(text, ':', len);
    size_t name_len = key ? (size_t)(key - text) : len;
    key = key ? key + 1 : text;
    if (!p.ignored) p.attr = attr_of(row, key, len - (size_t)(key - text));
    memcpy(p.name, text, name_len < sizeof p.name ? name_len : sizeof p.name - 1);
    return p;
}

static const char *name_of(const struct nnv_relay_op_row *row, size_t *len) {
    *len = row->relax ? strcspn(row->relax, "(") : 0;
    if (*len) return row->relax;
    *len = row->relax ? strlen(row->name) : 0;
    return row->name;
}

bool nnv_relax_form_of(const struct nnv_relay_op_row *row, struct nnv_relax_form *form) {
    if (row->relax == NULL) return false;
    *form = (struct nnv_relax_form){.row = row};
    form->name = name_of(row, &form->name_len);
    const char *at = strchr(row->relax, '(') + 1;
    while (*at != ')' && form->n < NNV_RELAX_PARAMS) {
        size_t len = strcspn(at, ",)");
        form->params[form->n++] = param_of(row, at, len);
        at += len;
        at += strspn(at, ", ");
    }
    return true;
}

bool nnv_relax_form_find(const char *name, struct nnv_relax_form *form) {
    const struct nnv_relay_op_row *row;
    size_t len;
    for (size_t i = 0; (row = nnv_relay_op_at(i)); i++) {
        const char *own = name_of(row, &len);
        if (len == strlen(name) && memcmp(own, name, len) == 0) return nnv_relax_form_of(row, form);
    }
    return false;
}
