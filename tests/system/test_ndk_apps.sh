#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Applications as the public documentation of NNAPI shows them build with pkg-config and run, against the build tree
# and against an installation; libneuralnetworks.so shows what NNAPI has, and nothing else.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

APPS=$ROOT/tests/ndk_apps
STRICT="-Wall -Wextra -Wpedantic -Werror"

# build_apps: app_c and app_cpp in this folder, with what pkg-config says
build_apps() {
    local flags libs
    command -v pkg-config >/dev/null && command -v g++ >/dev/null || skip "needs pkg-config and g++"
    flags=$(pkg-config --cflags nnvts-neuralnetworks) libs=$(pkg-config --libs nnvts-neuralnetworks)
    # shellcheck disable=SC2086
    check 0 gcc -std=c11 -D_GNU_SOURCE $STRICT $flags -o app_c "$APPS/app.c" $libs
    # shellcheck disable=SC2086
    check 0 g++ -std=c++17 $STRICT $flags -o app_cpp "$APPS/app.cpp" $libs
}

# By hand: (1 + {1, 2, 3, 4}) * {2, 0.5, -1, 10} = {4, 1.5, -4, 50}, below 0 is 0; and so on.
run_apps() {
    check 0 ./app_c weights.bin
    same "$(sed -n 1p "$OUT")" "asynchronous: 4 1.5 0 50"
    same "$(sed -n 2p "$OUT")" "burst: 2 0.5 0 10"
    same "$(sed -n 3p "$OUT")" "burst: 4 1 0 20"
    same "$(sed -n 4p "$OUT")" "burst: 6 1.5 0 30"
    same "$(wc -l <"$OUT")" 4
    check 0 ./app_cpp
    has "$OUT" "nnapi-reference: 2x3 0.333 0.333 0.333 0.000 0.000 1.000"
    has "$OUT" "best: 2x3 0.333 0.333 0.333 0.000 0.000 1.000"
}

# Under a sanitizer the library needs it loaded first.
plain_build() {
    ! nm -D --undefined-only "$NNVTS_BUILD/lib/libneuralnetworks.so" | grep -q '__asan_\|__tsan_' ||
        skip "the library is built with a sanitizer"
}

test_applications_use_the_build_tree() {
    plain_build
    export PKG_CONFIG_PATH=$NNVTS_BUILD/lib/pkgconfig LD_LIBRARY_PATH=$NNVTS_BUILD/lib
    build_apps
    run_apps
    # The driver "cpu" is found beside the library.
    check 0 ./app_cpp
    same "$(wc -l <"$OUT")" 3
    # Other devices, or none.
    NNVTS_DRIVERS='' check 0 ./app_cpp
    same "$(wc -l <"$OUT")" 2
    NNVTS_DRIVERS=cpu,sample:float-fast check 0 ./app_cpp
    same "$(wc -l <"$OUT")" 4
    NNVTS_DRIVERS=nowhere,cpu check 0 ./app_cpp
    has "$ERR" "no driver named 'nowhere'"
    same "$(wc -l <"$OUT")" 3
}

test_applications_use_an_installation() {
    plain_build
    make -s -C "$ROOT" B="$NNVTS_BUILD" install PREFIX="$PWD/prefix" >log 2>&1 || {
        cat log >&2
        fail "make install"
    }
    export PKG_CONFIG_PATH=$PWD/prefix/lib/pkgconfig LD_LIBRARY_PATH=$PWD/prefix/lib
    build_apps
    same "$(pkg-config --variable=includedir nnvts-neuralnetworks)" "$PWD/prefix/include"
    check 0 ldd app_c
    has "$OUT" "$PWD/prefix/lib/libneuralnetworks.so"
    run_apps
    same "$(wc -l <"$OUT")" 3 "the driver cpu is found in the installation"
    # What is installed is enough for a program that loads the library itself.
    printf '#include <%s>\n' nnvts/ndk.h nnvts/driver.h NeuralNetworksSupportLibraryImpl.h NeuralNetworksOEM.h >all.h
    echo 'struct nnvts_ndk table;' >>all.h
    # shellcheck disable=SC2086
    for language in c c++; do
        check 0 gcc $STRICT -Iprefix/include -include ./all.h -c -x $language -o /dev/null /dev/null
    done
}

