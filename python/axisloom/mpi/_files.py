"""Files of NumPy that all ranks read and write together, each its own part."""

from __future__ import annotations

import ctypes
import errno
import math
import mmap
import os
import secrets
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._cuts import Axis, Cut, Dim, Side, parse_sides
from .._errors import FileError, UsageError
from ..distributed import Mesh, Redistribution
from . import _memory
from ._plans import rearrange
from ._ranks import Ranks
from ._shared import identity, opened_from

Array = np.ndarray[Any, Any]
Lengths = Mapping[str, int]


def rearrange_file(
    ranks: Ranks,
    pattern: str,
    source: str,
    target: str,
    mesh: str | None,
    lengths: Lengths,
    older: str = "replaced",
    **options: Any,
) -> str:
    """Rearranges the array in one file into another. All ranks call this together.

    Each rank reads what the left side of the pattern gives it, and writes what the right side gives it. Where a side
    has no cuts, its first axis that has enough elements is cut. Returns the whole pattern.
    """
    whole = ranks.together(lambda: _mapped_input(source))
    pattern = ranks.together(lambda: _without_ellipsis(pattern, whole.ndim))
    mesh = ranks.together(lambda: mesh or _only_mesh(pattern, ranks.size))
    pattern = ranks.together(lambda: _with_cuts(pattern, Mesh(mesh), whole.shape, lengths))
    left, right = parse_sides(pattern)
    reading, writing, plan = ranks.together(lambda: _plans(pattern, mesh, whole.shape, lengths))
    dtype = whole.dtype.newbyteorder("=")
    local = ranks.together(lambda: _read(whole, reading, ranks.rank).astype(dtype, copy=False))
    output = Output(ranks, target, dtype, plan.out_shape, older)
    try:
        written = ranks.together(lambda: _written_part(output.array, writing, ranks.rank, _writes(right, mesh, ranks)))
        out = np.empty(plan.local_out_shape(ranks.rank), dtype) if written is None else written
        rearrange(local, pattern, mesh, ranks.comm, whole.shape, out=out, **options, **lengths)
        if written is None and _writes(right, mesh, ranks):
            bits = _memory.bits_of(dtype)
            for copy in writing.kept(ranks.rank):
                _memory.run(copy, out.view(bits), output.array.view(bits))
        output.commit()
    finally:
        output.close()
    return pattern


# Patterns ------------------------------------------------------------------------------------------------------------


def _without_ellipsis(pattern: str, rank: int) -> str:
    """With names in its place: how many axes it stands for is known."""
    left, _ = parse_sides(pattern)
    count = rank - sum(dim.axes != (Axis("..."),) for dim in left.dims)
    if "..." not in pattern.partition("->")[0] or count < 0:
        return pattern
    name = "axis"
    while name in pattern:
        name += "x"
    return pattern.replace("...", " ".join(f"{name}{number}" for number in range(count)))


def _only_mesh(pattern: str, ranks: int) -> str:
    sides = parse_sides(pattern)
    named = {name for side in sides for dim in side.dims for name in dim.over}
    if len(named) > 1:
        raise UsageError(f'"{pattern}" names {len(named)} axes of a mesh: give --mesh "x=2 y=2"')
    return f"{next(iter(named), 'ranks')}={ranks}"


def _plain(side: Side) -> Side:
    """Without cuts."""
    dims = (Dim(tuple(Axis(axis.name) for axis in dim.axes), dim.composed) for dim in side.dims)
    return Side(tuple(dims))


def _with_cuts(pattern: str, mesh: Mesh, shape: Sequence[int], lengths: Lengths) -> str:
    """With cuts on each side that had none."""
    left, right = parse_sides(pattern)
    if left.addends:
        raise UsageError(f'"{pattern}": a file holds no addends; leave +{left.addends[0]} out')
    Redistribution(pattern, mesh, shape, **lengths)  # says what is wrong in the words that were given
    plain = Redistribution(f"{_plain(left)} -> {_plain(right)}", "", shape, **lengths)
    return f"{_cut(left, plain.in_shape, mesh)} -> {_cut(right, plain.out_shape, mesh)}"


