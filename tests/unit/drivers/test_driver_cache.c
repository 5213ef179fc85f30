/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_driver_cache.c Compilation caching of the drivers "cpu" and "reference", the digests it rests on, and what
 * they do with files that are sealed rightly but hold nonsense.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/driver.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "drivers_under_test/cpu/driver/digest.c"
#include "harness/client/run.h"
#include "reference/spec/spec.h"

/* -------------------------------------------------------------------- digests */

static void assert_hex(const uint8_t *bytes, const char *hex) {
    char text[65];
    for (int i = 0; i < 32; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, hex);
}

/** 0, 1, 2... in pieces of `piece` bytes. */
static void fill(uint8_t *data, size_t n) {
    for (size_t i = 0; i < n; i++) data[i] = (uint8_t)i;
}

static void test_sha256(void **state) {
    (void)state;
    static const struct {
        size_t bytes;
        const char *hex;
    } known[] = {
        {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59"},
        {56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562"},
        {64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108"},
        {1000, "a8af099bf2e878609558dbf69d8f88f4a31040a8cf84b549a0cfa912f12ffc3f"},
    };
    uint8_t data[1000], out[NNV_SHA256_BYTES];
    struct nnv_sha256 h;
    fill(data, sizeof data);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t piece = 1; piece <= 1000; piece += 37) {
            nnv_sha256_begin(&h);
            for (size_t at = 0; at < known[i].bytes; at += piece)
                nnv_sha256_add(&h, data + at, known[i].bytes - at < piece ? known[i].bytes - at : piece);
            nnv_sha256_end(&h, out);
            assert_hex(out, known[i].hex);
        }
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, "abc", 3);
    nnv_sha256_end(&h, out);
    assert_hex(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); /* FIPS 180-4's example */
}

static void test_blake2s(void **state) {
    (void)state;
    static const struct {
        size_t bytes;
        const char *hex;
    } known[] = {
        {0, "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9"},
        {64, "56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e"},
        {65, "1b53ee94aaf34e4b159d48de352c7f0661d0a40edff95a0b1639b4090e974472"},
        {128, "1fa877de67259d19863a2a34bcc6962a2b25fcbf5cbecd7ede8f1fa36688a796"},
        {1000, "b5f9d7799111edafc9326fbf667be98140b5e20ce5e151793c59125bf654ac18"},
    };
    uint8_t data[1000], out[CPU_DIGEST_BYTES];
    struct cpu_digest d;
    fill(data, sizeof data);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t piece = 1; piece <= 1000; piece += 37) {
            cpu_digest_begin(&d);
            for (size_t at = 0; at < known[i].bytes; at += piece)
                cpu_digest_add(&d, data + at, known[i].bytes - at < piece ? known[i].bytes - at : piece);
            cpu_digest_end(&d, out);
            assert_hex(out, known[i].hex);
        }
    cpu_digest_begin(&d);
    cpu_digest_add(&d, "abc", 3);
    cpu_digest_end(&d, out);
    assert_hex(out, "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"); /* RFC 7693's example */
}

static void sum_of(const uint8_t *data, size_t bytes, size_t piece, uint8_t *out) {
    struct cpu_sum s;
    cpu_sum_begin(&s);
    for (size_t at = 0; at < bytes; at += piece) cpu_sum_add(&s, data + at, bytes - at < piece ? bytes - at : piece);
    assert_int_equal(s.count, bytes);
    cpu_sum_end(&s, out);
}

/** The sum depends on every bit, on the order of words and on the length, and not on the pieces. */
static void test_sum(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 63, 64, 65, 128, 1000};
    uint8_t data[1000], whole[CPU_DIGEST_BYTES], other[CPU_DIGEST_BYTES];
    fill(data, sizeof data);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        sum_of(data, lengths[i], sizeof data, whole);
        for (size_t piece = 1; piece <= lengths[i]; piece += 7) {
            sum_of(data, lengths[i], piece, other);
            assert_memory_equal(whole, other, sizeof whole);
        }
        for (size_t bit = 0; bit < 8 * lengths[i]; bit++) {
            data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            sum_of(data, lengths[i], sizeof data, other);
            assert_memory_not_equal(whole, other, sizeof whole);
            data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    for (size_t k = 1; k < 32; k++) { /* words change places */
        uint8_t word[8];
        memcpy(word, data, 8);
        memcpy(data, data + 8 * k, 8);
        memcpy(data + 8 * k, word, 8);
        sum_of(data, sizeof data, sizeof data, other);
        assert_memory_not_equal(whole, other, sizeof whole);
        fill(data, sizeof data);
    }
    memset(data, 0, sizeof data);
    sum_of(data, 0, 1, whole);
    for (size_t n = 1; n <= sizeof data; n++) {
        sum_of(data, n, sizeof data, other);
        assert_memory_not_equal(whole, other, sizeof whole);
        memcpy(whole, other, sizeof whole);
    }
}

