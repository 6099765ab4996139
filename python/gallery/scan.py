# %% [markdown]
# # Slices of an MRI scan
# A scan of a head is a volume. Its slices are laid out as on a radiologist's film, and it is seen from three sides.

# %%
import pathlib

import axisloom
import nibabel
import numpy as np
from axisloom import rearrange
from pictures import draw, finish

file = pathlib.Path(nibabel.__file__).parent / "tests/data/example4d.nii.gz"
scan = np.asarray(nibabel.load(file).dataobj)[..., 0]  # x to the left, y to the front, z up: 128 x 96 x 24
head = scan[30:98, ::-1, ::-1]  # a view: without the empty sides, the front and the top first

# %% Every second slice, in 2 rows of 6. Views with steps and backward strides are read as they lie, without a copy.
film = rearrange(head[:, :, ::2], "x y (row column) -> (row y) (column x)", row=2)
slices = [head[:, :, z].T for z in range(0, 24, 2)]
np.testing.assert_array_equal(film, np.block([slices[:6], slices[6:]]))

# %% The brightest voxel on each line of sight.
from_above = rearrange(axisloom.max(head, axis=2), "x y -> y x")
from_front = rearrange(axisloom.max(head, axis=1), "x z -> z x")
from_side = axisloom.max(head, axis=0)
np.testing.assert_array_equal(from_front, head.max(axis=1).T)
np.testing.assert_array_equal(from_side, head.max(axis=0))

# %%
sides = np.block([[from_above, from_side], [from_front, np.zeros((24, 24), head.dtype)]])
finish(draw({"slices from the top down": film, "brightest voxels": sides}, width=6.6)[0], "scan")
