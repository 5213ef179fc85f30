/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file listen.c nnvts-host --listen, --stdio: drivers of this machine for others. Each client has a process, a relay,
 * and this one a process for the driver: neither a client nor a driver can harm another client.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../find.h"
#include "../relay/relay.h"
#include "clients.h"
#include "program.h"

enum { ENDS_MS = 200 };
static const uint64_t GREETING_NS = 5000000000;

struct server {
    const char *listen, *driver; /* driver: the only one; NULL: the client names it */
    struct host_key key;
    uint32_t cache_mb;
    struct host_clients clients;
    char folder[4096]; /* of the drivers */
};

/* ------------------------------------------------------------------- one client */

/** The driver's process, as its relay sees it. */
struct driver {
    struct host_relay *relay;
    char *path, *options;
    pid_t pid;
    int control;
};

/** Starts it, with `root` as its first client. What it prints comes out of *print. */
static bool start_driver(struct driver *d, int root, int *print) {
    int control[2], output[2];
    struct host_out o = {0};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0 || pipe2(output, O_CLOEXEC) != 0)
        return false;
    d->pid = fork();
    if (d->pid == 0) {
        dup2(output[1], STDOUT_FILENO);
        dup2(output[1], STDERR_FILENO);
        for (int i = STDERR_FILENO + 1; i < 1024; i++)
            if (i != control[1]) close(i);
        signal(SIGPIPE, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        host_run_driver(d->path, d->options, control[1]);
    }
    close(control[1]);
    close(output[1]);
    d->control = control[0];
    *print = output[0];
    host_put_fd(&o, root);
    const bool ok = d->pid > 0 && host_send(d->control, HOST_CONNECT, &o);
    host_out_end(&o);
    return ok;
}

/** Says how the process ended, if it has: its sockets close a moment before. */
static void tell_end(void *context) {
    struct driver *d = context;
    char text[HOST_END_BYTES];
    int status;
    for (int i = 0; d->pid > 0 && i < ENDS_MS; i++) {
        if (waitpid(d->pid, &status, WNOHANG) == d->pid) {
            d->pid = 0;
            host_end_text(d->path, status, text);
            host_relay_print(d->relay, text, strlen(text));
        } else {
            usleep(1000);
        }
    }
}

static const char *find_driver(const struct server *s, const char *asked, struct driver *d) {
    if (s->driver && asked && *asked && strcmp(asked, s->driver) != 0)
        return "nnvts-host serves another driver, and it alone";
    const char *name = s->driver ? s->driver : asked;
    if (!name || !*name) return "expected a driver of the board: remote:HOST/cpu, remote:HOST/opt/npu.so:OPTIONS";
    return host_find_driver(name, s->folder, strlen(s->folder), &d->path, &d->options) ? NULL
                                                                                       : "the board has no such driver";
}

/** The answer to the first message: the driver is opened, or why not; again: it may be, a little later. */
static bool tell_opened(struct host_frames *f, const char *why, bool again) {
    struct host_out o = {0};
    host_put_u32(&o, HOST_RELAY_OPENED);
    host_put_text(&o, why);
    host_put_u32(&o, again);
    return host_frames_put(f, &o) && host_frames_flush(f);
}

/** The client's first message proves his key, and names a driver. client: his place, NULL where he is the only one. */
static bool open_driver(const struct server *s, struct host_frames *f, struct host_client *client, uint64_t until,
                        struct driver *d) {
    const uint8_t *data;
    size_t bytes;
    static struct host_in in;
    enum host_framed got;
    while ((got = host_frames_get(f, &data, &bytes)) == HOST_FRAMED_NONE) {
        const uint64_t now = host_now_ns();
        if (now >= until || !host_wait(f->in, POLLIN, until - now)) return false;
    }
    if (got != HOST_FRAMED) return false;
    if (client && !host_client_proved(&s->clients, client)) {
        tell_opened(f, "the other end has too many clients", true);
        return false;
    }
    host_in_begin(&in, 0, data, bytes);
    const bool opens = host_get_u32(&in) == HOST_RELAY_OPEN;
    const char *asked = host_get_text(&in);
    const char *why = opens && host_in_done(&in) ? find_driver(s, asked, d) : "the first message opens no driver";
    host_in_end(&in);
    return tell_opened(f, why, false) && !why;
}

