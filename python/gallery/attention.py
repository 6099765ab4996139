# %% [markdown]
# # Attention over the patches of a photo
# Each patch asks all others how much they matter to it. Several heads ask at once, each about a part of the features.

# %%
import matplotlib.pyplot as plt
import numpy as np
from axisloom import einsum, rearrange, reduce
from pictures import draw, finish
from sklearn.datasets import load_sample_image

photo = load_sample_image("flower.jpg")[:416].astype(np.float32) / 255

# %% Features of 26 x 40 patches: three of their colour, three of their place. A trained network has learnt better ones.
colour = reduce(photo, "(row h) (column w) c -> (row column) c", "mean", h=16, w=16)
row, column = np.mgrid[:26, :40].reshape(2, 1040, 1) / 10
features = np.hstack([colour * 3, row, column, np.zeros((1040, 1))]).astype(np.float32)

# %% The features are split into heads. Each scores all patches by itself: the nearer the features, the higher.
heads = rearrange(features, "token (head d) -> head token d", head=2)
products = einsum(heads, heads, "head query d, head key d -> head query key")
np.testing.assert_allclose(products, heads @ heads.swapaxes(1, 2), rtol=1e-5)
scores = 2 * products - einsum(heads, heads, "head key d, head key d -> head key")[:, None]

# %% The softmax makes weights of scores: their sum over all keys is 1.
weights = np.exp(scores - reduce(scores, "head query key -> head query 1", "max"))
weights /= reduce(weights, "head query key -> head query 1", "sum")
np.testing.assert_allclose(weights.sum(axis=2), 1, rtol=1e-5)

# %% The weights mix the patches' colours, and the heads are merged again.
mixed = einsum(weights, colour, "head query key, key c -> head query c")
merged = rearrange(mixed, "head token c -> token (head c)")
np.testing.assert_allclose(merged, np.hstack(list(weights @ colour)), rtol=1e-4)

# %% Where one patch looks: its weights, as a picture for each head. And what the first head makes of all patches.
asked = 12 * 40 + 16
maps = rearrange(weights[:, asked], "head (row column) -> head row column", row=26)
mosaic = rearrange(mixed[0], "(row column) c -> row column c", row=26)
figure, axes = draw({"photo": photo, "head 1: colour": maps[0], "head 2: place": maps[1], "mixed by head 1": mosaic})
axes[0].add_patch(plt.Rectangle((asked % 40 * 16, asked // 40 * 16), 16, 16, fill=False, edgecolor="white"))
finish(figure, "attention")
