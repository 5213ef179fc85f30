#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Datasheets of drivers of which all is known say what is known, and nothing else.
. "$(dirname "$0")/lib.sh"

PLANTED=$ROOT/tests/system/conditions.tsv

# Prints "operation<tab>types<tab>condition" of each condition in the datasheet.
conditions() {
    tr -d '\n' <"$1/datasheet.json" | sed 's/{"operation"/\n{"operation"/g' |
        sed -n 's/^{"operation": "\([^"]*\)", "types": "\([^"]*\)".*"conditions": \[\([^]]*\(\[[0-9]*\][^]]*\)*\)\], "answers".*/\1\t\2\t\3/p' |
        awk -F'\t' '{ n = split(substr($3, 2, length($3) - 2), c, /", ?"/); for (i = 1; i <= n; i++) if (c[i] != "") print $1 "\t" $2 "\t" c[i] }'
}

# All that is planted is found; what is found is planted, or a limit of the driver cpu that computes.
test_planted_conditions() {
    check 0 nnvts datasheet --driver cpu -o cpu --time-budget 0 --quiet
    check 0 nnvts datasheet --driver sample:conditions -o planted --time-budget 0
    has "$OUT" "CONV_2D float32"
    has "$OUT" "what is claimed is wrong for 0"
    has cpu/datasheet.json '"about": "FULLY_CONNECTED float32", "what": "accumulator", "is": "float32"'
    has cpu/datasheet.json '"about": "FULLY_CONNECTED quant8_asymm", "what": "requantisation", "is": "exact, ties away from 0"'
    has cpu/datasheet.json '"about": "QUANTIZE float32", "what": "ties", "is": "away from 0"'
    has cpu/datasheet.json '"about": "all operations", "what": "requantisation", "is": "exact, ties away from 0"'
    has cpu/datasheet.json '"arithmetic": "requantise=exact-away"'
    # and judges by it, where any exact scheme would do before
    check 0 nnvts run --driver cpu --suite ops -k 'ops/MUL/quant8_asymm/*' --tier smoke -o run --arithmetic cpu/datasheet.json
    has "$OUT" "arithmetic requantise=exact-away"
    has run/journal.jsonl '"arithmetic":"requantise=exact-away"'
    check 2 nnvts run --driver cpu --suite ops -k 'ops/MUL/*' -o none --arithmetic cpu/none.json
    has "$ERR" "--arithmetic: cpu/none.json: is no datasheet.json"
    has cpu/datasheet.html "How it computes"
    has cpu/datasheet.html '<tr><td class="keep">accumulator</td><td class="keep"><b>float32</b></td>'
    grep -q 'Of \([0-9]*\) models that it claims to support, and that were computed, \1 are right\.' cpu/datasheet.html || fail "cpu: claims"
    has cpu/datasheet.html "<b>Always, in all types:</b> ADD, "
    hasnt cpu/datasheet.json '"inf ulp"'
    # every pair was asked to the end: no process of nnvts itself died of a model that it made
    hasnt cpu/datasheet.json '"ended"'
    hasnt cpu/datasheet.json '"supported": "unknown"'
    conditions cpu >cpu.tsv
    conditions planted | sort >found.tsv
    sort -u cpu.tsv | comm -13 - found.tsv >own.tsv
    grep -v '^#' "$PLANTED" | awk -F'\t' '
        NR == FNR { n++; op[n] = $1; types[n] = $2; words[n] = $3; planted[$1] = 1; next }
        {
            hit = 0
            for (i = 1; i <= n; i++)
                if (op[i] == $1 && (types[i] == "*" || $2 ~ types[i]) && $3 ~ "^(" words[i] ")$") { hit = 1; seen[i, $2] = 1 }
            if (!hit) { print "invented: " $0; invented++ }
            if (planted[$1]) kinds[$1, $2] = 1
        }
        END {
            for (k in kinds) {
                split(k, part, SUBSEP)
                for (i = 1; i <= n; i++) {
                    if (op[i] != part[1] || !(types[i] == "*" || part[2] ~ types[i])) continue
                    all++
                    if ((i, part[2]) in seen) found++; else print "not found: " part[1] " " part[2] ": " words[i]
                }
            }
            printf "%d of %d found, %d invented\n", found, all, invented
            exit all < 100 || found < 0.95 * all || invented > 0
        }' - own.tsv >verdict.txt || fail "$(cat verdict.txt)"
    echo "conditions: $(tail -n 1 verdict.txt)"
}

