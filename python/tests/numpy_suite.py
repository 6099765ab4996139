"""NumPy's own tests of einsum, products and reductions with Axisloom's functions in place of NumPy's.

python numpy_suite.py [PYTEST'S OPTIONS]. What is excluded stands in docs/python-parity.md with its reason.
"""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import numpy
import pytest
import suites

import axisloom

CLASSES = {
    "_core/tests/test_einsum.py": ("TestEinsum", "TestEinsumPath", "test_overlap", "test_einsum_chunking_precision"),
    "_core/tests/test_multiarray.py": (
        *("TestMethods", "TestArgmax", "TestArgmin", "TestMinMax", "TestStats", "TestDot", "TestMatmul"),
        *("TestMatmulInplace", "TestMatmulOperator", "test_matmul_axes", "TestInner", "TestVdot"),
    ),
    "_core/tests/test_numeric.py": ("TestNonarrayArgs", "TestNonzero", "TestTensordot", "TestBoolArray"),
    "_core/tests/test_ufunc.py": ("TestUfunc", "test_addition_reduce_negative_zero"),
    "_core/tests/test_umath.py": ("TestMinMax",),
    "lib/tests/test_function_base.py": ("TestAny", "TestAll", "TestAmax", "TestAmin", "test_any_and_all_result_dtype"),
    "linalg/tests/test_linalg.py": ("TestNorm_NonSystematic", "TestNormDouble", "TestNormSingle", "TestNormInt64"),
}
NAMES = (
    *("sum", "prod", "mean", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero"),
    *("einsum", "matmul", "dot", "tensordot"),
)
USES = rf"np\.({'|'.join(NAMES)}|amin|amax)\(|(?<![\w.])norm\(|linalg\.norm\("
TOO_LARGE = ("test_huge_vectordot", "test_blas64_dot")  # 16 GB
TABLE = Path(__file__).parents[2] / "docs" / "python-parity.md"


def excluded() -> dict[str, str]:
    """The tests that the table of differences names, with the difference."""
    reasons = {}
    for line in TABLE.read_text().partition("## einops")[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and not cells[2].startswith("none"):  # difference, reason, tests
            reasons.update(dict.fromkeys(re.findall(r"`((?:Test|test_)[^`]*)`", cells[2]), cells[0]))
    return reasons


class Replace:
    """Puts the functions into the modules of the tests, not into NumPy: what NumPy itself does stays its own."""

    def __init__(self) -> None:
        ours = {name: getattr(axisloom, name) for name in NAMES}
        ours |= {"amin": axisloom.min, "amax": axisloom.max}
        ours["linalg"] = suites.Stand(numpy.linalg, norm=axisloom.norm)
        ours["exceptions"] = suites.Stand(numpy.exceptions, AxisError=axisloom.AxisError)
        self._stand = suites.Stand(numpy, **ours)
        self._with_views = suites.Stand(numpy, **{**ours, "einsum": functools.partial(axisloom.einsum, copy=None)})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.module.np = self._with_views if item.name == "test_einsum_views" else self._stand
        for name in ("norm", "AxisError"):
            if hasattr(item.module, name):
                setattr(item.module, name, getattr(axisloom, name))


if __name__ == "__main__":
    reasons = excluded()
    rounded = [name for name, reason in reasons.items() if "last bits" in reason]
    plugins = [suites.OnlyUses(USES, TOO_LARGE), suites.Exclusions(reasons, rounded), Replace()]
    folder = Path(numpy.__file__).parent
    tests = [f"{folder / file}::{name}" for file, names in CLASSES.items() for name in names]
    sys.exit(suites.run(tests, plugins))
