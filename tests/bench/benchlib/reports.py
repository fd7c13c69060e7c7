# SPDX-License-Identifier: Apache-2.0
"""Readers of reports. They yield rows: (the task's name, then user and kernel frames from the root to the leaf) and a
count."""

import re


def folded(path):
    """Read rows "name;root;...;leaf COUNT", as profile -f, bcc, libbpf-tools and flame graph scripts write them."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            text, _, count = line.rstrip().rpartition(" ")
            if text and count.isdigit():
                yield text.split(";"), int(count)


def bpftrace(path):
    """Read rows "@[user stack, kernel stack, name, pid]: COUNT", with one frame in each line, innermost first."""
    stacks = None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("@["):
                stacks = [[]]
                line = line[2:]
            if stacks is None:
                continue
            end = re.match(r"^, (?:, )?(.*), \d+\]: (\d+)$", line)  # two commas: there is no kernel stack
            if end:
                user, kernel = (stacks + [[]])[:2]
                yield [end[1], *reversed(user), *reversed(kernel)], int(end[2])
                stacks = None
            elif line.startswith(", "):
                stacks.append([])
            elif line.strip():
                stacks[-1].append(re.sub(r"\+\d+$", "", line.strip()))


# An awk program that folds the output of `perf script -F comm,ip,sym`.
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
