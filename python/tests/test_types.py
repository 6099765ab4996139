"""What type checkers are told: by mypy, and against the compiled module."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import axisloom
from axisloom import _native

PROGRAM = """
import numpy as np
from numpy.typing import NDArray
import axisloom
from axisloom import Array, einsum, pack, rearrange, reduce, repeat, unpack
from axisloom.distributed import Mesh, Redistribution

def work(x: NDArray[np.float32], lengths: dict[str, int]) -> NDArray[np.float32]:
    y: NDArray[np.float32] = rearrange(x, "(a b) w -> w a b", a=np.int64(2))
    z: NDArray[np.float32] = repeat([y, y], "n w a b -> n w a b c", c=2)
    rearrange(z, "(n m) ... -> n m ...", **lengths)
    total: float = axisloom.sum(x, axis=(0, 1), keepdims=False) + reduce(x, "a b -> ", "sum", **lengths)
    packed, shapes = pack([x, x], "a *")
    pieces: list[NDArray[np.float32]] = unpack(packed, shapes, "a *")
    own: Array = rearrange(Array(x), "a b -> b a").reshape((3, 2)).to("host")
    sizes: list[int] = [message.elements for message in Redistribution("s@x h -> s h@x", Mesh("x=2"), (4, 6)).packs(0)]
    print(sizes, own.ndim, own.size, own.dtype, own.strides, own[0, ::2].numpy(), len(own), memoryview(own))
    rows: list[Array] = [row.astype("f16") for row in own]
    own[..., None][0] = float(rows[0][0]) + int(own[0, 0]) + own[0, 0].item()
    made: axisloom.Plan = axisloom.plan("rearrange", x, "(a b) w -> w a b", a=np.int64(2))
    print(made(x), einsum("ij->i", x), total, rearrange([[1, 2], [3, 4]], "a b -> b a"))
    return axisloom.transpose(axisloom.copy(pieces[0]), (1, 0))
"""


def checked(program: str, folder: Path) -> str:
    """What mypy says about a program that uses the package."""
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    options = ["--strict", "--follow-imports=silent", f"--cache-dir={folder / 'cache'}"]
    environment = {**os.environ, "MYPYPATH": str(Path(axisloom.__file__).parent.parent)}
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder)
    return done.stdout + done.stderr


def test_a_program_passes(tmp_path):
    pytest.importorskip("mypy")
    assert checked(PROGRAM, tmp_path).startswith("Success")


def test_what_is_wrong_is_found(tmp_path):
    """Types are known, and not Any."""
    pytest.importorskip("mypy")
    found = checked(PROGRAM.replace("own: Array = rearrange(Array(x)", "own: Array = rearrange(x"), tmp_path)
    assert 'expression has type "ndarray' in found or "has no attribute" in found, found
    assert "SupportsIndex" in checked(PROGRAM.replace("a=np.int64(2)", 'a="two"'), tmp_path)


def test_the_stub_has_what_the_module_has():
    tree = ast.parse(Path(axisloom.__file__).with_name("_native.pyi").read_text(encoding="utf-8"))
    classes = [(node.body, getattr(_native, node.name)) for node in tree.body if isinstance(node, ast.ClassDef)]
    for body, module in ((tree.body, _native), *classes):
        stub = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        stub |= {node.target.id for node in body if isinstance(node, ast.AnnAssign)}
        there = {name for name in dir(module) if not name.startswith("_")}
        assert there <= stub, there - stub
        assert {name for name in stub if not name.startswith("_")} <= there
