# %% [markdown]
# # Tiles, sorted
# A photo is cut into square tiles, the tiles are sorted from dark to bright, and laid out again.

# %%
import numpy as np
from axisloom import rearrange, reduce
from pictures import draw, finish
from sklearn.datasets import load_sample_image

photo = load_sample_image("china.jpg")[:416]  # height 416, width 640, 3 colours; bytes

# %% Parentheses on the left take an axis apart: 416 rows of pixels are 13 rows of tiles, of 32 pixels each.
tiles = rearrange(photo, "(row h) (column w) c -> (row column) h w c", h=32, w=32)
assert tiles.shape == (260, 32, 32, 3)
np.testing.assert_array_equal(tiles, photo.reshape(13, 32, 20, 32, 3).swapaxes(1, 2).reshape(260, 32, 32, 3))

# %% An axis that is missing on the right is reduced. What is left is one mean for each tile.
brightness = reduce(tiles, "tile h w c -> tile", "mean")
np.testing.assert_allclose(brightness, tiles.mean(axis=(1, 2, 3)))

# %% Columns of tiles from dark to bright.
order = np.argsort(brightness, stable=True)
in_order = rearrange(tiles[order], "(column row) h w c -> (row h) (column w) c", row=13)
assert in_order.shape == photo.shape and in_order[:, :32].mean() < in_order[:, -32:].mean()
undone = rearrange(tiles[order][np.argsort(order)], "(row column) h w c -> (row h) (column w) c", row=13)
np.testing.assert_array_equal(undone, photo)

# %%
finish(draw({"photo": photo, "tiles from dark to bright": in_order}, width=6.4)[0], "tiles")
