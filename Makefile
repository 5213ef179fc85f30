# SPDX-License-Identifier: Apache-2.0
#   make run      sets up, builds and judges the cpu driver
#   make test     sets up, builds and runs what shows that the build works; make test TESTS=all: all tests
#   make          builds                      make check    the full gate before a commit lands
#   make networks   compiles whole networks and runs them on four drivers   make growth   the compiler on large programs
#   make bench    measures                    make soak     long runs: tier full, many seeds
#   make fuzz     libFuzzer on what nnvts reads   make soak-fuzz   mutated models under the sanitizers
#   make layers house unreached   the gates that need no tests   make coverage   lines that the tests execute, by folder
#   make audit    judges the suites by planted bugs   make gate-campaign   how often the latency gate is wrong
#   make mutate   plants mistakes in our own source: those that no test notices
#   make static   build/nnvts-static, which needs the C library alone   make inject   calls of the C library fail
#   make recipes  runs in shards on Slurm and over ssh   make campaigns   kill -9 and driver faults, a thousand of each
#   make docs     writes docs/ops from the operations' records, docs/use/planted-bugs.md from the bugs
#   make judged   which operations and types of each engine are judged, for docs/use/engines.md
#   make setup-engines   brings the libraries of the drivers over engines, which are built where their library is, and
#                    TensorFlow Lite, whose NNAPI delegate runs on our runtime
#   make board CROSS=aarch64-linux-gnu-   nnvts-host for a board, and drivers that need the C library alone
#   make android NDK=PATH   the same for a phone           make musl     the same for musl; all else is compiled, too
#   make test-isa TESTS=all   the tests again with each instruction set of the driver cpu that this processor has
#   make ports    for arm64, armhf, i386 and riscv64: builds, and runs units, vectors and the smoke tier under qemu
#   make install PREFIX=/usr/local            make uninstall            make clean
#   make dist     the sources of the last commit, always the same bytes     make deb   Debian's packages of them
# No file lists: every .c file of a folder belongs to what the folder builds.

MAKEFLAGS += --no-builtin-rules
CROSS ?=
CC := $(if $(filter default,$(origin CC)),$(CROSS)gcc,$(CC))
B ?= build
PREFIX ?= /usr/local
VERSION := 0.1.0
ARGS ?=
# V=1 shows whole command lines
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) '$@')

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes
# Machines of 32 bits have files above 2 GB, too; x86 among them would compute in 80 bits, ARM know no callers.
NARROW := $(shell $(CC) -dM -E -x c /dev/null 2>/dev/null | \
  sed -n 's/.*__SIZEOF_POINTER__ 4$$/-D_FILE_OFFSET_BITS=64/p; s/.*__i386__ 1$$/-msse2 -mfpmath=sse/p; s/.*__ARM_EABI__ 1$$/-funwind-tables/p')
ALL_CFLAGS = -std=c17 $(CFLAGS) $(NARROW) $(WARN) $(WERROR) $(SAN) -fPIC -fno-semantic-interposition -fno-omit-frame-pointer \
             -ffp-contract=off -D_GNU_SOURCE -DNNVTS_VERSION='"$(VERSION)"' -MMD -MP
PKG_CFLAGS := $(shell pkg-config --cflags jansson libxml-2.0 libpng 2>/dev/null)
LIBS := $(shell pkg-config --libs jansson libxml-2.0 libpng 2>/dev/null) -lm -pthread -ldl

