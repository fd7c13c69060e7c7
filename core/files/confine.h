/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of ours that reads hostile data with code we did not write gives up what that does not need: whoever takes
 * it over with a file can lie to the process that asks it, and nothing else.
 */
#ifndef CORE_FILES_CONFINE_H
#define CORE_FILES_CONFINE_H

#include <stdint.h>

/**
 * confine() - from now on this process, which has one thread, cannot
 *  - open anything, make a process, connect, signal, or change another process: what is left are memory, the
 *    descriptors it has, and those it is sent;
 *  - have any capability, or get one back;
 *  - take @bytes of address space more than it has now (not in sanitized builds, which need it);
 *  - write to a file, or be dumped.
 *
 * Return: 0; -errno: the first is not so, on a kernel without seccomp filters (CONFIG_SECCOMP_FILTER) or a machine we
 * do not know; all the rest is.
 */
int confine(uint64_t bytes);

#endif
