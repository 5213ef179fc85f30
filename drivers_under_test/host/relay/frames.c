/* SPDX-License-Identifier: Apache-2.0 */
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sha256.h"

enum { MAGIC = 0x5254564e, KEYED = 1, VERSION = HOST_VERSION };

struct hello {
    uint32_t magic, version, flags, cache_bytes;
    uint8_t nonce[HOST_NONCE_BYTES];
};

uint64_t host_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------------ key */

const char *host_key_read(const char *path, struct host_key *key) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "the file of the key can't be read";
    const bool open_to_others = fstat(fd, &st) != 0 || st.st_mode & (S_IRWXG | S_IRWXO);
    ssize_t n = read(fd, key->key, sizeof key->key);
    const bool whole = n >= 0 && st.st_size == n;
    close(fd);
    if (open_to_others) return "others may read the file of the key; chmod 600 it";
    while (n > 0 && (key->key[n - 1] == '\n' || key->key[n - 1] == '\r')) n--;
    if (n < 16 || !whole) return "a key has 16 to 4096 bytes: head -c 32 /dev/urandom | base64 >FILE";
    key->bytes = (size_t)n;
    return NULL;
}

/** A code of a word and both nonces under the key. */
static void derive(const struct host_key *key, const char *what, const struct hello *client, const struct hello *server,
                   uint8_t out[NNV_SHA256_BYTES]) {
    enum { WORD = 8 };
    uint8_t data[WORD + 2 * sizeof(struct hello)] = {0};
    memcpy(data, what, strnlen(what, WORD));
    memcpy(data + WORD, client, sizeof *client);
    memcpy(data + WORD + sizeof *client, server, sizeof *server);
    nnv_hmac_sha256(key->key, key->bytes, data, sizeof data, out);
}

/* -------------------------------------------------------------------- beginning */

void host_keep_alive(int fd) {
    const int on = 1, idle_s = 5, most_ms = 20000;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most_ms, sizeof most_ms);
}

bool host_wait(int fd, short events, uint64_t within_ns) {
    const uint64_t until = host_now_ns() + within_ns;
    for (;;) {
        const uint64_t now = host_now_ns(), left = now < until ? (until - now) / 1000000 + 1 : 0;
        struct pollfd p = {fd, events, 0};
        const int n = poll(&p, 1, left > 1000000 ? 1000000 : (int)left);
        if (n > 0) return true;
        if ((n < 0 && errno != EINTR) || left == 0) return false;
    }
}

static bool would_block(void) { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }

/** As write(), without a signal where the other end is gone. */
static ssize_t put_some(int fd, const void *data, size_t bytes) {
    const ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(fd, data, bytes) : n;
}

