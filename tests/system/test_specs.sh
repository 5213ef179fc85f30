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
# Less than one in ten of the float32 and quant8 vectors may be unsupported by cpu.
test_cpu_supports() {
    vectors cpu aosp 'type:float32 | type:quant8_asymm*'
    [ $(($(verdict out UNSUPPORTED) * 10)) -le "$(verdict out PASS)" ] || fail "$(cat out/summary.json)"
}
run_tests
