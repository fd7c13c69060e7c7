// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/object.h"

#include "backend-bpf/offsets.h"
#include "backend-bpf/first_samples.h"
#include "core/arch/arch.h"
#include "core/host/causes.h"
#include "core/host/host.h"
#include "core/host/pidns.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/pinned.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(LAYOUT_COMM_LEN == COMM_LEN, "a comm is the same on both sides");
_Static_assert(sizeof(struct bpf_count_key) == 32, "a hash key must not have padding");

/*
 * With filter.tree: for how many processes the program can know whether they belong to the tree. User space decides
 * about others.
 */
#define TREE_ENTRIES 16384

/* The first warning from libbpf since this was cleared: it has more details than errno. Used only while loading. */
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

/*
 * @missing: the reason if a kernel refuses the smallest map or program (-EINVAL), because it lacks the type; NULL: not
 * known
 */
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

/* Return: how many CPUs there may ever be, as the kernel counts them in its maps; -errno, described. */
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

	if (!ARCH_ADD_IS_BARRIER) /* object_change_set() needs it */
		return err_set(err, -EOPNOTSUPP, "the BPF programs have no memory barrier for this processor");
	if (kernel_bpf_taints(&host_here) && !forced) {
		err_set(err, -EOPNOTSUPP, "the first use of bpf(2) would taint this kernel (technology preview)");
		err_remedy(err, "--backend=bpf, which taints it");
		return -EOPNOTSUPP;
	}
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
	if (!pidns_here(NULL) || libbpf_probe_bpf_helper(type, BPF_FUNC_get_ns_current_pid_tgid, NULL) == 1)
		return 0;
	err_set(err, -EOPNOTSUPP, "the BPF program cannot see the ids of this PID namespace (before Linux 5.7)");
	err_remedy(err, "run it in the PID namespace of the host");
	return -EOPNOTSUPP;
}

int object_init(struct counter *c, const struct source_env *env, unsigned int others, struct err *err)
{
	c->env = env;
	c->cpus = possible_cpus(err);
	if (c->cpus < 0)
		return err->code;
	c->depth = env->request->asked + others;
	c->tables.sizes = (struct map_sizes){ env->request->tables.counts, env->request->tables.stacks, 0, 0 };
	c->frames[0] = calloc(c->depth, sizeof(uint64_t));
	c->frames[1] = calloc(c->depth + 1, sizeof(uint64_t)); /* room for the leaf's return address */
	if (!c->frames[0] || !c->frames[1])
		return err_sys(err, -ENOMEM, "cannot open backend 'bpf'");
	libbpf_said[0] = 0;
	libbpf_set_print(keep_warning);
	return 0;
}

static int find_maps(struct counter *c, struct err *err)
{
	const struct {
		const char *name;
		struct bpf_map **map;
	} maps[] = {
		{ "config", &c->tables.config },      { "targets", &c->maps.targets },
		{ "cgroup", &c->maps.cgroup },        { "cgroup_ids", &c->maps.cgroup_ids },
		{ "mntns_ids", &c->maps.mntns_ids },  { "stats", &c->maps.stats },
		{ "flight", &c->maps.flight },        { "notes", &c->maps.notes },
		{ "seen", &c->maps.seen },          { "first", &c->maps.first },
		{ "counts_0", &c->tables.counts[0] }, { "counts_1", &c->tables.counts[1] },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(maps); i++) {
		*maps[i].map = bpf_object__find_map_by_name(c->bpf, maps[i].name);
		if (!*maps[i].map)
			return err_set(err, -ENOENT, "the embedded BPF object has no map '%s'", maps[i].name);
	}
	return 0;
}

int object_size_stacks(struct bpf_map *map, __u32 entries, unsigned int depth)
{
	int rc = bpf_map__set_max_entries(map, entries);

	return rc ? rc : bpf_map__set_value_size(map, depth * (__u32)sizeof(__u64));
}

/* The tables of the second set are needed only if there is a second interval. */
static int size_set(struct counter *c, unsigned int i)
{
	bool used = i == 0 || c->env->request->interval_ns, own = i == 0 || c->tables.stacks[i] != c->tables.stacks[0];
	int rc = bpf_map__set_max_entries(c->tables.counts[i], used ? c->tables.sizes.counts : 1);

	if (!rc && own)
		rc = object_size_stacks(c->tables.stacks[i], used ? c->tables.sizes.stacks : 1, c->depth);
	if (!rc && c->tables.shorts[i])
		rc = object_size_stacks(c->tables.shorts[i],
					used && c->tables.sizes.shorts ? c->tables.sizes.shorts : 1,
					c->tables.sizes.shorts ? BPF_SHORT_WORDS : 1);
	return rc;
}

