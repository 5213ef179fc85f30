/* SPDX-License-Identifier: Apache-2.0 */
/** @file api.c The suite "api": an NNAPI library, called directly, by the letter of its interface. */
#include "harness/suites/api/api.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "harness/suites/kit/cases.h"

static const struct nnv_api_group *const groups[] = {
    &nnv_api_cases_refusals,    &nnv_api_cases_device,  &nnv_api_cases_operand, &nnv_api_cases_graph,
    &nnv_api_cases_life,        &nnv_api_cases_memory,  &nnv_api_cases_desc,    &nnv_api_cases_shapes,
    &nnv_api_cases_unspecified, &nnv_api_cases_flow,    &nnv_api_cases_qos,     &nnv_api_cases_cache,
    &nnv_api_cases_fence,       &nnv_api_cases_padding, &nnv_api_cases_threads,
};

/** What the header leaves open of what the case asks for; NULL: nothing. */
static const char *left_open(const char *name) {
    static const struct {
        const char *name, *what;
    } rows[] = {
#define X(name, what) {name, what},
#include "harness/suites/api/by_aosp.def"
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].what;
    return NULL;
}

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    (void)config;
    enum nnv_status st = NNV_OK;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (size_t i = 0; i < groups[g]->count && st == NNV_OK; i++) {
            const struct nnv_api_case *it = &groups[g]->cases[i];
            const char *tags = left_open(it->name) ? "by:aosp" : it->call ? "refusal" : it->timed ? NNV_TAG_TIMING : "";
            const struct nnv_case c = {.tags = tags, .a = g, .b = i};
            st = nnv_list_case(list, c, err, "api/%s", it->name);
        }
    return st;
}

/* --------------------------------------------------------------- expectations */

static void name_codes(unsigned wanted, struct nnv_text *t) {
    char buf[32];
    if (wanted == NNV_API_ERROR) {
        nnv_text_add(t, "an error");
        return;
    }
    for (int code = 0; code <= ANEURALNETWORKS_DEAD_OBJECT; code++)
        if (wanted & 1u << code) nnv_text_addf(t, "%s%s", t->len ? " or " : "", nnv_result_name(code, buf));
}

bool nnv_api_check(struct nnv_api *a, const char *text, int got, unsigned wanted) {
    char buf[32];
    if (got >= 0 && got < 32 && wanted & 1u << got) return nnv_expect(&a->s, true, "%s", "");
    struct nnv_text names = {0};
    name_codes(wanted, &names);
    nnv_expect_why(&a->s, false,
                   nnv_why_answered(got == ANEURALNETWORKS_NO_ERROR,
                                    wanted != NNV_API_ERROR && wanted & 1u << ANEURALNETWORKS_NO_ERROR),
                   "%s answered %s, expected %s", text, nnv_result_name(got, buf), names.data ? names.data : "");
    nnv_text_free(&names);
    return false;
}

bool nnv_api_lacks(struct nnv_api *a, const char *function) {
    return nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "the library has no ANeuralNetworks%s", function);
}

/** True if the runtime is of this feature level (1 to 8); else UNSUPPORTED. */
static bool api_needs_level(struct nnv_api *a, int level) {
    return a->level >= level ||
           nnv_context_decline(&a->s, NNVTS_WHY_FEATURE_LEVEL, "the library is of feature level %d; this asks for %d",
                               a->level, level);
}

/* --------------------------------------------------------------------- a case */

/** Feature level 1 to 8 of a FeatureLevelCode. */
static int level_of(int64_t code) {
    if (code >= ANEURALNETWORKS_FEATURE_LEVEL_6)
        return code > ANEURALNETWORKS_FEATURE_LEVEL_8 ? 8 : (int)(code - ANEURALNETWORKS_FEATURE_LEVEL_6) + 6;
    return code < ANEURALNETWORKS_FEATURE_LEVEL_1   ? 1
           : code > ANEURALNETWORKS_FEATURE_LEVEL_5 ? 5
                                                    : (int)(code - ANEURALNETWORKS_FEATURE_LEVEL_1) + 1;
}

