#!/usr/bin/env python3
"""Counts the tokens of sources, comments left out: how much there is to read, however it is laid out.

Usage: tools/count_tokens.py [--files] [FOLDER...]     Without folders: src, cli, bench, harness and ladder.

A token is an identifier, a number, a string or character literal, or an operator. Counted are the C++ sources and the
kernels that git tracks; profiles, cases and other data are not. --files lists each file, the largest first.
"""

import argparse
import collections
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".cpp", ".hpp", ".h", ".kernel", ".cu"}
FOLDERS = ["src", "cli", "bench", "harness", "ladder"]
TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?:u8|[uUL])?R"(?P<end>[^\s()\\]*)\(.*?\)(?P=end)"      # raw strings
      | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
      | [A-Za-z_]\w*
      | \.?\d(?:[eEpP][+-]|'?[\w.])*                            # numbers
      | <<=|>>=|<=>|->\*|\.\.\.|\#\#|::|->|\.\*|\+\+|--|<<|>>|&&|\|\||[-+*/%&|^=!<>]=
      | \\\n | \s+ | .""",
    re.VERBOSE | re.DOTALL)


def tokens(text):
    found = (match for match in TOKEN.finditer(text) if not match["comment"])
    return sum(1 for match in found if match[0].strip(" \t\r\n\f\v\\"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    arguments = parser.parse_args()

    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "--", *arguments.folders], check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.splitlines() if pathlib.Path(name).suffix in SOURCES and (ROOT / name).exists()]
    counts = {name: tokens((ROOT / name).read_text(encoding="utf-8")) for name in names}
    if arguments.files:
        for name in sorted(counts, key=counts.get, reverse=True):
            print(f"{counts[name]:8} {name}")
    modules = collections.Counter()
    for name, count in counts.items():
        modules[name.split("/")[0]] += count
    for module, count in sorted(modules.items()):
        print(f"{count:8} {module}")
    print(f"{sum(counts.values()):8} in all, {len(counts)} files")


if __name__ == "__main__":
    main()
