#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions and tables that no shipped binary reaches: compiled into a section each, linked without the unused ones, and
# looked for in what is left. Tests alone are no reason to keep one.
#   tools/check-unreached.sh BUILD    a build with CFLAGS="-O0 -ffunction-sections -fdata-sections"
#                                     LDFLAGS="-Wl,--gc-sections"
set -eu
build=$1
symbols() { xargs nm --defined-only 2>/dev/null | awk '$2 ~ "'"$1"'" {print $3}' | sort -u; }
dead=$(
    find "$build/obj" -name '*.o' | while read -r object; do # those of sources that are no more do not count
        source=${object#"$build/obj/"}
        [ ! -e "${source%.o}.c" ] || echo "$object"
    done | symbols '[TDRB]' >"$build/defined"
    { echo "$build/nnvts"; echo "$build/nnvts-host"; find "$build/drivers" "$build/lib" -name 'lib*neuralnetworks.so' -o -name '*.so' ! -name 'libnnvts-core.so'; } |
        symbols '[TtDdRrBb]' >"$build/reached"
    comm -23 "$build/defined" "$build/reached"
)
if [ -n "$dead" ]; then
    echo "$dead" | while read -r f; do
        printf '%s: reached by nothing that is shipped (%s)\n' "$f" "$(git grep -lw "$f" -- '*.c' ':!tests' | head -1)"
    done >&2
    exit 1
fi
echo "unreached functions and tables: none of $(wc -l <"$build/defined")"
