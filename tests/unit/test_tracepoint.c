// SPDX-License-Identifier: Apache-2.0
#include "compat/tracepoint.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef SYS_fsopen
#define SYS_fsopen 430
#endif

#define FIELD(decl, at, size, sign) "\tfield:" decl ";\toffset:" #at ";\tsize:" #size ";\tsigned:" #sign ";\n"
#define COMMON                                                                                                         \
	FIELD("unsigned short common_type", 0, 2, 0)                                                                   \
	FIELD("unsigned char common_flags", 2, 1, 0)                                                                   \
	FIELD("unsigned char common_preempt_count", 3, 1, 0) FIELD("int common_pid", 4, 4, 1)
#define PREV_COMM  FIELD("char prev_comm[16]", 8, 16, 0)
#define PREV_PID   FIELD("pid_t prev_pid", 24, 4, 1)
#define PREV_PRIO  FIELD("int prev_prio", 28, 4, 1)
#define PREV_STATE FIELD("long prev_state", 32, 8, 1)
#define NEXT_COMM  FIELD("char next_comm[16]", 40, 16, 0)
#define NEXT_PID   FIELD("pid_t next_pid", 56, 4, 1)
#define NEXT_PRIO  FIELD("int next_prio", 60, 4, 1)
#define PREV       PREV_COMM PREV_PID PREV_PRIO PREV_STATE
#define NEXT       NEXT_COMM NEXT_PID NEXT_PRIO
#define FIELDS     COMMON "\n" PREV NEXT "\n"
#define HEAD       "name: sched_switch\nID: 372\nformat:\n"

#define PRINT(flags, plus)                                                                                             \
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "             \
	"next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, " flags ", REC->prev_state & " plus            \
	" ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio\n"

#define OLD(mask, more)                                                                                                \
	"REC->prev_state & (" mask "-1) ? __print_flags(REC->prev_state & (" mask                                      \
	"-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, "           \
	"{ 64, \"x\" }, " more ") : \"R\""

#define MAX_16 "(((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040) + 1) << 1)"
#define MAX_32                                                                                                         \
	"(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040)"    \
	" + 1) << 1)"
#define NEW(max, flags)                                                                                                \
	"(REC->prev_state & (" max " - 1)) ? __print_flags(REC->prev_state & (" max " - 1), \"|\", " flags ") : \"R\""
#define FLAGS_8                                                                                                        \
	"{ 0x01, \"S\" }, { 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, "       \
	"{ 0x40, \"P\" }, { 0x80, \"I\" }"
#define FLAGS_16                                                                                                       \
	"{ 0x0001, \"S\" }, { 0x0002, \"D\" }, { 0x0004, \"T\" }, { 0x0008, \"t\" }, { 0x0010, \"X\" }, "              \
	"{ 0x0020, \"Z\" }, { 0x0040, \"P\" }, { 0x0080, \"I\" }"
#define FLAGS_32                                                                                                       \
	"{ 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, "                 \
	"{ 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }"

#define RECENT HEAD FIELDS PRINT(NEW(MAX_32, FLAGS_32), MAX_32)

