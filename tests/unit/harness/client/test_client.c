/* SPDX-License-Identifier: Apache-2.0 */
/** The client: finding and opening drivers, and every rule that a driver can break. */
#include <dlfcn.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/fake_driver.h"
#include "harness/client/abi.h"

static struct nnv_arena *arena;
static struct nnv_client client;

static int set_up(void **state) {
    (void)state;
    arena = nnv_arena_new();
    fake_start(&client, 7);
    return arena ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    nnv_client_close(&client);
    nnv_arena_free(arena);
    return 0;
}

/* ------------------------------------------------------------------- running */

static struct nnv_outcome run(const struct nnv_spec *spec, enum fault fault) {
    uint32_t phase = 0;
    struct nnv_outcome out;
    fake.fault = fault;
    nnv_client_run(&client, spec, arena, &phase, &out);
    return out;
}

static void a_fine_driver_is_done(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    for (int i = 0; i < 3; i++) {
        struct nnv_outcome out = run(spec, FINE);
        assert_int_equal(out.kind, NNV_OUTCOME_DONE);
        assert_string_equal(out.reason, "");
        assert_int_equal(out.outputs[0].rank, 2);
        assert_memory_equal(out.outputs[0].data, spec->outputs[0].data, 24);
        assert_false(out.memory_damaged);
        assert_int_equal(fake.prepared, i + 1);
        assert_int_equal(fake.released, i + 1);
    }
    struct nnv_outcome out;
    nnv_client_run(&client, spec, arena, NULL, &out); /* no phase wanted */
    assert_int_equal(out.kind, NNV_OUTCOME_DONE);
}

