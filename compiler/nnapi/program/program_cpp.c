/* SPDX-License-Identifier: Apache-2.0 */
/* The program as a C++17 class, with extern "C" functions around it as regions have. */
#include <inttypes.h>

#include "compiler/nnapi/emit/emit_cpp.h"
#include "compiler/nnapi/program/program.h"

static const char NAME[] = "program";

/** The C++ type of the elements; nnapi_program.h has Half. */
static const char *c_type(enum nnv_relay_dtype dtype) {
    static const char *const names[NNV_RELAY_DTYPES] = {
        [NNV_RELAY_BOOL] = "bool",        [NNV_RELAY_INT8] = "int8_t",     [NNV_RELAY_INT16] = "int16_t",
        [NNV_RELAY_INT32] = "int32_t",    [NNV_RELAY_INT64] = "int64_t",   [NNV_RELAY_UINT8] = "uint8_t",
        [NNV_RELAY_UINT16] = "uint16_t",  [NNV_RELAY_UINT32] = "uint32_t", [NNV_RELAY_UINT64] = "uint64_t",
        [NNV_RELAY_FLOAT16] = "Half",     [NNV_RELAY_FLOAT32] = "float",   [NNV_RELAY_FLOAT64] = "double",
        [NNV_RELAY_BFLOAT16] = "uint16_t"};
    return names[dtype];
}

/** The same for callers, who have uint16_t for Half. */
static const char *outer_type(enum nnv_relay_dtype dtype) {
    return dtype == NNV_RELAY_FLOAT16 ? "uint16_t" : c_type(dtype);
}

/** "input0", "constant1", "value2", "output3". */
static void add_tensor(const struct nnv_program *p, uint32_t number, struct nnv_text *out) {
    static const char *const names[] = {"input", "constant", "value", "output"};
    nnv_text_addf(out, "%s%u", names[p->tensors[number].place], p->tensors[number].number);
}

static void add_tensors(const struct nnv_program *p, const uint32_t *list, size_t n, struct nnv_text *out) {
    nnv_text_add(out, "{");
    for (size_t i = 0; i < n; i++) {
        if (i) nnv_text_add(out, ", ");
        add_tensor(p, list[i], out);
    }
    nnv_text_add(out, "}");
}

/* -------------------------------------------------------------------------- header */

static void describe(const struct nnv_program *p, const uint32_t *list, size_t n, struct nnv_text *out) {
    for (size_t i = 0; i < n; i++) {
        const struct nnv_program_tensor *t = &p->tensors[list[i]];
        nnv_text_add(out, "//   ");
        add_tensor(p, list[i], out);
        nnv_text_add(out, ": ");
        nnv_relay_type_print(t->type, out);
        if (t->name) nnv_text_add(out, ", ");
        if (t->name) nnv_emit_comment(out, t->name);
        nnv_text_add(out, "\n");
    }
}

static void add_parameters(const struct nnv_program *p, struct nnv_text *out) {
    for (size_t i = 0; i < p->n_inputs; i++)
        nnv_text_addf(out, "%sconst %s *input%zu", i ? ", " : "", outer_type(p->tensors[p->inputs[i]].type->dtype), i);
    for (size_t i = 0; i < p->n_outputs; i++)
        nnv_text_addf(out, "%s%s *output%zu", i || p->n_inputs ? ", " : "",
                      outer_type(p->tensors[p->outputs[i]].type->dtype), i);
}