static const struct {
	const char *text;
	uint32_t comm, pid, state, next; /* their offsets */
	bool usual;
	uint64_t dead, preempted;
} good[] = {
	/* 3.10 */
	{ HEAD FIELDS PRINT(OLD("1024", "{ 128, \"W\" }"), "1024"), 8, 24, 32, 56, true, 0x70, 1024 },
	/* 4.4 */
	{ HEAD FIELDS PRINT(OLD("2048", "{ 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }"), "2048"), 8,
	  24, 32, 56, true, 0x70, 2048 },
	/* 4.9 */
	{ HEAD FIELDS PRINT(OLD("4096", "{ 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }"), "4096"), 8,
	  24, 32, 56, true, 0x70, 4096 },
	/* 4.14 */
	{ HEAD FIELDS PRINT(NEW(MAX_16, FLAGS_8), "0x1000"), 8, 24, 32, 56, true, 0x30, 4096 },
	/* 4.15 */
	{ HEAD FIELDS PRINT(NEW(MAX_16, FLAGS_8), MAX_16), 8, 24, 32, 56, true, 0x30, 256 },
	/* 5.10 */
	{ HEAD FIELDS PRINT(NEW(MAX_16, FLAGS_16), MAX_16), 8, 24, 32, 56, true, 0x30, 256 },
	/* 6.18 */
	{ RECENT, 8, 24, 32, 56, true, 0x30, 256 },
	/* 5.14 of RHEL 9, and kernels with PREEMPT_RT: there are more common fields. */
	{ HEAD COMMON FIELD("unsigned char common_preempt_lazy_count", 8, 1,
			    0) "\n" FIELD("char prev_comm[16]", 12, 16, 0) FIELD("pid_t prev_pid", 28, 4, 1)
		  FIELD("int prev_prio", 32, 4, 1) FIELD("long prev_state", 40, 8, 1)
			  FIELD("char next_comm[16]", 48, 16, 0) FIELD("pid_t next_pid", 64, 4, 1)
				  FIELD("int next_prio", 68, 4, 1) "\n" PRINT(NEW(MAX_16, FLAGS_16), MAX_16),
	  12, 28, 40, 64, false, 0x30, 256 },
	/* A field up to the last possible byte; longer names that begin or end like a field's; an unsigned pid. */
	{ COMMON FIELD("char xprev_comm[16]", 8, 16, 0) PREV_COMM PREV_PID FIELD("int prev_state_x", 28, 4, 1)
		  PREV_STATE FIELD("char next_comm[16]", 40, 16, 0) FIELD("u32 next_pid", 4092, 4, 0),
	  8, 24, 32, 4092, false, 0, 0 },
	/* No print format, or another one. */
	{ FIELDS, 8, 24, 32, 56, true, 0, 0 },
	{ FIELDS "print fmt: \"\"", 8, 24, 32, 56, true, 0, 0 },
	{ FIELDS "print fmt: \"%x\", REC->prev_state & 1024 ? \"-\" : \"+\"\n", 8, 24, 32, 56, true, 0, 0 },
	/* Lines of the print format are not fields. */
	{ FIELDS "print fmt:\n\tfield:long prev_state;\toffset:0;\n", 8, 24, 32, 56, true, 0, 0 },
	/* A meaningless number does not hide the next one. */
	{ FIELDS PRINT(NEW("256", "{ 3, \"Z\" }, { 0, \"X\" }, { , \"X\" }, {{ 16, \"X\" }, { 32, \"Zombie\" }"), "0"),
	  8, 24, 32, 56, true, 16, 0 },
	{ FIELDS "print fmt: { 16, \"X\" }, { 32, \"", 8, 24, 32, 56, true, 16, 0 },
	{ FIELDS "print fmt: { 16, \"X\" }, { 32, \"Z", 8, 24, 32, 56, true, 16, 0 },
	{ FIELDS "print fmt: { 16, \"X\" }, { ", 8, 24, 32, 56, true, 16, 0 },
};

/* Parse a copy of @text at the end of its memory, so that a sanitizer finds reads beyond it. */
static int parse(const char *text, struct sched_switch *out)
{
	char *copy = strdup(text);
	int rc;

	ck_assert_ptr_nonnull(copy);
	rc = sched_switch_parse(copy, out);
	free(copy);
	return rc;
}

START_TEST(test_good)
{
	struct sched_switch s = { .id = 77, .dead = 1, .preempted = 1 };

	ck_assert_int_eq(parse(good[_i].text, &s), 0);
	ck_assert_uint_eq(s.id, 77);
	ck_assert_uint_eq(s.prev_comm.at, good[_i].comm);
	ck_assert_uint_eq(s.prev_comm.size, 16);
	ck_assert_uint_eq(s.prev_pid.at, good[_i].pid);
	ck_assert_uint_eq(s.prev_pid.size, 4);
	ck_assert_uint_eq(s.prev_state.at, good[_i].state);
	ck_assert_uint_eq(s.prev_state.size, 8);
	ck_assert_uint_eq(s.next_pid.at, good[_i].next);
	ck_assert_uint_eq(s.next_pid.size, 4);
	ck_assert_uint_eq(s.dead, good[_i].dead);
	ck_assert_uint_eq(s.preempted, good[_i].preempted);
	ck_assert_int_eq(sched_switch_is_usual(&s), good[_i].usual);
}
END_TEST

