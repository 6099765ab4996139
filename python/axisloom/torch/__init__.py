"""PyTorch: the registered operator, which autograd, torch.func and torch.compile go by, layers, and tensors that are
distributed over ranks.

Functions of `axisloom` take tensors as they take NumPy's arrays; nothing here has to be called for that. `rearrange`,
`redistribute`, `reduce`, `einsum` and `matmul` of this module are for process groups of torch.distributed. PyTorch is
imported when a name of this module is first asked for, so `import axisloom` does without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import layers
    from ._op import dispatch
    from .distributed import rearrange, redistribute, reduce, symmetric_empty
    from .products import einsum, matmul

__all__ = ["dispatch", "einsum", "layers", "matmul", "rearrange", "redistribute", "reduce", "symmetric_empty"]

_FROM = {"dispatch": "._op"} | dict.fromkeys(("rearrange", "redistribute", "reduce", "symmetric_empty"), ".distributed")
_FROM |= dict.fromkeys(("einsum", "matmul"), ".products")


def __getattr__(name: str) -> Any:
    if name == "layers":
        return importlib.import_module(".layers", __name__)
    if name in _FROM:
        found = getattr(importlib.import_module(_FROM[name], __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
