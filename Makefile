# SPDX-License-Identifier: Apache-2.0
# nnvts: make run, make test, make check, make bench, make install PREFIX=...
# No file lists: every .c file in a folder belongs to what the folder builds.

CC ?= gcc
B ?= build
SAN ?=
WERROR ?=
PREFIX ?= /usr/local
VERSION := 0.1.0

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=c17 $(CFLAGS) $(WARN) $(WERROR) $(SAN) -fPIC -fno-omit-frame-pointer -fvisibility=hidden -ffp-contract=off \
             -D_GNU_SOURCE -DNNVTS_VERSION='"$(VERSION)"' -MMD -MP
LDFLAGS += $(SAN)
PKG_CFLAGS = $(shell pkg-config --cflags jansson libxml-2.0 libpng)
LIBS = $(shell pkg-config --libs jansson libxml-2.0 libpng) -lopenblas -lm -lpthread -ldl

# Layers below the command; a driver gets include alone (the reference adapter also base and reference).
CORE_DIRS := base reference/model reference/eval reference/ops randgraph harness/core harness/suites reports
CORE_SRC := $(foreach d,$(CORE_DIRS),$(wildcard $(d)/*.c))
CLI_SRC := $(wildcard harness/cli/*.c)
REF_SRC := $(foreach d,base reference/model reference/eval reference/ops,$(wildcard $(d)/*.c))
DRIVERS := $(notdir $(patsubst %/,%,$(dir $(wildcard drivers_under_test/*/*.c))))
DRIVERS := $(sort $(DRIVERS))
UNIT_SRC := $(wildcard tests/unit/test_*.c)

CORE_OBJ := $(CORE_SRC:%.c=$(B)/obj/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/obj/%.o)
REF_OBJ := $(REF_SRC:%.c=$(B)/obj/%.o)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
DRIVER_SO := $(DRIVERS:%=$(B)/drivers/%.so)

.PHONY: all
all: $(B)/nnvts $(DRIVER_SO)

$(B)/nnvts: $(CLI_OBJ) $(CORE_OBJ)
	$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LIBS)

$(B)/obj/drivers_under_test/%.o: drivers_under_test/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Iinclude $(if $(findstring /reference/,/$*),-I.,) $(DRIVER_CFLAGS) -c -o $@ $<

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I. -Iinclude $(PKG_CFLAGS) -c -o $@ $<

$(B)/tests/%: tests/unit/%.c $(CORE_OBJ)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -I. -Iinclude $(PKG_CFLAGS) $(LDFLAGS) -o $@ $< $(CORE_OBJ) -lcmocka $(LIBS)

define DRIVER_RULE
$(B)/drivers/$(1).so: $$(patsubst %.c,$(B)/obj/%.o,$$(wildcard drivers_under_test/$(1)/*.c)) $(if $(filter reference,$(1)),$$(REF_OBJ))
	@mkdir -p $$(@D)
	$$(CC) $$(LDFLAGS) -shared -o $$@ $$^ $(if $(filter reference,$(1)),$$(LIBS),-lm -lpthread -ldl)
endef
$(foreach d,$(DRIVERS),$(eval $(call DRIVER_RULE,$(d))))

.PHONY: unit
unit: $(UNIT_BIN)
	@set -e; for t in $(UNIT_BIN); do $$t; done

.PHONY: clean
clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
