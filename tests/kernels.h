/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of other kernels to perf_event_open(2), bpf(2) and newer system calls: for tests/restricted/pretend.c,
 * which imitates such a kernel for a command, and for unit tests.
 *
 * Each fact has the version of Linux that brought it, from the history of include/uapi/linux/{perf_event,bpf}.h,
 * arch/x86/entry/syscalls/syscall_64.tbl, kernel/events/core.c and kernel/bpf/. A distribution's kernel is described by
 * the mainline version of each of its interfaces.
 */
#ifndef TESTS_KERNELS_H
#define TESTS_KERNELS_H

#include "core/base/err.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINUX(major, minor) ((major)*1000 + (minor))

/**
 * struct old_kernel - a kernel that can be imitated.
 * @release: of uname(2)
 * @perf,@bpf: the version whose perf_event_open(2) and bpf(2) it has; @bpf 0: none
 * @last_call: the newest system call; those with larger numbers do not exist (except bpf(2))
 * @long_program: the answer to a program of more than 4096 instructions; 0: accepted
 * @no_btf: BTF_LOAD does not exist, although the version of bpf(2) would have it
 */
struct old_kernel {
	const char *name, *release;
	int perf, bpf, last_call, long_program;
	bool no_btf;
};

/*
 * 3.10.el7 (RHEL 7, 3.10.0-1160) was measured: it has write_backward of 4.7 but neither kernel.perf_event_max_stack of
 * 4.8 nor namespaces of 4.12; get_stack of 4.18, but no BTF. It may have some system calls newer than finit_module, on
 * which a program for all these kernels cannot rely. 3.10.0 is a kernel derived from it.
 */
static const struct old_kernel old_kernels[] = {
	{ "3.10", "3.10.108", LINUX(3, 10), 0, 313, 0, false },
	{ "3.10.el7", "3.10.0-1160.el7.x86_64", LINUX(4, 7), LINUX(4, 18), 313, -E2BIG, true },
	{ "3.10.0", "3.10.0-1160.vz7.5.3", LINUX(4, 7), LINUX(4, 18), 313, -E2BIG, true },
	{ "3.16", "3.16.85", LINUX(3, 16), 0, 316, 0, false },
	{ "4.4", "4.4.178", LINUX(4, 4), LINUX(4, 4), 325, -EINVAL, false },
	{ "4.9", "4.9.115", LINUX(4, 9), LINUX(4, 9), 331, -EINVAL, false },
	{ "4.14", "4.14.67", LINUX(4, 14), LINUX(4, 14), 332, -E2BIG, false },
	{ "4.19", "4.19.108", LINUX(4, 19), LINUX(4, 19), 334, -E2BIG, false },
	{ "5.4", "5.4.286", LINUX(5, 4), LINUX(5, 4), 435, 0, false },
};

static inline const struct old_kernel *old_kernel(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(old_kernels); i++)
		if (!strcmp(old_kernels[i].name, name))
			return &old_kernels[i];
	return NULL;
}

/* ---- a number that grew: the value of the newest row that is not newer than the version */

struct grown {
	int since;
	uint64_t value;
};

static inline uint64_t grown_by(const struct grown *rows, size_t nr, int version)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < nr && rows[i].since <= version; i++)
		value = rows[i].value;
	return value;
}

#define GROWN(rows, version) grown_by(rows, ARRAY_SIZE(rows), version)

/* ---- perf_event_open(2) */

/* sizeof(struct perf_event_attr) */
static const struct grown attr_sizes[] = {
	{ LINUX(3, 7), 96 },   /* sample_regs_user, sample_stack_user; exclude_callchain_* */
	{ LINUX(3, 19), 104 }, /* sample_regs_intr */
	{ LINUX(4, 1), 112 },  /* aux_watermark, and room that 4.8 called sample_max_stack */
	{ LINUX(5, 5), 120 },  /* aux_sample_size */
	{ LINUX(5, 13), 128 }, /* sig_data */
	{ LINUX(6, 3), 136 },  /* config3 */
};