/* CPU numbers may have holes, so there may be fewer CPUs than the highest number. */
static __u32 highest_cpu(const struct source_env *env)
{
	int highest = 0;
	size_t i;

	for (i = 0; i < env->events->nr_places; i++)
		if (env->events->places[i].cpu > highest)
			highest = env->events->places[i].cpu;
	return (__u32)highest;
}

static int size_maps(struct counter *c)
{
	const struct request *r = c->env->request;
	const struct filter *f = &r->filter;
	__u32 nr = f->tree ? TREE_ENTRIES : (__u32)f->nr;
	int rc = bpf_map__set_max_entries(c->maps.targets, nr ? nr : 1);

	if (!rc)
		rc = bpf_map__set_max_entries(c->maps.notes, highest_cpu(c->env) + 1);
	if (!rc)
		rc = bpf_map__set_max_entries(c->maps.first, highest_cpu(c->env) + 1);
	if (!rc)
		rc = bpf_map__set_max_entries(c->maps.seen, request_wants_first(r) ? proc_pid_words(r->host) : 1);
	if (!rc)
		rc = size_set(c, 0);
	return rc ? rc : size_set(c, 1);
}

/* Do not load the other programs, nor the maps that only they use: this kernel may not support them. */
static int choose_program(struct counter *c, const char *name)
{
	static const char *const groups[] = { "", "_in_cgroup", "_in_mntns", "_in_both" };
	const struct filter *f = &c->env->request->filter;
	bool by_cgroup = filter_by_cgroup(f), by_mntns = filter_by_mntns(f);
	int rc = bpf_map__set_autocreate(c->maps.cgroup, by_cgroup);
	struct bpf_program *p;
	char whole[64];

	if (!rc)
		rc = bpf_map__set_autocreate(c->maps.cgroup_ids, by_cgroup);
	if (!rc)
		rc = bpf_map__set_autocreate(c->maps.mntns_ids, by_mntns);
	if (!rc && f->cgroup_ids)
		rc = bpf_map__reuse_fd(c->maps.cgroup_ids, pinned_fd(f->cgroup_ids));
	if (!rc && f->mntns_ids)
		rc = bpf_map__reuse_fd(c->maps.mntns_ids, pinned_fd(f->mntns_ids));
	snprintf(whole, sizeof(whole), "%s%s%s", name, c->here ? "_here" : "",
		 groups[(by_cgroup ? 1 : 0) + (by_mntns ? 2 : 0)]);
	c->program = bpf_object__find_program_by_name(c->bpf, whole);
	if (!rc && !c->program)
		rc = -ENOENT;
	bpf_object__for_each_program(p, c->bpf) if (!rc) rc =
		bpf_program__set_autoload(p, p == c->program || p == c->dispatch);
	return rc;
}

static bool has_shorts(const struct counter *c)
{
	return c->tables.shorts[0] && c->tables.sizes.shorts;
}

static struct bpf_config configure(const struct counter *c)
{
	const struct filter *f = &c->env->request->filter;
	struct bpf_config config = {
		.by = f->tree     ? BPF_BY_TREE
		      : !f->nr    ? BPF_BY_NONE
		      : f->by_tid ? BPF_BY_TID
				  : BPF_BY_PID,
		.idle = f->idle && !f->tree, /* the idle task descends from no process */
		.no_kernel = f->no_kernel,
		.no_user = f->no_user,
		.pass_all = c->env->request->both,
		.unwind = !c->env->request->unwinds ? BPF_UNWIND_NONE
			  : c->env->request->proves ? BPF_UNWIND_UNPROVED
						    : BPF_UNWIND_ALL,
		.has_shorts = has_shorts(c),
		.proves_user = kernel_withholds_registers(),
		.by_comm = f->comm != NULL,
		.by_cgroup = f->cgroup != NULL,
		.by_cgroup_ids = f->cgroup_ids != NULL,
		.by_mntns_ids = f->mntns_ids != NULL,
		.mntns = (__u32)f->mntns,
		.mntns_at = c->config.mntns_at,
		.pidns = c->pidns.ino,
		.pidns_dev = c->pidns.dev,
		.pidns_at = c->config.pidns_at,
	};

	memcpy(config.outside_comm, COMM_OUTSIDE, sizeof(COMM_OUTSIDE));
	if (f->comm)
		memcpy(config.comm, f->comm, strnlen(f->comm, LAYOUT_COMM_LEN - 1));
	return config;
}

