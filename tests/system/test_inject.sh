#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sample of make inject: where a call of the C library fails, nnvts says so, and changes no verdict.
. "$(dirname "$0")/lib.sh"

sample() {
    [ -f "$NNVTS_BUILD/tests/inject.so" ] || skip "no inject.so"
    INJECT_POINTS=$1 INJECT_VERBS=$2 check 0 timeout 300 "$ROOT/tests/inject/inject.sh"
    has "$OUT" " points, 0 wrong"
}
test_run() { sample 1 run; }
test_reading() { sample 2 "report anew verify unpack pack expect"; }
test_again() { sample 3 replay; }
# Each text that a verb makes.
test_texts() { INJECT_FUNCTIONS=realloc sample 100 "compare replay anew"; }
test_compile_and_bench() { sample 3 "compile bench"; }

run_tests
