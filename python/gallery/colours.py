# %% [markdown]
# # How colours go together
# The red, green and blue of a photo rise and fall together. Other axes of colour do not, and say more.

# %%
import axisloom
import numpy as np
from axisloom import einsum, rearrange
from pictures import draw, finish
from sklearn.datasets import load_sample_image

photo = load_sample_image("china.jpg").astype(np.float64)  # 427 x 640 x 3

# %% Covariance of the channels: for each two of them a sum of products over all pixels.
centred = photo - axisloom.mean(photo, axis=(0, 1))
covariance = einsum(centred, centred, "h w c, h w d -> c d") / centred[..., 0].size
np.testing.assert_allclose(covariance, np.cov(rearrange(photo, "h w c -> c (h w)"), bias=True))

# %% Correlation: covariance in units of both deviations.
deviation = np.sqrt(einsum(covariance, "c c -> c"))
correlation = covariance / einsum(deviation, deviation, "c, d -> c d")
np.testing.assert_allclose(correlation, np.corrcoef(photo.reshape(-1, 3).T))

# %% The axes along which colours vary by themselves, the strongest first.
strength, axes = np.linalg.eigh(covariance)
axes = axes[:, ::-1] * np.sign(axes[:, ::-1].sum(axis=0))  # brighter is more
components = einsum(centred, axes, "h w c, c k -> k h w")
np.testing.assert_allclose(np.corrcoef(components.reshape(3, -1)), np.eye(3), atol=1e-9)

# %%
shown = {"photo": photo / 255}
for component, share in zip(components, strength[::-1] / strength.sum()):
    shown[f"{share:.1%} of the variance"] = component
finish(draw(shown)[0], "colours")