void nnv_program_header(const struct nnv_program *p, struct nnv_text *out) {
    nnv_text_addf(out,
                  "// Written by nnvts; changes are lost when it is written again.\n"
                  "// The whole program: %zu region%s of NNAPI, and what moves data between them.\n",
                  p->n_regions, p->n_regions == 1 ? "" : "s");
    describe(p, p->inputs, p->n_inputs, out);
    describe(p, p->outputs, p->n_outputs, out);
    nnv_text_add(out, "#ifndef program_h\n#define program_h\n\n#include \"nnapi_program.h\"\n\n#ifdef __cplusplus\n");
    for (size_t r = 0; r < p->n_regions; r++) nnv_text_addf(out, "#include \"%s.h\"\n", p->regions[r].function);
    nnv_text_add(out, "\nclass program final : public nnapi_region::Program {\npublic:\n"
                      "    /// Builds and compiles all regions; error() tells whether that worked.\n"
                      "    explicit program(const nnapi_region_configuration &configuration);\n"
                      "    /// Runs it: a result code of NNAPI. From one thread at a time.\n    int execute(");
    add_parameters(p, out);
    nnv_text_add(out, ");\n    /// The same with regions in bursts, for many runs.\n    int burst(");
    add_parameters(p, out);
    nnv_text_add(out, ");\n    /// The same with pointers in lists.\n"
                      "    int run(const void *const *inputs, void *const *outputs);\n"
                      "    int run_in_burst(const void *const *inputs, void *const *outputs);\n\nprivate:\n"
                      "    int start(const void *const *inputs, void *const *outputs, bool in_burst);\n\n");
    for (size_t r = 0; r < p->n_regions; r++) nnv_text_addf(out, "    %s region%zu_;\n", p->regions[r].function, r);
    nnv_text_add(out, "};\n\nextern \"C\" {\n#endif\n");
    nnv_emit_declare_entries(NAME, out);
    nnv_text_add(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* -------------------------------------------------------------------------- source */

static void add_constant(const struct nnv_program_tensor *t, struct nnv_text *out) {
    const unsigned char *bytes = t->constant->data;
    nnv_text_addf(out, "alignas(8) const uint8_t bytes%u[] = {", t->number);
    for (size_t i = 0; i < t->bytes; i++) nnv_text_addf(out, "%s%u", i == 0 ? "" : i % 24 ? ", " : ",\n    ", bytes[i]);
    nnv_text_add(out, "};\n");
}

/** The loops of all copies, which are numbered as they come. */
static void add_loops(const struct nnv_program *p, struct nnv_text *out) {
    size_t number = 0;
    nnv_text_add(out,
                 "/* Of a copy, from the outermost: how often, and the steps in the result and in the operand. */\n");
    for (size_t i = 0; i < p->n_steps; i++)
        for (size_t k = 0; k < p->steps[i].moves.n; k++) {
            const struct nnv_program_move *m = &p->steps[i].moves.move[k];
            nnv_text_addf(out, "const Loop loops%zu[] = {", number++);
            if (m->n_loops == 0) nnv_text_add(out, "{1, 1, 1}");
            for (size_t l = 0; l < m->n_loops; l++)
                nnv_text_addf(out, "%s{%" PRId64 ", %" PRId64 ", %" PRId64 "}", l ? ", " : "", m->loops[l].count,
                              m->loops[l].to, m->loops[l].from);
            nnv_text_add(out, "};\n");
        }
}

static void add_sizes(const struct nnv_program *p, const char *name, const uint32_t *list, size_t n,
                      struct nnv_text *out) {
    if (n == 0) return;
    nnv_text_addf(out, "const uint32_t %s[] = {", name);
    for (size_t i = 0; i < n; i++) nnv_text_addf(out, "%s%zu", i ? ", " : "", p->tensors[list[i]].bytes);
    nnv_text_add(out, "};\n");
}

static void add_description(const struct nnv_program *p, struct nnv_text *out) {
    int level = 1;
    for (size_t r = 0; r < p->n_regions; r++)
        if (p->regions[r].converted->level > level) level = p->regions[r].converted->level;
    add_sizes(p, "input_bytes", p->inputs, p->n_inputs, out);
    add_sizes(p, "output_bytes", p->outputs, p->n_outputs, out);
    nnv_text_addf(out,
                  "const nnapi_region_description description = {\n    \"%s\",\n    ANEURALNETWORKS_FEATURE_LEVEL_%d,\n"
                  "    nullptr,\n    nullptr,\n    0,\n    %zu,\n    %s,\n    %zu,\n    %s,\n};\n",
                  NAME, level, p->n_inputs, p->n_inputs ? "input_bytes" : "nullptr", p->n_outputs,
                  p->n_outputs ? "output_bytes" : "nullptr");
}

/** Pointers to all that is used. */
static void add_pointers(const struct nnv_program *p, struct nnv_text *out) {
    for (size_t i = 0; i < p->n_tensors; i++) {
        const struct nnv_program_tensor *t = &p->tensors[i];
        const char *type = c_type(t->type->dtype);
        const uint32_t k = t->number;
        if (!t->used) continue;
        switch (t->place) {
        case NNV_PROGRAM_INPUT:
            nnv_text_addf(out, "    const auto input%u = static_cast<const %s *>(inputs[%u]);\n", k, type, k);
            break;
        case NNV_PROGRAM_OUTPUT:
            nnv_text_addf(out, "    const auto output%u = static_cast<%s *>(outputs[%u]);\n", k, type, k);
            break;
        case NNV_PROGRAM_CONSTANT:
            nnv_text_addf(out, "    const auto constant%u = reinterpret_cast<const %s *>(bytes%u);\n", k, type, k);
            break;
        case NNV_PROGRAM_VALUE:
            nnv_text_addf(out, "    const auto value%u = at<%s>(%zu);\n", k, type, t->offset);
            break;
        }
    }
}

/** "// %4 = transpose(axes=[0, 2, 3, 1])" */
static void add_comment(const struct nnv_relay_expr *call, struct nnv_text *out) {
    nnv_text_add(out, "\n    // ");
    if (!call) {
        nnv_text_add(out, "a result that is there already\n");
        return;
    }
    if (call->bound) nnv_emit_comment(out, call->bound);
    if (call->bound) nnv_text_add(out, " = ");
    nnv_emit_comment(out, call->callee->name);
    for (size_t i = 0; i < call->n_attrs; i++) {
        struct nnv_text value = {0};
        nnv_relay_value_print(&call->attrs[i].value, &value);
        nnv_text_addf(out, ", ");
        nnv_emit_comment(out, call->attrs[i].key);
        nnv_text_addf(out, "=");
        nnv_emit_comment(out, value.data ? value.data : "");
        nnv_text_free(&value);
    }
    nnv_text_add(out, "\n");
}

static void add_offset(int64_t at, struct nnv_text *out) {
    if (at) nnv_text_addf(out, " + %" PRId64, at);
}

static void add_move(const struct nnv_program *p, const struct nnv_program_step *s, size_t *number,
                     struct nnv_text *out) {
    if (s->moves.zeros) {
        nnv_text_add(out, "    clear(");
        add_tensor(p, s->out[0], out);
        nnv_text_addf(out, ", %zu);\n", p->tensors[s->out[0]].elems);
    }
    for (size_t i = 0; i < s->moves.n; i++) {
        const struct nnv_program_move *m = &s->moves.move[i];
        nnv_text_add(out, "    move(");
        add_tensor(p, s->out[0], out);
        add_offset(m->to, out);
        nnv_text_add(out, ", ");
        add_tensor(p, s->in[m->source], out);
        add_offset(m->from, out);
        nnv_text_addf(out, ", loops%zu);\n", (*number)++);
    }
}

static void add_step(const struct nnv_program *p, const struct nnv_program_step *s, size_t *number,
                     struct nnv_text *out) {
    add_comment(s->call, out);
    switch (s->kind) {
    case NNV_PROGRAM_CALL:
        nnv_text_addf(out, "    code = call(region%zu_, in_burst, ", s->region);
        add_tensors(p, s->in, s->n_in, out);
        nnv_text_add(out, ", ");
        add_tensors(p, s->out, s->n_out, out);
        nnv_text_add(out, ");\n    if (code != ANEURALNETWORKS_NO_ERROR) return code;\n");
        break;
    case NNV_PROGRAM_MOVE:
        add_move(p, s, number, out);
        break;
    case NNV_PROGRAM_CAST:
        nnv_text_add(out, "    cast(");
        add_tensor(p, s->out[0], out);
        nnv_text_add(out, ", ");
        add_tensor(p, s->in[0], out);
        nnv_text_addf(out, ", %zu);\n", p->tensors[s->out[0]].elems);
        break;
    }
}

static void add_constructor(const struct nnv_program *p, struct nnv_text *out) {
    nnv_text_addf(out, "program::program(const nnapi_region_configuration &%s)\n    : Program(%zu)",
                  p->n_regions ? "configuration" : "", p->bytes);
    for (size_t r = 0; r < p->n_regions; r++) nnv_text_addf(out, ", region%zu_(configuration)", r);
    nnv_text_add(out, " {\n");
    for (size_t r = 0; r < p->n_regions; r++) nnv_text_addf(out, "    check(region%zu_);\n", r);
    nnv_text_add(out, "}\n");
}

static void add_start(const struct nnv_program *p, struct nnv_text *out) {
    size_t number = 0, calls = 0;
    for (size_t i = 0; i < p->n_steps; i++) calls += p->steps[i].kind == NNV_PROGRAM_CALL;
    nnv_text_addf(out,
                  "\nint program::start(const void *const *%s, void *const *outputs, bool%s) {\n"
                  "    int code = error();\n    if (code != ANEURALNETWORKS_NO_ERROR) return code;\n",
                  p->n_inputs ? "inputs" : "", calls ? " in_burst" : "");
    add_pointers(p, out);
    for (size_t i = 0; i < p->n_steps; i++) add_step(p, &p->steps[i], &number, out);
    nnv_text_add(out, "    return code;\n}\n\n"
                      "int program::run(const void *const *inputs, void *const *outputs) {\n"
                      "    return start(inputs, outputs, false);\n}\n\n"
                      "int program::run_in_burst(const void *const *inputs, void *const *outputs) {\n"
                      "    return start(inputs, outputs, true);\n}\n");
}

static void add_runner(const struct nnv_program *p, const char *name, const char *runs, struct nnv_text *out) {
    nnv_text_addf(out, "\nint program::%s(", name);
    add_parameters(p, out);
    nnv_text_add(out, ") {\n");
    nnv_emit_run(runs, p->n_inputs, p->n_outputs, out);
}

void nnv_program_source(const struct nnv_program *p, struct nnv_text *out) {
    size_t moves = 0;
    for (size_t i = 0; i < p->n_steps; i++) moves += p->steps[i].moves.n;
    nnv_text_add(out, "// Written by nnvts; changes are lost when it is written again. program.h says what it is.\n"
                      "#include \"program.h\"\n\n#include <new>\n\nnamespace {\n\nusing namespace nnapi_region;\n\n");
    for (size_t i = 0; i < p->n_tensors; i++)
        if (p->tensors[i].used && p->tensors[i].place == NNV_PROGRAM_CONSTANT) add_constant(&p->tensors[i], out);
    if (moves) add_loops(p, out);
    add_description(p, out);
    nnv_text_add(out, "\n} // namespace\n\n");
    add_constructor(p, out);
    add_start(p, out);
    add_runner(p, "execute", "run", out);
    add_runner(p, "burst", "run_in_burst", out);
    nnv_emit_entries(NAME, out);
}
