/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/op.h"

#include <string.h>
#include <strings.h>

#define X(name) extern const struct nnv_op nnv_op_##name;
#include "reference/model/ops.def"
#undef X

static const struct nnv_op *const records[] = {
#define X(name) &nnv_op_##name,
#include "reference/model/ops.def"
#undef X
};

const struct nnv_op *const *nnv_ops(size_t *count) {
    *count = sizeof records / sizeof *records;
    return records;
}

const struct nnv_op *nnv_op(int32_t code) {
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (records[i]->code == code) return records[i];
    return NULL;
}

const struct nnv_op *nnv_op_by_name(const char *name) {
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (strcasecmp(records[i]->name, name) == 0) return records[i];
    return NULL;
}

bool nnv_op_is_recurrent(const struct nnv_op *op) {
    return strstr(op->name, "RNN") || strstr(op->name, "LSTM") || op->code == ANEURALNETWORKS_SVDF;
}

bool nnv_op_uses(const struct nnv_op *op, int var) {
    for (uint8_t f = 0; f < op->nforms; f++) {
        for (uint8_t i = 0; i < op->forms[f].nin; i++)
            if (op->forms[f].in[i].var == var) return true;
        for (uint8_t i = 0; i < op->forms[f].nout; i++)
            if (op->forms[f].out[i].var == var) return true;
    }
    return false;
}
