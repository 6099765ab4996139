#!/usr/bin/env python3
"""The recipes for package managers, as far as they can be judged without these: each can be read, is about the version of the
headers, and says that it is untested, unless a test makes its package; Debian's list of symbols has the C interface's."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGING = ROOT / "packaging"
# Where each recipe has its version; what a test makes reads it from the header (Conan), or is compared by what makes it (Debian).
VERSIONS = {
    "vcpkg/axisloom/vcpkg.json": r'"version-semver": "(.*)"',
    "spack/packages/axisloom/package.py": r'version\("(.*?)"',
    "conda/meta.yaml": r"^  version: (.*)$",
}
TESTED = {"conan", "debian"}


def version():
    header = (ROOT / "include/axisloom/version.hpp").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define AXISLOOM_VERSION_[A-Z]+ (\d+)$", header, re.MULTILINE))


def functions_in(path, pattern):
    return set(re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE))


def faults():
    symbols = functions_in("packaging/debian/libaxisloom0.symbols", r"^ (axl_\w+)@Base ")
    for name in sorted(symbols ^ functions_in("docs/c.abi", r"\b(axl_\w+)\(")):
        yield f"{name} stands either in packaging/debian/libaxisloom0.symbols or in docs/c.abi, and belongs in both"
    for name, pattern in VERSIONS.items():
        found = re.findall(pattern, (PACKAGING / name).read_text(encoding="utf-8"), re.MULTILINE)
        if found != [version()]:
            yield f"packaging/{name} is about version {found}, the headers about {version()}"
    for file in PACKAGING.glob("*/**/*"):
        if file.is_dir() or file.relative_to(PACKAGING).parts[0] in TESTED:
            continue
        text = file.read_text(encoding="utf-8")
        if "UNTESTED" not in text:
            yield f"{file.relative_to(ROOT)} does not say that it is untested"
        if file.suffix == ".py":
            compile(text, str(file), "exec")
        if file.suffix == ".json":
            json.loads(text)


found = list(faults())
print("\n".join(found) if found else f"{len(VERSIONS)} recipes are about {version()}")
sys.exit(bool(found))
