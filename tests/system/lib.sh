# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the system tests share. A test is a function test_*; it fails if a line of it fails.
#   check CODE command...     runs the command; its exit code must be CODE. Output is in $OUT and $ERR
#   has FILE TEXT             the file contains the text
#   hasnt FILE TEXT
#   await COMMAND...          waits until the command succeeds
#   skip REASON               ends the test as skipped
set -u
: "${NNVTS_BUILD:?run through tools/run-tests.sh}"
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PATH=$NNVTS_BUILD:$PATH
export PATH NO_COLOR=1
# What is set outside must not change what a test runs; test_specs.sh asks for SPECS.
SPECS=${NNVTS_SPECS:-}
unset NNVTS_SPECS
export NNVTS_CONFIG=
unset NNVTS_SHARD NNVTS_SHARD_TOTAL GTEST_SHARD_INDEX GTEST_TOTAL_SHARDS GTEST_SHARD_STATUS_FILE SLURM_ARRAY_TASK_ID \
    JOB_COMPLETION_INDEX CI_NODE_INDEX CI_NODE_TOTAL
# For what is the same whatever the operations are.
FEW='suite:device | suite:exec | op:TANH | op:ADD | op:CONV_2D | op:SOFTMAX'
WORK=$(mktemp -d)
OUT=$WORK/stdout ERR=$WORK/stderr
trap 'rm -rf "$WORK"' EXIT

# For scripts whose many runs fail on purpose: nothing is tried again after them.
try_nothing_again() {
    printf '[run]\nflakes = 0\n' >"$WORK/config"
    export NNVTS_CONFIG=$WORK/config
}

fail() {
    echo "    $*" >&2
    exit 1
}
skip() {
    echo "skipped: $*"
    exit 77
}
check() {
    local want=$1 code=0
    shift
    "$@" >"$OUT" 2>"$ERR" </dev/null || code=$?
    [ "$code" = "$want" ] || {
        tail -n 15 "$OUT" "$ERR" >&2
        fail "exit code $code instead of $want: $*"
    }
}
# await COMMAND...: until it succeeds; a machine that is busy takes its time
await() {
    local i
    for ((i = 0; i < 1200; i++)); do
        "$@" && return
        sleep 0.05
    done
    fail "not within a minute: $*"
}
has() { grep -qF -- "$2" "$1" || { tail -n 15 "$1" >&2; fail "no '$2' in $(basename "$1")"; }; }
hasnt() { ! grep -qF -- "$2" "$1" || fail "'$2' in $(basename "$1")"; }
same() { [ "$1" = "$2" ] || fail "'$1' instead of '$2'${3:+ ($3)}"; }
# verdict DIR NAME: how many cases of the run have this verdict
verdict() { sed -n "s/.*\"verdicts\": *{[^}]*\"$2\": *\([0-9]*\).*/\1/p" "$1/summary.json" | grep . || echo 0; }
# verdicts DIR: "name verdict" of every case, sorted
verdicts() { sed -n 's/.*"case": *"\([^"]*\)".*"verdict": *"\([A-Z]*\)".*/\1 \2/p' "$1/journal.jsonl" | sort; }

# unseal RUN...: the journals without their checksums, as they were before there were any; for tests that change them
unseal() { sed -i 's/,"sum":"[0-9a-f]*"}$/}/' "${@/%//journal.jsonl}"; }

# page_says COLUMN RUN: docs/use/engines.md has what the default run judged of the driver
page_says() { check 0 "$ROOT/tools/judged.py" --check "$ROOT/docs/use/engines.md" "$1" "$2"; }

# goes_wrong_by RUN CASE DRIVER OPERATIONS: what the case dumped goes wrong first in one of these ("ADD|MUL"); a case
# of one operation that leaves no dump names it
goes_wrong_by() {
    case $2 in exec/again/* | exec/at_once/* | shapes/regrown/*) echo "$2" | grep -Eq "^[a-z]+/[a-z_]+/($4)/" && return ;; esac
    nnvts bisect "$1/dumps/$(echo "$2" | tr / .).json" --driver "$3" >bisected 2>&1 || true
    grep -Eq "first wrong: operation [0-9]+ \(($4)\)" bisected || { cat bisected >&2; fail "$2 goes wrong in something else than $4"; }
}

# Runs all tests of the script, or with NNVTS_TEST the one of that name ("test_" may be left out), each in a shell and
# folder of its own; cmocka's closing lines.
run_tests() {
    local passed=0 failed=0 skipped=0 t code
    for t in $(declare -F | awk '$3 ~ /^test_/ {print $3}'); do
        [ -z "${NNVTS_TEST:-}" ] || [ "test_${NNVTS_TEST#test_}" = "$t" ] || continue
        echo "[ RUN      ] $t"
        SECONDS=0
        (
            set -e
            trap 'kill $(jobs -p) 2>/dev/null || :' EXIT # what it left behind
            mkdir -p "$WORK/$t"
            cd "$WORK/$t"
            "$t"
        )
        code=$?
        case $code in
        0) passed=$((passed + 1)); echo "[       OK ] $t ($SECONDS s)" ;;
        77) skipped=$((skipped + 1)); echo "[  SKIPPED ] $t" ;;
        *) failed=$((failed + 1)); echo "[  FAILED  ] $t ($SECONDS s)" ;;
        esac
    done
    [ $((passed + skipped + failed)) -gt 0 ] || { echo "$0: no test is named ${NNVTS_TEST:-}" >&2; return 2; }
    echo "[  PASSED  ] $passed test(s)."
    [ $skipped = 0 ] || echo "[  SKIPPED ] $skipped test(s)."
    [ $failed = 0 ] || echo "[  FAILED  ] $failed test(s)."
    [ $failed = 0 ]
}
