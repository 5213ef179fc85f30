/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file burst.h What client and host of a burst agree on.
 *
 * Pools are named by slots. The descriptor of a slot goes over the burst's stream, in BURST_MEMORY: once for memory
 * that the caller keeps under a token, for one execution otherwise. Questions and answers go through two rings.
 *
 *   BURST_EXECUTE   u32 descriptors sent so far, request (slots for descriptors), tokens, slots to forget, config, room
 *                   -> status, result
 *   BURST_FORGET    u32 as above, u64 token, u32 slot -> status
 *   RELEASE         u32 as above -> status; the stream is an ordinary one again
 */
#ifndef NNVTS_HOST_BURST_H
#define NNVTS_HOST_BURST_H

enum { HOST_BURST_SLOTS = 64, HOST_BURST_TICK_NS = 20000000 }; /**< how often a side that waits sees to the other */

#endif
