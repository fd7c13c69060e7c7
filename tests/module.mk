# Every tests/unit/test_*.c is one program. Every tests/workloads/*.c is one little program, compiled with frame
# pointers unless its second line says otherwise ("// CFLAGS: ..." is added to its command). tests/live/*.c and
# tests/bench/*.c are helpers of the scripts there.

UNIT_SRCS := $(wildcard tests/unit/test_*.c)
UNIT_BINS := $(UNIT_SRCS:%.c=$(O)/%)
WORKLOADS := $(patsubst %.c,$(O)/%,$(wildcard tests/workloads/*.c))
BENCH_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
LIVE_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/live/*.c))

CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check)

$(UNIT_BINS): $(O)/%: $(O)/%.o $(O)/tests/unit/unit.o $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) $(CHECK_LIBS)

$(BENCH_BINS) $(LIVE_BINS): $(O)/%: $(O)/%.o $(LIB)
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

tests: all $(UNIT_BINS) $(WORKLOADS) $(BENCH_BINS) $(LIVE_BINS)

# What is missing may be what this makefile needed to be read (compiler, pkg-config), so the build is another make.
check:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)O=$(O) tests/run unit lint replay live

demo:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory all $(O)/tests/workloads/demo
	$(Q)O=$(O) scripts/demo

.PHONY: tests check demo
.SECONDARY: $(UNIT_BINS:=.o) $(BENCH_BINS:=.o) $(LIVE_BINS:=.o)
