/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_dataset.c Inputs of networks: pictures, made-up speech, folders; and what a wrong folder is told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mlts/data/dataset.h"
#include "mlts/data/image.h"
#include "mlts/data/pictures.h"
#include "mlts/data/speech.h"
#include "tests/kit/test.h"

struct fixture {
    struct nnv_arena *arena;
    char folder[64];
    struct nnv_operand operand[2];
    uint32_t dims[4], in[1], out[1];
    struct nnv_network net;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->arena = nnv_arena_new();
    snprintf(f->folder, sizeof f->folder, "/tmp/nnvts-dataset-XXXXXX");
    if (!mkdtemp(f->folder)) return -1;
    memcpy(f->dims, (uint32_t[]){1, 2, 2, 3}, sizeof f->dims);
    f->operand[0] = f->operand[1] =
        (struct nnv_operand){.type = ANEURALNETWORKS_TENSOR_FLOAT32, .rank = 4, .dims = f->dims};
    f->out[0] = 1;
    f->net.name = "net";
    f->net.model.main =
        (struct nnv_subgraph){.noperands = 2, .operands = f->operand, .nin = 1, .nout = 1, .in = f->in, .out = f->out};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    int failed = remove_folder(f->folder);
    nnv_arena_free(f->arena);
    free(f);
    return failed;
}

static void write_text(struct fixture *f, const char *name, const void *text, size_t size) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static void write_png(struct fixture *f, const char *name, uint32_t width, uint32_t height, uint32_t channels,
                      uint8_t *data) {
    char path[256];
    struct nnv_err err = {0};
    struct nnv_image image = {width, height, channels, data};
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    if (nnv_image_write(path, &image, &err) != NNV_OK) fail_msg("%s", err.text);
}

static struct nnv_dataset open_folder(struct fixture *f) {
    struct nnv_dataset d;
    struct nnv_err err = {0};
    if (nnv_dataset_open(f->folder, &f->net, 0, f->arena, &d, &err) != NNV_OK) fail_msg("%s", err.text);
    return d;
}

static void refused(struct fixture *f, const char *source, const char *words) {
    struct nnv_dataset d;
    struct nnv_err err = {0};
    assert_int_equal(nnv_dataset_open(source, &f->net, 0, f->arena, &d, &err), NNV_INVALID);
    if (!strstr(err.text, words)) fail_msg("\"%s\" lacks \"%s\"", err.text, words);
}

static struct nnv_value item(struct fixture *f, const struct nnv_dataset *d, uint32_t i, struct nnv_truth *truth) {
    struct nnv_value v;
    struct nnv_err err = {0};
    if (nnv_dataset_item(d, i, &f->net, f->arena, &v, truth, &err) != NNV_OK) fail_msg("%s", err.text);
    return v;
}

/* Eighty bytes that say they are 2 GB cost nothing. */
static void pictures_that_lie(void **state) {
    struct fixture *f = *state;
    static const struct {
        long at;
        const char *bytes, *words;
        long size; /* 0: of the whole file */
    } lies[] = {{16, "\x7f\xff\xff\xff", "pixels are too many", 0},
                {33, "\x7f\xff\xff\xf0", "ends behind the file", 0},
                {33, "\xff\xff\xff\xff", "ends behind the file", 0},
                {33, "\x7f\xff\xff\xf0", "it has no end", 41}};
    char path[256];
    snprintf(path, sizeof path, "%s/lie.png", f->folder);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct nnv_image image;
        struct nnv_err err = {0};
        write_png(f, "lie.png", 2, 2, 1, (uint8_t[]){1, 2, 3, 4});
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, lies[i].at, SEEK_SET), 0);
        assert_int_equal(fwrite(lies[i].bytes, 1, 4, file), 4);
        fclose(file);
        if (lies[i].size) assert_int_equal(truncate(path, lies[i].size), 0);
        assert_int_equal(nnv_image_read(path, 1, f->arena, &image, &err), NNV_INVALID);
        if (strstr(err.text, lies[i].words) == NULL) fail_msg("'%s'", err.text);
    }
    unlink(path);
}

