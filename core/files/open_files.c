// SPDX-License-Identifier: Apache-2.0
#include "core/files/open_files.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/faults.h"
#include "core/base/intern.h"
#include "core/files/worker.h"
#include "core/host/host.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define KEPT_MAX   1024 /* or a quarter of the descriptors that we may have, if that is less */
#define HUNG_MAX   8    /* then every request fails at once */
#define KEEP_SHARE 64   /* open_files_keep() may use one part in so many of the run time, plus HUNG_MAX timeouts */
#define COPY_TIMES 5    /* reading a file may take so many times the timeout for opening it */
#define COPY_MAX   (256ull << 20) /* bytes of one file */
#define COPIES_MAX (1ull << 30)   /* of all copies that may be kept: see read_to_keep() */
#define NS_LEN_MAX 64
#define MEMORY_MS  500 /* timeout; the kernel may have to read the pages from a disk */

/*
 * A request depends on a device, or on a mount namespace other than ours. A user can mount anything in a namespace
 * of their own. If a file hangs there, the same device is still good outside of it.
 */
struct asked {
	uint32_t maj, min; /* both 0: unknown */
	char mounts[NS_LEN_MAX];
};

struct kept {
	struct mapped_file file; /* with a path of its own */
	int fd;                  /* -errno: it cannot be read */
	bool local;              /* else @fd is an O_PATH descriptor, and reading the file depends on @asked */
	struct asked asked;
	uint64_t copied; /* bytes; 0: @fd is no copy */
	uint64_t used;   /* open_files.clock when it was found or used last */
};

struct open_files {
	struct search_places places;
	struct worker *worker;
	struct intern_table kept;
	size_t max; /* of them */
	uint64_t clock;
	uint64_t copied; /* bytes, of COPIES_MAX */
	int timeout_ms;
	char mounts[NS_LEN_MAX]; /* ours */
	struct asked hung[HUNG_MAX];
	size_t nr_hung, nr_given_up, nr_unserved;
	bool memory_hung;              /* see open_files_memory() */
	uint64_t began_ns, keeping_ns; /* see open_files_has_time() */
};

/* ---- requests to the worker, and its answers: sent as structs, because the worker is a fork of this process */

enum task {
	SEARCH, /* file_search() */
	BUILD,  /* file_open_build() */
	COPY,   /* file_copy() of the file whose descriptor comes with it */
	MEMORY, /* process_vm_readv(2) of a process */
};

struct request {
	enum task task;
	uint64_t max;  /* of COPY: bytes at most; of MEMORY: bytes */
	uint64_t addr; /* of MEMORY */
	struct file_search what;
	char path[]; /* terminated */
};

struct answer {
	struct stat st;
	bool local;
};

static int open_self(int fd, int flags)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	fd = open(self, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int copy(int handle, uint64_t max, struct worker_message *reply)
{
	int fd = open_self(handle, O_RDONLY | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0)
		return fd;
	rc = file_copy(fd, max);
	close(fd);
	if (rc < 0)
		return rc;
	reply->fd = rc;
	return 0;
}

/*
 * Hand on a file that is not local as an O_PATH descriptor. Closing any other descriptor calls the file system, too
 * (FUSE_FLUSH), and a process cannot even exit before that is answered.
 */
static int find_file(const struct search_places *places, const struct request *r, struct worker_message *reply)
{
	struct file_search what = r->what;
	struct answer *a = reply->data;
	struct found_file found;
	int rc;

	what.path = r->path;
	rc = r->task == BUILD ? file_open_build(r->path, &what.id, &found) : file_search(places, &what, &found);
	if (rc)
		return rc;
	if (!found.local) {
		rc = open_self(found.fd, O_PATH);
		close(found.fd);
		found.fd = rc;
	}
	if (found.fd < 0)
		return found.fd;
	memset(a, 0, sizeof(*a));
	a->st = found.st;
	a->local = found.local;
	reply->len = sizeof(*a);
	reply->fd = found.fd;
	return 0;
}

static int read_memory(const struct request *r, struct worker_message *reply)
{
	struct iovec to = { reply->data, r->max };
	struct iovec from = { (void *)(uintptr_t)r->addr, r->max }; /* NOLINT(performance-no-int-to-ptr) */
	ssize_t n = process_vm_readv(r->what.pids[0], &to, 1, &from, 1, 0);

	if (n < 0)
		return -errno;
	reply->len = (size_t)n;
	return (uint64_t)n == r->max ? 0 : -EFAULT;
}

static int serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	const struct request *r = request->data;
	int rc = r->task == COPY     ? copy(request->fd, r->max, reply)
		 : r->task == MEMORY ? read_memory(r, reply)
				     : find_file(ctx, r, reply);

	/* A file system may return any error. Replace those that mean to our caller that the worker failed. */
	return rc == -EAGAIN || rc == -ETIME || rc == -ECANCELED || rc == -EPIPE || rc == -EBADMSG ? -EIO : rc;
}

