/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: a function returns -errno and says what failed in the caller's struct err; only commands print. */
#ifndef CORE_BASE_ERR_H
#define CORE_BASE_ERR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define CAUSE_LEN 200

/** struct cause - one line each, without tab or newline; "": nothing is known. */
struct cause {
	char text[CAUSE_LEN];   /* what is in the way, fit to stand in parentheses */
	char remedy[CAUSE_LEN]; /* what to change, half a line */
};

/**
 * struct err - why the last failing call failed.
 * @code:  -errno, 0 when nothing was set
 * @msg:   one line without newline, fit to follow "profile: error: ": what failed, the object in single quotes or
 *         with its number, then the cause
 * @cause: that alone, with its remedy, where a setting, limit or right of this host is known to be in the way
 */
struct err {
	int code;
	char msg[1024];
	struct cause cause;
};

/**
 * err_set() - describe a failure.
 * @err:  may be NULL, then only the code is passed on
 * @code: -errno, returned as it is, so that callers can write `return err_set(...)`
 * @fmt:  printf format of the whole line; a longer text is cut
 *
 * errno is preserved, and no cause is known.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** err_sys() - as err_set(), with ": " and the text of -@code behind the line. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** err_remedy() - what to change where no cause_of_...() finds it. */
void err_remedy(struct err *err, const char *remedy);

/** descriptors_ran_out() - does @rc say that this process or the host had no descriptor left for a file? */
static inline bool descriptors_ran_out(int rc)
{
	return rc == -EMFILE || rc == -ENFILE;
}

#endif
