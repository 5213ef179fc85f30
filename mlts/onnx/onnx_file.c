/* SPDX-License-Identifier: Apache-2.0 */
/* Models: graphs, nodes, attributes. Tensors are read by onnx_tensor.c. */
#include "mlts/onnx/onnx_file.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "mlts/onnx/onnx_tensor.h"

/** What reading a graph needs. */
struct reader {
    struct nnv_wire *wire;
    struct nnv_arena *arena;
    struct nnv_map values; /**< names of values, by number */
    bool no_memory;
};

static bool ok(const struct reader *r) { return !r->no_memory && !nnv_wire_failed(r->wire); }

/** n elements; NULL is kept as a lack of memory. */
static void *room(struct reader *r, size_t n, size_t size) {
    void *p = nnv_arena_alloc(r->arena, n, size);
    if (!p) r->no_memory = true;
    return p;
}
#define ROOM(r, type, n) ((type *)room((r), (n), sizeof(type)))

static const char *text_of(struct reader *r, struct nnv_wire_span s) {
    char *t = ROOM(r, char, nnv_wire_size(s) + 1);
    if (!t) return "";
    memcpy(t, s.at, nnv_wire_size(s));
    return t;
}

/** The number of the value that is called so. */
static int32_t value_of(struct reader *r, struct nnv_wire_span name) {
    const char *text = text_of(r, name);
    const uint32_t n = ok(r) ? nnv_map_add(&r->values, text) : 0;
    if (n == NNV_MAP_NONE) r->no_memory = true;
    return r->no_memory ? 0 : (int32_t)n;
}

/* ------------------------------------------------------------------ attributes */

enum { NAME = 1, FLOAT = 2, INT = 3, STRING = 4, TENSOR = 5, GRAPH = 6, FLOATS = 7, INTS = 8, STRINGS = 9, TYPE = 20 };

/** Appends the numbers of a field, which may be packed. */
static void read_list(const struct nnv_wire_span *m, struct nnv_wire_field *f, enum nnv_wire_kind kind, uint64_t *to,
                      uint32_t *n) {
    if (f->kind == NNV_WIRE_BYTES)
        while (nnv_wire_packed(&f->span, kind, &to[*n])) ++*n;
    else if (nnv_wire_is(m, f, kind))
        to[(*n)++] = f->value;
}

static float float_of(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof v);
    return v;
}

/** What it is where the file does not say: files of IR version 1. */
static enum nnv_onnx_attribute_type guessed(uint32_t field) {
    return field == TENSOR    ? NNV_ONNX_A_TENSOR
           : field == FLOAT   ? NNV_ONNX_A_FLOAT
           : field == INT     ? NNV_ONNX_A_INT
           : field == STRING  ? NNV_ONNX_A_STRING
           : field == GRAPH   ? NNV_ONNX_A_GRAPH
           : field == FLOATS  ? NNV_ONNX_A_FLOATS
           : field == INTS    ? NNV_ONNX_A_INTS
           : field == STRINGS ? NNV_ONNX_A_STRINGS
                              : NNV_ONNX_A_OTHER;
}

