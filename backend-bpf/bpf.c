// SPDX-License-Identifier: Apache-2.0
/*
 * The backend that counts in the kernel: loads bpf/profile.bpf.c, attaches it to the sampling events, and turns its
 * maps into rows at the end. What the program passes on instead of counting is the ring reader's.
 */
#include "backend-bpf/offsets.h"
#include "backend-bpf/source.h"
#include "compat/bpf_map.h"
#include "compat/kernel.h"
#include "core/backend.h"
#include "core/callchain.h"
#include "core/capture.h"
#include "core/causes.h"
#include "core/cgroup.h"
#include "core/pinned.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "bpf/layout.h"
#include "bpf/profile.skel.h"

_Static_assert(LAYOUT_COMM_LEN == COMM_LEN, "a comm is the same on both sides");
_Static_assert(sizeof(struct bpf_count_key) == 28, "a hash key must not have padding");

#define TREE_ENTRIES                                                                                                   \
	16384 /* processes of which it is known whether they are the command's; of more the reader tells               \
	       */

#define LAND_NS (1000 * 1000 * 1000LL) /* how long a running program is waited for */

struct backend {
	struct capture *cap;
	struct profile_bpf *skel;
	struct bpf_program *program; /* the one of them that is used */
	int cpus;                    /* that this kernel can have: values in an entry of a per-CPU map */
	unsigned int depth;          /* addresses in an entry of a stack map */
	uint64_t *frames[2];         /* one such entry each: kernel, user */
	struct {
		struct bpf_map *counts, *stacks;
	} sets[2];
	struct books books[2]; /* of each set, when its interval has ended */
	struct mntns_offsets mntns_at;
	bool here; /* this process is in a pid namespace: @pidns, whose numbers are wanted */
	struct kernel_pidns pidns;
	struct pidns_offsets pidns_at;
	struct bpf_config config;
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

/* @missing: why a kernel refuses the smallest map or program there is (-EINVAL): it lacks the type; NULL: not known */
static int probe_error(struct err *err, int code, const char *what, const char *missing)
{
	struct cause why;

	cause_of_bpf(&host_here, code, &why);
	if (missing && code == -EINVAL && !*why.text)
		snprintf(why.text, sizeof(why.text), "%s", missing);
	if (libbpf_said[0] && !*why.text)
		return err_set(err, code, "%s: %s (%s)", what, strerror(-code), libbpf_said);
	return cause_err(err, code, &why, "%s", what);
}

static int bpf_error(struct err *err, int code, const char *what)
{
	return probe_error(err, code, what, NULL);
}

/* Return: how many may ever be there, as the kernel counts them in its maps; -errno, described. */
static int possible_cpus(struct err *err)
{
	int nr = libbpf_num_possible_cpus();

	return nr > 0 ? nr : err_sys(err, nr ? nr : -EINVAL, "cannot read /sys/devices/system/cpu/possible");
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
	libbpf_said[0] = 0;
	libbpf_set_print(keep_warning);
	fd = bpf_map_create(BPF_MAP_TYPE_STACK_TRACE, NULL, sizeof(__u32), sizeof(__u64), 1, NULL);
	if (fd < 0)
		return probe_error(err, -errno, "cannot create a BPF stack map", "before Linux 4.6");
	close(fd);
	if (possible_cpus(err) < 0)
		return err->code;
	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "GPL", nothing, ARRAY_SIZE(nothing), NULL);
	if (fd < 0)
		return probe_error(err, -errno, "cannot load a BPF program for perf events",
				   "before Linux 4.9, or built without CONFIG_BPF_EVENTS");
	close(fd);
	if (kernel_pid_namespace(NULL) &&
	    libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_get_ns_current_pid_tgid, NULL) != 1)
		return err_set(err, -EOPNOTSUPP,
			       "in a pid namespace the program would see other ids than /proc has (before Linux 5.7)");
	return 0;
}

