"""PyTorch: the registered operator, which autograd, torch.func and torch.compile go by, and layers.

Functions of `axisloom` take tensors as they take NumPy's arrays; nothing here has to be called for that. PyTorch is
imported when a name of this module is first asked for, so `import axisloom` does without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import layers
    from ._op import dispatch

__all__ = ["dispatch", "layers"]


def __getattr__(name: str) -> Any:
    if name == "layers":
        return importlib.import_module(".layers", __name__)
    if name == "dispatch":
        from ._op import dispatch

        globals()[name] = dispatch
        return dispatch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
