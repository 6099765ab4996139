# %% [markdown]
# # What changes in a scan over time
# Functional MRI takes the same volume again and again. This one is a small piece of a head.

# %%
import pathlib

import axisloom
import nibabel
import numpy as np
from axisloom import einsum, rearrange, reduce
from pictures import draw, finish

file = pathlib.Path(nibabel.__file__).parent / "tests/data/functional.nii"
scan = nibabel.load(file).get_fdata()[:, ::-1]  # x, y, z and time: 17 x 21 x 3 voxels at 20 times

# %% Means over time, by the names of the axes or by their numbers.
mean = reduce(scan, "x y z t -> x y z", "mean")
np.testing.assert_allclose(axisloom.mean(scan, axis=-1), mean)
np.testing.assert_allclose(mean, scan.mean(axis=-1))

# %% How much each voxel changes.
change = scan - mean[..., None]
deviation = axisloom.norm(change, axis=-1) / np.sqrt(20)
np.testing.assert_allclose(deviation, scan.std(axis=-1))

# %% Which voxels change together with the one that changes most: sums of products over time.
most = np.unravel_index(axisloom.argmax(deviation), deviation.shape)
together = einsum(change, change[most], "x y z t, t -> x y z") / 20
np.testing.assert_allclose(together[5, 6, 1], np.cov(scan[5, 6, 1], scan[most], bias=True)[0, 1])

# %% The three slices of a volume side by side.
clipped = np.minimum(together, together.max() / 4)  # a voxel goes together with itself most of all
volumes = {"mean": mean, "standard deviation": deviation, "covariance with one voxel": clipped}
shown = {title: rearrange(volume, "x y z -> y (z x)") for title, volume in volumes.items()}
finish(draw(shown, cmap="viridis")[0], "scan_over_time")
