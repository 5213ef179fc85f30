#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Graphs split over several devices: in the suite partition, and by a whole libneuralnetworks.so over sample:random-SEED.
. "$(dirname "$0")/lib.sh"

test_random_graphs_are_split() {
    check 0 nnvts run --driver cpu --suite partition --count 800 --seed 11 --out out
    same "$(verdict out FAIL)" 0
    [ "$(verdict out PASS)" -ge 800 ] || fail "$(verdict out PASS) cases passed"
    # But for outputs without elements, values were compared.
    grep '"verdict":"PASS"' out/journal.jsonl >passed
    [ "$(grep -cv '"values":' passed)" -le 3 ] || fail "cases passed of which no value was compared"
}
test_the_same_seed_gives_the_same_cases() {
    check 0 nnvts run --driver cpu --suite partition --tier smoke --seed 3 --jobs 1 --out one
    check 0 nnvts run --driver cpu --suite partition --tier smoke --seed 3 --jobs 3 --out three
    same "$(verdicts one)" "$(verdicts three)"
    same "$(sed -n 's/.*"case": *"\([^"]*\)".*"compared": *\([0-9]*\).*/\1 \2/p' one/journal.jsonl | sort)" \
        "$(sed -n 's/.*"case": *"\([^"]*\)".*"compared": *\([0-9]*\).*/\1 \2/p' three/journal.jsonl | sort)"
}
# A failure tells what is needed to understand it; the line that is given runs it again; the graph itself is a spec.
test_a_failure_tells_devices_and_plan() {
    check 1 nnvts run --driver faulty:outputs-swapped --suite partition --filter 'partition/many/*' --out out
    has out/journal.jsonl 'devices:'
    has out/journal.jsonl 'takes 0'
    has out/journal.jsonl 'graph 0 step 0: part-'
    local line dump
    line=$(sed -n 's/.*"replay": *"\([^"]*\)".*/\1/p' out/journal.jsonl | head -n 1)
    case $line in "nnvts run "*) ;; *) fail "reproduced by: $line" ;; esac
    check 1 bash -c "$line --out again"
    dump=$(find out/dumps -name '*.json' | head -n 1)
    check 0 nnvts replay "$dump" --driver cpu
}
test_what_the_suite_is_run_with_does_not_matter() {
    check 0 env NNVTS_PARTITIONING=none nnvts run --driver cpu --suite partition --tier smoke --out out
    check 0 env NNVTS_PARTITIONING=strict nnvts run --driver cpu --suite partition --tier smoke --out out
}
# Drivers that take about half of everything, each another half.
test_random_drivers_differ() {
    local seed
    for seed in 1 2; do check 0 nnvts run --driver "sample:random-$seed" --suite ops --tier smoke --out "out$seed"; done
    [ "$(verdict out1 UNSUPPORTED)" -gt 0 ] || fail "sample:random-1 takes all"
    [ "$(verdicts out1)" != "$(verdicts out2)" ] || fail "sample:random-1 and sample:random-2 take the same"
    check 2 nnvts run --driver sample:random-x --suite ops --tier smoke --out out
    has "$ERR" 'random-SEED'
}
test_a_library_splits_models_over_random_drivers() {
    local library=$NNVTS_BUILD/lib/libneuralnetworks.so suite
    [ -f "$library" ] && [ -f "$NNVTS_BUILD/drivers/ndk.so" ] || skip "no driver ndk"
    export NNVTS_DRIVERS=sample:random-1,sample:random-2,sample:random-3,cpu NNVTS_VLOG=compilation
    check 0 nnvts run --driver "ndk:$library" --suite randgraph --count 160 --out out
    grep -Eq 'a plan of [2-9] steps' out/journal.jsonl || fail "no model was split"
    unset NNVTS_VLOG
    check 0 nnvts run --driver "ndk:$library" --suite spec --specs "$ROOT/tests/conformance" --out out
    check 0 nnvts run --driver "ndk:$library" --suite shapes --tier smoke --out out
}
# A driver that can't tell what a temporary of open extents needs is not blamed where nobody else may compute it.
test_temporaries_that_nobody_can_size() {
    nnvts run --driver faulty:legal-sizes-unknown --suite partition --filter partition/few/16 --seed 101 --out out -q >/dev/null || true
    same "$(verdict out UNSUPPORTED)" 1
    has out/journal.jsonl '"why":"OPEN_SHAPES"'
}
run_tests
