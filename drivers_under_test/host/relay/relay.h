/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file relay.h The streams of a client over one stream: a relay beside the client, another one beside the host
 * process.
 *
 * Each speaks to its neighbour over sockets, as client and host process do when they are on one machine, and knows of
 * the messages only what it needs: whose descriptors they bring, and when a question is answered. A channel is a socket
 * of the client's and one of the host's. Files are carried (carry.h), fences are told when they signal.
 */
#ifndef NNVTS_HOST_RELAY_H
#define NNVTS_HOST_RELAY_H

#include "carry.h"

struct host_channel;
struct host_fence;

/** Zero-initialise; begun by host_relay_begin, ended by host_relay_end. */
struct host_relay {
    struct host_frames *frames;
    struct host_carry carry;
    bool far;
    int print; /**< far side: what the driver prints comes here; -1: nothing */
    /** Far side, before the other one is told that a socket has closed: says how the driver's process ended, if so. */
    void (*ended)(void *context);
    void *context;
    struct host_channel *channels;
    struct host_fence *fences;
    uint32_t numbers;
    bool failed;        /**< something could not be told: there is no memory */
    struct host_in in;  /**< what a neighbour said */
    struct host_in got; /**< what the other relay said */
};

/** root: the first channel's socket, which the relay takes. */
bool host_relay_begin(struct host_relay *r, struct host_frames *frames, bool far, int root, int print);
/** Why a relay ended that the other one has left. */
extern const char host_relay_lost[];
/** Until the root closes on one of the sides: NULL; or what else has ended it. */
const char *host_relay_run(struct host_relay *r);
/** Tells the other side what was printed. */
void host_relay_print(struct host_relay *r, const char *text, size_t bytes);
void host_relay_end(struct host_relay *r);

#endif
