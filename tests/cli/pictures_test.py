"""What a picture has besides its pixels, pictures stacked into one array, and the layouts of one image."""
import os
import struct
import zlib

from support import Case, main, npy_bytes, read_npy, read_png, run


def icc(space):
    """A colour profile for a screen, with one tag."""
    d50, tag = struct.pack(">3I", 0xF6D6, 0x10000, 0xD32D), struct.pack(">I4sII8s", 1, b"cprt", 144, 8, b"text")
    head = struct.pack(">I4sI4s4s4s12x4s", 152, b"test", 0x02100000, b"mntr", space, b"XYZ ", b"acsp").ljust(68, b"\0") + d50
    return head.ljust(128, b"\0") + tag


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, colour, pixels, *between):
    row = width * {0: 1, 2: 3}[colour]
    rows = b"".join(b"\0" + pixels[at:at + row] for at in range(0, len(pixels), row))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(between) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def profile_chunk(space):
    return chunk(b"iCCP", b"any\0\0" + zlib.compress(icc(space), 0))  # libpng takes one of less than 81 bytes for damaged


def resolution_chunk(x, y, unit=1):
    return chunk(b"pHYs", struct.pack(">IIB", x, y, unit))


def jpeg(*segments):
    """A grey picture of 8 x 8 pixels, all of them 128."""
    def segment(marker, body):
        return bytes([255, marker]) + struct.pack(">H", len(body) + 2) + body

    lengths = bytes([1] + [0] * 15)  # one code of one bit: no more than "nothing follows"
    return (b"\xff\xd8" + b"".join(segment(*one) for one in segments) + segment(0xDB, bytes([0] + [8] * 64)) +
            segment(0xC0, struct.pack(">BHHBBBB", 8, 8, 8, 1, 1, 0x11, 0)) + segment(0xC4, b"\0" + lengths + b"\0") +
            segment(0xC4, b"\x10" + lengths + b"\0") + segment(0xDA, bytes([1, 1, 0, 0, 63, 0])) + b"\x3f\xff\xd9")


def info_of(path):
    """(profile, resolution) of a PNG file."""
    with open(path, "rb") as file:
        content = file.read()
    at, profile, resolution = 8, None, None
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        body = content[at + 8:at + 8 + length]
        if kind == b"iCCP":
            profile = zlib.decompress(body[body.index(b"\0") + 2:])
        if kind == b"pHYs":
            resolution = struct.unpack(">IIB", body)
        at += 12 + length
    return profile, resolution


