/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_doctor.c nnvts doctor: what this machine has, and what is missing. */
#include <dirent.h>
#include <jansson.h>
#include <libxml/xmlversion.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/driver.h"
#include "base/file.h"
#include "harness/cli/cli.h"
#include "harness/cli/settings.h"
#include "harness/runner/ask.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts doctor [--json]",
    .summary = "Tells what this machine has and what that means for nnvts: processor, limits, libraries, compilers, "
               "drivers, test data. A line that begins with '!' is a problem, with the remedy; '-' is something that "
               "is absent and may be. Exit code 1: nnvts cannot judge a driver here.",
    .examples = "nnvts doctor          before the first run, or when something is odd\n"
                "nnvts doctor --json   for a bug report\n",
};

/** How a finding is: good, absent (which is no problem), doubtful, or in the way of every run. */
enum state { GOOD, ABSENT, DOUBTFUL, BAD };

/** The findings, on the console or gathered as JSON. */
struct doctor {
    json_t *list; /**< NULL: print */
    const char *group;
    bool bad;
};

static NNV_PRINTF(4, 5) void find(struct doctor *d, enum state state, const char *name, const char *format, ...) {
    static const char signs[] = {' ', '-', '!', '!'};
    static const char *const states[] = {"good", "absent", "doubtful", "bad"};
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    d->bad = d->bad || state == BAD;
    if (d->list)
        json_array_append_new(d->list, json_pack("{s:s, s:s, s:s, s:s}", "group", d->group, "name", name, "state",
                                                 states[state], "text", text));
    else
        printf("%c %-22s %s\n", signs[state], name, text);
}

static void begin(struct doctor *d, const char *group) {
    d->group = group;
    if (!d->list) printf("%s\n", group);
}

/* -------------------------------------------------------------------- machine */

static void check_features(struct doctor *d) {
    const struct {
        const char *name;
        bool there;
    } features[] = {
#if defined(__x86_64__)
        {"avx2", __builtin_cpu_supports("avx2")},
        {"fma", __builtin_cpu_supports("fma")},
        {"avx512f", __builtin_cpu_supports("avx512f")},
        {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
#elif defined(__aarch64__)
        {"neon", true},
        {"dotprod", getauxval(AT_HWCAP) >> 20 & 1},
        {"i8mm", getauxval(AT_HWCAP2) >> 13 & 1},
#else
        {"", false},
#endif
    };
    struct nnv_text text = {0};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (features[i].there) nnv_text_addf(&text, "%s%s", text.len ? " " : "", features[i].name);
    find(d, text.len ? GOOD : ABSENT, "vectors", "%s",
         text.len ? text.data : "neither AVX2 nor NEON of 64 bits: the driver cpu takes its portable kernels");
    nnv_text_free(&text);
}

static void check_machine(struct doctor *d) {
    struct utsname u;
    char processor[256];
    double load[1] = {0};
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);
    begin(d, "machine");
    if (uname(&u) == 0) find(d, GOOD, "system", "%s %s %s", u.sysname, u.release, u.machine);
    nnv_file_line("/proc/cpuinfo", "model name", processor, sizeof processor);
    find(d, GOOD, "processor", "%ld of %s", cores, processor);
    check_features(d);
    find(d, pages * page >= UINT64_C(2) << 30 ? GOOD : DOUBTFUL, "memory", "%.1f GB%s", (double)(pages * page) / 1e9,
         pages * page >= UINT64_C(2) << 30 ? "" : ": run with --jobs 1");
    if (getloadavg(load, 1) == 1)
        find(d, load[0] < (double)cores / 2 ? GOOD : DOUBTFUL, "load", "%.1f%s", load[0],
             load[0] < (double)cores / 2 ? "" : ": others work here; times of bench will be doubtful");
}

/* --------------------------------------------------------------------- limits */

static void check_limit(struct doctor *d, const char *name, int which, uint64_t wanted, const char *remedy) {
    struct rlimit r;
    if (getrlimit(which, &r) != 0) return;
    if (r.rlim_cur == RLIM_INFINITY)
        find(d, GOOD, name, "unlimited");
    else
        find(d, r.rlim_cur >= wanted ? GOOD : DOUBTFUL, name, "%llu%s%s", (unsigned long long)r.rlim_cur,
             r.rlim_cur >= wanted ? "" : ": ", r.rlim_cur >= wanted ? "" : remedy);
}

static void check_space(struct doctor *d, const char *name, const char *path, uint64_t wanted) {
    struct statvfs v;
    if (statvfs(path, &v) != 0) {
        find(d, DOUBTFUL, name, "%s can't be looked at", path);
        return;
    }
    const uint64_t free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
    find(d, free_bytes >= wanted ? GOOD : DOUBTFUL, name, "%.1f GB free in %s%s", (double)free_bytes / 1e9, path,
         free_bytes >= wanted ? "" : ": a run may fill it");
}

static void check_limits(struct doctor *d) {
    begin(d, "limits");
    check_limit(d, "open files", RLIMIT_NOFILE, 256, "raise it with ulimit -n 1024");
    check_limit(d, "processes", RLIMIT_NPROC, 64, "raise it with ulimit -u");
    check_limit(d, "address space", RLIMIT_AS, UINT64_C(8) << 30, "drivers and shared memory need more: ulimit -v");
    check_space(d, "shared memory", "/dev/shm", UINT64_C(64) << 20);
    check_space(d, "working folder", ".", UINT64_C(256) << 20);
}

