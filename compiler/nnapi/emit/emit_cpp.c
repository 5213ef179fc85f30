/* SPDX-License-Identifier: Apache-2.0 */
/* A region as a C++17 class, with extern "C" functions around it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "base/type.h"
#include "compiler/nnapi/emit/emit.h"
#include "compiler/nnapi/emit/emit_cpp.h"
#include "compiler/nnapi/emit/emit_tables.h"
#include "reference/model/op.h"

enum { A_LINE = 12 /**< numbers */ };

/* ------------------------------------------------------------------------ numbers */

/** float32 as a literal. Only finite ones have any. */
static void add_float(struct nnv_text *out, float v) {
    char digits[40];
    snprintf(digits, sizeof digits, "%.9g", (double)v);
    nnv_text_addf(out, "%s%sf", digits, strpbrk(digits, ".e") ? "" : ".0");
}

/** Floats that no literal stands for are written as their bits; so is float16. */
static bool as_bits(const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    if (t->kind != NNV_KIND_FLOAT) return false;
    for (size_t at = 0; t->size == 4 && at < o->bytes; at += 4) {
        float v;
        memcpy(&v, (const char *)o->data + at, sizeof v);
        if (!isfinite(v)) return true;
    }
    return t->size == 2;
}

static const char *c_type(int32_t type, bool bits) {
    const struct nnv_type *t = nnv_type(type);
    if (t->kind == NNV_KIND_FLOAT && t->size == 4) return bits ? "uint32_t" : "float";
    if (t->kind == NNV_KIND_FLOAT) return "uint16_t";
    if (t->kind == NNV_KIND_BOOL) return "uint8_t";
    if (t->size == 4) return t->min < 0 ? "int32_t" : "uint32_t";
    if (t->size == 2) return t->min < 0 ? "int16_t" : "uint16_t";
    return t->min < 0 ? "int8_t" : "uint8_t";
}

static void add_element(struct nnv_text *out, int32_t type, const char *p, bool bits) {
    const struct nnv_type *t = nnv_type(type);
    float f;
    double v;
    if (bits || t->kind == NNV_KIND_BOOL) {
        uint32_t u = 0;
        memcpy(&u, p, t->size);
        nnv_text_addf(out, t->kind == NNV_KIND_BOOL ? "%u" : "0x%xu", u);
    } else if (t->kind == NNV_KIND_FLOAT) {
        memcpy(&f, p, sizeof f);
        add_float(out, f);
    } else {
        nnv_load(type, p, 1, &v);
        if (v <= (double)INT32_MIN)
            nnv_text_add(out, "-2147483647 - 1");
        else
            nnv_text_addf(out, "%.0f%s", v, v > INT32_MAX ? "u" : "");
    }
}

static void add_numbers(struct nnv_text *out, const uint32_t *v, uint32_t n) {
    nnv_text_add(out, "{");
    for (uint32_t i = 0; i < n; i++) nnv_text_addf(out, "%s%u", i == 0 ? "" : i % A_LINE ? ", " : ",\n    ", v[i]);
    nnv_text_add(out, "}");
}

void nnv_emit_comment(struct nnv_text *out, const char *text) {
    for (; *text; text++)
        nnv_text_addf(out, "%c", isalnum((unsigned char)*text) || strchr("%_.:-@ ,()[]=\"", *text) ? *text : '_');
}

static void add_level(struct nnv_text *out, int level) {
    nnv_text_addf(out, "ANEURALNETWORKS_FEATURE_LEVEL_%d", level);
}

/* ------------------------------------------------------------------------ header */

static size_t byte_size(const struct nnv_operand *o) {
    size_t elems, bytes = 0;
    return nnv_operand_size(o, &elems, &bytes) ? bytes : 0;
}

/** "//   input0: TENSOR_FLOAT32 [1, 8], %x" */
static void describe(const struct nnv_emit_tables *t, const char *what, const uint32_t *list, uint32_t n,
                     struct nnv_text *out) {
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_operand *o = &t->graph->operands[list[i]];
        nnv_text_addf(out, "//   %s%u: %s [", what, i, nnv_type(o->type)->name);
        for (uint32_t d = 0; d < o->rank; d++) nnv_text_addf(out, "%s%u", d ? ", " : "", o->dims[d]);
        nnv_text_add(out, "]");
        if (o->scale != 0) {
            nnv_text_add(out, ", scale ");
            nnv_text_add_float(out, o->scale);
            nnv_text_addf(out, ", zero point %d", o->zero_point);
        }
        if (*nnv_emit_value_name(t, list[i])) nnv_text_add(out, ", ");
        nnv_emit_comment(out, nnv_emit_value_name(t, list[i]));
        nnv_text_add(out, "\n");
    }
}

