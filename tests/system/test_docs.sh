#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example in the documentation runs: the lines that begin with "$ " in console blocks. An exit code
# other than 0 is said behind the line: "# exit 1".
. "$(dirname "$0")/lib.sh"

examples() { sed -n '/^ *```console/,/^ *```$/s/^ *\$ //p' "$1"; }

run_examples() {
    ln -s "$ROOT/include" "$ROOT/drivers_under_test" "$ROOT/tests" "$NNVTS_BUILD"/lib/lib{neuralnetworks.so,nnvts-rules.a} .
    check 0 nnvts run --driver cpu --suite device --out nnvts-out
    cp "$ROOT/tests/conformance/example.json" spec.json
    mkdir generated
    cp "$ROOT"/tests/import/*.example.cpp generated
    cp "$ROOT/mlts/networks/models/figures_int8.tflite" figures.tflite
    gcc -std=c17 -shared -fPIC -I include -o acme.so drivers_under_test/template/template.c "$NNVTS_BUILD/lib/libnnvts-rules.a" -lm
    local line code n=0
    while IFS= read -r line; do
        code=0
        case $line in *"# exit "*) code=${line##*# exit } ;; esac
        check "$code" bash -c "$line"
        n=$((n + 1))
    done < <(examples "$1")
    [ $n -gt 0 ] || fail "no examples in $1"
}
test_readme() { run_examples "$ROOT/README.md"; }
test_cli() { run_examples "$ROOT/docs/use/cli.md"; }
test_adding_a_driver() { run_examples "$ROOT/docs/extend/add-a-driver.md"; }
test_adding_an_operation() { run_examples "$ROOT/docs/extend/add-an-operation.md"; }
test_adding_a_relay_operator() { run_examples "$ROOT/docs/extend/add-a-relay-operator.md"; }
test_adding_a_suite() { run_examples "$ROOT/docs/extend/add-a-suite.md"; }
test_importing() {
    run_examples "$ROOT/docs/use/importing.md"
    has "$ERR" "$(sed -n 's/^    \(nnvts: .*\)/\1/p' "$ROOT/docs/use/importing.md")"
}
test_precision() { run_examples "$ROOT/docs/use/precision.md"; }
test_debugging() { run_examples "$ROOT/docs/use/debugging.md"; }
test_expectations() { run_examples "$ROOT/docs/use/expectations.md"; }
test_flakes() {
    run_examples "$ROOT/docs/use/flakes.md"
    has run/flakes.json '"class": "order-dependent"'
}
test_explaining() { run_examples "$ROOT/docs/use/explaining.md"; }
test_random_graphs() { run_examples "$ROOT/docs/use/random-graphs.md"; }
needs_engines() {
    local e
    for e in xnnpack onednn; do [ -e "$NNVTS_BUILD/drivers/$e.so" ] || skip "the driver $e was not built"; done
}
test_engines() {
    needs_engines
    run_examples "$ROOT/docs/use/engines.md"
}
test_findings() {
    needs_engines
    run_examples "$ROOT/docs/use/findings.md"
}
test_findings_in_tflite_and_ort() {
    local driver
    for driver in tflite: ort: ggml:; do
        nnvts run --driver $driver --filter 'ops/ADD/float32/rank1/0' --out there -q >"$OUT" 2>&1 ||
            skip "$driver has no library (make setup-engines)"
    done
    run_examples "$ROOT/docs/use/findings-tflite-ort.md"
}
test_findings_in_libraries() { run_examples "$ROOT/docs/use/findings-libraries.md"; }
test_partitioning() { run_examples "$ROOT/docs/compile/partitioning.md"; }
test_suites() { run_examples "$ROOT/docs/use/suites.md"; }
test_host() { run_examples "$ROOT/docs/use/host.md"; }
test_remote() { run_examples "$ROOT/docs/use/remote.md"; }
test_compiler() { run_examples "$ROOT/docs/compile/compiling.md"; }
test_deploying() { run_examples "$ROOT/docs/compile/deploying.md"; }
test_bench() { run_examples "$ROOT/docs/use/bench.md"; }
test_comparing() { run_examples "$ROOT/docs/use/comparing.md"; }
test_placement() { run_examples "$ROOT/docs/use/placement.md"; }
test_datasheet() { run_examples "$ROOT/docs/use/datasheet.md"; }
test_gating() { run_examples "$ROOT/docs/use/gating.md"; }
test_reports() { run_examples "$ROOT/docs/use/reports.md"; }
test_runtime() { run_examples "$ROOT/docs/use/runtime.md"; }
test_farms() { run_examples "$ROOT/docs/use/farms.md"; }
test_coverage() {
    command -v clang >/dev/null || skip "no clang here: it makes the drivers that count"
    run_examples "$ROOT/docs/use/coverage.md"
}
test_fuzzing() { run_examples "$ROOT/docs/use/fuzzing.md"; }
test_spec_format() { run_examples "$ROOT/docs/use/spec-format.md"; }
test_conformance() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skip "python3 (3.10 or newer) is not there"
    run_examples "$ROOT/tests/conformance/README.md"
}
test_help_examples() {
    ln -s "$ROOT/include" "$NNVTS_BUILD/lib/libneuralnetworks.so" .
    gcc -std=c17 -shared -fPIC -I include -o npu.so "$ROOT/drivers_under_test/template/template.c" "$NNVTS_BUILD/lib/libnnvts-rules.a" -lm
    check 0 nnvts run --driver cpu --suite device --out nnvts-out -q
    local verb line
    for verb in list drivers op; do
        while IFS= read -r line; do check 0 bash -c "$line"; done < <(nnvts $verb --help | sed -n 's/^ *\(nnvts [^#]*\)  .*/\1/p' | grep -v '^nnvts [a-z]* \[')
    done
}
# docs/ops is what the records say.
test_operation_pages() {
    check 0 nnvts op --markdown --out ops
    diff -r ops "$ROOT/docs/ops" || fail "docs/ops is not what the records say: run make docs"
}
# No page with examples is forgotten above.
test_every_page_is_run() {
    local page
    grep -l '^ *```console' "$ROOT"/docs/*.md "$ROOT"/docs/{use,compile,extend}/*.md | while read -r page; do
        [ "${page##*/}" != tflite.md ] || continue # test_tflite_client.sh runs it
        grep -q "run_examples \"\$ROOT/docs/${page#"$ROOT/docs/"}\"" "$ROOT/tests/system/test_docs.sh" || fail "nobody runs the examples of $page"
    done
}
test_links() {
    local file target
    for file in "$ROOT"/README.md "$ROOT"/CONTRIBUTING.md "$ROOT"/docs/*.md "$ROOT"/docs/{use,compile,extend}/*.md "$ROOT"/docs/ops/README.md "$ROOT"/tests/conformance/README.md; do
        for target in $(grep -o '](\([^)#]*\)' "$file" | sed 's/^](//' | grep -v '^http'); do
            [ -e "$(dirname "$file")/$target" ] || fail "$file: broken link $target"
        done
    done
}
run_tests
