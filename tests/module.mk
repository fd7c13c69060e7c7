# Every tests/unit/test_*.c is one program. Every tests/workloads/*.c is one small program, compiled with frame pointers
# unless its second line says otherwise ("// CFLAGS: ..." is added to its command). Programs in tests/workloads/nofp, in
# C or C++, are optimized and have no frame pointers. lib*.c in both are shared libraries. tests/live/*.c,
# tests/replay/*.c, tests/recordings/*.c, tests/restricted/*.c and tests/bench/*.c are helpers of the scripts there.
# Every tests/fuzz/fuzz_*.c is a libFuzzer target.

UNIT_SRCS := $(wildcard tests/unit/test_*.c)
UNIT_BINS := $(UNIT_SRCS:%.c=$(O)/%)
WORKLOAD_LIBS := $(patsubst %.c,$(O)/%.so,$(wildcard tests/workloads/lib*.c))
WORKLOADS := $(patsubst %.c,$(O)/%,$(filter-out tests/workloads/lib%,$(wildcard tests/workloads/*.c)))
NOFP_LIBS := $(patsubst %.c,$(O)/%.so,$(wildcard tests/workloads/nofp/lib*.c))
NOFP_C := $(patsubst %.c,$(O)/%,$(filter-out tests/workloads/nofp/lib%,$(wildcard tests/workloads/nofp/*.c)))
NOFP_CXX := $(patsubst %.cpp,$(O)/%,$(wildcard tests/workloads/nofp/*.cpp))
BENCH_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
LIVE_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/live/*.c))
REPLAY_BINS := $(patsubst %.c,$(O)/%,$(wildcard tests/replay/*.c tests/recordings/*.c))
RESTRICTED_BINS := $(patsubst %.c,$(O)/%,$(filter-out %/registers.c,$(wildcard tests/restricted/*.c)))
OLD_COMMANDS := $(addprefix $(O)/tests/restricted/,profile offcputime)
HELPERS := $(BENCH_BINS) $(LIVE_BINS) $(REPLAY_BINS) $(RESTRICTED_BINS)

ifeq ($(origin CXX),default)
CXX := g++
endif

CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check)

$(addprefix $(O)/tests/unit/test_bpf_,object.o samples.o switches.o): $(O)/bpf/profile.skel.h $(O)/bpf/offcpu.skel.h

$(UNIT_BINS): $(O)/%: $(O)/%.o $(O)/tests/unit/unit.o $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) $(CHECK_LIBS)

# Tests without a kernel and without real time share these.
FAKE_SOURCES := $(patsubst %.c,$(O)/%.o,$(wildcard tests/unit/*_source.c))
$(addprefix $(O)/tests/unit/test_,fallback session): $(FAKE_SOURCES) $(O)/tests/unit/fake_time.o
$(addprefix $(O)/tests/unit/test_,events followed session side_band): $(O)/tests/unit/fake_kernel.o
$(addprefix $(O)/tests/unit/test_bpf_,samples switches): \
	private ALL_LDFLAGS += $(addprefix -Wl$(comma)--wrap=,libbpf_num_possible_cpus pidns_here offsets_of_switch \
		offsets_of_mntns offsets_of_pidns cgroup_fd pinned_fd)
$(addprefix $(O)/tests/unit/test_bpf_,samples switches): $(O)/tests/unit/fake_bpf.o $(O)/tests/unit/fake_kernel.o
$(O)/tests/unit/test_file_search: \
	private ALL_LDFLAGS += $(addprefix -Wl$(comma)--wrap=privileges_,as_caller back lent)
$(O)/tests/unit/test_list_backends: private ALL_LDFLAGS += -Wl,--wrap=fallback_try
$(O)/tests/unit/test_perf_maps: private ALL_LDFLAGS += -Wl,--wrap=perf_map_feed
$(addprefix $(O)/tests/unit/test_,cgroup elf_plt formats memstream perfdata perfring tasks): $(O)/tests/unit/failing_memory.o
$(addprefix $(O)/tests/unit/test_,cgroup elf_plt formats memstream perfdata perfring tasks): \
	private ALL_LDFLAGS += $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc strdup strndup)
$(O)/tests/unit/test_formats.o: $(O)/core/formats/profile.pb-c.h
$(addprefix $(O)/tests/unit/test_,demangler libunwinder_replies lines_asking symbols worker): $(O)/tests/unit/fake_time.o

$(HELPERS): $(O)/%: $(O)/%.o $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# The commands, with registers as old kernels report them.
$(OLD_COMMANDS): $(O)/tests/restricted/%: $(O)/core/cli/%.o $(O)/tests/restricted/registers.o $(LIB)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -Wl,--wrap=decode_record,--wrap=pack_record -o $@ $^ $(LIBS)

# Workloads are the profiled programs: never sanitized, never instrumented, the same in every variant. Leaf functions
# have frames too, because without one the caller of the interrupted function is missing.
WORKLOAD_CFLAGS := -std=gnu11 -D_GNU_SOURCE -I. -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
		   -fno-optimize-sibling-calls $(WARNFLAGS) -pthread

workload_more = $(shell sed -n '2s,^// CFLAGS: ,,p' $<)

$(WORKLOAD_LIBS): $(O)/%.so: %.c tests/workloads/workload.h
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -fPIC -shared -o $@ $< $(workload_more)

# Some of these files include others.
$(WORKLOADS): $(O)/%: %.c $(wildcard tests/workloads/*.h tests/workloads/*.c) $(WORKLOAD_LIBS)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -L$(@D) -o $@ $< $(workload_more)

# Without frame pointers, except if the stack is realigned, or a frame has no fixed size. Each call leaves a frame.
NOFP_FLAGS := -D_GNU_SOURCE -I. -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -pthread
NOFP_HEADERS := tests/workloads/workload.h tests/workloads/calls.c tests/workloads/nofp/nofp.h

$(NOFP_LIBS): $(O)/%.so: %.c
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(NOFP_FLAGS) $(WARNFLAGS) -fPIC -shared -o $@ $< $(workload_more)

# clang's own assembler has no option for the version of a CIE.
$(O)/tests/workloads/nofp/column: NOFP_FLAGS += $(if $(findstring clang,$(CC)),-fno-integrated-as)

# Some of these files include others.
$(NOFP_C): $(O)/%: %.c $(NOFP_HEADERS) $(wildcard tests/workloads/nofp/*.c) $(NOFP_LIBS)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(NOFP_FLAGS) $(WARNFLAGS) -L$(@D) -o $@ $< $(workload_more)

$(NOFP_CXX): $(O)/%: %.cpp
	$(say) CXX $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=gnu++17 $(NOFP_FLAGS) -Wall -Wextra -Werror -Wshadow -o $@ $< $(workload_more)

# Programs for virtual machines; each file is static: call make with STATIC=1. Some have no C library, some no frame
# pointers.
VM := $(O)/vm
VM_BARE := naps tree
VM_OWN := deep
VM_SHARED := renamer storm
VM_FILES := $(addprefix $(VM)/,guest name_all $(VM_BARE) $(VM_OWN) $(VM_SHARED))
VM_OBJS := $(patsubst %.c,$(O)/%.o,$(wildcard tests/vm/*.c))

$(VM)/guest: $(VM_OBJS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lm

$(VM)/name_all: $(O)/tests/live/name_all
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

$(addprefix $(VM)/,$(VM_BARE)): $(VM)/%: tests/vm/workloads/%.c $(wildcard tests/vm/workloads/*.h)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -ffreestanding -fno-stack-protector -fcf-protection=none -fno-pie -static \
		-nostdlib -o $@ $<

$(addprefix $(VM)/,$(VM_OWN)): $(VM)/%: tests/vm/workloads/%.c $(NOFP_HEADERS)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(NOFP_FLAGS) $(WARNFLAGS) -static -o $@ $<

$(addprefix $(VM)/,$(VM_SHARED)): $(VM)/%: tests/workloads/%.c tests/workloads/workload.h
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -static -o $@ $<

vmfiles: $(VM_FILES)

tests: all $(UNIT_BINS) $(WORKLOADS) $(NOFP_C) $(NOFP_CXX) $(HELPERS) $(OLD_COMMANDS)

# Reading this makefile may need programs that are missing (compiler, pkg-config), so the build is another make. It uses
# all CPUs unless -j says otherwise.
all_cpus = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# Two minutes, for every change. tests/gate is what each change has to pass, tests/all has every layer.
check:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory $(all_cpus) tests
	$(Q)O=$(O) tests/run lint unit replay/rows smoke

check-all:
	$(Q)tests/all

# Runs each layer TIMES times, see tests/soak.
soak:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory $(all_cpus) tests
	$(Q)tests/soak '$(TIMES)' $(LAYERS)

soak-clean:
	$(Q)rm -rf build/soak

# Tests the static program on real kernels, see tests/vm/kernels. Each guest has a time limit of its own.
vmtest:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory $(all_cpus) STATIC=1 vmtest-static

vmtest-static: all vmfiles
	$(Q)O=$(O) TEST_TIMEOUT=$(or $(TEST_TIMEOUT),14400) tests/run vm

.PHONY: vmtest vmtest-static

demo:
	$(Q)scripts/deps
	$(Q)$(MAKE) --no-print-directory $(all_cpus) all $(O)/tests/workloads/demo
	$(Q)O=$(O) scripts/demo

# Fuzz targets: clang builds them in a directory of their own, with the whole library except BPF objects. New inputs,
# and inputs that made a target fail, stay in $(O)/fuzz/; the corpora in tests/fuzz/corpus/ are only read.
FUZZ_SECONDS ?= 60
JOBS ?= 1
FUZZ_SAN := address,undefined
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BINS := $(FUZZ_TARGETS:%=$(O)/fuzz/%)
FUZZ_OBJS := $(patsubst %.c,$(O)/fuzz/obj/%.o,$(filter-out backend-bpf/%,$(LIB_SRCS)))
FUZZ_CFLAGS = $(filter-out $(SAN_CFLAGS) $(COV_CFLAGS),$(ALL_CFLAGS)) -fno-sanitize-recover=all \
	      -fno-omit-frame-pointer

$(O)/fuzz/obj/%.o: %.c $(FLAGS)
	$(say) FUZZCC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SAN) -MMD -MP -c -o $@ $<

$(O)/fuzz/obj/core/formats/profile.pb-c.o: $(O)/core/formats/profile.pb-c.c $(FLAGS)
	$(say) FUZZCC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SAN) -MMD -MP -c -o $@ $<

$(PPROF_OBJS:%=$(O)/fuzz/obj/%): $(O)/core/formats/profile.pb-c.h

$(O)/fuzz/obj/core/formats/page.o: $(O)/core/formats/page.template

$(O)/fuzz/libfleetprof.a: $(FUZZ_OBJS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(FUZZ_BINS): $(O)/fuzz/%: $(O)/fuzz/obj/tests/fuzz/%.o $(O)/fuzz/libfleetprof.a
	$(say) LINK $@
	$(Q)$(CLANG) -fsanitize=fuzzer,$(FUZZ_SAN) -o $@ $^ $(CORE_LIBS) $(ZSTD_LIBS) $(LIBUNWIND_LIBS)

fuzz: $(FUZZ_BINS)
	$(Q)O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) JOBS=$(JOBS) TEST_TIMEOUT=$$(($(words $(FUZZ_BINS)) * ($(FUZZ_SECONDS) + 60))) \
		tests/run fuzz

.PHONY: tests check check-all soak soak-clean vmfiles demo fuzz
.SECONDARY: $(UNIT_BINS:=.o) $(HELPERS:=.o) $(O)/tests/restricted/registers.o $(FUZZ_TARGETS:%=$(O)/fuzz/obj/tests/fuzz/%.o)