static const char *const bad[] = {
	"",
	"\n",
	"\n\n\n",
	"print fmt: \"\"\n",
	"\nprint fmt:",
	"\tfield:",
	"\tfield:\n",
	"field:char prev_comm[16];",
	HEAD,
	/* A field is missing. */
	HEAD COMMON "\n" PREV_PID PREV_PRIO PREV_STATE NEXT,
	HEAD COMMON "\n" PREV_COMM PREV_PRIO PREV_STATE NEXT,
	HEAD COMMON "\n" PREV_COMM PREV_PID PREV_PRIO NEXT,
	HEAD COMMON "\n" PREV NEXT_COMM NEXT_PRIO,
	/* The field comes after the others. */
	COMMON PREV NEXT_COMM "\nprint fmt: \"\"\n" NEXT_PID,
	/* A similar name. */
	COMMON PREV NEXT_COMM FIELD("pid_t xnext_pid", 56, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pidx", 56, 4, 1),
	COMMON PREV NEXT_COMM FIELD("next_pid", 56, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t NEXT_PID", 56, 4, 1),
	COMMON PREV NEXT_COMM FIELD("", 56, 4, 1),
	/* A field comes twice. */
	FIELDS PREV_STATE,
	FIELDS NEXT_PID,
	/* A field of another size. */
	COMMON FIELD("char prev_comm[16]", 8, 15, 0) PREV_PID PREV_PRIO PREV_STATE NEXT,
	COMMON FIELD("char prev_comm[16]", 8, 0, 0) PREV_PID PREV_PRIO PREV_STATE NEXT,
	COMMON PREV_COMM FIELD("pid_t prev_pid", 24, 8, 1) PREV_STATE NEXT,
	COMMON PREV_COMM FIELD("pid_t prev_pid", 24, 0, 1) PREV_PRIO PREV_STATE NEXT,
	COMMON PREV_COMM PREV_PID PREV_PRIO FIELD("long prev_state", 32, 4, 1) NEXT, /* a 32-bit kernel */
	COMMON PREV_COMM PREV_PID PREV_PRIO FIELD("long prev_state", 32, 0, 1) NEXT,
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56, 2, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56, 0, 1),
	/* Fields that overlap each other, or the common ones. */
	COMMON PREV_COMM FIELD("pid_t prev_pid", 20, 4, 1) PREV_STATE NEXT,
	COMMON PREV_COMM FIELD("pid_t prev_pid", 23, 4, 1) PREV_STATE NEXT,
	COMMON PREV_COMM PREV_PID FIELD("long prev_state", 27, 8, 1) NEXT,
	COMMON PREV_COMM PREV_PID FIELD("long prev_state", 17, 8, 1) NEXT,
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 24, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 39, 4, 1),
	COMMON FIELD("char prev_comm[16]", 7, 16, 0) PREV_PID PREV_PRIO PREV_STATE NEXT,
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 4, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 0, 4, 1),
	/* Beyond a record. */
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 4093, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 4096, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 4097, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 65592, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 4294967292, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 4294967352, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 18446744073709551672, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56, 4294967300, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56, 18446744073709551620, 1),
	/* Impossible numbers. */
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", -56, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", +56, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 0x38, 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", , 4, 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56, , 1),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56, 4, 2),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56, 4, ),
	COMMON PREV NEXT_COMM FIELD("pid_t next_pid", 56 57, 4, 1),
	/* Another syntax. */
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\n",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;\tsize:4;\toffset:56;\tsigned:1;\n",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;offset:56;size:4;signed:1;\n",
	COMMON PREV NEXT_COMM "        field:pid_t next_pid;   offset:56;      size:4; signed:1;\n",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid\n;\toffset:56;\tsize:4;\tsigned:1;\n",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\tmore:1;\n",
	/* It ends too early. */
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;\toffset:56;\tsize:",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid;",
	COMMON PREV NEXT_COMM "\tfield:pid_t next_pid",
	COMMON PREV NEXT_COMM "\tfield:",
	COMMON PREV NEXT_COMM "\tfie",
	/* An error anywhere makes the whole text invalid. */
	FIELDS "\tfield:int more;\toffset:64;\tsize:x;\tsigned:1;\n",
	"\tfield:\n" FIELDS,
};

static void assert_refused(const char *text)
{
	const struct sched_switch before = { .id = 77, .dead = 5, .preempted = 6, .next_pid = { 7, 8 } };
	struct sched_switch s = before;

	ck_assert_int_eq(parse(text, &s), -EBADMSG);
	ck_assert_mem_eq(&s, &before, sizeof(s));
}

START_TEST(test_bad)
{
	assert_refused(bad[_i]);
}
END_TEST

