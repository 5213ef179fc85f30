/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 0x5654564e, IN_FILE = 1 };

struct header {
    uint32_t magic;
    uint16_t version, kind;
    uint32_t bytes; /* of the payload */
    uint32_t flags;
};

/* ------------------------------------------------------------------- writing */

static bool grow(struct host_out *o, size_t bytes) {
    if (bytes > HOST_PAYLOAD_BYTES - o->bytes) return false;
    size_t room = o->room ? o->room : 512;
    while (room < o->bytes + bytes) room *= 2;
    if (room == o->room) return true;
    uint8_t *data = realloc(o->data, room);
    if (!data) return false;
    o->data = data;
    o->room = room;
    return true;
}

void host_put_bytes(struct host_out *o, const void *data, size_t bytes) {
    if (o->failed || bytes == 0) return;
    o->failed = !grow(o, bytes);
    if (o->failed) return;
    memcpy(o->data + o->bytes, data, bytes);
    o->bytes += bytes;
}

void host_put_u32(struct host_out *o, uint32_t value) { host_put_bytes(o, &value, sizeof value); }

void host_put_u64(struct host_out *o, uint64_t value) { host_put_bytes(o, &value, sizeof value); }

void host_put_f32(struct host_out *o, float value) { host_put_bytes(o, &value, sizeof value); }

void host_put_array(struct host_out *o, const void *array, uint32_t count, size_t size) {
    if ((count && !array) || count > HOST_PAYLOAD_BYTES / size) o->invalid = true;
    if (o->invalid || o->failed) return;
    host_put_u32(o, count);
    host_put_bytes(o, array, count * size);
}

void host_put_text(struct host_out *o, const char *text) {
    size_t bytes = text ? strlen(text) + 1 : 0;
    if (bytes > HOST_PAYLOAD_BYTES) o->failed = true;
    host_put_array(o, text, (uint32_t)bytes, 1);
}

uint32_t host_put_fd(struct host_out *o, int fd) {
    if (fd < 0) return HOST_NO_FD;
    for (uint32_t i = 0; i < o->fd_count; i++)
        if (o->fds[i] == fd) return i;
    if (fcntl(fd, F_GETFD) < 0) return HOST_NO_FD; /* it would keep the whole message from being sent */
    if (o->fd_count == HOST_FDS - 1) {             /* one is for the payload */
        o->failed = true;
        return HOST_NO_FD;
    }
    o->fds[o->fd_count] = fd;
    return o->fd_count++;
}

void host_out_end(struct host_out *o) {
    free(o->data);
    *o = (struct host_out){0};
}

/* ------------------------------------------------------------------- reading */

struct host_block {
    struct host_block *next;
    max_align_t data[];
};

/** So many zeroed bytes that end with keep; NULL if there is no memory. */
static void *keep_alloc(struct host_keep *keep, size_t bytes) {
    if (bytes > SIZE_MAX - sizeof(struct host_block)) return NULL;
    struct host_block *b = calloc(1, sizeof *b + bytes);
    if (!b) return NULL;
    b->next = keep->blocks;
    keep->blocks = b;
    return b->data;
}

void host_keep_end(struct host_keep *keep) {
    for (struct host_block *b = keep->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    for (uint32_t i = 0; i < keep->fd_count; i++)
        if (keep->fds[i] >= 0) close(keep->fds[i]);
    keep->blocks = NULL;
    keep->fd_count = 0;
}

void host_in_begin(struct host_in *in, uint32_t kind, const void *data, size_t bytes) {
    in->kind = kind;
    in->data = data;
    in->bytes = bytes;
    in->at = 0;
    in->failed = in->invalid = false;
    in->keep.blocks = NULL;
    in->keep.fd_count = 0;
}

void host_in_end(struct host_in *in) { host_keep_end(&in->keep); }

/** The next bytes of the message; NULL, and failed, if there are not so many. */
static const uint8_t *take(struct host_in *in, size_t bytes) {
    if (in->failed || bytes > in->bytes - in->at) {
        in->failed = true;
        return NULL;
    }
    const uint8_t *p = in->data + in->at;
    in->at += bytes;
    return p;
}

uint32_t host_get_u32(struct host_in *in) {
    uint32_t value = 0;
    const uint8_t *p = take(in, sizeof value);
    if (p) memcpy(&value, p, sizeof value);
    return value;
}

uint64_t host_get_u64(struct host_in *in) {
    uint64_t value = 0;
    const uint8_t *p = take(in, sizeof value);
    if (p) memcpy(&value, p, sizeof value);
    return value;
}

float host_get_f32(struct host_in *in) {
    float value = 0;
    const uint8_t *p = take(in, sizeof value);
    if (p) memcpy(&value, p, sizeof value);
    return value;
}

uint32_t host_get_count(struct host_in *in, size_t min_bytes) {
    uint32_t count = host_get_u32(in);
    if (!in->failed && count <= (in->bytes - in->at) / min_bytes) return count;
    in->failed = true;
    return 0;
}

void *host_in_alloc(struct host_in *in, size_t count, size_t size) {
    void *p = in->failed || count > SIZE_MAX / 2 / size ? NULL : keep_alloc(&in->keep, count * size);
    if (!p) in->failed = true;
    return p;
}

void *host_get_array(struct host_in *in, size_t size, uint32_t *count) {
    uint32_t n = host_get_count(in, size);
    *count = 0;
    void *copy = n ? host_in_alloc(in, n, size) : NULL;
    if (!copy) return NULL;
    memcpy(copy, take(in, n * size), n * size);
    *count = n;
    return copy;
}

const char *host_get_text(struct host_in *in) {
    uint32_t bytes;
    char *text = host_get_array(in, 1, &bytes);
    if (text && text[bytes - 1] != 0) in->failed = true;
    return in->failed ? NULL : text;
}

int host_get_fd(struct host_in *in) {
    uint32_t i = host_get_u32(in);
    if (i == HOST_NO_FD) return -1;
    if (i < in->keep.fd_count && in->keep.fds[i] >= 0) return in->keep.fds[i];
    in->failed = true;
    return -1;
}

bool host_in_done(const struct host_in *in) { return !in->failed && in->at == in->bytes; }

/* ------------------------------------------------------------------- sockets */

union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(HOST_FDS * sizeof(int))];
};

