"""Each script of python/gallery runs, makes its picture in docs/python-gallery.md, and has the lines shown there."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

missing = [name for name in ("matplotlib", "nibabel", "sklearn", "av", "skvideo") if not importlib.util.find_spec(name)]
if missing:
    pytest.skip(f"the gallery needs axisloom[gallery]: {', '.join(missing)} missing", allow_module_level=True)

import matplotlib  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "python/gallery"
PICTURES = ROOT / "docs/images/python-gallery"
SCRIPTS = sorted(file.stem for file in FOLDER.glob("*.py") if file.stem != "pictures")
SECTIONS = re.split(r"^## ", (ROOT / "docs/python-gallery.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
LARGEST = 60_000  # bytes of a picture: the page loads at once, and the repository stays small


def section_of(name):
    (section,) = [section for section in SECTIONS if f"(../python/gallery/{name}.py)" in section]
    return section


def pixels(file):
    return np.asarray(Image.open(file).convert("RGB")).astype(int)


def check_picture(made, kept):
    """Other versions of Matplotlib draw letters and edges otherwise; those of its libraries round otherwise."""
    made_pixels, kept_pixels = pixels(made), pixels(kept)
    assert made_pixels.shape == kept_pixels.shape
    if Image.open(kept).info["Software"] == f"Matplotlib {matplotlib.__version__}":
        difference = np.abs(made_pixels - kept_pixels)
        assert difference.mean() < 2 and np.mean(difference > 24) < 0.01


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_makes_its_picture(name, tmp_path):
    command = [sys.executable, FOLDER / f"{name}.py", "--save", tmp_path]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    check_picture(tmp_path / f"{name}.png", PICTURES / f"{name}.png")
    assert (PICTURES / f"{name}.png").stat().st_size < LARGEST


@pytest.mark.parametrize("name", SCRIPTS)
def test_page_shows_lines_of_the_script(name):
    section = section_of(name)
    assert f"](images/python-gallery/{name}.png)" in section
    excerpts = re.findall(r"^```python\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert excerpts
    place = 0
    for line in "".join(excerpts).splitlines():
        place = script.find(f"\n{line}\n", place) + 1
        assert place, f"this line is not in the script, or not there: {line}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_is_short_and_a_notebook(name):
    lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert lines[:1] == ["# %% [markdown]"] and 15 <= len(lines) <= 50


def test_each_script_has_one_picture_and_one_section():
    assert len(SCRIPTS) == 12
    assert sorted(file.stem for file in PICTURES.iterdir()) == SCRIPTS
    assert sorted(re.findall(r"\(\.\./python/gallery/(\w+)\.py\)", "".join(SECTIONS))) == SCRIPTS
