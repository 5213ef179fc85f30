/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/text.h"
#include "host/relay/frames.h"

enum { CONNECT_MS = 5000 };
static const char expected[] =
    "expected a machine behind the colon: remote:HOST[:PORT][/DRIVER], "
    "remote:ssh://USER@HOST/DRIVER, remote:adb://SERIAL/DRIVER, after options such as key=FILE,";

/* --------------------------------------------------------------------- reading */

/** One option at the beginning of *text, which moves behind it. */
static const char *read_option(struct remote_place *p, char **text) {
    char *name = *text, *value = strchr(name, '=') + 1, *comma = strchr(value, ','), *end;
    if (!comma) return expected;
    *comma = '\0';
    *text = comma + 1;
    if (strncmp(name, "key=", 4) == 0) {
        p->key = value;
    } else if (strncmp(name, "ssh=", 4) == 0) {
        p->ssh = value;
    } else if (strncmp(name, "adb=", 4) == 0) {
        p->adb = value;
    } else if (strncmp(name, "program=", 8) == 0) {
        p->program = value;
    } else if (strncmp(name, "wait=", 5) == 0) {
        const double seconds = strtod(value, &end);
        if (*end || end == value || !(seconds >= 0 && seconds <= 86400)) return "wait= takes seconds";
        p->wait_ns = (uint64_t)(seconds * 1e9);
    } else {
        return "remote takes key=FILE, wait=SECONDS, ssh=PROGRAM, adb=PROGRAM and program=PATH";
    }
    return NULL;
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:%-_@";

/** A serial as "adb devices" says it, of `length` bytes, or none. */
static bool read_serial(struct remote_place *p, const char *text, size_t length) {
    if (length >= sizeof p->host || *text == '-' || strspn(text, letters) < length) return false;
    memcpy(p->host, text, length);
    p->host[length] = '\0';
    return true;
}

/** HOST, HOST:PORT, [HOST], [HOST]:PORT, of `length` bytes. */
static bool read_host(struct remote_place *p, const char *text, size_t length) {
    const char *begin = text, *end = text + length, *colon = memchr(text, ':', length);
    if (*text == '[') {
        end = memchr(text, ']', length);
        if (!end) return false;
        begin = text + 1;
        colon = end + 1 < text + length ? end + 1 : NULL;
    } else if (colon) {
        end = colon;
    }
    const size_t n = (size_t)(end - begin), digits = colon ? (size_t)(text + length - colon) - 1 : 0;
    if (n == 0 || n >= sizeof p->host || *begin == '-' || strspn(begin, letters) < n || (colon && *colon != ':') ||
        digits > 5 || (colon && (digits == 0 || strspn(colon + 1, "0123456789") < digits)))
        return false;
    memcpy(p->host, begin, n);
    p->host[n] = '\0';
    if (digits) memcpy(p->port, colon + 1, digits);
    return true;
}

const char *remote_place_read(const char *text, struct remote_place *p) {
    *p = (struct remote_place){.ssh = "ssh", .adb = "adb", .wait_ns = 5000000000};
    p->key = getenv("NNVTS_REMOTE_KEY");
    if (!text || !*text || (size_t)snprintf(p->text, sizeof p->text, "%s", text) >= sizeof p->text) return expected;
    char *at = p->text;
    /* options come before the place, in which no '=' stands before the first slash */
    while (at[strcspn(at, "=/,")] == '=' || at[strcspn(at, "=/,")] == ',') {
        const char *wrong = at[strcspn(at, "=/,")] == '=' ? read_option(p, &at) : expected;
        if (wrong) return wrong;
    }
    p->transport = strncmp(at, "ssh://", 6) == 0 ? REMOTE_SSH : strncmp(at, "adb://", 6) == 0 ? REMOTE_ADB : REMOTE_TCP;
    if (p->transport != REMOTE_TCP) at += 6;
    if (!p->program) p->program = p->transport == REMOTE_ADB ? "/data/local/tmp/nnvts/nnvts-host" : "nnvts-host";
    const size_t length = strcspn(at, "/");
    if (!(p->transport == REMOTE_ADB ? read_serial(p, at, length) : read_host(p, at, length))) return expected;
    if (p->transport == REMOTE_TCP && !*p->port) snprintf(p->port, sizeof p->port, "7557");
    const char *driver = at + length;
    /* a name, or a path, which has another slash */
    if (*driver)
        snprintf(p->driver, sizeof p->driver, "%s",
                 strcspn(driver + 1, "/") < strcspn(driver + 1, ":") ? driver : driver + 1);
    return NULL;
}

/* -------------------------------------------------------------------- reaching */

static const char *say(const struct remote_place *p, const char *why) {
    return common_keep_textf("%s%s%s: %s", remote_place_name(p), *p->port ? ":" : "", p->port, why);
}

/** A connection to one address; -1 and errno. */
static int connect_to(const struct addrinfo *a) {
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int code = 0;
    socklen_t n = sizeof code;
    if (fd < 0) return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) return fd;
    code = errno;
    if (code == EINPROGRESS) {
        struct pollfd p = {fd, POLLOUT, 0};
        const int ready = poll(&p, 1, CONNECT_MS);
        code = ETIMEDOUT;
        if (ready > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n) == 0 && code == 0) return fd;
    }
    close(fd);
    errno = code;
    return -1;
}