/** Serves one client on a stream, until it or the driver's process has gone. */
static void serve_client(struct server *s, struct host_client *client, int in, int out) {
    static struct host_frames f;
    static struct host_relay relay;
    struct driver d = {.relay = &relay, .control = -1};
    int root[2], print = -1;
    f = (struct host_frames){.in = in, .out = out, .cache_bytes = s->cache_mb << 20};
    const uint64_t until = host_now_ns() + GREETING_NS;
    const char *wrong = host_frames_accept(&f, &s->key, GREETING_NS);
    if (wrong) fprintf(stderr, "nnvts-host: a client is refused: %s\n", wrong);
    if (wrong || !open_driver(s, &f, client, until, &d)) return;
    host_clients_end(&s->clients); /* a driver is not to reach it */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, root) != 0) return;
    if (start_driver(&d, root[1], &print)) {
        close(root[1]);
        relay.ended = tell_end;
        relay.context = &d;
        wrong = host_relay_begin(&relay, &f, true, root[0], print) ? host_relay_run(&relay) : "there is no memory";
        if (wrong && wrong != host_relay_lost) fprintf(stderr, "nnvts-host: a client is given up: %s\n", wrong);
    }
    if (d.pid > 0) kill(d.pid, SIGKILL);
}

/* ----------------------------------------------------------------------- clients */

static bool is_loopback(const struct sockaddr *a) {
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

/** A socket that listens on HOST:PORT; says why not. */
static int open_listener(const struct server *s) {
    char host[256];
    const char *colon = strrchr(s->listen, ':');
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST | AI_PASSIVE};
    struct addrinfo *a = NULL;
    const int on = 1, bracket = s->listen[0] == '[';
    const int n = colon ? (int)(colon - s->listen) - 2 * bracket : -1;
    snprintf(host, sizeof host, "%.*s", n > 0 ? n : 0, s->listen + bracket);
    if (n <= 0 || getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, colon + 1, &hints, &a) != 0) {
        fprintf(stderr, "nnvts-host: '%s' is no address of this machine; expected HOST:PORT, as in 0.0.0.0:7557\n",
                s->listen);
        return -1;
    }
    int fd = -1;
    if (!is_loopback(a->ai_addr) && !s->key.bytes) {
        fprintf(stderr, "nnvts-host: %s: others could reach this address; give --key-file, or listen on 127.0.0.1\n",
                s->listen);
    } else {
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
                        bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 64) != 0)) {
            fprintf(stderr, "nnvts-host: %s: %s\n", s->listen, strerror(errno));
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(a);
    return fd;
}

static void tell_address(int fd) {
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    char host[64], port[16];
    if (getsockname(fd, (struct sockaddr *)&a, &n) != 0 ||
        getnameinfo((struct sockaddr *)&a, n, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV))
        return;
    printf(a.ss_family == AF_INET6 ? "listening on [%s]:%s\n" : "listening on %s:%s\n", host, port);
    fflush(stdout);
}

/** Starts the process of one who has connected. */
static void serve_apart(struct server *s, int listener, int fd, const struct sockaddr *from) {
    struct host_client *client = host_clients_take(&s->clients, from);
    const pid_t pid = client ? fork() : -1;
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(listener);
        host_keep_alive(fd);
        serve_client(s, client, fd, fd);
        _exit(0);
    }
    if (client) host_client_served_by(client, pid);
}

static int serve_all(struct server *s) {
    const int listener = open_listener(s);
    if (listener < 0) return 2;
    tell_address(listener);
    for (;;) {
        struct sockaddr_storage from = {0};
        socklen_t bytes = sizeof from;
        const bool ready = host_wait(listener, POLLIN, 100000000);
        for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) host_clients_gone(&s->clients, pid);
        const int fd = ready ? accept4(listener, (struct sockaddr *)&from, &bytes, SOCK_CLOEXEC) : -1;
        if (fd < 0) continue;
        serve_apart(s, listener, fd, (struct sockaddr *)&from);
        close(fd);
    }
}

