# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by tests/gate and tests/all; sourced first, at the top of the checkout. stage() runs a stage. stages_end()
# prints failures, unsteady checks, and each stage with its time, and exits.

set -u -o pipefail
export LC_ALL=C
# The stages choose the build, its place and its options, whatever the environment and the calling make say.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES O SAN COVERAGE STATIC WRAP CC CFLAGS LDFLAGS PROFILE OFFCPUTIME FORBID_SKIP CK_FORK \
	TEST_TIMEOUT VM_KERNELS VM_SCENARIOS KERNELS GROWTH_TRIES

log=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-stages-XXXXXX") || exit 99
: >"$log/sums"
: >"$log/failed"
nr_stages=0

san=address,undefined
san_build=build/san-address-undefined
jobs=-j$(nproc)
JOBS=$(nproc)
export JOBS

# Each stage has a process group of its own, and so have the stages beside the guests. The shell knows all groups, even
# one that it has started just now.
stop()
{
	local groups group

	trap '' INT TERM HUP
	groups=$(jobs -rp)
	for group in $groups; do
		kill -TERM -- "-$group" 2>/dev/null
	done
	wait 2>/dev/null # bash prints which job was killed
	for group in $groups; do # tests end their own children
		await_group "$group"
	done
	exit 130
}

# await_group GROUP - until it has no process any more, for 20 seconds at most.
await_group()
{
	local i

	for ((i = 0; i < 200; i++)); do
		kill -0 -- "-$1" 2>/dev/null || break
		sleep 0.1
	done
}
trap 'rm -rf "$log"' EXIT
trap stop INT TERM HUP

# apart COMMAND... - run it in a process group of its own, and wait for it: a signal reaches stop() at once.
apart()
{
	set -m
	"$@" </dev/null &
	set +m
	wait $!
}

# shown FILE COMMAND... - its output is shown, and kept in the file.
shown()
{
	"${@:2}" 2>&1 | tee "$1"
}

# stage NAME COMMAND... - run it. The sum of tests/run at the end of its output is added; without one it is one test.
stage()
{
	local name=$1 status=0 started=$SECONDS out sum p f s

	shift
	nr_stages=$((nr_stages + 1))
	out=$(mktemp "$log/stage-XXXXXX")
	echo "== $name: $*"
	apart shown "$out" "$@" || status=$?
	sum=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$out" | tail -n 1)
	if [ -n "$sum" ]; then
		read -r p _ f _ s _ <<<"${sum//,/}"
	else
		p=$((status == 0)) f=0 s=0
	fi
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		echo "not ok - $name: exit status $status" | tee -a "$out"
		f=1
	fi
	grep -aE '^(not ok|unsteady)' "$out" | awk -v name="$name" '!seen[$0]++ { print name ": " substr($0, 1, 300) }' \
		>>"$log/failed"
	rm -f "$out"
	echo "$p $f $s $((SECONDS - started)) $name" >>"$log/sums"
}

# forbid_skips - if the kernel permits everything that live tests need, none of them may be skipped. Call it after the
# build.
forbid_skips()
{
	if build/tests/live/can perf && build/tests/live/can bpf; then
		export FORBID_SKIP=1
	else
		echo "live tests may be skipped here: the line behind the first stage says why" >>"$log/failed"
	fi
}

stages_end()
{
	[ ! -s "$log/failed" ] || { echo "== failed, unsteady or skipped" && cat "$log/failed"; }
	if [ "$(wc -l <"$log/sums")" -lt $nr_stages ]; then
		echo "not ok - results of stages are lost: is $log full?"
		exit 1
	fi
	echo "== stages"
	awk '{ n = $4; p += $1; f += $2; s += $3; $1 = $2 = $3 = $4 = ""; printf "%6d s %s\n", n, $0 }
		END {
			printf "%d passed, %d failed, %d skipped\n", p, f, s
			exit f > 0
		}' "$log/sums"
	exit
}
