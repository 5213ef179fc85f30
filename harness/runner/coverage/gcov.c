/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/coverage/gcov.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/program.h"
#include "base/text.h"

enum { AT_ONCE = 64, BYTES_A_FILE = 8 << 20 };
static const uint64_t GCOV_NS = UINT64_C(60000000000);
static const char *const counts[] = {".gcda", NULL};

bool nnv_gcov_counts(const char *path) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *data = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0) close(fd);
    if (data == MAP_FAILED) return false;
    const bool found = memmem(data, (size_t)st.st_size, ".gcda", sizeof ".gcda") != NULL;
    munmap(data, (size_t)st.st_size);
    return found;
}

enum nnv_status nnv_gcov_begin(const char *out, char **folder, struct nnv_err *err) {
    struct nnv_text t = {0};
    char **paths = NULL;
    size_t count = 0;
    nnv_text_addf(&t, "%s/gcov", out);
    enum nnv_status st = t.failed ? nnv_no_memory(err) : nnv_folder_make(t.data, err);
    if (st == NNV_OK) st = nnv_file_list(t.data, counts, &paths, &count, err);
    for (size_t i = 0; i < count && st == NNV_OK; i++) st = nnv_folder_remove(paths[i], err);
    if (st == NNV_OK && (*folder = realpath(t.data, NULL)) == NULL) st = nnv_no_memory(err);
    nnv_file_list_free(paths, count);
    nnv_text_free(&t);
    return st;
}

void nnv_gcov_write_to(const char *folder) { setenv("GCOV_PREFIX", folder, 1); }

/** The notes of the compiler, which lie where the counts would without a folder of their own, are to lie beside them.
 */
static void bring_notes(const char *folder, char *path) {
    char *notes = strdup(path);
    if (notes == NULL) return;
    memcpy(notes + strlen(notes) - 5, ".gcno", 5);
    if (symlink(notes + strlen(folder), notes) != 0 && access(notes, R_OK) != 0) unlink(notes);
    free(notes);
}

/** Sees the lines of one object of gcov's answer. */
static bool see_object(const json_t *root, bool (*see)(void *context, const char *file, uint32_t line, bool reached),
                       void *context) {
    const char *folder = json_string_value(json_object_get(root, "current_working_directory"));
    const json_t *file, *line;
    size_t i, k;
    bool ok = true;
    json_array_foreach(json_object_get(root, "files"), i, file) {
        struct nnv_text path = {0};
        const char *name = json_string_value(json_object_get(file, "file"));
        if (name == NULL) continue;
        if (*name != '/' && folder != NULL) nnv_text_addf(&path, "%s/", folder);
        nnv_text_add(&path, name);
        json_array_foreach(json_object_get(file, "lines"), k, line) {
            const json_int_t number = json_integer_value(json_object_get(line, "line_number"));
            ok = ok && !path.failed &&
                 (number <= 0 || number > UINT32_MAX ||
                  see(context, path.data, (uint32_t)number, json_integer_value(json_object_get(line, "count")) > 0));
        }
        nnv_text_free(&path);
    }
    return ok;
}

/** Sees all of an answer: an object for each file of counts. */
static bool see_all(const struct nnv_text *answer,
                    bool (*see)(void *context, const char *file, uint32_t line, bool reached), void *context) {
    const char *at = answer->data, *end = at != NULL ? at + answer->len : NULL;
    bool ok = true;
    while (ok && at != NULL && at < end) {
        json_error_t where;
        json_t *root = json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &where);
        if (root == NULL) break;
        ok = see_object(root, see, context);
        json_decref(root);
        at += where.position;
        at += strspn(at, "\n");
    }
    return ok;
}

enum nnv_status nnv_gcov_each(const char *folder,
                              bool (*see)(void *context, const char *file, uint32_t line, bool reached), void *context,
                              struct nnv_err *err) {
    char **paths = NULL, *words[AT_ONCE + 4] = {"gcov", "--json-format", "--stdout"};
    size_t count = 0;
    enum nnv_status st = nnv_file_list(folder, counts, &paths, &count, err);
    for (size_t i = 0; st == NNV_OK && i < count; i += AT_ONCE) {
        struct nnv_text answer = {0};
        size_t n = 0;
        for (; n < AT_ONCE && i + n < count; n++) {
            bring_notes(folder, paths[i + n]);
            words[3 + n] = paths[i + n];
        }
        words[3 + n] = NULL;
        const struct nnv_tool gcov = {.words = words, .most = n * BYTES_A_FILE, .timeout_ns = GCOV_NS};
        if (nnv_tool_run(&gcov, &answer, NULL) != NNV_OK)
            st = nnv_fail(err, NNV_INVALID, "--coverage: gcov cannot be run on the counts in %s", folder);
        else if (answer.failed || !see_all(&answer, see, context))
            st = nnv_no_memory(err);
        nnv_text_free(&answer);
    }
    nnv_file_list_free(paths, count);
    return st;
}
