/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of ours that reads hostile data with code we did not write drops all rights that it does not need. Then a
 * file that takes the process over can make it lie to its parent, and do nothing else.
 */
#ifndef CORE_FILES_CONFINE_H
#define CORE_FILES_CONFINE_H

#include <stdint.h>

/**
 * confine() - from now on this process, which has one thread, cannot
 *  - open anything, make a process, connect, signal, or change another process: it keeps memory, the descriptors it
 *    has, and those it is sent;
 *  - have any capability, or get one back;
 *  - take @bytes of address space more than it has now (not in sanitized builds, which need it);
 *  - write to a file, or leave a core dump.
 *
 * Return: 0; -errno: the first item does not hold, because the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER);
 * the others hold.
 */
int confine(uint64_t bytes);

#endif
