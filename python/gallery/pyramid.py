# %% [markdown]
# # A pyramid of pictures
# Each level has half the height and width of the one before. What it loses is kept, so the photo can be built again.

# %%
import matplotlib.pyplot as plt
import numpy as np
from axisloom import pack, reduce, repeat, unpack
from matplotlib.cbook import get_sample_data
from pictures import draw, finish

photo = plt.imread(get_sample_data("grace_hopper.jpg"))[40:424, 64:448].astype(np.float32)  # 384 x 384 x 3

# %% The mean of 2 x 2 pixels, four times. The details are what a level differs in from the next one.
levels, details = [photo], []
for _ in range(4):
    levels.append(reduce(levels[-1], "(h 2) (w 2) c -> h w c", "mean"))
    details.append(levels[-2] - repeat(levels[-1], "h w c -> (h 2) (w 2) c"))
np.testing.assert_array_equal(levels[-1], photo.reshape(24, 16, 24, 16, 3).mean(axis=(1, 3)))

# %% pack flattens the axes at * and joins the arrays there: 24 x 24 pixels, then details of four sizes.
packed, shapes = pack([levels[-1], *reversed(details)], "* c")
assert packed.shape == (24**2 + 48**2 + 96**2 + 192**2 + 384**2, 3)

# %% And back, level by level. Means of bytes are exact in float32, so nothing is lost.
built, *rest = unpack(packed, shapes, "* c")
for detail in rest:
    built = repeat(built, "h w c -> (h 2) (w 2) c") + detail
np.testing.assert_array_equal(built, photo)

# %% Larger pixels make a mosaic of a small picture.
shown = {"details of 192 x 192": np.clip(np.abs(details[1]) / 64, 0, 1)}
for level in levels[2:]:
    k = 384 // len(level)
    shown[f"{len(level)} x {len(level)}"] = repeat(level / 255, "h w c -> (h y) (w x) c", y=k, x=k)
finish(draw(shown)[0], "pyramid")
