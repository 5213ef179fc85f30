#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts partition: the JSON that other tools read, the table, the text, and what bad input gets.
. "$(dirname "$0")/lib.sh"

# json: the output without blanks and line ends
json() { tr -d ' \n' <"$OUT"; }
program() { cp "$ROOT/tests/relay/$1.relay" m.relay; }

test_json() {
    program conv
    echo '["nn.conv2d", {"op": "clip", "attr": "a_max", "in": [6]}]' >s.json
    check 0 nnvts partition m.relay --supported s.json --json
    same "$(json)" '{"composites":[],"regions":[{"ops":["nn.conv2d"],"nodes":["%0"],"target":"nnapi","params":2,"outputs":1},{"ops":["clip"],"nodes":["%ret"],"target":"nnapi","params":1,"outputs":1}],"host_ops":["nn.bias_add"]}'
    check 0 nnvts partition m.relay --patterns nnapi --json
    same "$(json)" '{"composites":[{"name":"nnapi.conv2d_bias","ops":["nn.conv2d","nn.bias_add","clip"],"num_params":3}],"regions":[{"ops":["nnapi.conv2d_bias"],"nodes":["%ret"],"target":"nnapi","params":3,"outputs":1}],"host_ops":[]}'
    echo '{"keep_if_any": ["nn.dense"]}' >r.json
    check 0 nnvts partition m.relay --patterns nnapi --prune r.json --json
    has "$OUT" '"host_ops": ["nn.conv2d", "nn.bias_add", "clip"]'
}
# Without merging, each operation is a region.
test_no_merge() {
    printf 'def @main(%%x: Tensor[(2, 3), float32]) { nn.relu(tanh(atan(tanh(exp(%%x))))) }\n' >m.relay
    check 0 nnvts partition m.relay
    has "$OUT" "4 of 5 operations in 2 regions; on the host: atan"
    check 0 nnvts partition m.relay --no-merge
    has "$OUT" "4 of 5 operations in 4 regions; on the host: atan"
    check 2 nnvts partition m.relay --no-merge --cost default
    has "$ERR" "--no-merge: --cost and --join-siblings say which regions are merged"
}
# What stays on the host says why, once an operator.
test_why_on_host() {
    printf '#[version = "0.0.5"]\ndef @main(%%x: Tensor[(2, 3), float32]) { nn.relu(atan(tan(atan(%%x)))) }\n' >m.relay
    check 0 nnvts partition m.relay --json
    has "$OUT" '{"op": "atan", "calls": 2, "why": "atan: the converter has no row for this operator"}'
    has "$OUT" '{"op": "tan", "calls": 1, "why": "tan: '
    check 0 nnvts partition m.relay --prune <(echo '{"min_ops": 2}') --json
    has "$OUT" '{"op": "nn.relu", "calls": 1, "why": "supported, but its region was given back"}'
}
# Entries that match nothing are named; the tables that nnvts has are not looked at.
test_useless_entries_are_named() {
    program conv
    echo '[{"name": "t.any", "pattern": {"op": "nn.relu"}}, {"name": "t.exp", "pattern": {"op": "nn.relu", "args": [{"op": "exp"}]}}]' >p.json
    check 0 nnvts partition m.relay --patterns p.json --json
    has "$ERR" 'p.json: [1]: '
    check 0 nnvts partition m.relay --patterns nnapi --json
    [ ! -s "$ERR" ] || fail "words about the table nnapi"
}
test_targets_in_order() {
    program conv
    echo '{"a": ["clip", "nn.conv2d"], "b": ["clip", "nn.bias_add"]}' >s.json
    check 0 nnvts partition m.relay --supported s.json --json
    has "$OUT" '["clip"], "nodes": ["%ret"], "target": "a"'
    check 0 nnvts partition m.relay --supported s.json --targets b,a --json
    has "$OUT" '["nn.bias_add", "clip"], "nodes": ["%1", "%ret"], "target": "b"'
    check 0 nnvts partition m.relay --patterns onednn --targets onednn --json
    has "$OUT" '"ops": ["onednn.conv2d_bias"], "nodes": ["%1"], "target": "onednn"'
}
test_table() {
    program flow
    echo '["nn.relu", "add"]' >s.json
    check 0 nnvts partition m.relay --supported s.json
    has "$OUT" "tvmgen_default_nnapi_main_0"
    has "$OUT" "on the host: multiply, "
}
# The text parses back, and there is nothing left to do.
test_text() {
    echo '["nn.relu", "add", "split", "concatenate"]' >s.json
    for name in conv flow region; do
        program $name
        check 0 nnvts partition m.relay --supported s.json --patterns nnapi --text
        cp "$OUT" again.relay
        check 0 nnvts partition again.relay --supported s.json --patterns nnapi --text
        cmp "$OUT" again.relay || fail "$name: a second run changes the text"
    done
}
test_params() {
    program conv
    echo '{"b": {"dtype": "float32", "shape": [4], "data": [1, 2, 3, 4]}}' >p.json
    check 0 nnvts partition m.relay --patterns nnapi --params p.json --json
    has "$OUT" '"params": 2'
    echo '{"b": {"dtype": "float32", "shape": [3], "data": [1, 2, 3]}}' >p.json
    check 2 nnvts partition m.relay --params p.json
    has "$ERR" "(3)"
}
# What a program does not say of its types is no error; what is wrong is.
test_types_that_nobody_tells() {
    echo 'def @main(%x, %w: Tensor[(2), float32]) { %0 = my.op(%x); %1 = add(%0, meta[relay.Constant][0]); (%1, nn.relu(%w)) }' >m.relay
    echo '["add", "nn.relu"]' >s.json
    check 0 nnvts partition m.relay --supported s.json --json
    same "$(json)" '{"composites":[],"regions":[{"ops":["add"],"nodes":["%1"],"target":"nnapi","params":1,"outputs":1},{"ops":["nn.relu"],"nodes":["%ret"],"target":"nnapi","params":1,"outputs":1}],"host_ops":["my.op"]}'
    echo 'def @main(%x, %w: Tensor[(2), float32]) { %0 = my.op(%x); (%0, add(%w, meta[relay.Constant][0] /* ty=Tensor[(3), float32] */)) }' >m.relay
    check 2 nnvts partition m.relay --supported s.json
    has "$ERR" "m.relay:1:64: add: "
}
test_bad_input() {
    check 2 nnvts partition
    has "$ERR" "which program?"
    check 2 nnvts partition none.relay
    has "$ERR" "none.relay"
    program conv
    for targets in a,,b a,a .b; do
        check 2 nnvts partition m.relay --targets $targets
        has "$ERR" "--targets"
    done
    check 2 nnvts partition m.relay --patterns onedn
    has "$ERR" "onedn"
    echo '[{"name": "a.b", "pattern": {"op": 1}}]' >p.json
    check 2 nnvts partition m.relay --patterns p.json
    has "$ERR" "p.json: [0].pattern"
    echo '{"min_ops": -1}' >r.json
    check 2 nnvts partition m.relay --prune r.json
    has "$ERR" "r.json"
}
# What TVM's schedulers leave in a dump is no attribute that matters.
test_hints_of_schedulers() {
    sed 's/kernel_size=\[3, 3\]/&, auto_scheduler_rewritten_layout="", meta_schedule_original_shape=None/' "$ROOT/tests/relay/conv.relay" >m.relay
    has m.relay meta_schedule
    check 0 nnvts partition m.relay --patterns nnapi --json
    has "$OUT" '"ops": ["nnapi.conv2d_bias"]'
}
# Stored bad programs: each gets one error with its place and the line, nothing else.
test_bad_programs() {
    cp "$ROOT"/tests/relay/bad/*.relay .
    local name place words n=0
    while IFS=$'\t' read -r name place words; do
        case $name in '#'*) continue ;; esac
        check 2 nnvts partition "$name.relay" --json
        has "$ERR" "nnvts: $name.relay:$place: "
        has <(head -n 1 "$ERR") "$words"
        [ "$(wc -l <"$ERR")" -le 3 ] || fail "$name: more than one error"
        [ ! -s "$OUT" ] || fail "$name: output beside an error"
        n=$((n + 1))
    done <"$ROOT/tests/relay/bad/expected.tsv"
    same "$n" "$(ls ./*.relay | wc -l)" "rows and programs"
    [ "$n" -ge 50 ] || fail "only $n bad programs"
}
# Without a list the converter says what is supported, and why not.
test_support_by_trial() {
    echo 'def @main(%x: Tensor[(2, 3), float32]) { %0 = nn.relu(%x); %1 = atan(%0); my.op(%1) /* ty=Tensor[(2, 3), float32] */ }' >m.relay
    check 0 nnvts partition m.relay --json
    has "$OUT" '"ops": ["nn.relu"], "nodes": ["%0"], "target": "nnapi"'
    has "$OUT" '"host_ops": ["atan", "my.op"]'
    # a table that is given says all that is supported
    echo '[{"name": "nnapi.e", "pattern": {"op": "atan"}}]' >p.json
    check 0 nnvts partition m.relay --patterns p.json --json
    has "$OUT" '"ops": ["nnapi.e"]'
    has "$OUT" '"host_ops": ["nn.relu", "my.op"]'
}
test_page() {
    program flow
    check 0 nnvts partition m.relay --html m.html
    has m.html "<svg"
    has m.html "instead of"
    hasnt m.html "http:"
    hasnt m.html "https:"
    ! grep -oE '(src|href|action)=' m.html || fail "m.html refers to something outside"
    has m.html "Content-Security-Policy"
    echo '{"min_ops": 9}' >r.json
    check 0 nnvts partition m.relay --prune r.json --html m.html
    has m.html "its region was given back"
    check 2 nnvts partition m.relay --html none/m.html
    check 0 nnvts partition "$ROOT/tests/relay/transformer.relay" --html m.html # one region, whose result is the program's
    has m.html '<td class="n">8960</td><td class="n">512</td>'
}
# A hundred thousand operations are divided in time: there is room to spare.
test_large() {
    awk 'BEGIN { print "def @main(%x: Tensor[(8), float32]) {"; v = "%x"; w = "%x"
        for (i = 0; i < 100000; i++) { printf " %%%d = %s;\n", i, i % 3 ? "add(" v ", " w ")" : i % 2 ? "exp(" w ")" : "nn.relu(" v ")"; w = v; v = "%" i }
        print " " v "\n}" }' >m.relay
    echo '["nn.relu", "add"]' >s.json
    check 0 timeout 15 nnvts partition m.relay --supported s.json --json
    check 0 timeout 15 nnvts partition m.relay --supported s.json
    has "$OUT" "of 99999 operations"
}
# A comb: from each operation of a chain a host operation leads to the end, so that one region has a third of them as
# outputs.
test_comb() {
    awk 'BEGIN { n = 100000; print "def @main(%x: Tensor[(8), float32]) {"; v = "%x"
        for (i = 0; i < n; i++) { printf " %%%d = nn.relu(%s);\n %%%d = exp(%%%d);\n", 2 * i, v, 2 * i + 1, 2 * i; v = "%" 2 * i }
        for (i = 0; i < n; i++) { printf " %%%d = add(%s, %%%d);\n", 2 * n + i, v, 2 * (n - i) - 1; v = "%" 2 * n + i }
        print " " v "\n}" }' >m.relay
    echo '["nn.relu", "add"]' >s.json
    check 0 timeout 25 nnvts partition m.relay --supported s.json
    has "$OUT" "200000 of 300000 operations in 2 regions"
}
# Regions that share no more than an operand are one where that is asked for and makes no cycle.
test_siblings() {
    cat >m.relay <<'END'
#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32], %y: Tensor[(4), float32]) {
  %0 = nn.relu(%x);
  %1 = atan(%0);
  %2 = add(%x, %1);
  %3 = atan(%y);
  (%0, %2, tanh(%y), multiply(%x, %3), tanh(%3))
}
END
    check 0 nnvts partition m.relay
    has "$OUT" "5 of 7 operations in 5 regions"
    check 0 nnvts partition m.relay --join-siblings
    has "$OUT" "5 of 7 operations in 3 regions"
    check 0 nnvts compile m.relay --join-siblings -o out
    has "$OUT" "out: 3 regions, "
    check 0 nnvts run-compiled out --driver cpu --compare
    check 2 nnvts partition m.relay --join-siblings --cost default
    check 2 nnvts compile m.relay --join-siblings --cost default
    has "$ERR" "with --cost, what regions take decides"
}
run_tests
