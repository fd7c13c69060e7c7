LIB_SRCS += unwind/walk.c unwind/frame_chain.c unwind/return_probes.c
LIB_SRCS += unwind/cfi.c unwind/expr.c
LIB_SRCS += unwind/mode.c unwind/compare.c unwind/libunwinder.c unwind/libunwinder_serve.c
LIB_SRCS += unwind/extent.c unwind/rules.c unwind/rules_records.c unwind/rules_rows.c unwind/rule_files.c
# The second unwinder. Without the library, or with LIBUNWIND=, there is only our own one.
ifeq ($(origin LIBUNWIND),undefined)
LIBUNWIND := $(shell $(PKG_CONFIG) --exists libunwind-generic && echo 1)
endif
ifneq ($(LIBUNWIND),)
ALL_CFLAGS += -DHAVE_LIBUNWIND $(shell $(PKG_CONFIG) --cflags libunwind-generic)
LIBUNWIND_LIBS := $(shell $(PKG_CONFIG) --libs libunwind-generic)
ifdef STATIC
# Debian compiles the static library for fixed addresses. Without it, with LIBUNWIND=, the program is -static-pie.
STATIC_LDFLAGS := -static -s
endif
endif
LIBS += $(LIBUNWIND_LIBS)
