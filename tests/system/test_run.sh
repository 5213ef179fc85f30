#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whole runs on real drivers: verdicts, reports, determinism.
. "$(dirname "$0")/lib.sh"
try_nothing_again

junit() { xmllint --noout --schema "$ROOT/tests/junit.xsd" "$1" 2>"$WORK/xml" || fail "$(cat "$WORK/xml")"; }
xpath() { xmllint --xpath "$2" "$1" 2>/dev/null; }

# Every default case passes on both drivers, and the reports agree with one another.
whole_run() {
    check 0 nnvts run --driver "$1" --out out
    same "$(verdict out FAIL)" 0
    same "$(verdict out UNTRUSTED)" 0
    local cases
    cases=$(wc -l <out/cases.tsv)
    [ "$cases" -ge 6000 ] || fail "only $cases cases"
    same "$(verdicts out | wc -l)" "$cases" "records"
    junit out/junit.xml
    same "$(xpath out/junit.xml 'count(//testcase)')" "$cases"
    same "$(xpath out/junit.xml 'count(//failure) + count(//error)')" 0
    same "$(xpath out/junit.xml 'sum(/testsuites/testsuite/@tests)')" "$cases"
    has "$OUT" "0 failed"
    has out/summary.json '"failed": []}'
    has out/report.html '<h2>Clauses of NNAPI</h2>'
    same "$(grep -c 'NN-EXEC-1"' out/clauses.json)" 0 "a clause that passed is not listed"
    [ "$(stat -c %s out/report.html)" -lt $((cases * 100)) ] || fail "report.html takes more than 100 bytes a case"
    hasnt out/report.html 'http://'
    hasnt out/report.html 'https://'
}
test_cpu() { whole_run cpu; }
test_reference() { whole_run reference; }
test_template() {
    check 0 nnvts run --driver template --tier smoke --out out
    [ "$(verdict out PASS)" -gt 18 ] && [ "$(verdict out UNSUPPORTED)" -gt 100 ] || fail "$(cat out/summary.json)"
}
counts() {
    sed -n 's/.*"case": *"\([^"]*\)".*"compared": *\([0-9]*\).*/\1 \2/p' "$1/journal.jsonl" |
        grep -v '^exec/\|^qos/\|^isolation/\|^cache/' | sort | sha256sum
}
test_jobs_make_no_difference() {
    check 0 nnvts run --driver cpu --tier smoke --jobs 1 --out one
    check 0 nnvts run --driver cpu --tier smoke --jobs 4 --out four
    same "$(verdicts one | sha256sum)" "$(verdicts four | sha256sum)"
    # suites that race threads or measure time may repeat something more often on a busy machine
    same "$(counts one)" "$(counts four)"
}
test_seeds_differ() {
    check 1 nnvts run --driver faulty:beta-ignored --filter 'ops/SOFTMAX/float32/*' --out a
    check 1 nnvts run --driver faulty:beta-ignored --filter 'ops/SOFTMAX/float32/*' --out b
    check 1 nnvts run --driver faulty:beta-ignored --filter 'ops/SOFTMAX/float32/*' --seed 2 --out c
    same "$(cat a/dumps/*.json | sha256sum)" "$(cat b/dumps/*.json | sha256sum)"
    [ "$(cat a/dumps/*.json | sha256sum)" != "$(cat c/dumps/*.json | sha256sum)" ] || fail "the seed changes nothing"
}
test_other_seeds_pass() {
    for seed in 2 3; do check 0 nnvts run --driver cpu --tier smoke --seed $seed --out out; done
}
test_precision_profiles() {
    for p in nnapi aosp budget; do check 0 nnvts run --driver reference --tier smoke --precision $p --out out; done
}
test_report_again() {
    check 1 nnvts run --driver faulty:beta-ignored --filter op:SOFTMAX --out out
    cp out/junit.xml junit.before
    cp out/report.html html.before
    rm out/junit.xml out/report.html out/summary.json
    check 1 nnvts report out
    cmp junit.before out/junit.xml
    cmp html.before out/report.html
    [ -s out/summary.json ]
}
test_json() {
    check 0 nnvts run --driver cpu --suite device --json --out out
    same "$(grep -c '"case"' "$OUT")" "$(wc -l <out/cases.tsv)"
}
test_stress_and_pressure() {
    check 0 nnvts run --driver cpu --stress 1 --pressure cpu,memory --out out
    hasnt "$ERR" "of the driver behind"
    same "$(grep -c 'exec/many/stress/' out/cases.tsv)" "$(wc -l <out/cases.tsv)"
    check 2 nnvts run --driver cpu --pressure heat --out out
    check 0 nnvts run --driver cpu --stress 0.2 --suspend-hook "echo \$NNVTS_WHAT \$NNVTS_CASE >>$PWD/gone" --out suspended
    same "$(grep -c '^SUSPEND .' gone)" "$(wc -l <suspended/cases.tsv)"
    check 3 nnvts run --driver cpu --stress 0.2 --suspend-hook 'exit 4' --out lost
    has lost/journal.jsonl "--suspend-hook: 'exit 4' called exit(4)"
    check 2 nnvts run --driver cpu --suspend-hook true --out out
}
# soak DRIVER SECONDS: one model for so long; its reason.
soak() {
    nnvts run --driver "faulty:$1" --jobs 1 --stress $(($2 * 7)) --filter 'exec/many/stress/add_float32' --out "$1" >"$1.out" 2>&1 || true
    sed -n 's/.*"verdict": *"\([A-Z]*\)".*"why": *"\([A-Z]*\)".*"reason": *"\([^"]*\)".*/\1 \2 \3/p' "$1/journal.jsonl" >"$1.said"
}
# Answers that belong to another execution are told as such.
test_soak_marks_answers() {
    soak answer-late 1
    grep -q 'execution [0-9]* of stream \([1-4]\) has the answer of execution [0-9]* of stream \1\\n' answer-late.said || fail "$(cat answer-late.said)"
    soak answer-of-another 1
    grep -q 'execution [0-9]* of stream [1-4] has the answer of execution [0-9]* of stream [1-4]\\n' answer-of-another.said || fail "$(cat answer-of-another.said)"
}
# What grows for ever is told, what ends is not.
test_soak_slopes() {
    local driver seconds
    for driver in legal-heats-up legal-pool-fills; do soak $driver 2 & done
    wait
    for seconds in 2 6 20; do # as long as a busy machine needs to be sure
        soak leak-late $seconds
        ! grep -qF "FAIL LEAK the driver keeps bytes of heap: " leak-late.said || break
    done
    has leak-late.said "FAIL LEAK the driver keeps bytes of heap: "
    for seconds in 2 6 20; do
        soak slower-and-slower $seconds
        ! grep -qF "FAIL EXPECTATION executions take ever longer: " slower-and-slower.said || break
    done
    has slower-and-slower.said "FAIL EXPECTATION executions take ever longer: "
    has slower-and-slower/journal.jsonl " --jobs 1 --stress $((seconds * 7))\""
    for driver in legal-heats-up legal-pool-fills; do same "$(verdict $driver PASS)" 1; done
    has leak-late/journal.jsonl '"drift":[{"of":"file descriptors","seconds":'
    has leak-late/journal.jsonl ',"judged_from":16,"least":['
    has leak-late/report.html '<section id="drift">'
    has leak-late/journal.jsonl '"grows":true'
    hasnt legal-pool-fills/journal.jsonl '"grows":true'
}
# says DRIVER WORDS [OPTION...]: one model until that is the reason, for as long as a busy machine needs to be sure.
says() {
    local driver=$1 words=$2 seconds
    shift 2
    for seconds in 2 6 20; do
        nnvts run --driver "$driver" --jobs 1 --stress $((seconds * 7)) --filter exec/many/stress/add_float32 --out said "$@" >"$OUT" 2>"$ERR" || true
        ! grep -qF "\"reason\":\"$words" said/journal.jsonl || return 0
    done
    fail "not told: $words"
}
# The same of a driver in a process of its own, and of one that was suspended in the middle.
test_soak_elsewhere() {
    says host:faulty:leak-late 'the driver keeps bytes of resident memory in a process of its own: '
    says faulty:leak-late 'the driver keeps bytes of heap: ' --suspend-hook "echo gone >>$PWD/gone"
    [ -s gone ] || fail "nothing was suspended"
    has said/journal.jsonl " --suspend-hook 'echo gone >>$PWD/gone'\""
}
# What cases leave behind: one bug, proved by repeats, the same with any number of jobs; replay shows it.
test_leaks() {
    local jobs
    for jobs in 1 3; do
        check 1 nnvts run --driver faulty:leak-thread --suite ops --tier smoke --jobs $jobs --out out$jobs
        has "$OUT" "1 bug behind"
        hasnt "$OUT" FLAKY
        has out$jobs/journal.jsonl '"why":"LEAK"'
    done
    same "$(verdicts out1)" "$(verdicts out3)"
    check 1 nnvts replay "$(ls out1/dumps/*.json | head -n 1)" --driver faulty:leak-thread
    has "$OUT" "the driver keeps threads"
    check 0 nnvts run --driver faulty:leak-thread --suite ops --tier smoke --leaks off --out out
}
# A log from elsewhere that something fills while cases run.
test_kernel_log() {
    : >kernel
    nnvts run --driver cpu --suite ops --tier smoke --jobs 1 --kernel-log kernel --out out -q >"$OUT" 2>"$ERR" &
    local run=$! code=0
    await grep -qs verdict out/journal.jsonl
    printf 'all is well\n[1.5] arm-smmu 5000000.iommu: Unhandled context fault: fsr=0x402\n' >>kernel
    wait $run || code=$?
    same "$code" 1
    same "$(verdict out FAIL)" 1
    has out/journal.jsonl '"why":"KERNEL"'
    has out/journal.jsonl 'kernel: [1.5] arm-smmu 5000000.iommu: Unhandled context fault'
    hasnt out/journal.jsonl 'all is well'
    check 2 nnvts run --driver cpu --suite device --kernel-log ./nosuch --out none
    has "$ERR" './nosuch: No such file'
    [ ! -e none ] || fail "a folder was made"
}
test_installed() {
    check 0 make -s -C "$ROOT" B="$NNVTS_BUILD" PREFIX="$PWD/usr" install
    check 0 env PATH=/usr/bin:/bin "$PWD/usr/bin/nnvts" run --driver cpu --suite device --out out
}
test_a_killed_run_never_reads_as_passed() {
    nnvts run --driver reference --out out --jobs 1 >/dev/null 2>&1 </dev/null &
    local pid=$!
    await test -s out/junit.xml
    kill -9 $pid
    wait $pid 2>/dev/null || true
    junit out/junit.xml
    [ "$(xpath out/junit.xml 'count(//error)')" -ge 6000 ] || fail "junit.xml of a killed run shows passes"
    check 1 nnvts report out
}
# A driver that has too little of what is asked does not pass.
test_min_judged() {
    check 0 nnvts run --driver sample:minimal --suite ops --filter 'op:ADD | op:SOFTMAX' --out out
    local share
    share=$(sed -n 's/.*"judged_percent": \([0-9]*\)\..*/\1/p' out/summary.json)
    [ "$share" -gt 1 ] && [ "$share" -lt 99 ] || fail "$share percent were judged"
    check 0 nnvts run --driver sample:minimal --suite ops --filter 'op:ADD | op:SOFTMAX' --min-judged "$share" --out out
    check 1 nnvts run --driver sample:minimal --suite ops --filter 'op:ADD | op:SOFTMAX' --min-judged $((share + 1)) --out out
    has "$OUT" "% of the cases were judged, fewer than --min-judged $((share + 1))"
    has out/report.html "% of the cases were judged, and had to be at least $((share + 1)) %"
    check 1 nnvts report out
    has out/summary.json '"exit_code": 1'
    check 2 nnvts run --driver cpu --min-judged 101 --out out; has "$ERR" "--min-judged 101: expected 0 to 100 percent"
    # shards need not; what they come to must
    for i in 1 2; do
        check 0 nnvts run --driver sample:minimal --suite ops --filter 'op:ADD | op:SOFTMAX' --min-judged 99 --shard $i/2 --out s$i
    done
    check 1 nnvts merge s1 s2 --out both
}
# Cases that measure time run when all others have ended, one after the other, whatever --jobs is.
test_timing_alone() {
    nnvts run --driver faulty:beta-ignored --suite exec,qos,ops --filter 'suite:qos | exec/timing/* | exec/burst/* | op:SOFTMAX' \
        --jobs 4 --out out -q >log 2>&1 || true
    python3 - out/journal.jsonl <<'P' || fail "see above"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])][1:]
