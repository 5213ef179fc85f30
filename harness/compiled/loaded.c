/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/loaded.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "compiler/nnapi/build.h"
#include "compiler/nnapi/region/nnapi_region.h"
#include "harness/client/memory.h"
#include "harness/runner/worker/channel.h"
#include "base/process.h"
#include "base/words.h"
#include "nnvts/ndk.h"

enum { MOST_DEVICES = 32, REFUSAL = 192, DEVICES = 1024, REPEATS = 1 << 16, TAIL = 400 };

enum work { WORK_OPEN, WORK_RUN, WORK_END };

/** What both processes see. A driver may have written over it: the supervisor believes no length in it. */
struct shared {
    struct nnv_hub to_worker, to_supervisor;
    _Atomic uint32_t asked, answered; /**< numbers of requests */
    _Atomic uint32_t region;          /**< that is being compiled or run */
    uint32_t work, in_burst;
    uint64_t repeat;
    enum nnv_status status;
    struct nnv_err err;
    char devices[DEVICES];
    uint64_t ns[REPEATS];
};

/** What became of a region. A driver may have written over it, too. */
struct answer {
    char refusal[REFUSAL]; /**< "" if it can run */
    bool helped;           /**< with the CPU reference beside the devices that are named */
};

/** A region's functions in the library, and its instance. */
struct entries {
    void *(*create)(const struct nnapi_region_configuration *);
    int (*error)(const void *, const char **);
    int (*execute)(void *, const void *const *, void *const *, int);
    void (*destroy)(void *);
    const struct nnapi_region_description *(*describe)(void);
    void *instance;
};

struct nnv_loaded {
    const struct nnv_built *bundle;
    size_t n; /**< regions, and the class of the whole program if it is wanted */
    struct nnv_loaded_options options;
    struct nnv_arena *arena;
    struct shared *shared;
    struct answer *answers;  /**< shared: by region */
    char *values;            /**< shared: inputs, then outputs of one run, each at a multiple of 64 */
    size_t size;             /**< of all that is shared */
    pid_t pid;               /**< 0: the process has ended */
    int log;                 /**< what it prints */
    struct entries *entries; /**< worker only */
};

static size_t round_up(size_t n) { return (n + 63) / 64 * 64; }

/* -------------------------------------------------------------------- the library */

/** The functions of the runtime that tell its devices. */
#define FUNCTION(name, level) __typeof__(ANeuralNetworks##name) *name;
struct runtime {
    FUNCTION(_getDeviceCount, 3)
    FUNCTION(_getDevice, 3)
    FUNCTION(Device_getName, 3)
};

