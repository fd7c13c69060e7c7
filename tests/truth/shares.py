#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/truth/shares.py SEED DIRECTORY [OPTION...] - write and compile a program with known shares, and print its path.

The same seed gives the same program: a tree of functions that call each other at random. Each visit of a function spins
a fixed number of equal iterations, in one function that all of them call. OPTIONs are for the compiler, CC (gcc). The
program takes a file as argument, in which it counts the visits of each function, see counts(). With NODE=TIMES, that
function spins TIMES as long.
"""

import os
import random
import struct
import subprocess
import sys

TEXT = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif
#define NR %(number)d

static volatile uint64_t *visits;
static uint64_t iterations[NR] = { %(iterations)s };
static uint64_t state = 88172645463325252;

static inline __attribute__((always_inline)) uint32_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

/* Each iteration needs the result of the one before. Without the store, gcc omits the frame of a leaf in any case. */
NOIPA void spin(uint64_t n)
{
	volatile uint64_t result;
	uint64_t x = n;

	while (n--)
		__asm__ volatile("imul %%0, %%0" : "+r"(x));
	result = x;
	(void)result;
}

%(prototypes)s
%(functions)s
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600), i;

	if (argc < 2 || fd < 0 || ftruncate(fd, NR * sizeof(*visits)))
		return 1;
	alarm(600);
	visits = mmap(NULL, NR * sizeof(*visits), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (visits == MAP_FAILED)
		return 1;
	for (i = 2; i < argc; i++) {
		char *times;
		long node = strtol(argv[i], &times, 10);

		iterations[node %% NR] = (uint64_t)(iterations[node %% NR] * strtod(times + 1, NULL));
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		n0();
}
"""

FUNCTION = """
NOIPA void n{node}(void)
{{
	visits[{node}]++;
	spin(iterations[{node}]);
{calls}	__asm__ volatile("");
}}
"""


class Tree:
    """The functions of a seed."""

    def __init__(self, seed, number=40):
        rng = random.Random(seed)
        self.number = number
        self.iterations = [rng.randrange(200, 4000) for _ in range(number)]
        self.parent, self.chance = [None], [1.0]
        depth, children = [0], [0] * number
        for node in range(1, number):
            parent = rng.choice([i for i in range(node) if depth[i] < 9 and children[i] < 4])
            self.parent.append(parent)
            self.chance.append(rng.uniform(0.3, 0.95))
            depth.append(depth[parent] + 1)
            children[parent] += 1
        self.leaves = [node for node in range(number) if not children[node]]

    def path(self, node):
        """The functions from main's callee to this one."""
        above = self.path(self.parent[node]) if self.parent[node] is not None else ()
        return (*above, f"n{node}")

    def expected(self):
        """Shares, from the chances."""
        visits = []
        for node in range(self.number):
            visits.append(self.chance[node] * (visits[self.parent[node]] if node else 1))
        return self.shares(visits)

    def shares(self, visits, slower=None):
        """The truth. @slower: {node: times}"""
        work = [count * int(each * (slower or {}).get(node, 1))
                for node, (count, each) in enumerate(zip(visits, self.iterations))]
        return [one / sum(work) for one in work]

    def build(self, folder, more=()):
        functions = []
        for node in range(self.number):
            calls = "".join(f"\tif (draw() < {int(self.chance[child] * 0xffffffff)}u)\n\t\tn{child}();\n"
                            for child in range(self.number) if self.parent[child] == node)
            functions.append(FUNCTION.format(node=node, calls=calls))
        text = TEXT % {"number": self.number, "iterations": ", ".join(map(str, self.iterations)),
                       "prototypes": "".join(f"NOIPA void n{node}(void);\n" for node in range(self.number)),
                       "functions": "".join(functions)}
        path = os.path.join(folder, "program")
        with open(path + ".c", "w", encoding="ascii") as file:
            file.write(text)
        subprocess.run([*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-O2", "-fno-optimize-sibling-calls", *more,
                        path + ".c", "-o", path], check=True)
        return path


def counts(path, number):
    """The visits so far of a program that has this file."""
    with open(path, "rb") as file:
        return struct.unpack(f"<{number}Q", file.read(8 * number))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    print(Tree(int(sys.argv[1])).build(sys.argv[2], sys.argv[3:]))


if __name__ == "__main__":
    main()
