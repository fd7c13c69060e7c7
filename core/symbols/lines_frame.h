/* SPDX-License-Identifier: Apache-2.0 */
/* A frame from debug information: see lines.h. */
#ifndef CORE_SYMBOLS_LINES_FRAME_H
#define CORE_SYMBOLS_LINES_FRAME_H

enum lines_wanted { LINES_INLINED = 1, LINES_SOURCE = 2 };

#define LINES_DEPTH  64 /* functions inlined into each other at one address; inner ones beyond are left out */
#define LINES_FRAMES (LINES_DEPTH + 1)

/**
 * struct lines_frame - a function at an address.
 * @name: linkage name, else as in the source, else "[inlined]"; NULL: the function that is not inlined, always the last
 * @file: base name of the source file; NULL: not known
 * @line: line in @file. For the innermost frame it is the line of the address, for each other one the line of the call
 *        to the next inner function. 0: not known
 */
struct lines_frame {
	const char *name, *file;
	unsigned int line;
};

#endif
