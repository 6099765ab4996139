#!/usr/bin/env python3
"""Lets calls of the program fail, one at a time, drawn by a seed, and looks that nothing is wrong or lost.

usage: inject.py [--count N] [--seed S] [--part I/K] [--jobs J] PROGRAM
       inject.py --repeat "SCENARIO ENTRY NTH CODE once|on" PROGRAM
       inject.py --self-test PROGRAM

A call is one of a runtime's (tables of src/device), an allocation, a thread's start, or a system call of reading and
writing; or the program is killed before one of writing. Then the exit code must be documented and the error typed, or
the result right; the output file is the old one or the new one, whole; nothing is left behind; nobody waits forever.
"""
import argparse
import collections
import concurrent.futures
import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pocl_intrinsics
import scenarios
from scenarios import OLD

SHORT, KILL = -1000001, -1000002  # of preload/injection.hpp
TIMEOUT = 60  # seconds; a run takes a tenth of one
OPENCL_CODES = [-2, -4, -5, -6, -14, -30, -34, -36, -9999]
OPENCL_OWN = {"clGetPlatformIDs": [-1001], "clGetDeviceIDs": [-1], "clBuildProgram": [-3, -11],
              "clCreateProgramWithBinary": [-42], "clGetEventProfilingInfo": [-7], "clCreateBuffer": [-61],
              "clEnqueueNDRangeKernel": [-54, -52], "clCreateKernel": [-46]}
CUDA_CODES = [1, 2, 46, 201, 209, 700, 701, 719, 801, 999]
CUDA_OWN = {"cuInit": [100, 803], "cuModuleLoadDataEx": [218, 222], "cuDeviceGetCount": [100]}
CUDA_LOST = {201, 700, 719, 999}
NVRTC_CODES = list(range(1, 12))
FILES = [errno.EIO, errno.ENOSPC, errno.EDQUOT]
SYSTEM_CODES = {
    "open": [errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EIO, errno.ENOSPC], "close": FILES + [errno.EINTR],
    "read": [errno.EIO, errno.EINTR, SHORT], "pread": [errno.EIO, errno.EINTR, SHORT],
    "readv": [errno.EIO, errno.EINTR, SHORT], "write": FILES + [errno.EFBIG, errno.EINTR, SHORT],
    "pwrite": FILES + [errno.EINTR, SHORT], "writev": FILES + [errno.EINTR, SHORT],
    "fsync": FILES, "fdatasync": FILES, "ftruncate": FILES + [errno.EINTR], "fallocate": FILES + [errno.EOPNOTSUPP],
    "rename": FILES + [errno.EACCES], "link": FILES + [errno.EPERM], "unlink": [errno.EIO, errno.EACCES],
    "mkdir": FILES + [errno.EACCES], "rmdir": [errno.EIO], "mmap": [errno.ENOMEM, errno.EAGAIN, errno.ENODEV],
    "stat": [errno.EIO, errno.ENOMEM, errno.EACCES], "access": [errno.EIO, errno.EACCES], "readlink": [errno.EIO],
    "getdents": [errno.EIO, errno.ENOMEM], "fchmod": [errno.EPERM, errno.EIO], "fchown": [errno.EPERM],
    "utimensat": [errno.EPERM, errno.EIO], "lseek": [errno.EIO], "flock": [errno.ENOLCK, errno.EINTR],
    "copy_file_range": FILES, "sendfile": FILES, "symlink": FILES}
NO_STATE = [errno.EINTR]  # what a call says by the way: for ever it would say nothing else, and nobody could go on
HARMLESS = [SHORT]  # the rest can be had by asking again
# What is not removed because that very call failed, stays; a wait that never happened frees nothing.
REMOVALS = {"unlink", "rmdir", "getdents", "open", "stat"}
# Libraries are looked for once: one that was not to be had then is missing for as long as the process lives.
SOUGHT_ONCE = r"DynamicLibrary|find_nvrtc|cuda::.*folders"
WAITS = {"clFinish", "clFlush", "clWaitForEvents", "clEnqueueUnmapMemObject"}
# How often each kind is drawn, of 100.
KINDS = {"opencl": 26, "cuda": 14, "nvrtc": 4, "allocation": 28, "thread": 1, "system call": 17, "kill": 10}


