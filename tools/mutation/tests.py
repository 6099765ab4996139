"""The tests that judge faults, each a command. One run of each without a fault notes how long it takes and which faults it
reaches, so that no test runs for a fault that it cannot see, and nobody keeps a list of what tests what."""
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import mmap
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from draw import ROOT
from plant import BUILD, COPY, WORK, kernel_tree

STAGES = ("unit", "cases", "cli", "random")  # in their order
MOST_MUTANTS = 65536  # as in the header that plant.py writes
MEMORY = 12 << 30     # bytes: a fault that asks for more fails instead of pushing others out of memory
WHOLE_TREE = WORK / "kernels" / "whole"  # of a run without a fault in a kernel
RANDOM_CASES, RANDOM_SEED = 100, 1
# A test may take ten times its usual time, and as long again as it takes to compile some kernels anew.
SLACK, COMPILING = 10, 60
UNKNOWN = 900


@dataclasses.dataclass
class Test:
    name: str
    stage: str    # one of STAGES
    source: str   # whose text decides whether what is noted still holds
    command: list
    seconds: float = UNKNOWN
    reached: frozenset = frozenset()
    fails: bool = False
    whole: bool = False  # needs the kernels that the build holds, such as a test that lets opening of files fail

    def limit(self):
        return SLACK * self.seconds + COMPILING


def unit_tests():
    """Every unit test but those that only the nets run."""
    program = str(BUILD / "axisloom_tests")
    listing = WORK / "unit-tests.json"
    subprocess.run([program, "--gtest_list_tests", f"--gtest_output=json:{listing}"], check=True,
                   stdout=subprocess.DEVNULL)
    slow = set((ROOT / "tests/unit/slow.txt").read_text().split())
    for suite in json.loads(listing.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}"
            if name not in slow and "DISABLED_" not in name:
                yield Test(name, "unit", str((BUILD / test["file"]).resolve()),
                           [program, "--gtest_brief=1", f"--gtest_filter={name}"])


def all_tests():
    program = str(BUILD / "axisloom")
    tests = list(unit_tests())
    for path in sorted((ROOT / "tests/cases").glob("*.cases")):
        tests.append(Test(path.name, "cases", str(path),
                          [program, "check", "--quiet", "--max-failures", "1", "--cases", str(path)]))
    path = ROOT / "tests/cases-compiled/nvidia.cases"
    tests.append(Test(path.name, "cases", str(path), ["env", "AXISLOOM_HOST_COMPILER=/usr/bin/g++", program, "check", "--quiet",
                                                      "--device", "host", "--max-failures", "1", "--cases", str(path)]))
    for path in sorted((ROOT / "tests/cli").glob("*.py")):
        tests.append(Test(path.name, "cli", str(path), [os.environ.get("AXISLOOM_PYTHON", "python3"), str(path), program]))
    tests.append(Test("random", "random", __file__, [program, "check", "--quiet", "--random", str(RANDOM_CASES), "--seed",
                                                     str(RANDOM_SEED), "--max-failures", "1"]))
    return tests


@functools.cache
def nvrtc():
    return subprocess.run([ROOT / "tools/nvrtc.sh"], capture_output=True, text=True).stdout.strip()


def new_scratch():
    """A folder that other users can pass, as some tests become another."""
    folder = tempfile.mkdtemp(prefix="axisloom-mutants-")
    os.chmod(folder, 0o755)
    return pathlib.Path(folder)


def environment(scratch, number, tree=""):
    return dict(os.environ, AXISLOOM_MUTANT=str(number), AXISLOOM_SOURCE=str(tree), POCL_CACHE_DIR=str(WORK / "pocl"),
                AXISLOOM_CACHE_DIR="off", XDG_CACHE_HOME=str(scratch), XDG_DATA_HOME=str(scratch), TMPDIR=str(scratch),
                CUDA_CACHE_PATH=str(scratch), **({"VIRTUAL_ENV": nvrtc()} if nvrtc() else {}))


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, env, limit):
    """(exit status, output); the status is None when it took too long. What it started ends with it."""
    with tempfile.TemporaryFile() as output:
        # Tests look for what they need beside the sources.
        process = subprocess.Popen(command, cwd=COPY, env=env, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limited)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


def note(test):
    """Runs a test without a fault and notes what it reaches. Kernels are read from a tree, as they are when one is at fault,
    or else from the build."""
    with tempfile.NamedTemporaryFile() as bytes_reached:
        bytes_reached.truncate(MOST_MUTANTS)
        for tree in (WHOLE_TREE, ""):
            scratch = new_scratch()
            env = environment(scratch, 0, tree) | {"AXISLOOM_MUTANTS_REACHED": bytes_reached.name}
            start = time.time()
            status, output = run(test.command, env, UNKNOWN)
            test.seconds, test.fails, test.whole = time.time() - start, status != 0, not tree
            shutil.rmtree(scratch, ignore_errors=True)
            if not test.fails:
                break
        with mmap.mmap(bytes_reached.fileno(), MOST_MUTANTS, access=mmap.ACCESS_READ) as view:
            test.reached = frozenset(m.start() for m in re.finditer(rb"[^\0]", view))
    if test.fails:
        (WORK / "logs" / f"{test.name.replace('/', '_')}.log").write_text(output)


def note_all(memory, jobs):
    """All tests with what they reach, from `memory` where their text is as it was."""
    known = json.loads(memory.read_text()) if memory.exists() else {}
    digests, missing, tests = {}, [], all_tests()
    for test in tests:
        digests.setdefault(test.source, hashlib.sha256(open(test.source, "rb").read()).hexdigest())
        old = known.get(test.name)
        if old and old["digest"] == digests[test.source] and not old["fails"]:
            test.seconds, test.reached, test.whole = old["seconds"], frozenset(old["reached"]), old["whole"]
        else:
            missing.append(test)

    def remember():
        done = [test for test in tests if test.seconds != UNKNOWN]
        memory.write_text(json.dumps({
            test.name: {"digest": digests[test.source], "seconds": test.seconds, "fails": test.fails, "whole": test.whole,
                        "reached": sorted(test.reached)} for test in done}))
    kernel_tree(WHOLE_TREE.name)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number, _ in enumerate(pool.map(lambda test: note(test), missing), 1):
            if number % 50 == 0:
                print(f"{number} of {len(missing)} tests noted", flush=True)
                remember()
    remember()
    for test in tests:
        if test.fails:
            print(f"left out, since it fails without a fault: {test.name}; see {WORK}/logs")
    everything = hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()
    return [test for test in tests if not test.fails], everything
