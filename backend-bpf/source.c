// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/source.h"

/* The assembler reads the files. It looks for them below the directories of -I. */
#define SOURCE(name, program)                                                                                          \
	__asm__(".pushsection .rodata\n"                                                                               \
		".global " name "\n" name ":\n"                                                                        \
		".incbin \"bpf/layout.h\"\n"                                                                           \
		".ascii \"\\n\"\n"                                                                                     \
		".incbin \"bpf/shared.h\"\n"                                                                           \
		".ascii \"\\n\"\n"                                                                                     \
		".incbin \"" program "\"\n"                                                                            \
		".byte 0\n"                                                                                            \
		".popsection\n")

SOURCE("bpf_source", "bpf/profile.bpf.c");
SOURCE("bpf_switches_source", "bpf/offcpu.bpf.c");
