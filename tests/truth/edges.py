#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/truth/edges.py SEED DIRECTORY [OPTION...] - write and compile a program of short functions, and print its path.

The same seed gives the same program. The file DIRECTORY/edges lists each caller with each function whose frame may
follow, for tests/truth/judge.py. OPTIONs are for the compiler, CC (gcc). The program prints "ready", and runs for the
seconds that its first argument gives (60). With a second argument, it has one thread.

Its functions are hard to unwind in different ways: frames that are small, large, of variable size or aligned, with and
without a frame pointer; unwind rules of the compiler, and rules written by hand; tail calls, recursion, calls of
functions that do not return; callbacks from the C library, shared libraries, procedure linkage tables, the vDSO, system
calls; threads, and signals at any instruction. The functions are short, so that most samples are near a call, or in the
first or the last instructions of a function.
"""

import os
import random
import re
import subprocess
import sys

# Nodes of the graph that are not functions of the program. judge.py finds them by the names of frames.
LIBC, VDSO, PLT, SIGNAL = "<libc>", "<vdso>", "<plt>", "<signal>"
# Modules of the program.
MAIN, LINKED, OPENED = "main", "linked", "opened"

HEADER = r"""
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The compiler must not clone, split or inline these functions. */
#ifdef __clang__
#define NOIPA __attribute__((noinline, visibility("default")))
#else
#define NOIPA __attribute__((noipa, visibility("default")))
#endif
/* In the middle of longjmp(), the old and the new caller are both right: -DNO_JUMPS for tests/live/steps. */
#ifdef NO_JUMPS
#define NORETURN
#define LEAVE(back) ((void)(back))
#else
#define NORETURN __attribute__((noreturn))
#define LEAVE(back) longjmp(back, 1)
#endif
#define CLOBBER(...) __asm__ volatile("" : : : __VA_ARGS__)

typedef uint64_t (*function_t)(uint64_t);

static inline __attribute__((always_inline)) uint64_t mix(uint64_t a, uint64_t with)
{
	return (a ^ with) * 6364136223846793005ULL + 1442695040888963407ULL;
}

static inline __attribute__((always_inline)) unsigned int pick(uint64_t a, unsigned int of)
{
	return (unsigned int)(a >> 33) % of;
}

static inline void die(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	_exit(1);
}

extern function_t opened_functions[];
extern volatile uint64_t forever;
extern volatile uint64_t sink;
"""

MAIN_TEXT = r"""
function_t opened_functions[64];
volatile uint64_t forever = 1;
volatile uint64_t sink;

/* The handler sets the timer again, so that the program makes progress on a busy host, too. */
static void set_timer(timer_t timer, long ns)
{
	const struct itimerspec once = { .it_value.tv_nsec = ns };

	if (timer_settime(timer, 0, &once, NULL))
		die("timer_settime");
}

static __thread timer_t timer;
static __thread int timed;
static __thread uint64_t handled;

NOIPA void handler(int sig)
{
	(void)sig;
	handled = mix(handled, HANDLER_CALL(handled)) + 1;
	if (timed)
		set_timer(timer, 30000 + (long)(handled >> 45));
	sink++; /* so that the last call is no tail call */
}

static void have_signals(void)
{
	struct sigevent me = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };

	me._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &me, &timer))
		die("timer_create");
	timed = 1;
	set_timer(timer, 1000000);
}

NOIPA void *worker(void *arg)
{
	uint64_t a = (uintptr_t)arg;

	have_signals();
	while (forever)
		a = mix(a, WORKER_CALL(a));
	return (void *)a;
}

