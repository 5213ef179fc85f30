/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/nnapi/build.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

enum { MOST_WORDS = 16 /**< of $CXX */, SAID = 4096 };

/* ------------------------------------------------------------------------- finding */

/** The first folder that holds the file; folders are named from that of this program. */
static const char *find_beside(const char *const *folders, const char *file, struct nnv_arena *arena) {
    char exe[PATH_MAX], full[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (!slash) return NULL;
    *slash = 0;
    for (; *folders; folders++) {
        const char *folder = nnv_arena_printf(arena, "%s/%s", exe, *folders);
        const char *path = folder ? nnv_arena_printf(arena, "%s/%s", folder, file) : NULL;
        if (path && access(path, R_OK) == 0 && realpath(folder, full)) return nnv_arena_strdup(arena, full);
    }
    return NULL;
}

const char *nnv_build_library_folder(struct nnv_arena *arena) {
    static const char *const folders[] = {"lib", "../lib", NULL};
    return find_beside(folders, "libneuralnetworks.so", arena);
}

/** NNAPI's headers: installed, or of the source tree that the build folder lies in. */
static const char *include_folder(struct nnv_arena *arena) {
    static const char *const folders[] = {"../include", "../../include", NULL};
    return find_beside(folders, "NeuralNetworks.h", arena);
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

/** The words of the command that compiles C++. */
static enum nnv_status find_compiler(struct nnv_arena *arena, const char **words, size_t *n, struct nnv_err *err) {
    static const char *const usual[] = {"c++", "g++", "clang++"};
    const char *cxx = getenv("CXX");
    *n = 0;
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

/** In the new process. */
static _Noreturn void exec_compiler(const char *folder, char **words, int to) {
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    if (chdir(folder) == 0) execvp(words[0], words);
    dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

/** Runs the command in the folder; what it said is cut to fit. */
static enum nnv_status run(const char *folder, char **words, struct nnv_err *err) {
    char said[SAID + 1], rest[512];
    size_t n = 0;
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) return nnv_fail(err, NNV_IO, "no pipe: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) exec_compiler(folder, words, ends[1]);
    close(ends[1]);
    for (ssize_t got = 1; pid > 0 && (got > 0 || errno == EINTR);) {
        got = n < SAID ? read(ends[0], said + n, SAID - n) : read(ends[0], rest, sizeof rest);
        if (got == 0) break;
        if (got > 0 && n < SAID) n += (size_t)got;
    }
    close(ends[0]);
    said[n] = 0;
    if (pid < 0) return nnv_fail(err, NNV_IO, "cannot start %s: %s", words[0], strerror(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s could not make the library: %.500s", words[0],
                    n ? said : "it ended without a message");
}

enum nnv_status nnv_build_library(const char *folder, const char *const *sources, size_t n, const char *library,
                                  struct nnv_arena *arena, struct nnv_err *err) {
    static const char *const flags[] = {
        "-std=c++17",          "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-s",
        "-Wl,--build-id=none", "-I."};
    enum { FLAGS = sizeof flags / sizeof *flags };
    const char *compiler[MOST_WORDS], *libraries = nnv_build_library_folder(arena), *headers = include_folder(arena);
    size_t n_compiler = 0, k = 0;
    if (!libraries || !headers)
        return nnv_fail(err, NNV_UNSUPPORTED,
                        "%s is not beside this program (make all, or make install, puts it there); --no-build leaves "
                        "the library out",
                        libraries ? "NeuralNetworks.h" : "libneuralnetworks.so");
    enum nnv_status st = find_compiler(arena, compiler, &n_compiler, err);
    if (st != NNV_OK) return st;
    char **words = NNV_NEW(arena, char *, n_compiler + FLAGS + n + 8);
    if (!words) return nnv_no_memory(err);
    for (size_t i = 0; i < n_compiler; i++) words[k++] = nnv_arena_strdup(arena, compiler[i]);
    for (size_t i = 0; i < FLAGS; i++) words[k++] = nnv_arena_strdup(arena, flags[i]);
    words[k++] = nnv_arena_printf(arena, "-Wl,-soname,%s", library);
    words[k++] = nnv_arena_printf(arena, "-I%s", headers);
    words[k++] = nnv_arena_strdup(arena, "-o");
    words[k++] = nnv_arena_strdup(arena, library);
    for (size_t i = 0; i < n; i++) words[k++] = nnv_arena_strdup(arena, sources[i]);
    words[k++] = nnv_arena_printf(arena, "-L%s", libraries);
    words[k++] = nnv_arena_strdup(arena, "-lneuralnetworks");
    for (size_t i = 0; i < k; i++)
        if (!words[i]) return nnv_no_memory(err);
    return run(folder, words, err);
}