# A driver of three operations.
test_what_is_not_there() {
    check 0 nnvts datasheet --driver sample:minimal -k '*U*' --json -o out
    has "$OUT" '{"operation": "RELU", "types": "float32", "supported": "all", "conditions": []'
    has "$OUT" '{"operation": "MUL", "types": "float32", "supported": "none", "conditions": []'
    has out/datasheet.html "always"
    has out/datasheet.html "never"
    hasnt out/datasheet.html " % / " # no conditions that could be right, or found
}

# What a profile demands and a driver with conditions has not is said with the condition; another is met.
test_profiles() {
    check 0 nnvts datasheet --driver cpu --profile keyword-float32 -o cpu
    has "$OUT" "profile keyword-float32: met, all of 6 pairs"
    has "$OUT" "keyword-float32 is met"
    has cpu/datasheet.json '{"name": "keyword-float32", "about": "a keyword spotter", "met": true, "pairs": 6, "missed": []}'
    hasnt cpu/datasheet.json '"name": "vision-float32"'
    check 1 nnvts datasheet --driver sample:conditions --profile keyword-float32 -o less
    has "$OUT" "AVERAGE_POOL_2D float32: 1 of 1 models are not supported; needs filter height < 4, filter width < 4"
    has "$OUT" "keyword-float32 is not met: "
    hasnt "$OUT" "SVDF float32: "
    has less/datasheet.html "What it suffices for"
    check 1 nnvts datasheet --driver sample:minimal --profile keyword-float32 --json -o none
    has "$OUT" '{"operation": "SVDF", "types": "float32", "models": 1, "of": 1, "conditions": []}'
    check 1 nnvts datasheet --driver faulty:beta-ignored --profile keyword-float32 -o wrong
    has "$OUT" "SOFTMAX float32: "
    has "$OUT" "keyword-float32 is not met: 1 of 6 pairs"
    check 2 nnvts datasheet --driver cpu --profile keyword
    has "$ERR" "--profile: 'keyword' is none of level-1, "
    check 2 nnvts datasheet --driver cpu --profile keyword-int8 -k ADD
}

# An earlier datasheet is a contract.
test_contract() {
    check 0 nnvts datasheet --driver cpu -k ADD -o good
    check 0 nnvts datasheet --driver cpu -k ADD -o same --against good/datasheet.json
    has "$OUT" "as in good/datasheet.json"
    check 1 nnvts datasheet --driver sample:conditions -k ADD -o lost --against good/datasheet.json
    grep -q 'BROKEN ADD float32: [0-9]* of [0-9]* models that were supported are not; now rank of a > 1' "$OUT" || fail "no loss"
    has lost/datasheet.html "Against good/datasheet.json"
    has lost/datasheet.json '"breaks": true'
    check 0 nnvts datasheet --driver cpu -k ADD -o gained --against lost/datasheet.json
    has "$OUT" "models that were not supported are"
    check 1 nnvts datasheet --driver faulty:add-scale-ignored -k ADD -o wrong --against good/datasheet.json
    has "$OUT" "claims are wrong, and were not"
    check 2 nnvts datasheet --driver cpu -k ADD --seed 2 --against good/datasheet.json
    has "$ERR" "give --seed 1"
    check 2 nnvts datasheet --driver cpu -k ADD --against good/datasheet.html
}

# statements DRIVER OPERATION: "operation<tab>types<tab>statement<tab>what it is" of each in the datasheet's arithmetic
statements() {
    check 0 nnvts datasheet --driver "$1" -k "$2" -o sheet --quiet
    sed -n 's/.*{"about": "\([A-Z0-9_]*\) \([^"]*\)", "what": "\([^"]*\)", "is": "\([^"]*\)".*/\1\t\2\t\3\t\4/p' sheet/datasheet.json
}
# What is planted in a driver's arithmetic is said, and of nothing else anything that is not said without it.
test_planted_arithmetic() {
    local bug op driver
    grep -v '^#' "$ROOT/tests/system/quirks.tsv" >quirks
    for op in $(cut -f2 quirks | sort -u); do statements faulty:none "$op" >"none-$op"; done
    cut -f1,2 quirks | sort -u | while read -r bug op; do
        case $bug in *:*) driver=$bug ;; *) driver=faulty:$bug ;; esac
        statements "$driver" "$op" | sed "s/^/$bug\t/"
    done >said
    # what the driver without bugs says, too, is not of the bug, unless the bug is said to be so on any processor
    awk -F'\t' 'FILENAME == "quirks" { want[$1, $2, $3, $4] = $5; next }
        FILENAME ~ /^none-/ { usual[$1, $2, $3, $4] = 1; next }
        (($1, $2, $3, $4) in want) && $5 ~ "^(" want[$1, $2, $3, $4] ")$" { print "found"; delete want[$1, $2, $3, $4]; next }
        !(($2, $3, $4, $5) in usual) { print "invented: " $0 }
        END { for (w in want) print "not found: " w ": " want[w] }' quirks none-* said >verdicts
    sed '/^found$/d' verdicts >wrong
    [ ! -s wrong ] || fail "$(cat wrong)"
    echo "arithmetic: $(grep -c '^found$' verdicts) of $(wc -l <quirks) found, 0 invented"
}

