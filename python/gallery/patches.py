# %% [markdown]
# # Patches for a vision transformer
# Such a network reads a picture as a row of patches, with one more token in front. In training some patches are hidden.

# %%
import numpy as np
from axisloom import pack, rearrange, repeat, unpack
from pictures import draw, finish
from sklearn.datasets import load_sample_images

photos = [photo[:416] for photo in load_sample_images().images]  # 2 of height 416, width 640, 3 colours; bytes

# %% A list of pictures is a batch: its new axis comes first.
patches = rearrange(photos, "b (row h) (column w) c -> b (row column) (h w c)", h=32, w=32)
assert patches.shape == (2, 260, 3072)
blocks = np.stack(photos).reshape(2, 13, 32, 20, 32, 3).swapaxes(2, 3)
np.testing.assert_array_equal(patches, blocks.reshape(2, 260, 3072))

# %% pack joins arrays along the axis *, here one token and 260 patches. It remembers their shapes for unpack.
token = repeat(np.zeros(3072, np.uint8), "f -> b f", b=2)
tokens, shapes = pack([token, patches], "b * f")
assert tokens.shape == (2, 261, 3072)
np.testing.assert_array_equal(tokens, np.concatenate([token[:, None], patches], axis=1))
first, rest = unpack(tokens, shapes, "b * f")
np.testing.assert_array_equal(first, token)

# %% Two patches of three are hidden. The way back to pictures is the pattern from right to left.
hidden = np.random.default_rng(1).random(rest.shape[:2]) < 2 / 3
masked = np.where(hidden[..., None], np.uint8(128), rest)
pictures = rearrange(masked, "b (row column) (h w c) -> b (row h) (column w) c", row=13, h=32, w=32)
shown = ~np.kron(hidden.reshape(2, 13, 20), np.ones((32, 32), bool))
np.testing.assert_array_equal(pictures[shown], np.stack(photos)[shown])

# %%
shown = {"photo": photos[1], "two of three patches hidden": pictures[1], "in all of the batch": pictures[0]}
finish(draw(shown)[0], "patches")