static void broken_rules(void **state) {
    (void)state;
    enum { DONE = NNV_OUTCOME_DONE, REFUSED = NNV_OUTCOME_REFUSED, BROKEN = NNV_OUTCOME_BROKEN };
    static const struct {
        enum fault fault;
        int kind;
        enum nnv_phase phase;
        bool damaged;
        const char *reason;
    } rows[] = {
        {UNSUPPORTED, NNV_OUTCOME_UNSUPPORTED, NNV_PHASE_SUPPORTED, false, "does not support operation 0 (ADD)"},
        {UNFILLED, BROKEN, NNV_PHASE_SUPPORTED, false, "left entry 0 unfilled"},
        {SUPPORTED_INVALID, REFUSED, NNV_PHASE_SUPPORTED, false, "get_supported_operations answered INVALID_ARGUMENT"},
        {SUPPORTED_OVERRUN, BROKEN, NNV_PHASE_SUPPORTED, true, "wrote outside the array of 1 answers"},
        {SUPPORTED_77, BROKEN, NNV_PHASE_SUPPORTED, false, "answered status 77"},
        {PREPARE_FAILS, REFUSED, NNV_PHASE_PREPARE, false,
         "GENERAL_FAILURE although the driver had claimed to support"},
        {PREPARE_77, BROKEN, NNV_PHASE_PREPARE, false, "answered status 77"},
        {PREPARE_NOTHING, BROKEN, NNV_PHASE_PREPARE, false, "NONE without a prepared model"},
        {PREPARE_FAILS_WITH_MODEL, BROKEN, NNV_PHASE_PREPARE, false, "GENERAL_FAILURE and a prepared model"},
        {PREPARE_SMALL, BROKEN, NNV_PHASE_PREPARE, false,
         "prepare_model gave a prepared model without all required members: its struct_size 8 is too small"},
        {PREPARE_NO_EXECUTE, BROKEN, NNV_PHASE_PREPARE, false, "without all required members: it has no execute"},
        {PREPARE_CHANGES_CONSTANT, BROKEN, NNV_PHASE_PREPARE, true, "changed the value of constant operand 2"},
        {EXECUTE_FAILS, REFUSED, NNV_PHASE_EXECUTE, false, "execute answered GENERAL_FAILURE"},
        {EXECUTE_FAILS_WITH_SHAPES, BROKEN, NNV_PHASE_EXECUTE, false, "GENERAL_FAILURE and 1 shapes, expected none"},
        {EXECUTE_77, BROKEN, NNV_PHASE_EXECUTE, false, "answered status 77"},
        {EXECUTE_INSUFFICIENT, REFUSED, NNV_PHASE_EXECUTE, false, "OUTPUT_INSUFFICIENT_SIZE"},
        {EXECUTE_INSUFFICIENT_BUT_ENOUGH, BROKEN, NNV_PHASE_EXECUTE, false, "says that all buffers suffice"},
        {EXECUTE_NOT_SUFFICIENT, BROKEN, NNV_PHASE_EXECUTE, false, "buffer of output 0 is too small"},
        {EXECUTE_WRONG_EXTENT, BROKEN, NNV_PHASE_EXECUTE, false, "shape [3,3] for output 0, expected [2,3]"},
        {EXECUTE_AXES_EXCHANGED, BROKEN, NNV_PHASE_EXECUTE, false,
         "shape [3,2] for output 0, expected [2,3]: axes 0 and 1 are exchanged"},
        {EXECUTE_WRONG_RANK, BROKEN, NNV_PHASE_EXECUTE, false, "shape [2,3,1] for output 0, expected [2,3]"},
        {EXECUTE_HUGE_RANK, BROKEN, NNV_PHASE_EXECUTE, false, "rank 1000 for output 0"},
        {EXECUTE_WRONG_COUNT, BROKEN, NNV_PHASE_EXECUTE, false, "2 shapes, the model has 1 outputs"},
        {EXECUTE_TIMES, BROKEN, NNV_PHASE_EXECUTE, false, "a time although none was asked for"},
        {EXECUTE_BEHIND, BROKEN, NNV_PHASE_EXECUTE, true, "behind the end of output 0: byte 27 of a buffer of 24"},
        {EXECUTE_BEFORE, BROKEN, NNV_PHASE_EXECUTE, true, "8 bytes before the start of output 0"},
        {EXECUTE_INPUT, BROKEN, NNV_PHASE_EXECUTE, true, "changed the value of input 0"},
        {EXECUTE_BEFORE_INPUT, BROKEN, NNV_PHASE_EXECUTE, true, "1 bytes before the start of input 0"},
        {EXECUTE_UNWRITTEN, BROKEN, NNV_PHASE_EXECUTE, false, "no byte of output 0 was written"},
        {EXECUTE_NO_SHAPES, DONE, NNV_PHASE_EXECUTE, false, ""},
    };
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int before = fake.released;
        struct nnv_outcome out = run(spec, rows[i].fault);
        if (out.kind != (enum nnv_outcome_kind)rows[i].kind || !strstr(out.reason, rows[i].reason))
            fail_msg("fault %d: kind %d, '%s', expected kind %d, '%s'", rows[i].fault, out.kind, out.reason,
                     rows[i].kind, rows[i].reason);
        assert_int_equal(out.phase, rows[i].phase);
        assert_int_equal(out.memory_damaged, rows[i].damaged);
        if (rows[i].damaged) assert_int_equal(fake.released, before); /* it is not called again */
    }
}

static const char *words(struct nnvts_device *self) {
    (void)self;
    return "npu_compile answered -5";
}

/** The driver's own words stand in the reason; nobody who could not claim anything is told that he did. */
static void refusals_in_the_drivers_words(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    client.device->last_error = words;
    struct nnv_outcome out = run(spec, EXECUTE_FAILS);
    assert_string_equal(out.reason, "execute answered GENERAL_FAILURE although the driver had claimed to support the "
                                    "model: npu_compile answered -5");
    client.device->limits = NNVTS_LIMIT_CANNOT_BE_ASKED;
    assert_string_equal(run(spec, EXECUTE_FAILS).reason, "execute answered GENERAL_FAILURE: npu_compile answered -5");
    out = run(spec, SUPPORTED_INVALID);
    assert_int_equal(out.kind, NNV_OUTCOME_UNSUPPORTED);
    assert_string_equal(out.reason, "not implemented: npu_compile answered -5");
    assert_int_equal(run(spec, SUPPORTED_77).kind, NNV_OUTCOME_BROKEN);
    spec->expect_failure = true; /* a model that it must refuse is not one that it lacks */
    assert_int_equal(run(spec, SUPPORTED_INVALID).kind, NNV_OUTCOME_REFUSED);
    client.device->last_error = NULL;
    client.device->limits = 0;
}

