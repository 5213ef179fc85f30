/* SPDX-License-Identifier: Apache-2.0 */
/* Generated classes: compiled without a warning, built, and run on the project's own runtime. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "compiler/nnapi/build.h"
#include "compiler/nnapi/region/nnapi_region.h"
#include "reference/eval/eval.h"
#include "tests/kit/emit.h"

enum { REGIONS = 4, MOST_BYTES = 4096, SUM = 3, SUMMANDS = 40 };

static struct nnv_arena *arena;
static struct nnv_emit regions[REGIONS];
static struct nnv_err err;
static char folder[] = "/tmp/nnvts-emit-XXXXXX";

/** Objects of one region's functions. */
struct entries {
    void *(*create)(const struct nnapi_region_configuration *);
    int (*error)(const void *, const char **);
    int (*execute)(void *, const void *const *, void *const *, int);
    void (*destroy)(void *);
    const struct nnapi_region_description *(*describe)(void);
};

static const char *in_folder(const char *name) { return nnv_arena_printf(arena, "%s/%s", folder, name); }

static void write_text(const char *name, const struct nnv_text *t) {
    assert_false(t->failed);
    assert_int_equal(nnv_file_create(in_folder(name), t->data, t->len, &err), NNV_OK);
}

/** Writes all regions and what they share. */
static int set_up(void **state) {
    (void)state;
    struct nnv_emit_weights w;
    struct nnv_text t = {0};
    arena = nnv_arena_new();
    if (!arena || !mkdtemp(folder)) return -1;
    regions[0] = (struct nnv_emit){"small", emit_small(arena)};
    regions[1] = (struct nnv_emit){"conv", emit_conv(arena, 1)};
    regions[2] = (struct nnv_emit){"quantised", emit_quantised(arena)};
    regions[SUM] = (struct nnv_emit){"sum", emit_sum(arena, SUMMANDS)};
    assert_int_equal(nnv_emit_gather(regions, REGIONS, "weights.bin", arena, &w, &err), NNV_OK);
    for (size_t r = 0; r < REGIONS; r++) {
        nnv_text_clear(&t);
        nnv_emit_header(regions, r, &w, &t);
        write_text(nnv_arena_printf(arena, "%s.h", regions[r].function), &t);
        nnv_text_clear(&t);
        nnv_emit_source(regions, r, &w, &t);
        write_text(nnv_arena_printf(arena, "%s.cpp", regions[r].function), &t);
    }
    write_text("weights.bin", &w.bytes);
    for (size_t i = 0; i < nnv_emit_n_supports; i++) {
        const struct nnv_emit_support *s = &nnv_emit_supports[i];
        assert_int_equal(nnv_file_create(in_folder(s->name), s->begin, (size_t)(s->end - s->begin), &err), NNV_OK);
    }
    nnv_text_free(&t);
    nnv_text_free(&w.bytes);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    const int removed = remove_folder(folder);
    nnv_arena_free(arena);
    return removed;
}

/* ----------------------------------------------------------------------- compiling */

static void check_warnings(const char *compiler) {
    if (system(nnv_arena_printf(arena, "%s --version >/dev/null 2>&1", compiler)) != 0) {
        print_message("%s is not there\n", compiler);
        skip();
    }
    const char *command = nnv_arena_printf(
        arena,
        "for f in '%s'/*.cpp; do %s -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only "
        "-Iinclude \"$f\" || exit 1; done",
        folder, compiler);
    assert_int_equal(system(command), 0);
}

static void no_warnings_of_gcc(void **state) {
    (void)state;
    check_warnings("g++");
}

static void no_warnings_of_clang(void **state) {
    (void)state;
    check_warnings("clang++");
}

/** The header is one of C, too. */
static void headers_are_c(void **state) {
    (void)state;
    const char *command = nnv_arena_printf(
        arena,
        "for f in small conv quantised sum; do gcc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude "
        "'%s'/$f.h || exit 1; done",
        folder);
    assert_int_equal(system(command), 0);
}

static void build(const char *library) {
    static const char *const sources[] = {"small.cpp", "conv.cpp", "quantised.cpp", "sum.cpp", "nnapi_region.cpp"};
    const struct nnv_build b = {.folder = folder, .sources = sources, .n_sources = 5, .library = library};
    if (nnv_build_library(&b, arena, &err) != NNV_OK) fail_msg("%s", err.text);
}

