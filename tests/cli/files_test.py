"""Operations on files, from the command line's point of view."""
import json
import os
import struct
import subprocess
import zlib

from support import PROGRAM, Case, main, npy_bytes, parse_npy, read_npy, read_png, run

GREY = bytes(range(6))  # 2 x 3


class Operations(Case):
    def test_transpose(self):
        self.good("transpose", self.path("in.npy", npy_bytes((2, 3), GREY)), "-o", self.path("out.npy"), "--verify")
        self.assertEqual(read_npy(self.path("out.npy")), ((3, 2), "|u1", False, bytes([0, 3, 1, 4, 2, 5])))

    def test_lengths_stand_between_pattern_and_file(self):
        source = self.path("in.npy", npy_bytes((6,), GREY))
        self.good("rearrange", "(a b) -> b a", "a=2", source, "-o", self.path("out.npy"))
        self.assertEqual(read_npy(self.path("out.npy"))[0], (3, 2))

    def test_permute_takes_negative_axes(self):
        source = self.path("in.npy", npy_bytes((1, 2, 3), GREY))
        self.good("permute", "-1,0,1", source, "-o", self.path("out.npy"))
        self.assertEqual(read_npy(self.path("out.npy"))[0], (3, 1, 2))

    def test_repeat_of_a_scalar(self):
        source = self.path("in.npy", npy_bytes((), b"\x07"))
        self.good("repeat", "-> n", "n=4", source, "-o", self.path("out.npy"))
        self.assertEqual(read_npy(self.path("out.npy")), ((4,), "|u1", False, b"\x07" * 4))

    def test_relayout_fills_the_tail_with_zeros_and_comes_back(self):
        data = bytes(range(1, 11))
        source = self.path("in.npy", npy_bytes((1, 5, 1, 2), data, "|i1"))
        self.good("relayout", "NCHW", "NC/4HW4", source, "-o", self.path("packed.npy"), "--verify")
        shape, _, _, packed = read_npy(self.path("packed.npy"))
        self.assertEqual(shape, (1, 2, 1, 2, 4))
        self.assertEqual(packed, bytes([1, 3, 5, 7, 2, 4, 6, 8, 9, 0, 0, 0, 10, 0, 0, 0]))
        self.good("relayout", "NC/4HW4", "NCHW", "--channels", 5, self.path("packed.npy"), "-o", self.path("back.npy"))
        self.assertEqual(read_npy(self.path("back.npy"))[3], data)

    def test_copy_of_a_column_major_file(self):
        values = struct.pack("<6f", 0, 1, 2, 3, 4, 5)
        source = self.path("in.npy", npy_bytes((2, 3), values, "<f4", fortran=True))
        self.good("copy", source, "-o", self.path("out.npy"), "--verify")
        shape, descr, fortran, data = read_npy(self.path("out.npy"))
        self.assertEqual((shape, descr, fortran), ((2, 3), "<f4", False))
        self.assertEqual(struct.unpack("<6f", data), (0, 2, 4, 1, 3, 5))

    def test_raw_files_need_a_shape(self):
        source = self.path("in.raw", GREY)
        self.good("transpose", "--shape", "2x3", "--dtype", "u8", source, "-o", self.path("out.raw"))
        with open(self.path("out.raw"), "rb") as file:
            self.assertEqual(file.read(), bytes([0, 3, 1, 4, 2, 5]))
        self.bad(2, "transpose", "--shape", "2xx3", "--dtype", "u8", source, "-o", self.path("out.raw"))
        self.bad(2, "transpose", "--shape", "2x3", "--dtype", "u9", source, "-o", self.path("out.raw"))
        self.bad(4, "transpose", "--shape", "200x300", "--dtype", "u8", source, "-o", self.path("out.raw"))

    def test_a_colour_picture_keeps_its_colours(self):
        pixels = bytes(range(18))
        source = self.path("in.ppm", b"P6\n3 2\n255\n" + pixels)
        self.good("transpose", source, "-o", self.path("out.png"))
        height, width, channels, turned = read_png(self.path("out.png"))
        self.assertEqual((height, width, channels), (3, 2, 3))
        for r in range(3):
            for c in range(2):
                self.assertEqual(turned[(r * 2 + c) * 3:][:3], pixels[(c * 3 + r) * 3:][:3])

    def test_a_photo_is_turned_the_right_way_up(self):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        exif = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0)  # turned by a quarter
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0))
        photo = b"\x89PNG\r\n\x1a\n" + header + chunk(b"eXIf", exif) + chunk(b"IDAT", zlib.compress(b"\0abc\0def")) + chunk(b"IEND", b"")
        self.good("copy", self.path("photo.png", photo), "-o", self.path("out.npy"))
        self.assertEqual(read_npy(self.path("out.npy")), ((3, 2), "|u1", False, b"daebfc"))

    def test_small_results_are_printed(self):
        source = self.path("in.npy", npy_bytes((2, 3), GREY))
        self.assertEqual(self.good("transpose", source).out, "0 3\n1 4\n2 5\n")
        self.assertEqual(self.good("sum", source).out, "15\n")
        self.assertEqual(self.good("reduce", "mean", "h w -> w", source).out, "1.5 2.5 3.5\n")
        self.assertEqual(self.good("rearrange", "h w -> h () w ()", source).out, "0\n1\n2\n\n\n3\n4\n5\n")
        self.assertEqual(self.good("copy", self.path("none.npy", npy_bytes((0, 3), b""))).out, "")
        self.assertEqual(self.good("mean", self.path("none.npy")).out, "nan\n")

    def test_info(self):
        array = self.path("in.npy", npy_bytes((2, 3), bytes(24), "<f4", fortran=True))
        image, raw = self.path("in.ppm", b"P6\n3 2\n255\n" + bytes(18)), self.path("in.raw", GREY)
        rows = json.loads(self.good("info", array, image, "--format", "json").out)
        self.assertEqual(rows, [{"file": array, "format": "npy", "dtype": "f32", "shape": "2x3", "order": "Fortran", "bytes": 24},
                                {"file": image, "format": "pnm", "dtype": "u8", "shape": "2x3x3", "order": "C", "bytes": 18}])
        self.assertIn("3x2", self.good("info", raw, "--dtype", "u8", "--shape", "3x2").out)
        self.assertIn("pnm", self.good("info", "-", stdin=b"P5 1 1 255\na").out)
        self.assertIn("--dtype", self.bad(2, "info", raw).err)
        self.bad(2, "info", image, "--dtype", "u8")
        self.bad(4, "info", self.path("none.npy"))

    def test_standard_input_and_output(self):
        result = self.good("transpose", "-", "-o", "-", stdin=npy_bytes((2, 3), GREY))
        self.assertEqual(parse_npy(result.raw), ((3, 2), "|u1", False, bytes([0, 3, 1, 4, 2, 5])))
        self.assertEqual(result.err, "")

    def test_the_plan_is_told_on_request_only(self):
        source, target = self.path("in.npy", npy_bytes((2, 3), GREY)), self.path("out.npy")
        self.assertEqual(self.good("transpose", source, "-o", target).err, "")
        verbose = self.good("transpose", source, "-o", target, "--verbose").err
        for part in ("candidate plain: accepted", "winner ", "programs: ", "measured ", "GB/s"):
            self.assertIn(part, verbose)
        self.assertIn('"candidate"', self.good("transpose", source, "-o", target, "--format", "json").out)

    def test_a_candidate_can_be_forced(self):
        source, target = self.path("in.npy", npy_bytes((2, 3), GREY)), self.path("out.npy")
        told = self.good("transpose", source, "-o", target, "--candidate", "plain", "--verify", "--verbose").err
        self.assertIn("winner plain", told)
        self.assertIn("passed", told)
        wide = self.good("transpose", source, "-o", target, "--index", "64", "--verbose", "--verify").err
        self.assertIn("64-bit offsets", wide)
        self.bad(2, "transpose", source, "-o", target, "--candidate", "nonesuch")
        self.bad(2, "transpose", source, "-o", target, "--config", "nonesuch=1")
        self.assertIn("tma: ", self.bad(2, "transpose", source, "-o", target, "--candidate", "tma", "--device", "cpu").err)
        self.bad(2, "transpose", source, "-o", target, "--config", "nonesuch")


