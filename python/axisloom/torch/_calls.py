"""The registered operator axisloom::run, which does any operation by name, and calls of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from axisloom import _native

from ._patterns import Extent

LIBRARY = torch.library.Library("axisloom", "DEF")
LIBRARY.define(
    "run(Tensor[] tensors, str name, str[] arguments, str[] length_names, SymInt[] lengths, str[] options) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
OPERATOR = torch.ops.axisloom.run.default


class Call(NamedTuple):
    """The arguments of the registered operator but the tensors, as they are typed; options as "name=value"."""

    name: str
    arguments: tuple[str, ...] = ()
    length_names: tuple[str, ...] = ()
    lengths: tuple[Extent, ...] = ()
    options: tuple[str, ...] = ()

    @staticmethod
    def of(
        name: str, arguments: Sequence[str], lengths: Mapping[str, Extent] = {}, options: Mapping[str, str] = {}
    ) -> Call:
        if not lengths and not options:
            return Call(name, tuple(arguments))
        typed = tuple(f"{option}={value}" for option, value in options.items())
        return Call(name, tuple(arguments), tuple(lengths), tuple(lengths.values()), typed)

    def named_lengths(self) -> dict[str, Extent]:
        return dict(zip(self.length_names, self.lengths))

    def named_options(self) -> dict[str, str]:
        return dict(option.split("=", 1) for option in self.options)


def run(
    name: str,
    arguments: Sequence[str],
    tensors: Sequence[torch.Tensor],
    lengths: Mapping[str, Extent] | None = None,
    options: Mapping[str, str] | None = None,
) -> torch.Tensor:
    """As `_native.call`, which takes lengths for numbers: symbolic ones go to the operator."""
    if all(type(length) is int for length in (lengths or {}).values()):
        return _native.call(name, arguments, tensors, lengths, options)
    return operate(name, arguments, tensors, lengths, options)


def operate(
    name: str,
    arguments: Sequence[str],
    tensors: Sequence[torch.Tensor],
    lengths: Mapping[str, Extent] | None = None,
    options: Mapping[str, str] | None = None,
) -> torch.Tensor:
    """The same by the operator. Dynamo traces this."""
    lengths = lengths or {}
    typed = [f"{option}={value}" for option, value in (options or {}).items()]
    return OPERATOR(list(tensors), name, list(arguments), list(lengths), list(lengths.values()), typed)
