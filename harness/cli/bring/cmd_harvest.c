/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_harvest.c nnvts harvest: the operations of networks as spec files. */
#include <inttypes.h>

#include "harness/cli/cli.h"
#include "harness/cli/harvest.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts harvest MODEL... [--out FOLDER]",
    .summary =
        "Takes networks apart: every distinct operation, every distinct group of operations that a backend may "
        "fuse, and every block whose branch comes back (residual, squeeze-and-excite), as specs with the values "
        "that the network has there and the results of the reference. What a network before has, too, is left "
        "out. A model is a .tflite or .onnx file, a folder of them, or a network of nnvts bench. The exit code is 2 if "
        "a model could not be read.",
    .examples = "nnvts harvest net.tflite                        nnvts-harvest/net.jsonl\n"
                "nnvts harvest models/ --out layers              of all .tflite files below models, each layer once\n"
                "nnvts run -d ./npu.so -s spec --specs layers    and your driver judged by them\n"
                "nnvts run -d ./npu.so -s spec --models net.tflite  both at once\n",
};

struct command {
    struct nnv_cli c;
    uint64_t group;
};

static enum nnv_status harvest(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli_harvest h = {.found.group = (uint32_t)x->group};
    if (x->c.positional.count == 0)
        return nnv_fail(err, NNV_INVALID, "harvest what? give .tflite or .onnx files, or a folder of them");
    if (x->group == 0 || x->group > NNV_HARVEST_GROUP_MAX)
        return nnv_fail(err, NNV_INVALID, "--group %" PRIu64 ": expected 1 to %d", x->group, NNV_HARVEST_GROUP_MAX);
    enum nnv_status st = nnv_cli_harvest(&x->c.positional, x->c.out, x->c.seed, x->c.arena, &h, err);
    if (st != NNV_OK) return st;
    if (h.bad) x->c.code = NNVTS_EXIT_USAGE;
    if (!x->c.quiet && h.models)
        printf("%zu operations and %zu groups of %zu models in %s (%zu with those that are there several times)\n",
               h.found.operations, h.found.groups, h.models, x->c.out, h.found.met);
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(), .group = NNV_HARVEST_GROUP_MAX};
    x.c.out = "nnvts-harvest";
    const struct nnv_opt table[] = {
        {'o', "out", NNV_OPT_OUT_DIR, &x.c.out, "FOLDER", "where the spec files go", NULL},
        {0, "group", NNV_OPT_U64, &x.group, "N", "operations that a group may have, 1 to 3; 1: no groups nor blocks",
         NULL},
        NNV_OPTION_SEED(x.c),
        NNV_OPTION_QUIET(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, NNV_OPT_LIST_MAX, argc, argv, harvest, &x);
}

const struct nnv_verb nnv_verb_harvest = {"harvest", "bring tests along", "the operations of networks as spec files",
                                          run};
