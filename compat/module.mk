LIB_SRCS += compat/bpf_map.c compat/files.c compat/perf_open.c compat/switch_state.c compat/tracefs.c compat/tracepoint.c
