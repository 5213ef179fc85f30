#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorFlow Lite as an application: its stock C library with its NNAPI delegate runs on our libneuralnetworks.so.
. "$(dirname "$0")/lib.sh"

TFLITE=$NNVTS_BUILD/engines/tflite

# Its library as make setup-engines brings it, or as it can be brought now.
needs_tflite() {
    command -v pkg-config >/dev/null || skip "needs pkg-config"
    ! nm -D --undefined-only "$NNVTS_BUILD/lib/libneuralnetworks.so" | grep -q '__asan_\|__tsan_' ||
        skip "the library is built with a sanitizer"
    [ -d "$TFLITE" ] || "$ROOT/tools/setup-npm.sh" "$NNVTS_BUILD/engines" tflite >log 2>&1 ||
        skip "no TensorFlow Lite: $(tail -n 1 log)"
}
build_classify() {
    # shellcheck disable=SC2046
    check 0 gcc -std=c17 -O2 -Wall -Wextra -Wpedantic -Werror -I "$TFLITE/include" -o tflite_classify \
        "$ROOT/tools/tflite_classify.c" -L "$TFLITE/lib" -ltensorflowlite_c -Wl,-rpath,"$TFLITE/lib" \
        $(pkg-config --cflags --libs libpng) -lm
    export LD_LIBRARY_PATH=$NNVTS_BUILD/lib
}
# What ran on NNAPI: executions that the runtime tells of.
executions() { grep -c '^nnapi: execution: ' "$ERR" || true; }
apart() { sed -n 's/.*largest difference \([^ ]*\) of .*/\1/p' "$OUT"; }
# at_most SHARE: the outputs lie apart by at most this share of the largest value
at_most() {
    sed -n 's/.*largest difference \([^ ]*\) of \(.*\)/\1 \2/p' "$OUT" | awk -v s="$1" '{exit !($1 <= s * $2)}' ||
        fail "$2: more than $1: $(tail -n 1 "$OUT")"
}

test_the_page() {
    needs_tflite
    mkdir -p build
    ln -s "$ROOT/tools" "$ROOT/mlts" .
    ln -s "$NNVTS_BUILD/lib" "$NNVTS_BUILD/engines" build
    local line n=0
    while IFS= read -r line; do
        check 0 bash -c "$line"
        n=$((n + 1))
    done < <(sed -n '/^ *```console/,/^ *```$/s/^ *\$ //p' "$ROOT/docs/use/tflite.md")
    same $n 5 "examples of docs/use/tflite.md"
    [ "$(executions)" -gt 0 ] || fail "nothing ran on NNAPI"
}
test_models_of_our_own() {
    needs_tflite
    build_classify
    check 0 nnvts data pictures --count 20 -o figures
    local model picture
    for model in figures_float figures_uint8 figures_int8; do
        for picture in figures/*.png; do
            NNVTS_VLOG=execution check 0 ./tflite_classify "$ROOT/mlts/networks/models/$model.tflite" --runs 1 "$picture"
            [ "$(executions)" -gt 0 ] || fail "nothing ran on NNAPI"
            has "$OUT" "NNAPI: $NNVTS_BUILD/lib/libneuralnetworks.so"
            [ $model != figures_float ] || at_most 1e-5 "$picture"
        done
    done
}
# Real models on their stored inputs: float within a hundred-thousandth of the largest value, quantised with the same class.
test_real_models() {
    needs_tflite
    [ -n "${NNVTS_MODELS:-}" ] || skip "NNVTS_MODELS is not set"
    build_classify
    local folder i inputs done=0
    for folder in "$NNVTS_MODELS"/*/; do
        [ -e "$folder/model.tflite" ] || continue
        case $folder in
        # the delegate hands over int8 UNIDIRECTIONAL_SEQUENCE_LSTM, which NNAPI has not
        */keras_lstm_mnist_ptq/)
            check 2 ./tflite_classify "$folder/model.tflite" --runs 1 "$folder/input_0_0.bin"
            has "$ERR" "cannot be prepared through NNAPI"
            continue
            ;;
        esac
        for i in 0 1 2; do
            inputs=$(ls "$folder"/input_*_$i.bin)
            # ad01 is an auto-encoder: it has no classes
            # shellcheck disable=SC2086
            NNVTS_VLOG=execution check 0 ./tflite_classify "$folder/model.tflite" --runs 1 $inputs
            [ "$(executions)" -gt 0 ] || fail "$folder: nothing ran on NNAPI"
            case $folder in *float/ | *fp32/) at_most 1e-5 "$folder" ;; *) at_most 0.15 "$folder" ;; esac
            done=$((done + 1))
        done
    done
    [ $done -gt 3 ] || fail "no models in $NNVTS_MODELS"
}
test_bad_input() {
    needs_tflite
    build_classify
    local model=$ROOT/mlts/networks/models/figures_int8.tflite
    check 2 ./tflite_classify
    has "$ERR" "usage: tflite_classify"
    check 2 ./tflite_classify nowhere.tflite x.png
    has "$ERR" "nowhere.tflite: no TensorFlow Lite model"
    check 2 ./tflite_classify "$model" nowhere.png
    has "$ERR" "nowhere.png"
    echo abc >short.bin
    check 2 ./tflite_classify "$model" short.bin
    has "$ERR" "short.bin does not have the input's"
    LD_LIBRARY_PATH= check 2 ./tflite_classify "$model" short.bin
    has "$ERR" "LD_LIBRARY_PATH must have its folder"
    check 2 "$ROOT/tools/setup-npm.sh" engines nothing
    has "$ERR" "no package is called nothing"
}
run_tests
