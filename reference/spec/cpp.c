/* SPDX-License-Identifier: Apache-2.0 */
/* AOSP's generated test models to specs: finding the models of a file, and mapping their initialisers. */
#include "reference/spec/cpp.h"

#include <string.h>

#include "reference/model/op.h"
#include "reference/spec/spec.h"

enum { DIMS_TEXT = 240, NAME_MAX_LEN = 64 };

/* ------------------------------------------------------------------ operands */

static enum nnv_status read_type(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, int32_t *type) {
    static const char example[] = "TestOperandType::TENSOR_FLOAT32";
    char name[NAME_MAX_LEN];
    TRY(nnv_cpp_enum(r, node, "TestOperandType", example, name));
    const struct nnv_type *t = nnv_type_by_name(name);
    if (!t) return nnv_cpp_wrong(r, node, "an operand type such as %s", example);
    *type = t->code;
    return NNV_OK;
}

static enum nnv_status read_lifetime(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                     enum nnv_lifetime *lifetime) {
    static const char example[] = "TestOperandLifeTime::CONSTANT_COPY";
    char name[NAME_MAX_LEN];
    TRY(nnv_cpp_enum(r, node, "TestOperandLifeTime", example, name));
    bool old = strcmp(name, "MODEL_INPUT") == 0 || strcmp(name, "MODEL_OUTPUT") == 0; /* before subgraphs */
    for (int i = 0; i < NNV_LIFETIME_COUNT; i++) {
        const char *known = nnv_lifetime_name((enum nnv_lifetime)i);
        if (strcmp(name, known) != 0 && !(old && strcmp(name + strlen("MODEL"), known + strlen("SUBGRAPH")) == 0))
            continue;
        *lifetime = (enum nnv_lifetime)i;
        return NNV_OK;
    }
    return nnv_cpp_wrong(r, node, "a lifetime such as %s", example);
}

static enum nnv_status read_channel_quant(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                          struct nnv_channel_quant *q) {
    enum { SCALES, DIM, COUNT };
    static const char *const names[COUNT] = {"scales", "channelDim"};
    const struct nnv_cpp_node *f[COUNT];
    int64_t dim = 0;
    TRY(nnv_cpp_fields(r, node, "per-channel parameters", names, COUNT, f));
    size_t n = f[SCALES] ? f[SCALES]->count : 0, i = 0;
    if (f[SCALES] && !nnv_cpp_is_array(f[SCALES])) return nnv_cpp_wrong(r, f[SCALES], "a list of scales, {0.5f, 1.0f}");
    if (f[DIM]) TRY(nnv_cpp_int(r, f[DIM], "a dimension", 0, UINT32_MAX, &dim));
    float *v = n <= UINT32_MAX ? NNV_NEW(r->arena, float, n) : NULL;
    if (!v) return nnv_cpp_no_memory(r);
    for (const struct nnv_cpp_node *s = n ? f[SCALES]->first : NULL; s; s = s->next) TRY(nnv_cpp_float(r, s, &v[i++]));
    *q = (struct nnv_channel_quant){.dim = (uint32_t)dim, .count = (uint32_t)n, .scales = v};
    return NNV_OK;
}

/* The wrapper of the per-channel parameters that the interfaces have, and some harnesses had. */
static enum nnv_status read_extra_params(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                         struct nnv_channel_quant *q) {
    static const char *const names[] = {"channelQuant"};
    const struct nnv_cpp_node *quant;
    TRY(nnv_cpp_fields(r, node, "extra parameters", names, 1, &quant));
    return quant ? read_channel_quant(r, quant, q) : NNV_OK;
}

/* A member that says what a struct is cannot be left to its default. */
static enum nnv_status require(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *list,
                               const struct nnv_cpp_node *member, const char *what) {
    return member ? NNV_OK : nnv_cpp_wrong(r, list, "%s", what);
}

