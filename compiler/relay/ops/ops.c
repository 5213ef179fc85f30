/* SPDX-License-Identifier: Apache-2.0 */
/* The families of operators. */
#include "compiler/relay/ops/ops.h"

#include <string.h>

static const struct nnv_relay_op_rows *const families[] = {
    &nnv_relay_elementwise, &nnv_relay_reduce, &nnv_relay_norm, &nnv_relay_conv,  &nnv_relay_dense,  &nnv_relay_window,
    &nnv_relay_index,       &nnv_relay_order,  &nnv_relay_move, &nnv_relay_space, &nnv_relay_vision, &nnv_relay_qnn};

const struct nnv_relay_op_row *nnv_relay_op_at(size_t i) {
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        if (i < families[f]->n) return &families[f]->rows[i];
        i -= families[f]->n;
    }
    return NULL;
}

const struct nnv_relay_op_row *nnv_relay_op(const char *name) {
    const struct nnv_relay_op_row *row;
    for (size_t i = 0; (row = nnv_relay_op_at(i)) && strcmp(row->name, name) != 0;) i++;
    return row;
}

const struct nnv_relay_value *nnv_relay_attr(const struct nnv_relay_expr *e, const char *key) {
    const char *name = nnv_relay_op_name(e);
    return nnv_relay_row_attr(name ? nnv_relay_op(name) : NULL, e, key);
}
