# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by the shell tests; sourced first. A test prints TAP and ends with `finish`, which prints the plan: a missing
# plan shows that the test died. A test writes only below $tmp, except for files of failed checks, cgroups and settings.
# `cleanup` removes $tmp and ends the workloads; before that, a failed check copies the files of $tmp to
# $O/failed/LAYER/TEST/CHECK. A test that has to end early prints the results that it has. O, PROFILE and OFFCPUTIME
# choose the tested build.

set -u
export LC_ALL=C

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
O=${O:-$TOP/build}
case $O in /*) ;; *) O=$TOP/$O ;; esac
PROFILE=${PROFILE:-$O/profile}
OFFCPUTIME=${OFFCPUTIME:-$O/offcputime}
PATH=$PATH:/usr/sbin:/sbin

# A test does not depend on inherited open descriptors.
for fd in "/proc/$$/fd/"*; do
	fd=${fd##*/}
	[ "$fd" -le 2 ] || [ "$fd" -eq 255 ] || eval "exec $fd>&-" # 255 is this script
done

test_name=$(basename "$(dirname "$0")")/$(basename "$0")
failed_dir=$O/failed/$test_name${AGAIN:+/again} # tests/run sets AGAIN
settings=/proc/sys/kernel
settings_lock=${TMPDIR:-/tmp}/fleetprof-settings.lock

why=''
judged=''
tmp=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-test-XXXXXX") || exit 99
export TMPDIR=$tmp # workloads put their copies there
rm -rf "$failed_dir"
mkfifo "$tmp/nap" && exec {nap_fd}<>"$tmp/nap" && rm "$tmp/nap" || exit 99
tick=$(getconf CLK_TCK)
nr_tests=0
nr_failed=0
children=()
group=''
within=()
saved=()
parts=()
parts_running=()

cleanup()
{
	local status=$? pid each

	trap '' INT TERM HUP # timeout(1) sends two
	case $status in 0 | 1 | 130) ;; *) keep_files "exit status $status" ;; esac
	for each in ${saved[@]+"${saved[@]}"}; do
		echo "${each#*=}" >"$settings/${each%%=*}"
	done
	for pid in ${children[@]+"${children[@]}"} ${parts_running[@]+"${parts_running[@]}"}; do
		kill "$pid" 2>/dev/null
	done
	wait
	[ "$status" -ne 143 ] || show_parts
	[ -z "$group" ] || remove_group
	rm -rf "$tmp"
}
# Processes left in the cgroup belong to this test.
remove_group()
{
	local i

	for ((i = 0; i < 100; i++)); do
		find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
		[ -d "$group" ] || return
		echo 1 >"$group/cgroup.kill"
		sleep 0.05
	done
} 2>/dev/null
# show_parts - print their output so far, and the parts that did not end.
show_parts()
{
	local dir

	for dir in ${parts[@]+"${parts[@]}"}; do
		cat "$dir.tap"
		cat "$dir.stderr" >&2
		grep -q '^1[.][.]' "$dir.tap" || echo "# this part was not done: $(<"$dir.name")"
	done
} 2>/dev/null
# trap_signals - a test that takes too long gets SIGTERM from timeout(1), and prints its results so far.
trap_signals()
{
	trap cleanup EXIT
	trap 'exit 130' INT HUP
	trap 'exit 143' TERM
}
trap_signals

ok()
{
	nr_tests=$((nr_tests + 1))
	echo "ok $nr_tests - $1"
}

# not_ok NAME [DETAIL...] - each detail may have several lines.
not_ok()
{
	nr_tests=$((nr_tests + 1))
	nr_failed=$((nr_failed + 1))
	echo "not ok $nr_tests - $1"
	keep_files "$1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
}

# keep_files CHECK - copy the files that the check judged: those at the top of $tmp, and of $judged if a test has set
# it, without programs and large files.
keep_files()
{
	local dir

	dir=$failed_dir/$(printf '%s' "$1" | tr -c 'A-Za-z0-9._,=-' '_' | cut -c 1-80)
	mkdir -p "$dir" && find "$tmp" ${judged:+"$judged"} -maxdepth 1 -type f ! -perm /111 -size -8192k \
		-exec cp -t "$dir" {} + 2>/dev/null
	return 0
}

