"""Command lines that are misspelt or stop early: what is wrong is named, and what may have been meant."""
from support import Case, main, run


class Words(Case):
    def refused(self, *arguments):
        return self.bad(2, *arguments, cwd=self.folder).err

    def test_a_word_near_a_known_one(self):
        for typed, named, meant in (
                (["tranpose", "card.png", "-o", "x.png"], "tranpose", "axisloom transpose"), (["ladder", "transpos"], "transpos", "axisloom ladder transpose"),
                (["bench", "redcue"], "redcue", "axisloom bench reduce"), (["devics"], "devics", "axisloom devices"),
                (["perm"], "perm", "axisloom permute"), (["help", "cahce"], "cahce", "axisloom cache"),
                (["transpose", "--verfy", "a.npy", "-o", "b.npy"], "--verfy", "--verify"),
                (["bench", "copy", "--mintime=3"], "--mintime", "--min-time"), (["--fromat", "json", "devices"], "--fromat", "--format")):
            error = self.refused(*typed)
            self.assertIn(named, error.splitlines()[0])
            self.assertIn(f"did you mean {meant}?", error)

    def test_a_word_near_none(self):
        for typed, named in ((["frobnicate"], "frobnicate"), (["cp", "a.npy"], "cp"), (["ladder", "xy"], "xy"), (["devices", "--zzz"], "--zzz"),
                             (["devices", "nope"], "nope"), (["cache", "info", "a", "b"], '"a"')):
            error = self.refused(*typed)
            self.assertIn(named, error.splitlines()[0])
            self.assertNotIn("did you mean", error)
            self.assertIn("--help", error)

    def test_an_option_that_only_others_take(self):
        for typed in (["devices", "--device", "nope"], ["doctor", "--device", "gpu"], ["doctor", "-q"]):
            self.assertIn(f"does not take {typed[1]}", self.refused(*typed))

    def test_help_by_name(self):
        for words in (["transpose"], ["bench", "compare"], []):
            self.assertEqual(self.good("help", *words).out, self.good(*words, "--help").out)
        self.refused("help", "transpose", "nonesuch")

    def test_options_that_many_take_are_described_once(self):
        described = self.good("help", "options").out
        for command in (["transpose"], ["bench", "copy"], ["info"]):
            text = self.good(*command, "--help").out
            named = text.split("(axisloom help options):\n")[1:]
            for option in " ".join(group.splitlines()[0] for group in named).split():
                self.assertIn("\n  " + option + " ", described, command)
            for description in ("How results are printed", "Shape of a raw input"):
                self.assertNotIn(description, text)
                self.assertIn(description, described)
        self.assertIn("--no-clobber", self.good("transpose", "--help").out)

    def test_a_command_line_that_stops_early_gets_help(self):
        for words in ([], ["ladder"], ["cache"]):
            result = run(*words)
            self.assertEqual((result.returncode, result.out, result.err), (2, self.good(*words, "--help").out, ""))

    def test_version(self):
        self.assertEqual(self.good("-V").out, self.good("--version").out)


if __name__ == "__main__":
    main()
