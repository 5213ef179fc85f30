/* SPDX-License-Identifier: Apache-2.0 */
#include "clients.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum place { FREE, STRANGER, PROVED, TURNED_OUT };
enum { PLACES = HOST_MOST_CLIENTS + 2 * HOST_STRANGERS };

struct host_client {
    atomic_int place; /* enum place: the client's process makes a STRANGER PROVED, the listening one all else */
    pid_t pid;
    uint64_t address, number; /* number: the order of arrival */
};

bool host_clients_begin(struct host_clients *c, uint32_t most) {
    void *shared = mmap(NULL, PLACES * sizeof *c->at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    c->at = shared == MAP_FAILED ? NULL : shared;
    c->most = most;
    return c->at != NULL;
}

void host_clients_end(struct host_clients *c) {
    if (c->at) munmap(c->at, PLACES * sizeof *c->at);
    c->at = NULL;
}

/** What one neighbour has: an IPv4 address, or the half of an IPv6 address that he does not choose. */
static uint64_t address_of(const struct sockaddr *from) {
    uint64_t address = 0;
    if (from->sa_family == AF_INET) return ((const struct sockaddr_in *)(const void *)from)->sin_addr.s_addr;
    if (from->sa_family != AF_INET6) return 0;
    const struct in6_addr *a = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    memcpy(&address, a->s6_addr + (IN6_IS_ADDR_V4MAPPED(a) ? 8 : 0), sizeof address);
    return address;
}

static uint32_t strangers(const struct host_clients *c, const struct host_client *like) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < PLACES; i++)
        count += atomic_load(&c->at[i].place) == STRANGER && (!like || c->at[i].address == like->address);
    return count;
}

/** Of the address with the most strangers the one who came first. */
static struct host_client *least_welcome(const struct host_clients *c) {
    struct host_client *worst = NULL;
    uint32_t most = 0;
    for (struct host_client *at = c->at; at < c->at + PLACES; at++) {
        const uint32_t alike = atomic_load(&at->place) == STRANGER ? strangers(c, at) : 0;
        if (alike > most || (alike && alike == most && at->number < worst->number)) {
            most = alike;
            worst = at;
        }
    }
    return worst;
}

static void turn_out(struct host_client *client) {
    int stranger = STRANGER;
    /* he may just have proved his key */
    if (!client || !atomic_compare_exchange_strong(&client->place, &stranger, TURNED_OUT)) return;
    kill(client->pid, SIGKILL);
    waitpid(client->pid, NULL, 0);
    atomic_store(&client->place, FREE);
}

struct host_client *host_clients_take(struct host_clients *c, const struct sockaddr *from) {
    while (strangers(c, NULL) >= HOST_STRANGERS) turn_out(least_welcome(c));
    struct host_client *client = NULL;
    uint64_t number = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        if (atomic_load(&c->at[i].place) == FREE) client = &c->at[i];
        if (c->at[i].number > number) number = c->at[i].number;
    }
    if (!client) return NULL;
    client->address = address_of(from);
    client->number = number + 1;
    client->pid = 0;
    atomic_store(&client->place, STRANGER);
    return client;
}

void host_client_served_by(struct host_client *client, pid_t pid) {
    client->pid = pid;
    if (pid <= 0) atomic_store(&client->place, FREE);
}

bool host_client_proved(const struct host_clients *c, struct host_client *client) {
    int stranger = STRANGER;
    uint32_t clients = 0;
    if (!atomic_compare_exchange_strong(&client->place, &stranger, PROVED)) return false; /* about to be killed */
    for (uint32_t i = 0; i < PLACES; i++) clients += atomic_load(&c->at[i].place) == PROVED;
    /* of two who take the last place at once both may go, and come again */
    if (clients > c->most) atomic_store(&client->place, STRANGER);
    return clients <= c->most;
}

void host_clients_gone(struct host_clients *c, pid_t pid) {
    for (uint32_t i = 0; i < PLACES; i++)
        if (c->at[i].pid == pid && atomic_load(&c->at[i].place) != FREE) atomic_store(&c->at[i].place, FREE);
}
