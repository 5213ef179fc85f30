#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Networks taken apart: their operations as specs, and as cases of a run.
. "$(dirname "$0")/lib.sh"
try_nothing_again

NETWORKS=$ROOT/mlts/networks/models

# Right answers pass, a driver with a fault of a layer fails in the layers that it is about.
test_specs() {
    check 0 nnvts harvest "$NETWORKS/figures_int8.tflite" -o layers
    has "$OUT" "groups of 1 models in layers"
    has layers/figures_int8.jsonl '"name":"CONV_2D.0"'
    has layers/figures_int8.jsonl '"name":"CONV_2D+DEPTHWISE_CONV_2D+CONV_2D+ADD.' # a residual block
    check 0 nnvts run --driver reference --suite spec --specs layers --out right
    same "$(verdict right PASS)" "$(wc -l <layers/figures_int8.jsonl)"
    check 0 nnvts run --driver cpu --suite spec --specs layers --out cpu
    check 1 nnvts run --driver faulty:add-scale-ignored --suite spec --specs layers --out wrong
    same "$(verdicts wrong | grep FAIL | grep -v ADD)" ""
    [ "$(verdict wrong FAIL)" -ge 3 ] || fail "the groups with ADD do not notice"
}
# A network as a whole is judged by error budgets, and who judged is said.
test_whole_network() {
    check 0 nnvts import "$NETWORKS/figures_float.tflite" -o net.json
    has net.json '"precision":"budget"'
    check 0 nnvts replay net.json --driver cpu
    has "$OUT" "values compared by budget"
    check 0 nnvts replay net.json --driver cpu --precision aosp
    has "$OUT" "values compared by aosp"
    check 0 nnvts run --driver cpu --suite spec --specs net.json --out out
    has out/journal.jsonl '"profile":"budget"'
}
# A failure is weighed by the networks that have it, in a run, in shards and in reports that are made again.
test_weighed() {
    check 0 nnvts harvest "$NETWORKS/figures_int8.tflite" "$NETWORKS/speech_float.tflite" --group 1 -o layers -q
    check 0 nnvts run --driver cpu --suite spec --specs layers --out right
    has "$OUT" " operations 100 % right, 0 % wrong, 0 % not supported"
    hasnt "$OUT" "touches"
    for i in 1 2; do nnvts run --driver faulty:add-scale-ignored --suite spec --specs layers --shard $i/2 --out s$i -q >/dev/null || true; done
    check 1 nnvts merge s1 s2 --out wrong
    check 1 nnvts report wrong
    check 1 nnvts run --driver faulty:add-scale-ignored --suite spec --specs layers --out whole
    has "$OUT" "; what is wrong touches 50 % of the networks, "
    has "$OUT" "; touches 50 % of the networks, "
    has whole/summary.json '"speech_float": {"operations": '
    same "$(grep -A4 '"networks": {' wrong/summary.json)" "$(grep -A4 '"networks": {' whole/summary.json)"
    echo x >layers/harvest.networks
    check 2 nnvts run --driver cpu --suite spec --specs layers --out none
    has "$ERR" "layers/harvest.networks: "
}
# A file that can't be written is no model that can't be read: it ends the command.
test_full_disk() {
    check 3 bash -c "trap '' XFSZ; ulimit -f 1; exec nnvts harvest $NETWORKS/figures_int8.tflite $NETWORKS/speech_float.tflite -o layers"
    has "$ERR" "layers/figures_int8.jsonl"
    hasnt "$OUT" "groups of"
}
# What a network before had is left out; models of one name get files of their own.
test_several_models() {
    mkdir -p models/a models/b
    cp "$NETWORKS/figures_int8.tflite" models/a/net.tflite
    cp "$NETWORKS/figures_int8.tflite" models/b/net.tflite
    check 0 nnvts harvest models -o once
    same "$(cd once && echo *.jsonl)" "net.jsonl"
    cp "$NETWORKS/speech_float.tflite" models/b/net.tflite
    check 0 nnvts harvest models mobilenet_v1_0.25_32_float32 -o all --group 1
    same "$(cd all && echo *.jsonl)" "mobilenet_v1_0.25_32_float32.jsonl net-2.jsonl net.jsonl"
    hasnt all/net.jsonl "CONV_2D+"
    check 0 nnvts harvest models --seed 2 -o other -q
    [ ! -s "$OUT" ] || fail "--quiet speaks"
    check 0 nnvts harvest models --seed 2 -o again -q
    diff -r other again || fail "the same seed gives other files"
}
test_run_models() {
    check 0 nnvts run --driver cpu --suite spec --models "$NETWORKS/figures_int8.tflite" --models "$NETWORKS/speech_float.tflite" --out out
    has out/journal.jsonl "spec/figures_int8/CONV_2D.0"
    has out/journal.jsonl "spec/speech_float/"
    check 0 nnvts run --driver cpu --suite spec --models "$NETWORKS/figures_int8.tflite" --out out
    hasnt out/journal.jsonl "spec/speech_float/" # what was there before is gone
    check 1 nnvts run --driver faulty:add-scale-ignored --suite spec --models "$NETWORKS/figures_int8.tflite" --out bad
    has "$OUT" "nnvts replay bad/dumps/spec.figures_int8."
    check 1 bash -c "$(sed -n 's/.*; start with: //p' "$OUT" | head -n 1)"
    check 2 nnvts run --driver cpu --suite spec --models "$NETWORKS" --specs layers --out out
    has "$ERR" "--specs or --models: not both"
}
# Models that cannot be read are left out by name; a run does not begin without them.
test_bad_models() {
    mkdir models
    cp "$NETWORKS/figures_int8.tflite" models
    echo x >models/net.onnx
    head -c 1000 "$NETWORKS/figures_int8.tflite" >models/cut.tflite
    check 2 nnvts harvest models -o layers
    has "$ERR" "nnvts: models/net.onnx: model: "
    has "$ERR" "nnvts: models/cut.tflite"
    same "$(wc -l <"$ERR")" 2 "errors"
    same "$(cd layers && echo *.jsonl)" "figures_int8.jsonl"
    check 2 nnvts run --driver cpu --suite spec --models models --out out
    has "$ERR" "--models: 2 of 3 could not be read"
    check 2 nnvts harvest
    has "$ERR" "harvest what?"
    check 2 nnvts harvest nosuch.tflite
    same "$(cat "$OUT")" '' "what is printed where no network could be read"
    mkdir empty
    check 2 nnvts harvest empty
    has "$ERR" "empty: no .tflite or .onnx files"
    check 2 nnvts harvest models --group 4
}
# Networks of others, where they are to be had.
test_public_models() {
    [ -n "${NNVTS_MODELS:-}" ] || skip "NNVTS_MODELS is not set"
    check 0 nnvts harvest "$NNVTS_MODELS/resnet8_int8" "$NNVTS_MODELS/kws_int8" "$NNVTS_MODELS/keras_lstm_mnist_ptq" \
        "$NNVTS_MODELS/mobilenet_v1_0.25_128_quant" -o layers
    check 0 nnvts run --driver cpu --suite spec --specs layers --out out
    [ "$(verdict out PASS)" -gt 150 ] || fail "few layers"
}
run_tests
