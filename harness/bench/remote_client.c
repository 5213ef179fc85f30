/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side, addresses and keys. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hmac.h"
#include "harness/bench/remote_wire.h"

#define SECOND UINT64_C(1000000000)

enum nnv_status nnv_remote_address(const char *text, bool numeric, struct addrinfo **out, struct nnv_err *err) {
    char host[256];
    const char *colon = strrchr(text, ':'), *begin = text, *end = colon;
    if (colon && *text == '[' && colon[-1] == ']') {
        begin = text + 1;
        end = colon - 1;
    }
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0, n = end > begin ? (size_t)(end - begin) : 0;
    if (!digits || digits > 5 || colon[1 + digits] || strtoul(colon + 1, NULL, 10) > 65535 || !n || n >= sizeof host ||
        (begin == text && memchr(begin, ':', n)))
        return nnv_fail(err, NNV_INVALID,
                        "'%.200s' is no address; expected HOST:PORT, as in 127.0.0.1:7557 or [::1]:7557", text);
    memcpy(host, begin, n);
    host[n] = '\0';
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST | AI_PASSIVE : 0)};
    int code = getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, colon + 1, &hints, out);
    return code ? nnv_fail(err, NNV_INVALID, "'%.200s': %s", text, gai_strerror(code)) : NNV_OK;
}

enum nnv_status nnv_remote_key_read(const char *path, struct nnv_remote_key *key, struct nnv_err *err) {
    struct stat st;
    char *data = NULL;
    size_t n = 0;
    if (stat(path, &st) == 0 && st.st_mode & (S_IRWXG | S_IRWXO))
        return nnv_fail(err, NNV_INVALID, "%s: others may read this key; chmod 600 it", path);
    enum nnv_status s = nnv_file_read(path, sizeof key->key, &data, &n, err);
    if (s != NNV_OK) return s;
    while (n && (data[n - 1] == '\n' || data[n - 1] == '\r')) n--;
    if (n < 16) {
        s = nnv_fail(err, NNV_INVALID, "%s: a key needs 16 bytes at least: head -c 32 /dev/urandom | base64 >%s", path,
                     path);
    } else {
        memcpy(key->key, data, n);
        key->bytes = n;
    }
    free(data);
    return s;
}

/* ------------------------------------------------------------------- connecting */

/* What has come, if it is what was expected; else why the server refuses, or what is wrong. */
static enum nnv_status expect(int fd, enum nnv_remote_kind kind, uint64_t idle_ns, struct nnv_remote_message *m,
                              struct nnv_err *err) {
    char why[NNV_ERR_TEXT];
    enum nnv_status s = nnv_remote_receive(fd, NNV_REMOTE_SHORT, idle_ns, 10 * SECOND, m, err);
    if (s != NNV_OK || m->kind == kind) return s;
    struct nnv_remote_in in = {.data = m->payload, .bytes = m->bytes};
    nnv_remote_get_text(&in, why, sizeof why);
    for (char *p = why; *p; p++)
        if (!isprint((unsigned char)*p)) *p = '?';
    s = m->kind == NNV_REMOTE_REFUSED && nnv_remote_in_done(&in)
            ? nnv_fail(err, NNV_INVALID, "the server refuses: %s", why)
            : nnv_fail(err, NNV_INVALID, "the server answers something else than was asked");
    free(m->payload);
    m->payload = NULL;
    return s;
}

static enum nnv_status prove(int fd, const struct nnv_remote_key *key, const uint8_t *own, const uint8_t *theirs,
                             struct nnv_err *err) {
    struct nnv_remote_message m;
    struct nnv_text t = {0};
    uint8_t proof[NNV_SHA256_BYTES];
    if (!key || !key->bytes) return nnv_fail(err, NNV_INVALID, "the server asks for a key; give --key-file");
    nnv_remote_proof(key, "client", own, theirs, proof);
    nnv_text_add_n(&t, (const char *)proof, sizeof proof);
    bool sent = nnv_remote_send(fd, NNV_REMOTE_PROOF, &t, 10 * SECOND);
    nnv_text_free(&t);
    if (!sent) return nnv_fail(err, NNV_IO, "the connection is lost");
    enum nnv_status s = expect(fd, NNV_REMOTE_PROOF, 10 * SECOND, &m, err);
    if (s != NNV_OK) return s;
    nnv_remote_proof(key, "server", own, theirs, proof);
    bool ok = m.bytes == sizeof proof && nnv_hmac_equal(m.payload, proof);
    free(m.payload);
    return ok ? NNV_OK : nnv_fail(err, NNV_INVALID, "the server does not have the key");
}