/* A text that is truncated anywhere is refused, or has all fields. */
START_TEST(test_cut)
{
	size_t fields = strstr(RECENT, "\tfield:int next_prio") - RECENT, print = strstr(RECENT, "print fmt") - RECENT;
	size_t len, whole = strstr(RECENT, " ? \"+\"") + strlen(" ? \"+\"") - RECENT;
	struct sched_switch s;
	char *text;

	for (len = 0; len < strlen(RECENT); len++) {
		text = strndup(RECENT, len);
		if (len < fields)
			assert_refused(text);
		else if (len > print) {
			ck_assert_int_eq(parse(text, &s), 0);
			ck_assert_uint_eq(s.next_pid.at, 56);
			ck_assert_uint_eq(s.preempted, len < whole ? 0 : 256);
		}
		free(text);
	}
}
END_TEST

/* Any bytes, repeated up to 64 KiB. A parser that starts over at each of them would take hours. */
static const char *const junk[] = {
	"x",
	"\n",
	"\t",
	" ",
	"{",
	"{ ",
	"{ 1",
	"{1<<",
	"(",
	"\tfield:",
	"\n\tfield:",
	"\tfield:a b;\toffset:1;",
	"REC->prev_state",
	"REC->prev_state&",
	"REC->prev_state & (",
	"\nprint fmt:",
	"\nprint fmt:{(((",
	"{ 1, \"X\" ",
	"\xff",
	"1",
	"0x",
	"[",
	"]",
	";",
};

START_TEST(test_junk)
{
	size_t len = 0, size = strlen(junk[_i]);
	char *text = malloc(65536 + 1);
	struct sched_switch s;

	ck_assert_ptr_nonnull(text);
	for (; len + size <= 65536; len += size)
		memcpy(text + len, junk[_i], size);
	text[len] = 0;
	assert_refused(text);
	/* Also after valid fields. */
	memcpy(text, FIELDS "print fmt:", strlen(FIELDS "print fmt:"));
	ck_assert_int_eq(parse(text, &s), 0);
	ck_assert_uint_eq(s.preempted, 0);
	free(text);
}
END_TEST

static const struct {
	const char *text;
	uint64_t bit; /* 0: refused */
} expressions[] = {
	{ "1", 1 },
	{ "0x1", 1 },
	{ "1024", 1024 },
	{ "01024", 1024 },
	{ "0x00000400", 1024 },
	{ "( 1024 )", 1024 },
	{ "((((1024))))", 1024 },
	{ "1<<3", 8 },
	{ "1 << 3", 8 },
	{ "1 << 1 << 2", 8 },
	{ "1 << 1 + 2", 8 },
	{ "1|1", 1 },
	{ "7 + 1", 8 },
	{ "9 - 1", 8 },
	{ "10-1-1", 8 },
	{ "2 - 1 + 3", 4 },
	{ "8 | 4 + 4", 8 },
	{ "1 << 2 | 4", 4 },
	{ "1 << 63", 1ULL << 63 },
	{ "0x8000000000000000", 1ULL << 63 },
	{ "9223372036854775808", 1ULL << 63 },
	{ "0xffff - 0xfffe << 4", 16 },
	{ MAX_16, 256 },
	{ MAX_32, 256 },
	{ "0", 0 },
	{ "", 0 },
	{ "(", 0 },
	{ ")", 0 },
	{ "()", 0 },
	{ "(1", 0 },
	{ "1)", 0 },
	{ "x", 0 },
	{ "0x", 0 },
	{ "0xg", 0 },
	{ "3", 0 },
	{ "1 | 2", 0 },
	{ "256 - 1", 0 },
	{ "1 - 2", 0 },
	{ "0 - 1", 0 },
	{ "-1", 0 },
	{ "~1", 0 },
	{ "!1", 0 },
	{ "2 * 2", 0 },
	{ "4 & 4", 0 },
	{ "4 >> 1", 0 },
	{ "1 << 64", 0 },
	{ "2 << 63", 0 },
	{ "1 << 4294967296", 0 },
	{ "1 << 18446744073709551616", 0 },
	{ "18446744073709551615 + 1", 0 },
	{ "18446744073709551616", 0 },
	{ "18446744073709551617", 0 },
	{ "0x10000000000000001", 0 },
	{ "1 1", 0 },
	{ "1 |", 0 },
	{ "1 +", 0 },
	{ "1 <<", 0 },
	{ "1 < < 2", 0 },
	{ "| 1", 0 },
	{ "1 || 1", 0 },
	{ "((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))", 0 },
	{ "TASK_STATE_MAX", 0 },
};

