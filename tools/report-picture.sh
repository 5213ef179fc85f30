#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The picture of a report in the README: tools/report-picture.sh BUILD FILE. Says so and goes on where Chromium is not.
set -eu
command -v chromium >/dev/null 2>&1 || { echo "picture: skipped: no chromium here (Debian: apt-get install chromium)"; exit 0; }
nnvts=$(cd "$1" && pwd)/nnvts file=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$nnvts" run --driver faulty:dilation-ignored --suite ops --filter 'op:CONV_2D & type:float32' --out out/conv -q >log || [ $? = 1 ]
chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --window-size=1000,880 \
    --user-data-dir="$work/chromium" --blink-settings=preferredColorScheme=1 --screenshot="$file" "file://$work/out/conv/report.html" >log 2>&1
[ -s "$file" ] || { cat log >&2; exit 1; }
