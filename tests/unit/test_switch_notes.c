// SPDX-License-Identifier: Apache-2.0
/* Notes of the BPF program about switches, as bytes in a ring. */
#include "bpf/layout.h"
#include "core/rows/rows.h"
#include "core/sources/counter.h"
#include "tests/unit/unit.h"

#define WHOLE sizeof(struct bpf_switch_note)
#define WHO(set, verdict)                                                                                              \
	{                                                                                                              \
		{                                                                                                      \
			set, verdict, 10, 11, "name"                                                                   \
		}                                                                                                      \
	}
#define SET(set)                                                                                                       \
	{                                                                                                              \
		{                                                                                                      \
			set, 0, 0, 0, ""                                                                               \
		}                                                                                                      \
	}
#define KEY(set, kernel, user)                                                                                         \
	{                                                                                                              \
		.charge = { set, 0, { 10, kernel, user, "name", 0 } }                                                  \
	}

static const struct {
	const char *name;
	size_t size;
	struct bpf_switch_note in;
	int rc, verdict;
} notes[] = {
	{ "seen", WHOLE, { BPF_SWITCH_SEEN, 0, 0, SET(1) }, 0, 0 },
	{ "spilled", WHOLE, { BPF_SWITCH_BEGIN, 7, 99, WHO(0, BPF_SPILLED) }, 0, NOTE_SPILLED },
	{ "unknown", WHOLE, { BPF_SWITCH_BEGIN, 7, 99, WHO(1, BPF_UNKNOWN) }, 0, NOTE_UNKNOWN },
	{ "unnumbered", WHOLE, { BPF_SWITCH_BEGIN, 7, 99, WHO(0, BPF_UNNUMBERED) }, 0, NOTE_UNNUMBERED },
	{ "end", WHOLE, { BPF_SWITCH_END, UINT32_MAX, UINT64_MAX, SET(0) }, 0, 0 },
	{ "charge", WHOLE, { BPF_SWITCH_CHARGE, 0, 99, KEY(1, BPF_NO_STACK, 5) }, 0, 0 },
	{ "with the kernel's padding", WHOLE + 4, { BPF_SWITCH_END, 7, 99, SET(1) }, 0, 0 },
	{ "empty", 0, { 0 }, -EBADMSG, 0 },
	{ "short", WHOLE - 1, { BPF_SWITCH_END, 7, 99, SET(0) }, -EBADMSG, 0 },
	{ "as long as one of a sample", sizeof(struct bpf_note), { BPF_SWITCH_SEEN }, -EBADMSG, 0 },
	{ "no kind", WHOLE, { BPF_SWITCH_CHARGE + 1, 0, 0, SET(0) }, -EBADMSG, 0 },
	{ "any kind", WHOLE, { UINT32_MAX, 0, 0, SET(0) }, -EBADMSG, 0 },
	{ "seen, of no set", WHOLE, { BPF_SWITCH_SEEN, 0, 0, SET(BPF_SET_NONE) }, -EBADMSG, 0 },
	{ "begin, of no set", WHOLE, { BPF_SWITCH_BEGIN, 7, 99, WHO(2, BPF_SPILLED) }, -EBADMSG, 0 },
	{ "end, of no set", WHOLE, { BPF_SWITCH_END, 7, 99, SET(3) }, -EBADMSG, 0 },
	{ "charge, of any set", WHOLE, { BPF_SWITCH_CHARGE, 0, 9, KEY(UINT32_MAX, 1, 1) }, -EBADMSG, 0 },
	{ "begin that was counted", WHOLE, { BPF_SWITCH_BEGIN, 7, 99, WHO(0, BPF_COUNTED) }, -EBADMSG, 0 },
	{ "unwanted beginning", WHOLE, { BPF_SWITCH_BEGIN, 7, 99, WHO(0, BPF_FILTERED) }, -EBADMSG, 0 },
	{ "begin that has left", WHOLE, { BPF_SWITCH_BEGIN, 7, 99, WHO(0, BPF_LEFT) }, -EBADMSG, 0 },
	{ "begin of any verdict", WHOLE, { BPF_SWITCH_BEGIN, 7, 9, WHO(0, UINT32_MAX) }, -EBADMSG, 0 },
	{ "begin of the idle task", WHOLE, { BPF_SWITCH_BEGIN, 0, 99, WHO(0, BPF_SPILLED) }, -EBADMSG, 0 },
	{ "end of the idle task", WHOLE, { BPF_SWITCH_END, 0, 99, SET(0) }, -EBADMSG, 0 },
	{ "end with a verdict", WHOLE, { BPF_SWITCH_END, 7, 99, WHO(0, BPF_SPILLED) }, -EBADMSG, 0 },
	{ "seen, and the coming thread", WHOLE, { BPF_SWITCH_SEEN, 7, 99, SET(0) }, 0, 0 },
	{ "charge with a thread", WHOLE, { BPF_SWITCH_CHARGE, 7, 99, KEY(0, 1, 1) }, -EBADMSG, 0 },
	{ "charge, no stacks", WHOLE, { BPF_SWITCH_CHARGE, 0, 9, KEY(0, BPF_NO_STACK, BPF_NO_STACK) }, 0, 0 },
	{ "charge, of one too many", WHOLE, { BPF_SWITCH_CHARGE, 0, 9, KEY(BPF_SET_NONE, 1, 1) }, -EBADMSG, 0 },
	{ "charge, the kernel's stack failed", WHOLE, { BPF_SWITCH_CHARGE, 0, 9, KEY(0, -17, 1) }, -EBADMSG, 0 },
	{ "charge, the user's failed", WHOLE, { BPF_SWITCH_CHARGE, 0, 9, KEY(0, 1, INT32_MIN) }, -EBADMSG, 0 },
};