def _cut(side: Side, shape: Sequence[int], mesh: Mesh) -> Side:
    if side.has_cuts or not shape:
        return side
    enough = [axis for axis, extent in enumerate(shape) if extent >= mesh.ranks]
    axis = enough[0] if enough else max(range(len(shape)), key=lambda axis: shape[axis])
    dim, cut = side.dims[axis], Cut(tuple(mesh.axes), "balanced")
    if not any(each.name.isidentifier() for each in dim.axes):
        return side
    cut_dim = dim._replace(cuts=(cut,)) if dim.composed else Dim((dim.axes[0]._replace(cuts=(cut,)),))
    return Side((*side.dims[:axis], cut_dim, *side.dims[axis + 1 :]))


def _plans(
    pattern: str, mesh: str, shape: Sequence[int], lengths: Lengths
) -> tuple[Redistribution, Redistribution, Redistribution]:
    """From the whole input to a rank's part, from its part of the output to the whole, and between the parts."""
    left, right = parse_sides(pattern)
    plan = Redistribution(pattern, mesh, shape, **lengths)
    known = _lengths_of(left, shape, lengths)
    reading = Redistribution(f"{_plain(left)} -> {left}", mesh, shape, **_inner(left, known))
    writing = Redistribution(f"{right} -> {_plain(right)}", mesh, plan.out_shape, **_inner(right, known))
    return reading, writing, plan


def _lengths_of(left: Side, shape: Sequence[int], lengths: Lengths) -> dict[str, int]:
    """Of all axes."""
    names = [axis.name for dim in left.dims for axis in dim.axes if axis.name.isidentifier()]
    given = {name: length for name, length in lengths.items() if name in names}
    flat = Redistribution(f"{_plain(left)} -> {' '.join(names)}", "", shape, **given)
    return {**lengths, **dict(zip(names, flat.out_shape))}


def _inner(side: Side, known: Lengths) -> dict[str, int]:
    return {axis.name: known[axis.name] for dim in side.dims for axis in dim.axes if axis.name in known}


def _writes(right: Side, mesh: str, ranks: Ranks) -> bool:
    """Whether this rank writes its part: of several that have the same one the first does."""
    cut = {name for dim in right.dims for name in dim.over}
    return not any(at for name, at in Mesh(mesh).coordinates(ranks.rank).items() if name not in cut)


# Reading -------------------------------------------------------------------------------------------------------------


def _mapped_input(path: str) -> Array:
    if not path.endswith(".npy"):
        raise UsageError(f"{path} is no .npy file, and ranks read no others: write it as one first")
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _read(whole: Array, reading: Redistribution, rank: int) -> Array:
    """This rank's part: in the file's memory where it lies there in one piece."""
    bits = _memory.bits_of(whole.dtype)
    shape, copies = reading.local_out_shape(rank), reading.kept(rank, _memory.steps_of(whole))
    source = whole.view(bits)
    if len(copies) == 1:
        part, _ = _memory.sides(copies[0], source, source)
        if part.flags.c_contiguous:
            return part.reshape(shape).view(whole.dtype)
    local = np.empty(shape, bits)
    for copy in copies:
        _memory.run(copy, source, local)
    return local.view(whole.dtype)


# Writing -------------------------------------------------------------------------------------------------------------


def _written_part(whole: Array, writing: Redistribution, rank: int, writes: bool) -> Array | None:
    """This rank's part of the output, where it lies there in one piece."""
    copies = writing.kept(rank)
    if not writes or len(copies) != 1:
        return None
    _, part = _memory.sides(copies[0], whole, whole)
    return part.reshape(writing.local_in_shape(rank)) if part.flags.c_contiguous else None


