/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_cpu_driver_packs.c The driver "cpu": packed weights in its cache, of layers large enough for large pages,
 * and what it does with packed weights that are sealed rightly but are not the layer's.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/driver.h"

#include "base/rng.h"
#include "base/type.h"
#include "drivers_under_test/cpu/driver/digest.c"

/** A fully connected layer of one row. */
struct layer {
    const char *name;
    struct kind x, w, y;
    uint32_t inputs, units;
    double most_stored; /**< of the bytes of its weights; 0: it depends on the instruction set */
};

#define FLOATS                                                                                                         \
    { ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0 }
#define HALVES                                                                                                         \
    { ANEURALNETWORKS_TENSOR_FLOAT16, 0, 0 }
#define BYTES_OF(SCALE, ZERO)                                                                                          \
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, SCALE, ZERO }
#define SIGNED_OF(SCALE, ZERO)                                                                                         \
    { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, SCALE, ZERO }
static const struct layer layers[] = {
    {"float32", FLOATS, FLOATS, FLOATS, 1100, 600, 1.1},
    {"float16", HALVES, HALVES, HALVES, 1100, 600, 2.2},
    {"quant8", BYTES_OF(0.5f, 5), BYTES_OF(0.25f, 120), BYTES_OF(900, 30), 1100, 2000, 0},
    {"signed", SIGNED_OF(0.5f, 5), SIGNED_OF(0.25f, -8), SIGNED_OF(300, 5), 130, 70, 0},
    {"odd", BYTES_OF(0.5f, 5), BYTES_OF(0.25f, 3), BYTES_OF(90, 100), 3, 33, 0},
};
enum { FLOAT_LAYER = 0, ODD_LAYER = 4, MOST_VALUES = 2000 };

static uint32_t element_of(struct kind k) { return k.scale > 0 ? 1 : k.type == ANEURALNETWORKS_TENSOR_FLOAT16 ? 2 : 4; }

/** count random values; quantised ones are any bytes. */
static void fill(struct nnv_rng *rng, struct kind k, size_t count, uint8_t *to) {
    for (size_t i = 0; i < count; i++, to += element_of(k)) {
        const float real = (float)nnv_rng_uniform(rng, -1, 1);
        const uint16_t half = nnv_double_to_half((double)real);
        if (k.scale > 0)
            *to = (uint8_t)nnv_rng_u64(rng);
        else if (element_of(k) == 2)
            memcpy(to, &half, sizeof half);
        else
            memcpy(to, &real, sizeof real);
    }
}

/** The weights are in a pool, which is to be closed. */
static void describe(const struct layer *l, struct net *n, struct nnvts_memory *pool) {
    const uint32_t bytes = l->inputs * l->units * element_of(l->w);
    const bool quantised = l->x.scale > 0;
    struct kind bias = quantised ? I32 : l->x;
    uint8_t *weights = malloc(bytes);
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    static const uint8_t zeros[4 * MOST_VALUES];
    assert_non_null(weights);
    fill(&rng, l->w, (size_t)l->inputs * l->units, weights);
    *pool = shared(weights, bytes, 0, NNVTS_PROT_READ);
    free(weights);
    if (quantised) bias.scale = l->x.scale * l->w.scale;
    const uint32_t x = input(n, l->x, DIMS(1, l->inputs)), w = tensor(n, 0, l->w, DIMS(l->units, l->inputs)),
                   b = constant(n, bias, zeros, l->units * element_of(quantised ? F32 : l->x), DIMS(l->units)),
                   none = integer(n, 0), y = output(n, l->y, DIMS(1, l->units));
    n->operands[w].lifetime = NNVTS_CONSTANT_REFERENCE;
    n->operands[w].location = (struct nnvts_location){.length = bytes};
    operation(n, ANEURALNETWORKS_FULLY_CONNECTED, LIST(x, w, b, none), LIST(y));
    n->model.pools = pool;
    n->model.pool_count = 1;
}

static struct nnvts_prepared_model *save(const struct layer *l, const struct nnvts_cache *cache) {
    struct net n = {0};
    struct nnvts_memory pool;
    struct nnvts_prepare_config config = prepare_config;
    struct nnvts_prepared_model *p = NULL;
    describe(l, &n, &pool);
    config.cache = cache;
    assert_int_equal(cpu->prepare_model(cpu, finish(&n), &config, &p), NNVTS_STATUS_NONE);
    close(pool.fd);
    return p;
}

static struct nnvts_prepared_model *try_load(const struct nnvts_cache *cache) {
    struct nnvts_prepared_model *p = NULL;
    const enum nnvts_status st = cpu->prepare_from_cache(cpu, cache, NNVTS_NO_TIME, &p);
    assert_int_equal(st, p ? NNVTS_STATUS_NONE : NNVTS_STATUS_GENERAL_FAILURE);
    return p;
}

