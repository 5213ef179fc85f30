# The driver template for nnvts.
#   make         builds template.so
#   make test    judges it: what it supports must be right, what it refuses must be refused by the rules
#   make debug   the same under the address and undefined behaviour sanitizers, in a process of its own
#   make coverage   the same, and what it reaches of the driver's code (by clang)
# Where nnvts has its headers and libnnvts-rules.a:
NNVTS_INCLUDE ?= @INCLUDE@
NNVTS_LIB ?= @LIB@
NNVTS ?= @NNVTS@

CC ?= cc
CFLAGS ?= -O2 -g -Wall -Wextra
LINK = -std=c17 -fPIC -shared -fvisibility=hidden -I$(NNVTS_INCLUDE)
ARGS ?= --tier smoke

.PHONY: all test debug coverage clean
all: template.so

template.so: template.c $(NNVTS_LIB)/libnnvts-rules.a
	$(CC) $(CFLAGS) $(LINK) -o $@ $^ -lm

test: template.so
	$(NNVTS) run --driver ./template.so $(ARGS)

debug: template.c $(NNVTS_LIB)/libnnvts-rules.a
	$(CC) -O1 -g -fsanitize=address,undefined $(LINK) -o template-debug.so $^ -lm
	LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 $(NNVTS) run --driver ./template-debug.so $(ARGS)

coverage: template.c $(NNVTS_LIB)/libnnvts-rules.a
	clang -O1 -g -fsanitize-coverage=inline-8bit-counters,pc-table $(LINK) -o template-coverage.so $^ -lm
	$(NNVTS) run --driver ./template-coverage.so --coverage $(ARGS)

clean:
	rm -rf template.so template-debug.so template-coverage.so nnvts-out
