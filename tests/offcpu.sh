# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Shared by tests of time off the CPU: the workloads `waits` and `mixed` measure themselves, and a report has to find
# the same times. Sourced after init.sh. A test sets $backend, and $PROFILE to the command under test.

declare -A function=([sleep]=wait_in_nanosleep [futex]=wait_in_futex [pipe]=wait_in_pipe [disk]=wait_on_disk
	[fault]=wait_in_fault [mutex]=wait_for_mutex [preempted]=be_preempted)

# ---- one command, offcputime: the workload waits

# measure SECONDS KIND,... ARGUMENT... - run with these arguments and the workload as its command. Sets $tmp/out to the
# report, $tmp/measured to the workload's own measurement.
measure()
{
	local kinds

	IFS=, read -ra kinds <<<"$2"
	stolen=$(stolen_seconds)
	run "--backend=$backend" --stats -o "$tmp/report" "${@:3}" -- "$O/tests/workloads/waits" "$1" \
		${kinds[@]+"${kinds[@]}"}
	stolen=$(awk "BEGIN { print $(stolen_seconds) - $stolen }")
	take_report
}

# take_report - after a run with -o $tmp/report: $tmp/out becomes the report, $tmp/measured the output of the command.
take_report()
{
	mv -f "$tmp/out" "$tmp/measured"
	mv -f "$tmp/report" "$tmp/out" 2>/dev/null || : >"$tmp/out"
}

# measured KIND FIELD - print a field that the workload measured: 2: intervals, 3: microseconds, 4: of these, those in
# which it could run but another thread did.
measured()
{
	awk -v kind="$1" -v field="$2" '$1 == kind { sum = $field } END { print sum + 0 }' "$tmp/measured"
}

# found KIND - print the microseconds in the rows of its thread with its function.
found()
{
	rows "^w-$1;(.*;)?${function[$1]}(;|$)"
}

# there KIND - true if the workload has waited in this way. Otherwise the host has no such waits, because a file system
# in memory has none: $why.
there()
{
	[ "$(measured "$1" 3)" -gt "$((20 * $(measured "$1" 2)))" ] && return
	why=$(sed -n "s/^waits: $1: //p" "$tmp/err")
	why=${why:-its $(measured "$1" 2) waits took $(measured "$1" 3) us}
	return 1
}

# as_measured NAME KIND... - the found time of each kind is the measured one, within 2 % or 20 us for each interval. A
# thread that is preempted a hundred times, for 7 ms each, is within 8 %: the kernel reports some switches to no tracer.
# A thread that is preempted, or waits for a virtual disk, cannot know which part of its time the hypervisor took. A
# thread that waits for a disk waits only a tenth of a second in all. It does not know for how much of that the reader
# ran first, which has a real-time priority. With $queued_apart, time in which it could run but did not need not be
# found.
queued_apart=
as_measured()
{
	local name=$1 kind us want nr slack part what

	shift
	for kind; do
		there "$kind" || {
			skip "$name: $kind" "$why"
			continue
		}
		us=$(found "$kind") want=$(measured "$kind" 3) nr=$(measured "$kind" 2)
		what="$name: $kind: $us us where $want were measured, in $nr intervals"
		slack=$([[ $kind =~ ^(preempted|disk)$ ]] && echo "$stolen" || echo 0)
		[ "$kind" != disk ] || slack="($slack + 0.03)"
		[ -z "$queued_apart" ] || slack="($slack + $(measured "$kind" 4) / 1e6)"
		part=$([ "$kind" = preempted ] && echo 0.08 || echo 0.02)
		want="sqrt(($us - $want) ^ 2) <= 1e6 * $slack + ($part * $want > 20 * $nr ? $part * $want : 20 * $nr)"
		if calc "$want" >"$tmp/calc"; then
			ok "$what"
		else
			not_ok "$what" "$(cat "$tmp/calc")" "$(cat "$tmp/measured")" "$(report)"
		fi
	done
}

# share NAME KIND LEAST MOST - the found part of the measured time is in this range, in percent.
share()
{
	local part

	there "$2" || {
		skip "$1: $2" "$why"
		return
	}
	part=$(percent "$(found "$2")" "$(measured "$2" 3)")
	check "$1: $2: $part %, of $3 to $4" calc "$part >= $3 && $part <= $4"
}

# intervals_balanced NAME - the run succeeded, and the statistics explain every interval. Return: 1 when it failed.
intervals_balanced()
{
	if [ "$status" -ne 0 ] || grep -q "^offcputime: error" "$tmp/err"; then
		not_ok "$1: done" "exit status $status" "$(cat "$tmp/err")"
		return 1
	fi
	ok "$1: done"
	is "$1: the statistics add up" "$(($(stat_of intervals_counted) + $(stat_of intervals_filtered) +
		$(stat_of intervals_open) + $(stat_of intervals_lost)))" "$(stat_of intervals_begun)"
	is "$1: nothing is unaccounted for" "$(stat_of intervals_unaccounted)" 0
	check "$1: intervals began" calc "$(stat_of intervals_begun) + 0 > 0"
	return 0
}

# ---- both kinds of time, profile --off-cpu: the workload mixed

mixed=$O/tests/workloads/mixed
threads=(x-burns x-mixes x-waits x-first x-second)
hz=999

