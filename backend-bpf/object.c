// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/object.h"

#include "backend-bpf/offsets.h"
#include "compat/bpf_map.h"
#include "core/arch/arch.h"
#include "core/host/causes.h"
#include "core/host/pidns.h"
#include "core/rows/callchain.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/pinned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(LAYOUT_COMM_LEN == COMM_LEN, "a comm is the same on both sides");
_Static_assert(ARCH_ADD_IS_BARRIER, "object_change_set() needs it");
_Static_assert(sizeof(struct bpf_count_key) == 28, "a hash key must not have padding");

#define TREE_ENTRIES                                                                                                   \
	16384 /* processes of which it is known whether they are the command's; of more the reader tells               \
	       */

#define LAND_NS (1000 * 1000 * 1000LL) /* how long a running program is waited for */

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

int object_refused(struct err *err, int code, const char *what)
{
	return probe_error(err, code, what, NULL);
}

/* Return: how many may ever be there, as the kernel counts them in its maps; -errno, described. */
static int possible_cpus(struct err *err)
{
	int nr = libbpf_num_possible_cpus();

	return nr > 0 ? nr : err_sys(err, nr ? nr : -EINVAL, "cannot read /sys/devices/system/cpu/possible");
}

int object_probe(enum bpf_prog_type type, const char *what, const char *missing, bool forced, struct err *err)
{
	/* r0 = 0; exit */
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	char cannot[80];
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
	fd = bpf_prog_load(type, NULL, "GPL", nothing, ARRAY_SIZE(nothing), NULL);
	snprintf(cannot, sizeof(cannot), "cannot load a BPF program for %s", what);
	if (fd < 0)
		return probe_error(err, -errno, cannot, missing);
	close(fd);
	if (pidns_here(NULL) && libbpf_probe_bpf_helper(type, BPF_FUNC_get_ns_current_pid_tgid, NULL) != 1)
		return err_set(err, -EOPNOTSUPP,
			       "in a pid namespace the program would see other ids than /proc has (before Linux 5.7)");
	return 0;
}

static struct bpf_count_key no_count(void)
{
	struct bpf_count_key key;

	memset(&key, 0xff, sizeof(key));
	return key;
}

int object_init(struct object *o, const struct source_env *env, struct err *err)
{
	o->env = env;
	o->walk = no_count();
	o->cpus = possible_cpus(err);
	if (o->cpus < 0)
		return err->code;
	o->depth = env->request->asked + 1; /* since 5.9 an entry begins with a marker */
	o->frames[0] = calloc(o->depth, sizeof(uint64_t));
	o->frames[1] = calloc(o->depth, sizeof(uint64_t));
	if (!o->frames[0] || !o->frames[1])
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	libbpf_said[0] = 0;
	libbpf_set_print(keep_warning);
	return 0;
}

static int find_maps(struct object *o, struct err *err)
{
	const struct {
		const char *name;
		struct bpf_map **map;
	} maps[] = {
		{ "config", &o->maps.config },       { "targets", &o->maps.targets },
		{ "cgroup", &o->maps.cgroup },       { "cgroup_ids", &o->maps.cgroup_ids },
		{ "mntns_ids", &o->maps.mntns_ids }, { "stats", &o->maps.stats },
		{ "flight", &o->maps.flight },       { "notes", &o->maps.notes },
		{ "counts_0", &o->maps.counts[0] },  { "counts_1", &o->maps.counts[1] },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(maps); i++) {
		*maps[i].map = bpf_object__find_map_by_name(o->bpf, maps[i].name);
		if (!*maps[i].map)
			return err_set(err, -ENOENT, "the embedded BPF object has no map '%s'", maps[i].name);
	}
	return 0;
}

/* Tables of the second set are needed only where there is a second interval. */
static int size_set(struct object *o, unsigned int i)
{
	const struct options *opts = o->env->request->options;
	bool used = i == 0 || opts->interval_ns, own = i == 0 || o->maps.stacks[i] != o->maps.stacks[0];
	int rc = bpf_map__set_max_entries(o->maps.counts[i], used ? opts->hash_entries : 1);

	if (!rc && own)
		rc = bpf_map__set_max_entries(o->maps.stacks[i], used ? opts->stack_entries : 1);
	if (!rc && own)
		rc = bpf_map__set_value_size(o->maps.stacks[i], o->depth * (__u32)sizeof(__u64));
	return rc;
}

