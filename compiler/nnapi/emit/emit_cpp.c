/* SPDX-License-Identifier: Apache-2.0 */
/* A region as a C++17 class, with extern "C" functions around it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "base/type.h"
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

/** A comment that can't end early, and nothing else that a compiler would look at. */
static void add_comment(struct nnv_text *out, const char *s) {
    for (; *s; s++) nnv_text_addf(out, "%c", isalnum((unsigned char)*s) || strchr("%_.:-@", *s) ? *s : '_');
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
        const struct nnv_operand *o = &t->main->operands[list[i]];
        nnv_text_addf(out, "//   %s%u: %s [", what, i, nnv_type(o->type)->name);
        for (uint32_t d = 0; d < o->rank; d++) nnv_text_addf(out, "%s%u", d ? ", " : "", o->dims[d]);
        nnv_text_add(out, "]");
        if (o->scale != 0) {
            nnv_text_add(out, ", scale ");
            nnv_text_add_float(out, o->scale);
            nnv_text_addf(out, ", zero point %d", o->zero_point);
        }
        if (*nnv_emit_value_name(t, list[i])) nnv_text_add(out, ", ");
        add_comment(out, nnv_emit_value_name(t, list[i]));
        nnv_text_add(out, "\n");
    }
}

static void add_parameters(const struct nnv_emit_tables *t, struct nnv_text *out) {
    const struct nnv_subgraph *s = t->main;
    for (uint32_t i = 0; i < s->nin; i++)
        nnv_text_addf(out, "%sconst %s *input%u", i ? ", " : "", c_type(s->operands[s->in[i]].type, false), i);
    for (uint32_t i = 0; i < s->nout; i++)
        nnv_text_addf(out, "%s%s *output%u", i || s->nin ? ", " : "", c_type(s->operands[s->out[i]].type, false), i);
}

static void write_header(const struct nnv_emit_tables *t, struct nnv_text *out) {
    const char *f = t->region->function;
    nnv_text_add(out, "// Written by nnvts; changes are lost when it is written again.\n");
    nnv_text_addf(out, "// %s: %u operation%s, feature level %d.\n", f, t->main->noperations,
                  t->main->noperations == 1 ? "" : "s", t->region->converted->level);
    describe(t, "input", t->main->in, t->main->nin, out);
    describe(t, "output", t->main->out, t->main->nout, out);
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
    nnv_text_addf(out,
                  ");\n};\n\nextern \"C\" {\n#endif\n#pragma GCC visibility push(default)\n"
                  "/** A new region; NULL: no memory. What went wrong otherwise, %s_error() tells. */\n"
                  "void *%s_create(const struct nnapi_region_configuration *configuration);\n"
                  "/** A result code, and through where, if it is not NULL, what failed. */\n"
                  "int %s_error(const void *region, const char **where);\n"
                  "/** Runs it on as many pointers as are described, in a burst if that is wanted: a result code. */\n"
                  "int %s_execute(void *region, const void *const *inputs, void *const *outputs, int in_burst);\n"
                  "void %s_destroy(void *region);\n"
                  "const struct nnapi_region_description *%s_describe(void);\n"
                  "#pragma GCC visibility pop\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
                  f, f, f, f, f, f);
}

/* ------------------------------------------------------------------------ source */

static void add_types(const struct nnv_emit_tables *t, struct nnv_text *out) {
    for (uint32_t i = 0; i < t->n_types; i++) {
        if (t->type[i]->rank == 0) continue;
        nnv_text_addf(out, "const uint32_t shape%u[] = ", i);
        add_numbers(out, t->type[i]->dims, t->type[i]->rank);
        nnv_text_add(out, ";\n");
    }
    nnv_text_add(out, "const ANeuralNetworksOperandType types[] = {\n");
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct nnv_operand *o = t->type[i];
        nnv_text_addf(out, "    {ANEURALNETWORKS_%s, %u, ", nnv_type(o->type)->name, o->rank);
        nnv_text_addf(out, o->rank ? "shape%u, " : "nullptr, ", i);
        add_float(out, o->scale);
        nnv_text_addf(out, ", %d},\n", o->zero_point);
    }
    nnv_text_add(out, "};\n");
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct nnv_channel_quant *q = &t->type[i]->channel;
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
                      byte_size(&t->main->operands[list[i]]));
    nnv_text_add(out, "};\n");
}

static const char *list_or_null(const char *name, uint32_t n) { return n ? name : "nullptr"; }

static void add_description(const struct nnv_emit_tables *t, const uint8_t *digest, struct nnv_text *out) {
    const struct nnv_subgraph *s = t->main;
    add_list(out, "inputs_of_model", s->in, s->nin);
    add_list(out, "outputs_of_model", s->out, s->nout);
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
    const struct nnv_operand *o = &t->main->operands[i];
    nnv_text_addf(out, "    operand(types[%u]); // %u", t->type_of[i], i);
    if (*nnv_emit_value_name(t, i)) nnv_text_add(out, ": ");
    add_comment(out, nnv_emit_value_name(t, i));
    nnv_text_add(out, "\n");
    if (o->channel.count) nnv_text_addf(out, "    channels(channels%u);\n", t->type_of[i]);
    if (t->place[i])
        nnv_text_addf(out, "    weights(%zu, %zu);\n", t->place[i]->offset, t->place[i]->bytes);
    else if (nnv_emit_is_small(o))
        nnv_text_addf(out, "    constant(constant%u, sizeof constant%u);\n", t->constant_of[i], t->constant_of[i]);
    else if (o->lifetime == NNV_NO_VALUE)
        nnv_text_add(out, "    omitted();\n");
}

