/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file remote.h How long a driver takes for a model, here or on another machine: `nnvts serve` measures what clients
 * send it. docs/compile/partitioning.md has the protocol.
 */
#ifndef NNV_BENCH_REMOTE_H
#define NNV_BENCH_REMOTE_H

#include "harness/bench/measure.h"

/** What came of measuring one model. */
struct nnv_timed {
    enum nnv_bench_state state;
    char reason[NNV_BENCH_REASON]; /**< empty for DONE */
    double us, low_us, high_us;    /**< median, and where it lies at 95 % */
    uint32_t samples;
    bool steady;  /**< the warm-up came to an end by itself */
    double noise; /**< of the machine: 1 where nothing else runs */
};

/** How a model is measured. */
struct nnv_timing_options {
    const char *path, *options; /**< of the driver */
    uint64_t time_ns;           /**< of measuring, at most */
    uint64_t timeout_ns;        /**< of everything */
};

/**
 * Measures one execution of a valid model whose shapes are known, on inputs that are drawn (integers are 0, which is an
 * index of anything), in a process of its own: warm-up until steady, then the median. NNV_INVALID: the driver can't be
 * opened.
 */
NNV_USE_RESULT enum nnv_status nnv_time_model(const struct nnv_model *model, const struct nnv_timing_options *options,
                                              struct nnv_timed *out, struct nnv_err *err);
/** Bytes of the values of a model: of all operands whose shape is known; false: not of all, or above 2^62. */
bool nnv_model_bytes(const struct nnv_model *model, uint64_t *bytes);

/** A key that both sides have. bytes 0: none. */
struct nnv_remote_key {
    uint8_t key[4096];
    size_t bytes;
};
/** Reads a file of 16 to 4096 bytes that nobody else may read; line ends at its end do not count. */
NNV_USE_RESULT enum nnv_status nnv_remote_key_read(const char *path, struct nnv_remote_key *key, struct nnv_err *err);

struct nnv_serve_options {
    const char *listen;                    /**< "127.0.0.1:7557", "[::1]:0"; port 0: any */
    const char *driver, *device, *version; /**< as told to clients */
    struct nnv_timing_options timing;
    const struct nnv_remote_key *key; /**< without bytes: only loopback addresses are listened on */
    uint64_t idle_ns;                 /**< a client that asks nothing for so long is let go */
    uint64_t message_ns;              /**< for a message, once it has begun */
    uint32_t most_clients;
    /** Told the address once it is listened on; NULL: nobody is. */
    void (*ready)(void *context, const char *address);
    void *context;
};
/** Serves until SIGINT or SIGTERM. NNV_INVALID: the address, or one that needs a key. */
NNV_USE_RESULT enum nnv_status nnv_serve(const struct nnv_serve_options *options, struct nnv_err *err);
/** The server's side of one connection, until it ends: for tests and fuzzing. lock: one measurement at a time; -1. */
void nnv_serve_client(const struct nnv_serve_options *options, int fd, int lock);

/** A connection to a server. */
struct nnv_remote {
    int fd;
    char device[64], version[64], driver[256];
};
NNV_USE_RESULT enum nnv_status nnv_remote_connect(const char *address, const struct nnv_remote_key *key,
                                                  struct nnv_remote *out, struct nnv_err *err);
/** NNV_IO: the connection is lost. */
NNV_USE_RESULT enum nnv_status nnv_remote_time(struct nnv_remote *r, const struct nnv_model *model, uint64_t time_ns,
                                               struct nnv_timed *out, struct nnv_err *err);
void nnv_remote_close(struct nnv_remote *r);

#endif
