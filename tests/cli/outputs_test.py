"""What becomes of results: cast to another dtype, stretched over its range, and written into folders."""
import os
import signal
import struct
import subprocess
import time

from support import PROGRAM, Case, main, npy_bytes, read_npy, read_png, run

NAN = float("nan")


def pgm(width, height, pixels):
    return b"P5 %d %d 255\n" % (width, height) + bytes(pixels)


class Casts(Case):
    def cast(self, descr, form, values, *options):
        source = self.path("in.npy", npy_bytes((len(values),), struct.pack(f"<{len(values)}{form}", *values), descr))
        self.good("copy", source, "-o", self.path("out.npy"), *options)
        return read_npy(self.path("out.npy"))

    def test_numbers_are_rounded_and_cut_off(self):
        _, descr, _, data = self.cast("<f4", "f", (-1, 0.5, 1.5, 300, NAN, float("inf")), "--out-dtype", "u8")
        self.assertEqual((descr, data), ("|u1", bytes([0, 0, 2, 255, 0, 255])))
        _, descr, _, data = self.cast("<i8", "q", (-2**63, -1, 2**63 - 1), "--out-dtype", "uint64")
        self.assertEqual((descr, struct.unpack("<3Q", data)), ("<u8", (0, 0, 2**63 - 1)))
        _, descr, _, data = self.cast("<i2", "h", (-7, 9), "--out-dtype", "c64")
        self.assertEqual((descr, struct.unpack("<4f", data)), ("<c8", (-7, 0, 9, 0)))
        self.assertEqual(self.cast("<f8", "d", (0.1,), "--out-dtype", "f64")[3], struct.pack("<d", 0.1))
        self.assertEqual(self.cast("<f2", "e", (0.5, -3), "--out-dtype", "bool")[3], bytes([1, 1]))
        many = range(10000)  # more than one piece
        self.assertEqual(self.cast("<u2", "H", many, "--out-dtype", "f32")[3], struct.pack("<10000f", *many))

    def test_normalize_stretches_over_the_range(self):
        self.assertEqual(self.cast("<i2", "h", (-100, 0, 100), "--normalize", "--out-dtype", "u8")[3], bytes([0, 128, 255]))
        self.assertEqual(self.cast("<i2", "h", (5, 6), "--normalize")[3], struct.pack("<2h", -2**15, 2**15 - 1))
        self.assertEqual(self.cast("<u8", "Q", (0, 1), "--normalize")[3], struct.pack("<2Q", 0, 2**64 - 1))
        self.assertEqual(self.cast("<f4", "f", (2, 3, 6), "--normalize")[3], struct.pack("<3f", 0, 0.25, 1))
        self.assertEqual(self.cast("<f4", "f", (NAN, 2, float("inf"), 4), "--normalize", "--out-dtype", "u8")[3], bytes([0, 0, 255, 255]))
        self.assertEqual(self.cast("<f4", "f", (3, 3), "--normalize", "--out-dtype", "u16")[3], bytes(4))
        self.assertEqual(self.cast("<f4", "f", (), "--normalize")[0], (0,))
        self.assertEqual(self.cast("<f8", "d", (-1.5e308, 0, 1.5e308), "--normalize", "--out-dtype", "i8")[3], struct.pack("<3b", -128, 0, 127))

    def test_scale_multiplies_before_it_rounds(self):
        self.assertEqual(self.cast("<f4", "f", (0, 0.5, 2, -1), "--scale", "255", "--out-dtype", "u8")[3], bytes([0, 128, 255, 0]))
        self.assertEqual(self.cast("|u1", "B", (1, 100), "--scale", "2.5")[3], bytes([2, 250]))
        self.assertEqual(self.cast("<i8", "q", (2**61 + 1,), "--scale", "2")[3], struct.pack("<q", 2**62 + 2))
        self.assertEqual(self.cast("<i2", "h", (1, -2), "--scale", "-5e-1", "--out-dtype", "c64")[3], struct.pack("<4f", -0.5, 0, 1, 0))
        source = self.path("in.npy", npy_bytes((1,), bytes([200])))
        self.assertIn("300", self.bad(2, "copy", source, "-o", self.path("out.npy"), "--scale", "1.5").err)
        for options in (["--scale", "two"], ["--scale", "inf"], ["--scale", "2", "--normalize"]):
            self.bad(2, "copy", source, "-o", self.path("out.npy"), *options)

    def test_what_has_no_order_is_refused(self):
        source = self.path("in.npy", npy_bytes((1,), bytes(8), "<c8"))
        for option in (["--normalize"], ["--out-dtype", "f32"], ["--out-dtype", "f33"]):
            self.assertIn("remedy: ", self.bad(2, "copy", source, "-o", self.path("out.npy"), *option).err)
        self.assertEqual(os.listdir(self.folder), ["in.npy"])

    def test_a_mean_of_a_photo_is_a_photo(self):
        photo = self.path("photo.ppm", b"P6 4 2 255\n" + bytes(range(24)))
        self.good("reduce", "mean", "(h 2) (w 2) c -> h w c", photo, "-o", self.path("small.png"), "--verify")
        means = [sum(12 * y + 3 * (2 * w + x) + c for y in (0, 1) for x in (0, 1)) / 4 for w in (0, 1) for c in (0, 1, 2)]
        self.assertEqual(read_png(self.path("small.png")), (1, 2, 3, bytes(map(round, means))))

    def test_other_arrays_become_pictures_on_request_only(self):
        heights, picture = self.path("dem.npy", npy_bytes((1, 3), struct.pack("<3h", -100, 0, 100), "<i2")), self.path("out.png")
        self.assertIn("--normalize", self.bad(4, "copy", heights, "-o", picture).err)
        self.good("copy", heights, "-o", picture, "--normalize")
        self.assertEqual(read_png(picture)[3], bytes([0, 128, 255]))
        white = self.path("white.ppm", b"P6 1 1 255\n" + bytes([255] * 3))
        self.assertIn("--out-dtype", self.bad(4, "reduce", "sum", "h w c -> h w", white, "-o", picture).err)
        self.assertIn("--normalize", self.bad(2, "reduce", "norm", "h w c -> h w", white, "-o", picture).err)  # 441.7
        self.good("reduce", "sum", "h w c -> h w", white, "-o", picture, "--out-dtype", "u8")
        self.assertEqual(read_png(picture)[3], bytes([255]))

    def test_products_keep_their_own_option(self):
        source = self.path("in.npy", npy_bytes((2, 2), bytes([1, 2, 3, 4])))
        self.good("matmul", source, source, "--out-dtype", "f64", "-o", self.path("out.npy"))
        self.assertEqual(read_npy(self.path("out.npy"))[1], "<f8")
        self.good("matmul", source, source, "--normalize", "-o", self.path("out.png"))  # 7 10 15 22
        self.assertEqual(read_png(self.path("out.png"))[3], bytes([0, 51, 136, 255]))

    def test_what_is_printed_is_cast_too(self):
        source = self.path("in.npy", npy_bytes((2,), struct.pack("<2f", 1.5, 2.5), "<f4"))
        self.assertEqual(self.good("copy", source, "--out-dtype", "i32").out, "2 2\n")


