#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Libraries of feature level 1 to 5 (the project's own, built so): each passes all that can be asked of it.
. "$(dirname "$0")/lib.sh"

# level N CASES: more than so many pass
level() {
    check 0 nnvts run --driver "ndk:$NNVTS_BUILD/tests/level_$1/libneuralnetworks.so" --out "level_$1" -q
    same "$(verdict "level_$1" FAIL) $(verdict "level_$1" CRASH) $(verdict "level_$1" TIMEOUT)" "0 0 0" "level $1"
    [ "$(verdict "level_$1" PASS)" -gt "$2" ] || fail "level $1: $(verdict "level_$1" PASS) cases passed"
    has "level_$1/journal.jsonl" "\"level\":$1}"
}
test_level_1() {
    level 1 8000
    has level_1/journal.jsonl "without functions of level 2: Model_relaxComputationFloat32toFloat16"
    hasnt level_1/journal.jsonl "had claimed"
    grep -A 99 '"implemented"' level_1/summary.json | grep -B 99 '"not_implemented"' | grep -q '"ADD": \[.*"float32"' || fail "ADD is not listed"
}
test_level_2() { level 2 10000; }
test_level_3() { level 3 40000; }
test_level_4() { level 4 60000; }
test_level_5() { level 5 60000; }

# The level can be told, too.
test_told() {
    local library=ndk:$NNVTS_BUILD/lib/libneuralnetworks.so
    check 0 nnvts run --driver "$library:level=2" --filter 'ops/ADD/float16/*|ops/ADD/float32/rank1/*' --out told -q
    has told/journal.jsonl '"level":2}'
    has told/journal.jsonl "needs feature level 3, the driver has 2"
}
# Values by pointers need no memory of the library.
test_pointers() {
    check 0 nnvts run --driver "ndk:$NNVTS_BUILD/lib/libneuralnetworks.so:pointers" --suite ops --tier smoke --filter 'op:CONV_2D|op:ADD' --out pointers -q
    check 1 env TOY_LIE=memory-nothing nnvts run --driver "ndk:$NNVTS_BUILD/tests/toy.so#toy-a" --filter ops/ADD/float32/rank1/0 --out memory -q
    has "$OUT" "ANeuralNetworksMemory_createFromFd"
    check 0 env TOY_LIE=memory-nothing nnvts run --driver "ndk:$NNVTS_BUILD/tests/toy.so#toy-a:pointers" --filter ops/ADD/float32/rank1/0 --out memory -q
}
run_tests
