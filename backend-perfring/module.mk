LIB_SRCS += \
	backend-perfring/apply.c \
	backend-perfring/decode.c \
	backend-perfring/kernel_code.c \
	backend-perfring/order.c \
	backend-perfring/perfdata.c \
	backend-perfring/perfdata_file.c \
	backend-perfring/perfdata_header.c \
	backend-perfring/perfdata_source.c \
	backend-perfring/perfring.c \
	backend-perfring/queue.c \
	backend-perfring/recording.c \
	backend-perfring/refresh.c \
	backend-perfring/ring.c \
	backend-perfring/rule_files.c \
	backend-perfring/sample.c \
	backend-perfring/switching.c \
	backend-perfring/unwinding.c
# Recordings of `perf record -z`; without the library, or with ZSTD=, they are refused.
ifeq ($(origin ZSTD),undefined)
ZSTD := $(shell $(PKG_CONFIG) --exists libzstd && echo 1)
endif
ifneq ($(ZSTD),)
ZSTD_CFLAGS := -DHAVE_ZSTD $(shell $(PKG_CONFIG) --cflags libzstd)
ZSTD_LIBS := $(shell $(PKG_CONFIG) --libs libzstd)
endif
LIBS += $(ZSTD_LIBS)
