/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of all operators that are converted. */
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"

static const struct nnv_rc_rows *const tables[] = {&nnv_rc_conv, &nnv_rc_window, &nnv_rc_math, &nnv_rc_move,
                                                   &nnv_rc_pick, &nnv_rc_reduce, &nnv_rc_norm, &nnv_rc_qnn};

const struct nnv_rc_row *nnv_rc_row_at(size_t i) {
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        if (i < tables[t]->n) return &tables[t]->rows[i];
        i -= tables[t]->n;
    }
    return NULL;
}

const struct nnv_rc_row *nnv_rc_row(const char *op) {
    const struct nnv_rc_row *row;
    for (size_t i = 0; (row = nnv_rc_row_at(i)); i++)
        if (strcmp(row->name, op) == 0) return row;
    return NULL;
}