static void refuse_at(const struct nnvts_cache *cache, int line) {
    if (try_load(cache)) fail_msg("line %d: it is taken", line);
}
#define refuse(CACHE) refuse_at(CACHE, __LINE__)

static void run(const struct layer *l, struct nnvts_prepared_model *p, uint8_t *y) {
    uint8_t x[4 * MOST_VALUES];
    struct nnv_rng rng = nnv_rng_make(4, 5, 6);
    struct call c = {0};
    assert_non_null(p);
    fill(&rng, l->x, l->inputs, x);
    give(&c, x, l->inputs * element_of(l->x));
    take(&c, y, l->units * element_of(l->y));
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    p->release(p);
}

static off_t size_of(int fd) {
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_size;
}

/** Loaded weights give the same bits; they are stored packed, and not beside it as they were. */
static void test_same_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const struct layer *l = &layers[i];
        struct cache_files f = open_cache_files(cpu);
        uint8_t anew[4 * MOST_VALUES] = {0}, loaded[4 * MOST_VALUES] = {0};
        run(l, save(l, cache_view(&f)), anew);
        run(l, try_load(cache_view(&f)), loaded);
        assert_memory_equal(anew, loaded, sizeof anew);
        size_t others = 0;
        for (size_t k = 1; k < (size_t)l->units * element_of(l->y); k++) others += anew[k] != anew[k - 1];
        assert_true(others > 10);
        const double weights = (double)l->inputs * l->units * element_of(l->w);
        if (l->most_stored > 0) assert_true((double)size_of(f.fd[DATA_FILE]) < l->most_stored * weights);
        close_cache_files(&f);
    }
}

static void assert_same_files(int a, int b) {
    const off_t size = size_of(a);
    uint8_t *of_a = malloc((size_t)size), *of_b = malloc((size_t)size);
    assert_int_equal(size_of(b), size);
    assert_int_equal(pread(a, of_a, (size_t)size, 0), size);
    assert_int_equal(pread(b, of_b, (size_t)size, 0), size);
    assert_memory_equal(of_a, of_b, (size_t)size);
    free(of_a);
    free(of_b);
}

/** Weights are packed to the same bytes on one thread and on several. */
static void test_any_threads(void **state) {
    (void)state;
    static const char *const options[] = {"threads=1", "threads=3"};
    struct nnvts_device *const usual = cpu;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct cache_files f[2];
        for (int k = 0; k < 2; k++) {
            cpu = open_driver("cpu", options[k]);
            f[k] = open_cache_files(cpu);
            struct nnvts_prepared_model *p = save(&layers[i], cache_view(&f[k]));
            p->release(p);
            cpu->release(cpu);
        }
        assert_same_files(f[0].fd[MODEL_FILE], f[1].fd[MODEL_FILE]);
        assert_same_files(f[0].fd[DATA_FILE], f[1].fd[DATA_FILE]);
        for (int k = 0; k < 2; k++) close_cache_files(&f[k]);
    }
    cpu = usual;
}

/** A bit anywhere in a large file, and each length but its own. */
static void test_damage(void **state) {
    (void)state;
    enum { TIMES = 60 };
    struct cache_files f = open_cache_files(cpu);
    struct nnvts_prepared_model *p = save(&layers[FLOAT_LAYER], cache_view(&f));
    const off_t size = size_of(f.fd[DATA_FILE]);
    struct nnv_rng rng = nnv_rng_make(7, 8, 9);
    p->release(p);
    assert_true(size > 2 << 20);
    for (int i = 0; i < TIMES; i++) {
        const off_t at = i == 0 ? 0 : i == 1 ? size - 1 : (off_t)nnv_rng_int(&rng, 0, size - 1);
        uint8_t byte, wrong;
        assert_int_equal(pread(f.fd[DATA_FILE], &byte, 1, at), 1);
        wrong = (uint8_t)(byte ^ 1u << nnv_rng_int(&rng, 0, 7));
        assert_int_equal(pwrite(f.fd[DATA_FILE], &wrong, 1, at), 1);
        refuse(cache_view(&f));
        assert_int_equal(pwrite(f.fd[DATA_FILE], &byte, 1, at), 1);
    }
    for (int i = 0; i < 3; i++) {
        const off_t lengths[] = {size + 1, size + 64, size - 64};
        assert_int_equal(ftruncate(f.fd[DATA_FILE], lengths[i]), 0);
        refuse(cache_view(&f));
    }
    close_cache_files(&f);
}

/* ----------------------------------------------------------- sealed, but nonsense */

/** Where things are in the header of the model file, and in what stands before packed weights: behind one integer. */
enum {
    VALUES_BYTES = 24,
    VALUES_DIGEST = 128,
    DIGEST = 160,
    HEADER = 192,
    PACK = 64,
    FORM = PACK,
    CORRECTION = PACK + 4,
    BYTES = PACK + 8
};

/** A cache in memory. */
struct image {
    uint8_t model[8192], data[8192];
    size_t model_bytes, data_bytes;
};