/* The handler of this thread runs on an alternate stack: an unused part of the normal one, so that a copy has both. */
NOIPA void *other_worker(void *arg)
{
	stack_t alternate = { .ss_size = 65536 };
	uint64_t a = (uintptr_t)arg;

	alternate.ss_sp = (char *)__builtin_frame_address(0) - 6144 - alternate.ss_size;
	if (sigaltstack(&alternate, NULL))
		die("sigaltstack");
	have_signals();
	while (forever)
		a = mix(a, OTHER_CALL(a));
	return (void *)a;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK };
	pthread_t thread;
	uint64_t a = 1;

	alarm(argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 60);
	open_functions(argv[0]);
	if (sigaction(SIGUSR1, &sa, NULL))
		die("sigaction");
	if (argc < 3 && (pthread_create(&thread, NULL, worker, (void *)3) ||
			 pthread_create(&thread, NULL, other_worker, (void *)5)))
		die("pthread_create");
	puts("ready");
	fflush(stdout);
	while (forever)
		a = mix(a, MAIN_CALL(a));
	return (int)a;
}
"""


class Function:
    """One function: its text, and what it calls."""

    def __init__(self, name, kind, module):
        self.name, self.kind, self.module = name, kind, module
        self.callees = []  # functions that it calls
        self.nodes = set()  # other nodes that may follow
        self.tail = None  # the function that it ends with, without a frame of its own

    def prototype(self):
        return f"{KINDS[self.kind].attributes} uint64_t {self.name}({KINDS[self.kind].parameters})"

    def call(self, caller, argument):
        """An expression that calls it from there."""
        more = KINDS[self.kind].more
        if self.module == OPENED and caller != OPENED:
            return f"((uint64_t (*)({KINDS[self.kind].parameters}))opened_functions[{self.slot}])({argument}{more})"
        return f"{self.name}({argument}{more})"


class Kind:
    """A kind of functions. @body: in C. CALL stands for the call of a callee with the argument a, MIX for a constant,
    SELF for the name of the function, SIZE for a number. @stack: about the bytes of its frame. @pure: a signal handler
    may call it."""

    def __init__(self, body, stack, *, attributes="NOIPA", parameters="uint64_t a", more="", nodes=(), modules=None,
                 pure=True, top=""):
        self.body, self.stack, self.attributes = body, stack, attributes
        self.parameters, self.more, self.nodes, self.pure, self.top = parameters, more, set(nodes), pure, top
        self.modules = modules or (MAIN, LINKED, OPENED)


KINDS = {
    "small": Kind("return CALL + 1;", 16),
    "some": Kind("CLOBBER(\"rbx\", \"r13\"); a = CALL; return a ^ MIX;", 40),
    "all": Kind("CLOBBER(\"rbx\", \"r12\", \"r13\", \"r14\", \"r15\", \"memory\"); a = CALL; return a ^ MIX;", 64),
    "frame": Kind("volatile uint64_t area[SIZE]; area[a % SIZE] = a; a = CALL; return a + area[a % SIZE];", 800),
    "live": Kind("uint64_t c = a + MIX, d = a ^ MIX, e = a * MIX, f = a - 5, g = a * 3, h = c * d, i = d ^ f, b = CALL;"
                 " return (b ^ a) * b + c * d + e * f + g * h + (i ^ c) + (d ^ g);", 120),
    "variable": Kind("volatile char area[a % 300 + 1]; area[a % 7 % sizeof(area)] = 1; a = CALL;"
                     " return a + (uint64_t)area[0];", 400),
    "growing": Kind("volatile char *area = NULL; int i; for (i = 1; i < 4; i++) { area = alloca((a & 127) + 8);"
                    " area[3] = 1; a = CALL; } return a + (uint64_t)area[3];", 480),
    "aligned": Kind("volatile uint64_t area[8] __attribute__((aligned(64))); area[a % 8] = a; a = CALL;"
                    " return a + area[a % 8];", 150),
    "aligned_variable": Kind("volatile char v[a % 200 + 1]; volatile uint64_t area[8] __attribute__((aligned(128)));"
                             " va_list args; va_start(args, a); area[a % 8] = a; v[0] = 1; a = CALL;"
                             " a += va_arg(args, uint64_t) + area[a % 8] + (uint64_t)v[0]; va_end(args); return a;",
                             700, parameters="uint64_t a, ...", more=", a, 2UL, 3UL, 4UL, 5UL, a, 7UL"),
    "arguments": Kind("volatile uint64_t area[4] __attribute__((aligned(64))); area[a % 4] = g; a = CALL;"
                      " return a + area[a % 4] * h ^ i;", 200,
                      parameters="uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,"
                                 " uint64_t h, uint64_t i", more=", 1, 2, 3, 4, 5, 6, 7, 8"),
    "pointer": Kind("CLOBBER(\"rbx\", \"r14\"); a = CALL; return a - MIX;", 48,
                    attributes="NOIPA KEEP_FP"),
    "early": Kind("if (a & 3) return a * MIX; CLOBBER(\"rbx\", \"r12\", \"r15\"); a = CALL; return a ^ 7;", 56),
    "looping": Kind("int i, n = (int)(a & 31); for (i = 0; i < n; i++) a = mix(a, i); a = CALL; return a + 3;", 24),
    "windows": Kind("__asm__ volatile(\"\" : : : \"xmm6\", \"xmm7\", \"xmm15\", \"rdi\", \"rsi\", \"rbx\"); a = CALL;"
                    " return a ^ 9;", 300, attributes="NOIPA __attribute__((ms_abi))", modules=(MAIN,)),
    "rarely": Kind("uint64_t c = a * MIX, d = a + 7; if (__builtin_expect(a % 5 != 6, 0)) { unlikely(); a = CALL;"
                   " unlikely(); sink ^= c + d; } return a + c + d;", 48, top="static inline __attribute__((cold,"
                   " always_inline)) void unlikely(void) { sink += 1; }"),
    "tail": Kind("a = mix(a, MIX); return CALL;", 8),
    "tail_looping": Kind("int i, n = (int)(a & 15); for (i = 0; i < n; i++) a = mix(a, i); CLOBBER(\"rbx\", \"r12\");"
                         " return CALL;", 8),
    "recursive": Kind("a = b < 12 ? SELF(mix(a, b), b + 1) : CALL; return a ^ MIX;", 12 * 32,
                      parameters="uint64_t a, uint64_t b", more=", 0"),
    "deep": Kind("volatile uint64_t area[2]; b = b ? b : a & 7 ? 3 : 40; area[a & 1] = b;"
                 " a = b > 1 ? SELF(mix(a, b), b - 1) : CALL;"
                 " return a ^ area[a & 1];", 40 * 48, parameters="uint64_t a, uint64_t b", more=", 0"),
    "sorting": Kind("uint64_t values[8]; int i; for (i = 0; i < 8; i++) values[i] = mix(a + (uint64_t)i, MIX);"
                    " qsort(values, 8, sizeof(values[0]), SELF_compare); return values[0];", 400, nodes=[LIBC, PLT],
                    pure=False),
    "texts": Kind("char text[200]; size_t n; memset(text, (int)(a & 63) + 1, a % 150 + 1); text[a % 150 + 1] = 0;"
                  " n = strlen(text); text[0] = 'x'; a = CALL; return n + (uint64_t)(strchr(text, 'x') - text) + a;",
                  240, nodes=[LIBC, PLT]),
    "prints": Kind("char text[64]; snprintf(text, sizeof(text), \"%d %.6g\", (int)a, (double)a); a = CALL;"
                   " return a + (uint64_t)text[1];", 2600, nodes=[LIBC, PLT], pure=False),
    "clock": Kind("struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); a = CALL;"
                  " return a + (now.tv_nsec >= 0);", 100, nodes=[LIBC, PLT, VDSO]),
    "kernel": Kind("a += syscall(SYS_getppid) >= 0; a = CALL; return a * 3;", 40, nodes=[LIBC, PLT]),
    # The callee does not return: its call may be the last instruction.
    "jumping": Kind("jmp_buf back; volatile uint64_t kept = a; if (!_setjmp(back)) SELF_jumps(a, back);"
                    " return kept + 1;", 400, nodes=[LIBC, PLT], pure=False),
    # Written in assembler. This one saves a register in another register.
    "by_hand": Kind(r"""
	pushq %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r12, 0
	movq %rbx, %r12
	.cfi_register rbx, r12
	movq %rdi, %rbx
	subq $16, %rsp
	.cfi_adjust_cfa_offset 16
	call CALLEE
	addq $16, %rsp
	.cfi_adjust_cfa_offset -16
	movq %r12, %rbx
	.cfi_restore rbx
	popq %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore r12
	ret