def kind_of(entry):
    if entry == "allocation":
        return "allocation"
    if entry == "pthread_create":
        return "thread"
    if entry.startswith("writing"):
        return "kill"
    for prefix, kind in {"cl": "opencl", "cu": "cuda", "nvrtc": "nvrtc"}.items():
        if re.match(prefix + "[A-Z]", entry):
            return kind
    return "system call"


def codes_of(entry):
    return {"opencl": OPENCL_CODES + OPENCL_OWN.get(entry, []), "cuda": CUDA_CODES + CUDA_OWN.get(entry, []),
            "nvrtc": NVRTC_CODES, "allocation": [errno.ENOMEM], "thread": [errno.EAGAIN], "kill": [KILL],
            "system call": SYSTEM_CODES.get(entry, [errno.EIO])}[kind_of(entry)]


class Fault(collections.namedtuple("Fault", "scenario entry nth code mode")):
    """One call that fails."""

    def __str__(self):
        return " ".join(map(str, self))

    @staticmethod
    def of(text):
        scenario, entry, nth, code, mode = text.split()
        return Fault(scenario, entry, int(nth), int(code), mode)


class Folder:
    """Where one run after the other happens: its output, temporary, home and cache folders."""

    CACHES = ("cache", "pocl")

    def __init__(self, base, number, tools):
        self.root = os.path.join(base, f"worker-{number}")
        self.inputs, self.warm, self.tools = os.path.join(base, "inputs"), os.path.join(base, "warm"), tools
        self.fired = self.path("fired")
        for name in ("output", "temporary", "home", *self.CACHES):
            os.makedirs(self.path(name))

    def path(self, name):
        return os.path.join(self.root, name)

    def cache(self, scenario, name):
        return self.path("fresh-" * (name in scenario.fresh) + name)

    def prepare(self, scenario):
        """Everything as before any fault: caches warm unless the scenario wants them fresh."""
        for name in ("output", "temporary", "home"):
            restore(self.path(name), None)
        for name in self.CACHES:
            fresh = name in scenario.fresh
            restore(self.cache(scenario, name), None if fresh else self.warm_cache(scenario, name))
        if scenario.output not in (None, "-"):
            with open(self.output_of(scenario), "wb") as file:
                file.write(OLD)

    def warm_cache(self, scenario, name):
        """Of programs one for each scenario, so that a fault strikes at the same call when it is repeated alone."""
        return os.path.join(self.warm, scenario.name if name == "cache" else name)

    def output_of(self, scenario):
        return os.path.join(self.path("output"), scenario.output)

    def environment(self, scenario):
        # Fresh and freed memory is filled, so that neither looks like what should be there.
        return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "MALLOC_PERTURB_": "165", "HOME": self.path("home"),
                "TMPDIR": self.path("temporary"),
                "AXISLOOM_CACHE_DIR": self.cache(scenario, "cache"), "POCL_CACHE_DIR": self.cache(scenario, "pocl"),
                "AXISLOOM_DEVICE": "" if scenario.cuda else "opencl:0", "LD_PRELOAD": self.tools + "/libfaults.so",
                "AXISLOOM_REAL_OPENCL": REAL_OPENCL, "AXISLOOM_FAULT_ONLY_NVRTC": "libnvrtc.so.13",
                "LD_LIBRARY_PATH": self.tools + ("/cuda" if scenario.cuda else "/opencl"), **scenario.env}

    def command(self, scenario, program):
        words = scenario.words if isinstance(scenario.words, list) else scenario.words.split()
        out = self.output_of(scenario) if scenario.output not in (None, "-") else ""
        first = self.tools + "/axisloom_faults_user" if scenario.user else program
        return [first] + [word.replace("{in}", self.inputs).replace("{out}", out) for word in words]

    def left_behind(self, scenario):
        """Files that nobody asked for."""
        found = [os.path.join("output", name) for name in os.listdir(self.path("output")) if name != scenario.output]
        for name in ("temporary", "home"):
            found += [os.path.join(name, file) for file in contents(self.path(name))]
        cache = contents(self.cache(scenario, "cache"))
        return found + [os.path.join("cache", file) for file in cache if file.endswith(".tmp")]