struct open_files *open_files_new(const struct host *host, const char *root, int timeout_ms)
{
	struct open_files *of = calloc(1, sizeof(*of));
	struct rlimit rl;

	if (!of)
		return NULL;
	of->places = (struct search_places){ host_tasks(host), root };
	of->timeout_ms = timeout_ms;
	of->began_ns = now_ns();
	of->max = KEPT_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur / 4 < KEPT_MAX)
		of->max = rl.rlim_cur / 4;
	if (readlink("/proc/self/ns/mnt", of->mounts, NS_LEN_MAX - 1) < 0)
		of->mounts[0] = 0;
	of->worker = worker_new(&(struct worker_job){ NULL, serve, &of->places });
	if (of->worker)
		return of;
	free(of);
	return NULL;
}

void open_files_start(struct open_files *of)
{
	worker_start(of->worker);
}

static void drop_kept(struct open_files *of, const struct kept *k)
{
	of->copied -= k->copied;
	if (k->fd >= 0)
		close(k->fd);
	free((char *)k->file.path);
}

void open_files_free(struct open_files *of)
{
	struct kept *v;
	size_t i;

	if (!of)
		return;
	v = of->kept.v;
	for (i = 0; i < of->kept.nr; i++)
		drop_kept(of, &v[i]);
	intern_release(&of->kept);
	worker_free(of->worker);
	free(of);
}

/* ---- requests that hang */

/*
 * The first mount namespace of @pids that is not ours; "" if all are ours, or cannot be read. Call this before the
 * request: when a file system has failed to answer, the process may be gone.
 */
static void read_mounts(const struct open_files *of, const pid_t *pids, char *mounts)
{
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < SEARCH_PIDS_MAX && pids[i]; i++) {
		if (snprintf(path, sizeof(path), "%s/%d/ns/mnt", of->places.proc, pids[i]) >= (int)sizeof(path))
			break;
		proc_readlink(path, mounts, NS_LEN_MAX);
		if (*mounts && strcmp(mounts, of->mounts))
			return;
	}
	mounts[0] = 0;
}

static bool is_hung(const struct open_files *of, const struct asked *asked)
{
	size_t i;

	for (i = 0; i < of->nr_hung; i++) {
		const struct asked *h = &of->hung[i];

		if (*h->mounts ? !strcmp(h->mounts, asked->mounts)
			       : (h->maj || h->min) && h->maj == asked->maj && h->min == asked->min)
			return true;
	}
	return of->nr_hung == HUNG_MAX;
}

/* An attacker cannot put anything into the directories of debug files: they belong to the caller or to root. */
static bool is_safe(const struct worker_message *request)
{
	return ((const struct request *)request->data)->task == BUILD;
}

/* Have the worker serve @request. */
static int ask_worker(struct open_files *of, const struct worker_message *request, struct worker_message *reply,
		      int timeout_ms, const struct asked *asked)
{
	int rc;

	if (is_hung(of, asked)) {
		of->nr_given_up++;
		return -ETIME;
	}
	rc = worker_start(of->worker);
	if (!rc)
		rc = worker_call(of->worker, request, reply, timeout_ms);
	if (rc == -EAGAIN && is_safe(request)) {
		reply->fd = -1;
		rc = serve(&of->places, request, reply); /* never -ETIME or -EAGAIN */
	}
	of->nr_unserved += rc == -EAGAIN;
	if (rc == -ETIME) {
		of->nr_given_up++;
		of->hung[of->nr_hung++] = *asked;
	}
	return rc == -ENOMEM || rc == -EIO ? fault(rc) : rc; /* count it here: the worker has its own counts */
}