static void add_parameters(const struct nnv_emit_tables *t, struct nnv_text *out) {
    const struct nnv_subgraph *s = t->graph;
    for (uint32_t i = 0; i < s->nin; i++)
        nnv_text_addf(out, "%sconst %s *input%u", i ? ", " : "", c_type(s->operands[s->in[i]].type, false), i);
    for (uint32_t i = 0; i < s->nout; i++)
        nnv_text_addf(out, "%s%s *output%u", i || s->nin ? ", " : "", c_type(s->operands[s->out[i]].type, false), i);
}

void nnv_emit_declare_entries(const char *f, struct nnv_text *out) {
    nnv_text_addf(out,
                  "#pragma GCC visibility push(default)\n"
                  "/** A new one; NULL: no memory. What went wrong otherwise, %s_error() tells. */\n"
                  "void *%s_create(const struct nnapi_region_configuration *configuration);\n"
                  "/** A result code, and through where, if it is not NULL, what failed. */\n"
                  "int %s_error(const void *object, const char **where);\n"
                  "/** Runs it on as many pointers as are described, in a burst if that is wanted: a result code. */\n"
                  "int %s_execute(void *object, const void *const *inputs, void *const *outputs, int in_burst);\n"
                  "void %s_destroy(void *object);\n"
                  "const struct nnapi_region_description *%s_describe(void);\n"
                  "#pragma GCC visibility pop\n",
                  f, f, f, f, f, f);
}

static void write_header(const struct nnv_emit_tables *t, struct nnv_text *out) {
    const char *f = t->region->function;
    nnv_text_add(out, "// Written by nnvts; changes are lost when it is written again.\n");
    nnv_text_addf(out, "// %s: %u operation%s, feature level %d.\n", f, t->graph->noperations,
                  t->graph->noperations == 1 ? "" : "s", t->region->converted->level);
    describe(t, "input", t->graph->in, t->graph->nin, out);
    describe(t, "output", t->graph->out, t->graph->nout, out);
    nnv_text_addf(out, "#ifndef %s_h\n#define %s_h\n\n#include \"nnapi_region.h\"\n\n#ifdef __cplusplus\n", f, f);
    nnv_text_addf(out,
                  "class %s final : public nnapi_region::Region {\npublic:\n"
                  "    /// Builds and compiles the model; error() tells whether that worked.\n"
                  "    explicit %s(const nnapi_region_configuration &configuration);\n"
                  "    /// Runs it: a result code of NNAPI.\n    int execute(",
                  f, f);
    add_parameters(t, out);
    nnv_text_add(out, ");\n    /// The same in a burst: for many runs, from one thread at a time.\n    int burst(");
    add_parameters(t, out);
    nnv_text_add(out, ");\n};\n\nextern \"C\" {\n#endif\n");
    nnv_emit_declare_entries(f, out);
    nnv_text_add(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* ------------------------------------------------------------------------ source */

/** Shapes, and scales of channels, which the table of types refers to. */
static void add_shapes(const struct nnv_emit_tables *t, struct nnv_text *out) {
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct nnv_operand *o = t->type[i];
        const struct nnv_channel_quant *q = &o->channel;
        if (o->rank) {
            nnv_text_addf(out, "const uint32_t shape%u[] = ", i);
            add_numbers(out, o->dims, o->rank);
            nnv_text_add(out, ";\n");
        }
        if (!q->count) continue;
        nnv_text_addf(out, "const float scales%u[] = {", i);
        for (uint32_t k = 0; k < q->count; k++) {
            nnv_text_add(out, k == 0 ? "" : k % A_LINE ? ", " : ",\n    ");
            add_float(out, q->scales[k]);
        }
        nnv_text_addf(out, "};\nconst ANeuralNetworksSymmPerChannelQuantParams channels%u = {%u, %u, scales%u};\n", i,
                      q->dim, q->count, i);
    }
}

static void add_types(const struct nnv_emit_tables *t, struct nnv_text *out) {
    add_shapes(t, out);
    nnv_text_add(out, "const nnapi_region::Type types[] = {\n");
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct nnv_operand *o = t->type[i];
        nnv_text_addf(out, "    {{ANEURALNETWORKS_%s, %u, ", nnv_type(o->type)->name, o->rank);
        nnv_text_addf(out, o->rank ? "shape%u, " : "nullptr, ", i);
        add_float(out, o->scale);
        nnv_text_addf(out, o->channel.count ? ", %d}, &channels%u},\n" : ", %d}, nullptr},\n", o->zero_point, i);
    }
    nnv_text_add(out, "};\n");
}

