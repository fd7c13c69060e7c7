// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/processes.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Images of one process: a chain of execs, or of processes that reused a pid. Keep the newest. If all processes
 * together have many images, keep fewer of the images without samples: if processes come and go by the thousand, most
 * images have no samples.
 */
#define MAX_IMAGES     4096
#define MAX_IMAGES_FEW 16
#define MANY_IMAGES    65536 /* of all processes */
#define MAX_REMAPPED   256   /* of one process, that began with a mapping: each has its own list of mappings */

/* An image that lasted less than this has hardly any samples, like one between a fork and an exec. */
#define BRIEF_NS (10 * 1000 * 1000ULL)

struct process *processes_find(const struct processes *ps, pid_t pid)
{
	return pid_table_find(&ps->all, pid);
}

struct process *processes_get(struct processes *ps, pid_t pid)
{
	return pid_table_get(&ps->all, pid, sizeof(struct process));
}

void processes_share(struct processes *ps, struct process *p, struct process *other)
{
	if (!other->memory)
		other->memory = ++ps->memories;
	p->memory = other->memory;
}

struct process *processes_sharing(const struct processes *ps, struct process *p, size_t *i)
{
	bool all = !*i;

	while (p->memory && *i < pid_table_nr(&ps->all)) {
		struct process *other = pid_table_at(&ps->all, (*i)++);

		if (other != p && other->memory == p->memory && !other->exited)
			return other;
	}
	if (all)
		p->memory = 0;
	return NULL;
}

void reading_release(struct reading *r)
{
	if (r && !--r->refs)
		free(r);
}

/* Drop the oldest @nr images. @unused: only images without samples */
static void drop_images(struct processes *ps, struct process *p, size_t nr, bool unused)
{
	bool forked = false;   /* a dropped image began the process of the next one, */
	bool remapped = false; /* or its program */
	size_t i, left = 0;

	for (i = 0; i < p->nr_images; i++) {
		struct image *im = &p->images[i];

		if (!nr || (unused && im->sampled)) {
			im->forked |= forked;
			forked = false;
			p->nr_remapped -= remapped && im->remapped;
			im->remapped &= !remapped;
			remapped = false;
			p->images[left++] = *im;
			continue;
		}
		nr--;
		forked |= im->forked;
		remapped |= !im->remapped;
		p->nr_sampled -= im->sampled;
		p->nr_remapped -= im->remapped;
		maps_unref(im->maps);
		reading_release(im->reading);
	}
	ps->nr_images -= p->nr_images - left;
	p->nr_images = left;
}

/* Drop some more images than needed, so that a long chain of execs does not move all images at each exec. */
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
	struct reading *reading;
	struct maps *maps;

	if (!v)
		return -ENOMEM;
	p->images = v;
	maps = from ? maps_ref(from->maps) : maps_new(&ps->mappings);
	if (!maps)
		return -ENOMEM;
	reading = from ? image_hold_reading(from) : NULL; /* @from may be dropped now */
	make_room(ps, p);
	if (p->nr_images)
		process_newest(p)->ended_ns = ps->event_ns;
	ps->nr_images++;
	ps->numbers += ps->numbers == UINT32_MAX ? 2 : 1;
	im = &p->images[p->nr_images++];
	*im = (struct image){ .number = ps->numbers, .maps = maps, .reading = reading, .began_ns = ps->event_ns };
	comm_set(im->comm, comm);
	return 0;
}

bool process_is_brief(const struct processes *ps, const struct process *p)
{
	const struct image *im = process_newest(p);

	return im->remapped && !im->sampled && im->began_ns && ps->event_ns - im->began_ns < BRIEF_NS;
}

int process_remap(struct processes *ps, struct process *p)
{
	struct image from = *process_newest(p);
	int rc;

	if (p->nr_remapped >= MAX_REMAPPED)
		drop_images(ps, p, MAX_REMAPPED / 8, false);
	rc = process_add_image(ps, p, from.comm, &from);
	if (rc)
		return rc;
	process_newest(p)->comm_ns = from.comm_ns;
	process_newest(p)->cgroup = from.cgroup;
	process_newest(p)->remapped = true;
	p->nr_remapped++;
	return 0;
}

