// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/processes.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Images of one process: a chain of execs, or a pid used again. Keep the newest. If all processes together have many
 * images, keep fewer of the images without samples: if processes come and go by the thousand, most have none.
 */
#define MAX_IMAGES     4096
#define MAX_IMAGES_FEW 16
#define MANY_IMAGES    65536 /* of all processes */

struct process *processes_find(const struct processes *ps, pid_t pid)
{
	return pid_table_find(&ps->all, pid);
}

struct process *processes_get(struct processes *ps, pid_t pid)
{
	return pid_table_get(&ps->all, pid, sizeof(struct process));
}

static void release_reading(struct reading *r)
{
	if (r && !--r->refs)
		free(r);
}

/* Drop the oldest @nr images. @unused: only images without samples */
static void drop_images(struct processes *ps, struct process *p, size_t nr, bool unused)
{
	bool forked = false; /* an image that has gone began the process of the next one */
	size_t i, left = 0;

	for (i = 0; i < p->nr_images; i++) {
		struct image *im = &p->images[i];

		if (!nr || (unused && im->sampled)) {
			im->forked |= forked;
			forked = false;
			p->images[left++] = *im;
			continue;
		}
		nr--;
		forked |= im->forked;
		p->nr_sampled -= im->sampled;
		maps_unref(im->maps);
		release_reading(im->reading);
	}
	ps->nr_images -= p->nr_images - left;
	p->nr_images = left;
}

/* Some more than needed, so that a long chain does not move them all for each exec. */
static void make_room(struct processes *ps, struct process *p)
{
	size_t max = ps->nr_images < MANY_IMAGES ? MAX_IMAGES : MAX_IMAGES_FEW, unused = p->nr_images - p->nr_sampled;

	if (unused >= max)
		drop_images(ps, p, unused - max + max / 8, true);
	if (p->nr_images >= MAX_IMAGES)
		drop_images(ps, p, p->nr_images - MAX_IMAGES + MAX_IMAGES / 8, false);
}

void processes_delete(struct processes *ps, struct process *p)
{
	process_set_exited(ps, p, false);
	drop_images(ps, p, p->nr_images, false);
	free(p->images);
	pid_table_delete(&ps->all, &p->entry);
}

void processes_release(struct processes *ps)
{
	while (pid_table_nr(&ps->all))
		processes_delete(ps, pid_table_at(&ps->all, pid_table_nr(&ps->all) - 1));
	pid_table_release(&ps->all);
}

void process_set_exited(struct processes *ps, struct process *p, bool exited)
{
	ps->nr_exited += exited;
	ps->nr_exited -= p->exited;
	p->exited = exited;
}

void process_set_sampled(struct process *p)
{
	struct image *im = process_newest(p);

	if (!im || im->sampled)
		return;
	im->sampled = true;
	p->nr_sampled++;
}

int process_add_image(struct processes *ps, struct process *p, const char *comm, const struct image *from)
{
	struct image *v = grow(p->images, &p->cap_images, p->nr_images, 1, sizeof(*v)), *im;
	struct maps *maps;

	if (!v)
		return -ENOMEM;
	p->images = v;
	maps = from ? maps_ref(from->maps) : maps_new(&ps->mappings);
	if (!maps)
		return -ENOMEM;
	make_room(ps, p);
	ps->nr_images++;
	im = &p->images[p->nr_images++];
	*im = (struct image){ .maps = maps, .reading = from ? from->reading : NULL };
	if (im->reading)
		im->reading->refs++;
	comm_set(im->comm, comm);
	return 0;
}

struct image *process_newest(const struct process *p)
{
	return p->nr_images ? &p->images[p->nr_images - 1] : NULL;
}

struct image *process_writable(struct processes *ps, struct process *p)
{
	struct image *im = process_newest(p);
	struct maps *maps;

	if (!image_is_late(im))
		return im;
	maps = maps_new(&ps->mappings);
	if (!maps)
		return NULL;
	maps_unref(im->maps);
	release_reading(im->reading);
	im->maps = maps;
	im->reading = NULL;
	p->learned = false;
	return im;
}

bool image_is_late(const struct image *im)
{
	return im && im->reading && im->reading->late;
}

struct reading *image_begin_reading(struct image *im, pid_t pid)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	release_reading(im->reading);
	im->reading = r;
	r->refs = 1;
	r->pid = pid;
	r->failed = true;
	return r;
}

const struct mapping *image_find(const struct image *im, uint64_t addr)
{
	return im && !image_is_late(im) ? maps_find(im->maps, addr) : NULL;
}

/*
 * Look for the newest image of @p that maps @addr and, unless @comm is NULL, began under that name. One that is not
 * known ends the search: it may have mapped @addr, too. Return: is the search over?
 */
static bool find_in(const struct process *p, const char *comm, uint64_t addr, const struct mapping **m,
		    const struct mapped_file **jitdump)
{
	size_t i;

	for (i = p->nr_images; i-- > 0;) {
		const struct image *im = &p->images[i];

		if (comm && strncmp(im->comm, comm, COMM_LEN))
			continue;
		*m = image_find(im, addr);
		*jitdump = *m ? im->maps->jitdump : NULL;
		if (*m || image_is_late(im) || (im->reading && im->reading->failed))
			return true;
	}
	return false;
}

const struct mapping *process_find(const struct process *p, const char *comm, uint64_t addr,
				   const struct mapped_file **jitdump)
{
	const struct mapped_file *ignored = NULL, **file = jitdump ? jitdump : &ignored;
	const struct mapping *m = NULL;

	*file = NULL;
	if (!find_in(p, comm, addr, &m, file))
		find_in(p, NULL, addr, &m, file);
	return m;
}

const struct image *process_named(const struct process *p, const char *comm)
{
	size_t i;

	for (i = p->nr_images; i-- > 0;)
		if (!strncmp(p->images[i].comm, comm, COMM_LEN))
			return &p->images[i];
	return process_newest(p);
}