# join SECONDS ARGUMENT... - run with these arguments and the workload as its command, which continues for 0.3 s. Sets
# $tmp/out to the report, $tmp/measured to the workload's own measurement.
join()
{
	stolen=$(stolen_seconds)
	run --off-cpu --stats -o "$tmp/report" "${@:2}" "$1" -- "$mixed" "$(awk "BEGIN { print $1 + 0.3 }")"
	stolen=$(awk "BEGIN { print $(stolen_seconds) - $stolen }")
	take_report
}

# whole NAME THREAD... - the rows of each are as long as it lived while it was sampled, within 2 %. Added to that: of a
# stretch on the CPU each end is off by part of a sample (4 standard deviations of their sum); a virtual CPU is not
# always given the time for a sample that is due (as much as are missing, besides what is stolen up to 15 %; up to 7 %
# where that is not known); an interval may be lost by bpf (3 times the mean).
whole()
{
	local name=$1 began ended cpu switches us wall slack due

	shift
	due=$(of_all samples_due)
	for thread; do
		read -r began ended cpu switches < <(sed -n "s/^$thread //p" "$tmp/measured")
		us=$(rows "^$thread;")
		read -r wall slack < <(awk -v began="$began" -v ended="$ended" -v cpu="$cpu" -v switches="$switches" \
			-v start="$(of_all started_ns)" -v sampled="$(of_all sampled_ns)" -v due="${due:-none}" \
			-v taken="$(of_all samples_taken)" -v lost="$(of_all intervals_lost)" -v hz="$hz" \
			-v stolen="$stolen" 'BEGIN {
			stop = start + sampled
			from = began > start ? began : start
			to = ended < stop ? ended : stop
			share = (to - from) / (ended - began)
			late = 0.07 * cpu * share / 1000 + 1e6 * stolen
			missing = (due - taken) * 1e6 / hz
			most = 0.15 * (to - from) / 1000 + 1e6 * stolen
			if (due != "none")
				late = missing < 0 ? 0 : missing < most ? missing : most
			late += 3 * lost * (ended - began) / (switches + 1) / 1000
			printf "%d %d\n", (to - from) / 1000, 2 * sqrt(switches * share + 1) * 1e6 / hz
			print late
		}' | tr '\n' ' ' | awk '{ print $1, 0.02 * $1 + $2 + $3 "," 0.02 * $1 + $2 }')
		if calc "$us >= $wall - ${slack%,*} && $us <= $wall + ${slack#*,}" >"$tmp/calc"; then
			ok "$name: $thread: $us us of $wall us"
		else
			not_ok "$name: $thread: $us us of $wall us" "$(cat "$tmp/calc")" "$(cat "$tmp/measured")" "$(report)"
		fi
	done
}

# joined_balanced NAME - the run succeeded, and the statistics explain every sample and interval.
joined_balanced()
{
	local few

	if [ "$status" -ne 0 ] || grep -q '^profile: error' "$tmp/err"; then
		not_ok "$1: done" "exit status $status" "$(cat "$tmp/err")" "$(head -n 20 "$tmp/out")"
	else
		ok "$1: done"
	fi
	is "$1: no sample is unaccounted for" "$(of_all samples_unaccounted)" 0
	is "$1: no interval is unaccounted for" "$(of_all intervals_unaccounted)" 0
	is "$1: no sample is lost" "$(of_all samples_lost)" 0
	if calc "$(of_all intervals_lost) <= $(of_all switches_unseen)" >"$tmp/calc"; then
		ok "$1: no interval is lost but by a switch that the kernel did not report"
	else
		not_ok "$1: no interval is lost but by a switch that the kernel did not report" "$(cat "$tmp/calc")" \
			"$(cat "$tmp/err")"
	fi
	if [ "$(of_all backend)" = both ]; then
		is "$1: no row is different" "$(of_all rows_different)" 0
		is "$1: no sample is different" "$(of_all differences_unexplained)" 0
		check "$1: samples were compared" calc "$(of_all samples_compared) > 0"
		check "$1: rows were compared" calc "$(of_all rows_compared) > 0"
	fi
}

# did NAME THREAD PART FUNCTION [PERCENT] - at least so much of its time in that part was in that function.
did()
{
	local part

	part=$(percent "$(rows "^$2;$3;(.*;)?$4(;|\$)")" "$(rows "^$2;$3[; ]?")")
	if calc "$part >= ${5:-95}" >/dev/null; then
		ok "$1: $2, $3: $4"
	else
		not_ok "$1: $2, $3: $4" "$part %" "$(grep "^$2;" "$tmp/out")"
	fi
}

# stacks NAME - each thread has the stacks of its work, in both parts of the report.
stacks()
{
	did "$1" x-burns on-cpu burn_always
	did "$1" x-burns off-cpu burn_always 90
	did "$1" x-mixes on-cpu burn_a_while 90
	did "$1" x-first on-cpu share_cpu
	did "$1" x-second off-cpu share_cpu 90
	did "$1" x-waits off-cpu wait_until_end
	check "$1: x-mixes waits" calc "$(rows '^x-mixes;off-cpu;(.*;)?wait_a_while;') >= 5000"
}

# marked NAME - each folded row is either on the CPU or off it, and no text comes twice.
marked()
{
	is "$1: each row is on or off the CPU" "$(grep -Ev '^[^;]*;(on|off)-cpu[; ]' "$tmp/out")" ""
	is "$1: no text twice" "$(sed 's/ [0-9]*$//' "$tmp/out" | sort | uniq -d)" ""
}
