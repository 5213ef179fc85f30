/* SPDX-License-Identifier: Apache-2.0 */
#include "carry.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 32 << 10,
    LEAST_KNOWN = 1024, /* of a piece that is worth a digest */
    IDLE_FILES = 8,     /* that are kept though nobody needs them */
    IDLE_BYTES = 16 << 20,
};
static const uint64_t MOST_BYTES = UINT64_C(1) << 30;

enum how { LITERAL, REMEMBERED, NEW }; /* NEW: literal, and to be remembered */

struct host_carried {
    struct host_carried *next;
    uint32_t number, uses;
    int fd;       /* -1: bytes without a file */
    uint8_t *map; /* NULL: it is read and written */
    dev_t device;
    ino_t inode;
    uint8_t *known; /* the contents that both sides know */
    size_t bytes;
};

/** Who needs files: a question until it is answered, or an object until it is released. */
struct host_hold {
    struct host_hold *next;
    uint32_t channel, kind; /* kind 0: an object's */
    bool launched;
    uint64_t object;
    uint32_t count;
    uint32_t files[]; /* numbers */
};

struct host_piece {
    uint8_t digest[NNV_SHA256_BYTES];
    uint8_t *data; /* NULL on the near side */
    uint32_t bytes;
};

void host_carry_begin(struct host_carry *c, struct host_frames *frames, bool far) {
    *c = (struct host_carry){.frames = frames, .far = far};
    c->last_hold = &c->holds;
    c->numbers = far ? UINT32_C(1) << 31 : 0; /* each side has numbers of its own */
}

/* ---------------------------------------------------------------------- files */

static struct host_carried *find(const struct host_carry *c, uint32_t number) {
    struct host_carried *f = c->files;
    while (f && f->number != number) f = f->next;
    return f;
}

/** Known contents of another size; what is new is zero. */
static bool resize(struct host_carried *f, uint64_t wanted) {
    const size_t bytes = (size_t)wanted;
    if (wanted > MOST_BYTES) return false;
    if (f->known && bytes == f->bytes) return true;
    uint8_t *known = calloc(1, bytes + 1);
    if (!known) return false;
    if (f->known) memcpy(known, f->known, bytes < f->bytes ? bytes : f->bytes);
    free(f->known);
    f->known = known;
    f->bytes = bytes;
    return true;
}

/** A new file; it takes fd, -1: bytes alone. A sealed one is mapped where that is allowed. */
static struct host_carried *add(struct host_carry *c, uint32_t number, int fd, uint64_t bytes, bool sealed) {
    struct host_carried *f = calloc(1, sizeof *f);
    if (!f || !resize(f, bytes)) {
        if (fd >= 0) close(fd);
        free(f);
        return NULL;
    }
    void *map = sealed && bytes ? mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    f->map = map == MAP_FAILED ? NULL : map;
    f->number = number;
    f->fd = fd;
    f->next = c->files;
    c->files = f;
    return f;
}

static void drop(struct host_carry *c, struct host_carried *f) {
    struct host_carried **at = &c->files;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    if (f->map) munmap(f->map, f->bytes);
    if (f->fd >= 0) close(f->fd);
    free(f->known);
    free(f);
}

void host_carry_end(struct host_carry *c) {
    for (struct host_hold *h = c->holds, *next; h; h = next) {
        next = h->next;
        free(h);
    }
    while (c->files) drop(c, c->files);
    for (uint32_t i = 0; i < c->piece_count; i++) free(c->pieces[i].data);
    free(c->pieces);
}

