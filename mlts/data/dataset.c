/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/data/dataset.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/type.h"
#include "mlts/data/dataset_folder.h"
#include "mlts/data/image.h"
#include "mlts/data/pictures.h"
#include "mlts/data/speech.h"

enum { ALL_PICTURES = 1500, ALL_UTTERANCES = 500, SOME_RANDOM = 16 };

static const struct nnv_operand *input_of(const struct nnv_network *net, uint32_t i) {
    return &net->model.main.operands[net->model.main.in[i]];
}

/**
 * The scaling that the input asks for: a quantised one says which numbers it can take (0 to 1, 0 to 255, else -1 to 1),
 * a float one is taken to want -1 to 1.
 */
static struct nnv_scaling scaling_of(const struct nnv_operand *o) {
    static const struct nnv_scaling both_signs = {127.5, 127.5}, unit = {0, 255}, bytes = {0, 1};
    const struct nnv_type *t = nnv_type(o->type);
    if (!t || t->kind != NNV_KIND_QUANT) return both_signs;
    double low = (t->min - o->zero_point) * (double)o->scale, high = (t->max - o->zero_point) * (double)o->scale;
    if (low > -0.02 * high) return high > 2 ? bytes : unit;
    return both_signs;
}

/* -------------------------------------------------------------------- opening */

/** The first input takes pictures: [1, height, width, 1 or 3]. */
static bool takes_pictures(const struct nnv_network *net) {
    const struct nnv_operand *o = net->model.main.nin ? input_of(net, 0) : NULL;
    return o && o->rank == 4 && o->dims[0] <= 1 && o->dims[1] && o->dims[2] && (o->dims[3] == 1 || o->dims[3] == 3);
}

static bool takes_speech(const struct nnv_network *net) {
    const struct nnv_operand *o = net->model.main.nin ? input_of(net, 0) : NULL;
    return o && o->rank == 3 && o->dims[0] == 1 && o->dims[1] == NNV_SPEECH_FRAMES && o->dims[2] == NNV_SPEECH_FEATURES;
}

static enum nnv_status not_fitting(const char *source, const struct nnv_network *net, const char *what,
                                   struct nnv_err *err) {
    return nnv_fail(err, NNV_INVALID, "dataset %s does not fit %s: its first input is not %s", source, net->name, what);
}

enum nnv_status nnv_dataset_open(const char *source, const struct nnv_network *net, uint32_t count,
                                 struct nnv_arena *arena, struct nnv_dataset *out, struct nnv_err *err) {
    struct nnv_dataset d = {.name = source, .seed = NNV_PICTURES_HELD_OUT};
    struct stat s;
    if (net->model.main.nin) d.scaling = scaling_of(input_of(net, 0));
    if (strcmp(source, "pictures") == 0) {
        if (!takes_pictures(net)) return not_fitting(source, net, "a picture, [1, height, width, 1 or 3]", err);
        d.kind = NNV_DATASET_PICTURES;
        d.count = ALL_PICTURES;
        d.class_count = NNV_PICTURE_CLASSES;
        d.class_names = nnv_picture_class_names;
    } else if (strcmp(source, "speech") == 0) {
        if (!takes_speech(net)) return not_fitting(source, net, "frames of made-up speech, [1, 64, 16]", err);
        d.kind = NNV_DATASET_SPEECH;
        d.count = ALL_UTTERANCES;
    } else if (strcmp(source, "random") == 0) {
        d.kind = NNV_DATASET_RANDOM;
        d.count = count ? count : SOME_RANDOM;
    } else if (stat(source, &s) != 0 || !S_ISDIR(s.st_mode)) {
        return nnv_fail(err, NNV_INVALID, "dataset %s: no such folder (or: pictures, speech, random)", source);
    } else {
        enum nnv_status st = nnv_dataset_folder(source, net, arena, &d, err);
        if (st != NNV_OK) return st;
        if (d.kind == NNV_DATASET_IMAGES && !takes_pictures(net))
            return not_fitting(source, net, "a picture, [1, height, width, 1 or 3]", err);
    }
    if (count && count < d.count) d.count = count;
    *out = d;
    return NNV_OK;
}

/* ---------------------------------------------------------------------- items */

/** An input's value of zeros, as large as the operand says, unknown extents being 1. */
static bool zeros(const struct nnv_operand *o, struct nnv_arena *arena, struct nnv_value *v) {
    size_t elems;
    *v = (struct nnv_value){.rank = o->rank};
    for (uint32_t i = 0; i < o->rank; i++) v->dims[i] = o->dims[i] ? o->dims[i] : 1;
    if (!nnv_size_bytes(o->type, v->rank, v->dims, &elems, &v->bytes)) return false;
    v->data = nnv_arena_alloc(arena, v->bytes, 1);
    if (!v->data) return false;
    if (nnv_is_quant(o->type)) /* zero is the zero point */
        for (size_t i = 0; i < elems; i++)
            nnv_store(o->type, &(double){o->zero_point}, 1, (uint8_t *)v->data + i * nnv_type(o->type)->size);
    return true;
}

/** Writes real numbers in the operand's type. */
static void put_real(const struct nnv_operand *o, const double *x, size_t n, uint8_t *to) {
    bool quant = nnv_is_quant(o->type);
    size_t size = nnv_type(o->type)->size;
    for (size_t i = 0; i < n; i++) {
        double v = quant ? x[i] / (double)o->scale + o->zero_point : x[i];
        nnv_store(o->type, &v, 1, to + i * size);
    }
}

