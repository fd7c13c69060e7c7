LIB_SRCS += \
	core/base/err.c \
	core/base/faults.c \
	core/base/hash.c \
	core/base/intern.c \
	core/base/memstream.c \
	core/base/number.c \
	core/base/pi_mutex.c \
	core/base/printable.c \
	core/base/strings.c \
	core/cli/about.c \
	core/cli/account.c \
	core/cli/advice.c \
	core/cli/agreement.c \
	core/cli/backends.c \
	core/cli/debug_package.c \
	core/cli/empty.c \
	core/cli/growth.c \
	core/cli/inputs.c \
	core/cli/list_backends.c \
	core/cli/messages.c \
	core/cli/options.c \
	core/cli/options_offcputime.c \
	core/cli/options_profile.c \
	core/cli/options_rows.c \
	core/cli/output.c \
	core/cli/programs.c \
	core/cli/print_bpf.c \
	core/cli/progress_line.c \
	core/cli/reports.c \
	core/cli/request.c \
	core/cli/run.c \
	core/cli/runtimes.c \
	core/cli/stripped.c \
	core/cli/suggest.c \
	core/cli/warnings.c \
	core/events/attrs.c \
	core/events/cpus.c \
	core/events/epoll_array.c \
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
	core/files/elf_dynamic.c \
	core/files/elf_file.c \
	core/files/elf_go.c \
	core/files/elf_inflate.c \
	core/files/elf_names.c \
	core/files/elf_plt.c \
	core/files/elf_spans.c \
	core/files/file_bytes.c \
	core/files/file_cache.c \
	core/files/file_search.c \
	core/files/copied_code.c \
	core/files/mapped_files.c \
	core/files/open_files.c \
	core/files/perf_cache.c \
	core/files/recorded.c \
	core/files/vdso.c \
	core/files/worker.c \
	core/formats/base64.c \
	core/formats/frame_table.c \
	core/formats/gzip.c \
	core/formats/infile.c \
	core/formats/infile_lines.c \
	core/formats/json.c \
	core/formats/json_text.c \
	core/formats/page.c \
	core/formats/page_stacks.c \
	core/formats/pieces.c \
	core/formats/pprof.c \
	core/formats/pprof_locations.c \
	core/formats/pprof_tables.c \
	core/formats/profile.pb-c.c \
	core/formats/read.c \
	core/formats/read_folded.c \
	core/formats/read_json.c \
	core/formats/read_page.c \
	core/formats/read_pprof.c \
	core/formats/read_rows.c \
	core/formats/speedscope.c \
	core/formats/tree.c \
	core/host/causes.c \
	core/host/cpu_wait.c \
	core/host/distribution.c \
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
	core/report/frame.c \
	core/report/functions.c \
	core/report/labeller.c \
	core/report/labels.c \
	core/report/printed.c \
	core/report/quality.c \
	core/report/readable.c \
	core/report/report.c \
	core/report/scheduling.c \
	core/report/stacks.c \
	core/report/text.c \
	core/report/top.c \
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
	core/session/unwinder.c \
	core/session/ways.c \
	core/sources/recording.c \
	core/symbols/code_ranges.c \
	core/symbols/demangle.c \
	core/symbols/demangler.c \
	core/symbols/jitdump.c \
	core/symbols/jitdump_lines.c \
	core/symbols/jitdump_pattern.c \
	core/symbols/jitdumps.c \
	core/symbols/kernel.c \
	core/symbols/kernel_answers.c \
	core/symbols/kernel_file.c \
	core/symbols/kernel_loaded.c \
	core/symbols/kernel_names.c \
	core/symbols/kernel_ranges.c \
	core/symbols/lines.c \
	core/symbols/lines_dwarf.c \
	core/symbols/lines_message.c \
	core/symbols/lines_sections.c \
	core/symbols/lines_serve.c \
	core/symbols/perf_map.c \
	core/symbols/perf_maps.c \
	core/symbols/symbols.c \
	core/tasks/cgroup.c \
	core/tasks/cgroup_limits.c \
	core/tasks/command.c \
	core/tasks/descendants.c \
	core/tasks/filter.c \
	core/tasks/pid_bits.c \
	core/tasks/known_files.c \
	core/tasks/mapping.c \
	core/tasks/maps.c \
	core/tasks/pid_table.c \
	core/tasks/pinned.c \
	core/tasks/proc.c \
	core/tasks/processes.c \
	core/tasks/targets.c \
	core/tasks/tasks.c \
	core/tasks/tasks_cgroups.c \
	core/tasks/tasks_maps.c \
	core/tasks/tasks_names.c \
	core/tasks/threads.c
# Demangling of C++ and Rust names. Without the library, or with IBERTY=, names stay mangled. The library is static, and
# pkg-config does not know it.
ifeq ($(origin IBERTY),undefined)
IBERTY := $(shell echo 'int main(void) { return !cplus_demangle_v3_callback + !rust_demangle_callback; }' | \
	    $(CC) $(CFLAGS) -w -include libiberty/demangle.h -x c - -o /dev/null $(LDFLAGS) -liberty 2>/dev/null && echo 1)
endif
ifneq ($(IBERTY),)
ALL_CFLAGS += -DHAVE_IBERTY
IBERTY_LIBS := -liberty
endif
# Compressed debug sections, and recordings of `perf record -z`. Without the library, or with ZSTD=, they are refused.
ifeq ($(origin ZSTD),undefined)
ZSTD := $(shell $(PKG_CONFIG) --exists libzstd && echo 1)
endif
ifneq ($(ZSTD),)
ZSTD_CFLAGS := -DHAVE_ZSTD $(shell $(PKG_CONFIG) --cflags libzstd)
ZSTD_LIBS := $(shell $(PKG_CONFIG) --libs libzstd)
endif
CORE_LIBS = $(shell $(PKG_CONFIG) --libs libelf libdw liblzma zlib libprotobuf-c jansson) $(IBERTY_LIBS) -lm
LIBS += $(CORE_LIBS) $(ZSTD_LIBS)

# The messages of pprof: protobuf-c generates the code.
PROTOC_C ?= protoc-c
PPROF_OBJS := $(addprefix core/formats/,pieces.o pprof.o pprof_locations.o pprof_tables.o profile.pb-c.o read_pprof.o)

$(O)/core/formats/profile.pb-c.c $(O)/core/formats/profile.pb-c.h &: core/formats/profile.proto
	$(say) PROTOC $(O)/core/formats/profile.pb-c.c
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --c_out=$(O) $<

$(PPROF_OBJS:%=$(O)/%): $(O)/core/formats/profile.pb-c.h

$(O)/core/formats/profile.pb-c.o: $(O)/core/formats/profile.pb-c.c $(FLAGS)
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# page.c includes the template of pages in its object: the page without indentation and lines of comments.
$(O)/core/formats/page.template: core/formats/page.html
	$(say) PAGE $@
	$(Q)mkdir -p $(@D)
	$(Q)sed -E '/^\t*\/\/( |$$)/d; s/^\t+//' $< >$@

$(O)/core/formats/page.o: $(O)/core/formats/page.template
