/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/file.h"
#include "mlts/networks/mobilenet.h"
#include "mlts/networks/recurrent.h"
#include "mlts/networks/resnet.h"
#include "mlts/onnx/onnx.h"
#include "mlts/tflite/tflite.h"
#include "mlts/networks/trained.h"
#include "reference/spec/spec.h"

enum { WEIGHT_SEED = 1, IMAGENET_CLASSES = 1001, MOST_BYTES = 1 << 30 /* of a file */ };

#define MOBILENET(version, width, size, type, default_)                                                                \
    {                                                                                                                  \
        .name = "mobilenet_v" #version "_" width "_" size "_" type,                                                    \
        .what = "MobileNet v" #version ", width " width ", pictures of " size "x" size ", " type ", seeded weights",   \
        .data = "random", .by_default = default_                                                                       \
    }

#define RESNET(size, type, default_)                                                                                   \
    {                                                                                                                  \
        .name = "resnet18_" size "_" type,                                                                             \
        .what = "ResNet-18, pictures of " size "x" size ", " type ", seeded weights", .data = "random",                \
        .by_default = default_                                                                                         \
    }

#define TRAINED(name_, data_, task_, what_)                                                                            \
    { .name = name_, .what = what_, .data = data_, .task = task_, .by_default = true }

const struct nnv_network_entry nnv_networks[] = {
    TRAINED("figures_float", "pictures", NNV_TASK_CLASSIFY, "ten figures in pictures of 48x48, float32, trained"),
    TRAINED("figures_uint8", "pictures", NNV_TASK_CLASSIFY, "ten figures in pictures of 48x48, uint8, trained"),
    TRAINED("figures_int8", "pictures", NNV_TASK_CLASSIFY,
            "ten figures in pictures of 48x48, int8 per channel, trained"),
    TRAINED("speech_float", "speech", NNV_TASK_SPELL, "phones of made-up speech, an LSTM, float32, trained"),
    MOBILENET(1, "1.0", "224", "float32", true),
    MOBILENET(1, "1.0", "224", "quant8", true),
    MOBILENET(1, "1.0", "224", "float16", false),
    MOBILENET(1, "1.0", "224", "signed", false),
    MOBILENET(1, "1.0", "224", "int8", false),
    MOBILENET(1, "0.25", "128", "float32", false),
    MOBILENET(1, "0.25", "128", "quant8", false),
    MOBILENET(2, "1.0", "224", "float32", true),
    MOBILENET(2, "1.0", "224", "quant8", true),
    MOBILENET(2, "1.0", "224", "float16", false),
    MOBILENET(2, "1.0", "224", "signed", false),
    MOBILENET(2, "1.0", "224", "int8", false),
    MOBILENET(2, "0.35", "96", "float32", false),
    MOBILENET(2, "0.35", "96", "quant8", false),
    RESNET("224", "float32", false),
    RESNET("224", "float16", false),
    RESNET("224", "quant8", false),
    RESNET("224", "int8", false),
    {.name = "keyword_lstm",
     .what = "keywords in a second of speech: an LSTM of 128 cells over 49 frames, float32, seeded weights",
     .data = "random"},
    {.name = "acoustic_lstm",
     .what = "speech recognition, a frame at a time: 4 LSTM layers of 512 cells, float32, seeded weights",
     .data = "random",
     .by_default = true},
    {.name = "speech_decoder",
     .what = "speech synthesis, a frame at a time: attention and 2 LSTM layers of 512 cells, float32, seeded weights",
     .data = "random",
     .by_default = true},
};
const size_t nnv_network_count = sizeof nnv_networks / sizeof *nnv_networks;

/** mobilenet_v<1|2>_<width>_<size>_<type>; false: the name is of another kind. */
static bool parse_mobilenet(const char *name, struct nnv_mobilenet *net) {
    char type[16];
    int length = 0;
    *net = (struct nnv_mobilenet){.classes = IMAGENET_CLASSES, .seed = WEIGHT_SEED};
    if (sscanf(name, "mobilenet_v%d_%lf_%u_%15s%n", &net->version, &net->width, &net->size, type, &length) != 4 ||
        name[length])
        return false;
    return nnv_images_type(type, &net->type);
}

