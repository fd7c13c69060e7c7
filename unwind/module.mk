LIB_SRCS += unwind/walk.c unwind/frame_chain.c
LIB_SRCS += unwind/cfi.c unwind/expr.c
LIB_SRCS += unwind/extent.c unwind/rules.c unwind/rules_records.c unwind/rules_rows.c
