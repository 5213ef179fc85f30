#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One step of the system check of make mutate, in a folder of its own. $NNVTS_BUILD is the build to check.
#   check.sh quiet SUITE                   a driver without bugs gets the verdicts that it got the first time
#   check.sh planted BUG SUITE             a row of tests/system/planted.tsv
#   check.sh runtime BUG CASE VERDICT      a row of tests/system/planted_runtime.tsv
set -u
TABLES=$(cd "$(dirname "$0")/../../tests/system" && pwd)
PATH=$NNVTS_BUILD:$PATH
export NNVTS_CONFIG='' NNVTS_LOG=0
unset NNVTS_SPECS
cd "$TMPDIR" || exit 3
run() { nnvts run --jobs 2 --flakes 0 --out out -q "$@" >/dev/null 2>&1; }

case $1 in
quiet)
    expected=$NNVTS_BUILD/quiet-$2
    if [ "$2" = api ]; then run --driver cpu --via runtime --suite api; else run --driver cpu --suite "$2" --tier smoke; fi
    sed -n 's/.*"case": *"\([^"]*\)".*"verdict": *"\([A-Z]*\)".*/\1 \2/p' out/journal.jsonl | sort >verdicts
    [ -s verdicts ] || exit 1
    [ -f "$expected" ] || cp verdicts "$expected"
    cmp -s verdicts "$expected"
    ;;
planted)
    words=$(awk -F'\t' -v bug="$2" -v suite="$3" '$1 == bug && $2 == suite { print $3 "\t" $4; exit }' "$TABLES/planted.tsv")
    for tier in smoke default; do
        run --driver "faulty:$2" --suite "$3" --timeout 4 --tier $tier --max-failures 40
        grep "\"verdict\": *\"${words%%	*}\"" out/journal.jsonl | grep -F -- "${words#*	}" >/dev/null && exit 0
    done
    exit 1
    ;;
runtime)
    NNVTS_DRIVERS=cpu,sample:level-1.0 NNVTS_RUNTIME_BUG=$2 run --conformance aosp --suite api --filter "$3" --timeout 10 \
        --driver "ndk:$NNVTS_BUILD/lib/libneuralnetworks-faulty.so"
    grep -q "\"verdict\": *\"$4\"" out/journal.jsonl
    ;;
esac
