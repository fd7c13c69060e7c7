/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events of a run on the CPUs of the host, which may come and go. Private to core/capture*.c. */
#ifndef CORE_CAPTURE_EVENTS_H
#define CORE_CAPTURE_EVENTS_H

#include "core/capture.h"

/**
 * events_open() - find the CPUs and open an event on each that is online; where @cap->followed is there, one for each
 * of these threads on each.
 * @with_notes: a program in the kernel will write notes about samples
 *
 * Where only the kernel may not be seen of the threads, they are opened without it: cap->user_only.
 * cap->rings: 0: the sizes wanted are put there; else the rings will have these.
 */
int events_open(struct capture *cap, bool with_notes, struct err *err);
void events_close(struct capture *cap);

/**
 * event_open() - one as that of @e of thread @tid, which may be more than one; -1: of the whole CPU.
 *
 * A thread that may be seen in user mode alone is, and so are all from then on: cap->user_only.
 * Return: a descriptor, the caller's; -errno; -ENODEV: the CPU is offline.
 */
int event_open(struct capture *cap, const struct capture_event *e, pid_t tid);

/** event_open_switches() - the same of the switches, whose records are to go to the ring of the former. */
int event_open_switches(struct capture *cap, const struct capture_event *e, pid_t tid);

/** event_join() - @joined is @e's from now on. Return: 0; -ENOMEM. */
int event_join(struct capture_event *e, const struct joined_event *joined);

/** event_close() - with all that share its ring; the place stays. */
void event_close(struct capture_event *e);

/** event_refused() - describe why event_open() failed. Return: @code. */
int event_refused(const struct capture *cap, const struct capture_event *e, pid_t tid, int code, struct err *err);
/** event_switches_refused() - the same of event_open_switches(). */
int event_switches_refused(const struct capture *cap, const struct capture_event *e, pid_t tid, int code,
			   struct err *err);

/** event_id() - PERF_SAMPLE_IDENTIFIER of what @fd, an event on @cpu, writes, and those that inherit it. */
int event_id(int fd, int cpu, uint64_t *id, struct err *err);

/**
 * events_outgrow_rings() - did the reader make the rings so small, cap->rings, that samples of these events do not
 * fit well, or come too late to be read in time? events_open() opens fitting ones then.
 */
bool events_outgrow_rings(const struct capture *cap);

/**
 * events_try() - may an event be opened now, as that of a CPU that comes online is? @capture: a struct capture; as
 * privileges_need.again. Return: 0 or -errno.
 */
int events_try(void *capture);

/** events_enable(), events_disable() - all that are open. Those of a command are enabled by its exec instead. */
int events_enable(struct capture *cap, struct err *err);
int events_disable(struct capture *cap, struct err *err);

/**
 * events_follow_cpus() - close the events of CPUs that went offline, and open those of CPUs that came.
 *
 * The kernel takes the events of a CPU away when it goes offline, and does not bring them back; it does those of
 * threads: a CPU that comes for the first time is attached then.
 * @attach,@detach: called for each event that was opened (it is enabled afterwards), or is about to be closed
 * Return: 1: something has changed; 0: nothing; -errno. A CPU whose event cannot be opened now counts as offline.
 */
int events_follow_cpus(struct capture *cap, uint64_t now_ns, int (*attach)(struct capture *, size_t, struct err *),
		       int (*detach)(struct capture *, size_t, struct err *), struct err *err);

/** events_in_doubt() - has a CPU perhaps gone and come back? Then when to look again; 0: none. */
uint64_t events_in_doubt(const struct capture *cap);

/**
 * events_followed_ns() - for how long the command ran since its events were enabled, on whatever CPU, with all that
 * inherited these. Return: 0; -ENODATA: the kernel does not tell.
 */
int events_followed_ns(const struct capture *cap, uint64_t *ns);

/** events_begin() - samples are due from @now_ns on, of the CPUs that are online. */
void events_begin(struct capture *cap, uint64_t now_ns);
/** events_account() - set cap->due_ns and cap->offline_ns for the time since the last call, and begin anew. */
void events_account(struct capture *cap, uint64_t now_ns);

#endif