static const int kinds[] = { SWITCH_SEEN, SWITCH_BEGIN, SWITCH_END, SWITCH_CHARGE };

START_TEST(test_note)
{
	const struct bpf_switch_note *in = &notes[_i].in;
	unsigned char *raw = malloc(notes[_i].size + 4); /* as in a record: after four bytes */
	struct switch_note got = { .ns = 5 };
	unsigned char whole[WHOLE + 4] = { 0 };

	memcpy(whole, in, sizeof(*in));
	memcpy(raw + 4, whole, notes[_i].size);
	ck_assert_msg(counter_bpf_switches.switch_note(raw + 4, notes[_i].size, &got) == notes[_i].rc, "%s",
		      notes[_i].name);
	if (notes[_i].rc) {
		ck_assert_uint_eq(got.ns, 5);
	} else {
		ck_assert_int_eq((int)got.kind, kinds[in->kind]);
		ck_assert_uint_eq(got.set, in->who.set);
		ck_assert_uint_eq(got.id, in->id);
		ck_assert_uint_eq(got.ns, in->ns);
		ck_assert_ptr_eq(got.raw, raw + 4);
		ck_assert_uint_eq(got.raw_size, notes[_i].size);
	}
	if (in->kind == BPF_SWITCH_BEGIN && !notes[_i].rc) {
		ck_assert_int_eq((int)got.who.verdict, notes[_i].verdict);
		ck_assert_uint_eq(got.who.set, in->who.set);
		ck_assert_int_eq(got.who.pid, 10);
		ck_assert_int_eq(got.who.tid, 11);
		ck_assert_str_eq(got.who.comm, "name");
		ck_assert(!got.who.left);
	}
	free(raw);
}
END_TEST

/* A backend never gets refused notes, but checks again. */
START_TEST(test_charge)
{
	struct bpf_switch_note n = { BPF_SWITCH_CHARGE, 0, 99, KEY(0, BPF_NO_STACK, BPF_NO_STACK) };
	struct switch_note note = { .kind = SWITCH_CHARGE, .raw = &n, .raw_size = sizeof(n) - 1 };
	struct rows *to = rows_new();

	ck_assert_int_eq(counter_bpf_switches.charge(NULL, &note, to), -EBADMSG);
	n.kind = BPF_SWITCH_END;
	note.raw_size = sizeof(n);
	ck_assert_int_eq(counter_bpf_switches.charge(NULL, &note, to), -EBADMSG);
	n.kind = BPF_SWITCH_CHARGE;
	n.charge.key.user_stack = -17;
	ck_assert_int_eq(counter_bpf_switches.charge(NULL, &note, to), -EBADMSG);
	ck_assert_uint_eq(rows_nr(to), 0);
	rows_free(to);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("switch_notes");
	TCase *tc = tcase_create("switch_notes");

	tcase_add_loop_test(tc, test_note, 0, ARRAY_SIZE(notes));
	tcase_add_test(tc, test_charge);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