/* Their numbers may have holes, so there may be fewer of them. */
static __u32 highest_cpu(const struct source_env *env)
{
	int highest = 0;
	size_t i;

	for (i = 0; i < env->events->nr_places; i++)
		if (env->events->places[i].cpu > highest)
			highest = env->events->places[i].cpu;
	return (__u32)highest;
}

static int size_maps(struct object *o)
{
	const struct options *opts = o->env->request->options;
	__u32 nr = o->env->request->filter.tree ? TREE_ENTRIES : (__u32)opts->nr_pids;
	int rc = bpf_map__set_max_entries(o->maps.targets, nr ? nr : 1);

	if (!rc)
		rc = bpf_map__set_max_entries(o->maps.notes, highest_cpu(o->env) + 1);
	if (!rc)
		rc = size_set(o, 0);
	return rc ? rc : size_set(o, 1);
}

/* The others are not loaded, nor the maps that they alone use: this kernel may not know what is in them. */
static int choose_program(struct object *o, const char *name)
{
	static const char *const groups[] = { "", "_in_cgroup", "_in_mntns", "_in_both" };
	const struct filter *f = &o->env->request->filter;
	bool by_cgroup = filter_by_cgroup(f), by_mntns = filter_by_mntns(f);
	int rc = bpf_map__set_autocreate(o->maps.cgroup, by_cgroup);
	struct bpf_program *p;
	char whole[64];

	if (!rc)
		rc = bpf_map__set_autocreate(o->maps.cgroup_ids, by_cgroup);
	if (!rc)
		rc = bpf_map__set_autocreate(o->maps.mntns_ids, by_mntns);
	if (!rc && f->cgroup_ids)
		rc = bpf_map__reuse_fd(o->maps.cgroup_ids, pinned_fd(f->cgroup_ids));
	if (!rc && f->mntns_ids)
		rc = bpf_map__reuse_fd(o->maps.mntns_ids, pinned_fd(f->mntns_ids));
	snprintf(whole, sizeof(whole), "%s%s%s", name, o->here ? "_here" : "",
		 groups[(by_cgroup ? 1 : 0) + (by_mntns ? 2 : 0)]);
	o->program = bpf_object__find_program_by_name(o->bpf, whole);
	if (!rc && !o->program)
		rc = -ENOENT;
	bpf_object__for_each_program(p, o->bpf) if (!rc) rc = bpf_program__set_autoload(p, p == o->program);
	return rc;
}

int object_set(struct object *o, uint32_t set)
{
	__u32 zero = 0;

	o->config.set = set;
	return bpf_map_update_elem(bpf_map__fd(o->maps.config), &zero, &o->config, BPF_ANY) ? -errno : 0;
}

static struct bpf_config configure(const struct object *o)
{
	const struct options *opts = o->env->request->options;
	const struct filter *f = &o->env->request->filter;
	struct bpf_config c = {
		.by = f->tree          ? BPF_BY_TREE
		      : !opts->nr_pids ? BPF_BY_NONE
		      : opts->by_tid   ? BPF_BY_TID
				       : BPF_BY_PID,
		.idle = opts->include_idle && !f->tree, /* it descends from nobody */
		.no_kernel = opts->user_only,
		.no_user = opts->kernel_only,
		.pass_all = o->env->request->both,
		.unwind = o->env->request->unwinds,
		.by_comm = f->comm != NULL,
		.by_cgroup = f->cgroup != NULL,
		.by_cgroup_ids = f->cgroup_ids != NULL,
		.by_mntns_ids = f->mntns_ids != NULL,
		.mntns = (__u32)f->mntns,
		.mntns_at = o->config.mntns_at,
		.pidns = o->pidns.ino,
		.pidns_dev = o->pidns.dev,
		.pidns_at = o->config.pidns_at,
	};

	memcpy(c.outside_comm, COMM_OUTSIDE, sizeof(COMM_OUTSIDE));
	if (f->comm)
		memcpy(c.comm, f->comm, strnlen(f->comm, LAYOUT_COMM_LEN - 1));
	return c;
}

static int fill_maps(struct object *o)
{
	const struct options *opts = o->env->request->options;
	struct cgroup *cgroup = o->env->request->filter.cgroup;
	int fd = cgroup ? cgroup_fd(cgroup) : -1;
	__u32 zero = 0, one = 1, id;
	size_t i;

	o->config = configure(o);
	if (cgroup && bpf_map_update_elem(bpf_map__fd(o->maps.cgroup), &zero, &fd, BPF_ANY))
		return -errno;
	for (i = 0; i < opts->nr_pids; i++) {
		id = (__u32)opts->pids[i];
		if (bpf_map_update_elem(bpf_map__fd(o->maps.targets), &id, &one, BPF_ANY))
			return -errno;
	}
	return object_set(o, BPF_SET_NONE);
}

