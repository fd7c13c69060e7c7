# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # what others use
# speedscope, from npm: get_speedscope() sets $speedscope_release to its directory, or $why to the reason if it is
# missing.

speedscope_dir=$TOP/build/fetched/speedscope
speedscope_release=$speedscope_dir/package/dist/release

get_speedscope()
{
	[ -f "$speedscope_release/index.html" ] && return
	why="there is no npm"
	command -v npm >/dev/null || return
	why="npm cannot fetch it"
	(cd "$tmp" && HOME=$tmp timeout 120 npm pack --silent speedscope@1.25.0 >"$tmp/npm.log" 2>&1) || return
	mkdir -p "$speedscope_dir" && tar -xzf "$tmp/speedscope-1.25.0.tgz" -C "$speedscope_dir"
}