class Folders(Case):
    def setUp(self):
        super().setUp()
        self.first, self.second = self.path("a.pgm", pgm(3, 1, b"abc")), self.path("b.pgm", pgm(1, 2, b"de"))

    def pixels(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()[-3:]

    def test_each_file_has_its_result_there(self):
        self.good("transpose", self.first, self.second, "-o", self.path("new/folder/"), "--verify", "--quiet")
        self.assertEqual(sorted(os.listdir(self.path("new/folder"))), ["a.pgm", "b.pgm"])
        self.assertEqual(self.pixels("new/folder/a.pgm"), b"abc")
        self.good("transpose", self.first, "-o", self.path("new"), "--output-format", "png")
        self.assertEqual(read_png(self.path("new/a.png")), (3, 1, 1, b"abc"))

    def test_a_file_that_fails_leaves_the_others(self):
        broken = self.path("aa.pgm", b"P5 9 9 255\n")
        result = run("copy", self.first, broken, self.second, "-o", self.path("out/"))
        self.assertEqual(result.returncode, 4)
        self.assertIn("aa.pgm", result.err)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.pgm", "b.pgm"])

    def test_files_that_are_there_can_be_kept(self):
        os.mkdir(self.path("out"))
        old = self.path("out/a.pgm", b"precious")
        told = self.good("copy", self.first, self.second, "-o", self.path("out/"), "--no-clobber").err
        self.assertIn("1 of 2", told)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.pgm", "b.pgm"])
        self.assertIn("--no-clobber", self.bad(4, "copy", self.second, "-o", old, "--no-clobber").err)
        self.assertEqual(self.pixels("out/a.pgm"), b"ous")
        self.good("copy", self.first, "-o", self.path("new.pgm"), "--no-clobber")
        self.assertEqual(self.pixels("new.pgm"), b"abc")
        self.good("copy", self.first, "-o", "/dev/null", "--no-clobber", "--output-format", "raw")
        for output in ([], ["-o", "-"]):
            self.bad(2, "copy", self.first, *output, "--no-clobber")

    def test_a_file_that_appears_meanwhile_is_kept_too(self):
        """The input is a pipe, which is written when the output has been opened."""
        os.mkfifo(self.path("pipe.pgm"))
        with subprocess.Popen([PROGRAM, "copy", self.path("pipe.pgm"), "-o", self.path("x.pgm"), "--no-clobber"], stderr=subprocess.PIPE) as process:
            with open(self.path("pipe.pgm"), "wb") as pipe:
                self.path("x.pgm", b"new")
                pipe.write(pgm(1, 1, b"a"))
            self.assertIn(b"--no-clobber", process.communicate(timeout=60)[1])
        self.assertEqual((process.returncode, self.pixels("x.pgm")), (4, b"new"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.pgm", "b.pgm", "pipe.pgm", "x.pgm"])

    def test_an_interrupt_keeps_what_was_finished(self):
        """The second input is a pipe that nobody writes."""
        os.mkfifo(self.path("pipe.pgm"))
        with subprocess.Popen([PROGRAM, "copy", self.first, self.path("pipe.pgm"), "-o", self.path("out/")], stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:  # of "make test &"
            deadline = time.monotonic() + 60
            while not os.path.exists(self.path("out/a.pgm")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=5)
            self.assertEqual((process.returncode, process.stderr.read()), (-signal.SIGINT, b""))
        self.assertEqual(os.listdir(self.path("out")), ["a.pgm"])

    def test_what_cannot_go_there_is_refused_before_work_begins(self):
        os.mkdir(self.path("other"))
        twin, photo = self.path("other/a.pgm", pgm(1, 1, b"x")), self.path("photo.webp", b"")
        before = self.pixels("a.pgm")
        for files, code, word in (([self.first, twin], 2, "two results"), ([self.second, "-"], 2, "standard input"),
                                  ([photo], 4, "--output-format"), ([self.first, "--format", "json"], 2, "--format")):
            self.assertIn(word, self.bad(code, "copy", *files, "-o", self.path("out/")).err)
        self.assertIn("name a file", self.bad(2, "matmul", self.first, self.second, "-o", self.path("out/")).err)
        self.assertIn("take its place", self.bad(2, "copy", self.second, self.first, "-o", self.folder).err)
        self.assertIn("-o FOLDER/", self.bad(2, "copy", self.first, self.second, "-o", self.path("x.pgm")).err)
        self.assertEqual((self.pixels("a.pgm"), os.path.exists(self.path("out"))), (before, False))

    def test_a_length_that_is_none_is_not_taken_for_a_file(self):
        error = self.bad(2, "rearrange", "(h h2) w -> h h2 w", "h2=7.5", self.first, "-o", self.path("x.npy")).err
        self.assertIn('"h2=7.5"', error)
        self.assertIn("h2=7", error.splitlines()[1])


if __name__ == "__main__":
    main()
