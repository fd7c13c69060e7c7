/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an address in debug information: see lines.h. */
#ifndef CORE_SYMBOLS_LINES_FRAME_H
#define CORE_SYMBOLS_LINES_FRAME_H

enum lines_wanted { LINES_INLINED = 1, LINES_SOURCE = 2 };

#define LINES_DEPTH  64 /* functions inlined into each other at one address; the inner ones beyond are not told */
#define LINES_FRAMES (LINES_DEPTH + 1)

/**
 * struct lines_frame - a function at an address.
 * @name: as linkers know it, else as it is in the source; NULL: the function that is not inlined, always the last
 * @file: base name of the source file; NULL: not known
 * @line: in it, of the address, and of the call where another one is inlined into this; 0: not known
 */
struct lines_frame {
	const char *name, *file;
	unsigned int line;
};

#endif
