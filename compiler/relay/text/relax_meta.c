/* SPDX-License-Identifier: Apache-2.0 */
/* TVMScript: the values of constants, as the JSON in a string of Python that TVM prints before a module. */
#include <inttypes.h>
#include <string.h>

#include "compiler/relay/text/params.h"
#include "compiler/relay/text/print.h"

/* Nodes of the metadata: each constant with its struct info, as TVM before 0.21 reads and writes them. */
static void print_constant_nodes(const struct nnv_relay_type *t, size_t array, size_t first, struct nnv_text *out) {
    const char *dtype = nnv_relay_dtype_name(t->dtype);
    nnv_text_addf(
        out,
        ",\n{\"type_key\": \"relax.expr.Constant\", \"attrs\": {\"_checked_type_\": \"%zu\", \"data\": \"%zu\", "
        "\"span\": \"0\", \"struct_info_\": \"%zu\"}}",
        first + 6, array, first + 1);
    nnv_text_addf(out,
                  ",\n{\"type_key\": \"relax.TensorStructInfo\", \"attrs\": {\"dtype\": \"%s\", \"ndim\": \"%zu\", "
                  "\"shape\": \"%zu\", \"span\": \"0\", \"vdevice\": \"0\"}}",
                  dtype, t->n_dims, first + 2);
    nnv_text_addf(
        out,
        ",\n{\"type_key\": \"relax.expr.ShapeExpr\", \"attrs\": {\"_checked_type_\": \"%zu\", \"span\": \"0\", "
        "\"struct_info_\": \"%zu\", \"values\": \"%zu\"}}",
        first + 5, first + 4, first + 3);
    nnv_text_add(out, ",\n{\"type_key\": \"Array\", \"data\": [");
    for (size_t i = 0; i < t->n_dims; i++) nnv_text_addf(out, "%s%zu", i ? ", " : "", first + 7 + i);
    nnv_text_addf(out,
                  "]},\n{\"type_key\": \"relax.ShapeStructInfo\", \"attrs\": {\"ndim\": \"%zu\", \"span\": \"0\", "
                  "\"values\": \"%zu\"}}",
                  t->n_dims, first + 3);
    nnv_text_addf(out, ",\n{\"type_key\": \"relax.ShapeType\", \"attrs\": {\"ndim\": \"%zu\", \"span\": \"0\"}}",
                  t->n_dims);
    nnv_text_addf(out,
                  ",\n{\"type_key\": \"relax.DynTensorType\", \"attrs\": {\"dtype\": \"%s\", \"ndim\": \"%zu\", "
                  "\"span\": \"0\"}}",
                  dtype, t->n_dims);
    for (size_t i = 0; i < t->n_dims; i++)
        nnv_text_addf(
            out,
            ",\n{\"type_key\": \"IntImm\", \"attrs\": {\"dtype\": \"int64\", \"span\": \"0\", \"value\": \"%" PRId64
            "\"}}",
            t->dims[i]);
}

enum { FIRST_NODE = 3, NODES = 7 }; /* of the first constant; of each, beside its extents */

/* The metadata as JSON: node 0 is nothing, 1 the map, 2 the list of constants. */
static void print_json(const struct nnv_printer *p, struct nnv_text *out) {
    nnv_text_add(out, "{\"root\": 1, \"nodes\": [\n{\"type_key\": \"\"},\n"
                      "{\"type_key\": \"Map\", \"keys\": [\"relax.expr.Constant\"], \"data\": [2]},\n"
                      "{\"type_key\": \"Array\", \"data\": [");
    size_t node = FIRST_NODE, array = 0;
    for (size_t i = 0; i < p->n_constants; i++) {
        nnv_text_addf(out, "%s%zu", i ? ", " : "", p->constants[i] ? node : 0);
        if (p->constants[i]) node += NODES + p->constants[i]->tensor->type->n_dims;
    }
    nnv_text_add(out, "]}");
    node = FIRST_NODE;
    for (size_t i = 0; i < p->n_constants; i++) {
        if (p->constants[i] == NULL) continue;
        const struct nnv_relay_type *t = p->constants[i]->tensor->type;
        print_constant_nodes(t, array++, node, out);
        node += NODES + t->n_dims;
    }
    nnv_text_add(out, "\n], \"b64ndarrays\": [");
    const char *comma = "\n\"";
    struct nnv_text bytes = {0};
    for (size_t i = 0; i < p->n_constants; i++) {
        if (p->constants[i] == NULL) continue;
        nnv_text_clear(&bytes);
        nnv_relay_array_write(p->constants[i]->tensor, &bytes);
        nnv_text_add(out, comma);
        nnv_text_add_base64(out, bytes.data, bytes.len);
        nnv_text_add(out, "\"");
        comma = ",\n\"";
    }
    out->failed = out->failed || bytes.failed;
    nnv_text_free(&bytes);
    nnv_text_add(out, "\n], \"attrs\": {\"tvm_version\": \"0.20.0\"}}");
}

void nnv_relax_print_meta(const struct nnv_printer *p) {
    struct nnv_text json = {0};
    print_json(p, &json);
    nnv_text_add(p->out, "metadata = tvm.ir.load_json(\"\"\"");
    for (const char *at = json.data; at && *at;) {
        const size_t plain = strcspn(at, "\"");
        nnv_text_add_n(p->out, at, plain);
        at += plain;
        if (*at) nnv_text_add(p->out, "\\\"");
        at += *at != '\0';
    }
    nnv_text_add(p->out, "\"\"\")\n");
    p->out->failed = p->out->failed || json.failed;
    nnv_text_free(&json);
}
