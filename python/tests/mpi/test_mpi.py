"""axisloom.mpi in jobs of four ranks, by OpenMPI and by MPICH. tools/python.sh installs both."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mpi4py")

import axisloom
from axisloom._program import program
from axisloom.distributed import Redistribution
from axisloom.mpi import plan
from axisloom.mpi._rounds import MOST_BYTES, Buffer, needed_rounds

HERE = Path(__file__).parent
ENVIRONMENT = Path(sys.executable).parent.parent  # of Python
ENGINES = {"openmpi": ENVIRONMENT, "mpich": ENVIRONMENT / "mpich"}
RIGHT = re.compile(r"^right", re.MULTILINE)


def environment(*left_out):
    """Of programs that are started: without what MPI adds in this process, which would make them ranks of its job, and
    with no number of threads chosen."""
    left_out = {"OMP_NUM_THREADS", "AXISLOOM_THREADS", *left_out}
    path = [str(Path(axisloom.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(path), **root}
    return {name: value for name, value in given.items() if name not in left_out}


class Engine:
    """An MPI and its program mpirun."""

    def __init__(self, name: str) -> None:
        folder = ENGINES[name]
        self.ranks = 4
        self.name, self._mpirun = name, folder / "bin" / "mpirun"
        if not self._mpirun.exists():
            pytest.fail(f"{self._mpirun} is not there: tools/python.sh installs {name}")
        self.environment = environment("OMPI_MCA_btl")
        if name == "mpich":
            self.environment["MPI4PY_LIBMPI"] = str(folder / "lib" / "libmpi.so.12")

    def started(self, *arguments: object, cwd: Path | None = None) -> subprocess.Popen[str]:
        options = ["--map-by", ":OVERSUBSCRIBE"] if self.name == "openmpi" else []
        command = [self._mpirun, *options, "-n", self.ranks, sys.executable, *arguments]
        return subprocess.Popen(
            [*map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=cwd,
            env=self.environment,
            start_new_session=True,
        )

    def ended(self, job: subprocess.Popen[str], timeout: float = 120) -> subprocess.CompletedProcess[str]:
        try:
            out, errors = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            out, errors = job.communicate()
            pytest.fail(f"the job hangs: {job.args}\n{out}\n{errors}")
        return subprocess.CompletedProcess(job.args, job.returncode, out, errors)

    def run(self, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return self.ended(self.started(*arguments, cwd=cwd))

    def job(self, name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """A program beside this one, in which an error on one rank ends all."""
        done = self.run("-m", "mpi4py", HERE / name, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done


def unused_names():
    """Of memory in /dev/shm that no process has."""
    held = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            held |= set(re.findall(r"/dev/shm/(\S+)", maps.read_text()))
        except OSError:
            continue  # it has ended
    return set(os.listdir("/dev/shm")) - held


@pytest.fixture(params=ENGINES)
def engine(request):
    """Of which nothing stays but what an MPI itself leaves there when ranks are killed."""
    before = unused_names()
    yield Engine(request.param)
    left = unused_names() - before
    its_own = {name for name in left if name.startswith(("mpich_shm_", "sm_segment.", "vader_segment."))}
    for name in its_own:
        Path("/dev/shm", name).unlink(missing_ok=True)
    assert left == its_own


def test_random_patterns(engine):
    """On all paths against the whole array, which einops rearranges."""
    assert RIGHT.search(engine.job("job_random.py", os.environ.get("AXISLOOM_SEED", "1"), 12).stdout)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_random_reductions(engine, ranks):
    """In the portable order they have the bits of those of the whole array."""
    engine.ranks = ranks
    assert RIGHT.search(engine.job("job_reduce.py", os.environ.get("AXISLOOM_SEED", "1"), 60).stdout)


def test_products(engine):
    """Random patterns of einsum against NumPy's of the whole arrays, kinds, and faults."""
    assert RIGHT.search(engine.job("job_products.py", os.environ.get("AXISLOOM_SEED", "1"), 20).stdout)


def test_what_is_wrong_on_one_rank_is_raised_on_all(engine):
    assert RIGHT.search(engine.job("job_faults.py").stdout)


def test_kinds_sums_reports_and_memory(engine):
    assert RIGHT.search(engine.job("job_kinds.py").stdout)


def test_arrays_on_cards_go_through_the_host(engine):
    folder = os.environ.get("AXISLOOM_EMULATED_CARD")
    if not folder:
        pytest.skip("AXISLOOM_EMULATED_CARD is not set")
    engine.environment |= {"LD_LIBRARY_PATH": folder, "AXISLOOM_CACHE_DIR": "off"}
    assert RIGHT.search(engine.job("job_cards.py").stdout)


def test_a_killed_rank_ends_all_and_leaves_nothing(engine, tmp_path):
    delays = [0.02 * number for number in range(5)]
    for path in ("window", "messages"):
        for job in [engine.started(HERE / "job_killed.py", delay, path, tmp_path) for delay in delays]:
            done = engine.ended(job)
            assert done.returncode != 0 and "begun" in done.stdout, done.stdout + done.stderr
    assert not subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True).stdout


