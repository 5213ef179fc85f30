/* SPDX-License-Identifier: Apache-2.0 */
/** The driver "host" and a host that lies: whatever is answered, the client goes on, and keeps nothing. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/driver.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include "drivers_under_test/host/codec.h"
#include "drivers_under_test/host/ring.h"
#include "tests/kit/host_garbage.h"
#include "tests/kit/host_walker.h"

/* ------------------------------------------------------------ a host that lies */

/** This program, started as nnvts-host, answers nonsense; the option is the seed. */
static void put_nonsense(struct host_out *o, uint32_t kind) {
    if (below(8) == 0) {
        for (uint32_t n = below(64); n > 0; n--) host_put_u32(o, nasty());
        return;
    }
    if (kind == HOST_HELLO) {
        struct nnvts_device *device;
        walker.open(NULL, &device, NULL);
        host_put_u32(o, 0);
        host_put_text(o, NULL);
        uint32_t has = 3;
        host_device(host_writing(o), device, &has);
    } else {
        host_put_u32(o, below(4) ? 0 : nasty());
        if (kind == HOST_PREPARE || kind == HOST_ALLOCATE || kind == HOST_CREATE_EXECUTION ||
            kind == HOST_EXECUTE_FENCED)
            host_put_u64(o, below(16));
        if (kind == HOST_PREPARE || kind == HOST_ALLOCATE) host_put_u32(o, 4096);
        if (kind == HOST_PREPARE || kind == HOST_ALLOCATE || kind == HOST_CREATE_EXECUTION || kind == HOST_CREATE_BURST)
            host_put_u32(o, UINT32_MAX);
        if (kind == HOST_SUPPORTED) host_put_array(o, (const uint8_t[]){1, 1, 1}, below(3) + 1, 1);
        if (kind == HOST_EXECUTE || kind == HOST_RUN_EXECUTION || kind == HOST_BURST_EXECUTE) {
            uint32_t dims[HOST_DIMS] = {0};
            struct nnvts_output_shape s[2] = {{true, below(HOST_DIMS), dims}, {true, nasty(), dims}};
            host_put_result(o, &(struct nnvts_execution_result){nasty(), s, {0, 0}}, below(3));
        }
        if (kind == HOST_FENCED_RESULT)
            for (int i = 0; i < 9; i++) host_put_u32(o, nasty());
    }
    if (o->bytes && below(6) == 0) mutate_payload(o->data, o->bytes);
}

