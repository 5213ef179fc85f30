/* SPDX-License-Identifier: Apache-2.0 */
/** @file extension.c Types and operations of vendors: declared, undeclared, and wrongly declared. */
#include <string.h>

#include "harness/suites/levels/levels.h"

enum { PREFIX = 5, CODE = 3, PLACES = 4 };

/**
 * y = x + x, which every driver may know, and z = a vendor's operation of y and one more operand. All may be changed
 * before the driver sees it.
 */
struct mixture {
    struct nnvts_model model;
    struct nnvts_operand operands[PLACES + 1];
    struct nnvts_operation operations[2];
    struct nnvts_extension_prefix extensions[2];
    uint32_t dims[2];
    uint32_t add_inputs[3], add_outputs[1], vendor_inputs[2], vendor_outputs[1], inputs[2], outputs[1];
    int32_t activation;
};

enum { X, MORE, Y, Z, ACTIVATION };
static const char vendor[] = "com.example.nnvts.unknown", vendor_2[] = "com.example.nnvts.unknown2";

static int32_t extension_code(uint32_t prefix, uint32_t code) {
    const uint32_t whole = prefix << 16 | code;
    int32_t out;
    memcpy(&out, &whole, sizeof out);
    return out;
}

static void mix(struct mixture *m) {
    *m = (struct mixture){.dims = {2, 3},
                          .add_inputs = {X, X, ACTIVATION},
                          .add_outputs = {Y},
                          .vendor_inputs = {Y, MORE},
                          .vendor_outputs = {Z},
                          .inputs = {X, MORE},
                          .outputs = {Z},
                          .extensions = {{vendor, PREFIX}, {vendor_2, PREFIX + 1}}};
    const struct nnvts_operand tensor = {.type = ANEURALNETWORKS_TENSOR_FLOAT32,
                                         .dimension_count = 2,
                                         .dimensions = m->dims,
                                         .lifetime = NNVTS_SUBGRAPH_INPUT};
    for (int i = X; i <= Z; i++) m->operands[i] = tensor;
    m->operands[Y].lifetime = NNVTS_TEMPORARY_VARIABLE;
    m->operands[Z].lifetime = NNVTS_SUBGRAPH_OUTPUT;
    m->operands[ACTIVATION] = (struct nnvts_operand){
        .type = ANEURALNETWORKS_INT32, .lifetime = NNVTS_CONSTANT_COPY, .location = {.length = sizeof m->activation}};
    m->operations[0] = (struct nnvts_operation){ANEURALNETWORKS_ADD, 3, 1, m->add_inputs, m->add_outputs};
    m->operations[1] =
        (struct nnvts_operation){extension_code(PREFIX, CODE), 2, 1, m->vendor_inputs, m->vendor_outputs};
    m->model = (struct nnvts_model){.main = {PLACES + 1, 2, 2, 1, m->operands, m->operations, m->inputs, m->outputs},
                                    .operand_values = &m->activation,
                                    .operand_values_bytes = sizeof m->activation,
                                    .extension_count = 1,
                                    .extensions = m->extensions};
}

/* y = x + x alone, with what the model declares. */
static void drop_vendor(struct mixture *m) {
    m->operands[MORE] = m->operands[ACTIVATION];
    m->add_inputs[2] = MORE;
    m->operands[Y].lifetime = NNVTS_SUBGRAPH_OUTPUT;
    m->outputs[0] = Y;
    m->model.main.operand_count = Y + 1;
    m->model.main.operation_count = 1;
    m->model.main.input_count = 1;
}

static void release(struct nnv_context *s, struct nnv_reception *r) { nnv_context_release(s, r->prepared); }

/* ------------------------------------------------------------------ declared */

static bool has_vendor(const struct nnv_context *s) {
    for (uint32_t i = 0; i < s->device->extension_count; i++) {
        const char *name = s->device->extensions ? s->device->extensions[i].name : NULL;
        if (name && strncmp(name, vendor, sizeof vendor - 1) == 0) return true;
    }
    return false;
}

/* The operation is honestly unsupported, and ADD is what it is without it. */
static void expect_unsupported(struct nnv_context *s, struct mixture *m, const char *what) {
    struct mixture plain;
    struct nnv_reception with = {0}, without = {0};
    mix(&plain);
    drop_vendor(&plain);
    plain.model.extension_count = 0;
    if (has_vendor(s)) {
        nnv_context_decline(s, NNVTS_WHY_NOT_APPLICABLE, "the driver has the extension that the case made up");
        return;
    }
    if (nnv_receive(s, &plain.model, &without) && nnv_receive(s, &m->model, &with)) {
        if (nnv_expect(s, with.supported_status == NNVTS_STATUS_NONE,
                       "a model with %s, properly declared, is called invalid; it is valid, and not supported", what)) {
            nnv_expect(s, !with.supported[1], "%s is claimed to be supported, the driver can't know it", what);
            if (!with.supported[0] && nnv_device_limits(s->device) & NNVTS_LIMIT_NO_UNKNOWN_EXTENSIONS)
                nnv_context_decline(s, NNVTS_WHY_INTERFACE, "the driver can't be told of %s", what);
            else
                nnv_expect(s, with.supported[0] == without.supported[0],
                           "ADD is %ssupported beside %s, and %ssupported alone", with.supported[0] ? "" : "un", what,
                           without.supported[0] ? "" : "un");
        }
    }
    release(s, &with);
    release(s, &without);
}

static void type(struct mixture *m) { m->operands[MORE].type = extension_code(PREFIX, CODE); }

