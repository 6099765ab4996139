"""Options that would have no effect are refused, wherever they stand."""
import re

from support import Case, main, npy_bytes, run

COMMON = {"--device": ["cpu"], "--format": ["json"], "--seed": ["3"], "--verbose": [], "--quiet": []}
GREY = bytes(range(6))


class Options(Case):
    def commands(self, *path):
        """Every command that does something, with those below it."""
        text = self.good(*path, "--help").out
        below = text.split("Subcommands:")[1].split("Examples:")[0] if "Subcommands:" in text else ""
        names = [line.split()[0] for line in below.splitlines() if re.match(r"  \w", line)]
        if not names:
            yield list(path), text
        for name in names:
            yield from self.commands(*path, name)

    def test_common_options(self):
        """Each stands in the help of a command, or is refused before its name and after it."""
        refused = 0
        for command, text in self.commands():
            for option, value in COMMON.items():
                if re.search(rf"{option}\b", text.split("Examples:")[0]):
                    continue
                refused += 1
                self.assertIn(option, self.bad(2, *command, option, *value, *self.words(text)).err, command)
                self.assertIn(option, self.bad(2, option, *value, *command, *self.words(text)).err, command)
        self.assertGreater(refused, 30)

    def words(self, text):
        """Something for each argument that has to be there."""
        return ["x"] * len(re.findall(r"^  \w.* REQUIRED", text, re.MULTILINE))

    def refused(self, *arguments):
        error = self.bad(2, *arguments, cwd=self.folder).err
        self.assertIn("\nremedy: ", error)
        return error

    def test_options_of_operations(self):
        npy, card = self.path("in.npy", npy_bytes((2, 3), GREY)), self.path("card.pgm", b"P5\n3 2\n255\n" + GREY)
        self.path("in.raw", GREY)
        for source in (npy, card):
            for option in (["--dtype", "f32"], ["--shape", "3x2"]):
                self.assertIn("raw", self.refused("copy", source, "-o", "x.npy", *option))
        self.good("copy", "in.raw", "-o", "x.npy", "--dtype", "u8", "--shape", "3x2", cwd=self.folder)
        self.good("copy", npy, "-o", "x.npy", "--dtype", "u8", "--input-format", "raw", cwd=self.folder)
        self.assertIn("--output-format", self.refused("sum", npy, "--output-format", "npy"))
        self.assertIn("--format", self.refused("sum", npy, "--format", "json"))
        self.assertIn("--format", self.refused("copy", npy, "-o", "-", "--format", "json"))
        self.assertIn("standard input", self.refused("dot", "-", "-"))
        self.assertIn("--config", self.refused("copy", npy, "-o", "x.npy", "--config", "items=1", "--config", "items=2"))
        self.bad(2, "relayout", "NC/4HW4", "NCHW", npy, "-o", "x.npy", "--channels", "0")
        self.bad(2, "sum", npy, "--axes", "")
        self.bad(2, "copy", "in.raw", "-o", "x.npy", "--dtype", "", cwd=self.folder)

    def test_options_that_contradict_each_other(self):
        npy = self.path("in.npy", npy_bytes((2, 3), GREY))
        self.refused("sum", npy, "-v", "-q")
        self.refused("-v", "sum", npy, "-q")
        self.refused("--device", "gpu", "sum", npy, "--device", "cpu")
        self.refused("ladder", "transpose", "--device", "cpu", "--peers", "none,numpy")
        self.bad(2, "ladder", "copy", "--shape", "100", "--size", "large")
        self.bad(2, "--man", "--completion", "bash")
        self.refused("--man", "--device", "cpu")
        self.refused("--completion", "bash", "devices")

    def test_options_of_measuring(self):
        self.refused("bench", "copy", "--device", "cpu", "--sweep", "items=1", "--candidate", "plain", "--peers", "none", "copy u8 9")
        self.refused("demo", self.path("card.pgm", b"P5\n3 2\n255\n" + GREY), "--seed", "3")
        self.assertNotEqual(run("devices", "--device", "nope").returncode, 0)


if __name__ == "__main__":
    main()
