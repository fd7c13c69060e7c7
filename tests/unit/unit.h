/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests: one program for each module, made with check, speaking TAP on stdout for tests/run.
 *
 * A test is a table of inputs and a loop test over it: each row runs in its own process, so that a crash names its row
 * (with CK_FORK=no, for sanitizers and valgrind, all rows run in one). Bad rows outnumber good ones.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/err.h"
#include "core/host/host.h"

/**
 * unit_mark() - replaces check's _mark_point(), which writes to a file at each assertion: here only the first thousand
 * of a test do. If a test crashes, the last of these is shown.
 */
void unit_mark(const char *file, int line);
#define _mark_point(file, line) unit_mark(file, line)

/** unit_main() - run @s and print TAP. Return: main's status, 0 if all passed. */
int unit_main(Suite *s);

/** unit_tmpdir() - a new directory below $TMPDIR for this test's files; the caller owns the string. */
char *unit_tmpdir(void);

/** unit_write() - make file @dir/@name (and the directories in between) with @len bytes. Fails the test if it cannot.
 */
void unit_write(const char *dir, const char *name, const void *data, size_t len);

/** unit_inode() - the inode number of @dir/@name, which may be a symlink. */
uint64_t unit_inode(const char *dir, const char *name);

/**
 * unit_failing_write() - the write function of a stream (fopencookie(3)) that fails with EIO.
 * @calls: an int, which each call increments
 */
ssize_t unit_failing_write(void *calls, const char *buf, size_t len);

/** unit_host() - a host whose file systems are @top/proc and @top/sys. One at a time. */
struct host unit_host(const char *top);

/** unit_open_fds() - number of open descriptors. */
unsigned int unit_open_fds(void);

/**
 * unit_limit_files() - set the soft limit RLIMIT_NOFILE: new descriptors are below @nr, or below the hard limit if that
 * is lower. Open descriptors stay. Return: the soft limit before.
 */
rlim_t unit_limit_files(rlim_t nr);

/** unit_leave_files() - the same, so that @room more descriptors can be opened. */
rlim_t unit_leave_files(unsigned int room);

/** unit_below_valgrind() - true if this program runs under valgrind. */
bool unit_below_valgrind(void);

/**
 * unit_times() - how often to do something that is done @often times: a tenth of that under valgrind, which is slow.
 */
int unit_times(int often);

/** unit_rmdir() - remove @dir and everything below, and free the string. */
void unit_rmdir(char *dir);

#endif