/** A library that does not tell its level is of the highest whose functions it has. */
static int runtime_level(const struct nnvts_ndk *nn) {
    if (nn->_getRuntimeFeatureLevel) return level_of(nn->_getRuntimeFeatureLevel());
    return nn->_getMaximumLoopTimeout                   ? 4
           : nn->_getDeviceCount                        ? 3
           : nn->Model_relaxComputationFloat32toFloat16 ? 2
                                                        : 1;
}

static bool find_named(struct nnv_api *a, const char *name) {
    uint32_t count = 0;
    const char *is = NULL;
    if (!name) return true;
    if (!OK(_getDeviceCount, &count)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!OK(_getDevice, i, &a->named) || !OK(Device_getName, a->named, &is))
            return false;
        else if (is && strcmp(is, name) == 0)
            return true;
    return nnv_context_error(&a->s, "the library '%s' has no device '%s'", a->library, name);
}

static void refusal(struct nnv_api *a, const struct nnv_api_case *c) {
    void (*function)(void);
    memcpy(&function, (const char *)a->nn + c->function, sizeof function);
    if (!function) {
        nnv_context_decline(&a->s, NNVTS_WHY_FEATURE, "the library has no ANeuralNetworks%.*s",
                            (int)strcspn(c->name, "/"), c->name);
        return;
    }
    if (!nnv_api_advance(a, c->stage)) return;
    nnv_context_enter(&a->s, NNV_PHASE_EXECUTE);
    /* What cannot be made for the call has failed or is UNSUPPORTED already. */
    int got = c->call(a);
    if (a->s.result->verdict != NNVTS_PASS) return;
    if (!nnv_api_check(a, c->text, got, c->wanted) || !c->goes_on) return;
    /* That a refusal leaves a model as it was is not written down. */
    if (a->by_header && c->stage < NNV_API_FINISHED) return;
    nnv_api_advance(a, NNV_API_COMPUTED);
}

static void run_on(struct nnv_api *a, const struct nnv_api_library *library, const struct nnv_api_case *c) {
    a->c = c;
    a->nn = &library->nn;
    a->library = library->path;
    a->is_sl = library->is_sl;
    a->by_header = library->by_header;
    a->level = library->level ? library->level : runtime_level(a->nn);
    nnv_context_enter(&a->s, NNV_PHASE_EXECUTE);
    if (find_named(a, library->device) && (c->level == 0 || api_needs_level(a, c->level))) {
        if (c->run)
            c->run(a);
        else
            refusal(a, c);
    }
    nnv_context_enter(&a->s, NNV_PHASE_RELEASE);
    nnv_api_free_all(a);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_api_library library = {0};
    struct nnv_err err = {0};
    struct nnv_api *a = NNV_NEW(env->arena, struct nnv_api, 1);
    if (!a) {
        nnv_text_add(&result->reason, NNV_OUT_OF_MEMORY);
        return;
    }
    nnv_context_begin(&a->s, env, result);
    nnv_context_enter(&a->s, NNV_PHASE_OPEN);
    if (c->a >= sizeof groups / sizeof *groups || c->b >= groups[c->a]->count)
        nnv_context_error(&a->s, "there is no such case");
    else if (!nnv_client_is_library(env->config->driver))
        nnv_context_decline(&a->s, NNVTS_WHY_NOT_APPLICABLE,
                            "a driver is no NNAPI library: --driver ndk:PATH or sl:PATH names one, --via "
                            "runtime puts the driver behind one");
    else if (nnv_api_library_open(env->config, &library, &err) != NNV_OK)
        nnv_context_error(&a->s, "%s", err.text);
    else if (library.by_header && left_open(groups[c->a]->cases[c->b].name)) {
        nnv_context_decline(&a->s, NNVTS_WHY_NOT_PROMISED,
                            "asks for more than the header says: %s (--conformance aosp)",
                            left_open(groups[c->a]->cases[c->b].name));
    } else
        run_on(a, &library, &groups[c->a]->cases[c->b]);
    nnv_api_library_close(&library);
    nnv_context_end(&a->s);
}

const struct nnv_suite nnv_suite_api = {
    .name = "api",
    .summary = "an NNAPI library by the letter: every function with every argument wrong, states, threads, memory",
    .precision = NNV_PRECISION_NNAPI,
    .for_libraries = true,
    .list = list,
    .run = run,
};
