"""Where the command line's program is, which the package brings."""

import os

import axisloom
from axisloom._errors import FileError


def program() -> str:
    """Path of the program, in the package's folder: one of several where the package is installed for editing."""
    for folder in axisloom.__path__:
        path = os.path.join(folder, "bin", "axisloom")
        if os.access(path, os.X_OK):
            return path
    folders = os.pathsep.join(axisloom.__path__)
    raise FileError(f"the program bin/axisloom is not in {folders}: install axisloom again")