spans = sorted((c["began_us"], c["began_us"] + c["ms"] * 1000, "timing" in c["tags"].split(), c["case"]) for c in lines if "began_us" in c)
timed = [s for s in spans if s[2]]
assert len(timed) >= 14, len(timed)
assert {t[3].split("/")[0] for t in timed} == {"qos", "exec"}
end = max(s[1] for s in spans if not s[2])
for begin, _, _, name in timed:
    assert begin >= end - 2, (name, "began before others had ended")
for a, b in zip(timed, timed[1:]):
    assert b[0] >= a[1] - 2, (b[3], "ran beside", a[3])
P
}
# Where there is no device: what is claimed must compile, what has a mistake be refused, and nothing is executed.
test_compile_only() {
    local tanh='op:TANH & type:float32'
    check 0 nnvts run --driver faulty:crash-execute --suite ops --filter "$tanh" --compile-only --out dies -q
    hasnt dies/journal.jsonl '"phase":"execute"'
    has dies/journal.jsonl '"compile_only":true'
    check 1 nnvts run --driver faulty:crash-execute --suite ops --filter 'ops/TANH/float32/rank1/0' --out executed -q
    check 1 nnvts run --driver faulty:claims-but-fails --suite ops --filter "$tanh" --compile-only --out claims -q
    has claims/journal.jsonl 'prepare_model answered GENERAL_FAILURE'
    check 0 nnvts run --driver sample:minimal --suite ops --filter '(op:RELU | op:TANH) & type:float32' --compile-only --out none -q
    has "$OUT" "0 failed"
    has "$OUT" "unsupported"
    check 0 nnvts run --driver cpu --suite ops --filter 'ops/TANH/float32/refused*' --compile-only --out refused -q
    check 2 nnvts run --driver cpu --suite ops,exec --compile-only
    has "$ERR" "suite exec executes models"
    check 2 nnvts run --driver faulty:crash-execute --suite ops --filter "$tanh" --out dies --resume
    has "$ERR" "--compile-only"
}
# Few results, or equal ones, are drawn again where a seed leaves nothing of them to compare.
test_each_seed_leaves_something_to_compare() {
    check 0 nnvts run --driver cpu --seed 202 --filter 'ops/MUL/float16/cover/33' --out out.few
    check 0 nnvts run --driver cpu --seed 204 --filter 'ops/HEATMAP_MAX_KEYPOINT/quant8_asymm/nchw_lines/1' --out out.equal
    has "$OUT" "1 passed, 0 failed"
    check 0 nnvts run --driver cpu --seed 312 --filter 'ops/L2_POOL_2D/float32/relu6_lines/2' --out out.zeros
    has "$OUT" "1 passed, 0 failed"
    # an IF whose condition was left open: the runtime takes no such model
    check 0 nnvts run --driver cpu --seed 317 --filter 'partition/mixed/25' --out out.open
    has "$OUT" "1 passed, 0 failed"
}
# The verdicts are kept, and what could not be written is named.
test_no_room_for_reports() {
    check 3 bash -c "trap '' XFSZ; ulimit -f 16; exec nnvts run -d cpu -k 'device/*' -o out"
    has "$ERR" "out/clauses.json: cannot write: File too large"
    same "$(verdicts out | grep -c PASS)" "$(wc -l <out/cases.tsv)"
}
# A refusal is right where the same model without its mistake, of the same type, is taken; else it shows nothing.
test_refused_without_the_mistake() {
    cat >pool.json <<'J'
{"format":"nnvts-spec/1","name":"pool","min_version":"1.0","expect_failure":true,"relaxed":false,"main":{"operands":[
{"type":"TENSOR_FLOAT32","dims":[1,1,1,1],"lifetime":"SUBGRAPH_INPUT","data":[1]},
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[1]},
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[7]},
{"type":"TENSOR_FLOAT32","dims":[1,1,1,1],"lifetime":"SUBGRAPH_OUTPUT","data":[1]}],
"operations":[{"type":"AVERAGE_POOL_2D","inputs":[0,1,1,1,1,1,2],"outputs":[3]}],"inputs":[0],"outputs":[3]},"referenced":[]}
J
    check 0 nnvts run -d cpu -s spec --specs pool.json -o right
    check 1 nnvts run -d sample:quant -s spec --specs pool.json -o other
    same "$(verdict right PASS) $(verdict other UNSUPPORTED)" "1 1"
    has other/journal.jsonl "without the mistake: the driver does not support operation 0 (AVERAGE_POOL_2D)"
}
run_tests