/** Before feature level 3 a request says what the model leaves open. */
static void old_devices_are_told_shapes(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(ADD_SPEC(NAMED, A23, B23, Y23("")), arena);
    client.device->feature_level = 2;
    assert_int_equal(run(spec, FINE).kind, NNV_OUTCOME_DONE);
    assert_int_equal(fake.output[0].dimension_count, 0);
    spec->model.main.operands[3].dims[0] = 0;
    assert_int_equal(run(spec, FINE).kind, NNV_OUTCOME_DONE);
    assert_int_equal(fake.output[0].dimension_count, 2);
    client.device->feature_level = 7;
    assert_int_equal(run(spec, FINE).kind, NNV_OUTCOME_DONE);
    assert_int_equal(fake.output[0].dimension_count, 0);
}

static void open_shapes_must_be_reported(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(ADD_SPEC(NAMED, A23, B23, Y23("")), arena);
    ((struct nnv_spec *)spec)->model.main.operands[3].dims[0] = 0;
    assert_int_equal(run(spec, FINE).kind, NNV_OUTCOME_DONE);
    struct nnv_outcome out = run(spec, EXECUTE_NO_SHAPES);
    assert_int_equal(out.kind, NNV_OUTCOME_BROKEN);
    assert_non_null(strstr(out.reason, "leaves the shape of output 0 open"));
    assert_int_equal(run(spec, EXECUTE_WRONG_EXTENT).kind, NNV_OUTCOME_BROKEN);
}

static void ignored_outputs_may_stay_unwritten(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(ADD_SPEC(NAMED, A23, B23, Y23(",\"ignored\":true")), arena);
    assert_int_equal(run(spec, EXECUTE_UNWRITTEN).kind, NNV_OUTCOME_DONE);
    assert_int_equal(run(spec, EXECUTE_WRONG_EXTENT).kind, NNV_OUTCOME_DONE);
    assert_int_equal(run(spec, EXECUTE_BEHIND).kind, NNV_OUTCOME_BROKEN);
}

static void arguments(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    spec->inputs[1].omitted = true;
    spec->model.main.operands[0].dims[1] = 0; /* open: the request says it */
    assert_int_equal(run(spec, FINE).kind, NNV_OUTCOME_DONE);
    assert_true(fake.input[1].has_no_value);
    assert_int_equal(fake.input[1].location.length, 0);
    assert_int_equal(fake.input[0].dimension_count, 2);
    assert_int_equal(fake.input[0].dimensions[1], 3);
    spec->model.main.operands[0].dims[1] = 3;
    assert_int_equal(run(spec, FINE).kind, NNV_OUTCOME_DONE);
    assert_int_equal(fake.input[0].dimension_count, 0);
}

static void rounding_mode_is_restored(void **state) {
    (void)state;
    assert_int_equal(run(fake_spec(SUM, arena), EXECUTE_ROUNDING).kind, NNV_OUTCOME_DONE);
    assert_int_equal(fegetround(), FE_TONEAREST);
}

static void foreign_files_stay_open(void **state) {
    (void)state;
    struct nnv_outcome out = run(fake_spec(SUM, arena), EXECUTE_CLOSES);
    assert_int_equal(out.kind, NNV_OUTCOME_BROKEN);
    assert_true(out.memory_damaged);
    assert_string_equal(out.reason, "execute closed a file that is not the driver's");
}

