/* SPDX-License-Identifier: Apache-2.0 */
/* Choose one event of a recording: only its samples are counted. */
#ifndef PERFRING_EVENT_CHOICE_H
#define PERFRING_EVENT_CHOICE_H

#include "backend-perfring/recording/perfdata.h"
#include "core/request/request.h"

#define EVENT_NAMES_BYTES 4096 /* of the names of all events */

/**
 * struct event_choice - all zeros before choice_open().
 * @event: index of the chosen event, as for perfdata_event(); SIZE_MAX: there is none
 */
struct event_choice {
	size_t event;
	uint64_t *samples; /* number of samples read, for each of @nr events */
	size_t nr, cap;
	unsigned char *ahead; /* records that were read to choose: @ahead_nr bytes, of which @ahead_at were returned */
	size_t ahead_nr, ahead_cap, ahead_at;
};

/**
 * choice_open() - read until the event is known: the sampled event called @in->event. If that is NULL, it is the first
 * sampled event (with a sample period, and no dummy) in the order of the file, provided that it has a sample in the
 * first 64 MiB; otherwise the first event that has one there; if none has, the first sampled event all the same. Call
 * choice_release() also after a failure.
 *
 * Return: 0, also if there is no such event; -errno, described.
 */
int choice_open(struct event_choice *c, struct perfdata *pd, const struct input *in, struct err *err);
void choice_release(struct event_choice *c);

/** choice_next() - as perfdata_next(), beginning with the records that choice_open() read. */
int choice_next(struct event_choice *c, struct perfdata *pd, const struct perf_event_header **record, struct err *err);

/**
 * choice_count() - count a sample.
 * @event: from perfdata_event_of()
 * Return: 1: it is of the chosen event, or of another one with the same name; 0: it is not; -ENOMEM.
 */
int choice_count(struct event_choice *c, const struct perfdata *pd, size_t event);

/** choice_is() - true if @event is the chosen one, or has its name: perf record -G makes one for each cgroup. */
bool choice_is(const struct event_choice *c, const struct perfdata *pd, size_t event);

/**
 * choice_name() - append @name, which may be hostile, to the @used bytes of @to, which has room for EVENT_NAMES_BYTES.
 * Return: how many bytes are used now.
 */
size_t choice_name(char *to, size_t used, const char *name);

/** choice_list() - write the names of all sampled events that were not chosen to @to; its room: as choice_name(). */
void choice_list(const struct event_choice *c, const struct perfdata *pd, char *to);

#endif
