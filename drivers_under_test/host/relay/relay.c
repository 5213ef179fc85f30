/* SPDX-License-Identifier: Apache-2.0 */
#include "relay.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROOT = 0,
    POLLED = 1024,          /* descriptors at once; others wait */
    MOST_WAITING = 4 << 20, /* bytes to be sent, before channels have to wait */
    MOST_FENCES = 1024,
};
const char host_relay_lost[] = "the connection is lost";
static const uint64_t LAST_WORDS_NS = 2000000000;

struct host_channel {
    struct host_channel *next;
    uint32_t number;
    int socket;
    uint32_t unheard; /* answers that come though nobody waits for them */
};

/** Of the near side: a descriptor to look at. Of the far side: an event of its own in its place. */
struct host_fence {
    struct host_fence *next;
    uint32_t number;
    int fd;
};

/* ------------------------------------------------------------ channels and fences */

static struct host_channel *find_channel(const struct host_relay *r, uint32_t number) {
    struct host_channel *c = r->channels;
    while (c && c->number != number) c = c->next;
    return c;
}

/** Takes the socket. */
static bool add_channel(struct host_relay *r, uint32_t number, int socket) {
    struct host_channel *c = calloc(1, sizeof *c);
    if (!c) {
        close(socket);
        return false;
    }
    *c = (struct host_channel){.next = r->channels, .number = number, .socket = socket};
    r->channels = c;
    return true;
}

static void close_channel(struct host_relay *r, struct host_channel *c) {
    struct host_channel **at = &r->channels;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    if (!host_carry_closed(&r->carry, c->number)) r->failed = true;
    close(c->socket);
    free(c);
}

static bool put_number(struct host_relay *r, enum host_relayed what, uint32_t number) {
    struct host_out o = {0};
    host_put_u32(&o, what);
    host_put_u32(&o, number);
    return host_frames_put(r->frames, &o);
}

void host_relay_print(struct host_relay *r, const char *text, size_t bytes) {
    struct host_out o = {0};
    host_put_u32(&o, HOST_RELAY_PRINT);
    host_put_array(&o, text, (uint32_t)bytes, 1);
    if (!host_frames_put(r->frames, &o)) return; /* there is no memory: it goes unheard */
}

static void forward_print(struct host_relay *r) {
    char text[4096];
    const ssize_t n = read(r->print, text, sizeof text);
    if (n > 0) {
        host_relay_print(r, text, (size_t)n);
    } else {
        close(r->print);
        r->print = -1;
    }
}

/** The neighbour has closed its end: the far side's may have died, and its last words go first. */
static bool tell_closed(struct host_relay *r, struct host_channel *c) {
    const uint32_t number = c->number;
    close_channel(r, c);
    if (r->ended) r->ended(r->context);
    while (r->print >= 0 && host_wait(r->print, POLLIN, 0)) forward_print(r);
    return put_number(r, HOST_RELAY_CLOSE, number);
}

/** A fence that is known under this number; takes fd. */
static bool add_fence(struct host_relay *r, uint32_t number, int fd) {
    uint32_t count = 0;
    for (const struct host_fence *f = r->fences; f; f = f->next) count++;
    struct host_fence *f = fd < 0 || count >= MOST_FENCES ? NULL : malloc(sizeof *f);
    if (!f) {
        if (fd >= 0) close(fd);
        return false;
    }
    *f = (struct host_fence){r->fences, number, fd};
    r->fences = f;
    return true;
}

static void drop_fence(struct host_relay *r, struct host_fence *f) {
    struct host_fence **at = &r->fences;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    close(f->fd);
    free(f);
}

/* ------------------------------------------------------------- from the neighbour */

struct attachments {
    uint32_t what[HOST_FDS + 1], number[HOST_FDS + 1], count; /* one more for the payload */
    uint32_t files[HOST_FDS], file_count;
};

static void attach(struct attachments *a, enum host_attached what, uint32_t number) {
    a->what[a->count] = what;
    a->number[a->count++] = number;
}

