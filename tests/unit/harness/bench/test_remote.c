/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring on another machine: messages, keys, models, a live server, and clients and drivers that misbehave. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hmac.h"
#include "base/rng.h"
#include "compiler/nnapi/convert/convert.h"
#include "harness/bench/remote_wire.h"
#include "base/process.h"

#define SECOND UINT64_C(1000000000)
static char folder[4096];

static void test_hmac(void **state) {
    (void)state;
    static const struct {
        const char *key, *data, *code;
    } rows[] = {
        /* RFC 4231, cases 2 and 6 */
        {"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {NULL, "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    };
    uint8_t big[131], code[NNV_SHA256_BYTES];
    memset(big, 0xaa, sizeof big);
    for (size_t i = 0; i < 2; i++) {
        char hex[2 * NNV_SHA256_BYTES + 1];
        nnv_hmac_sha256(rows[i].key ? (const void *)rows[i].key : big, rows[i].key ? strlen(rows[i].key) : sizeof big,
                        rows[i].data, strlen(rows[i].data), code);
        for (int k = 0; k < NNV_SHA256_BYTES; k++) snprintf(hex + 2 * k, 3, "%02x", code[k]);
        assert_string_equal(hex, rows[i].code);
    }
    uint8_t other[NNV_SHA256_BYTES];
    memcpy(other, code, sizeof other);
    assert_true(nnv_hmac_equal(code, other));
    other[NNV_SHA256_BYTES - 1] ^= 1;
    assert_false(nnv_hmac_equal(code, other));
}

/* ---------------------------------------------------------------------- models */

static struct nnv_model model_of(struct nnv_arena *arena, const char *text) {
    struct nnv_relay_module *m = NULL;
    struct nnv_converted converted;
    struct nnv_err err = {0};
    const struct nnv_convert_options options = {0};
    if (nnv_relay_parse(text, strlen(text), "test", arena, &m, &err) != NNV_OK || nnv_relay_check(m, &err) != NNV_OK ||
        nnv_convert(m, nnv_relay_find(m, "main"), &options, arena, &converted, &err) != NNV_OK)
        fail_msg("%s", err.text);
    return converted.model;
}

static const char small[] = "def @main(%x: Tensor[(1, 4), float32]) { add(nn.relu(%x), 2f) }";
static const char tanh_of[] = "def @main(%x: Tensor[(1, 4), float32]) { tanh(%x) }";

static void test_model_in_a_message(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_model m = model_of(arena, small), back;
    struct nnv_text once = {0}, twice = {0};
    struct nnv_err err = {0};
    nnv_remote_put_model(&once, &m, true);
    struct nnv_remote_in in = {.data = (const uint8_t *)once.data, .bytes = once.len};
    assert_int_equal(nnv_remote_get_model(&in, arena, &back, &err), NNV_OK);
    nnv_remote_put_model(&twice, &back, true);
    assert_int_equal(once.len, twice.len);
    assert_memory_equal(once.data, twice.data, once.len);
    /* every shorter message, and every changed byte: refused, or another valid model; never a crash */
    for (size_t n = 0; n < once.len; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, once.data, n);
        in = (struct nnv_remote_in){.data = cut, .bytes = n};
        assert_int_equal(nnv_remote_get_model(&in, arena, &back, &err), NNV_INVALID);
        free(cut);
    }
    size_t refused = 0;
    for (size_t n = 0; n < once.len; n++)
        for (int bit = 0; bit < 8; bit++) {
            once.data[n] = (char)(once.data[n] ^ 1 << bit);
            in = (struct nnv_remote_in){.data = (const uint8_t *)once.data, .bytes = once.len};
            refused += nnv_remote_get_model(&in, arena, &back, &err) != NNV_OK;
            once.data[n] = (char)(once.data[n] ^ 1 << bit);
        }
    assert_true(refused > once.len);
    nnv_text_free(&once);
    nnv_text_free(&twice);
    nnv_arena_free(arena);
}

