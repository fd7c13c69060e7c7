LIB_SRCS += \
	backend-perfring/apply.c \
	backend-perfring/decode.c \
	backend-perfring/deferred.c \
	backend-perfring/kernel_code.c \
	backend-perfring/made_rules.c \
	backend-perfring/order.c \
	backend-perfring/pack.c \
	backend-perfring/queue.c \
	backend-perfring/sample.c \
	backend-perfring/stack_roots.c \
	backend-perfring/switching.c \
	backend-perfring/unwinders.c \
	backend-perfring/unwinding.c \
	backend-perfring/recording/event_choice.c \
	backend-perfring/recording/perfdata.c \
	backend-perfring/recording/perfdata_dir.c \
	backend-perfring/recording/perfdata_file.c \
	backend-perfring/recording/perfdata_header.c \
	backend-perfring/recording/perfdata_search.c \
	backend-perfring/recording/perfdata_source.c \
	backend-perfring/recording/recording.c \
	backend-perfring/ring/blocks.c \
	backend-perfring/ring/fetch.c \
	backend-perfring/ring/lost.c \
	backend-perfring/ring/map.c \
	backend-perfring/ring/perfring.c \
	backend-perfring/ring/reading.c \
	backend-perfring/ring/refresh.c \
	backend-perfring/ring/ring.c
# Recordings of `perf record -z`; without the library, or with ZSTD=, they are refused.
ifeq ($(origin ZSTD),undefined)
ZSTD := $(shell $(PKG_CONFIG) --exists libzstd && echo 1)
endif
ifneq ($(ZSTD),)
ZSTD_CFLAGS := -DHAVE_ZSTD $(shell $(PKG_CONFIG) --cflags libzstd)
ZSTD_LIBS := $(shell $(PKG_CONFIG) --libs libzstd)
endif
LIBS += $(ZSTD_LIBS)