# Files ---------------------------------------------------------------------------------------------------------------

WHOLE = {
    "matrix": np.arange(35, dtype="f4").reshape(5, 7),
    "cube": np.arange(6 * 8 * 10, dtype="i2").reshape(6, 8, 10),
    "columns": np.asfortranarray(np.arange(24, dtype="c16").reshape(4, 6)),
    "swapped": np.arange(40, dtype=">f8").reshape(10, 4),
    "number": np.array(3, "u1"),
    "nothing": np.zeros((0, 5), "f4"),
    "deep": np.arange(2**12, dtype="u1").reshape((2,) * 12),
}

# The pattern for ranks, arguments, and the file.
CALLS = [
    ("h w -> w h", [], "matrix"),
    ("h w -> w h", [], "columns"),
    ("h w -> h w", [], "columns"),
    ("h w -> w h", [], "swapped"),
    ("(h a) w -> a w h", ["a=2"], "swapped"),
    ("a b c -> (c a) b", [], "cube"),
    ("... c -> c ...", [], "cube"),
    ("a ... -> (... a)", [], "cube"),
    ("->", [], "number"),
    ("h w -> w h", [], "nothing"),
    (" ".join("abcdefghijkl") + " -> " + " ".join("lkjihgfedcba"), [], "deep"),
    ("h@x w -> w@x h", [], "matrix"),
    ("h w@x -> h@x:2 w", [], "matrix"),
    ("a@x b@y c -> c b@x a@y", ["--mesh", "x=2 y=2"], "cube"),
    ("a b@x c -> c@(y x):3 b a", ["--mesh", "x=2 y=2"], "cube"),
    ("a (b d@x) c -> (d a)@x b c", ["d=4"], "cube"),
    ("a b c -> c@x b a", ["--mesh", "x=2 y=2"], "cube"),
    ("a b c -> c b a", ["--workspace", "30"], "cube"),
]


@pytest.fixture
def folder(tmp_path):
    for name, whole in WHOLE.items():
        np.save(tmp_path / f"{name}.npy", whole)
    return tmp_path


def alone(folder, pattern, arguments, name, target):
    """What the program writes without mpirun."""
    from mpi_cases import plain

    lengths = [word for word in arguments if re.fullmatch(r"\w=\d+", word)]
    command = [program(), "rearrange", plain(pattern), *lengths, f"{name}.npy", "-o", target]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / target).read_bytes()


@pytest.mark.parametrize("hosts", ["one", "several"])
def test_files_are_the_same_as_without_mpirun(engine, folder, hosts):
    lines = []
    for number, (pattern, arguments, name) in enumerate(CALLS):
        files = [str(folder / f"{name}.npy"), "-o", str(folder / f"out{number}.npy")]
        lines.append(json.dumps([["rearrange", pattern, *arguments, *files], 0]))
    (folder / "calls").write_text("\n".join(lines))
    engine.job("job_files.py", hosts, folder / "calls")
    assert not list(folder.glob(".*"))
    for number, (pattern, arguments, name) in enumerate(CALLS):
        expected = alone(folder, pattern, arguments, name, "expected.npy")
        assert (folder / f"out{number}.npy").read_bytes() == expected, (pattern, arguments, name)


