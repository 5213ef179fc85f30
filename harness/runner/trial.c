/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/trial.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/runner/pool.h"
#include "harness/journal/record.h"

enum { EXIT_CODES = 64 }; /* exit code of verdict 0: no code that something else would end with */

static const uint64_t SECOND_NS = 1000000000;

/* -------------------------------------------------------- in the new process */

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    (void)err;
    enum nnvts_verdict *verdict = context;
    bool sound = e->outputs.len == 0 || nnv_json_is_array(e->outputs.data, e->outputs.len);
    *verdict = e->worker == 0 ? NNVTS_NOTRUN : sound ? e->verdict : NNVTS_ERROR;
    return NNV_OK;
}

/** As nnvts replay does: the dump says by which profile it is judged. */
static enum nnvts_verdict replay(const struct nnv_run_config *run, const char *dump) {
    const struct nnv_suite *suite = nnv_suite_by_name("spec");
    struct nnv_run_config config = *run;
    struct nnv_case_list list = {.arena = nnv_arena_new()};
    struct nnv_err err = {0};
    enum nnvts_verdict verdict = NNVTS_NOTRUN;
    config.specs = dump;
    config.precision = -1;
    config.jobs = 1;
    bool listed = suite != NULL && list.arena != NULL && suite->list(&config, &list, &err) == NNV_OK;
    if (listed && list.count == 1) {
        const struct nnv_pool_options pool = {
            .config = &config, .cases = list.item, .count = 1, .context = &verdict, .ended = on_ended};
        bool interrupted = false;
        if (nnv_pool_run(&pool, &interrupted, &err) != NNV_OK) verdict = NNVTS_NOTRUN;
    }
    free(list.item);
    nnv_arena_free(list.arena);
    return verdict;
}

/* --------------------------------------------------------- in the supervisor */

pid_t nnv_trial_start(const struct nnv_run_config *config, const char *dump) {
    pid_t pid = nnv_process_fork();
    if (pid != 0) return pid;
    nnv_process_sandbox(-1);
    _exit(EXIT_CODES + (int)replay(config, dump));
}

enum nnvts_verdict nnv_trial_verdict(const struct nnv_end *end) {
    int verdict = end->status - EXIT_CODES;
    bool told = end->code == CLD_EXITED && !end->timed_out && verdict >= 0 && verdict < NNVTS_VERDICT_COUNT;
    return told ? (enum nnvts_verdict)verdict : NNVTS_NOTRUN;
}

void nnv_trial_stop(pid_t pid) {
    struct nnv_end end;
    /* Asked to stop twice, its pool ends the worker and the worker's group. */
    kill(pid, SIGTERM);
    kill(pid, SIGINT);
    nnv_process_wait(pid, SECOND_NS, &end);
}

uint64_t nnv_trial_limit(const struct nnv_run_config *config) { return 60 * SECOND_NS + 8 * config->timeout_ns; }