/* How many of the bits after read_format have a name. */
static const struct grown attr_bits[] = {
	{ LINUX(3, 7), 23 },  /* exclude_callchain_user */
	{ LINUX(3, 16), 25 }, /* mmap2, which 3.12 to 3.15 had disabled, and comm_exec */
	{ LINUX(4, 1), 26 },  /* use_clockid */
	{ LINUX(4, 3), 27 },  /* context_switch */
	{ LINUX(4, 7), 28 },  /* write_backward */
	{ LINUX(4, 12), 29 }, /* namespaces */
	{ LINUX(5, 1), 31 },  /* ksymbol, bpf_event */
	{ LINUX(5, 4), 32 },  /* aux_output */
	{ LINUX(5, 7), 33 },  /* cgroup */
	{ LINUX(5, 9), 34 },  /* text_poke */
	{ LINUX(5, 12), 35 }, /* build_id */
	{ LINUX(5, 13), 38 }, /* inherit_thread, remove_on_exec, sigtrap */
};

/* Bits of sample_type. */
static const struct grown sample_bits[] = {
	{ LINUX(3, 7), 14 },  /* REGS_USER, STACK_USER */
	{ LINUX(3, 10), 16 }, /* WEIGHT, DATA_SRC */
	{ LINUX(3, 12), 17 }, /* IDENTIFIER */
	{ LINUX(3, 13), 18 }, /* TRANSACTION */
	{ LINUX(3, 19), 19 }, /* REGS_INTR */
	{ LINUX(4, 14), 20 }, /* PHYS_ADDR */
	{ LINUX(5, 5), 21 },  /* AUX */
	{ LINUX(5, 7), 22 },  /* CGROUP */
	{ LINUX(5, 11), 24 }, /* DATA_PAGE_SIZE, CODE_PAGE_SIZE */
	{ LINUX(5, 12), 25 }, /* WEIGHT_STRUCT */
};

/* Bits of read_format. */
static const struct grown read_bits[] = {
	{ LINUX(2, 6), 4 }, /* GROUP */
	{ LINUX(6, 0), 5 }, /* LOST */
};

/* PERF_COUNT_SW_MAX */
static const struct grown software_events[] = {
	{ LINUX(2, 6), 9 },   /* EMULATION_FAULTS */
	{ LINUX(3, 12), 10 }, /* DUMMY */
	{ LINUX(4, 4), 11 },  /* BPF_OUTPUT */
	{ LINUX(5, 13), 12 }, /* CGROUP_SWITCHES */
};

/* Bits of the flags. */
static const struct grown open_bits[] = {
	{ LINUX(2, 6), 3 },  /* PERF_FLAG_PID_CGROUP */
	{ LINUX(3, 14), 4 }, /* PERF_FLAG_FD_CLOEXEC */
};

/** struct event_rules - the features that perf_event_open(2) knows; masks have the known bits. */
struct event_rules {
	uint32_t size;
	uint64_t bits, sample_type, read_format, flags;
	uint64_t software; /* first unknown number */
	bool max_stack;    /* sample_max_stack is checked: 4.1 to 4.7 accept any value at its place */
};

static inline uint64_t low_bits(uint64_t nr)
{
	return (1ULL << nr) - 1;
}

static inline struct event_rules event_rules(int version)
{
	return (struct event_rules){
		.size = (uint32_t)GROWN(attr_sizes, version),
		.bits = low_bits(GROWN(attr_bits, version)),
		.sample_type = low_bits(GROWN(sample_bits, version)),
		.read_format = low_bits(GROWN(read_bits, version)),
		.flags = low_bits(GROWN(open_bits, version)),
		.software = GROWN(software_events, version),
		.max_stack = version >= LINUX(4, 8),
	};
}

#define ATTR_BITS_AT   40 /* after read_format */
#define ATTR_MAX_STACK offsetof(struct perf_event_attr, sample_max_stack)

static inline bool all_zero(const void *bytes, size_t from, size_t to)
{
	const unsigned char *p = bytes;

	for (; from < to; from++)
		if (p[from])
			return false;
	return true;
}

/**
 * event_answer() - the answer of perf_copy_attr() and its caller before they check permissions and the event itself.
 * @attr: @attr->size bytes (0: PERF_ATTR_SIZE_VER0)
 * Return: 0; -E2BIG: the kernel also writes @k->size into the field @size; -EINVAL; -ENOENT: no such software event.
 */