START_TEST(test_expression)
{
	struct sched_switch s;
	char text[4096];

	snprintf(text, sizeof(text),
		 "%sprint fmt: REC->prev_state & (8-1) ? 1 : 0, REC->prev_state & %s ? \"+\" : \"\"\n", FIELDS,
		 expressions[_i].text);
	ck_assert_int_eq(parse(text, &s), 0);
	ck_assert_uint_eq(s.preempted, expressions[_i].bit);
	ck_assert_uint_eq(s.dead, 0);
	snprintf(text, sizeof(text), "%sprint fmt: { %s, \"X\" }\n", FIELDS, expressions[_i].text);
	ck_assert_int_eq(parse(text, &s), 0);
	ck_assert_uint_eq(s.dead, expressions[_i].bit);
	ck_assert_uint_eq(s.preempted, 0);
}
END_TEST

/* ---- finding tracefs ---- */

static char *top;
static struct host fake;

static void setup(void)
{
	top = unit_tmpdir();
	fake = unit_host(top);
}

static void teardown(void)
{
	unit_rmdir(top);
}

static void put(const char *dir, const char *file, const char *text)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/events/sched/sched_switch/%s", dir, file);
	unit_write(top, name, text, strlen(text));
}

static void put_both(const char *dir, const char *id)
{
	put(dir, "id", id);
	put(dir, "format", RECENT);
}

/* %s: the directory of this test. */
static void put_mounts(const char *format)
{
	char text[4096];

	snprintf(text, sizeof(text), format, top, top, top);
	unit_write(top, "proc/self/mounts", text, strlen(text));
}

static void assert_found(uint64_t id)
{
	struct err err = { 0 };
	struct sched_switch s;

	ck_assert_msg(!sched_switch_find(&fake, &s, &err), "%s", err.msg);
	ck_assert_uint_eq(s.id, id);
	ck_assert_uint_eq(s.next_pid.at, 56);
	ck_assert_uint_eq(s.preempted, 256);
}

static void assert_not_found(int rc, const char *message)
{
	struct sched_switch s = { .id = 5 };
	struct err err = { 0 };

	ck_assert_int_eq(sched_switch_find(&fake, &s, &err), rc);
	ck_assert_int_eq(err.code, rc);
	ck_assert_msg(strstr(err.msg, message), "%s", err.msg);
	ck_assert_uint_eq(s.id, 5);
}

START_TEST(test_places)
{
	assert_not_found(-ENOENT, "no tracepoint sched:sched_switch");
	put_mounts("tracefs %s/a\\040b\\011\\134 tracefs rw,relatime 0 0\n");
	assert_not_found(-ENOENT, "no tracepoint sched:sched_switch");
	put_mounts("none %s/ext4 ext4 rw 0 0\nx\n\n \nx /y\ntracefs nowhere tracefs rw 0 0\n"
		   "debugfs %s/d debugfs rw 0 0\n");
	put_both("ext4", "1\n");
	put_both("d", "2\n");
	assert_not_found(-ENOENT, "no tracepoint sched:sched_switch");
	put_both("d/tracing", "3\n");
	assert_found(3);
	put_both("sys/kernel/debug/tracing", "4\n");
	assert_found(4);
	put_mounts("none %s/ext4 ext4 rw 0 0\ntracefs %s/a\\040b\\011\\134 tracefs rw,relatime 0 0\n");
	put_both("a b\t\\", "5\n");
	assert_found(5);
	put_both("sys/kernel/tracing", "6\n");
	assert_found(6);
}
END_TEST

/* The files in sys/kernel/tracing, and the result. */
static const struct {
	const char *id, *format; /* NULL: no such file */
	int rc;
	const char *message;
} contents[] = {
	{ "372\n", RECENT, 0, NULL },
	{ "1\n", RECENT, 0, NULL },
	{ "", RECENT, -EBADMSG, "format that is not known" },
	{ "\n", RECENT, -EBADMSG, "format that is not known" },
	{ "0\n", RECENT, -EBADMSG, "format that is not known" },
	{ "372", RECENT, -EBADMSG, "format that is not known" },
	{ "-1\n", RECENT, -EBADMSG, "format that is not known" },
	{ "x\n", RECENT, -EBADMSG, "format that is not known" },
	{ "372 \n", RECENT, -EBADMSG, "format that is not known" },
	{ "372\n\n", RECENT, -EBADMSG, "format that is not known" },
	{ "4294967296\n", RECENT, -EBADMSG, "format that is not known" },
	{ "18446744073709551988\n", RECENT, -EBADMSG, "format that is not known" },
	{ "0000000000000000000000000000000000000000372\n", RECENT, -EBADMSG, "cannot read the tracepoint" },
	{ "372\n", "", -EBADMSG, "format that is not known" },
	{ "372\n", HEAD COMMON, -EBADMSG, "format that is not known" },
	{ NULL, RECENT, -ENOENT, "no tracepoint sched:sched_switch" },
	{ "372\n", NULL, -ENOENT, "no tracepoint sched:sched_switch" },
};