/** Near side: what the descriptor of a question is; it is taken from *fd where it is needed on. */
static void attach_descriptor(struct host_relay *r, struct attachments *a, uint32_t kind, int *fd) {
    struct stat s;
    const uint32_t number = ++r->numbers;
    if (kind == HOST_STREAM) {
        attach(a, add_channel(r, number, *fd) ? HOST_A_CHANNEL : HOST_A_NOTHING, number);
        *fd = -1;
    } else if (fstat(*fd, &s) != 0 || S_ISREG(s.st_mode)) {
        const uint32_t file = host_carry_file(&r->carry, *fd);
        const bool to_read = (fcntl(*fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
        attach(a, !file ? HOST_A_NOTHING : to_read ? HOST_A_FILE_TO_READ : HOST_A_FILE, file);
        if (file) a->files[a->file_count++] = file;
    } else {
        attach(a, add_fence(r, number, *fd) ? HOST_A_FENCE : HOST_A_NOTHING, number);
        *fd = -1;
    }
}

static bool put_message(struct host_relay *r, uint32_t channel, const struct host_in *in, struct attachments *a) {
    struct host_out o = {0};
    const bool inside = in->bytes <= HOST_INLINE_BYTES;
    if (!inside) attach(a, HOST_A_PAYLOAD, host_carry_bytes(&r->carry, in->data, in->bytes));
    host_put_u32(&o, HOST_RELAY_MESSAGE);
    host_put_u32(&o, channel);
    host_put_u32(&o, in->kind);
    host_put_array(&o, a->what, a->count, sizeof *a->what);
    host_put_array(&o, a->number, a->count, sizeof *a->number);
    host_put_array(&o, in->data, inside ? (uint32_t)in->bytes : 0, 1);
    return host_frames_put(r->frames, &o);
}

/** Objects are released behind the caller's back: nobody waits for the way there and back. */
static bool answer_release(struct host_channel *c) {
    struct host_out o = {0};
    host_put_u32(&o, 0);
    const bool ok = host_send(c->socket, HOST_RELEASE, &o);
    host_out_end(&o);
    if (ok) c->unheard++;
    return ok;
}

/** A question of the client's, or an answer of the host's. */
static bool forward(struct host_relay *r, struct host_channel *c) {
    struct attachments a = {.count = 0};
    struct host_in *in = &r->in;
    if (!host_wait(c->socket, POLLIN, 0)) return true; /* another socket has the number of one that was closed */
    if (host_receive(c->socket, in) != HOST_GOT) return tell_closed(r, c);
    const uint32_t number = c->number;
    bool ok = true;
    if (r->far) {
        ok = host_carry_changes(&r->carry, number) && put_message(r, number, in, &a) &&
             host_carry_answered(&r->carry, number, in->data, in->bytes);
    } else {
        for (uint32_t i = 0; i < in->keep.fd_count; i++) attach_descriptor(r, &a, in->kind, &in->keep.fds[i]);
        ok = host_carry_asked(&r->carry, number, in->kind, in->data, in->bytes, a.files, a.file_count) &&
             put_message(r, number, in, &a);
        if (ok && in->kind == HOST_RELEASE && !answer_release(c)) ok = tell_closed(r, c);
    }
    host_in_end(in);
    return ok;
}

/* ----------------------------------------------------------- from the other relay */

static int open_to_read(int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

/**
 * Far side: a socket that has something to read once the fence has signalled. One that breaks is left by its peer,
 * which has not read what was planted there: that is an error of the socket, and nothing to read.
 */
static int make_fence(struct host_relay *r, uint32_t number) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    if (write(ends[1], "!", 1) == 1 && add_fence(r, number, ends[0])) return ends[1];
    close(ends[1]);
    return -1;
}

/** Far side: a descriptor in the place of the client's; *own: to be closed when it has been sent. */
static int make_descriptor(struct host_relay *r, uint32_t what, uint32_t number, bool *own) {
    int ends[2];
    *own = what != HOST_A_FILE;
    if (what == HOST_A_FILE) return host_carry_twin(&r->carry, number);
    if (what == HOST_A_FILE_TO_READ) return open_to_read(host_carry_twin(&r->carry, number));
    if (what == HOST_A_NOTHING) return host_memory_new(0);
    if (what == HOST_A_FENCE) return make_fence(r, number);
    if (what != HOST_A_CHANNEL || find_channel(r, number) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    if (add_channel(r, number, ends[0])) return ends[1];
    close(ends[1]);
    return -1;
}

struct message {
    uint32_t channel, kind, count, bytes, payload; /* payload: number, 0: inside */
    const uint32_t *what, *number;
    const uint8_t *data;
};

static bool get_message(struct host_relay *r, struct message *m) {
    struct host_in *in = &r->got;
    uint32_t numbers;
    size_t bytes;
    *m = (struct message){.channel = host_get_u32(in), .kind = host_get_u32(in)};
    m->what = host_get_array(in, sizeof *m->what, &m->count);
    m->number = host_get_array(in, sizeof *m->number, &numbers);
    m->data = host_get_array(in, 1, &m->bytes);
    if (!host_in_done(in) || numbers != m->count || m->count > HOST_FDS || m->kind == 0 || m->kind >= HOST_KINDS)
        return false;
    if (m->count == 0 || m->what[m->count - 1] != HOST_A_PAYLOAD) return true;
    m->payload = m->number[--m->count];
    m->data = m->bytes == 0 ? host_carry_get_bytes(&r->carry, m->payload, &bytes) : NULL;
    if (!m->data || bytes > HOST_PAYLOAD_BYTES) return false;
    m->bytes = (uint32_t)bytes;
    return true;
}

/** Far side: hands the question on, with what stands for the client's descriptors. */
static bool deliver_question(struct host_relay *r, const struct message *m, struct host_out *o) {
    uint32_t files[HOST_FDS], file_count = 0;
    bool own[HOST_FDS] = {false}, ok = true;
    for (uint32_t i = 0; i < m->count && ok; i++) {
        const int fd = make_descriptor(r, m->what[i], m->number[i], &own[i]);
        ok = fd >= 0;
        if (ok) o->fds[o->fd_count++] = fd;
        if (ok && m->what[i] <= HOST_A_FILE_TO_READ) files[file_count++] = m->number[i];
    }
    struct host_channel *c = find_channel(r, m->channel);
    ok = ok && host_carry_asked(&r->carry, m->channel, m->kind, m->data, m->bytes, files, file_count);
    if (ok && c && !host_send(c->socket, m->kind, o)) ok = tell_closed(r, c);
    for (uint32_t i = 0; i < o->fd_count; i++)
        if (own[i]) close(o->fds[i]);
    return ok;
}

static bool take_message(struct host_relay *r) {
    struct message m;
    struct host_out o = {0};
    if (!get_message(r, &m)) return false;
    struct host_channel *c = find_channel(r, m.channel);
    bool ok = true;
    host_put_bytes(&o, m.data, m.bytes);
    if (r->far) {
        ok = deliver_question(r, &m, &o);
    } else {
        ok = host_carry_answered(&r->carry, m.channel, m.data, m.bytes);
        if (c && c->unheard)
            c->unheard--;
        else if (c && !host_send(c->socket, m.kind, &o))
            ok = tell_closed(r, c);
    }
    if (m.payload) host_carry_drop_bytes(&r->carry, m.payload);
    host_out_end(&o);
    return ok;
}

static bool take_signal(struct host_relay *r) {
    const uint32_t number = host_get_u32(&r->got), broken = host_get_u32(&r->got);
    struct host_fence *f = r->fences;
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    char planted;
    while (f && f->number != number) f = f->next;
    if (!r->far || !f || !host_in_done(&r->got)) return false;
    /* the driver may have closed its end: then it waits no more */
    if (broken)
        (void)connect(f->fd, &nobody, sizeof nobody);
    else if (read(f->fd, &planted, 1) == 1)
        send(f->fd, "!", 1, MSG_NOSIGNAL);
    drop_fence(r, f);
    return true;
}

static bool take_close(struct host_relay *r) {
    struct host_channel *c = find_channel(r, host_get_u32(&r->got));
    if (!host_in_done(&r->got)) return false;
    if (c) close_channel(r, c);
    return true;
}

static bool take_print(struct host_relay *r) {
    uint32_t bytes;
    const char *text = host_get_array(&r->got, 1, &bytes);
    if (r->far || !host_in_done(&r->got)) return false;
    if (bytes) fwrite(text, 1, bytes, stderr);
    return true;
}

static bool take(struct host_relay *r, const uint8_t *data, size_t bytes) {
    struct host_in *in = &r->got;
    host_in_begin(in, 0, data, bytes);
    const uint32_t what = host_get_u32(in);
    const bool ok = what == HOST_RELAY_FILE      ? host_carry_take_file(&r->carry, in)
                    : what == HOST_RELAY_PIECE   ? host_carry_take_piece(&r->carry, in)
                    : what == HOST_RELAY_DROP    ? host_carry_take_drop(&r->carry, in)
                    : what == HOST_RELAY_MESSAGE ? take_message(r)
                    : what == HOST_RELAY_SIGNAL  ? take_signal(r)
                    : what == HOST_RELAY_CLOSE   ? take_close(r)
                    : what == HOST_RELAY_PRINT   ? take_print(r)
                                                 : false;
    host_in_end(in);
    return ok;
}

/* ------------------------------------------------------------------------- loop */

static const char *take_all(struct host_relay *r) {
    const uint8_t *data;
    size_t bytes;
    enum host_framed got;
    while ((got = host_frames_get(r->frames, &data, &bytes)) == HOST_FRAMED)
        if (!take(r, data, bytes)) return "the other end says what can't be";
    return got == HOST_FRAMED_NONE   ? NULL
           : got == HOST_FRAMED_GONE ? host_relay_lost
                                     : "a message was changed on its way, or the key is another one";
}

/** What can be waited for: the stream, what is printed, then channels and fences. */
static nfds_t gather(const struct host_relay *r, struct pollfd *p) {
    const size_t waiting = host_frames_waiting(r->frames);
    nfds_t n = 3;
    p[0] = (struct pollfd){r->frames->in, POLLIN, 0};
    p[1] = (struct pollfd){waiting ? r->frames->out : -1, POLLOUT, 0};
    p[2] = (struct pollfd){waiting < MOST_WAITING ? r->print : -1, POLLIN, 0};
    for (const struct host_channel *c = r->channels; c && n < POLLED && waiting < MOST_WAITING; c = c->next)
        p[n++] = (struct pollfd){c->socket, POLLIN, 0};
    for (const struct host_fence *f = r->fences; f && n < POLLED && !r->far; f = f->next)
        p[n++] = (struct pollfd){f->fd, POLLIN, 0};
    return n;
}

static short events_of(const struct pollfd *p, nfds_t n, int fd) {
    for (nfds_t i = 3; i < n; i++)
        if (p[i].fd == fd) return p[i].revents;
    return 0;
}

/** Near side: the fence has signalled; before that, the client may have written inputs of what waits for it. */
static bool put_signal(struct host_relay *r, const struct host_fence *f, short events) {
    struct host_out o = {0};
    host_put_u32(&o, HOST_RELAY_SIGNAL);
    host_put_u32(&o, f->number);
    host_put_u32(&o, !(events & POLLIN) || (events & (POLLERR | POLLNVAL)));
    return host_carry_fenced(&r->carry) && host_frames_put(r->frames, &o);
}

static bool serve_neighbours(struct host_relay *r, const struct pollfd *p, nfds_t n) {
    for (struct host_channel *c = r->channels, *next; c; c = next) {
        next = c->next; /* what is forwarded closes this one at most, and puts new ones before it */
        if (events_of(p, n, c->socket) && !forward(r, c)) return false;
    }
    for (struct host_fence *f = r->fences, *next; f && !r->far; f = next) {
        next = f->next;
        const short events = events_of(p, n, f->fd);
        if (!events) continue;
        if (!put_signal(r, f, events)) return false;
        drop_fence(r, f);
    }
    if (p[2].revents) forward_print(r);
    return !r->failed;
}

/** What is left to be said. */
static void say_last(struct host_relay *r) {
    while (host_frames_flush(r->frames) && host_frames_waiting(r->frames))
        if (!host_wait(r->frames->out, POLLOUT, LAST_WORDS_NS)) return;
}

const char *host_relay_run(struct host_relay *r) {
    struct pollfd p[POLLED];
    while (find_channel(r, ROOT)) {
        const nfds_t n = gather(r, p);
        if (poll(p, n, -1) < 0) continue;
        const char *wrong = p[0].revents ? take_all(r) : NULL;
        if (wrong) return wrong;
        if (!serve_neighbours(r, p, n)) return "there is no memory for a message";
        if (!host_frames_flush(r->frames)) return host_relay_lost;
    }
    say_last(r);
    return NULL;
}

bool host_relay_begin(struct host_relay *r, struct host_frames *frames, bool far, int root, int print) {
    r->frames = frames;
    r->far = far;
    r->print = print;
    host_carry_begin(&r->carry, frames, far);
    return add_channel(r, ROOT, root);
}

void host_relay_end(struct host_relay *r) {
    while (r->channels) close_channel(r, r->channels);
    while (r->fences) drop_fence(r, r->fences);
    host_carry_end(&r->carry);
    if (r->print >= 0) close(r->print);
}
