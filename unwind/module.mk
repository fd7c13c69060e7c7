LIB_SRCS += unwind/fp.c