/* A model whose values would not fit is refused before anything is allocated for it. */
static void test_large_values_are_refused(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_model m = model_of(arena, "def @main(%x: Tensor[(16384, 16384), float32]) { nn.relu(%x) }"), back;
    struct nnv_text t = {0};
    struct nnv_err err = {0};
    nnv_remote_put_model(&t, &m, true);
    struct nnv_remote_in in = {.data = (const uint8_t *)t.data, .bytes = t.len};
    assert_int_not_equal(nnv_remote_get_model(&in, arena, &back, &err), NNV_OK);
    nnv_text_free(&t);
    nnv_arena_free(arena);
}

/* ---------------------------------------------------------------------- server */

struct server {
    struct nnv_arena *arena;
    struct nnv_serve_options o;
    struct nnv_remote_key key;
    char address[96];
    int pipe[2];
    pid_t pid;
};

static void told(void *context, const char *address) {
    const struct server *s = context;
    if (write(s->pipe[1], address, strlen(address) + 1) < 0) _exit(1);
}

/* A server in a process of its own, on any port. */
static struct server *begin(const char *driver, const char *options, const char *key) {
    struct server *s = calloc(1, sizeof *s);
    s->arena = nnv_arena_new();
    assert_int_equal(pipe(s->pipe), 0);
    s->key.bytes = key ? strlen(key) : 0;
    if (key) memcpy(s->key.key, key, s->key.bytes);
    s->o = (struct nnv_serve_options){
        .listen = "127.0.0.1:0",
        .driver = driver,
        .device = "device",
        .version = "1",
        .timing = {.path = nnv_arena_printf(s->arena, "%s/%s.so", folder, driver),
                   .options = options,
                   .time_ns = SECOND / 50,
                   .timeout_ns = SECOND},
        .key = &s->key,
        .idle_ns = 20 * SECOND,
        .message_ns = SECOND,
        .most_clients = 4,
        .ready = told,
        .context = s,
    };
    s->pid = nnv_process_fork();
    if (s->pid == 0) {
        struct nnv_err err = {0};
        enum nnv_status st = nnv_serve(&s->o, &err);
        if (st != NNV_OK) fprintf(stderr, "%s\n", err.text);
        _exit(st != NNV_OK);
    }
    assert_true(s->pid > 0);
    assert_true(read(s->pipe[0], s->address, sizeof s->address) > 0);
    return s;
}

static void end(struct server *s) {
    nnv_process_kill(s->pid);
    struct nnv_end how;
    nnv_process_wait(s->pid, 5 * SECOND, &how);
    close(s->pipe[0]);
    close(s->pipe[1]);
    nnv_arena_free(s->arena);
    free(s);
}

static struct nnv_remote connect_to(const struct server *s) {
    struct nnv_remote r = {.fd = -1};
    struct nnv_err err = {0};
    if (nnv_remote_connect(s->address, &s->key, &r, &err) != NNV_OK) fail_msg("%s", err.text);
    return r;
}

static void test_measures(void **state) {
    (void)state;
    struct server *s = begin("cpu", NULL, NULL);
    struct nnv_model m = model_of(s->arena, small);
    struct nnv_remote r = connect_to(s);
    struct nnv_err err = {0};
    assert_string_equal(r.device, "device");
    assert_string_equal(r.driver, "cpu");
    for (int i = 0; i < 2; i++) {
        struct nnv_timed t;
        if (nnv_remote_time(&r, &m, SECOND / 50, &t, &err) != NNV_OK) fail_msg("%s", err.text);
        assert_int_equal(t.state, NNV_BENCH_DONE);
        assert_true(t.us > 0 && t.low_us <= t.us && t.us <= t.high_us && t.samples >= 5);
    }
    nnv_remote_close(&r);
    end(s);
}

/* A driver that crashes or hangs costs one measurement; the connection goes on. */
static void test_bad_drivers(void **state) {
    (void)state;
    static const struct {
        const char *options;
        enum nnv_bench_state state;
    } rows[] = {{"crash-execute@TANH", NNV_BENCH_CRASHED}, {"hang-execute@TANH", NNV_BENCH_TIMED_OUT}};
    for (size_t i = 0; i < 2; i++) {
        struct server *s = begin("faulty", rows[i].options, NULL);
        struct nnv_model bad = model_of(s->arena, tanh_of), good = model_of(s->arena, small);
        struct nnv_remote r = connect_to(s);
        struct nnv_err err = {0};
        struct nnv_timed t;
        assert_int_equal(nnv_remote_time(&r, &bad, 0, &t, &err), NNV_OK);
        assert_int_equal(t.state, rows[i].state);
        assert_int_equal(nnv_remote_time(&r, &good, 0, &t, &err), NNV_OK);
        assert_int_equal(t.state, NNV_BENCH_DONE);
        nnv_remote_close(&r);
        end(s);
    }
}

