#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How the pages look, in a browser: at three widths, at one of them in the dark, nothing is cut, squeezed or laid over another.
. "$(dirname "$0")/lib.sh"

browser() {
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --user-data-dir="$PWD/chromium" "$@" 2>/dev/null
}
needs_browser() { command -v chromium >/dev/null 2>&1 || skip "no chromium here (Debian: apt-get install chromium)"; }

# layout PAGE WIDTH [dark]: what is wrong with the page at that width, in the file "layout"
layout() {
    local scheme=1
    [ "${3:-}" != dark ] || scheme=0
    { sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//; s,</html>,,' "$1"; echo '<script>//<![CDATA['; cat "$ROOT/tests/system/layout.js"; echo '//]]></script></html>'; } >page.html
    browser --window-size="$2",1000 --blink-settings=preferredColorScheme=$scheme --dump-dom "file://$PWD/page.html" >dom || fail "chromium fails on $1"
    sed -n '/<pre id="layout">/,/<\/pre>/p' dom | sed 's/.*<pre id="layout">//; s/<\/pre>.*//' >layout
    [ -s layout ] || fail "no layout of $1"
}
# good PAGE...: each is well laid out
good() {
    local page width
    for page; do
        for width in '1400 light' '800 light' '400 light' '800 dark'; do
            # shellcheck disable=SC2086
            layout "$page" $width
            [ "$(cat layout)" = "nothing wrong" ] || { cat layout >&2; fail "$page at $width"; }
        done
    done
}

test_reports() {
    needs_browser
    check 0 nnvts run --driver cpu --suite ops --filter 'op:ADD & type:float32' --out none
    check 1 nnvts run --driver faulty:dilation-ignored --suite ops --filter 'op:CONV_2D | op:DEPTHWISE_CONV_2D' --out one
    check 1 nnvts run --driver faulty:crash-execute --suite ops --filter 'op:TANH & type:float32' --out crash --timeout 5
    cp -r "$ROOT"/tests/reports/{every,hostile} .
    chmod -R u+w every hostile
    check 3 nnvts report every
    check 1 nnvts report hostile
    good none/report.html one/report.html crash/report.html every/report.html hostile/report.html
}
test_thousands_of_failures() {
    needs_browser
    check 1 nnvts run --driver faulty:requantise-truncates --suite ops --out many
    [ "$(verdict many FAIL)" -gt 1000 ] || fail "few failures"
    layout many/report.html 1400
    same "$(cat layout)" "nothing wrong"
}
test_other_pages() {
    needs_browser
    check 1 nnvts run --driver faulty:beta-ignored --suite ops --filter op:SOFTMAX --out a
    check 0 nnvts run --driver cpu --suite ops --filter 'op:SOFTMAX | op:ADD' --out b
    check 1 nnvts compare b a --html compare.html
    nnvts trend a b --html trend.html >/dev/null || true
    check 0 nnvts bisect "$(ls a/dumps/*.json | head -n 1)" --driver faulty:beta-ignored --html bisect.html
    check 0 nnvts partition "$ROOT/tests/relay/two_regions.relay" --params "$ROOT/tests/relay/two_regions.json" --html partition.html
    nnvts bench --driver cpu,reference --model mobilenet_v2_0.35_96_quant8 --time 0.1 --out bench >/dev/null || fail "bench"
    nnvts bench --driver cpu --model speech_float --count 2 --time 0.1 --layers --roofline --out roof >/dev/null || fail "bench --roofline"
    good compare.html trend.html bisect.html partition.html bench/report.html roof/report.html
}
test_datasheets() {
    needs_browser
    check 1 nnvts datasheet --driver sample:conditions --profile keyword-float32 -o conditions -q
    check 0 nnvts datasheet --driver sample:sums-truncated -k FULLY_CONNECTED -o wrong -q
    check 0 nnvts datasheet --driver sample:cliffs -k RELU --cliffs --speed -o cliffs -q
    has wrong/datasheet.html "What may be wrong"
    has conditions/datasheet.html "What it suffices for"
    good conditions/datasheet.html wrong/datasheet.html cliffs/datasheet.html
}
# A cell that is no cell any more, and a page that is wider than the window, are noticed.
test_bad_pages_are_noticed() {
    needs_browser
    check 1 nnvts run --driver faulty:beta-ignored --suite ops --filter op:SOFTMAX --out a
    sed 's,</style>,.plain td{display:block}</style>,' a/report.html >cells.html
    layout cells.html 1400
    has layout "no cell of its table"
    sed 's,</style>,.lead{width:900px;max-width:none}</style>,' a/report.html >broad.html
    layout broad.html 400
    has layout "beyond the right edge"
    sed 's,</style>,.lead{color:#eee}</style>,' a/report.html >pale.html
    layout pale.html 1400
    has layout "hard to read"
}
# picture SCHEME FILE
picture() {
    browser --window-size=800,1200 --virtual-time-budget=2000 --blink-settings=preferredColorScheme="$1" --screenshot="$PWD/$2" "file://$PWD/a/report.html"
    [ -s "$2" ] || fail "no picture"
}
# A report that is made again looks the same, and another in the dark. A browser on a busy machine may need a second try.
test_pictures() {
    local try
    needs_browser
    check 1 nnvts run --driver faulty:beta-ignored --suite ops --filter op:SOFTMAX --out a
    picture 1 light.png
    picture 0 dark.png
    ! cmp -s light.png dark.png || fail "dark looks like light"
    rm a/report.html
    check 1 nnvts report a
    for try in 1 2 3; do
        picture 1 again.png
        ! cmp -s light.png again.png || return 0
        picture 1 light.png
    done
    fail "the same report looks different"
}
run_tests
