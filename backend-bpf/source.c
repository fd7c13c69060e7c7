// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/source.h"

/* The assembler reads the files; it looks below the folders of -I. */
__asm__(".pushsection .rodata\n"
	".global bpf_source\n"
	"bpf_source:\n"
	".incbin \"bpf/layout.h\"\n"
	".ascii \"\\n\"\n"
	".incbin \"bpf/profile.bpf.c\"\n"
	".byte 0\n"
	".popsection\n");
