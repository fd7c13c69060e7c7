/* SPDX-License-Identifier: Apache-2.0 */
/* --ebpf. */
#ifndef CORE_CLI_PRINT_BPF_H
#define CORE_CLI_PRINT_BPF_H

#include "core/cli/command_line.h"

#include <stdio.h>

/** print_bpf() - print the source of the BPF program that counts for @tool. */
void print_bpf(FILE *out, enum tool tool);

#endif