static bool load_symbol(void *library, const char *name, void *to) {
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static enum nnv_status load_runtime(const struct nnv_loaded *s, struct runtime *fn, struct nnv_err *err) {
    const char *folder = nnv_build_library_folder(s->arena);
    if (!folder) return nnv_fail(err, NNV_INVALID, "there is no libneuralnetworks.so beside this program");
    const char *path = nnv_arena_printf(s->arena, "%s/libneuralnetworks.so", folder);
    if (!path) return nnv_no_memory(err);
    /* Its name satisfies what the library of regions asks for. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) return nnv_fail(err, NNV_INVALID, "%s", dlerror());
    if (load_symbol(library, "ANeuralNetworks_getDeviceCount", &fn->_getDeviceCount) &&
        load_symbol(library, "ANeuralNetworks_getDevice", &fn->_getDevice) &&
        load_symbol(library, "ANeuralNetworksDevice_getName", &fn->Device_getName))
        return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s lacks functions of NNAPI", path);
}

/** The names of all devices, the CPU reference last. */
static enum nnv_status list_devices(const struct runtime *fn, const char **names, uint32_t *n, struct nnv_err *err) {
    uint32_t count = 0;
    bool ok = fn->_getDeviceCount(&count) == ANEURALNETWORKS_NO_ERROR;
    for (*n = 0; ok && *n < count && *n < MOST_DEVICES; ++*n) {
        ANeuralNetworksDevice *device = NULL;
        ok = fn->_getDevice(*n, &device) == ANEURALNETWORKS_NO_ERROR &&
             fn->Device_getName(device, &names[*n]) == ANEURALNETWORKS_NO_ERROR;
    }
    return ok && *n > 0 ? NNV_OK : nnv_fail(err, NNV_INVALID, "NNAPI's runtime does not tell its devices");
}

/** The devices of the session: names[0..n) of all that there are, then the CPU reference; n 0: NNAPI chooses. */
static enum nnv_status choose_devices(const struct nnv_loaded *s, const struct runtime *fn, const char **names,
                                      uint32_t *n, struct nnv_err *err) {
    const char *drivers = s->options.drivers, *hash = drivers ? strchr(drivers, '#') : NULL;
    uint32_t count, wanted = drivers && *drivers && drivers != hash;
    enum nnv_status st = list_devices(fn, names, &count, err);
    if (st != NNV_OK) return st;
    for (const char *p = drivers; p && *p && p != hash; p++) wanted += *p == ',';
    if (drivers && count - 1 != wanted)
        return nnv_fail(err, NNV_INVALID, "--driver '%s': NNAPI's runtime can't use %s", drivers,
                        wanted == 1 ? "it" : "all of them");
    const bool automatic = hash ? strcmp(hash, "#auto") == 0 : wanted == 0;
    struct nnv_text t = {0};
    if (hash && !automatic) {
        for (*n = 0; *n < count && strcmp(names[*n], hash + 1) != 0;) ++*n;
        if (*n == count) return nnv_fail(err, NNV_INVALID, "--driver '%s': there is no such device", drivers);
        names[0] = names[*n];
    }
    *n = automatic ? 0 : hash ? 1 : wanted;
    if (*n) names[*n] = names[count - 1];
    for (uint32_t i = 0; i < (automatic ? count : *n); i++) nnv_text_addf(&t, "%s%s", i ? ", " : "", names[i]);
    snprintf(s->shared->devices, DEVICES, "%s", t.data ? t.data : "");
    nnv_text_free(&t);
    return NNV_OK;
}

static enum nnv_status load_region(const struct nnv_loaded *s, void *library, size_t r, struct nnv_err *err) {
    const struct nnv_built_region *g = &s->bundle->regions[r];
    struct entries *e = &s->entries[r];
    const struct {
        const char *name;
        void *to;
    } list[] = {{"create", &e->create},
                {"error", &e->error},
                {"execute", &e->execute},
                {"destroy", &e->destroy},
                {"describe", &e->describe}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const char *name = nnv_arena_printf(s->arena, "%s_%s", g->function, list[i].name);
        if (!name) return nnv_no_memory(err);
        if (!load_symbol(library, name, list[i].to))
            return nnv_fail(err, NNV_INVALID, "%s: there is no function %s", s->bundle->library, name);
    }
    const struct nnapi_region_description *d = e->describe();
    bool same = d->input_count == g->model.main.nin && d->output_count == g->model.main.nout;
    for (uint32_t i = 0; same && i < d->input_count; i++) same = d->input_bytes[i] == g->in_bytes[i];
    for (uint32_t i = 0; same && i < d->output_count; i++) same = d->output_bytes[i] == g->out_bytes[i];
    return same ? NNV_OK
                : nnv_fail(err, NNV_INVALID, "%s: %s is not what plan.json says", s->bundle->library, g->function);
}

/* Makes the instance of a region; its result code. */
static int create(struct entries *e, const struct nnapi_region_configuration *c, const char **where) {
    if (e->instance) e->destroy(e->instance);
    e->instance = e->create(c);
    return e->instance ? e->error(e->instance, where) : ANEURALNETWORKS_OUT_OF_MEMORY;
}

/* IF and WHILE may be NNAPI's part: its CPU reference may stand beside the devices for them, which are c's names. */
static bool may_help(const struct nnv_loaded *s, size_t r, const struct nnapi_region_configuration *c) {
    bool may = r < s->bundle->n_regions && s->bundle->regions[r].model.nreferenced > 0;
    for (size_t i = 0; r == s->bundle->n_regions && i < r; i++) may = may || s->answers[i].helped;
    return may && c->device_count > 0;
}

static void compile_region(const struct nnv_loaded *s, size_t r, const struct nnapi_region_configuration *c) {
    struct answer *a = &s->answers[r];
    const char *where = "";
    char buf[32];
    atomic_store(&s->shared->region, (uint32_t)r);
    nnv_hub_notify(&s->shared->to_supervisor);
    int code = create(&s->entries[r], c, &where);
    if (code != ANEURALNETWORKS_NO_ERROR && may_help(s, r, c)) {
        struct nnapi_region_configuration more = *c;
        more.device_count++;
        code = create(&s->entries[r], &more, &where);
        a->helped = code == ANEURALNETWORKS_NO_ERROR;
    }
    if (code != ANEURALNETWORKS_NO_ERROR)
        snprintf(a->refusal, REFUSAL, "%s%s%s", where, *where ? ": " : "", nnv_result_name(code, buf));
}

static enum nnv_status open_library(const struct nnv_loaded *s, struct nnv_err *err) {
    const char *names[MOST_DEVICES];
    uint32_t n = 0;
    struct runtime fn;
    enum nnv_status st = load_runtime(s, &fn, err);
    if (st == NNV_OK) st = choose_devices(s, &fn, names, &n, err);
    if (st != NNV_OK || s->n == 0) return st;
    const char *path = s->bundle->library;
    const char *cache = s->options.cache ? nnv_arena_printf(s->arena, "%s/", s->options.cache) : NULL;
    if (!strchr(path, '/')) path = nnv_arena_printf(s->arena, "./%s", path);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) return nnv_fail(err, NNV_INVALID, "%s", dlerror());
    const struct nnapi_region_configuration c = {
        .devices = names, .device_count = n, .cache_folder = cache, .folder = s->bundle->folder};
    for (size_t r = 0; r < s->n && st == NNV_OK; r++) st = load_region(s, library, r, err);
    for (size_t r = 0; r < s->n && st == NNV_OK; r++) compile_region(s, r, &c);
    return st;
}

/* --------------------------------------------------------------------- the worker */

/** Places of the inputs and outputs of region r in what is shared. */
static void find_values(const struct nnv_loaded *s, size_t r, void **in, void **out) {
    const struct nnv_built_region *g = &s->bundle->regions[r];
    char *at = s->values;
    for (uint32_t i = 0; i < g->model.main.nin; i++, at += round_up(g->in_bytes[i - 1])) in[i] = at;
    for (uint32_t i = 0; i < g->model.main.nout; i++, at += round_up(g->out_bytes[i - 1])) out[i] = at;
}

static enum nnv_status run_region(const struct nnv_loaded *s, struct nnv_err *err) {
    struct shared *h = s->shared;
    const uint32_t r = atomic_load(&h->region);
    const struct nnv_subgraph *m = &s->bundle->regions[r].model.main;
    struct nnv_arena *arena = nnv_arena_new();
    void **in = arena ? NNV_NEW(arena, void *, m->nin) : NULL, **out = arena ? NNV_NEW(arena, void *, m->nout) : NULL;
    enum nnv_status st = in && out ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK) find_values(s, r, in, out);
    for (uint64_t k = 0; k < h->repeat && st == NNV_OK; k++) {
        const uint64_t start = nnv_now_ns();
        const int code = s->entries[r].execute(s->entries[r].instance, (const void *const *)in, out, (int)h->in_burst);
        char buf[32];
        h->ns[k] = nnv_now_ns() - start;
        if (code != ANEURALNETWORKS_NO_ERROR)
            st = nnv_fail(err, NNV_UNSUPPORTED, "execution answered %s", nnv_result_name(code, buf));
    }
    nnv_arena_free(arena);
    return st;
}

