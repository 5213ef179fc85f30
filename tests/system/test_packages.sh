#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make dist packs what is committed, always into the same bytes. What make deb has built from it is installed into a
# folder and used there; to build packages takes minutes, and is left to make deb.
. "$(dirname "$0")/lib.sh"
DEB=$NNVTS_BUILD-deb

test_sources() {
    git -C "$ROOT" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "the sources are no checkout of git"
    check 0 make -C "$ROOT" dist "B=$PWD/one"
    (umask 077 && TZ=Asia/Tokyo check 0 make -C "$ROOT" dist "B=$PWD/two")
    cmp one/nnvts-*.tar.gz two/nnvts-*.tar.gz || fail "the same sources are packed into other bytes"
    tar tzf one/nnvts-*.tar.gz | sed -n 's|^[^/]*/\(.*[^/]\)$|\1|p' | sort >packed
    git -C "$ROOT" ls-tree -r --name-only HEAD | sort | diff - packed || fail "it is not what is committed"
}
test_version() {
    same "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$ROOT/debian/changelog")" "$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")" "debian/changelog"
}
# install_packages: all packages into the folder root; no file is in two of them
install_packages() {
    local tool
    for tool in dh lintian; do
        command -v $tool >/dev/null || skip "no $tool (make setup-deb)"
    done
    ls "$DEB"/*.deb >/dev/null 2>&1 || skip "no packages were built (make deb)"
    same "$(cd "$DEB" && ls ./*.deb | sed 's|^./\(.*\)_.*_.*|\1|' | grep -v dbgsym | LC_ALL=C sort | tr '\n' ' ')" \
        "libneuralnetworks-dev libneuralnetworks1 nnvts nnvts-drivers nnvts-host "
    [ "$(id -u)" = 0 ] || skip "dpkg installs for root alone"
    mkdir -p root/var/lib/dpkg/{info,updates,triggers}
    touch root/var/lib/dpkg/status
    check 0 dpkg --root="$PWD/root" --force-depends --install "$DEB"/*.deb
    PATH=$PWD/root/usr/bin:$PATH
}
test_installed() {
    install_packages
    check 0 nnvts drivers
    has "$OUT" "nnvts-cpu"
    same "$(command -v nnvts nnvts-host | tr '\n' ' ')" "$PWD/root/usr/bin/nnvts $PWD/root/usr/bin/nnvts-host "
    check 0 nnvts run --driver cpu --suite device -q
    check 0 nnvts run --driver host:cpu --suite device -q
    check 0 nnvts run --driver cpu --via runtime --suite device -q
    # of the packages that run here, those that need more than the C library are known
    same "$(dpkg-deb -f "$DEB"/nnvts-host_*.deb Depends | sed 's/libc6 ([^)]*)//')" ""
    # an application
    export PKG_CONFIG_LIBDIR=$PWD/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root
    # shellcheck disable=SC2046
    check 0 gcc -std=c11 -D_GNU_SOURCE $(pkg-config --cflags nnvts-neuralnetworks) -o app "$ROOT/tests/ndk_apps/app.c" $(pkg-config --libs nnvts-neuralnetworks)
    LD_LIBRARY_PATH=$PWD/root/usr/lib check 0 ./app weights.bin
    has "$OUT" "asynchronous: 4 1.5 0 50"
}
run_tests
