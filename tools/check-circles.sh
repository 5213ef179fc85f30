#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files need each other one way only. A file is a .c with the .h of its name; it needs another if either includes the
# other's header, or the .c names what the other's .c defines. What macros define is not seen.
#   tools/check-circles.sh [FOLDER...]    within each of these [of those that are without circles]
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- base compiler harness/compiled harness/judge harness/placement reference/abi reports/html
bad=$(for folder in "$@"; do
    git ls-files -co --exclude-standard "$folder/*.[ch]" | while read -r f; do [ ! -e "$f" ] || echo "$f"; done | xargs awk '
        FNR == 1 { file = FILENAME; sub(/\.[ch]$/, "", file); is[file]; source = FILENAME ~ /c$/; comment = 0 }
        /^#include "/ { split($0, part, "\""); sub(/\.h$/, "", part[2]); need[file, part[2]] = "its header" }
        source && /^[a-z]/ && !/^(static|typedef|extern) / && !/^(struct|enum|union) [a-z_0-9]* ?\{/ {
            name = $0; sub(/ = .*|[([;].*/, "", name); sub(/.*[ *]/, "", name)
            if (name in home && home[name] != file) home[name] = "several"; else home[name] = file
        }
        source {
            gsub(/\047([^\047\\]|\\.)\047|"([^"\\]|\\.)*"|\/\*([^*]|\*+[^*\/])*\*+\/|\/\/.*/, "")
            if (comment && !sub(/.*\*\//, "")) next
            comment = sub(/\/\*.*/, "")
            gsub(/(struct|enum|union) [a-z_0-9]+/, "")
            for (n = split($0, word, /[^A-Za-z_0-9]+/); n > 0; n--) names[file, word[n]]
        }
        END { # Who needs nothing that is left, or whom nobody needs, is in no circle.
            for (pair in names) { split(pair, part, SUBSEP); if (part[2] in home) need[part[1], home[part[2]]] = part[2] }
            do {
                again = 0; split("", needs); split("", needed)
                for (pair in need) { split(pair, part, SUBSEP); needs[part[1]]; needed[part[2]] }
                for (pair in need) {
                    split(pair, part, SUBSEP)
                    outside = part[1] == part[2] || !(part[2] in is) || !(part[2] in needs) || !(part[1] in needed)
                    if (outside) { delete need[pair]; again = 1 }
                }
            } while (again)
            for (pair in need) { split(pair, part, SUBSEP); print part[1] " needs " part[2] ": " need[pair] }
        }' | sort
done)
[ -z "$bad" ] || { echo "$bad" >&2; exit 1; }
echo "circles: none"