""", 64, modules=(MAIN,)),
    # The CFA is on the stack: DW_CFA_def_cfa_expression { DW_OP_breg7 8; DW_OP_deref; DW_OP_plus_uconst 8 }.
    "by_expression": Kind(r"""
	movq %rsp, %rax
	.cfi_def_cfa_register rax
	andq $-256, %rsp
	pushq %rax
	pushq %rdi
	.cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8
	call CALLEE
	popq %rdi
	.cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8
	popq %rsp
	.cfi_def_cfa rsp, 8
	xorq %rdi, %rax
	ret
""", 400, modules=(MAIN,)),
    "by_register": Kind(r"""
	popq %r11
	.cfi_def_cfa_offset 0
	.cfi_register rip, r11
	movq %rdi, %rax
	imulq $77, %rax, %rax
	addq $13, %rax
	movq %rax, %rdi
	pushq %r11
	.cfi_def_cfa_offset 8
	.cfi_offset rip, -8
	subq $8, %rsp
	.cfi_def_cfa_offset 16
	.cfi_remember_state
	testb $4, %dil
	jz 1f
	call CALLEE
	addq $8, %rsp
	.cfi_def_cfa_offset 8
	ret
1:	.cfi_restore_state
	notq %rax
	addq $8, %rsp
	.cfi_def_cfa_offset 8
	ret