/** The sum of pieces that were summed apart is that of the whole; pieces that change places are noticed. */
static void test_sum_of_pieces(void **state) {
    (void)state;
    static uint8_t data[3 * CPU_SUM_PIECE];
    static const size_t lengths[] = {CPU_SUM_PIECE - 1, CPU_SUM_PIECE, CPU_SUM_PIECE + 1, sizeof data - 100,
                                     sizeof data};
    uint8_t whole[CPU_DIGEST_BYTES], other[CPU_DIGEST_BYTES], pieces[3][CPU_DIGEST_BYTES];
    struct cpu_sum s;
    fill(data, sizeof data);
    for (size_t k = 0; k < 3; k++) data[k * CPU_SUM_PIECE] = (uint8_t)(100 + k);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        sum_of(data, lengths[i], sizeof data, whole);
        sum_of(data, lengths[i], 1000, other);
        assert_memory_equal(whole, other, sizeof whole);
        cpu_sum_begin(&s);
        for (size_t at = 0; at < lengths[i]; at += CPU_SUM_PIECE) {
            const size_t left = lengths[i] - at, n = left < CPU_SUM_PIECE ? left : CPU_SUM_PIECE;
            cpu_sum_piece(data + at, n, pieces[at / CPU_SUM_PIECE]);
            cpu_sum_add_piece(&s, pieces[at / CPU_SUM_PIECE], n);
        }
        assert_int_equal(s.count, lengths[i]);
        cpu_sum_end(&s, other);
        assert_memory_equal(whole, other, sizeof whole);
    }
    cpu_sum_begin(&s);
    for (size_t k = 3; k > 0; k--) cpu_sum_add_piece(&s, pieces[k - 1], CPU_SUM_PIECE);
    cpu_sum_end(&s, other);
    assert_memory_not_equal(whole, other, sizeof whole);
}

/* ---------------------------------------------------------------------- caches */

enum { MOST_BYTES = 1 << 16 };

/** y = x * [2, -3] + [0.5, 1]: two operations, a constant in the model and one in a pool; z = quantised copy of q. */
static void describe(struct net *n, struct nnvts_memory *pool) {
    const float factor[] = {2, -3}, offset[] = {0.5f, 1};
    const uint32_t x = input(n, F32, DIMS(2, 2)), f = constant(n, F32, factor, sizeof factor, DIMS(2)),
                   o = constant(n, F32, offset, sizeof offset, DIMS(2)), none = integer(n, 0),
                   t = tensor(n, NNVTS_TEMPORARY_VARIABLE, F32, DIMS(2, 2)), y = output(n, F32, DIMS(2, 2));
    operation(n, ANEURALNETWORKS_MUL, LIST(x, f, none), LIST(t));
    operation(n, ANEURALNETWORKS_ADD, LIST(t, o, none), LIST(y));
    n->operands[o].lifetime = NNVTS_CONSTANT_REFERENCE;
    n->operands[o].location = (struct nnvts_location){.pool = 0, .offset = 8, .length = sizeof offset};
    *pool = shared(NULL, 4096, 0, NNVTS_PROT_READ);
    assert_int_equal(pwrite(pool->fd, offset, sizeof offset, 8), sizeof offset);
    n->model.pools = pool;
    n->model.pool_count = 1;
}

static void check_values(struct nnvts_prepared_model *p) {
    const float x[] = {1, 1, 0.5f, -2}, expected[] = {2.5f, -2, 1.5f, 7};
    float y[4] = {0};
    struct call c = {0};
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_floats(y, expected, 4, 0);
}

