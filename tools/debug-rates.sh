#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How well reduce, bisect and explain do on the planted bugs that make values wrong: runs each on random graphs, and puts
# the dumps of failed graphs to the three.
#   tools/debug-rates.sh [-b BUILD] [-c GRAPHS] [-n DUMPS] [-s SEED] [-j JOBS] [-o DIR] [BUG...]
# Prints a Markdown table, a line a bug, and the rates. Exit code 1 if a rate misses its goal: reduced to 3 operations
# or fewer within 60 s: 90 %; the right operation named: 95 %; the right mistake named: 70 %, a wrong one: at most 5 %.
# tests/system/mistakes.tsv says what nnvts explain may call each bug.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$ROOT/build GRAPHS=640 DUMPS=3 SEED=1 JOBS=2 OUT=$ROOT/build/debug-rates
while getopts b:c:n:s:j:o: option; do
    case $option in
    b) BUILD=$OPTARG ;;
    c) GRAPHS=$OPTARG ;;
    n) DUMPS=$OPTARG ;;
    s) SEED=$OPTARG ;;
    j) JOBS=$OPTARG ;;
    o) OUT=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
nnvts=$BUILD/nnvts
mkdir -p "$OUT"

# member NAME JSON: the first number or text with this key
member() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" <<<"$2" | head -n 1; }
# sample: of the dumps of a run, those of the largest graphs of each profile in turn
sample() {
    find "$1" -name '*.json' -printf '%s %p\n' | sort -rn | awk '{
        split($2, part, "."); k = seen[part[length(part) - 2]]++; print k, $1, $2 }' | sort -k1n -k2rn | head -n "$DUMPS" | cut -d ' ' -f 3
}
# judge_dump BUG OPERATIONS NAMES DUMP: a line of eight fields
judge_dump() {
    local bug=$1 operations=$2 names=$3 dump=$4 r b e after seconds culprit kind found name small=no named=no called=unknown
    r=$("$nnvts" reduce "$dump" -d "faulty:$bug" -o "$OUT/$bug.small.json" --json 2>&1)
    after=$(sed -n 's/.*"after":{"operations":\([0-9]*\).*/\1/p' <<<"$r")
    seconds=$(member seconds "$r")
    [ -n "$after" ] && [ "$after" -le 3 ] && awk "BEGIN { exit !($seconds <= 60) }" && small=yes
    b=$("$nnvts" bisect "$dump" -d "faulty:$bug" --json 2>&1)
    culprit=$(sed -n 's/.*"culprit":{"operation":[0-9]*,"name":"\([A-Z0-9_]*\)".*/\1/p' <<<"$b")
    case ,$operations, in *,"$culprit",*) named=yes ;; esac
    [ "$operations" != all ] || [ -z "$culprit" ] || named=yes
    e=$("$nnvts" explain "$dump" -d "faulty:$bug" --json 2>&1)
    kind=$(member explained "$e")
    found=$(grep -o '"name":"[^"]*","words":"[^"]*","matched":[0-9]*,"same_values":true' <<<"$e" | cut -d '"' -f 4 | sort -u | tr '\n' ' ')
    [ "$kind" != mistake ] || called=wrong
    for name in $names; do
        case " $kind $found " in *" $name "*) called=right ;; esac
    done
    echo "$bug $small $named $called ${after:--} ${seconds:--} ${culprit:--} ${kind:--}:${found// /,} $(basename "$dump" .json)"
}
# judge_bug BUG OPERATIONS
judge_bug() {
    local names dump
    names=$(awk -F '\t' -v bug="$1" '$1 == bug { print $2 }' "$ROOT/tests/system/mistakes.tsv")
    rm -rf "$OUT/run.$1"
    "$nnvts" run -d "faulty:$1" -s randgraph --count "$GRAPHS" --seed "$SEED" -j 1 -q --out "$OUT/run.$1" >/dev/null 2>&1
    for dump in $(sample "$OUT/run.$1/dumps"); do judge_dump "$1" "$2" "$names" "$dump"; done
    rm -rf "$OUT/run.$1" "$OUT/$1".small.*
}
export -f judge_bug judge_dump member sample
export ROOT OUT GRAPHS DUMPS SEED nnvts

"$nnvts" audit --markdown | awk -F ' *[|] *' '/^\| `/ && $5 != "" { gsub("`", "", $2); print $2, $5 }' |
    if [ $# -gt 0 ]; then grep -E "^($(IFS='|'; echo "$*")) "; else cat; fi |
    xargs -P "$JOBS" -L 1 bash -c 'judge_bug "$@"' sh >"$OUT/lines"
sort "$OUT/lines" | awk '
    BEGIN { print "| bug | dumps | reduced | operation named | explained | wrongly |\n| --- | ---: | ---: | ---: | ---: | ---: |" }
    { n[$1]++; small[$1] += $2 == "yes"; named[$1] += $3 == "yes"; right[$1] += $4 == "right"; wrong[$1] += $4 == "wrong"
      if (n[$1] == 1) order[++bugs] = $1
      N++; S += $2 == "yes"; M += $3 == "yes"; R += $4 == "right"; W += $4 == "wrong" }
    function rate(x) { return sprintf("%d (%.1f %%)", x, N ? 100 * x / N : 0) }
    END {
        for (i = 1; i <= bugs; i++) { b = order[i]; printf "| `%s` | %d | %d | %d | %d | %d |\n", b, n[b], small[b], named[b], right[b], wrong[b] }
        printf "| **%d bugs** | %d | %s | %s | %s | %s |\n", bugs, N, rate(S), rate(M), rate(R), rate(W)
        exit !(N && S >= 0.9 * N && M >= 0.95 * N && R >= 0.7 * N && W <= 0.05 * N)
    }'
