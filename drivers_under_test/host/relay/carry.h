/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file carry.h The contents of files, such as shared memory, on both sides of a stream.
 *
 * A file that comes with a question gets a number and a twin on the far side, which lives as long as the question is
 * not answered, or as the object that it belongs to then. Both sides keep what the other one knows of the contents: a
 * question brings what the client has changed since, an answer what the driver has. So writes outside of an output,
 * guards and all, arrive as they would in shared memory.
 *
 * Contents that were sent before are told by their digest: both sides remember the same pieces, in the order in which
 * they went. Who holds a file is worked out on both sides alike, from the kinds of the messages.
 */
#ifndef NNVTS_HOST_CARRY_H
#define NNVTS_HOST_CARRY_H

#include "frames.h"

/** What messages between relays begin with: u32. */
enum host_relayed {
    HOST_RELAY_OPEN = 1, /**< to the server: text, the driver */
    HOST_RELAY_OPENED,   /**< from it: text, NULL or why not; u32 1: it may be, a little later */
    HOST_RELAY_FILE,     /**< u32 number, u64 size, u32 enum host_file: it is new, or has another size */
    HOST_RELAY_PIECE,    /**< u32 file, u64 at, u32 how, bytes or their digest */
    HOST_RELAY_DROP,     /**< u32 file: the near side needs it no more */
    HOST_RELAY_MESSAGE,  /**< u32 channel, u32 kind, attachments (u32 enum host_attached, u32 number), payload */
    HOST_RELAY_SIGNAL,   /**< u32 fence, u32 1: with an error */
    HOST_RELAY_CLOSE,    /**< u32 channel */
    HOST_RELAY_PRINT,    /**< bytes that the driver printed */
};

/** HOST_SEALED can't shrink or grow; HOST_BYTES are of one message. */
enum host_file { HOST_FILE, HOST_SEALED, HOST_BYTES };
enum host_attached { HOST_A_FILE, HOST_A_FILE_TO_READ, HOST_A_FENCE, HOST_A_CHANNEL, HOST_A_PAYLOAD, HOST_A_NOTHING };

struct host_carried;
struct host_hold;
struct host_piece;

struct host_carry {
    struct host_frames *frames;
    bool far;                   /**< the side that makes twins */
    struct host_carried *files; /**< the latest first */
    struct host_hold *holds, **last_hold;
    struct host_piece *pieces; /**< remembered, oldest at `oldest` */
    uint32_t piece_count, piece_room, oldest;
    uint32_t numbers;
};
void host_carry_begin(struct host_carry *c, struct host_frames *frames, bool far);
void host_carry_end(struct host_carry *c);

/** Near side: sends what is new in this file. Its number; 0: it can't be carried. */
uint32_t host_carry_file(struct host_carry *c, int fd);
/** Sends bytes that one message needs and no file holds. Their number; 0: there is no memory. */
uint32_t host_carry_bytes(struct host_carry *c, const uint8_t *data, size_t bytes);
/** Reads FILE, PIECE. False: it can't be one. */
bool host_carry_take_file(struct host_carry *c, struct host_in *in);
bool host_carry_take_piece(struct host_carry *c, struct host_in *in);
bool host_carry_take_drop(struct host_carry *c, struct host_in *in);
/** Far side: the descriptor of a file's twin, the carry's; -1: there is none. */
int host_carry_twin(const struct host_carry *c, uint32_t number);
/** Bytes that host_carry_bytes sent, the carry's until they are dropped; NULL: there are none of this number. */
const uint8_t *host_carry_get_bytes(const struct host_carry *c, uint32_t number, size_t *bytes);
void host_carry_drop_bytes(struct host_carry *c, uint32_t number);

/** A question on a channel, with the files that came with it. False: there is no memory. */
bool host_carry_asked(struct host_carry *c, uint32_t channel, uint32_t kind, const uint8_t *data, size_t bytes,
                      const uint32_t *files, uint32_t count);
/** Far side, before an answer is sent: what the driver has changed in the question's files. */
bool host_carry_changes(struct host_carry *c, uint32_t channel);
/** Near side, before a fence is signalled: what the client has changed in files of fenced executions. */
bool host_carry_fenced(struct host_carry *c);
/** The channel's oldest question has an answer. False: there is no memory. */
bool host_carry_answered(struct host_carry *c, uint32_t channel, const uint8_t *data, size_t bytes);
bool host_carry_closed(struct host_carry *c, uint32_t channel);

#endif
