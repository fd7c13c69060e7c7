# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034
#
# Guests of qemu, without KVM: every machine can run them, some slowly.

# kernel_version IMAGE - print the output of uname -r there; fails if IMAGE is not a kernel for this. The format of the
# head is in Documentation/arch/x86/boot.rst of the kernel.
kernel_version()
{
	local offset

	[ "$(dd if="$1" bs=1 skip=514 count=4 status=none)" = HdrS ] || return
	offset=$(od -An -tu2 -j 526 -N 2 "$1")
	dd if="$1" bs=1 skip=$((offset + 512)) count=200 status=none | tr '\0' '\n' | sed -n '1s/ .*//p'
} 2>/dev/null

# make_initramfs FILE - make it from busybox, the program and all files that tests need in the guest.
make_initramfs()
{
	local root=$tmp/initramfs

	mkdir -p "$root"/{bin,dev,proc,sys,vm} &&
		cp "$(type -P busybox)" "$root/bin/busybox" &&
		install -m 755 "$TOP/tests/vm/init" "$root/init" &&
		cp -R "$O/vm/." "$TOP/tests/vm/golden" "$root/vm/" &&
		cp "$PROFILE" "$root/vm/profile" &&
		cp "$OFFCPUTIME" "$root/vm/offcputime" &&
		(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$1" &&
		rm -rf "$root"
}

# boot IMAGE SCENARIO ONLINE POSSIBLE - run the scenario in a guest with so many CPUs. $tmp/guest gets its output,
# $tmp/console the kernel's console, $tmp/monitor and $tmp/qemu the messages of qemu. $ended is its exit status, empty
# if it did not end by itself; $took its duration, $booted the time until it could run a program, in seconds, empty if
# it could not in time.
boot()
{
	local image=$1 cpu=Nehalem line pid output monitor replies start=$EPOCHREALTIME
	local patience=(-t "${VM_BOOT_TIMEOUT:-120}")
	# Guests of qemu 7.2 that are interrupted after cmpxchg16b may have wrong flags, and panic; kernels work without
	# cmpxchg16b. Newer kernels let CPUs be plugged in only if they know the hypervisor (6.12.107 and 7.2.13 do so):
	# not qemu itself, but VMware, by the serial number and a port that qemu has, if no flag names another one.
	local flags=-cx16,-hypervisor
	# A guest that hangs for a minute panics: otherwise it would run until the time limit.
	local append="console=ttyS0,115200 quiet panic=-1 oops=panic softlockup_panic=1 watchdog_thresh=30"
	# The kernel checks freed memory when it is used again, so that damage is reported, whatever caused it (see
	# run_scenario() in tests/vm/kernels).
	append+=" slub_debug=FZPU mitigations=off rdinit=/init scenario=$2"

	local initrd=$tmp/initramfs.cpio

	ended='' booted=''
	[ ! -f "$image.cpu" ] || read -r cpu <"$image.cpu"
	if [ -f "$image.ko" ]; then
		mkdir -p "$tmp/more/vm" && cp "$image.ko" "$tmp/more/vm/module.ko"
		initrd=$tmp/with-module.cpio
		(cat "$tmp/initramfs.cpio" && cd "$tmp/more" && find vm | cpio --quiet -o -H newc -R 0:0) >"$initrd"
	fi
	rm -f "$tmp"/monitor*
	: >"$tmp/console"
	mkfifo "$tmp/monitor.in" "$tmp/monitor.out"
	exec {monitor}<>"$tmp/monitor.in" {replies}<>"$tmp/monitor.out" # for both directions: does not wait for qemu
	echo '{"execute": "qmp_capabilities"}' >&"$monitor"
	exec {output}< <(exec timeout --foreground -k 5 "${VM_TIMEOUT:-600}" qemu-system-x86_64 \
		-nodefaults -no-user-config -display none -no-reboot -machine pc -accel tcg,thread=multi -m 1024 \
		-cpu "$cpu,$flags" -smbios type=1,serial=VMware \
		-smp "$3,maxcpus=$4,sockets=$4,cores=1,threads=1" \
		-kernel "$image" -initrd "$initrd" -append "$append" \
		-chardev "pipe,id=monitor,path=$tmp/monitor" -mon chardev=monitor,mode=control \
		-serial "file:$tmp/console" -serial stdio </dev/null 2>"$tmp/qemu")
	pid=$!
	children+=("$pid")
	while IFS= read -r ${patience[@]+"${patience[@]}"} -u "$output" line || [ -n "$line" ]; do
		line=${line%$'\r'}
		case $line in
		@@BEGIN) booted=$(seconds_since "$start") patience=() ;;
		*"@@ADD-CPU "*) add_cpu "${line##*@@ADD-CPU }" "${cpu%%,*}" >&"$monitor" ;;
		"@@END "*) ended=${line#* } && echo '{"execute": "quit"}' >&"$monitor" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done >"$tmp/guest"
	[ -n "$booted" ] || kill "$pid" 2>/dev/null
	wait "$pid"
	[ $? -ne 124 ] || echo "ended after ${VM_TIMEOUT:-600} s, the time limit" >>"$tmp/qemu"
	unset 'children[-1]'
	took=$(seconds_since "$start")
	while IFS= read -r -t 0.1 -u "$replies" line; do
		printf '%s\n' "$line"
	done >"$tmp/monitor"
	exec {output}<&- {monitor}>&- {replies}<&-
}

# add_cpu NUMBER MODEL - print the command that plugs in this CPU.
add_cpu()
{
	[[ $1 =~ ^[0-9]{1,4}$ ]] && printf '{"execute": "device_add", "arguments": {"driver": "%s-x86_64-cpu", "id": "cpu%d",
		"socket-id": %d, "core-id": 0, "thread-id": 0}}\n' "$2" "$1" "$1"
}

seconds_since()
{
	awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'
}
