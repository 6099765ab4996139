#!/usr/bin/env python3
"""The program under mpirun: files are those of one process, errors are told once, and when a rank is killed nothing goes on
and nothing stays behind.

Usage: tests/mpi/files_test.py KILLS PROGRAM LIBRARY LAUNCHER...
Such as 6 build/axisloom build/mpi-mpich/libaxisloom_mpi.so mpirun.mpich -n 4
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import killed
import numpy as np

KILLS, PROGRAM, LIBRARY, LAUNCHER = int(sys.argv[1]), *(os.path.abspath(p) for p in sys.argv[2:4]), sys.argv[4:]
MPICH = "mpich" in LAUNCHER[0]
SECONDS = 60  # in which a job ends
LAUNCHER_SECONDS = 10  # in which mpirun ends after all of its ranks have
ALONE = {name: value for name, value in os.environ.items() if not name.startswith("AXISLOOM_MPI")}
SHARED = {**ALONE, "AXISLOOM_MPI": LIBRARY}


def ended(command, env, folder):
    """How it ended; a job that does not is killed, and fails."""
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=SECONDS)


def told(result):
    """What the program says, without what mpirun adds."""
    return [line for line in result.stderr.splitlines() if line.startswith(("axisloom: ", "remedy: "))]


class Files(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def ranks(self, *arguments, launcher=LAUNCHER, **env):
        return ended([*launcher, PROGRAM, *arguments], {**SHARED, **env}, self.folder)

    def save(self, dtype, shape, order="C"):
        values = np.random.default_rng(1).standard_normal(shape)
        np.save(self.folder / "in.npy", np.asarray((1000 * values).astype(dtype), order=order))

    def same(self, *arguments, plain=None, **env):
        """The file of the ranks is that of one process."""
        lone = ended([PROGRAM, *(plain or arguments), "in.npy", "-o", "alone.npy"], ALONE, self.folder)
        self.assertEqual(lone.returncode, 0, lone.stderr)
        result = self.ranks(*arguments, "in.npy", "-o", "out.npy", **env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.folder / "out.npy").read_bytes(), (self.folder / "alone.npy").read_bytes(), arguments)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["alone.npy", "in.npy", "out.npy"])
        return result

    def fails(self, code, words, *arguments, left=("in.npy",), **env):
        result = self.ranks(*arguments, **env)
        self.assertNotEqual(result.returncode, 0)
        lines = told(result)
        self.assertEqual(sum(line.startswith("axisloom: ") for line in lines), 1, result.stderr)
        self.assertIn(words, lines[0])
        if MPICH:  # OpenMPI's mpirun gives the code of the rank that ended first, which it may have ended itself
            self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted(left))
        return lines

    def test_dtypes_and_shapes(self):
        for dtype, shape, order, arguments in [
            ("<f4", (37, 53), "C", ["rearrange", "h w -> w h"]),
            ("|i1", (20, 21, 3), "C", ["rearrange", "(h y) (w x) c -> h w y x c", "y=4", "x=3"]),
            ("<c16", (5, 7, 6), "F", ["permute", "2,0,1"]),
            ("<i2", (3, 5), "C", ["repeat", "a b -> b k a", "k=3"]),
            ("?", (0, 4), "C", ["transpose"]),
            ("<f8", (12, 31, 9), "C", ["reduce", "sum", "a b c -> c", "--order", "portable"]),
        ]:
            self.save(dtype, shape, order)
            self.same(*arguments)

    def test_cuts(self):
        self.save("<f8", (32, 9))
        result = self.same("rearrange", "(b a)@x c -> c@y b a", "b=8", "--mesh", "x=2 y=2", "--verbose",
                           plain=["rearrange", "(b a) c -> c b a", "b=8"])
        self.assertIn("4 ranks of one host: ", result.stderr)

    @unittest.skipUnless(MPICH, "OpenMPI does not play several hosts on one")
    def test_several_hosts(self):
        self.save("<f4", (61, 7, 13))
        result = self.same("rearrange", "a b c -> c b a", "--workspace", "2000", "--verbose", MPIR_CVAR_NOLOCAL="1")
        self.assertIn("of several hosts", result.stderr)

    def test_errors_are_told_once(self):
        self.save("<f4", (37, 53))
        turn = ["rearrange", "h w -> w h"]
        self.fails(4, "missing.npy: open: ", *turn, "missing.npy", "-o", "out.npy")
        self.fails(2, "the pattern has", "rearrange", "h w c -> w h c", "in.npy", "-o", "out.npy")
        self.fails(2, "--verify is not for ranks", *turn, "in.npy", "-o", "out.npy", "--verify")
        with open(self.folder / "in.npy", "r+b") as file:
            file.truncate(1000)
        self.fails(4, "in.npy: shape: f32[37,53] needs", *turn, "in.npy", "-o", "out.npy")

    def test_an_older_file_stays(self):
        self.save("<f4", (37, 53))
        older = self.folder / "out.npy"
        older.write_text("older")
        self.fails(4, "out.npy: write: ", "rearrange", "h w -> w h", "in.npy", "-o", "out.npy", "--no-clobber",
                   left=["in.npy", "out.npy"])
        self.assertEqual(older.read_text(), "older")

    def test_what_ranks_do_not_share(self):
        self.save("<f4", (37, 53))
        self.fails(2, "sum is not shared among ranks", "sum", "in.npy", "-o", "out.npy")
        self.fails(2, "bench is not shared among ranks", "bench", "copy")
        lone = self.ranks("sum", "in.npy", "-o", "out.npy", AXISLOOM_MPI="off")
        self.assertEqual(lone.returncode, 0, lone.stderr)
        self.assertTrue((self.folder / "out.npy").exists())
        self.assertEqual(self.ranks("--version").stdout.count("axisloom "), 4)

    def test_without_the_library(self):
        self.save("<f4", (37, 53))
        lines = self.fails(5, "libaxisloom_mpi.so, by which they reach each other, cannot be used", "rearrange",
                           "h w -> w h", "in.npy", "-o", "out.npy", AXISLOOM_MPI="/nowhere/libaxisloom_mpi.so")
        self.assertIn("python -m axisloom.mpi", lines[1])
        one = self.ranks("rearrange", "h w -> w h", "in.npy", "-o", "out.npy",
                         launcher=[*LAUNCHER[:-1], "1"], AXISLOOM_MPI="/nowhere/libaxisloom_mpi.so")
        self.assertEqual(one.returncode, 0, one.stderr)

    def test_the_library_of_another_mpi(self):
        other = {"openmpi": "mpich", "mpich": "openmpi"}["mpich" if MPICH else "openmpi"]
        library = pathlib.Path(LIBRARY).parent.parent / f"mpi-{other}" / "libaxisloom_mpi.so"
        if not library.exists():
            self.skipTest("no other MPI was built")
        self.save("<f4", (37, 53))
        self.fails(2, "the launcher started 4 ranks", "rearrange", "h w -> w h", "in.npy", "-o", "out.npy",
                   AXISLOOM_MPI=str(library))


class Killed(unittest.TestCase):
    """A rank is killed at some moment of its work."""

    def ranks_of(self, mark):
        found = []
        for process in pathlib.Path("/proc").iterdir():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
            except OSError:
                continue
            if words and words[0] == PROGRAM.encode() and mark.encode() in words:
                found.append(int(process.name))
        return found

    def wait_until(self, condition, what):
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end:
                self.fail(f"{what} within {SECONDS} s")
            time.sleep(0.02)

    def segments_of(self, ranks):
        """What they share of /dev/shm."""
        try:
            return {path for path in killed.segments_of(ranks) if path.parent == pathlib.Path("/dev/shm")}
        except OSError:  # one has just ended
            return set()

    def end_launcher(self, job):
        """OpenMPI 4.1's mpirun sometimes waits for ever for ranks that have all ended."""
        try:
            job.wait(LAUNCHER_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"{LAUNCHER[0]} had no rank left, and did not end")
            job.kill()
            job.wait()

    def kill_one(self, folder, expected, longest):
        target = folder / "out.npy"
        command = [*LAUNCHER, PROGRAM, "rearrange", "a b c -> c b a", str(folder / "in.npy"), "-o", str(target)]
        with subprocess.Popen(command, env=SHARED, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
            try:
                time.sleep(random.uniform(0, longest))
                ranks = self.ranks_of(str(target))
                segments = self.segments_of(ranks)
                if ranks:
                    try:
                        os.kill(random.choice(ranks), signal.SIGKILL)
                    except ProcessLookupError:  # it had just ended
                        ranks = []
                self.wait_until(lambda: job.poll() is not None or (ranks and not self.ranks_of(str(target))),
                                "the ranks did not end")
                self.end_launcher(job)
                self.wait_until(lambda: not self.ranks_of(str(target)), "a rank went on")
                for segment in segments:  # MPI's own: MPICH leaves them behind
                    segment.unlink(missing_ok=True)
                names = sorted(path.name for path in folder.iterdir())
                if target.exists():  # all parts were there
                    self.assertEqual(target.read_bytes(), expected)
                    target.unlink()
                    names.remove("out.npy")
                else:
                    self.assertNotEqual(job.returncode, 0)
                self.assertEqual(names, ["in.npy"])
                return bool(ranks) and job.returncode != 0
            finally:
                for rank in self.ranks_of(str(target)):
                    os.kill(rank, signal.SIGKILL)
                job.kill()

    def test_ranks_are_killed(self):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            np.save(folder / "in.npy", np.arange(3 << 20, dtype="<i4").reshape(64, 192, 256))
            target = folder / "out.npy"
            begin = time.monotonic()
            whole = ended([*LAUNCHER, PROGRAM, "rearrange", "a b c -> c b a", "in.npy", "-o", "out.npy"], SHARED, folder)
            longest = time.monotonic() - begin
            self.assertEqual(whole.returncode, 0, whole.stderr)
            expected = target.read_bytes()
            target.unlink()
            lost = sum(self.kill_one(folder, expected, longest) for _ in range(KILLS))
        print(f"{lost} of {KILLS} jobs lost a rank")
        self.assertGreater(lost, KILLS // 4)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad + KILLS - 1} passed, {bad} failed")
    sys.exit(not result.wasSuccessful())
