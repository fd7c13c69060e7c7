// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that counts in the kernel: loads bpf/profile.bpf.c, attaches it to the sampling events, and turns its
 * maps into rows at the end. What the program passes on instead of counting is the ring reader's.
 */
#include "backend-bpf/source.h"
#include "compat/kernel.h"
#include "core/backend.h"
#include "core/callchain.h"
#include "core/capture.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bpf/layout.h"
#include "bpf/profile.skel.h"

_Static_assert(LAYOUT_COMM_LEN == COMM_LEN, "a comm is the same on both sides");
_Static_assert(sizeof(struct bpf_count_key) == 28, "a hash key must not have padding");

struct backend {
	struct capture *cap;
	struct profile_bpf *skel;
	unsigned int depth;  /* addresses in an entry of stack_map */
	uint64_t *frames[2]; /* one stack_map entry each: kernel, user */
	struct bpf_books books;
	struct bpf_count_key walk; /* where bpf_pids() has got to */
};

/* The first warning libbpf printed since it was cleared: it says more than errno. Used only while loading. */
static __thread char libbpf_said[200];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	size_t len;

	if (level != LIBBPF_WARN || libbpf_said[0])
		return 0;
	vsnprintf(libbpf_said, sizeof(libbpf_said), fmt, ap);
	len = strcspn(libbpf_said, "\n");
	libbpf_said[len] = 0;
	return 0;
}

static int bpf_error(struct err *err, int code, const char *what)
{
	char why[sizeof(libbpf_said) + 64] = "";
	long long v;

	if (libbpf_said[0])
		snprintf(why, sizeof(why), " (%s)", libbpf_said);
	else if (code == -EPERM && !host_setting(&host_here, "kernel/unprivileged_bpf_disabled", &v) && v > 0)
		snprintf(why, sizeof(why), " (kernel.unprivileged_bpf_disabled is %lld: it needs CAP_BPF)", v);
	return err_set(err, code, "%s: %s%s", what, strerror(-code), why);
}

/* A map and a program of the kinds in question, the smallest there are. */
static int bpf_probe(bool forced, struct err *err)
{
	/* r0 = 0; exit */
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd;

	if (kernel_bpf_taints() && !forced)
		return err_set(err, -EOPNOTSUPP,
			       "the first use of bpf(2) would taint this kernel (technology preview)");
	/* The helpers give ids of the initial namespace; -p, /proc and the rings are about ours. */
	if (kernel_in_pid_namespace())
		return err_set(err, -EOPNOTSUPP, "in a pid namespace the program would see other ids than /proc has");
	libbpf_said[0] = 0;
	libbpf_set_print(keep_warning);
	fd = bpf_map_create(BPF_MAP_TYPE_STACK_TRACE, NULL, sizeof(__u32), sizeof(__u64), 1, NULL);
	if (fd < 0)
		return bpf_error(err, -errno, "cannot create a BPF stack map");
	close(fd);
	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "GPL", nothing, ARRAY_SIZE(nothing), NULL);
	if (fd < 0)
		return bpf_error(err, -errno, "cannot load a BPF program for perf events");
	close(fd);
	return 0;
}

static int size_maps(struct backend *b)
{
	const struct options *o = b->cap->options;
	struct profile_bpf *s = b->skel;
	int rc = bpf_map__set_max_entries(s->maps.targets, o->nr_pids ? (__u32)o->nr_pids : 1);

	if (!rc)
		rc = bpf_map__set_max_entries(s->maps.counts, o->hash_entries);
	if (!rc)
		rc = bpf_map__set_max_entries(s->maps.stack_map, o->stack_entries);
	if (!rc)
		rc = bpf_map__set_value_size(s->maps.stack_map, b->depth * (__u32)sizeof(__u64));
	return rc;
}

static int fill_maps(struct backend *b)
{
	const struct options *o = b->cap->options;
	struct bpf_config config = {
		.by = !o->nr_pids ? BPF_BY_NONE
		      : o->by_tid ? BPF_BY_TID
				  : BPF_BY_PID,
		.idle = o->include_idle,
		.no_kernel = o->user_only,
		.no_user = o->kernel_only,
	};
	__u32 zero = 0, id;
	size_t i;

	if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.config), &zero, &config, BPF_ANY))
		return -errno;
	for (i = 0; i < o->nr_pids; i++) {
		id = (__u32)o->pids[i];
		if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.targets), &id, &zero, BPF_ANY))
			return -errno;
	}
	return 0;
}

static int attach(struct backend *b, struct err *err)
{
	int prog = bpf_program__fd(b->skel->progs.count_sample);
	const struct capture *cap = b->cap;
	size_t i;

	for (i = 0; i < cap->nr_events; i++)
		if (cap->events[i].samples && ioctl(cap->events[i].fd, PERF_EVENT_IOC_SET_BPF, prog))
			return err_sys(err, -errno, "cannot attach the BPF program to the perf event of CPU %d",
				       cap->events[i].cpu);
	return 0;
}

/*
 * The key behind @key; 0, -ENOENT at the end, or another -errno. A key that is not in the table is followed by the
 * first: NULL for that came with 4.12.
 */