static void lie_in_rings(int socket, int fd) {
    static uint8_t buffer[HOST_RING_BYTES];
    uint32_t kind;
    size_t bytes;
    struct host_rings *rings = mmap(NULL, sizeof *rings, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct pollfd gone = {socket, POLLIN, 0};
    while (rings != MAP_FAILED && poll(&gone, 1, 0) >= 0 && !(gone.revents & POLLHUP)) {
        host_ring_wait(&rings->ask, 1000000);
        if (host_ring_pop(&rings->ask, buffer, &kind, &bytes) != HOST_RING_FULL) continue;
        struct host_out o = {0};
        put_nonsense(&o, kind);
        if (below(8) == 0) atomic_store(&rings->answer.head, nasty());
        host_ring_push(&rings->answer, kind, o.data, o.bytes);
        host_out_end(&o);
    }
}

static void *lie(void *arg) {
    const int socket = (int)(intptr_t)arg;
    struct host_in *in = malloc(sizeof *in);
    bool open = true;
    while (open && host_receive(socket, in) == HOST_GOT) {
        struct host_out o = {0};
        pthread_t thread;
        if (in->kind == HOST_STREAM && in->keep.fd_count == 1) {
            pthread_create(&thread, NULL, lie, (void *)(intptr_t)in->keep.fds[0]);
            in->keep.fd_count = 0;
            host_put_u32(&o, 0);
        } else {
            put_nonsense(&o, in->kind);
        }
        open = below(24) != 0 && host_send(socket, below(24) ? in->kind : HOST_STATUS, &o);
        if (open && (in->kind == HOST_EXECUTE_ASYNC || in->kind == HOST_EXECUTE_FENCED))
            open = host_send(socket, in->kind, &o);
        if (open && in->kind == HOST_CREATE_BURST && in->keep.fd_count == 1) {
            lie_in_rings(socket, in->keep.fds[0]);
            open = false;
        }
        host_out_end(&o);
        host_in_end(in);
    }
    close(socket);
    free(in);
    return NULL;
}

/** With option "slow", the host answers one question, then hangs up and ends when the file $NNVTS_TEST_GO is there. */
static void *hang_up(void *arg) {
    const int socket = (int)(intptr_t)arg;
    struct host_in *in = malloc(sizeof *in);
    struct nnvts_device *device;
    struct host_out o = {0};
    walker.open(NULL, &device, NULL);
    host_put_u32(&o, 0);
    host_put_text(&o, NULL);
    uint32_t has = 0;
    host_device(host_writing(&o), device, &has);
    if (host_receive(socket, in) == HOST_GOT) {
        host_in_end(in);
        host_send(socket, HOST_HELLO, &o);
    }
    if (host_receive(socket, in) == HOST_GOT) host_in_end(in);
    host_out_end(&o);
    close(socket);
    free(in);
    return NULL;
}

static int slow_host(void) {
    static struct host_in in;
    while (host_receive(HOST_CONTROL_FD, &in) == HOST_GOT) {
        if (in.keep.fd_count == 1) hang_up((void *)(intptr_t)in.keep.fds[0]);
        in.keep.fd_count = 0;
        host_in_end(&in);
        for (int i = 0; i < ANSWER_MS && access(getenv("NNVTS_TEST_GO"), F_OK) != 0; i++) usleep(1000);
    }
    _exit(0);
}

static int lying_host(const char *seed) {
    static struct host_in in;
    if (seed && strcmp(seed, "slow") == 0) return slow_host();
    random_state = strtoull(seed ? seed : "0", NULL, 10);
    while (host_receive(HOST_CONTROL_FD, &in) == HOST_GOT) {
        pthread_t thread;
        if (in.keep.fd_count == 1) pthread_create(&thread, NULL, lie, (void *)(intptr_t)in.keep.fds[0]);
        in.keep.fd_count = 0;
        host_in_end(&in);
    }
    _exit(0);
}

static void on_called(void *context, enum nnvts_status status, const struct nnvts_execution_result *result) {
    (void)status;
    for (uint32_t i = 0; i < result->shape_count; i++) walk(&result->shapes[i], sizeof result->shapes[i]);
    atomic_fetch_add((atomic_int *)context, 1);
}

/** Everything a client can do with a prepared model; what it is told does not matter. */
static void use_prepared(struct nnvts_prepared_model *p) {
    const float x[3] = {1, 2, 3};
    float y[3];
    const int64_t tokens[] = {1, 2};
    struct call c = {0};
    struct nnvts_burst *burst = NULL;
    struct nnvts_execution *execution = NULL;
    struct nnvts_fenced_execution fenced;
    struct nnvts_fenced_result result;
    atomic_int calls = 0;
    give(&c, x, sizeof x);
    take(&c, y, sizeof y);
    execute(p, &c);
    if (p->execute_async(p, ready(&c), &plain, on_called, &calls) == NNVTS_STATUS_NONE)
        for (int i = 0; i < ANSWER_MS && !atomic_load(&calls); i++) usleep(1000);
    if (p->create_execution(p, ready(&c), &plain, &execution) == NNVTS_STATUS_NONE && execution && execution->execute &&
        execution->release) {
        execution->execute(execution, NNVTS_NO_TIME, &c.result);
        execution->release(execution);
    }
    if (p->create_burst(p, &burst) == NNVTS_STATUS_NONE && burst && burst->execute && burst->release_memory &&
        burst->release) {
        for (int i = 0; i < 3; i++) burst->execute(burst, ready(&c), tokens, &plain, &c.result);
        burst->release_memory(burst, 1);
        burst->release(burst);
    }
    if (p->execute_fenced(p, ready(&c), NULL, 0, &plain, NNVTS_NO_TIME, &fenced) == NNVTS_STATUS_NONE) {
        fenced.get_result(fenced.context, &result);
        fenced.release(fenced.context);
    }
}

/** A folder in which this program, with an argument, is nnvts-host: in an emulator where it runs in one itself. */
static const char *const links[] = {"drivers/host.so", "drivers/cpu.so"};
static char folder[] = "/tmp/nnvts-lying-XXXXXX";
static const struct nnvts_driver *host;

static int open_host(void **state) {
    (void)state;
    char from[4096], to[4096], self[4096];
    assert_int_equal(make_folder(folder), 0);
    assert_non_null(realpath("/proc/self/exe", self));
    snprintf(to, sizeof to, "%s/drivers", folder);
    assert_int_equal(mkdir(to, 0700), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof from, "%s/../%s", drivers_folder(), links[i]);
        snprintf(to, sizeof to, "%s/%s", folder, links[i]);
        assert_int_equal(symlink(realpath(from, NULL), to), 0);
    }
    snprintf(to, sizeof to, "%s/nnvts-host", folder);
    const char *runner = getenv("NNVTS_TEST_RUNNER");
    const int script = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    assert_true(dprintf(script, "#!/bin/sh\nexec %s '%s' \"$@\"\n", runner ? runner : "", self) > 0);
    close(script);
    snprintf(from, sizeof from, "%s/drivers/host.so", folder);
    void *handle = dlopen(from, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    nnvts_driver_get_fn get;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    host = get();
    return 0;
}

static int close_host(void **state) {
    (void)state;
    return remove_folder(folder);
}

static void test_lying_host(void **state) {
    (void)state;
    const int before = descriptors();
    size_t opened = 0, prepared = 0;
    int stuck = 0; /* objects without release, which nobody can release */
    for (int seed = 0; seed < 150; seed++) {
        char options[32];
        struct nnvts_device *device = NULL;
        const char *error = NULL;
        snprintf(options, sizeof options, "cpu:%d", seed);
        if (host->open(options, &device, &error) != NNVTS_STATUS_NONE) continue;
        opened++;
        struct net n = {0};
        const uint32_t x = input(&n, F32, DIMS(3)), y = output(&n, F32, DIMS(3));
        operation(&n, ANEURALNETWORKS_RELU, LIST(x), LIST(y));
        bool supported[4];
        struct nnvts_prepared_model *p = NULL;
        device->get_status(device);
        device->get_supported_operations(device, finish(&n), supported);
        if (device->prepare_model(device, &n.model, &prepare_config, &p) == NNVTS_STATUS_NONE && p) {
            const bool whole =
                p->execute && p->execute_async && p->execute_fenced && p->create_burst && p->create_execution;
            prepared += whole;
            if (whole) use_prepared(p);
            if (p->release)
                p->release(p);
            else
                stuck++;
        }
        device->release(device);
    }
    enum { OF_ONE = 4 };
    assert_true(descriptors() <= before + OF_ONE * stuck && stuck < 10);
    if (opened <= 50 || prepared <= 20) fail_msg("opened %zu, prepared %zu", opened, prepared);
}

static atomic_bool has_status;

static void *ask_status(void *arg) {
    struct nnvts_device *device = arg;
    device->get_status(device);
    atomic_store(&has_status, true);
    return NULL;
}

/** While one call waits for the end of a process that takes its time, others go on. */
static void test_slow_end(void **state) {
    (void)state;
    struct nnvts_device *slow = NULL, *other = NULL;
    const char *error = NULL;
    pthread_t thread;
    char place[] = "/tmp/nnvts-slow-XXXXXX", go[64];
    assert_int_equal(make_folder(place), 0);
    snprintf(go, sizeof go, "%s/go", place);
    setenv("NNVTS_TEST_GO", go, 1);
    assert_int_equal(host->open("cpu:slow", &slow, &error), NNVTS_STATUS_NONE);
    assert_int_equal(pthread_create(&thread, NULL, ask_status, slow), 0);
    usleep(200000); /* it has met the end of the socket, and waits for that of the process */
    if (host->open("cpu:1", &other, &error) == NNVTS_STATUS_NONE) other->release(other);
    assert_false(atomic_load(&has_status));
    assert_int_equal(mkdir(go, 0700), 0);
    pthread_join(thread, NULL);
    slow->release(slow);
    assert_int_equal(remove_folder(place), 0);
}

/** What does not fit fails the message for good: what comes after does not make it whole again. */
static void test_too_large(void **state) {
    (void)state;
    struct host_out o = {0};
    int ends[2];
    host_put_u32(&o, 1);
    host_put_bytes(&o, ends, (size_t)HOST_PAYLOAD_BYTES + 1); /* refused before it is read */
    assert_true(o.failed);
    host_put_u32(&o, 2);
    assert_true(o.failed);
    assert_int_equal(o.bytes, sizeof(uint32_t));
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_false(host_send(ends[0], HOST_STATUS, &o));
    assert_int_equal(recv(ends[1], &(char){0}, 1, MSG_DONTWAIT), -1);
    close(ends[0]);
    close(ends[1]);
    host_out_end(&o);
}

int main(int argc, char **argv) {
    if (argc > 1) return lying_host(argc > 2 ? argv[2] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lying_host),
        cmocka_unit_test(test_slow_end),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, open_host, close_host);
}