static void unknown_codes_are_named(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    spec->model.main.operations[0].type = 9999;
    assert_non_null(strstr(run(spec, UNSUPPORTED).reason, "operation 0 (code 9999)"));
}

/* ------------------------------------------------------------------ constants */

/** b is a constant of 64 values: large enough for the pool. */
static struct nnv_spec *spec_with_pool(void) {
    static char json[8192];
    char list[512];
    size_t len = 0;
    for (int i = 0; i < 64; i++) len += (size_t)snprintf(list + len, sizeof list - len, "%s%d", i ? "," : "", i);
    snprintf(json, sizeof json,
             "{\"format\":\"nnvts-spec/1\"," NAMED "\"main\":{\"operands\":["
             "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[64],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[%s]},"
             "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[64],\"lifetime\":\"CONSTANT_COPY\",\"data\":[%s]},"
             "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_REFERENCE\",\"data\":[0]},"
             "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[64],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[%s]}],"
             "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],\"outputs\":[3]}],\"inputs\":[0],\"outputs\":[3]}}",
             list, list, list);
    return fake_spec(json, arena);
}

static void constants_are_gone_after_prepare(void **state) {
    (void)state;
    struct nnv_spec *spec = spec_with_pool();
    assert_int_equal(run(spec, FINE).kind, NNV_OUTCOME_DONE);
    struct nnv_outcome out = run(spec, EXECUTE_LATE_CONSTANT);
    assert_int_equal(out.kind, NNV_OUTCOME_DONE);
    assert_memory_not_equal(out.outputs[0].data, spec->outputs[0].data, 256);
    out = run(spec, PREPARE_WRITES_BEHIND_CONSTANT);
    assert_int_equal(out.kind, NNV_OUTCOME_BROKEN);
    assert_true(out.memory_damaged);
    assert_non_null(strstr(out.reason, "wrote behind the value of constant operand 2"));
}

static void abi_model(void **state) {
    (void)state;
    struct nnv_spec *spec = spec_with_pool();
    struct nnvts_model m;
    struct nnv_err err = {0};
    struct nnv_abi_pool constants = {0};
    assert_int_equal(nnv_abi_model(&spec->model, arena, NNV_POOL_FD_ONLY, &m, &constants, &err), NNV_OK);
    assert_non_null(constants.data);
    assert_int_equal(m.pool_count, 1);
    assert_null(m.pools[0].data);
    assert_int_equal(m.operand_values_bytes, 0);
    assert_int_equal(m.main.operands[1].lifetime, NNVTS_CONSTANT_REFERENCE);
    uint8_t *pool = mmap(NULL, (size_t)m.pools[0].size, PROT_READ, MAP_SHARED, m.pools[0].fd, (off_t)m.pools[0].offset);
    assert_true(pool != MAP_FAILED);
    assert_memory_equal(pool + m.main.operands[1].location.offset, spec->model.main.operands[1].data, 256);
    assert_int_equal(m.main.operands[1].location.offset % 64, 0);
    munmap(pool, (size_t)m.pools[0].size);
    nnv_abi_pool_free(&constants);

    spec = fake_spec(SUM, arena);
    assert_int_equal(nnv_abi_model(&spec->model, arena, NNV_POOL_FD_ONLY, &m, &constants, &err), NNV_OK);
    assert_null(constants.data);
    assert_int_equal(m.pool_count, 0);
    assert_int_equal(m.main.operands[2].location.length, 4);
    assert_int_equal(m.main.operation_count, 1);
    assert_int_equal(m.main.operations[0].inputs[2], 2);
}

static void status_names(void **state) {
    (void)state;
    char buf[32];
    assert_string_equal(nnv_abi_status_name(4, buf), "INVALID_ARGUMENT");
    assert_string_equal(nnv_abi_status_name(8, buf), "RESOURCE_EXHAUSTED_PERSISTENT");
    assert_string_equal(nnv_abi_status_name(9, buf), "DEAD_OBJECT");
    assert_string_equal(nnv_abi_status_name(10, buf), "status 10");
    assert_string_equal(nnv_abi_status_name(-1, buf), "status -1");
}

