/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_serve.c nnvts serve: measures models that other machines send, on a driver of this one. */
#include <stdio.h>

#include "harness/bench/remote.h"
#include "harness/cli/cli.h"
#include "harness/runner/ask.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts serve --driver NAME|PATH [options]",
    .summary =
        "Measures models that nnvts profile sends, on a driver of this machine, until it is stopped. Each "
        "measurement runs in a process of its own, so that a driver that crashes or hangs costs one measurement.",
    .examples = "nnvts serve --driver ./npu.so                       for programs of this machine, at 127.0.0.1:7557\n"
                "nnvts serve --driver ./npu.so --listen 0.0.0.0:7557 --key-file key    for others that have the key\n"
                "head -c 32 /dev/urandom | base64 >key && chmod 600 key                such a key\n",
};

static void ready(void *context, const char *address) {
    (void)context;
    printf("listening on %s\n", address);
    fflush(stdout);
}

struct command {
    struct nnv_cli c;
    const char *key_file;
    uint64_t clients;
    struct nnv_serve_options o;
};

static enum nnv_status serve(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    struct nnv_serve_options *o = &x->o;
    struct nnv_arena *arena = c->arena;
    struct nnv_remote_key key = {.bytes = 0};
    struct nnv_driver_info info;
    o->most_clients = x->clients < 1 ? 1 : x->clients > 64 ? 64 : (uint32_t)x->clients;
    enum nnv_status s = nnv_cli_need_driver(c, err);
    if (s == NNV_OK && x->key_file) s = nnv_remote_key_read(x->key_file, &key, err);
    if (s == NNV_OK) s = nnv_client_resolve(c->driver, arena, &o->timing.path, &o->timing.options, err);
    if (s == NNV_OK)
        s = nnv_driver_probe(o->timing.path, o->timing.options, nnv_opening_ns(o->timing.timeout_ns, 0), arena, &info,
                             err);
    if (s != NNV_OK) return s;
    o->driver = nnv_arena_printf(arena, "%.255s", c->driver);
    o->device = nnv_arena_printf(arena, "%.63s", info.name);
    o->version = nnv_arena_printf(arena, "%.63s", info.version);
    o->key = &key;
    o->ready = ready;
    if (!o->driver || !o->device || !o->version) return nnv_no_memory(err);
    return nnv_serve(o, err);
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults(),
                        .clients = 8,
                        .o = {.listen = "127.0.0.1:7557",
                              .timing = {.time_ns = UINT64_C(10000000000), .timeout_ns = UINT64_C(60000000000)},
                              .idle_ns = UINT64_C(300000000000),
                              .message_ns = UINT64_C(60000000000)}};
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        {0, "listen", NNV_OPT_STRING, &x.o.listen, "HOST:PORT", "where to wait for clients; port 0: any that is free",
         NULL},
        {0, "key-file", NNV_OPT_STRING, &x.key_file, "FILE", "what clients must have, too; needed but on loopback",
         NULL},
        {0, "clients", NNV_OPT_U64, &x.clients, "N", "at once; measurements run one after the other", NULL},
        {0, "time", NNV_OPT_SECONDS, &x.o.timing.time_ns, "S", "that a measurement may be asked to take, at most",
         NULL},
        {0, "timeout", NNV_OPT_SECONDS, &x.o.timing.timeout_ns, "S", "after which a measurement is given up", NULL},
        {0, "idle", NNV_OPT_SECONDS, &x.o.idle_ns, "S", "after which a client that asks nothing is let go", NULL},
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 0, argc, argv, serve, &x);
}

const struct nnv_verb nnv_verb_serve = {"serve", "compile models", "measure models that nnvts profile sends", run};
