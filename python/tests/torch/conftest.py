"""What a run without a card leaves out is said in its last line."""

from __future__ import annotations

import pytest
import torch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("cuda"):
            item.add_marker(pytest.mark.skip(reason="PyTorch finds no CUDA device"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cuda: needs a card that PyTorch can use")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if torch.cuda.is_available():
        terminalreporter.write_line(f"tensors on {torch.cuda.get_device_name()} were tried")
    else:
        terminalreporter.write_line("not tried: tensors on CUDA devices, of which PyTorch finds none")
