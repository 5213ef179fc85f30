/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_tflite_damage.c 500 damaged .tflite files, made from the trained models: each gives one clear error, or is
 * imported as a model that is valid.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mlts/tflite/tflite.h"
#include "mlts/networks/trained.h"
#include "reference/model/validate.h"

enum { FILES = 500, MOST_PLACES = 1 << 16 };

static int setup(void **state) {
    *state = nnv_arena_new();
    return *state == NULL;
}
static int teardown(void **state) {
    nnv_arena_free(*state);
    return 0;
}

static uint32_t word(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

/** A copy of a file, and where its tables begin: behind their offset lies a table of offsets that looks like one. */
struct victim {
    uint8_t *data;
    size_t size;
    uint32_t *table; /**< positions */
    uint32_t ntables;
};

static void find_tables(struct victim *v) {
    v->ntables = 0;
    for (size_t at = 8; at + 8 <= v->size && v->ntables < MOST_PLACES; at += 4) {
        int64_t vt = (int64_t)at - (int32_t)word(v->data + at);
        if (vt < 8 || vt == (int64_t)at || vt + 4 > (int64_t)v->size || vt % 2) continue;
        uint16_t bytes[2];
        memcpy(bytes, v->data + vt, 4);
        if (bytes[0] >= 4 && bytes[0] <= 32 && bytes[0] % 2 == 0 && bytes[1] >= 4 && bytes[1] <= 96 &&
            vt + bytes[0] <= (int64_t)v->size && at + bytes[1] <= v->size)
            v->table[v->ntables++] = (uint32_t)at;
    }
}

/** A place inside one of the tables. */
static size_t inside(struct victim *v, struct nnv_rng *rng, size_t bytes) {
    size_t table = v->table[nnv_rng_int(rng, 0, (int64_t)v->ntables - 1)];
    size_t at = table + 4 + (size_t)nnv_rng_int(rng, 0, 6) * 4;
    return at + bytes <= v->size ? at : v->size - bytes;
}

enum kind { TRUNCATED, OFFSET, COUNT, TYPE, CYCLE, VTABLE, NUMBER, BITS, KINDS };
static const char *const kinds[] = {"truncated", "offset", "count", "type", "cycle", "vtable", "number", "bits"};

static void damage(struct victim *v, enum kind kind, struct nnv_rng *rng) {
    static const uint32_t odd[] = {0,          1,          2,          0x7fffffff, 0x80000000,
                                   0xffffffff, 0xfffffffe, 0x40000001, 0x20000001, 0x10000};
    const uint32_t strange = odd[nnv_rng_int(rng, 0, 9)];
    size_t at = inside(v, rng, 4);
    switch (kind) {
    case TRUNCATED:
        v->size = (size_t)nnv_rng_int(rng, 0, (int64_t)v->size - 1);
        break;
    case OFFSET:
        memcpy(v->data + at, &strange, 4);
        break;
    case COUNT: { /* of what the offset leads to */
        const uint64_t to = at + (uint64_t)word(v->data + at);
        if (to + 4 <= v->size) at = (size_t)to;
        memcpy(v->data + at, &strange, 4);
        break;
    }
    case TYPE:
        v->data[inside(v, rng, 1)] = (uint8_t)nnv_rng_int(rng, 0, 255);
        break;
    case CYCLE: { /* a table further on is one that came before, or itself */
        const uint32_t to = v->table[nnv_rng_int(rng, 0, (int64_t)v->ntables - 1)], offset = (uint32_t)(to - at);
        memcpy(v->data + at, &offset, 4);
        break;
    }
    case VTABLE: {
        const size_t table = v->table[nnv_rng_int(rng, 0, (int64_t)v->ntables - 1)];
        const size_t vt = (size_t)((int64_t)table - (int32_t)word(v->data + table));
        const uint16_t value = (uint16_t)nnv_rng_int(rng, 0, 40);
        memcpy(v->data + vt + 2 * (size_t)nnv_rng_int(rng, 0, 5), &value, 2);
        break;
    }
    case NUMBER: {
        const uint32_t value = (uint32_t)nnv_rng_int(rng, -4, 70);
        memcpy(v->data + at, &value, 4);
        break;
    }
    default:
        for (int i = 0; i < 8; i++) v->data[inside(v, rng, 1)] ^= (uint8_t)(1 << nnv_rng_int(rng, 0, 7));
        break;
    }
}

/** One error of one line that names the file and says something, or a model that is valid. */
static bool check(struct nnv_arena *arena, const struct victim *v, const char *kind) {
    struct nnv_network net;
    struct nnv_err err = {0};
    uint8_t *copy = malloc(v->size ? v->size : 1); /* so that reading behind its end is seen */
    assert_non_null(copy);
    memcpy(copy, v->data, v->size);
    nnv_arena_reset(arena);
    const enum nnv_status st = nnv_tflite_import(copy, v->size, "m.tflite", arena, &net, &err);
    free(copy);
    if (st == NNV_OK) {
        if (nnv_validate(&net.model, arena, NULL, &err) != NNV_OK) fail_msg("%s: %s", kind, err.text);
        return true;
    }
    if (st != NNV_INVALID && st != NNV_UNSUPPORTED) fail_msg("%s: status %d: %s", kind, st, err.text);
    if (strncmp(err.text, "m.tflite: ", 10) != 0 || strlen(err.text) < 20 || strchr(err.text, '\n'))
        fail_msg("%s: '%s' is no clear error", kind, err.text);
    return false;
}

static void damaged_files(void **state) {
    unsigned taken[KINDS] = {0}, refused[KINDS] = {0};
    struct victim v = {.table = malloc(MOST_PLACES * sizeof *v.table)};
    for (uint64_t i = 0; i < FILES; i++) {
        struct nnv_rng rng = nnv_rng_make(11, i, 0);
        const struct nnv_trained *m = &nnv_trained_models[i % nnv_trained_count];
        const enum kind kind = (enum kind)(i / nnv_trained_count % KINDS);
        v.size = (size_t)(m->end - m->begin);
        v.data = malloc(v.size);
        assert_non_null(v.data);
        memcpy(v.data, m->begin, v.size);
        find_tables(&v);
        assert_true(v.ntables > 50);
        damage(&v, kind, &rng);
        if (check(*state, &v, kinds[kind]))
            taken[kind]++;
        else
            refused[kind]++;
        free(v.data);
    }
    free(v.table);
    for (int k = 0; k < KINDS; k++) print_message("%s: %u refused, %u taken\n", kinds[k], refused[k], taken[k]);
    for (int k = 0; k < KINDS; k++) assert_true(refused[k] > 0);
    assert_int_equal(taken[TRUNCATED], 0);
}

/** The whole models are taken: what is refused above is refused for its damage. */
static void whole_files(void **state) {
    for (size_t i = 0; i < nnv_trained_count; i++) {
        const struct nnv_trained *m = &nnv_trained_models[i];
        struct victim v = {.data = (uint8_t *)(uintptr_t)m->begin, .size = (size_t)(m->end - m->begin)};
        assert_true(check(*state, &v, m->name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_files, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_files, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
