LIB_SRCS += \
	core/base/err.c \
	core/base/hash.c \
	core/base/intern.c \
	core/base/number.c \
	core/base/printable.c \
	core/cli/account.c \
	core/cli/agreement.c \
	core/cli/list_backends.c \
	core/cli/options.c \
	core/cli/options_offcputime.c \
	core/cli/options_profile.c \
	core/cli/options_rows.c \
	core/cli/output.c \
	core/cli/reports.c \
	core/cli/run.c \
	core/cli/warnings.c \
	core/events/attrs.c \
	core/events/cpus.c \
	core/events/event.c \
	core/events/event_rings.c \
	core/events/events.c \
	core/events/followed.c \
	core/events/place.c \
	core/events/ring_sizes.c \
	core/events/shortfall.c \
	core/events/side_band.c \
	core/events/waiting.c \
	core/events/watch.c \
	core/files/build_ids.c \
	core/files/confine.c \
	core/files/debug_files.c \
	core/files/elf.c \
	core/files/elf_file.c \
	core/files/elf_inflate.c \
	core/files/elf_names.c \
	core/files/elf_plt.c \
	core/files/elf_spans.c \
	core/files/file_bytes.c \
	core/files/file_cache.c \
	core/files/file_search.c \
	core/files/mapped_files.c \
	core/files/open_files.c \
	core/files/recorded.c \
	core/files/vdso.c \
	core/files/worker.c \
	core/host/causes.c \
	core/host/event_types.c \
	core/host/host.c \
	core/host/kernel.c \
	core/host/pidns.c \
	core/host/priority.c \
	core/host/privileges.c \
	core/host/signals.c \
	core/report/both.c \
	core/report/diff.c \
	core/report/entry.c \
	core/report/folded.c \
	core/report/forms.c \
	core/report/labeller.c \
	core/report/labels.c \
	core/report/printed.c \
	core/report/readable.c \
	core/report/report.c \
	core/report/scheduling.c \
	core/report/stacks.c \
	core/report/text.c \
	core/rows/callchain.c \
	core/rows/compare.c \
	core/rows/compare_intervals.c \
	core/rows/frame.c \
	core/rows/rows.c \
	core/rows/sink.c \
	core/rows/stats.c \
	core/rows/switches.c \
	core/session/counting.c \
	core/session/fallback.c \
	core/session/forget.c \
	core/session/input.c \
	core/session/open.c \
	core/session/ring_thread.c \
	core/session/session.c \
	core/session/statistics.c \
	core/session/ways.c \
	core/request/request.c \
	core/sources/recording.c \
	core/symbols/demangle.c \
	core/symbols/demangler.c \
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
	core/tasks/cgroup.c \
	core/tasks/command.c \
	core/tasks/descendants.c \
	core/tasks/filter.c \
	core/tasks/known_files.c \
	core/tasks/mapping.c \
	core/tasks/maps.c \
	core/tasks/memory_limit.c \
	core/tasks/pid_table.c \
	core/tasks/pinned.c \
	core/tasks/proc.c \
	core/tasks/processes.c \
	core/tasks/tasks.c \
	core/tasks/tasks_maps.c \
	core/tasks/tasks_names.c \
	core/tasks/threads.c
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