static inline int event_answer(const struct event_rules *k, const struct perf_event_attr *attr, unsigned long flags)
{
	uint32_t size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0;
	uint64_t bits;

	if (flags & ~k->flags)
		return -EINVAL;
	if (size < PERF_ATTR_SIZE_VER0 || size > 4096 || !all_zero(attr, k->size, size))
		return -E2BIG;
	memcpy(&bits, (const char *)attr + ATTR_BITS_AT, sizeof(bits));
	if (bits & ~k->bits || attr->sample_type & ~k->sample_type || attr->read_format & ~k->read_format)
		return -EINVAL;
	return attr->type == PERF_TYPE_SOFTWARE && attr->config >= k->software ? -ENOENT : 0;
}

/* ---- bpf(2) */

/* How many commands exist. */
static const struct grown bpf_commands[] = {
	{ LINUX(3, 18), 6 },  /* MAP_* and PROG_LOAD */
	{ LINUX(4, 4), 8 },   /* OBJ_PIN, OBJ_GET */
	{ LINUX(4, 10), 10 }, /* PROG_ATTACH, PROG_DETACH */
	{ LINUX(4, 12), 11 }, /* PROG_TEST_RUN */
	{ LINUX(4, 13), 16 }, /* *_GET_NEXT_ID, *_GET_FD_BY_ID, OBJ_GET_INFO_BY_FD */
	{ LINUX(4, 15), 17 }, /* PROG_QUERY */
	{ LINUX(4, 17), 18 }, /* RAW_TRACEPOINT_OPEN */
	{ LINUX(4, 18), 21 }, /* BTF_LOAD, BTF_GET_FD_BY_ID, TASK_FD_QUERY */
	{ LINUX(4, 20), 22 }, /* MAP_LOOKUP_AND_DELETE_ELEM */
	{ LINUX(5, 2), 23 },  /* MAP_FREEZE */
	{ LINUX(5, 4), 24 },  /* BTF_GET_NEXT_ID */
	{ LINUX(5, 6), 28 },  /* MAP_*_BATCH */
	{ LINUX(5, 7), 30 },  /* LINK_CREATE, LINK_UPDATE */
};

/* sizeof(union bpf_attr): later bytes have to be zero, otherwise E2BIG. */
static const struct grown bpf_attr_sizes[] = {
	{ LINUX(3, 18), 48 }, { LINUX(4, 15), 64 }, /* prog_name */
	{ LINUX(4, 16), 72 },                       /* prog_ifindex; expected_attach_type */
	{ LINUX(5, 0), 112 },                       /* prog_btf_fd to line_info_cnt */
	{ LINUX(5, 5), 120 },                       /* attach_btf_id */
};

/* The part of union bpf_attr that MAP_CREATE knows; the rest has to be zero, otherwise EINVAL. */
static const struct grown map_create_sizes[] = {
	{ LINUX(3, 18), 16 }, { LINUX(4, 6), 20 }, /* map_flags */
	{ LINUX(4, 12), 24 },                      /* inner_map_fd */
	{ LINUX(4, 14), 28 },                      /* numa_node */
	{ LINUX(4, 15), 44 },                      /* map_name */
	{ LINUX(4, 16), 48 },                      /* map_ifindex */
	{ LINUX(4, 18), 60 },                      /* btf_fd, btf_key_type_id, btf_value_type_id */
	{ LINUX(5, 6), 64 },                       /* btf_vmlinux_value_type_id */
};

static const struct grown prog_load_sizes[] = {
	{ LINUX(3, 18), 44 }, /* kern_version */
	{ LINUX(4, 11), 48 }, /* prog_flags */
	{ LINUX(4, 15), 64 }, /* prog_name */
	{ LINUX(4, 16), 68 }, /* prog_ifindex */
	{ LINUX(4, 17), 72 }, /* expected_attach_type */
	{ LINUX(5, 0), 108 }, /* prog_btf_fd to line_info_cnt */
	{ LINUX(5, 5), 116 }, /* attach_btf_id, attach_prog_fd */
};