START_TEST(test_contents)
{
	int fds = unit_open_fds();

	if (contents[_i].id)
		put("sys/kernel/tracing", "id", contents[_i].id);
	if (contents[_i].format)
		put("sys/kernel/tracing", "format", contents[_i].format);
	if (contents[_i].rc)
		assert_not_found(contents[_i].rc, contents[_i].message);
	else
		assert_found(strtoul(contents[_i].id, NULL, 10));
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* The longest text that is read, and one that is a byte longer. */
START_TEST(test_large)
{
	char *text = malloc(70000);

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', 70000);
	memcpy(text, RECENT, strlen(RECENT));
	text[65534] = 0;
	put("sys/kernel/tracing", "id", "9\n");
	put("sys/kernel/tracing", "format", text);
	assert_found(9);
	text[65534] = ' ';
	text[65535] = 0;
	put("sys/kernel/tracing", "format", text);
	assert_not_found(-EBADMSG, "cannot read the tracepoint");
	free(text);
}
END_TEST

/* Directories instead of files, and the reverse. */
START_TEST(test_no_files)
{
	unit_write(top, "sys/kernel/tracing", "", 0);
	assert_not_found(-ENOENT, "no tracepoint sched:sched_switch");
	unit_write(top, "sys/kernel/debug/tracing/events/sched/sched_switch/id/x", "", 0);
	assert_not_found(-EISDIR, "sys/kernel/debug/tracing': Is a directory");
}
END_TEST

/* If one place cannot be read, the next one is used; if there is no other, the error names the first. */
START_TEST(test_refused)
{
	char path[1024];

	if (geteuid())
		return;
	put_both("sys/kernel/tracing", "8\n");
	snprintf(path, sizeof(path), "%s/kernel/tracing", fake.sys);
	ck_assert_int_eq(chmod(path, 0), 0);
	ck_assert_int_eq(chmod(top, 0755), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	assert_not_found(-EACCES, "sys/kernel/tracing': Permission denied");
	ck_assert_int_eq(seteuid(0), 0);
	put_both("sys/kernel/debug/tracing", "7\n");
	ck_assert_int_eq(seteuid(65534), 0);
	assert_found(7);
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* ---- this host ---- */

enum { NOTHING, NO_FSOPEN, NO_MOUNTS, NO_NAMESPACE, REFUSALS };

/* Refuse system calls, like older kernels or containers. */
static void refuse(int what)
{
	const uint32_t fsopen_says = SECCOMP_RET_ERRNO | (what == NO_FSOPEN ? ENOSYS : EPERM);
	const uint32_t mount_says = what == NO_MOUNTS ? SECCOMP_RET_ERRNO | ENODEV : SECCOMP_RET_ALLOW;
	const uint32_t unshare_says = what == NO_NAMESPACE ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsopen, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, fsopen_says),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, mount_says),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, unshare_says),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	if (what == NOTHING)
		return;
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static char *mounts_now(void)
{
	char *text = calloc(1, 1 << 20);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_gt(host_read("/proc", "self/mountinfo", text, 1 << 20), 0);
	return text;
}

static volatile sig_atomic_t children_ended;

static void child_ended(int sig)
{
	(void)sig;
	children_ended++;
}

#define NOT_HERE (-255)

/* Run in a mount namespace without tracefs and debugfs, with a child that has not been waited for. */
static int find_without(int what)
{
	struct err err = { 0 };
	struct sched_switch s;
	char *before, *after;
	pid_t child;
	int rc, fds;

	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL)) {
		/* In a root from chroot(2) alone, nothing is mounted. */
		ck_assert_int_eq(errno, EINVAL);
		return NOT_HERE;
	}
	while (!umount2("/sys/kernel/tracing", MNT_DETACH))
		;
	while (!umount2("/sys/kernel/debug", MNT_DETACH))
		;
	refuse(what);
	child = fork();
	if (!child)
		_exit(3);
	signal(SIGCHLD, child_ended);
	fds = unit_open_fds();
	before = mounts_now();
	rc = sched_switch_find(&host_here, &s, &err);
	after = mounts_now();
	ck_assert_str_eq(before, after);
	ck_assert_int_eq(unit_open_fds(), fds);
	/* Our own child may end at any time, and has not been waited for yet. */
	ck_assert_int_le(children_ended, 1);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), child);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
	free(before);
	free(after);
	if (rc) {
		ck_assert_int_eq(err.code, rc);
		printf("# without %d: %s\n", what, err.msg);
	} else {
		ck_assert_uint_gt(s.id, 0);
		ck_assert_uint_ne(s.preempted, 0);
		ck_assert_uint_ne(s.dead, 0);
	}
	return rc;
}

