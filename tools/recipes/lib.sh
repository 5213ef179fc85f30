# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the recipes share. begin_recipe BUILD FOLDER [options] sets $nnvts, $folder, $options and $SHARDS.

fail_recipe() {
    echo "recipe: $*" >&2
    exit 1
}
skip_recipe() {
    echo "recipe: skipped: $*"
    exit 77
}

# What was started is ended in reverse, however the script ends.
ends=()
at_end() { ends+=("$*"); }
end_all() {
    local i
    for ((i = ${#ends[@]} - 1; i >= 0; i--)); do ${ends[i]} 2>/dev/null || true; done
    wait
}
trap end_all EXIT
trap 'exit 130' INT TERM

begin_recipe() {
    [ $# -ge 2 ] || fail_recipe "usage: $0 BUILD FOLDER [options of nnvts run...]"
    nnvts=$(cd "$1" && pwd)/nnvts
    mkdir -p "$2"
    folder=$(cd "$2" && pwd)
    shift 2
    options=("$@")
    [ $# -gt 0 ] || options=(--driver cpu --suite device,ops --tier smoke)
    options+=(--flakes 0) # which failures are tried again depends on how many there are in one place
    SHARDS=${SHARDS:-4}
}

# wait_for SECONDS command...: until it succeeds
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# The words as a shell takes them.
quoted() { printf '%q ' "$@"; }

# What a report says beyond times, places, how it was asked for, and where a bug shows, which a shard sees a part of.
lasting() {
    sed -E -e 's/ (time|timestamp|hostname)="[^"]*"//g' -e '/<property name="argv"/d' -e "s|$1/|FOLDER/|g" \
        -e '/<property name="bug\./s/; only where [^"]*//' "$1/junit.xml"
}

# The merged run against the same run in one piece.
compare_recipe() {
    local code=0
    [ -e "$folder/merged/junit.xml" ] || fail_recipe "no merged report in $folder/merged"
    "$nnvts" run "${options[@]}" --no-shard --out "$folder/whole" --quiet >"$folder/whole.log" || code=$?
    [ $code -le 1 ] || fail_recipe "the run in one piece failed"
    cmp <(lasting "$folder/whole") <(lasting "$folder/merged") || fail_recipe "the merged report is not that of the run in one piece"
    grep -o '"cases": *[0-9]*' "$folder/merged/summary.json" | head -n 1
    echo "recipe: the merged report of $SHARDS shards is that of the run in one piece"
}