/* The elements that dims ask for; those of malformed models may be any number. */
static enum nnv_status read_elements(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *data,
                                     const struct nnv_operand *o, void **to, size_t *bytes) {
    const struct nnv_cpp_node *list;
    char text[DIMS_TEXT];
    struct nnv_shape shape = nnv_shape_make(o->rank, o->dims);
    size_t count, elems, size;
    TRY(nnv_cpp_buffer(r, data, o->type, &list, &count));
    bool fits = nnv_size_bytes(o->type, o->rank, o->dims, &elems, &size);
    if (!r->malformed && !fits)
        return nnv_cpp_wrong(r, data, "dimensions of at most 4294967295 bytes instead of %s for these data",
                             nnv_shape_text(&shape, text, sizeof text));
    if (!r->malformed && count != elems)
        return nnv_cpp_wrong(r, list ? list : data, "%zu elements for dimensions %s instead of the %zu here", elems,
                             nnv_shape_text(&shape, text, sizeof text), count);
    return nnv_cpp_elements(r, list, o->type, to, bytes);
}

/* Constants and indices of subgraphs; the data of inputs and outputs are read with the lists of them. */
static enum nnv_status read_operand_data(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                         const struct nnv_cpp_node *data, uint32_t nreferenced, struct nnv_operand *o) {
    const struct nnv_cpp_node *list;
    size_t count;
    void *to;
    if (nnv_is_constant(o)) {
        TRY(require(r, node, data, "'.data' of a constant among these fields"));
        TRY(read_elements(r, data, o, &to, &o->bytes));
        o->data = to;
    } else if (o->lifetime == NNV_SUBGRAPH) {
        int64_t index;
        if (o->type != nnv_type_by_name("SUBGRAPH")->code)
            return nnv_cpp_wrong(r, node, "TestOperandType::SUBGRAPH for the lifetime SUBGRAPH");
        TRY(nnv_cpp_buffer(r, data, o->type, &list, &count));
        if (count != 1) return nnv_cpp_wrong(r, data ? data : node, "data with one index into 'referenced'");
        if (!nreferenced) return nnv_cpp_wrong(r, list->first, "subgraphs in 'referenced' to refer to");
        TRY(nnv_cpp_int(r, list->first, "an index into 'referenced'", 0, (int64_t)nreferenced - 1, &index));
        o->subgraph = (uint32_t)index;
    }
    return NNV_OK;
}

enum { O_TYPE, O_DIMS, O_CONSUMERS, O_SCALE, O_ZERO_POINT, O_LIFETIME, O_CHANNEL, O_EXTRA, O_IGNORED, O_DATA, O_COUNT };
static const char *const operand_fields[O_COUNT] = {"type",      "dimensions", "numberOfConsumers", "scale",
                                                    "zeroPoint", "lifetime",   "channelQuant",      "extraParams",
                                                    "isIgnored", "data"};

static enum nnv_status read_operand(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                    uint32_t nreferenced, struct nnv_operand *o) {
    const struct nnv_cpp_node *f[O_COUNT];
    int64_t zero_point = 0, consumers;
    TRY(nnv_cpp_fields(r, node, "an operand", operand_fields, O_COUNT, f));
    TRY(require(r, node, f[O_TYPE], "'.type' among the fields of an operand"));
    TRY(require(r, node, f[O_LIFETIME], "'.lifetime' among the fields of an operand"));
    TRY(read_type(r, f[O_TYPE], &o->type));
    TRY(read_lifetime(r, f[O_LIFETIME], &o->lifetime));
    TRY(nnv_cpp_indices(r, f[O_DIMS], "an extent", UINT32_MAX, &o->dims, &o->rank));
    if (o->rank > NNV_MAX_RANK) return nnv_cpp_wrong(r, f[O_DIMS], "at most %d extents", NNV_MAX_RANK);
    if (f[O_CONSUMERS]) TRY(nnv_cpp_int(r, f[O_CONSUMERS], "a number of consumers", 0, UINT32_MAX, &consumers));
    if (f[O_SCALE]) TRY(nnv_cpp_float(r, f[O_SCALE], &o->scale));
    if (f[O_ZERO_POINT]) TRY(nnv_cpp_int(r, f[O_ZERO_POINT], "a zero point", INT32_MIN, INT32_MAX, &zero_point));
    o->zero_point = (int32_t)zero_point;
    if (f[O_CHANNEL]) TRY(read_channel_quant(r, f[O_CHANNEL], &o->channel));
    if (f[O_EXTRA]) TRY(read_extra_params(r, f[O_EXTRA], &o->channel));
    if (f[O_IGNORED]) TRY(nnv_cpp_bool(r, f[O_IGNORED], &o->ignored));
    return read_operand_data(r, node, f[O_DATA], nreferenced, o);
}

