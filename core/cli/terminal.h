/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CLI_TERMINAL_H
#define CORE_CLI_TERMINAL_H

#include <sys/ioctl.h>

/** terminal_columns() - of the terminal that @fd is; 0: it is none, or does not say so (ioctl_tty(2)). */
static inline unsigned int terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

#endif
