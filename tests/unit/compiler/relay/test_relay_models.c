/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of tools/relay_models.py at small sizes: the same bytes everywhere, read, checked, and run. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "compiler/relay/text/params.h"
#include "compiler/relay/ops/ops.h"
#include "tests/kit/relay.h"

static char folder[] = "/tmp/nnvts-relay-XXXXXX";

static int begin(void **state) {
    (void)state;
    return make_folder(folder);
}

static int end(void **state) {
    (void)state;
    return remove_folder(folder);
}

/** A network in files, and as a module with its parameters. */
struct network {
    struct nnv_relay_module *m;
    uint64_t text_hash, params_hash;
};

static char *file_of(const char *name, const char *suffix, size_t *size) {
    char *data = NULL;
    const char *path = nnv_arena_printf(arena, "%s/%s.%s", folder, name, suffix);
    if (nnv_file_read(path, (size_t)1 << 30, &data, size, &relay_err) != NNV_OK) fail_msg("%s", relay_err.text);
    char *own = nnv_arena_copy(arena, data, *size + 1);
    free(data);
    return own;
}

static struct network network(const char *name, const char *options) {
    struct network n = {0};
    struct nnv_relay_params params;
    size_t text_len = 0, size = 0;
    const char *command =
        nnv_arena_printf(arena, "python3 tools/relay_models.py %s %s --out %s", name, options, folder);
    if (system(command) != 0) fail_msg("failed: %s", command); /* NOLINT(cert-env33-c) */
    const char *text = file_of(name, "relay", &text_len), *values = file_of(name, "params", &size);
    n.text_hash = nnv_hash_bytes(text, text_len);
    n.params_hash = nnv_hash_bytes(values, size);
    if (nnv_relay_parse(text, text_len, name, arena, &n.m, &relay_err) != NNV_OK ||
        nnv_relay_params_read(values, size, name, arena, &params, &relay_err) != NNV_OK ||
        nnv_relay_params_bind(n.m, &params, &relay_err) != NNV_OK || nnv_relay_check(n.m, &relay_err) != NNV_OK)
        fail_msg("%s %s: %s", name, options, relay_err.text);
    assert_int_equal(nnv_relay_find(n.m, "main")->n_params, 1);
    return n;
}

static const struct nnv_relay_datum *run_network(const struct network *n, uint64_t seed) {
    const struct nnv_relay_expr *f = nnv_relay_find(n->m, "main");
    struct nnv_relay_datum *in = nnv_relay_datum_random(f->params[0]->declared, seed, arena), *out = NULL;
    if (nnv_relay_run(n->m, "main", &in, 1, NULL, arena, &out, &relay_err) != NNV_OK) fail_msg("%s", relay_err.text);
    return out;
}

/* Ten probabilities that depend on the image, and of which none is next to all. */
static void classifies(const struct network *n, const char *name) {
    const struct nnv_relay_datum *a = run_network(n, 1), *b = run_network(n, 2), *again = run_network(n, 1);
    double sum = 0, most = 0, moved = 0;
    assert_int_equal(a->n, 10);
    for (size_t i = 0; i < a->n; i++) {
        sum += a->values[i];
        most = fmax(most, a->values[i]);
        moved = fmax(moved, fabs(a->values[i] - b->values[i]));
    }
    if (!(fabs(sum - 1) < 1e-9 && most < 0.999 && moved > 1e-4))
        fail_msg("%s: sum %g, largest %g, moved by %g", name, sum, most, moved);
    assert_memory_equal(a->values, again->values, a->n * sizeof(double));
}

static const struct row {
    const char *name, *options;
    size_t convolutions;
    uint64_t text_hash, params_hash;
} rows[] = {
    {"mobilenet-v1", "--size 32 --width 0.25 --classes 10", 27, 0x6d7dedc6216b59d7, 0x25190e11128afb21},
    {"mobilenet-v1", "--size 32 --width 0.25 --classes 10 --layout NHWC --norm batch --seed 2", 27, 0x32b0467e09e62f38,
     0x7f8bacf6b209bd78},
    {"mobilenet-v2", "--size 32 --width 0.25 --classes 10", 52, 0x447466f4e946ae92, 0x11760e0833203601},
    {"resnet18", "--size 32 --width 0.25 --classes 10 --norm batch", 20, 0x7e76e72f4f722e17, 0xe0b5e01ed846ff07},
    {"inception", "--size 32 --width 0.25 --classes 10 --layout NHWC", 13, 0x847852b52604d803, 0x2234dbe1297fdb48},
    {"mobilenet-quant", "--size 32 --width 0.25 --classes 10", 52, 0x0c77854bf9122693, 0x341f4d69c293e16d},
    {"mobilenet-quant", "--size 32 --width 0.25 --classes 10 --per-channel", 52, 0xd61621f9748221cb,
     0xeb95745e101522c3},
};

static size_t calls_of(const struct network *n, const char *op, const char *or_op) {
    struct nnv_relay_list list;
    size_t calls = 0;
    assert_int_equal(nnv_relay_post_order(nnv_relay_find(n->m, "main"), NULL, NULL, arena, &list), NNV_OK);
    for (size_t i = 0; i < list.n; i++)
        calls += nnv_relay_is_op(list.exprs[i], op) || nnv_relay_is_op(list.exprs[i], or_op);
    return calls;
}

static void classifiers_run(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct network n = network(r->name, r->options);
        assert_int_equal(calls_of(&n, "nn.conv2d", "qnn.conv2d"), r->convolutions);
        classifies(&n, r->name);
        if (n.text_hash != r->text_hash || n.params_hash != r->params_hash)
            fail_msg("row %zu: %016llx, %016llx", i, (unsigned long long)n.text_hash,
                     (unsigned long long)n.params_hash);
    }
}

/* Rows of a box: class, score, corners; best first. With a threshold that none reaches, the other branch. */
static void a_detector_picks_boxes_if_there_are_any(void **state) {
    (void)state;
    const char *options = "--size 32 --width 0.25 --classes 4 --threshold %s";
    struct network n = network("ssd", nnv_arena_printf(arena, options, "0.1"));
    const struct nnv_relay_datum *out = run_network(&n, 1);
    size_t boxes = (size_t)out->type->dims[1], found = 0;
    assert_int_equal(boxes, (16 + 4) * 3);
    for (size_t i = 0; i < boxes; i++) {
        const double *box = out->values + 6 * i;
        if (box[0] < 0) break;
        assert_true(box[0] < 4 && box[1] > 0.1 && box[1] <= 1 && box[2] >= 0 && box[2] <= box[4] && box[4] <= 1);
        assert_true(i == 0 || box[1] <= box[-5]);
        found++;
    }
    assert_in_range(found, 1, 10);
    n = network("ssd", nnv_arena_printf(arena, options, "1.0"));
    out = run_network(&n, 1);
    for (size_t i = 0; i < out->n; i++) assert_true(out->values[i] == -1);
}

static void a_long_chain_runs(void **state) {
    (void)state;
    struct network n = network("chain", "--size 20000");
    const struct nnv_relay_datum *out = run_network(&n, 1);
    for (size_t i = 0; i < out->n; i++) assert_true(isfinite(out->values[i]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(classifiers_run),
        TEST(a_detector_picks_boxes_if_there_are_any),
        TEST(a_long_chain_runs),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
