# %% [markdown]
# # Handwritten digits, sorted and recognised
# Pictures of digits with labels: their means by label are enough to recognise most digits.

# %%
import axisloom
import numpy as np
from axisloom import einsum, rearrange, reduce
from pictures import draw, finish
from sklearn.datasets import load_digits

digits = load_digits()
images = np.pad(digits.images.astype(np.float32), ((0, 0), (1, 0), (1, 0)))  # 1797 of 8 x 8, and an empty edge
labels = digits.target

# %% Sixteen of each, in ten rows.
sixteen = np.stack([images[labels == label][:16] for label in range(10)])
sheet = rearrange(sixteen, "label n h w -> (label h) (n w)")
np.testing.assert_array_equal(sheet, np.block([list(row) for row in sixteen]))

# %% The mean of each digit: a product with a table that has a 1 where picture n shows the digit.
table = (labels[:, None] == np.arange(10)).astype(np.float32)
means = einsum(table, images, "n label, n h w -> label h w") / axisloom.sum(table, axis=0)[:, None, None]
np.testing.assert_allclose(means[3], images[labels == 3].mean(axis=0), rtol=1e-5)

# %% Each picture is taken for the digit whose mean is nearest.
difference = images[:, None] - means
distance = reduce(difference**2, "n label h w -> n label", "sum")
taken_for = axisloom.argmin(distance, axis=1)
np.testing.assert_array_equal(taken_for, ((images[:, None] - means) ** 2).sum(axis=(2, 3)).argmin(axis=1))
assert np.mean(taken_for == labels) > 0.9

# %%
shown = {"sixteen of each": sheet, "means": rearrange(means, "(row column) h w -> (row h) (column w)", column=2)}
finish(draw(shown, width=5.6)[0], "digits")