/* ----------------------------------------------------------------- subgraphs */

static enum nnv_status read_operation(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, int64_t last,
                                      struct nnv_operation *op) {
    enum { TYPE, INPUTS, OUTPUTS, COUNT };
    static const char *const names[COUNT] = {"type", "inputs", "outputs"};
    const struct nnv_cpp_node *f[COUNT];
    char name[NAME_MAX_LEN];
    TRY(nnv_cpp_fields(r, node, "an operation", names, COUNT, f));
    TRY(require(r, node, f[TYPE], "'.type' among the fields of an operation"));
    TRY(nnv_cpp_enum(r, f[TYPE], "TestOperationType", "TestOperationType::CONV_2D", name));
    const struct nnv_op *record = nnv_op_by_name(name);
    if (!record) {
        nnv_cpp_wrong(r, f[TYPE], "an operation that nnvts knows (nnvts op lists them)");
        if (r->err) r->err->status = NNV_UNSUPPORTED;
        return NNV_UNSUPPORTED;
    }
    op->type = record->code;
    TRY(nnv_cpp_indices(r, f[INPUTS], "an operand index", last, &op->in, &op->nin));
    return nnv_cpp_indices(r, f[OUTPUTS], "an operand index", last, &op->out, &op->nout);
}

static const struct nnv_cpp_node *first_of(const struct nnv_cpp_node *list) { return list ? list->first : NULL; }

/* The members of a list and as many zeroed elements of size in *list. */
static enum nnv_status begin_list(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, const char *of,
                                  size_t size, uint32_t *n, void *list) {
    size_t count = node ? node->count : 0;
    if (node && !nnv_cpp_is_array(node)) return nnv_cpp_wrong(r, node, "a list of %s, {{...}, {...}}", of);
    void *p = count <= INT32_MAX ? nnv_arena_alloc(r->arena, count, size) : NULL;
    if (!p) return nnv_cpp_no_memory(r);
    *n = (uint32_t)count;
    memcpy(list, &p, sizeof p);
    return NNV_OK;
}

enum { S_OPERANDS, S_OPERATIONS, S_INPUTS, S_OUTPUTS, S_COUNT };
static const char *const subgraph_fields[S_COUNT] = {"operands", "operations", "inputIndexes", "outputIndexes"};

static enum nnv_status read_subgraph(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *const *f,
                                     uint32_t nreferenced, struct nnv_subgraph *s) {
    const struct nnv_cpp_node *item = first_of(f[S_OPERANDS]);
    TRY(begin_list(r, f[S_OPERANDS], "operands", sizeof *s->operands, &s->noperands, &s->operands));
    for (uint32_t i = 0; item; i++, item = item->next) TRY(read_operand(r, item, nreferenced, &s->operands[i]));
    int64_t last = (int64_t)s->noperands - 1;
    item = first_of(f[S_OPERATIONS]);
    TRY(begin_list(r, f[S_OPERATIONS], "operations", sizeof *s->operations, &s->noperations, &s->operations));
    for (uint32_t i = 0; item; i++, item = item->next) TRY(read_operation(r, item, last, &s->operations[i]));
    TRY(nnv_cpp_indices(r, f[S_INPUTS], "an operand index", last, &s->in, &s->nin));
    return nnv_cpp_indices(r, f[S_OUTPUTS], "an operand index", last, &s->out, &s->nout);
}