static void read_attribute(struct reader *r, struct nnv_wire_span m, struct nnv_onnx_attribute *a) {
    struct nnv_wire_field f;
    const size_t nints = nnv_wire_count(m, INTS, NNV_WIRE_VARINT), nfloats = nnv_wire_count(m, FLOATS, NNV_WIRE_32);
    const char **strings = ROOM(r, const char *, nnv_wire_count(m, STRINGS, NNV_WIRE_BYTES));
    uint64_t *ints = ROOM(r, uint64_t, nints + 1), *bits = ROOM(r, uint64_t, nfloats + 1), type = 0;
    float *floats = ROOM(r, float, nfloats + 1);
    uint32_t ni = 0, nf = 0, ns = 0;
    *a = (struct nnv_onnx_attribute){.name = "", .s = ""};
    while (ok(r) && nnv_wire_next(&m, &f)) {
        if (f.number > NAME && f.number < TYPE) a->type = guessed(f.number);
        switch (f.number) {
        case NAME:
            if (nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) a->name = text_of(r, f.span);
            break;
        case FLOAT:
            if (nnv_wire_is(&m, &f, NNV_WIRE_32)) a->f = float_of(f.value);
            break;
        case INT:
            if (nnv_wire_is(&m, &f, NNV_WIRE_VARINT)) a->i = (int64_t)f.value;
            break;
        case STRING:
            if (nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) a->s = text_of(r, f.span);
            break;
        case TENSOR: {
            struct nnv_onnx_tensor *t = ROOM(r, struct nnv_onnx_tensor, 1);
            if (t && nnv_wire_is(&m, &f, NNV_WIRE_BYTES) && !nnv_onnx_tensor_parse(f.span, r->arena, t))
                r->no_memory = true;
            a->t = t;
            break;
        }
        case FLOATS:
            read_list(&m, &f, NNV_WIRE_32, bits, &nf);
            break;
        case INTS:
            read_list(&m, &f, NNV_WIRE_VARINT, ints, &ni);
            break;
        case STRINGS:
            if (nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) strings[ns++] = text_of(r, f.span);
            break;
        case TYPE:
            if (nnv_wire_is(&m, &f, NNV_WIRE_VARINT)) type = f.value;
            break;
        default:
            break;
        }
    }
    if (!ok(r)) return;
    for (uint32_t i = 0; i < nf; i++) floats[i] = float_of(bits[i]);
    if (type != 0) a->type = type <= NNV_ONNX_A_STRINGS ? (enum nnv_onnx_attribute_type)type : NNV_ONNX_A_OTHER;
    a->count = a->type == NNV_ONNX_A_FLOATS ? nf : a->type == NNV_ONNX_A_STRINGS ? ns : ni;
    a->strings = strings;
    a->ints = (const int64_t *)ints;
    a->floats = floats;
    if (a->type == NNV_ONNX_A_TENSOR && !a->t) nnv_wire_fail(r->wire, "attribute %.40s holds no tensor", a->name);
}

/* ----------------------------------------------------------------------- nodes */

static void read_node(struct reader *r, struct nnv_wire_span m, struct nnv_onnx_node *node) {
    enum { IN = 1, OUT = 2, NODE_NAME = 3, OP = 4, ATTRIBUTE = 5, DOMAIN = 7 };
    struct nnv_wire_field f;
    int32_t *in = ROOM(r, int32_t, nnv_wire_count(m, IN, NNV_WIRE_BYTES));
    int32_t *out = ROOM(r, int32_t, nnv_wire_count(m, OUT, NNV_WIRE_BYTES));
    struct nnv_onnx_attribute *a = ROOM(r, struct nnv_onnx_attribute, nnv_wire_count(m, ATTRIBUTE, NNV_WIRE_BYTES));
    *node = (struct nnv_onnx_node){.op = "", .domain = "", .name = "", .in = in, .out = out, .attributes = a};
    while (ok(r) && nnv_wire_next(&m, &f)) {
        const bool known = f.number == IN || f.number == OUT || f.number == NODE_NAME || f.number == OP ||
                           f.number == ATTRIBUTE || f.number == DOMAIN;
        if (!known || !nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) continue;
        const bool empty = nnv_wire_size(f.span) == 0;
        if (f.number == IN) in[node->nin++] = empty ? -1 : value_of(r, f.span);
        if (f.number == OUT) out[node->nout++] = empty ? -1 : value_of(r, f.span);
        if (f.number == NODE_NAME) node->name = text_of(r, f.span);
        if (f.number == OP) node->op = text_of(r, f.span);
        if (f.number == DOMAIN) node->domain = text_of(r, f.span);
        if (f.number == ATTRIBUTE) read_attribute(r, f.span, &a[node->nattributes++]);
    }
    if (strcmp(node->domain, "ai.onnx") == 0) node->domain = "";
}

/* ---------------------------------------------------------- inputs and outputs */

/** The extent that a dimension has, or -1. */
static int64_t extent(struct nnv_wire_span m) {
    struct nnv_wire_field f;
    int64_t v = -1;
    while (nnv_wire_next(&m, &f))
        if (f.number == 1 && nnv_wire_is(&m, &f, NNV_WIRE_VARINT)) v = (int64_t)f.value;
    return v < 0 || v > UINT32_MAX ? -1 : v;
}

static void read_shape(struct nnv_wire_span m, struct nnv_onnx_info *info) {
    struct nnv_wire_field f;
    info->has_shape = true;
    while (nnv_wire_next(&m, &f)) {
        if (f.number != 1 || !nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) continue;
        if (info->rank == NNV_ONNX_MOST_RANK) {
            nnv_wire_fail(m.wire, "more than %d dimensions are not read", NNV_ONNX_MOST_RANK);
            return;
        }
        info->dims[info->rank++] = extent(f.span);
    }
}