class Errors(Case):
    def test_usage(self):
        source = self.path("in.npy", npy_bytes((2, 3), GREY))
        self.bad(2, "frobnicate")
        large = self.path("large.npy", npy_bytes((1001,), bytes(1001)))
        self.assertIn("add -o FILE", self.bad(2, "copy", large).err)
        self.bad(2, "transpose", source, source, "-o", self.path("out.npy"))
        self.bad(2, "transpose", source, "-o", self.path("out.npy"), "--device", "toaster")
        self.bad(2, "transpose", source, "-o", self.path("out.npy"), "--format", "yaml")
        self.assertFalse(os.path.exists(self.path("out.npy")))

    def test_a_pattern_is_shown_with_a_caret_below_its_fault(self):
        source = self.path("in.npy", npy_bytes((2, 3), GREY))
        lines = self.bad(2, "rearrange", "h w -> q h", source, "-o", self.path("out.npy")).err.splitlines()
        shown = [i for i, line in enumerate(lines) if line.strip() == "h w -> q h"]
        self.assertTrue(shown, lines)
        pattern, caret = lines[shown[0]:shown[0] + 2]
        self.assertEqual(pattern[caret.index("^")], "w", lines)
        self.assertTrue(lines[-1].startswith("remedy: "))

    def test_files_that_cannot_be_read(self):
        whole = npy_bytes((2, 3), GREY)
        self.bad(4, "copy", self.path("none.npy"), "-o", self.path("out.npy"))
        for name, content in {"short": whole[:-1], "header": whole[:40], "empty": b"",
                              "object": npy_bytes((1,), b"x" * 8, "|O")}.items():
            error = self.bad(4, "copy", self.path(name + ".npy", content), "-o", self.path("out.npy")).err
            self.assertIn(name + ".npy", error)
        self.assertFalse(os.path.exists(self.path("out.npy")))

    def test_outputs_that_cannot_be_written(self):
        source = self.path("in.npy", npy_bytes((2, 3), GREY))
        self.bad(4, "copy", source, "-o", self.path("no/such/folder/out.npy"))
        before = self.path("out.png", b"precious")
        odd = self.path("odd.npy", npy_bytes((1, 2, 3, 4), bytes(24)))
        self.assertNotEqual(run("copy", odd, "-o", before).returncode, 0)
        with open(before, "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "odd.npy", "out.png"])

    def test_a_full_disk_behind_standard_output(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([PROGRAM, "devices"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 4, result.stderr)

    def test_no_device(self):
        nothing = {"OCL_ICD_VENDORS": self.folder, "CUDA_VISIBLE_DEVICES": "", "AXISLOOM_THREADS": "none"}
        source = self.path("in.npy", npy_bytes((2, 3), GREY))
        self.assertIn("AXISLOOM_THREADS", self.bad(2, "copy", source, "-o", self.path("out.npy"), env=nothing).err)
        error = self.bad(3, "copy", source, "-o", self.path("out.npy"), "--device", "gpu", env=nothing).err
        self.assertIn("axisloom doctor", error)
        self.assertIn("remedy: ", error)
        self.assertEqual(run("doctor", env=nothing).returncode, 3)
        doctor = run("doctor", env=nothing).out
        self.assertIn("install", doctor)
        self.assertIn('AXISLOOM_THREADS: "none" is not a number of threads', doctor)
        self.bad(3, "devices", env=nothing)
        self.bad(3, "copy", source, "-o", self.path("out.npy"), "--device", "opencl:99")


if __name__ == "__main__":
    main()
