/* SPDX-License-Identifier: Apache-2.0 */
/** @file facts.c What the journal's first line and commands say of a run. */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/driver.h"
#include "base/rng.h"
#include "harness/runner/run.h"
#include "harness/runner/tier.h"
#include "reference/model/op.h"

/* ----------------------------------------------------------------- builds */

/** False if the path is no file that can be read. */
static bool hash_file(const char *path, uint64_t *out) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    void *data = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (fd >= 0) close(fd);
    if (data == MAP_FAILED) return false;
    *out = nnv_hash_words(data, (size_t)st.st_size);
    munmap(data, (size_t)st.st_size);
    return true;
}

/** Hashes the build ID that the linker made of this program's contents; the program is the first object. */
static int hash_build_id(struct dl_phdr_info *object, size_t size, void *out) {
    (void)size;
    uint64_t *hash = out;
    for (size_t i = 0; i < object->dlpi_phnum && *hash == 0; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE || segment->p_align > 4) continue;
        const char *at = (const char *)object->dlpi_addr + segment->p_vaddr, *end = at + segment->p_memsz;
        while (at < end && (size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note, *bytes = name + (note->n_namesz + 3) / 4 * 4;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                *hash = nnv_hash_bytes(bytes, note->n_descsz);
                break;
            }
            at = bytes + (note->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

void nnv_build_hash(const char *path, char *buf) {
    uint64_t h = 0;
    *buf = '\0';
    if (path == NULL) (void)dl_iterate_phdr(hash_build_id, &h);
    if (h != 0 || hash_file(path == NULL ? "/proc/self/exe" : path, &h)) snprintf(buf, 17, "%016" PRIx64, h);
}

/** The same for a driver and what its options name, and so on: "runtime:host:cpu" is three files. */
static void build_hash_driver(const struct nnv_run_config *config, char *buf) {
    enum { DEEPEST = 8 };
    uint64_t chain[2] = {0};
    const char *path = config->driver_path, *options = config->driver_options;
    struct nnv_arena *arena = nnv_arena_new();
    *buf = '\0';
    for (int depth = 0; arena != NULL && path != NULL && depth < DEEPEST; depth++) {
        struct nnv_err none = {0};
        if (!hash_file(path, &chain[1])) break;
        chain[0] = nnv_hash_bytes(chain, sizeof chain);
        snprintf(buf, 17, "%016" PRIx64, chain[0]);
        const char *next = options == NULL ? "" : options;
        next = nnv_arena_printf(arena, "%.*s", (int)strcspn(next, ",#"), next);
        if (next == NULL || *next == '\0' || nnv_driver_resolve(next, arena, &path, &options, &none) != NNV_OK) break;
    }
    nnv_arena_free(arena);
}

/** What the driver loads is a part of its build, in whatever order. */
static void add_libraries(const char *const *path, char *buf) {
    uint64_t sum[2] = {*buf != '\0' ? nnv_hash_str(buf) : 0, 0}, h;
    size_t count = 0;
    for (; path != NULL && *path != NULL; path++) {
        if (!hash_file(*path, &h)) continue;
        sum[1] += h;
        count++;
    }
    if (*buf != '\0' && count > 1) snprintf(buf, 17, "%016" PRIx64, nnv_hash_bytes(sum, sizeof sum));
}

/** The files that cases are read from, in the order of the cases. */
static void hash_specs(const struct nnv_case *cases, size_t count, char *buf) {
    uint64_t sum[2] = {0};
    const char *last = NULL;
    *buf = '\0';
    for (size_t i = 0; i < count; i++) {
        if (cases[i].file == NULL || (last != NULL && strcmp(cases[i].file, last) == 0)) continue;
        last = cases[i].file;
        sum[1] = 0;
        hash_file(last, &sum[1]);
        sum[0] = nnv_hash_bytes(sum, sizeof sum);
        snprintf(buf, 17, "%016" PRIx64, sum[0]);
    }
}

/* --------------------------------------------------------------------- facts */

static void add_suites(const struct nnv_run_facts *f, struct nnv_json_out *j) {
    size_t nsuites;
    const struct nnv_suite *const *suites = nnv_suites(&nsuites);
    nnv_json_open(j, "suites", '{');
    for (size_t i = 0; i < nsuites; i++) {
        size_t n = 0;
        bool same = false;
        for (size_t k = 0; k < f->case_count; k++) { /* neighbours share the string */
            if (k == 0 || f->cases[k].suite != f->cases[k - 1].suite)
                same = strcmp(f->cases[k].suite, suites[i]->name) == 0;
            n += same;
        }
        if (n == 0) continue;
        nnv_json_open(j, suites[i]->name, '{');
        nnv_json_string(j, "summary", suites[i]->summary);
        nnv_json_uint(j, "cases", n);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, '}');
}

/* The suites, and which types each operation accepts: what a report may call untested. */
static void add_more(const struct nnv_run_facts *f, struct nnv_json_out *j) {
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    add_suites(f, j);
    nnv_json_open(j, "coverage", '{');
    for (size_t i = 0; i < nops; i++) {
        nnv_json_open(j, ops[i]->name, '[');
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            int32_t type = ops[i]->sigs[sig].type[NNV_T];
            bool seen = false;
            for (int before = 0; before < sig; before++) seen |= ops[i]->sigs[before].type[NNV_T] == type;
            if (!seen) nnv_json_string(j, NULL, nnv_type(type)->tag);
        }
        nnv_json_close(j, ']');
    }
    nnv_json_close(j, '}');
}

void nnv_config_facts(const struct nnv_run_config *config, struct nnv_run_facts *f) {
    *f = (struct nnv_run_facts){
        .driver = config->driver,
        .seed = config->seed,
        .jobs = config->jobs,
        .precision = config->precision < 0 ? "default" : nnv_precision_name((enum nnv_precision)config->precision),
        .tier = nnv_tier_name(config->tier),
        .specs = config->specs,
        .count = config->count,
        .budget_ns = config->budget_ns,
        .min_judged = config->min_judged,
        .stress_ns = config->stress_ns,
        .suspend = config->suspend_hook,
        .repeat = config->repeat,
        .determinism = config->determinism != NNV_DETERMINISM_OFF,
        .compile_only = config->compile_only,
        .saturation = config->saturation,
        .networks = config->networks,
    };
    _Static_assert(sizeof f->arithmetic >= NNV_ARITHMETIC_TEXT, "the longest text fits");
    if (config->arithmetic) nnv_arithmetic_text(config->arithmetic, f->arithmetic);
}

void nnv_run_header(const struct nnv_run_options *o, const struct nnv_driver_info *driver, struct nnv_text *out) {
    struct nnv_run_facts f;
    nnv_config_facts(o->config, &f);
    f.name = driver->name;
    f.version = driver->version;
    f.type = driver->type;
    f.level = driver->level;
    f.graphs = driver->graphs;
    f.argc = o->argc;
    f.argv = o->argv;
    f.cases = o->cases;
    f.case_count = o->count;
    f.expectations = o->expectations;
    f.shard = o->shard;
    nnv_build_hash(NULL, f.program_build);
    build_hash_driver(o->config, f.driver_build);
    add_libraries(driver->libraries, f.driver_build);
    hash_specs(o->cases, o->count, f.specs_hash);
    f.more = add_more;
    nnv_record_header(&f, out);
}