static bool send_packet(int socket, const struct header *h, const void *data, size_t bytes, const int *fds,
                        uint32_t fd_count) {
    union control control;
    struct iovec parts[] = {{(void *)(uintptr_t)h, sizeof *h}, {(void *)(uintptr_t)data, bytes}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
    if (fd_count) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        *c = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(fd_count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(c), fds, fd_count * sizeof(int));
    }
    ssize_t n;
    do n = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)(sizeof *h + bytes);
}

static bool write_all(int fd, const uint8_t *data, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        ssize_t n = pwrite(fd, data + at, bytes - at, (off_t)at);
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

bool host_send(int socket, uint32_t kind, const struct host_out *o) {
    if (o->failed) return false;
    struct header h = {MAGIC, HOST_VERSION, (uint16_t)kind, (uint32_t)o->bytes, 0};
    if (o->bytes <= HOST_INLINE_BYTES) return send_packet(socket, &h, o->data, o->bytes, o->fds, o->fd_count);
    int fds[HOST_FDS], file = memfd_create("nnvts-host-message", MFD_CLOEXEC);
    if (file < 0) return false;
    fds[0] = file;
    memcpy(fds + 1, o->fds, o->fd_count * sizeof *fds);
    h.flags = IN_FILE;
    bool ok = write_all(file, o->data, o->bytes) && send_packet(socket, &h, NULL, 0, fds, o->fd_count + 1);
    close(file);
    return ok;
}

/** Takes all descriptors that came, whatever else is wrong. */
static bool take_fds(struct msghdr *m, struct host_keep *keep) {
    bool ok = !(m->msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (keep->fd_count < HOST_FDS)
                keep->fds[keep->fd_count++] = fd;
            else
                close(fd);
        }
    }
    return ok;
}

/** The payload is in the first file: copied, so that it can't change while it is read. */
static bool load_payload(struct host_in *in, uint32_t bytes) {
    struct stat s;
    if (in->keep.fd_count == 0) return false;
    int file = in->keep.fds[0];
    bool ok = fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size >= (off_t)bytes;
    uint8_t *data = ok ? keep_alloc(&in->keep, bytes) : NULL;
    for (size_t at = 0; data && at < bytes;) {
        ssize_t n = pread(file, data + at, bytes - at, (off_t)at);
        if (n <= 0) return false;
        at += (size_t)n;
    }
    close(file);
    in->keep.fd_count--;
    memmove(in->keep.fds, in->keep.fds + 1, in->keep.fd_count * sizeof(int));
    in->data = data;
    in->bytes = bytes;
    return data != NULL;
}

static bool check_header(const struct header *h, size_t inline_bytes) {
    if (h->magic != MAGIC || h->version != HOST_VERSION || h->kind == 0 || h->kind >= HOST_KINDS) return false;
    if (h->flags == IN_FILE) return inline_bytes == 0 && h->bytes > 0 && h->bytes <= HOST_PAYLOAD_BYTES;
    return h->flags == 0 && h->bytes == inline_bytes;
}

enum host_received host_receive(int socket, struct host_in *in) {
    union control control;
    struct header h = {0};
    struct iovec parts[] = {{&h, sizeof h}, {in->buffer, sizeof in->buffer}};
    struct msghdr m = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control.room};
    ssize_t n;
    do n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return HOST_GONE;
    size_t bytes = (size_t)n < sizeof h ? 0 : (size_t)n - sizeof h;
    host_in_begin(in, h.kind, in->buffer, bytes);
    bool ok = take_fds(&m, &in->keep);
    ok = ok && (size_t)n >= sizeof h && check_header(&h, bytes);
    if (ok && h.flags == IN_FILE) ok = load_payload(in, h.bytes);
    if (ok) return HOST_GOT;
    host_in_end(in);
    return HOST_BAD;
}

/* -------------------------------------------------------------------- memory */

int host_memory_new(uint64_t bytes) {
    int fd = bytes > INT64_MAX ? -1 : memfd_create("nnvts-host-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -1;
}

bool host_memory_holds(int fd, uint64_t offset, uint64_t bytes) {
    struct stat s;
    if (fstat(fd, &s) != 0 || offset > INT64_MAX || bytes > INT64_MAX - offset) return false;
    if (!S_ISREG(s.st_mode)) return (s.st_mode & S_IFMT) == 0 || S_ISCHR(s.st_mode); /* memory of a device */
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) && offset + bytes <= (uint64_t)s.st_size;
}