static enum nnv_status greet(struct nnv_remote *r, const struct nnv_remote_key *key, struct nnv_err *err) {
    struct nnv_remote_message m;
    struct nnv_text t = {0};
    uint8_t own[NNV_REMOTE_NONCE], theirs[NNV_REMOTE_NONCE] = {0};
    if (!nnv_remote_nonce(own)) return nnv_fail(err, NNV_IO, "getrandom: %s", strerror(errno));
    nnv_remote_put_u32(&t, NNV_REMOTE_VERSION);
    nnv_text_add_n(&t, (const char *)own, sizeof own);
    bool sent = nnv_remote_send(r->fd, NNV_REMOTE_HELLO, &t, 10 * SECOND);
    nnv_text_free(&t);
    if (!sent) return nnv_fail(err, NNV_IO, "the connection is lost");
    enum nnv_status s = expect(r->fd, NNV_REMOTE_WELCOME, 10 * SECOND, &m, err);
    if (s != NNV_OK) return s;
    struct nnv_remote_in in = {.data = m.payload, .bytes = m.bytes};
    uint32_t version = nnv_remote_get_u32(&in), keyed = nnv_remote_get_u32(&in);
    const void *nonce = nnv_remote_get_bytes(&in, NNV_REMOTE_NONCE);
    if (nonce) memcpy(theirs, nonce, NNV_REMOTE_NONCE);
    bool ok = nnv_remote_in_done(&in) && version == NNV_REMOTE_VERSION;
    free(m.payload);
    if (!ok) return nnv_fail(err, NNV_INVALID, "the server speaks another version of the protocol");
    if (key && key->bytes && !keyed)
        return nnv_fail(err, NNV_INVALID, "the server asks for no key, so it can't prove that it is the right one");
    return keyed ? prove(r->fd, key, own, theirs, err) : NNV_OK;
}

static enum nnv_status meet(struct nnv_remote *r, struct nnv_err *err) {
    struct nnv_remote_message m;
    enum nnv_status s = expect(r->fd, NNV_REMOTE_DEVICE, 10 * SECOND, &m, err);
    if (s != NNV_OK) return s;
    struct nnv_remote_in in = {.data = m.payload, .bytes = m.bytes};
    nnv_remote_get_text(&in, r->device, sizeof r->device);
    nnv_remote_get_text(&in, r->version, sizeof r->version);
    nnv_remote_get_text(&in, r->driver, sizeof r->driver);
    bool ok = nnv_remote_in_done(&in);
    free(m.payload);
    return ok ? NNV_OK : nnv_fail(err, NNV_INVALID, "the server does not tell its device");
}

/* Connects within some seconds. */
static int reach(const struct addrinfo *a) {
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), code = 0;
    socklen_t n = sizeof code;
    if (fd < 0) return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) return fd;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (errno == EINPROGRESS && poll(&p, 1, 10000) > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n) == 0 &&
        code == 0)
        return fd;
    if (code) errno = code;
    code = errno;
    close(fd);
    errno = code;
    return -1;
}

enum nnv_status nnv_remote_connect(const char *address, const struct nnv_remote_key *key, struct nnv_remote *out,
                                   struct nnv_err *err) {
    struct nnv_remote r = {.fd = -1};
    struct addrinfo *all = NULL;
    enum nnv_status s = nnv_remote_address(address, false, &all, err);
    if (s != NNV_OK) return s;
    for (const struct addrinfo *a = all; a && r.fd < 0; a = a->ai_next) r.fd = reach(a);
    if (r.fd < 0) s = nnv_fail(err, NNV_IO, "%.200s: %s", address, strerror(errno));
    freeaddrinfo(all);
    if (s == NNV_OK && (s = greet(&r, key, err)) == NNV_OK) s = meet(&r, err);
    if (s == NNV_OK)
        *out = r;
    else
        nnv_remote_close(&r);
    return s;
}

enum nnv_status nnv_remote_time(struct nnv_remote *r, const struct nnv_model *model, uint64_t time_ns,
                                struct nnv_timed *out, struct nnv_err *err) {
    struct nnv_remote_message m;
    struct nnv_text t = {0};
    nnv_remote_put_measure(&t, time_ns, model);
    if (t.failed || t.len > NNV_REMOTE_MODEL) {
        nnv_text_free(&t);
        return nnv_fail(err, NNV_UNSUPPORTED, "the model is too large to be sent");
    }
    bool sent = nnv_remote_send(r->fd, NNV_REMOTE_MEASURE, &t, 60 * SECOND);
    nnv_text_free(&t);
    if (!sent) return nnv_fail(err, NNV_IO, "the connection is lost");
    /* other clients may be measured before */
    enum nnv_status s = expect(r->fd, NNV_REMOTE_TIMES, 600 * SECOND, &m, err);
    if (s != NNV_OK) return s;
    struct nnv_remote_in in = {.data = m.payload, .bytes = m.bytes};
    bool ok = nnv_remote_get_times(&in, out);
    free(m.payload);
    return ok ? NNV_OK : nnv_fail(err, NNV_INVALID, "the server answers something else than was asked");
}

void nnv_remote_close(struct nnv_remote *r) {
    if (r->fd >= 0) close(r->fd);
    r->fd = -1;
}
