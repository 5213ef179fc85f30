/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/bundle/bundle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/text.h"

/** The header of a member: POSIX.1-1988 ustar. */
struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2],
        user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct tar_header) == 512, "a header is one block");

enum { BLOCK = 512, CHUNK = 1 << 16, MANIFEST_MOST = 64 << 20, MEMBERS_MOST = 100000 };
static const uint64_t MEMBER_MOST = UINT64_C(8) << 30; /* what eleven octal digits hold */
static const char *const everything[] = {"", NULL};
#define MANIFEST "manifest.json"

static enum nnv_status hash_stream(FILE *f, const char *path, char *hex, struct nnv_err *err) {
    static const char digits[] = "0123456789abcdef";
    uint8_t buffer[CHUNK], sum[NNV_SHA256_BYTES];
    struct nnv_sha256 h;
    nnv_sha256_begin(&h);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) nnv_sha256_add(&h, buffer, n);
    if (ferror(f)) return nnv_fail(err, NNV_IO, "%s: can't be read", path);
    nnv_sha256_end(&h, sum);
    for (size_t i = 0; i < sizeof sum; i++) {
        hex[2 * i] = digits[sum[i] >> 4];
        hex[2 * i + 1] = digits[sum[i] & 15];
    }
    hex[2 * sizeof sum] = '\0';
    return NNV_OK;
}

enum nnv_status nnv_bundle_hash(const char *path, char hex[static NNV_HEX_SHA256], struct nnv_err *err) {
    FILE *f = fopen(path, "rb");
    if (!f) return nnv_fail(err, NNV_INVALID, "%s: can't be opened", path);
    const enum nnv_status s = hash_stream(f, path, hex, err);
    fclose(f);
    return s;
}

/* ---------------------------------------------------------------------- write */

/** Octal digits, as many as fit, and a zero. */
static void put_octal(char *field, size_t size, uint64_t value) {
    field[size - 1] = '\0';
    for (size_t i = size - 1; i-- > 0; value >>= 3) field[i] = (char)('0' + (value & 7));
}

/** The name, cut at a slash where it is too long for one field. False: it does not fit. */
static bool put_name(struct tar_header *h, const char *name) {
    const size_t n = strlen(name);
    if (n <= sizeof h->name) {
        memcpy(h->name, name, n);
        return true;
    }
    for (size_t cut = 1; cut < n && cut <= sizeof h->prefix; cut++)
        if (name[cut] == '/' && n - cut - 1 <= sizeof h->name) {
            memcpy(h->prefix, name, cut);
            memcpy(h->name, name + cut + 1, n - cut - 1);
            return true;
        }
    return false;
}

static unsigned checksum_of(const struct tar_header *h) {
    const unsigned char *bytes = (const unsigned char *)h;
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof *h; i++)
        sum += i >= offsetof(struct tar_header, checksum) && i < offsetof(struct tar_header, type) ? ' ' : bytes[i];
    return sum;
}

static enum nnv_status put_header(struct nnv_stream *to, const char *name, uint64_t size, struct nnv_err *err) {
    struct tar_header h = {.type = '0'};
    memcpy(h.magic, "ustar", 6);
    memcpy(h.version, "00", 2);
    put_octal(h.mode, sizeof h.mode, 0644);
    put_octal(h.uid, sizeof h.uid, 0);
    put_octal(h.gid, sizeof h.gid, 0);
    put_octal(h.size, sizeof h.size, size);
    put_octal(h.mtime, sizeof h.mtime, 0);
    if (!put_name(&h, name) || size > MEMBER_MOST)
        return nnv_fail(err, NNV_UNSUPPORTED, "%s: too long a name, or too large, for an archive", name);
    put_octal(h.checksum, sizeof h.checksum - 1, checksum_of(&h));
    h.checksum[7] = ' ';
    return nnv_stream_add(to, &h, sizeof h, err);
}

