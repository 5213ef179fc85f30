#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The runner of tests: what it counts, and what it leaves out where no time is left.
. "$(dirname "$0")/lib.sh"

program() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
run() { check "$1" env -u NNVTS_TEST_UNTIL -u NNVTS_TEST_RUNNER "${@:2}"; }
PASSES='echo "[  PASSED  ] 2 test(s)."'

test_counts() {
    program good "$PASSES"
    program bad 'echo "[  PASSED  ] 1 test(s)."; echo "[  FAILED  ] 1 test(s)."; exit 1'
    program dead 'exit 3'
    program empty 'exit 0'
    run 0 "$ROOT/tools/run-tests.sh" . ./good
    same "$(tail -n 1 "$OUT")" "2 passed, 0 failed, 0 skipped"
    run 1 "$ROOT/tools/run-tests.sh" . ./good ./bad ./dead ./empty
    same "$(tail -n 1 "$OUT")" "3 passed, 3 failed, 0 skipped"
    has "$OUT" "no test ran"
}

test_no_time_is_left() {
    local now
    program good "$PASSES"
    program slow 'echo "[       OK ] first (0 s)"; exec sleep 60'
    program wrong 'echo "[  FAILED  ] first (0 s)"; exec sleep 60'
    now=$(date +%s)
    run 1 NNVTS_TEST_UNTIL="$now" "$ROOT/tools/run-tests.sh" . ./good # nothing was tested
    same "$(tail -n 1 "$OUT")" "0 passed, 0 failed, 1 skipped"
    has "$OUT" "skipped: no time was left"
    run 0 NNVTS_TEST_UNTIL=$(($(date +%s) + 2)) NNVTS_TEST_GRACE=1 NNVTS_TEST_JOBS=2 "$ROOT/tools/run-tests.sh" . ./good ./slow
    same "$(tail -n 1 "$OUT")" "3 passed, 0 failed, 1 skipped"
    has "$OUT" "skipped: all but what had ended"
    run 1 NNVTS_TEST_UNTIL=$(($(date +%s) + 2)) NNVTS_TEST_GRACE=1 NNVTS_TEST_JOBS=2 "$ROOT/tools/run-tests.sh" . ./good ./wrong
    same "$(tail -n 1 "$OUT")" "2 passed, 1 failed, 1 skipped"
}

run_tests