/* ------------------------------------------------------ values of inputs and outputs */

/* The data of an operand's initialiser, or NULL. */
static const struct nnv_cpp_node *data_of(const struct nnv_cpp_node *operand) {
    const struct nnv_cpp_node *member = operand->first;
    while (member && !nnv_cpp_is(&member->field, "data")) member = member->next;
    return member;
}

/* The value of an input of the main subgraph (no elements: omitted) or of an expected output. */
static enum nnv_status read_value(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                  const struct nnv_operand *o, bool input, struct nnv_value *v) {
    const struct nnv_cpp_node *data = data_of(node), *list;
    size_t count, elems;
    v->rank = o->rank;
    if (v->rank) memcpy(v->dims, o->dims, v->rank * sizeof *v->dims);
    if (nnv_is_constant(o)) {
        v->data = nnv_arena_copy(r->arena, o->data, o->bytes);
        v->bytes = o->bytes;
        return v->data ? NNV_OK : nnv_cpp_no_memory(r);
    }
    if (o->lifetime == NNV_SUBGRAPH) {
        v->omitted = true;
        return r->malformed ? NNV_OK : nnv_cpp_wrong(r, node, "an operand with a value, as it is an input or output");
    }
    TRY(nnv_cpp_buffer(r, data, o->type, &list, &count));
    v->omitted = count == 0 && (input || r->malformed);
    if (v->omitted) return NNV_OK;
    if (count == 0 && o->ignored && nnv_size_bytes(o->type, o->rank, o->dims, &elems, &v->bytes)) {
        v->data = nnv_arena_alloc(r->arena, v->bytes, 1); /* zeros, which nothing is compared with */
        return v->data ? NNV_OK : nnv_cpp_no_memory(r);
    }
    return read_elements(r, data ? data : node, o, &v->data, &v->bytes);
}

/* The values of the operands in a list of n; values that are already known are not read again. */
static enum nnv_status read_values(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *const *nodes,
                                   const struct nnv_subgraph *s, bool input, struct nnv_value **known,
                                   struct nnv_value **list) {
    uint32_t n = input ? s->nin : s->nout;
    const uint32_t *index = input ? s->in : s->out;
    struct nnv_value *v = NNV_NEW(r->arena, struct nnv_value, n);
    if (!v) return nnv_cpp_no_memory(r);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = index[i];
        if (known[k]) {
            v[i] = *known[k];
            continue;
        }
        TRY(read_value(r, nodes[k], &s->operands[k], input, &v[i]));
        known[k] = &v[i];
    }
    *list = v;
    return NNV_OK;
}