static void read_type(struct nnv_wire_span m, struct nnv_onnx_info *info) {
    static const char *const kinds[] = {
        [1] = "tensor", [4] = "sequence", [5] = "map", [8] = "sparse tensor", [9] = "optional", [11] = NULL};
    struct nnv_wire_field f, g;
    while (nnv_wire_next(&m, &f)) {
        if (f.number >= sizeof kinds / sizeof *kinds || !kinds[f.number] || !nnv_wire_is(&m, &f, NNV_WIRE_BYTES))
            continue;
        info->kind = kinds[f.number];
        while (f.number == 1 && nnv_wire_next(&f.span, &g)) {
            if (g.number == 1 && nnv_wire_is(&f.span, &g, NNV_WIRE_VARINT))
                info->type = g.value < NNV_ONNX_TYPES ? (int)g.value : NNV_ONNX_TYPES;
            if (g.number == 2 && nnv_wire_is(&f.span, &g, NNV_WIRE_BYTES)) read_shape(g.span, info);
        }
    }
}

static void read_info(struct reader *r, struct nnv_wire_span m, struct nnv_onnx_info *info) {
    struct nnv_wire_field f;
    *info = (struct nnv_onnx_info){.value = UINT32_MAX, .kind = "tensor"};
    while (ok(r) && nnv_wire_next(&m, &f)) {
        if (f.number == 1 && nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) info->value = (uint32_t)value_of(r, f.span);
        if (f.number == 2 && nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) read_type(f.span, info);
    }
    if (ok(r) && info->value == UINT32_MAX) nnv_wire_fail(r->wire, "an input or output has no name");
}

/* ----------------------------------------------------------------------- graphs */

enum { G_NODE = 1, G_INITIALISER = 5, G_INPUT = 11, G_OUTPUT = 12, G_SPARSE = 15 };

/** A graph as it is read. */
struct parts {
    struct nnv_onnx_node *nodes;
    struct nnv_onnx_tensor *tensors;
    struct nnv_onnx_info *in, *out;
    uint32_t ntensors;
};

static void read_parts(struct reader *r, struct nnv_wire_span m, struct nnv_onnx_graph *g, struct parts *p) {
    struct nnv_wire_field f;
    char place[32];
    p->nodes = ROOM(r, struct nnv_onnx_node, nnv_wire_count(m, G_NODE, NNV_WIRE_BYTES));
    p->tensors = ROOM(r, struct nnv_onnx_tensor, nnv_wire_count(m, G_INITIALISER, NNV_WIRE_BYTES));
    p->in = ROOM(r, struct nnv_onnx_info, nnv_wire_count(m, G_INPUT, NNV_WIRE_BYTES));
    p->out = ROOM(r, struct nnv_onnx_info, nnv_wire_count(m, G_OUTPUT, NNV_WIRE_BYTES));
    while (ok(r) && nnv_wire_next(&m, &f)) {
        if (f.number == G_SPARSE) g->sparse = true;
        if (f.number != G_NODE && f.number != G_INITIALISER && f.number != G_INPUT && f.number != G_OUTPUT) continue;
        if (!nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) break;
        const char *before = r->wire->place;
        r->wire->place = place;
        switch (f.number) {
        case G_NODE:
            snprintf(place, sizeof place, "node %u", g->nnodes);
            read_node(r, f.span, &p->nodes[g->nnodes++]);
            break;
        case G_INITIALISER:
            snprintf(place, sizeof place, "initializer %u", p->ntensors);
            if (!nnv_onnx_tensor_parse(f.span, r->arena, &p->tensors[p->ntensors++])) r->no_memory = true;
            break;
        case G_INPUT:
            snprintf(place, sizeof place, "input %u", g->nin);
            read_info(r, f.span, &p->in[g->nin++]);
            break;
        default:
            snprintf(place, sizeof place, "output %u", g->nout);
            read_info(r, f.span, &p->out[g->nout++]);
        }
        r->wire->place = before;
    }
}

/** Initialisers by value; inputs that have one (IR version 3) are no inputs. */
static void place_initialisers(struct reader *r, struct nnv_onnx_graph *g, struct parts *p) {
    for (uint32_t i = 0; i < p->ntensors && ok(r); i++)
        if (nnv_map_add(&r->values, p->tensors[i].name) == NNV_MAP_NONE) r->no_memory = true;
    const struct nnv_onnx_tensor **of = ROOM(r, const struct nnv_onnx_tensor *, r->values.count);
    for (uint32_t i = 0; i < p->ntensors && ok(r); i++)
        of[nnv_map_find(&r->values, p->tensors[i].name)] = &p->tensors[i];
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nin && ok(r); i++)
        if (!of[p->in[i].value]) p->in[n++] = p->in[i];
    g->nin = n;
    g->initialiser = of;
}

