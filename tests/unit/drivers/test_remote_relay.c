/* SPDX-License-Identifier: Apache-2.0 */
/** What the driver "remote" and nnvts-host --listen speak: keys, frames, files, and what a stranger may try. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers_under_test/host/relay/carry.h"
#include "drivers_under_test/host/relay/relay.h"
#include "tests/kit/test.h"

static const uint64_t SECOND = 1000000000;

static struct host_key key_of(const char *text) {
    struct host_key k = {.bytes = strlen(text)};
    memcpy(k.key, text, k.bytes);
    return k;
}

/* --------------------------------------------------------------------- meeting */

struct meeting {
    int ends[2];
    struct host_frames client, server;
    struct host_key client_key, server_key;
    const char *client_says, *server_says;
    bool again;
};

static void *be_server(void *arg) {
    struct meeting *m = arg;
    m->server_says = host_frames_accept(&m->server, &m->server_key, SECOND);
    if (m->server_says) shutdown(m->ends[1], SHUT_RDWR);
    return NULL;
}

static struct meeting *meet(const char *client_key, const char *server_key) {
    struct meeting *m = calloc(1, sizeof *m);
    pthread_t thread;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, m->ends), 0);
    m->client.in = m->client.out = m->ends[0];
    m->server.in = m->server.out = m->ends[1];
    m->server.cache_bytes = 1 << 20;
    m->client_key = key_of(client_key);
    m->server_key = key_of(server_key);
    assert_int_equal(pthread_create(&thread, NULL, be_server, m), 0);
    m->client_says = host_frames_connect(&m->client, &m->client_key, SECOND, &m->again);
    pthread_join(thread, NULL);
    return m;
}

static void part(struct meeting *m) {
    host_frames_end(&m->client);
    host_frames_end(&m->server);
    close(m->ends[0]);
    close(m->ends[1]);
    free(m);
}

static void say(struct host_frames *f, const char *text) {
    struct host_out o = {0};
    host_put_bytes(&o, text, strlen(text));
    assert_true(host_frames_put(f, &o));
    assert_true(host_frames_flush(f));
}

static void hear(struct host_frames *f, const char *text) {
    const uint8_t *data;
    size_t bytes;
    assert_int_equal(host_frames_get(f, &data, &bytes), HOST_FRAMED);
    assert_int_equal(bytes, strlen(text));
    assert_memory_equal(data, text, bytes);
}

static void test_both_ways(void **state) {
    (void)state;
    struct meeting *m = meet("0123456789abcdef", "0123456789abcdef");
    assert_null(m->client_says);
    assert_null(m->server_says);
    assert_int_equal(m->client.cache_bytes, 1 << 20);
    say(&m->client, "one");
    say(&m->client, "");
    say(&m->server, "two");
    hear(&m->server, "one");
    hear(&m->server, "");
    hear(&m->client, "two");
    part(m);
}

static void test_keys(void **state) {
    static const struct {
        const char *client, *server, *says;
    } cases[] = {
        {"0123456789abcdef", "0123456789abcdeF", "has another key"},
        {"", "0123456789abcdef", "asks for a key"},
        {"0123456789abcdef", "", "asks for no key"},
        {"", "", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct meeting *m = meet(cases[i].client, cases[i].server);
        if (cases[i].says) {
            assert_non_null(m->client_says);
            assert_non_null(strstr(m->client_says, cases[i].says));
            assert_false(m->again);
        } else {
            assert_null(m->client_says);
        }
        part(m);
    }
}

/** A client that has not the key, but says that all is well, is not heard. */
static void test_stranger(void **state) {
    (void)state;
    const uint8_t *data;
    size_t bytes;
    struct meeting *m = meet("0123456789abcdef", "0123456789abcdef");
    m->client.keys[0][0] ^= 1;
    say(&m->client, "open");
    assert_int_equal(host_frames_get(&m->server, &data, &bytes), HOST_FRAMED_BAD);
    part(m);
}

/** Frames that are changed, repeated, left out, turned round or endless. */
static void test_changed_frames(void **state) {
    enum { CHANGED, REPEATED, LEFT_OUT, REFLECTED, ENDLESS, KINDS };
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct meeting *m = meet("0123456789abcdef", "0123456789abcdef");
        struct host_out o = {0};
        const uint8_t *data;
        size_t bytes;
        const uint32_t endless = UINT32_MAX;
        host_put_bytes(&o, "some message", 12);
        assert_true(host_frames_put(&m->client, &o));
        if (kind == CHANGED) m->client.outgoing[9] ^= 4; /* of the message */
        const size_t n = host_frames_waiting(&m->client);
        uint8_t copy[256];
        memcpy(copy, m->client.outgoing, n);
        if (kind != LEFT_OUT && kind != ENDLESS) assert_true(host_frames_flush(&m->client));
        if (kind == LEFT_OUT) {
            m->client.outgoing_bytes = 0;
            say(&m->client, "the next one");
        }
        if (kind == REPEATED) {
            hear(&m->server, "some message");
            assert_int_equal(write(m->ends[0], copy, n), n);
        }
        if (kind == REFLECTED) {
            hear(&m->server, "some message");
            assert_int_equal(write(m->ends[1], copy, n), n);
        }
        if (kind == ENDLESS) assert_int_equal(write(m->ends[0], &endless, sizeof endless), sizeof endless);
        struct host_frames *reader = kind == REFLECTED ? &m->client : &m->server;
        assert_int_equal(host_frames_get(reader, &data, &bytes), HOST_FRAMED_BAD);
        part(m);
    }
}

