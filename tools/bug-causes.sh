#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an engineer sees of each planted bug: into how many causes its failures are sorted, and what the first one is
# called.
#   tools/bug-causes.sh [-b BUILD] [-j JOBS] [-o DIR] [BUG...]
# Runs each bug on the suite that it is for: tier smoke, and default where smoke does not find it. Prints a Markdown
# table, a line a bug, and the rates. Exit code 1 if a rate misses its goal: at most 2 causes for 95 % of the bugs; the
# mistake named by the first for 85 %. Bugs of values are to be called as tests/system/mistakes.tsv says, or to show under
# the condition of tests/system/bug_conditions.tsv; the others by anything that says more than that values are wrong, such as
# the steps of executions in which they are.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$ROOT/build JOBS=2 OUT=$ROOT/build/bug-causes
while getopts b:j:o: option; do
    case $option in
    b) BUILD=$OPTARG ;;
    j) JOBS=$OPTARG ;;
    o) OUT=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
nnvts=$BUILD/nnvts
mkdir -p "$OUT"

# bugs [BUG...]: "bug suite", as the list of planted bugs has them
bugs() {
    "$nnvts" audit --markdown | awk -v only=" $* " '/^## / { suite = /^## For the suite / ? $NF : "" }
        /^\| `/ && suite { gsub(/`/, "", $2); if (only == "  " || index(only, " " $2 " ")) print $2, suite }'
}
# text NAME LINE: the text with this key, as it stands in the JSON
text() { sed -n "s/.*\"$1\": \"\(\([^\"\\\\]\|\\\\.\)*\)\".*/\1/p" <<<"$2"; }
# judge BUG SUITE: a row of the table
judge() {
    local bug=$1 suite=$2 tier causes first words names name named=no count condition
    for tier in smoke default; do
        rm -rf "${OUT:?}/$bug"
        "$nnvts" run -d "faulty:$bug" -s "$suite" --tier "$tier" --flakes 0 -j 1 -q --out "$OUT/$bug" >/dev/null 2>&1
        causes=$(sed -n 's/^  "bugs": \([0-9]*\).*/\1/p' "$OUT/$bug/summary.json" 2>/dev/null)
        [ "${causes:-0}" -eq 0 ] || break
    done
    first=$(sed -n '/^  "failures_by_bug"/{n;p}' "$OUT/$bug/summary.json")
    count=$(sed -n 's/.*"count": \([0-9]*\).*/\1/p' <<<"$first")
    words=$(text explained "$first")
    names=$(awk -F '\t' -v bug="$bug" '$1 == bug { print $2 }' "$ROOT/tests/system/mistakes.tsv")
    for name in $names; do
        [ -n "$words" ] && grep -qxF "$words" <(awk -v n="$name" '$1 == n { $1 = ""; print substr($0, 2) }' "$OUT/mistakes") && named=yes
    done
    case $names in *unknown*) named=yes ;; esac
    condition=$(awk -F '\t' -v bug="$bug" '$1 == bug { print $2 }' "$ROOT/tests/system/bug_conditions.tsv")
    [ -z "$condition" ] || { text where "$first" | grep -qF "$condition" && named=yes; }
    if [ -z "$words" ]; then
        words=$(text like "$first")
        case " $names " in *unsteady* | *no-answer* | "  ") [ "$words" = "values are wrong" ] || named=yes ;; esac
        case $(text where "$first") in
        "only in executions of the mode "* | "only in "[a-z]*/* | "only where "*"the case is "* | "only where the kind of case is "*) named=yes ;;
        esac
    elif [ -z "$names" ]; then
        named=yes
    fi
    [ "${causes:-0}" -gt 0 ] || { named=- words="not found"; }
    echo "| \`$bug\` | $suite $tier | ${causes:-0} | ${count:-0} | $named | ${words//|/\\|}$(text where "$first" | sed 's/^/; /') |"
}
export -f judge text
export ROOT OUT nnvts
"$nnvts" explain --list >"$OUT/mistakes"
printf '%s\n' '| bug | suite, tier | causes | failures of the first | named | first cause |' '| --- | --- | --- | --- | --- | --- |'
bugs "$@" | xargs -r -P "$JOBS" -L 1 bash -c 'judge "$0" "$1"' | sort | tee "$OUT/table"
awk -F ' [|] ' '$3 > 0 { n++; few += $3 <= 2; named += $5 == "yes" } $3 == 0 { none++ }
    END { if (!n) exit 1
        printf "\n%d bugs: at most 2 causes for %d (%.1f %%), the mistake named by the first for %d (%.1f %%); %d not found by their suite\n",
            n, few, 100 * few / n, named, 100 * named / n, none
        exit !(few >= 0.95 * n && named >= 0.85 * n) }' "$OUT/table"
