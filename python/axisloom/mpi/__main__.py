"""The command line under mpirun: `mpirun -n 4 python -m axisloom.mpi rearrange "h w -> w h" in.npy -o out.npy`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import NoReturn

from mpi4py import MPI

from .._errors import DeviceError, Error, FileError, OutOfMemoryError, UsageError
from ._plans import WORKSPACE
from ._ranks import ranks_of

_USAGE = 2


class _Parser(argparse.ArgumentParser):
    """All ranks read the same command line, and one tells what is wrong with it."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="axisloom.mpi", description="Rearranges arrays in files, on the ranks of an MPI job.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    command = commands.add_parser(
        "rearrange",
        usage='mpirun -n 4 python -m axisloom.mpi rearrange PATTERN [AXIS=LENGTH...] IN.npy -o OUT.npy',
        help="reorder, split and merge axes: each rank reads and writes its part of the files",
        description="The result is the same file that `axisloom rearrange` writes. Cuts, as in 'h@x w -> w@x h', say "
        "which part each rank reads and writes; a side without cuts is cut along its first axis.",
    )
    command.add_argument("pattern", metavar="PATTERN")
    command.add_argument("rest", nargs="+", metavar="AXIS=LENGTH... IN.npy")
    command.add_argument("-o", "--output", required=True, metavar="OUT.npy")
    command.add_argument("--mesh", help='the grid of ranks, such as "x=2 y=2"; without it all ranks along one axis')
    command.add_argument("--workspace", type=int, default=WORKSPACE, metavar="BYTES",
                         help="most memory of a rank for messages, a direction (default: %(default)s)")  # fmt: skip
    command.add_argument("--no-clobber", action="store_true", help="keep a file that is there already")
    command.add_argument("--verbose", action="store_true", help="say how the pattern is cut")
    return parser


def _run(arguments: list[str]) -> None:
    given = _parser().parse_args([f" {word}" if word.startswith("->") else word for word in arguments])  # no option
    lengths: dict[str, int] = {}
    files = []
    for word in given.rest:
        name, sign, length = word.partition("=")
        if sign and name.isidentifier():
            if not length.isdecimal():
                raise UsageError(f"{word}: give a length, such as {name}=4")
            lengths[name] = int(length)
        else:
            files.append(word)
    if len(files) != 1:
        raise UsageError(f"give one file to read, not {len(files)}")
    from ._files import rearrange_file

    older = "kept" if given.no_clobber else "replaced"
    ranks = ranks_of(MPI.COMM_WORLD)
    pattern = rearrange_file(
        ranks, given.pattern, files[0], given.output, given.mesh, lengths, older, workspace=given.workspace
    )
    if given.verbose and ranks.rank == 0:
        print(f'axisloom: {ranks.size} ranks: rearrange "{pattern}"', file=sys.stderr)


def _exit_code(error: Error) -> int:
    """As the program's."""
    for kind, code in ((FileError, 4), (DeviceError, 5), (OutOfMemoryError, 5)):
        if isinstance(error, kind):
            return code
    return _USAGE


def main(arguments: list[str]) -> int:
    """What all ranks run. Errors are all ranks' errors, and rank 0 tells them."""
    first = MPI.COMM_WORLD.Get_rank() == 0
    try:
        with contextlib.nullcontext() if first else contextlib.redirect_stdout(open(os.devnull, "w")):  # --help
            _run(arguments)
    except Error as error:
        if first:
            print(f"axisloom: {error}", file=sys.stderr)
        return _exit_code(error)
    except Exception:  # this rank's alone: the others would wait for it
        sys.excepthook(*sys.exc_info())
        MPI.COMM_WORLD.Abort(_exit_code(DeviceError()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
