LIB_SRCS += \
	core/account.c \
	core/backend.c \
	core/callchain.c \
	core/capture.c \
	core/capture_events.c \
	core/capture_input.c \
	core/compare.c \
	core/err.c \
	core/events.c \
	core/filter.c \
	core/hash.c \
	core/host.c \
	core/keeper.c \
	core/mapped_files.c \
	core/maps.c \
	core/number.c \
	core/options.c \
	core/output.c \
	core/proc.c \
	core/recording.c \
	core/report/both.c \
	core/report/diff.c \
	core/report/folded.c \
	core/report/labels.c \
	core/report/report.c \
	core/report/text.c \
	core/shortfall.c \
	core/signals.c \
	core/stacks.c \
	core/symbols/build_ids.c \
	core/symbols/elf.c \
	core/symbols/kernel.c \
	core/symbols/kernel_names.c \
	core/symbols/symbols.c \
	core/tasks.c \
	core/watch.c
LIBS += $(shell $(PKG_CONFIG) --libs libelf)