/* A kernel without these file systems has no tracepoints. If we may not mount them, we cannot know. */
static const int answers[REFUSALS] = { [NO_MOUNTS] = -ENOENT, [NO_NAMESPACE] = -EPERM };

START_TEST(test_here)
{
	int status, rc;
	pid_t pid;

	if (geteuid() || unit_below_valgrind())
		return;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(-find_without(_i));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	rc = -WEXITSTATUS(status);
	if (rc == NOT_HERE)
		printf("# kernels without tracefs are not tested: mounts cannot be changed here\n");
	else
		ck_assert_int_eq(rc, answers[_i]);
}
END_TEST

static const struct {
	uint64_t states[8];
	size_t nr;
	int rc;
} sleeps[] = {
	{ { 1, 1, 1, 1 }, 4, 0 },
	{ { 1, 1, 1 }, 3, 0 },
	{ { 0, 1, 256, 1, 1, 1 }, 6, 0 },
	{ { 1, 1, 2, 1, 1 }, 5, 0 }, /* it waited for a disk once */
	{ { 2, 2, 2, 2 }, 4, 1 },
	{ { 1, 2, 256, 2, 2, 2 }, 6, 1 },
	{ { 2, 1, 2, 1, 2, 1, 2 }, 7, 1 }, /* it was preempted each time */
	{ { 0 }, 0, -EAGAIN },
	{ { 1, 1 }, 2, -EAGAIN },
	{ { 2, 2 }, 2, -EAGAIN },
	{ { 1, 2, 1, 2 }, 4, -EAGAIN },
	{ { 0, 0, 0, 0, 256 }, 5, -EAGAIN },
	{ { 3, 3, 3, 3 }, 4, -EAGAIN },
	{ { 4, 4, 4, 4 }, 4, -EAGAIN },
	{ { 0x100000001, 0x100000001, 0x100000001 }, 3, -EAGAIN },
};

START_TEST(test_sleeps)
{
	ck_assert_int_eq(sched_switch_shift_of(sleeps[_i].states, sleeps[_i].nr), sleeps[_i].rc);
}
END_TEST

/* Records of a ring; the bytes after the last one are not part of the ring. */
static const struct {
	const char *what;
	struct {
		uint32_t type;
		uint16_t size; /* 0: its real size */
		uint32_t raw;  /* the size of its raw data in the record; 0: the real one */
	} records[4];
	size_t nr;
	int less; /* the kernel has not written these last bytes */
	size_t states;
} rings[] = {
	{ "one", { { PERF_RECORD_SAMPLE, 0, 0 } }, 1, 0, 1 },
	{ "three",
	  { { PERF_RECORD_SAMPLE, 0, 0 }, { PERF_RECORD_SAMPLE, 0, 0 }, { PERF_RECORD_SAMPLE, 0, 0 } },
	  3,
	  0,
	  3 },
	{ "more than there is room for",
	  { { PERF_RECORD_SAMPLE, 0, 0 },
	    { PERF_RECORD_SAMPLE, 0, 0 },
	    { PERF_RECORD_SAMPLE, 0, 0 },
	    { PERF_RECORD_SAMPLE, 0, 0 } },
	  4,
	  0,
	  3 },
	{ "behind another", { { PERF_RECORD_LOST, 0, 0 }, { PERF_RECORD_SAMPLE, 0, 0 } }, 2, 0, 1 },
	{ "just enough raw data", { { PERF_RECORD_SAMPLE, 0, 16 } }, 1, 0, 1 },
	{ "none", { { 0 } }, 0, 0, 0 },
	{ "not written", { { PERF_RECORD_SAMPLE, 0, 0 } }, 1, 36, 0 },
	{ "half a header", { { PERF_RECORD_SAMPLE, 0, 0 } }, 1, 30, 0 },
	{ "in part", { { PERF_RECORD_SAMPLE, 0, 0 }, { PERF_RECORD_SAMPLE, 0, 0 } }, 2, 1, 1 },
	{ "less than a header", { { PERF_RECORD_SAMPLE, 7, 0 } }, 1, 0, 0 },
	{ "of no size", { { PERF_RECORD_SAMPLE, UINT16_MAX, 0 } }, 1, 0, 0 },
	{ "a header alone", { { PERF_RECORD_SAMPLE, 8, 0 } }, 1, 0, 0 },
	{ "without raw data", { { PERF_RECORD_SAMPLE, 12, 0 } }, 1, 0, 0 },
	{ "raw data that end before it", { { PERF_RECORD_SAMPLE, 0, 15 } }, 1, 0, 0 },
	{ "raw data that end behind the record", { { PERF_RECORD_SAMPLE, 0, 25 } }, 1, 0, 0 },
	{ "in a record that ends before", { { PERF_RECORD_SAMPLE, 16, 0 } }, 1, 0, 0 },
	{ "of all the size there is", { { PERF_RECORD_SAMPLE, 0, UINT32_MAX } }, 1, 0, 0 },
};

