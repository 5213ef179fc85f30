/* SPDX-License-Identifier: Apache-2.0 */
/** @file fail.c Drivers that fail, and what the runtime makes of it. */
#include "harness/suites/partition/partition.h"
#include "nnvts/result.h"

#define FAULT(what, label, answer, result, finish)                                                                     \
    {                                                                                                                  \
        .name = label, .fault = NNV_PARTIAL_##what, .status = (enum nnvts_status)(answer),                             \
        .code = ANEURALNETWORKS_##result, .at_finish = finish                                                          \
    }
/* Each status, and the code that it stands for. */
#define STATUSES(what, label, finish)                                                                                  \
    FAULT(what, label "_device_unavailable", NNVTS_STATUS_DEVICE_UNAVAILABLE, UNAVAILABLE_DEVICE, finish),             \
        FAULT(what, label "_general_failure", NNVTS_STATUS_GENERAL_FAILURE, OP_FAILED, finish),                        \
        FAULT(what, label "_invalid_argument", NNVTS_STATUS_INVALID_ARGUMENT, BAD_DATA, finish),                       \
        FAULT(what, label "_missed_deadline_transient", NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT,                        \
              MISSED_DEADLINE_TRANSIENT, finish),                                                                      \
        FAULT(what, label "_missed_deadline_persistent", NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT,                      \
              MISSED_DEADLINE_PERSISTENT, finish),                                                                     \
        FAULT(what, label "_resource_exhausted_transient", NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,                  \
              RESOURCE_EXHAUSTED_TRANSIENT, finish),                                                                   \
        FAULT(what, label "_resource_exhausted_persistent", NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT,                \
              RESOURCE_EXHAUSTED_PERSISTENT, finish),                                                                  \
        FAULT(what, label "_dead_object", NNVTS_STATUS_DEAD_OBJECT, DEAD_OBJECT, finish),                              \
        FAULT(what, label "_status_77", 77, OP_FAILED, finish)
#define NONSENSE(label, number)                                                                                        \
    {                                                                                                                  \
        .name = label, .fault = NNV_PARTIAL_NONSENSE, .status = NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE,                 \
        .variant = number, .code = ANEURALNETWORKS_OP_FAILED                                                           \
    }

const struct nnv_partition_failure nnv_partition_failures[] = {
    FAULT(SUPPORTED, "supported_general_failure", NNVTS_STATUS_GENERAL_FAILURE, NO_ERROR, false),
    FAULT(SUPPORTED, "supported_invalid_argument", NNVTS_STATUS_INVALID_ARGUMENT, NO_ERROR, false),
    FAULT(SUPPORTED, "supported_dead_object", NNVTS_STATUS_DEAD_OBJECT, NO_ERROR, false),
    FAULT(SUPPORTED, "supported_status_77", 77, NO_ERROR, false),
    FAULT(UNFILLED, "supported_unfilled", NNVTS_STATUS_NONE, NO_ERROR, false),
    STATUSES(PREPARE, "prepare", true),
    FAULT(NOTHING, "prepare_nothing", NNVTS_STATUS_NONE, OP_FAILED, true),
    STATUSES(EXECUTE, "execute", false),
    FAULT(LATE, "late_general_failure", NNVTS_STATUS_GENERAL_FAILURE, OP_FAILED, false),
    FAULT(LATE, "late_resource_exhausted", NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, RESOURCE_EXHAUSTED_TRANSIENT,
          false),
    NONSENSE("shapes_none", 0),
    NONSENSE("shapes_too_many", 1),
    NONSENSE("shapes_sufficient", 2),
    NONSENSE("shapes_of_high_rank", 3),
    NONSENSE("shapes_unknown", 4),
    FAULT(DIES, "dies", NNVTS_STATUS_DEAD_OBJECT, DEAD_OBJECT, false),
};
const size_t nnv_partition_failure_count = sizeof nnv_partition_failures / sizeof *nnv_partition_failures;

static bool fails_executing(const struct nnv_partition_failure *f) {
    return f->fault == NNV_PARTIAL_EXECUTE || f->fault == NNV_PARTIAL_LATE || f->fault == NNV_PARTIAL_NONSENSE ||
           f->fault == NNV_PARTIAL_DIES;
}

