# Every tests/unit/test_*.c is one program. Every tests/workloads/*.c is one little program, compiled with frame
# pointers unless its second line says otherwise ("// CFLAGS: ..." is added to its command). tests/live/*.c,
# tests/replay/*.c and tests/bench/*.c are helpers of the scripts there. Every tests/fuzz/fuzz_*.c is a libFuzzer
# target.

UNIT_SRCS := $(wildcard tests/unit/test_*.c)
UNIT_BINS := $(UNIT_SRCS:%.c=$(O)/%)
WORKLOADS := $(patsubst %.c,$(O)/%,$(wildcard tests/workloads/*.c))
BENCH_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
LIVE_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/live/*.c))
REPLAY_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/replay/*.c))
HELPERS := $(BENCH_BINS) $(LIVE_BINS) $(REPLAY_BINS)

CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check)

$(UNIT_BINS): $(O)/%: $(O)/%.o $(O)/tests/unit/unit.o $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) $(CHECK_LIBS)

$(HELPERS): $(O)/%: $(O)/%.o $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# Workloads are what gets profiled: never sanitized, never instrumented, the same in every variant. Leaf functions
# have frames too: without one, the caller of the interrupted function is missing.
WORKLOAD_CFLAGS := -std=gnu11 -D_GNU_SOURCE -I. -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
		   -fno-optimize-sibling-calls $(WARNFLAGS) -pthread

$(WORKLOADS): $(O)/tests/workloads/%: tests/workloads/%.c tests/workloads/workload.h
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -o $@ $< $(shell sed -n '2s,^// CFLAGS: ,,p' tests/workloads/$*.c)

tests: all $(UNIT_BINS) $(WORKLOADS) $(HELPERS)

# What is missing may be what this makefile needed to be read (compiler, pkg-config), so the build is another make.
check:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)O=$(O) tests/run unit lint replay live

demo:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory all $(O)/tests/workloads/demo
	$(Q)O=$(O) scripts/demo

# Fuzz targets: clang, in a folder of their own, with all of the library that needs no BPF object. New inputs and what
# made a target fail stay in $(O)/fuzz/; the corpora in tests/fuzz/corpus/ are only read.
FUZZ_SECONDS ?= 60
FUZZ_SAN := address,undefined
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BINS := $(FUZZ_TARGETS:%=$(O)/fuzz/%)
FUZZ_OBJS := $(patsubst %.c,$(O)/fuzz/obj/%.o,$(filter-out backend-bpf/%,$(LIB_SRCS)))
FUZZ_CFLAGS = $(filter-out $(SAN_CFLAGS) $(COV_CFLAGS),$(ALL_CFLAGS)) -fno-sanitize-recover=all \
	      -fno-omit-frame-pointer

$(O)/fuzz/obj/%.o: %.c
	$(say) FUZZCC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SAN) -MMD -MP -c -o $@ $<

$(O)/fuzz/libfleetprof.a: $(FUZZ_OBJS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(FUZZ_BINS): $(O)/fuzz/%: $(O)/fuzz/obj/tests/fuzz/%.o $(O)/fuzz/libfleetprof.a
	$(say) LINK $@
	$(Q)$(CLANG) -fsanitize=fuzzer,$(FUZZ_SAN) -o $@ $^ $(shell $(PKG_CONFIG) --libs libelf) $(ZSTD_LIBS)

fuzz: $(FUZZ_BINS)
	$(Q)O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) TEST_TIMEOUT=$$(($(words $(FUZZ_BINS)) * ($(FUZZ_SECONDS) + 60))) \
		tests/run fuzz

.PHONY: tests check demo fuzz
.SECONDARY: $(UNIT_BINS:=.o) $(HELPERS:=.o) $(FUZZ_TARGETS:%=$(O)/fuzz/obj/tests/fuzz/%.o)