/* Operands that are neither constants nor listed in inputs or outputs of the main subgraph must have no elements. */
static enum nnv_status check_no_data(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *operands,
                                     const struct nnv_subgraph *s, struct nnv_value *const *listed) {
    const struct nnv_cpp_node *item = first_of(operands), *list;
    for (uint32_t i = 0; item; i++, item = item->next) {
        const struct nnv_operand *o = &s->operands[i];
        size_t count;
        if (nnv_is_constant(o) || o->lifetime == NNV_SUBGRAPH || (listed && listed[i])) continue;
        TRY(nnv_cpp_buffer(r, data_of(item), o->type, &list, &count));
        if (count)
            return nnv_cpp_wrong(r, list, "no elements for a %s that is not %s", nnv_lifetime_name(o->lifetime),
                                 listed ? "in inputIndexes or outputIndexes" : "of the main subgraph");
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------ the model */

static enum nnv_status read_main(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *const *f,
                                 struct nnv_spec *spec) {
    struct nnv_subgraph *s = &spec->model.main;
    TRY(read_subgraph(r, f, spec->model.nreferenced, s));
    struct nnv_value **known = NNV_NEW(r->arena, struct nnv_value *, s->noperands);
    const struct nnv_cpp_node **nodes = NNV_NEW(r->arena, const struct nnv_cpp_node *, s->noperands);
    if (!known || !nodes) return nnv_cpp_no_memory(r);
    const struct nnv_cpp_node *item = first_of(f[S_OPERANDS]);
    for (uint32_t i = 0; item; i++, item = item->next) nodes[i] = item;
    TRY(read_values(r, nodes, s, true, known, &spec->inputs));
    TRY(read_values(r, nodes, s, false, known, &spec->outputs));
    return check_no_data(r, f[S_OPERANDS], s, known);
}

static enum nnv_status read_referenced(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node,
                                       struct nnv_model *m) {
    const struct nnv_cpp_node *f[S_COUNT], *item = first_of(node);
    TRY(begin_list(r, node, "subgraphs", sizeof *m->referenced, &m->nreferenced, &m->referenced));
    for (uint32_t i = 0; item; i++, item = item->next) {
        TRY(nnv_cpp_fields(r, item, "a subgraph", subgraph_fields, S_COUNT, f));
        TRY(read_subgraph(r, f, m->nreferenced, &m->referenced[i]));
        TRY(check_no_data(r, f[S_OPERANDS], &m->referenced[i], NULL));
    }
    return NNV_OK;
}

static enum nnv_status read_version(const struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, int *level) {
    static const char *const versions[] = {"UNKNOWN", "V1_0", "V1_1", "V1_2", "V1_3", "AIDL_V1", "AIDL_V2", "AIDL_V3"};
    char name[NAME_MAX_LEN];
    TRY(nnv_cpp_enum(r, node, "TestHalVersion", "TestHalVersion::V1_2", name));
    for (int i = 0; i <= NNV_LEVEL_MAX; i++) {
        if (strcmp(name, versions[i]) != 0) continue;
        *level = i;
        return NNV_OK;
    }
    return nnv_cpp_wrong(r, node, "TestHalVersion::UNKNOWN, V1_0, V1_1, V1_2, V1_3, AIDL_V1, AIDL_V2 or AIDL_V3");
}

/* The members of a model behind those of its main subgraph, which older harnesses have in the model itself. */
enum { M_MAIN = S_COUNT, M_REFERENCED, M_RELAXED, M_TOLERANCE, M_FAILURE, M_VERSION, M_COUNT };

enum nnv_status nnv_cpp_model(struct nnv_cpp_reader *r, const struct nnv_cpp_node *node, struct nnv_spec *spec) {
    static const char *const names[M_COUNT] = {
        "operands",      "operations",         "inputIndexes", "outputIndexes",
        "main",          "referenced",         "isRelaxed",    "expectedMultinomialDistributionTolerance",
        "expectFailure", "minSupportedVersion"};
    const struct nnv_cpp_node *f[M_COUNT];
    TRY(nnv_cpp_fields(r, node, "a TestModel", names, M_COUNT, f));
    if (f[M_RELAXED]) TRY(nnv_cpp_bool(r, f[M_RELAXED], &spec->model.relaxed));
    if (f[M_FAILURE]) TRY(nnv_cpp_bool(r, f[M_FAILURE], &spec->expect_failure));
    if (f[M_VERSION]) TRY(read_version(r, f[M_VERSION], &spec->min_version));
    if (f[M_TOLERANCE]) TRY(nnv_cpp_tolerance(r, f[M_TOLERANCE], &spec->multinomial_tolerance));
    r->malformed = spec->expect_failure;
    TRY(read_referenced(r, f[M_REFERENCED], &spec->model));
    if (f[M_MAIN]) {
        for (int i = 0; i < S_COUNT; i++)
            if (f[i]) return nnv_cpp_bad(r, &f[i]->field, "a main subgraph once, in 'main' or in the model itself");
        TRY(nnv_cpp_fields(r, f[M_MAIN], "a subgraph", subgraph_fields, S_COUNT, f));
    } else if (!f[S_OPERANDS]) {
        return nnv_cpp_wrong(r, node, "'.main' among the fields of a TestModel");
    }
    return read_main(r, f, spec);
}