/* A grey picture comes back as it was, or with each of its bytes three times. */
static void grey_pictures(void **state) {
    struct fixture *f = *state;
    char path[256];
    struct nnv_image image;
    struct nnv_err err = {0};
    snprintf(path, sizeof path, "%s/grey.png", f->folder);
    write_png(f, "grey.png", 2, 2, 1, (uint8_t[]){1, 2, 3, 200});
    assert_int_equal(nnv_image_read(path, 1, f->arena, &image, &err), NNV_OK);
    assert_int_equal(image.channels, 1);
    assert_memory_equal(image.data, ((uint8_t[]){1, 2, 3, 200}), 4);
    assert_int_equal(nnv_image_read(path, 3, f->arena, &image, &err), NNV_OK);
    assert_memory_equal(image.data, ((uint8_t[]){1, 1, 1, 2, 2, 2, 3, 3, 3, 200, 200, 200}), 12);
}

static void resizing(void **state) {
    struct fixture *f = *state;
    struct nnv_image out, in = {4, 1, 1, (uint8_t[]){0, 100, 200, 40}};
    struct nnv_err err = {0};
    assert_int_equal(nnv_image_resize(&in, 4, 1, f->arena, &out, &err), NNV_OK);
    assert_memory_equal(out.data, in.data, 4);
    /* to half: a triangle 2 wide each side of 1 and of 3: weights 3/8 3/8 1/8 of the first three over 7/8 ... */
    assert_int_equal(nnv_image_resize(&in, 2, 1, f->arena, &out, &err), NNV_OK);
    assert_int_equal(out.data[0], (0 * 3 + 100 * 3 + 200 * 1) / 7.0 + 0.5);
    assert_int_equal(out.data[1], (uint8_t)((100 * 1 + 200 * 3 + 40 * 3) / 7.0 + 0.5));
    /* to double: a quarter of the way between centres, edges repeated */
    struct nnv_image two = {2, 1, 1, (uint8_t[]){0, 100}};
    assert_int_equal(nnv_image_resize(&two, 4, 1, f->arena, &out, &err), NNV_OK);
    assert_memory_equal(out.data, ((uint8_t[]){0, 25, 75, 100}), 4);
    assert_int_equal(nnv_image_resize(&two, 0, 1, f->arena, &out, &err), NNV_INVALID);
    assert_int_equal(nnv_image_resize(&two, 1u << 30, 1u << 30, f->arena, &out, &err), NNV_INVALID);
}

static void labelled_pictures(void **state) {
    struct fixture *f = *state;
    struct nnv_truth truth;
    uint8_t rgb[12] = {0, 255, 127, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    write_png(f, "a.png", 2, 2, 3, rgb);
    write_text(f, "labels.txt", "cat\ndog\r\n", 9);
    write_text(f, "index.tsv", "a.png\tdog\na.png\t0\n", 18);
    struct nnv_dataset d = open_folder(f);
    assert_int_equal(d.kind, NNV_DATASET_IMAGES);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.class_count, 2);
    assert_string_equal(d.class_names[1], "dog");
    struct nnv_value v = item(f, &d, 0, &truth);
    assert_int_equal(truth.label, 1);
    assert_true(fabs((double)((float *)v.data)[0] + 1) < 1e-7);
    assert_true(fabs((double)((float *)v.data)[1] - 1) < 1e-7);
    item(f, &d, 1, &truth);
    assert_int_equal(truth.label, 0);
    /* as the input asks: 0 to 1, 0 to 255, -1 to 1 */
    f->operand[0].type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    f->operand[0].scale = 1.0f / 255;
    d = open_folder(f);
    v = item(f, &d, 0, &truth);
    assert_memory_equal(v.data, rgb, 12);
    f->operand[0].type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    f->operand[0].scale = 1;
    f->operand[0].zero_point = -128;
    d = open_folder(f);
    v = item(f, &d, 0, &truth);
    for (int i = 0; i < 12; i++) assert_int_equal(((int8_t *)v.data)[i], rgb[i] - 128);
    f->operand[0].type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    f->operand[0].scale = 1 / 127.5f;
    f->operand[0].zero_point = 128;
    d = open_folder(f);
    v = item(f, &d, 0, &truth);
    assert_int_equal(((uint8_t *)v.data)[0], 1); /* 128 - 127.5, away from zero */
    assert_int_equal(((uint8_t *)v.data)[1], 255);
}