static const struct grown obj_get_sizes[] = { { LINUX(4, 4), 12 }, { LINUX(4, 15), 16 } /* file_flags */ };

/* How many types of maps exist. */
static const struct grown map_types[] = {
	{ LINUX(3, 18), 3 },  /* HASH, ARRAY */
	{ LINUX(4, 2), 4 },   /* PROG_ARRAY */
	{ LINUX(4, 3), 5 },   /* PERF_EVENT_ARRAY */
	{ LINUX(4, 6), 8 },   /* PERCPU_HASH, PERCPU_ARRAY, STACK_TRACE */
	{ LINUX(4, 8), 9 },   /* CGROUP_ARRAY */
	{ LINUX(4, 10), 11 }, /* LRU_HASH, LRU_PERCPU_HASH */
	{ LINUX(4, 11), 12 }, /* LPM_TRIE */
	{ LINUX(4, 12), 14 }, /* ARRAY_OF_MAPS, HASH_OF_MAPS */
	{ LINUX(4, 14), 16 }, /* DEVMAP, SOCKMAP */
	{ LINUX(4, 15), 17 }, /* CPUMAP */
	{ LINUX(4, 18), 19 }, /* XSKMAP, SOCKHASH */
	{ LINUX(4, 19), 21 }, /* CGROUP_STORAGE, REUSEPORT_SOCKARRAY */
	{ LINUX(4, 20), 24 }, /* PERCPU_CGROUP_STORAGE, QUEUE, STACK */
	{ LINUX(5, 2), 25 },  /* SK_STORAGE */
	{ LINUX(5, 4), 26 },  /* DEVMAP_HASH */
};

/* How many types of programs exist. */
static const struct grown prog_types[] = {
	{ LINUX(3, 19), 2 },  /* SOCKET_FILTER */
	{ LINUX(4, 1), 5 },   /* KPROBE, SCHED_CLS, SCHED_ACT */
	{ LINUX(4, 7), 6 },   /* TRACEPOINT */
	{ LINUX(4, 8), 7 },   /* XDP */
	{ LINUX(4, 9), 8 },   /* PERF_EVENT */
	{ LINUX(4, 10), 13 }, /* CGROUP_SKB to LWT_XMIT */
	{ LINUX(4, 13), 14 }, /* SOCK_OPS */
	{ LINUX(4, 14), 15 }, /* SK_SKB */
	{ LINUX(4, 15), 16 }, /* CGROUP_DEVICE */
	{ LINUX(4, 17), 19 }, /* SK_MSG, RAW_TRACEPOINT, CGROUP_SOCK_ADDR */
	{ LINUX(4, 18), 21 }, /* LWT_SEG6LOCAL, LIRC_MODE2 */
	{ LINUX(4, 19), 22 }, /* SK_REUSEPORT */
	{ LINUX(4, 20), 23 }, /* FLOW_DISSECTOR */
	{ LINUX(5, 2), 26 },  /* CGROUP_SYSCTL, RAW_TRACEPOINT_WRITABLE, CGROUP_SOCKOPT (5.3) */
};

/* How many helpers exist. */
static const struct grown helpers[] = {
	{ LINUX(3, 19), 4 },  /* map_delete_elem */
	{ LINUX(4, 1), 12 },  /* l4_csum_replace */
	{ LINUX(4, 2), 17 },  /* get_current_comm */
	{ LINUX(4, 3), 23 },  /* perf_event_read */
	{ LINUX(4, 4), 26 },  /* perf_event_output */
	{ LINUX(4, 6), 30 },  /* get_stackid */
	{ LINUX(4, 8), 37 },  /* probe_write_user and get_current_task are of 4.8 */
	{ LINUX(4, 9), 42 },  /* current_task_under_cgroup */
	{ LINUX(4, 10), 45 }, /* get_numa_node_id */
	{ LINUX(4, 11), 46 }, /* probe_read_str */
	{ LINUX(4, 12), 48 }, /* get_socket_cookie */
	{ LINUX(4, 13), 51 }, /* setsockopt */
	{ LINUX(4, 14), 54 }, /* redirect_map */
	{ LINUX(4, 15), 58 }, /* perf_event_read_value */
	{ LINUX(4, 16), 60 }, /* override_return */
	{ LINUX(4, 17), 66 }, /* msg_redirect_map */
	{ LINUX(4, 18), 81 }, /* get_stack, get_current_cgroup_id */
	{ LINUX(4, 19), 84 }, /* get_local_storage */
	{ LINUX(5, 0), 93 },  /* map_push_elem (4.20), rc_pointer_rel */
	{ LINUX(5, 3), 111 }, /* send_signal, tcp_gen_syncookie */
	{ LINUX(5, 5), 116 }, /* probe_read_user, probe_read_kernel */
	{ LINUX(5, 7), 125 }, /* get_ns_current_pid_tgid */
};

