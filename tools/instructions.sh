#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Instructions of 64-bit Arm that the driver cpu executes for a layer, on each of its instruction sets, counted by qemu: for a machine
# that has no Arm. They are no times: a product of matrices counts as one.
#   tools/instructions.sh BUILD [LAYER...]     BUILD: what make ports has built for arm64 (build-ports/arm64)
set -eu
build=$(cd "$1" && pwd)
root=$(dirname "$build")/sysroot-arm64
shift
[ $# -gt 0 ] || set -- "conv 3x3 56x56x64-64" "pointwise 28x28x256-256" "pointwise 112x112x32-16" "depthwise 3x3 112x112x32" \
    "depthwise 3x3 14x14x384" "depthwise 3x3/2 112x112x96" "fully connected 1024-1000" "conv 3x3/2 224x224x3-32"
[ -x "$build/bench/bench_layers" ] || { echo "instructions: no $build/bench/bench_layers (make ports PORTS=arm64)" >&2; exit 2; }
${CC:-cc} -std=c17 -O2 -shared -fPIC -fvisibility=hidden -o "$build/instructions.so" "$(dirname "$0")/../tests/bench/qemu/instructions.c"
# total RUNS ISA LAYER: of a whole process
total() {
    qemu-aarch64 -cpu max -plugin "$build/instructions.so" -L "$root" -E LD_LIBRARY_PATH="$root/usr/lib/aarch64-linux-gnu/openblas-serial" \
        "$build/bench/bench_layers" "$build/drivers" --runs "$1" "threads=1,isa=$2" "$3" 2>&1 | sed -n 's/^instructions //p'
}
echo "thousands of instructions, and how many times fewer than base"
printf '%-34s %9s %16s %16s %16s\n' layer base neon dotprod i8mm
for layer in "$@"; do
    for type in float32 quant8; do
        base='' line=''
        for isa in base neon dotprod i8mm; do
            once=$((($(total 3 $isa "$layer $type") - $(total 1 $isa "$layer $type")) / 2000))
            if [ -z "$base" ]; then
                base=$once line=$(printf '%9d' $once)
            else
                line="$line $(printf '%9d %6s' $once "$(echo "$base $once" | awk '{printf "%.1f", $1 / $2}')")"
            fi
        done
        printf '%-26s %-7s %s\n' "$layer" $type "$line"
    done
done
