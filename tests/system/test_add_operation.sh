#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/extend/add-an-operation.md and add-a-relay-operator.md, followed: ELU and nn.leaky_relu are taken out of a copy of
# the sources and added again as the pages say.
. "$(dirname "$0")/lib.sh"
PAGE=$ROOT/docs/extend/add-an-operation.md

RELAY=$ROOT/docs/extend/add-a-relay-operator.md
OPS=compiler/relay/ops/elementwise.c CONVERT=compiler/nnapi/convert/convert_math.c

# The blocks of a language, one behind the other, a blank line between.
blocks() { awk -v open="\`\`\`$1" '$0 == open { inside = 1; if (n++) print ""; next } /^```/ { inside = 0 } inside' "${2:-$PAGE}"; }

# swap FILE BLOCK FROM TO: in FILE, the block of the page in a form of the text: the block itself, or a mark for it
swap() {
    local text block
    text=$(cat "$1") block=$(blocks "c $2" "$RELAY")
    [ "$3" = block ] || { printf '%s\n' "${text/"/* $2 */"/"$block"}" >"$1" && return; }
    case $text in *"$block"*) ;; *) fail "the page's $2 is not in $1" ;; esac
    printf '%s\n' "${text/"$block"/"/* $2 */"}" >"$1"
}
# relay_operator TREE block|mark: takes nn.leaky_relu out, or adds it again
relay_operator() {
    swap "$1/$OPS" row "$2" && swap "$1/$OPS" kernel "$2"
    swap "$1/$CONVERT" "convert row" "$2" && swap "$1/$CONVERT" convert "$2"
}
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
    relay_operator "$tree" block
    (cd "$tree" && make -s -j2 B="$b" "$b/nnvts" "$b/drivers/reference.so") >"$OUT" 2>"$ERR" || { cat "$ERR" >&2; fail "it does not build without ELU"; }
    printf 'def @main(%%x: Tensor[(2), float32]) { nn.leaky_relu(%%x, alpha=0.5f) }\n' >leaky.relay
    check 0 "$tree/$b/nnvts" partition leaky.relay
    has "$OUT" "on the host: nn.leaky_relu"
    check 2 "$tree/$b/nnvts" op ELU
    # shellcheck disable=SC2086
    check 2 "$tree/$b/nnvts" list $elu

    blocks c >"$tree/reference/ops/elementwise/elu.c"
    blocks ops.def >>"$tree/reference/model/ops.def"
    relay_operator "$tree" mark
    (cd "$tree" && make -s -j2 B="$b" "$b/nnvts" "$b/drivers/reference.so") >"$OUT" 2>"$ERR" || { cat "$ERR" >&2; fail "it does not build with ELU"; }
    check 0 "$tree/$b/nnvts" op ELU
    has "$OUT" "max(0, x)"
    check 0 "$tree/$b/nnvts" partition leaky.relay
    has "$OUT" "1 of 1 operations in 1 region"
    # shellcheck disable=SC2086
    check 0 "$tree/$b/nnvts" run --driver reference $elu --out "$WORK/run"
    hasnt "$OUT" unsupported
}
run_tests