/* BPF_JMP instructions exist since the beginning, except those of 4.14: JLT, JLE, JSLT and JSLE. */
static inline bool knows_jump(int version, uint8_t op)
{
	return op <= BPF_EXIT || (version >= LINUX(4, 14) && op <= BPF_JSLE);
}

static inline bool insn_is_jump(const struct bpf_insn *in)
{
	uint8_t class = BPF_CLASS(in->code), op = BPF_OP(in->code);

	return (class == BPF_JMP || class == 0x06) && op != BPF_CALL && op != BPF_EXIT;
}

/** insn_answer() - test whether the verifier of @version knows an instruction. Return: 0 or -EINVAL. */
static inline int insn_answer(int version, const struct bpf_insn *in)
{
	uint8_t class = BPF_CLASS(in->code), op = BPF_OP(in->code);

	if (class == 0x06 && version < LINUX(5, 1)) /* BPF_JMP32 */
		return -EINVAL;
	if (class == BPF_JMP && !knows_jump(version, op))
		return -EINVAL;
	if (in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL)
		return version < LINUX(4, 16) ? -EINVAL : 0;
	if (in->code == (BPF_JMP | BPF_CALL))
		return (uint64_t)in->imm >= GROWN(helpers, version) ? -EINVAL : 0;
	if (in->code == (BPF_LD | BPF_IMM | BPF_DW) && in->src_reg > BPF_PSEUDO_MAP_FD)
		return version < LINUX(5, 2) ? -EINVAL : 0; /* BPF_PSEUDO_MAP_VALUE */
	return 0;
}

#define INSN_OPEN 1 /* it is on the current path from the first instruction */
#define INSN_DONE 2

/* The instruction that is executed after the one at @at. @i: 0, or 1 for the target of a branch. SIZE_MAX: none. */
static inline size_t insn_next(const struct bpf_insn *insns, size_t at, unsigned int i)
{
	const struct bpf_insn *in = &insns[at];
	bool jump = insn_is_jump(in);

	if (in->code == (BPF_JMP | BPF_EXIT) || (i && !jump))
		return SIZE_MAX;
	if (jump && (i || in->code == (BPF_JMP | BPF_JA)))
		return i && in->code == (BPF_JMP | BPF_JA) ? SIZE_MAX : (size_t)((int64_t)at + 1 + in->off);
	return at + (in->code == (BPF_LD | BPF_IMM | BPF_DW) ? 2 : 1);
}

/*
 * True if a path through the program returns to an instruction that is on it already; a jump backwards alone does not
 * count. As check_cfg() of kernel/bpf/verifier.c.
 */
static inline bool program_loops(const struct bpf_insn *insns, size_t nr)
{
	unsigned char *state = calloc(nr, 1), *ways = calloc(nr, 1);
	size_t *path = calloc(nr, sizeof(*path)), len = 1, next;
	bool loops = false;

	if (!state || !ways || !path)
		abort();
	state[0] = INSN_OPEN;
	while (len && !loops) {
		size_t at = path[len - 1];

		if (ways[at] == 2) {
			state[at] = INSN_DONE;
			len--;
			continue;
		}
		next = insn_next(insns, at, ways[at]++);
		if (next >= nr)
			continue;
		loops = state[next] == INSN_OPEN;
		if (!state[next]) {
			state[next] = INSN_OPEN;
			path[len++] = next;
		}
	}
	free(state);
	free(ways);
	free(path);
	return loops;
}

