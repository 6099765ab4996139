"""Products of tensors that are distributed over the ranks of a process group, and of DTensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

import torch
from torch.distributed.tensor import DTensor, Placement, Replicate, Shard

from axisloom._errors import EinopsError, ShapeError, UnsupportedError, UsageError
from axisloom._products import Expression, Layout, Term, expression_of, extents_of, matmul_pattern, sides_of
from axisloom.distributed import Mesh

from ._dtensors import _normal
from ._groups import Route, constant, names_of, route_of
from ._placements import addends_of, placements_of, spelled_dims
from ._product import Multiply
from ._redistribute import WORKSPACE, row_major
from .distributed import _parts, _path, _route, _traced

__all__ = ["einsum", "matmul"]


def einsum(
    *operands: Any,
    mesh: Any = None,
    group: Any = None,
    shapes: Sequence[Sequence[SupportsIndex]] | None = None,
    workspace: int = WORKSPACE,
    path: str = "",
) -> torch.Tensor:
    """Einsum of arrays of which each rank has a part: einsum("i@x k, k j -> i@x j", a, b, mesh=mesh).

    operands: the pattern, first or last, and each array's part, or DTensors. The pattern is einsum's with names between
    blanks, and cuts as rearrange's: of operands as they are, of the result as it is to be. "+x" at the end of a side:
    the ranks along x hold addends. mesh, group, workspace, path: as rearrange's. shapes: those of the whole arrays;
    without them the ranks tell each other the shapes of their parts at each call.

    Operands are brought to where each rank can multiply what it has, and sums or parts of the result to where they
    belong, in panels while others are multiplied; of all ways to do it the one that sends the fewest bytes.
    print(axisloom.distributed.Product(pattern, mesh, shapes, "float32")) says which, and why.

    Returns this rank's part of the result. Of DTensors the result is one too; the left side may leave out cuts, which
    their placements say. All ranks of the mesh call this together.

    Gradients: of what is replicated, those of all copies are added; each addend has the gradient of the sum.
    """
    pattern, tensors = _taken(operands)
    if any(isinstance(x, DTensor) for x in tensors):
        _check_dtensors(tensors, mesh, group, shapes)
        first: Any = tensors[0]
        step = _step(
            first.device_mesh, tuple(x.placements for x in tensors), tuple(tuple(x.shape) for x in tensors), pattern
        )
        return _of_dtensors(tensors, step, workspace, _path(path))
    if mesh is None:
        raise UsageError('give mesh=, a DeviceMesh or text such as "x=4"; for arrays of one rank: axisloom.einsum')
    route = _route(mesh, group)
    call = Multiply(pattern, route.mesh, (), route.group, route.order, workspace, _path(path))
    if shapes is not None:
        whole = tuple([tuple(shape) for shape in shapes])
        _check_shapes(whole, tensors)
        return call._replace(extents=_flat(whole))(tensors)
    if any(_traced(x) for x in tensors):
        parts = _parts_of(pattern, route.mesh, tuple([x.dim() for x in tensors]))
        whole = tuple(
            [tuple([extent * count for extent, count in zip(x.shape, counts)]) for x, counts in zip(tensors, parts)]
        )
        return call._replace(extents=_flat(whole))(tensors)
    product = call.agree(tensors, None)
    return call._replace(extents=_flat(product.shapes), agreed=True)(tensors)


def matmul(
    a: Any,
    b: Any,
    cuts: str = "",
    *,
    placements: Sequence[Placement] | None = None,
    mesh: Any = None,
    group: Any = None,
    shapes: Sequence[Sequence[SupportsIndex]] | None = None,
    workspace: int = WORKSPACE,
    path: str = "",
) -> torch.Tensor:
    """Product of matrices of which each rank has a part: matmul(a, b, "m@x k, k n -> m@x n", mesh=mesh).

    cuts: the two matrices and the result, as in einsum's pattern. Arrays may have more axes in front, which are batches
    as torch.matmul's and are not cut. Of DTensors, whose placements say the cuts, leave it out: the result has
    `placements`, or else the cuts of a's rows and batches and of b's columns. The rest is as einsum's.
    """
    if isinstance(a, DTensor) or isinstance(b, DTensor):
        if cuts:
            raise UsageError("the placements of DTensors say their cuts: leave cuts out, and give placements=")
        _check_dtensors((a, b), mesh, group, shapes)
        wanted = None if placements is None else tuple(placements)
        step = _matmul_step(a.device_mesh, (a.placements, b.placements), (tuple(a.shape), tuple(b.shape)), wanted)
        return _of_dtensors((a, b), step, workspace, _path(path))
    if placements is not None:
        raise UsageError('placements= are for DTensors: give cuts, such as "m@x k, k n -> m@x n"')
    pattern = _matmul_pattern(cuts)
    return einsum(pattern, a, b, mesh=mesh, group=group, shapes=shapes, workspace=workspace, path=path)


def _taken(operands: tuple[Any, ...]) -> tuple[str, tuple[torch.Tensor, ...]]:
    if operands and isinstance(operands[0], str):
        pattern, tensors = operands[0], operands[1:]
    elif operands and isinstance(operands[-1], str):
        pattern, tensors = operands[-1], operands[:-1]
    else:
        raise TypeError('einsum over ranks takes a pattern, first or last: einsum("i@x k, k j -> i@x j", a, b)')
    if not tensors:
        raise TypeError("einsum over ranks takes a tensor or more beside the pattern")
    for x in tensors:
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"einsum over ranks takes tensors, not one of type {type(x).__name__}")
    return pattern, tensors


def _check_shapes(shapes: Sequence[Sequence[Any]], tensors: Sequence[torch.Tensor]) -> None:
    if [len(shape) for shape in shapes] != [x.dim() for x in tensors]:
        given = ", ".join(str(list(shape)) for shape in shapes)
        parts = ", ".join(str(list(x.shape)) for x in tensors)
        raise ShapeError(f"shapes={given} are not of arrays whose parts have the shapes {parts}: give one for each")


def _flat(shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple([extent for shape in shapes for extent in shape])


@constant
def _parts_of(pattern: str, mesh: str, ranks: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Into how many parts each axis of each operand is cut."""
    sides, _ = sides_of(pattern)
    if len(sides) != len(ranks):
        raise EinopsError(f'the einsum "{pattern}" is of {len(sides)} arrays, and {len(ranks)} were given')
    return tuple(_parts(f"{side} ->", mesh, rank) for side, rank in zip(sides, ranks))


