/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wire.h Messages between a client and the host of a driver: bounded, versioned, with descriptors.
 *
 * A message is one packet of a Unix socket that keeps packets apart: a header, and a payload of at most
 * HOST_INLINE_BYTES. A larger payload lies in a file whose descriptor comes first. Neither side believes the other:
 * whatever is read is checked against what has arrived, and a reader that has failed once gives zeros from then on.
 */
#ifndef NNVTS_HOST_WIRE_H
#define NNVTS_HOST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HOST_VERSION = 5,
    HOST_CONTROL_FD = 3, /**< of the host process: where connections are asked for */
    HOST_INLINE_BYTES = 32 << 10,
    HOST_PAYLOAD_BYTES = 256 << 20, /**< a message's at most */
    HOST_FDS = 128,                 /**< a message's at most */
};
#define HOST_NO_FD UINT32_MAX

/** What is asked; an answer has the kind of its question. */
enum host_kind {
    HOST_CONNECT = 1, /**< on the control socket: a new client, on the socket that comes with it; no answer */
    HOST_HELLO,       /**< opens the device, tells what it is */
    HOST_STREAM,      /**< one more socket for calls of the same client */
    HOST_CLOSE,       /**< releases all that the client has */
    HOST_STATUS,
    HOST_SUPPORTED,
    HOST_PREPARE,
    HOST_PREPARE_FROM_CACHE,
    HOST_ALLOCATE,
    HOST_COPY_TO,
    HOST_COPY_FROM,
    HOST_EXECUTE,
    HOST_EXECUTE_ASYNC,  /**< answered twice: launched, ended */
    HOST_EXECUTE_FENCED, /**< answered twice: launched, fence signalled */
    HOST_FENCED_RESULT,
    HOST_CREATE_EXECUTION,
    HOST_RUN_EXECUTION,
    HOST_CREATE_BURST,  /**< the stream belongs to the burst from then on */
    HOST_BURST_MEMORY,  /**< on a burst's stream: the descriptor of a slot; no answer */
    HOST_BURST_EXECUTE, /**< in a burst's rings, or a call of a burst without rings */
    HOST_BURST_FORGET,  /**< likewise */
    HOST_RELEASE,
    HOST_KINDS
};

/* ------------------------------------------------------------------ writing */

/** A message in the making. Zero-initialise; ended by host_out_end. */
struct host_out {
    uint8_t *data;
    size_t bytes, room;
    bool failed;  /**< out of memory, or larger than a message may be */
    bool invalid; /**< the caller's arguments can't be told: a count without an array */
    int fds[HOST_FDS];
    uint32_t fd_count;
};

void host_put_bytes(struct host_out *o, const void *data, size_t bytes);
void host_put_u32(struct host_out *o, uint32_t value);
void host_put_u64(struct host_out *o, uint64_t value);
void host_put_f32(struct host_out *o, float value);
/** Length and bytes; NULL is an empty text that is told from "". */
void host_put_text(struct host_out *o, const char *text);
/** Count and elements of `size` bytes; array may be NULL where count is 0, else the message is invalid. */
void host_put_array(struct host_out *o, const void *array, uint32_t count, size_t size);
/** The place of a borrowed descriptor among the message's; the same one is sent once. HOST_NO_FD: not open. */
uint32_t host_put_fd(struct host_out *o, int fd);
void host_out_end(struct host_out *o);

/* ------------------------------------------------------------------ reading */

struct host_block;

/** What a message brought: memory and descriptors. */
struct host_keep {
    struct host_block *blocks;
    int fds[HOST_FDS]; /**< -1 where taken */
    uint32_t fd_count;
};
/** Frees memory and closes descriptors. */
void host_keep_end(struct host_keep *keep);

/** A message that is being read; what is read from it lives as long as keep. */
struct host_in {
    uint32_t kind;
    const uint8_t *data;
    size_t bytes, at;
    bool failed;  /**< it says something that can't be */
    bool invalid; /**< it is well formed, but memory that it names does not exist */
    struct host_keep keep;
    uint8_t buffer[HOST_INLINE_BYTES];
};

/** A message that lies in memory: data, borrowed. keep is empty. */
void host_in_begin(struct host_in *in, uint32_t kind, const void *data, size_t bytes);
uint32_t host_get_u32(struct host_in *in);
uint64_t host_get_u64(struct host_in *in);
float host_get_f32(struct host_in *in);
/** NUL-terminated, or NULL. */
const char *host_get_text(struct host_in *in);
/** An array as host_put_array wrote it, aligned; NULL and *count 0 where it is empty or the reader has failed. */
void *host_get_array(struct host_in *in, size_t size, uint32_t *count);
/** A count of things that take at least min_bytes each in the message. */
uint32_t host_get_count(struct host_in *in, size_t min_bytes);
/** Zeroed memory for what is read. NULL fails the reader. */
void *host_in_alloc(struct host_in *in, size_t count, size_t size);
/** A descriptor of the message, still its own; -1 for HOST_NO_FD; fails the reader if there is no such one. */
int host_get_fd(struct host_in *in);
/** The reader has read all there is, without failing. */
bool host_in_done(const struct host_in *in);
void host_in_end(struct host_in *in);

/* ------------------------------------------------------------------ sockets */

/** False if the other end is gone, or the message can't be sent. */
bool host_send(int socket, uint32_t kind, const struct host_out *o);
enum host_received { HOST_GONE, HOST_BAD, HOST_GOT };
/** Waits for a message. Unless it is HOST_GOT, *in is empty and needs no end. */
enum host_received host_receive(int socket, struct host_in *in);

/* ------------------------------------------------------------------- memory */

/** bytes of shared memory that can't shrink or grow: a descriptor, or -1. */
int host_memory_new(uint64_t bytes);
/** The file holds bytes from offset, and its end can't be taken away (a regular file: sealed). */
bool host_memory_holds(int fd, uint64_t offset, uint64_t bytes);

#endif
