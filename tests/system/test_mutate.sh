#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make mutate, on a small project of its own: what its test does not notice is shown, and nothing else.
. "$(dirname "$0")/lib.sh"

project() {
    command -v python3 git objcopy >/dev/null || skip "no python3, git or objcopy"
    mkdir -p tools area tests
    cp -r "$ROOT/tools/mutate" tools/
    cat >area/clamp.c <<'END'
#include "clamp.h"

/* a < b in a comment, and "a < b" in a text, are left alone */
const char *clamp_name(void) { return "a < b"; }
int clamp(int v, int low, int high) {
    if (v < low) return low;
    if (v > high + 2) return high;
    return v;
}
int clamp_unused(int v) {
    v += 3;
    v = v;
    return v;
}
END
    echo 'const char *clamp_name(void); int clamp(int v, int low, int high); int clamp_unused(int v);' >area/clamp.h
    cat >tests/test_clamp.c <<'END'
#include "../area/clamp.h"
int main(void) {
    return !(clamp(4, 5, 9) == 5 && clamp(6, 5, 9) == 6 && clamp(5, 5, 9) == 5 && clamp(20, 5, 9) == 9 && clamp_name());
}
END
    cat >Makefile <<'END'
all unit: build/tests/test_clamp
build/obj/area/clamp.o: area/clamp.c ; mkdir -p $(@D) && gcc -O2 -c -o $@ $<
build/tests/test_clamp: build/obj/area/clamp.o tests/test_clamp.c ; mkdir -p $(@D) && gcc -o $@ $^
build/nnvts-host build/lib/%.so:
.PHONY: build/nnvts-host build/lib/libnnvts-core.so build/lib/libneuralnetworks.so
END
    git init -q . && git add .
}
test_survivors_are_shown() {
    project
    VERBOSE=1 MUTANTS=100 check 0 tools/mutate/mutate.py
    has "$OUT" 'SURVIVED area/clamp.c:7 constant: met 1 tests'
    has "$OUT" '+    if (v > high + 3) return high;'
    has "$OUT" 'SURVIVED area/clamp.c:11 statement: no test reaches it'
    has "$OUT" 'killed area/clamp.c:6 condition: build/tests/test_clamp'
    has "$OUT" 'same area/clamp.c:12 statement'
    hasnt "$OUT" 'area/clamp.c:3'
    hasnt "$OUT" 'SURVIVED area/clamp.c:6 condition'
    grep -Eq '^area +[0-9]+ +[0-9]+ +[0-9.]+ %$' "$OUT" || fail "no score of the folder"
}
test_lines_are_chosen() {
    project
    AT=area/clamp.c:7 MUTANTS=3 SEED=2 check 0 tools/mutate/mutate.py
    cp "$OUT" first
    AT=area/clamp.c:7 MUTANTS=3 SEED=2 check 0 tools/mutate/mutate.py
    same "$(sort "$OUT")" "$(sort first)"
    hasnt "$OUT" 'area/clamp.c:6'
    FOLDERS=nowhere check 1 tools/mutate/mutate.py
    has "$ERR" 'no source in these folders'
}
test_scripts_are_met_test_by_test() {
    project
    mkdir tests/system
    sed -i 's/main(void) {/main(int n, char **words) { if (n > 1) return clamp_unused(**++words) != 52;/' tests/test_clamp.c
    cat >tests/system/test_more.sh <<'END'
#!/bin/sh
test_name() { test -x build/tests/test_clamp; }
test_sum() { build/tests/test_clamp 1; }
$NNVTS_TEST
END
    chmod +x tests/system/test_more.sh
    git add .
    SCRIPTS=more VERBOSE=1 MUTANTS=100 check 0 tools/mutate/mutate.py
    has "$OUT" 'killed area/clamp.c:11 statement: tests/system/test_more.sh:test_sum'
    has "$OUT" 'killed area/clamp.c:6 condition: build/tests/test_clamp'
    hasnt "$OUT" 'test_name'
}
test_campaign_goes_on() {
    project
    KEEP=kept SEED="1 2" MUTANTS=100 check 0 tools/mutate/mutate.py
    grep -E '^(SURVIVED|mutate: seed|area|all) ' "$OUT" | sort >first
    has "$OUT" 'mutate: seed 1;'
    has "$OUT" 'mutate: seed 2;'
    has kept '"killed"'
    hasnt kept '"survived"'
    # What was killed is not met again: with a test that kills nothing the score is the same.
    echo 'int main(void) { return 0; }' >tests/test_clamp.c
    KEEP=kept SEED="1 2" MUTANTS=100 check 0 tools/mutate/mutate.py
    same "$(sed 's/: met .*//; s/: no test.*//' first)" \
        "$(grep -E '^(SURVIVED|mutate: seed|area|all) ' "$OUT" | sort | sed 's/: met .*//; s/: no test.*//')"
    # In a file that was changed all are.
    sed -i 's/high + 2/high + 4/' area/clamp.c
    KEEP=kept MUTANTS=100 check 0 tools/mutate/mutate.py
    has "$OUT" 'SURVIVED area/clamp.c:6 condition'
}

run_tests
