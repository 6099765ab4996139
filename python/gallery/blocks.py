# %% [markdown]
# # Layouts of accelerators
# Some accelerators keep channels in blocks, here of 32. The last block is filled up with zeros.

# %%
import matplotlib.pyplot as plt
import numpy as np
from axisloom import rearrange, relayout
from matplotlib.cbook import get_sample_data
from pictures import draw, finish

photo = plt.imread(get_sample_data("grace_hopper.jpg"))  # height 600, width 512, 3 colours; bytes

# %% 4 x 4 pixels become 48 channels of one pixel: space to depth, in the layout NCHW of networks.
images = rearrange(photo, "(h y) (w x) c -> 1 (y x c) h w", y=4, x=4)
assert images.shape == (1, 48, 150, 128)
np.testing.assert_array_equal(images[0, 5], photo[::4, 1::4, 2])

# %% Channels in two blocks of 32. Of the second one, 16 are channels, and 16 are zeros.
blocks = relayout(images, "NCHW", "NC/32HW32")
filled = np.pad(images, ((0, 0), (0, 16), (0, 0), (0, 0)))
np.testing.assert_array_equal(blocks, filled.reshape(1, 2, 32, 150, 128).transpose(0, 1, 3, 4, 2))

# %% The way back needs the true number of channels.
np.testing.assert_array_equal(relayout(blocks, "NC/32HW32", "NCHW", channels=48), images)

# %% As memory lies: planes one after the other, or 32 channels of a pixel side by side in two blocks.
planes = rearrange(images[:, :6], "1 (row column) h w -> (row h) (column w)", row=2)
memory = rearrange(blocks[:, :, 20:70, 64:68], "1 block h w channel -> (block h) (w channel)")
shown = {"NCHW: 6 of 48 planes": planes, "NC/32HW32: 4 pixels, two blocks": memory}
finish(draw(shown, width=5.8)[0], "blocks")