static void test_garbage_and_silence(void **state) {
    static const struct host_key none;
    static struct host_frames f;
    uint8_t hello[48] = {0};
    int ends[2];
    bool again;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    f = (struct host_frames){.in = ends[0], .out = ends[0]};
    const uint64_t began = host_now_ns();
    assert_string_equal(host_frames_accept(&f, &none, SECOND / 10), "it does not begin");
    assert_true(host_now_ns() - began < 5 * SECOND);
    assert_int_equal(write(ends[1], hello, sizeof hello), sizeof hello);
    assert_non_null(strstr(host_frames_accept(&f, &none, SECOND), "does not speak"));
    assert_int_equal(write(ends[1], hello, sizeof hello), sizeof hello);
    assert_non_null(strstr(host_frames_connect(&f, &none, SECOND, &again), "does not speak"));
    assert_false(again);
    close(ends[0]);
    close(ends[1]);
}

/** Each side tells its version, and the client says which is the trouble. */
static void test_other_version(void **state) {
    static const struct host_key none;
    static struct host_frames f;
    uint32_t hello[12];
    int ends[2];
    bool again;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    f = (struct host_frames){.in = ends[0], .out = ends[0]};
    assert_non_null(strstr(host_frames_connect(&f, &none, SECOND / 100, &again), "does not answer"));
    assert_true(again);
    assert_int_equal(read(ends[1], hello, sizeof hello), sizeof hello); /* one of this version */
    hello[1]++;
    assert_int_equal(write(ends[1], hello, sizeof hello), sizeof hello);
    assert_non_null(strstr(host_frames_connect(&f, &none, SECOND, &again), "another version"));
    assert_int_equal(read(ends[1], hello, sizeof hello), sizeof hello);
    hello[1]++;
    assert_int_equal(write(ends[1], hello, sizeof hello), sizeof hello);
    assert_non_null(strstr(host_frames_accept(&f, &none, SECOND), "another version"));
    close(ends[0]);
    close(ends[1]);
}

static void test_key_files(void **state) {
    static struct host_key k;
    char path[] = "/tmp/nnvts-key-XXXXXX";
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "0123456789abcdef\n", 17), 17);
    assert_int_equal(fchmod(fd, 0644), 0);
    assert_non_null(strstr(host_key_read(path, &k), "chmod 600"));
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_null(host_key_read(path, &k));
    assert_int_equal(k.bytes, 16);
    assert_int_equal(ftruncate(fd, 12), 0);
    assert_non_null(strstr(host_key_read(path, &k), "16 to 4096"));
    assert_int_equal(ftruncate(fd, 5000), 0);
    assert_non_null(strstr(host_key_read(path, &k), "16 to 4096"));
    close(fd);
    unlink(path);
    assert_non_null(host_key_read(path, &k));
}

/* --------------------------------------------------------------------- relaying */

/** Two relays, each in a thread; `near` is the client's root, `far` the host's. */
struct line {
    struct meeting *m;
    struct host_relay relays[2];
    pthread_t threads[2];
    int near, far;
    const char *ended[2];
};

static void *run_near(void *arg) {
    struct line *l = arg;
    l->ended[0] = host_relay_run(&l->relays[0]);
    host_relay_end(&l->relays[0]);
    shutdown(l->m->ends[0], SHUT_RDWR);
    return NULL;
}
static void *run_far(void *arg) {
    struct line *l = arg;
    l->ended[1] = host_relay_run(&l->relays[1]);
    host_relay_end(&l->relays[1]);
    shutdown(l->m->ends[1], SHUT_RDWR);
    return NULL;
}