_matmul_pattern = constant(matmul_pattern)


# DTensors ------------------------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """What is to be done with local tensors, and what the DTensor is that comes out."""

    pattern: str
    route: Route
    placements: tuple[Placement, ...]
    shape: tuple[int, ...]


def _check_dtensors(tensors: Sequence[Any], *others: Any) -> None:
    if any(other is not None for other in others):
        raise UsageError("DTensors have their own mesh and shapes: leave mesh=, group= and shapes= out")
    for x in tensors:
        if not isinstance(x, DTensor) or x.device_mesh != tensors[0].device_mesh:
            raise UsageError("einsum of DTensors and others: give DTensors on one mesh alone")


def _of_dtensors(tensors: Sequence[Any], step: _Step, workspace: int, path: str) -> DTensor:
    # Each rank has the whole gradient of its addend.
    locals_ = [
        x.to_local(grad_placements=[Replicate() if placement.is_partial() else placement for placement in x.placements])
        for x in tensors
    ]
    route = step.route
    extents = _flat([tuple(x.shape) for x in tensors])
    call = Multiply(
        step.pattern, route.mesh, extents, route.group, route.order, workspace, path, copies_add=False
    )  # fmt: skip
    return DTensor.from_local(
        call(locals_),
        tensors[0].device_mesh,
        step.placements,
        run_check=False,
        shape=torch.Size(step.shape),
        stride=row_major(step.shape),
    )


_AllPlacements = tuple[tuple[Placement, ...], ...]
_Shapes = tuple[tuple[int, ...], ...]


