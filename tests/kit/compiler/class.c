/* SPDX-License-Identifier: Apache-2.0 */
/** @file class.c The C++ class of a whole program that computes nothing: copies and casts. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/nnapi/region/nnapi_region.h"
#include "compiler/relay/interp/interp.h"
#include "tests/kit/compiler/checks.h"
#include "tests/kit/test.h"

enum { INPUTS = 2, OUTPUTS = 6, MOST_BYTES = 256 };
static const double SPREAD = 300; /* most values lie beyond those of a byte */

static const char text[] = "def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]) {\n"
                           "  %0 = transpose(%x, axes=[1, 0]);\n"
                           "  %1 = concatenate((%x, %y), axis=1);\n"
                           "  %2 = nn.pad(%y, 0f, pad_width=[[1, 1], [0, 2]]);\n"
                           "  %3 = strided_slice(%1, begin=[0, 2], end=[2, 6], strides=[1, 1]);\n"
                           "  %4 = cast(%x, dtype=\"uint8\");\n"
                           "  %5 = cast(%y, dtype=\"int8\");\n"
                           "  (%0, %1, %2, %3, %4, %5)\n}\n";

static bool says(struct nnv_text *why, const char *what) {
    nnv_text_addf(why, "%s\n", what);
    return false;
}

/* Writes a file with the words that the fault changes. */
static bool write_source(const char *folder, const char *name, const char *begin, size_t n,
                         const struct compiler_fault *fault, struct nnv_arena *arena) {
    const char *from = fault ? fault->source.from : NULL, *at = from ? memmem(begin, n, from, strlen(from)) : NULL;
    const char *path = nnv_arena_printf(arena, "%s/%s", folder, name);
    struct nnv_text t = {0};
    struct nnv_err err = {0};
    nnv_text_add_n(&t, begin, at ? (size_t)(at - begin) : n);
    if (at) nnv_text_add(&t, fault->source.to);
    if (at) nnv_text_add_n(&t, at + strlen(from), n - (size_t)(at - begin) - strlen(from));
    const bool ok = path && !t.failed && nnv_file_create(path, t.data, t.len, &err) == NNV_OK;
    nnv_text_free(&t);
    return ok;
}

static bool write_class(const char *folder, const struct nnv_program *p, const struct compiler_fault *fault,
                        struct nnv_arena *arena) {
    struct nnv_text header = {0}, source = {0};
    nnv_program_header(p, &header);
    nnv_program_source(p, &source);
    bool ok = !header.failed && !source.failed &&
              write_source(folder, "program.h", header.data, header.len, fault, arena) &&
              write_source(folder, "program.cpp", source.data, source.len, fault, arena);
    for (size_t i = 0; ok && i < nnv_emit_n_supports; i++) {
        const struct nnv_emit_support *s = &nnv_emit_supports[i];
        ok = write_source(folder, s->name, s->begin, (size_t)(s->end - s->begin), fault, arena);
    }
    nnv_text_free(&header);
    nnv_text_free(&source);
    return ok;
}

/* Without regions it needs nothing of NNAPI. */
static bool build(const char *folder, struct nnv_arena *arena) {
    const char *command = nnv_arena_printf(arena,
                                           "${CXX:-c++} -std=c++17 -O0 -w -shared -fPIC -Iinclude -I'%s' "
                                           "'%s/program.cpp' -o '%s/program.so'",
                                           folder, folder, folder);
    return command && system(command) == 0;
}

static bool execute(const char *folder, const void *const *in, void *const *out, struct nnv_arena *arena) {
    void *(*create)(const struct nnapi_region_configuration *);
    int (*run)(void *, const void *const *, void *const *, int);
    void (*destroy)(void *);
    const struct nnapi_region_configuration configuration = {0};
    void *library = dlopen(nnv_arena_printf(arena, "%s/program.so", folder), RTLD_NOW | RTLD_LOCAL);
    void *symbols[3] = {NULL};
    static const char *const names[] = {"program_create", "program_execute", "program_destroy"};
    for (int i = 0; library && i < 3; i++) symbols[i] = dlsym(library, names[i]);
    if (!symbols[0] || !symbols[1] || !symbols[2]) return false;
    memcpy(&create, &symbols[0], sizeof create);
    memcpy(&run, &symbols[1], sizeof run);
    memcpy(&destroy, &symbols[2], sizeof destroy);
    void *object = create(&configuration);
    const bool ok = object && run(object, in, out, 0) == 0;
    if (object) destroy(object);
    dlclose(library);
    return ok;
}

/* Runs the class and compares. */
static bool same_values(const char *folder, const struct nnv_relay_module *m, struct nnv_arena *arena,
                        struct nnv_text *why) {
    struct nnv_relay_datum *args[INPUTS], *golden, *own;
    uint8_t in[INPUTS][MOST_BYTES], out[OUTPUTS][MOST_BYTES];
    const void *inputs[INPUTS];
    void *outputs[OUTPUTS];
    struct nnv_err err = {0};
    if (nnv_relay_arguments(nnv_relay_find(m, "main"), 1, arena, args, &err) != NNV_OK) return says(why, err.text);
    for (size_t i = 0; i < INPUTS; i++) {
        for (size_t k = 0; k < args[i]->n; k++) args[i]->values[k] = (double)(float)(args[i]->values[k] * SPREAD);
        nnv_relay_datum_write(args[i], in[i]);
        inputs[i] = in[i];
    }
    for (size_t i = 0; i < OUTPUTS; i++) outputs[i] = out[i];
    if (nnv_relay_run(m, "main", args, INPUTS, NULL, arena, &golden, &err) != NNV_OK) return says(why, err.text);
    if (!execute(folder, inputs, outputs, arena)) return says(why, "the class does not run");
    for (size_t i = 0; i < golden->n_fields; i++) {
        const struct nnv_relay_datum *d = golden->fields[i];
        if (nnv_relay_datum_read(d->type, out[i], arena, &own, &err) != NNV_OK) return says(why, err.text);
        for (size_t k = 0; k < d->n; k++)
            if (own->values[k] != d->values[k]) {
                nnv_text_addf(why, "output %zu: element %zu is %g, not %g\n", i, k, own->values[k], d->values[k]);
                return false;
            }
    }
    return true;
}

bool class_holds(const struct compiler_fault *fault, struct nnv_arena *arena, struct nnv_text *why) {
    char folder[] = "/tmp/nnvts-class-XXXXXX";
    struct nnv_relay_module *m;
    struct nnv_program p;
    struct nnv_err err = {0};
    if (nnv_relay_parse(text, strlen(text), "copies", arena, &m, &err) != NNV_OK ||
        nnv_relay_check(m, &err) != NNV_OK || nnv_program_plan(m, NULL, 0, arena, &p, &err) != NNV_OK)
        return says(why, err.text);
    if (fault && fault->program) fault->program(&p);
    assert_int_equal(make_folder(folder), 0);
    const bool built = write_class(folder, &p, fault, arena) && build(folder, arena);
    const bool ok = built && same_values(folder, m, arena, why);
    assert_int_equal(remove_folder(folder), 0);
    assert_true(built); /* a fault is found by a comparison */
    return ok;
}
