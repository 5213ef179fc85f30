#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ONNX models: imported, compiled, taken apart, measured; and ONNX's own tests as cases of the suite spec.
. "$(dirname "$0")/lib.sh"

networks() {
    mkdir -p nets
    local folder=$PWD/nets
    (cd "$ROOT" && "$NNVTS_BUILD/tests/test_onnx" "$folder")
}
# compiled NAME OPERATIONS DRIVER...: one region of NNAPI, which gives the program's values on each driver
compiled() {
    networks
    local name=$1
    check 0 nnvts compile "nets/$name.onnx" -o "$name"
    has "$OUT" " 0 operations on the host"
    shift
    for driver in "$@"; do
        check 0 nnvts run-compiled "$name" --driver "$driver" --compare
        has "$OUT" "1 runs, PASS"
    done
}
test_mobilenet() { compiled mobilenet_v2 cpu host:cpu sample:float-fast sample:float-slow; }
test_resnet() { compiled resnet18 cpu host:cpu sample:float-fast sample:float-slow; }
test_encoder() { compiled encoder cpu host:cpu sample:float-fast sample:float-slow; }
test_mobilenet_int8() { compiled mobilenet_v2_int8 cpu host:cpu sample:quant,cpu sample:float-fast,cpu; }
test_resnet_int8() { compiled resnet18_int8 cpu host:cpu sample:quant,cpu sample:float-fast,cpu; }
test_encoder_int8() { compiled encoder_int8 cpu host:cpu sample:quant,cpu sample:float-fast,cpu; }
test_wrong_driver_is_found() {
    networks
    check 0 nnvts compile nets/mobilenet_v2.onnx -o m
    check 1 nnvts run-compiled m --driver faulty:filter-flipped --compare
    has "$OUT" "values wrong"
}
test_verbs() {
    networks
    check 0 nnvts show nets/encoder.onnx
    has "$OUT" "operator set 17: "
    has "$OUT" "input  FLOAT [1,6,16]  tokens"
    has "$OUT" "8  MatMul"
    has "$OUT" "0 states, valid from feature level "
    check 0 nnvts import nets/encoder.onnx -o encoder.json
    check 0 nnvts replay encoder.json --driver cpu
    check 0 nnvts import nets/encoder.onnx -o encoder.relay
    check 0 nnvts partition encoder.relay
    check 0 nnvts partition nets/encoder_int8.onnx --patterns nnapi
    has "$OUT" " in 1 region"
    check 0 nnvts bench --driver cpu --model nets/mobilenet_v2_int8.onnx --count 2 --no-latency
    check 0 nnvts harvest nets -o layers
    has "$OUT" " of 6 models in layers"
    check 0 nnvts run --driver cpu --suite spec --models nets/resnet18_int8.onnx --out out
    check 2 nnvts compile nets/encoder.onnx --params "$ROOT/tests/relay/conv.json"
    has "$ERR" "encoder.onnx is an ONNX model, which holds all values itself"
    head -c 3000 nets/encoder.onnx >cut.onnx
    check 2 nnvts import cut.onnx -o cut.json
    has "$ERR" "nnvts: cut.onnx: "
    check 2 nnvts show cut.onnx
}
# A folder of ONNX's form: the data beside a model are inputs and outputs of cases; what has no equal is UNSUPPORTED.
test_node_tests() {
    [ -n "${NNVTS_ONNX:-}" ] || skip "NNVTS_ONNX is not set"
    for driver in cpu reference; do
        check 0 nnvts run --driver $driver --suite spec --specs "$NNVTS_ONNX" --filter '!name:*light*' --out $driver
        has "$OUT" ", 0 failed, "
        hasnt "$OUT" " in error"
    done
    check 2 nnvts import "$NNVTS_ONNX/test_add_uint8" "$NNVTS_ONNX/test_equal_string" -o specs
    has "$ERR" "model.onnx: 1 operator is not supported: Equal of STRING (1)"
    check 0 nnvts run --driver cpu --suite spec --specs specs --out imported
    has "$OUT" "1 passed"
}
# The tests of ONNX that Debian packages: what is supported is right, and those that are not are neither failed nor in error.
test_debian_testdata() {
    local data=/usr/share/libonnx-testdata/data
    [ -d "$data" ] || skip "Debian's libonnx-testdata is not there (make setup-vectors)"
    # real/ has the models' addresses alone; the two others have results that hang on a choice among equals
    local cases='spec/node/* | spec/simple/* | spec/pytorch-*'
    for driver in cpu reference; do
        check 0 nnvts run --driver $driver --suite spec --specs "$data" --out $driver \
            --filter "($cases) & !name:*gathernd_example_float32* & !name:*hardmax_one_hot*"
        [ "$(verdict $driver PASS)" -ge 700 ] || fail "$(verdict $driver PASS) passed"
        same "$(verdict $driver ERROR)" 0
    done
    check 0 nnvts import "$data/node/test_relu" -o relu.jsonl
    check 0 nnvts run --driver cpu --suite spec --specs relu.jsonl --out relu
}
run_tests
