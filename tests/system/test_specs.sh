#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The public vectors, where NNVTS_SPECS names a folder of them: all pass on the reference, and on cpu unless unsupported.
. "$(dirname "$0")/lib.sh"

vectors() {
    [ -n "${NNVTS_SPECS:-}" ] || skip "NNVTS_SPECS is not set"
    check 0 nnvts run --driver "$1" --suite spec --precision "$2" --out out
    same "$(verdict out FAIL)" 0
    [ "$(verdict out PASS)" -gt 0 ] || fail "nothing passed"
    cat out/summary.json
}
test_reference_aosp() { vectors reference aosp; same "$(verdict out UNSUPPORTED)" 0; }
test_cpu_aosp() { vectors cpu aosp; }
test_reference_budget() { vectors reference budget; }
run_tests