static void add_constants(const struct nnv_emit_tables *t, struct nnv_text *out) {
    for (uint32_t i = 0; i < t->n_constants; i++) {
        const struct nnv_operand *o = t->constant[i];
        const size_t size = nnv_type(o->type)->size, n = o->bytes / size;
        const bool bits = as_bits(o);
        nnv_text_addf(out, "const %s constant%u[] = {", c_type(o->type, bits), i);
        for (size_t k = 0; k < n; k++) {
            nnv_text_add(out, k == 0 ? "" : k % A_LINE ? ", " : ",\n    ");
            add_element(out, o->type, (const char *)o->data + k * size, bits);
        }
        nnv_text_add(out, "};\n");
    }
}

static void add_list(struct nnv_text *out, const char *name, const uint32_t *v, uint32_t n) {
    if (n == 0) return;
    nnv_text_addf(out, "const uint32_t %s[] = ", name);
    add_numbers(out, v, n);
    nnv_text_add(out, ";\n");
}

static void add_sizes(const struct nnv_emit_tables *t, struct nnv_text *out, const char *name, const uint32_t *list,
                      uint32_t n) {
    if (n == 0) return;
    nnv_text_addf(out, "const uint32_t %s[] = {", name);
    for (uint32_t i = 0; i < n; i++)
        nnv_text_addf(out, "%s%zu",
                      i == 0       ? ""
                      : i % A_LINE ? ", "
                                   : ",\n    ",
                      byte_size(&t->graph->operands[list[i]]));
    nnv_text_add(out, "};\n");
}

/** What describes the operands: types, constants, which are inputs and outputs. */
static void add_tables(const struct nnv_emit_tables *t, struct nnv_text *out) {
    add_types(t, out);
    add_constants(t, out);
    add_list(out, "inputs_of_model", t->graph->in, t->graph->nin);
    add_list(out, "outputs_of_model", t->graph->out, t->graph->nout);
}

static const char *list_or_null(const char *name, uint32_t n) { return n ? name : "nullptr"; }

static void add_description(const struct nnv_emit_tables *t, const uint8_t *digest, struct nnv_text *out) {
    const struct nnv_subgraph *s = t->graph;
    add_sizes(t, out, "input_bytes", s->in, s->nin);
    add_sizes(t, out, "output_bytes", s->out, s->nout);
    nnv_text_add(out, "/* SHA-256 of the JSON description and the weights. */\nconst uint8_t digest[] = {");
    for (int i = 0; i < NNV_SHA256_BYTES; i++)
        nnv_text_addf(out, "%s%u", i == 0 ? "" : i % (NNV_SHA256_BYTES / 2) ? ", " : ",\n    ", digest[i]);
    nnv_text_addf(out, "};\nconst nnapi_region_description description = {\n    \"%s\",\n    ", t->region->function);
    add_level(out, t->region->converted->level);
    nnv_text_add(out, ",\n    digest,\n");
    if (t->uses_file)
        nnv_text_addf(out, "    \"%s\",\n    %zu,\n", t->weights->file, t->weights->bytes.len);
    else
        nnv_text_add(out, "    nullptr,\n    0,\n");
    nnv_text_addf(out, "    %u,\n    %s,\n    %u,\n    %s,\n};\n", s->nin, list_or_null("input_bytes", s->nin), s->nout,
                  list_or_null("output_bytes", s->nout));
}