@constant
def _step(mesh: Any, placements: _AllPlacements, shapes: _Shapes, pattern: str) -> _Step:
    route = route_of(mesh)
    axes = Mesh(route.mesh)
    expression = expression_of(pattern, axes, shapes)
    counts, names = axes.axes, names_of(mesh)
    sides, _ = sides_of(pattern)
    terms = []
    for term, side, own, shape in zip(expression.terms, sides, placements, shapes):
        layout = _layout_of(own, counts, names, shape)
        if side.has_cuts and not _says(term, own, shape, counts):
            raise EinopsError(f'"{side}" of the einsum "{pattern}" says other cuts than the placements {own}')
        terms.append(Term(term.axes, layout))
    return _stepped(Expression(tuple(terms), expression.output), route, shapes)


def _says(term: Term, placements: Sequence[Placement], shape: Sequence[int], counts: dict[str, int]) -> bool:
    """A mesh axis of one rank may cut or not."""
    said = _placements_of(term, shape, counts)
    return all(one == other or count == 1 for one, other, count in zip(said, placements, counts.values()))


def _placements_of(term: Term, shape: Sequence[int], counts: dict[str, int]) -> tuple[Placement, ...]:
    names = [f"p{place}" for place in range(len(shape))]
    return placements_of(term.layout.side(names), dict(zip(names, shape)), counts)


def _layout_of(
    placements: Sequence[Placement], counts: dict[str, int], names: Sequence[str], shape: Sequence[int]
) -> Layout:
    cuts = []
    for spelled in spelled_dims(_normal(placements, len(shape)), counts, shape, "p"):
        if spelled.dim.composed:
            raise UnsupportedError(
                f"einsum of a DTensor with the placements {tuple(placements)}, which cut within an axis: call "
                f"axisloom.torch.redistribute first"
            )
        cuts.append(spelled.dim.axes[0].cuts)
    return Layout(tuple(cuts), addends_of(placements, names))


def _stepped(expression: Expression, route: Route, shapes: _Shapes) -> _Step:
    """With names of its own, for those of ellipses are none."""
    extents = extents_of(expression, shapes)
    names = {axis: f"a{place}" for place, axis in enumerate(extents)}
    *terms, output = (
        Term(tuple(names[axis] for axis in term.axes), term.layout) for term in (*expression.terms, expression.output)
    )
    whole = tuple(extents[axis] for axis in expression.output.axes)
    placements = _placements_of(output, whole, Mesh(route.mesh).axes)
    return _Step(str(Expression(tuple(terms), output)), route, placements, whole)


@constant
def _matmul_step(
    mesh: Any, placements: _AllPlacements, shapes: _Shapes, wanted: tuple[Placement, ...] | None
) -> _Step:
    route = route_of(mesh)
    axes, names = Mesh(route.mesh), names_of(mesh)
    if min(map(len, shapes)) < 2:
        raise ShapeError(f"matmul over ranks of the shapes {list(map(list, shapes))}: both need two axes or more")
    plain = expression_of("... m k, ... k n -> ... m n", axes, shapes)
    layouts = [_layout_of(own, axes.axes, names, shape) for own, shape in zip(placements, shapes)]
    terms = tuple(Term(term.axes, layout) for term, layout in zip(plain.terms, layouts))
    extents = extents_of(plain, shapes)
    whole = tuple(extents[axis] for axis in plain.output.axes)
    given = _kept(plain, placements, shapes) if wanted is None else _normal(wanted, len(whole))
    if len(given) != mesh.ndim:
        raise UsageError(f"give {mesh.ndim} placements, one for each axis of the mesh, not {len(given)}")
    output = Term(plain.output.axes, _layout_of(given, axes.axes, names, whole))
    # What is wrong with the wanted placements is said of the pattern.
    pattern = str(Expression(terms, output))
    return _stepped(expression_of(pattern, axes, shapes), route, shapes)


def _kept(plain: Expression, placements: _AllPlacements, shapes: _Shapes) -> tuple[Placement, ...]:
    """Cuts of rows, of columns and of batches stay; over other axes of the mesh the result is replicated."""
    found: list[Placement] = []
    for of_one_axis in zip(*placements):
        stays: Placement = Replicate()
        for term, shape, placement in zip(plain.terms, shapes, of_one_axis):
            if isinstance(placement, Shard) and stays == Replicate():
                dim = placement.dim % len(shape)
                if term.axes[dim] in plain.output.axes and shape[dim] > 1:
                    stays = Shard(plain.output.axes.index(term.axes[dim]))
        found.append(stays)
    return tuple(found)

