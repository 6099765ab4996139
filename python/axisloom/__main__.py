"""The command line: `python -m axisloom` and the command `axisloom` become the program, whose exit status and signals are its own."""

import os
import signal
import sys

from axisloom._program import program


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    # Python ignores these two, and a program would inherit it: `axisloom ... | head` would not end quietly.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(program(), ["axisloom", *sys.argv[1:]])


if __name__ == "__main__":
    main()