class Output:
    """A file of NumPy that gets its name when all ranks have written their parts.

    On one host it has no name before, so that nothing is left of it, however the ranks end. Otherwise, and on file
    systems that want a name, it has a hidden one, which rank 0 removes when a rank fails.
    """

    def __init__(self, ranks: Ranks, path: str, dtype: np.dtype[Any], shape: Sequence[int], older: str) -> None:
        self._ranks, self._older = ranks, older
        self._given, self._path = path, os.path.realpath(path)
        self._hidden, self._file, self._named = "", -1, False
        head = _header(dtype, shape)
        try:
            self._open_on_all(head, len(head) + math.prod(shape) * dtype.itemsize)
        except BaseException:
            self.close()
            raise
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.array = _memory.array_at(self._map, address + len(head), dtype, tuple(shape))

    def _open_on_all(self, head: bytes, size: int) -> None:
        self._ranks.together(lambda: self._create(head, size))
        told = None
        if self._ranks.rank == 0:
            told = self._hidden, os.getpid(), self._file, identity(self._file)
        hidden, process, file, there = self._ranks.comm.bcast(told)
        self._map = self._ranks.together(lambda: self._opened(hidden, process, file, there, size))

    def _create(self, head: bytes, size: int) -> None:
        """On rank 0."""
        if not self._given.endswith(".npy"):
            raise UsageError(f"{self._given} is no .npy file, and ranks write no others")
        if self._older == "kept" and os.path.exists(self._path):
            raise FileError(f"{self._given} is there already: leave --no-clobber out, or name another file")
        if self._ranks.rank != 0:
            return
        try:
            old = os.stat(self._path) if os.path.exists(self._path) else None
            if old is not None and not os.access(self._path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            self._open()
            if old is not None:
                os.fchmod(self._file, old.st_mode & 0o777)
            os.posix_fallocate(self._file, 0, size)  # a full disk is told now, and not when memory is written
            os.pwrite(self._file, head, 0)
        except OSError as error:
            raise FileError(f"{self._given}: write: {error.strerror}") from error

    def _open(self) -> None:
        folder, name = os.path.split(self._path)
        if self._ranks.one_host:
            try:
                self._file = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666)
                return
            except OSError:
                pass  # this file system has no files without names
        hidden = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(8)}.tmp")
        self._file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._hidden = hidden

    def _opened(self, hidden: str, process: int, file: int, there: tuple[int, int], size: int) -> mmap.mmap:
        if self._ranks.rank != 0:
            self._file = os.open(hidden, os.O_RDWR | os.O_CLOEXEC) if hidden else opened_from(process, file, there)
        return mmap.mmap(self._file, size)

    def commit(self) -> None:
        """All parts are written: the file takes its name."""
        self._ranks.together(self._flush)
        self._ranks.together(self._name)

    def _flush(self) -> None:
        try:
            self._map.flush()
        except OSError as error:
            raise FileError(f"{self._given}: write: {error.strerror}") from error

    def _name(self) -> None:
        """On rank 0. A link never replaces another file, but a new name does."""
        if self._ranks.rank != 0:
            return
        try:
            os.fsync(self._file)
            if not self._hidden:
                try:
                    self._link(self._path)
                    return
                except FileExistsError:
                    if self._older == "kept":
                        raise
                folder, name = os.path.split(self._path)
                hidden = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(8)}.tmp")
                self._link(hidden)
                self._hidden = hidden
            if self._older == "kept":
                os.link(self._hidden, self._path)
            else:
                os.rename(self._hidden, self._path)
                self._hidden = ""
        except OSError as error:
            raise FileError(f"{self._given}: write: {error.strerror}") from error

    def _link(self, path: str) -> None:
        """Gives the file a name. With src_dir_fd, which an absolute path does not need, links are followed."""
        os.link(f"/proc/self/fd/{self._file}", path, src_dir_fd=self._file, follow_symlinks=True)

    def close(self) -> None:
        """What has no name by now goes."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._hidden and self._ranks.rank == 0:
            os.unlink(self._hidden)
            self._hidden = ""


def _header(dtype: np.dtype[Any], shape: Sequence[int]) -> bytes:
    """As the library writes it: NumPy's leaves room for more rows."""
    extents = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({extents}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