/** Writes the image to the files, with digests that are right. */
static void seal(struct image *m, const struct cache_files *f) {
    struct cpu_sum sum;
    struct cpu_digest d;
    const uint64_t bytes = m->data_bytes;
    cpu_sum_begin(&sum);
    cpu_sum_add(&sum, m->data, m->data_bytes);
    cpu_sum_end(&sum, m->model + VALUES_DIGEST);
    memcpy(m->model + VALUES_BYTES, &bytes, sizeof bytes);
    cpu_digest_begin(&d);
    cpu_digest_add(&d, m->model, DIGEST);
    cpu_digest_add(&d, m->model + HEADER, m->model_bytes - HEADER);
    cpu_digest_end(&d, m->model + DIGEST);
    assert_int_equal(pwrite(f->fd[MODEL_FILE], m->model, m->model_bytes, 0), (ssize_t)m->model_bytes);
    assert_int_equal(ftruncate(f->fd[DATA_FILE], 0), 0);
    assert_int_equal(pwrite(f->fd[DATA_FILE], m->data, m->data_bytes, 0), (ssize_t)m->data_bytes);
}

static struct image small_cache(struct cache_files *f) {
    struct image m;
    struct nnvts_prepared_model *p = save(&layers[ODD_LAYER], cache_view(f));
    p->release(p);
    const ssize_t model = pread(f->fd[MODEL_FILE], m.model, sizeof m.model, 0);
    const ssize_t data = pread(f->fd[DATA_FILE], m.data, sizeof m.data, 0);
    assert_true(model > HEADER && model < (ssize_t)sizeof m.model && data > 64 && data < (ssize_t)sizeof m.data - 64);
    m.model_bytes = (size_t)model;
    m.data_bytes = (size_t)data;
    uint32_t packed;
    memcpy(&packed, m.model + m.model_bytes - sizeof packed, sizeof packed);
    assert_int_equal(packed, PACK);
    return m;
}

/** Packed weights of another form or length, fewer and more than there are layers. */
static void test_other_packs(void **state) {
    (void)state;
    struct cache_files f = open_cache_files(cpu);
    const struct image right = small_cache(&f);
    struct image m = right;
    uint32_t form;
    uint64_t bytes;
    seal(&m, &f);
    struct nnvts_prepared_model *p = try_load(cache_view(&f));
    assert_non_null(p); /* the seal of this test is the driver's */
    p->release(p);
    memcpy(&form, right.data + FORM, sizeof form);
    memcpy(&bytes, right.data + BYTES, sizeof bytes);
    for (uint32_t other = 0; other < 6; other++) {
        if (other == form) continue;
        m = right;
        memcpy(m.data + FORM, &other, sizeof other);
        seal(&m, &f);
        refuse(cache_view(&f));
    }
    const uint64_t lengths[] = {bytes - 1, bytes + 1, bytes - 64, bytes + 64, 0, UINT64_MAX, UINT64_MAX - 63};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        m = right;
        memcpy(m.data + BYTES, &lengths[i], sizeof lengths[i]);
        seal(&m, &f);
        refuse(cache_view(&f));
    }
    const int32_t corrections[] = {-128, 129, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof corrections / sizeof *corrections; i++) {
        m = right;
        memcpy(m.data + CORRECTION, &corrections[i], sizeof corrections[i]);
        seal(&m, &f);
        refuse(cache_view(&f));
    }
    m = right;
    memset(m.data + m.data_bytes, 0, 64);
    m.data_bytes += 64;
    seal(&m, &f);
    refuse(cache_view(&f));
    for (size_t less = 1; less <= right.data_bytes; less += 13) {
        m = right;
        m.data_bytes -= less;
        seal(&m, &f);
        refuse(cache_view(&f));
    }
    close_cache_files(&f);
}

/** The structure says something else than what is packed. */
static void test_other_structure(void **state) {
    (void)state;
    enum { TIMES = 3000 };
    struct cache_files f = open_cache_files(cpu);
    const struct image right = small_cache(&f);
    struct nnv_rng rng = nnv_rng_make(10, 11, 12);
    int taken = 0;
    for (int i = 0; i < TIMES; i++) {
        struct image m = right;
        for (int64_t k = nnv_rng_int(&rng, 1, 3); k > 0; k--)
            m.model[nnv_rng_int(&rng, HEADER, (int64_t)m.model_bytes - 1)] = (uint8_t)nnv_rng_int(&rng, 0, 40);
        seal(&m, &f);
        struct nnvts_prepared_model *p = try_load(cache_view(&f));
        taken += p != NULL;
        if (p) p->release(p);
    }
    assert_true(taken < TIMES / 2);
    close_cache_files(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),   cmocka_unit_test(test_any_threads),     cmocka_unit_test(test_damage),
        cmocka_unit_test(test_other_packs), cmocka_unit_test(test_other_structure),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
