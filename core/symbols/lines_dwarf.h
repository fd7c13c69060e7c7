/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug information of one file, by libdw. A hostile file may make libdw crash or never return: call this only in a
 * process that may crash or hang.
 *
 * The ranges of all units are read when the file is opened: .debug_aranges would be quicker, but may lack units. The
 * functions of a unit are read at the first lookup in it, and the inlined functions at each lookup.
 */
#ifndef CORE_LINES_DWARF_H
#define CORE_LINES_DWARF_H

#include "core/symbols/lines.h"

struct lines_dwarf;

/**
 * lines_dwarf_open() - open the debug information of the file @fd. The caller owns @fd, and closes it after
 * lines_dwarf_free().
 * Return: 0 and the owned *@out; -ENOEXEC: the file has nothing that can be read; -ENOTSUP: the compression method is
 * unknown; -ENOMEM.
 */
int lines_dwarf_open(int fd, struct lines_dwarf **out);
void lines_dwarf_free(struct lines_dwarf *d);

/**
 * lines_dwarf_find() - the frames at @addr, the file's own address; innermost first, as lines_find().
 * @wanted: bits of enum lines_wanted
 * Return: the number of frames, 0 if no unit has the address; -ENOMEM.
 */
int lines_dwarf_find(struct lines_dwarf *d, unsigned int wanted, uint64_t addr, struct lines_frame out[LINES_FRAMES]);

#endif
