#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The driver "ort": ONNX Runtime's C library, where it was brought (make setup-engines). What fails is in
# docs/use/findings.md, and nothing else does.
. "$(dirname "$0")/lib.sh"
try_nothing_again

needs_library() {
    nnvts run --driver ort: --filter 'ops/ADD/float32/rank1/0' --out there -q >"$OUT" 2>&1 && return 0
    grep -q 'make setup-engines' "$OUT" || { cat "$OUT" >&2; fail "the driver does not open, and does not say why"; }
    skip "ONNX Runtime's library is not there (make setup-engines)"
}
test_default_run() {
    needs_library
    local code=0
    nnvts run --driver ort: --out out -q >"$OUT" 2>"$ERR" || code=$?
    [ $code -le 1 ] || fail "exit code $code"
    [ "$(verdict out PASS)" -gt 45000 ] || fail "only $(verdict out PASS) cases passed"
    verdicts out | awk '$2 != "PASS" && $2 != "UNSUPPORTED" && $2 != "SKIP"' >bad
    ! grep -v ' FAIL$' bad || fail "worse than a wrong value"
    ! grep -Ev '^ops/(LOGISTIC/float32|RESIZE_BILINEAR/float32|RESIZE_NEAREST_NEIGHBOR/(float32|quant8_asymm)/size|SOFTMAX/quant8_asymm|LOCAL_RESPONSE_NORMALIZATION)|^fusion/([^ ]*logistic|dequantize\+(fc|conv)\+quantize)|^shapes/contradictions/LOGISTIC|^isolation/leak_errors/|^exec/at_once/LOGISTIC/float32/' bad ||
        fail "not in docs/use/findings.md"
    page_says ort: out
}
test_vectors() {
    needs_library
    [ -n "$SPECS" ] || skip "NNVTS_SPECS is not set"
    check 0 nnvts run --driver ort: --suite spec --specs "$SPECS" --out out -q
    [ "$(verdict out PASS)" -gt 3500 ] || fail "only $(verdict out PASS) vectors passed"
}
test_missing_library() {
    check 2 nnvts run --driver ort:lib=/nowhere/libonnxruntime.so --out out
    has "$ERR" "make setup-engines brings it, lib=PATH names one (/nowhere/libonnxruntime.so"
    check 2 nnvts run --driver "ort:lib=$NNVTS_BUILD/drivers/cpu.so" --out out
    has "$ERR" "is no ONNX Runtime"
    check 2 nnvts run --driver ort:colour=red --out out
    has "$ERR" '"ep=NAME"'
}
# An operation of two inputs is taken, though another of the model is not.
test_taken_beside_what_is_refused() {
    needs_library
    cat >two.json <<'EOF'
{"format":"nnvts-spec/1","name":"two","main":{"operands":[
{"type":"TENSOR_FLOAT32","dims":[1,2],"lifetime":"SUBGRAPH_INPUT","data":[0,1]},
{"type":"TENSOR_FLOAT32","dims":[1,2],"lifetime":"SUBGRAPH_INPUT","data":[2,3]},
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[0]},
{"type":"TENSOR_FLOAT32","dims":[1,2],"lifetime":"TEMPORARY_VARIABLE"},
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[1]},
{"type":"TENSOR_INT32","dims":[2],"lifetime":"CONSTANT_COPY","data":[1,2]},
{"type":"TENSOR_INT32","dims":[1,1],"lifetime":"SUBGRAPH_OUTPUT","data":[0]}],
"operations":[{"type":"ADD","inputs":[0,1,2],"outputs":[3]},
{"type":"RANDOM_MULTINOMIAL","inputs":[3,4,5],"outputs":[6]}],"inputs":[0,1],"outputs":[6]},"referenced":[]}
EOF
    check 0 nnvts plan two.json --drivers ort:
    has "$OUT" "1 of 2 operations on drivers"
}
# A response normalised by the square itself: x / (0 + 1 * x^2)^1.
test_response_normalised() {
    needs_library
    cat >lrn.json <<'EOF'
{"format":"nnvts-spec/1","name":"lrn","main":{"operands":[
{"type":"TENSOR_FLOAT32","dims":[1,1,2,1],"lifetime":"SUBGRAPH_INPUT","data":[2,-4]},
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[1]},
{"type":"FLOAT32","dims":[],"lifetime":"CONSTANT_COPY","data":[0]},
{"type":"FLOAT32","dims":[],"lifetime":"CONSTANT_COPY","data":[1]},
{"type":"FLOAT32","dims":[],"lifetime":"CONSTANT_COPY","data":[1]},
{"type":"TENSOR_FLOAT32","dims":[1,1,2,1],"lifetime":"SUBGRAPH_OUTPUT","data":[0.5,-0.25]}],
"operations":[{"type":"LOCAL_RESPONSE_NORMALIZATION","inputs":[0,1,2,3,4],"outputs":[5]}],
"inputs":[0],"outputs":[5]},"referenced":[]}
EOF
    check 0 nnvts run --driver ort: --suite spec --specs lrn.json --out out -q
    same "$(verdict out PASS)" 1
}
# ONNX rounds the end of a range to even, NNAPI away from 0: an end in the middle between two codes is refused, and it
# alone. 1 / 2 and 1 / 0.4 are such middles of RELU1, 6 / 4 is one of RELU6.
test_ends_of_ranges() {
    needs_library
    local what operation scale verdict
    mkdir specs
    for what in RELU1:2:UNSUPPORTED RELU1:0.4:UNSUPPORTED RELU1:0.5:PASS RELU1:4:PASS \
        RELU6:4:UNSUPPORTED RELU6:2:PASS RELU6:0.4:PASS RELU:2:PASS RELU:4:PASS; do
        IFS=: read -r operation scale verdict <<<"$what"
        cat >"specs/${operation}_$scale.json" <<EOF
{"format":"nnvts-spec/1","name":"${operation}_$scale","main":{"operands":[
{"type":"TENSOR_QUANT8_ASYMM","dims":[1],"scale":$scale,"zero_point":100,"lifetime":"SUBGRAPH_INPUT","data":[100]},
{"type":"TENSOR_QUANT8_ASYMM","dims":[1],"scale":$scale,"zero_point":100,"lifetime":"SUBGRAPH_OUTPUT","data":[100]}],
"operations":[{"type":"$operation","inputs":[0],"outputs":[1]}],"inputs":[0],"outputs":[1]},"referenced":[]}
EOF
        echo "spec/${operation}_$scale/${operation}_$scale $verdict"
    done | sort >expected
    check 0 nnvts run --driver ort: --suite spec --specs specs --out out
    same "$(verdicts out)" "$(cat expected)"
}
# A provider that the library does not have, or does not know, is an error, and not the CPU in its stead.
test_missing_provider() {
    needs_library
    check 2 nnvts run --driver ort:ep=XNNPACK --out out
    has "$ERR" "XNNPACK"
    check 2 nnvts run --driver ort:ep=Abacus --out out
    has "$ERR" "Abacus"
    check 2 nnvts run --driver ort:option.a=b --out out
    has "$ERR" "is for an execution provider"
}
test_findings() {
    needs_library
    local all=$ROOT/tests/findings/ort
    check 1 nnvts run --driver ort: --suite spec --specs "$all" --out out
    same "$(verdict out FAIL)" "$(find "$all" -name '*.json' | wc -l)"
    check 1 nnvts explain "$all/softmax_quant8_wraps.json" --driver ort:
    has "$OUT" "wraps-at-the-top"
}
test_large_radius() {
    needs_library
    check 0 nnvts run --driver ort: --suite spec --specs "$ROOT/tests/tflite/large_radius.json" --out radius
}
test_networks() {
    needs_library
    check 0 nnvts bench --driver reference,ort: --no-latency --count 2 mobilenet_v2_0.35_96_float32 mobilenet_v2_0.35_96_quant8
    hasnt "$OUT" FAIL
}
run_tests
