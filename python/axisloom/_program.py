"""Where the command line's program is, which the package brings."""

import os

import axisloom


def program() -> str:
    """Path of the program: in the package's folder, or, of a package that is installed for editing, in one of its folders."""
    for folder in axisloom.__path__:
        path = os.path.join(folder, "bin", "axisloom")
        if os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"the program bin/axisloom is not in {os.pathsep.join(axisloom.__path__)}: install axisloom again")
