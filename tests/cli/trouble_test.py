"""What goes wrong around the program: signals, full disks, closed streams, shrinking files, limits, hostile names."""
import os
import pty
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import PROGRAM, Case, main, npy_bytes, read_npy, run

GREY = bytes(range(6))  # 2 x 3
GIB = 1 << 30


def start(*arguments, **options):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, **options)


def hear_signals():
    """What nohup and the background of a shell ignore."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def memory():
    """What the machine, or its container, has."""
    limit = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path, encoding="ascii") as file:
                limit = min(limit, int(file.read()))
        except (OSError, ValueError):
            pass
    return limit


# A file system that knows no files without a name, as some of networks are.
NAMED_ONLY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int opened(const char* name, const char* path, int flags, va_list rest) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, name);
  return real(path, flags, flags & O_CREAT ? va_arg(rest, unsigned) : 0);
}
#define DEFINE(name) int name(const char* path, int flags, ...) { \
  va_list rest; va_start(rest, flags); int fd = opened(#name, path, flags, rest); va_end(rest); return fd; }
DEFINE(open)
DEFINE(open64)
"""


class Signals(Case):
    def test_nothing_stays_behind(self):
        self.leaves_nothing((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL), {})

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_nothing_stays_behind_where_every_file_has_a_name(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "named.c"), os.path.join(folder, "named.so")
            with open(source, "w", encoding="ascii") as file:
                file.write(NAMED_ONLY)
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
            env = {"LD_PRELOAD": library}
            self.leaves_nothing((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), env, hidden=1)
            self.good("copy", "-", "-o", self.path("out.npy"), stdin=npy_bytes((2, 3), GREY), env=env)
            self.assertEqual(read_npy(self.path("out.npy"))[3], GREY)

    def leaves_nothing(self, signals, env, hidden=0):
        """The output is open, and half of standard input has been kept."""
        folder = self.path("kept")
        os.mkdir(folder)
        target = self.path("out.npy", b"precious")
        before = sorted(os.listdir(self.folder))
        sent = npy_bytes((1 << 20,), bytes(1 << 20))[:600000]
        for number in signals:
            with start("copy", "-", "-o", target, stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": folder, **env},
                       preexec_fn=hear_signals) as process:
                process.stdin.write(sent)
                process.stdin.flush()
                self.wait_for(lambda: self.blocked(process))
                self.assertEqual(len(os.listdir(self.folder)), len(before) + hidden)
                process.send_signal(number)
                process.wait(timeout=60)
                self.assertEqual(process.returncode, -number, process.stderr.read())
            self.assertEqual((os.listdir(folder), sorted(os.listdir(self.folder))), ([], before), number)
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def blocked(self, process):
        """All that was sent has been taken: the pipe's reader waits."""
        with open(f"/proc/{process.pid}/wchan", encoding="ascii") as file:
            return "pipe" in file.read() or self.sleeps(process)

    def sleeps(self, process):
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
            state = file.read().rsplit(")", 1)[1].split()[0]
        with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
            return state == "S" and int(file.readline().split()[1]) > 600000

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_a_hangup_that_was_ignored_stays_so(self):
        target = self.path("out.npy")
        with start("copy", "-", "-o", target, stdin=subprocess.PIPE,
                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
            process.stdin.write(npy_bytes((2, 3), GREY)[:50])
            process.stdin.flush()
            time.sleep(0.3)
            process.send_signal(signal.SIGHUP)
            process.stdin.write(npy_bytes((2, 3), GREY)[50:])
            process.stdin.close()
            process.wait(timeout=60)
        self.assertEqual((process.returncode, read_npy(target)[3]), (0, GREY))

    def test_standard_input_needs_no_folder(self):
        for folder in (self.path("none"), "/proc"):
            self.good("copy", "-", "-o", self.path("out.npy"), stdin=npy_bytes((2, 3), GREY), env={"TMPDIR": folder})
            self.assertEqual(read_npy(self.path("out.npy"))[3], GREY)


class Shrinking(Case):
    def sparse(self, name, count):
        path = self.path(name, npy_bytes((count,), b""))
        os.truncate(path, os.path.getsize(path) + count)
        return path

    def shrunk_while_read(self, count, **options):
        """The first input is open and mapped, or being read, while the second is waited for."""
        source, second, target = self.sparse("big.npy", count), self.path("pipe"), self.path("out.npy", b"precious")
        os.mkfifo(second)
        with start("einsum", "n, m -> m", source, second, "-o", target, **options) as process:
            with open(second, "wb") as pipe:  # opened when the first has been dealt with
                os.truncate(source, 200)
                pipe.write(npy_bytes((3,), b"abc"))
            process.wait(timeout=300)
            error = process.stderr.read().decode()
        with open(target, "rb") as file:
            content = file.read()
        return process.returncode, error, content

    def test_a_file_that_is_read_is_safe_once_read(self):
        code, error, content = self.shrunk_while_read(80 << 20)
        self.assertEqual(code, 0, error)
        self.assertNotEqual(content, b"precious")

    def test_a_file_too_large_to_be_read_ends_the_program_with_words(self):
        code, error, content = self.shrunk_while_read(memory() // 4 + GIB // 8)
        self.assertEqual((code, content), (4, b"precious"), error)
        self.assertIn("became shorter", error)

    def test_so_it_does_where_its_parent_blocked_the_signal(self):
        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGBUS])

        code, error, content = self.shrunk_while_read(memory() // 4 + GIB // 8, preexec_fn=block)
        self.assertEqual((code, content), (4, b"precious"), error)
        self.assertIn("became shorter", error)

    def test_a_file_that_shrinks_while_it_is_read(self):
        source = self.sparse("big.npy", GIB // 2)
        for _ in range(20):
            os.truncate(source, GIB // 2 + 128)
            with start("max", source, stdout=subprocess.PIPE) as process:
                while process.poll() is None and not self.has_open(process, source):
                    pass
                os.truncate(source, 200)
                out, error = process.communicate(timeout=60)
            self.assertIn((process.returncode, out), ((0, b"0\n"), (4, b"")), error)
            if process.returncode == 4:
                self.assertIn(b"axisloom: ", error)
                return
        self.fail("never caught while it was read")

    def has_open(self, process, path):
        try:
            doors = f"/proc/{process.pid}/fd"
            return path in [os.readlink(os.path.join(doors, door)) for door in os.listdir(doors)]
        except OSError:
            return False


class Output(Case):
    def commands(self):
        """Every command that prints, once with little to say."""
        source, picture = self.path("in.npy", npy_bytes((2, 3), GREY)), self.path("in.pgm", b"P5\n3 2\n255\n" + GREY)
        document, ladder = self.path("bench.json"), self.path("ladder.json")
        self.good("bench", "copy", "--device", "cpu", "--peers", "none", "--min-time", "0.001", "-o", document, "copy u8 1000")
        self.good("ladder", "copy", "--device", "cpu", "--shape", "1001", "--min-time", "0.001", "-o", ladder)
        measured = ("--device", "cpu", "--min-time", "0.001")
        return [["--help"], ["--version"], ["--man"], ["--completion", "bash"], ["devices"], ["doctor"], ["cache", "info"],
                ["check", "copy u8 7"], ["check", "--list", "copy u8 7"], ["sum", source], ["copy", source, "-o", "-"],
                ["copy", source, "-o", self.path("out.npy"), "--format", "json"], ["demo", picture, "-o", self.path("demo")],
                ["bench", "copy", *measured, "--peers", "none", "copy u8 1000"], ["bench", "table", document], ["bench", "standings", document],
                ["bench", "compare", document, document], ["bench", "report", document], ["ladder", "show", ladder],
                ["ladder", "copy", *measured, "--shape", "1001"]]

    def test_what_does_not_arrive_is_said(self):
        commands = self.commands()
        for command in commands:
            with open("/dev/full", "wb") as full:
                result = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(result.returncode, 4, (command, result.stderr))
            self.assertIn(b"standard output", result.stderr)
            result = subprocess.run([PROGRAM, *command], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, check=False)
            self.assertEqual(result.returncode, 4, (command, result.stderr))
            self.assertIn(b"standard output", result.stderr)

    def test_closed_streams_are_not_taken_for_files(self):
        source, target = self.path("in.npy", npy_bytes((2, 3), GREY)), self.path("out.npy")

        def close_all():
            for stream in (0, 1, 2):
                os.close(stream)

        result = subprocess.run([PROGRAM, "copy", source, "-o", target, "--verify", "-v"], preexec_fn=close_all, check=False)
        self.assertEqual((result.returncode, read_npy(target)[3]), (0, GREY))
        result = subprocess.run([PROGRAM, "copy", "-", "-o", target], preexec_fn=close_all, check=False)
        self.assertEqual(result.returncode, 4)

    def test_arrays_are_not_shown_on_a_terminal(self):
        outer, inner = pty.openpty()
        source = self.path("in.npy", npy_bytes((2, 3), GREY))
        result = subprocess.run([PROGRAM, "copy", source, "-o", "-"], stdout=inner, stderr=subprocess.PIPE, check=False)
        os.close(inner)
        os.close(outer)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(b"terminal", result.stderr)

    def test_links(self):
        source = self.path("in.npy", npy_bytes((2, 3), GREY))
        os.mkdir(self.path("sub"))
        os.symlink("sub/real.npy", self.path("link.npy"))
        self.good("copy", source, "-o", self.path("link.npy"))
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assertEqual(read_npy(self.path("sub/real.npy"))[3], GREY)
        os.link(self.path("sub/real.npy"), self.path("backup.npy"))
        self.good("transpose", source, "-o", self.path("link.npy"))
        self.assertEqual((read_npy(self.path("backup.npy"))[0], read_npy(self.path("sub/real.npy"))[0]), ((2, 3), (3, 2)))

    def test_outputs_are_opened_before_work_begins(self):
        """The input is a pipe that nobody writes: whoever opened it first would wait for ever."""
        os.mkfifo(self.path("pipe"))
        for target, code in (("none/out.npy", 4), ("out.xyz", 4), ("out.npz", 4)):
            self.bad(code, "copy", self.path("pipe"), "-o", self.path(target))
        wide = self.path("wide.npy", npy_bytes((2, 3), bytes(48), "<f8"))
        self.bad(4, "copy", wide, "-o", self.path("out.png"))


class Limits(Case):
    def limited(self, limits, *arguments):
        def limit():
            for kind, value in limits.items():
                resource.setrlimit(kind, (value, value))

        return subprocess.run([PROGRAM, *arguments], preexec_fn=limit, capture_output=True, check=False, timeout=120)

    def test_few_descriptors(self):
        source, target = self.path("in.npy", npy_bytes((2, 3), GREY)), self.path("out.npy", b"precious")
        codes = set()
        for most in (4, 5, 6, 7, 8, 12, 200):  # the loader of libraries needs the fourth
            with open(target, "wb") as file:
                file.write(b"precious")
            result = self.limited({resource.RLIMIT_NOFILE: most}, "copy", source, "-o", target)
            codes.add(result.returncode)
            self.assertIn(result.returncode, (0, 3, 4, 5), (most, result.stderr))
            self.assertTrue(result.returncode == 0 or result.stderr.startswith(b"axisloom: "), (most, result.stderr))
            with open(target, "rb") as file:
                self.assertEqual(file.read() == b"precious", result.returncode != 0, most)
            self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])
        self.assertTrue({0, 4} <= codes, codes)

    def test_little_address_space(self):
        source = self.path("in.npy", npy_bytes((GIB,), b""))
        os.truncate(source, os.path.getsize(source) + GIB)
        target = self.path("out.npy", b"precious")
        result = self.limited({resource.RLIMIT_AS: GIB}, "copy", source, "-o", target)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn(b"memory", result.stderr)
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])

    def test_files_of_limited_size(self):
        source = self.path("in.npy", npy_bytes((16 << 20,), bytes(16 << 20)))
        target = self.path("out.npy", b"precious")
        result = self.limited_by_size(source, target)
        self.assertEqual(result.returncode, 4, result.stderr)
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def limited_by_size(self, source, target):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))  # enough for what PoCL writes

        return subprocess.run([PROGRAM, "copy", source, "-o", target], preexec_fn=limit, capture_output=True, check=False)


