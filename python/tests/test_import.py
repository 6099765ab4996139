"""What `import axisloom` leaves alone, and the command line that comes with the package."""

import os
import signal
import subprocess
import sys

from axisloom import _native

# A process of its own: this one has NumPy, and threads.
AFTER_IMPORT = """
import os, sys
before = set(sys.modules)
from axisloom import _native
foreign = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(*sorted(foreign - {"axisloom", "nanobind_backend"}))
with open("/proc/self/maps") as maps:
    print(*sorted({os.path.basename(line.split()[-1]) for line in maps if "/" in line}))
print(len(os.listdir("/proc/self/task")))
"""


def test_import_brings_no_other_package_and_no_driver():
    done = subprocess.run([sys.executable, "-c", AFTER_IMPORT], check=True, stdout=subprocess.PIPE, text=True)
    packages, libraries, threads = done.stdout.splitlines()
    assert packages == ""
    assert "_native.abi3.so" in libraries.split()
    assert not [name for name in libraries.split() if any(part in name for part in ("OpenCL", "cuda", "nvrtc", "pocl"))]
    assert threads == "1"


def run(*words, **options):
    return subprocess.run([sys.executable, "-m", "axisloom", *words], text=True, check=False, **options)


def test_the_module_is_the_command_line():
    done = run("--version", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["axisloom", _native.__version__])


def test_exit_codes_are_the_programs_own():
    done = run("no-such-command", stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert 'no command "no-such-command"' in done.stderr


def test_a_closed_pipe_ends_the_program_quietly():
    """Python ignores SIGPIPE, and the program takes that back: `python -m axisloom --help | head` says nothing."""
    reading, writing = os.pipe()
    os.close(reading)
    done = run("--help", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")