static void add_constructor(const struct nnv_emit_tables *t, struct nnv_text *out) {
    const char *f = t->region->function;
    const struct nnv_subgraph *s = t->main;
    nnv_text_addf(
        out, "%s::%s(const nnapi_region_configuration &configuration)\n    : Region(configuration, description) {\n", f,
        f);
    for (uint32_t i = 0; i < s->noperands; i++) add_operand(t, i, out);
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *op = &s->operations[i];
        nnv_text_addf(out, "    operation(ANEURALNETWORKS_%s, ", nnv_op(op->type)->name);
        add_numbers(out, op->in, op->nin);
        nnv_text_add(out, ", ");
        add_numbers(out, op->out, op->nout);
        nnv_text_add(out, ");\n");
    }
    nnv_text_addf(out, "    arguments(%u, %s, %u, %s);\n", s->nin, list_or_null("inputs_of_model", s->nin), s->nout,
                  list_or_null("outputs_of_model", s->nout));
    if (t->region->converted->model.relaxed) nnv_text_add(out, "    relaxed();\n");
    nnv_text_add(out, "    compile();\n}\n");
}

/** execute() or burst(). */
static void add_runner(const struct nnv_emit_tables *t, const char *name, const char *runs, struct nnv_text *out) {
    const struct nnv_subgraph *s = t->main;
    nnv_text_addf(out, "\nint %s::%s(", t->region->function, name);
    add_parameters(t, out);
    nnv_text_add(out, ") {\n");
    if (s->nin) nnv_text_add(out, "    const void *const inputs[] = {");
    for (uint32_t i = 0; i < s->nin; i++) nnv_text_addf(out, "%sinput%u", i ? ", " : "", i);
    if (s->nin) nnv_text_add(out, "};\n");
    nnv_text_add(out, "    void *const outputs[] = {");
    for (uint32_t i = 0; i < s->nout; i++) nnv_text_addf(out, "%soutput%u", i ? ", " : "", i);
    nnv_text_addf(out, "};\n    return %s(%s, outputs);\n}\n", runs, list_or_null("inputs", s->nin));
}

static void add_entries(const char *f, struct nnv_text *out) {
    nnv_text_addf(out,
                  "\nextern \"C\" {\n\n"
                  "void *%s_create(const nnapi_region_configuration *configuration) {\n"
                  "    return new (std::nothrow) %s(*configuration);\n}\n\n"
                  "int %s_error(const void *region, const char **where) {\n"
                  "    const %s *r = static_cast<const %s *>(region);\n"
                  "    if (where) *where = r->where();\n"
                  "    return r->error();\n}\n\n",
                  f, f, f, f, f);
    nnv_text_addf(out,
                  "int %s_execute(void *region, const void *const *inputs, void *const *outputs, int in_burst) {\n"
                  "    %s *r = static_cast<%s *>(region);\n"
                  "    return in_burst ? r->run_in_burst(inputs, outputs) : r->run(inputs, outputs);\n}\n\n"
                  "void %s_destroy(void *region) { delete static_cast<%s *>(region); }\n\n"
                  "const nnapi_region_description *%s_describe(void) { return &description; }\n\n}\n",
                  f, f, f, f, f, f);
}

static void write_source(const struct nnv_emit_tables *t, const uint8_t *digest, struct nnv_text *out) {
    const char *f = t->region->function;
    nnv_text_addf(out,
                  "// Written by nnvts; changes are lost when it is written again. %s.h says what it is.\n"
                  "#include \"%s.h\"\n\n#include <new>\n\nnamespace {\n\n",
                  f, f);
    add_types(t, out);
    add_constants(t, out);
    add_description(t, digest, out);
    nnv_text_add(out, "\n} // namespace\n\n");
    add_constructor(t, out);
    add_runner(t, "execute", "run", out);
    add_runner(t, "burst", "run_in_burst", out);
    add_entries(f, out);
}

void nnv_emit_header(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_emit_tables t;
    if (arena && nnv_emit_tabulate(regions, r, w, arena, &t))
        write_header(&t, out);
    else
        out->failed = true;
    nnv_arena_free(arena);
}

void nnv_emit_source(const struct nnv_emit *regions, size_t r, const struct nnv_emit_weights *w, struct nnv_text *out) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_emit_tables t;
    uint8_t digest[NNV_SHA256_BYTES];
    if (arena && nnv_emit_digest(regions, r, w, digest) && nnv_emit_tabulate(regions, r, w, arena, &t))
        write_source(&t, digest, out);
    else
        out->failed = true;
    nnv_arena_free(arena);
}