class Text(Case):
    HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b31m\u202e"

    def clean(self, result):
        for stream in (result.out, result.err):
            bad = [c for c in stream if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c == "\u202e"]
            self.assertEqual(bad, [], repr(stream))
        return result

    def test_nothing_steers_the_terminal(self):
        hostile = self.HOSTILE
        good = self.path("in.npy", npy_bytes((2, 3), GREY))
        descr = self.path("descr.npy", npy_bytes((2, 3), GREY, "\x1b[31m").replace(b"\\x1b", b"\x1b"))
        cases = self.path("bad.cases", f"copy u8 {hostile}\n".encode())
        text = self.path("text.json", f'{{"schema": "{hostile}"'.encode())
        for arguments in (["copy", hostile + ".npy", "-o", "x.npy"], ["copy", descr, "-o", "x.npy"],
                          ["copy", good, "-o", f"none/{hostile}.npy"], ["copy", good, "-o", "x." + hostile],
                          ["rearrange", f"h {hostile} -> h", good, "-o", "x.npy"], [hostile], ["copy", "--" + hostile],
                          ["copy", good, "-o", "x.npy", "--format", hostile], ["copy", good, "-o", "x.npy", "--config", hostile],
                          ["copy", good, "-o", "x.npy", "--device", hostile], ["check", "--cases", cases], ["check", hostile],
                          ["check", "--list", "copy u8 3 'x" + hostile + "'"], ["bench", "copy", hostile],
                          ["bench", "copy", "--peers", hostile], ["bench", "table", text], ["ladder", "show", text],
                          ["ladder", "copy", "--dtype", hostile], ["demo", hostile], ["sum", "--axes", hostile, good]):
            result = self.clean(run(*arguments, cwd=self.folder))
            self.assertNotEqual(result.returncode, 0, arguments)

    def test_a_name_cannot_forge_a_line(self):
        error = run("copy", "none\nremedy: do harm.npy", "-o", "x.npy", cwd=self.folder).err
        self.assertFalse(any(line.startswith("remedy: do harm") for line in error.splitlines()), error)


if __name__ == "__main__":
    main()
