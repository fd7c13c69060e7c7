# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2034
# fetch_kernel SUITE IMAGE - put the kernel for virtual machines of a Debian suite into the file IMAGE, and a module of
# it into IMAGE.ko, if its package has one; $why: error message. fetch_files SUITE FOLDER PACKAGE... - put the files of
# packages of a suite below FOLDER, which is new; $why: error message.
#
# The packages come from the mirrors of this machine. apt has lists and directories of its own for that, in $tmp, and
# verifies packages as usual. Nothing is installed.

# debian_mirrors - print the mirrors of Debian in the machine's own sources, one a line.
debian_mirrors()
{
	# shellcheck disable=SC2016 # for apt-get
	apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian|//p' | sort -u
}

# known_mirrors - the same; the names of suites are known only if their lists exist.
known_mirrors()
{
	debian_mirrors | grep . || { apt-get -q update >"$tmp/fetch.log" 2>&1 && debian_mirrors; }
}

# depended PACKAGE PREFIX - print the package called PREFIX and a version on which this one depends.
depended()
{
	apt-cache "${apt_options[@]}" depends "$1" | sed -nE "s/^ *Depends: ($2-[0-9][^ ]*)$/\\1/p" | head -n 1
}

# unpack_kernel FOLDER PACKAGE... - put their image into FOLDER/vmlinuz, and a module into FOLDER/module.ko, if there is
# one.
unpack_kernel()
{
	local found deb

	(cd "$1" && apt-get "${apt_options[@]}" -q download "${@:2}") || return
	for deb in "$1"/*.deb; do
		dpkg-deb --extract "$deb" "$1/unpacked" || return
	done
	found=$(find "$1/unpacked/boot" "$1"/unpacked/usr/lib/modules/* -maxdepth 1 -type f -name 'vmlinuz*' 2>/dev/null)
	[ -f "$found" ] || { echo "no image, or more than one, in ${*:2}: $found"; return 1; }
	mv "$found" "$1/vmlinuz"
	found=$(find "$1/unpacked" -name 'tcp_vegas.ko*') # check_names() of tests/vm/names.c unloads it by that name
	case $found in
	*.xz) xz -dc "$found" >"$1/module.new" && mv "$1/module.new" "$1/module.ko" ;;
	*.ko) mv "$found" "$1/module.ko" ;;
	esac
	return 0
}

# use_suite URI SUITE FOLDER - with $apt_options, apt knows the packages of this suite, and keeps its state in FOLDER.
use_suite()
{
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg

	apt_options=(
		-o Dir::State="$3" -o Dir::State::status="$3/status" -o Dir::Cache="$3"
		-o Dir::Etc::sourcelist="$3/sources.list" -o Dir::Etc::sourceparts=-
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=-
		-o Acquire::Languages=none -o APT::Update::Error-Mode=any
	)

	rm -rf "$3"
	mkdir -p "$3/lists/partial" "$3/archives/partial"
	: >"$3/status"
	echo "deb [arch=amd64 target=Packages signed-by=$keyring] $1 $2 main" >"$3/sources.list"
	apt-get "${apt_options[@]}" -q update
}

# try_mirror URI SUITE FOLDER - put the kernel of this suite into FOLDER/vmlinuz.
try_mirror()
{
	local image binary modules apt_options

	use_suite "$1" "$2" "$3" || return
	image=$(depended linux-image-cloud-amd64 linux-image)
	[ -n "$image" ] || { echo "linux-image-cloud-amd64 depends on no image"; return 1; }
	binary=$(depended "$image" linux-binary) # newer ones keep the image there
	modules=$(depended "$image" linux-modules)    # and modules there
	unpack_kernel "$3" "${binary:-$image}" ${modules:+"$modules"}
}

fetch_kernel()
{
	local mirror folder=$tmp/fetch

	why="no mirror of Debian is known to apt"
	while read -r mirror; do
		if try_mirror "$mirror" "$1" "$folder" >"$tmp/fetch.log" 2>&1; then
			mkdir -p "$(dirname "$2")" && cp "$folder/vmlinuz" "$2.new" &&
				{ [ ! -f "$folder/module.ko" ] || cp "$folder/module.ko" "$2.ko"; } && mv "$2.new" "$2" &&
				rm -rf "$folder" && return 0
			rm -f "$2.new"
			why="$1 cannot be kept as $2"
			return 1
		fi
		why="$1 cannot be fetched from $mirror"
	done < <(known_mirrors)
	return 1
}

# try_files URI SUITE FOLDER PACKAGE... - put the files of the packages into FOLDER/unpacked.
try_files()
{
	local apt_options deb

	use_suite "$1" "$2" "$3" || return
	(cd "$3" && apt-get "${apt_options[@]}" -q download "${@:4}") || return
	for deb in "$3"/*.deb; do
		dpkg-deb --extract "$deb" "$3/unpacked" || return
	done
}

fetch_files()
{
	local mirror folder=$tmp/fetch

	why="no mirror of Debian is known to apt"
	while read -r mirror; do
		if try_files "$mirror" "$1" "$folder" "${@:3}" >"$tmp/fetch.log" 2>&1; then
			mkdir -p "$(dirname "$2")" && mv "$folder/unpacked" "$2" && rm -rf "$folder" && return 0
			why="$1 cannot be kept as $2"
			return 1
		fi
		why="$1 cannot be fetched from $mirror"
	done < <(known_mirrors)
	return 1
}