static void save_files(struct nnvts_device *device, const struct nnvts_cache *cache) {
    struct net n = {0};
    struct nnvts_memory pool;
    struct nnvts_prepare_config config = prepare_config;
    struct nnvts_prepared_model *p = NULL;
    describe(&n, &pool);
    config.cache = cache;
    assert_int_equal(device->prepare_model(device, finish(&n), &config, &p), NNVTS_STATUS_NONE);
    close(pool.fd);
    memset(n.values, 0xee, sizeof n.values);
    check_values(p);
    p->release(p);
}

static enum nnvts_status load_files(struct nnvts_device *device, const struct nnvts_cache *cache) {
    struct nnvts_prepared_model *p = NULL;
    enum nnvts_status st = device->prepare_from_cache(device, cache, NNVTS_NO_TIME, &p);
    assert_true((st == NNVTS_STATUS_NONE) == (p != NULL));
    if (p) check_values(p);
    if (p) p->release(p);
    return st;
}

static const char *const drivers[] = {"cpu", "reference"};

static void test_round_trip(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct nnvts_device *first = open_driver(drivers[i], NULL), *second = open_driver(drivers[i], NULL);
        struct cache_files f = open_cache_files(first);
        save_files(first, cache_view(&f));
        assert_int_equal(load_files(first, cache_view(&f)), NNVTS_STATUS_NONE);
        first->release(first);
        assert_int_equal(load_files(second, cache_view(&f)), NNVTS_STATUS_NONE); /* the files are all it takes */
        f.cache.token[31] ^= 1;
        assert_int_equal(load_files(second, cache_view(&f)), NNVTS_STATUS_GENERAL_FAILURE);
        f.cache.model_fd_count = 0;
        assert_int_equal(load_files(second, cache_view(&f)), NNVTS_STATUS_INVALID_ARGUMENT);
        save_files(second, cache_view(&f)); /* is not cached, and does not fail */
        second->release(second);
        close_cache_files(&f);
    }
}

/** Every bit of both files counts. */
static void test_every_bit(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct nnvts_device *device = open_driver(drivers[i], NULL);
        struct cache_files f = open_cache_files(device);
        save_files(device, cache_view(&f));
        for (int k = 0; k < 2; k++) {
            uint8_t byte;
            for (off_t at = 0; pread(f.fd[k], &byte, 1, at) == 1; at++) {
                const uint8_t wrong = (uint8_t)(byte ^ 1u << at % 8);
                assert_int_equal(pwrite(f.fd[k], &wrong, 1, at), 1);
                assert_int_equal(load_files(device, cache_view(&f)), NNVTS_STATUS_GENERAL_FAILURE);
                assert_int_equal(pwrite(f.fd[k], &byte, 1, at), 1);
            }
        }
        assert_int_equal(load_files(device, cache_view(&f)), NNVTS_STATUS_NONE);
        device->release(device);
        close_cache_files(&f);
    }
}

/** What other kernels have packed is not used. */
static void test_other_isa(void **state) {
    (void)state;
    static const char *const others[] = {"isa=avx2", "isa=avx512", "isa=avx512vnni", "isa=neon", "isa=dotprod"};
    struct nnvts_device *base = open_driver("cpu", "isa=base");
    struct cache_files f = open_cache_files(base);
    save_files(base, cache_view(&f));
    assert_int_equal(load_files(base, cache_view(&f)), NNVTS_STATUS_NONE);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct nnvts_device *other = NULL;
        const char *error = NULL;
        if (load("cpu")->open(others[i], &other, &error) != NNVTS_STATUS_NONE) continue;
        assert_int_equal(load_files(other, cache_view(&f)), NNVTS_STATUS_GENERAL_FAILURE);
        other->release(other);
    }
    base->release(base);
    close_cache_files(&f);
}

/* --------------------------------------------------------- all kinds of models */

/** A device whose prepared models all come from a cache. */
static struct {
    struct nnvts_device base, *inner;
    struct cache_files files;
    int loaded;
} cached;

