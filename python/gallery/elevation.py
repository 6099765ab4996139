# %% [markdown]
# # A landscape: peaks, ruggedness, light
# Elevations in metres on a grid, in the Appalachian Mountains at Jacksboro, Tennessee.

# %%
import axisloom
import numpy as np
from axisloom import einsum, reduce
from matplotlib.cbook import get_sample_data
from pictures import draw, finish

ground = get_sample_data("jacksboro_fault_dem.npz")["elevation"][:, :400]  # 344 x 400, 16-bit integers

# %% The highest point of all, and of each 8 x 8. The sum of two reductions says how rugged the ground is.
peak = divmod(int(axisloom.argmax(ground)), 400)
assert ground[peak] == ground.max()
highest = reduce(ground, "(h 8) (w 8) -> h w", "max")
np.testing.assert_array_equal(highest, ground.reshape(43, 8, 50, 8).max(axis=(1, 3)))
rugged = highest - reduce(ground, "(h 8) (w 8) -> h w", "min")
np.testing.assert_array_equal(rugged, np.ptp(ground.reshape(43, 8, 50, 8), axis=(1, 3)))

# %% Light from the upper left: the product of the ground's normals with the direction of the light.
south, east = np.gradient(ground.astype(np.float32), 92.0, 74.0)  # metres between two points
normals = np.stack([-east, -south, np.ones_like(east)])
normals /= axisloom.norm(normals, axis=0)
light = np.float32([-1, -1, 1]) / np.sqrt(np.float32(3))
shade = einsum(normals, light, "xyz h w, xyz -> h w")
np.testing.assert_allclose(shade, (normals * light[:, None, None]).sum(axis=0), rtol=1e-4, atol=1e-6)

# %%
shown = {"light and shade, and the peak": shade, "highest of 8 x 8": highest, "highest less lowest": rugged}
figure, axes = draw(shown)
axes[0].plot(*peak[::-1], "w^", markeredgecolor="black")
finish(figure, "elevation")