/* Tables of the second set are needed only where there is a second interval. */
static int size_set(struct backend *b, unsigned int i)
{
	const struct options *o = b->cap->options;
	bool used = i == 0 || o->interval_ns;
	int rc = bpf_map__set_max_entries(b->sets[i].counts, used ? o->hash_entries : 1);

	if (!rc)
		rc = bpf_map__set_max_entries(b->sets[i].stacks, used ? o->stack_entries : 1);
	if (!rc)
		rc = bpf_map__set_value_size(b->sets[i].stacks, b->depth * (__u32)sizeof(__u64));
	return rc;
}

/* Their numbers may have holes, so there may be fewer of them. */
static __u32 highest_cpu(const struct capture *cap)
{
	int highest = 0;
	size_t i;

	for (i = 0; i < cap->nr_events; i++)
		if (cap->events[i].cpu > highest)
			highest = cap->events[i].cpu;
	return (__u32)highest;
}

static int size_maps(struct backend *b)
{
	const struct options *o = b->cap->options;
	__u32 nr = b->cap->filter.tree ? TREE_ENTRIES : (__u32)o->nr_pids;
	int rc = bpf_map__set_max_entries(b->skel->maps.targets, nr ? nr : 1);

	if (!rc)
		rc = bpf_map__set_max_entries(b->skel->maps.notes, highest_cpu(b->cap) + 1);
	if (!rc)
		rc = size_set(b, 0);
	return rc ? rc : size_set(b, 1);
}

/* The others are not loaded, nor the maps that they alone use: this kernel may not know what is in them. */
static int choose_program(struct backend *b)
{
	const struct filter *f = &b->cap->filter;
	struct bpf_program *const programs[] = {
		b->skel->progs.count_sample,
		b->skel->progs.count_sample_in_cgroup,
		b->skel->progs.count_sample_in_mntns,
		b->skel->progs.count_sample_in_both,
		b->skel->progs.count_sample_here,
		b->skel->progs.count_sample_here_in_cgroup,
		b->skel->progs.count_sample_here_in_mntns,
		b->skel->progs.count_sample_here_in_both,
	};
	bool by_cgroup = filter_by_cgroup(f), by_mntns = filter_by_mntns(f);
	int rc = bpf_map__set_autocreate(b->skel->maps.cgroup, by_cgroup);
	size_t i;

	if (!rc)
		rc = bpf_map__set_autocreate(b->skel->maps.cgroup_ids, by_cgroup);
	if (!rc)
		rc = bpf_map__set_autocreate(b->skel->maps.mntns_ids, by_mntns);
	if (!rc && f->cgroup_ids)
		rc = bpf_map__reuse_fd(b->skel->maps.cgroup_ids, pinned_fd(f->cgroup_ids));
	if (!rc && f->mntns_ids)
		rc = bpf_map__reuse_fd(b->skel->maps.mntns_ids, pinned_fd(f->mntns_ids));
	b->program = programs[(by_cgroup ? 1 : 0) + (by_mntns ? 2 : 0) + (b->here ? 4 : 0)];
	for (i = 0; i < ARRAY_SIZE(programs) && !rc; i++)
		rc = bpf_program__set_autoload(programs[i], programs[i] == b->program);
	return rc;
}

static int write_config(struct backend *b, __u32 set)
{
	__u32 zero = 0;

	b->config.set = set;
	return bpf_map_update_elem(bpf_map__fd(b->skel->maps.config), &zero, &b->config, BPF_ANY) ? -errno : 0;
}