static _Noreturn void work(struct nnv_loaded *s) {
    struct shared *h = s->shared;
    uint32_t done = 0;
    nnv_process_sandbox(s->log);
    if (s->options.drivers) {
        const char *list =
            nnv_arena_printf(s->arena, "%.*s", (int)strcspn(s->options.drivers, "#"), s->options.drivers);
        if (list) setenv("NNVTS_DRIVERS", list, 1);
    }
    for (;;) {
        const uint32_t wake = atomic_load(&h->to_worker.wake);
        if (atomic_load(&h->asked) == done) {
            nnv_hub_wait(&h->to_worker, wake, UINT64_C(1000000000));
            continue;
        }
        if (h->work == WORK_END) break;
        struct nnv_err err = {0};
        h->status = h->work == WORK_OPEN ? open_library(s, &err) : run_region(s, &err);
        h->err = err;
        atomic_store(&h->answered, ++done);
        nnv_hub_notify(&h->to_supervisor);
    }
    for (size_t r = 0; r < s->n; r++)
        if (s->entries[r].instance) s->entries[r].destroy(s->entries[r].instance);
    _exit(0);
}

/* ----------------------------------------------------------------- the supervisor */

/** The last line that the process printed, for messages. */
static const char *last_words(const struct nnv_loaded *s, char *buf) {
    const off_t end = lseek(s->log, 0, SEEK_END), from = end > TAIL ? end - TAIL : 0;
    ssize_t n = pread(s->log, buf, TAIL, from);
    while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == ' ')) n--;
    buf[n > 0 ? n : 0] = 0;
    const char *line = strrchr(buf, '\n');
    return line ? line + 1 : buf;
}

