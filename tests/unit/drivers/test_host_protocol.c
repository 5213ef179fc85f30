/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The protocol of the driver "host" against garbage: mutated messages and rings to a server in this process and to a
 * real one. Deterministic: seeds are numbers of iterations.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "tests/kit/driver.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "drivers_under_test/host/burst.h"
#include "drivers_under_test/host/ring.h"
#include "drivers_under_test/host/server/server.h"
#include "tests/kit/host_garbage.h"
#include "tests/kit/host_walker.h"

enum { HEADER = 16 };

/* ----------------------------------------------------------------- descriptors */

enum { SEALED, UNSEALED, EVENT, SOCKET, NULL_DEVICE, FILES };
static int files[FILES];

static void open_files(void) {
    int ends[2];
    files[SEALED] = host_memory_new(4096);
    files[UNSEALED] = memfd_create("test", MFD_CLOEXEC);
    files[EVENT] = eventfd(1, EFD_CLOEXEC);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    files[SOCKET] = ends[0];
    close(ends[1]);
    files[NULL_DEVICE] = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < FILES; i++) assert_true(files[i] >= 0);
}

static void close_files(void) {
    for (int i = 0; i < FILES; i++) close(files[i]);
}

/* ------------------------------------------------------------- proper messages */

static uint64_t prepared_id, execution_id, buffer_id, fenced_id;

static void put_model(struct host_out *o) {
    struct net n = {0};
    const uint32_t x = input(&n, F32, DIMS(2, 3)), y = output(&n, F32, DIMS(2, 3));
    operation(&n, ANEURALNETWORKS_ADD, LIST(x, x, integer(&n, 0)), LIST(y));
    struct nnvts_model m = *finish(&n);
    const struct nnvts_memory pool = {.prot = NNVTS_PROT_READ, .fd = files[SEALED], .size = 4096};
    const struct nnvts_extension_prefix extension = {"com.example.walker", 1};
    const float scales[] = {0.5f, 0.25f};
    n.operands[x].channel_quant = (struct nnvts_channel_quant){0, 2, scales};
    m.pools = &pool;
    m.pool_count = 1;
    m.extensions = &extension;
    m.extension_count = 1;
    m.referenced = &m.main;
    m.referenced_count = 1;
    host_model(host_writing(o), &m);
}

static void put_request(struct host_out *o, int fd) {
    const uint32_t dims[] = {2, 3};
    const struct nnvts_argument a = {.location = {.length = 24}, .dimension_count = 2, .dimensions = dims};
    const struct nnvts_memory pool = {.prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = fd, .size = 4096};
    const struct nnvts_request r = {1, 1, 1, &a, &a, &pool};
    host_put_request(o, &r, &pool);
}

static void put_room(struct host_out *o) {
    uint32_t dims[4];
    struct nnvts_output_shape shape = {.dimension_count = 4, .dimensions = dims};
    const struct nnvts_execution_result r = {.shapes = &shape};
    host_put_room(o, &r, 1);
}

static void put_cache(struct host_out *o) {
    const struct nnvts_cache all = {
        .model_fds = &files[UNSEALED], .model_fd_count = 1, .data_fds = &files[SEALED], .data_fd_count = 1};
    const struct nnvts_cache *c = &all;
    host_cache(host_writing(o), &c);
}