/** Standard input and output are the client's: what is printed goes to the log. */
static int serve_stdio(struct server *s) {
    const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || out < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 3;
    serve_client(s, NULL, in, out);
    return 0;
}

/* ----------------------------------------------------------------------- options */

static void usage(FILE *to) {
    fputs("usage: nnvts-host --listen HOST:PORT [--key-file FILE] [options] [DRIVER[:OPTIONS]]\n"
          "       nnvts-host --stdio [DRIVER[:OPTIONS]]\n"
          "Serves drivers of this machine to nnvts on another one (--driver remote:HOST:PORT/DRIVER), until it is\n"
          "stopped. A driver is a name or the path of a shared object; one that is named here is served alone.\n"
          "  --listen HOST:PORT  an address of this machine; port 0: any that is free\n"
          "  --key-file FILE     what clients must have, too; needed but on loopback\n"
          "  --clients N         at once (32); who has not proved the key yet does not count\n"
          "  --cache MB          of constants that are kept for each client, to be sent once (64)\n"
          "  --stdio             one client, on standard input and output, as ssh starts it\n"
          "  --version\n",
          to);
}

static bool get_number(const char *text, uint32_t most, uint32_t *out) {
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || *text == '-' || value > most) {
        fprintf(stderr, "nnvts-host: '%s' is no number up to %u\n", text, most);
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

/** The folder "drivers" beside this program, where it is built and where it is installed. */
static void find_folder(struct server *s) {
    const ssize_t n = readlink("/proc/self/exe", s->folder, sizeof s->folder - sizeof "/drivers");
    const char *slash = n > 0 ? memrchr(s->folder, '/', (size_t)n) : NULL;
    const size_t above = slash ? (size_t)(slash - s->folder) + 1 : 0;
    snprintf(s->folder + above, sizeof s->folder - above, "drivers");
}

int host_listen(int argc, char **argv) {
    enum { LISTEN = 256, KEY, CLIENTS, CACHE, STDIO, VERSION };
    static const struct option table[] = {{"listen", 1, NULL, LISTEN},   {"key-file", 1, NULL, KEY},
                                          {"clients", 1, NULL, CLIENTS}, {"cache", 1, NULL, CACHE},
                                          {"stdio", 0, NULL, STDIO},     {"version", 0, NULL, VERSION},
                                          {"help", 0, NULL, 'h'},        {NULL, 0, NULL, 0}};
    static struct server s = {.cache_mb = 64};
    uint32_t clients = 32;
    bool stdio = false, ok = argc > 0;
    for (int c; ok && (c = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        const char *why = NULL;
        switch (c) {
        case LISTEN:
            s.listen = optarg;
            break;
        case KEY:
            why = host_key_read(optarg, &s.key);
            break;
        case CLIENTS:
            ok = get_number(optarg, HOST_MOST_CLIENTS, &clients);
            break;
        case CACHE:
            ok = get_number(optarg, 1024, &s.cache_mb);
            break;
        case STDIO:
            stdio = true;
            break;
        case VERSION:
            printf("nnvts-host %s\n", NNVTS_VERSION);
            return 0;
        case 'h':
            usage(stdout);
            return 0;
        default:
            ok = false;
        }
        if (why) {
            fprintf(stderr, "nnvts-host: %s: %s\n", optarg, why);
            return 2;
        }
    }
    if (ok && optind < argc) s.driver = argv[optind++];
    if (!ok || optind < argc || stdio == (s.listen != NULL)) {
        usage(stderr);
        return 2;
    }
    find_folder(&s);
    signal(SIGPIPE, SIG_IGN);
    if (!host_clients_begin(&s.clients, clients)) return 3;
    return stdio ? serve_stdio(&s) : serve_all(&s);
}