static void forget(struct nnv_loaded *s, struct nnv_end *end) {
    nnv_process_kill(s->pid);
    nnv_process_wait(s->pid, UINT64_C(1000000000), end);
    s->pid = 0;
}

static const char *region_name(const struct nnv_loaded *s, const char *doing, char *buf, size_t room) {
    const uint32_t r = atomic_load(&s->shared->region);
    if (r < s->n)
        snprintf(buf, room, "%s %s", doing, s->bundle->regions[r].function);
    else
        snprintf(buf, room, "opening drivers");
    return buf;
}

/** Asks and waits: the time begins anew with each region that is compiled. */
static enum nnv_status ask(struct nnv_loaded *s, enum work what, uint64_t timeout_ns, struct nnv_err *err) {
    struct shared *h = s->shared;
    char where[160], how[64], words[TAIL + 1];
    const uint32_t number = atomic_load(&h->asked) + 1;
    uint64_t start = nnv_now_ns();
    uint32_t region = atomic_load(&h->region);
    h->work = what;
    atomic_store(&h->asked, number);
    nnv_hub_notify(&h->to_worker);
    for (;;) {
        const uint32_t wake = atomic_load(&h->to_supervisor.wake);
        struct nnv_end end = {0};
        if (atomic_load(&h->answered) == number) break;
        region_name(s, what == WORK_OPEN ? "compiling" : "running", where, sizeof where);
        if (nnv_process_ended(s->pid, &end)) {
            s->pid = 0;
            if (atomic_load(&h->answered) == number) break;
            return nnv_fail(err, NNV_INTERNAL, "the driver's process %s, %s", nnv_end_text(&end, how), where);
        }
        if (region != atomic_load(&h->region)) {
            region = atomic_load(&h->region);
            start = nnv_now_ns();
        }
        if (nnv_now_ns() - start > timeout_ns) {
            forget(s, &end);
            return nnv_fail(err, NNV_TIMEOUT, "no answer within --timeout, %s", where);
        }
        nnv_hub_wait(&h->to_supervisor, wake, UINT64_C(50000000));
    }
    h->err.text[NNV_ERR_TEXT - 1] = 0;
    if (h->status == NNV_OK) return NNV_OK;
    const char *said = what == WORK_OPEN ? last_words(s, words) : "";
    return nnv_fail(err, h->status, "%s%s%s", h->err.text, *said ? ": " : "", said);
}

/** Room for the values of any region. */
static bool values_room(const struct nnv_loaded *s, size_t *room) {
    *room = 0;
    for (size_t r = 0; r < s->n; r++) {
        const struct nnv_built_region *g = &s->bundle->regions[r];
        size_t n = 0;
        bool over = false;
        for (uint32_t i = 0; i < g->model.main.nin; i++)
            over |= __builtin_add_overflow(n, round_up(g->in_bytes[i]), &n);
        for (uint32_t i = 0; i < g->model.main.nout; i++)
            over |= __builtin_add_overflow(n, round_up(g->out_bytes[i]), &n);
        if (over) return false;
        if (n > *room) *room = n;
    }
    return true;
}

static enum nnv_status share(struct nnv_loaded *s, struct nnv_err *err) {
    size_t values, head = round_up(sizeof *s->shared), answers = round_up(s->n * sizeof *s->answers);
    if (!values_room(s, &values) || __builtin_add_overflow(head + answers, values, &s->size))
        return nnv_fail(err, NNV_INVALID, "the values of a region take too much memory");
    char *all = nnv_shared_new(s->size);
    if (!all) return nnv_no_memory(err);
    s->shared = (struct shared *)(void *)all;
    s->answers = (struct answer *)(void *)(all + head);
    s->values = all + head + answers;
    atomic_store(&s->shared->region, UINT32_MAX);
    return NNV_OK;
}

