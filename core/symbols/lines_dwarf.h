/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug information of one file, by libdw. It may crash, or never return, of what is in the file: only to be called
 * in a process that may.
 *
 * The units' ranges are read when it is opened: .debug_aranges, which would be quicker, need not have all of them. The
 * functions of a unit are read at the first question for it, and what is inlined into a function with each question.
 */
#ifndef CORE_LINES_DWARF_H
#define CORE_LINES_DWARF_H

#include "core/symbols/lines.h"

struct lines_dwarf;

/**
 * lines_dwarf_open() - @fd is the caller's, and needed until lines_dwarf_free().
 * Return: 0 and the owned *@out; -ENOEXEC: there is nothing that can be read; -ENOTSUP: the compression method is
 * unknown; -ENOMEM.
 */
int lines_dwarf_open(int fd, struct lines_dwarf **out);
void lines_dwarf_free(struct lines_dwarf *d);

/**
 * lines_dwarf_find() - as lines_find().
 * @wanted: of enum lines_wanted
 * Return: the number of frames, which is 0 for an address that no unit knows; -ENOMEM.
 */
int lines_dwarf_find(struct lines_dwarf *d, unsigned int wanted, uint64_t addr, struct lines_frame out[LINES_FRAMES]);

#endif
