/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file frames.h Messages over a stream between two programs that have a key in common.
 *
 * Both begin with a hello: magic word, version, flags, room of the cache, a nonce; the server's ends with a proof that
 * it has the key. From the key and both nonces follow a key for each direction. What comes then are frames: u32 bytes,
 * a message, 16 bytes of HMAC-SHA-256, which covers the number of the frame, too: nothing can be changed, left out,
 * repeated or turned round. The client's first frame proves its key, and the server looks at nothing before. What is
 * sent can be read on the way. Numbers are as the processor has them; one of another order is refused with the magic
 * word.
 */
#ifndef NNVTS_HOST_FRAMES_H
#define NNVTS_HOST_FRAMES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../wire.h"
#include "base/sha256.h"

enum {
    HOST_NONCE_BYTES = 32,
    HOST_CODE_BYTES = 16,
    HOST_FRAME_BYTES = 64 << 10, /**< of a frame, at most */
};

/** A key that both sides have. bytes 0: none; then the codes show damage, but no stranger. */
struct host_key {
    uint8_t key[4096];
    size_t bytes;
};
/** Reads a file of 16 to 4096 bytes that only its owner may read; line ends at its end do not count. NULL, or why not.
 */
const char *host_key_read(const char *path, struct host_key *key);

/** One end. Zero-initialise but for in and out; ended by host_frames_end. */
struct host_frames {
    int in, out;          /**< descriptors, which may be the same; not closed */
    uint32_t cache_bytes; /**< what the server keeps of contents; a server sets it before its hello */
    uint8_t keys[2][NNV_SHA256_BYTES];
    uint64_t sent, received; /**< frames */
    uint64_t received_bytes;
    uint8_t *outgoing; /**< what is to be sent, from outgoing_at on */
    size_t outgoing_bytes, outgoing_at, outgoing_room;
    size_t at, have; /**< what was received and not yet taken lies in incoming from at to have */
    uint8_t incoming[2 * HOST_FRAME_BYTES];
};
void host_frames_end(struct host_frames *f);

/**
 * The two sides of the beginning, within so many nanoseconds. NULL, or what is wrong: *again, if it may be right a
 * little later (the server is being started).
 */
const char *host_frames_connect(struct host_frames *f, const struct host_key *key, uint64_t within_ns, bool *again);
const char *host_frames_accept(struct host_frames *f, const struct host_key *key, uint64_t within_ns);

/** Adds a message to what is to be sent, and ends *message. False: it is too large, or there is no memory. */
bool host_frames_put(struct host_frames *f, struct host_out *message);
/** Bytes that are to be sent. */
size_t host_frames_waiting(const struct host_frames *f);
/** Sends what can be sent without waiting. False: the other end is gone. */
bool host_frames_flush(struct host_frames *f);
enum host_framed { HOST_FRAMED_NONE, HOST_FRAMED, HOST_FRAMED_GONE, HOST_FRAMED_BAD };
/** Reads without waiting. HOST_FRAMED: *data is a whole message, until the next call. */
enum host_framed host_frames_get(struct host_frames *f, const uint8_t **data, size_t *bytes);
/** A TCP connection whose other end is silent ends within half a minute, and small messages are sent at once.
 */
void host_keep_alive(int fd);
/** Waits until the stream has something to read, or takes something. False: not within so many nanoseconds. */
bool host_wait(int fd, short events, uint64_t within_ns);
uint64_t host_now_ns(void);

#endif
