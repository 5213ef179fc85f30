/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/client/prepare.h"

#include <string.h>

#include "base/clock.h"
#include "base/guard.h"
#include "harness/client/abi.h"
#include "harness/client/restore.h"
#include "reference/model/op.h"

enum { UNFILLED = 0xee };

const struct nnvts_prepare_config nnv_prepare_config = {
    .preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
    .priority = NNVTS_PRIORITY_MEDIUM,
    .deadline_ns = NNVTS_NO_TIME,
};

static void enter(struct nnv_preparation *p, enum nnv_phase phase, const char *call) {
    if (p->phase) *p->phase = (uint32_t)phase;
    p->call = call;
    p->breach = (struct nnv_breach){0};
}

static bool constants_whole(struct nnv_preparation *p) {
    return !p->model || nnv_verify_constants(p->model, p->abi, p->constants, &p->breach);
}

bool nnv_ask_supported(struct nnv_preparation *p, struct nnv_arena *arena) {
    const uint32_t n = p->abi->main.operation_count;
    void *room = nnv_arena_alloc(arena, nnv_guard_room(n), 1);
    int64_t at;
    enter(p, NNV_PHASE_SUPPORTED, "get_supported_operations");
    if (!room) return nnv_breach(&p->breach, NNV_BREACH_OURS, 0, "can't be called: out of memory");
    uint8_t *supported = nnv_guard_init(room, n, NNV_SALT_SUPPORTED);
    memset(supported, UNFILLED, n);
    const uint64_t start = nnv_now_ns();
    p->status = p->device->get_supported_operations(p->device, p->abi, (bool *)supported);
    nnv_restore_thread();
    p->supported_ns = nnv_now_ns() - start;
    if (!nnv_guard_check(supported, n, NNV_SALT_SUPPORTED, &at))
        return nnv_breach(&p->breach, NNV_BREACH_MEMORY, 0, "wrote outside the array of %u answers", n);
    if (!constants_whole(p) || !nnv_verify_status(p->status, &p->breach) || p->status != NNVTS_STATUS_NONE)
        return false;
    p->refused = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (supported[i] > 1)
            return nnv_breach(&p->breach, NNV_BREACH_STATUS, i, "answered NONE but left entry %u unfilled", i);
        p->refused += !supported[i];
    }
    p->supported = supported;
    return true;
}

void nnv_add_last_error(struct nnvts_device *device, enum nnvts_status status, struct nnv_text *out) {
    const char *words = status == NNVTS_STATUS_NONE ? NULL : nnv_device_last_error(device);
    if (words) nnv_text_addf(out, ": %s", words);
}

bool nnv_not_implemented(const struct nnv_preparation *p, struct nnv_text *out) {
    if (!(nnv_device_limits(p->device) & NNVTS_LIMIT_CANNOT_BE_ASKED) || p->breach.kind != NNV_BREACH_NONE ||
        (p->status != NNVTS_STATUS_INVALID_ARGUMENT && p->status != NNVTS_STATUS_GENERAL_FAILURE))
        return false;
    nnv_text_add(out, "not implemented");
    nnv_add_last_error(p->device, p->status, out);
    return true;
}

void nnv_add_unsupported(const struct nnv_preparation *p, uint32_t most, struct nnv_text *out) {
    const char *before = "the driver does not support";
    for (uint32_t i = 0; i < p->abi->main.operation_count && most > 0; i++) {
        if (p->supported[i]) continue;
        most--;
        const int32_t code = p->abi->main.operations[i].type;
        const struct nnv_op *op = nnv_op(code);
        nnv_text_addf(out, "%s operation %u (", before, i);
        if (op)
            nnv_text_add(out, op->name);
        else
            nnv_text_addf(out, "code %d", code);
        nnv_text_add(out, ")");
        before = ",";
    }
    const char *words = nnv_device_last_error(p->device);
    if (words) nnv_text_addf(out, ": %s", words);
}

/** Takes what the call gave out; after damage or a breach nothing is. */
static bool take(struct nnv_preparation *p, uint64_t start, struct nnvts_prepared_model *prepared) {
    nnv_restore_thread();
    p->prepare_ns = nnv_now_ns() - start;
    if (constants_whole(p) && nnv_verify_prepared(p->status, prepared, &p->breach)) p->prepared = prepared;
    return p->prepared != NULL;
}

bool nnv_prepare(struct nnv_preparation *p) {
    struct nnvts_prepared_model *prepared = p->prepared = NULL;
    enter(p, NNV_PHASE_PREPARE, "prepare_model");
    const uint64_t start = nnv_now_ns();
    p->status = p->device->prepare_model(p->device, p->abi, p->config ? p->config : &nnv_prepare_config, &prepared);
    return take(p, start, prepared);
}

bool nnv_prepare_from_cache(struct nnv_preparation *p, const struct nnvts_cache *cache, uint64_t deadline_ns) {
    struct nnvts_prepared_model *prepared = p->prepared = NULL;
    enter(p, NNV_PHASE_PREPARE, "prepare_from_cache");
    const uint64_t start = nnv_now_ns();
    p->status = p->device->prepare_from_cache(p->device, cache, deadline_ns, &prepared);
    return take(p, start, prepared);
}
