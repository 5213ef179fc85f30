#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts new-driver, and the library of rules that what it writes stands on.
. "$(dirname "$0")/lib.sh"
try_nothing_again

# good FOLDER NAME: it builds with one command, and is judged
good() {
    check 0 make -C "$1" test ARGS="--suite device,validate,ops --filter 'op:ADD | suite:device | suite:validate'"
    has "$OUT" " 0 failed"
    [ -s "$1/$2.so" ] || fail "no $2.so"
    check 0 nnvts drivers "./$1/$2.so"
    has "$OUT" "$2"
}
test_in_the_tree() {
    check 0 nnvts new-driver acme-npu
    has "$OUT" "make -C acme-npu test"
    has acme-npu/acme-npu.c '.name = "nnvts-acme-npu"'
    ! grep -q "@[A-Z]" acme-npu/Makefile || fail "a hole in the Makefile"
    ! grep -rqi template acme-npu || fail "it is still called template"
    good acme-npu acme-npu
}
test_installed() {
    check 0 make -C "$ROOT" B="$NNVTS_BUILD" install DESTDIR="$PWD/root" PREFIX=/opt
    check 0 root/opt/bin/nnvts new-driver acme --to there
    has there/Makefile "$PWD/root/opt/lib"
    good there acme
    check 0 root/opt/bin/nnvts-host --version
    check 0 make -C "$ROOT" B="$NNVTS_BUILD" uninstall DESTDIR="$PWD/root" PREFIX=/opt
    same "$(find root ! -type d | wc -l)" 0
    [ ! -e root/opt/lib/nnvts ] || fail "folders are left"
}
test_bad_names_and_places() {
    check 2 nnvts new-driver
    check 2 nnvts new-driver ../acme
    has "$ERR" "no name for a driver"
    check 2 nnvts new-driver 'a"b'
    mkdir acme
    check 2 nnvts new-driver acme
    has "$ERR" "acme is there already: choose another folder with --to"
    check 3 nnvts new-driver other --to /proc/none
    cp "$NNVTS_BUILD/nnvts" alone
    check 3 ./alone new-driver other
    has "$ERR" "libnnvts-rules.a are not beside it"
}
# The rules need nothing but libc and libm, and show nothing but their functions.
test_rules() {
    local lib=$NNVTS_BUILD/lib/libnnvts-rules.a
    check 0 gcc -std=c17 -Wall -Wextra -Werror -I"$ROOT/include" -o rules "$ROOT/tests/nnapi/rules.c" "$lib" -lm
    check 0 ./rules
    same "$(nm -g --defined-only "$lib" | awk 'NF == 3 {print $3}')" nnvts_rules_check_model
    echo '#include "nnvts/rules.h"' >header.cpp
    check 0 g++ -std=c++17 -Wall -Werror -I"$ROOT/include" -fsyntax-only header.cpp
}
run_tests