static struct bpf_config configure(const struct backend *b)
{
	const struct options *o = b->cap->options;
	const struct filter *f = &b->cap->filter;
	struct bpf_config c = {
		.by = f->tree       ? BPF_BY_TREE
		      : !o->nr_pids ? BPF_BY_NONE
		      : o->by_tid   ? BPF_BY_TID
				    : BPF_BY_PID,
		.idle = o->include_idle && !f->tree, /* it descends from nobody */
		.no_kernel = o->user_only,
		.no_user = o->kernel_only,
		.pass_all = b->cap->both,
		.unwind = b->cap->unwinds,
		.by_comm = f->comm != NULL,
		.by_cgroup = f->cgroup != NULL,
		.by_cgroup_ids = f->cgroup_ids != NULL,
		.by_mntns_ids = f->mntns_ids != NULL,
		.mntns = (__u32)f->mntns,
		.nsproxy_at = b->mntns_at.nsproxy,
		.mnt_ns_at = b->mntns_at.mnt_ns,
		.inum_at = b->mntns_at.inum,
		.pidns = b->pidns.ino,
		.pidns_dev = b->pidns.dev,
		.thread_pid_at = b->pidns_at.thread_pid,
		.signal_at = b->pidns_at.signal,
		.tgid_at = b->pidns_at.tgid,
		.level_at = b->pidns_at.level,
		.numbers_at = b->pidns_at.numbers,
		.upid_size = b->pidns_at.upid_size,
		.nr_at = b->pidns_at.nr,
		.upid_ns_at = b->pidns_at.ns,
		.pidns_inum_at = b->pidns_at.inum,
	};

	memcpy(c.outside_comm, COMM_OUTSIDE, sizeof(COMM_OUTSIDE));
	if (f->comm)
		memcpy(c.comm, f->comm, strnlen(f->comm, LAYOUT_COMM_LEN - 1));
	return c;
}

static int fill_maps(struct backend *b)
{
	const struct options *o = b->cap->options;
	struct cgroup *cgroup = b->cap->filter.cgroup;
	int fd = cgroup ? cgroup_fd(cgroup) : -1;
	__u32 zero = 0, one = 1, id;
	size_t i;

	b->config = configure(b);
	if (cgroup && bpf_map_update_elem(bpf_map__fd(b->skel->maps.cgroup), &zero, &fd, BPF_ANY))
		return -errno;
	for (i = 0; i < o->nr_pids; i++) {
		id = (__u32)o->pids[i];
		if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.targets), &id, &one, BPF_ANY))
			return -errno;
	}
	/* Where the ring's reader counts, too, both begin when it says. */
	return write_config(b, b->cap->both ? BPF_SET_NONE : b->cap->set);
}

static int bpf_attach(struct backend *b, size_t i, struct err *err)
{
	const struct capture_event *e = &b->cap->events[i];
	__u32 cpu = (__u32)e->cpu;

	if (!e->samples)
		return 0;
	if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.notes), &cpu, &e->notes_fd, BPF_ANY))
		return err_sys(err, -errno, "cannot give the BPF program the ring of CPU %d", e->cpu);
	if (ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(b->program)))
		return err_sys(err, -errno, "cannot attach the BPF program to the perf event of CPU %d", e->cpu);
	return 0;
}

/* The map would keep the event for ever. */
static int bpf_detach(struct backend *b, size_t i, struct err *err)
{
	__u32 cpu = (__u32)b->cap->events[i].cpu;

	(void)err;
	if (b->cap->events[i].samples)
		bpf_map_delete_elem(bpf_map__fd(b->skel->maps.notes), &cpu);
	return 0;
}

static int bpf_start(struct backend *b, struct err *err)
{
	int rc = b->cap->both ? write_config(b, b->cap->set) : 0;

	return rc ? err_sys(err, rc, "cannot tell the BPF program to begin") : 0;
}

/*
 * The key behind @key; 0, -ENOENT at the end, or another -errno. A key that is not in the table is followed by the
 * first: NULL for that came with 4.12.
 */
static int next_count(const struct backend *b, unsigned int set, struct bpf_count_key *key)
{
	return bpf_map_get_next_key(bpf_map__fd(b->sets[set].counts), key, key) ? -errno : 0;
}

static struct bpf_count_key no_count(void)
{
	struct bpf_count_key key;

	memset(&key, 0xff, sizeof(key));
	return key;
}