/* Device 0 fails, is cheap, and takes what operation `op` is, or all. */
static bool draw_devices(struct nnv_partition_case *p, const struct nnv_partition_failure *f, uint32_t op) {
    struct nnv_fixture fixture;
    if (!nnv_context_render(p->s, p->spec, &fixture)) return false;
    nnv_partition_draw_devices(p);
    struct nnv_partial_options *o = &p->options[0];
    o->level = p->s->device->feature_level < NNV_LEVEL_MAX ? p->s->device->feature_level : NNV_LEVEL_MAX;
    o->unit = 0.05;
    o->takes_first = true;
    o->first = nnv_partial_signature(&fixture.model, &fixture.model.main, &fixture.model.main.operations[op]);
    o->plain = nnv_rng_int(&p->rng, 0, 4) == 0;
    if (nnv_rng_int(&p->rng, 0, 1)) o->share = NNV_PARTIAL_ALL;
    o->fault = f->fault;
    o->status = f->status;
    o->variant = f->variant;
    p->preference = (int32_t)nnv_rng_int(&p->rng, 0, 2);
    nnv_partition_draw_mode(p);
    p->from_memory = nnv_rng_int(&p->rng, 0, 1) == 1;
    return true;
}

/* The way through of a compilation that does without the device, or that falls back. */
static bool succeeds(struct nnv_partition_case *p, const struct nnv_partition_failure *f) {
    int result = ANEURALNETWORKS_OP_FAILED;
    if (!nnv_partition_execute(p, &result)) return false;
    /* its fence was given out before it failed: nobody can go back behind that */
    if (f->fault == NNV_PARTIAL_LATE && p->mode == NNV_MODE_FENCED && result == f->code)
        return nnv_expect(p->s, true, "a failure behind a fence is told");
    return nnv_partition_expect(p, "an execution that another device can do", result, ANEURALNETWORKS_NO_ERROR) &&
           nnv_partition_judge(p);
}

static bool fails(struct nnv_partition_case *p, const struct nnv_partition_failure *f) {
    int result = ANEURALNETWORKS_NO_ERROR;
    if (!nnv_partition_execute(p, &result)) return false;
    /* that an output is too small is no failure of a driver, as far as anybody can see, unless its shapes tell */
    if (f->fault == NNV_PARTIAL_NONSENSE && result == ANEURALNETWORKS_BAD_DATA && p->mode == NNV_MODE_FENCED)
        return true;
    return nnv_partition_expect(p, "the execution on the failing device", result, f->code);
}

/* One compilation, that falls back or not, which is so in two ways. dead: the device has died before. */
static bool run_once(struct nnv_partition_case *p, const struct nnv_partition_failure *f, bool falls_back, bool dead) {
    int result = ANEURALNETWORKS_OP_FAILED;
    const bool refused = !falls_back && f->at_finish;
    p->strict = !falls_back && nnv_rng_int(&p->rng, 0, 1) == 1;
    nnv_partition_choose(p, !falls_back && !p->strict, true);
    if (!nnv_partition_compile(p, &result)) return false;
    if (!nnv_partition_expect(p, "ANeuralNetworksCompilation_finish", result,
                              refused ? f->code : ANEURALNETWORKS_NO_ERROR))
        return false;
    if (refused) return true;
    if (!f->at_finish && !nnv_partition_check_plan(p)) return false;
    const bool used = fails_executing(f) && !dead;
    if (!nnv_expect(p->s, nnv_partition_uses(p, 0) == used, "the plan %s the device that %s",
                    used ? "does not use" : "uses", dead ? "has died" : "fails"))
        return false;
    return used && !falls_back ? fails(p, f) : succeeds(p, f);
}

void nnv_partition_run_failure(struct nnv_partition_case *p, const struct nnv_partition_failure *f) {
    const bool first = nnv_rng_int(&p->rng, 0, 1) == 1, dies = f->fault == NNV_PARTIAL_DIES;
    uint32_t op;
    if (!nnv_partition_supported(p, &op) || !draw_devices(p, f, op) || !nnv_partition_begin(p)) return;
    if (run_once(p, f, first, false) && run_once(p, f, !first, dies)) nnv_partition_check_devices(p);
}