static void test_keys(void **state) {
    (void)state;
    struct server *s = begin("cpu", NULL, "a key of sixteen"), wrong = *s;
    struct nnv_remote r = connect_to(s);
    nnv_remote_close(&r);
    struct nnv_err err = {0};
    wrong.key.key[3] ^= 1;
    assert_int_equal(nnv_remote_connect(s->address, &wrong.key, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "the key is another one"));
    assert_int_equal(nnv_remote_connect(s->address, NULL, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "--key-file"));
    end(s);
    /* a server without a key can't pass for one that has it */
    s = begin("cpu", NULL, NULL);
    assert_int_equal(nnv_remote_connect(s->address, &wrong.key, &r, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "asks for no key"));
    end(s);
}

static void test_addresses(void **state) {
    (void)state;
    struct nnv_err err = {0};
    struct nnv_remote_key none = {.bytes = 0};
    static const char *const bad[] = {"",   "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000",
                                      ":1", "::1:5",     "[::1]5",     "1.2.3.4.5:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnv_serve_options o = {.listen = bad[i], .key = &none};
        assert_int_equal(nnv_serve(&o, &err), NNV_INVALID);
    }
    struct nnv_serve_options open = {.listen = "0.0.0.0:0", .key = &none};
    assert_int_equal(nnv_serve(&open, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "--key-file"));
    open.listen = "[::]:0";
    assert_int_equal(nnv_serve(&open, &err), NNV_INVALID);
}

static void test_key_files(void **state) {
    (void)state;
    char path[] = "/tmp/nnvts-key-XXXXXX";
    struct nnv_remote_key key;
    struct nnv_err err = {0};
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "0123456789abcdef\n", 17), 17);
    assert_int_equal(nnv_remote_key_read(path, &key, &err), NNV_OK);
    assert_int_equal(key.bytes, 16);
    assert_int_equal(fchmod(fd, 0644), 0);
    assert_int_equal(nnv_remote_key_read(path, &key, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "chmod 600"));
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_int_equal(ftruncate(fd, 8), 0);
    assert_int_equal(nnv_remote_key_read(path, &key, &err), NNV_INVALID);
    close(fd);
    unlink(path);
}

/* ----------------------------------------------------------------- bad clients */

