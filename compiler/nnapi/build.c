/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/nnapi/build.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"
#include "base/text.h"

enum { MOST_WORDS = 16 /**< of $CXX */, SAID = 1 << 20 /**< bytes that it may print */ };

/* ------------------------------------------------------------------------- finding */

const char *nnv_build_library_folder(struct nnv_arena *arena) {
    static const char *const folders[] = {"lib", "../lib"};
    char exe[PATH_MAX], full[PATH_MAX];
    char *slash = nnv_file_of_program(exe, sizeof exe) ? strrchr(exe, '/') : NULL;
    if (!slash) return NULL;
    *slash = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *path = nnv_arena_printf(arena, "%s/%s/libneuralnetworks.so", exe, folders[i]);
        if (!path || access(path, R_OK) != 0 || !realpath(path, full)) continue;
        return nnv_arena_printf(arena, "%.*s", (int)(strrchr(full, '/') - full), full);
    }
    return NULL;
}

static bool is_program(const char *name, struct nnv_arena *arena) {
    const char *path = getenv("PATH");
    if (strchr(name, '/')) return access(name, X_OK) == 0;
    while (path && *path) {
        const size_t len = strcspn(path, ":");
        const char *full = nnv_arena_printf(arena, "%.*s/%s", (int)len, path, name);
        if (full && access(full, X_OK) == 0) return true;
        path += len + (path[len] == ':');
    }
    return false;
}

/** The compiler for another machine. */
static enum nnv_status find_cross_compiler(const char *target, struct nnv_arena *arena, const char **words, size_t *n,
                                           struct nnv_err *err) {
    static const char *const usual[] = {"g++", "clang++"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const char *name = nnv_arena_printf(arena, "%s-%s", target, usual[i]);
        if (!name) return nnv_no_memory(err);
        if (!is_program(name, arena)) continue;
        words[(*n)++] = name;
        return NNV_OK;
    }
    return nnv_fail(err, NNV_UNSUPPORTED,
                    "--target %s: there is no %s-g++ and no %s-clang++ (Debian: apt-get install g++-%s; Android: the "
                    "NDK's toolchains/llvm/prebuilt/*/bin belongs into PATH); --no-build leaves the library out",
                    target, target, target, target);
}

/** The words of the command that compiles C++. */
static enum nnv_status find_compiler(struct nnv_arena *arena, const char **words, size_t *n, struct nnv_err *err) {
    static const char *const usual[] = {"c++", "g++", "clang++"};
    const char *cxx = getenv("CXX");
    if (cxx && *cxx) {
        char *rest = nnv_arena_strdup(arena, cxx), *save = NULL;
        if (!rest) return nnv_no_memory(err);
        for (char *word = strtok_r(rest, " \t", &save); word && *n < MOST_WORDS; word = strtok_r(NULL, " \t", &save))
            words[(*n)++] = word;
        if (*n && is_program(words[0], arena)) return NNV_OK;
        return nnv_fail(err, NNV_UNSUPPORTED, "CXX='%s': there is no such program; --no-build leaves the library out",
                        cxx);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (is_program(usual[i], arena)) {
            words[(*n)++] = usual[i];
            return NNV_OK;
        }
    return nnv_fail(err, NNV_UNSUPPORTED,
                    "no C++ compiler: c++, g++ and clang++ are not there (Debian: apt-get install g++); $CXX names "
                    "another, --no-build leaves the library out");
}

/* ------------------------------------------------------------------------- running */

/** Runs the command in the folder; what it said is cut to fit. */
static enum nnv_status run(const char *folder, char **words, struct nnv_err *err) {
    const struct nnv_tool compiler = {
        .words = words, .folder = folder, .most = SAID, .speaks = true, .timeout_ns = UINT64_MAX};
    struct nnv_text said = {0};
    struct nnv_err why;
    enum nnv_status st = nnv_tool_run(&compiler, &said, &why);
    if (st != NNV_OK)
        st = nnv_fail(err, st, "%s could not make the library: %.500s", words[0], said.len > 0 ? said.data : why.text);
    nnv_text_free(&said);
    return st;
}

/* ------------------------------------------------------------------------- linking */

static const char STUB[] = ".nnapi-stub.so";

/** A command that is being put together: the compiler's words and at most `more`. */
struct command {
    struct nnv_arena *arena;
    char **words;
    size_t n;
    bool failed;
};

static void add(struct command *c, const char *word) {
    if (!c->words || !word || !(c->words[c->n] = nnv_arena_strdup(c->arena, word)))
        c->failed = true;
    else
        c->n++;
}

static void add_all(struct command *c, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++) add(c, words[i]);
}

static struct command new_command(const char *const *compiler, size_t n, size_t more, struct nnv_arena *arena) {
    struct command c = {.arena = arena, .words = NNV_NEW(arena, char *, n + more + 1)};
    add_all(&c, compiler, n);
    return c;
}

static enum nnv_status run_command(const struct command *c, const char *folder, struct nnv_err *err) {
    return c->failed ? nnv_no_memory(err) : run(folder, c->words, err);
}

/** An empty library of NNAPI's name: linking with it writes that name down, and needs no library for the machine. */
static enum nnv_status make_stub(const struct nnv_build *b, const char *const *compiler, size_t n,
                                 struct nnv_arena *arena, struct nnv_err *err) {
    static const char *const flags[] = {"-shared", "-nostdlib", "-Wl,-soname,libneuralnetworks.so", "-o", STUB, "-x",
                                        "c++",     "/dev/null"};
    enum { FLAGS = sizeof flags / sizeof *flags };
    struct command c = new_command(compiler, n, FLAGS, arena);
    add_all(&c, flags, FLAGS);
    return run_command(&c, b->folder, err);
}

enum nnv_status nnv_build_library(const struct nnv_build *b, struct nnv_arena *arena, struct nnv_err *err) {
    static const char *const flags[] = {
        "-std=c++17",          "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-s",
        "-Wl,--build-id=none", "-I."};
    enum { FLAGS = sizeof flags / sizeof *flags };
    const char *compiler[MOST_WORDS];
    char nnapi[PATH_MAX] = "";
    size_t n = 0;
    if (b->nnapi && !realpath(b->nnapi, nnapi))
        return nnv_fail(err, NNV_INVALID, "--library %s: %s", b->nnapi, strerror(errno));
    enum nnv_status st =
        b->target ? find_cross_compiler(b->target, arena, compiler, &n, err) : find_compiler(arena, compiler, &n, err);
    if (st == NNV_OK && !b->nnapi) st = make_stub(b, compiler, n, arena, err);
    if (st != NNV_OK) return st;
    struct command c = new_command(compiler, n, FLAGS + b->n_sources + 5, arena);
    add_all(&c, flags, FLAGS);
    add(&c, nnv_arena_printf(arena, "-Wl,-soname,%s", b->library));
    add(&c, "-o");
    add(&c, b->library);
    add_all(&c, b->sources, b->n_sources);
    add(&c, "-Wl,--no-as-needed");
    add(&c, b->nnapi ? nnapi : STUB);
    st = run_command(&c, b->folder, err);
    const char *stub = nnv_arena_printf(arena, "%s/%s", b->folder, STUB);
    if (!b->nnapi && stub) unlink(stub);
    return st;
}
