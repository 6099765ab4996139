"""Runs the tests of another package with Axisloom's functions in place of its own."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
from collections.abc import Container
from typing import Any

import pytest


class Stand(types.ModuleType):
    """A module some of whose names are Axisloom's; all others are its own."""

    def __init__(self, module: types.ModuleType, **replaced: Any) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(replaced)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


class Exclusions:
    """Tests that are known to fail, each with its reason. One that passes, or that is not there, is an error.

    `may_pass`: those of which a rounding decides.
    """

    def __init__(self, reasons: dict[str, str], may_pass: Container[str] = ()) -> None:
        self._may_pass = may_pass
        self._reasons = {each: reason for name, reason in reasons.items() for each in _spelled_out(name)}
        self._met: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for name in (item.name.partition("[")[0], item.name):
                name = f"{item.cls.__name__}::{name}" if getattr(item, "cls", None) else name
                if name in self._reasons:
                    self._met.add(name)
                    item.add_marker(pytest.mark.xfail(reason=self._reasons[name], strict=name not in self._may_pass))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        unknown = set(self._reasons) - self._met
        if unknown and not session.config.getoption("keyword"):
            session.exitstatus = 1
            print(f"\nexcluded, but not there: {sorted(unknown)}")


def _spelled_out(name: str) -> list[str]:
    """test[a, b] is short for test[a] and test[b]."""
    test, bracket, parameters = name.rstrip("]").partition("[")
    return [f"{test}[{each}]" for each in parameters.split(", ")] if bracket else [name]


@functools.cache
def _text(function: Any) -> str:
    return inspect.getsource(function)


class OnlyUses:
    """Leaves out tests whose text names none of the functions, and those that need too much memory."""

    def __init__(self, pattern: str, too_large: tuple[str, ...]) -> None:
        self._pattern, self._too_large = re.compile(pattern), too_large

    def _is_used(self, item: pytest.Item) -> bool:
        return not item.name.startswith(self._too_large) and bool(self._pattern.search(_text(item.function)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        used = [item for item in items if self._is_used(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in used])
        items[:] = used


def run(arguments: list[str], plugins: list[Any]) -> int:
    """Runs pytest. Its own tracebacks of tests that are known to fail take longer than the tests."""
    options = [
        "-q",
        "--tb=native",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "--rootdir=/",
        "-W",
        "ignore",
    ]
    return int(pytest.main([*options, *sys.argv[1:], *arguments], plugins=plugins))