/** resnet18_<size>_<type>; false: the name is of another kind. */
static bool parse_resnet(const char *name, struct nnv_resnet *net) {
    char type[16];
    int length = 0;
    *net = (struct nnv_resnet){.classes = IMAGENET_CLASSES - 1, .seed = WEIGHT_SEED}; /* none for the background */
    if (sscanf(name, "resnet18_%u_%15s%n", &net->size, type, &length) != 2 || name[length]) return false;
    return nnv_images_type(type, &net->type);
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

/** Scores of classes behind SOFTMAX; a copy of the input; else only values. */
static enum nnv_task guess_task(const struct nnv_network *net) {
    const struct nnv_subgraph *s = &net->model.main;
    const struct nnv_operand *out = &s->operands[s->out[0]], *in = &s->operands[s->in[0]];
    size_t elems, bytes;
    if (!nnv_operand_size(out, &elems, &bytes)) return NNV_TASK_NONE;
    if (elems > 1 && out->rank == in->rank && memcmp(out->dims, in->dims, out->rank * sizeof *out->dims) == 0)
        return NNV_TASK_RESTORE;
    /* What comes last may be a change of type. */
    uint32_t from = s->out[0];
    for (uint32_t i = s->noperations; i-- > 0;) {
        const struct nnv_operation *o = &s->operations[i];
        if (o->out[0] != from) continue;
        if (o->type == ANEURALNETWORKS_SOFTMAX && out->rank == 2) return NNV_TASK_CLASSIFY;
        if (o->type != ANEURALNETWORKS_QUANTIZE && o->type != ANEURALNETWORKS_DEQUANTIZE &&
            o->type != ANEURALNETWORKS_RESHAPE)
            break;
        from = o->in[0];
    }
    return NNV_TASK_NONE;
}

/** The output of this operand; UINT32_MAX: it is none. */
static uint32_t output_of(const struct nnv_subgraph *s, uint32_t operand) {
    for (uint32_t i = 0; i < s->nout; i++)
        if (s->out[i] == operand) return i;
    return UINT32_MAX;
}

/** Detectors end in one of these operations; scores, boxes and classes are its first outputs. */
static void find_boxes(struct nnv_network *net) {
    const struct nnv_subgraph *s = &net->model.main;
    for (uint32_t i = 0; i < s->noperations; i++) {
        const struct nnv_operation *o = &s->operations[i];
        if (o->type != ANEURALNETWORKS_DETECTION_POSTPROCESSING && o->type != ANEURALNETWORKS_BOX_WITH_NMS_LIMIT)
            continue;
        net->boxes = (struct nnv_network_boxes){
            .boxes = output_of(s, o->out[1]), .scores = output_of(s, o->out[0]), .classes = output_of(s, o->out[2])};
        net->boxes.present = net->boxes.boxes != UINT32_MAX;
    }
}

bool nnv_network_is_file(const char *path) { return nnv_is_tflite(path) || nnv_is_onnx(path); }

enum nnv_status nnv_network_import(const void *data, size_t size, const char *path, struct nnv_arena *arena,
                                   struct nnv_network *net, struct nnv_err *err) {
    return nnv_is_onnx(path) ? nnv_onnx_import(data, size, path, NULL, arena, net, NULL, err)
                             : nnv_tflite_import(data, size, path, arena, net, err);
}

static enum nnv_status open_file(const char *path, struct nnv_arena *arena, struct nnv_network *net,
                                 struct nnv_err *err) {
    char *data;
    size_t size;
    const char *name = net->name;
    enum nnv_status st = nnv_file_read(path, MOST_BYTES, &data, &size, err);
    if (st != NNV_OK) return st;
    st = nnv_network_import(data, size, path, arena, net, err);
    free(data);
    if (st != NNV_OK) return st;
    net->name = net->origin = name;
    net->task = guess_task(net);
    return NNV_OK;
}

static enum nnv_status open_trained(const struct nnv_trained *t, struct nnv_arena *arena, struct nnv_network *net,
                                    struct nnv_err *err) {
    enum nnv_status st = nnv_tflite_import(t->begin, (size_t)(t->end - t->begin), t->name, arena, net, err);
    if (st != NNV_OK) return st;
    net->name = t->name;
    net->origin = t->task == NNV_TASK_SPELL ? "trained on the project's speech" : "trained on the project's pictures";
    net->task = t->task;
    return NNV_OK;
}

static enum nnv_status open_any(const char *name, struct nnv_arena *arena, struct nnv_network *net, const char **data,
                                struct nnv_err *err) {
    struct nnv_mobilenet mobilenet;
    struct nnv_resnet resnet;
    *net = (struct nnv_network){.name = nnv_arena_strdup(arena, name)};
    *data = "random";
    if (parse_mobilenet(name, &mobilenet)) {
        net->origin = "built in code, seed 1";
        return nnv_mobilenet_build(&mobilenet, arena, &net->model, err);
    }
    if (parse_resnet(name, &resnet)) {
        net->origin = "built in code, seed 1";
        return nnv_resnet_build(&resnet, arena, &net->model, err);
    }
    if (strcmp(name, "keyword_lstm") == 0) {
        static const struct nnv_keyword keyword = {49, 40, 128, 12, WEIGHT_SEED};
        net->origin = "built in code, seed 1";
        return nnv_keyword_build(&keyword, arena, net, err);
    }
    if (strcmp(name, "acoustic_lstm") == 0 || strcmp(name, "speech_decoder") == 0) {
        static const struct nnv_acoustic acoustic = {4, 120, 512, 192, 42, WEIGHT_SEED};
        static const struct nnv_decoder decoder = {48, 128, 512, 80, WEIGHT_SEED};
        net->origin = "built in code, seed 1";
        return *name == 'a' ? nnv_acoustic_build(&acoustic, arena, net, err)
                            : nnv_decoder_build(&decoder, arena, net, err);
    }
    for (size_t i = 0; i < nnv_trained_count; i++)
        if (strcmp(nnv_trained_models[i].name, name) == 0) {
            *data = nnv_trained_models[i].task == NNV_TASK_SPELL ? "speech" : "pictures";
            return open_trained(&nnv_trained_models[i], arena, net, err);
        }
    if (nnv_network_is_file(name)) return open_file(name, arena, net, err);
    if (nnv_ends_with(name, ".json") || nnv_ends_with(name, ".jsonl")) return open_spec(name, arena, net, err);
    struct nnv_nearest near = nnv_nearest_to(name);
    for (size_t i = 0; i < nnv_trained_count; i++) nnv_nearest_see(&near, nnv_trained_models[i].name);
    return nnv_fail(err, NNV_INVALID,
                    "no network '%s' (%s%s%snnvts bench --list shows them; or a .tflite, .onnx or .json file)", name,
                    near.best ? "did you mean '" : "", near.best ? near.best : "", near.best ? "'? " : "");
}

enum nnv_status nnv_network_open(const char *name, struct nnv_arena *arena, struct nnv_network *net, const char **data,
                                 struct nnv_err *err) {
    const enum nnv_status st = open_any(name, arena, net, data, err);
    if (st == NNV_OK) find_boxes(net);
    return st;
}
