"""What a run without PyTorch, or without a card, leaves out: it is named at the end."""

from __future__ import annotations

import pytest

try:
    import torch
except ModuleNotFoundError:
    torch = None
    collect_ignore_glob = ["*.py"]


def _left_out() -> str | None:
    if torch is None:
        return "tensors of PyTorch, which is not installed"
    return None if torch.cuda.is_available() else "tensors on CUDA devices, of which PyTorch finds none"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cuda: needs a card that PyTorch can use")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    left_out = _left_out()
    for item in items:
        if left_out and item.get_closest_marker("cuda"):
            item.add_marker(pytest.mark.skip(reason=left_out))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if left_out := _left_out():
        terminalreporter.write_line(f"not tried: {left_out}")