/** Up to PIECE_BYTES of what the file holds now. */
static bool read_piece(const struct host_carried *f, uint64_t at, uint8_t *to, size_t bytes) {
    if (f->map) memcpy(to, f->map + at, bytes);
    return f->map || pread(f->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/** Writes what differs from what was known: nobody else's bytes between. What can't be written stays as it is. */
static void write_piece(struct host_carried *f, uint64_t at, const uint8_t *data, size_t bytes) {
    for (size_t i = 0; f->map && i < bytes; i++)
        if (data[i] != f->known[at + i]) f->map[at + i] = data[i];
    if (!f->map && f->fd >= 0 && pwrite(f->fd, data, bytes, (off_t)at) < 0) return;
    memcpy(f->known + at, data, bytes);
}

/* --------------------------------------------------------------------- pieces */

static const struct host_piece *recall(const struct host_carry *c, const uint8_t digest[NNV_SHA256_BYTES]) {
    for (uint32_t i = 0; i < c->piece_count; i++)
        if (memcmp(c->pieces[i].digest, digest, NNV_SHA256_BYTES) == 0) return &c->pieces[i];
    return NULL;
}

/** Both sides remember the same: as much as the server said, and forget what is oldest. */
static bool remember(struct host_carry *c, const uint8_t digest[NNV_SHA256_BYTES], const uint8_t *data,
                     uint32_t bytes) {
    const uint32_t most = c->frames->cache_bytes / PIECE_BYTES;
    struct host_piece *p;
    if (most == 0) return true;
    if (c->piece_count < most) {
        if (c->piece_count == c->piece_room) {
            const uint32_t room = c->piece_room ? c->piece_room * 2 : 64;
            p = realloc(c->pieces, room * sizeof *p);
            if (!p) return false;
            c->pieces = p;
            c->piece_room = room;
        }
        p = &c->pieces[c->piece_count++];
    } else {
        p = &c->pieces[c->oldest];
        c->oldest = (c->oldest + 1) % most;
        free(p->data);
    }
    *p = (struct host_piece){.bytes = bytes};
    memcpy(p->digest, digest, NNV_SHA256_BYTES);
    if (!c->far) return true;
    p->data = malloc(bytes);
    if (p->data) memcpy(p->data, data, bytes);
    return p->data != NULL;
}

static void digest_of(const uint8_t *data, size_t bytes, uint8_t digest[NNV_SHA256_BYTES]) {
    struct nnv_sha256 h;
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, data, bytes);
    nnv_sha256_end(&h, digest);
}

/** One piece of a file; only the near side tells by digest. */
static bool put_piece(struct host_carry *c, uint32_t number, uint64_t at, const uint8_t *data, uint32_t bytes) {
    struct host_out o = {0};
    uint8_t digest[NNV_SHA256_BYTES];
    enum how how = LITERAL;
    if (!c->far && bytes >= LEAST_KNOWN) {
        digest_of(data, bytes, digest);
        how = recall(c, digest) ? REMEMBERED : NEW;
        if (how == NEW && !remember(c, digest, data, bytes)) return false;
    }
    host_put_u32(&o, HOST_RELAY_PIECE);
    host_put_u32(&o, number);
    host_put_u64(&o, at);
    host_put_u32(&o, how);
    if (how == REMEMBERED)
        host_put_array(&o, digest, sizeof digest, 1);
    else
        host_put_array(&o, data, bytes, 1);
    return host_frames_put(c->frames, &o);
}

/** Sends what the file holds now and the other side does not know, which it knows then. */
static bool put_differences(struct host_carry *c, struct host_carried *f) {
    static _Thread_local uint8_t now[PIECE_BYTES];
    bool ok = true;
    for (size_t at = 0; ok && at < f->bytes; at += PIECE_BYTES) {
        uint8_t *known = f->known + at;
        size_t from = 0, to = f->bytes - at < PIECE_BYTES ? f->bytes - at : PIECE_BYTES;
        if (f->map && memcmp(f->map + at, known, to) == 0) continue;
        if (!read_piece(f, at, now, to) || memcmp(now, known, to) == 0) continue;
        while (now[from] == known[from]) from++;
        while (now[to - 1] == known[to - 1]) to--;
        ok = put_piece(c, f->number, at + from, now + from, (uint32_t)(to - from));
        memcpy(known + from, now + from, to - from);
    }
    return ok;
}

static bool declare(struct host_carry *c, const struct host_carried *f, enum host_file what) {
    struct host_out o = {0};
    host_put_u32(&o, HOST_RELAY_FILE);
    host_put_u32(&o, f->number);
    host_put_u64(&o, f->bytes);
    host_put_u32(&o, what);
    return host_frames_put(c->frames, &o);
}

/** The other side is to know of another size. */
static bool put_size(struct host_carry *c, struct host_carried *f) {
    struct stat s;
    if (f->map || f->fd < 0 || fstat(f->fd, &s) != 0 || (uint64_t)s.st_size == f->bytes) return true;
    return resize(f, (uint64_t)s.st_size) && declare(c, f, HOST_FILE);
}

uint32_t host_carry_file(struct host_carry *c, int fd) {
    struct stat s;
    if (fstat(fd, &s) != 0 || s.st_size < 0) return 0;
    struct host_carried *f = c->files;
    while (f && !(f->fd >= 0 && f->device == s.st_dev && f->inode == s.st_ino)) f = f->next;
    if (f) return put_size(c, f) && put_differences(c, f) ? f->number : 0;
    const bool sealed = host_memory_holds(fd, 0, (uint64_t)s.st_size);
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    f = own < 0 ? NULL : add(c, ++c->numbers, own, (uint64_t)s.st_size, sealed);
    if (!f) return 0;
    f->device = s.st_dev;
    f->inode = s.st_ino;
    return declare(c, f, sealed ? HOST_SEALED : HOST_FILE) && put_differences(c, f) ? f->number : 0;
}

uint32_t host_carry_bytes(struct host_carry *c, const uint8_t *data, size_t bytes) {
    struct host_carried all = {.number = ++c->numbers, .fd = -1, .bytes = bytes};
    bool ok = declare(c, &all, HOST_BYTES);
    for (size_t at = 0; ok && at < bytes; at += PIECE_BYTES)
        ok = put_piece(c, all.number, at, data + at, (uint32_t)(bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES));
    return ok ? all.number : 0;
}

/* -------------------------------------------------------------------- receiving */

bool host_carry_take_piece(struct host_carry *c, struct host_in *in) {
    uint32_t count, number = host_get_u32(in);
    const uint64_t at = host_get_u64(in);
    const uint32_t how = host_get_u32(in);
    const uint8_t *data = host_get_array(in, 1, &count);
    uint8_t digest[NNV_SHA256_BYTES];
    if (!host_in_done(in) || count == 0 || (how != LITERAL && !c->far)) return false;
    if (how == REMEMBERED) {
        const struct host_piece *p = count == sizeof digest ? recall(c, data) : NULL;
        if (!p) return false;
        data = p->data;
        count = p->bytes;
    } else if (how == NEW) {
        digest_of(data, count, digest);
        if (!remember(c, digest, data, count)) return false;
    }
    struct host_carried *f = find(c, number);
    if (!f) return !c->far; /* its question was given up meanwhile */
    if (at > f->bytes || count > f->bytes - at) return false;
    write_piece(f, at, data, count);
    return true;
}

/** Another size of a file that may have one. */
static bool take_size(struct host_carried *f, uint64_t bytes, uint32_t what) {
    return what == HOST_FILE && !f->map && f->fd >= 0 && bytes <= MOST_BYTES && ftruncate(f->fd, (off_t)bytes) == 0 &&
           resize(f, bytes);
}

/** Files are the near side's; the far side has bytes of its own. */
bool host_carry_take_file(struct host_carry *c, struct host_in *in) {
    const uint32_t number = host_get_u32(in);
    const uint64_t bytes = host_get_u64(in);
    const uint32_t what = host_get_u32(in);
    if (!host_in_done(in) || bytes > MOST_BYTES || what > HOST_BYTES) return false;
    struct host_carried *f = find(c, number);
    if (f) return take_size(f, bytes, what);
    if (what == HOST_BYTES) return number >> 31 == !c->far && add(c, number, -1, bytes, false);
    if (!c->far) return true; /* its question was given up meanwhile */
    if (number >> 31) return false;
    int fd = what == HOST_SEALED ? host_memory_new(bytes) : memfd_create("nnvts-host-file", MFD_CLOEXEC);
    if (fd >= 0 && what == HOST_FILE && ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd >= 0 && add(c, number, fd, bytes, what == HOST_SEALED);
}

int host_carry_twin(const struct host_carry *c, uint32_t number) {
    const struct host_carried *f = find(c, number);
    return f ? f->fd : -1;
}

const uint8_t *host_carry_get_bytes(const struct host_carry *c, uint32_t number, size_t *bytes) {
    const struct host_carried *f = find(c, number);
    if (!f || f->fd >= 0) return NULL;
    *bytes = f->bytes;
    return f->known;
}

void host_carry_drop_bytes(struct host_carry *c, uint32_t number) {
    struct host_carried *f = find(c, number);
    if (f && f->fd < 0) drop(c, f);
}

/* ----------------------------------------------------------------- who needs what */

static bool put_drop(struct host_carry *c, struct host_carried *f) {
    struct host_out o = {0};
    host_put_u32(&o, HOST_RELAY_DROP);
    host_put_u32(&o, f->number);
    drop(c, f);
    return host_frames_put(c->frames, &o);
}

/** Near side: drops files that nobody needs, but a few that came last. */
static bool drop_idle(struct host_carry *c) {
    uint64_t count = 0, bytes = 0;
    bool ok = true;
    for (struct host_carried *f = c->files, *next; f && !c->far; f = next) {
        next = f->next;
        if (f->uses) continue;
        bytes += f->bytes;
        if (++count > IDLE_FILES || bytes > IDLE_BYTES) ok = put_drop(c, f) && ok;
    }
    return ok;
}

static bool unhold(struct host_carry *c, struct host_hold *h) {
    struct host_hold **at = &c->holds;
    while (*at != h) at = &(*at)->next;
    *at = h->next;
    if (c->last_hold == &h->next) c->last_hold = at;
    for (uint32_t i = 0; i < h->count; i++) {
        struct host_carried *f = find(c, h->files[i]);
        if (f) f->uses--; /* the far side drops what the near side says */
    }
    free(h);
    return drop_idle(c);
}

bool host_carry_take_drop(struct host_carry *c, struct host_in *in) {
    struct host_carried *f = find(c, host_get_u32(in));
    if (!c->far || !host_in_done(in) || !f || f->fd < 0) return false;
    drop(c, f);
    return true;
}

static uint64_t first_u64(const uint8_t *data, size_t bytes, size_t at) {
    uint64_t value = 0;
    if (bytes >= at + sizeof value) memcpy(&value, data + at, sizeof value);
    return value;
}

bool host_carry_asked(struct host_carry *c, uint32_t channel, uint32_t kind, const uint8_t *data, size_t bytes,
                      const uint32_t *files, uint32_t count) {
    struct host_hold *h = calloc(1, sizeof *h + count * sizeof *files);
    if (!h) return false;
    h->channel = channel;
    h->kind = kind;
    h->object = first_u64(data, bytes, 0); /* where the kind has one */
    h->count = count;
    for (uint32_t i = 0; i < count; i++) {
        h->files[i] = files[i];
        find(c, files[i])->uses++;
    }
    *c->last_hold = h;
    c->last_hold = &h->next;
    return true;
}

static struct host_hold *find_hold(const struct host_carry *c, uint32_t channel) {
    struct host_hold *h = c->holds;
    while (h && !(h->kind && h->channel == channel)) h = h->next;
    return h;
}

/** What has changed here in files that the hold needs. */
static bool put_changes(struct host_carry *c, const struct host_hold *h) {
    for (uint32_t i = 0; i < h->count; i++) {
        struct host_carried *f = find(c, h->files[i]);
        if (f && !(put_size(c, f) && put_differences(c, f))) return false;
    }
    return true;
}

bool host_carry_changes(struct host_carry *c, uint32_t channel) {
    const struct host_hold *h = find_hold(c, channel);
    return !h || put_changes(c, h);
}

bool host_carry_fenced(struct host_carry *c) {
    for (const struct host_hold *h = c->holds; h; h = h->next)
        if (h->kind == HOST_EXECUTE_FENCED && !put_changes(c, h)) return false;
    return true;
}

static bool object_holds(const struct host_carry *c, uint64_t object, uint32_t file) {
    for (const struct host_hold *h = c->holds; h; h = h->next)
        for (uint32_t i = 0; h->kind == 0 && h->object == object && i < h->count; i++)
            if (h->files[i] == file) return true;
    return false;
}

/** The object needs all of h's files; those that it needed before it needs once. */
static bool give_to_object(struct host_carry *c, struct host_hold *h, uint64_t object) {
    for (uint32_t i = 0; i < h->count;) {
        if (object_holds(c, object, h->files[i])) {
            find(c, h->files[i])->uses--;
            h->files[i] = h->files[--h->count];
        } else {
            i++;
        }
    }
    h->kind = 0;
    h->object = object;
    return h->count > 0 || unhold(c, h);
}

static bool release_object(struct host_carry *c, uint64_t object) {
    bool ok = true;
    for (struct host_hold *h = c->holds, *next; h; h = next) {
        next = h->next;
        if (h->kind == 0 && h->object == object) ok = unhold(c, h) && ok;
    }
    return ok;
}

bool host_carry_answered(struct host_carry *c, uint32_t channel, const uint8_t *data, size_t bytes) {
    struct host_hold *h = find_hold(c, channel);
    uint32_t status = 1;
    if (!h) return true;
    if (bytes >= sizeof status) memcpy(&status, data, sizeof status);
    const bool done = status == 0;
    const uint64_t created = done ? first_u64(data, bytes, sizeof status) : 0;
    if ((h->kind == HOST_EXECUTE_ASYNC || h->kind == HOST_EXECUTE_FENCED) && done && !h->launched) {
        h->launched = true; /* another answer follows */
        return true;
    }
    if (c->far) return unhold(c, h);
    const bool ok = h->kind != HOST_RELEASE || release_object(c, h->object);
    if (h->kind == HOST_CREATE_EXECUTION && created) return give_to_object(c, h, created);
    if (h->kind == HOST_BURST_EXECUTE) return give_to_object(c, h, h->object);
    return unhold(c, h) && ok;
}

bool host_carry_closed(struct host_carry *c, uint32_t channel) {
    bool ok = true;
    for (struct host_hold *h; (h = find_hold(c, channel)) != NULL;) ok = unhold(c, h) && ok;
    return ok;
}
