#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 at any moment, then --resume, ends with the verdicts of an undisturbed run.
. "$(dirname "$0")/lib.sh"

DRIVER=faulty:crash-execute@SOFTMAX
FILTER='(op:SOFTMAX | op:ADD | op:CONV_2D) & !type:float16'

test_kill_and_resume() {
    check 1 nnvts run --driver $DRIVER --filter "$FILTER" --tier smoke --out whole
    local total killed=0 round pid
    total=$(wc -l <whole/cases.tsv)
    nnvts run --driver $DRIVER --filter "$FILTER" --tier smoke --out out >/dev/null 2>&1 </dev/null &
    pid=$!
    for round in $(seq 25); do
        sleep "0.0$((RANDOM % 9 + 1))"
        kill -9 $pid 2>/dev/null && killed=$((killed + 1))
        wait $pid 2>/dev/null || true
        nnvts run --driver $DRIVER --filter "$FILTER" --tier smoke --out out --resume >/dev/null 2>&1 </dev/null &
        pid=$!
    done
    wait $pid || true
    [ $killed -gt 2 ] || fail "killed only $killed times"
    same "$(verdicts out | wc -l)" "$total"
    diff <(verdicts whole) <(verdicts out) || fail "verdicts differ"
    check 1 nnvts run --driver $DRIVER --filter "$FILTER" --tier smoke --out out --resume
    same "$(verdicts out | wc -l)" "$total" "records after a resume of a finished run"
}
test_cut_last_line() {
    check 0 nnvts run --driver cpu --suite device --out out
    local total
    total=$(wc -l <out/cases.tsv)
    truncate -s -20 out/journal.jsonl
    check 0 nnvts run --driver cpu --suite device --out out --resume
    same "$(verdicts out | wc -l)" "$total"
}
# Verdicts of two builds, of the driver or of nnvts, never stand in one journal.
test_other_builds() {
    for part in driver program; do
        check 0 nnvts run --driver cpu --suite device --out out
        truncate -s -20 out/journal.jsonl
        unseal out
        sed -i "1s/\"$part\":\"[0-9a-f]*\"/\"$part\":\"0000000000000000\"/" out/journal.jsonl
        check 2 nnvts run --driver cpu --suite device --out out --resume
        has "$ERR" "--resume: the build of"
        has "$ERR" "verdicts of two builds don't mix"
    done
}
# Nor do verdicts on two versions of a spec.
test_other_specs() {
    mkdir specs
    cp "$ROOT"/tests/conformance/*.json* specs/
    check 0 nnvts run --driver cpu --suite device,spec --specs specs --out out
    truncate -s -20 out/journal.jsonl
    for file in specs/*; do break; done
    cp "$file" kept
    sed -i '1s/"name"/ "name"/' "$file"
    cmp -s "$file" kept && fail "$file is as it was"
    check 2 nnvts run --driver cpu --suite device,spec --specs specs --out out --resume
    has "$ERR" "verdicts on two versions of a spec don't mix"
    cp kept "$file"
    check 0 nnvts run --driver cpu --suite device,spec --specs specs --out out --resume
}
test_workers_die_with_nnvts() {
    nnvts run --driver faulty:hang-execute@ADD --filter op:ADD --timeout 60 --jobs 2 --out out >/dev/null 2>&1 </dev/null &
    local pid=$! workers w
    await eval '[ "$(pgrep -P $pid | wc -l)" -ge 2 ]'
    workers=$(pgrep -P $pid)
    kill -9 $pid
    wait $pid 2>/dev/null || true
    # a zombie is dead: whoever inherits it may be slow to reap it
    for w in $workers; do await eval '! grep -qs "^State:.[^ZX]" "/proc/$w/status"'; done
}
run_tests