def restore(folder, model):
    """Gives a folder the files of a model, or none; only what differs is touched."""
    wanted, found = contents(model) if model else {}, contents(folder)
    if not model and (found or os.listdir(folder)):
        shutil.rmtree(folder)
        os.mkdir(folder)
    for name in found.keys() - wanted.keys() if model else ():
        os.remove(os.path.join(folder, name))
    for name in (name for name, size in wanted.items() if found.get(name) != size):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        shutil.copy2(os.path.join(model, name), os.path.join(folder, name))


def contents(folder):
    """Files below a folder with their sizes."""
    os.makedirs(folder, exist_ok=True)
    return {os.path.relpath(os.path.join(at, name), folder): os.lstat(os.path.join(at, name)).st_size
            for at, _, names in os.walk(folder) for name in names}


def real_opencl():
    """The path of the OpenCL loader of this machine, which the shim hands its calls on to."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"libOpenCL\.so\.1 .*x86-64.* => (\S+)", listed)
    if not found:
        sys.exit("there is no libOpenCL.so.1 here: install ocl-icd-libopencl1")
    return found.group(1)


Result = collections.namedtuple("Result", "code out err stuck")


def run(folder, scenario, program, fault=None, calls=None):
    environment = folder.environment(scenario)
    if fault:
        environment["AXISLOOM_FAULT"] = f"{fault.entry} {fault.nth} {fault.code} {fault.mode}"
        environment["AXISLOOM_FAULT_FIRED"] = folder.fired
    if calls:
        environment["AXISLOOM_FAULT_CALLS"] = calls
    stdin = open(os.path.join(folder.inputs, scenario.stdin), "rb") if scenario.stdin else subprocess.DEVNULL
    try:
        done = subprocess.run(folder.command(scenario, program), env=environment, stdin=stdin, capture_output=True,
                              timeout=TIMEOUT, check=False)
        return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"), False)
    except subprocess.TimeoutExpired:
        return Result(None, b"", "", True)
    finally:
        if scenario.stdin:
            stdin.close()


class Known:
    """What a scenario does when nothing fails: its result, and the calls that can fail."""

    def __init__(self, folder, scenario, program):
        folder.prepare(scenario)
        calls = folder.path("calls")
        if os.path.exists(calls):
            os.remove(calls)
        self.clean = run(folder, scenario, program, calls=calls)
        self.fault = None if os.path.exists(calls) else f"exit code {self.clean.code}"
        if self.fault:
            return
        self.sites = collections.defaultdict(lambda: collections.defaultdict(list))  # entry -> site -> numbers of calls
        counts = collections.Counter()
        with open(calls, encoding="ascii") as file:
            for line in file:
                entry, site = line.split()
                counts[entry] += 1
                self.sites[entry][site].append(counts[entry])
        folder.prepare(scenario)
        start = time.monotonic()
        self.clean = run(folder, scenario, program)
        self.seconds = time.monotonic() - start
        self.bytes = self.whole_output(folder, scenario)
        self.fault = self.fault_of_clean(folder, scenario)

    def whole_output(self, folder, scenario):
        if scenario.output == "-":
            return self.clean.out
        if scenario.output and os.path.exists(folder.output_of(scenario)):
            with open(folder.output_of(scenario), "rb") as file:
                return file.read()
        return None

    def fault_of_clean(self, folder, scenario):
        if self.clean.code not in scenario.codes and not (scenario.user and self.clean.code == 0):
            return f"exit code {self.clean.code}"
        if scenario.printed and self.clean.out != scenario.printed(folder.inputs):
            return "another result than NumPy's"
        if scenario.output == "-":
            file = folder.path("piped")
            with open(file, "wb") as out:
                out.write(self.bytes)
        elif scenario.output:
            file = folder.output_of(scenario)
        if scenario.output and 0 in scenario.codes:
            if self.bytes == OLD or (scenario.judge and not scenario.judge(folder.inputs, file)):
                return "another result than NumPy's"
        return f"left behind: {folder.left_behind(scenario)}" if folder.left_behind(scenario) else None


def is_new(folder, scenario, known, data, failed):
    if scenario.stable or data in (None, OLD):
        return data == known.bytes
    try:  # a document is saved as its results come
        return scenario.judge(folder.inputs, folder.output_of(scenario), failed)
    except (ValueError, KeyError):
        return False


def file_fault(folder, scenario, known, result):
    """What is wrong with the output: None when it is the new one, or after an error the old one."""
    if scenario.output in (None, "-"):
        expected = known.bytes if scenario.output else scenario.printed(folder.inputs) if scenario.printed else None
        if expected is None or result.out == expected or (result.code != 0 and expected.startswith(result.out)):
            return None
        return "wrong bytes on standard output"
    try:
        with open(folder.output_of(scenario), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return "the old output is gone"
    if is_new(folder, scenario, known, data, result.code != 0):
        return None
    if data != OLD:
        return "the output is neither the old one nor the new one"
    return "no output, and no error" if result.code == 0 else None


def end_fault(scenario, fault, result):
    """What is wrong with the way the program ended."""
    if result.stuck:
        return "stuck"
    if result.code < 0:
        if fault.code == KILL and result.code == -signal.SIGKILL:
            return None
        return f"{signal.Signals(-result.code).name}: {result.err.strip().splitlines()[-1:] or ''}"
    if scenario.user:
        # What cannot make its context current cannot release; a lost card stays lost for this process.
        lost = fault.entry == "cuCtxPushCurrent_v2" or (kind_of(fault.entry) == "cuda" and fault.code in CUDA_LOST)
        forgiven = (result.code == 6 and (lost or fault.entry in WAITS)) or (result.code == 8 and lost)
        return None if result.code in (0, 5) or forgiven else f"exit code {result.code}: {result.err.strip()[-200:]}"
    if result.code not in scenario.codes | {2, 3, 4, 5}:
        return f"exit code {result.code}: {result.err.strip()[-200:]}"
    speechless = fault.mode == "on" and fault.entry in ("write", "writev")  # standard error fails too
    if result.code not in scenario.codes and not speechless and not re.search("^axisloom: ", result.err, re.M):
        return f"exit code {result.code} without an error: {result.err.strip()[-200:]}"
    return None


def outcome(folder, scenario, known, fault, program):
    """(whether it struck, what is wrong or None, how it ended)"""
    folder.prepare(scenario)
    if os.path.exists(folder.fired):
        os.remove(folder.fired)
    result = run(folder, scenario, program, fault)
    struck = os.path.exists(folder.fired)
    ended = "killed" if fault.code == KILL and result.code == -signal.SIGKILL else f"exit {result.code}"
    wrong = end_fault(scenario, fault, result)
    if wrong and not result.stuck and result.code < 0 and pocl_intrinsics.own_end(result.err):
        return struck, None, "PoCL's own end: " + pocl_intrinsics.own_end(result.err)
    if wrong and result.code == -signal.SIGABRT and fault.entry == "allocation" and scenario.json and "bad_alloc" in wrong:
        return struck, None, "JSON's own end: its destructor allocates"
    if not wrong and fault.code in HARMLESS and result.code not in scenario.codes and not scenario.user:
        wrong = f"{ended} although nothing was lost: {result.err.strip()[-200:]}"
    wrong = wrong or file_fault(folder, scenario, known, result)
    left = [] if fault.entry in REMOVALS else folder.left_behind(scenario)
    if ended == "killed":
        left = [file for file in left if not documented(file, folder)]
    if not wrong and left:
        wrong = f"left behind: {left}"
    if not wrong and ended == "killed":
        wrong = afterwards(folder, scenario, known, program)
    return struck, wrong, ended


def documented(file, folder):
    """What may stay when the program is killed: an unfinished cache entry, which goes after an hour, and the finished
    output under its hidden name when it was about to replace an older one: no system call puts a nameless file there."""
    with open(folder.fired, encoding="utf-8") as fired:
        call = fired.read().splitlines()[1:]
    return file.startswith("cache/") or (call == ["rename"] and re.fullmatch(r"output/\.[^/]*\.tmp", file))


def afterwards(folder, scenario, known, program):
    """After a kill the same command must do its work, with whatever the first one left in the caches."""
    result = run(folder, scenario, program)
    if result.code not in scenario.codes:
        return f"the next run ends with {result.code}: {result.err.strip()[-200:]}"
    wrong = file_fault(folder, scenario, known, result)
    return f"the next run: {wrong}" if wrong else None


def draw(seed, number, attempt, known):
    """The fault of that number: a kind by its weight, an entry, a quick scenario more often, a site, a call, a code."""
    rng = random.Random(f"{seed}/{number}/{attempt}")
    kind = rng.choices(list(KINDS), KINDS.values())[0]
    entries = sorted({entry for k in known.values() for entry in k.sites if kind_of(entry) == kind})
    entry = rng.choice(entries)
    able = [s for s in scenarios.all_scenarios()
            if s.name in known and entry in known[s.name].sites and s.only in (None, kind)]
    scenario = rng.choices(able, [1 / known[s.name].seconds for s in able])[0]
    sites = known[scenario.name].sites[entry]
    nth = rng.choice(sites[rng.choice(sorted(sites))])
    code = rng.choice(codes_of(entry))
    once = code in NO_STATE or code == KILL or rng.random() < 0.6
    return Fault(scenario.name, entry, nth, code, "once" if once else "on")


class Tally:
    def __init__(self):
        self.passed, self.failed, self.missed = collections.Counter(), [], 0
        self.ends, self.entries = collections.Counter(), collections.Counter()

    def add(self, fault, struck, wrong, ended, where, command):
        if not struck and not wrong:
            self.missed += 1
        elif wrong:
            self.failed.append((fault, wrong))
            print(f"FAILED {fault}: {wrong}\n  at {where}\n  repeat: {command} --repeat '{fault}'", flush=True)
        else:
            self.passed[kind_of(fault.entry)] += 1
            self.ends[ended] += 1
        self.entries[fault.entry] += 1

    def report(self, tables, broken):
        print("kinds: " + ", ".join(f"{kind} {count}" for kind, count in sorted(self.passed.items())))
        print("ends: " + ", ".join(f"{end} {count}" for end, count in self.ends.most_common()))
        never = sorted(tables - set(self.entries))
        print(f"entries: {len(self.entries)}; of the runtimes' tables never met: {', '.join(never) or 'none'}")
        print(f"calls that were not reached again: {self.missed}")
        print(f"{sum(self.passed.values())} passed, {len(self.failed) + broken} failed")


def tables():
    """Every entry of the runtimes' tables."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/device/")
    names = set()
    for file, pattern in {"opencl/functions.hpp": r"X\((cl\w+)\)", "cuda/nvrtc_api.hpp": r"X\((nvrtc\w+),",
                          "cuda/driver_api.hpp": r"(?:REQUIRED|OPTIONAL)\((cu\w+),"}.items():
        with open(source + file, encoding="utf-8") as text:
            names |= set(re.findall(pattern, text.read()))
    return names