/* ------------------------------------------------------------------- opening */

static void assert_refused(const struct nnvts_driver *d, const char *options, const char *reason) {
    struct nnv_client c = {0};
    struct nnv_err err = {0};
    assert_int_equal(nnv_client_attach(&c, d, "x.so", options, &err), NNV_INVALID);
    if (!strstr(err.text, reason)) fail_msg("'%s', expected '%s'", err.text, reason);
    assert_null(c.device);
}

static struct nnvts_device bad_device;
static enum nnvts_status open_bad(const char *options, struct nnvts_device **out, const char **error) {
    (void)options;
    (void)error;
    *out = &bad_device;
    return NNVTS_STATUS_NONE;
}
static enum nnvts_status open_none(const char *options, struct nnvts_device **out, const char **error) {
    (void)options;
    (void)out;
    (void)error;
    return NNVTS_STATUS_NONE;
}

static void bad_tables(void **state) {
    (void)state;
    assert_refused(NULL, NULL, "nnvts_driver_get returned NULL");
    struct nnvts_driver d = fake_driver;
    d.struct_size = 4;
    assert_refused(&d, NULL, "struct_size 4 of its table is too small");
    d = fake_driver;
    d.abi_version = 9;
    assert_refused(&d, NULL, "driver ABI version 9, this nnvts speaks version 1");
    d = fake_driver;
    d.name = NULL;
    assert_refused(&d, NULL, "no name");
    d = fake_driver;
    d.open = NULL;
    assert_refused(&d, NULL, "no open function");
    assert_refused(
        &fake_driver, "fast",
        "refused to open with option 'fast': INVALID_ARGUMENT: expected 'slow' or 'quick'; options: slow, quick");
    assert_refused(&fake_driver, "mute", "DEVICE_UNAVAILABLE; options: slow, quick");
    static const char *const mute[] = {"mute", NULL}; /* it was meant, and refused for another reason */
    d = fake_driver;
    d.options = mute;
    assert_refused(&d, "mute", "DEVICE_UNAVAILABLE; options: mute");
    d = fake_driver;
    d.struct_size = offsetof(struct nnvts_driver, options); /* an older table */
    assert_refused(&d, "mute", "DEVICE_UNAVAILABLE");
    d.open = open_none;
    assert_refused(&d, NULL, "NONE without a device");
    d.open = open_bad;
    bad_device = fake_device;
    bad_device.struct_size = 16;
    assert_refused(&d, NULL, "struct_size 16 of its device is too small");
    struct nnv_client older = {0};
    struct nnv_err none = {0};
    bad_device = fake_device;
    bad_device.struct_size = NNVTS_DEVICE_LEAST_BYTES; /* an older device: what lies behind is not read */
    bad_device.limits = NNVTS_LIMIT_NO_EMPTY_INPUTS;
    assert_int_equal(nnv_client_attach(&older, &d, "older", NULL, &none), NNV_OK);
    assert_int_equal(nnv_device_limits(older.device), 0);
    bad_device.struct_size = sizeof bad_device;
    assert_int_equal(nnv_device_limits(older.device), NNVTS_LIMIT_NO_EMPTY_INPUTS);
    bad_device = fake_device;
    bad_device.prepare_model = NULL;
    assert_refused(&d, NULL, "no prepare_model");
    bad_device = fake_device;
    bad_device.version = NULL;
    assert_refused(&d, NULL, "no version");
}

static char folder[64];

static int make_drivers(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/nnvts-client-XXXXXX");
    if (make_folder(folder)) return -1;
    char path[128];
    const char *const names[] = {"zebra.so", "apple.so", "notes.txt"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *f = fopen(path, "w");
        if (!f) return -1;
        fputs("this is no shared object", f);
        fclose(f);
    }
    return setenv("NNVTS_DRIVER_PATH", folder, 1) || set_up(state);
}