/* Where the program finds the mount namespace of a task: if it may not look there, each would seem to have none. */
static int find_mntns(struct backend *b, struct err *err)
{
	struct cause why;

	if (cause_of_unreadable(b->cap->host, &why))
		return cause_err(err, -EPERM, &why, "the BPF program may not read the mount namespaces of tasks");
	return offsets_of_mntns(&b->mntns_at, err);
}

static int bpf_open(struct backend **out, struct capture *cap, struct err *err)
{
	struct backend *b = calloc(1, sizeof(*b));
	struct err unused;
	int rc;

	*out = b;
	if (!b)
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	b->cap = cap;
	b->walk = no_count();
	b->cpus = possible_cpus(err);
	if (b->cpus < 0)
		return err->code;
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
	b->sets[0].counts = b->skel->maps.counts_0;
	b->sets[0].stacks = b->skel->maps.stack_map_0;
	b->sets[1].counts = b->skel->maps.counts_1;
	b->sets[1].stacks = b->skel->maps.stack_map_1;
	if (filter_by_mntns(&cap->filter) && find_mntns(b, err))
		return err->code;
	b->here = kernel_pid_namespace(&b->pidns);
	/* Without them, whom the helper cannot number is left to the ring's reader. */
	if (b->here)
		offsets_of_pidns(&b->pidns_at, &unused);
	rc = size_maps(b);
	if (!rc)
		rc = choose_program(b);
	if (!rc)
		rc = profile_bpf__load(b->skel);
	if (rc)
		return bpf_error(err, rc, "the kernel refuses the BPF object");
	rc = fill_maps(b);
	return rc ? err_sys(err, rc, "cannot fill the BPF maps") : 0;
}

static int read_stack(struct backend *b, unsigned int set, __s32 id, int side, struct stack *out)
{
	__u32 key = (__u32)id;

	*out = (struct stack){ .state = STACK_NONE };
	if (id < 0)
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(b->sets[set].stacks), &key, b->frames[side])) {
		out->state = STACK_MISSED;
		return errno == ENOENT ? 0 : -errno;
	}
	callchain_entry(b->frames[side], b->depth, out);
	return 0;
}

static int add_row(struct backend *b, unsigned int set, const struct bpf_count_key *key, uint64_t samples)
{
	struct stack kernel, user;
	int rc = read_stack(b, set, key->kernel_stack, 0, &kernel);

	if (!rc)
		rc = read_stack(b, set, key->user_stack, 1, &user);
	if (rc)
		return rc;
	callchain_limit(b->cap->asked, &kernel, &user);
	return stacks_add(b->cap->sets[set].stacks, key->comm, (pid_t)key->pid, &kernel, &user, samples);
}

/* Nobody writes to the set any more. */
static int read_counts(struct backend *b, unsigned int set)
{
	struct bpf_count_key key = no_count();
	__u64 samples;
	int rc;

	while (!(rc = next_count(b, set, &key))) {
		rc = bpf_map_lookup_elem(bpf_map__fd(b->sets[set].counts), &key, &samples) ? -errno : 0;
		if (!rc)
			rc = add_row(b, set, &key, samples);
		if (rc)
			return rc;
		b->books[set].count_entries++;
	}
	return rc == -ENOENT ? 0 : rc;
}

/* Entries used of the stack map; 0 where the kernel does not tell (before 4.16). */
static uint64_t count_stacks(const struct backend *b, unsigned int set)
{
	__u32 id = UINT32_MAX;
	uint64_t nr = 0;

	while (!bpf_map_get_next_key(bpf_map__fd(b->sets[set].stacks), &id, &id))
		nr++;
	return nr;
}

/* Values of one key of a per-CPU map, @size bytes for each CPU: to be freed; NULL: errno says why. */
static void *read_cpus(const struct backend *b, const struct bpf_map *map, __u32 key, size_t size)
{
	void *each = calloc((size_t)b->cpus, size);

	if (!each || !bpf_map_lookup_elem(bpf_map__fd(map), &key, each))
		return each;
	free(each);
	return NULL;
}