static enum nnv_status put_padding(struct nnv_stream *to, uint64_t size, struct nnv_err *err) {
    static const char zeros[BLOCK];
    return size % BLOCK ? nnv_stream_add(to, zeros, BLOCK - size % BLOCK, err) : NNV_OK;
}

static enum nnv_status put_file(struct nnv_stream *to, const char *path, const char *name, uint64_t size,
                                struct nnv_err *err) {
    uint8_t buffer[CHUNK];
    uint64_t copied = 0;
    FILE *from = fopen(path, "rb");
    if (!from) return nnv_fail(err, NNV_IO, "%s: can't be opened", path);
    enum nnv_status s = put_header(to, name, size, err);
    for (size_t n; s == NNV_OK && (n = fread(buffer, 1, sizeof buffer, from)) > 0; copied += n)
        s = nnv_stream_add(to, buffer, n, err);
    fclose(from);
    if (s == NNV_OK && copied != size) s = nnv_fail(err, NNV_IO, "%s: changed while it was packed", path);
    return s == NNV_OK ? put_padding(to, size, err) : s;
}

/** The part of a path behind "folder/". */
static const char *below(const char *path, const char *folder) {
    path += strlen(folder);
    return path + strspn(path, "/");
}

static enum nnv_status add_files(const char *folder, char **paths, size_t count, json_t *manifest,
                                 struct nnv_err *err) {
    json_t *files = json_array();
    enum nnv_status s = files ? NNV_OK : nnv_no_memory(err);
    for (size_t i = 0; s == NNV_OK && i < count; i++) {
        char hex[NNV_HEX_SHA256];
        struct stat st;
        if (strcmp(below(paths[i], folder), MANIFEST) == 0) continue;
        s = nnv_bundle_hash(paths[i], hex, err);
        if (s == NNV_OK && stat(paths[i], &st) != 0) s = nnv_fail(err, NNV_IO, "%s: is gone", paths[i]);
        /* A NULL is not appended: a file that is not listed would make the archive a wrong one. */
        if (s == NNV_OK && json_array_append_new(files, json_pack("{s:s, s:I, s:s}", "name", below(paths[i], folder),
                                                                  "bytes", (json_int_t)st.st_size, "sha256", hex)) != 0)
            s = nnv_no_memory(err);
    }
    if (s != NNV_OK) {
        json_decref(files);
        return s;
    }
    return json_object_set_new(manifest, "files", files) == 0 ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status put_all(struct nnv_stream *to, const char *folder, const json_t *manifest, struct nnv_err *err) {
    char *text = json_dumps(manifest, JSON_INDENT(1) | JSON_SORT_KEYS);
    if (!text) return nnv_no_memory(err);
    enum nnv_status s = put_header(to, MANIFEST, strlen(text), err);
    if (s == NNV_OK) s = nnv_stream_add(to, text, strlen(text), err);
    if (s == NNV_OK) s = put_padding(to, strlen(text), err);
    free(text);
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), i, file) {
        char path[4096];
        const char *name = json_string_value(json_object_get(file, "name"));
        if (s != NNV_OK) break;
        if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
            return nnv_fail(err, NNV_INVALID, "%s: too long a path", name);
        s = put_file(to, path, name, (uint64_t)json_integer_value(json_object_get(file, "bytes")), err);
    }
    static const char end[2 * BLOCK];
    return s == NNV_OK ? nnv_stream_add(to, end, sizeof end, err) : s;
}

enum nnv_status nnv_bundle_write(const char *folder, json_t *manifest, const char *path, struct nnv_err *err) {
    struct nnv_stream to = NNV_STREAM_NONE;
    char **paths = NULL;
    size_t count = 0;
    enum nnv_status s = nnv_file_list(folder, everything, &paths, &count, err);
    if (s != NNV_OK) return s;
    s = add_files(folder, paths, count, manifest, err);
    nnv_file_list_free(paths, count);
    if (s == NNV_OK) s = nnv_stream_open(&to, path, err);
    if (s == NNV_OK) s = put_all(&to, folder, manifest, err);
    if (s == NNV_OK) s = nnv_stream_end(&to, err);
    nnv_stream_drop(&to);
    return s;
}

