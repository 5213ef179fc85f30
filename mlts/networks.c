/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks.h"

#include <stdio.h>
#include <string.h>

#include "mlts/mobilenet.h"
#include "reference/model/spec.h"

enum { WEIGHT_SEED = 1, IMAGENET_CLASSES = 1001 };

#define MOBILENET(version, width, size, type, default_)                                                                \
    {                                                                                                                  \
        .name = "mobilenet_v" #version "_" width "_" size "_" type,                                                    \
        .what = "MobileNet v" #version ", width " width ", pictures of " size "x" size ", " type ", seeded weights",   \
        .data = "random", .by_default = default_                                                                       \
    }

const struct nnv_network_entry nnv_networks[] = {
    MOBILENET(1, "1.0", "224", "float32", true),  MOBILENET(1, "1.0", "224", "quant8", true),
    MOBILENET(1, "1.0", "224", "signed", false),  MOBILENET(1, "0.25", "128", "float32", false),
    MOBILENET(1, "0.25", "128", "quant8", false), MOBILENET(2, "1.0", "224", "float32", true),
    MOBILENET(2, "1.0", "224", "quant8", true),   MOBILENET(2, "1.0", "224", "signed", false),
    MOBILENET(2, "0.35", "96", "float32", false), MOBILENET(2, "0.35", "96", "quant8", false),
};
const size_t nnv_network_count = sizeof nnv_networks / sizeof *nnv_networks;

static int32_t type_of(const char *tag) {
    return strcmp(tag, "float32") == 0  ? ANEURALNETWORKS_TENSOR_FLOAT32
           : strcmp(tag, "quant8") == 0 ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM
           : strcmp(tag, "signed") == 0 ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED
                                        : -1;
}

/** mobilenet_v<1|2>_<width>_<size>_<type>; false: the name is of another kind. */
static bool parse_mobilenet(const char *name, struct nnv_mobilenet *net) {
    char type[16];
    int length = 0;
    *net = (struct nnv_mobilenet){.classes = IMAGENET_CLASSES, .seed = WEIGHT_SEED};
    if (sscanf(name, "mobilenet_v%d_%lf_%u_%15s%n", &net->version, &net->width, &net->size, type, &length) != 4 ||
        name[length])
        return false;
    net->type = type_of(type);
    return net->type >= 0;
}

static enum nnv_status open_spec(const char *path, struct nnv_arena *arena, struct nnv_network *net,
                                 struct nnv_err *err) {
    struct nnv_spec_file *file;
    struct nnv_spec *spec;
    enum nnv_status st = nnv_spec_open(path, &file, err);
    if (st != NNV_OK) return st;
    st = nnv_spec_read(file, 0, arena, &spec, err);
    nnv_spec_close(file);
    if (st != NNV_OK) return st;
    net->name = spec->name;
    net->origin = nnv_arena_strdup(arena, path);
    net->model = spec->model;
    return NNV_OK;
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

enum nnv_status nnv_network_open(const char *name, struct nnv_arena *arena, struct nnv_network *net, const char **data,
                                 struct nnv_err *err) {
    struct nnv_mobilenet mobilenet;
    *net = (struct nnv_network){.name = nnv_arena_strdup(arena, name)};
    *data = "random";
    if (parse_mobilenet(name, &mobilenet)) {
        net->origin = "built in code, seed 1";
        return nnv_mobilenet_build(&mobilenet, arena, &net->model, err);
    }
    if (ends_with(name, ".json") || ends_with(name, ".jsonl")) return open_spec(name, arena, net, err);
    return nnv_fail(err, NNV_INVALID, "no network '%s' (nnvts bench --list shows them; or a .tflite or .json file)",
                    name);
}
