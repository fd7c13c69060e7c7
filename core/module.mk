LIB_SRCS += \
	core/account.c \
	core/backend.c \
	core/callchain.c \
	core/capture.c \
	core/capture_events.c \
	core/capture_input.c \
	core/capture_open.c \
	core/causes.c \
	core/cgroup.c \
	core/command.c \
	core/compare.c \
	core/compare_intervals.c \
	core/confine.c \
	core/descendants.c \
	core/err.c \
	core/events.c \
	core/file_search.c \
	core/filter.c \
	core/followed.c \
	core/hash.c \
	core/host.c \
	core/keeper.c \
	core/ladder.c \
	core/list_backends.c \
	core/mapped_files.c \
	core/mapping.c \
	core/maps.c \
	core/memory_limit.c \
	core/number.c \
	core/open_files.c \
	core/options.c \
	core/options_offcputime.c \
	core/options_profile.c \
	core/options_rows.c \
	core/output.c \
	core/pinned.c \
	core/priority.c \
	core/privileges.c \
	core/proc.c \
	core/recording.c \
	core/report/both.c \
	core/report/diff.c \
	core/report/entry.c \
	core/report/folded.c \
	core/report/labels.c \
	core/report/report.c \
	core/report/text.c \
	core/ring_sizes.c \
	core/run.c \
	core/shortfall.c \
	core/side_band.c \
	core/signals.c \
	core/stacks.c \
	core/switches.c \
	core/symbols/build_ids.c \
	core/symbols/debug_files.c \
	core/symbols/demangle.c \
	core/symbols/elf.c \
	core/symbols/elf_file.c \
	core/symbols/elf_names.c \
	core/symbols/elf_plt.c \
	core/symbols/elf_spans.c \
	core/symbols/elf_xz.c \
	core/symbols/kernel.c \
	core/symbols/kernel_file.c \
	core/symbols/kernel_names.c \
	core/symbols/lines.c \
	core/symbols/lines_dwarf.c \
	core/symbols/lines_message.c \
	core/symbols/lines_serve.c \
	core/symbols/perf_map.c \
	core/symbols/perf_maps.c \
	core/symbols/symbols.c \
	core/tasks.c \
	core/waiting.c \
	core/watch.c \
	core/worker.c
# Names of C++ and Rust; without the library, or with IBERTY=, they stay as they are. It is static, and pkg-config does
# not know it.
ifeq ($(origin IBERTY),undefined)
IBERTY := $(shell echo 'int main(void) { return !cplus_demangle_v3_callback + !rust_demangle_callback; }' | \
	    $(CC) $(CFLAGS) -w -include libiberty/demangle.h -x c - -o /dev/null $(LDFLAGS) -liberty 2>/dev/null && echo 1)
endif
ifneq ($(IBERTY),)
ALL_CFLAGS += -DHAVE_IBERTY
IBERTY_LIBS := -liberty
endif
LIBS += $(shell $(PKG_CONFIG) --libs libelf libdw liblzma zlib) $(IBERTY_LIBS)
