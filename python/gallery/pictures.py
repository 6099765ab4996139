"""What the scripts share: arrays drawn side by side, and the figure shown, or saved with --save FOLDER."""

import argparse
import io
import pathlib

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from PIL import Image, PngImagePlugin


def draw(pictures: dict[str, np.ndarray], width: float = 7.0, cmap: str = "gray") -> tuple[Figure, list[plt.Axes]]:
    """Pictures (h x w or h x w x 3) of one height in a row, each with its title; the width of all is in inches."""
    breadths = [picture.shape[1] / picture.shape[0] for picture in pictures.values()]
    size = width, width / sum(breadths) + 0.25  # the titles need a quarter of an inch
    figure = plt.figure(figsize=size, layout="constrained")
    axes = list(figure.subplots(1, len(pictures), width_ratios=breadths, squeeze=False)[0])
    for place, (title, picture) in zip(axes, pictures.items()):
        place.imshow(picture, cmap=cmap, interpolation="nearest")
        place.set_title(title, fontsize=9)
        place.axis("off")
    return figure, axes


def finish(figure: Figure, name: str) -> None:
    """Shows the figure; with --save FOLDER it becomes FOLDER/name.png, of 64 colours so that it stays small."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--save", metavar="FOLDER", type=pathlib.Path, help="save the picture instead of showing it")
    folder = parser.parse_known_args()[0].save  # a notebook has arguments of its own
    if folder is None:
        plt.show()
        return
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=100)
    made_by = PngImagePlugin.PngInfo()
    made_by.add_text("Software", f"Matplotlib {matplotlib.__version__}")
    few_colours = Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few_colours.save(folder / f"{name}.png", optimize=True, pnginfo=made_by)
