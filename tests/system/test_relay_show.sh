#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Relay programs and networks by nnvts show.
. "$(dirname "$0")/lib.sh"

test_a_network_is_summed_up() {
    check 0 "$ROOT/tools/relay_models.py" mobilenet-v1 --size 32 --width 0.25 --classes 10 --out "$WORK"
    check 0 nnvts show "$WORK/mobilenet-v1.relay"
    has "$OUT" '  %data: Tensor[(1, 3, 32, 32), float32]'
    has "$OUT" '  and 49 more parameters'
    has "$OUT" '  gives Tensor[(1, 10), float32]'
    has "$OUT" '      27  nn.conv2d  Tensor[(1, 8, 16, 16), float32]  Tensor[(1, 16, 16, 16), float32]'
    has "$OUT" '       1  nn.softmax  Tensor[(1, 10), float32]'
    hasnt "$OUT" 'not known'
}
test_what_is_not_known_is_said() {
    echo 'def @main(%x: float32) { my.op(exp(%x)) /* ty=float32 */ }' >"$WORK/a.relay"
    check 0 nnvts show "$WORK/a.relay"
    has "$OUT" '       1  my.op  (not known)  float32'
}
test_a_mistake_is_shown_with_its_place() {
    echo 'def @main(%x: float32) { nn.conv2d(%x) }' >"$WORK/a.relay"
    check 2 nnvts show "$WORK/a.relay"
    has "$ERR" 'a.relay:1:26: nn.conv2d: has 1 operands, not 2'
    check 2 nnvts show "$ROOT/tests/relay/flow.relay" --as json
    has "$ERR" 'only the summary'
}
# A seed gives the same files again; another one other values.
test_the_same_seed_gives_the_same_network() {
    local m=$ROOT/tools/relay_models.py options='--size 16 --width 0.25 --classes 4'
    # shellcheck disable=SC2086
    for seed in 1 1 2; do
        check 0 "$m" ssd $options --seed "$seed" --out "$WORK/$seed"
        [ -e "$WORK/first" ] || cp -r "$WORK/1" "$WORK/first"
    done
    cmp "$WORK/1/ssd.relay" "$WORK/first/ssd.relay" && cmp "$WORK/1/ssd.params" "$WORK/first/ssd.params" || fail differs
    ! cmp -s "$WORK/1/ssd.params" "$WORK/2/ssd.params" || fail "the seed changes nothing"
}
# A program of Relax is shown as one of Relay, which is divided in the same way.
test_relax() {
    check 0 nnvts show "$ROOT/tests/relay/block.py"
    has "$OUT" "nn.conv2d"
    check 0 nnvts show "$ROOT/tests/relay/block.py" --as relay
    cp "$OUT" block.relay
    check 0 nnvts partition block.relay
    cp "$OUT" relay.txt
    check 0 nnvts partition "$ROOT/tests/relay/block.py"
    diff relay.txt "$OUT" || fail "Relay and Relax are divided differently"
}
run_tests