static int fill_maps(struct counter *c)
{
	const struct filter *f = &c->env->request->filter;
	int fd = f->cgroup ? cgroup_fd(f->cgroup) : -1;
	__u32 zero = 0, one = 1, id;
	size_t i;

	c->config = configure(c);
	if (f->cgroup && bpf_map_update_elem(bpf_map__fd(c->maps.cgroup), &zero, &fd, BPF_ANY))
		return -errno;
	for (i = 0; i < f->nr; i++) {
		id = (__u32)f->ids[i];
		if (bpf_map_update_elem(bpf_map__fd(c->maps.targets), &id, &one, BPF_ANY))
			return -errno;
	}
	return object_set(c, BPF_SET_NONE);
}

/*
 * Find the offsets of the mount namespace. If the program may not read the kernel's memory, every task would seem to
 * have no mount namespace.
 */
static int find_mntns(struct counter *c, struct err *err)
{
	struct cause why;

	if (cause_of_unreadable(c->env->request->host, &why))
		return cause_err(err, -EPERM, &why, "the BPF program may not read the mount namespaces of tasks");
	return offsets_of_mntns(&c->config.mntns_at, err);
}

int object_load(struct counter *c, struct bpf_object *bpf, const char *program, struct err *err)
{
	struct err unused;
	int rc;

	c->bpf = bpf;
	if (find_maps(c, err) || (filter_by_mntns(&c->env->request->filter) && find_mntns(c, err)))
		return err->code;
	c->here = pidns_here(&c->pidns);
	/*
	 * If the offsets cannot be found, user space identifies the tasks whose ids bpf_get_ns_current_pid_tgid() does
	 * not return.
	 */
	if (c->here)
		offsets_of_pidns(&c->config.pidns_at, &unused);
	rc = size_maps(c);
	if (!rc)
		rc = choose_program(c, program);
	if (!rc)
		rc = bpf_object__load(bpf);
	if (rc)
		return object_refused(err, rc, "the kernel refuses the BPF object");
	rc = fill_maps(c);
	return rc ? err_sys(err, rc, "cannot fill the BPF maps") : 0;
}

/*
 * If the kernel refuses the events with which the program reports processes, mappings are read later, and those of some
 * processes not at all: sink.first_refused makes the session warn about that.
 */
void object_watch_first(struct counter *c)
{
	const struct request *r = c->env->request;
	struct cause why;
	int rc;

	first_delete(c->first);
	c->first = NULL;
	if (!request_wants_first(r))
		return;
	rc = first_new(bpf_map__fd(c->maps.first), r->host, &c->first);
	libbpf_said[0] = 0;
	if (rc) {
		cause_of_ring(r->host, rc, &why);
		cause_err(&c->env->sink->first_refused, rc, &why, "cannot open the perf events for first samples");
		return;
	}
	first_begin(c->first, r->host, &r->filter);
}

/* Let @bpf use the maps of @c, except the tables. */
static int share_maps(const struct counter *c, struct bpf_object *bpf)
{
	static const char *const shared[] = { "targets", "cgroup", "cgroup_ids", "mntns_ids", "stats",   "flight",
					      "notes",   "seen",   "first",      "probe",     "programs" };
	struct bpf_map *from, *to;
	size_t i;
	int rc = 0;

	for (i = 0; i < ARRAY_SIZE(shared) && !rc; i++) {
		from = bpf_object__find_map_by_name(c->bpf, shared[i]);
		to = bpf_object__find_map_by_name(bpf, shared[i]);
		if (from && to && bpf_map__fd(from) >= 0)
			rc = bpf_map__reuse_fd(to, bpf_map__fd(from));
	}
	return rc;
}

int object_grow(const struct counter *c, struct bpf_object *bpf, const char *program, const struct tables *more,
		struct counter *grown, struct err *err)
{
	int rc;

	*grown = *c;
	grown->bpf = bpf;
	grown->tables = *more;
	grown->dispatch = NULL;
	if (find_maps(grown, err))
		return err->code;
	rc = size_maps(grown);
	if (!rc)
		rc = choose_program(grown, program);
	if (!rc)
		rc = share_maps(c, bpf);
	if (!rc)
		rc = bpf_object__load(bpf);
	grown->config.generation++;
	grown->config.has_shorts = has_shorts(grown);
	if (!rc)
		rc = object_set(grown, grown->config.set);
	return rc ? object_refused(err, rc, "the kernel refuses a larger BPF object") : 0;
}

void object_release(struct counter *c)
{
	first_delete(c->first);
	free(c->frames[0]);
	free(c->frames[1]);
	proved_release(&c->tables.proved);
}
