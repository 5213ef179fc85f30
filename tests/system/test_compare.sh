#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts compare, nnvts trend and nnvts run --baseline on runs of real drivers.
. "$(dirname "$0")/lib.sh"

some() { nnvts run -d "$1" -k 'ops/CONV_2D/float32/*' --tier smoke --out "$2" -q "${@:3}"; }
well_formed() { [ -z "$(command -v xmllint)" ] || xmllint --noout "$1" 2>/dev/null || fail "$1 is not well-formed"; }

test_two_drivers() {
    check 0 some cpu good
    check 1 some faulty:dilation-ignored bad
    check 1 nnvts compare good bad --html worse.html
    has "$OUT" "not the same driver: cpu and faulty:dilation-ignored"
    has "$OUT" "  PASS -> FAIL  ops/CONV_2D/float32/dilation"
    has "$OUT" "WORSE: "
    has worse.html "Worse: "
    well_formed worse.html
    check 0 nnvts compare bad good
    has "$OUT" "  FAIL -> PASS  ops/CONV_2D/float32/dilation"
    has "$OUT" "not worse: "
    hasnt "$OUT" "new failure"
    check 0 nnvts compare good good --html same.html
    has "$OUT" "not worse: no verdict changed"
    has same.html "Not worse: no verdict changed"
    hasnt same.html "<script"
    local failed
    failed=$(verdict bad FAIL)
    check 1 nnvts compare good bad --json
    python3 - "$OUT" "$failed" <<'P' || fail "not the JSON of a comparison"
import json, sys
j = json.load(open(sys.argv[1]))
assert j["form"] == "nnvts-compare-1" and j["worse"] and j["differ"] == ["driver"], j["differ"]
assert j["counts"]["new_failures"] == len(j["new_failures"]) == int(sys.argv[2]) > 0
assert all(c["a"]["verdict"] == "PASS" and c["b"]["reason"] for c in j["new_failures"])
assert j["new_failures"] == sorted(j["new_failures"], key=lambda c: c["case"])
P
}
# One run with three sets of options and environments: what differs comes first.
test_matrix() {
    cat >options.ini <<'END'
[plain]
driver = cpu
[one-thread]  # an environment of its own
driver = cpu
env.OMP_NUM_THREADS = 1
seed = 1
[wrong]
driver = faulty:dilation-ignored
END
    check 1 nnvts run --matrix options.ini -k 'ops/CONV_2D/float32/*' --tier smoke -o out
    has "$OUT" "== one-thread"
    has "$OUT" "  PASS | PASS | FAIL  ops/CONV_2D/float32/dilation"
    has "$OUT" "2: one-thread  driver=cpu, env.OMP_NUM_THREADS=1, seed=1  0 bad"
    has "$OUT" "differ between 3 columns; 0 fail in all"
    has out/matrix.html 'href="wrong/report.html"'
    well_formed out/matrix.html
    local failed
    failed=$(verdict out/wrong FAIL)
    check 1 nnvts run --matrix=options.ini -k 'ops/CONV_2D/float32/*' --tier smoke -o out --json --resume
    python3 - "$OUT" out/matrix.json "$failed" <<'P' || fail "not the JSON of a matrix"
import json, sys
j = json.load(open(sys.argv[1]))
assert j == json.load(open(sys.argv[2]))
assert j["form"] == "nnvts-matrix-1" and [c["name"] for c in j["columns"]] == ["plain", "one-thread", "wrong"]
assert j["differing"] == len(j["differ"]) == int(sys.argv[3]) == j["operations"]["CONV_2D"][2] > 0
assert all(c["verdicts"] == ["PASS", "PASS", "FAIL"] and c["reason"] for c in j["differ"])
P
    printf '[a]\ndriver = cpu\n' >few.ini
    check 2 nnvts run --matrix few.ini -o none
    has "$ERR" "two columns or more"
    printf '[a]\ndriver = cpu\n[b/c]\n' >named.ini
    check 2 nnvts run --matrix named.ini -o none
    has "$ERR" "named.ini:3: a column is named by letters"
    printf '[a]\nno-such = 1\n[b]\n' >option.ini
    check 2 nnvts run --matrix option.ini -o none
    check 2 nnvts run --matrix missing.ini -o none
}
test_other_cases_and_seeds() {
    check 0 some cpu one
    check 0 nnvts run -d cpu -k 'ops/TANH/float32/*' --tier smoke --seed 2 --out two -q
    check 0 nnvts compare one two
    has "$OUT" "not the same seed: 1 and 2"
    has "$OUT" "Cases only in A"
    has "$OUT" "Cases only in B"
}
# A run that was cut off is worse than one that was not.
test_a_killed_run() {
    check 0 some cpu whole
    cp -r whole part
    head -n 10 whole/journal.jsonl >part/journal.jsonl
    check 1 nnvts compare whole part
    has "$OUT" "  PASS -> NOTRUN  ops/CONV_2D"
    has "$OUT" "no longer answered"
}
test_a_baseline() {
    check 0 some cpu before
    check 1 some faulty:dilation-ignored after --baseline before
    has "$OUT" "since before: "
    has "$OUT" "new failures"
    has after/report.html 'id="baseline"'
    well_formed after/report.html
    check 1 nnvts report after # from the folder alone
    has after/report.html 'id="baseline"'
    check 0 some cpu after # another run in that folder
    hasnt after/report.html 'id="baseline"'
    [ ! -e after/baseline.json ] || fail "what was compared of an earlier run is still there"
    check 2 some cpu after --baseline ./after
    has "$ERR" "is the folder of the run itself"
    check 2 some cpu other --baseline nowhere
    [ ! -e other ] || fail "a run began without its baseline"
}
test_benches() {
    local n=mobilenet_v2_0.25_32_quant8
    check 0 nnvts bench -d cpu --no-accuracy --time 0.1 --samples 20 --count 2 --out a $n
    check 1 nnvts bench -d faulty:crash-execute@CONV_2D --no-accuracy --time 0.1 --count 2 --out b $n
    check 1 nnvts compare a b --html benches.html
    has "$OUT" "PASS -> CRASH"
    well_formed benches.html
    check 0 nnvts compare a a
    has "$OUT" "1.000 times: " # "same", or "unknown" on a noisy machine
    check 0 some cpu run
    check 2 nnvts compare a run
    has "$ERR" "like is compared with like"
}
test_trend() {
    local i
    for i in 1 2 3; do
        local driver=cpu
        [ $i != 2 ] || driver=faulty:dilation-ignored
        some $driver run-$i >/dev/null || [ $i = 2 ] || fail "run $i"
        unseal run-$i
        sed -i "1s/\"start\":\"[^\"]*\"/\"start\":\"2026-01-0$((4 - i))T00:00:00Z\"/" run-$i/journal.jsonl
    done
    check 0 nnvts trend run-1 run-2 run-3 --html trend.html
    same "$(sed -n 's/.*\(run-[0-9]\)$/\1/p' "$OUT" | tr '\n' ' ')" "run-3 run-2 run-1 "
    has "$OUT" "failures by operation"
    has trend.html "<svg"
    hasnt trend.html "<script"
    ! grep -oE '(src|href)="[^#"][^"]*"' trend.html || fail "trend.html refers to something outside"
    well_formed trend.html
    check 0 nnvts trend run-* --json
    python3 - "$OUT" <<'P' || fail "not the JSON of a trend"
import json, sys
j = json.load(open(sys.argv[1]))
assert [r["folder"] for r in j["runs"]] == ["run-3", "run-2", "run-1"]
conv = next(o for o in j["operations"] if o["op"] == "CONV_2D")
assert conv["failures"][0] == conv["failures"][2] == 0 < conv["failures"][1]
assert 0 < j["runs"][0]["worst"] <= 1
P
    check 2 nnvts trend
    check 2 nnvts trend nowhere
    check 2 nnvts compare run-1
    check 2 nnvts compare run-1 nowhere
    has "$ERR" "is 'nowhere' the folder of a run"
}
run_tests