/** A message of this kind as a client would send it. */
static void put_message(struct host_out *o, uint32_t kind) {
    struct nnvts_prepare_config config = {.deadline_ns = NNVTS_NO_TIME};
    static const struct nnvts_buffer_role role = {0, 0, 1};
    const struct nnvts_memory pool = {.prot = NNVTS_PROT_READ, .fd = files[SEALED], .size = 4096};
    switch (kind) {
    case HOST_STREAM:
        host_put_fd(o, files[SOCKET]);
        break;
    case HOST_SUPPORTED:
        put_model(o);
        break;
    case HOST_PREPARE:
        put_model(o);
        host_prepare_config(host_writing(o), &config);
        break;
    case HOST_PREPARE_FROM_CACHE:
        put_cache(o);
        host_put_u64(o, NNVTS_NO_TIME);
        break;
    case HOST_ALLOCATE:
        host_put_array(o, NULL, 0, 4);
        host_put_u32(o, 1);
        host_put_u64(o, prepared_id);
        host_put_array(o, &role, 1, sizeof role);
        host_put_array(o, &role, 1, sizeof role);
        break;
    case HOST_COPY_TO:
    case HOST_COPY_FROM:
        host_put_u64(o, buffer_id);
        host_put_memory(o, &pool);
        host_put_array(o, (const uint32_t[]){2, 3}, 2, sizeof(uint32_t));
        break;
    case HOST_EXECUTE:
    case HOST_EXECUTE_ASYNC:
    case HOST_EXECUTE_FENCED:
    case HOST_CREATE_EXECUTION:
        host_put_u64(o, prepared_id);
        put_request(o, files[SEALED]);
        if (kind == HOST_EXECUTE_FENCED) {
            host_put_u32(o, 1);
            host_put_u32(o, host_put_fd(o, files[EVENT]));
        }
        host_put_config(o, &plain);
        if (kind == HOST_EXECUTE_FENCED) host_put_u64(o, NNVTS_NO_TIME);
        if (kind == HOST_EXECUTE) put_room(o);
        break;
    case HOST_FENCED_RESULT:
        host_put_u64(o, fenced_id);
        break;
    case HOST_RUN_EXECUTION:
        host_put_u64(o, execution_id);
        host_put_u64(o, NNVTS_NO_TIME); /* a deadline */
        put_room(o);
        break;
    case HOST_CREATE_BURST:
        host_put_u64(o, prepared_id);
        host_put_u32(o, host_put_fd(o, files[SEALED]));
        break;
    case HOST_BURST_MEMORY:
        host_put_u32(o, 0);
        host_put_u32(o, host_put_fd(o, files[SEALED]));
        break;
    case HOST_RELEASE:
        host_put_u64(o, buffer_id);
        break;
    default:
        break; /* the kind is all there is */
    }
}

/* -------------------------------------------------------------------- mutations */

/** A packet as it goes over the socket. */
struct packet {
    uint8_t data[HEADER + HOST_INLINE_BYTES];
    size_t bytes;
    int fds[HOST_FDS];
    uint32_t fd_count;
};

static void put_at(struct packet *p, size_t at, uint32_t value, size_t size) {
    if (at + size <= p->bytes) memcpy(p->data + at, &value, size);
}

static void pack(struct packet *p, uint32_t kind, const struct host_out *o) {
    assert_true(!o->failed && !o->invalid && o->bytes <= HOST_INLINE_BYTES);
    p->bytes = HEADER + o->bytes;
    put_at(p, 0, 0x5654564e, 4);
    put_at(p, 4, HOST_VERSION, 2);
    put_at(p, 6, kind, 2);
    put_at(p, 8, (uint32_t)o->bytes, 4);
    put_at(p, 12, 0, 4);
    if (o->bytes) memcpy(p->data + HEADER, o->data, o->bytes);
    memcpy(p->fds, o->fds, o->fd_count * sizeof *p->fds);
    p->fd_count = o->fd_count;
}

/** The length in the header stays right unless that is what is changed. */
static void mutate(struct packet *p) {
    const size_t payload = p->bytes - HEADER;
    switch (below(12)) {
    case 0:
        p->data[below(HEADER)] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        put_at(p, 6, below(HOST_KINDS + 2), 2);
        break;
    case 2: /* shorter */
        p->bytes -= payload ? below((uint32_t)payload) + 1 : 0;
        put_at(p, 8, (uint32_t)(p->bytes - HEADER), 4);
        break;
    case 3: /* longer */
        memset(p->data + p->bytes, (int)below(256), 8);
        p->bytes += 8;
        put_at(p, 8, (uint32_t)(p->bytes - HEADER), 4);
        break;
    case 4: /* other descriptors */
        p->fd_count = below(4);
        for (uint32_t i = 0; i < p->fd_count; i++) p->fds[i] = files[below(FILES)];
        break;
    case 5: /* payload said to be in a file */
        p->bytes = HEADER;
        put_at(p, 8, nasty(), 4);
        put_at(p, 12, 1, 4);
        break;
    default:
        mutate_payload(p->data + HEADER, payload);
    }
}

