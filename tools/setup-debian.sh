#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that nnvts needs and that are missing; says which, and why.
#   tools/setup-debian.sh build    to build and run
#   tools/setup-debian.sh test     to run the tests too
#   tools/setup-debian.sh check    for the full gate (make check)
#   tools/setup-debian.sh engines  for the drivers over engines, which need not be there
#   tools/setup-debian.sh vectors  for tests of others that come as packages, likewise
#   tools/setup-debian.sh board    for a board (make board), likewise
#   tools/setup-debian.sh ports    for all other machines (make ports), likewise
#   tools/setup-debian.sh deb      for Debian's packages (make deb)
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
vectors libonnx-testdata   ONNX's own tests: models with their data
board gcc-aarch64-linux-gnu  nnvts-host for boards (make board)
board g++-aarch64-linux-gnu  compiled programs for other machines
board libc6-dev-arm64-cross  its C library
board qemu-user            runs programs of other machines
board openssh-server       a driver behind ssh, on this machine
board iproute2             a driver behind a wire that loses packets
board musl-tools           nnvts-host for another C library (make musl)
ports g++-arm-linux-gnueabihf  nnvts for ARM of 32 bits
ports libc6-dev-armhf-cross  its C library
ports g++-i686-linux-gnu   nnvts for x86 of 32 bits
ports libc6-dev-i386-cross its C library
ports g++-riscv64-linux-gnu  nnvts for RISC-V
ports libc6-dev-riscv64-cross  its C library
deb   build-essential      what dpkg-buildpackage takes for granted
deb   debhelper            makes packages of an installation
deb   lintian              reads them
EOF
}

stage=${1:-build}
case $stage in
build) stages='build' ;;
test) stages='build test' ;;
check) stages='build test check' ;;
engines | vectors | board) stages=$stage ;;
ports) stages='board ports' ;;
deb) stages='build deb' ;;
*) echo "usage: $0 build|test|check|engines|vectors|board|ports|deb" >&2; exit 2 ;;
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
