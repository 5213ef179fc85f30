#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bugs planted in the faulty driver fail a run, are named in the reports, and leave a dump that reproduces them.
. "$(dirname "$0")/lib.sh"
try_nothing_again

# The bug fails the cases of some operations, the first replay line reproduces it, and its dump passes on cpu. A bug of the device as a
# whole leaves no dump; a driver that supports nothing fails since nothing was compared.
judge_bug() {
    local bug=$1 dump line
    check 1 nnvts run -v --driver "faulty:$bug" --suite device,ops --tier smoke --timeout 1 --out "$bug" \
        --filter 'suite:device | op:TANH | op:SOFTMAX | op:CONV_2D | op:IF'
    has "$bug/junit.xml" "faulty:$bug"
    has "$bug/report.html" "faulty:$bug"
    line=$(sed -n 's/.*"replay": *"\([^"]*\)".*/\1/p' "$bug/journal.jsonl" | head -n 1)
    if [ -z "$line" ]; then
        has "$bug/summary.json" '"compared": 0,'
        return
    fi
    # a bug that does not show every time may not show in a replay
    case $bug in random-nan | nondeterministic)
        grep -q '"again": *"PASS"' "$bug/journal.jsonl" || fail "$bug: no replay line is said to pass"
        has "$OUT" "(tried: PASS, so it does not fail every time)"
        has "$bug/report.html" "tried: PASS, so it does not fail every time"
        return
        ;;
    esac
    # every replay line of another that was tried failed as its case did
    sed -n 's/.*"verdict": *"\([A-Z]*\)".*"again": *"\([A-Z]*\)".*/\1 \2/p' "$bug/journal.jsonl" | sort -u >tried
    [ -s tried ] || [ ! -d "$bug/dumps" ] || fail "$bug: nothing was tried"
    awk '$1 != $2 { exit 1 }' tried || fail "$bug: replays ended otherwise: $(cat tried)"
    check 1 bash -c "$line --timeout 1"
    dump=$(ls "$bug"/dumps/*.json 2>/dev/null | head -n 1)
    # of control flow cpu knows nothing
    local good=cpu
    case $bug in wrong-branch | last-iteration-missing) good=reference ;; esac
    [ -z "$dump" ] || check 0 nnvts replay "$dump" --driver $good
    rm -rf "$bug"
}
# One of each kind; test_audit.sh runs all of them.
test_replays() {
    local bug
    for bug in beta-ignored dilation-ignored low-bit-dropped wrong-branch nondeterministic random-nan guard-write-after \
        constant-modified wrong-output-shape claims-but-fails refuses-everything nameless crash-release exit-0 \
        hang-execute close-descriptors heap-smash stops-itself out-of-memory out-of-descriptors; do judge_bug "$bug"; done
}
test_the_control_passes() { check 0 nnvts run --driver faulty:none --tier smoke --out out; }
# A driver that misbehaves on one operation costs exactly the cases of that operation. (Suites that mix operations in
# models or lay hands on their memory can't tell.)
test_costs_exactly_its_own_cases() {
    check 0 nnvts run --driver cpu --suite device,exec,ops --tier smoke --filter "$FEW" --out good
    local bug
    for bug in crash-prepare crash-execute abort exit-0 hang-execute close-descriptors stack-smash stops-itself out-of-memory \
        out-of-descriptors; do
        check 1 nnvts run --driver "faulty:$bug@TANH" --suite device,exec,ops --tier smoke --filter "$FEW" --timeout 1 --out bad
        same "$(diff <(verdicts good) <(verdicts bad) | grep '^>' | grep -Ev '^> ((ops|exec/again|exec/at_once)/TANH/|exec/at_once/chain/[^ ]*tanh)')" "" "$bug: verdicts of others changed"
        [ "$(verdicts bad | grep -c '^ops/TANH/.* \(CRASH\|TIMEOUT\|FAIL\)$')" -gt 0 ] || fail "$bug: no verdict on TANH"
        same "$(verdicts bad | wc -l)" "$(verdicts good | wc -l)"
    done
}
# Two threads that execute a model at once; one of them after the other, as before, finds nothing.
test_scratch_that_is_shared() {
    check 1 nnvts run --driver faulty:scratch-shared --suite exec --filter 'exec/at_once/*' --flakes 0 --out out
    [ "$(verdict out FAIL)" -gt 50 ] || fail "only $(verdict out FAIL) cases of operations fail"
    check 0 nnvts run --driver faulty:scratch-shared --suite exec --filter 'exec/again/*' --out out
}
# A case that fails waits for what it launched: an execution that is left behind a fence would end in a later case.
test_failing_cases_leave_nothing_behind() {
    check 1 nnvts run --driver faulty:zero-point-off-by-one --suite exec --filter 'exec/fenced/chained/*' --repeat 20 --flakes 0 --out out
    [ "$(verdict out FAIL)" -gt 1 ] || fail "only $(verdict out FAIL) cases fail"
    verdicts out | grep -Ev ' (PASS|FAIL)$' && fail "worse than a wrong value" || :
}
run_tests
