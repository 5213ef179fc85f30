#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The API tests of Android's CTS, a client that others wrote, pass on our libneuralnetworks.so, whoever computes. They
# are a program beside the project: NNVTS_TARGETS is its folder.
. "$(dirname "$0")/lib.sh"

LIBRARY=$NNVTS_BUILD/lib/libneuralnetworks.so
CLIENT=${NNVTS_TARGETS:-}/aosp_api_tests
export NNVTS_LOG=0

# The run-time of the sanitizer that the library is built with, which a program without it must load first.
sanitizer() {
    local name
    for name in asan tsan; do
        if nm -D --undefined-only "$LIBRARY" | grep -q "__${name}_"; then gcc -print-file-name="lib$name.so"; fi
    done
}

# passes [DRIVERS]: all tests, with these devices
passes() {
    [ -n "${NNVTS_TARGETS:-}" ] || skip "NNVTS_TARGETS is not set"
    [ -x "$CLIENT" ] || skip "no aosp_api_tests in NNVTS_TARGETS"
    check 0 env ${1+NNVTS_DRIVERS="$1"} LD_LIBRARY_PATH="$NNVTS_BUILD/lib" LD_PRELOAD="$(sanitizer)" \
        TSAN_OPTIONS=report_thread_leaks=0:halt_on_error=1:exitcode=66 \
        "$CLIENT" --gtest_brief=1 --gtest_filter=-GoogleTestVerification.*
    has "$OUT" "[  PASSED  ] 634 tests."
}

test_the_default_drivers() { passes; }
test_the_reference_alone() { passes ''; }
test_four_drivers() { passes sample:float-fast,sample:quant,sample:minimal,cpu; }
test_a_driver_in_another_process() { passes host:cpu; }

run_tests