/* Drop the newest image, and let @i, of the same program, be the newest. */
static void go_on_with(struct processes *ps, struct process *p, size_t i)
{
	struct image again, dropped = *process_newest(p), *next;

	p->nr_images--;
	ps->nr_images--;
	again = p->images[i];
	next = &p->images[i + 1];
	if (i + 1 < p->nr_images) {
		if (!again.remapped) {
			next->remapped = false;
			next->forked = again.forked;
			again.remapped = true;
			again.forked = false;
		}
		memmove(&p->images[i], next, (p->nr_images - i - 1) * sizeof(*next));
	}
	again.ended_ns = 0;
	p->images[p->nr_images - 1] = again;
	p->nr_sampled -= dropped.sampled;
	p->nr_remapped -= dropped.remapped;
	maps_unref(dropped.maps);
	reading_release(dropped.reading);
}

void process_remapped(struct processes *ps, struct process *p)
{
	const struct image *new = process_newest(p);
	size_t i = p->nr_images - 1;

	while (i > 0 && p->images[i].remapped) {
		const struct image *old = &p->images[--i];

		if (old->reading != new->reading || !maps_equal(old->maps, new->maps))
			continue;
		go_on_with(ps, p, i);
		return;
	}
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
	im->maps = maps;
	image_set_reading(im, NULL);
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
	r->refs = 1;
	r->pid = pid;
	r->failed = true;
	image_set_reading(im, r);
	return r;
}

struct reading *image_hold_reading(const struct image *im)
{
	if (im->reading)
		im->reading->refs++;
	return im->reading;
}

void image_set_reading(struct image *im, struct reading *r)
{
	reading_release(im->reading);
	im->reading = r;
}

const struct mapping *image_find(const struct image *im, uint64_t addr)
{
	return im && !image_is_late(im) ? maps_find(im->maps, addr) : NULL;
}

/* Return true if only part of the mappings of @im is known, so that it may have mapped anything. */
static bool is_uncertain(const struct image *im)
{
	return image_is_late(im) || (im->reading && im->reading->failed);
}

/* Return true if samples of the current report whose images are not known may be of @im. */
static bool may_be_counted(const struct processes *ps, const struct image *im)
{
	if (!im->ended_ns)
		return true;
	return im->ended_ns >= ps->since_ns && (!im->began_ns || im->ended_ns - im->began_ns >= BRIEF_NS);
}

/*
 * Look for the newest image of @p that maps @addr and, unless @comm is NULL, began under that name. An image whose
 * mappings are not known ends the search: it may have mapped @addr, too. Older images that began under the same name
 * and may have samples must map the same at @addr, if they map it. Return: 1: the search is over; 0: no image was
 * found; -ESTALE: two images differ.
 */
static int find_in(const struct processes *ps, const struct process *p, const char *comm, uint64_t addr,
		   struct place_found *out)
{
	const struct mapping *m;
	size_t i;

	for (i = p->nr_images; i-- > 0;) {
		const struct image *im = &p->images[i];

		if ((comm && strncmp(im->comm, comm, COMM_LEN)) || (out->mapping && !may_be_counted(ps, im)))
			continue;
		m = image_find(im, addr);
		if (!out->mapping && is_uncertain(im) && !m)
			return 1;
		if (out->mapping && m && !mapping_alike(out->mapping, m))
			return -ESTALE;
		if (m && !out->mapping) {
			*out = (struct place_found){ m, im->maps->jitdump };
			comm = im->comm;
		}
	}
	return out->mapping != NULL;
}

static const struct image *find_image(const struct process *p, uint32_t number)
{
	size_t i;

	for (i = p->nr_images; i-- > 0;)
		if (p->images[i].number == number)
			return &p->images[i];
	return NULL;
}

int process_find(const struct processes *ps, const struct process *p, const char *comm, uint32_t image, uint64_t addr,
		 struct place_found *out)
{
	const struct image *im = image ? find_image(p, image) : NULL;
	const struct mapping *m = image_find(im, addr);
	int rc;

	*out = (struct place_found){ 0 };
	if (image && !im)
		return -ESTALE; /* it was dropped */
	if (m)
		*out = (struct place_found){ m, im->maps->jitdump };
	if (im && (m || is_uncertain(im)))
		return m != NULL;
	rc = find_in(ps, p, comm, addr, out);
	if (!rc)
		rc = find_in(ps, p, NULL, addr, out);
	return rc < 0 ? rc : out->mapping != NULL;
}

const struct image *process_named(const struct process *p, const char *comm)
{
	size_t i;

	for (i = p->nr_images; i-- > 0;)
		if (!strncmp(p->images[i].comm, comm, COMM_LEN))
			return &p->images[i];
	return process_newest(p);
}