START_TEST(test_ring)
{
	const struct sched_switch s = { .prev_state = { 8, 8 } };
	struct {
		struct perf_event_header h;
		uint32_t raw_size;
		unsigned char raw[24];
	} __attribute__((packed)) r;
	size_t size = rings[_i].nr * sizeof(r), i;
	char *data = malloc(size ? size : 1); /* not a byte more, for sanitizers */
	uint64_t states[3] = { 0 };

	for (i = 0; i < rings[_i].nr; i++) {
		memset(&r, 0, sizeof(r));
		r.h.type = rings[_i].records[i].type;
		r.h.size = rings[_i].records[i].size ? rings[_i].records[i].size : sizeof(r);
		r.raw_size = rings[_i].records[i].raw ? rings[_i].records[i].raw : sizeof(r.raw);
		r.raw[8] = (unsigned char)(i + 1);
		memcpy(data + i * sizeof(r), &r, sizeof(r));
	}
	ck_assert_msg(sched_switch_states(&s, data, size, size - (size_t)rings[_i].less, states, 3) == rings[_i].states,
		      "%s", rings[_i].what);
	ck_assert_msg(sched_switch_states(&s, data, size - (size_t)rings[_i].less, UINT64_MAX, states, 3) ==
			      rings[_i].states,
		      "%s, and the kernel says more", rings[_i].what);
	for (i = 0; i < rings[_i].states; i++)
		ck_assert_uint_eq(states[i], i + 1 + (rings[_i].records[0].type == PERF_RECORD_LOST));
	free(data);
}
END_TEST

/* sched_switch_find() looks up the shift on kernels 4.* alone; no kernel on which this test runs shifts the state. */
START_TEST(test_shift)
{
	struct host host = { .proc = fake.proc, .sys = "/sys" };
	struct sched_switch s;
	int rc, fds = unit_open_fds();

	unit_write(top, "proc/sys/kernel/osrelease", "4.18.0-80.el8.x86_64\n", 21);
	if (geteuid() || unit_below_valgrind() || sched_switch_find(&host, &s, NULL))
		return;
	ck_assert_uint_eq(s.state_shift, 0);
	rc = sched_switch_shift(&s);
	ck_assert(rc == 0 || rc == -EPERM || rc == -EACCES);
	s.prev_state.at = 4088; /* records are shorter */
	ck_assert_int_lt(sched_switch_shift(&s), 0);
	s.id = UINT32_MAX;
	ck_assert_int_lt(sched_switch_shift(&s), 0);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tracepoint");
	TCase *tc = tcase_create("text");

	tcase_add_loop_test(tc, test_good, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, test_cut);
	tcase_add_loop_test(tc, test_junk, 0, ARRAY_SIZE(junk));
	tcase_add_loop_test(tc, test_expression, 0, ARRAY_SIZE(expressions));
	tcase_add_loop_test(tc, test_sleeps, 0, ARRAY_SIZE(sleeps));
	tcase_add_loop_test(tc, test_ring, 0, ARRAY_SIZE(rings));
	suite_add_tcase(s, tc);

	tc = tcase_create("files");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_places);
	tcase_add_loop_test(tc, test_contents, 0, ARRAY_SIZE(contents));
	tcase_add_test(tc, test_large);
	tcase_add_test(tc, test_no_files);
	tcase_add_test(tc, test_refused);
	tcase_add_test(tc, test_shift);
	suite_add_tcase(s, tc);

	tc = tcase_create("here");
	tcase_add_loop_test(tc, test_here, 0, REFUSALS);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