/** Each value has one origin, which comes before those who read it. */
static void check_order(struct reader *r, const struct nnv_onnx_graph *g) {
    bool *known = ROOM(r, bool, g->nvalues);
    for (uint32_t i = 0; i < g->nvalues && ok(r); i++) known[i] = g->initialiser[i] != NULL;
    for (uint32_t i = 0; i < g->nin && ok(r); i++) {
        if (known[g->in[i].value]) nnv_wire_fail(r->wire, "input %u has the name of another", i);
        known[g->in[i].value] = true;
    }
    for (uint32_t i = 0; i < g->nnodes && ok(r); i++) {
        const struct nnv_onnx_node *node = &g->nodes[i];
        for (uint32_t k = 0; k < node->nin && ok(r); k++)
            if (node->in[k] >= 0 && !known[node->in[k]])
                nnv_wire_fail(r->wire, "node %u (%.40s): input %u, '%.80s', is computed by none before it", i, node->op,
                              k, g->names[node->in[k]]);
        for (uint32_t k = 0; k < node->nout && ok(r); k++) {
            if (node->out[k] < 0) continue;
            if (known[node->out[k]])
                nnv_wire_fail(r->wire, "node %u (%.40s): output %u, '%.80s', is another's already", i, node->op, k,
                              g->names[node->out[k]]);
            known[node->out[k]] = true;
        }
    }
    for (uint32_t i = 0; i < g->nout && ok(r); i++)
        if (!known[g->out[i].value])
            nnv_wire_fail(r->wire, "output %u, '%.80s', is computed by no node", i, g->names[g->out[i].value]);
}

static void read_graph(struct reader *r, struct nnv_wire_span m, struct nnv_onnx_graph *g) {
    struct parts p = {0};
    *g = (struct nnv_onnx_graph){0};
    read_parts(r, m, g, &p);
    if (ok(r)) place_initialisers(r, g, &p);
    g->nodes = p.nodes;
    g->in = p.in;
    g->out = p.out;
    g->nvalues = r->values.count;
    g->names = r->values.key;
    if (ok(r) && g->names) check_order(r, g); /* else there are no values */
}

/* ------------------------------------------------------------------------ model */

/** Version of ONNX's own operators in an OperatorSetIdProto; 0: of others. */
static int64_t opset(struct nnv_wire_span m) {
    struct nnv_wire_field f;
    int64_t version = 0;
    bool own = true;
    while (nnv_wire_next(&m, &f)) {
        if (f.number == 1 && nnv_wire_is(&m, &f, NNV_WIRE_BYTES))
            own = nnv_wire_size(f.span) == 0 || (nnv_wire_size(f.span) == 7 && memcmp(f.span.at, "ai.onnx", 7) == 0);
        if (f.number == 2 && nnv_wire_is(&m, &f, NNV_WIRE_VARINT)) version = (int64_t)f.value;
    }
    return own ? version : 0;
}

enum nnv_status nnv_onnx_read(const void *data, size_t size, const char *where, struct nnv_arena *arena,
                              struct nnv_onnx_file *out, struct nnv_err *err) {
    enum { GRAPH_FIELD = 7, OPSET = 8 };
    *out = (struct nnv_onnx_file){.wire.place = "model"};
    struct nnv_wire_span m = nnv_wire_open(&out->wire, data, size);
    struct reader r = {.wire = &out->wire, .arena = arena, .values.arena = arena};
    struct nnv_wire_field f;
    bool graph = false;
    while (ok(&r) && nnv_wire_next(&m, &f)) {
        if ((f.number != GRAPH_FIELD && f.number != OPSET) || !nnv_wire_is(&m, &f, NNV_WIRE_BYTES)) continue;
        if (f.number == OPSET) {
            const int64_t version = opset(f.span);
            if (version > 0) out->opset = version;
        } else if (graph) {
            nnv_wire_fail(&out->wire, "it holds two graphs");
        } else {
            graph = true;
            read_graph(&r, f.span, &out->graph);
        }
    }
    if (ok(&r) && !graph) nnv_wire_fail(&out->wire, "it holds no graph: no ONNX model");
    if (r.no_memory) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", where);
    return nnv_wire_failed(&out->wire) ? nnv_fail(err, NNV_INVALID, "%s: %s", where, out->wire.err.text) : NNV_OK;
}