static void scalar(struct mixture *m) {
    m->operands[MORE].type = extension_code(PREFIX, 0);
    m->operands[MORE].dimension_count = 0;
    m->operands[MORE].dimensions = NULL;
}

static void data(struct mixture *m) {
    static const uint8_t more[] = {1, 2, 3, 4, 5};
    m->operands[MORE].type = extension_code(PREFIX, CODE);
    m->operands[MORE].extension_data = more;
    m->operands[MORE].extension_data_bytes = sizeof more;
}

static void constant(struct mixture *m) {
    static const uint8_t values[12] = {1};
    m->operands[MORE].type = extension_code(PREFIX, CODE);
    m->operands[MORE].lifetime = NNVTS_CONSTANT_COPY;
    m->operands[MORE].location = (struct nnvts_location){.offset = 4, .length = 8};
    m->model.main.input_count = 1;
    m->model.operand_values = values;
    m->model.operand_values_bytes = sizeof values;
    m->operands[ACTIVATION].location.offset = 0;
    m->activation = 0;
}

static void largest_prefix(struct mixture *m) {
    m->extensions[0].prefix = 0x7fff;
    m->operations[1].type = extension_code(0x7fff, 0xffff);
}

static void two_extensions(struct mixture *m) {
    m->model.extension_count = 2;
    m->operands[MORE].type = extension_code(PREFIX + 1, CODE);
}

/* A declaration that nobody uses changes nothing. */
static void unused(struct nnv_context *s) {
    struct mixture declared, plain;
    struct nnv_reception with = {0}, without = {0};
    mix(&declared);
    drop_vendor(&declared);
    declared.model.extension_count = 2;
    mix(&plain);
    drop_vendor(&plain);
    plain.model.extension_count = 0;
    if (nnv_receive(s, &plain.model, &without) && nnv_receive(s, &declared.model, &with)) {
        nnv_expect(s, with.supported_status == without.supported_status,
                   "a model is valid without, and invalid with a declared extension that it does not use");
        nnv_expect(s, with.supported[0] == without.supported[0],
                   "a declared extension that is not used changes what is supported");
    }
    release(s, &with);
    release(s, &without);
}

/* ------------------------------------------------------------------- invalid */

static void expect_invalid(struct nnv_context *s, const struct mixture *m, const char *what) {
    struct nnv_reception r = {0};
    if (nnv_receive(s, &m->model, &r)) {
        nnv_expect_status(s, what, r.supported_status, NNVTS_STATUS_INVALID_ARGUMENT);
        nnv_expect_status(s, what, r.prepare_status, NNVTS_STATUS_INVALID_ARGUMENT);
    }
    release(s, &r);
}

static void undeclared_operation(struct mixture *m) { m->model.extension_count = 0; }

static void undeclared_type(struct mixture *m) { m->operands[MORE].type = extension_code(PREFIX + 1, CODE); }

static void other_prefix(struct mixture *m) { m->extensions[0].prefix = PREFIX + 1; }

static void sign_bit(struct mixture *m) { m->operations[1].type = extension_code(0x8000 | PREFIX, CODE); }

static void data_on_core_type(struct mixture *m) {
    static const uint8_t more[] = {1, 2, 3, 4};
    drop_vendor(m);
    m->operands[X].extension_data = more;
    m->operands[X].extension_data_bytes = sizeof more;
}

static void prefix_0(struct mixture *m) {
    drop_vendor(m);
    m->extensions[0].prefix = 0;
}

static void prefix_twice(struct mixture *m) {
    m->extensions[1].prefix = PREFIX;
    m->model.extension_count = 2;
}

static void nameless(struct mixture *m) { m->extensions[0].name = NULL; }

void nnv_extension_run(struct nnv_context *s, const struct nnv_extension_case *c) {
    struct mixture m;
    if (c->run) {
        c->run(s);
        return;
    }
    mix(&m);
    if (c->edit) c->edit(&m);
    if (c->unsupported)
        expect_unsupported(s, &m, c->unsupported);
    else
        expect_invalid(s, &m, c->invalid);
}

const struct nnv_extension_case nnv_extension_cases[] = {
    {"operation", .unsupported = "an extension's operation"},
    {"type", .edit = type, .unsupported = "an operation on an extension's type"},
    {"scalar", .edit = scalar, .unsupported = "an operation on an extension's scalar"},
    {"data", .edit = data, .unsupported = "an operation on an extension's type with data"},
    {"constant", .edit = constant, .unsupported = "an operation on an extension's constant"},
    {"largest_prefix", .edit = largest_prefix, .unsupported = "an extension's operation of the largest code"},
    {"two_extensions", .edit = two_extensions, .unsupported = "an operation of one extension on a type of another"},
    {"unused", .run = unused},
    {"undeclared_operation", .edit = undeclared_operation,
     .invalid = "a model with an operation of an undeclared prefix"},
    {"undeclared_type", .edit = undeclared_type, .invalid = "a model with a type of an undeclared prefix"},
    {"other_prefix", .edit = other_prefix, .invalid = "a model with an operation whose prefix is not the declared one"},
    {"sign_bit", .edit = sign_bit, .invalid = "a model with an operation of a negative code"},
    {"data_on_core_type", .edit = data_on_core_type, .invalid = "a model with an extension's data on a TENSOR_FLOAT32"},
    {"prefix_0", .edit = prefix_0, .invalid = "a model that declares an extension with prefix 0"},
    {"prefix_twice", .edit = prefix_twice, .invalid = "a model that declares two extensions with one prefix"},
    {"nameless", .edit = nameless, .invalid = "a model that declares an extension without a name"},
};
const size_t nnv_extension_case_count = sizeof nnv_extension_cases / sizeof *nnv_extension_cases;