static int reach_tcp(const struct remote_place *p, const char **error, bool *again) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *all = NULL;
    const char *host = strcmp(p->host, "localhost") == 0 ? "127.0.0.1" : p->host;
    const int code = getaddrinfo(host, p->port, &hints, &all);
    int fd = -1;
    *again = code == 0 || code == EAI_AGAIN;
    if (code != 0) {
        *error = say(p, gai_strerror(code));
        return -1;
    }
    for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next) fd = connect_to(a);
    if (fd < 0) *error = say(p, strerror(errno));
    freeaddrinfo(all);
    if (fd >= 0) host_keep_alive(fd);
    return fd;
}

/** text in quotes of the shell. */
static void quote(char *to, size_t room, const char *text) {
    size_t n = strlen(to);
    if (n + 1 < room) to[n++] = '\'';
    for (; *text && n + 6 < room; text++) {
        if (*text == '\'')
            n += (size_t)snprintf(to + n, room - n, "'\\''");
        else
            to[n++] = *text;
    }
    if (n + 1 < room) to[n++] = '\'';
    to[n] = '\0';
}

/** The words that start `command` there; of ssh a word stands in for a port that is not given. */
static void words_of(const struct remote_place *p, const char *command, const char *words[12]) {
    const char *const ssh[] = {p->ssh,
                               "-T",
                               "-oBatchMode=yes",
                               "-oServerAliveInterval=5",
                               "-oServerAliveCountMax=4",
                               *p->port ? "-p" : "-T",
                               *p->port ? p->port : "-T",
                               "--",
                               p->host,
                               command,
                               NULL};
    /* no terminal, which would change bytes, and no byte that stands for an escape */
    const char *const serial[] = {p->adb, "-s", p->host, "shell", "-T", "-e", "none", command, NULL};
    const char *const only[] = {p->adb, "shell", "-T", "-e", "none", command, NULL};
    const char *const *from = p->transport == REMOTE_SSH ? ssh : *p->host ? serial : only;
    do *words++ = *from;
    while (*from++);
}

/** nnvts-host over the input and output of the program that starts it there. */
static int reach_started(const struct remote_place *p, pid_t *child, const char **error) {
    int ends[2];
    char command[4 * REMOTE_TEXT_BYTES] = "exec ";
    quote(command, sizeof command, p->program);
    const size_t n = strlen(command);
    snprintf(command + n, sizeof command - n, " --stdio ");
    if (*p->driver) quote(command, sizeof command, p->driver);
    const char *words[12];
    words_of(p, command, words);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        *error = "out of descriptors";
        return -1;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int failed = posix_spawnp(child, words[0], &actions, &attributes, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    if (failed == 0) return ends[0];
    close(ends[0]);
    *child = 0;
    *error = say(p, strerror(failed));
    return -1;
}

int remote_reach(const struct remote_place *p, pid_t *child, const char **error, bool *again) {
    *child = 0;
    *again = false;
    return p->transport == REMOTE_TCP ? reach_tcp(p, error, again) : reach_started(p, child, error);
}
