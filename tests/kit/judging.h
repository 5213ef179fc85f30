/* SPDX-License-Identifier: Apache-2.0 */
/** @file judging.h A fake driver that is open while a test runs, and the verdicts on what it answers. */
#ifndef KIT_JUDGING_H
#define KIT_JUDGING_H

#include "harness/runner/suite.h"
#include "nnvts/result.h"
#include "tests/kit/arena.h"
#include "tests/kit/fake_driver.h"

/** Between start_judging() and end_judging(); beside them the arena of tests/kit/arena.h. */
extern struct nnv_arena *case_arena;
extern struct nnv_client client;
extern struct nnv_result result;

int start_judging(void **state);
int end_judging(void **state);

/** The verdict on a spec; `result` has the rest. */
int judge_at(const struct nnv_spec *spec, int level, enum nnv_precision precision);
int judge(const struct nnv_spec *spec, enum nnv_precision precision);

/** The last result's reason contains that. */
void assert_reason(const char *part);

#endif
