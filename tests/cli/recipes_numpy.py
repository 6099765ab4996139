"""The README's recipes, in each of its languages: the program's result against the NumPy expression beside it."""
import pathlib
import re
import shutil

import numpy as np

from support import Case, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| [^|]+ \| `axisloom ([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)
# Of what `axisloom demo` writes, under the names that the recipes use.
INPUTS = {"photo.png": "colour-card.png", "grey.png": "card.png", "blocks.npy": "channels.npy"}


def words(command):
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]


class Recipes(Case):
    def setUp(self):
        super().setUp()
        self.good("demo", "-o", self.path("demo"), "--quiet", "--device", "host")
        for name, source in INPUTS.items():
            shutil.copy(pathlib.Path(self.path("demo")) / source, self.path(name))

    def array(self, name):
        """A file's array; a picture's by way of the program."""
        if name.endswith(".npy"):
            return np.load(self.path(name))
        self.good("copy", self.path(name), "-o", self.path("read.npy"))
        return np.load(self.path("read.npy"))

    def test_they_do_what_numpy_does(self):
        for readme in ("README.md", "README.zh.md"):
            rows = ROW.findall((ROOT / readme).read_text(encoding="utf-8"))
            self.assertGreaterEqual(len(rows), 5, readme)
            for command, expression in rows:
                with self.subTest(readme=readme, command=command):
                    self.check(words(command), expression)

    def check(self, given, expression):
        files = [word for word in given if word.endswith((".npy", ".png"))]
        self.good(*[self.path(word) if word in files else word for word in given])
        names = {file.split(".")[0]: self.array(file) for file in files[:-1]}
        wanted = eval(expression, {"np": np}, names)
        result = self.array(files[-1])
        self.assertEqual(result.dtype, wanted.dtype)
        np.testing.assert_array_equal(result, wanted)


if __name__ == "__main__":
    main()
