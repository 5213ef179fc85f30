/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/remote_wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hmac.h"

enum { MAGIC = 0x5254564e }; /* "NVTR" */

/* ---------------------------------------------------------------------- numbers */

const void *nnv_remote_get_bytes(struct nnv_remote_in *in, size_t n) {
    if (in->failed || n > in->bytes - in->at) {
        in->failed = true;
        return NULL;
    }
    in->at += n;
    return in->data + in->at - n;
}

static uint64_t get(struct nnv_remote_in *in, size_t bytes) {
    const uint8_t *p = nnv_remote_get_bytes(in, bytes);
    uint64_t v = 0;
    for (size_t i = 0; p && i < bytes; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

uint32_t nnv_remote_get_u32(struct nnv_remote_in *in) { return (uint32_t)get(in, 4); }
uint64_t nnv_remote_get_u64(struct nnv_remote_in *in) { return get(in, 8); }

double nnv_remote_get_f64(struct nnv_remote_in *in) {
    uint64_t bits = get(in, 8);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

void nnv_remote_get_text(struct nnv_remote_in *in, char *to, size_t room) {
    size_t n = nnv_remote_get_u32(in);
    const char *p = nnv_remote_get_bytes(in, n);
    in->failed = in->failed || n >= room || memchr(p, 0, n);
    if (in->failed) n = 0;
    for (size_t i = 0; i < n; i++) to[i] = p[i];
    to[n] = '\0';
}

bool nnv_remote_in_done(const struct nnv_remote_in *in) { return !in->failed && in->at == in->bytes; }

static void put(struct nnv_text *out, uint64_t v, size_t bytes) {
    char p[8];
    for (size_t i = 0; i < bytes; i++) p[i] = (char)(v >> 8 * i);
    nnv_text_add_n(out, p, bytes);
}

void nnv_remote_put_u32(struct nnv_text *out, uint32_t v) { put(out, v, 4); }
void nnv_remote_put_u64(struct nnv_text *out, uint64_t v) { put(out, v, 8); }

void nnv_remote_put_f64(struct nnv_text *out, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put(out, bits, 8);
}

void nnv_remote_put_text(struct nnv_text *out, const char *text) {
    size_t n = strlen(text);
    put(out, n, 4);
    nnv_text_add_n(out, text, n);
}

/* ----------------------------------------------------------------------- frames */

void nnv_remote_header(uint8_t to[NNV_REMOTE_HEADER], enum nnv_remote_kind kind, size_t bytes) {
    const uint32_t words[] = {MAGIC, kind, (uint32_t)bytes};
    for (int i = 0; i < NNV_REMOTE_HEADER; i++) to[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

bool nnv_remote_header_read(const uint8_t from[NNV_REMOTE_HEADER], enum nnv_remote_kind *kind, size_t *bytes) {
    struct nnv_remote_in in = {.data = from, .bytes = NNV_REMOTE_HEADER};
    uint32_t magic = nnv_remote_get_u32(&in), what = nnv_remote_get_u32(&in);
    *bytes = nnv_remote_get_u32(&in);
    *kind = (enum nnv_remote_kind)what;
    return magic == MAGIC && what >= NNV_REMOTE_HELLO && what < NNV_REMOTE_KINDS &&
           *bytes <= (what == NNV_REMOTE_MEASURE ? (size_t)NNV_REMOTE_MODEL : (size_t)NNV_REMOTE_SHORT);
}

/* Waits until the socket is ready; false: not until then. */
static bool wait_for(int fd, short events, uint64_t until_ns) {
    for (;;) {
        uint64_t now = nnv_now_ns(), left = now < until_ns ? (until_ns - now) / 1000000 + 1 : 0;
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, left > 1000000 ? 1000000 : (int)left);
        if (n > 0) return true;
        if ((n < 0 && errno != EINTR) || left == 0) return false;
    }
}

static bool send_all(int fd, const void *data, size_t bytes, uint64_t until_ns) {
    const char *p = data;
    while (bytes) {
        if (!wait_for(fd, POLLOUT, until_ns)) return false;
        ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool nnv_remote_send(int fd, enum nnv_remote_kind kind, const struct nnv_text *payload, uint64_t timeout_ns) {
    uint8_t header[NNV_REMOTE_HEADER];
    uint64_t until = nnv_now_ns() + timeout_ns;
    if (payload->failed || payload->len > NNV_REMOTE_MODEL) return false;
    nnv_remote_header(header, kind, payload->len);
    return send_all(fd, header, sizeof header, until) && send_all(fd, payload->data, payload->len, until);
}

static enum nnv_status receive_all(int fd, uint8_t *to, size_t bytes, uint64_t until_ns, struct nnv_err *err) {
    while (bytes) {
        if (!wait_for(fd, POLLIN, until_ns)) return nnv_fail(err, NNV_TIMEOUT, "the other end took too long");
        ssize_t n = recv(fd, to, bytes, MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) return nnv_fail(err, NNV_IO, "the connection is lost: %s", strerror(errno));
        if (n == 0) return nnv_fail(err, NNV_IO, "the connection is lost: the other end closed it");
        to += n;
        bytes -= (size_t)n;
    }
    return NNV_OK;
}

enum nnv_status nnv_remote_receive(int fd, size_t most, uint64_t idle_ns, uint64_t rest_ns,
                                   struct nnv_remote_message *out, struct nnv_err *err) {
    enum { PIECE = 1 << 20 };
    uint8_t header[NNV_REMOTE_HEADER];
    size_t bytes = 0, got = 0;
    *out = (struct nnv_remote_message){0};
    enum nnv_status s = receive_all(fd, header, 1, nnv_now_ns() + idle_ns, err);
    uint64_t until = nnv_now_ns() + rest_ns;
    if (s == NNV_OK) s = receive_all(fd, header + 1, sizeof header - 1, until, err);
    if (s != NNV_OK) return s;
    if (!nnv_remote_header_read(header, &out->kind, &bytes) || bytes > most)
        return nnv_fail(err, NNV_INVALID, "the other end does not speak the protocol of nnvts");
    /* memory grows with what arrives, not with what is announced */
    while (s == NNV_OK && got < bytes) {
        size_t piece = bytes - got < PIECE ? bytes - got : PIECE;
        uint8_t *grown = realloc(out->payload, got + piece);
        if (grown) out->payload = grown;
        s = grown ? receive_all(fd, grown + got, piece, until, err) : nnv_no_memory(err);
        got += piece;
    }
    out->bytes = bytes;
    if (s != NNV_OK) {
        free(out->payload);
        out->payload = NULL;
    }
    return s;
}

/* -------------------------------------------------------------------------- keys */

void nnv_remote_proof(const struct nnv_remote_key *key, const char *who, const uint8_t client[NNV_REMOTE_NONCE],
                      const uint8_t server[NNV_REMOTE_NONCE], uint8_t out[NNV_SHA256_BYTES]) {
    uint8_t said[16 + 2 * NNV_REMOTE_NONCE] = {0};
    memcpy(said, who, strnlen(who, 16));
    memcpy(said + 16, client, NNV_REMOTE_NONCE);
    memcpy(said + 16 + NNV_REMOTE_NONCE, server, NNV_REMOTE_NONCE);
    nnv_hmac_sha256(key->key, key->bytes, said, sizeof said, out);
}

bool nnv_remote_nonce(uint8_t out[NNV_REMOTE_NONCE]) { return getrandom(out, NNV_REMOTE_NONCE, 0) == NNV_REMOTE_NONCE; }
