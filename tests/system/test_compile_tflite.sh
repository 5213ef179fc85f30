#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorFlow Lite models through the compiler: divided, compiled, run on a driver, and as Relay text.
. "$(dirname "$0")/lib.sh"

MODELS=$ROOT/mlts/networks/models
ELU='elu.onnx: 1 operation has no Relay form as it is used here: ELU (1)'

# A model of ONNX with one Elu of three numbers.
elu() {
    local type='\022\012\012\010\010\001\022\004\012\002\010\003'
    # shellcheck disable=SC2059
    printf "\010\010B\002\020\015:2\012\013\012\001x\022\001y\042\003Elu\022\001gZ\017\012\001x${type}b\017\012\001y$type" >elu.onnx
}
# whole MODEL OPERATIONS: one region of NNAPI, which gives the program's values on the driver cpu
whole() {
    check 0 nnvts compile "$MODELS/$1.tflite" -o "$1"
    has "$OUT" " $2 operations, feature level "
    has "$OUT" ": 1 region, "
    has "$OUT" " 0 operations on the host"
    check 0 nnvts run-compiled "$1" --driver cpu --compare
    has "$OUT" "1 runs, PASS"
    hasnt "$OUT" "on the host"
}
# NNAPI gets as many operations as the file has operators: what became several Relay operators is one again.
test_float() {
    whole figures_float 21
    check 1 nnvts run-compiled figures_float --driver faulty:filter-flipped --compare
    has "$OUT" "values wrong"
}
test_int8() { whole figures_int8 21; }
test_uint8() { whole figures_uint8 21; }
# A layer of an LSTM is its steps.
test_lstm() {
    check 0 nnvts compile "$MODELS/speech_float.tflite" -o speech
    has "$OUT" ": 1 region, "
    has "$OUT" " 0 operations on the host"
    check 0 nnvts run-compiled speech --driver cpu --compare
    check 1 nnvts run-compiled speech --driver faulty:float16-inside --compare
}
test_partition() {
    check 0 nnvts partition "$MODELS/figures_float.tflite" --patterns nnapi
    has "$OUT" "nnapi.conv2d_bias "
    has "$OUT" "21 of 21 operations in 1 region"
    check 0 nnvts partition "$MODELS/figures_int8.tflite" --patterns nnapi --html page.html --json
    has "$OUT" '"nnapi.qnn_conv2d"'
    has page.html figures_int8.tflite
    check 0 nnvts partition "$MODELS/figures_int8.tflite" --patterns nnapi --level 1
    has "$OUT" "on the host: qnn.conv2d" # scales for channels came with level 3
    check 2 nnvts partition "$MODELS/figures_float.tflite" --patterns nnapi --level 8
    has "$ERR" "--level 8: expected a feature level from 1 to 7"
    check 0 nnvts partition "$MODELS/figures_int8.tflite" --patterns nnapi --cost default
}
test_profile() {
    check 0 nnvts profile "$MODELS/figures_float.tflite" --driver cpu --time 0.001 --no-regions -o p.json
    has "$OUT" "nn.conv2d"
    check 0 nnvts partition "$MODELS/figures_float.tflite" --patterns nnapi --cost p.json
}
# As Relay text it is the same program.
test_relay_text() {
    check 0 nnvts import "$MODELS/figures_int8.tflite" -o net.relay
    has "$OUT" "1 Relay programs of 1 files in net.relay"
    has net.relay 'def @main(%picture: Tensor[(1, 48, 48, 3), int8])'
    check 0 nnvts import "$MODELS/figures_int8.tflite" --relay
    cmp "$OUT" net.relay || fail "stdout gets another program"
    check 0 nnvts show "$MODELS/figures_int8.tflite" --as relay
    cmp "$OUT" net.relay || fail "show gives another program"
    check 0 nnvts show net.relay --as relay
    cmp "$OUT" net.relay || fail "printed again it is another program"
    check 0 nnvts compile net.relay --no-build -o text
    check 0 nnvts compile "$MODELS/figures_int8.tflite" --no-build -o model
    diff -r text model || fail "the text compiles to something else"
    for f in net.relay "$MODELS/figures_int8.tflite"; do
        check 0 nnvts partition "$f" --patterns nnapi --text
        [ -e divided ] || cp "$OUT" divided
        cmp "$OUT" divided || fail "the text is divided in another way"
    done
}
# A folder: each where it was; what can't be converted is named, the rest is there.
test_folder() {
    cp "$MODELS"/*.tflite .
    elu
    check 2 nnvts import . --relay -o out
    has "$ERR" "$ELU"
    same "$(wc -l <"$ERR")" 1 "lines of error"
    has "$OUT" "4 Relay programs of 4 files in out"
    same "$(cd out && echo *)" "figures_float.relay figures_int8.relay figures_uint8.relay speech_float.relay"
    check 2 nnvts import "$MODELS/figures_int8.tflite" "$MODELS/figures_uint8.tflite" -o both.relay
    has "$ERR" "need a folder"
    [ ! -e both.relay ] || fail "something was written"
    check 2 nnvts import "$ROOT/tests/import" --relay -o out
    has "$ERR" "no .tflite or .onnx files"
}
# Specs, too.
test_spec_as_relay() {
    check 0 nnvts show "$ROOT/tests/conformance/example.json" --as relay
    cp "$OUT" spec.relay
    has spec.relay "clip(%0, a_min=0f, a_max=6f)"
    check 0 nnvts compile spec.relay -o spec
    check 0 nnvts run-compiled spec --driver cpu --compare
}
test_what_has_no_form() {
    local verb
    elu
    for verb in partition compile "import --relay" "show --as relay"; do
        # shellcheck disable=SC2086
        check 2 nnvts $verb elu.onnx
        has "$ERR" "$ELU"
        same "$(wc -l <"$ERR")" 1 "lines of error"
    done
    check 0 nnvts show elu.onnx
    has "$OUT" "Relay: ${ELU#*: }"
    check 0 nnvts show "$MODELS/figures_int8.tflite"
    has "$OUT" "Relay: 75 operations"
}
test_bad_input() {
    check 2 nnvts compile "$MODELS/figures_int8.tflite" --params "$ROOT/tests/relay/conv.json"
    has "$ERR" "--params: $MODELS/figures_int8.tflite is a TensorFlow Lite model"
    head -c 3000 "$MODELS/figures_int8.tflite" >short.tflite
    check 2 nnvts compile short.tflite
    has "$ERR" "short.tflite: "
    same "$(wc -l <"$ERR")" 1 "lines of error"
    echo 'def @main(%x: float32) { exp(%x) }' >text.tflite
    check 2 nnvts partition text.tflite
    has "$ERR" "text.tflite: "
    : >empty.tflite
    check 2 nnvts profile empty.tflite --driver cpu
    has "$ERR" "empty.tflite: "
}
# Told by its first bytes, whatever it is called.
test_by_content() {
    cp "$MODELS/figures_float.tflite" model.bin
    check 0 nnvts compile model.bin --no-build -o out
    has "$OUT" "1 region, "
}
# Models of other makers: NNVTS_MODELS is a folder of NAME/model.tflite.
test_other_models() {
    [ -n "${NNVTS_MODELS:-}" ] || skip "NNVTS_MODELS is not set"
    local f name n=0
    for f in "$NNVTS_MODELS"/*/model.tflite; do
        name=$(basename "$(dirname "$f")")
        nnvts show "$f" >summary
        grep -q '^Relay: [0-9]* operations$' summary || continue
        check 0 nnvts partition "$f" --patterns nnapi
        has "$OUT" " operations in 1 region"
        hasnt "$OUT" "on the host"
        n=$((n + 1))
        [ "$(stat -L -c %s "$f")" -lt 300000 ] || continue
        check 0 nnvts compile "$f" -o "$name"
        check 0 nnvts run-compiled "$name" --driver cpu --compare
    done
    [ $n -gt 0 ] || fail "no models in $NNVTS_MODELS"
}
run_tests