static int next_count(const struct backend *b, struct bpf_count_key *key)
{
	return bpf_map_get_next_key(bpf_map__fd(b->skel->maps.counts), key, key) ? -errno : 0;
}

static struct bpf_count_key no_count(void)
{
	struct bpf_count_key key;

	memset(&key, 0xff, sizeof(key));
	return key;
}

static int bpf_open(struct backend **out, struct capture *cap, struct err *err)
{
	struct backend *b = calloc(1, sizeof(*b));
	int rc;

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	b->cap = cap;
	b->walk = no_count();
	b->depth = cap->asked + 1; /* since 5.9 an entry begins with a marker */
	b->frames[0] = calloc(b->depth, sizeof(uint64_t));
	b->frames[1] = calloc(b->depth, sizeof(uint64_t));
	if (!b->frames[0] || !b->frames[1])
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	libbpf_said[0] = 0;
	libbpf_set_print(keep_warning);
	b->skel = profile_bpf__open();
	if (!b->skel)
		return bpf_error(err, -errno, "cannot read the embedded BPF object");
	rc = size_maps(b);
	if (!rc)
		rc = profile_bpf__load(b->skel);
	if (rc)
		return bpf_error(err, rc, "the kernel refuses the BPF object");
	rc = fill_maps(b);
	if (rc)
		return err_sys(err, rc, "cannot fill the BPF maps");
	return attach(b, err);
}

static int bpf_drain(struct backend *b, struct err *err)
{
	(void)b; /* counts stay in the kernel until the end */
	(void)err;
	return 0;
}

static int read_stack(struct backend *b, __s32 id, int side, struct stack *out)
{
	__u32 key = (__u32)id;

	*out = (struct stack){ .state = STACK_NONE };
	if (id < 0)
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.stack_map), &key, b->frames[side])) {
		out->state = STACK_MISSED;
		return errno == ENOENT ? 0 : -errno;
	}
	callchain_entry(b->frames[side], b->depth, out);
	return 0;
}

static int add_row(struct backend *b, const struct bpf_count_key *key, uint64_t samples)
{
	struct stack kernel, user;
	int rc = read_stack(b, key->kernel_stack, 0, &kernel);

	if (!rc)
		rc = read_stack(b, key->user_stack, 1, &user);
	if (rc)
		return rc;
	callchain_limit(b->cap->asked, &kernel, &user);
	return stacks_add(b->cap->stacks, key->comm, (pid_t)key->pid, &kernel, &user, samples);
}

/* The sum over all CPUs. */
static int read_books(struct backend *b)
{
	int cpus = libbpf_num_possible_cpus(), i, rc;
	struct bpf_books *each;
	__u32 zero = 0;

	if (cpus <= 0)
		return cpus ? cpus : -EINVAL;
	each = calloc((size_t)cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	rc = bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.books), &zero, each) ? -errno : 0;
	for (i = 0; !rc && i < cpus; i++) {
		b->books.taken += each[i].taken;
		b->books.counted += each[i].counted;
		b->books.filtered += each[i].filtered;
		b->books.spilled_stack += each[i].spilled_stack;
		b->books.spilled_count += each[i].spilled_count;
	}
	free(each);
	return rc;
}

static int bpf_stop(struct backend *b, struct err *err)
{
	struct bpf_count_key key = no_count();
	__u64 samples;
	int rc;

	while (!(rc = next_count(b, &key))) {
		rc = bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.counts), &key, &samples) ? -errno : 0;
		if (!rc)
			rc = add_row(b, &key, samples);
		if (rc)
			break;
	}
	if (rc == -ENOENT)
		rc = read_books(b);
	return rc ? err_sys(err, rc, "cannot read the BPF maps") : 0;
}

/*
 * get_next_key alone: a lookup of a value would make the kernel skip samples of this CPU meanwhile. While keys come a
 * walk need not end, so it is bounded by the table's size.
 */
static int bpf_pids(struct backend *b, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct bpf_count_key own = no_count(), *key = resume ? &b->walk : &own;
	uint64_t left = (uint64_t)b->cap->options->hash_entries + 1; /* the end is behind the last one */
	int rc = 0;

	while (left-- && !(rc = next_count(b, key)))
		if (!fn(ctx, (pid_t)key->pid))
			return -EAGAIN;
	*key = no_count();
	return rc == -ENOENT ? 0 : rc ? rc : -EAGAIN;
}

static void bpf_stats(const struct backend *b, struct books *books)
{
	if (!b)
		return;
	books->taken += b->books.taken;
	books->counted_kernel += b->books.counted;
	books->filtered += b->books.filtered;
	books->spilled_stack += b->books.spilled_stack;
	books->spilled_count += b->books.spilled_count;
}

static void bpf_close(struct backend *b)
{
	if (!b)
		return;
	profile_bpf__destroy(b->skel);
	free(b->frames[0]);
	free(b->frames[1]);
	free(b);
}

const struct backend_ops backend_bpf = {
	.name = "bpf",
	.does = "counts stacks in the kernel",
	.source = bpf_source,
	.in_kernel = true,
	.probe = bpf_probe,
	.open = bpf_open,
	.drain = bpf_drain,
	.stop = bpf_stop,
	.pids = bpf_pids,
	.stats = bpf_stats,
	.close = bpf_close,
};
