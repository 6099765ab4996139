"""The command line: `python -m axisloom` and the command `axisloom` become the program, with its exit codes and signals."""

import os
import sys

from axisloom._program import program


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    os.execv(program(), ["axisloom", *sys.argv[1:]])


if __name__ == "__main__":
    main()
