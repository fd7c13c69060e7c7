# SPDX-License-Identifier: Apache-2.0
"""The loads: programs that run during a measurement and are sampled."""

import glob
import os
import signal
import subprocess
import sys

LIFE_S = 900  # after this time they end by themselves

# Half of the time in python3, half in the largest library that distributions ship.
PYTHON = r"""
import ctypes, signal, sys
signal.alarm(int(sys.argv[1]))
open("/proc/self/comm", "w").write("interpreter")
llvm = ctypes.CDLL(sys.argv[2]) if sys.argv[2] else None
names = "ContextCreate ModuleCreateWithNameInContext Int32TypeInContext FunctionType AddFunction PrintModuleToString"
if llvm:
    for name in names.split():
        getattr(llvm, "LLVM" + name).restype = ctypes.c_void_p
def in_library(n):
    pointer = ctypes.c_void_p
    context = pointer(llvm.LLVMContextCreate())
    module = pointer(llvm.LLVMModuleCreateWithNameInContext(b"load", context))
    number = pointer(llvm.LLVMInt32TypeInContext(context))
    kind = pointer(llvm.LLVMFunctionType(number, ctypes.byref(number), 1, 0))
    for i in range(n):
        llvm.LLVMAddFunction(module, b"function_%d" % i, kind)
    llvm.LLVMVerifyModule(module, 2, None)
    llvm.LLVMDisposeMessage(pointer(llvm.LLVMPrintModuleToString(module)))
    llvm.LLVMDisposeModule(module)
    llvm.LLVMContextDispose(context)
def leaf(x):
    return sum(i * x for i in range(50))
def in_python():
    return sorted(range(1000), key=lambda x: leaf(x) % 7)
print("ready", flush=True)
while True:
    in_python()
    if llvm:
        in_library(500)
"""


def large_library():
    """Return the path of libLLVM, or an empty string."""
    found = sorted(path for path in glob.glob("/usr/lib/*/libLLVM*.so*") if os.path.getsize(path) > 100 << 20)
    return os.path.realpath(found[0]) if found else ""


class Load:
    """A context in which these programs run. It begins when each has printed "ready", and kills them at its end."""

    def __init__(self, *commands, sessions=False):
        self._commands = commands
        self._sessions = sessions  # each program has a session of its own, which is killed as a whole
        self._processes = []

    def __enter__(self):
        for command in self._commands:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                       start_new_session=self._sessions)
            self._processes.append(process)
        for process in self._processes:
            while (line := process.stdout.readline()) != b"ready\n":
                if not line:
                    self.__exit__()
                    raise RuntimeError(f"the load '{process.args[0]}' is not ready")
        return self

    def __exit__(self, *_):
        for process in self._processes:
            if self._sessions:
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        for process in self._processes:
            process.wait()
            process.stdout.close()


class Loads:
    """The loads that exist. @folder has the workloads."""

    def __init__(self, folder):
        self._folder = folder

    def program(self, name):
        return os.path.join(self._folder, name)

    def workload(self, name, *arguments):
        return Load([self.program(name), str(LIFE_S), *map(str, arguments)])

    def interpreters(self):
        """Start one on every second CPU."""
        command = [sys.executable, "-c", PYTHON, str(LIFE_S), large_library()]
        return Load(*[command] * max(1, len(os.sched_getaffinity(0)) // 2))

    def sessions(self, number, loops):
        """Start @number sessions that compete for the CPUs, each with @loops busy loops."""
        command = f"for ((i = 0; i < {loops}; i++)); do while :; do :; done & done; echo ready; sleep {LIFE_S}; kill 0"
        return Load(*[["bash", "-c", command]] * number, sessions=True)

    def many(self, *names):
        """Start several workloads with different arguments at the same time."""
        return Load(*[[self.program(name), str(LIFE_S), *arguments] for name, *arguments in names])
