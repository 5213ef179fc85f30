#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# AOSP's generated test models: imported, the specs run; and run as they are.
. "$(dirname "$0")/lib.sh"

# The models of the project's own, in a folder as AOSP has it.
generated() {
    mkdir -p generated/spec_V1_0 generated/spec_V1_2
    cp "$ROOT"/tests/import/{clamped_sum,rank_mismatch}.example.cpp generated/spec_V1_0
    cp "$ROOT"/tests/import/opposite.example.cpp generated/spec_V1_2
    echo "int other;" >generated/other.cpp
}
names() { grep -o '"name":"[^"]*"' "$1" | cut -d'"' -f4 | tr '\n' ' '; }

test_folder() {
    generated
    check 0 nnvts import generated -o specs
    has "$OUT" "5 specs of 3 files in specs"
    same "$(cd specs && find . -type f | sort | tr '\n' ' ')" \
        "./spec_V1_0/clamped_sum.jsonl ./spec_V1_0/rank_mismatch.jsonl ./spec_V1_2/opposite.jsonl "
    same "$(names specs/spec_V1_0/clamped_sum.jsonl)" "clamped_sum clamped_sum_quant8 "
    same "$(names specs/spec_V1_2/opposite.jsonl)" "opposite_bool opposite_float16 "
    check 0 nnvts run --driver reference --suite spec --specs specs --out imported
    check 0 nnvts run --driver reference --suite spec --specs generated --out direct
    same "$(verdict imported PASS)" 5
    same "$(verdicts imported)" "$(verdicts direct)"
    has direct/journal.jsonl "spec/spec_V1_2/opposite/opposite_bool"
    check 0 nnvts run --driver reference --suite spec --specs generated --filter 'tag:relaxed & type:float16' --out some
    same "$(verdict some PASS)" 1
}
# The values are compared: a wrong one fails, and says which.
test_wrong_value() {
    generated
    sed -i 's/{1.5f, 0.0f, 3.5f, 5.25f}/{1.5f, 0.0f, 3.5f, 5.5f}/' generated/spec_V1_0/clamped_sum.example.cpp
    check 1 nnvts run --driver reference --suite spec --specs generated --out out
    same "$(verdict out FAIL)" 1
    has "$OUT" "clamped_sum"
}
test_one_file() {
    generated
    check 0 nnvts import generated -o all.jsonl -q
    same "$(wc -l <all.jsonl)" 5
    [ ! -s "$OUT" ] || fail "--quiet speaks"
    check 0 nnvts import generated/spec_V1_0/clamped_sum.example.cpp
    same "$(names "$OUT")" "clamped_sum clamped_sum_quant8 "
    check 0 nnvts import generated/spec_V1_0/clamped_sum.example.cpp generated/spec_V1_2/ -o specs
    [ -s specs/clamped_sum.jsonl ] && [ -s specs/opposite.jsonl ] || fail "where are the specs?"
    check 2 nnvts import generated -o all.json
    has "$ERR" ".jsonl"
}
# Names are unique in a file, and no file is written over that was written just before.
test_same_names() {
    generated
    cp generated/spec_V1_0/clamped_sum.example.cpp generated/spec_V1_2
    check 2 nnvts import generated -o all.jsonl
    has "$ERR" "generated/spec_V1_2/clamped_sum.example.cpp: the name 'clamped_sum' is of generated/spec_V1_0/clamped_sum"
    same "$(names all.jsonl)" "clamped_sum clamped_sum_quant8 rank_mismatch opposite_bool opposite_float16 "
    check 2 nnvts import generated/spec_V1_0 generated/spec_V1_2 -o specs
    has "$ERR" "generated/spec_V1_2/clamped_sum.example.cpp: 'specs/clamped_sum.jsonl' is of generated/spec_V1_0/clamped_sum"
    check 0 nnvts import generated -o specs
    same "$(find specs -name 'clamped*' | wc -l)" 3
}
test_other_verbs() {
    generated
    check 0 nnvts show generated/spec_V1_0/clamped_sum.example.cpp -k '*_quant8'
    has "$OUT" "ADD"
    has "$OUT" "valid from feature level 1"
    check 0 nnvts replay generated/spec_V1_2/opposite.example.cpp --driver reference
    has "$OUT" "PASS spec/opposite/opposite_float16"
    check 0 nnvts list --suite spec --specs generated --filter op:NEG
    has "$OUT" "spec/spec_V1_2/opposite/opposite_float16"
}
# A file that does not fit gets one error; the others are imported.
test_bad_files() {
    generated
    sed -i '0,/TENSOR_FLOAT32/s//TENSOR_FLOAT33/' generated/spec_V1_0/clamped_sum.example.cpp
    head -n 20 generated/spec_V1_0/rank_mismatch.example.cpp >cut && mv cut generated/spec_V1_0/rank_mismatch.example.cpp
    check 2 nnvts import generated -o specs
    same "$(wc -l <"$ERR")" 2 "errors"
    has "$ERR" "generated/spec_V1_0/clamped_sum.example.cpp:14:37: expected an operand type such as TestOperandType::"
    has "$ERR" "generated/spec_V1_0/rank_mismatch.example.cpp:21:1: expected '.field =', like the members before it, got the end of the file"
    has "$OUT" "2 specs of 1 files in specs"
    [ ! -e specs/spec_V1_0 ] || fail "a bad file left specs"
    check 2 nnvts run --driver reference --suite spec --specs generated --out out
    same "$(verdict out PASS)" 3
    same "$(verdict out ERROR)" 2
    has out/journal.jsonl "spec/spec_V1_0/clamped_sum/clamped_sum"
    has out/journal.jsonl "clamped_sum.example.cpp:14:37: expected an operand type"
}
test_unknown_operation() {
    generated
    sed -i 's/::LOGICAL_NOT/::LOGICAL_MAYBE/' generated/spec_V1_2/opposite.example.cpp
    check 2 nnvts import generated/spec_V1_2 -o specs
    has "$ERR" "opposite.example.cpp:39:25: expected an operation that nnvts knows"
    same "$(names specs/opposite.jsonl)" "opposite_float16 "
    check 0 nnvts run --driver reference --suite spec --specs generated/spec_V1_2 --out out
    same "$(verdict out SKIP)" 1
    has out/journal.jsonl "spec/opposite/opposite_bool"
}
# A TensorFlow Lite model: shown, imported, run; and cut off.
test_tflite() {
    cp "$ROOT/mlts/networks/models/figures_int8.tflite" net.tflite
    check 0 nnvts show net.tflite
    has "$OUT" "  input  INT8 [1,48,48,3] scale 0.00784313772 zero point -1"
    has "$OUT" "      5  DEPTHWISE_CONV_2D"
    has "$OUT" "states, valid from feature level 4 (1.3)"
    check 0 nnvts import net.tflite -o net.json
    has "$OUT" "1 specs of 1 files in net.json"
    check 0 nnvts replay net.json --driver cpu
    nnvts show net.json --as json >shown
    check 0 nnvts show net.tflite --as json
    cmp "$OUT" shown || fail "it is shown otherwise than it is imported"
    check 0 nnvts import net.tflite --seed 2 -o other.json
    cmp -s net.json other.json && fail "the seed changes nothing"
    mkdir models
    cp net.tflite "$ROOT/mlts/networks/models/speech_float.tflite" models
    check 0 nnvts import models -o specs
    same "$(cd specs && echo *)" "net.jsonl speech_float.jsonl"
    head -c 1000 net.tflite >cut.tflite
    check 2 nnvts show cut.tflite
    has "$ERR" "nnvts: cut.tflite: "
    check 2 nnvts import cut.tflite -o cut.json
    [ ! -e cut.json ] || fail "a damaged file gave a spec"
}

test_nothing_to_import() {
    check 2 nnvts import
    has "$ERR" "import what?"
    check 2 nnvts import nosuch
    has "$ERR" "nosuch"
    mkdir empty
    check 2 nnvts import empty -o specs
    has "$ERR" "empty: no .example.cpp, .tflite or .onnx files"
    echo "int x;" >x.example.cpp
    check 2 nnvts import x.example.cpp
    has "$ERR" "x.example.cpp:2:1: expected a model, 'const TestModel& get_test_model() {'"
    [ ! -s "$OUT" ] || fail "specs of nothing"
}
test_control_flow() {
    nnvts op IF >/dev/null 2>&1 && nnvts op WHILE >/dev/null 2>&1 || skip "IF and WHILE have no record"
    check 0 nnvts import "$ROOT/tests/import/control_flow" -o specs
    check 0 nnvts run --driver reference --suite spec --specs specs --out out
    same "$(verdict out PASS)" 3
}
run_tests
