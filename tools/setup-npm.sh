#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Brings libraries that the npm registry has, as they are: nothing is installed, none of npm's scripts is run.
#   tools/setup-npm.sh FOLDER [NAME...]     FOLDER/NAME/include and FOLDER/NAME/lib; all names by default
# What is there already is left. Exit code 1, with the reason, where one cannot be had.
set -eu

# name, package, SHA-512 of its archive, include folder (- where it has none) and library folder in it: ARCH stands for
# this machine's architecture in Debian's words, CPU for it in Node's
packages() {
    cat <<'EOF'
ggml @node-llama-cpp/linux-x64@3.22.1 e6e0820cda9608d7da026f1a47f533c5ba381c1a4a80d17dd640873dea4a86032057638099ab6879f6ce94c8a1b2a0a21f639ddf913f7941d00856df44126e3a - bins/linux-x64
tflite tfjs-tflite-node@0.0.2 65e77d6e23b3f65916b1e92f3f07449b15e7b235c99d93bc88e574b36636d10535e5cc223de7731440588866caeec998a6426940d358f52ba4a0a9948bd6e4f7 cc_deps/include cc_deps/linux_ARCH
onnxruntime onnxruntime-node@1.30.0 b7086cd42d82fc1164cf5c9ce4e634288536194aba0d444eee10f86f1e50d90cb79c0309c115d6f31537355733136f5503d96894b3987a9a03f1f8d318e7c8ab - bin/napi-v6/linux/CPU
EOF
}

case ${1:-} in
'' | -*) echo "usage: $0 FOLDER [NAME...]" >&2; exit 2 ;;
esac
folder=$1
shift
[ $# -gt 0 ] || set -- $(packages | cut -d ' ' -f 1)

case $(uname -m) in
x86_64) arch=amd64 cpu=x64 ;;
aarch64) arch=arm64 cpu=arm64 ;;
*) echo "setup: $(uname -m): these packages have no library for it" >&2; exit 1 ;;
esac

# bring NAME PACKAGE SHA512 INCLUDE LIB
bring() {
    [ ! -d "$folder/$1/lib" ] || return 0
    command -v npm >/dev/null 2>&1 || { echo "setup: $1 needs npm (apt-get install npm), which is not here" >&2; return 1; }
    echo "setup: fetching $2 for $folder/$1"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && npm pack --silent "$2" >npm.log 2>&1) || {
        echo "setup: npm cannot fetch $2: $(tail -n 1 "$work/npm.log")" >&2
        return 1
    }
    sum=$(cat "$work"/*.tgz | sha512sum | cut -d ' ' -f 1)
    [ "$sum" = "$3" ] || { echo "setup: $2 is not what was expected: its SHA-512 is $sum" >&2; return 1; }
    tar -xzf "$work"/*.tgz -C "$work"
    mkdir -p "$work/new"
    [ "$4" = - ] || cp -r "$work/package/$4" "$work/new/include"
    cp -r "$work/package/$(echo "$5" | sed "s/ARCH/$arch/; s/CPU/$cpu/")" "$work/new/lib"
    cp "$work"/package/LICENSE* "$work/new" 2>/dev/null || true
    mkdir -p "$folder"
    rm -rf "${folder:?}/$1"
    mv "$work/new" "$folder/$1"
    rm -rf "$work"
}

for name; do
    line=$(packages | grep "^$name ") || { echo "setup: no package is called $name" >&2; exit 2; }
    [ "$name $cpu" != "ggml arm64" ] || { echo "setup: this package of ggml has no library for $(uname -m)" >&2; continue; }
    # shellcheck disable=SC2086
    bring $line
done