static bool send_all(int fd, const void *data, size_t bytes, uint64_t until_ns) {
    for (const char *p = data; bytes;) {
        const uint64_t now = host_now_ns();
        if (!host_wait(fd, POLLOUT, now < until_ns ? until_ns - now : 0)) return false;
        const ssize_t n = put_some(fd, p, bytes);
        if (n < 0 && would_block()) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool receive_all(int fd, void *to, size_t bytes, uint64_t until_ns) {
    for (char *p = to; bytes;) {
        const uint64_t now = host_now_ns();
        if (!host_wait(fd, POLLIN, now < until_ns ? until_ns - now : 0)) return false;
        const ssize_t n = read(fd, p, bytes);
        if (n < 0 && would_block()) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool make_hello(struct hello *h, const struct host_key *key, uint32_t cache_bytes) {
    *h = (struct hello){MAGIC, VERSION, key->bytes ? KEYED : 0, cache_bytes, {0}};
    return getrandom(h->nonce, sizeof h->nonce, 0) == (ssize_t)sizeof h->nonce;
}

static void begin(struct host_frames *f, const struct host_key *key, const struct hello *client,
                  const struct hello *server, bool is_server) {
    derive(key, "client", client, server, f->keys[is_server]);
    derive(key, "server", client, server, f->keys[!is_server]);
    f->cache_bytes = server->cache_bytes;
    fcntl(f->in, F_SETFL, fcntl(f->in, F_GETFL) | O_NONBLOCK);
    fcntl(f->out, F_SETFL, fcntl(f->out, F_GETFL) | O_NONBLOCK);
}

const char *host_frames_connect(struct host_frames *f, const struct host_key *key, uint64_t within_ns, bool *again) {
    const uint64_t until = host_now_ns() + within_ns;
    struct hello own, theirs;
    uint8_t proof[NNV_SHA256_BYTES], expected[NNV_SHA256_BYTES];
    *again = false;
    if (!make_hello(&own, key, 0)) return "there are no random numbers";
    if (!send_all(f->out, &own, sizeof own, until) || !receive_all(f->in, &theirs, sizeof theirs, until)) {
        *again = true;
        return "the other end does not answer as nnvts-host does";
    }
    if (theirs.magic != MAGIC) return "the other end does not speak the protocol of nnvts-host";
    if (theirs.version != VERSION) return "the other end speaks another version of the protocol";
    if (theirs.flags & KEYED && !key->bytes) return "the other end asks for a key: key=FILE, or NNVTS_REMOTE_KEY";
    if (!(theirs.flags & KEYED) && key->bytes)
        return "the other end asks for no key, so it can't prove that it is the right one";
    if (!receive_all(f->in, proof, sizeof proof, until)) return "the other end goes away";
    derive(key, "proof", &own, &theirs, expected);
    if (!nnv_hmac_equal(proof, expected)) return "the other end has another key";
    begin(f, key, &own, &theirs, false);
    return NULL;
}

const char *host_frames_accept(struct host_frames *f, const struct host_key *key, uint64_t within_ns) {
    const uint64_t until = host_now_ns() + within_ns;
    struct hello own, theirs;
    uint8_t proof[NNV_SHA256_BYTES];
    if (!receive_all(f->in, &theirs, sizeof theirs, until)) return "it does not begin";
    if (theirs.magic != MAGIC || !make_hello(&own, key, f->cache_bytes)) return "it does not speak the protocol";
    if (!send_all(f->out, &own, sizeof own, until)) return "it goes away";
    if (theirs.version != VERSION) return "it speaks another version of the protocol";
    derive(key, "proof", &theirs, &own, proof);
    if (!send_all(f->out, proof, sizeof proof, until)) return "it goes away";
    begin(f, key, &theirs, &own, true);
    return NULL;
}

void host_frames_end(struct host_frames *f) {
    free(f->outgoing);
    f->outgoing = NULL;
}

/* ---------------------------------------------------------------------- frames */

enum { NUMBER = sizeof(uint64_t), HEAD = sizeof(uint32_t), MOST = HOST_FRAME_BYTES - HEAD - HOST_CODE_BYTES };

/** The code of a frame, of which `bytes` lie behind the place of its number. */
static void seal(const uint8_t key[NNV_SHA256_BYTES], uint64_t number, uint8_t *frame, size_t bytes,
                 uint8_t code[NNV_SHA256_BYTES]) {
    memcpy(frame, &number, NUMBER);
    nnv_hmac_sha256(key, NNV_SHA256_BYTES, frame, NUMBER + bytes, code);
}

/** Room for a frame behind what is to be sent; NULL: there is no memory. */
static uint8_t *frame_room(struct host_frames *f) {
    const size_t need = NUMBER + f->outgoing_bytes + HOST_FRAME_BYTES;
    if (need > f->outgoing_room) {
        uint8_t *grown = realloc(f->outgoing, need * 2);
        if (!grown) return NULL;
        f->outgoing = grown;
        f->outgoing_room = need * 2;
    }
    return f->outgoing + f->outgoing_bytes;
}

bool host_frames_put(struct host_frames *f, struct host_out *message) {
    const uint32_t bytes = (uint32_t)message->bytes;
    const bool fits = !message->failed && !message->invalid && message->bytes <= MOST;
    uint8_t *frame = fits ? frame_room(f) : NULL;
    if (frame) {
        /* the number takes the place before the frame while its code is made */
        uint8_t code[NNV_SHA256_BYTES], *at = frame + NUMBER;
        memcpy(at, &bytes, HEAD);
        if (bytes) memcpy(at + HEAD, message->data, bytes);
        seal(f->keys[0], f->sent++, frame, HEAD + bytes, code);
        memmove(frame, at, HEAD + bytes);
        memcpy(frame + HEAD + bytes, code, HOST_CODE_BYTES);
        f->outgoing_bytes += HEAD + bytes + HOST_CODE_BYTES;
    }
    host_out_end(message);
    return frame != NULL;
}

size_t host_frames_waiting(const struct host_frames *f) { return f->outgoing_bytes - f->outgoing_at; }

bool host_frames_flush(struct host_frames *f) {
    while (host_frames_waiting(f)) {
        const ssize_t n = put_some(f->out, f->outgoing + f->outgoing_at, host_frames_waiting(f));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && would_block()) return true;
        if (n <= 0) return false;
        f->outgoing_at += (size_t)n;
    }
    f->outgoing_bytes = f->outgoing_at = 0;
    return true;
}

/** Reads until `bytes` lie behind at; more, if they are there. The number of a frame has its place before at. */
static enum host_framed fill(struct host_frames *f, size_t bytes) {
    while (f->have - f->at < bytes) {
        if (f->at < NUMBER || f->at > HOST_FRAME_BYTES / 2) {
            memmove(f->incoming + NUMBER, f->incoming + f->at, f->have - f->at);
            f->have = f->have - f->at + NUMBER;
            f->at = NUMBER;
        }
        const ssize_t n = read(f->in, f->incoming + f->have, sizeof f->incoming - f->have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && would_block()) return HOST_FRAMED_NONE;
        if (n <= 0) return HOST_FRAMED_GONE;
        f->have += (size_t)n;
    }
    return HOST_FRAMED;
}

enum host_framed host_frames_get(struct host_frames *f, const uint8_t **data, size_t *bytes) {
    uint8_t code[NNV_SHA256_BYTES], got[NNV_SHA256_BYTES];
    uint32_t head;
    enum host_framed st = fill(f, HEAD);
    if (st != HOST_FRAMED) return st;
    memcpy(&head, f->incoming + f->at, HEAD);
    if (head > MOST) return HOST_FRAMED_BAD;
    st = fill(f, HEAD + head + HOST_CODE_BYTES);
    if (st != HOST_FRAMED) return st;
    uint8_t *frame = f->incoming + f->at;
    seal(f->keys[1], f->received, frame - NUMBER, HEAD + head, code);
    memcpy(got, code, sizeof got);
    memcpy(got, frame + HEAD + head, HOST_CODE_BYTES);
    if (!nnv_hmac_equal(got, code)) return HOST_FRAMED_BAD;
    f->received++;
    f->received_bytes += head;
    f->at += HEAD + head + HOST_CODE_BYTES;
    *data = frame + HEAD;
    *bytes = head;
    return HOST_FRAMED;
}
