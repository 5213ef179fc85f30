/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_data.c nnvts data: the data that the project makes itself, as files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "harness/cli/cli.h"
#include "mlts/data/image.h"
#include "mlts/data/pictures.h"
#include "mlts/data/speech.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts data pictures|speech [-o DIR | --raw] [--count N] [--seed N]",
    .summary =
        "Makes the data that the trained models of nnvts are judged by: pictures as PNG files with labels.txt and "
        "index.tsv, as --data takes them, or everything as bytes on stdout, for training. Seed 1 is what the "
        "models were trained on, seed 2 what was held out.",
    .examples = "nnvts data pictures -o figures --count 100       100 pictures with their classes\n"
                "nnvts data pictures --raw --count 20000 --seed 1  class and 48x48x3 bytes of each, on stdout\n"
                "nnvts data speech --raw --count 6000 --seed 1    64x16 float32 and 64 int32 labels of each\n",
};

static bool put(const void *data, size_t size) { return fwrite(data, 1, size, stdout) == size; }

static bool raw_picture(uint64_t seed, uint64_t i) {
    uint8_t item[1 + NNV_PICTURE_BYTES];
    item[0] = (uint8_t)nnv_picture_draw(seed, i, item + 1);
    return put(item, sizeof item);
}

static bool raw_utterance(uint64_t seed, uint64_t i) {
    struct nnv_utterance u;
    nnv_speech_make(seed, i, &u);
    return put(u.frame, sizeof u.frame) && put(u.label, sizeof u.label);
}

static enum nnv_status write_raw(bool (*item)(uint64_t, uint64_t), const struct nnv_cli *c, struct nnv_err *err) {
    if (isatty(STDOUT_FILENO))
        return nnv_fail(err, NNV_INVALID, "--raw writes bytes: send stdout to a file or program");
    for (uint64_t i = 0; i < c->count; i++)
        if (!item(c->seed, i)) return nnv_fail(err, NNV_IO, "standard output can't be written");
    return NNV_OK;
}

static enum nnv_status write_pictures(const struct nnv_cli *c, struct nnv_err *err) {
    uint8_t rgb[NNV_PICTURE_BYTES];
    struct nnv_image image = {NNV_PICTURE_SIZE, NNV_PICTURE_SIZE, 3, rgb};
    struct nnv_text labels = {0}, index = {0}, path = {0};
    enum nnv_status st = nnv_folder_make(c->out, err);
    for (int i = 0; i < NNV_PICTURE_CLASSES; i++) nnv_text_addf(&labels, "%s\n", nnv_picture_class_names[i]);
    for (uint64_t i = 0; st == NNV_OK && i < c->count; i++) {
        int class = nnv_picture_draw(c->seed, i, rgb);
        nnv_text_clear(&path);
        nnv_text_addf(&path, "%s/%06llu.png", c->out, (unsigned long long)i);
        nnv_text_addf(&index, "%06llu.png\t%s\n", (unsigned long long)i, nnv_picture_class_names[class]);
        st = path.failed ? nnv_no_memory(err) : nnv_image_write(path.data, &image, err);
    }
    if (st == NNV_OK) st = nnv_file_write_text(c->out, "labels.txt", &labels, err);
    if (st == NNV_OK) st = nnv_file_write_text(c->out, "index.tsv", &index, err);
    nnv_text_free(&labels);
    nnv_text_free(&index);
    nnv_text_free(&path);
    if (st == NNV_OK && !c->quiet)
        printf("%llu pictures of %d classes in %s\n", (unsigned long long)c->count, NNV_PICTURE_CLASSES, c->out);
    return st;
}

static enum nnv_status data(void *own, struct nnv_err *err) {
    const struct nnv_cli *c = own;
    const char *what = c->positional.count ? c->positional.item[0] : "";
    const bool pictures = strcmp(what, "pictures") == 0;
    if (!pictures && strcmp(what, "speech") != 0)
        return nnv_fail(err, NNV_INVALID, "data '%s': which? pictures or speech", what);
    if (c->raw == (c->out != NULL)) return nnv_fail(err, NNV_INVALID, "where to? --out DIR or --raw");
    if (c->raw) return write_raw(pictures ? raw_picture : raw_utterance, c, err);
    return pictures ? write_pictures(c, err) : nnv_fail(err, NNV_INVALID, "speech has no files of its own: use --raw");
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    c.out = NULL;
    c.count = 1500;
    c.seed = NNV_PICTURES_HELD_OUT;
    const struct nnv_opt table[] = {
        NNV_OPTION_OUT(c),
        {0, "raw", NNV_OPT_FLAG, &c.raw, NULL, "all items as bytes on stdout", NULL},
        {0, "count", NNV_OPT_U64, &c.count, "N", "how many", NULL},
        NNV_OPTION_SEED(c),
        NNV_OPTION_QUIET(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, 1, argc, argv, data, &c);
}

const struct nnv_verb nnv_verb_data = {"data", "real models", "pictures and speech that nnvts makes itself", run};