/* Where the program finds the mount namespace of a task: if it may not look there, each would seem to have none. */
static int find_mntns(struct object *o, struct err *err)
{
	struct cause why;

	if (cause_of_unreadable(o->env->request->host, &why))
		return cause_err(err, -EPERM, &why, "the BPF program may not read the mount namespaces of tasks");
	return offsets_of_mntns(&o->config.mntns_at, err);
}

int object_load(struct object *o, struct bpf_object *bpf, const char *program, struct err *err)
{
	struct err unused;
	int rc;

	o->bpf = bpf;
	if (find_maps(o, err) || (filter_by_mntns(&o->env->request->filter) && find_mntns(o, err)))
		return err->code;
	o->here = pidns_here(&o->pidns);
	/* Without them, whom the helper cannot number is left to the ring's reader. */
	if (o->here)
		offsets_of_pidns(&o->config.pidns_at, &unused);
	rc = size_maps(o);
	if (!rc)
		rc = choose_program(o, program);
	if (!rc)
		rc = bpf_object__load(bpf);
	if (rc)
		return object_refused(err, rc, "the kernel refuses the BPF object");
	rc = fill_maps(o);
	return rc ? err_sys(err, rc, "cannot fill the BPF maps") : 0;
}

void object_release(struct object *o)
{
	free(o->frames[0]);
	free(o->frames[1]);
}

/* The map would keep an event for ever. */
int object_notes(struct object *o, int cpu, int fd, struct err *err)
{
	__u32 key = (__u32)cpu;

	if (fd < 0)
		bpf_map_delete_elem(bpf_map__fd(o->maps.notes), &key);
	else if (bpf_map_update_elem(bpf_map__fd(o->maps.notes), &key, &fd, BPF_ANY))
		return err_sys(err, -errno, "cannot give the BPF program the ring of CPU %d", cpu);
	return 0;
}

/*
 * The key behind @key; 0, -ENOENT at the end, or another -errno. A key that is not in the table is followed by the
 * first: NULL for that came with 4.12.
 */
static int next_count(const struct object *o, unsigned int set, struct bpf_count_key *key)
{
	return bpf_map_get_next_key(bpf_map__fd(o->maps.counts[set]), key, key) ? -errno : 0;
}

static int read_stack(struct object *o, unsigned int set, __s32 id, int side, struct stack *out)
{
	__u32 key = (__u32)id;

	*out = (struct stack){ .state = STACK_NONE };
	if (id < 0)
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(o->maps.stacks[set]), &key, o->frames[side])) {
		out->state = STACK_MISSED;
		return errno == ENOENT ? 0 : -errno;
	}
	callchain_entry(o->frames[side], o->depth, out);
	return 0;
}

int object_row_key(struct object *o, unsigned int set, const struct bpf_count_key *key, struct row_key *out)
{
	int rc;

	*out = (struct row_key){ .pid = (pid_t)key->pid };
	memcpy(out->comm, key->comm, COMM_LEN);
	rc = read_stack(o, set, key->kernel_stack, 0, &out->kernel);
	if (!rc)
		rc = read_stack(o, set, key->user_stack, 1, &out->user);
	if (!rc)
		callchain_limit(o->env->request->asked, &out->kernel, &out->user);
	return rc;
}

int object_counts(struct object *o, unsigned int set, void *value,
		  int (*fn)(void *ctx, const struct bpf_count_key *key, const void *value), void *ctx)
{
	struct bpf_count_key key = no_count();
	int rc;

	while (!(rc = next_count(o, set, &key))) {
		rc = bpf_map_lookup_elem(bpf_map__fd(o->maps.counts[set]), &key, value) ? -errno : 0;
		if (!rc)
			rc = fn(ctx, &key, value);
		if (rc)
			return rc;
	}
	return rc == -ENOENT ? 0 : rc;
}

uint64_t object_nr_stacks(const struct object *o, unsigned int set)
{
	__u32 id = UINT32_MAX;
	uint64_t nr = 0;

	while (!bpf_map_get_next_key(bpf_map__fd(o->maps.stacks[set]), &id, &id))
		nr++;
	return nr;
}

/* Values of one key of a per-CPU map, @size bytes for each CPU: to be freed; NULL: errno says why. */
static void *read_cpus(const struct object *o, const struct bpf_map *map, __u32 key, size_t size)
{
	void *each = calloc((size_t)o->cpus, size);

	if (!each || !bpf_map_lookup_elem(bpf_map__fd(map), &key, each))
		return each;
	free(each);
	return NULL;
}

