#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts contract: what a driver did it must go on doing.
. "$(dirname "$0")/lib.sh"

# What passed is meant, and nothing else: a run keeps the contract that is written from it.
test_kept() {
    check 0 nnvts run --driver sample:conditions --suite ops --filter 'ops/ADD/* | ops/MUL/* | ops/ABS/*' --tier smoke --out good --quiet
    check 0 nnvts contract write good -o c.json
    has c.json '"ops/ABS/*"'
    hasnt c.json '"ops/ADD/*"'
    hasnt c.json '"ops/MUL/*"'
    check 0 nnvts contract check c.json good
    has "$OUT" "kept: $(verdict good PASS) cases and 0 models are meant, 0 findings"
}
test_lost_support() {
    check 0 nnvts run --driver cpu --suite ops --filter 'ops/ADD/*' --tier smoke --out good --quiet
    check 0 nnvts contract write good -o c.json
    has c.json '"ops/ADD/*"'
    check 0 nnvts run --driver sample:conditions --suite ops --filter 'ops/ADD/*' --tier smoke --out new --quiet
    check 1 nnvts contract check c.json new
    grep -Eq '^BROKEN ADD float32: [0-9]+ of [0-9]+ cases are not answered any more: ops/ADD/float32/.*does not support' "$OUT" || fail "no lost support"
    same "$(grep -c ^BROKEN "$OUT")" 5 "a line for each type"
    check 1 nnvts contract check c.json new --json
    has "$OUT" '{"kept":false,'
}
test_wrong_answers() {
    check 0 nnvts run --driver cpu --suite ops --filter 'ops/SOFTMAX/*' --tier smoke --out good --quiet
    check 0 nnvts contract write good -o c.json
    check 1 nnvts run --driver faulty:beta-ignored --suite ops --filter 'ops/SOFTMAX/*' --tier smoke --out new --quiet
    check 1 nnvts contract check c.json new
    has "$OUT" "cases go wrong"
    check 0 nnvts expect update new -o known.json
    check 0 nnvts report new --expect known.json
    check 0 nnvts contract check c.json new
}
# Less of a network on the driver.
test_models() {
    check 0 nnvts run --driver cpu --suite ops --filter 'ops/ADD/float32/*' --tier smoke --out good --quiet
    check 0 nnvts contract write good --model mobilenet_v2_0.25_32_quant8 -o c.json
    has c.json '"on_device": 1'
    check 0 nnvts contract check c.json good
    check 0 nnvts run --driver sample:minimal --suite ops --filter 'ops/ADD/float32/*' --tier smoke --out new --quiet
    check 1 nnvts contract check c.json new
    has "$OUT" "BROKEN mobilenet_v2_0.25_32_quant8: 0 of 66 operations are on the driver (0 %), expected 100 %; left to the CPU: CONV_2D"
}
test_by_hand() {
    check 0 nnvts run --driver cpu --suite ops --filter 'ops/ADD/float32/*' --tier smoke --out good --quiet
    echo '{"format": "nnvts-contract/1", "cases": ["op:ADD & type:float32"]}' >c.json
    check 0 nnvts contract check c.json good
    echo '{"format": "nnvts-contract/1", "cases": ["op:ADD & type:float16"]}' >c.json
    check 1 nnvts contract check c.json good
    has "$OUT" "means no case of the run"
    echo '{"format": "nnvts-contract/1", "tier": "full", "cases": ["op:ADD"]}' >c.json
    check 2 nnvts contract check c.json good
    has "$ERR" "run --tier full"
    echo '{"format": "nnvts-contract/1", "cases": ["op:ADD &"]}' >c.json
    check 2 nnvts contract check c.json good
    has "$ERR" "c.json: cases[0]"
    echo '{"format": "nnvts-contract/1", "models": [{"model": "x"}]}' >c.json
    check 2 nnvts contract check c.json good
    echo '{}' >c.json
    check 2 nnvts contract check c.json good
    has "$ERR" "is no contract"
    check 2 nnvts contract check c.json
    check 2 nnvts contract
}

run_tests