static bool send_packet(int socket, const struct packet *p) {
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(HOST_FDS * sizeof(int))];
    } control;
    struct iovec part = {(void *)(uintptr_t)p->data, p->bytes};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (p->fd_count) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(p->fd_count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        *c = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(p->fd_count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(c), p->fds, p->fd_count * sizeof(int));
    }
    return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)p->bytes;
}

/** Sends a message of this kind with so many mutations. False: the host has closed. *answered: the kind of its answer.
 */
static bool provoke(int socket, uint32_t kind, int mutations, uint32_t *answered) {
    static struct packet p;
    static struct host_in in;
    struct host_out o = {0};
    put_message(&o, kind);
    pack(&p, kind, &o);
    host_out_end(&o);
    for (int i = 0; i < mutations; i++) mutate(&p);
    if (!send_packet(socket, &p)) return false;
    struct pollfd ready = {socket, POLLIN, 0};
    if (poll(&ready, 1, ANSWER_MS) != 1) fail_msg("the host neither answers kind %u nor closes", kind);
    const enum host_received got = host_receive(socket, &in);
    assert_true(got != HOST_BAD); /* whatever it was asked */
    if (got != HOST_GOT) return false;
    *answered = in.kind;
    host_in_end(&in);
    return true;
}

/* ------------------------------------------------------------------ a client */

/** Asks properly; the answer is in *in. */
static void ask(int socket, uint32_t kind, struct host_in *in) {
    struct host_out o = {0};
    put_message(&o, kind);
    assert_true(host_send(socket, kind, &o));
    host_out_end(&o);
    assert_int_equal(host_receive(socket, in), HOST_GOT);
    assert_int_equal(in->kind, kind);
    assert_int_equal(host_get_u32(in), 0);
}

static uint64_t ask_for_id(int socket, uint32_t kind) {
    static struct host_in in;
    ask(socket, kind, &in);
    const uint64_t id = host_get_u64(&in);
    assert_true(id != 0 && !in.failed);
    host_in_end(&in);
    return id;
}

/** Says hello, and makes one object of each kind. */
static void settle_in(int socket) {
    static struct host_in in;
    ask(socket, HOST_HELLO, &in);
    host_in_end(&in);
    prepared_id = ask_for_id(socket, HOST_PREPARE);
    execution_id = ask_for_id(socket, HOST_CREATE_EXECUTION);
    buffer_id = ask_for_id(socket, HOST_ALLOCATE);
    fenced_id = ask_for_id(socket, HOST_EXECUTE_FENCED);
    assert_int_equal(host_receive(socket, &in), HOST_GOT); /* the fence has signalled */
    host_in_end(&in);
}

struct served {
    int socket;
    pthread_t thread;
};

static void *serve(void *arg) {
    host_serve(&walker, NULL, (int)(intptr_t)arg);
    return NULL;
}

static struct served begin_session(void) {
    int ends[2];
    struct served s;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    s.socket = ends[0];
    assert_int_equal(pthread_create(&s.thread, NULL, serve, (void *)(intptr_t)ends[1]), 0);
    return s;
}

static void end_session(struct served s) {
    close(s.socket);
    pthread_join(s.thread, NULL);
    assert_int_equal(atomic_load(&walker_objects), 0);
    assert_int_equal(atomic_load(&walker_bad), 0);
}

/* ---------------------------------------------------------------------- tests */