size_t open_files_hung(const struct open_files *of)
{
	return of->nr_given_up;
}

size_t open_files_unserved(const struct open_files *of)
{
	return of->nr_unserved;
}

/* ---- searching */

static int search(struct open_files *of, enum task task, const struct file_search *what, const struct asked *asked,
		  struct found_file *out)
{
	size_t len = strlen(what->path) + 1;
	struct request *r = calloc(1, sizeof(*r) + len);
	struct worker_message request = { r, sizeof(*r) + len, -1 }, reply;
	struct answer a;
	int rc;

	if (!r)
		return fault(-ENOMEM);
	r->task = task;
	memcpy(&r->what, what, sizeof(*what));
	memcpy(r->path, what->path, len);
	reply = (struct worker_message){ &a, sizeof(a), -1 };
	rc = request.len > WORKER_MESSAGE_MAX ? -ENOENT : ask_worker(of, &request, &reply, of->timeout_ms, asked);
	free(r);
	if (!rc && (reply.len != sizeof(a) || reply.fd < 0)) {
		if (reply.fd >= 0)
			close(reply.fd);
		return -EBADMSG;
	}
	if (!rc)
		*out = (struct found_file){ reply.fd, a.local, a.st };
	return rc;
}

/* Return: a descriptor of a copy of @handle in memory, or -errno. The caller still owns @handle. */
static int read_all(struct open_files *of, int handle, uint64_t max, const struct asked *asked)
{
	struct request r = { .task = COPY, .max = max < COPY_MAX ? max : COPY_MAX };
	struct worker_message request = { &r, sizeof(r), handle }, reply = { NULL, 0, -1 };
	int rc = ask_worker(of, &request, &reply, COPY_TIMES * of->timeout_ms, asked);

	if (!rc && reply.fd < 0)
		rc = -EBADMSG;
	return rc ? rc : reply.fd;
}

/* The same for a copy that may stay in memory for the rest of the run. */
static int read_to_keep(struct open_files *of, int handle, const struct asked *asked)
{
	int fd = read_all(of, handle, COPIES_MAX - of->copied, asked);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		of->copied += (uint64_t)st.st_size;
	return fd;
}

/* Takes over the descriptor of @found. */
static int readable(struct open_files *of, const struct found_file *found, bool brief, const struct asked *asked)
{
	int fd;

	if (found->local)
		return found->fd;
	fd = brief ? read_all(of, found->fd, COPY_MAX, asked) : read_to_keep(of, found->fd, asked);
	close(found->fd);
	return fd;
}

int open_files_search(struct open_files *of, const struct file_search *what, struct stat *st)
{
	struct asked asked = { major(what->dev), minor(what->dev), "" };
	struct found_file found;
	int rc;

	read_mounts(of, what->pids, asked.mounts);
	rc = search(of, SEARCH, what, &asked, &found);
	if (rc)
		return rc;
	if (st)
		*st = found.st;
	return readable(of, &found, st, &asked);
}

int open_files_build(struct open_files *of, const char *path, const struct build_id *id)
{
	const struct file_search what = { .path = path, .id = *id };
	const struct asked asked = { 0 };
	struct found_file found;
	int rc = search(of, BUILD, &what, &asked, &found);

	return rc ? rc : readable(of, &found, false, &asked);
}

int open_files_memory(struct open_files *of, pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct request r = { .task = MEMORY, .max = len, .addr = addr, .what = { .pids = { pid } } };
	struct worker_message request = { &r, sizeof(r), -1 }, reply = { to, len, -1 };
	int rc = of->memory_hung || len > WORKER_MESSAGE_MAX ? -ETIME : worker_start(of->worker);

	if (!rc)
		rc = worker_call(of->worker, &request, &reply, MEMORY_MS);
	of->memory_hung |= rc == -ETIME;
	return rc;
}

/* ---- keeping */

static const struct intern_kind kept_kind = INTERN_CUSTOM(struct kept, file, mapped_file_hash, mapped_file_equal);

static struct kept *find_kept(struct open_files *of, const struct mapped_file *file)
{
	struct kept *k = intern_find(&of->kept, &kept_kind, file);

	if (k)
		k->used = ++of->clock;
	return k;
}

