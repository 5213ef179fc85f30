#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Drivers over engines, where they were built: what fails is in docs/use/findings.md, and nothing else does.
. "$(dirname "$0")/lib.sh"
try_nothing_again

needs() { [ -e "$NNVTS_BUILD/drivers/$1.so" ] || skip "the driver $1 was not built: its library is not there (make setup-engines)"; }

# run_all DRIVER PATTERN OPERATIONS: the whole default run; nothing dies, and only cases that match fail, and graphs that
# go wrong by these operations.
run_all() {
    local code=0
    nnvts run --driver "$1" --out out -q >"$OUT" 2>"$ERR" || code=$?
    [ $code -le 1 ] || fail "exit code $code"
    [ "$(verdict out PASS)" -gt 10000 ] || fail "only $(verdict out PASS) cases passed"
    verdicts out | awk '$2 != "PASS" && $2 != "UNSUPPORTED" && $2 != "SKIP"' >bad
    ! grep -v ' FAIL$' bad || fail "worse than a wrong value"
    grep -Ev "$2" bad >further || return 0
    # A graph fails by an operation that fails alone, too.
    local name
    while read -r name _; do
        goes_wrong_by out "$name" "$1" "$3"
    done <further
}
test_xnnpack() {
    needs xnnpack
    run_all xnnpack '/(HARD_SWISH|RESIZE_BILINEAR)[/_]|/LOGISTIC/float32/(limits|sweep)/|/SUB/quant8_asymm/scales/' 'HARD_SWISH|RESIZE_BILINEAR'
    page_says xnnpack out
}
test_xnnpack_vectors() {
    needs xnnpack
    [ -n "$SPECS" ] || skip "NNVTS_SPECS is not set"
    check 0 nnvts run --driver xnnpack --suite spec --specs "$SPECS" --precision aosp --out out
    [ "$(verdict out PASS)" -gt 800 ] || fail "only $(verdict out PASS) vectors passed"
}
test_xnnpack_networks() {
    needs xnnpack
    check 0 nnvts bench --driver reference,xnnpack --no-latency --count 2 mobilenet_v2_0.35_96_float32 mobilenet_v2_0.35_96_quant8
    hasnt "$OUT" unsupported
    hasnt "$OUT" FAIL
}
# Padding that XNNPACK counts: refused, and shown on request.
test_xnnpack_padding() {
    needs xnnpack
    local spec=$ROOT/tests/findings/xnnpack/average_pool_quant8_padding.json
    check 1 nnvts run --driver xnnpack --suite spec --specs "$spec" --out strict # nothing was compared
    same "$(verdict strict UNSUPPORTED)" 1
    check 1 nnvts run --driver xnnpack:loose --suite spec --specs "$spec" --out loose
    has "$OUT" "expected 15, got 5"
    check 1 nnvts explain "$spec" --driver xnnpack:loose
    has "$OUT" "padding-counted"
}
# Whatever instructions oneDNN may use: its slips depend on them.
test_onednn() { needs onednn; run_all onednn '^$' none; page_says onednn out; }
test_onednn_avx2() { needs onednn; DNNL_MAX_CPU_ISA=AVX2 run_all onednn '^$' none; }
test_onednn_vectors() {
    needs onednn
    [ -n "$SPECS" ] || skip "NNVTS_SPECS is not set"
    check 0 nnvts run --driver onednn --suite spec --specs "$SPECS" --out out
    [ "$(verdict out PASS)" -gt 2000 ] || fail "only $(verdict out PASS) vectors passed"
}
test_onednn_networks() {
    needs onednn
    check 0 nnvts bench --driver reference,onednn --no-latency --count 2 mobilenet_v2_0.35_96_float32 mobilenet_v2_0.35_96_quant8
    hasnt "$OUT" unsupported
    hasnt "$OUT" FAIL
}
# None of the findings reaches the user; the loose driver shows those that do not need certain processors.
test_onednn_findings() {
    needs onednn
    local isa spec all=$ROOT/tests/findings/onednn
    for isa in ALL AVX2 SSE41; do
        DNNL_MAX_CPU_ISA=$isa check 0 nnvts run --driver onednn --suite spec --specs "$all" --out $isa
        same "$(verdict $isa PASS)" 7 $isa
        same "$(verdict $isa UNSUPPORTED)" 2 $isa
    done
    for spec in log_near_one log_softmax concatenation_zero_points conv_saturates conv_halves_weights; do
        DNNL_MAX_CPU_ISA=AVX2 check 1 nnvts run --driver onednn:loose --suite spec --specs "$all/$spec.json" --out $spec
        same "$(verdict $spec FAIL)" 1 $spec
    done
}
# What the findings expect is right: the reference has every operation of them, cpu most.
test_findings() {
    check 0 nnvts run --driver cpu --suite spec --specs "$ROOT/tests/findings" --out cpu
    [ "$(verdict cpu PASS)" -ge 37 ] || fail "few passed"
    check 0 nnvts run --driver reference --suite spec --specs "$ROOT/tests/findings" --out reference
    same "$(verdict reference PASS)" "$(find "$ROOT/tests/findings" -name '*.json' | wc -l)"
}
run_tests
