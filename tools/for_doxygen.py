#!/usr/bin/env python3
"""Prints a header as doxygen reads it: comments that people read as they are become its own.

In C++ the first comment of a file becomes that of the file, and a comment "///" holds for all declarations down to the next
comment or blank line, as it reads. In C every comment before or behind a declaration is one, but for titles ("/* --- ").

Usage: tools/for_doxygen.py HEADER     Doxygen calls it (docs/Doxyfile).
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"^( *)///(?!<)")
COMPOUND = re.compile(r"^ *(class|struct|enum|namespace)\b")
CONTINUED = re.compile(r"^ *(template|requires|[{}:)])")


def of_c(text):
    text = re.sub(r"/\*(?! ---)", "/**", text)
    text = re.sub(r"^(.*[^\s].*)/\*\*", r"\1/**<", text, flags=re.MULTILINE)
    return text.replace("/**", "/** @file\n *", 1)


def of_cpp(text):
    lines = text.splitlines()
    out = ["/// @file"]
    while lines and lines[0].startswith("//"):
        out.append("/" + lines.pop(0))
    while lines:
        comment = []
        while lines and COMMENT.match(lines[0]):
            comment.append(lines.pop(0))
        if not comment:
            out.append(lines.pop(0))
            continue
        indent = COMMENT.match(comment[0]).group(1)
        run = []
        while lines and lines[0].startswith(indent) and lines[0].strip() and not COMMENT.match(lines[0]):
            if COMPOUND.match(lines[0]):
                break
            run.append(lines.pop(0))
        declarations = [line for line in run if not line.startswith(indent + " ") and not CONTINUED.match(line)]
        together = len(declarations) > 1
        out += [f"{indent}///@{{"] * together + comment + run + [f"{indent}///@}}"] * together
    return "\n".join(out) + "\n"


header = pathlib.Path(sys.argv[1])
source = header.read_text(encoding="utf-8")
sys.stdout.write(of_c(source) if header.suffix == ".h" else of_cpp(source))