/**
 * program_answer() - the answer to the type and the instructions of a program, as far as no verifier is needed.
 * @long_program: see struct old_kernel
 * Return: 0 or -errno.
 */
static inline int program_answer(int version, int long_program, uint32_t type, const struct bpf_insn *insns, size_t nr)
{
	size_t i;
	int rc = 0;

	if (!nr || (nr > 4096 && long_program))
		return nr ? long_program : -EINVAL;
	if (type >= GROWN(prog_types, version))
		return -EINVAL;
	for (i = 0; i < nr && !rc; i++) {
		rc = insn_answer(version, &insns[i]);
		i += insns[i].code == (BPF_LD | BPF_IMM | BPF_DW); /* its second half */
	}
	return !rc && version < LINUX(5, 3) && program_loops(insns, nr) ? -EINVAL : rc;
}

/* The newest kind of type in BTF. */
static const struct grown btf_kinds[] = {
	{ LINUX(4, 18), BTF_KIND_RESTRICT },
	{ LINUX(5, 0), BTF_KIND_FUNC_PROTO },
	{ LINUX(5, 2), BTF_KIND_DATASEC },
	{ LINUX(5, 13), BTF_KIND_FLOAT },
};

/* Bytes after the struct btf_type of a kind. */
static inline size_t btf_more(uint32_t kind, uint32_t nr)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
		return 12 * (size_t)nr;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return 8 * (size_t)nr;
	}
	return 0;
}

/** btf_answer() - the answer to the types in @size bytes of BTF. Return: 0, or -EINVAL for an unknown type. */
static inline int btf_answer(int version, const void *btf, size_t size)
{
	const struct btf_header *h = btf;
	size_t at, end;

	if (size < sizeof(*h) || h->hdr_len > size || h->type_off > size || h->type_len > size)
		return -EINVAL;
	at = (size_t)h->hdr_len + h->type_off;
	end = at + h->type_len < size ? at + h->type_len : size;
	while (at + sizeof(struct btf_type) <= end) {
		const struct btf_type *t = (const struct btf_type *)((const char *)btf + at);
		uint32_t kind = BTF_INFO_KIND(t->info), nr = BTF_INFO_VLEN(t->info);

		/* Functions that are not static came with 5.6. */
		if (kind > GROWN(btf_kinds, version) || (kind == BTF_KIND_FUNC && nr && version < LINUX(5, 6)))
			return -EINVAL;
		at += sizeof(*t) + btf_more(kind, nr);
	}
	return 0;
}

#define BPF_ATTR_ROOM 256 /* bytes of union bpf_attr that are read */

/* The part of union bpf_attr that a command knows; 0: not checked here. */
static inline uint64_t bpf_command_size(int version, int cmd)
{
	switch (cmd) {
	case BPF_MAP_CREATE:
		return GROWN(map_create_sizes, version);
	case BPF_PROG_LOAD:
		return GROWN(prog_load_sizes, version);
	case BPF_OBJ_GET:
		return GROWN(obj_get_sizes, version);
	}
	return 0;
}

/**
 * bpf_answer() - the answer of bpf(2) before it looks at a map, or at the instructions of a program.
 * @attr: BPF_ATTR_ROOM bytes, zero after the @size given ones
 * Return: 0 or -errno.
 */
static inline int bpf_answer(const struct old_kernel *k, int cmd, const void *attr, uint32_t size)
{
	uint64_t own = GROWN(bpf_attr_sizes, k->bpf), known = bpf_command_size(k->bpf, cmd);
	uint32_t type;

	if (!k->bpf)
		return -ENOSYS;
	if (size > own && !all_zero(attr, own, size < BPF_ATTR_ROOM ? size : BPF_ATTR_ROOM))
		return -E2BIG;
	if (cmd < 0 || (uint64_t)cmd >= GROWN(bpf_commands, k->bpf) || (cmd == BPF_BTF_LOAD && k->no_btf))
		return -EINVAL;
	if (known && !all_zero(attr, known, own))
		return -EINVAL;
	memcpy(&type, attr, sizeof(type));
	return cmd == BPF_MAP_CREATE && type >= GROWN(map_types, k->bpf) ? -EINVAL : 0;
}

#endif
