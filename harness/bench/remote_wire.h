/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file remote_wire.h Messages between `nnvts profile` and `nnvts serve`: frames of a stream, each with its kind and
 * length, and models in them. Numbers are little-endian. Neither side believes the other: whatever is read is checked
 * against what has arrived, and a reader that has failed gives zeros from then on.
 */
#ifndef NNV_BENCH_REMOTE_WIRE_H
#define NNV_BENCH_REMOTE_WIRE_H

#include "base/sha256.h"
#include "base/text.h"
#include "harness/bench/remote.h"

enum {
    NNV_REMOTE_VERSION = 1,
    NNV_REMOTE_NONCE = 32,
    NNV_REMOTE_SHORT = 4096,      /**< bytes of any message but a model, at most */
    NNV_REMOTE_MODEL = 256 << 20, /**< bytes of a model, at most */
    NNV_REMOTE_HEADER = 12,       /**< bytes before a payload */
};

enum nnv_remote_kind {
    NNV_REMOTE_HELLO = 1, /**< client: version, nonce */
    NNV_REMOTE_WELCOME,   /**< server: version, whether a key is asked for, nonce */
    NNV_REMOTE_PROOF,     /**< each: HMAC of who it is and both nonces */
    NNV_REMOTE_DEVICE,    /**< server: name and version of the device, argument of the driver */
    NNV_REMOTE_MEASURE,   /**< client: time for it, model */
    NNV_REMOTE_TIMES,     /**< server: what came of it */
    NNV_REMOTE_REFUSED,   /**< server: why it ends the connection */
    NNV_REMOTE_KINDS
};

/** A payload that is being read: borrowed bytes. */
struct nnv_remote_in {
    const uint8_t *data;
    size_t bytes, at;
    bool failed;
};
uint32_t nnv_remote_get_u32(struct nnv_remote_in *in);
uint64_t nnv_remote_get_u64(struct nnv_remote_in *in);
double nnv_remote_get_f64(struct nnv_remote_in *in);
/** n bytes of the payload, or NULL. */
const void *nnv_remote_get_bytes(struct nnv_remote_in *in, size_t n);
/** A text of at most room - 1 bytes, terminated; a longer one, or one with a zero in it, fails. */
void nnv_remote_get_text(struct nnv_remote_in *in, char *to, size_t room);
/** All is read, and nothing failed. */
bool nnv_remote_in_done(const struct nnv_remote_in *in);

void nnv_remote_put_u32(struct nnv_text *out, uint32_t v);
void nnv_remote_put_u64(struct nnv_text *out, uint64_t v);
void nnv_remote_put_f64(struct nnv_text *out, double v);
void nnv_remote_put_text(struct nnv_text *out, const char *text);

/** A model, with its constants; with_data false: their places alone, for what is equal but for their values. */
void nnv_remote_put_model(struct nnv_text *out, const struct nnv_model *m, bool with_data);
/** Reads one that is valid (nnv_validate), whose shapes are all known, with at most a GiB of values. Of arena. */
NNV_USE_RESULT enum nnv_status nnv_remote_get_model(struct nnv_remote_in *in, struct nnv_arena *arena,
                                                    struct nnv_model *out, struct nnv_err *err);

/** What a client asks to be measured: how long, and the model. */
void nnv_remote_put_measure(struct nnv_text *out, uint64_t time_ns, const struct nnv_model *m);
NNV_USE_RESULT enum nnv_status nnv_remote_get_measure(struct nnv_remote_in *in, struct nnv_arena *arena,
                                                      uint64_t *time_ns, struct nnv_model *m, struct nnv_err *err);
/** The answer. False: it can't be one. */
void nnv_remote_put_times(struct nnv_text *out, const struct nnv_timed *t);
bool nnv_remote_get_times(struct nnv_remote_in *in, struct nnv_timed *t);

/** A header as it stands before a payload, and back; false: it can't be one, or its payload is too long. */
void nnv_remote_header(uint8_t to[NNV_REMOTE_HEADER], enum nnv_remote_kind kind, size_t bytes);
bool nnv_remote_header_read(const uint8_t from[NNV_REMOTE_HEADER], enum nnv_remote_kind *kind, size_t *bytes);

/** What each side proves that it has the key by: who ("client", "server"), then both nonces. */
void nnv_remote_proof(const struct nnv_remote_key *key, const char *who, const uint8_t client[NNV_REMOTE_NONCE],
                      const uint8_t server[NNV_REMOTE_NONCE], uint8_t out[NNV_SHA256_BYTES]);
/** Random bytes of the system's. */
bool nnv_remote_nonce(uint8_t out[NNV_REMOTE_NONCE]);

struct addrinfo;
/** HOST:PORT, or [HOST]:PORT; numeric: no names. Freed by freeaddrinfo(). */
NNV_USE_RESULT enum nnv_status nnv_remote_address(const char *text, bool numeric, struct addrinfo **out,
                                                  struct nnv_err *err);

/** What is received: payload is malloc'ed, the receiver's. */
struct nnv_remote_message {
    enum nnv_remote_kind kind;
    uint8_t *payload;
    size_t bytes;
};
/** Sends; false if the other end is gone or does not take it in time. */
bool nnv_remote_send(int fd, enum nnv_remote_kind kind, const struct nnv_text *payload, uint64_t timeout_ns);
/**
 * Waits up to idle_ns for a message to begin and rest_ns for the rest of it. A payload of more than `most` bytes, or a
 * header that can't be one, is NNV_INVALID; an end that is gone NNV_IO; one that takes too long NNV_TIMEOUT.
 */
NNV_USE_RESULT enum nnv_status nnv_remote_receive(int fd, size_t most, uint64_t idle_ns, uint64_t rest_ns,
                                                  struct nnv_remote_message *out, struct nnv_err *err);

#endif
