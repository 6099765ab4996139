"""Axisloom's functions for arrays of Dask, chunk by chunk, and for arrays of xarray by the names of their dimensions.

>>> import dask.array as da
>>> from axisloom.dask import rearrange
>>> rearrange(da.zeros((8, 64, 96), chunks=(4, 32, 96)), "time lat lon -> lat lon time")
dask.array<axisloom-rearrange, shape=(64, 96, 8), dtype=float64, chunksize=(32, 96, 4), chunktype=numpy.ndarray>

Nothing is computed before it is asked for. Chunks of the result are planned so that each is made of as few chunks of
the input as can be; where the pattern allows it, of one.
"""

from __future__ import annotations

from ._functions import einsum, rearrange, reduce, repeat

__all__ = ["einsum", "rearrange", "reduce", "repeat"]
