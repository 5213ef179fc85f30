#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NNAPI libraries that others wrote, where NNVTS_TARGETS has them: what fails is in docs/use/findings-libraries.md.
. "$(dirname "$0")/lib.sh"
try_nothing_again

# library PATH: the library below NNVTS_TARGETS
library() {
    [ -n "${NNVTS_TARGETS:-}" ] || skip "NNVTS_TARGETS is not set"
    [ -e "$NNVTS_TARGETS/$1/libneuralnetworks.so" ] || skip "no library in NNVTS_TARGETS/$1"
    LD_LIBRARY_PATH=$NNVTS_TARGETS/$1 DRIVER=ndk:$NNVTS_TARGETS/$1/libneuralnetworks.so
    export LD_LIBRARY_PATH
}
# bugs RUN MOST: at most so many, with a reason of its own in the closed list
bugs() {
    local n
    n=$(sed -n 's/.*"bugs": *\([0-9]*\).*/\1/p' "$1/summary.json" | head -n 1)
    [ "${n:-0}" -gt 0 ] && [ "$n" -le "$2" ] || fail "$n bugs, at most $2 were known"
    hasnt "$1/journal.jsonl" '"verdict":"ERROR"'
}
# each spec of the folder fails on the library
findings_fail() {
    local spec
    for spec in "$ROOT/tests/findings/$1"/*.json; do
        check 1 nnvts replay "$spec" --driver "$DRIVER"
    done
}
test_aosp() {
    library aosp
    findings_fail aosp
    check 1 nnvts run --driver "$DRIVER" --tier smoke --arithmetic android --out android
    bugs android 12
    # Nothing is wrong but what the page lists.
    sed -n 's/.*"case":"\([^"]*\)".*"verdict":"FAIL".*"why":"VALUES".*/\1/p' android/journal.jsonl >values
    ! grep -Ev '/LSTM/|SEQUENCE_LSTM|QUANTIZED_LSTM|LOCAL_RESPONSE|ROI_ALIGN|partition|randgraph' values || fail "not in the page"
}
# The same library as a Support Library, of which one device is named.
test_aosp_sl() {
    library aosp
    DRIVER=sl:${DRIVER#ndk:}
    findings_fail aosp_sl
    check 1 nnvts run --driver "$DRIVER" --tier smoke --arithmetic android --out android
    bugs android 14
}
test_onert() {
    library onert/shared_memory
    findings_fail onert
    # nobody asks it for graphs that are above its level
    check 1 nnvts run --driver "$DRIVER" --suite partition --filter 'partition/rnn/*' --out parts -q
    same "$(verdict parts CRASH)" 0
    check 1 nnvts run --driver "$DRIVER" --tier smoke --out out
    has "$OUT" "it cannot be asked what it supports: it computes"
    has out/report.html "cannot be asked what it supports"
    has out/summary.json '"SVDF": ["float32"]'
    bugs out 30
    sed -n 's/.*"case":"\([^"]*\)".*"verdict":"FAIL".*"why":"VALUES".*/\1/p' out/journal.jsonl >values
    local name
    grep -Ev 'LOGISTIC|logistic|AVERAGE_POOL|MAX_POOL' values >graphs || return 0
    while read -r name; do goes_wrong_by out "$name" "$DRIVER" 'LOGISTIC|AVERAGE_POOL_2D|MAX_POOL_2D'; done <graphs
}
run_tests
