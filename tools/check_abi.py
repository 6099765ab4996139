#!/usr/bin/env python3
"""Compares the C interface with what was promised: a library and its header with the list of declarations in docs/c.abi,
which must be the same, and this list with that of the last release tag, from which nothing may be missing while the SONAME
stays.

The list has a line for the SONAME, and one for each declaration of axisloom.h: functions with their parameters, structs with
their members, constants with their values.

Usage: tools/check_abi.py LIBRARY [--update]     With --update the list is written anew.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include/axisloom/axisloom.h"
LIST = ROOT / "docs/c.abi"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def declarations(header_text):
    """One for each constant, type and function, in one line each."""
    text = re.sub(r"/\*.*?\*/", " ", header_text, flags=re.DOTALL)
    text = re.sub(r"#ifdef __cplusplus\n.*?(?:#else\n(.*?))?#endif", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    for enumeration in re.findall(r"enum \{(.*?)\}", text, re.DOTALL):
        for constant in enumeration.split(","):
            yield " ".join(constant.split())
    text = re.sub(r"enum \{.*?\}", "enum", text, flags=re.DOTALL)
    for declaration in re.findall(r"(?:[^;{]|\{[^}]*\})+;", text):
        if " ".join(declaration.split()) != "enum;":
            yield " ".join(declaration.split())


def interface(soname, header_text):
    return [f"SONAME {soname}", *sorted(declarations(header_text))]


def functions(lines):
    return {name for line in lines for name in re.findall(r"\b(axl_\w+)\(", line)}


def soname_of(library):
    return re.search(r"SONAME\s+(\S+)", output_of("objdump", "-p", str(library))).group(1)


def exported(library):
    """The functions of the C interface that a library exports."""
    symbols = output_of("nm", "-D", "--defined-only", str(library))
    return set(re.findall(r" T (axl_\w+)$", symbols, re.MULTILINE))


def released():
    """The list of the last release tag; nothing where there is no tag, or it has no list."""
    try:
        tag = output_of("git", "-c", "safe.directory=*", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*").strip()
        return output_of("git", "-c", "safe.directory=*", "show", f"{tag}:{LIST.relative_to(ROOT)}").splitlines()
    except (subprocess.CalledProcessError, FileNotFoundError):
        return []


def faults(now, symbols, promised, last_release):
    """What is wrong with an interface, its exported symbols, the list of what is promised, and that of the last release."""
    found = [f"declared, not exported: {name}" for name in sorted(functions(now) - symbols)]
    found += [f"exported, not declared: {name}" for name in sorted(symbols - functions(now))]
    found += [f"not in the list: {line}" for line in now if line not in promised]
    found += [f"in the list alone: {line}" for line in promised if line not in now]
    if now[:1] == last_release[:1]:
        found += [f"gone since the last release, which had the same SONAME: {line}" for line in last_release if line not in now]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    now = interface(soname_of(arguments.library.resolve()), HEADER.read_text(encoding="utf-8"))
    if arguments.update:
        LIST.write_text("\n".join(now) + "\n", encoding="utf-8")
    found = faults(now, exported(arguments.library.resolve()), LIST.read_text(encoding="utf-8").splitlines(), released())
    print("\n".join(found) if found else f"{len(functions(now))} functions of the C interface are as promised")
    if found:
        print("Additions: tools/check_abi.py LIBRARY --update. Whatever else changes needs a new SONAME: CONTRIBUTING.md")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