/** A picture as the first input. */
static enum nnv_status put_image(const struct nnv_dataset *d, const struct nnv_image *image,
                                 const struct nnv_network *net, struct nnv_arena *arena, struct nnv_value *input,
                                 struct nnv_err *err) {
    const struct nnv_operand *o = input_of(net, 0);
    struct nnv_image fit = *image;
    if (image->height != o->dims[1] || image->width != o->dims[2]) {
        enum nnv_status st = nnv_image_resize(image, o->dims[2], o->dims[1], arena, &fit, err);
        if (st != NNV_OK) return st;
    }
    double of_byte[256];
    for (int b = 0; b < 256; b++) of_byte[b] = (b - d->scaling.mean) / d->scaling.deviation;
    size_t n = (size_t)fit.width * fit.height * fit.channels, size = nnv_type(o->type)->size;
    uint8_t stored[256][8];
    for (int b = 0; b < 256; b++) put_real(o, &of_byte[b], 1, stored[b]);
    for (size_t i = 0; i < n; i++) memcpy((uint8_t *)input->data + i * size, stored[fit.data[i]], size);
    return NNV_OK;
}

/** A drawn picture; where the network sees no colours, its brightness. */
static enum nnv_status put_picture(const struct nnv_dataset *d, uint32_t i, const struct nnv_network *net,
                                   struct nnv_arena *arena, struct nnv_value *input, struct nnv_truth *truth,
                                   struct nnv_err *err) {
    uint8_t rgb[NNV_PICTURE_BYTES];
    struct nnv_image image = {NNV_PICTURE_SIZE, NNV_PICTURE_SIZE, 3, rgb};
    truth->label = nnv_picture_draw(d->seed, i, rgb);
    if (input_of(net, 0)->dims[3] == 1) {
        image.channels = 1; /* ITU-R BT.601, in 256ths */
        for (size_t p = 0; p < sizeof rgb / 3; p++)
            rgb[p] = (uint8_t)((77 * rgb[3 * p] + 150 * rgb[3 * p + 1] + 29 * rgb[3 * p + 2] + 128) >> 8);
    }
    return put_image(d, &image, net, arena, input, err);
}

static enum nnv_status put_utterance(const struct nnv_dataset *d, uint32_t i, const struct nnv_network *net,
                                     struct nnv_arena *arena, struct nnv_value *input, struct nnv_truth *truth,
                                     struct nnv_err *err) {
    struct nnv_utterance *u = NNV_NEW(arena, struct nnv_utterance, 1);
    if (!u) return nnv_no_memory(err);
    nnv_speech_make(d->seed, i, u);
    for (size_t k = 0; k < NNV_SPEECH_FRAMES * NNV_SPEECH_FEATURES; k++) {
        double v = (double)u->frame[k / NNV_SPEECH_FEATURES][k % NNV_SPEECH_FEATURES];
        put_real(input_of(net, 0), &v, 1, (uint8_t *)input->data + k * nnv_type(input_of(net, 0)->type)->size);
    }
    truth->phone = u->phone;
    truth->phones = u->phones;
    return NNV_OK;
}

/** Numbers by chance: floats of [-1, 1], any quantised one, small integers. */
static void put_random(const struct nnv_dataset *d, uint32_t item, uint32_t input, const struct nnv_network *net,
                       struct nnv_value *v) {
    const struct nnv_operand *o = input_of(net, input);
    const struct nnv_type *t = nnv_type(o->type);
    struct nnv_rng rng = nnv_rng_make(d->seed, item, input);
    for (size_t i = 0; i < v->bytes / t->size; i++) {
        double x = t->kind == NNV_KIND_FLOAT   ? nnv_rng_uniform(&rng, -1, 1)
                   : t->kind == NNV_KIND_QUANT ? (double)nnv_rng_int(&rng, (int64_t)t->min, (int64_t)t->max)
                                               : (double)nnv_rng_int(&rng, 0, 1);
        nnv_store(o->type, &x, 1, (uint8_t *)v->data + i * t->size);
    }
}

enum nnv_status nnv_dataset_item(const struct nnv_dataset *d, uint32_t i, const struct nnv_network *net,
                                 struct nnv_arena *arena, struct nnv_value *inputs, struct nnv_truth *truth,
                                 struct nnv_err *err) {
    *truth = (struct nnv_truth){.label = -1, .item = nnv_arena_printf(arena, "%u", i)};
    if (d->files) truth->item = d->files[i];
    for (uint32_t k = 0; k < net->model.main.nin; k++)
        if (!zeros(input_of(net, k), arena, &inputs[k]))
            return nnv_fail(err, NNV_NO_MEMORY, "input %u of %s is too large", k, net->name);
    struct nnv_image image;
    enum nnv_status st;
    switch (d->kind) {
    case NNV_DATASET_PICTURES:
        return put_picture(d, i, net, arena, &inputs[0], truth, err);
    case NNV_DATASET_SPEECH:
        return put_utterance(d, i, net, arena, &inputs[0], truth, err);
    case NNV_DATASET_RANDOM:
        for (uint32_t k = 0; k < net->model.main.nin; k++)
            if (!nnv_network_is_state(net, k)) put_random(d, i, k, net, &inputs[k]);
        return NNV_OK;
    case NNV_DATASET_IMAGES:
        truth->label = d->labels ? d->labels[i] : -1;
        st = nnv_image_read(truth->item, input_of(net, 0)->dims[3], arena, &image, err);
        return st != NNV_OK ? st : put_image(d, &image, net, arena, &inputs[0], err);
    case NNV_DATASET_TENSORS:
        return nnv_dataset_tensors(d, i, net, arena, inputs, truth, err);
    }
    return NNV_INTERNAL;
}
