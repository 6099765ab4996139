"""What `import axisloom` offers."""

from __future__ import annotations

import inspect

import einops
import numpy as np
import pytest

import axisloom

# Those of NumPy's functions that are written in Python: others have no signature that could be read.
NUMPYS = (
    *("transpose", "copy", "sum", "prod", "mean", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero"),
    *("tensordot", "norm"),
)


def test_all_names_are_there():
    for name in axisloom.__all__:
        assert getattr(axisloom, name) is not None
    assert dir(axisloom) == sorted(axisloom.__all__)


def test_einops_names_are_there():
    """An import of einops can be replaced by one of ours."""
    ours = set(axisloom.__all__)
    assert set(einops.__all__) - ours == {"asnumpy"}


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no_such_name"):
        axisloom.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", NUMPYS)
def test_parameters_are_numpys(name):
    """Those that NumPy has, in its order; the table of differences names what is left out."""
    ours = list(inspect.signature(getattr(axisloom, name)).parameters)[1:]
    function = np.linalg.norm if name == "norm" else getattr(np, name)
    numpys = [each for each in inspect.signature(function).parameters if each not in ("order", "subok", "device")][1:]
    assert ours[: len(numpys)] == numpys


@pytest.mark.parametrize(
    "name", [name for name in axisloom.__all__ if name[0].islower() and name not in ("bench", "ladder")]
)
def test_every_function_says_what_it_does(name):
    assert inspect.getdoc(getattr(axisloom, name))
