// SPDX-License-Identifier: Apache-2.0
#include "core/open_files.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define KEPT_MAX   1024 /* and a quarter of the descriptors that we may have */
#define HUNG_MAX   8    /* then nothing is asked any more */
#define OPEN_MS    2000
#define COPY_MS    10000
#define NS_LEN_MAX 64

struct kept {
	struct mapped_file file; /* with a path of its own */
	uint64_t hash;
	int fd;
	bool local;
	uint64_t used; /* open_files.clock when it was mapped or asked for last */
};

/* What did not answer: a device, or a mount namespace other than ours. */
struct hung {
	uint32_t maj, min;
	char mounts[NS_LEN_MAX];
};

struct open_files {
	struct search_places places;
	struct worker *worker;
	struct kept *v;
	size_t nr, cap, max;
	struct hash_index index;
	uint64_t clock;
	struct hung hung[HUNG_MAX];
	size_t nr_hung, nr_given_up;
};

/* ---- what the worker is asked for, and its answer; both stay on this host */

struct request {
	bool copy; /* of the descriptor that comes with it */
	struct file_search what;
	char path[]; /* terminated */
};

struct answer {
	struct stat st;
	bool local;
};

static int serve(void *ctx, const struct worker_message *request, struct worker_message *reply)
{
	const struct request *r = request->data;
	struct file_search what = r->what;
	struct answer *a = reply->data;
	struct found_file found;
	int rc;

	if (r->copy) {
		rc = file_copy(request->fd);
		reply->fd = rc;
		return rc < 0 ? rc : 0;
	}
	what.path = r->path;
	rc = file_search(ctx, &what, &found);
	if (rc)
		return rc;
	*a = (struct answer){ found.st, found.local };
	reply->len = sizeof(*a);
	reply->fd = found.fd;
	return 0;
}

struct open_files *open_files_new(const struct host *host, const char *root)
{
	struct open_files *of = calloc(1, sizeof(*of));
	struct worker_job job = { NULL, serve, NULL };
	struct rlimit rl;

	if (!of)
		return NULL;
	of->places = (struct search_places){ host->proc, root };
	of->max = KEPT_MAX;
	/* The run raises the limit to that. */
	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_max / 4 < KEPT_MAX)
		of->max = rl.rlim_max / 4;
	job.ctx = &of->places;
	of->worker = worker_new(&job);
	if (of->worker)
		return of;
	free(of);
	return NULL;
}

static void drop(struct kept *k)
{
	close(k->fd);
	free((char *)k->file.path);
}

void open_files_free(struct open_files *of)
{
	size_t i;

	if (!of)
		return;
	for (i = 0; i < of->nr; i++)
		drop(&of->v[i]);
	free(of->v);
	hash_release(&of->index);
	worker_free(of->worker);
	free(of);
}

/* ---- what hangs */

/* The mount namespace of @pid, "" where it is ours, or not to be seen. */
static void read_mounts(const struct open_files *of, pid_t pid, char *mounts)
{
	char path[PATH_MAX], ours[NS_LEN_MAX] = "";

	memset(mounts, 0, NS_LEN_MAX);
	if (snprintf(path, sizeof(path), "%s/%d/ns/mnt", of->places.proc, pid) >= (int)sizeof(path) ||
	    readlink(path, mounts, NS_LEN_MAX - 1) < 0 || readlink("/proc/self/ns/mnt", ours, NS_LEN_MAX - 1) < 0 ||
	    !strcmp(mounts, ours))
		mounts[0] = 0;
}

static bool is_hung(const struct open_files *of, const struct hung *asked)
{
	size_t i;

	for (i = 0; i < of->nr_hung; i++) {
		const struct hung *h = &of->hung[i];

		if (*h->mounts ? !strcmp(h->mounts, asked->mounts)
			       : (h->maj || h->min) && h->maj == asked->maj && h->min == asked->min)
			return true;
	}
	return of->nr_hung == HUNG_MAX;
}

/*
 * Have the worker do it. Where no worker can be had it is done here, whatever may come of it.
 * @asked: its mounts are filled in
 */
static int ask(struct open_files *of, const struct worker_message *request, struct worker_message *reply,
	       int timeout_ms, struct hung *asked)
{
	const struct request *r = request->data;
	int rc;

	if (of->nr_hung && r->what.pids[0])
		read_mounts(of, r->what.pids[0], asked->mounts);
	if (is_hung(of, asked)) {
		of->nr_given_up++;
		return -ETIME;
	}
	rc = worker_call(of->worker, request, reply, timeout_ms);
	if (rc == -EAGAIN) {
		reply->fd = -1;
		return serve(&of->places, request, reply);
	}
	if (rc != -ETIME)
		return rc;
	of->nr_given_up++;
	read_mounts(of, r->what.pids[0], asked->mounts);
	of->hung[of->nr_hung++] = *asked;
	return rc;
}

size_t open_files_hung(const struct open_files *of)
{
	return of->nr_given_up;
}