static struct line *line_begin(void) {
    struct line *l = calloc(1, sizeof *l);
    int near[2], far[2];
    l->m = meet("0123456789abcdef", "0123456789abcdef");
    assert_null(l->m->client_says);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, near), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, far), 0);
    l->near = near[0];
    l->far = far[0];
    assert_true(host_relay_begin(&l->relays[0], &l->m->client, false, near[1], -1));
    assert_true(host_relay_begin(&l->relays[1], &l->m->server, true, far[1], -1));
    assert_int_equal(pthread_create(&l->threads[0], NULL, run_near, l), 0);
    assert_int_equal(pthread_create(&l->threads[1], NULL, run_far, l), 0);
    return l;
}

static void line_end(struct line *l) {
    close(l->near);
    pthread_join(l->threads[0], NULL);
    pthread_join(l->threads[1], NULL);
    close(l->far);
    part(l->m);
    free(l);
}

/** A message with a file arrives on the far side: a twin with its contents, which is returned. */
static int bring(struct line *l, uint32_t kind, int fd, const char *text) {
    static struct host_in in;
    struct host_out o = {0};
    host_put_text(&o, text);
    if (fd >= 0) host_put_fd(&o, fd);
    assert_true(host_send(l->near, kind, &o));
    host_out_end(&o);
    assert_int_equal(host_receive(l->far, &in), HOST_GOT);
    assert_int_equal(in.kind, kind);
    assert_string_equal(host_get_text(&in), text);
    assert_int_equal(in.keep.fd_count, fd >= 0);
    const int twin = fd >= 0 ? in.keep.fds[0] : -1;
    in.keep.fd_count = 0;
    host_in_end(&in);
    return twin;
}

static void answer(struct line *l, uint32_t kind, uint32_t status) {
    static struct host_in in;
    struct host_out o = {0};
    host_put_u32(&o, status);
    assert_true(host_send(l->far, kind, &o));
    host_out_end(&o);
    assert_int_equal(host_receive(l->near, &in), HOST_GOT);
    assert_int_equal(host_get_u32(&in), status);
    host_in_end(&in);
}

/** What the client wrote is there; what the driver writes comes back, and nothing else is touched. */
static void test_memory_both_ways(void **state) {
    enum { BYTES = 100000 };
    (void)state;
    struct line *l = line_begin();
    const int fd = host_memory_new(BYTES);
    uint8_t *here = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < BYTES; i++) here[i] = (uint8_t)(i * 7 + i / 251);
    for (int round = 0; round < 3; round++) {
        const int twin = bring(l, HOST_EXECUTE, fd, "execute");
        assert_true(host_memory_holds(twin, 0, BYTES)); /* sealed, as the client's is */
        uint8_t *there = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, twin, 0);
        assert_memory_equal(there, here, BYTES);
        there[70000] ^= 0x55; /* an output */
        there[0] ^= 0x11;     /* a guard */
        here[69999] = 200;    /* the client's own, meanwhile */
        answer(l, HOST_EXECUTE, 0);
        assert_int_equal(here[70000], there[70000]);
        assert_int_equal(here[0], there[0]);
        assert_int_equal(here[69999], 200);
        munmap(there, BYTES);
        close(twin);
    }
    munmap(here, BYTES);
    close(fd);
    line_end(l);
}

/** The same contents in another file go by their digest. */
static void test_sent_once(void **state) {
    enum { BYTES = 1 << 20 };
    (void)state;
    struct line *l = line_begin();
    uint64_t sent[2];
    for (int round = 0; round < 2; round++) {
        const int fd = host_memory_new(BYTES);
        uint8_t *here = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        for (int i = 0; i < BYTES; i++) here[i] = (uint8_t)((i * 2654435761u) >> 13);
        const uint64_t before = l->m->server.received_bytes;
        const int twin = bring(l, HOST_PREPARE, fd, "prepare");
        sent[round] = l->m->server.received_bytes - before;
        uint8_t *there = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, twin, 0);
        assert_memory_equal(there, here, BYTES);
        answer(l, HOST_PREPARE, 0);
        munmap(there, BYTES);
        munmap(here, BYTES);
        close(twin);
        close(fd);
    }
    assert_true(sent[0] > BYTES && sent[1] < BYTES / 100);
    line_end(l);
}

