# %% [markdown]
# # Channels first, and back
# Cameras store the three colours of a pixel side by side. Networks want one plane for each colour.

# %%
import matplotlib.pyplot as plt
import numpy as np
from axisloom import rearrange
from matplotlib.cbook import get_sample_data
from pictures import draw, finish

photo = plt.imread(get_sample_data("grace_hopper.jpg"))  # height 600, width 512, 3 colours; bytes

# %% The left side of the pattern names the axes of the photo, the right side says where they go.
planes = rearrange(photo, "h w c -> c h w")
assert planes.shape == (3, 600, 512)
np.testing.assert_array_equal(planes, photo.transpose(2, 0, 1))

# %% The way back exchanges the two sides.
np.testing.assert_array_equal(rearrange(planes, "c h w -> h w c"), photo)

# %% Parentheses make one axis of two: the planes side by side, as one grey picture.
beside = rearrange(photo, "h w c -> h (c w)")
np.testing.assert_array_equal(beside, np.hstack(list(planes)))

# %% A list of arrays is stacked along a new first axis: the photo with red and blue exchanged.
red, green, blue = planes
exchanged = rearrange([blue, green, red], "c h w -> h w c")
np.testing.assert_array_equal(exchanged, photo[:, :, ::-1])

# %%
shown = {"photo": photo, "h w c -> h (c w)": beside, "blue is red": exchanged}
finish(draw(shown, width=6.8)[0], "channels")