/* --------------------------------------------------------------------- unpack */

/** Octal digits behind blanks; false for anything else. */
static bool get_octal(const char *field, size_t size, uint64_t *value) {
    size_t i = 0, digits = 0;
    *value = 0;
    while (i < size && field[i] == ' ') i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++, digits++)
        *value = *value * 8 + (uint64_t)(field[i] - '0');
    return digits > 0 && (i == size || field[i] == '\0' || field[i] == ' ');
}

/** A relative path of plain parts. */
static bool is_safe(const char *name) {
    if (!*name || *name == '/') return false;
    for (const char *p = name; *p;) {
        const size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.')) return false;
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)p[i] < ' ') return false;
        p += n;
        if (*p == '/' && !*++p) return false;
    }
    return true;
}

static enum nnv_status make_parents(char *path, struct nnv_err *err) {
    char *slash = strrchr(path, '/');
    *slash = '\0';
    const enum nnv_status s = nnv_folder_make(path, err);
    *slash = '/';
    return s;
}

static enum nnv_status get_file(FILE *from, const char *archive, const char *path, uint64_t size, struct nnv_err *err) {
    uint8_t buffer[CHUNK];
    const int fd = nnv_folder_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!to && fd >= 0) close(fd);
    if (!to) return nnv_fail(err, NNV_INVALID, "%s: a member is there twice, or its folder can't be written", archive);
    uint64_t left = (size + BLOCK - 1) / BLOCK * BLOCK;
    enum nnv_status s = NNV_OK;
    while (left && s == NNV_OK) {
        const size_t want = left < sizeof buffer ? (size_t)left : sizeof buffer;
        if (fread(buffer, 1, want, from) != want) s = nnv_fail(err, NNV_INVALID, "%s: is cut off", archive);
        if (s == NNV_OK) fwrite(buffer, 1, size < want ? (size_t)size : want, to);
        size -= size < want ? size : want;
        left -= want;
    }
    const bool failed = ferror(to);
    if ((fclose(to) != 0 || failed) && s == NNV_OK)
        s = nnv_fail(err, NNV_IO, "%s: can't be written (is the disk full?)", path);
    return s;
}

/** One member; *end: the archive ends here. */
static enum nnv_status get_member(FILE *from, const char *archive, const char *folder, bool *end, struct nnv_err *err) {
    struct tar_header h;
    uint64_t size, sum;
    char name[sizeof h.prefix + sizeof h.name + 2], path[4096];
    static const struct tar_header none;
    if (fread(&h, sizeof h, 1, from) != 1) return nnv_fail(err, NNV_INVALID, "%s: is cut off", archive);
    *end = memcmp(&h, &none, sizeof h) == 0;
    if (*end) return NNV_OK;
    if (memcmp(h.magic, "ustar", 5) != 0 || !get_octal(h.checksum, sizeof h.checksum, &sum) || sum != checksum_of(&h))
        return nnv_fail(err, NNV_INVALID, "%s: is no archive that nnvts pack made, or is damaged", archive);
    snprintf(name, sizeof name, "%.*s%s%.*s", (int)sizeof h.prefix, h.prefix, h.prefix[0] ? "/" : "",
             (int)sizeof h.name, h.name);
    if ((h.type != '0' && h.type != '\0') || !is_safe(name) || !get_octal(h.size, sizeof h.size, &size) ||
        size > MEMBER_MOST)
        return nnv_fail(err, NNV_INVALID, "%s: holds a member that no bundle has: '%s'", archive, name);
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return nnv_fail(err, NNV_INVALID, "%s: '%s' is too long a path", archive, name);
    const enum nnv_status s = make_parents(path, err);
    return s == NNV_OK ? get_file(from, archive, path, size, err) : s;
}

