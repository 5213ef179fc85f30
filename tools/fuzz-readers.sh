#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the libFuzzer targets of BUILD for some seconds each, beginning with the test data that there are. SEED 0: another
# one each time; any other draws the same inputs each time, of which more seconds see more.
#   tools/fuzz-readers.sh BUILD SECONDS [SEED]
set -eu
build=$1 seconds=$2 seed=${3:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1

# What a target begins with: one file an input.
seeds() {
    case $1 in
    spec) cp tests/conformance/example.json "$2" && for f in tests/conformance/*.jsonl; do head -n 1 "$f" >"$2/$(basename "$f")"; done ;;
    cpp) find tests/import -name '*.cpp' -exec cp {} "$2" \; ;;
    filter) i=0 && for e in 'ops/CONV_2D/*' 'op:ADD & type:quant8*' '!(tag:edge | level<=3)' 'ADD' 'name:[a-z]?\*'; do
        printf '%s' "$e" >"$2/$i" && i=$((i + 1)); done ;;
    report) for d in tests/reports/*/; do
        [ -f "$d/journal.jsonl" ] || continue
        { cat "$d/journal.jsonl" && printf '\001' && cat "$d/cases.tsv"; } >"$2/$(basename "$d")" 2>/dev/null || true; done ;;
    onnx) find "${NNVTS_ONNX:-/nowhere}" tests/onnx -name '*.onnx' -size -16k 2>/dev/null | while read -r f; do cp "$f" "$2/$(echo "$f" | tr / _)"; done ;;
    tflite) find mlts/networks/models -name '*.tflite' -size -64k -exec cp {} "$2" \; ;;
    relay) cp tests/relay/*.relay tests/relay/*.py tests/relay/bad/*.relay "$2" ;;
    emit) cp tests/emit/*.json "$2" ;;
    input) printf 'base operation ADD sig 0 variant 0 mode normal index 0 seed 1\noperand-rank 0 1 9\nbase network small index 1 seed 2\n' >"$2/0" ;;
    esac
}
code=0
for target in "$build"/fuzz/fuzz_*; do
    case $target in *.d) continue ;; esac
    name=${target##*/fuzz_}
    mkdir -p "$work/$name"
    seeds "$name" "$work/$name"
    if "$target" -seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=65536 -artifact_prefix="$build/fuzz/" \
        "$work/$name" >"$work/log" 2>&1; then
        echo "fuzz_$name: $(sed -n 's/^Done \([0-9]* runs in .*\)/\1/p' "$work/log")"
    else
        tail -n 40 "$work/log"
        echo "fuzz_$name: found something (see above; the input is in $build/fuzz/)"
        code=1
    fi
done
exit $code
