LIB_SRCS += compat/bpf_map.c compat/files.c compat/kernel.c compat/perf_open.c
