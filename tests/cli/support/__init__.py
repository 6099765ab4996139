"""What the end-to-end tests share: running the program, .npy and .png files in plain Python, and the closing line."""
import ast
import os
import pty
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/axisloom")


def run(*arguments, stdin=b"", env=None, **options):
    """Runs the program; returns an object with returncode, out and err (text) and raw (bytes of stdout)."""
    result = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True,
                            env={**os.environ, **(env or {})}, timeout=300, **options)
    result.raw = result.stdout
    result.out = result.stdout.decode("utf-8", "replace")
    result.err = result.stderr.decode("utf-8", "replace")
    return result


def on_terminal(*arguments, env=None, **options):
    """Runs the program with a terminal for standard error, and for standard output where options name no other; returns the
    exit code and the bytes that the terminal got."""
    outer, inner = pty.openpty()
    with subprocess.Popen([PROGRAM, *map(str, arguments)], env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                          **{"stdout": inner, "stderr": inner, **options}) as process:
        os.close(inner)
        seen = b""
        try:
            while part := os.read(outer, 4096):
                seen += part
        except OSError:  # how a terminal ends
            pass
    os.close(outer)
    return process.returncode, seen


def npy_bytes(shape, data, descr="|u1", fortran=False):
    header = repr({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def parse_npy(content):
    """(shape, descr, fortran_order, data) of a .npy file's bytes."""
    assert content[:6] == b"\x93NUMPY", content[:16]
    length, start = (struct.unpack_from("<H", content, 8)[0], 10) if content[6] == 1 else (
        struct.unpack_from("<I", content, 8)[0], 12)
    header = ast.literal_eval(content[start:start + length].decode("latin1"))
    return tuple(header["shape"]), header["descr"], header["fortran_order"], content[start + length:]


def read_npy(path):
    with open(path, "rb") as file:
        return parse_npy(file.read())


def read_png(path):
    """(height, width, channels, pixels) of an 8-bit grey or RGB picture."""
    with open(path, "rb") as file:
        content = file.read()
    at, data = 8, b""
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        body = content[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", body)
        if kind == b"IDAT":
            data += body
        at += 12 + length
    channels = {0: 1, 2: 3}[colour]
    assert depth == 8
    return height, width, channels, unfiltered(zlib.decompress(data), height, width * channels, channels)


def unfiltered(data, height, row_bytes, step):
    """Undoes the five filters of PNG (specification, section 9)."""
    rows = bytearray()
    before = bytearray(row_bytes)
    for r in range(height):
        kind = data[r * (row_bytes + 1)]
        row = bytearray(data[r * (row_bytes + 1) + 1:(r + 1) * (row_bytes + 1)])
        for i in range(row_bytes):
            left = row[i - step] if i >= step else 0
            up_left = before[i - step] if i >= step else 0
            row[i] = (row[i] + predicted(kind, left, before[i], up_left)) & 255
        rows += row
        before = row
    return bytes(rows)


def predicted(kind, left, up, up_left):
    if kind == 4:
        guess = left + up - up_left
        return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - up_left), 2, up_left))[2]
    return (0, left, up, (left + up) // 2)[kind]


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def good(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.err)
        return result

    def bad(self, code, *arguments, **options):
        """The exit code, and an error of one line with an optional remedy."""
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, code, result.out + result.err)
        self.assertTrue(result.err.startswith("axisloom: "), result.err)
        return result


def main():
    unittest.TestProgram(argv=sys.argv[:1], exit=False, testRunner=Runner)


class Runner(unittest.TextTestRunner):
    """Closes with the line that the test script counts."""

    def run(self, test):
        result = super().run(test)
        failed = len(result.failures) + len(result.errors)
        print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
        if failed:
            sys.exit(1)
        return result