/* The sum over all CPUs. */
static int read_books(struct backend *b, unsigned int set)
{
	struct bpf_books *each = read_cpus(b, b->skel->maps.books, set, sizeof(*each));
	struct books *to = &b->books[set];
	int i;

	if (!each)
		return -errno;
	for (i = 0; i < b->cpus; i++) {
		to->taken += each[i].taken;
		to->counted_kernel += each[i].counted;
		to->filtered += each[i].filtered;
		to->spilled_stack += each[i].spilled_stack;
		to->spilled_count += each[i].spilled_count;
		to->spilled_unwind += each[i].spilled_unwind;
		to->spilled_tree += each[i].spilled_tree;
		to->spilled_number += each[i].spilled_number;
		to->idle += each[i].idle;
		to->outside += each[i].outside;
	}
	free(each);
	return 0;
}

/* Return: 1: every run of the program that began before now has ended; 0: not yet; -errno. */
static int landed(struct backend *b, struct bpf_flight *before)
{
	struct bpf_flight *each = read_cpus(b, b->skel->maps.flight, 0, sizeof(*each));
	int i, rc = 1;

	if (!each)
		return -errno;
	for (i = 0; i < b->cpus; i++) {
		if (!before[i].entered)
			before[i].entered = each[i].entered;
		if (each[i].left < before[i].entered)
			rc = 0;
	}
	free(each);
	return rc;
}

/*
 * Let the program count into another set, and wait until none of its runs can use the one before. A run says that it
 * has begun before it looks which set to use, and the barriers on both sides see to it that one of the two sees the
 * other: a run that is not seen here sees the new set. (On x86. Elsewhere an atomic addition whose result is not used
 * orders nothing, and one that is used needs 5.12.)
 */
static int change_set(struct backend *b, __u32 set)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000 };
	struct bpf_flight *before = calloc((size_t)b->cpus, sizeof(*before));
	int64_t waited = 0;
	int rc = before ? write_config(b, set) : -ENOMEM;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (!rc) {
		rc = landed(b, before);
		waited += pause.tv_nsec;
		if (!rc && waited > LAND_NS)
			rc = -ETIMEDOUT;
		if (!rc)
			nanosleep(&pause, NULL);
	}
	free(before);
	return rc > 0 ? 0 : rc;
}

/*
 * Delete every entry. The next key is asked for before one is deleted: behind a key that is gone the kernel begins at
 * the first place of the table again.
 * @key,@next: room for a key each, @key one that is not in the map
 * Return: 0; -EINVAL: this kernel does not tell the keys of such a map.
 */
static int clear_map(int fd, void *key, void *next, size_t key_size)
{
	int rc = bpf_map_get_next_key(fd, key, next) ? -errno : 0;

	while (!rc) {
		memcpy(key, next, key_size);
		rc = bpf_map_get_next_key(fd, key, next) ? -errno : 0;
		if (bpf_map_delete_elem(fd, key))
			return -errno;
	}
	return rc == -ENOENT ? 0 : rc;
}

static int clear_counts(struct backend *b, unsigned int set)
{
	struct bpf_count_key key = no_count(), next;

	return clear_map(bpf_map__fd(b->sets[set].counts), &key, &next, sizeof(key));
}

static int clear_stacks(struct backend *b, unsigned int set)
{
	const struct bpf_map *stacks = b->sets[set].stacks;
	__u32 key = UINT32_MAX, next;
	int rc = clear_map(bpf_map__fd(stacks), &key, &next, sizeof(key));

	return rc == -EINVAL ? kernel_clear_stack_map(bpf_map__fd(stacks), bpf_map__max_entries(stacks)) : rc;
}