# The extents that are planted are found to one, and no others.
test_cliffs() {
    for op in $(grep -v '^#' "$ROOT/tests/system/cliffs.tsv" | cut -f1); do
        check 0 nnvts datasheet --driver sample:cliffs -k "$op" --cliffs -o "out-$op" --quiet
        tr -d '\n' <"out-$op/datasheet.json" | sed 's/{"about"/\n{"about"/g' |
            sed -n 's/^{"about": "\([A-Z0-9_]*\) [^"]*", "axis": "\([^"]*\)", "kind": "\([a-z]*\)", "last": \([0-9]*\),.*/\1\t\2\t\3\t\4/p'
        echo
    done | awk -F'\t' -v OFS='\t' 'NF == 4 { if ($3 == "growth") $4 = "-"; print }' | sort -u >found.tsv
    grep -v '^#' "$ROOT/tests/system/cliffs.tsv" | sort -u | diff - found.tsv >differ || fail "$(cat differ)"
    echo "cliffs: $(wc -l <found.tsv) of $(grep -vc '^#' "$ROOT/tests/system/cliffs.tsv") found, 0 invented"
    # one thread: a second one that waits for its processor, which another program has, is a cliff indeed
    check 0 nnvts datasheet --driver cpu:threads=1 -k ABS --cliffs -o right --quiet
    hasnt right/datasheet.json '"kind": '
    has right/datasheet.json '"axes": 5'
    has right/datasheet.html "Nowhere that was looked at"
    has out-RELU/datasheet.json "every value is 0"
    has out-RELU6/datasheet.html "its process ends beyond"
}

# Times under a roof that is stated: per cent of it follow from them.
test_speed() {
    check 0 nnvts datasheet --driver cpu -k TANH --peak 1000,10 -o out
    grep -Eq '^TANH float32: [0-9.e+]+ us, .*GB/s, [0-9.e+]+ % of the roof' "$OUT" || fail "no speed"
    has out/datasheet.json '"speed": ['
    has out/datasheet.html "as stated: 1000 Gop/s of float32"
    check 2 nnvts datasheet --driver cpu -k TANH --peak fast
    has "$ERR" "--peak: fast: expected GFLOPS,GBPS"
    check 0 nnvts datasheet --driver sample:minimal -k TANH --speed -o none --json
    has "$OUT" '"speed": []'
}
# When the time is over what is left out is said, and breaks no contract.
test_time_budget() {
    check 0 nnvts datasheet --driver cpu -k TANH -o good
    check 0 nnvts datasheet --driver cpu -k TANH --cliffs --speed --time-budget 0.001 -o none --against good/datasheet.json
    has "$OUT" "--time-budget: 4 pairs were not asked, nor all axes"
    has "$OUT" "as in good/datasheet.json"
    has none/datasheet.html "not asked: the time was over"
    has none/datasheet.json '"unfinished": true'
}

# A driver that dies when it is asked, or when it computes, does not take the datasheet along.
test_hostile() {
    local type
    check 0 nnvts datasheet --driver faulty:crash-execute -k TANH --json -o out --timeout 5
    # each model that kills it is wrong, and does not keep the next ones from being computed
    for type in float32 quant8_asymm; do
        grep "\"types\": \"$type\", \"supported\": \"all\"" "$OUT" |
            grep -Eq '"computed": ([1-9][0-9]*), "right": 0, "wrong": \1,' || fail "TANH $type"
    done
    check 2 nnvts datasheet --driver sample:none
    check 2 nnvts datasheet --driver cpu -k NO_SUCH
    has "$ERR" "no operation is called 'NO_SUCH'"
    check 2 nnvts datasheet
}

run_tests
