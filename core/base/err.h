/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: a function returns -errno and describes the failure in the caller's struct err. Only commands print. */
#ifndef CORE_BASE_ERR_H
#define CORE_BASE_ERR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define CAUSE_LEN 200

/** struct cause - one line each, without tab or newline; "": unknown. */
struct cause {
	char text[CAUSE_LEN];   /* the cause, worded to stand in parentheses */
	char remedy[CAUSE_LEN]; /* what to change, half a line */
};

/**
 * struct err - why the last call failed.
 * @code:  -errno, 0 if nothing was set
 * @msg:   one line without newline, to follow "profile: error: ": what failed, the object in single quotes or with its
 *         number, then the cause
 * @cause: the cause alone, with its remedy, if a setting, limit or permission of this host is known to be the cause
 */
struct err {
	int code;
	char msg[1024];
	struct cause cause;
};

/**
 * err_set() - describe a failure.
 * @err:  may be NULL, then only the code is passed on
 * @code: -errno, returned unchanged, so that callers can write `return err_set(...)`
 * @fmt:  printf format of the whole line; a longer text is truncated
 *
 * errno is preserved, and the cause is set to unknown.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** err_sys() - as err_set(), and append ": " and the text of -@code. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** err_remedy() - set what to change, for a failure that no function of core/host/causes.h explains. */
void err_remedy(struct err *err, const char *remedy);

/** descriptors_ran_out() - true if @rc means that this process or the host has no descriptor left. */
static inline bool descriptors_ran_out(int rc)
{
	return rc == -EMFILE || rc == -ENFILE;
}

#endif