/* --------------------------------------------------------- libraries and tools */

/** The program's place in PATH. */
static bool in_path(const char *program, char *found, size_t size) {
    const char *path = getenv("PATH");
    while (path && *path) {
        const size_t n = strcspn(path, ":");
        const int len = snprintf(found, size, "%.*s/%s", (int)n, path, program);
        if (len > 0 && (size_t)len < size && access(found, X_OK) == 0) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

static void check_tools(struct doctor *d) {
    static const struct {
        const char *program, *without;
    } tools[] = {
        {"cc", "drivers of your own and dumps as C programs need a C compiler"},
        {"g++", "compiled models need a C++ compiler (or clang++)"},
        {"clang", "make fuzz needs clang"},
        {"dot", "plans and graphs as pictures need graphviz"},
        {"sbatch", "the recipe for Slurm needs it"},
    };
    char found[4096];
    begin(d, "libraries and tools");
    find(d, GOOD, "jansson", "%s", jansson_version_str());
    find(d, GOOD, "libxml2", "%s", LIBXML_DOTTED_VERSION);
    find(d, GOOD, "libpng", "%s", png_get_libpng_ver(NULL));
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (in_path(tools[i].program, found, sizeof found))
            find(d, GOOD, tools[i].program, "%s", found);
        else
            find(d, ABSENT, tools[i].program, "%s", tools[i].without);
}

/* -------------------------------------------------------------------- drivers */

static void check_driver(struct doctor *d, const char *name, struct nnv_arena *arena) {
    const char *path, *options;
    struct nnv_err err = {0};
    struct nnv_driver_info info = {0};
    enum nnv_status s = nnv_driver_resolve(name, arena, &path, &options, &err);
    if (s == NNV_OK) s = nnv_driver_probe(path, options, nnv_opening_ns(0, 0), arena, &info, &err);
    if (s == NNV_OK)
        find(d, GOOD, name, "%s %s, level %d", info.name, info.version, info.level);
    else if (info.options && info.options[0])
        find(d, GOOD, name, "needs options: %s:%s", name, info.options[0]);
    else
        find(d, DOUBTFUL, name, "%s", err.text);
}

static void check_drivers(struct doctor *d, struct nnv_arena *arena) {
    const char *const *names;
    size_t count = 0;
    struct nnv_err err = {0};
    begin(d, "drivers");
    const enum nnv_status s = nnv_driver_list(arena, &names, &count, &err);
    if (s != NNV_OK) find(d, BAD, "folders", "%s", err.text);
    if (s == NNV_OK && count == 0)
        find(d, BAD, "folders", "no drivers found: build them (make), or set NNVTS_DRIVER_PATH to their folder");
    for (size_t i = 0; i < count; i++) check_driver(d, names[i], arena);
}

/* ----------------------------------------------------------------------- data */

static void check_folder(struct doctor *d, const char *variable, const char *what) {
    const char *path = getenv(variable);
    if (!path || !*path) {
        find(d, ABSENT, variable, "not set: %s are not run", what);
        return;
    }
    DIR *folder = opendir(path);
    find(d, folder || access(path, R_OK) == 0 ? GOOD : DOUBTFUL, variable, "%s%s", path,
         folder || access(path, R_OK) == 0 ? "" : ": there is no such folder");
    if (folder) closedir(folder);
}

static void check_data(struct doctor *d) {
    const char *settings = nnv_settings_path();
    begin(d, "data and settings");
    check_folder(d, "NNVTS_SPECS", "test vectors of your own");
    check_folder(d, "NNVTS_MODELS", "tests over .tflite models of your own");
    check_folder(d, "NNVTS_ONNX", "ONNX's node tests");
    find(d, settings ? GOOD : ABSENT, "configuration", "%s",
         settings ? settings : "none (./.nnvts or ~/.config/nnvts/config)");
}

static enum nnv_status doctor(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    struct doctor d = {.list = c->json ? json_array() : NULL};
    if (c->json && !d.list) return nnv_no_memory(err);
    if (!c->json) puts("nnvts " NNVTS_VERSION " (" __VERSION__ ")");
    check_machine(&d);
    check_limits(&d);
    check_tools(&d);
    check_drivers(&d, c->arena);
    check_data(&d);
    if (d.list) {
        json_t *all = json_pack("{s:s, s:b, s:o}", "nnvts", NNVTS_VERSION, "usable", !d.bad, "findings", d.list);
        nnv_cli_print_json(all);
        json_decref(all);
    } else {
        puts(d.bad ? "nnvts cannot judge drivers here: see the lines that begin with '!'" : "ready");
    }
    if (d.bad) c->code = NNVTS_EXIT_FAIL;
    return NNV_OK;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {NNV_OPTION_JSON(c), NNV_OPTION_END};
    return nnv_cli_run(&c, table, &help, 0, argc, argv, doctor, &c);
}

const struct nnv_verb nnv_verb_doctor = {"doctor", "judge a driver", "what this machine has, and what is missing", run};
