LIB_SRCS += compat/perf_open.c compat/kernel.c
