/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/relay_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/nnapi/decompile/decompile.h"
#include "mlts/networks/networks.h"
#include "mlts/onnx/onnx.h"

/** Reads a file; what is read belongs to the arena. */
/** Behind the first offset of a .tflite file stands what it is; those of ONNX are known by their name. */
static bool is_model(const char *path, const char *data, size_t size) {
    return nnv_network_is_file(path) || (size >= 8 && memcmp(data + 4, "TFL3", 4) == 0);
}

/** A program that was no text becomes the text that `nnvts import` writes, so that both compile to the same bytes. */
static enum nnv_status convert(const char *path, const char *data, size_t size, struct nnv_arena *arena,
                               struct nnv_relay_program *p, struct nnv_err *err) {
    struct nnv_network net;
    struct nnv_relay_module *m;
    struct nnv_text text = {0};
    enum nnv_status s = nnv_network_import(data, size, path, arena, &net, err);
    if (s != NNV_OK) return s;
    s = nnv_decompile(&net.model, net.input_names, arena, &m, err);
    if (s != NNV_OK) return nnv_at(err, s, "%s", path);
    nnv_relay_print(m, NNV_RELAY_PRINT_META, &text);
    p->text = text.failed ? NULL : nnv_arena_copy(arena, text.data, text.len + 1);
    p->len = text.len;
    nnv_text_free(&text);
    return p->text ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
}

static enum nnv_status bind(const char *path, struct nnv_arena *arena, struct nnv_relay_program *p,
                            struct nnv_err *err) {
    char *data;
    size_t size;
    p->params = NNV_NEW(arena, struct nnv_relay_params, 1);
    if (!p->params) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    enum nnv_status s = nnv_file_load(path, NNV_FILE_LARGE, arena, &data, &size, err);
    if (s == NNV_OK) s = nnv_relay_params_read(data, size, path, arena, p->params, err);
    return s == NNV_OK ? nnv_relay_params_bind(p->m, p->params, err) : s;
}

enum nnv_status nnv_relay_program_read(const char *path, const char *params, struct nnv_arena *arena,
                                       struct nnv_relay_program *p, struct nnv_err *err) {
    char *data;
    size_t size;
    *p = (struct nnv_relay_program){0};
    if (!path)
        return nnv_fail(err, NNV_INVALID,
                        "which program? give a file of Relay text or TVMScript, or a .tflite or .onnx model");
    enum nnv_status s = nnv_file_load(path, NNV_FILE_LARGE, arena, &data, &size, err);
    if (s != NNV_OK) return s;
    const bool model = is_model(path, data, size);
    if (model && params)
        return nnv_fail(err, NNV_INVALID, "--params: %s is a%s model, which holds all values itself", path,
                        nnv_is_onnx(path) ? "n ONNX" : " TensorFlow Lite");
    p->text = data;
    p->len = size;
    if (model) s = convert(path, data, size, arena, p, err);
    if (s == NNV_OK) s = nnv_relay_parse(p->text, p->len, path, arena, &p->m, err);
    return s == NNV_OK && params ? bind(params, arena, p, err) : s;
}
