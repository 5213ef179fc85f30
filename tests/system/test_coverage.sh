#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is reached of a driver's code, the fuzzer that goes by it, and draws until little is new.
. "$(dirname "$0")/lib.sh"

# counting FLAGS OUT: the template, instrumented
counting() {
    command -v clang >/dev/null || skip "no clang here: it makes the drivers that count"
    clang -std=c17 -O1 -g -shared -fPIC "-fsanitize-coverage=$1" -I "$ROOT/include" -o "$2" \
        "$ROOT/drivers_under_test/template/template.c" "$NNVTS_BUILD/lib/libnnvts-rules.a" -lm
}
# edges FILE NAME: a number of coverage.json
edges() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1/coverage.json" | head -n 1; }

test_run_says_what_is_reached() {
    counting inline-8bit-counters,pc-table ./npu.so
    check 0 nnvts run --driver ./npu.so --coverage --suite ops --filter 'op:ADD' --jobs 1 --out few
    has "$OUT" "reached of the driver's code: $(edges few edges_reached) of $(edges few edges) edges ("
    has few/coverage.json '"file": "template.c"'
    has few/summary.json '"coverage": {"edges": '
    has few/summary.json '"file": "template.c"'
    hasnt few/summary.json lines_missed
    has few/report.html 'Code of the driver'
    # More cases reach more, as many with two workers as with one, and not more than there is.
    check 0 nnvts run --driver ./npu.so --coverage --suite device,ops --tier smoke --jobs 1 --out more
    check 0 nnvts run --driver ./npu.so --coverage --suite device,ops --tier smoke --jobs 2 --out both
    [ "$(edges few edges_reached)" -gt 0 ] || fail "nothing is reached"
    [ "$(edges few edges_reached)" -lt "$(edges more edges_reached)" ] || fail "all is reached at once"
    [ "$(edges more edges_reached)" -lt "$(edges more edges)" ] || fail "nothing is missed"
    same "$(cat both/coverage.json)" "$(cat more/coverage.json)"
    # Reports made again say the same; a run without --coverage says nothing.
    check 0 nnvts report more
    has more/summary.json "\"edges_reached\": $(edges more edges_reached)"
    check 0 nnvts run --driver ./npu.so --suite device --out more
    [ ! -e more/coverage.json ] || fail "that of another run is left"
    hasnt "$OUT" "reached of"
}
test_guards_count_too() {
    counting trace-pc-guard,pc-table ./npu.so
    check 0 nnvts run --driver ./npu.so --coverage --suite ops --filter 'op:ADD' --out run
    counting inline-8bit-counters,pc-table ./other.so
    check 0 nnvts run --driver ./other.so --coverage --suite ops --filter 'op:ADD' --out other
    same "$(edges run edges_reached) $(edges run edges)" "$(edges other edges_reached) $(edges other edges)"
}
# gcc's counts are lines; a run begins without those of the one before it.
test_gcov() {
    command -v gcov >/dev/null || skip "no gcov here"
    gcc -std=c17 -O0 -g -shared -fPIC --coverage -I "$ROOT/include" -o npu.so "$ROOT/drivers_under_test/template/template.c" \
        "$NNVTS_BUILD/lib/libnnvts-rules.a" -lm
    check 0 nnvts run --driver ./npu.so --coverage --suite device,ops --tier smoke --out more
    has "$OUT" "reached of the driver's code: $(edges more lines_reached) of $(edges more lines) lines ("
    has more/coverage.json '"file": "template.c"'
    check 0 nnvts run --driver ./npu.so --coverage --suite device --filter device/version --out few
    [ "$(edges few lines)" = "$(edges more lines)" ] || fail "$(edges few lines) lines"
    [ "$(edges few lines_reached)" -lt "$(edges more lines_reached)" ] || fail "all is reached at once"
    check 0 nnvts run --driver ./npu.so --coverage --suite device --filter device/version --out more
    same "$(cat more/coverage.json)" "$(cat few/coverage.json)"
    check 0 nnvts fuzz --driver ./npu.so --coverage --inputs 500 --time 0 --out fuzzed
    [ "$(edges fuzzed lines_reached)" -gt 0 ] || fail "nothing is reached"
    [ -z "$(find . -name '*.gcda' ! -path '*/gcov/*')" ] || fail "counts beside the driver"
}
# A path that the compiler was given from its folder on means a file there: two of one name are two.
test_gcov_of_two_folders() {
    command -v gcov >/dev/null || skip "no gcov here"
    mkdir one two
    cp "$ROOT/drivers_under_test/template/template.c" one/
    echo 'int never_called(void) { return 1; }' >two/template.c
    local folder
    for folder in one two; do
        (cd $folder && gcc -std=c17 -O0 -g -fPIC --coverage -I "$ROOT/include" -c template.c)
    done
    gcc -shared --coverage -o npu.so one/template.o two/template.o "$NNVTS_BUILD/lib/libnnvts-rules.a" -lm
    check 0 nnvts run --driver ./npu.so --coverage --suite device --filter device/version --out run
    has run/coverage.json '"file": "one/template.c"'
    has run/coverage.json '"file": "two/template.c"'
}
# Of a worker that dies is told what it reached until then.
test_a_crash_is_told() {
    command -v clang >/dev/null || skip "no clang here: it makes the drivers that count"
    sed '/^static .* prepare_model(/,/{$/ s/{$/{\n    abort();/; 1i #include <stdlib.h>' "$ROOT/drivers_under_test/template/template.c" >dies.c
    grep -q '^    abort();' dies.c || fail "the template has no such function any more"
    clang -std=c17 -O1 -g -shared -fPIC -fsanitize-coverage=inline-8bit-counters,pc-table -I "$ROOT/include" -o dies.so \
        dies.c "$NNVTS_BUILD/lib/libnnvts-rules.a" -lm
    check 1 nnvts run --driver ./dies.so --coverage --suite ops --filter 'ops/ADD/float32/rank1/0' --flakes 0 --out run
    same "$(verdict run CRASH)" 1
    [ "$(edges run edges_reached)" -gt 0 ] || fail "nothing is told"
}
test_fuzz_keeps_what_reaches_something_new() {
    counting inline-8bit-counters,pc-table ./npu.so
    local kept
    check 0 nnvts fuzz --driver ./npu.so --inputs 4000 --time 0 --jobs 1 --corpus plain --out plain-out
    check 0 nnvts fuzz --driver ./npu.so --inputs 4000 --time 0 --jobs 1 --coverage --corpus one --out out
    has "$OUT" "reached of the driver's code: $(edges out edges_reached) of $(edges out edges) edges, see out/coverage.json"
    check 0 nnvts fuzz --driver ./npu.so --inputs 4000 --time 0 --jobs 1 --coverage --corpus two --out again
    diff -r one two || fail "the same seed gives another corpus"
    kept=$(grep -lE '^# kept: .* brought 0 new kinds of answers and reached [1-9]' one/*.fuzz | head -n 1)
    [ -n "$kept" ] || fail "no input is kept for what it reached alone"
    grep -q '^# kept: by seed 1' plain/*.fuzz || fail "it does not say why an input is kept"
    ! grep -q 'new edges' plain/*.fuzz || fail "edges without --coverage"
    check 0 nnvts fuzz --driver ./npu.so --replay "$kept"
    # What was kept becomes a regression.
    kept=$(for kept in one/*.fuzz; do nnvts promote "$kept" --as x --to tried -q 2>/dev/null && echo "$kept" && break; done)
    [ -n "$kept" ] || fail "nothing that was kept is a spec"
    check 0 nnvts promote "$kept" --as reached --to kept
    has kept/reached.json "\"source\": \"promoted from $(basename "$kept"); nnvts fuzz --driver ./npu.so --replay"
    has kept/reached.json "kept: by seed 1 it brought"
    check 0 nnvts show kept/reached.json
}
test_drivers_that_do_not_count() {
    check 2 nnvts run --driver cpu --coverage --suite device --out none
    has "$ERR" "driver 'cpu' does not count what it reaches: build it with clang -g -fsanitize-coverage=inline-8bit-counters,pc-table"
    [ ! -e none/journal.jsonl ] || [ ! -s none/journal.jsonl ] || fail "it has run"
    check 2 nnvts fuzz --driver cpu --coverage --out none
    has "$ERR" "docs/use/coverage.md"
    check 2 nnvts run --driver host:cpu --coverage --suite device --out none
    has "$ERR" "runs in another process"
}

# How many graphs are drawn is what the estimate says, whatever the driver and the jobs.
test_graphs_until_little_is_new() {
    check 0 nnvts list --suite randgraph --until-saturated 60 --coverage
    local graphs
    graphs=$(sed -n 's/^\([0-9]*\) graphs of .*/\1/p' "$OUT")
    awk '/has a trait that none of these has/ { found = $NF < 0.6 } END { exit !found }' "$OUT" || fail "$(cat "$OUT")"
    check 0 nnvts run --driver cpu --suite randgraph --until-saturated 60 --out run
    same "$(wc -l <run/cases.tsv)" "$graphs"
    has "$OUT" "random graphs: after $graphs graphs the chance that the next one shows something new is below 60 %"
    has run/journal.jsonl '"saturation":"after '
    has run/summary.json '"saturation": "after '
    has run/report.html "shows something new is below 60 %"
    check 0 nnvts list --suite randgraph --until-saturated 60 --count 16 --coverage
    has "$OUT" "16 graphs of"
    check 2 nnvts run --driver cpu --until-saturated 0
    has "$ERR" "--until-saturated '0': expected a percentage"
    check 2 nnvts list --until-saturated none
}
test_fuzz_until_little_is_new() {
    check 0 nnvts fuzz --driver cpu --until-saturated 20 --time 0 --out one
    local inputs
    inputs=$(sed -n 's/^\([0-9]*\) inputs in .*/\1/p' "$OUT")
    has "$OUT" "inputs the chance that the next one shows something new is below 20 %"
    check 0 nnvts fuzz --driver cpu --until-saturated 20 --time 0 --jobs 1 --out two
    same "$(sed -n 's/^\([0-9]*\) inputs in .*/\1/p' "$OUT")" "$inputs"
    check 0 nnvts fuzz --driver cpu --until-saturated 0.001 --time 0 --inputs 1000 --out three
    has "$OUT" "not below 0.001 %"
}
run_tests