enum nnv_status nnv_loaded_start(const struct nnv_built *b, const struct nnv_loaded_options *options,
                                 struct nnv_arena *arena, struct nnv_loaded **loaded, struct nnv_err *err) {
    struct nnv_loaded *s = NNV_NEW(arena, struct nnv_loaded, 1);
    if (!s) return nnv_no_memory(err);
    *s = (struct nnv_loaded){.bundle = b, .options = *options, .arena = arena, .log = -1};
    s->n = b->n_regions + (options->whole && b->has_class);
    if (b->machine)
        return nnv_fail(err, NNV_INVALID, "%s: it was compiled with --target %s: its library does not run here",
                        b->folder, b->machine);
    if (b->n_regions && !b->library)
        return nnv_fail(err, NNV_INVALID, "%s: it was compiled with --no-build: there is no library to run", b->folder);
    s->entries = NNV_NEW(arena, struct entries, s->n);
    enum nnv_status st = s->entries ? share(s, err) : nnv_no_memory(err);
    if (st != NNV_OK) return st;
    s->log = nnv_memory_file("nnvts-loaded", 0, 0);
    s->pid = s->log < 0 ? -1 : nnv_process_fork();
    if (s->pid == 0) work(s);
    if (s->pid < 0) {
        s->pid = 0;
        st = nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
    }
    if (st == NNV_OK) st = ask(s, WORK_OPEN, options->timeout_ns, err);
    if (st == NNV_OK)
        *loaded = s;
    else
        nnv_loaded_end(s);
    return st;
}

void nnv_loaded_end(struct nnv_loaded *s) {
    struct nnv_end end;
    if (!s) return;
    if (s->pid) {
        s->shared->work = WORK_END;
        atomic_fetch_add(&s->shared->asked, 1);
        nnv_hub_notify(&s->shared->to_worker);
        nnv_process_wait(s->pid, s->options.timeout_ns, &end);
    }
    if (s->log >= 0) close(s->log);
    nnv_shared_free(s->shared, s->size);
}

const char *nnv_loaded_refusal(const struct nnv_loaded *s, size_t r) {
    s->answers[r].refusal[REFUSAL - 1] = 0;
    return *s->answers[r].refusal ? s->answers[r].refusal : NULL;
}

bool nnv_loaded_helped(const struct nnv_loaded *s, size_t r) { return s->answers[r].helped; }

const char *nnv_loaded_devices(const struct nnv_loaded *s) {
    s->shared->devices[DEVICES - 1] = 0;
    return s->shared->devices;
}

enum nnv_status nnv_loaded_run(struct nnv_loaded *s, size_t r, const void *const *inputs, void *const *outputs,
                               bool in_burst, uint64_t repeat, uint64_t *ns, struct nnv_err *err) {
    const struct nnv_built_region *g = &s->bundle->regions[r];
    struct nnv_arena *arena = nnv_arena_new();
    void **in = arena ? NNV_NEW(arena, void *, g->model.main.nin) : NULL;
    void **out = arena ? NNV_NEW(arena, void *, g->model.main.nout) : NULL;
    enum nnv_status st = in && out ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK && !s->pid) st = nnv_fail(err, NNV_INTERNAL, "the driver's process has ended");
    if (st == NNV_OK) find_values(s, r, in, out);
    for (uint32_t i = 0; st == NNV_OK && i < g->model.main.nin; i++) memcpy(in[i], inputs[i], g->in_bytes[i]);
    for (uint32_t i = 0; st == NNV_OK && i < g->model.main.nout; i++) memset(out[i], 0xa5, g->out_bytes[i]);
    s->shared->repeat = repeat < REPEATS ? repeat : REPEATS;
    s->shared->in_burst = in_burst;
    atomic_store(&s->shared->region, (uint32_t)r);
    if (st == NNV_OK) st = ask(s, WORK_RUN, s->options.timeout_ns, err);
    for (uint32_t i = 0; st == NNV_OK && i < g->model.main.nout; i++) memcpy(outputs[i], out[i], g->out_bytes[i]);
    for (uint64_t k = 0; st == NNV_OK && k < repeat && k < REPEATS; k++) ns[k] = s->shared->ns[k];
    nnv_arena_free(arena);
    return st;
}
