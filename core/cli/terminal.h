/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CLI_TERMINAL_H
#define CORE_CLI_TERMINAL_H

#include <sys/ioctl.h>

/** terminal_columns() - width of the terminal @fd; 0: it is not a terminal, or has no known width (ioctl_tty(2)). */
static inline unsigned int terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

#endif