/** Every kind is answered when it is asked for properly: else the mutations would test nothing. */
static void test_proper_messages(void **state) {
    (void)state;
    static struct host_in in;
    open_files();
    const int before = descriptors();
    struct served s = begin_session();
    settle_in(s.socket);
    for (uint32_t kind = HOST_STREAM; kind < HOST_KINDS; kind++) {
        if (kind == HOST_CLOSE || (kind >= HOST_CREATE_BURST && kind != HOST_RELEASE)) continue;
        ask(s.socket, kind, &in);
        host_in_end(&in);
        if (kind != HOST_EXECUTE_ASYNC && kind != HOST_EXECUTE_FENCED) continue;
        assert_int_equal(host_receive(s.socket, &in), HOST_GOT);
        host_in_end(&in);
    }
    ask(s.socket, HOST_CLOSE, &in);
    host_in_end(&in);
    end_session(s);
    assert_int_equal(descriptors(), before);
    close_files();
}

/** Mutated messages are answered, or end the connection; nothing that a client had is left. */
static void test_mutated_messages(void **state) {
    (void)state;
    enum { SESSIONS = 600, MESSAGES = 6 };
    open_files();
    const int before = descriptors();
    size_t answers = 0, closed = 0;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        random_state = i;
        struct served s = begin_session();
        settle_in(s.socket);
        uint32_t kind = 0;
        bool open = true;
        for (int k = 0; k < MESSAGES && open && kind != HOST_CREATE_BURST; k++) {
            open = provoke(s.socket, HOST_STREAM + below(HOST_KINDS - HOST_STREAM), (int)below(3), &kind);
            answers += open;
        }
        closed += !open;
        end_session(s);
    }
    assert_int_equal(descriptors(), before);
    assert_true(answers > SESSIONS / 2 && closed > SESSIONS / 4); /* both ends of the road are walked */
    close_files();
}

/** The first message may be anything, too. */
static void test_mutated_hello(void **state) {
    (void)state;
    open_files();
    const int before = descriptors();
    for (uint32_t i = 0; i < 100; i++) {
        random_state = i;
        uint32_t kind;
        struct served s = begin_session();
        provoke(s.socket, below(HOST_KINDS), 1, &kind);
        end_session(s);
    }
    assert_int_equal(descriptors(), before);
    close_files();
}

/* A question of a burst; pool 0 is slot 0. */
static void put_question(struct host_out *o, uint32_t kind) {
    host_put_u32(o, 1); /* descriptors sent */
    if (kind == HOST_BURST_EXECUTE) {
        o->fds[0] = 0; /* slots are their own numbers */
        o->fd_count = 1;
        put_request(o, 0);
        host_put_array(o, (const int64_t[]){3}, 1, sizeof(int64_t));
        host_put_array(o, NULL, 0, 4);
        host_put_config(o, &plain);
        put_room(o);
    } else if (kind == HOST_BURST_FORGET) {
        host_put_u64(o, 3);
        host_put_u32(o, 0);
    }
}

/** Until the host answers in the ring, or closes the stream. */
static bool await_ring(int socket, struct host_ring *ring, uint32_t *kind) {
    static uint8_t buffer[HOST_RING_BYTES];
    size_t bytes;
    for (const uint64_t end = now_ns() + ANSWER_MS * UINT64_C(1000000); now_ns() < end;) {
        if (host_ring_pop(ring, buffer, kind, &bytes) == HOST_RING_FULL) return true;
        struct pollfd gone = {socket, POLLIN, 0};
        if (poll(&gone, 1, 0) > 0) return false;
        usleep(100);
    }
    fail_msg("the host neither answers in the ring nor closes");
    return false;
}

static void scribble(struct host_rings *rings) {
    switch (below(4)) {
    case 0:
        atomic_store(&rings->ask.head, atomic_load(&rings->ask.head) + nasty());
        break;
    case 1:
        atomic_store(&rings->ask.tail, nasty());
        break;
    case 2:
        atomic_store(&rings->answer.tail, nasty());
        break;
    default:
        mutate_payload(rings->ask.data, 64);
        atomic_store(&rings->ask.head, atomic_load(&rings->ask.head) + 16);
    }
}

