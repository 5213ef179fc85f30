/* SPDX-License-Identifier: Apache-2.0 */
/** The driver "host" and a host that lies: whatever is answered, the client goes on, and keeps nothing. */
#include "tests/kit/driver_fixture.h"

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
        walker_open(NULL, &device, NULL);
        host_put_u32(o, 0);
        host_put_text(o, NULL);
        host_put_device(o, device);
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
        if (in->kind == HOST_LANE && in->keep.fd_count == 1) {
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

static int lying_host(const char *seed) {
    static struct host_in in;
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

static void test_lying_host(void **state) {
    (void)state;
    char folder[] = "/tmp/nnvts-lying-XXXXXX", from[4096], to[4096], self[4096];
    assert_non_null(mkdtemp(folder));
    assert_non_null(realpath("/proc/self/exe", self));
    snprintf(to, sizeof to, "%s/drivers", folder);
    assert_int_equal(mkdir(to, 0700), 0);
    static const char *const links[] = {"drivers/host.so", "drivers/cpu.so", "nnvts-host"};
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "%s/../%s", drivers_folder(), links[i]);
        snprintf(to, sizeof to, "%s/%s", folder, links[i]);
        assert_int_equal(symlink(i == 2 ? self : realpath(from, NULL), to), 0);
    }
    snprintf(from, sizeof from, "%s/drivers/host.so", folder);
    void *handle = dlopen(from, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    nnvts_driver_get_fn get;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    const int before = descriptors();
    size_t opened = 0, prepared = 0;
    int stuck = 0; /* objects without release, which nobody can release */
    for (int seed = 0; seed < 150; seed++) {
        char options[32];
        struct nnvts_device *device = NULL;
        const char *error = NULL;
        snprintf(options, sizeof options, "cpu:%d", seed);
        if (get()->open(options, &device, &error) != NNVTS_STATUS_NONE) continue;
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
    for (int i = 0; i < 3; i++) {
        snprintf(to, sizeof to, "%s/%s", folder, links[i]);
        unlink(to);
    }
    snprintf(to, sizeof to, "%s/drivers", folder);
    rmdir(to);
    rmdir(folder);
}

int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/');
    if (name && strcmp(name, "/nnvts-host") == 0) return lying_host(argc > 2 ? argv[2] : NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lying_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