class Info(Case):
    def setUp(self):
        super().setUp()
        self.photo = self.path("photo.png", png(4, 2, 2, bytes(range(24)), profile_chunk(b"RGB "), resolution_chunk(3000, 6000)))

    def made(self, *arguments):
        self.good(*arguments, "-o", self.path("out.png"))
        return info_of(self.path("out.png"))

    def test_profile_and_resolution_go_with_the_pixels(self):
        self.assertEqual(self.made("copy", self.photo), (icc(b"RGB "), (3000, 6000, 1)))
        self.assertEqual(self.made("transpose", self.photo), (icc(b"RGB "), (6000, 3000, 1)))
        self.assertEqual(self.made("rearrange", "h (w x) c -> (x h) w c", "x=2", self.photo)[1], None)  # across every second pixel
        self.assertEqual(self.made("rearrange", "h (x w) c -> (x h) w c", "x=2", self.photo)[1], (3000, 6000, 1))
        square = self.path("square.png", png(4, 2, 2, bytes(24), profile_chunk(b"RGB "), resolution_chunk(3000, 3000)))
        self.assertEqual(self.made("reduce", "mean", "(h 2) (w 2) c -> h w c", square), (icc(b"RGB "), (3000, 3000, 1)))

    def test_a_profile_goes_where_colours_lose_their_meaning(self):
        for arguments in (["copy", "--normalize"], ["copy", "--out-dtype", "u16"], ["copy", "--scale", "0.5"], ["reduce", "max", "h w c -> h w"]):
            self.assertEqual(self.made(*arguments, self.photo)[0], None, arguments)
        told = self.good("copy", self.photo, "--normalize", "-o", self.path("out.png"), "--verbose").err
        self.assertIn("the colour profile of the input is not in the output", told)
        self.assertNotIn("resolution", told)
        told = self.good("copy", self.photo, "-o", self.path("out.ppm"), "--verbose").err
        self.assertIn("the resolution of the input is not in the output", told)
        self.assertNotIn("is not in the output", self.good("copy", self.photo, "-o", self.path("out.png"), "--verbose").err)

    def test_a_profile_that_is_damaged_or_of_another_kind_is_left_out(self):
        grey = self.path("grey.png", png(4, 2, 0, bytes(8), profile_chunk(b"RGB "), resolution_chunk(1, 2, 0)))
        self.assertEqual(self.made("copy", grey), (None, (1, 2, 0)))
        self.assertEqual(self.made("copy", self.path("a.jpg", jpeg((0xE2, b"ICC_PROFILE\0\1\1" + icc(b"GRAY")[:-1])))), (None, None))

    def test_those_of_jpeg(self):
        def jfif(unit, x, y):
            return 0xE0, b"JFIF\0\1\1" + struct.pack(">BHHBB", unit, x, y, 0, 0)

        profile = icc(b"GRAY")
        parts = [(0xE2, b"ICC_PROFILE\0" + bytes([i + 1, 2]) + part) for i, part in enumerate((profile[:50], profile[50:]))]
        for density, resolution in ((jfif(1, 300, 72), (11811, 2835, 1)), (jfif(2, 100, 50), (10000, 5000, 1)), (jfif(0, 1, 1), None),
                                    (jfif(0, 1, 2), (1, 2, 0)), (jfif(1, 0, 1), None)):
            self.assertEqual(self.made("copy", self.path("a.jpg", jpeg(density, *parts))), (profile, resolution))
        self.assertEqual(read_png(self.path("out.png")), (8, 8, 1, bytes([128] * 64)))

    def test_jpeg_files_are_written_with_them(self):
        photo = self.path("photo.png", png(16, 8, 2, bytes([90, 120, 30] * 128), profile_chunk(b"RGB "), resolution_chunk(2835, 11811)))
        self.good("copy", photo, "-o", self.path("out.jpg"))
        with open(self.path("out.jpg"), "rb") as file:
            content = file.read()
        self.assertIn(b"ICC_PROFILE\0\1\1" + icc(b"RGB "), content)
        self.assertIn(struct.pack(">BHH", 1, 72, 300), content[:20])
        self.assertEqual(self.made("copy", self.path("out.jpg")), (icc(b"RGB "), (2835, 11811, 1)))
        self.assertTrue(all(abs(a - b) < 4 for a, b in zip(read_png(self.path("out.png"))[3], bytes([90, 120, 30] * 128))))
        noise = self.path("noise.pgm", b"P5 64 64 255\n" + bytes(i * i * 7 % 251 for i in range(4096)))
        sizes = []
        for options in (["--quality", "20"], [], ["--quality", "100"]):
            self.good("copy", noise, "-o", self.path("noise.jpg"), *options)
            sizes.append(os.path.getsize(self.path("noise.jpg")))
        self.assertEqual(sizes, sorted(set(sizes)))
        self.assertIn("JPEG", self.bad(2, "copy", noise, "-o", self.path("noise.png"), "--quality", "20").err)
        self.bad(2, "copy", noise, "-o", self.path("noise.jpg"), "--quality", "0")

    def test_a_photo_that_is_turned_takes_its_resolution_along(self):
        exif = chunk(b"eXIf", b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0))  # turned by a quarter
        self.assertEqual(self.made("copy", self.path("a.png", png(4, 2, 0, bytes(8), resolution_chunk(3, 5), exif)))[1], (5, 3, 1))


