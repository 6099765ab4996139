"""Arrays out of NumPy's .npz files: stored and deflated, by name, and files that are damaged."""
import io
import json
import os
import struct
import zipfile

from support import Case, main, npy_bytes, read_npy

FIRST, SECOND = npy_bytes((2, 3), bytes(range(6))), npy_bytes((500, 2), struct.pack("<1000f", *range(1000)), "<f4")


def npz(method, **arrays):
    """As numpy.savez has it, which writes every length in 64 bits."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                file.write(array)
    return content.getvalue()


class Npz(Case):
    def test_an_array_is_taken_by_its_name(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            both = self.path("both.npz", npz(method, a=FIRST, b=SECOND))
            self.good("copy", both, "--array", "b", "-o", self.path("out.npy"), "--verify")
            self.assertEqual(read_npy(self.path("out.npy"))[3], struct.pack("<1000f", *range(1000)))
            self.assertEqual(self.good("copy", both, "--array", "a").out, "0 1 2\n3 4 5\n")
            self.assertEqual(self.good("transpose", self.path("one.npz", npz(method, any=FIRST))).out, "0 3\n1 4\n2 5\n")
            with open(both, "rb") as file:
                self.assertEqual(self.good("copy", "-", "--input-format", "npz", "--array", "a", stdin=file.read()).out, "0 1 2\n3 4 5\n")
            rows = json.loads(self.good("info", both, "--format", "json").out)
            self.assertEqual([(row["file"], row["format"], row["shape"]) for row in rows],
                             [(both + ": a", "npz", "2x3"), (both + ": b", "npz", "500x2")])

    def test_a_name_is_needed_where_there_are_several(self):
        both = self.path("both.npz", npz(zipfile.ZIP_STORED, a=FIRST, b=SECOND))
        self.assertIn("--array: a, b", self.bad(2, "copy", both).err)
        self.assertIn("a, b", self.bad(2, "copy", both, "--array", "c").err)
        self.assertIn("--array", self.bad(2, "copy", self.path("in.npy", FIRST), "--array", "a").err)
        self.assertIn("only read", self.bad(4, "copy", both, "--array", "a", "-o", self.path("out.npz")).err)
        self.assertIn("none", self.bad(4, "copy", self.path("none.npz", npz(zipfile.ZIP_STORED))).err)

    def test_a_file_that_is_cut_short_is_refused(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            whole = npz(method, a=FIRST)
            for length in range(0, len(whole), 7):
                self.assertIn("a.npz", self.bad(4, "copy", self.path("a.npz", whole[:length])).err)

    def test_damaged_data_are_refused(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            whole = npz(method, a=SECOND)
            for at in (whole.index(b".npy") + 60, len(whole) // 2):
                broken = bytearray(whole)
                broken[at] ^= 16
                self.assertIn("a.npz", self.bad(4, "copy", self.path("a.npz", bytes(broken)), "-o", self.path("out.npy")).err)
        self.assertFalse(os.path.exists(self.path("out.npy")))

    def test_lengths_that_lie_are_refused(self):
        whole = npz(zipfile.ZIP_DEFLATED, a=SECOND)
        entry = whole.index(b"PK\1\2")
        for at, form, value in ((10, "<H", 12), (8, "<H", 1), (20, "<I", 2**31), (24, "<I", 2**31), (24, "<I", 100), (42, "<I", 2**31), (28, "<H", 60000)):
            broken = bytearray(whole)
            struct.pack_into(form, broken, entry + at, value)
            self.assertIn("a.npz", self.bad(4, "copy", self.path("a.npz", bytes(broken)), "-o", self.path("out.npy")).err)


if __name__ == "__main__":
    main()