class Net:
    def __init__(self, base, program, jobs):
        self.base, self.program = base, os.path.abspath(program)
        self.tools = os.path.join(os.path.dirname(self.program), "faults")
        self.command = f"{sys.argv[0]} {program}"
        os.makedirs(os.path.join(base, "inputs"))
        scenarios.write_inputs(os.path.join(base, "inputs"))
        self.folders = [Folder(base, number, self.tools) for number in range(jobs)]
        self.known, self.broken = {}, {}

    def warm_up(self, names=None):
        """Runs every scenario with cold caches, which are kept, and then learns what it calls."""
        first = self.folders[0]
        chosen = [s for s in scenarios.all_scenarios() if names is None or s.name in names]
        make_png = scenarios.Scenario("", "copy {in}/colour.ppm -o {in}/colour.png")
        first.prepare(make_png)
        run(first, make_png, self.program)
        for scenario in chosen:
            restore(first.path("cache"), None)
            run(first, scenario, self.program)
            shutil.copytree(first.cache(scenario, "cache"), first.warm_cache(scenario, "cache"), dirs_exist_ok=True)
        shutil.copytree(first.path("pocl"), os.path.join(first.warm, "pocl"), dirs_exist_ok=True)
        self.known = {s.name: Known(first, s, self.program) for s in chosen}
        self.broken = {name: known for name, known in self.known.items() if known.fault}
        self.known = {name: known for name, known in self.known.items() if not known.fault}
        for name, known in self.broken.items():
            print(f"FAILED {name}, without any fault: {known.fault}: {known.clean.err.strip()[-200:]}", flush=True)

    def one(self, fault, folder):
        scenario = next(s for s in scenarios.all_scenarios() if s.name == fault.scenario)
        struck, wrong, ended = outcome(folder, scenario, self.known[fault.scenario], fault, self.program)
        if struck and wrong and wrong.startswith("exit code 8") and re.search(SOUGHT_ONCE, self.place(folder)):
            return struck, None, "not sought again"
        # A value that could not become an object still is one to the JSON library's destructor.
        if struck and wrong and wrong.startswith("SIGSEGV") and scenario.json and "nlohmann" in self.place(folder):
            return struck, None, "JSON's own end: an object without memory"
        return struck, wrong, ended

    def again(self, tally):
        """Faults that once found something."""
        for text in scenarios.SEEN:
            fault = Fault.of(text)
            folder = self.folders[0]
            struck, wrong, ended = self.one(fault, folder)
            tally.add(fault, struck, wrong, ended, self.place(folder) if struck and wrong else "", self.command)

    def numbered(self, seed, number, free):
        """The fault of that number; another one where the call is not reached again, as happens between threads."""
        folder = free.pop()
        try:
            for attempt in range(3):
                fault = draw(seed, number, attempt, self.known)
                struck, wrong, ended = self.one(fault, folder)
                if struck or wrong:
                    break
            return fault, struck, wrong, ended, self.place(folder) if struck and wrong else ""
        finally:
            free.append(folder)

    def place(self, folder):
        """The function whose call failed."""
        with open(folder.fired, encoding="utf-8") as file:
            offset, _, path = file.readline().strip().partition(" ")
        named = subprocess.run(["addr2line", "-f", "-C", "-e", path or self.program, offset], capture_output=True,
                               text=True, check=False)
        return f"{named.stdout.splitlines()[0] if named.returncode == 0 else '?'} ({offset} {path})"

    def many(self, seed, numbers, tally):
        free = list(self.folders)
        with concurrent.futures.ThreadPoolExecutor(len(free)) as pool:
            for result in pool.map(lambda number: self.numbered(seed, number, free), numbers):
                tally.add(*result, self.command)


