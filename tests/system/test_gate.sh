#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts gate: a driver against itself, a slower one, and drivers that do not take part. The machine may be busy: where it
# says so (exit code 4), that is right, too.
. "$(dirname "$0")/lib.sh"

NETWORK=mobilenet_v2_0.25_96_quant8
# gate CODE TESTED AGAINST ...: the exit code is CODE, or 4
gate() {
    local want=$1 tested=$2 against=$3 code=0
    shift 3
    nnvts gate -d "$tested" --against "$against" --model $NETWORK --pairs 256 "$@" >"$OUT" 2>"$ERR" || code=$?
    [ $code = 4 ] && skip "the machine is too noisy"
    same $code "$want" "$(cat "$OUT" "$ERR")"
}
test_no_difference() {
    gate 0 cpu cpu
    has "$OUT" "$NETWORK  cpu against cpu  seed 1"
    has "$OUT" "PASS: not slower by 5 %"
    has "$OUT" "control   cpu against itself"
    has "$OUT" "false alarms at most 1 in 100"
}
# A build of the same source is not slower; the path says which is meant.
test_two_files() {
    cp "$NNVTS_BUILD/drivers/cpu.so" before.so
    gate 0 ./before.so cpu --detect 20 --pairs 128
    has "$OUT" "./before.so against cpu"
}
test_a_planted_slowdown() {
    gate 1 faulty:slower faulty:none --margin 0.5
    has "$OUT" "SLOWER: by "
    has "$OUT" "more than 0.5 %"
    gate 0 faulty:none faulty:slower --pairs 128 # faster is not slower
}
test_json() {
    gate 0 cpu cpu --json --pairs 128 --detect 20
    python3 - "$OUT" <<'P' || fail "not the JSON of a gate"
import json, sys
j = json.load(open(sys.argv[1]))
assert j["form"] == "nnvts-gate-1" and j["verdict"] == "pass" and 0.8 < j["ratio"]["p50"]["value"] < 1.2, j
assert len(j["blocks"]) in (4, 8, 16) and j["tested"]["driver"] == "cpu" and j["detectable"] > 1, j
assert j["tested"]["executions"] == j["against"]["executions"] > 0, j
P
}
# The reference is far slower than any noise. One case of a suite is enough to see it.
test_a_case() {
    local code=0
    nnvts gate -d reference --against cpu --case "$(nnvts list -k 'ops/CONV_2D/float32/*' | sed -n 's/^\(ops[^ ]*\).*/\1/p' | head -n 1)" --pairs 128 >"$OUT" 2>"$ERR" || code=$?
    [ $code = 4 ] && skip "the machine is too noisy"
    same $code 1 "$(cat "$OUT" "$ERR")"
    has "$OUT" "SLOWER: by "
    has "$OUT" "ops/CONV_2D/float32/"
}
# Who stops it is told what was measured until then.
test_interrupted() {
    local seconds
    for seconds in 2.5 10 40; do # a machine that is busy begins later
        check 130 timeout --preserve-status -s INT $seconds nnvts gate -d cpu --against cpu --model $NETWORK --pairs 2048 --json
        ! grep -q interrupted "$ERR" || break
    done
    has "$ERR" "interrupted; what is told is of the "
    python3 - "$OUT" <<'P' || fail "not the JSON of a gate"
import json, sys
j = json.load(open(sys.argv[1]))
assert j["interrupted"] and j["verdict"] == "invalid" and "interrupted after" in j["why"] and j["detectable"] is None, j
assert j["seconds"] > 0
P
}
test_drivers_that_fail() {
    check 1 nnvts gate -d faulty:crash-execute@CONV_2D --against cpu --model $NETWORK
    has "$OUT" "faulty:crash-execute@CONV_2D: the driver died with SIGSEGV"
    check 1 nnvts gate -d faulty:hang-execute@CONV_2D --against cpu --model $NETWORK --timeout 0.5
    has "$OUT" "the driver did not end within "
    check 2 nnvts gate -d cpu --against sample:float-fast --model $NETWORK
    has "$OUT" "sample:float-fast: "
    has "$OUT" "operations are not supported"
}
test_refusals() {
    check 2 nnvts gate
    has "$ERR" "which driver?"
    check 2 nnvts gate -d cpu
    has "$ERR" "give --against NAME"
    check 2 nnvts gate -d cpu --against no_such_driver
    check 2 nnvts gate -d cpu --against cpu --pairs 8
    has "$ERR" "--pairs 8: expected 128 to 2048"
    check 2 nnvts gate -d cpu --against cpu --detect 1
    has "$ERR" "--detect 1 is not above --margin 1"
    check 2 nnvts gate -d cpu --against cpu --margin x
    check 2 nnvts gate -d cpu --against cpu --model no_such_network
    check 2 nnvts gate -d cpu --against cpu --case 'op:CONV_2D'
    has "$ERR" "one is needed"
    check 2 nnvts gate -d cpu --against cpu --case x --model y
    check 2 nnvts gate -d cpu --against cpu --case 'suite:device & name:*level*'
}
run_tests
