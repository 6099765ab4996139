"""Tells torch.compile what the library's builtins do, when Dynamo is imported: at the first compilation.

`import axisloom` and `import torch` may come in any order, and neither imports Dynamo, which takes a second. So a
finder waits for that import. It has no base class, as the import of importlib.abc would take longer than all else.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_DYNAMO = "torch._dynamo"


def install() -> None:
    if _DYNAMO in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _Finder())


def _register() -> None:
    try:
        from . import _compile

        _compile.register()
    except Exception as error:  # what Dynamo offers changes from version to version
        import warnings

        warnings.warn(
            f"torch.compile will end its graphs at functions of axisloom: {error}", RuntimeWarning, stacklevel=2
        )


class _Finder:
    """Finds Dynamo as the other finders do, and adds a last step to its import."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != _DYNAMO:
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec is not None and spec.loader is not None:
            self.add_step(spec.loader)
        return spec

    def add_step(self, loader: Any) -> None:
        load = loader.exec_module

        def load_and_register(module: Any) -> None:
            load(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            _register()

        loader.exec_module = load_and_register