def self_test(base, program):
    """Every fault planted in the victim must be caught, and nothing else."""
    global TIMEOUT
    TIMEOUT = 2
    net = Net(base, program, 1)
    folder, program = net.folders[0], net.tools + "/axisloom_faults_victim"
    failed = 0
    for planted, order, expected in scenarios.PLANTED:
        scenario = scenarios.victim(planted)
        known = Known(folder, scenario, program)
        struck, wrong, _ = outcome(folder, scenario, known, Fault.of(f"{planted} {order}"), program)
        right = struck and not known.fault and (expected in wrong if expected and wrong else expected == wrong)
        failed += not right
        print(f"{'ok' if right else 'FAILED'} {planted}, {order}: {wrong or 'nothing wrong'}")
    print(f"{len(scenarios.PLANTED) - failed} passed, {failed} failed")
    return 1 if failed else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--part", default="1/1", help="the faults of this part of the count, such as 2/10")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", metavar="FAULT")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("program")
    return parser.parse_args()


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="axisloom-faults-") as base:
        if options.self_test:
            return self_test(base, options.program)
        net = Net(base, options.program, options.jobs if not options.repeat else 1)
        if options.repeat:
            fault = Fault.of(options.repeat)
            net.warm_up({fault.scenario})
            struck, wrong, ended = net.one(fault, net.folders[0])
            where = f" in {net.place(net.folders[0])}" if struck else ""
            print(f"{'struck' if struck else 'not reached'}{where}; {ended}; {wrong or 'nothing wrong'}")
            return 1 if wrong else 0
        start = time.monotonic()
        net.warm_up()
        learnt = time.monotonic() - start
        part, parts = map(int, options.part.split("/"))
        print(f"seed {options.seed}, part {part} of {parts}, {options.count} faults in all", flush=True)
        tally = Tally()
        net.again(tally)
        net.many(options.seed, range(part - 1, options.count, parts), tally)
        tally.report(tables(), len(net.broken))
        print(f"{time.monotonic() - start:.0f} s, {learnt:.0f} s of them to learn the scenarios", file=sys.stderr)
        return 1 if tally.failed or net.broken else 0


REAL_OPENCL = real_opencl()
if __name__ == "__main__":
    sys.exit(main())