static int remove_drivers(void **state) {
    unsetenv("NNVTS_DRIVER_PATH");
    return remove_folder(folder) || tear_down(state);
}

static void resolving(void **state) {
    (void)state;
    const char *path, *options;
    char want[128];
    struct nnv_err err = {0};
    snprintf(want, sizeof want, "%s/apple.so", folder);
    assert_int_equal(nnv_client_resolve("apple", arena, &path, &options, &err), NNV_OK);
    assert_string_equal(path, want);
    assert_null(options);
    assert_int_equal(nnv_client_resolve("apple:BUG,over=/x:y", arena, &path, &options, &err), NNV_OK);
    assert_string_equal(options, "BUG,over=/x:y");
    assert_int_equal(nnv_client_resolve("apple:", arena, &path, &options, &err), NNV_OK);
    assert_null(options);
    assert_int_equal(nnv_client_resolve(want, arena, &path, &options, &err), NNV_OK);
    assert_string_equal(path, want);

    const char *const *names;
    size_t count;
    assert_int_equal(nnv_driver_list(arena, &names, &count, &err), NNV_OK);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += strcmp(names[i], "apple") == 0 || strcmp(names[i], "zebra") == 0;
        assert_true(i == 0 || strcmp(names[i - 1], names[i]) < 0);
    }
    assert_int_equal(found, 2);
}

static void unresolvable(void **state) {
    (void)state;
    static const struct {
        const char *argument, *reason;
    } rows[] = {
        {"pear", "no driver named 'pear'; known drivers: apple"},
        {"", "no driver named ''"},
        {"./none.so", "driver './none.so': no such file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = NULL, *options = NULL;
        struct nnv_err err = {0};
        assert_int_not_equal(nnv_client_resolve(rows[i].argument, arena, &path, &options, &err), NNV_OK);
        if (!strstr(err.text, rows[i].reason)) fail_msg("'%s', expected '%s'", err.text, rows[i].reason);
        assert_null(path);
    }
}

static void unloadable(void **state) {
    (void)state;
    struct nnv_client c = {0};
    struct nnv_err err = {0};
    char path[128];
    assert_int_equal(nnv_client_open(&c, "/nowhere/x.so", NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "driver '/nowhere/x.so': no such file"));
    err = (struct nnv_err){0};
    snprintf(path, sizeof path, "%s/apple.so", folder);
    assert_int_equal(nnv_client_open(&c, path, NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "cannot be loaded: "));
    err = (struct nnv_err){0};
    Dl_info info;
    assert_int_not_equal(dladdr((void *)(uintptr_t)nnv_client_open, &info), 0); /* the core's library */
    assert_int_equal(nnv_client_open(&c, info.dli_fname, NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "no symbol nnvts_driver_get (is it an NNAPI library? try --driver ndk:"));
}

static void phases_have_names(void **state) {
    (void)state;
    for (int i = 0; i < NNV_PHASE_COUNT; i++) assert_true(strlen(nnv_phase_name((enum nnv_phase)i)) > 0);
    assert_string_equal(nnv_phase_name(NNV_PHASE_PREPARE), "prepare_model");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, make_drivers, remove_drivers)
    const struct CMUnitTest tests[] = {
        TEST(a_fine_driver_is_done),
        TEST(broken_rules),
        TEST(refusals_in_the_drivers_words),
        TEST(old_devices_are_told_shapes),
        TEST(open_shapes_must_be_reported),
        TEST(ignored_outputs_may_stay_unwritten),
        TEST(arguments),
        TEST(rounding_mode_is_restored),
        TEST(foreign_files_stay_open),
        TEST(unknown_codes_are_named),
        TEST(constants_are_gone_after_prepare),
        TEST(abi_model),
        TEST(status_names),
        TEST(bad_tables),
        FOLDER_TEST(resolving),
        FOLDER_TEST(unresolvable),
        FOLDER_TEST(unloadable),
        TEST(phases_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
