# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
#
# bash tests/replay/deferred.sh - make deferred.perfdata.gz and deferred.rows again: a recording of `perf record
# --call-graph fp,defer` in a guest with the kernel of Debian's sid, by perf of sid, and the output of `perf script` of
# the same perf. Both are unpacked into $O/vm, with the libraries that perf needs; nothing is installed. Needs what
# tests/vm/kernels needs, and `make tests`.

# shellcheck source=tests/init.sh
. "$(dirname "${BASH_SOURCE[0]}")/../init.sh"
# shellcheck source=tests/vm/fetch.sh
. "$TOP/tests/vm/fetch.sh"

here=$TOP/tests/replay
image=$TOP/build/vm/kernels/newest/vmlinuz
perf=$O/vm/perf
libs=$perf/lib

die()
{
	echo "$0: $*" >&2
	exit 1
}

# unpack_perf URI FOLDER - put perf and its libraries, from this mirror's sid, into FOLDER/perf and FOLDER/lib.
# shellcheck disable=SC2086 # names are words
unpack_perf()
{
	local apt_options names name

	use_suite "$1" sid "$2/apt" || return
	names=$(apt-cache "${apt_options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances linux-perf | grep -E '^(lib|linux-perf$|zlib1g$)' | sort -u) &&
		mkdir "$2/debs" && cd "$2/debs" &&
		apt-get "${apt_options[@]}" -q download $names || return
	for name in *.deb; do
		dpkg-deb --extract "$name" "$2/unpacked" || return
	done
	mkdir "$2/lib" && cp "$2/unpacked/usr/bin/perf" "$2/" &&
		cp -L "$2"/unpacked/usr/lib/x86_64-linux-gnu/*.so* "$2/lib/" && rm -rf "$2/apt" "$2/debs" "$2/unpacked"
}

fetch_perf()
{
	local mirror

	mirror=$(known_mirrors | head -n 1)
	mkdir -p "$tmp/perf" && (unpack_perf "$mirror" "$tmp/perf") >"$tmp/fetch.log" 2>&1 && mkdir -p "$O/vm" &&
		mv "$tmp/perf" "$perf"
}

sid_perf()
{
	"$libs/ld-linux-x86-64.so.2" --library-path "$libs" "$perf/perf" "$@"
}

# The load: computing and reading with known stacks (tree), deep stacks, threads and processes that come, go, rename
# themselves and execute programs, and others that are stopped in the kernel.
load=(recurse storm execer renamer paused)

# make_guest FILE - make an initramfs whose first process records the load, and sends the recording through the second
# serial port.
make_guest()
{
	local root=$tmp/root name lib

	mkdir -p "$root"/{bin,dev,proc,sys,tmp,lib64,lib/x86_64-linux-gnu} && cp "$(type -P busybox)" "$root/bin/busybox" || return
	"$libs/ld-linux-x86-64.so.2" --library-path "$libs" --list "$perf/perf" |
		sed -nE 's/.* => ([^ ]+) .*/\1/p' | while read -r lib; do cp -L "$lib" "$root/lib/x86_64-linux-gnu/"; done
	mv "$root"/lib/x86_64-linux-gnu/ld-* "$root/lib64/"
	cp "$perf/perf" "$root/bin/"
	for name in "${load[@]}"; do
		gcc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
			-fno-optimize-sibling-calls -pthread -static -s -o "$root/bin/$name" \
			"$TOP/tests/workloads/$name.c" || return
	done
	gcc -std=gnu11 -D_GNU_SOURCE -I"$TOP" -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
		-fno-optimize-sibling-calls -ffreestanding -fno-stack-protector -fcf-protection=none -fno-pie -static \
		-nostdlib -s -o "$root/bin/tree" "$TOP/tests/vm/workloads/tree.c" || return
	cat >"$root/init" <<-INIT
		#!/bin/busybox sh
		export PATH=/bin
		/bin/busybox --install -s /bin
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		mount -t devtmpfs dev /dev
		mount -t tmpfs tmp /tmp
		hostname guest
		for one in ${load[*]}; do \$one 30 >/dev/null & done
		tree 30 1 >/dev/null &
		sleep 1
		perf record --call-graph fp,defer -e cpu-clock -F 149 -a -o /tmp/perf.data -- sleep 1.2
		stty -F /dev/ttyS1 raw -echo 115200
		cat /tmp/perf.data >/dev/ttyS1
		md5sum </tmp/perf.data >/dev/console
		poweroff -f
	INIT
	chmod 755 "$root/init"
	(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$1"
}

boot()
{
	timeout -k 5 300 qemu-system-x86_64 -machine pc -accel tcg,thread=multi -cpu Nehalem,-cx16 -smp 2 -m 1536 \
		-nodefaults -no-user-config -display none -no-reboot -kernel "$image" -initrd "$1" \
		-append "console=ttyS0,115200 quiet panic=-1 mitigations=off rdinit=/init" \
		-serial "file:$tmp/console" -serial "file:$2" </dev/null
}

# Make rows from two outputs of perf script, in the text form of profile -A. In the first output each sample has the
# name at its time, and a cookie instead of its user stack; the second has these stacks, with later names. A thread that
# has exited has no name any more, so it keeps its last one. A stack that never came is "missed": perf leaves the cookie
# there, or nothing if the kernel could not walk it. Two rules are ours: a return address of zero ends a stack; and if a
# thread executes another program before its stack comes, that stack is not the sample's, so it is missed, too.
cat >"$tmp/merge.awk" <<'SCRIPT'
function is_cookie(text)
{
	return text ~ /^[0-9a-f]*[13579bdf]0000000[1-9a-f]$/
}
function finish(   i, line, last)
{
	last = nr
	if (key != "" && second) {
		if (key in cookie && ips[last] == cookie[key])
			last--
		line = name[key]
		if (key in executed)
			while (last > 0 && ips[last] !~ /^ffff/)
				last--
		for (i = 1; i <= last && ips[i] != "0"; i++)
			line = line ";" ips[i]
		if (key in cookie && (last < 1 || ips[last] ~ /^ffff/))
			line = line ";missed"
		rows[line]++
	} else if (key != "" && is_cookie(ips[last])) {
		cookie[key] = ips[last]
		waiting[tid] = waiting[tid] "\n" key
	}
	key = ""
	nr = 0
}
function execute(   i, keys, n)
{
	n = split(waiting[ids[3]], keys, "\n")
	for (i = 1; i <= n; i++)
		executed[keys[i]]
	delete waiting[ids[3]]
}
FNR == 1 { finish(); second = NR > 1 }
/^$/ { finish(); next }
/^[ \t]/ && NF == 1 { ips[++nr] = $1; next }
{
	finish()
	sub(/^ +/, "")
	match($0, / +-?[0-9]+\/-?[0-9]+ +/)
	who = substr($0, 1, RSTART - 1)
	split(substr($0, RSTART, RLENGTH), ids, /[ \/]+/)
	rest = substr($0, RSTART + RLENGTH)
	if (who !~ /^:/)
		called[ids[3]] = who
	if (!second && rest ~ /PERF_RECORD_COMM exec/)
		execute()
	if (!second && rest ~ /DEFERRED CALLCHAIN/)
		delete waiting[ids[3]]
	if (rest ~ /DEFERRED CALLCHAIN|PERF_RECORD_/ || ids[2] == 0)
		next
	split(rest, at, / +/)
	tid = ids[3]
	key = tid " " at[1] " " at[2]
	if (at[4] != "")
		ips[++nr] = at[4]
	if (!second)
		name[key] = called[ids[3]] " (" ids[2] ")"
}
END {
	finish()
	for (row in rows)
		print row, rows[row]
}
SCRIPT

[ -f "$image" ] || fetch_kernel sid "$image" || die "$why"
[ -x "$perf/perf" ] || fetch_perf || die "perf of sid cannot be fetched: $(tail -n 3 "$tmp/fetch.log")"
make_guest "$tmp/initramfs" || die "no guest"
# Emulated kernels panic now and then (see tests/vm/kernels).
await_recording()
{
	local try

	for try in 1 2 3; do
		boot "$tmp/initramfs" "$tmp/perf.data"
		grep -q "^$(md5sum <"$tmp/perf.data" | cut -d ' ' -f 1)" "$tmp/console" && return 0
		echo "try $try: $(grep -m 1 -E 'panic|RIP' "$tmp/console")" >&2
	done
	return 1
}
await_recording || die "the guest failed: $(tail -n 5 "$tmp/console")"

# told [OPTION...] - print perf script's output for each sample.
told()
{
	sid_perf script -i "$tmp/perf.data" -F "comm,pid,tid,cpu,time,event,ip" --max-stack 1024 "$@" 2>"$tmp/script.err" ||
		die "perf script: $(tail -n 3 "$tmp/script.err")"
}
told --no-merge-callchains --show-task-events >"$tmp/alone"
told >"$tmp/merged"
awk -f "$tmp/merge.awk" "$tmp/alone" "$tmp/merged" | sort >"$here/deferred.rows"
gzip -9 -n <"$tmp/perf.data" >"$here/deferred.perfdata.gz"
ls -l "$here"/deferred.*