/** Sends a piece that is full of this byte: whether it went by its digest. */
static bool goes_by_digest(struct host_carry *near, struct host_frames *far, uint8_t filling) {
    uint8_t piece[2048];
    const uint8_t *data;
    size_t bytes = 0;
    memset(piece, filling, sizeof piece);
    assert_int_not_equal(host_carry_bytes(near, piece, sizeof piece), 0);
    assert_true(host_frames_flush(near->frames));
    for (int i = 0; i < 2; i++) assert_int_equal(host_frames_get(far, &data, &bytes), HOST_FRAMED); /* FILE, PIECE */
    return bytes < sizeof piece;
}

/** When the room for three pieces is full, each further one takes the place of that which came first. */
static void test_oldest_is_forgotten(void **state) {
    (void)state;
    struct meeting *m = meet("", "");
    struct host_carry near;
    m->client.cache_bytes = 3 * (32 << 10);
    host_carry_begin(&near, &m->client, false);
    for (uint8_t i = 1; i <= 5; i++) assert_false(goes_by_digest(&near, &m->server, i));
    for (uint8_t i = 3; i <= 5; i++) assert_true(goes_by_digest(&near, &m->server, i));
    assert_false(goes_by_digest(&near, &m->server, 1));
    assert_false(goes_by_digest(&near, &m->server, 3)); /* forgotten for 1 */
    assert_true(goes_by_digest(&near, &m->server, 5));
    host_carry_end(&near);
    part(m);
}

/** A file that can't be written is none that the driver could write; one that grows comes back longer. */
static void test_cache_files(void **state) {
    (void)state;
    struct line *l = line_begin();
    FILE *f = tmpfile();
    char path[64], got[32] = {0};
    assert_int_equal(pwrite(fileno(f), "old", 3, 0), 3);
    int twin = bring(l, HOST_PREPARE, fileno(f), "prepare");
    assert_int_equal(pread(twin, got, sizeof got, 0), 3);
    assert_string_equal(got, "old");
    assert_int_equal(pwrite(twin, "a longer one", 12, 0), 12);
    close(twin);
    answer(l, HOST_PREPARE, 0);
    assert_int_equal(pread(fileno(f), got, sizeof got, 0), 12);
    assert_string_equal(got, "a longer one");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
    const int to_read = open(path, O_RDONLY);
    twin = bring(l, HOST_PREPARE, to_read, "prepare");
    assert_int_equal(pread(twin, got, sizeof got, 0), 12);
    assert_true(pwrite(twin, "x", 1, 0) < 0);
    answer(l, HOST_PREPARE, 0);
    close(twin);
    close(to_read);
    fclose(f);
    line_end(l);
}

/** What one side is told by an end that has the key, but says what can't be: it gives up, whatever it is. */
static void listen_to_lies(bool far, uint32_t seed) {
    struct meeting *m = meet("0123456789abcdef", "0123456789abcdef");
    struct line *l = calloc(1, sizeof *l);
    struct host_frames *liar = far ? &m->client : &m->server;
    int root[2];
    uint32_t x = seed;
    l->m = m;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, root), 0);
    assert_true(host_relay_begin(&l->relays[far], far ? &m->server : &m->client, far, root[1], -1));
    assert_int_equal(pthread_create(&l->threads[far], NULL, far ? run_far : run_near, l), 0);
    for (int k = 0; k < 6; k++) {
        struct host_out o = {0};
        host_put_u32(&o, seed % 10);
        for (uint32_t n = (x >> 8) % 9; n > 0; n--) {
            x = x * 1664525 + 1013904223;
            host_put_u32(&o, x >> 30 ? (x >> 16) % 5 : x);
        }
        if (!host_frames_put(liar, &o) || !host_frames_flush(liar)) break;
    }
    shutdown(liar->out, SHUT_WR);
    pthread_join(l->threads[far], NULL);
    assert_true(l->ended[far] || seed % 10 == HOST_RELAY_CLOSE); /* a relay may be told that the root is closed */
    close(root[0]);
    free(l);
    part(m);
}

static void test_lies_with_the_key(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 400; seed++) {
        listen_to_lies(true, seed);
        listen_to_lies(false, seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_stranger),
        cmocka_unit_test(test_changed_frames),
        cmocka_unit_test(test_garbage_and_silence),
        cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_key_files),
        cmocka_unit_test(test_memory_both_ways),
        cmocka_unit_test(test_sent_once),
        cmocka_unit_test(test_oldest_is_forgotten),
        cmocka_unit_test(test_cache_files),
        cmocka_unit_test(test_lies_with_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