/* What a client sends right after the greeting, byte for byte; the server must let it go within its deadlines. */
static void send_raw(const struct server *s, const void *data, size_t bytes, bool greet) {
    struct nnv_remote r = {.fd = -1};
    struct nnv_err err = {0};
    char rest[4096];
    struct timeval patience = {.tv_sec = 5};
    assert_int_equal(nnv_remote_connect(s->address, &s->key, &r, &err), NNV_OK);
    if (!greet) {
        /* a second connection, on which nothing was said before */
        struct nnv_remote first = r;
        struct sockaddr_storage a;
        socklen_t n = sizeof a;
        assert_int_equal(getpeername(first.fd, (struct sockaddr *)&a, &n), 0);
        r.fd = socket(a.ss_family, SOCK_STREAM, 0);
        assert_int_equal(connect(r.fd, (struct sockaddr *)&a, n), 0);
        nnv_remote_close(&first);
    }
    assert_int_equal(fcntl(r.fd, F_SETFL, 0), 0);
    setsockopt(r.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_true(send(r.fd, data, bytes, MSG_NOSIGNAL) >= 0);
    ssize_t got;
    while ((got = recv(r.fd, rest, sizeof rest, 0)) > 0) {}
    assert_true(got == 0 || (got < 0 && errno == ECONNRESET));
    nnv_remote_close(&r);
}

static void test_bad_clients(void **state) {
    (void)state;
    struct server *s = begin("cpu", NULL, NULL);
    struct nnv_model m = model_of(s->arena, small);
    struct nnv_remote good = connect_to(s);
    struct nnv_err err = {0};
    struct nnv_timed t;
    uint8_t message[64] = {0};
    for (int greet = 0; greet < 2; greet++) {
        send_raw(s, "GET / HTTP/1.0\r\n\r\n", 18, greet);
        /* a message that is announced too long, and one that never ends */
        nnv_remote_header(message, greet ? NNV_REMOTE_MEASURE : NNV_REMOTE_HELLO, (size_t)1 << 31);
        send_raw(s, message, NNV_REMOTE_HEADER, greet);
        nnv_remote_header(message, greet ? NNV_REMOTE_MEASURE : NNV_REMOTE_HELLO, 4000);
        send_raw(s, message, NNV_REMOTE_HEADER + 10, greet);
        /* one that is not expected there */
        nnv_remote_header(message, greet ? NNV_REMOTE_HELLO : NNV_REMOTE_MEASURE, 16);
        send_raw(s, message, NNV_REMOTE_HEADER + 16, greet);
        assert_int_equal(nnv_remote_time(&good, &m, 0, &t, &err), NNV_OK);
        assert_int_equal(t.state, NNV_BENCH_DONE);
    }
    nnv_remote_close(&good);
    end(s);
}

/* A measure message that holds no model is answered, and the connection goes on. */
static void test_no_model(void **state) {
    (void)state;
    struct server *s = begin("cpu", NULL, NULL);
    struct nnv_model m = model_of(s->arena, small);
    struct nnv_remote r = connect_to(s);
    struct nnv_remote_message got;
    struct nnv_err err = {0};
    struct nnv_text t = {0};
    struct nnv_timed timed;
    for (int i = 0; i < 50; i++) nnv_remote_put_u32(&t, 0x7fffffff);
    assert_true(nnv_remote_send(r.fd, NNV_REMOTE_MEASURE, &t, SECOND));
    assert_int_equal(nnv_remote_receive(r.fd, NNV_REMOTE_SHORT, 5 * SECOND, SECOND, &got, &err), NNV_OK);
    struct nnv_remote_in in = {.data = got.payload, .bytes = got.bytes};
    assert_true(nnv_remote_get_times(&in, &timed));
    assert_int_equal(timed.state, NNV_BENCH_ERROR);
    free(got.payload);
    nnv_text_free(&t);
    assert_int_equal(nnv_remote_time(&r, &m, 0, &timed, &err), NNV_OK);
    assert_int_equal(timed.state, NNV_BENCH_DONE);
    nnv_remote_close(&r);
    end(s);
}

static void test_too_many_clients(void **state) {
    (void)state;
    struct server *s = begin("cpu", NULL, NULL);
    struct nnv_remote all[4], more;
    struct nnv_err err = {0};
    for (int i = 0; i < 4; i++) all[i] = connect_to(s);
    assert_int_equal(nnv_remote_connect(s->address, &s->key, &more, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "too many clients"));
    for (int i = 0; i < 4; i++) nnv_remote_close(&all[i]);
    end(s);
}

/* The server's end: an error that says so, soon. */
static void test_lost_connection(void **state) {
    (void)state;
    struct server *s = begin("cpu", NULL, NULL);
    struct nnv_model m = model_of(s->arena, small);
    struct nnv_remote r = connect_to(s);
    struct nnv_err err = {0};
    struct nnv_timed t;
    assert_int_equal(nnv_remote_time(&r, &m, 0, &t, &err), NNV_OK);
    struct nnv_end how;
    nnv_process_kill(s->pid);
    nnv_process_wait(s->pid, 5 * SECOND, &how);
    assert_int_equal(nnv_remote_time(&r, &m, 0, &t, &err), NNV_IO);
    nnv_remote_close(&r);
    end(s);
}

int main(int argc, char **argv) {
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    snprintf(folder, sizeof folder, "%.*s/../drivers", (int)(slash ? slash - argv[0] : 1), slash ? argv[0] : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hmac),
        cmocka_unit_test(test_model_in_a_message),
        cmocka_unit_test(test_large_values_are_refused),
        cmocka_unit_test(test_measures),
        cmocka_unit_test(test_bad_drivers),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_key_files),
        cmocka_unit_test(test_bad_clients),
        cmocka_unit_test(test_no_model),
        cmocka_unit_test(test_too_many_clients),
        cmocka_unit_test(test_lost_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