static enum nnvts_status cached_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    (void)self;
    return cached.inner->get_supported_operations(cached.inner, model, supported);
}
static enum nnvts_status cached_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                        const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    (void)self;
    struct nnvts_prepare_config with_files = *config;
    struct nnvts_prepared_model *saved = NULL;
    with_files.cache = cache_view(&cached.files);
    enum nnvts_status st = cached.inner->prepare_model(cached.inner, model, &with_files, &saved);
    if (st != NNVTS_STATUS_NONE) return st;
    saved->release(saved);
    cached.loaded++;
    return cached.inner->prepare_from_cache(cached.inner, cache_view(&cached.files), NNVTS_NO_TIME, out);
}
static void cached_release(struct nnvts_device *self) {
    (void)self;
    cached.inner->release(cached.inner);
}
static enum nnvts_status cached_open(const char *options, struct nnvts_device **out, const char **error) {
    (void)options;
    (void)error;
    cached.base = *cached.inner;
    cached.base.get_supported_operations = cached_supported;
    cached.base.prepare_model = cached_prepare;
    cached.base.release = cached_release;
    *out = &cached.base;
    return NNVTS_STATUS_NONE;
}

static void compare_spec(struct nnv_client *plain_client, struct nnv_client *cached_client,
                         const struct nnv_spec_file *file, size_t i) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_spec *spec;
    struct nnv_outcome a, b;
    uint32_t phase = 0;
    assert_non_null(arena);
    if (nnv_spec_read(file, i, arena, &spec, NULL) == NNV_OK && !spec->expect_failure) {
        nnv_client_run(plain_client, spec, arena, &phase, &a);
        nnv_client_run(cached_client, spec, arena, &phase, &b);
        if (a.kind != b.kind || a.status != b.status) fail_msg("%s: %s, %s", spec->name, a.reason, b.reason);
        for (uint32_t o = 0; a.kind == NNV_OUTCOME_DONE && o < spec->model.main.nout; o++)
            if (a.outputs[o].bytes != b.outputs[o].bytes ||
                memcmp(a.outputs[o].data, b.outputs[o].data, a.outputs[o].bytes) != 0)
                fail_msg("%s: output %u is another", spec->name, o);
    }
    nnv_arena_free(arena);
}

/** What comes from a cache computes the same bits, for models of every operation. */
static void test_every_operation(void **state) {
    (void)state;
    const char *const suffixes[] = {".json", ".jsonl", NULL};
    char **paths;
    size_t count;
    assert_int_equal(nnv_file_list("tests/conformance", suffixes, &paths, &count, NULL), NNV_OK);
    for (int d = 0; d < 2; d++) {
        const struct nnvts_driver table = {.struct_size = sizeof table,
                                           .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                           .name = "cached",
                                           .open = cached_open};
        struct nnv_client plain_client = {0}, cached_client = {0};
        cached.inner = open_driver(drivers[d], NULL);
        cached.files = open_cache_files(cached.inner);
        cached.loaded = 0;
        assert_int_equal(nnv_client_attach(&plain_client, load(drivers[d]), "plain", NULL, NULL), NNV_OK);
        assert_int_equal(nnv_client_attach(&cached_client, &table, "cached", NULL, NULL), NNV_OK);
        for (size_t i = 0; i < count; i++) {
            struct nnv_spec_file *file;
            assert_int_equal(nnv_spec_open(paths[i], &file, NULL), NNV_OK);
            for (size_t k = 0; k < nnv_spec_count(file); k++) compare_spec(&plain_client, &cached_client, file, k);
            nnv_spec_close(file);
        }
        assert_true(cached.loaded > 100);
        nnv_client_close(&plain_client);
        nnv_client_close(&cached_client);
        close_cache_files(&cached.files);
    }
    nnv_file_list_free(paths, count);
}

/* ---------------------------------------------------------- sealed, but nonsense */

static size_t read_whole(int fd, uint8_t *data) {
    const ssize_t n = pread(fd, data, MOST_BYTES, 0);
    assert_true(n > 0 && n < MOST_BYTES);
    return (size_t)n;
}

static void write_whole(int fd, const uint8_t *data, size_t n) {
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, data, n, 0), (ssize_t)n);
}