enum nnv_status nnv_bundle_unpack(const char *path, const char *folder, struct nnv_err *err) {
    FILE *from = fopen(path, "rb");
    if (!from) return nnv_fail(err, NNV_INVALID, "%s: can't be opened", path);
    enum nnv_status s = nnv_folder_make(folder, err);
    bool end = false;
    for (uint32_t n = 0; s == NNV_OK && !end; n++) {
        if (n > MEMBERS_MOST) s = nnv_fail(err, NNV_INVALID, "%s: more than %d members", path, MEMBERS_MOST);
        if (s == NNV_OK) s = get_member(from, path, folder, &end, err);
    }
    fclose(from);
    return s;
}

/* -------------------------------------------------------------------- compare */

static void tell(void (*wrong)(void *context, const char *text), void *context, const char *name, const char *what) {
    char text[5000];
    snprintf(text, sizeof text, "%s: %s", name, what);
    wrong(context, text);
}

static enum nnv_status compare_file(const char *folder, const json_t *file, void (*wrong)(void *, const char *),
                                    void *context, struct nnv_err *err) {
    const char *name = json_string_value(json_object_get(file, "name"));
    const char *sum = json_string_value(json_object_get(file, "sha256"));
    char path[4096], hex[NNV_HEX_SHA256];
    if (!name || !sum || !is_safe(name) || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return nnv_fail(err, NNV_INVALID, "%s/" MANIFEST ": an entry of \"files\" has no good name or sha256", folder);
    if (access(path, R_OK) != 0) {
        tell(wrong, context, name, "is missing");
        return NNV_OK;
    }
    const enum nnv_status s = nnv_bundle_hash(path, hex, err);
    if (s == NNV_OK && strcmp(hex, sum) != 0)
        tell(wrong, context, name, "is not what was packed (its SHA-256 differs)");
    return s;
}

/** Tells of the files below the folder that are not listed. */
static enum nnv_status compare_list(const char *folder, const json_t *files, void (*wrong)(void *, const char *),
                                    void *context, struct nnv_err *err) {
    struct nnv_map names = {0};
    char **paths = NULL;
    size_t count = 0, i;
    const json_t *file;
    enum nnv_status s = NNV_OK;
    json_array_foreach(files, i, file) {
        if (nnv_map_add(&names, json_string_value(json_object_get(file, "name"))) == NNV_MAP_NONE)
            s = nnv_no_memory(err);
    }
    if (s == NNV_OK) s = nnv_file_list(folder, everything, &paths, &count, err);
    for (i = 0; s == NNV_OK && i < count; i++) {
        const char *name = below(paths[i], folder);
        if (strcmp(name, MANIFEST) != 0 && nnv_map_find(&names, name) == NNV_MAP_NONE)
            tell(wrong, context, name, "was not packed");
    }
    nnv_file_list_free(paths, count);
    nnv_map_free(&names);
    return s;
}

enum nnv_status nnv_bundle_compare(const char *folder, void (*wrong)(void *context, const char *text), void *context,
                                   json_t **manifest, struct nnv_err *err) {
    char path[4096], *data = NULL;
    size_t size;
    *manifest = NULL;
    if (snprintf(path, sizeof path, "%s/" MANIFEST, folder) >= (int)sizeof path)
        return nnv_fail(err, NNV_INVALID, "%s: too long a path", folder);
    if (access(path, F_OK) != 0) return NNV_OK;
    enum nnv_status s = nnv_file_read(path, MANIFEST_MOST, &data, &size, err);
    if (s != NNV_OK) return s;
    json_error_t why;
    *manifest = json_loadb(data, size, 0, &why);
    free(data);
    json_t *files = json_object_get(*manifest, "files"), *file;
    if (!json_is_array(files)) {
        json_decref(*manifest);
        *manifest = NULL;
        return nnv_fail(err, NNV_INVALID, "%s: no manifest: it has no list \"files\"", path);
    }
    size_t i;
    json_array_foreach(files, i, file) {
        if (s == NNV_OK) s = compare_file(folder, file, wrong, context, err);
    }
    if (s == NNV_OK) s = compare_list(folder, files, wrong, context, err);
    if (s != NNV_OK) {
        json_decref(*manifest);
        *manifest = NULL;
    }
    return s;
}
