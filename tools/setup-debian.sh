#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that nnvts needs and that are missing; says which, and why.
#   tools/setup-debian.sh build    to build and run
#   tools/setup-debian.sh test     to run the tests too
#   tools/setup-debian.sh check    for the full gate (make check)
#   tools/setup-debian.sh engines  for the drivers over engines, which need not be there
set -eu

packages() {
    cat <<'EOF'
build gcc                  the C compiler
build make                 builds
build pkg-config           finds the libraries
build libjansson-dev       JSON: specs, journals, reports
build libpng-dev           pictures in the HTML report
build libxml2-dev          JUnit XML
build libopenblas-serial-dev  matrix products of the golden kernels (serial: nnvts runs processes, not threads)
test  libcmocka-dev        unit tests
test  python3            writes the networks of the compiler's tests
test  g++                  applications of the runtime in C++
test  libxml2-utils        xmllint: the tests check junit.xml against its schema
check clang                the second compiler
check clang-format         layout of the sources
check clang-tidy           lint
engines libxnnpack-dev     the driver xnnpack
engines libpthreadpool-dev its threads
engines libdnnl-dev        the driver onednn
EOF
}

stage=${1:-build}
case $stage in
build) stages='build' ;;
test) stages='build test' ;;
check) stages='build test check' ;;
engines) stages='engines' ;;
*) echo "usage: $0 build|test|check|engines" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup: not a Debian system; install what these packages hold by your own means:" >&2
    packages >&2
    exit 0
fi

missing=
machine=$(dpkg --print-architecture)
for s in $stages; do
    for p in $(packages | awk -v s="$s" '$1 == s {print $2}'); do
        if ! dpkg-query -W -f='${Architecture} ${Status}\n' "$p" 2>/dev/null |
            grep -qxE "($machine|all) install ok installed"; then
            missing="$missing $p"
            packages | awk -v p="$p" '$2 == p {r = $3; for (i = 4; i <= NF; i++) r = r " " $i; printf "setup: installing %s: %s\n", p, r}'
        fi
    done
done
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "setup: run as root: apt-get install$missing" >&2
        exit 1
    fi
    root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$root apt-get update -qq && $root apt-get install -y -qq --no-install-recommends $missing >/dev/null
echo "setup: done"