/* ---- searching */

static int search(struct open_files *of, const struct file_search *what, struct hung *asked, struct found_file *out)
{
	size_t len = strlen(what->path) + 1;
	struct request *r = calloc(1, sizeof(*r) + len);
	struct worker_message request = { r, sizeof(*r) + len, -1 }, reply;
	struct answer a;
	int rc;

	if (!r)
		return -ENOMEM;
	r->what = *what;
	memcpy(r->path, what->path, len);
	reply = (struct worker_message){ &a, sizeof(a), -1 };
	rc = request.len > WORKER_MESSAGE_MAX ? -ENOENT : ask(of, &request, &reply, OPEN_MS, asked);
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

/* @fd itself, or where reading it may take for ever, a copy. It stays the caller's. */
static int readable(struct open_files *of, int fd, bool local, struct hung *asked)
{
	struct request r = { .copy = true };
	struct worker_message request = { &r, sizeof(r), fd }, reply = { NULL, 0, -1 };
	int rc;

	if (local) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	rc = ask(of, &request, &reply, COPY_MS, asked);
	return rc ? rc : reply.fd;
}

int open_files_search(struct open_files *of, const struct file_search *what, uint32_t maj, uint32_t min,
		      struct stat *st)
{
	struct hung asked = { maj, min, "" };
	struct found_file found;
	int rc = search(of, what, &asked, &found), fd;

	if (rc)
		return rc;
	if (st)
		*st = found.st;
	if (found.local)
		return found.fd;
	fd = readable(of, found.fd, false, &asked);
	close(found.fd);
	return fd;
}

/* ---- keeping */

static bool same_file(const void *table, uint32_t pos, const void *key)
{
	const struct kept *v = table;

	return mapped_file_equal(&v[pos].file, key);
}

static struct kept *find(struct open_files *of, const struct mapped_file *file)
{
	uint32_t pos = hash_find(&of->index, mapped_file_hash(file), same_file, of->v, file);

	if (pos == HASH_NONE)
		return NULL;
	of->v[pos].used = ++of->clock;
	return &of->v[pos];
}

/* A place for a new one, perhaps that of the one that was of use longest ago. NULL: no memory. */
static struct kept *take_place(struct open_files *of)
{
	size_t i, oldest = 0;
	struct kept *v;

	if (of->nr < of->max) {
		v = grow(of->v, &of->cap, of->nr, 1, sizeof(*v));
		if (!v)
			return NULL;
		of->v = v;
		return &v[of->nr];
	}
	for (i = 1; i < of->nr; i++)
		if (of->v[i].used < of->v[oldest].used)
			oldest = i;
	hash_del(&of->index, of->v[oldest].hash, (uint32_t)oldest);
	drop(&of->v[oldest]);
	of->nr--;
	if (oldest != of->nr) {
		of->v[oldest] = of->v[of->nr];
		hash_move(&of->index, of->v[oldest].hash, (uint32_t)of->nr, (uint32_t)oldest);
	}
	return &of->v[of->nr];
}

/* Takes over the descriptor of @found. */
static void keep(struct open_files *of, const struct mapped_file *file, const struct found_file *found)
{
	char *path = strdup(file->path);
	struct kept *k = path && of->max ? take_place(of) : NULL;
	uint64_t hash = mapped_file_hash(file);

	if (!k || hash_add(&of->index, hash, (uint32_t)of->nr)) {
		free(path);
		close(found->fd);
		return;
	}
	*k = (struct kept){ *file, hash, found->fd, found->local, ++of->clock };
	k->file.path = path;
	of->nr++;
}

bool open_files_keep(struct open_files *of, const pid_t *pids, size_t nr, const struct mapping *m)
{
	const struct mapped_file *file = m->file;
	struct file_search what = { .start = m->start, .end = m->end, .path = "", .ino = file->ino };
	struct hung asked = { file->maj, file->min, "" };
	struct found_file found;
	int rc;

	if (mapped_file_is_memory(file) || find(of, file))
		return true;
	/* Without an inode nothing tells the file of another process from it, and only a path what it was. */
	if (!file->ino)
		nr = nr > 1 ? 1 : nr;
	if (nr > SEARCH_PIDS_MAX)
		nr = SEARCH_PIDS_MAX;
	memcpy(what.pids, pids, nr * sizeof(*pids));
	if (mapped_file_has_path(file)) {
		what.path = file->path;
		what.host = true;
	}
	what.by_build = build_id_set(&what.id, file->build_id, file->build_id_size);
	rc = search(of, &what, &asked, &found);
	if (!rc)
		keep(of, file, &found);
	return rc != -ENOENT && rc != -ESTALE;
}

int open_files_get(struct open_files *of, const struct mapped_file *file)
{
	struct hung asked = { file->maj, file->min, "" };
	const struct kept *k = find(of, file);

	return k ? readable(of, k->fd, k->local, &asked) : -ENOENT;
}