static void add_operand(const struct nnv_emit_tables *t, uint32_t i, struct nnv_text *out) {
    const struct nnv_operand *o = &t->graph->operands[i];
    const char *name = nnv_emit_value_name(t, i);
    if (t->place[i])
        nnv_text_addf(out, "    weights(%u, %zu, %zu), // %u", t->type_of[i], t->place[i]->offset, t->place[i]->bytes,
                      i);
    else if (nnv_emit_is_small(o))
        nnv_text_addf(out, "    constant(%u, constant%u), // %u", t->type_of[i], t->constant_of[i], i);
    else if (o->lifetime == NNV_SUBGRAPH)
        nnv_text_addf(out, "    nnapi_region::reference(%u, %u), // %u", t->type_of[i], o->subgraph, i);
    else
        nnv_text_addf(out, o->lifetime == NNV_NO_VALUE ? "    omitted(%u), // %u" : "    value(%u), // %u",
                      t->type_of[i], i);
    if (*name) nnv_text_add(out, ": ");
    nnv_emit_comment(out, name);
    nnv_text_add(out, "\n");
}

static void add_operation(const struct nnv_operation *op, struct nnv_text *out) {
    nnv_text_addf(out, "    ANEURALNETWORKS_%s, %u, ", nnv_op(op->type)->name, op->nin);
    for (uint32_t i = 0; i < op->nin; i++) nnv_text_addf(out, "%u, ", op->in[i]);
    nnv_text_addf(out, "%u, ", op->nout);
    for (uint32_t i = 0; i < op->nout; i++) nnv_text_addf(out, i + 1 < op->nout ? "%u, " : "%u,\n", op->out[i]);
}

static void add_model(const struct nnv_emit_tables *t, struct nnv_text *out) {
    const struct nnv_subgraph *s = t->graph;
    nnv_text_add(out, "/* By type, its number in the table above. */\nconst nnapi_region::Operand operands[] = {\n");
    for (uint32_t i = 0; i < s->noperands; i++) add_operand(t, i, out);
    nnv_text_add(out, "};\n/* Code, number of inputs, inputs, number of outputs, outputs. */\n"
                      "const uint32_t operations[] = {\n");
    for (uint32_t i = 0; i < s->noperations; i++) add_operation(&s->operations[i], out);
    nnv_text_addf(out, "};\nconst nnapi_region::Model model = {types, operands, %u, operations, %u, %s, %u, %s, %u, %s",
                  s->noperands, s->noperations, list_or_null("inputs_of_model", s->nin), s->nin,
                  list_or_null("outputs_of_model", s->nout), s->nout,
                  t->region->converted->model.relaxed ? "true" : "false");
    const uint32_t n = t->number ? 0 : t->region->converted->model.nreferenced;
    if (n) nnv_text_addf(out, ", referenced, %u", n);
    nnv_text_add(out, "};\n");
}

/** The models that the main one refers to, each in a namespace, and a list of them. */
static void add_referenced(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w,
                           struct nnv_arena *arena, struct nnv_text *out) {
    const uint32_t n = regions[r].converted->model.nreferenced;
    for (uint32_t i = 0; i < n; i++) {
        struct nnv_emit_tables t;
        if (!nnv_emit_tabulate(regions, r, i + 1, w, arena, &t)) {
            out->failed = true;
            return;
        }
        nnv_text_addf(out, "namespace referenced%u {\n\n", i);
        add_tables(&t, out);
        add_model(&t, out);
        nnv_text_addf(out, "\n} // namespace referenced%u\n\n", i);
    }
    for (uint32_t i = 0; i < n; i++)
        nnv_text_addf(out, "%s&referenced%u::model", i ? ", " : "const nnapi_region::Model *const referenced[] = {", i);
    if (n) nnv_text_add(out, "};\n\n");
}

void nnv_emit_run(const char *runs, size_t inputs, size_t outputs, struct nnv_text *out) {
    if (inputs) nnv_text_add(out, "    const void *const inputs[] = {");
    for (size_t i = 0; i < inputs; i++) nnv_text_addf(out, "%sinput%zu", i ? ", " : "", i);
    if (inputs) nnv_text_add(out, "};\n");
    nnv_text_add(out, "    void *const outputs[] = {");
    for (size_t i = 0; i < outputs; i++) nnv_text_addf(out, "%soutput%zu", i ? ", " : "", i);
    nnv_text_addf(out, "};\n    return %s(%s, outputs);\n}\n", runs, inputs ? "inputs" : "nullptr");
}

