/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file clients.h Who is connected to nnvts-host --listen: those who have proved their key, and those who have not yet.
 *
 * Each has a process. The two have places of their own, so strangers take none of a client's. There are few for
 * strangers: when all are taken, the address that has the most of them gives up its oldest. All processes share the
 * table; the listening one alone adds and removes.
 */
#ifndef NNVTS_HOST_CLIENTS_H
#define NNVTS_HOST_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { HOST_MOST_CLIENTS = 256, HOST_STRANGERS = 16 };

struct host_client;
struct host_clients {
    struct host_client *at; /**< shared */
    uint32_t most;          /**< that have proved their key, at once: up to HOST_MOST_CLIENTS */
};

/** False: there is no memory. */
bool host_clients_begin(struct host_clients *c, uint32_t most);
void host_clients_end(struct host_clients *c);
/** A place for a stranger from this address, who may cost another stranger his, by SIGKILL. NULL: there is none. */
struct host_client *host_clients_take(struct host_clients *c, const struct sockaddr *from);
/** The process that serves him; 0: there is none, and the place is free again. */
void host_client_served_by(struct host_client *client, pid_t pid);
/** In that process: he has proved his key. False: there are too many clients; he may come again. */
bool host_client_proved(const struct host_clients *c, struct host_client *client);
/** This process has ended: its place is free. */
void host_clients_gone(struct host_clients *c, pid_t pid);

#endif