static int clear_set(struct backend *b, unsigned int set)
{
	struct bpf_books *none = calloc((size_t)b->cpus, sizeof(*none));
	__u32 key = set;
	int rc = none ? clear_counts(b, set) : -ENOMEM;

	if (!rc)
		rc = clear_stacks(b, set);
	if (!rc && bpf_map_update_elem(bpf_map__fd(b->skel->maps.books), &key, none, BPF_ANY))
		rc = -errno;
	free(none);
	return rc;
}

static int bpf_end(struct backend *b, struct err *err)
{
	const struct capture *cap = b->cap;
	int rc = cap->set != cap->ended ? change_set(b, cap->set) : 0;

	if (rc)
		return err_sys(err, rc, "cannot switch the BPF program to another set of tables");
	b->books[cap->ended] = (struct books){ 0 };
	b->walk = no_count();
	rc = read_books(b, cap->ended);
	return rc ? err_sys(err, rc, "cannot read the books of the BPF program") : 0;
}

static int bpf_take(struct backend *b, struct err *err)
{
	const struct capture *cap = b->cap;
	int rc = read_counts(b, cap->ended);

	if (cap->options->stats)
		b->books[cap->ended].stack_entries = count_stacks(b, cap->ended);
	if (!rc && cap->set != cap->ended)
		rc = clear_set(b, cap->ended);
	return rc ? err_sys(err, rc, "cannot read the BPF maps") : 0;
}

/* Disabling the events will wait for the runs that have begun. */
static int bpf_stop(struct backend *b, struct err *err)
{
	int rc = write_config(b, BPF_SET_NONE);

	return rc ? err_sys(err, rc, "cannot tell the BPF program to end") : 0;
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

	while (left-- && !(rc = next_count(b, b->cap->set, key)))
		if (!fn(ctx, (pid_t)key->pid))
			return -EAGAIN;
	*key = no_count();
	return rc == -ENOENT ? 0 : rc ? rc : -EAGAIN;
}

static bool bpf_judged(struct backend *b, pid_t pid, enum descent what)
{
	__u32 key = (__u32)pid, in = what == DESCENT_IN;
	int fd = bpf_map__fd(b->skel->maps.targets);

	if (what == DESCENT_UNKNOWN)
		return !bpf_map_delete_elem(fd, &key);
	return !bpf_map_update_elem(fd, &key, &in, BPF_ANY);
}

static int bpf_read_note(const void *raw, size_t size, struct sample_note *out)
{
	struct bpf_note n;

	if (size < sizeof(n))
		return -EBADMSG;
	memcpy(&n, raw, sizeof(n));
	if (n.set > 1 || n.verdict > BPF_UNNUMBERED)
		return -EBADMSG;
	*out = (struct sample_note){
		.set = n.set,
		.verdict = n.verdict == BPF_COUNTED      ? NOTE_COUNTED
			   : n.verdict == BPF_SPILLED    ? NOTE_SPILLED
			   : n.verdict == BPF_UNKNOWN    ? NOTE_UNKNOWN
			   : n.verdict == BPF_UNNUMBERED ? NOTE_UNNUMBERED
							 : NOTE_FILTERED,
		.left = n.verdict == BPF_LEFT,
		.pid = (pid_t)n.pid,
		.tid = (pid_t)n.tid,
	};
	memcpy(out->comm, n.comm, LAYOUT_COMM_LEN);
	return 0;
}

static void bpf_stats(const struct backend *b, struct books *books)
{
	if (b)
		books_add(books, &b->books[b->cap->ended]);
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
	.source = bpf_source,
	.files = 16, /* a dozen maps, the program, and what libbpf opens while it loads them */
	.in_kernel = true,
	.probe = bpf_probe,
	.open = bpf_open,
	.attach = bpf_attach,
	.detach = bpf_detach,
	.start = bpf_start,
	.stop = bpf_stop,
	.end = bpf_end,
	.take = bpf_take,
	.pids = bpf_pids,
	.judged = bpf_judged,
	.note = bpf_read_note,
	.stats = bpf_stats,
	.close = bpf_close,
};
