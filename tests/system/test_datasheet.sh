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
    check 0 nnvts datasheet --driver cpu -o cpu --quiet
    check 0 nnvts datasheet --driver sample:conditions -o planted
    has "$OUT" "CONV_2D float32"
    has "$OUT" "what is claimed is wrong for 0"
    has cpu/datasheet.json '"about": "FULLY_CONNECTED float32", "what": "accumulator", "is": "float32"'
    has cpu/datasheet.json '"about": "FULLY_CONNECTED quant8_asymm", "what": "requantisation", "is": "exact, ties away from 0"'
    has cpu/datasheet.json '"about": "QUANTIZE float32", "what": "ties", "is": "away from 0"'
    has cpu/datasheet.json '"arithmetic": "strict"'
    has cpu/datasheet.html "How it computes"
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
}

# A driver of three operations.
test_what_is_not_there() {
    check 0 nnvts datasheet --driver sample:minimal -k '*U*' --json -o out
    has "$OUT" '{"operation": "RELU", "types": "float32", "supported": "all", "conditions": []'
    has "$OUT" '{"operation": "MUL", "types": "float32", "supported": "none", "conditions": []'
    has out/datasheet.html "always"
    has out/datasheet.html "never"
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

# A driver that dies when it is asked, or when it computes, does not take the datasheet along.
test_hostile() {
    check 0 nnvts datasheet --driver faulty:crash-execute -k TANH --json -o out --timeout 5
    has "$OUT" '"right": 0'
    check 2 nnvts datasheet --driver sample:none
    check 2 nnvts datasheet --driver cpu -k NO_SUCH
    has "$ERR" "no operation is called 'NO_SUCH'"
    check 2 nnvts datasheet
}

run_tests