/** Changes a few bytes behind the header, or the length. */
static size_t mutate(struct nnv_rng *rng, uint8_t *data, size_t header, size_t n) {
    static const uint8_t special[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    for (int64_t k = nnv_rng_int(rng, 1, 4); k > 0; k--) {
        const size_t at = (size_t)nnv_rng_int(rng, (int64_t)header, (int64_t)n - 1);
        data[at] = nnv_rng_int(rng, 0, 1) ? special[nnv_rng_int(rng, 0, 5)] : (uint8_t)nnv_rng_u64(rng);
    }
    return nnv_rng_int(rng, 0, 7) ? n : (size_t)nnv_rng_int(rng, (int64_t)header, (int64_t)n);
}

/** Loads and releases, without a look at values. True if it was taken. */
static bool try_load(struct nnvts_device *device, const struct nnvts_cache *cache) {
    struct nnvts_prepared_model *p = NULL;
    enum nnvts_status st = device->prepare_from_cache(device, cache, NNVTS_NO_TIME, &p);
    assert_true(st == NNVTS_STATUS_NONE || st == NNVTS_STATUS_GENERAL_FAILURE ||
                st == NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
    assert_true((st == NNVTS_STATUS_NONE) == (p != NULL));
    if (p) p->release(p);
    return p != NULL;
}

static void test_forged_cpu(void **state) {
    (void)state;
    enum { HEADER = 192, STRUCTURE_BYTES = 16, VALUES_DIGEST = 128, DIGEST = 160, TIMES = 4000 };
    static uint8_t model[MOST_BYTES], forged[MOST_BYTES];
    struct nnvts_device *device = open_driver("cpu", "threads=1");
    struct cache_files f = open_cache_files(device);
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    int taken = 0;
    save_files(device, cache_view(&f));
    const size_t n = read_whole(f.fd[MODEL_FILE], model);
    for (int i = 0; i < TIMES; i++) {
        memcpy(forged, model, n);
        const size_t size = i ? mutate(&rng, forged, HEADER, n) : n;
        const uint64_t structure = size - HEADER;
        struct cpu_digest d;
        memcpy(forged + STRUCTURE_BYTES, &structure, sizeof structure);
        cpu_digest_begin(&d);
        cpu_digest_add(&d, forged, DIGEST);
        cpu_digest_add(&d, forged + HEADER, (size_t)structure);
        cpu_digest_end(&d, forged + DIGEST);
        write_whole(f.fd[MODEL_FILE], forged, size);
        const bool ok = try_load(device, cache_view(&f));
        if (i == 0) assert_true(ok); /* the seal of this test is the driver's */
        taken += ok;
    }
    assert_true(taken < TIMES / 2);
    device->release(device);
    close_cache_files(&f);
}

static void test_forged_reference(void **state) {
    (void)state;
    enum { HEADER = 96, JSON_BYTES = 12, DIGEST = 64, TIMES = 2000 };
    static uint8_t model[MOST_BYTES], forged[MOST_BYTES];
    struct nnvts_device *device = open_driver("reference", NULL);
    struct cache_files f = open_cache_files(device);
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    save_files(device, cache_view(&f));
    const size_t n = read_whole(f.fd[MODEL_FILE], model);
    for (int i = 0; i < TIMES; i++) {
        memcpy(forged, model, n);
        const size_t size = i ? mutate(&rng, forged, HEADER, n) : n;
        const uint32_t json = (uint32_t)(size - HEADER);
        struct nnv_sha256 h;
        memcpy(forged + JSON_BYTES, &json, sizeof json);
        nnv_sha256_begin(&h);
        nnv_sha256_add(&h, forged, DIGEST);
        nnv_sha256_add(&h, forged + HEADER, json);
        nnv_sha256_end(&h, forged + DIGEST);
        write_whole(f.fd[MODEL_FILE], forged, size);
        const bool ok = try_load(device, cache_view(&f));
        if (i == 0) assert_true(ok);
    }
    device->release(device);
    close_cache_files(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),     cmocka_unit_test(test_blake2s),
        cmocka_unit_test(test_sum),        cmocka_unit_test(test_sum_of_pieces),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_other_isa),  cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_forged_cpu), cmocka_unit_test(test_forged_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