""", 24, modules=(MAIN,)),
    "entered": Kind(r"""
	enter $48, $0
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	call CALLEE
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
""", 64, modules=(MAIN,)),
}
BY_HAND = {"by_hand", "by_expression", "by_register", "entered"}

# Options of the compiler and the linker: each seed draws one of each line.
CHOICES = [
    ["-O2", "-O2", "-O2", "-O1 -foptimize-sibling-calls", "-O3", "-Os"],
    ["-fcf-protection=none", "-fcf-protection=full", "-fcf-protection=branch"],
    ["-fplt", "-fno-plt"],
    ["", "-fstack-protector-strong", "-fstack-clash-protection"],
    ["-fomit-frame-pointer", "-fomit-frame-pointer", "-fomit-frame-pointer", "-fno-omit-frame-pointer"],
    ["", "", "-falign-functions=1", "-fno-asynchronous-unwind-tables -fno-unwind-tables -g"],
    ["-Wl,-z,lazy", "-Wl,-z,now"],
    ["-fPIE -pie", "-fno-pie -no-pie"],
]

CC = os.environ.get("CC", "gcc").split()
# clang 14 writes wrong rules for the first instructions of functions of the kind "windows". With
# -fstack-clash-protection it moves the stack pointer to memory that was never used, and the kernel copies no such stack.
IS_CLANG = "clang" in CC[0]


def leaf_body():
    return "return mix(a, MIX) * 3;"


class Program:
    """The program of a seed."""

    def __init__(self, seed, number=36):
        self._rng = random.Random(seed)
        self.flags = [self._rng.choice(one) for one in CHOICES]
        if IS_CLANG:
            self.flags[3] = ""
        self.functions = []
        self.extra = {}  # {name: (nodes that may follow, text)}: helpers of functions
        kinds = [kind for kind in KINDS if kind != "windows" or not IS_CLANG]
        self._rng.shuffle(kinds)
        wanted = (kinds * 2)[:number]
        self._rng.shuffle(wanted)
        for i, kind in enumerate(wanted):
            modules = [m for m in KINDS[kind].modules for _ in range({MAIN: 3, LINKED: 2, OPENED: 1}[m])]
            function = Function(f"f{i:02d}_{kind}", kind, self._rng.choice(modules))
            function.slot = i
            self.functions.append(function)
        self.leaves = []
        for i in range(3):
            kind = self._rng.choice(["small", "all", "frame", "pointer", "aligned"])
            leaf = Function(f"leaf{i}_{kind}", kind, (MAIN, LINKED, OPENED)[i])
            leaf.slot = 60 + i
            self.leaves.append(leaf)
        self._connect()
        self.every = self.functions + self.leaves

    def _reachable(self, caller, callee):
        """Functions in assembler call only functions with one argument in their own module."""
        if caller.kind in BY_HAND:
            return callee.module == MAIN and not KINDS[callee.kind].more and callee.kind != "windows"
        return True

    def _connect(self):
        cost = {leaf.name: KINDS[leaf.kind].stack for leaf in self.leaves}
        pure = {leaf.name: True for leaf in self.leaves}
        for i in reversed(range(len(self.functions))):
            function = self.functions[i]
            kind = KINDS[function.kind]
            own = kind.stack + (700 if LIBC in kind.nodes else 0)
            later = [f for f in self.functions[i + 1:i + 12] if self._reachable(function, f) and
                     cost[f.name] + own < 7500]
            ends = [leaf for leaf in self.leaves if self._reachable(function, leaf)]
            count = 1 if function.kind in BY_HAND or function.kind.startswith("tail") else self._rng.choice([1, 2, 3])
            chosen = self._rng.sample(later, min(count, len(later))) or [self._rng.choice(ends)]
            function.callees = chosen
            if function.kind.startswith("tail"):
                function.tail = chosen[0]
            function.nodes = set(kind.nodes)
            cost[function.name] = own + max(cost[f.name] for f in chosen)
            pure[function.name] = kind.pure and all(pure[f.name] for f in chosen)
        self.cost, self.pure = cost, pure
        # main() calls the functions that no other function calls.
        called = {f.name for function in self.functions for f in function.callees}
        roots = [f for f in self.functions if f.name not in called] or self.functions[:1]
        self.roots = {"main": roots, "worker": [f for f in roots if cost[f.name] < 5500] + self.functions[20:24],
                      "other_worker": [f for f in self.functions[8:] if cost[f.name] < 2600][:6],
                      "handler": [f for f in self.functions[8:] if pure[f.name] and cost[f.name] < 2600][:6]}
        for root in self.roots.values():
            root += self.leaves[:1]

    def _choice(self, caller, callees, salt):
        """An expression: the call of one of them, by the value of a."""
        text = callees[-1].call(caller, "a")
        for i, callee in enumerate(callees[:-1]):
            text = f"pick(a ^ {salt}, {len(callees)}) == {i} ? {callee.call(caller, 'a')} : {text}"
        return f"({text})" if len(callees) > 1 else text

    def _text(self, function):
        kind = KINDS[function.kind]
        if function.kind in BY_HAND:
            body = kind.body.replace("CALLEE", function.callees[0].name)
            text = (f".text\n.globl {function.name}\n.type {function.name}, @function\n"
                    f"{function.name}:\n.cfi_startproc\n"
                    f"{'endbr64' if 'none' not in self.flags[1] else ''}{body}.cfi_endproc\n"
                    f".size {function.name}, .-{function.name}\n")
            return "__asm__(" + "\n".join('"' + line.replace("\t", " ") + '\\n"' for line in text.splitlines()) + ");\n"
        salt = self._rng.randrange(1 << 60)
        body = leaf_body() if function in self.leaves else kind.body
        if function in self.leaves and function.kind != "small":
            body = kind.body.replace("CALL", "a + 1")
        if function.callees:
            body = body.replace("CALL", self._choice(function.module, function.callees, salt))
        more = ""
        if "SELF_compare" in body:
            more = (f"NOIPA int {function.name}_compare(const void *x, const void *y)\n{{\n"
                    f"\tuint64_t a = *(const uint64_t *)x ^ *(const uint64_t *)y;\n\n\tif ((a & 7) == 0)\n\t\tsink += "
                    f"{self._choice(function.module, function.callees, salt)};\n\treturn (a & 64) ? 1 : -1;\n}}\n")
        if "SELF_jumps" in body:
            more = (f"NOIPA NORETURN void {function.name}_jumps(uint64_t a, jmp_buf back)\n{{\n\tsink += "
                    f"{self._choice(function.module, function.callees, salt)};\n\tLEAVE(back);\n}}\n")
        body = body.replace("SELF", function.name).replace("MIX", f"{self._rng.randrange(1, 1 << 62)}UL")
        body = body.replace("SIZE", str(self._rng.choice([1, 5, 17, 60])))
        return f"{more}{function.prototype()}\n{{\n\t{body}\n}}\n"

    def _module(self, module):
        """The text of one of its files."""
        parts = [HEADER]
        parts.append("#ifdef __clang__\n#define KEEP_FP\n#else\n#define KEEP_FP "
                     "__attribute__((optimize(\"no-omit-frame-pointer\")))\n#endif\n")
        parts += sorted({KINDS[f.kind].top + "\n" for f in self.every if KINDS[f.kind].top})
        parts += [f.prototype() + ";\n" for f in self.every]
        ours = [f for f in self.every if f.module == module]
        self._rng.shuffle(ours)
        parts += [self._text(f) for f in ours]
        if module == MAIN:
            lines = [f'\topened_functions[{f.slot}] = (function_t)dlsym(library, "{f.name}");\n'
                     for f in self.every if f.module == OPENED]
            parts.append("static void open_functions(const char *program)\n{\n\tchar path[4096];\n\tvoid *library;\n\n"
                         "\tsnprintf(path, sizeof(path), \"%.*s/libopened.so\", "
                         "(int)(strrchr(program, '/') - program), program);\n"
                         "\tlibrary = dlopen(path, RTLD_LAZY);\n\tif (!library)\n\t\tdie(dlerror());\n"
                         + "".join(lines) + "}\n")
            text = MAIN_TEXT
            for word, name in (("MAIN_CALL", "main"), ("WORKER_CALL", "worker"), ("OTHER_CALL", "other_worker"),
                               ("HANDLER_CALL", "handler")):
                salt = self._rng.randrange(1 << 60)
                argument = "handled" if name == "handler" else "a"
                call = self._choice(MAIN, self.roots[name], salt)
                if name == "handler":
                    call = f"({{ uint64_t a = handled; {call}; }})"
                text = text.replace(f"{word}({argument})", call)
            parts.append(text)
        return "\n".join(parts)

    def edges(self, has_frame):
        """{caller: nodes whose frame may be the next one}. @has_frame(function) tells whether the compiler left one."""
        frames = {}  # {function: names of functions that may have a frame once it was called}

        def after(function):
            if function.name not in frames:
                frames[function.name] = {function.name}
                if function.tail and not has_frame(function):
                    frames[function.name] |= after(function.tail)
            return frames[function.name]

        found = {name: set().union(*(after(f) for f in callees)) for name, callees in self.roots.items()}
        for name in self.roots:
            found[name] |= {LIBC, PLT}
        found[LIBC] = {LIBC, VDSO, PLT, "main", "worker", "other_worker"}
        found[SIGNAL] = {"handler"}
        for function in self.every:
            callees = set().union(*(after(f) for f in function.callees)) if function.callees else set()
            own = found.setdefault(function.name, set())
            if any(f.module != MAIN or function.module != MAIN for f in function.callees):
                own |= {PLT, LIBC}  # the dynamic linker binds it
            own |= function.nodes
            if function.tail and not has_frame(function):
                continue
            if function.kind == "sorting":
                found[LIBC].add(function.name + "_compare")
                found[function.name + "_compare"] = callees | {PLT, LIBC}
            elif function.kind == "jumping":
                own.add(function.name + "_jumps")
                found[function.name + "_jumps"] = callees | {PLT, LIBC}
            else:
                own |= callees
            if function.kind in ("recursive", "deep"):
                own.add(function.name)
        return found

    def build(self, folder, more=()):
        """Compile it; return its path."""
        for module in (MAIN, LINKED, OPENED):
            with open(os.path.join(folder, f"{module}.c"), "w", encoding="ascii") as file:
                file.write(self._module(module))
        common, (link, pie) = [word for flags in self.flags[:-2] for word in flags.split()], self.flags[-2:]
        common += ["-std=gnu11", "-w", "-pthread", *more]
        for module in (LINKED, OPENED):
            subprocess.run([*CC, *common, "-fPIC", "-shared", link, f"{module}.c", "-o", f"lib{module}.so"], cwd=folder,
                           check=True)
        subprocess.run([*CC, *common, *pie.split(), "-rdynamic", link, "main.c", "-o", "program", "-L.", "-llinked",
                        "-Wl,-rpath,$ORIGIN", "-Wl,--unresolved-symbols=ignore-all"], cwd=folder, check=True)
        calling = self._calling(folder)
        with open(os.path.join(folder, "edges"), "w", encoding="ascii") as file:
            for caller, nodes in self.edges(lambda function: function.name in calling).items():
                file.writelines(f"{caller} {node}\n" for node in sorted(nodes))
        return os.path.join(folder, "program")

    @staticmethod
    def _calling(folder):
        """Functions with a call instruction: the others leave no frame of their own behind."""
        found, name = set(), None
        for module in ("program", "liblinked.so", "libopened.so"):
            text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", module], cwd=folder, check=True,
                                  capture_output=True, text=True).stdout
            for line in text.splitlines():
                if head := re.match(r"^[0-9a-f]+ <([^>]+)>:$", line):
                    name = head[1].split(".")[0]
                elif re.search(r"\tcall", line):
                    found.add(name)
        return found


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    print(Program(int(sys.argv[1])).build(sys.argv[2], sys.argv[3:]))


if __name__ == "__main__":
    main()
