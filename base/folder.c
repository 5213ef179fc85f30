/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum nnv_status nnv_path_refused(struct nnv_err *err, enum nnv_status status, const char *path, const char *what,
                                 int number) {
    const char *remedy = number == ENOSPC || number == EDQUOT ? " (free some space or choose another folder)"
                         : number == EACCES || number == EPERM || number == EROFS
                             ? " (check the permissions or choose another place)"
                             : "";
    return nnv_fail(err, number == ENOMEM ? NNV_NO_MEMORY : status, "%s: %s: %s%s", path, what, strerror(number),
                    remedy);
}

enum { FOLDER_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };

/** A folder that is kept open, and which one it was when it was opened. */
struct kept {
    struct kept *next;
    int fd;
    dev_t device;
    ino_t inode;
    size_t len;
    char path[]; /**< len characters, without slashes at the end */
};

static struct kept *all_kept;

/** The length of a path without slashes at its end. */
static size_t length(const char *path) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    return n;
}

/** False if a driver closed the descriptor, or put another in its place. */
static bool is_sound(const struct kept *k, struct stat *st) {
    return fstat(k->fd, st) == 0 && st->st_dev == k->device && st->st_ino == k->inode;
}

/** The kept folder that the path is, or is below; *below is the rest of the path. NULL: none. */
static const struct kept *kept_above(const char *path, const char **below) {
    struct stat st;
    for (const struct kept *k = all_kept; k != NULL; k = k->next) {
        const char *rest = path + k->len;
        if (strncmp(path, k->path, k->len) != 0 || (*rest != '\0' && *rest != '/') || !is_sound(k, &st)) continue;
        *below = rest + strspn(rest, "/");
        return k;
    }
    return NULL;
}

/** The entry of this very path. */
static struct kept **entry(const char *path) {
    const size_t n = length(path);
    struct kept **k = &all_kept;
    while (*k != NULL && ((*k)->len != n || memcmp((*k)->path, path, n) != 0)) k = &(*k)->next;
    return k;
}

static void forget(const char *path) {
    struct kept **at = entry(path), *k = *at;
    struct stat st;
    if (k == NULL) return;
    *at = k->next;
    if (is_sound(k, &st)) close(k->fd);
    free(k);
}

static enum nnv_status keep(const char *path, struct nnv_err *err) {
    const size_t n = length(path);
    struct kept *k = malloc(sizeof *k + n + 1);
    struct stat st;
    if (k == NULL) return nnv_no_memory(err);
    const int fd = open(path, FOLDER_FLAGS);
    if (fd < 0 || fstat(fd, &st) != 0) {
        const int number = errno;
        if (fd >= 0) close(fd);
        free(k);
        return nnv_path_refused(err, NNV_IO, path, "cannot open the folder", number);
    }
    *k = (struct kept){.next = all_kept, .fd = fd, .device = st.st_dev, .inode = st.st_ino, .len = n};
    memcpy(k->path, path, n);
    k->path[n] = '\0';
    all_kept = k;
    return NNV_OK;
}

/** Goes on from a folder, which it closes, through the folders of a path up to its end. */
static int descend(int at, const char *path, const char *end) {
    char part[NAME_MAX + 1];
    while (at >= 0 && path < end) {
        const size_t n = strcspn(path, "/");
        int next = -1;
        if (n <= NAME_MAX) {
            memcpy(part, path, n);
            part[n] = '\0';
            next = openat(at, part, FOLDER_FLAGS | O_NOFOLLOW);
        } else {
            errno = ENAMETOOLONG;
        }
        const int number = errno;
        close(at);
        errno = number;
        at = next;
        path += n + strspn(path + n, "/");
    }
    return at;
}

int nnv_folder_of(const char *path, const char **name, bool *kept) {
    const char *below = path;
    const struct kept *k = kept_above(path, &below);
    const char *slash = strrchr(below, '/');
    *name = slash != NULL ? slash + 1 : below;
    *kept = k != NULL;
    if (k != NULL) return descend(fcntl(k->fd, F_DUPFD_CLOEXEC, 0), below, *name);
    if (slash == NULL || slash == path) return open(slash == NULL ? "." : "/", FOLDER_FLAGS);
    char *folder = strndup(path, (size_t)(slash - path));
    const int at = folder != NULL ? open(folder, FOLDER_FLAGS) : -1, number = folder != NULL ? errno : ENOMEM;
    free(folder);
    errno = number;
    return at;
}

int nnv_folder_open(const char *path, int flags) {
    const char *name;
    bool kept;
    if (kept_above(path, &name) == NULL) return open(path, flags | O_CLOEXEC, 0666);
    const int at = nnv_folder_of(path, &name, &kept);
    if (at < 0) return -1;
    const int fd = openat(at, *name != '\0' ? name : ".", flags | O_CLOEXEC, 0666), number = errno;
    close(at);
    errno = number;
    return fd;
}

