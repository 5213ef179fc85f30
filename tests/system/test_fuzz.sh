#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts fuzz: finds what is planted, within seconds; raises no alarm; the same seed gives the same.
. "$(dirname "$0")/lib.sh"

# planted BUG KIND [INPUTS]: the bug is found, reduced to one input, and the file shows it again
planted() {
    local file
    check 1 nnvts fuzz --driver "faulty:$1" --inputs "${3:-40000}" --time 120 --timeout 1 --out found
    has "$OUT" "$2: "
    file=$(ls found/"$2"-*.fuzz | head -n 1)
    same "$(grep -c '^base ' "$file")" 1 "inputs in $file"
    check 1 nnvts fuzz --driver "faulty:$1" --timeout 1 --replay "$file"
    has "$OUT" "$2: "
    check 0 nnvts fuzz --driver cpu --replay "$file"
    has "$OUT" "nothing is wrong"
}
# mutations FILE: their number
mutations() { grep -vc '^#\|^base ' "$1"; }

test_dies_of_rank_9() {
    planted fuzz-rank crash
    has found/crash-*.fuzz "operand-rank"
    has found/crash-*.fuzz "# crash: driver died with SIGSEGV in prepare_model"
    same "$(mutations found/crash-*.fuzz)" 1
    check 0 nnvts show found/crash-*.json
}
test_dies_of_an_empty_constant() { planted fuzz-empty-constant crash; }
test_dies_of_an_unknown_operation() {
    planted fuzz-unknown-operation crash
    has found/crash-*.fuzz "driver called exit(0) in prepare_model"
}
test_dies_of_a_negative_zero_point() { planted fuzz-zero-point crash; }
test_hangs_of_a_huge_extent() {
    planted fuzz-huge-extent hang 8000 # each time it waits for a second
    has found/hang-*.fuzz operand-dim
}
test_overflows_in_a_location() { planted fuzz-location-overflow crash; }
test_damaged_caches() {
    check 0 nnvts drivers cpu
    ! grep -q 'cache files: 0 model, 0 data' "$OUT" || skip "the cpu driver does not cache"
    planted fuzz-short-cache crash
    has found/crash-*.fuzz cache-
}
test_wrong_values_afterwards() { planted fuzz-sour values; }
test_valid_models_are_prepared() { planted fuzz-one-operation refused; }
test_statuses_exist() {
    planted fuzz-late-status status
    has found/status-*.fuzz prepare-late
}
test_memory_damage() {
    check 1 nnvts fuzz --driver faulty:guard-write-after --inputs 1000 --time 15 --out found
    has "$OUT" "memory: "
}

# Who stops it has what was found: in the generations, and while findings are reduced.
test_interrupted() {
    local seconds
    for seconds in 2 8 30; do # a machine that is busy finds it later
        check 130 timeout --preserve-status -s INT $seconds nnvts fuzz --driver faulty:fuzz-rank --time 0 --out found
        ! grep -q 'crash: ' "$OUT" || break
    done
    has "$ERR" "interrupted; what was found is in found"
    has "$OUT" "crash: "
    check 1 nnvts fuzz --driver faulty:fuzz-rank --timeout 1 --replay "$(ls found/crash-*.fuzz | head -n 1)"
    check 130 timeout --preserve-status -s INT 2 nnvts fuzz --driver faulty:fuzz-huge-extent --timeout 1 --inputs 3000 --time 0 --out hangs
    has "$ERR" interrupted
}

test_no_false_alarm() {
    local driver
    for driver in cpu reference faulty:none sample:float-fast; do
        check 0 nnvts fuzz --driver "$driver" --inputs 10000 --time 5 --out none
        has "$OUT" " 0 findings"
        [ ! -e none ] || fail "findings of $driver"
    done
}
test_the_same_seed_gives_the_same() {
    local jobs
    for jobs in 1 2; do
        check 1 nnvts fuzz --driver faulty:fuzz-rank --inputs 5000 --time 0 --seed 7 --jobs $jobs --corpus "$jobs/corpus" --out "$jobs/found"
    done
    diff -r 1 2 || fail "one worker and two do not give the same"
    check 1 nnvts fuzz --driver faulty:fuzz-rank --inputs 5000 --time 0 --seed 8 --corpus 3/corpus --out 3/found
    ! diff -rq 1/corpus 3/corpus >/dev/null || fail "another seed gives the same"
}
test_a_corpus_grows() {
    check 0 nnvts fuzz --driver cpu --inputs 2000 --time 0 --corpus corpus
    local n
    n=$(find corpus -name '*.fuzz' | wc -l)
    [ "$n" -gt 50 ] || fail "$n inputs in the corpus"
    check 0 nnvts fuzz --driver cpu --inputs 6000 --time 0 --seed 2 --corpus corpus
    [ "$(find corpus -name '*.fuzz' | wc -l)" -gt "$n" ] || fail "the corpus does not grow"
    check 0 nnvts fuzz --driver cpu --replay "$(find corpus -name '*.fuzz' | sort | head -n 1)"
}
test_usage() {
    check 2 nnvts fuzz
    has "$ERR" "which driver?"
    check 2 nnvts fuzz --driver absent
    check 2 nnvts fuzz --driver cpu --replay absent.fuzz
    printf '# a comment\nbase operation NOPE sig 0 variant 0 mode normal index 0 seed 1\n' >bad.fuzz
    check 2 nnvts fuzz --driver cpu --replay bad.fuzz
    has "$ERR" "bad.fuzz:2: there is no operation 'NOPE'"
    printf 'base operation ADD sig 0 variant 0 mode normal index 0 seed 1\noperand-rank 1 2\n' >bad.fuzz
    check 2 nnvts fuzz --driver cpu --replay bad.fuzz
    has "$ERR" "bad.fuzz:2: 'operand-rank' takes 3 numbers"
}
run_tests