/* Drop the file that was used longest ago; there is at least one. */
static void drop_oldest(struct open_files *of)
{
	struct kept *v = of->kept.v, *oldest = v, gone;
	size_t i;

	for (i = 1; i < of->kept.nr; i++)
		if (v[i].used < oldest->used)
			oldest = &v[i];
	gone = *oldest;
	intern_delete(&of->kept, &kept_kind, oldest);
	drop_kept(of, &gone);
}

/* Takes over the descriptor of @found. */
static void keep_found(struct open_files *of, const struct mapped_file *file, const struct found_file *found,
		       const struct asked *asked)
{
	char *path = strdup(file->path);
	struct kept *k = NULL;
	bool is_new;

	if (path && of->kept.nr && of->kept.nr == of->max)
		drop_oldest(of);
	if (path && of->max)
		k = intern(&of->kept, &kept_kind, file, &is_new);
	if (!k) {
		free(path);
		close(found->fd);
		return;
	}
	*k = (struct kept){ *file, found->fd, found->local, *asked, 0, ++of->clock };
	k->file.path = path;
}

/*
 * A file system that answers just in time does not count as hung, and a process may have mapped 65,000 of its files.
 * This limits only files that are opened ahead of use: a file that is needed now is opened in any case.
 */
bool open_files_has_time(const struct open_files *of)
{
	uint64_t hangs = (uint64_t)HUNG_MAX * (uint64_t)of->timeout_ms * 1000000;

	return of->keeping_ns <= hangs + (now_ns() - of->began_ns) / KEEP_SHARE;
}

void open_files_spend(struct open_files *of, uint64_t ns)
{
	of->keeping_ns += ns;
}

static int search_to_keep(struct open_files *of, const struct file_search *what, const struct asked *asked,
			  struct found_file *found)
{
	uint64_t began = now_ns();
	int rc = search(of, SEARCH, what, asked, found);

	open_files_spend(of, now_ns() - began);
	return rc;
}

bool open_files_keep(struct open_files *of, const pid_t *pids, size_t nr, const struct mapping *m)
{
	const struct mapped_file *file = m->file;
	struct file_search what = { .start = m->start, .end = m->end, .path = "", .ino = file->ino };
	struct asked asked = { file->maj, file->min, "" };
	struct found_file found;
	int rc;

	if (mapped_file_is_memory(file) || find_kept(of, file))
		return true;
	if (!open_files_has_time(of)) {
		of->nr_given_up++;
		return false;
	}
	/* Without an inode, only the path says which file it is, and another process may have another file there. */
	if (!file->ino)
		nr = nr > 1 ? 1 : nr;
	if (nr > SEARCH_PIDS_MAX)
		nr = SEARCH_PIDS_MAX;
	memcpy(what.pids, pids, nr * sizeof(*pids));
	if (mapped_file_has_path(file)) {
		what.path = file->path;
		what.host = true;
	}
	what.dev = makedev(file->maj, file->min);
	what.by_build = build_id_set(&what.id, file->build_id, file->build_id_size);
	read_mounts(of, what.pids, asked.mounts);
	/* Do not count it as given up: nothing may ever need this file. */
	if (is_hung(of, &asked))
		return !*asked.mounts;
	rc = search_to_keep(of, &what, &asked, &found);
	if (!rc)
		keep_found(of, file, &found, &asked);
	if (rc == -ETIME)
		return !*asked.mounts;
	return rc != -ENOENT && rc != -ESTALE && rc != -EAGAIN && !descriptors_ran_out(rc);
}

/* Return true if it is of no use to try again. */
static bool is_final(int rc)
{
	return rc != -ETIME && rc != -ECANCELED && rc != -EAGAIN && !descriptors_ran_out(rc) && rc != -ENOMEM;
}

int open_files_get(struct open_files *of, const struct mapped_file *file)
{
	struct kept *k = find_kept(of, file);
	uint64_t before = of->copied;
	int fd;

	if (!k)
		return -ENOENT;
	if (!k->local) {
		fd = read_to_keep(of, k->fd, &k->asked);
		k->copied = of->copied - before;
		if (fd < 0 && !is_final(fd))
			return fd;
		close(k->fd);
		k->fd = fd;
		k->local = true;
	}
	fd = k->fd < 0 ? k->fd : fcntl(k->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 && k->fd >= 0 ? -errno : fd;
}
