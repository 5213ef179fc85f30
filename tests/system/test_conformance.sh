#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The project's own vectors (tests/conformance), whose expected values come from exact arithmetic.
. "$(dirname "$0")/lib.sh"

VECTORS=$ROOT/tests/conformance
run() { check "$1" nnvts run --driver "$2" --suite spec --specs "$3" --precision nnapi --out out; }
# Python 3.10 or newer makes the vectors.
need_python() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skip "python3 (3.10 or newer) is not there"; }
# vectors_of NAME: how many vectors have the operation in them
vectors_of() { cat "$VECTORS"/*.json* | grep -cE "\"type\": ?\"$1\", ?\"inputs\""; }
# How many vectors have an operation that nnvts has no record of; such a case is skipped, and no other.
without_record() {
    nnvts op | awk 'NR == FNR {known[$1]; next}
        {
            line = $0; missing = 0
            while (match(line, /"type":"[A-Z0-9_]+","inputs"/)) {
                split(substr(line, RSTART, RLENGTH), word, "\"")
                if (!(word[4] in known)) missing = 1
                line = substr(line, RSTART + RLENGTH)
            }
            count += missing
        }
        END {print count + 0}' - "$VECTORS"/*.jsonl
}
# The reference passes them all, by the published tolerances.
test_reference() {
    run 0 reference "$VECTORS"
    same "$(verdict out UNSUPPORTED)" 0
    same "$(verdict out SKIP)" "$(without_record)"
}
# And bit by bit: it rounds once, as the vectors do.
test_reference_bit_by_bit() {
    mkdir exact
    for f in "$VECTORS"/*.jsonl; do sed 's/"relaxed":false,\("exact":true,\)\?/"relaxed":false,"exact":true,/' "$f" >"exact/$(basename "$f")"; done
    same "$(cat exact/* | grep -c '"exact":true')" "$(cat "$VECTORS"/*.jsonl | wc -l)"
    run 0 reference exact
}
test_cpu() {
    run 0 cpu "$VECTORS"
    same "$(verdict out SKIP)" "$(without_record)"
}
test_three_vectors_of_each_operation() {
    local op operations
    operations=$(sed -n '/ANEURALNETWORKS_ADD = 0,/,/} OperationCode;/s/^ *ANEURALNETWORKS_\([A-Z0-9_]*\) = [0-9]*,.*/\1/p' "$ROOT/include/NeuralNetworksTypes.h")
    same "$(wc -l <<<"$operations")" 106
    for op in $operations; do [ "$(vectors_of "$op")" -ge 3 ] || fail "$op: fewer than 3 vectors"; done
}
test_one_changed_value_fails() {
    sed 's/"data": \[1.5, 0, 3.5, 5.25\]/"data": [1.5, 0, 3.5, 5.5]/' "$VECTORS/example.json" >changed.json
    run 1 reference changed.json
    same "$(verdict out FAIL)" 1
}
# In each vector one expected value is changed: none may pass. (Random samples are judged by their distribution, not by values.)
test_one_changed_value_fails_in_all() {
    need_python
    mkdir changed
    python3 - "$VECTORS" changed <<'PY'
import base64, json, pathlib, sys
for n, path in enumerate(sorted(pathlib.Path(sys.argv[1]).glob('*.jsonl'))):
    lines = []
    for k, line in enumerate(path.read_text().splitlines()):
        spec = json.loads(line)
        if spec['expect_failure'] or spec['main']['operations'][0]['type'] == 'RANDOM_MULTINOMIAL':
            continue
        operands = spec['main']['operands']
        outputs = [operands[i] for i in spec['main']['outputs'] if not operands[i].get('ignored') and operands[i]['data']]
        output = outputs[k % len(outputs)]
        data, at = output['data'], k % len(output['data'])
        if 'FLOAT' in output['type']:
            data[at] += 0.25 + abs(data[at]) / 16
        elif 'BOOL' in output['type']:
            data[at] = 1 - data[at]
        else:
            data[at] += 3 if data[at] < 100 else -3
        lines.append(json.dumps(spec))
    (pathlib.Path(sys.argv[2]) / path.name).write_text(''.join(line + '\n' for line in lines))
PY
    run 1 reference changed
    same "$(verdict out PASS)" 0
    same "$(($(verdict out FAIL) + $(verdict out SKIP)))" "$(cat changed/* | wc -l)"
}
test_the_arithmetic_is_right() {
    need_python
    check 0 python3 "$VECTORS/check.py"
}
test_committed_vectors_are_what_the_scripts_write() {
    need_python
    mkdir made
    check 0 python3 "$VECTORS/make.py" made
    for f in made/*; do cmp "$f" "$VECTORS/$(basename "$f")" || fail "$(basename "$f") is not what the scripts write: run tests/conformance/make.py"; done
    # A module that make.py does not know would be forgotten.
    same "$(find made -type f | wc -l)" "$(grep -l '^def cases(out)' "$VECTORS"/vectors/*.py | wc -l)"
}
# Cases modelled on public bug reports: each says which, and finds such a bug.
test_trackers() {
    local folder=$ROOT/tests/trackers cases
    run 0 reference "$folder"
    run 0 cpu "$folder"
    same "$(verdict out PASS)" "$(cat "$folder"/*.jsonl | wc -l)"
    cases=$(grep -chE '"source":"https://github.com/[^/]+/[^/]+/(issues|pull)/[0-9]+: ' "$folder"/*.jsonl | paste -sd+ | bc)
    same "$cases" "$(cat "$folder"/*.jsonl | wc -l)"
    [ "$cases" -ge 40 ] || fail "only $cases cases"
    same "$(grep -ohE 'https://github.com/[^:]*' "$folder"/*.jsonl | sort -u | wc -l)" "$cases" "reports, each once"
    check 0 nnvts audit --reach --suite spec --specs "$folder" --out reach
    has "$OUT" "0 of $cases cases with values fail with no fault of the catalogue"
    same "$(grep -c '^  "spec/.*": "[a-z-]*"' reach/reach.json)" "$cases" "cases, each with a fault that it notices"
    run 1 faulty:dilation-ignored "$folder"
    has out/journal.jsonl '"case":"spec/convolutions/keras_10967_conv_2d_float32_a","suite":"spec"'
    run 1 faulty:avg-pool-counts-padding "$folder"
    need_python
    mkdir made
    check 0 python3 "$folder/make.py" made
    for f in made/*; do cmp "$f" "$folder/$(basename "$f")" || fail "$(basename "$f") is not what the script writes: run tests/trackers/make.py"; done
}
run_tests
