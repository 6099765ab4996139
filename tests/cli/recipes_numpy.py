"""The recipes of the README, in each of its languages, and of the gallery: the program's result against the NumPy expression beside it."""
import pathlib
import re
import shutil

import numpy as np

from support import Case, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| [^|]+ \| `axisloom ([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)
# Of what `axisloom demo` writes, under the names that the recipes use.
INPUTS = {"photo.png": "colour-card.png", "grey.png": "card.png", "blocks.npy": "channels.npy"}
TENSORS = {"images": (2, 16, 8, 8), "tokens": (2, 10, 96), "queries": (2, 4, 10, 8), "keys": (2, 4, 10, 8)}


def words(command):
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]


class Recipes(Case):
    def setUp(self):
        super().setUp()
        self.good("demo", "-o", self.path("demo"), "--quiet", "--device", "host")
        for name, source in INPUTS.items():
            shutil.copy(pathlib.Path(self.path("demo")) / source, self.path(name))
        rng = np.random.default_rng(1)
        for name, shape in TENSORS.items():
            np.save(self.path(name + ".npy"), rng.integers(-99, 99, shape))

    def array(self, name):
        """A file's array; a picture's by way of the program."""
        if name.endswith(".npy"):
            return np.load(self.path(name))
        self.good("copy", self.path(name), "-o", self.path("read.npy"))
        return np.load(self.path("read.npy"))

    def test_they_do_what_numpy_does(self):
        for page in ("README.md", "README.zh.md", "docs/gallery.md"):
            rows = ROW.findall((ROOT / page).read_text(encoding="utf-8"))
            self.assertGreaterEqual(len(rows), 5, page)
            for command, expression in rows:
                with self.subTest(page=page, command=command):
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
