#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make inject: calls of the C library fail, one at a time, in each of some verbs. Nothing may hang or die of a signal, a
# failure must be told, no verdict may change, and --resume must end a run that failed. $INJECT_POINTS: of each function
# and verb, drawn evenly by $INJECT_SEED (1) (12); $INJECT_VERBS, $INJECT_FUNCTIONS: which.
set -u
: "${NNVTS_BUILD:?run through make inject}"
PATH=$NNVTS_BUILD:$PATH
POINTS=${INJECT_POINTS:-12} VERBS=${INJECT_VERBS:-run report anew merge compare verify unpack pack expect replay compile bench}
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
LIB=$NNVTS_BUILD/tests/inject.so
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export NNVTS_CONFIG='' NO_COLOR=1
cd "$WORK" || exit 3
points=0 bad=0
RANDOM=${INJECT_SEED:-1}
RUN=(nnvts run --driver faulty:beta-ignored --filter 'ops/SOFTMAX/float32/rank* | suite:device' --jobs 2 --flakes 0)
verdicts() { sed -n 's/.*"case": *"\([^"]*\)".*"verdict": *"\([A-Z]*\)".*/\1 \2/p' "$1/journal.jsonl" | sort; }
command_of() {
    case $1 in
    run) echo "${RUN[@]@Q} --out out" ;;
    report) echo "nnvts report out" ;;
    anew) echo "nnvts report out --expect base.json" ;;
    merge) echo "nnvts merge shard1 shard2 --out out" ;;
    compare) echo "nnvts compare base other" ;;
    verify) echo "nnvts verify out" ;;
    unpack) echo "nnvts verify base.tar" ;;
    pack) echo "nnvts pack out --in-process -o out.tar" ;;
    expect) echo "nnvts expect update base -o known.json" ;;
    replay) echo "nnvts replay $DUMP --driver faulty:beta-ignored" ;;
    compile) echo "nnvts compile $ROOT/tests/relay/two_regions.relay --no-build -q -o out" ;;
    bench) echo "nnvts bench -d cpu --model figures_uint8 --count 4 --no-latency -o out" ;;
    esac
}
prepare() {
    rm -rf out out.tar known.json
    case $1 in report | anew | verify | pack) cp -r base out ;; esac
}
# what a verb came to, without what differs from run to run
result() {
    case $1 in
    run | report | merge) verdicts out 2>/dev/null ;;
    anew) cat out/outcomes.json 2>/dev/null ;;
    expect) cat known.json 2>/dev/null ;;
    pack) tar tf out.tar 2>/dev/null | sort ;;
    compile) (cd out 2>/dev/null && find . -type f -exec sha256sum {} + | sort -k 2) ;;
    bench) grep -v '"start"' out/bench.json 2>/dev/null ;;
    *) cat stdout ;;
    esac
}
wrong() {
    bad=$((bad + 1))
    echo "WRONG $*"
    sed 's/^/    /' stderr | head -n 3
}

"${RUN[@]}" --out base >/dev/null 2>&1
cp -r base other
nnvts pack base --in-process -o base.tar >/dev/null 2>&1
nnvts expect update base -o base.json >/dev/null 2>&1
DUMP=$(find base/dumps -name '*.json' | sort | head -n 1)
for i in 1 2; do "${RUN[@]}" --shard $i/2 --out shard$i >/dev/null 2>&1; done
for verb in $VERBS; do
    cmd=$(command_of "$verb")
    prepare "$verb"
    SECONDS=0
    eval "INJECT_COUNT=$WORK/count LD_PRELOAD=$LIB $cmd" >stdout 2>stderr </dev/null
    clean=$? limit=$((60 + 30 * SECONDS)) # a machine that is busy takes its time
    result "$verb" >expected
    while read -r function calls; do
        step=$(((calls + POINTS - 1) / POINTS))
        [ "$calls" -gt 0 ] && [[ " ${INJECT_FUNCTIONS:-$function} " = *" $function "* ]] || continue
        for ((n = 1 + RANDOM % step; n <= calls; n += step)); do
            prepare "$verb"
            eval "timeout -k $limit $limit env INJECT=$function:$n LD_PRELOAD=$LIB $cmd" >stdout 2>stderr </dev/null
            code=$?
            points=$((points + 1))
            at="$verb, $function number $n of $calls: exit code $code"
            if [ $code -ge 124 ]; then
                wrong "$at"
            elif [ $code = $clean ]; then
                result "$verb" | cmp -s - expected || wrong "$at, another result"
            elif [ $code -lt 2 ]; then
                wrong "$at instead of $clean"
            elif [ ! -s stderr ]; then
                wrong "$at without a word"
            fi
            if [ "$verb" = run ] && [ $code -ge 2 ]; then
                eval "$cmd --resume" >stdout 2>stderr </dev/null
                code=$?
                [ $code = $clean ] && verdicts out | cmp -s - expected || wrong "$at, then --resume: exit code $code"
            fi
        done
    done <"$WORK/count"
done
echo "inject: $points points, $bad wrong"
[ $bad = 0 ]
