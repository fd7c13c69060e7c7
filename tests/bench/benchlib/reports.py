# SPDX-License-Identifier: Apache-2.0
"""Rows of reports: (frames from the root to the leaf, the user's first, after the task's name) and count."""

import re


def folded(path):
    """name;root;...;leaf COUNT, as profile -f, bcc, libbpf-tools and flame graph scripts write it."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            text, _, count = line.rstrip().rpartition(" ")
            if text and count.isdigit():
                yield text.split(";"), int(count)


def bpftrace(path):
    """@[user stack, kernel stack, name, pid]: COUNT, innermost frame first, a line each."""
    stacks = None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("@["):
                stacks = [[]]
                line = line[2:]
            if stacks is None:
                continue
            end = re.match(r"^, (?:, )?(.*), \d+\]: (\d+)$", line)  # another comma: no kernel stack
            if end:
                user, kernel = (stacks + [[]])[:2]
                yield [end[1], *reversed(user), *reversed(kernel)], int(end[2])
                stacks = None
            elif line.startswith(", "):
                stacks.append([])
            elif line.strip():
                stacks[-1].append(re.sub(r"\+\d+$", "", line.strip()))


# What `perf script -F comm,ip,sym` writes becomes rows as above.
COLLAPSE = r"""
function flush()
{
	if (comm != "")
		count[comm stack]++
	comm = stack = ""
}
/^$/ { flush(); next }
/^[ \t]+[0-9a-f]+ / && comm != "" { sub(/^[ \t]+[0-9a-f]+ /, ""); stack = ";" $0 stack; next }
{ flush(); sub(/^ +/, ""); sub(/ +$/, ""); comm = $0 }
END {
	flush()
	for (row in count)
		print row, count[row]
}"""