static void building_again_gives_the_same_bytes(void **state) {
    (void)state;
    char *one = NULL, *two = NULL;
    size_t n = 0, m = 0;
    build("one.so");
    assert_int_equal(rename(in_folder("one.so"), in_folder("kept.so")), 0);
    build("one.so");
    assert_int_equal(nnv_file_read(in_folder("kept.so"), 1 << 24, &one, &n, &err), NNV_OK);
    assert_int_equal(nnv_file_read(in_folder("one.so"), 1 << 24, &two, &m, &err), NNV_OK);
    assert_int_equal(n, m);
    assert_memory_equal(one, two, n);
    assert_null(memmem(one, n, folder, strlen(folder)));
    free(one);
    free(two);
}

static void bad_sources_are_an_error(void **state) {
    (void)state;
    static const char *const sources[] = {"missing.cpp"};
    struct nnv_build b = {.folder = folder, .sources = sources, .n_sources = 1, .library = "no.so"};
    assert_int_equal(nnv_build_library(&b, arena, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "missing.cpp"));
    setenv("CXX", "no-such-compiler -O0", 1);
    assert_int_equal(nnv_build_library(&b, arena, &err), NNV_UNSUPPORTED);
    assert_string_equal(err.text,
                        "CXX='no-such-compiler -O0': there is no such program; --no-build leaves the library out");
    unsetenv("CXX");
    b.target = "no-machine";
    assert_int_equal(nnv_build_library(&b, arena, &err), NNV_UNSUPPORTED);
    assert_non_null(strstr(err.text, "there is no no-machine-g++ and no no-machine-clang++"));
    b.nnapi = "/nonexistent/libneuralnetworks.so";
    assert_int_equal(nnv_build_library(&b, arena, &err), NNV_INVALID);
}

/* ------------------------------------------------------------------------- running */

static void *symbol(void *library, const char *function, const char *what) {
    void *s = dlsym(library, nnv_arena_printf(arena, "%s_%s", function, what));
    if (!s) fprintf(stderr, "%s_%s is not there\n", function, what);
    return s;
}

/** Of any library that is loaded. */
static bool load_symbol(const char *name, int (**to)(void)) {
    void *s = dlsym(RTLD_DEFAULT, name);
    memcpy(to, &s, sizeof s);
    return s != NULL;
}