REF_DIRS := base reference/model reference/abi reference/spec reference/eval reference/ops reference/cpu
RUNTIME_DIRS := $(REF_DIRS) reference/runtime
CORE_DIRS := $(RUNTIME_DIRS) reference/faults randgraph mlts compiler reports $(filter-out harness/cli,$(patsubst %/,%,$(wildcard harness/*/)))
sources = $(sort $(shell find $(wildcard $(1)) -name '*.c'))
objects = $(patsubst %.c,$(B)/obj/%.o,$(call sources,$(1)))

# The folder ndk makes several drivers: each has an entry of its own.
NDK_DRIVERS := $(patsubst drivers_under_test/ndk/entry_%.c,%,$(wildcard drivers_under_test/ndk/entry_*.c))
# Drivers over engines are built where the engine is (make setup-engines): its header says so. Some open it when they run,
# and are always built. Their common part is no driver.
has = $(shell $(CC) $(1:%=-include %) -E -x c /dev/null >/dev/null 2>&1 && echo yes)
ENGINES := onednn xnnpack
HERE_onednn := $(call has,oneapi/dnnl/dnnl.h)
HERE_xnnpack := $(call has,xnnpack.h pthreadpool.h)
LIBS_onednn := -ldnnl -lgomp
LIBS_xnnpack := -lXNNPACK -lpthreadpool
ENGINES_OPENED := ggml ort tflite
FOUND := $(strip $(foreach e,$(ENGINES),$(if $(HERE_$(e)),$(e))))
DRIVERS := $(filter-out common engine $(filter-out $(FOUND),$(ENGINES)),$(sort $(NDK_DRIVERS) $(notdir $(patsubst %/,%,$(wildcard drivers_under_test/*/)))))
DRIVER_SO := $(DRIVERS:%=$(B)/drivers/%.so)
# What several drivers need alike. The others stand alone: a real plug-in, and what a vendor starts from.
WITH_COMMON := host remote sample $(NDK_DRIVERS) $(ENGINES) $(ENGINES_OPENED)
# The process that the driver "host" starts and that serves the driver "remote" elsewhere; its tests link all of it but
# main. The two drivers share the client's side, and "remote" the relay with the process.
HOST_PARTS := $(patsubst %,$(B)/obj/drivers_under_test/host/%.o,wire codec ring find)
HOST_RELAY := $(call objects,drivers_under_test/host/relay) $(B)/obj/base/sha256.o
HOST_SERVER := $(call objects,drivers_under_test/host/server) $(HOST_PARTS) $(HOST_RELAY)
HOST_CLIENT := $(patsubst %.c,$(B)/obj/%.o,$(wildcard drivers_under_test/host/*.c))
CORE_LIB := $(B)/obj/core.a
RULES_LIB := $(B)/lib/libnnvts-rules.a
# The same as a shared library: a change relinks one file, not every test.
CORE_SO := $(B)/lib/libnnvts-core.so
RUNTIME := $(B)/lib/libneuralnetworks.so
RUNTIME_MAP := reference/runtime/libneuralnetworks.map
REF_LIB := $(B)/obj/reference.a
# What the unit tests share, compiled once.
KIT_LIB := $(B)/obj/kit.a
FAULT_LIB := $(B)/obj/faults.a
OVER_REFERENCE := reference faulty
UNIT_SRC := $(shell find tests/unit -name 'test_*.c')
UNIT := $(sort $(patsubst %.c,$(B)/tests/%,$(notdir $(UNIT_SRC))))
SYSTEM := $(sort $(wildcard tests/system/test_*.sh))
# System tests that take a quarter of a minute or more, but for the one of the main verb.
LONG := aosp_client api arithmetic audit board campaigns comfort cost datasheet docs engines explain faulty fuzz gate ggml host hostile inject \
        levels libraries ndk onnx ort pages planted reduce remote tflite
LONG_SYSTEM := $(LONG:%=tests/system/test_%.sh)
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH := $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))

READER_SECONDS ?= 4
SOAK_SECONDS ?= 300
READER_SOAK_SECONDS ?= 600

.PHONY: all static run test test-isa check bench bench-journal networks growth planted-sheets recipes campaigns fuzz fuzz-targets soak soak-fuzz soak-hostile inject mutate gate-campaign audit docs judged profiles install uninstall clean unit lint layers house unreached coverage format sanitize sanitize-threads setup-run setup-test setup-check setup-engines setup-board setup-ports setup-deb board android musl objects ports dist deb
.DELETE_ON_ERROR:

all: $(B)/nnvts $(B)/nnvts-host $(DRIVER_SO) $(RUNTIME) $(RULES_LIB) $(B)/lib/pkgconfig/nnvts-neuralnetworks.pc

setup-run:
	@tools/setup-debian.sh build
setup-test:
	@tools/setup-debian.sh test
setup-check:
	@tools/setup-debian.sh check
setup-engines:
	@tools/setup-debian.sh engines
	@tools/setup-npm.sh $(B)/engines

# Compilers for other machines, and what runs their programs here.
setup-vectors:
	@tools/setup-debian.sh vectors
setup-board:
	@tools/setup-debian.sh board
setup-ports:
	@tools/setup-debian.sh ports
setup-deb:
	@tools/setup-debian.sh deb

# For other machines and C libraries: nnvts-host and drivers, which need the C library alone; ndk and sl judge the NNAPI
# libraries that are there. They are linked with that C library when they start, as a driver is: what is static cannot load one.
BOARD_DRIVERS ?= cpu ndk sl
# $(call for,FOLDER,COMPILER,WHERE THAT IS FROM,TARGETS): into FOLDER of B
for = command -v $(firstword $(2)) >/dev/null || { echo "$@: no $(firstword $(2)) here: $(3)"; exit 1; } && \
  $(MAKE) --no-print-directory B=$(B)/$(1) CC="$(2)" CFLAGS=-Os LDFLAGS=-s $(B)/$(1)/nnvts-host $(BOARD_DRIVERS:%=$(B)/$(1)/drivers/%.so) $(4)

# For a board, by the compiler whose names begin with CROSS.
board:
	+@$(call for,board-$(CROSS:%-=%),$(CROSS)gcc,make setup-board brings aarch64-linux-gnu-)

# For a phone (docs/use/android.md), of the API level that TARGET ends with, or a later one.
TARGET ?= aarch64-linux-android30
android:
	+@$(call for,android-$(TARGET),$(NDK)/toolchains/llvm/prebuilt/linux-x86_64/bin/$(TARGET)-clang,NDK= names the folder of Android's NDK)

# For musl. All of nnvts is compiled as well (MUSL_TOO): what glibc alone has would not be declared. Headers of the kernel and of
# libraries lie beside those of glibc, which must not be seen.
MUSL_TOO ?= objects
MUSL_SEES = linux asm-generic $(shell $(CC) -print-multiarch 2>/dev/null)/asm unicode jansson.h jansson_config.h
musl:
	@mkdir -p $(B)/musl/include && ln -sfn $(MUSL_SEES:%=/usr/include/%) $(B)/musl/include/
	+@$(call for,musl,musl-gcc -Werror=implicit-function-declaration -idirafter $(abspath $(B)/musl/include),make setup-board brings it,$(MUSL_TOO))

# The sources of the last commit: the same bytes, whoever packs them.
DIST := $(B)/nnvts-$(VERSION).tar.gz
dist:
	@mkdir -p $(B)
	@git -c tar.umask=0022 archive --format=tar --prefix=nnvts-$(VERSION)/ -o $(DIST:.gz=) HEAD
	@gzip -9nf $(DIST:.gz=) && sha256sum $(DIST)

# Debian's packages of them, in B-deb: built by dpkg-buildpackage, read by lintian, installed into a folder by the test.
deb: setup-deb dist
	@rm -rf $(B)-deb && mkdir $(B)-deb && tar xzf $(DIST) -C $(B)-deb
	@cd $(B)-deb/nnvts-$(VERSION) && env -u MAKEFLAGS DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS:-parallel=$$(nproc)}" dpkg-buildpackage -us -uc
	@cd $(B)-deb && lintian --fail-on error *.changes
	@tools/run-tests.sh $(B) tests/system/test_packages.sh

# One after the other; what is missing for one is said, and that one skipped. PORTS="armhf i386": these alone.
PORTS ?= arm64 armhf i386 riscv64
ports:
	@failed=0; for port in $(PORTS); do tools/port.sh $$port build-ports || [ $$? = 77 ] || failed=1; done; exit $$failed

# The set-up may bring pkg-config and libraries, so what follows runs in a make of its own.
run: setup-run
	@$(MAKE) --no-print-directory -j$$(nproc) all
	$(B)/nnvts run --driver cpu $(ARGS)

# What shows that this build works: all unit tests and the main system tests, in some minutes. TESTS=all: all.
TESTS ?= main
test: setup-test
	@$(MAKE) --no-print-directory -j$$(nproc) all unit
	@tools/run-tests.sh $(B) $(UNIT) $(filter-out $(LONG_SYSTEM),$(SYSTEM)) $(if $(filter all,$(TESTS)),$(LONG_SYSTEM))

# The same with each instruction set of the driver cpu but the best, which `make test` took; ISA="base avx2": these alone.
ISA ?= base avx2 avx512 avx512vnni neon dotprod
test-isa: setup-test
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@failed=; for isa in $(ISA); do export NNVTS_CPU_ISA=$$isa; \
	  if $(B)/nnvts drivers cpu >$(B)/isa.log 2>&1; then \
	    echo "isa=$$isa"; $(MAKE) --no-print-directory test || failed="$$failed $$isa"; \
	  else echo "isa=$$isa: skipped: this processor has none"; fi; done; \
	[ -z "$$failed" ] || { echo "test-isa: failed:$$failed"; exit 1; }

# Tiny NNAPI libraries, for the tests of what loads one.
TOYS := $(B)/tests/toy.so $(B)/tests/toy_old.so
$(B)/tests/toy_old.so: TOY := -DTOY_OLD
$(TOYS): tests/nnapi/toy.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(TOY) -Iinclude -shared -o $@ $<

# The runtime as a library of feature level 1 to 5, with the functions of that level alone.
LEVEL_RUNTIMES := $(foreach n,1 2 3 4 5,$(B)/tests/level_$n/libneuralnetworks.so)
LEVEL_SOURCE := reference/runtime/device.c
$(LEVEL_RUNTIMES): $(B)/tests/level_%/libneuralnetworks.so: $(LEVEL_SOURCE) $(call objects,$(RUNTIME_DIRS)) include/nnvts/ndk.h
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q){ echo '{ global:'; sed -n 's/.* X(\([A-Za-z0-9_]*\), [1-$*]).*/ANeuralNetworks\1;/p' include/nnvts/ndk.h; \
	  echo 'local: *; };'; } >$(@D)/map
	$(Q)$(CC) $(ALL_CFLAGS) -DNNV_RUNTIME_LEVEL=$* -Iinclude -I. $(LDFLAGS) -shared -Wl,-soname,libneuralnetworks.so \
	  -Wl,--version-script=$(@D)/map -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,--as-needed -o $@ $(LEVEL_SOURCE) \
	  $(filter-out $(LEVEL_SOURCE:%.c=$(B)/obj/%.o),$(filter %.o,$^)) $(LIBS)

# The runtime with a library before it, for the tests of the suite "api": with a bug, and lawful where the header leaves
# something open. What that library lacks is found in the runtime behind it.
OTHER_RUNTIMES := $(patsubst %,$(B)/lib/libneuralnetworks-%.so,faulty lawful)
$(OTHER_RUNTIMES): $(B)/lib/libneuralnetworks-%.so: tests/nnapi/%.c tests/nnapi/before.h $(RUNTIME)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -Iinclude $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -o $@ $< \
	  -Wl,--no-as-needed $(RUNTIME) -ldl -pthread

# Drivers that tests load.
TEST_DRIVERS := $(patsubst tests/kit/drivers/%.c,$(B)/tests/%.so,$(wildcard tests/kit/drivers/*.c))
$(B)/tests/%.so: tests/kit/drivers/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -Iinclude -I. -shared -o $@ $(filter %.c,$^) -lm
$(B)/tests/hostile.so: tests/kit/drivers/hostile/habits.c tests/kit/drivers/hostile/habits.h harness/runner/worker/channel.h

# A delegate of TensorFlow Lite, as accelerators come.
TFLITE_PLUGIN := $(B)/tests/tflite_plugin.so
$(TFLITE_PLUGIN): tests/tflite/plugin.c drivers_under_test/tflite/library.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -Idrivers_under_test -shared -o $@ $< -lm

# Preloaded: makes a call of the C library fail.
$(B)/tests/inject.so: tests/inject/inject.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -o $@ $< -ldl

unit: $(UNIT) $(CORE_SO) $(TOYS) $(TEST_DRIVERS) $(B)/tests/inject.so $(OTHER_RUNTIMES) $(LEVEL_RUNTIMES) $(TFLITE_PLUGIN) $(B)/nnvts-host $(DRIVER_SO) $(B)/bench/bench_journal $(B)/bench/bench_graph

# Two compilers, warnings as errors, layers, lint, all tests, all tests again under the sanitizers.
check: setup-check layers house
	@$(MAKE) --no-print-directory unreached
	@$(MAKE) --no-print-directory -j$$(nproc) B=build-gcc CC=gcc WERROR=-Werror all unit
	@$(MAKE) --no-print-directory -j$$(nproc) B=build-clang CC=clang WERROR=-Werror all unit
	@$(MAKE) --no-print-directory -j$$(nproc) lint
	@[ ! -d $(B)/engines ] || ln -sfn $(abspath $(B))/engines build-gcc/engines
	@tools/run-tests.sh build-gcc $(UNIT:$(B)/%=build-gcc/%) $(SYSTEM)
	@tools/run-tests.sh build-clang $(UNIT:$(B)/%=build-clang/%)
	@$(MAKE) --no-print-directory sanitize
	@$(MAKE) --no-print-directory sanitize-threads
	@$(MAKE) --no-print-directory fuzz
	@echo "check: ok"

# AOSP's own test of the runtime, where it is to be had.
aosp_client = $(if $(NNVTS_TARGETS),tools/run-tests.sh $(1) tests/system/test_aosp_client.sh,echo "skipped: AOSP's tests (NNVTS_TARGETS is not set)")
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
sanitize:
	@$(MAKE) --no-print-directory -j$$(nproc) B=build-san CC=gcc CFLAGS="-O1 -g" SAN="$(SANITIZERS)" all unit
	@ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0 tools/run-tests.sh build-san $(UNIT:$(B)/%=build-san/%)
	ASAN_OPTIONS=detect_leaks=0 build-san/nnvts run --driver cpu --tier smoke --out build-san/out-cpu -q
	ASAN_OPTIONS=detect_leaks=0 build-san/nnvts run --driver reference --tier smoke --out build-san/out-reference -q
	NNVTS_LOG=0 ASAN_OPTIONS=detect_leaks=0 build-san/nnvts run --driver cpu --via runtime --suite api --out build-san/out-api -q
	@$(call aosp_client,build-san)

# The runtime and what runs below it, under the thread sanitizer.
sanitize-threads:
	@$(MAKE) --no-print-directory -j$$(nproc) B=build-tsan CC=gcc CFLAGS="-O1 -g" SAN="-fsanitize=thread" \
	  $(patsubst %,build-tsan/%,nnvts nnvts-host $(patsubst %,drivers/%.so,cpu reference runtime sample host) lib/libneuralnetworks.so)
	@for driver in cpu reference; do NNVTS_LOG=0 TSAN_OPTIONS=halt_on_error=1:exitcode=66 build-tsan/nnvts run --driver $$driver \
	  --via runtime --suite api --out build-tsan/out-api -q || exit 1; done
	@$(call aosp_client,build-tsan)

# libFuzzer on what nnvts reads itself.
fuzz:
	@if clang -fsanitize=fuzzer,address -x c tests/fuzz/probe.inc -o /dev/null 2>/dev/null; then \
	  $(MAKE) --no-print-directory -j$$(nproc) B=build-fuzz CC=clang CFLAGS="-O1 -g" \
	    SAN="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" fuzz-targets && \
	  tools/fuzz-readers.sh build-fuzz $(READER_SECONDS) $(READER_SEED); \
	else echo "fuzz: skipped: no clang with libFuzzer here (Debian: apt-get install clang)"; fi
fuzz-targets: $(FUZZ)

layers:
	@tools/check-layers.sh
	@tools/check-circles.sh

house:
	@tools/check-house.sh

unreached:
	@$(MAKE) --no-print-directory -j$$(nproc) B=build-reach CFLAGS="-O0 -ffunction-sections -fdata-sections" LDFLAGS="-Wl,--gc-sections" all
	@tools/check-unreached.sh build-reach

# Lines that unit and system tests execute, by folder.
coverage: setup-test
	@$(MAKE) --no-print-directory -j$$(nproc) B=build-cov CFLAGS="-O0 -g" SAN=--coverage all unit
	@find build-cov -name '*.gcda' -delete
	-@tools/run-tests.sh build-cov $(SYSTEM) $(UNIT:$(B)/%=build-cov/%) >build-cov/tests.log; tail -n 1 build-cov/tests.log
	@tools/coverage.sh build-cov

LINT_SRC = $(call sources,$(CORE_DIRS) harness/cli $(DRIVERS:%=drivers_under_test/%) drivers_under_test/ndk drivers_under_test/common drivers_under_test/engine)
LINT_FLAGS = -std=c17 -I. -Iinclude -Idrivers_under_test -Idrivers_under_test/cpu -Idrivers_under_test/faulty $(PKG_CFLAGS) -D_GNU_SOURCE -DNNVTS_VERSION=\"0\" -Wno-unknown-warning-option
lint:
	@printf '%s\n' $(LINT_SRC) | xargs -P$$(nproc) -n 4 sh -c 'clang-tidy --quiet "$$@" -- $(LINT_FLAGS)' sh
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
	@echo "lint: ok"

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bench: setup-run
	@$(MAKE) --no-print-directory -j$$(nproc) all $(BENCH)
	@tools/bench.sh $(B)

# A run of a million cases, merged and reported: in 60 s, 500 MB and a page of 4 MB, or it fails.
bench-journal: all $(B)/bench/bench_journal
	$(B)/bench/bench_journal $(B)/nnvts $(ARGS)

# Whole networks compiled, run on four drivers and compared; what large programs cost the compiler, or it fails.
networks: all $(B)/tests/test_onnx
	@tools/networks.py $(B) $(ARGS)
growth: all $(B)/bench/bench_graph
	@tools/growth.py $(B) $(ARGS)

# The recipes for Slurm and ssh, run for real where their tools are installed (as root they start their own daemons).
recipes: all
	@for recipe in slurm parallel; do tools/recipes/$$recipe.sh $(B) $(B)/recipes/$$recipe || [ $$? = 77 ] || exit 1; done

# kill -9 at 1,000 random moments, 1,000 injected faults of ten kinds, and 1,000 kills on the far side of remote: drivers: half an
# hour.
campaigns: all
	python3 tests/campaigns/kills.py $(B)
	python3 tests/campaigns/faults.py $(B)
	NNVTS_BUILD=$(abspath $(B)) NNVTS_KILLS=1000 NNVTS_TEST=test_killed_mid_run tests/system/test_remote.sh

docs: all
	$(B)/nnvts op --markdown --out docs/ops
	$(B)/nnvts audit --markdown >docs/use/planted-bugs.md
	$(B)/nnvts audit --sensitivity --markdown >docs/use/sensitivity.md
	tools/report-picture.sh $(B) docs/report.png

# The table of docs/use/engines.md, into B/judged.md: a default run of each engine that is here, some minutes.
JUDGED ?= xnnpack onednn tflite: tflite:delegate=xnnpack tflite:delegate=nnapi ort: ggml: \
          $(patsubst %,ndk:%:aosp,$(wildcard $(NNVTS_TARGETS)/aosp/libneuralnetworks.so))
judged: all
	@set --; for driver in $(JUDGED); do run=$(B)/judged/$${driver##*/}; \
	  case "$$driver" in ndk:*) path=$${driver#ndk:} path=$${path%/*} ;; *) path=$$LD_LIBRARY_PATH ;; esac; \
	  LD_LIBRARY_PATH=$$path $(B)/nnvts run --driver "$$driver" -q --out "$$run" || [ $$? = 1 ] || continue; \
	  set -- "$$@" "$$run"; done; tools/judged.py "$$@" >$(B)/judged.md && echo $(B)/judged.md

# Of conditions, cliffs and quirks that were planted, how many datasheets say, and what they say beside.
planted-sheets: all
	@NNVTS_BUILD=$(abspath $(B)) NNVTS_TEST_DRIVERS=$(abspath $(B))/drivers tests/system/test_datasheet.sh 2>&1 | grep -E ' found|invented|FAILED'

# The last section of docs/use/tolerances.md, with the instruction set that each machine has.
profiles: all
	NNVTS_CPU_ISA=base $(B)/nnvts audit --profiles budget,aosp,aosp-graph --count 400 >$(B)/profiles.md
	sed -i '/^## Planted bugs by profile/,$$d' docs/use/tolerances.md
	cat $(B)/profiles.md >>docs/use/tolerances.md

audit: setup-run
	@$(MAKE) --no-print-directory -j$$(nproc) all
	$(B)/nnvts audit --out $(B)/audit $(ARGS)

# How often the latency gate is wrong: ARGS="RUNS PLANTED".
gate-campaign: setup-run
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@tools/gate-campaign.sh $(B) $(ARGS)

soak: setup-run
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@for seed in 2 3 4 5 6; do $(B)/nnvts run --driver cpu --tier full --seed $$seed --out $(B)/soak-$$seed -q || exit 1; done
	@$(MAKE) --no-print-directory $(B)/tests/test_compiler_draw
	NNVTS_PROGRAMS=10000 $(B)/tests/test_compiler_draw
	@$(MAKE) --no-print-directory soak-fuzz
	@$(MAKE) --no-print-directory fuzz READER_SECONDS=$(READER_SOAK_SECONDS)

# Calls of the C library fail, one at a time, under twelve verbs, at more than 2,000 points: some minutes.
inject: setup-test
	@$(MAKE) --no-print-directory -j$$(nproc) all $(B)/tests/inject.so
	@NNVTS_BUILD=$(abspath $(B)) INJECT_POINTS=$${INJECT_POINTS:-60} tests/inject/inject.sh

# Small mistakes in our own source, and whether a test notices: MUTANTS=, SEED=, FOLDERS=, AT=FILE:LINE, KEEP=, see tools/mutate.
SCRIPTS ?= $(filter-out inject mutate planted recipes,$(SYSTEM:tests/system/test_%.sh=%))
mutate: setup-test
	@CC="$(CC)" LDFLAGS="$(LDFLAGS)" SCRIPTS="$(SCRIPTS)" tools/mutate/mutate.py

# Every hostile habit of tests/kit/drivers/hostile.c: some minutes.
soak-hostile: setup-test
	@$(MAKE) --no-print-directory -j$$(nproc) all $(TEST_DRIVERS)
	@NNVTS_BUILD=$(abspath $(B)) tests/soak_hostile.sh

# Mutated models under the sanitizers, ten minutes in all.
FUZZ_ASAN := detect_leaks=0:handle_segv=0:handle_abort=0:abort_on_error=1:allocator_may_return_null=1
soak-fuzz:
	@$(MAKE) --no-print-directory -j$$(nproc) B=build-san CC=gcc CFLAGS="-O1 -g" SAN="$(SANITIZERS)" all
	@for driver in cpu reference; do ASAN_OPTIONS=$(FUZZ_ASAN) UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1 \
	  build-san/nnvts fuzz --driver $$driver --time $(SOAK_SECONDS) --timeout 30 --out build-san/fuzz-$$driver || exit 1; done

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/nnvts/drivers $(DESTDIR)$(PREFIX)/include/nnvts \
	  $(DESTDIR)$(PREFIX)/include/android
	install -m 755 $(B)/nnvts $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(DRIVER_SO) $(DESTDIR)$(PREFIX)/lib/nnvts/drivers/
	install -m 755 $(B)/nnvts-host $(DESTDIR)$(PREFIX)/lib/nnvts/
	ln -sf ../lib/nnvts/nnvts-host $(DESTDIR)$(PREFIX)/bin/nnvts-host
	install -d $(DESTDIR)$(PREFIX)/share/nnvts/tables
	install -m 644 $(wildcard compiler/byoc/tables/*.json) $(DESTDIR)$(PREFIX)/share/nnvts/tables/
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d $(DESTDIR)$(PREFIX)/share/man/man1
	$(B)/nnvts completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/nnvts
	$(B)/nnvts completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_nnvts
	$(B)/nnvts completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/nnvts.fish
	$(B)/nnvts man --out $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 include/NeuralNetworks.h include/NeuralNetworksTypes.h include/NeuralNetworksOEM.h \
	  include/NeuralNetworksSupportLibraryImpl.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 include/android/NeuralNetworks.h $(DESTDIR)$(PREFIX)/include/android/
	install -m 644 $(addprefix include/nnvts/,driver.h ndk.h planted.h result.h rules.h) $(DESTDIR)$(PREFIX)/include/nnvts/
	install -m 755 $(RUNTIME) $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(RULES_LIB) $(DESTDIR)$(PREFIX)/lib/
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	$(call pc,$(PREFIX),$(PREFIX)/lib,$(PREFIX)/include) >$(DESTDIR)$(PREFIX)/lib/pkgconfig/nnvts-neuralnetworks.pc

# Takes away what install puts there: it is installed once more, into a folder of its own, to know what that is.
uninstall: all
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	  $(MAKE) --no-print-directory install DESTDIR="$$scratch" >/dev/null && cd "$$scratch" && \
	  find . ! -type d | while IFS= read -r file; do echo "rm -f $(DESTDIR)/$${file#./}"; rm -f "$(DESTDIR)/$$file"; done; \
	  find . -depth -type d -path '*nnvts*' | while IFS= read -r dir; do rmdir "$(DESTDIR)/$$dir" 2>/dev/null || true; done

clean:
	rm -rf build build-deb build-ports build-gcc build-clang build-san build-tsan build-fuzz build-reach build-cov

# Exports nothing but what drivers that were built with SanitizerCoverage call: a library under test must find its own
# functions, not those of the runtime that is linked in.
NNVTS_OBJECTS := $(call objects,harness/cli) $(B)/obj/harness/runner/coverage/counters.o
NNVTS_EXPORTS := -Wl,--exclude-libs,ALL -Wl,--export-dynamic-symbol='__sanitizer_cov_*'
$(B)/nnvts: $(NNVTS_OBJECTS) $(CORE_LIB)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(LDFLAGS) $(NNVTS_EXPORTS) -o $@ $^ $(LIBS)

objects: $(NNVTS_OBJECTS) $(CORE_LIB)

# The program with all but the C library in it, to be copied to another machine: drivers are opened by the C library that
# they were linked with, so that one is the machine's. Of OpenBLAS come the products alone, without Fortran; ICU,
# which libxml2 asks for rare encodings, comes without its data, 30 MB of them.
STATIC_LIBS = $(filter-out -licui18n -licudata -lm -lpthread -ldl,$(shell pkg-config --static --libs jansson libxml-2.0 libpng)) -lopenblas
static: $(B)/nnvts-static
$(B)/obj/no_icu_data.o:
	@mkdir -p $(@D)
	$(Q)nm -u "$$($(CC) -print-file-name=libicuuc.a)" 2>/dev/null | sed -n 's/.* U \(icudt[0-9]*_dat\)$$/const char \1[64];/p' | sort -u | $(CC) -xc -c -o $@ -
$(B)/nnvts-static: $(NNVTS_OBJECTS) $(CORE_LIB) $(B)/obj/no_icu_data.o
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(LDFLAGS) $(NNVTS_EXPORTS) -static-libgcc -Wl,-u,cblas_dgemm -o $@ $^ -Wl,-Bstatic -Wl,--start-group $(STATIC_LIBS) \
	  -lstdc++ -Wl,--end-group -Wl,-Bdynamic -lm -lpthread -ldl

$(B)/nnvts-host: $(HOST_SERVER)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -o $@ $^ -lm -pthread -ldl

# The records' rules for a driver of one's own, without kernels: one object of what rules.c reaches, which shows
# nnvts_rules_* alone.
RULES_OBJ := $(patsubst %.c,$(B)/rules/%.o,$(call sources,base reference/model reference/ops reference/eval reference/abi reference/rules))
$(B)/rules/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -DNNV_RULES_ALONE -Wno-unused -ffunction-sections -fdata-sections -I. -Iinclude -c -o $@ $<
$(RULES_LIB): $(RULES_OBJ)
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)$(CROSS)ld -r --force-group-allocation --gc-sections -u nnvts_rules_check_model -o $(B)/rules/all.o $^
	$(Q)$(CROSS)objcopy --strip-debug --strip-unneeded --wildcard --keep-global-symbol='nnvts_rules_*' --keep-symbol='nnvts_rules_*' $(B)/rules/all.o
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $(B)/rules/all.o

$(B)/drivers/template.so: $(RULES_LIB)

# thin archives: a folder's objects under one name
$(CORE_LIB): $(call objects,$(CORE_DIRS))
$(REF_LIB): $(call objects,$(REF_DIRS))
$(FAULT_LIB): $(call objects,reference/faults)
$(CORE_SO): $(CORE_LIB) tests/kit/core.map
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -shared -Wl,--version-script=tests/kit/core.map -o $@ -Wl,--whole-archive $< -Wl,--no-whole-archive $(LIBS)
KIT_RUN := $(call objects,tests/kit/run)
$(KIT_LIB): $(filter-out $(KIT_RUN) $(B)/obj/tests/kit/drivers/%,$(call objects,tests/kit))
$(CORE_LIB) $(REF_LIB) $(KIT_LIB) $(FAULT_LIB):
	@rm -f $@
	$(Q)$(CROSS)ar rcsT $@ $^

# Only what the map names is seen from outside, and the library's own calls stay inside. It stays when it is closed:
# threads that wait for work run in it.
$(RUNTIME): $(call objects,$(RUNTIME_DIRS)) $(RUNTIME_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $(LDFLAGS) -shared -Wl,-soname,libneuralnetworks.so -Wl,--version-script=$(RUNTIME_MAP) \
	  -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,--as-needed -Wl,--build-id -o $@ $(filter %.o,$^) $(LIBS)

# The build tree's own, to be used with PKG_CONFIG_PATH=build/lib/pkgconfig; installing writes one with its paths.
pc = sed -e 's|@PREFIX@|$(1)|' -e 's|@LIBDIR@|$(2)|' -e 's|@INCLUDEDIR@|$(3)|' -e 's|@VERSION@|$(VERSION)|' \
  tools/nnvts-neuralnetworks.pc.in
$(B)/lib/pkgconfig/nnvts-neuralnetworks.pc: tools/nnvts-neuralnetworks.pc.in
	@mkdir -p $(@D)
	$(Q)$(call pc,$(abspath $(B)),$(abspath $(B)/lib),$(CURDIR)/include) >$@

# A driver sees what a vendor sees: include alone. Only the reference adapter and the driver of planted faults also see
# base and reference, and some drivers what they have in common.
# cpu, and what runs over all elements: nobody reads errno or the flags of floating point exceptions, which keep loops
# from being vectorised.
$(B)/obj/drivers_under_test/reference/%.o: PRIVATE_I := -I.
$(B)/obj/drivers_under_test/host/%.o $(B)/obj/drivers_under_test/remote/%.o: PRIVATE_I := -Idrivers_under_test -I.
$(foreach d,common engine ndk sample $(ENGINES) $(ENGINES_OPENED),$(B)/obj/drivers_under_test/$(d)/%.o): PRIVATE_I := -Idrivers_under_test
$(B)/obj/drivers_under_test/faulty/%.o: PRIVATE_I := -I. -Idrivers_under_test/faulty
LOOPS := -fno-math-errno -fno-trapping-math
$(B)/obj/drivers_under_test/cpu/%.o: PRIVATE_I := -Idrivers_under_test/cpu -O3 $(LOOPS)
$(foreach d,base/type.o reference/eval/%.o reference/ops/%.o harness/judge/%.o,$(B)/obj/$(d)): PRIVATE_I := $(if $(filter -O2,$(CFLAGS)),-O3) $(LOOPS)
$(B)/obj/drivers_under_test/%.o: drivers_under_test/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -fvisibility=hidden -Iinclude $(PRIVATE_I) -c -o $@ $<

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -I. -Iinclude $(PRIVATE_I) $(PKG_CFLAGS) -c -o $@ $<

# Files that are part of the program as bytes.
$(B)/obj/mlts/networks/trained.o: $(wildcard mlts/networks/models/*.tflite)
$(B)/obj/compiler/byoc/tables.o: $(wildcard compiler/byoc/tables/*.json)
$(B)/obj/compiler/nnapi/emit/emit_support.o: $(wildcard compiler/nnapi/region/* include/NeuralNetworks*.h)
$(B)/obj/harness/cli/bring/cmd_new_driver.o: $(wildcard drivers_under_test/template/*)

NDK_PARTS = $(filter-out $(B)/obj/drivers_under_test/ndk/entry_%,$(call objects,drivers_under_test/ndk))
driver_objects = $(if $(filter $(1),$(NDK_DRIVERS)),$(NDK_PARTS) $(B)/obj/drivers_under_test/ndk/entry_$(1).o,$(or $(OBJECTS_$(1)),$(call objects,drivers_under_test/$(1))))
OBJECTS_host := $(HOST_CLIENT)
OBJECTS_remote := $(call objects,drivers_under_test/remote) $(filter-out %/process.o,$(HOST_CLIENT)) $(HOST_RELAY)
define DRIVER_RULE
$(B)/drivers/$(1).so: $(call driver_objects,$(1)) $(if $(filter faulty,$(1)),$(FAULT_LIB)) $(if $(filter $(OVER_REFERENCE),$(1)),$(REF_LIB)) $(if $(filter $(ENGINES) $(ENGINES_OPENED),$(1)),$(call objects,drivers_under_test/engine)) $(if $(filter $(WITH_COMMON),$(1)),$(call objects,drivers_under_test/common))
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(SAN) $$(LDFLAGS) -shared -Wl,--build-id -Wl,--exclude-libs,ALL -o $$@ $$^ $(if $(filter $(OVER_REFERENCE),$(1)),$$(LIBS),$(LIBS_$(1)) -lm -pthread -ldl)
endef
$(foreach d,$(DRIVERS),$(eval $(call DRIVER_RULE,$(d))))

# The suites of these stand in the place of those of nnvts.
$(addprefix $(B)/tests/test_,run run_resume opening dumper determinism flakes_run journal): $(KIT_RUN) | $(TEST_DRIVERS)
$(B)/tests/test_host_protocol: $(filter-out %/main.o %/listen.o %/clients.o,$(HOST_SERVER))
$(B)/tests/test_host_lies: $(HOST_PARTS)
$(B)/tests/test_remote_relay: $(HOST_PARTS) $(HOST_RELAY)
$(B)/tests/test_remote_clients: $(B)/obj/drivers_under_test/host/server/clients.o
$(B)/tests/test_remote_meddler: $(sort $(filter-out %/main.o %/listen.o %/clients.o,$(HOST_SERVER)) $(HOST_CLIENT) $(call objects,drivers_under_test/common))
$(B)/tests/test_remote_meddler: PKG_CFLAGS += -Idrivers_under_test
# Named one by one: a test that has moved is looked for where it is, whatever was made of it before says.
$(foreach source,$(UNIT_SRC),$(eval $(B)/tests/$(basename $(notdir $(source))): $(source)))
# What CORE_SO hides is seen by tests that link the objects themselves.
UNIT_STATIC := $(patsubst tests/unit/reference/runtime/%.c,$(B)/tests/%,$(wildcard tests/unit/reference/runtime/*.c))
$(UNIT_STATIC): $(CORE_LIB)
$(UNIT_STATIC): CORE = $(CORE_LIB)
$(B)/tests/test_%: CORE = $(CORE_SO)
$(UNIT): $(B)/tests/test_%: $(KIT_LIB) | $(CORE_SO)
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -I. -Iinclude $(PKG_CFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib' -o $@ \
	  $(filter %/$(@F).c,$(UNIT_SRC)) \
	  $(filter %.o,$^) $(KIT_LIB) $(CORE) -lcmocka $(LIBS)
$(B)/fuzz/fuzz_host: $(filter-out %/main.o %/listen.o %/clients.o,$(HOST_SERVER))
$(B)/fuzz/%: tests/fuzz/%.c $(KIT_LIB) $(CORE_LIB)
	@mkdir -p $(@D)
	$(call say,FUZZ)
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -I. -Iinclude $(PKG_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(KIT_LIB) $(CORE_LIB) $(LIBS)
# The engines, to compare with, where they are installed
$(B)/bench/bench_layers: LIBS += $(foreach e,$(FOUND),$(LIBS_$(e)))
$(B)/bench/bench_plan: $(KIT_LIB)
$(B)/bench/%: tests/bench/%.c $(CORE_LIB)
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(CC) $(ALL_CFLAGS) -I. -Iinclude $(PKG_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.a,$^) $(LIBS)

-include $(shell test -d $(B) && find $(B) -name '*.d')
# A source that has moved is still named by what was made of it: that is made anew, and no error.
%.c: ;
%.d: ;
