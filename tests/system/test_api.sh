#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The suite api: it passes on the project's NNAPI library in all its forms, and finds each bug of planted_runtime.tsv.
. "$(dirname "$0")/lib.sh"
try_nothing_again
TABLE=$ROOT/tests/system/planted_runtime.tsv
LIBRARY=$NNVTS_BUILD/lib/libneuralnetworks.so
FAULTY=$NNVTS_BUILD/lib/libneuralnetworks-faulty.so
LAWFUL=$NNVTS_BUILD/lib/libneuralnetworks-lawful.so
export NNVTS_LOG=0

# verdict_of DIR CASE
verdict_of() { verdicts "$1" | sed -n "s|^$2 ||p"; }

test_the_library_passes() {
    local drivers
    for drivers in cpu reference host:cpu sample:level-1.2 sample:level-1.0 cpu,sample:level-1.0 ''; do
        NNVTS_DRIVERS=$drivers check 0 nnvts run --conformance aosp --driver "ndk:$LIBRARY" --suite api --out "out$drivers"
        same "$(verdict "out$drivers" FAIL)" 0 "$drivers"
    done
    [ "$(verdict outcpu PASS)" -ge 760 ] || fail "fewer than 760 cases pass"
}
test_a_named_device_passes() {
    check 0 nnvts run --conformance aosp --driver "ndk:$LIBRARY#nnapi-reference" --suite api --out out
    check 2 nnvts run --driver "ndk:$LIBRARY#nobody" --suite api --filter 'api/Model_finish/twice' --out none
}
test_the_support_library_passes() {
    check 0 nnvts run --conformance aosp --driver "sl:$LIBRARY" --suite api --out out
    same "$(verdict_of out api/Execution_startCompute/null_event)" UNSUPPORTED
    same "$(verdict_of out api/Execution_compute/again)" PASS
}
test_a_driver_behind_the_runtime_passes() {
    check 0 nnvts run --driver cpu --via runtime --suite api --out out
    [ "$(verdict out PASS)" -ge 760 ] || fail "fewer than 760 cases pass"
}
# A device of HAL 1.0 has no cache: nothing is said of files that are not there.
test_a_device_without_cache() {
    local drivers=sample:level-1.0
    NNVTS_DRIVERS=$drivers check 0 nnvts run --driver "ndk:$LIBRARY" --suite api --filter 'api/c*/*' --out out
    same "$(verdict_of out api/cache/files_by_token)" UNSUPPORTED
    same "$(verdict_of out api/cache/files_by_settings)" UNSUPPORTED
}
# A driver is no library: nothing is asked, which proves nothing.
test_a_driver_is_no_library() {
    check 1 nnvts run --driver cpu --suite api --out out
    has out/journal.jsonl 'a driver is no NNAPI library'
    same "$(verdict out PASS)" 0
}
# Part of a run without --suite only where there is a library.
test_default_runs() {
    check 0 nnvts run --conformance aosp --driver "ndk:$LIBRARY" --filter 'api/Model_finish/twice' --out out
    check 0 nnvts run --driver cpu --via runtime --filter 'api/Model_finish/twice' --out out
    check 2 nnvts run --driver cpu --filter 'api/Model_finish/twice' --out none
    has "$ERR" 'no case is selected'
}
# A library of feature level 1, whose functions are few and careless, is asked for no more than it has.
test_an_old_library_is_asked_for_no_more() {
    nnvts run --driver "ndk:$NNVTS_BUILD/tests/toy_old.so" --suite api --out out >/dev/null 2>&1 || true
    same "$(verdict_of out api/Burst_create/null_burst)" UNSUPPORTED
    same "$(verdict_of out api/while/counts)" SKIP
    same "$(verdict_of out api/computes/add_two)" PASS
    same "$(verdict_of out api/Model_create/null)" CRASH
    same "$(verdict out ERROR)" 0
}

bugs() { grep -v '^#' "$TABLE"; }

# Everything else is as it was: a crash or a hang costs one case.
test_every_planted_bug_is_caught() {
    local bug name verdict seconds i code
    while IFS=$'\t' read -r bug name verdict; do
        # two loops that end after 2 s each are to end before their case does, on a machine that is busy, too
        [ "$verdict" = TIMEOUT ] && seconds=4 || seconds=30
        for i in 1 2 3; do # two computations at once are more than a busy machine always lets a case have
            code=0
            NNVTS_DRIVERS=cpu,sample:level-1.0 NNVTS_RUNTIME_BUG=$bug nnvts run --conformance aosp \
                --driver "ndk:$FAULTY" --suite api --timeout $seconds --out planted >"$OUT" 2>"$ERR" || code=$?
            [ $code = 0 ] && [ "$(verdict_of planted "$name")" = SKIP ] || break
        done
        same "$code" 1 "$bug"
        same "$(verdict_of planted "$name")" "$verdict" "$bug"
        [ "$(verdict planted PASS)" -ge 400 ] || fail "$bug: fewer than 400 cases pass"
    done < <(bugs)
}
test_at_least_15_bugs() { [ "$(bugs | cut -f 1 | sort -u | wc -l)" -ge 15 ] || fail "fewer than 15 planted bugs"; }
# The table has the bugs of the source, and the library without a bug passes.
test_no_false_alarm() {
    local bug
    for bug in $(bugs | cut -f 1); do grep -q "\"$bug\"" "$ROOT/tests/nnapi/faulty.c" || fail "no bug '$bug'"; done
    for bug in $(grep -o '\(has\|excuse\)("[a-z0-9-]*"' "$ROOT/tests/nnapi/faulty.c" | cut -d '"' -f 2); do
        bugs | cut -f 1 | grep -qx -- "$bug" || fail "bug '$bug' is in no row of the table"
    done
    NNVTS_DRIVERS=cpu,sample:level-1.0 NNVTS_RUNTIME_BUG= check 0 nnvts run --conformance aosp --driver "ndk:$FAULTY" --suite api --out out
    [ "$(verdict out PASS)" -ge 760 ] || fail "fewer than 760 cases pass"
}
# What the header leaves open is asked of no other library: one that does otherwise everywhere is not blamed, by any suite.
test_by_the_header() {
    export NNVTS_DRIVERS=cpu
    check 0 nnvts run --driver "ndk:$LAWFUL" --suite api --out header
    same "$(verdict_of header api/Model_setOperandValue/near_miss_again)" SKIP
    has header/journal.jsonl "asks for more than the header says: nothing says that a value may be set twice"
    check 0 nnvts run --driver "ndk:$LAWFUL" --tier smoke --out smoke
    [ "$(verdict smoke PASS)" -ge 9000 ] || fail "few cases pass"
    # it does do otherwise, in each of these cases
    check 1 nnvts run --driver "ndk:$LAWFUL" --conformance aosp --filter tag:by:aosp --out more
    same "$(verdict more PASS)" 0
    check 0 nnvts run --driver "ndk:$LIBRARY" --conformance aosp --filter tag:by:aosp --out ours
    same "$(verdict ours PASS)" "$(grep -c '^X(' "$ROOT/harness/suites/api/by_aosp.def")"
}
run_tests
