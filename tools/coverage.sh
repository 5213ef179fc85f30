#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lines of the product that the tests execute, by folder, from what gcov counted. A line counts once, in whatever program
# it ran.
#   tools/coverage.sh BUILD
set -eu
cd "$(dirname "$0")/.."
build=$1
find "$build/obj" -name '*.gcda' | sed 's|[^/]*$||' | sort -u | while read -r folder; do
    gcov -n -s . -o "$folder" "$folder"*.gcda 2>/dev/null
done | awk '
    /^File / {file = $2; gsub("\047", "", file)}
    /^Lines executed:/ {
        split($2, part, /[:%]/); n = $NF
        if (file !~ /^\// && !(file in seen)) {
            seen[file] = 1
            folder = file; sub(/\/[^\/]*$/, "", folder)
            lines[folder] += n; hit[folder] += n * part[2] / 100
        }
    }
    END {for (f in lines) printf "%6.1f %%  %6d lines  %s\n", 100 * hit[f] / lines[f], lines[f], f
         for (f in lines) {all += lines[f]; some += hit[f]} printf "%6.1f %%  %6d lines  ~ all folders\n", 100 * some / all, all}' |
    sort -k 5 | sed 's/~ all/all/'