# skip NAME REASON
skip()
{
	nr_tests=$((nr_tests + 1))
	echo "ok $nr_tests - $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

# lacking NAME WHAT - skip the check NAME, which needs something that a host may lack: a program that scripts/deps does
# not install, or a feature of the kernel or of the build. FORBID_SKIP=1 (tests/run) allows it.
lacking()
{
	skip "$1" "lacking: $2"
}

lacking_all()
{
	skip_all "lacking: $1"
}

finish()
{
	echo "1..$nr_tests"
	exit $((nr_failed > 0))
}

# lock_settings [-s] - other tests do not change settings of the kernel until this test ends; -s: nor does this one.
lock_settings()
{
	exec 9>>"$settings_lock"
	flock -w 300 "$@" 9 || skip_all "$settings_lock cannot be locked"
}

# save_settings NAME... - save these settings of the kernel, below $settings, which this test changes; they are restored
# at the end.
save_settings()
{
	local name

	lock_settings
	for name; do
		saved+=("$name=$(cat "$settings/$name")")
	done
}

# saved_setting NAME - print its saved value.
saved_setting()
{
	printf '%s\n' "${saved[@]}" | sed -n "s/^$1=//p"
}

# is NAME GOT WANT
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

# check NAME COMMAND... - COMMAND succeeds; otherwise its output is printed as detail.
check()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "failed: $*" "$out"
	fi
}

# refute NAME COMMAND... - COMMAND fails.
refute()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		not_ok "$name" "should fail: $*" "$out"
	else
		ok "$name"
	fi
}