/** execute() or burst(). */
static void add_runner(const struct nnv_emit_tables *t, const char *name, const char *runs, struct nnv_text *out) {
    nnv_text_addf(out, "\nint %s::%s(", t->region->function, name);
    add_parameters(t, out);
    nnv_text_add(out, ") {\n");
    nnv_emit_run(runs, t->graph->nin, t->graph->nout, out);
}

void nnv_emit_entries(const char *f, struct nnv_text *out) {
    nnv_text_addf(out,
                  "\nextern \"C\" {\n\n"
                  "void *%s_create(const nnapi_region_configuration *configuration) {\n"
                  "    return new (std::nothrow) %s(*configuration);\n}\n\n"
                  "int %s_error(const void *object, const char **where) {\n"
                  "    const auto o = static_cast<const %s *>(object);\n"
                  "    if (where) *where = o->where();\n"
                  "    return o->error();\n}\n\n",
                  f, f, f, f);
    nnv_text_addf(out,
                  "int %s_execute(void *object, const void *const *inputs, void *const *outputs, int in_burst) {\n"
                  "    const auto o = static_cast<%s *>(object);\n"
                  "    return in_burst ? o->run_in_burst(inputs, outputs) : o->run(inputs, outputs);\n}\n\n"
                  "void %s_destroy(void *object) { delete static_cast<%s *>(object); }\n\n"
                  "const nnapi_region_description *%s_describe(void) { return &description; }\n\n}\n",
                  f, f, f, f, f);
}

static void begin_source(const char *f, struct nnv_text *out) {
    nnv_text_addf(
        out,
        "// Written by nnvts; changes are lost when it is written again. %s.h says what it is.\n"
        "#include \"%s.h\"\n\n#include <new>\n\nnamespace {\n\n"
        "using nnapi_region::constant, nnapi_region::omitted, nnapi_region::value, nnapi_region::weights;\n\n",
        f, f);
}

static void end_source(const struct nnv_emit_tables *t, const uint8_t *digest, struct nnv_text *out) {
    const char *f = t->region->function;
    add_tables(t, out);
    add_description(t, digest, out);
    add_model(t, out);
    nnv_text_addf(out,
                  "\n} // namespace\n\n%s::%s(const nnapi_region_configuration &configuration)\n"
                  "    : Region(configuration, description, model) {}\n",
                  f, f);
    add_runner(t, "execute", "run", out);
    add_runner(t, "burst", "run_in_burst", out);
    nnv_emit_entries(f, out);
}

void nnv_emit_header(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_emit_tables t;
    if (arena && nnv_emit_tabulate(regions, r, 0, w, arena, &t))
        write_header(&t, out);
    else
        out->failed = true;
    nnv_arena_free(arena);
}

void nnv_emit_source(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_emit_tables t;
    uint8_t digest[NNV_SHA256_BYTES];
    if (arena && nnv_emit_digest(regions, r, w, digest) && nnv_emit_tabulate(regions, r, 0, w, arena, &t)) {
        begin_source(regions[r].function, out);
        add_referenced(regions, r, w, arena, out);
        end_source(&t, digest, out);
    } else {
        out->failed = true;
    }
    nnv_arena_free(arena);
}

void nnv_emit_tvm(const char *const *names, size_t n, struct nnv_text *out) {
    nnv_text_add(out, "// Written by nnvts; changes are lost when it is written again.\n"
                      "// Packed functions of TVM's runtime, by the names of the functions that they run.\n"
                      "#include \"nnapi_tvm.h\"\n\nextern \"C\" {\n");
    for (size_t i = 0; i < n; i++) {
        const char *f = names[i];
        nnv_text_add(out, "\n");
        nnv_emit_declare_entries(f, out);
        nnv_text_addf(out,
                      "__attribute__((visibility(\"default\"))) int\n%s(nnapi_tvm::Value *values, int *kinds, int "
                      "count, nnapi_tvm::Value *, int *, void *);\n"
                      "int %s(nnapi_tvm::Value *values, int *kinds, int count, nnapi_tvm::Value *, int *, void *) {\n"
                      "    static const nnapi_tvm::Function function(%s_create, %s_error, %s_execute, %s_describe);\n"
                      "    return function.call(values, kinds, count);\n}\n",
                      f, f, f, f, f, f);
    }
    nnv_text_add(out, "\n}\n");
}
