#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# host:NAME, a driver in a process of its own: the same verdicts, and a death that costs only what it must.
. "$(dirname "$0")/lib.sh"
try_nothing_again

# A default run has the verdicts of the driver itself, but for the cases that need a process to kill. (Of operations the
# smoke tier, in test_remote.sh over the same wire.)
test_same_verdicts_as_direct() {
    check 0 nnvts run --driver cpu --filter '!suite:ops' --out direct -q
    check 0 nnvts run --driver host:cpu --filter '!suite:ops' --out host -q
    same "$(diff <(verdicts direct) <(verdicts host) | grep '^[<>]' | grep -v isolation/client_killed)" "" "verdicts differ"
    grep -q '^isolation/client_killed/add_float32 PASS' <(verdicts host) || fail "no client was killed beside another"
    grep -q '^isolation/client_killed/add_float32 SKIP' <(verdicts direct) || fail "cpu has no process to kill"
}
test_any_driver() {
    local driver
    for driver in faulty:none reference sample:quant "$NNVTS_BUILD/drivers/cpu.so:threads=1"; do
        check 0 nnvts run --driver "host:$driver" --suite exec --tier smoke --out any -q
        hasnt any/summary.json '"PASS": 0'
    done
}
test_refusals() {
    check 2 nnvts run --driver host:no-such-driver --out none
    has "$ERR" "host:cpu"
    check 2 nnvts run --driver host:faulty:no-such-bug --out none
    has "$ERR" "expected BUG"
    echo "no library" >npu.so
    check 2 nnvts drivers host:./npu.so
    has "$ERR" "it cannot be loaded: "
    check 2 nnvts drivers "host:$NNVTS_BUILD/lib/libneuralnetworks.so"
    has "$ERR" "libneuralnetworks.so is no driver of ABI version 1"
}
# The driver's process dies, hangs or closes its files in cases of TANH: only these fail.
test_a_death_costs_its_case() {
    local bug
    check 0 nnvts run --driver host:cpu --suite ops --tier smoke --filter "$FEW" --out good -q
    for bug in crash-prepare crash-execute abort exit-0 close-descriptors; do
        check 1 nnvts run --driver "host:faulty:$bug@TANH" --suite ops --tier smoke --filter "$FEW" --out bad -q
        same "$(diff <(verdicts good) <(verdicts bad) | grep '^>' | grep -v '^> ops/TANH/')" "" "$bug: verdicts of others"
        [ "$(verdicts bad | grep -c '^ops/TANH/.* FAIL$')" -gt 0 ] || fail "$bug: no failure of TANH"
        grep -q DEAD_OBJECT bad/journal.jsonl || fail "$bug: not told as the death of the process"
    done
    check 1 nnvts run --driver host:faulty:crash-execute@TANH --filter 'op:TANH' --tier smoke --out bad
    grep -q 'was ended by signal' bad/journal.jsonl || fail "the journal does not tell how the process ended"
}
# A driver that dies of the question whether it supports a model has neither refused it, nor the same without the mistake.
test_who_dies_has_not_refused() {
    check 1 nnvts run --driver host:faulty:crash-supported@TANH --filter 'ops/TANH/*refused* | (suite:validate & op:TANH)' --out dies
    same "$(verdict dies UNSUPPORTED) $(verdict dies PASS)" "0 0"
    [ "$(verdict dies FAIL)" -gt 20 ] || fail "$(verdict dies FAIL) cases failed"
}
test_a_hang_ends_at_the_deadline() {
    check 1 nnvts run --driver host:faulty:hang-execute@TANH --filter 'ops/TANH/float32/rank1/0' --timeout 1 --out hang
    same "$(verdict hang TIMEOUT)" 1
}
# Host processes are killed while a run goes on: it ends, and few cases pay for it.
test_killed_mid_run() {
    command -v pgrep >/dev/null && command -v ps >/dev/null || skip "no pgrep and ps (package procps)"
    local run kills=0 pid code
    nnvts run --driver host:cpu --suite ops --out killed -q >"$OUT" 2>"$ERR" &
    run=$!
    while kill -0 $run 2>/dev/null && [ $kills -lt 5 ]; do
        for pid in $(pgrep -x nnvts-host); do
            # only those of this run: hosts are children of its workers
            [ "$(ps -o ppid= -p "$(ps -o ppid= -p "$pid" | tr -d ' ')" 2>/dev/null | tr -d ' ')" = "$run" ] || continue
            kill -9 "$pid" 2>/dev/null && kills=$((kills + 1))
        done
        sleep 0.1
    done
    code=0
    wait $run || code=$?
    [ $kills -gt 0 ] || skip "the run was over before a host could be killed"
    [ $code -le 1 ] || fail "exit code $code"
    same "$(verdict killed CRASH) $(verdict killed ERROR)" "0 0"
    [ "$(verdict killed FAIL)" -le $kills ] || fail "$(verdict killed FAIL) failures for $kills kills"
    [ "$(verdicts killed | wc -l)" = "$(nnvts list --suite ops | wc -l)" ] || fail "cases are missing"
}
run_tests