static void provoke_burst(int socket, struct host_rings *rings) {
    static const uint32_t kinds[] = {HOST_BURST_EXECUTE, HOST_BURST_EXECUTE, HOST_BURST_FORGET, HOST_RELEASE,
                                     HOST_PREPARE};
    enum { QUESTIONS = 5 };
    for (int i = 0; i < QUESTIONS; i++) {
        struct host_out o = {0};
        uint32_t kind = kinds[below(sizeof kinds / sizeof *kinds)], answered;
        put_question(&o, kind);
        for (uint32_t k = below(3); k > 0; k--) mutate_payload(o.data + 4, o.bytes - 4);
        const bool asked = below(8) != 0 && host_ring_push(&rings->ask, kind, o.data, o.bytes);
        host_out_end(&o);
        if (!asked) {
            scribble(rings); /* there may be no question in that: what counts is that the session ends */
            return;
        }
        if (!await_ring(socket, &rings->answer, &answered) || answered == HOST_RELEASE) return;
    }
}

static void test_mutated_rings(void **state) {
    (void)state;
    open_files();
    const int before = descriptors();
    for (uint32_t i = 0; i < 300; i++) {
        static struct host_in in;
        random_state = i;
        struct served s = begin_session();
        settle_in(s.socket);
        const int fd = host_memory_new(sizeof(struct host_rings)), sealed = files[SEALED];
        struct host_rings *rings = mmap(NULL, sizeof *rings, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_true(rings != MAP_FAILED);
        files[SEALED] = fd;
        ask(s.socket, HOST_CREATE_BURST, &in);
        assert_int_equal(host_get_u32(&in), 7 /* all functions of a burst */);
        host_in_end(&in);
        files[SEALED] = sealed;
        close(fd);
        struct host_out memory = {0};
        put_message(&memory, HOST_BURST_MEMORY);
        assert_true(host_send(s.socket, HOST_BURST_MEMORY, &memory));
        host_out_end(&memory);
        if (i == 0) { /* the question that is mutated later is a good one */
            uint32_t kind = 0;
            struct host_out o = {0};
            put_question(&o, HOST_BURST_EXECUTE);
            assert_true(host_ring_push(&rings->ask, HOST_BURST_EXECUTE, o.data, o.bytes));
            host_out_end(&o);
            assert_true(await_ring(s.socket, &rings->answer, &kind));
            assert_int_equal(kind, HOST_BURST_EXECUTE);
        } else {
            provoke_burst(s.socket, rings);
        }
        end_session(s);
        munmap(rings, sizeof *rings);
    }
    assert_int_equal(descriptors(), before);
    close_files();
}

/** Rings that are too small, or could shrink, are not mapped. */
static void test_bad_memory(void **state) {
    (void)state;
    open_files();
    assert_int_equal(ftruncate(files[UNSEALED], 1 << 20), 0);
    assert_true(host_memory_holds(files[SEALED], 0, 4096));
    assert_false(host_memory_holds(files[SEALED], 0, 4097));
    assert_false(host_memory_holds(files[SEALED], UINT64_MAX, 2));
    assert_false(host_memory_holds(files[SEALED], 4096, UINT64_MAX));
    assert_false(host_memory_holds(files[UNSEALED], 0, 4096));
    assert_false(host_memory_holds(files[SOCKET], 0, 1));
    assert_int_equal(ftruncate(files[SEALED], 100), -1);
    struct served s = begin_session();
    settle_in(s.socket);
    for (int i = 0; i < 2; i++) {
        static struct host_in in;
        struct host_out o = {0};
        host_put_u64(&o, prepared_id);
        host_put_u32(&o, host_put_fd(&o, files[i ? UNSEALED : SEALED]));
        assert_true(host_send(s.socket, HOST_CREATE_BURST, &o));
        host_out_end(&o);
        assert_int_equal(host_receive(s.socket, &in), HOST_GOT);
        assert_int_equal(host_get_u32(&in), NNVTS_STATUS_INVALID_ARGUMENT);
        host_in_end(&in);
    }
    end_session(s);
    close_files();
}

/** A payload too large for a packet goes through a file. */
static void test_large_payload(void **state) {
    (void)state;
    enum { BYTES = 3 << 20 };
    static struct host_in in;
    int ends[2];
    struct host_out o = {0};
    uint8_t *data = malloc(BYTES);
    for (uint32_t i = 0; i < BYTES; i++) data[i] = (uint8_t)(i * 31);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    host_put_array(&o, data, BYTES, 1);
    assert_true(host_send(ends[0], HOST_PREPARE, &o));
    assert_int_equal(host_receive(ends[1], &in), HOST_GOT);
    uint32_t count;
    const uint8_t *got = host_get_array(&in, 1, &count);
    assert_int_equal(count, BYTES);
    assert_memory_equal(got, data, BYTES);
    assert_true(host_in_done(&in) && in.keep.fd_count == 0);
    host_in_end(&in);
    host_out_end(&o);
    free(data);
    close(ends[0]);
    assert_int_equal(host_receive(ends[1], &in), HOST_GONE);
    close(ends[1]);
}

/** What comes after something too large is not sent without it. */
static void test_too_large(void **state) {
    (void)state;
    int ends[2];
    struct host_out o = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    host_put_u32(&o, 1);
    host_put_bytes(&o, "", HOST_PAYLOAD_BYTES);
    host_put_u32(&o, 2);
    assert_int_equal(o.bytes, sizeof(uint32_t));
    assert_false(host_send(ends[0], HOST_PREPARE, &o));
    assert_int_equal(recv(ends[1], &(char){0}, 1, MSG_DONTWAIT), -1);
    host_out_end(&o);
    close(ends[0]);
    close(ends[1]);
}

/** What a driver's table is too short to have is NULL, whatever stands behind the table. */
static void test_shorter_tables(void **state) {
    (void)state;
    const uint32_t table[] = {1, 2, 3, 4}, cut[] = {1, 2, 0, 0};
    uint32_t out[4] = {9, 9, 9, 9};
    host_members(out, sizeof out, table, 2 * sizeof *table);
    assert_memory_equal(out, cut, sizeof cut);
    host_members(out, sizeof out, table, 100);
    assert_memory_equal(out, table, sizeof table);
}

/* -------------------------------------------------------------- a real process */

static pid_t start_host(int *control) {
    char driver[4096], program[4096];
    int ends[2];
    snprintf(driver, sizeof driver, "%s/cpu.so", drivers_folder());
    snprintf(program, sizeof program, "%s/../nnvts-host", drivers_folder());
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (dup2(ends[1], HOST_CONTROL_FD) < 0) _exit(127);
        execl(program, program, driver, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    close(ends[1]);
    *control = ends[0];
    return pid;
}

static int connect_to(int control) {
    int ends[2];
    struct host_out o = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    host_put_fd(&o, ends[1]);
    assert_true(host_send(control, HOST_CONNECT, &o));
    close(ends[1]);
    return ends[0];
}

/** A process of its own with a real driver goes on serving whatever one of its clients sends. */
static void test_real_host(void **state) {
    (void)state;
    int control, status;
    open_files();
    const pid_t pid = start_host(&control);
    for (uint32_t i = 0; i < 400; i++) {
        static struct host_in in;
        static struct packet p;
        random_state = i;
        const int client = connect_to(control);
        ask(client, HOST_HELLO, &in);
        host_in_end(&in);
        prepared_id = 1 + below(3);
        uint32_t kind = 0;
        for (int k = 0; k < 6 && kind != HOST_CREATE_BURST; k++)
            if (!provoke(client, HOST_STREAM + below(HOST_KINDS - HOST_STREAM), (int)below(3) + 1, &kind)) break;
        close(client);
        struct host_out o = {0};
        pack(&p, HOST_CONNECT, &o); /* and on the control socket */
        mutate(&p);
        send_packet(control, &p);
        assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    }
    close(control);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_files();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proper_messages), cmocka_unit_test(test_mutated_messages),
        cmocka_unit_test(test_mutated_hello),   cmocka_unit_test(test_mutated_rings),
        cmocka_unit_test(test_bad_memory),      cmocka_unit_test(test_large_payload),
        cmocka_unit_test(test_too_large),       cmocka_unit_test(test_shorter_tables),
        cmocka_unit_test(test_real_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