int object_stats(const struct object *o, unsigned int set, uint64_t *sum, size_t nr)
{
	__u64 *each = read_cpus(o, o->maps.stats, set, nr * sizeof(*each));
	size_t i;

	if (!each)
		return -errno;
	for (i = 0; i < (size_t)o->cpus * nr; i++)
		sum[i % nr] += each[i];
	free(each);
	return 0;
}

/* Return: 1: every run of the program that began before now has ended; 0: not yet; -errno. */
static int landed(struct object *o, struct bpf_flight *before)
{
	struct bpf_flight *each = read_cpus(o, o->maps.flight, 0, sizeof(*each));
	int i, rc = 1;

	if (!each)
		return -errno;
	for (i = 0; i < o->cpus; i++) {
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
 * other: a run that is not seen here sees the new set. In the program the addition is the barrier: ARCH_ADD_IS_BARRIER.
 */
int object_change_set(struct object *o, uint32_t set)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000 };
	struct bpf_flight *before = calloc((size_t)o->cpus, sizeof(*before));
	int64_t waited = 0;
	int rc = before ? object_set(o, set) : -ENOMEM;

	o->walk = no_count();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (!rc) {
		rc = landed(o, before);
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

static int clear_counts(struct object *o, unsigned int set)
{
	struct bpf_count_key key = no_count(), next;

	return clear_map(bpf_map__fd(o->maps.counts[set]), &key, &next, sizeof(key));
}

static int clear_stacks(struct object *o, unsigned int set)
{
	const struct bpf_map *stacks = o->maps.stacks[set];
	__u32 key = UINT32_MAX, next;
	int rc = clear_map(bpf_map__fd(stacks), &key, &next, sizeof(key));

	return rc == -EINVAL ? kernel_clear_stack_map(bpf_map__fd(stacks), bpf_map__max_entries(stacks)) : rc;
}

int object_clear(struct object *o, unsigned int set)
{
	void *none = calloc((size_t)o->cpus, bpf_map__value_size(o->maps.stats));
	__u32 key = set;
	int rc = none ? clear_counts(o, set) : -ENOMEM;

	if (!rc && o->maps.stacks[0] != o->maps.stacks[1])
		rc = clear_stacks(o, set);
	if (!rc && bpf_map_update_elem(bpf_map__fd(o->maps.stats), &key, none, BPF_ANY))
		rc = -errno;
	free(none);
	return rc;
}

/*
 * get_next_key alone: a lookup of a value would make the kernel skip samples of this CPU meanwhile. While keys come a
 * walk need not end, so it is bounded by the table's size.
 */
int object_pids(struct object *o, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct bpf_count_key own = no_count(), *key = resume ? &o->walk : &own;
	uint64_t left = (uint64_t)o->env->request->options->hash_entries + 1; /* the end is behind the last one */
	int rc = 0;

	while (left-- && !(rc = next_count(o, o->env->sink->set, key)))
		if (!fn(ctx, (pid_t)key->pid))
			return -EAGAIN;
	*key = no_count();
	return rc == -ENOENT ? 0 : rc ? rc : -EAGAIN;
}

bool object_judged(struct object *o, pid_t pid, enum descent what)
{
	__u32 key = (__u32)pid, in = what == DESCENT_IN;
	int fd = bpf_map__fd(o->maps.targets);

	if (what == DESCENT_UNKNOWN)
		return !bpf_map_delete_elem(fd, &key);
	return !bpf_map_update_elem(fd, &key, &in, BPF_ANY);
}

int object_note(const struct bpf_note *note, struct sample_note *out)
{
	if (note->set > 1 || note->verdict > BPF_UNNUMBERED)
		return -EBADMSG;
	*out = (struct sample_note){
		.set = note->set,
		.verdict = note->verdict == BPF_COUNTED      ? NOTE_COUNTED
			   : note->verdict == BPF_SPILLED    ? NOTE_SPILLED
			   : note->verdict == BPF_UNKNOWN    ? NOTE_UNKNOWN
			   : note->verdict == BPF_UNNUMBERED ? NOTE_UNNUMBERED
							     : NOTE_FILTERED,
		.left = note->verdict == BPF_LEFT,
		.pid = (pid_t)note->pid,
		.tid = (pid_t)note->tid,
	};
	memcpy(out->comm, note->comm, LAYOUT_COMM_LEN);
	return 0;
}