class Stacks(Case):
    def setUp(self):
        super().setUp()
        self.files = [self.path(f"{name}.pgm", b"P5 2 1 255\n" + name.encode() * 2) for name in "abc"]

    def test_files_are_one_more_axis(self):
        self.good("rearrange", "b h w -> h (b w)", *self.files, "-o", self.path("out.png"), "--verify")
        self.assertEqual(read_png(self.path("out.png")), (1, 6, 1, b"aabbcc"))
        self.good("rearrange", "(b x) h w -> b x h w", "x=1", *self.files, "-o", self.path("out.npy"))
        self.assertEqual(read_npy(self.path("out.npy"))[0], (3, 1, 1, 2))
        self.assertEqual(self.good("reduce", "max", "b h w -> h w", *self.files).out, "99 99\n")
        self.good("reduce", "mean", "b h w -> h w", *self.files[:2], self.files[1], "-o", self.path("out.png"))
        self.assertEqual(read_png(self.path("out.png"))[3], b"bb")
        fortran = self.path("f.npy", npy_bytes((2, 2), bytes([1, 2, 3, 4]), fortran=True))
        self.assertEqual(self.good("rearrange", "b h w -> b (h w)", fortran, fortran).out, "1 3 2 4\n1 3 2 4\n")

    def test_those_that_are_not_alike_are_refused(self):
        for name, content in (("wide.pgm", b"P5 3 1 255\nxxx"), ("deep.pgm", b"P5 2 1 65535\nxxxx")):
            error = self.bad(2, "rearrange", "b h w -> h (b w)", *self.files, self.path(name, content), "-o", self.path("out.png")).err
            for word in ("a.pgm is u8[1,2]", name, "-o FOLDER/"):
                self.assertIn(word, error)
        self.assertFalse(os.path.exists(self.path("out.png")))

    def test_a_pattern_for_each_of_them_needs_a_folder(self):
        error = self.bad(2, "rearrange", "h w -> w h", *self.files, "-o", self.path("out.png")).err
        for word in ("3 files are stacked", "-o FOLDER/"):
            self.assertIn(word, error)
        self.good("rearrange", "h w -> w h", *self.files, "-o", self.path("out/"))
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.pgm", "b.pgm", "c.pgm"])
        self.assertIn("takes 1 input file, 3 given", self.bad(2, "transpose", *self.files, "-o", self.path("out.png")).err)

    def test_pictures_of_one_profile_keep_it(self):
        names = ("a.png", "b.png")
        for resolutions, resolution in (((5, 5), (5, 5, 1)), ((5, 6), None)):
            files = [self.path(name, png(1, 1, 2, b"abc", resolution_chunk(x, x))) for name, x in zip(names, resolutions)]
            self.good("rearrange", "b h w c -> (b h) w c", *files, "-o", self.path("out.png"))
            self.assertEqual(info_of(self.path("out.png"))[1], resolution)


class Layouts(Case):
    def test_layouts_in_any_case_and_of_one_image(self):
        photo = self.path("photo.ppm", b"P6 2 1 255\nabcdef")
        self.good("relayout", "hwc", "CHW", photo, "-o", self.path("planes.npy"), "--verify")
        self.assertEqual(read_npy(self.path("planes.npy")), ((3, 1, 2), "|u1", False, b"adbecf"))
        self.good("relayout", "hwc", "nc/4hw4", photo, "-o", self.path("blocks.npy"))
        self.assertEqual(read_npy(self.path("blocks.npy")), ((1, 1, 1, 2, 4), "|u1", False, b"abc\0def\0"))
        self.good("relayout", "NC/4HW4", "HWC", self.path("blocks.npy"), "--channels", 3, "-o", self.path("back.png"))
        self.assertEqual(read_png(self.path("back.png")), (1, 2, 3, b"abcdef"))
        self.good("relayout", "c/4hw4", "chw", self.path("one.npy", npy_bytes((1, 1, 1, 4), b"abcd")), "-o", self.path("out.npy"))
        self.assertEqual(read_npy(self.path("out.npy"))[0], (4, 1, 1))

    def test_what_is_no_layout_of_the_array(self):
        two = self.path("two.npy", npy_bytes((2, 1, 1, 3), b"abcdef"))
        self.assertIn("2 images", self.bad(2, "relayout", "NHWC", "CHW", two, "-o", self.path("out.npy")).err)
        self.assertIn("NHWC", self.bad(2, "relayout", "HWC", "CHW", two, "-o", self.path("out.npy")).err)
        self.assertIn("unknown layout", self.bad(2, "relayout", "hcw", "CHW", two, "-o", self.path("out.npy")).err)


if __name__ == "__main__":
    main()
