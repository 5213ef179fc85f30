#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Failures that are kept as regression tests.
. "$(dirname "$0")/lib.sh"
try_nothing_again

# The regression says where it comes from, passes where the driver is right, fails where it is not.
test_dump_of_a_run() {
    check 1 nnvts run --driver faulty:dilation-ignored --suite ops --filter 'op:CONV_2D & type:float32' --seed 3 --out run
    local dump
    dump=$(find run/dumps -name '*.json' | sort | head -n 1)
    check 0 nnvts promote "$dump" --as dilated --to kept
    has "$OUT" "run it: nnvts run --driver DRIVER --suite spec --specs kept"
    has kept/dilated.json '"name": "dilated"'
    has kept/dilated.json "\"source\": \"promoted from $(basename "$dump"); ops/CONV_2D/"
    has kept/dilated.json ", seed 3, driver faulty:dilation-ignored: FAIL: output 0"
    hasnt kept/dilated.json '"actual"'
    hasnt kept/dilated.json '"bounds"'
    check 0 nnvts promote "$dump" --to kept -q
    [ ! -s "$OUT" ] || fail "--quiet speaks"
    [ -s "kept/$(basename "$dump")" ] || fail "it is not called as the dump"
    check 0 nnvts run --driver reference --suite spec --specs kept --out right
    same "$(verdict right PASS)" 2
    check 1 nnvts run --driver faulty:dilation-ignored --suite spec --specs kept --out wrong
    same "$(verdict wrong FAIL)" 2
    # What is kept is not written over.
    check 2 nnvts promote "$dump" --as dilated --to kept
    has "$ERR" "kept/dilated.json is there already: choose another name with --as"
    # The reduced form of a dump knows its run, too; a dump elsewhere says as much as it can.
    cp "$dump" "${dump%.json}.reduced.json"
    check 0 nnvts promote "${dump%.json}.reduced.json" --as small --to kept
    has kept/small.json ", seed 3, driver faulty:dilation-ignored: FAIL"
    mkdir elsewhere
    cp "$dump" elsewhere/x.json
    check 0 nnvts promote elsewhere/x.json --to kept
    has kept/x.json '"source": "promoted from x.json'
}
test_finding_of_the_fuzzer() {
    check 1 nnvts fuzz --driver faulty:fuzz-rank --inputs 10000 --time 15 --out found
    local finding
    finding=$(find found -name '*.json' | sort | head -n 1)
    [ -n "$finding" ] || skip "no finding is a spec"
    check 0 nnvts promote "$finding" --as rank --to kept
    has kept/rank.json "driver faulty:fuzz-rank --replay"
    has kept/rank.json '"expect_failure": true'
    cp "$ROOT/tests/conformance/example.json" kept # models to refuse alone prove nothing
    check 0 nnvts run --driver reference --suite spec --specs kept --out right
}
# What the fuzzer gives to a driver at once may be several models; a spec is one.
test_inputs_of_the_fuzzer() {
    local input='base operation ADD sig 0 variant 0 mode normal index 0 seed 1'
    echo "$input" >one.fuzz
    check 0 nnvts promote one.fuzz --to kept
    has kept/one.json '"source": "promoted from one.fuzz"'
    check 0 nnvts run --driver reference --suite spec --specs kept --out right
    same "$(verdict right PASS)" 1
    printf '%s\n%s\n' "$input" "$input" >two.fuzz
    check 2 nnvts promote two.fuzz --to kept
    has "$ERR" "two.fuzz: 2 inputs, one after the other: a spec is one model"
    echo "${input/ADD/NOPE}" >none.fuzz
    check 2 nnvts promote none.fuzz --to kept
    has "$ERR" "none.fuzz:1: there is no operation 'NOPE'"
    same "$(cd kept && echo *)" one.json
}
test_bad_arguments() {
    check 2 nnvts promote
    has "$ERR" "promote what?"
    check 2 nnvts promote nosuch.json
    [ ! -e regressions ] || fail "a folder of nothing"
    cp "$ROOT/tests/conformance/example.json" spec.json
    check 2 nnvts promote spec.json --as ../other
    has "$ERR" "--as '../other': expected letters, digits"
}
run_tests
