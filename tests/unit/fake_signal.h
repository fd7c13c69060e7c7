/* SPDX-License-Identifier: Apache-2.0 */
/* Let a signal come, and the clock of fake_time.h pass until a report is overdue (signals_overdue()). */
#ifndef TESTS_UNIT_FAKE_SIGNAL_H
#define TESTS_UNIT_FAKE_SIGNAL_H

#include "core/host/signals.h"
#include "tests/unit/fake_time.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <unistd.h>

/** fake_signal_begin() - SIGTERM comes, and is blocked from now on; then time passes until a report is overdue. */
static inline void fake_signal_begin(void)
{
	struct err err;
	int fd = signals_catch(&err);

	ck_assert_int_ge(fd, 0);
	close(fd);
	fake_time_begin(NULL, NULL);
	kill(getpid(), SIGTERM);
	while (!signals_overdue())
		fake_time_pass(1);
}

/** fake_signal_end() - forget the signal, and use the real time again. */
static inline void fake_signal_end(void)
{
	struct err err;
	int fd = signals_catch(&err);

	fake_time_end();
	ck_assert(signals_take(fd));
	close(fd);
	close(signals_catch(&err));
}

#endif