static void close_up_to(int from, unsigned last) {
    if (syscall(SYS_close_range, from, last, 0) == 0) return; /* Linux before 5.9 has none */
    const long most = sysconf(_SC_OPEN_MAX);
    for (int fd = from; fd < most && (unsigned)fd <= last; fd++) close(fd);
}

void nnv_folder_close_others(int from) {
    for (;;) {
        int next = -1; /* the first one to stay */
        for (const struct kept *k = all_kept; k != NULL; k = k->next)
            if (k->fd >= from && (next < 0 || k->fd < next)) next = k->fd;
        if (next < 0) break;
        if (next > from) close_up_to(from, (unsigned)next - 1);
        from = next + 1;
    }
    close_up_to(from, ~0U);
}

enum nnv_status nnv_folder_remove(const char *path, struct nnv_err *err) {
    const char *name;
    bool kept;
    const int at = nnv_folder_of(path, &name, &kept);
    const bool removed = at >= 0 && unlinkat(at, name, 0) == 0;
    const int number = errno;
    if (at >= 0) close(at);
    if (removed || number == ENOENT) return NNV_OK;
    return nnv_path_refused(err, NNV_IO, path, "cannot remove", number);
}

/** Makes the last folder of a path. */
static enum nnv_status make_one(const char *path, struct nnv_err *err) {
    const char *name;
    bool kept;
    struct stat st;
    const int at = nnv_folder_of(path, &name, &kept);
    int number = at < 0 ? errno : 0;
    if (at >= 0 && *name != '\0' && mkdirat(at, name, 0777) != 0) {
        number = errno;
        if (fstatat(at, name, &st, kept ? AT_SYMLINK_NOFOLLOW : 0) == 0) number = S_ISDIR(st.st_mode) ? 0 : EEXIST;
    }
    if (at >= 0) close(at);
    return number == 0 ? NNV_OK : nnv_path_refused(err, NNV_IO, path, "cannot create the folder", number);
}

enum nnv_status nnv_folder_make(const char *path, struct nnv_err *err) {
    const struct kept *k = *entry(path);
    struct stat st;
    if (k != NULL && (!is_sound(k, &st) || st.st_nlink == 0)) forget(path); /* it was deleted */
    char *copy = strndup(path, length(path));
    if (copy == NULL) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    const char *below = copy;
    k = kept_above(copy, &below);
    enum nnv_status status =
        *copy != '\0' ? NNV_OK : nnv_path_refused(err, NNV_IO, path, "cannot create the folder", ENOENT);
    for (char *p = copy + (below - copy); *p != '\0' && status == NNV_OK; p++) {
        if (p == copy || *p != '/' || p[-1] == '/') continue;
        *p = '\0';
        status = make_one(copy, err);
        *p = '/';
    }
    if (status == NNV_OK) status = make_one(copy, err);
    if (status == NNV_OK && k == NULL) status = keep(copy, err);
    free(copy);
    return status;
}

void nnv_folder_previous(const char *folder, struct nnv_text *name) {
    nnv_text_add_n(name, folder, length(folder));
    nnv_text_add(name, ".previous");
}

/** Two names change places: at once, or in three steps, of which all or none are done, where the file system (NFS)
 * knows no exchange. */
static bool exchange(const char *a, const char *b) {
    if (syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    enum { STEPS = 3 };
    struct nnv_text aside = {0};
    nnv_text_addf(&aside, "%s~", b);
    const char *const from[STEPS] = {b, a, aside.data}, *const to[STEPS] = {aside.data, b, a};
    int done = 0;
    errno = ENOMEM;
    while (!aside.failed && done < STEPS && rename(from[done], to[done]) == 0) done++;
    const int number = errno;
    for (int i = done; done < STEPS && i-- > 0;) rename(to[i], from[i]);
    nnv_text_free(&aside);
    errno = number;
    return done == STEPS;
}

/** Kept folders go with their names: both change places, or neither is kept any more. */
static void follow(const char *folder, const char *previous) {
    struct kept *a = *entry(folder), *b = *entry(previous);
    if (a == NULL || b == NULL) {
        forget(folder);
        forget(previous);
        return;
    }
    const struct kept was = *a;
    a->fd = b->fd;
    a->device = b->device;
    a->inode = b->inode;
    b->fd = was.fd;
    b->device = was.device;
    b->inode = was.inode;
}

enum nnv_status nnv_folder_set_aside(const char *folder, struct nnv_err *err) {
    struct nnv_text previous = {0};
    enum nnv_status status = NNV_OK;
    if (access(folder, F_OK) != 0) return NNV_OK;
    nnv_folder_previous(folder, &previous);
    if (previous.failed) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", folder);
    const bool both = access(previous.data, F_OK) == 0;
    if ((both ? exchange(folder, previous.data) : rename(folder, previous.data) == 0))
        follow(folder, previous.data);
    else
        status = nnv_path_refused(err, NNV_IO, folder, "cannot be kept as the previous one", errno);
    nnv_text_free(&previous);
    return status;
}
