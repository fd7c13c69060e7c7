# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # what others use, and set
# Other programs that read our reports, fetched into build/fetched: get_speedscope() sets $speedscope_release to the
# directory of speedscope, get_firefox() $firefox to the script of Firefox Profiler's command line, both from npm;
# get_pprof() sets $pprof to the program of Debian's package of Go. If one is missing, $why has the reason.

# shellcheck source=tests/vm/fetch.sh
. "$TOP/tests/vm/fetch.sh"

fetched=$TOP/build/fetched
speedscope_release=$fetched/speedscope/package/dist/release
firefox=$fetched/firefox/package/dist/profiler-cli.js
pprof=$fetched/pprof

# get_npm PACKAGE FOLDER - fetch a package, NAME@VERSION, and unpack it into $fetched/FOLDER.
get_npm()
{
	why="there is no npm"
	command -v npm >/dev/null || return
	why="npm cannot fetch it"
	rm -rf "$tmp/npm" "$fetched/$2" "$fetched/$2.new" && mkdir -p "$tmp/npm" "$fetched/$2.new" &&
		(cd "$tmp/npm" && HOME=$tmp timeout 120 npm pack --silent "$1" >"$tmp/npm.log" 2>&1) &&
		tar -xzf "$tmp"/npm/*.tgz -C "$fetched/$2.new" && mv "$fetched/$2.new" "$fetched/$2"
}

get_speedscope()
{
	[ -f "$speedscope_release/index.html" ] || get_npm speedscope@1.25.0 speedscope
}

# Its package asks for a newer Node.js than Debian's, but needs none.
get_firefox()
{
	[ -f "$firefox" ] || get_npm @firefox-devtools/profiler-cli@0.10.0 firefox
}

# has_session NAME - true if the daemon of this session has loaded its profile.
has_session()
{
	node "$firefox" profile info --session "$1" >>"$tmp/firefox.log" 2>&1
}

# load_firefox FILE SESSION - load a file. The tool gives its daemon half a second to start; on a busy host it needs more,
# and goes on after the tool has failed.
load_firefox()
{
	node "$firefox" load "$1" --session "$2" >"$tmp/firefox.log" 2>&1 && return
	grep -q 'most likely still starting' "$tmp/firefox.log" && await has_session "$2"
}

get_pprof()
{
	[ -x "$pprof" ] && return
	why="pprof is of another architecture"
	[ "$(uname -m)" = x86_64 ] || return
	fetch_files bookworm "$tmp/go" golang-1.19-go || return
	mkdir -p "$fetched" && cp "$tmp/go/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof" "$pprof.new" &&
		mv "$pprof.new" "$pprof" && rm -rf "$tmp/go"
}