# A file of drivers; paths in it begin at its folder.
test_devices_from_a_file() {
    plain_build
    export PKG_CONFIG_PATH=$NNVTS_BUILD/lib/pkgconfig LD_LIBRARY_PATH=$NNVTS_BUILD/lib
    build_apps
    mkdir -p conf
    cp "$NNVTS_BUILD/drivers/cpu.so" conf/npu.so
    echo '{"drivers": ["./npu.so:threads=2"]}' >conf/devices.json
    NNVTS_DRIVERS=$PWD/conf/devices.json check 0 ./app_cpp
    same "$(wc -l <"$OUT")" 3
    # Of two drivers with the same name only the first is a device.
    echo '{"drivers": ["./npu.so", "cpu"]}' >conf/devices.json
    NNVTS_DRIVERS=$PWD/conf/devices.json check 0 ./app_cpp
    has "$ERR" "another device has the same name"
    same "$(wc -l <"$OUT")" 3
    echo '{"drivers": "cpu"}' >conf/devices.json
    NNVTS_DRIVERS=$PWD/conf/devices.json check 0 ./app_cpp
    has "$ERR" 'expected {"drivers": ["cpu", ...]}'
    same "$(wc -l <"$OUT")" 2
    NNVTS_DRIVERS=$PWD/conf/none.json check 0 ./app_cpp
    has "$ERR" "none.json"
}

test_logging_and_tracing() {
    plain_build
    export PKG_CONFIG_PATH=$NNVTS_BUILD/lib/pkgconfig LD_LIBRARY_PATH=$NNVTS_BUILD/lib
    build_apps
    NNVTS_VLOG="model manager,nonsense" NNVTS_TRACE=$PWD/trace.json check 0 ./app_c weights.bin
    has "$ERR" "nnapi: model: digraph {"
    has "$ERR" "nnapi: manager: device 0: "
    has "$ERR" "NNVTS_VLOG: unknown tag 'nonsense'"
    hasnt "$ERR" "nnapi: execution:"
    check 0 python3 -c '
import json
events = json.load(open("trace.json"))
assert all(e["ph"] == "X" and e["dur"] >= 0 for e in events)
layers = {e["cat"] for e in events}
assert {"application", "runtime", "driver"} <= layers, layers
seen = {(e["cat"], e["args"]["phase"], e["name"]) for e in events}
assert {("runtime", "preparation", "Model_finish"), ("runtime", "compilation", "plan"),
        ("driver", "compilation", "get_supported_operations"),
        ("application", "execution", "asynchronous execution")} <= seen, seen
'
}

# The symbols are those of nnvts/ndk.h and the Support Library's, under the versions of the NDK's library, and one of
# its own.
test_symbols_are_those_of_nnapi() {
    local lib=$NNVTS_BUILD/lib/libneuralnetworks.so
    {
        sed -n 's/^ *X(\([A-Za-z0-9_]*\), [0-9]).*/\1/p' "$ROOT/include/nnvts/ndk.h" | while read -r name; do
            case $name in
            *Extension*) version=LIBNEURALNETWORKS_PLATFORM ;;
            *) version=LIBNEURALNETWORKS ;;
            esac
            echo "ANeuralNetworks$name@@$version"
        done
        echo ANeuralNetworks_getSLDriverImpl@@LIBNEURALNETWORKS_SL
        echo nnvts_runtime_computed@@LIBNEURALNETWORKS_NNVTS
    } | sort >expected
    same "$(wc -l <expected)" 77
    nm -D --defined-only --with-symbol-versions "$lib" | awk '$2 != "A" {print $3}' | sort >actual
    diff expected actual >&2 || fail "the symbols are others"
    check 0 readelf -d "$lib"
    has "$OUT" "soname: [libneuralnetworks.so]"
}

run_tests
