#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The public vectors, where NNVTS_SPECS names a folder of them: all pass on the reference, and on cpu unless unsupported.
. "$(dirname "$0")/lib.sh"

vectors() {
    [ -n "$SPECS" ] || skip "NNVTS_SPECS is not set"
    check 0 nnvts run --driver "$1" --suite spec --specs "$SPECS" --precision "$2" --filter "${3:-*}" --out out
    same "$(verdict out FAIL)" 0
    [ "$(verdict out PASS)" -gt 0 ] || fail "nothing passed"
}
test_reference_aosp() { vectors reference aosp; same "$(verdict out UNSUPPORTED)" 0; }
test_cpu_aosp() { vectors cpu aosp; }
# LSH_PROJECTION hashes bytes: behind an operation that may round, no result is certain, and budgets compare nothing.
test_reference_budget() { vectors reference budget '!*lsh_projection*'; }
test_cpu_budget() { vectors cpu budget '!*lsh_projection*'; }
# What cpu says it does not support is never an operation of feature level 1.
test_cpu_supports_level_1() {
    vectors cpu aosp
    local name
    for name in $(nnvts op | awk '$2 == "level" && $3 == 1 {print $1}'); do
        ! grep -q "does not support operation [0-9]* ($name)" out/journal.jsonl || fail "$name is not supported"
    done
}
run_tests