#define ENTRY(member)                                                                                                  \
    do {                                                                                                               \
        void *s = symbol(library, function, #member);                                                                  \
        memcpy(&e->member, &s, sizeof s);                                                                              \
    } while (0)

/** Only in a process of its own: the library's runtime looks for its drivers once. */
static bool load_from(const char *file, const char *function, struct entries *e) {
    void *library = dlopen(in_folder(file), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    ENTRY(create);
    ENTRY(error);
    ENTRY(execute);
    ENTRY(destroy);
    ENTRY(describe);
    return e->create && e->error && e->execute && e->destroy && e->describe;
}

static bool load(const char *function, struct entries *e) {
    const char *runtime = nnv_build_library_folder(arena);
    return runtime && dlopen(nnv_arena_printf(arena, "%s/libneuralnetworks.so", runtime), RTLD_NOW | RTLD_GLOBAL) &&
           load_from("regions.so", function, e);
}

/** What a child process found, as its exit code; else 100 and more. */
static int in_child(int (*work)(const struct nnv_emit *), const struct nnv_emit *e) {
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("NNVTS_DRIVERS", "", 1);
        _exit(work(e));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

/** Inputs of random bytes that are numbers of their type, and the golden results. */
static bool make_values(const struct nnv_model *m, struct nnv_value *inputs, struct nnv_golden *golden) {
    const struct nnv_eval_options options = {0};
    for (uint32_t i = 0; i < m->main.nin; i++) {
        const struct nnv_operand *o = &m->main.operands[m->main.in[i]];
        size_t elems, bytes;
        if (!nnv_operand_size(o, &elems, &bytes)) return false;
        inputs[i] = (struct nnv_value){.rank = o->rank, .data = nnv_arena_alloc(arena, 1, bytes), .bytes = bytes};
        memcpy(inputs[i].dims, o->dims, o->rank * sizeof *o->dims);
        double *v = NNV_NEW(arena, double, elems);
        for (size_t k = 0; k < elems; k++) v[k] = (double)((k * 37 + i) % 23) - 11;
        nnv_store(o->type, v, elems, inputs[i].data);
    }
    return nnv_eval(m, inputs, &options, arena, golden, &err) == NNV_OK;
}

/** 0: all values are the golden ones, alone and in a burst, and sizes are described. */
static int run_and_compare(const struct nnv_emit *region) {
    const struct nnv_model *m = &region->converted->model;
    const struct nnapi_region_configuration c = {.folder = folder};
    struct entries e;
    struct nnv_value inputs[4];
    struct nnv_golden golden[4];
    static char room[4][MOST_BYTES];
    const void *in[4] = {0};
    void *out[4] = {room[0], room[1], room[2], room[3]};
    const char *where = NULL;
    if (!load(region->function, &e) || !make_values(m, inputs, golden)) return 100;
    const struct nnapi_region_description *d = e.describe();
    if (strcmp(d->name, region->function) != 0 || d->input_count != m->main.nin || d->output_count != m->main.nout)
        return 101;
    for (uint32_t i = 0; i < d->input_count; i++) in[i] = inputs[i].data;
    void *instance = e.create(&c);
    if (!instance || e.error(instance, &where) != 0 || *where) {
        fprintf(stderr, "%s\n", where ? where : "no instance");
        return 102;
    }
    for (int burst = 0; burst < 4; burst++) {
        memset(room, 0x55, sizeof room);
        if (e.execute(instance, in, out, burst / 2) != ANEURALNETWORKS_NO_ERROR) return 103;
        for (uint32_t i = 0; i < d->output_count; i++)
            if (d->output_bytes[i] != golden[i].value.bytes ||
                memcmp(out[i], golden[i].value.data, golden[i].value.bytes) != 0)
                return 1 + (int)i;
    }
    e.destroy(instance);
    return 0;
}

static void values_are_golden(void **state) {
    (void)state;
    build("regions.so");
    for (size_t r = 0; r < REGIONS; r++) {
        const int code = in_child(run_and_compare, &regions[r]);
        if (code) fail_msg("%s: %d", regions[r].function, code);
    }
}

/** The error's code; the message is checked against what the test wants. */
static const char *wanted_where;
static struct nnapi_region_configuration configuration;

static int create_and_tell(const struct nnv_emit *region) {
    struct entries e;
    const char *where = NULL, *const in[] = {NULL};
    void *out[] = {NULL};
    if (!load(region->function, &e)) return 100;
    void *instance = e.create(&configuration);
    if (!instance) return 101;
    const int code = e.error(instance, &where);
    if (!strstr(where, wanted_where)) {
        fprintf(stderr, "'%s' instead of '%s'\n", where, wanted_where);
        return 102;
    }
    /* What could not be compiled does not run: the same code, and no memory is touched. */
    if (code && e.execute(instance, (const void *const *)in, out, 0) != code) return 103;
    if (code && e.execute(instance, (const void *const *)in, out, 1) != code) return 104;
    e.destroy(instance);
    return code;
}

static void check_error(size_t r, int code, const char *where) {
    wanted_where = where;
    assert_int_equal(in_child(create_and_tell, &regions[r]), code);
}

static void errors_are_told(void **state) {
    (void)state;
    static const char *const unknown[] = {"nnapi-reference", "no-such-device"}, *const known[] = {"nnapi-reference"};
    build("regions.so");
    configuration = (struct nnapi_region_configuration){.folder = "/nonexistent"};
    check_error(1, ANEURALNETWORKS_UNMAPPABLE, "the file of weights is missing or has another size");
    check_error(0, ANEURALNETWORKS_NO_ERROR, ""); /* it needs no file */
    configuration = (struct nnapi_region_configuration){.folder = folder, .devices = known, .device_count = 1};
    check_error(1, ANEURALNETWORKS_NO_ERROR, "");
    configuration.devices = unknown;
    configuration.device_count = 2;
    check_error(1, ANEURALNETWORKS_UNAVAILABLE_DEVICE, "there is no device of a name that is configured");
    configuration = (struct nnapi_region_configuration){.folder = folder};
    assert_int_equal(truncate(in_folder("weights.bin"), 100), 0);
    check_error(1, ANEURALNETWORKS_UNMAPPABLE, "the file of weights is missing or has another size");
}

/* ------------------------------------------------------------ libraries that are tiny */

/** What the test's tiny library (tests/nnapi/toy.c) is told, and what its region must answer. */
static const struct toy_case {
    const char *library, *lie, *device, *where;
    int error, execution; /**< of creating; of running, where that worked */
} * toy_case;

static int run_on_toy(const struct nnv_emit *region) {
    const char *const devices[] = {toy_case->device}, *where = NULL;
    const struct nnapi_region_configuration c = {.folder = folder,
                                                 .devices = devices,
                                                 .device_count = toy_case->device != NULL,
                                                 .cache_folder = "/nonexistent/"};
    const float *constant = region->converted->model.main.operands[1].data;
    float x[SUMMANDS], y[SUMMANDS];
    const void *in[] = {x};
    void *out[] = {y};
    struct entries e;
    int (*objects)(void);
    setenv("TOY_LIE", toy_case->lie, 1);
    if (!load_from(toy_case->library, region->function, &e) || !load_symbol("toy_objects", &objects)) return 100;
    void *instance = e.create(&c);
    if (!instance || e.error(instance, &where) != toy_case->error) return 101;
    if (!strstr(where, toy_case->where)) return 102;
    for (int burst = 0; burst < 2 && !toy_case->error; burst++) {
        for (int i = 0; i < SUMMANDS; i++) x[i] = (float)(i + burst);
        if (e.execute(instance, in, out, burst) != toy_case->execution) return 103;
        for (int i = 0; i < SUMMANDS && !toy_case->execution; i++)
            if (y[i] != x[i] + constant[i]) return 104;
    }
    e.destroy(instance);
    return objects() == 0 ? 0 : 105; /* all was freed, whatever failed */
}

/* A library of feature level 1 will do: no names of devices, no cache, no burst, nothing that computes at once. */
static void old_libraries_will_do(void **state) {
    (void)state;
    static const struct toy_case cases[] = {
        {"old.so", "", NULL, "", 0, 0},
        {"old.so", "", "toy-a", "devices have names from feature level 3 on", ANEURALNETWORKS_UNAVAILABLE_DEVICE, 0},
        {"new.so", "", NULL, "", 0, 0},
        {"new.so", "", "toy-b", "", 0, 0},
        {"new.so", "", "toy-c", "there is no device of a name", ANEURALNETWORKS_UNAVAILABLE_DEVICE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        toy_case = &cases[i];
        const int code = in_child(run_on_toy, &regions[SUM]);
        if (code) fail_msg("case %zu: %d", i, code);
    }
}

/* A library that lies is told by its result codes, and never crashes the class. */
static void lies_are_errors(void **state) {
    (void)state;
    static const struct toy_case cases[] = {
        {"new.so", "model-nothing", NULL, "ANeuralNetworksModel_create", ANEURALNETWORKS_UNEXPECTED_NULL, 0},
        {"new.so", "memory-nothing", NULL, "ANeuralNetworksMemory_createFromFd", ANEURALNETWORKS_UNEXPECTED_NULL, 0},
        {"new.so", "finish-77", NULL, "ANeuralNetworksModel_finish", 77, 0},
        {"new.so", "compilation-nothing", NULL, "ANeuralNetworksCompilation_create", ANEURALNETWORKS_UNEXPECTED_NULL,
         0},
        {"new.so", "compilation-nothing", "toy-a", "_createForDevices", ANEURALNETWORKS_UNEXPECTED_NULL, 0},
        {"new.so", "execution-nothing", NULL, "", 0, ANEURALNETWORKS_UNEXPECTED_NULL},
        {"new.so", "compute-77", NULL, "", 0, 77},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        toy_case = &cases[i];
        const int code = in_child(run_on_toy, &regions[SUM]);
        if (code) fail_msg("%s: %d", cases[i].lie, code);
    }
}

/** Links the region with the tiny library, by its path. */
static int link_with_toys(void **state) {
    (void)state;
    static const char *const toys[][2] = {{"toy.so", "new.so"}, {"toy_old.so", "old.so"}};
    const char *drivers = getenv("NNVTS_TEST_DRIVERS");
    for (size_t i = 0; i < 2; i++) {
        const char *toy = nnv_arena_printf(arena, "%s/../tests/%s", drivers ? drivers : "build/drivers", toys[i][0]);
        char full[4096];
        if (!realpath(toy, full)) return -1;
        if (system(nnv_arena_printf(arena,
                                    "g++ -std=c++17 -shared -fPIC -fno-exceptions -fno-rtti -Iinclude -o '%s/%s' "
                                    "'%s/sum.cpp' '%s/nnapi_region.cpp' '%s'",
                                    folder, toys[i][1], folder, folder, full)) != 0)
            return -1;
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_warnings_of_gcc),
        cmocka_unit_test(no_warnings_of_clang),
        cmocka_unit_test(headers_are_c),
        cmocka_unit_test(building_again_gives_the_same_bytes),
        cmocka_unit_test(bad_sources_are_an_error),
        cmocka_unit_test(values_are_golden),
        cmocka_unit_test_setup(old_libraries_will_do, link_with_toys),
        cmocka_unit_test(lies_are_errors),
        cmocka_unit_test(errors_are_told), /* the last: it spoils the file of weights */
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
