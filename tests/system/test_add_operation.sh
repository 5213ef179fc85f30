#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/extend/add-an-operation.md, followed: ELU is taken out of a copy of the sources and added again as the page says.
. "$(dirname "$0")/lib.sh"
PAGE=$ROOT/docs/extend/add-an-operation.md

# The blocks of a language, one behind the other, a blank line between.
blocks() { awk -v open="\`\`\`$1" '$0 == open { inside = 1; if (n++) print ""; next } /^```/ { inside = 0 } inside' "$PAGE"; }

test_the_page_is_the_operation() {
    blocks c | diff - "$ROOT/reference/ops/elementwise/elu.c" || fail "the page's parts are not reference/ops/elementwise/elu.c"
    grep -qxF "$(blocks ops.def)" "$ROOT/reference/model/ops.def" || fail "the page's row is not in ops.def"
}
test_one_file_and_one_row() {
    local tree=$WORK/tree elu='--filter op:ELU' b=${NNVTS_BUILD#"$ROOT"/}
    case $b in /*) b=build ;; esac # objects know their folder: only one below the sources can be copied
    mkdir "$tree"
    (cd "$ROOT" && git ls-files -z | xargs -0 cp -a --parents -t "$tree")
    [ "$NNVTS_BUILD" = "$ROOT/$b" ] && cp -a "$NNVTS_BUILD" "$tree/$b" # objects are made again only where the sources differ
    rm "$tree/reference/ops/elementwise/elu.c"
    sed -i '/^X(ELU)$/d' "$tree/reference/model/ops.def"
    (cd "$tree" && make -s -j2 B="$b" "$b/nnvts" "$b/drivers/reference.so") >"$OUT" 2>"$ERR" || { cat "$ERR" >&2; fail "it does not build without ELU"; }
    check 2 "$tree/$b/nnvts" op ELU
    # shellcheck disable=SC2086
    check 2 "$tree/$b/nnvts" list $elu

    blocks c >"$tree/reference/ops/elementwise/elu.c"
    blocks ops.def >>"$tree/reference/model/ops.def"
    (cd "$tree" && make -s -j2 B="$b" "$b/nnvts" "$b/drivers/reference.so") >"$OUT" 2>"$ERR" || { cat "$ERR" >&2; fail "it does not build with ELU"; }
    check 0 "$tree/$b/nnvts" op ELU
    has "$OUT" "max(0, x)"
    # shellcheck disable=SC2086
    check 0 "$tree/$b/nnvts" run --driver reference $elu --out "$WORK/run"
    hasnt "$OUT" unsupported
}
run_tests
