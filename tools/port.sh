#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds nnvts for another processor, and runs vectors (NNVTS_SPECS, or the project's own), five minutes of the smoke tier
# and the unit tests under qemu, or as they are where the kernel starts them. Exit code 77: skipped, since something is
# missing, which is said.
#   tools/port.sh ARCHITECTURE FOLDER     of Debian: arm64, armhf, i386, riscv64
# The libraries come from Debian's packages of that architecture, unpacked in FOLDER; nothing of them is installed.
set -u
arch=$1 folder=$2 build=$2/$1
skip() { echo "ports: $arch: skipped: $*"; exit 77; }

# riscv64 is a part of Debian from trixie on; gcc 12 calls a library there for atomic bytes
suite=bookworm atomic= more=
case $arch in
arm64) triple=aarch64-linux-gnu libs=$triple qemu=qemu-aarch64 more=$2/$1/bench/bench_layers ;; # for tools/instructions.sh
armhf) triple=arm-linux-gnueabihf libs=$triple qemu=qemu-arm ;;
i386) triple=i686-linux-gnu libs=i386-linux-gnu qemu=qemu-i386 ;;
riscv64) triple=riscv64-linux-gnu libs=$triple qemu=qemu-riscv64 suite=trixie atomic="-Wl,--no-as-needed -latomic" ;;
*) echo "ports: no architecture '$arch'" >&2; exit 2 ;;
esac
for tool in $triple-gcc $triple-g++ $qemu apt-get dpkg-deb pkg-config; do
    command -v $tool >/dev/null || skip "no $tool here (make setup-ports)"
done
mkdir -p "$build"
build=$(cd "$build" && pwd)
root=$(dirname "$build")/sysroot-$arch
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep '/debian/*$' | head -n 1) # where this machine has its packages from
[ -n "$mirror" ] || skip "apt knows no mirror of Debian"

# fetch: the packages and all that they need, as for an empty system
fetch() {
    apt=$build/apt
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/etc"
    : >"$apt/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources"
    cat >"$apt/conf" <<A
APT { Architecture "$arch"; Architectures { "$arch"; }; Install-Recommends "false"; Sandbox::User "root"; };
Dir { State { lists "$apt/lists"; status "$apt/status"; }; Cache { archives "$apt/archives"; pkgcache ""; srcpkgcache ""; };
      Etc { sourcelist "$apt/sources"; sourceparts "/dev/null"; preferencesparts "/dev/null"; parts "/dev/null"; }; };
A
    APT_CONFIG=$apt/conf apt-get update -qq &&
        APT_CONFIG=$apt/conf apt-get install -qq -y --download-only libc6-dev libjansson-dev libpng-dev libxml2-dev \
            libopenblas-serial-dev libcmocka-dev libatomic1 libstdc++6
}
if [ ! -e "$root/complete" ]; then
    rm -rf "$root"
    fetch >"$build/fetch.log" 2>&1 || { tail -n 5 "$build/fetch.log"; skip "its libraries can't be had"; }
    mkdir -p "$root"
    for package in "$build"/apt/archives/*.deb; do dpkg-deb -x "$package" "$root" || exit 1; done
    [ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
    find "$root" -type l -lname '/*' | while IFS= read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
    rm -rf "$build/apt"
    touch "$root/complete"
fi

# Programs name their loader and where libraries lie: an emulator that looks for files in a folder first (qemu -L) would find
# that folder's / and /tmp, too. A kernel of x86-64 starts those of i386 itself.
blas=usr/lib/$libs/openblas-serial
loader=$(echo "$root"/lib/ld-linux*.so.*)
at="-Wl,--dynamic-linker=$loader -Wl,--disable-new-dtags,-rpath,$root/lib/$libs:$root/usr/lib/$libs:$root/$blas"
[ $arch != i386 ] || ! "$loader" --version >/dev/null 2>&1 || qemu=
log=$build/build.log
export PKG_CONFIG_LIBDIR="$root/usr/lib/$libs/pkgconfig:$root/usr/share/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
nice make --no-print-directory -j"$(nproc)" B="$folder/$arch" CROSS=$triple- CC="$triple-gcc --sysroot=$root -isystem$root/usr/include/$libs/openblas-serial" \
    LDFLAGS="-L$root/$blas -Wl,--allow-shlib-undefined $at $atomic" all unit $more >"$log" 2>&1 || {
    grep -E 'error|Error|undefined' "$log" | head -n 20
    echo "ports: $arch: the build fails, see $log"
    exit 1
}
echo "ports: $arch: built, $(grep -c 'warning:' "$log") warnings"
export NNVTS_TEST_TIMEOUT=1800
if [ -n "$qemu" ]; then export NNVTS_TEST_RUNNER="$qemu"; fi
script() { # script FILE COMMAND: runs it with the arguments given
    printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$1" && chmod +x "$1"
}
# The kernel need not start programs of other machines: the one that drivers start stands behind a script. What tests
# compile runs in them.
if [ -n "$qemu" ] && ! head -c 2 "$build/nnvts-host" | grep -q '^#!'; then
    mv "$build/nnvts-host" "$build/nnvts-host.$arch"
    script "$build/nnvts-host" "$NNVTS_TEST_RUNNER $build/nnvts-host.$arch"
fi
mkdir -p "$build/bin"
for compiler in gcc g++; do script "$build/bin/$compiler" "$triple-$compiler --sysroot=$root $at"; done
ln -sf g++ "$build/bin/c++"
PATH=$build/bin:$PATH
nnvts() { # nnvts WHAT ARGUMENTS...: a run, and its counts
    what=$1
    shift
    ${NNVTS_TEST_RUNNER:-} "$build/nnvts" run --driver cpu -q --timeout 60 --leaks off --no-shard --out "$build/$what" "$@" >"$build/$what.log" 2>&1
    code=$?
    echo "ports: $arch: $what: $(tr -d '\n"' <"$build/$what/summary.json" | sed -n 's/.*verdicts: *{\([^}]*\)}.*/\1/p'), exit code $code"
    return $code
}
failed=0
nnvts vectors --suite spec --specs "${NNVTS_SPECS:-tests/conformance}" || failed=1
# what an emulator maps and starts in the process is not the driver's: without the suite isolation, and --leaks off
nnvts smoke --tier smoke --suite device,cache,exec,memory,validate,shapes,qos,levels,ops,fusion,randgraph,relations,partition \
    --time-budget 300 || failed=1
find "$build/tests" -name 'test_*' ! -name '*.*' -print0 | xargs -0 tools/run-tests.sh "$build" >"$build/units.log" 2>&1 || failed=1
grep -E '^test_.* [1-9][0-9]* failed' "$build/units.log"
echo "ports: $arch: units: $(tail -n 1 "$build/units.log")"
exit $failed