# part FUNCTION [ARGUMENT...] - call it in the background, in a subshell with its own $tmp and its own workloads; the
# workloads of the test go on. At most $at_once parts run at the same time. parts_done reports the results.
at_once=4
part()
{
	local dir=$tmp/part.${#parts[@]} pid running

	while [ ${#parts_running[@]} -ge "$at_once" ]; do
		wait -n "${parts_running[@]}"
		running=()
		for pid in "${parts_running[@]}"; do
			! kill -0 "$pid" 2>/dev/null || running+=("$pid")
		done
		parts_running=(${running[@]+"${running[@]}"})
	done
	mkdir -m 755 "$dir"
	echo "$*" >"$dir.name"
	run_part "$dir" "$@" >"$dir.tap" 2>"$dir.stderr" &
	parts_running+=("$!")
	parts+=("$dir")
}

run_part()
{
	tmp=$1 TMPDIR=$1 nr_tests=0 nr_failed=0 children=() group='' within=() saved=() parts=() parts_running=()
	trap_signals
	"${@:2}" || [ $? -ne 127 ] || exit 99
	echo "1..$nr_tests"
	exit 0
}

# parts_done - wait for all parts, and print their results as results of this test, in the order in which they began.
parts_done()
{
	local dir failed whole

	[ ${#parts_running[@]} -eq 0 ] || wait "${parts_running[@]}"
	parts_running=()
	while [ ${#parts[@]} -gt 0 ]; do
		dir=${parts[0]}
		parts=("${parts[@]:1}")
		awk -v n="$nr_tests" -v counts="$tmp/counts" -v name="$(<"$dir.name")" '
			/^ok [0-9]+ - / { sub(/^ok [0-9]+/, "ok " ++n); results++ }
			/^not ok [0-9]+ - / { sub(/^not ok [0-9]+/, "not ok " ++n); results++; failed++ }
			/^1\.\.0 # SKIP/ {
				sub(/^1\.\.0/, "ok " ++n " - " name)
				planned = ++results
				print
				next
			}
			/^1\.\./ { planned = substr($1, 4) + 0; next }
			/^Bail out!/ { bailed = 1 }
			{ print }
			END {
				whole = results > 0 && planned == results
				if (!whole && !bailed)
					print "Bail out! a part of this test died, or has no results: " name
				print n + 0, failed + 0, whole + 0 >counts
			}' "$dir.tap"
		cat "$dir.stderr" >&2
		read -r nr_tests failed whole <"$tmp/counts"
		nr_failed=$((nr_failed + failed))
		[ "$whole" -eq 1 ] || exit 99
	done
}

# calc EXPRESSION - true if the expression is, in awk's arithmetic.
calc()
{
	awk "BEGIN { exit !($1) }" && return 0
	echo "not true: $1"
	return 1
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
}

# can WHAT - test whether this machine is able to; if not, $why is the reason. The kernel decides, never the program
# under test.
can()
{
	why=$("$O/tests/live/can" "$1")
	case $? in
	0) return 0 ;;
	1) return 1 ;;
	esac
	echo "Bail out! $O/tests/live/can does not work"
	exit 99
}

need_perf()
{
	can perf || skip_all "$why"
}

# need_backend NAME TEST - false, after a skip of TEST, if the kernel lacks a feature that the backend needs.
need_backend()
{
	[ "$1" = bpf ] || return 0
	can bpf && return 0
	skip "$2" "$why"
	return 1
}

# new_group - make a cgroup of version 2 for this test: $group, removed at the end. If that fails, $why is the reason.
new_group()
{
	local top

	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	why="no cgroup of version 2 can be made"
	[ -n "$top" ] && mkdir "$top/fleetprof-test-$BASHPID" 2>/dev/null && group=$top/fleetprof-test-$BASHPID
}

# id_map - pin a BPF hash map with keys of 64 bits in the mount namespace of the workload $1: $map. If that fails, $why
# is the reason. See with_bpffs.
id_map()
{
	map=/proc/$1/root$bpf_dir/ids${BASHPID}_$RANDOM
	why="no map can be pinned: $(bpftool map create "$map" type hash key 8 value 8 entries 64 name ids 2>&1)" &&
		[ -e "$map" ]
}

# with_bpffs - the next workloads run in a mount namespace of their own, with a file system for BPF maps.
with_bpffs()
{
	bpf_dir=$tmp/bpf
	mkdir -p "$bpf_dir"
	# shellcheck disable=SC2016 # for that shell
	within=(unshare --mount sh -c 'mount -t bpf bpf "$0" && exec "$@"' "$bpf_dir")
}

# id_bytes ID - print the key of that id, for bpftool.
id_bytes()
{
	local hex

	hex=$(printf '%016x' "$1")
	echo "hex ${hex:14:2} ${hex:12:2} ${hex:10:2} ${hex:8:2} ${hex:6:2} ${hex:4:2} ${hex:2:2} ${hex:0:2}"
}

# put_id MAP ID, drop_id MAP ID
put_id()
{
	# shellcheck disable=SC2046 # words
	bpftool map update pinned "$1" key $(id_bytes "$2") value hex 0 0 0 0 0 0 0 0
}

drop_id()
{
	# shellcheck disable=SC2046 # words
	bpftool map delete pinned "$1" key $(id_bytes "$2")
}

# workload NAME [ARGUMENT...] - start it in the background and wait until it is ready; sets $workload_pid. The command
# "${within[@]}", if there is one, has to exec it.
workload()
{
	local fifo=$tmp/ready.$nr_tests.$RANDOM line=

	mkfifo "$fifo"
	${within[@]+"${within[@]}"} "$O/tests/workloads/$1" "${@:2}" >"$fifo" &
	workload_pid=$!
	children+=("$workload_pid")
	while [ "$line" != ready ] && read -r -t 60 line; do
		:
	done <"$fifo"
	rm -f "$fifo"
	if [ "$line" != ready ]; then
		echo "Bail out! workload '$*' is not ready"
		exit 99
	fi
}

# end_workload PID
end_workload()
{
	kill "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# run ARGUMENT... - run profile with these arguments, for at most RUN_SECONDS (60): sets $tmp/out, $tmp/err and $status.
# A test may set a command before it: ahead=(nice -n -10) runs the profiler before a load that takes all CPUs.
ahead=()
run()
{
	timeout -k 5 "${RUN_SECONDS:-60}" ${ahead[@]+"${ahead[@]}"} "$PROFILE" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

# Below strace, a program waits for a CPU at each traced call: beside 50 busy loops, 2000 calls took more than a minute.
# shellcheck disable=SC2034 # for the test
strace=(timeout -k 5 300 strace)

# ran NAME - the last run() succeeded and printed no messages except --stats and warnings.
ran()
{
	if [ "$status" -eq 0 ] && ! grep -q '^profile: error' "$tmp/err"; then
		ok "$1"
	else
		not_ok "$1" "exit status $status" "$(cat "$tmp/err")"
	fi
}

# report - print the largest rows of the last folded run, which show errors in rows.
report()
{
	tail -n 12 "$tmp/out"
	head -n 20 "$tmp/err"
}

# said - print the stderr of the last run without messages that depend on the host: missing samples, as on an idle or a
# virtual CPU, advice about other programs, and programs that replace others' mappings.
said()
{
	grep -Ev "$up_to_host" "$tmp/err"
}
up_to_host='^WARNING: [0-9]+ (% of the (samples due|user stacks of)|samples have frames at addresses where) '

# rows PATTERN - sum of the values of the folded rows of the last run whose text (without value) matches.
rows()
{
	pattern=$1 awk '{
		value = $NF
		sub(/ [0-9]+$/, "")
		if ($0 ~ ENVIRON["pattern"])
			sum += value
	} END { print sum + 0 }' "$tmp/out"
}

# pids [FILE] - the process ids of a multi-line report, that of the last run without FILE: each once, ascending.
pids()
{
	awk '/^    - / && match($0, /\(-?[0-9]+\)$/) { print substr($0, RSTART + 1, RLENGTH - 2) }' "${1:-$tmp/out}" |
		sort -nu
}

# percent PART WHOLE
percent()
{
	awk -v part="$1" -v whole="$2" 'BEGIN { printf "%.2f\n", (whole > 0 ? 100 * part / whole : -1) }'
}

# share_is PART WHOLE SHARE - within four standard deviations of as many independent draws. If other programs take turns
# on the CPU with the sampled one, a sample depends little on the one before.
share_is()
{
	calc "($1 - $3 * $2) ^ 2 <= 4 ^ 2 * $3 * (1 - $3) * $2"
}

# stat_of NAME - print a value of --stats of the last run.
stat_of()
{
	awk -F ': ' -v name="$1" '$1 == name { print $2; exit }' "$tmp/err"
}

# of_all NAME - print a value of --stats of the whole run, whether or not it had several reports.
of_all()
{
	awk -F ': ' -v name="$1" '$1 == name { value = $2 } END { print value }' "$tmp/err"
}

# task_of PID NAME - print the thread of that name; fails without one.
task_of()
{
	local task name

	for task in "/proc/$1/task/"*; do
		read -r name <"$task/comm" && [ "$name" = "$2" ] && echo "${task##*/}" && return
	done
	return 1
} 2>/dev/null

# in_pidns FILE - write a program that runs $PROFILE in a PID namespace of its own.
in_pidns()
{
	printf '#!/bin/sh\nexec unshare --pid --fork --mount-proc "%s" "$@"\n' "$PROFILE" >"$1"
	chmod +x "$1"
}

# Frames of the scheduler itself, and of code that runs in it: not frames of the thread that is off the CPU.
# shellcheck disable=SC2034 # tests use it
traces='^(__schedule([.]|$)|__traceiter|perf_|bpf_|__bpf_)'

# come_first [NICE] - from now on this test and its children get more CPU time than other programs on a busy host.
come_first()
{
	renice -n "${1:--15}" -p "$BASHPID" >/dev/null 2>&1
}

# cpu_ticks PID - set $ticks to its user and system time so far, 0 if it has ended. It starts no process, because tests
# call it repeatedly while they wait.
cpu_ticks()
{
	local fields=''

	ticks=0
	read -r fields <"/proc/$1/stat" || return 0
	read -ra fields <<<"${fields##*) }"
	ticks=$((fields[11] + fields[12]))
} 2>/dev/null

# cpu_seconds PID - the same in seconds.
cpu_seconds()
{
	local ticks

	cpu_ticks "$1"
	printf '%d.%03d\n' $((ticks / tick)) $((ticks % tick * 1000 / tick))
}

# stolen_seconds - print the time that the hypervisor has taken from all CPUs since boot, in which no samples were
# taken.
stolen_seconds()
{
	awk -v tick="$(getconf CLK_TCK)" '$1 == "cpu" { print $9 / tick }' /proc/stat
}

# nap SECONDS - sleep without another process.
nap()
{
	read -r -t "$1" -u "$nap_fd"
	return 0
}

# await COMMAND... - wait until it succeeds. A busy host may need long for it.
await()
{
	local end=$((SECONDS + 300))

	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			echo "Bail out! this never came true: $*"
			exit 99
		fi
		nap 0.05
	done
}

# worked PID TICKS - true if it has had that much CPU time.
worked()
{
	local ticks

	cpu_ticks "$1"
	[ "$ticks" -ge "$2" ]
}

# work PID SECONDS - wait until it has had that much more.
work()
{
	local ticks

	cpu_ticks "$1"
	await worked "$1" "$(awk "BEGIN { printf \"%d\", $ticks + $2 * $tick + 0.999 }")"
}

# sampling PID - true if this profile has begun to sample: it waits for its rings; or has ended.
sampling()
{
	local line=''

	read -r line <"/proc/$1/wchan" # has no newline
	[[ $line != *poll* ]] || return 0
	read -r line <"/proc/$1/stat" || return 0
	[[ ${line##*) } == Z* ]]
} 2>/dev/null

# start ARGUMENT... - run profile with these arguments in the background, and wait until it samples; sets $profile_pid.
start()
{
	"$PROFILE" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
	profile_pid=$!
	children+=("$profile_pid")
	await sampling "$profile_pid"
}

# ended - wait for the profile of start(); sets $status.
ended()
{
	wait "$profile_pid"
	status=$?
}

# A test may have a run() or a start() of its own, but not these.
readonly -f ok not_ok skip lacking finish is check refute part run_part parts_done
