"""What a terminal sees, and nobody else: colours, and that something is being compiled."""
import re

from support import Case, main, npy_bytes, on_terminal, run

PLAIN = {"NO_COLOR": "", "TERM": "xterm"}


class Terminal(Case):
    def seen(self, *arguments, env=None, **options):
        """What the program writes to a terminal that is its standard output and error."""
        _, seen = on_terminal(*arguments, env={**PLAIN, **(env or {})}, **options)
        return seen.decode().replace("\r\n", "\n")

    def test_errors_are_coloured(self):
        seen = self.seen("copy", self.path("none.npy"))
        self.assertRegex(seen, r"^\x1b\[1;31maxisloom:\x1b\[0m .*none\.npy.*\n")
        self.assertIn("\x1b[1mremedy:\x1b[0m", self.seen("transpose", "--nonesuch"))

    def test_headings_are_bold(self):
        self.assertIn("\x1b[1mOptions:\x1b[0m\n", self.seen("transpose", "--help"))
        source = self.path("in.npy", npy_bytes((2,), b"ab"))
        self.assertRegex(self.seen("info", source), r"^\x1b\[1mfile +format.*\x1b\[0m\n[^\x1b]+$")
        self.assertNotIn("\x1b", self.seen("info", source, "--format", "csv"))

    def test_those_who_want_none_get_none(self):
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            for arguments in (["copy", self.path("none.npy")], ["--help"]):
                self.assertNotIn("\x1b", self.seen(*arguments, env=env))
        for arguments in (["copy", self.path("none.npy")], ["--help"]):
            result = run(*arguments, env=PLAIN)
            self.assertNotIn("\x1b", result.out + result.err)

    def test_a_file_cannot_colour_anything(self):
        self.assertNotIn("\x1b[5m", self.seen("copy", self.path("\x1b[5m.npy")))

    def test_compiling_is_told_where_it_takes_long(self):
        source = self.path("in.npy", npy_bytes((300, 500), bytes(150000)))
        copy = ["transpose", source, "-o", self.path("out.npy"), "--device", "opencl:0"]

        def folders(name):
            return {"AXISLOOM_CACHE_DIR": self.path(name), "POCL_CACHE_DIR": self.path(name + "-pocl")}

        cold = self.seen(*copy, env=folders("a"))
        self.assertTrue(re.fullmatch(r"(\r\x1b\[Kcompiling[^\r]*)+\r\x1b\[K", cold), repr(cold))
        self.assertNotIn("compiling", self.seen(*copy, env=folders("a")))
        self.assertNotIn("compiling", self.seen(*copy, "--quiet", env=folders("b")))
        self.assertNotIn("compiling", run(*copy, env=folders("c")).err)


if __name__ == "__main__":
    main()
