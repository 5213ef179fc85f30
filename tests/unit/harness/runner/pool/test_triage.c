/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_triage.c What the end of a worker says about its case, by what the worker left in its channel. */
#include "harness/runner/pool/triage.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/kit/test.h"

/** Where the trace is longer than what the worker says of it, the rest is an older one's. */
static void only_its_own_trace(void **state) {
    (void)state;
    static const char own[] = "#0 app+0x12 ANeuralNetworksModel_finish+0x2\n",
                      old[] = "#0 app+0x34 ANeuralNetworksExecution_compute+0x4\n";
    const struct nnv_end killed = {.code = CLD_KILLED, .status = SIGSEGV};
    const struct nnv_run_config config = {0};
    struct nnv_worker w = {.number = 1, .log = -1, .channel = nnv_shared_new(sizeof *w.channel)};
    assert_non_null(w.channel);
    w.channel->phase = NNV_PHASE_EXECUTE;
    strcpy(w.channel->trace, own);
    strcpy(w.channel->trace + sizeof own - 1, old);
    const struct {
        size_t bytes;
        const char *reason;
    } rows[] = {{0, "driver died with SIGSEGV in execute"},
                {sizeof own - 1, "driver died with SIGSEGV in ANeuralNetworksModel_finish"},
                {sizeof own - 6, "driver died with SIGSEGV in ANeuralNetworksModel_finish"},
                {sizeof own + sizeof old - 2, "driver died with SIGSEGV in ANeuralNetworksExecution_compute"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_triage room = {0};
        struct nnv_ended e = {0};
        atomic_store(&w.channel->trace_bytes, (uint32_t)rows[i].bytes);
        nnv_triage_case(&w, &killed, NNV_KILL_NONE, NULL, &config, &room, &e);
        assert_int_equal(e.verdict, NNVTS_CRASH);
        assert_int_equal(e.signal, SIGSEGV);
        assert_string_equal(room.reason, rows[i].reason);
        nnv_triage_free(&room);
    }
    nnv_shared_free(w.channel, sizeof *w.channel);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_its_own_trace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
