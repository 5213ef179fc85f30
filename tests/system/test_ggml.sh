#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The driver "ggml": backends of ggml, where they were brought (make setup-engines). What fails is in
# docs/use/findings-tflite-ort.md, and nothing else does.
. "$(dirname "$0")/lib.sh"
try_nothing_again

FOLDER=$NNVTS_BUILD/engines/ggml/lib

needs_library() {
    nnvts run --driver ggml: --filter 'ops/ADD/float32/rank1/0' --out there -q >"$OUT" 2>&1 && return 0
    grep -q 'make setup-engines' "$OUT" || { cat "$OUT" >&2; fail "the driver does not open, and does not say why"; }
    skip "ggml's backends are not there (make setup-engines)"
}
# run_all DRIVER: the whole default run; nothing dies, and only what is a finding fails
run_all() {
    local code=0
    nnvts run --driver "$1" --out out -q >"$OUT" 2>"$ERR" || code=$?
    [ $code -le 1 ] || fail "exit code $code"
    [ "$(verdict out PASS)" -gt 18000 ] || fail "only $(verdict out PASS) cases passed"
    verdicts out | awk '$2 != "PASS" && $2 != "UNSUPPORTED" && $2 != "SKIP"' >bad
    ! grep -v ' FAIL$' bad || fail "worse than a wrong value"
    ! grep -Ev '^ops/(RESIZE_BILINEAR|RESIZE_NEAREST_NEIGHBOR)/float32' bad || fail "not in docs/use/findings-tflite-ort.md"
}
test_default_run() {
    needs_library
    run_all ggml:
    page_says ggml: out
}
# The backend for any x86 computes by other code than that for this machine.
test_plainest_backend() {
    needs_library
    [ -e "$FOLDER/libggml-cpu-x64.so" ] || skip "there is no backend cpu-x64"
    run_all ggml:backend=cpu-x64
}
test_vectors() {
    needs_library
    [ -n "$SPECS" ] || skip "NNVTS_SPECS is not set"
    local code=0
    nnvts run --driver ggml: --suite spec --specs "$SPECS" --out out -q >"$OUT" 2>"$ERR" || code=$?
    verdicts out | grep -E ' (FAIL|CRASH|TIMEOUT|ERROR)$' >bad && fail "a vector fails"
    [ "$(verdict out PASS)" -gt 800 ] || fail "only $(verdict out PASS) vectors passed"
}
# A plug-in by its path, alone or as lib=; what is none, or is for no machine like this, is one clear error.
test_plugin() {
    needs_library
    local one=$FOLDER/libggml-cpu-x64.so
    [ -e "$one" ] || skip "there is no backend cpu-x64"
    check 0 nnvts run --driver "ggml:$one" --filter 'ops/ADD/float32/rank1/0' --out one
    check 0 nnvts run --driver "ggml:lib=$one,device=CPU" --filter 'ops/ADD/float32/rank1/0' --out two
    check 2 nnvts run --driver "ggml:lib=$one,device=Abacus" --out out
    has "$ERR" "has no device Abacus"
    check 2 nnvts run --driver "ggml:lib=$one,backend=vulkan" --out out
    has "$ERR" "is for a folder of backends"
}
test_missing_library() {
    check 2 nnvts run --driver ggml:lib=/nowhere/ggml --out out
    has "$ERR" "make setup-engines brings backends of ggml"
    check 2 nnvts run --driver "ggml:lib=$NNVTS_BUILD/drivers/cpu.so" --out out
    has "$ERR" "is no backend of ggml"
    check 2 nnvts run --driver "ggml:lib=$NNVTS_BUILD/drivers" --out out
    has "$ERR" "has no backend of ggml for this CPU"
    check 2 nnvts run --driver "ggml:lib=$NNVTS_BUILD/drivers,backend=abacus" --out out
    has "$ERR" "libggml-abacus.so"
    check 2 nnvts run --driver ggml:colour=red --out out
    has "$ERR" '"backend=NAME"'
}
# A plug-in that is one by its name alone: of another version, one that does not start, one that the machine is not for.
test_bad_plugins() {
    needs_library
    local what
    for what in 'version:static int r[8] = {99}; void *ggml_backend_init(void) { return r; }:has version 99' \
        'start:void *ggml_backend_init(void) { return 0; }:does not start' \
        'score:void *ggml_backend_init(void) { return 0; } int ggml_backend_score(void) { return 0; }:does not run on this machine'; do
        local name=${what%%:*} rest=${what#*:}
        printf '%s\n' "${rest%:*}" >"$name.c"
        ${CC:-cc} -shared -fPIC -o "$name.so" "$name.c" -Wl,--no-as-needed -L"$FOLDER" -l:libggml-base.so -Wl,-rpath,"$FOLDER" || skip "no compiler"
        check 2 nnvts run --driver "ggml:lib=$PWD/$name.so" --out out
        has "$ERR" "${rest##*:}"
    done
    printf 'void *ggml_backend_init(void) { return 0; }\n' >alone.c
    ${CC:-cc} -shared -fPIC -o alone.so alone.c
    check 2 nnvts run --driver "ggml:lib=$PWD/alone.so" --out out
    has "$ERR" "there is no ggml_init"
}
test_findings() {
    needs_library
    local all=$ROOT/tests/findings/ggml
    check 1 nnvts run --driver ggml: --suite spec --specs "$all" --out out
    same "$(verdict out FAIL)" "$(find "$all" -name '*.json' | wc -l)"
}
test_networks() {
    needs_library
    check 0 nnvts bench --driver reference,ggml: --no-latency --count 2 mobilenet_v2_0.35_96_float32
    hasnt "$OUT" FAIL
    hasnt "$OUT" unsupported
}
test_datasheet() {
    needs_library
    check 0 nnvts datasheet --driver ggml: --filter ADD --time-budget 60 --out sheet
}
run_tests
