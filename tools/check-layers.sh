#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Includes point down only: a folder, with all that lies in it, may include itself and the folders of its row. A file
# belongs to the longest row that its path begins with.
set -eu
cd "$(dirname "$0")/.."

table() {
    cat <<'T'
include              include
base                 include base
reference/model      include base
reference/spec       include base reference/model
reference/eval       include base reference/model
reference/ops        include base reference/model reference/eval
reference/abi        include base reference/model
reference/faults     include base reference/model
reference/rules      include base reference/model reference/abi
reference/cpu        include base reference/model reference/abi reference/spec reference/eval reference/ops
reference/runtime    include base reference/model reference/cpu
randgraph            include base reference/model reference/spec reference/eval reference/ops
mlts                 include base reference/model reference/spec reference/eval reference/ops
compiler/relay       include base
compiler/byoc        include base reference/model compiler/relay
compiler/nnapi       include base reference/model compiler/relay compiler/byoc
compiler/nnapi/region include
harness/client       include base reference/model reference/abi
harness/judge        include base reference/model reference/spec reference/eval harness/client
harness/journal      include base
harness/runner       include base reference/model reference/spec reference/eval harness/client harness/judge harness/journal reports
harness/suites       include base reference/model reference/abi reference/faults reference/spec reference/eval reference/ops reference/runtime randgraph mlts compiler harness/client harness/judge harness/runner harness/fuzz
harness/debug        include base reference/model reference/abi reference/faults reference/spec reference/eval harness/client harness/judge harness/journal harness/runner reports
harness/placement    include base reference/model reference/spec reference/runtime harness/client harness/judge harness/debug harness/journal
harness/datasheet    include base reference/model reference/spec reference/eval reference/ops randgraph harness/client harness/judge harness/runner harness/debug harness/bench reports
harness/fuzz         include base reference/model reference/abi reference/faults reference/spec reference/eval randgraph harness/client harness/judge harness/runner
harness/bench        include base reference/model reference/spec reference/eval mlts harness/client harness/judge harness/runner harness/debug
harness/compiled     include base reference/model reference/spec reference/eval compiler compiler/nnapi/region mlts harness/client harness/judge harness/runner harness/bench reports
harness/cli          include base reference mlts randgraph compiler harness reports
reports              include base harness/journal
T
}

# A file and what it includes, for all quoted includes of the product but the drivers'.
includes() {
    git ls-files -co --exclude-standard '*.c' '*.h' | grep -v -e '^tests/' -e '^drivers_under_test/' -e '^tools/' | xargs grep -s '^#include "' /dev/null
}

bad=$(
    { table; echo; includes; } | awk '
        /^$/ && !files { files = 1; next }
        !files { row[$1] = 1; for (i = 2; i <= NF; i++) may[$1, $i] = 1; next }
        function row_of(path,   best, r) {
            best = ""
            for (r in row) if (index(path "/", r "/") == 1 && length(r) > length(best)) best = r
            return best
        }
        # A row that names a folder above the target allows all that lies in it.
        function allowed(from, to,   path) {
            for (path = to; path != ""; ) {
                if ((from, path) in may) return 1
                if (!sub(/\/[^\/]*$/, "", path)) path = ""
            }
            return 0
        }
        {
            colon = index($0, ":"); file = substr($0, 1, colon - 1)
            split(substr($0, colon + 1), part, "\""); target = part[2]
            if (target ~ /^(nnvts\/|NeuralNetworks)/) target = "include/x"
            else if (target !~ /\//) { folder = file; sub(/\/[^\/]*$/, "", folder); target = folder "/" target }
            from = row_of(file); to = row_of(target)
            if (from == "") print file " is in no row of the table"
            else if (to == "") print file " includes " target ", which is in no row of the table"
            else if (from != to && !allowed(from, to)) print file " includes " target ": " from " may not include " to
        }'
    # A driver sees include alone. The reference adapter sees reference/cpu, the driver of planted faults what edits
    # models, drivers over engines what they share, and all but cpu and template what is common to several.
    git ls-files -co --exclude-standard 'drivers_under_test/*.[ch]' | xargs grep -s '^#include "' | while IFS=: read -r file line; do
        target=${line#*\"} target=${target%%\"*}
        driver=${file#drivers_under_test/} driver=${driver%%/*}
        case $target in nnvts/* | NeuralNetworks*) continue ;; esac
        [ -e "$(dirname "$file")/$target" ] || [ -e "drivers_under_test/$driver/$target" ] && continue
        case "$target $driver" in
        "common/"*" cpu" | "common/"*" template") ;;
        "common/"* | "reference/cpu/executor.h reference" | "reference/"[afm]*" faulty" | "base/sha256.h host" | "host/"*" remote" | "engine/"*" onednn" | "engine/"*" xnnpack" | "engine/"*" tflite" | "engine/"*" ort" | "engine/"*" ggml") continue ;;
        esac
        echo "$file includes $target: a driver sees only include"
    done
)
if [ -n "$bad" ]; then
    echo "$bad" >&2
    exit 1
fi
echo "layers: ok"