/* Without names of classes any number is one: ten is ten, and no letter is a digit. */
static void classes_by_number(void **state) {
    struct fixture *f = *state;
    struct nnv_truth truth;
    uint8_t rgb[12] = {0};
    write_png(f, "a.png", 2, 2, 3, rgb);
    write_text(f, "index.tsv", "a.png\t10\na.png\t999\n", 19);
    struct nnv_dataset d = open_folder(f);
    assert_int_equal(d.count, 2);
    item(f, &d, 0, &truth);
    assert_int_equal(truth.label, 10);
    item(f, &d, 1, &truth);
    assert_int_equal(truth.label, 999);
    write_text(f, "index.tsv", "a.png\ta\n", 8);
    refused(f, f->folder, "index.tsv:1: no class 'a'");
}

static void pictures_in_folders_of_their_class(void **state) {
    struct fixture *f = *state;
    char path[128];
    struct nnv_truth truth;
    uint8_t grey[4] = {9, 9, 9, 9};
    snprintf(path, sizeof path, "%s/dog", f->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_png(f, "dog/x.png", 2, 2, 1, grey);
    struct nnv_dataset d = open_folder(f);
    item(f, &d, 0, &truth);
    assert_int_equal(truth.label, -1); /* there are no classes */
    write_text(f, "labels.txt", "cat\ndog\n", 8);
    d = open_folder(f);
    item(f, &d, 0, &truth);
    assert_int_equal(truth.label, 1);
}

static void tensors(void **state) {
    struct fixture *f = *state;
    struct nnv_truth truth;
    float x[12], y[12];
    for (int i = 0; i < 12; i++) x[i] = (float)i, y[i] = (float)-i;
    write_text(f, "input_0_0.bin", x, sizeof x);
    write_text(f, "output_0_0.bin", y, sizeof y);
    write_text(f, "input_0_1.bin", x, sizeof x - 1);
    struct nnv_dataset d = open_folder(f);
    assert_int_equal(d.kind, NNV_DATASET_TENSORS);
    assert_int_equal(d.count, 2);
    struct nnv_value v = item(f, &d, 0, &truth);
    assert_memory_equal(v.data, x, sizeof x);
    assert_memory_equal(truth.outputs[0].data, y, sizeof y);
    struct nnv_err err = {0};
    assert_int_equal(nnv_dataset_item(&d, 1, &f->net, f->arena, &v, &truth, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "input_0_1.bin: 47 bytes, but the tensor has 48"));
}

/* Numbers by chance are of the whole range that the type has. */
static void numbers_by_chance(void **state) {
    struct fixture *f = *state;
    struct nnv_dataset d;
    struct nnv_truth truth;
    struct nnv_err err = {0};
    f->operand[0].type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    f->operand[0].scale = 1;
    if (nnv_dataset_open("random", &f->net, 0, f->arena, &d, &err) != NNV_OK) fail_msg("%s", err.text);
    int least = 127, most = -128;
    for (uint32_t i = 0; i < d.count; i++) { /* 16 items of 12 numbers */
        const struct nnv_value v = item(f, &d, i, &truth);
        for (int k = 0; k < 12; k++) {
            const int x = ((int8_t *)v.data)[k];
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
    }
    assert_in_range(least + 128, 0, 27);
    assert_in_range(most + 128, 228, 255);
}

static void wrong_folders(void **state) {
    struct fixture *f = *state;
    uint8_t rgb[12] = {0};
    refused(f, "/nonexistent", "no such folder");
    refused(f, f->folder, "neither PNG files nor tensors");
    refused(f, "speech", "does not fit net");
    write_png(f, "a.png", 2, 2, 3, rgb);
    write_text(f, "labels.txt", "cat\n", 4);
    write_text(f, "index.tsv", "a.png\tdog\n", 10);
    refused(f, f->folder, "index.tsv:1: no class 'dog'");
    write_text(f, "index.tsv", "a.png\t0\na.png\t0a\n", 17);
    refused(f, f->folder, "index.tsv:2: no class '0a'");
    write_text(f, "index.tsv", "a.png dog\n", 10);
    refused(f, f->folder, "index.tsv:1: expected FILE<tab>CLASS");
    write_text(f, "index.tsv", "b.png\tcat\n", 10);
    struct nnv_dataset d = open_folder(f);
    struct nnv_value v;
    struct nnv_truth truth;
    struct nnv_err err = {0};
    assert_int_equal(nnv_dataset_item(&d, 0, &f->net, f->arena, &v, &truth, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "b.png"));
    write_text(f, "b.png", "not a picture", 13);
    assert_int_equal(nnv_dataset_item(&d, 0, &f->net, f->arena, &v, &truth, &err), NNV_INVALID);
    f->operand[0].rank = 2;
    refused(f, f->folder, "not a picture");
    refused(f, "pictures", "not a picture");
}

/* A drawn picture becomes no line so long that, as high as the picture, it had more pixels than a picture may have. */
static void pictures_too_wide(void **state) {
    struct fixture *f = *state;
    struct nnv_dataset d;
    struct nnv_value v;
    struct nnv_truth truth;
    struct nnv_err err = {0};
    memcpy(f->dims, (uint32_t[]){1, 1, NNV_IMAGE_MOST_PIXELS / NNV_PICTURE_SIZE + 1, 1}, sizeof f->dims);
    if (nnv_dataset_open("pictures", &f->net, 0, f->arena, &d, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(nnv_dataset_item(&d, 0, &f->net, f->arena, &v, &truth, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "can't be made one of"));
}

/* The same bytes on any machine, so that trained models mean the same everywhere. */
static void made_data_never_change(void **state) {
    (void)state;
    static uint8_t rgb[NNV_PICTURE_BYTES];
    struct nnv_utterance u;
    uint64_t pictures = 0, speech = 0;
    int classes[NNV_PICTURE_CLASSES] = {0};
    for (uint64_t i = 0; i < 100; i++) {
        classes[nnv_picture_draw(NNV_PICTURES_HELD_OUT, i, rgb)]++;
        pictures = pictures * 31 + nnv_hash_bytes(rgb, sizeof rgb);
        nnv_speech_make(NNV_SPEECH_HELD_OUT, i, &u);
        speech = speech * 31 + nnv_hash_bytes(u.frame, sizeof u.frame);
    }
    for (int i = 0; i < NNV_PICTURE_CLASSES; i++) assert_in_range(classes[i], 2, 25);
    assert_int_equal(pictures, UINT64_C(0xf57c370759fbbc38));
    assert_int_equal(speech, UINT64_C(0x7fb59354a81f87d7));
}

static void spelling(void **state) {
    (void)state;
    const int32_t frames[] = {0, 0, 3, 3, 3, 5, 3, 3, 0, 0, 3, 3, 4, 4, 4, 7};
    int32_t said[16];
    assert_int_equal(nnv_speech_spell(frames, 16, said), 3);
    assert_memory_equal(said, ((int32_t[]){3, 3, 4}), 12);
    struct nnv_utterance u;
    for (uint64_t i = 0; i < 50; i++) { /* what was said is spelt by its own labels */
        nnv_speech_make(1, i, &u);
        int32_t own[NNV_SPEECH_FRAMES];
        assert_int_equal(nnv_speech_spell(u.label, NNV_SPEECH_FRAMES, own), u.phones);
        assert_memory_equal(own, u.phone, u.phones * sizeof *own);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(grey_pictures, setup, teardown),
        cmocka_unit_test_setup_teardown(resizing, setup, teardown),
        cmocka_unit_test_setup_teardown(pictures_that_lie, setup, teardown),
        cmocka_unit_test_setup_teardown(labelled_pictures, setup, teardown),
        cmocka_unit_test_setup_teardown(classes_by_number, setup, teardown),
        cmocka_unit_test_setup_teardown(pictures_in_folders_of_their_class, setup, teardown),
        cmocka_unit_test_setup_teardown(tensors, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_by_chance, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_folders, setup, teardown),
        cmocka_unit_test_setup_teardown(pictures_too_wide, setup, teardown),
        cmocka_unit_test(made_data_never_change),
        cmocka_unit_test(spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