def test_the_command_line(engine, folder):
    command = ["-m", "axisloom.mpi", "rearrange", "h w -> w h", "matrix.npy", "-o", "out.npy", "--verbose"]
    done = engine.run(*command, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count('axisloom: 4 ranks: rearrange "h@ranks:balanced w -> w@ranks:balanced h"') == 1
    assert (folder / "out.npy").read_bytes() == alone(folder, "h w -> w h", [], "matrix", "expected.npy")


def test_the_command_line_needs_no_mpirun(folder):
    command = [sys.executable, "-m", "axisloom.mpi", "rearrange", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment())
    assert done.returncode == 0 and "usage: mpirun -n 4" in done.stdout, done.stderr
    command[4:] = ["h w -> w h", "matrix.npy", "-o", "out.npy"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment())
    assert done.returncode == 0, done.stderr
    assert (folder / "out.npy").read_bytes() == alone(folder, "h w -> w h", [], "matrix", "expected.npy")


WRONG = [
    (["h w -> w", "matrix.npy", "-o", "out.npy"], 2),
    (["h w +x -> w@x h", "matrix.npy", "-o", "out.npy"], 2),
    (["h@x w@y -> w h", "matrix.npy", "-o", "out.npy"], 2),
    (["h@x w -> w h", "matrix.npy", "-o", "out.npy", "--mesh", "x=3"], 2),
    (["h w -> w h", "matrix.npy", "cube.npy", "-o", "out.npy"], 2),
    (["h w -> w h", "matrix.npy"], 2),
    (["h w -> w h", "w=x", "matrix.npy", "-o", "out.npy"], 2),
    (["h w -> w h", "matrix.npy", "-o", "out.png"], 2),
    (["h w -> w h", "none.npy", "-o", "out.npy"], 4),
    (["h w -> w h", "cut.npy", "-o", "out.npy"], 4),
    (["h w -> w h", "matrix.npy", "-o", "none/out.npy"], 4),
    (["h w -> w h", "matrix.npy", "-o", "cube.npy", "--no-clobber"], 4),
]


def test_what_is_wrong_with_files_is_said_once(engine, folder):
    (folder / "cut.npy").write_bytes((folder / "matrix.npy").read_bytes()[:-1])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    lines = []
    for arguments, code in WRONG:
        words = [str(folder / word) if word.endswith((".npy", ".png")) else word for word in arguments]
        lines.append(json.dumps([["rearrange", *words], code]))
    calls = folder.parent / "calls"
    calls.write_text("\n".join(lines))
    done = engine.job("job_files.py", "one", calls)
    assert done.stderr.count("axisloom: ") == len(WRONG), done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("how, pattern, name, target", [
    ("raise", "h w -> w h", "matrix.npy", "out.npy"),
    ("hidden", "h w -> w h", "matrix.npy", "out.npy"),
    ("kill", "a b c -> c b a", "cube.npy", "cube.npy"),
])  # fmt: skip
def test_a_rank_that_fails_leaves_no_file(engine, folder, how, pattern, name, target):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = engine.run(HERE / "job_file_fails.py", how, "rearrange", pattern, name, "-o", target, cwd=folder)
    assert done.returncode != 0
    assert how == "kill" or f"rank 1: {target}: write: Input/output error" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# One process ---------------------------------------------------------------------------------------------------------


def test_rounds_keep_counts_below_what_mpi_counts():
    """Of 64 GiB, of which each rank sends the other 16."""
    whole = Redistribution("s@x h -> s h@x", "x=2", (2**18, 2**18))
    messages = whole.packs(0)
    rounds = needed_rounds([message.elements for message in messages], MOST_BYTES, 2)
    buffer = Buffer(messages, rounds)
    assert buffer.length * 2 <= MOST_BYTES and sum(sum(buffer.counts(n, 2)[0]) for n in range(rounds)) == 2**34
    for number in (0, 1, rounds - 1):
        ((first, last),) = [buffer.span(message, number) for message in messages]
        assert sum(np.prod(copy.shape) for copy in buffer.packed(number)) == last - first > 0


def elements_of(copies):
    """Where they go in a local output, in the order of a message."""
    for copy in copies:
        places = np.array(copy.to_offset)
        for extent, step in zip(copy.shape, copy.to_strides):
            places = places[..., None] + np.arange(extent) * step
        yield from places.reshape(-1).tolist()


def test_addends_of_an_element_come_together():
    """Ranks along a summed axis send the same elements in the same order, though copies take turns.."""
    draw, turns = random.Random(1), 0
    cuts = ["", "@y", "@z", "@y:1", "@z:2", "@(y z)", "@(z y):1", "@z@y"]
    for _ in range(600):
        left, right = (f"a{draw.choice(cuts)} b{draw.choice(['', '@y', '@z'])}" for _ in range(2))
        right = draw.choice([right, right.replace("a b", "(a b)"), f"b a@{draw.choice(['x', 'x:1', '(y x)'])}"])
        try:
            plan = Redistribution(f"{left} +x -> {right}", "x=2 y=2 z=2", (draw.choice([4, 5, 8, 9]), 3))
        except axisloom.EinopsError:  # it names a mesh axis twice
            continue
        for rank in range(8):
            messages = [(rank, plan.kept(rank)), *((message.rank, message.copies) for message in plan.unpacks(rank))]
            halves = [
                sorted(tuple(elements_of(copies)) for sender, copies in messages if sender // 4 == half and copies)
                for half in range(2)
            ]
            assert halves[0] == halves[1], (str(plan), rank)
            turns += len(halves[0]) > 1
    assert turns > 100


def test_one_rank_needs_no_messages():
    whole = np.arange(24.0).reshape(2, 3, 4)
    with plan(whole, "a b@x c -> c@x (b a)") as run:
        assert run.report()["why"] == "there is one rank"
        np.testing.assert_array_equal(run(whole), whole.transpose(2, 1, 0).reshape(4, 6))


def test_axes_may_be_called_as_options_are():
    from axisloom.mpi import rearrange

    x = np.arange(24.0).reshape(4, 6)
    got = rearrange(x, "s@x (shape workspace) -> (workspace shape) s@x", workspace=2)
    np.testing.assert_array_equal(got, x.reshape(4, 3, 2).transpose(2, 1, 0).reshape(6, 4))
    np.testing.assert_array_equal(rearrange(x, "comm@x workspace -> workspace comm@x"), x.T)
    with plan(x, "comm@x workspace -> workspace comm@x") as run:
        np.testing.assert_array_equal(run(x), x.T)
    got = rearrange(x, "(mesh path)@x h -> h (path mesh)", mesh=2)
    np.testing.assert_array_equal(got, x.reshape(2, 2, 6).transpose(2, 1, 0).reshape(6, 4))
