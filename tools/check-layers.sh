#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Includes point down only: each folder may include the folders of its row (and itself).
set -eu
cd "$(dirname "$0")/.."

table() {
    cat <<'EOF'
include              include
base                 include base
reference/model      include base reference/model
reference/eval       include base reference/model reference/eval
reference/ops        include base reference/model reference/eval reference/ops
reference/runtime    include base reference/model reference/runtime
reports              include base reports
randgraph            include base reference/model reference/eval reference/ops randgraph
mlts                 include base reference/model reference/eval reference/ops mlts
compiler             include base reference/model reference/eval reference/ops compiler
harness/core         include base reference/model reference/eval reference/ops randgraph reports harness/core
harness/bench        include base reference/model reference/eval reference/ops mlts harness/core harness/debug harness/bench
harness/debug        include base reference/model reference/eval reference/ops harness/core harness/debug
harness/explain      include base reference/model reference/eval reference/ops harness/core harness/explain
harness/fuzz         include base reference/model reference/eval reference/ops randgraph harness/core harness/fuzz
harness/suites       include base reference/model reference/eval reference/ops reference/runtime randgraph harness/core harness/fuzz harness/suites
harness/cli          include base reference/model reference/eval reference/ops reference/runtime randgraph mlts compiler reports harness/core harness/bench harness/debug harness/explain harness/fuzz harness/suites harness/cli
drivers_under_test/reference  include base reference/model reference/eval reference/ops reference/runtime
EOF
}

# Lines "file<TAB>included folder" for the quoted includes of a folder's own files.
edges() {
    grep -Hs '^#include "' "$1"/*.c "$1"/*.h 2>/dev/null | sed -n 's|^\([^:]*\):#include "\([^"]*\)".*|\1 \2|p' |
        while read -r file target; do
            case $target in
            NeuralNetworks*.h | nnvts/*) folder=include ;;
            */*) folder=${target%/*} ;;
            *) folder=$(dirname "$file") ;;
            esac
            echo "$file $folder"
        done
}

bad=$(
    table | while read -r folder allowed; do
        edges "$folder" | while read -r file target; do
            [ "$target" = "$folder" ] && continue
            case " $allowed " in
            *" $target "*) ;;
            *) echo "$file includes $target: $folder may include only: $allowed" ;;
            esac
        done
    done
    for d in drivers_under_test/*/; do
        d=${d%/}
        [ "$d" = drivers_under_test/reference ] && continue
        edges "$d" | while read -r file target; do
            [ "$target" = include ] || [ "$target" = "$d" ] && continue
            case "$target $file" in engine\ */onednn/* | engine\ */xnnpack/*) continue ;; esac
            echo "$file includes $target: a driver sees only include"
        done
    done
    # A folder that the table does not know has escaped the check.
    git ls-files '*.c' '*.h' | sed 's|/[^/]*$||' | sort -u | while read -r d; do
        case $d in
        include/nnvts | tests/* | drivers_under_test/* | tools*) ;;
        *) table | awk -v d="$d" '$1 == d {f = 1} END {exit !f}' || echo "folder $d is in no row of the table" ;;
        esac
    done
)
if [ -n "$bad" ]; then
    echo "$bad" >&2
    exit 1
fi
echo "layers: ok"
