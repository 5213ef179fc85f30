#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The driver "tflite": TensorFlow Lite's C library, alone and with delegates, where the library was brought (make
# setup-engines). What fails is in docs/use/findings.md, and nothing else does.
. "$(dirname "$0")/lib.sh"
try_nothing_again

PLUGIN=$NNVTS_BUILD/tests/tflite_plugin.so
SPEC=$ROOT/tests/tflite/three.json

needs_library() {
    nnvts run --driver tflite: --filter 'ops/ADD/float32/rank1/0' --out there -q >"$OUT" 2>&1 && return 0
    grep -q 'make setup-engines' "$OUT" || { cat "$OUT" >&2; fail "the driver does not open, and does not say why"; }
    skip "TensorFlow Lite's library is not there (make setup-engines)"
}
# judged DRIVER LEAST PATTERN [PATTERN [OPTION...]]: the whole default run: at least so many cases pass, only those that match the first
# pattern fail, and only those that match the second die. A graph fails by one of the operations OF_GRAPHS.
judged() {
    local code=0 name
    nnvts run --driver "$1" --out out -q "${@:5}" >"$OUT" 2>"$ERR" || code=$?
    [ $code -le 1 ] || fail "exit code $code"
    [ "$(verdict out PASS)" -ge "$2" ] || fail "only $(verdict out PASS) cases passed"
    verdicts out | awk '$2 != "PASS" && $2 != "UNSUPPORTED" && $2 != "SKIP"' >bad
    grep ' FAIL$' bad | grep -Ev "$3" >further || true
    awk '{ print $1 }' further | while read -r name; do grep -F "\"case\":\"$name\"" out/journal.jsonl; done | cut -c1-600 >&2
    # Integer division by 0 fails the whole execution, also of a graph's other words, which are no dump.
    while read -r name _; do grep -F "\"$name\"" out/journal.jsonl | grep -qF 'Division by 0' || goes_wrong_by out "$name" "$1" "$OF_GRAPHS"; done <further
    ! grep -v ' FAIL$' bad | grep -Ev "${4:-^$}" || fail "worse than a wrong value"
}
QUANT_MEAN='^fusion/[^ ]*(mean|layer_norm|squeeze_excite)'
test_default_run() {
    needs_library
    OF_GRAPHS='MEAN|RESIZE_BILINEAR|RESIZE_NEAREST_NEIGHBOR|EQUAL|NOT_EQUAL|GREATER|GREATER_EQUAL|LESS|LESS_EQUAL|LOCAL_RESPONSE_NORMALIZATION|HASHTABLE_LOOKUP'
    judged tflite: 30000 "^ops/(MEAN/quant|QUANTIZE/float32|RESIZE_BILINEAR/quant8_asymm_signed|RESIZE_NEAREST_NEIGHBOR/quant8_asymm/|EQUAL/quant|NOT_EQUAL/quant|GREATER|LESS|LOCAL_RESPONSE|HASHTABLE_LOOKUP)|$QUANT_MEAN|^partition/quant/" \
        '/number_largest/GATHER_'
    page_says tflite: out
}
test_default_run_xnnpack() {
    needs_library
    OF_GRAPHS=none
    judged tflite:delegate=xnnpack 9000 \
        '^ops/(HARD_SWISH|RESIZE_BILINEAR|LOGISTIC/float32/(limits|sweep)|PRELU/float32|(DEPTHWISE_)?CONV_2D)|^fusion/[^ ]*(conv|depthwise|resize|hard_swish|prelu|pad)|^fusion/[^ ]*_stored[^ ]*/float32/(output|several|shared)/|^(randgraph|partition|relations)/' \
        '^(partition|relations|randgraph)/'
    page_says delegate=xnnpack out
}
# nnvts, TensorFlow Lite, NNAPI, nnvts' runtime, cpu.
test_default_run_nnapi() {
    needs_library
    OF_GRAPHS=MIRROR_PAD
    # The delegate keeps descriptors of each model, and seldom (2 of some 25 runs) dies where threads prepare models at once.
    judged tflite:delegate=nnapi 30000 '^ops/MIRROR_PAD|^fusion/[^ ]*mirror_pad|^isolation/leak_|^partition/|^exec/many/threads_prepare/' \
        '^partition/|^exec/many/threads_prepare/' --leaks off
    page_says delegate=nnapi out
}
# All public vectors but the one that divides by 0.
test_vectors() {
    needs_library
    [ -n "$SPECS" ] || skip "NNVTS_SPECS is not set"
    check 1 nnvts run --driver tflite: --suite spec --specs "$SPECS" --out out -q
    [ "$(verdict out PASS)" -gt 1800 ] || fail "only $(verdict out PASS) vectors passed"
    same "$(verdicts out | grep FAIL)" "spec/V1_3/div_int32/div_int32_by_zero FAIL"
    nnvts run --driver tflite:delegate=xnnpack --suite spec --specs "$SPECS" --out xnnpack -q >"$OUT" 2>&1 || true
    same "$(verdicts xnnpack | grep FAIL)" ""
    [ "$(verdict xnnpack PASS)" -gt 400 ] || fail "only $(verdict xnnpack PASS) vectors passed"
}
# Drivers in a folder beside which nothing was brought.
test_nothing_brought() {
    mkdir drivers
    cp "$NNVTS_BUILD/drivers/cpu.so" "$NNVTS_BUILD/drivers/tflite.so" drivers
    export NNVTS_DRIVER_PATH=$PWD/drivers
    check 2 nnvts run --driver "$PWD/drivers/tflite.so" --out out
    has "$ERR" "TensorFlow Lite's library can't be opened: make setup-engines brings it"
    check 2 nnvts run --driver "$PWD/drivers/tflite.so:delegate=xnnpack" --out out
    has "$ERR" "make setup-engines brings it"
}
test_missing_library() {
    check 2 nnvts run --driver tflite:lib=/nowhere/libtensorflowlite_c.so --out out
    has "$ERR" "make setup-engines brings it, lib=PATH names one (/nowhere/libtensorflowlite_c.so"
    check 2 nnvts run --driver "tflite:lib=$NNVTS_BUILD/drivers/cpu.so" --out out
    has "$ERR" "lacks TfLite"
    check 2 nnvts run --driver tflite:colour=red --out out
    has "$ERR" 'delegate=none|xnnpack|nnapi|PATH'
}
# Nothing fails that the right one takes, and it takes nothing but its three operations.
test_plugin() {
    needs_library
    check 0 nnvts run --driver "tflite:delegate=$PLUGIN" --out out -q
    [ "$(verdict out PASS)" -gt 2000 ] || fail "only $(verdict out PASS) cases passed"
    grep -h '"verdict": *"PASS"' out/journal.jsonl | sed -n 's/.*"case": *"ops\/\([A-Z_0-9]*\)\/float32\/cover.*/\1/p' | sort -u | tr '\n' ' ' >took
    same "$(cat took)" "ADD CONV_2D MUL "
}
test_fallback() {
    needs_library
    check 1 nnvts run --driver "tflite:delegate=$PLUGIN" --suite spec --specs "$SPEC" --out strict # nothing was compared
    same "$(verdict strict UNSUPPORTED)" 1
    has strict/journal.jsonl "the driver does not support operation 1 (NEG): the delegate took 2 of 3 operations"
    check 0 nnvts run --driver "tflite:delegate=$PLUGIN,fallback=allowed" --suite spec --specs "$SPEC" --out allowed
    same "$(verdict allowed PASS)" 1
}
test_faulty_plugin() {
    needs_library
    check 1 nnvts run --driver "tflite:delegate=$PLUGIN,option.fault=bias" --filter 'ops/CONV_2D/float32/cover/*' --out out
    local dump
    dump=$(find out/dumps -name '*.json' | sort | head -n 1)
    check 1 nnvts explain "$dump" --driver "tflite:delegate=$PLUGIN,option.fault=bias"
    has "$OUT" "bias-ignored"
}
# Plug-ins that refuse, that change their mind, that fail.
test_bad_plugins() {
    needs_library
    check 2 nnvts run --driver "tflite:delegate=$PLUGIN,option.fault=create" --out out
    has "$ERR" "the delegate refused to be created: the accelerator is busy"
    check 2 nnvts run --driver "tflite:delegate=$PLUGIN,option.colour=red" --out out
    has "$ERR" "it does not know this option"
    check 2 nnvts run --driver "tflite:delegate=$NNVTS_BUILD/drivers/cpu.so" --out out
    has "$ERR" "is no plug-in of TensorFlow Lite"
    check 2 nnvts run --driver tflite:delegate=xnnpack,option.a=b --out out
    has "$ERR" "for a delegate that is a plug-in"
    check 1 nnvts run --driver "tflite:delegate=$PLUGIN,option.fault=fickle" --filter 'ops/ADD/float32/rank1/*' --out fickle
    has "$OUT" "although the driver had claimed to support the model: the delegate took 0 of 1 operations"
    check 1 nnvts run --driver "tflite:delegate=$PLUGIN,option.fault=invoke" --filter 'ops/ADD/float32/rank1/*' --out invoke
    has "$OUT" "execute answered GENERAL_FAILURE"
}
test_findings() {
    needs_library
    local driver spec all=$ROOT/tests/findings/tflite
    for spec in mean_quant8_truncates resize_quant8_signed_positions resize_nearest_quant8 less_quant8 equal_quant8 local_response_normalization; do
        check 1 nnvts run --driver tflite: --suite spec --specs "$all/$spec.json" --out $spec
        same "$(verdict $spec FAIL)" 1 $spec
    done
    check 1 nnvts run --driver tflite:loose --suite spec --specs "$all/broadcast_of_five_dimensions.json" --out rank5
    same "$(verdict rank5 CRASH)" 1
    check 1 nnvts run --driver tflite:delegate=xnnpack --suite spec --specs "$all/xnnpack_conv_same.json" --out same
    same "$(verdict same FAIL)" 1
    check 1 nnvts run --driver tflite:delegate=nnapi --suite spec --specs "$all/nnapi_mirror_pad.json" --out mirror
    same "$(verdict mirror FAIL)" 1
}
# SQUEEZE of axes that are named once or twice, and of more than one number, is computed.
test_squeeze() {
    needs_library
    check 0 nnvts run --driver tflite: --filter 'ops/SQUEEZE/float32/some/* | ops/SQUEEZE/float32/twice/*' --out out
    [ "$(verdict out PASS)" -gt 0 ] || fail "no case passed"
    same "$(verdict out UNSUPPORTED)" 0
}
# Windows that reach beyond all channels, and scales that the library dies of.
test_large_parameters() {
    needs_library
    check 0 nnvts run --driver tflite: --suite spec --specs "$ROOT/tests/tflite/large_radius.json" --out radius
    check 1 nnvts run --driver tflite: --suite spec --specs "$ROOT/tests/findings/tflite/add_large_scale.json" --out scale
    has scale/journal.jsonl "dies of scales so far apart"
    check 1 nnvts run --driver tflite:loose --suite spec --specs "$ROOT/tests/findings/tflite/add_large_scale.json" --out loose
    same "$(verdict loose CRASH)" 1
}
test_networks() {
    needs_library
    check 0 nnvts bench --driver reference,tflite: --no-latency --count 2 mobilenet_v2_0.35_96_float32 mobilenet_v2_0.35_96_quant8
    hasnt "$OUT" FAIL
}
run_tests
