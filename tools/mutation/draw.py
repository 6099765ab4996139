"""Draws small faults. Candidates are found by pattern in every line of code, never by line number, so the drawing survives
any change of structure. A seed picks among them; the modules take turns, and so do the kinds of faults within them."""
import dataclasses
import pathlib
import random
import re

import forms

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# The modules that take turns; each is a list of globs. A header of kernels ends in .h, one of the host in .hpp.
MODULES = {
    "core": ["src/core/*.cpp"],
    "device": ["src/device/*.cpp"],
    "opencl": ["src/device/opencl/*.cpp"],
    "cuda": ["src/device/cuda/*.cpp"],
    "jit": ["src/jit/*.cpp"],
    "model": ["src/model/*.cpp"],
    "planner": ["src/planner/*.cpp"],
    "ops": ["src/ops/*.cpp"],
    "rearrange": ["src/ops/rearrange/*.cpp"],
    "reduce": ["src/ops/reduce/*.cpp"],
    "matmul": ["src/ops/matmul/*.cpp"],
    "einsum": ["src/ops/einsum/*.cpp"],
    "io": ["src/io/*.cpp"],
    "cli": ["cli/*.cpp", "cli/check/*.cpp", "cli/demo/*.cpp"],
    "harness": ["harness/*.cpp"],
    "bench": ["bench/*.cpp", "bench/ladder/*.cpp"],
    "rearrange kernels": ["src/ops/rearrange/*.kernel", "src/ops/rearrange/*.h"],
    "reduce kernels": ["src/ops/reduce/*.kernel", "src/ops/reduce/*.h"],
    "matmul kernels": ["src/ops/matmul/*.kernel", "src/ops/matmul/*.h"],
    "einsum kernels": ["src/ops/einsum/*.kernel"],
    "dialect": ["src/dialect/*.h"],
}

# Left out: predictions choose between variants that all give the right result, so a fault in them is a matter of speed;
# structures that both sides read from one text; where drawings put their lines (the peers of the bench, in bench/peers,
# are not in the list above: they need their libraries and a card).
LEFT_OUT = re.compile(r"/(cost|model)\.cpp$|/params\.h$|\.params\.h$|/svg\w*\.cpp$")
LEFT_OUT_LINE = re.compile(r"seconds|efficiency|predict|prefetch|_time\(|accept\(|reserve\(|#include|static_assert|"
                           r"\bconstexpr\b|\bcase\b.*:$|operator|template")

COMPARISONS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "}
OPERATORS = COMPARISONS | {" && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / "}
SWAPS = {"std::min(": "std::max(", "std::max(": "std::min(", "min_index(": "max_index(", "max_index(": "min_index("}
# How many groups share work, how fast devices are and how many bytes they really move: matters of speed as well.
SPEED_LINE = re.compile(r"compute_units|per_group|\de9\b|static_cast<double>")
# Functions of two arguments that give the same whichever comes first.
SYMMETRIC = re.compile(r"swap|gcd|lcm|same|equal|min|max|min_\w+|max_\w+")


@dataclasses.dataclass
class Mutant:
    file: str
    line: int  # from 0
    module: str
    kind: str
    before: str  # the whole line
    after: str
    number: int = 0

    def __str__(self):
        return (f"{self.number:4} {self.module}, {self.kind}: {self.file}:{self.line + 1}\n"
                f"       - {self.before.strip()}\n       + {self.after.strip()}")

    def in_kernel(self):
        return not self.file.endswith(".cpp")


def changes(code):
    """(kind, start, end, replacement) for every small fault that fits the text."""
    for old, new in OPERATORS.items():
        kind = "comparison" if old in COMPARISONS else "operator"
        for m in re.finditer(re.escape(old), code):
            yield kind, m.start(), m.end(), new
    for old, new in SWAPS.items():
        for m in re.finditer(re.escape(old), code):
            yield "swapped minimum and maximum", m.start(), m.end(), new
    for m in re.finditer(r"(?<![\w.])\d+(?![\w.])", code):
        yield "constant", m.start(), m.end(), str(int(m[0]) + 1)
    for m in re.finditer(r"\b(\w+)\((\w[\w.]*), (\w[\w.]*)\)", code):
        if m[2] != m[3] and not SYMMETRIC.fullmatch(m[1]):
            yield "swapped arguments", m.start(2), m.end(3), f"{m[3]}, {m[2]}"


def dropped_check(code, following):
    """The condition of an if that refuses something."""
    m = re.match(r"\s*(?:\} else )?if \((?!const auto|auto)(.*)\)( \{| .*;)?$", code.rstrip())
    if not m or m[1].count("(") != m[1].count(")") or ";" in m[1]:
        return None
    if not re.search(r"throw|refuse|fail|complain", (m[2] or "") + following):
        return None
    return "dropped check", m.start(1), m.end(1), "false"


def begins_statement(lines, number):
    """Whether the line is not the rest of one that began before."""
    before = next((code for line in reversed(lines[:number]) if (code := forms.masked(line).strip())), "")
    return before.endswith((";", "{", "}", ":", ")", "else")) or before.startswith("#")


def candidates_of(path, module):
    relative = str(path.relative_to(ROOT))
    lines = path.read_text().split("\n")
    kernel = path.suffix != ".cpp"
    for number, line in enumerate(lines):
        code = forms.masked(line)
        if not code.strip() or LEFT_OUT_LINE.search(line) or (code.lstrip().startswith("#") and not kernel):
            continue
        if code.lstrip().startswith(("#if", "#elif", "#define AXL_PARAMS", "#pragma", "#error")):
            continue
        found = list(changes(code))
        if not kernel and (check := dropped_check(code, lines[number + 1] if number + 1 < len(lines) else "")):
            found.append(check)
        for kind, start, end, new in found:
            mutant = Mutant(relative, number, module, kind, line, line[:start] + new + line[end:])
            if kernel or begins_statement(lines, number) and forms.planted(mutant.before, mutant.after, ""):
                yield mutant


def pile_of(module, globs, seed):
    """The candidates of a module in the order in which they are to be tried."""
    chance = random.Random(f"{seed} {module}")
    by_kind = {}
    for path in sorted(path for pattern in globs for path in ROOT.glob(pattern)):
        if not LEFT_OUT.search("/" + str(path.relative_to(ROOT))):
            for mutant in candidates_of(path, module):
                by_kind.setdefault(mutant.kind, []).append(mutant)
    kinds = sorted(by_kind)
    for kind in kinds:
        chance.shuffle(by_kind[kind])
    chance.shuffle(kinds)
    pile = []
    while any(by_kind.values()):
        pile += [by_kind[kind].pop() for kind in kinds if by_kind[kind]]
    return pile


def draw(seed):
    """All candidates in the order in which they are to be tried. Lines of speed are left out last: so a seed keeps its numbers
    when one more kind of them is found."""
    piles = [pile_of(module, globs, seed) for module, globs in MODULES.items()]
    order, taken = [], set()
    for turn in range(max(map(len, piles))):
        for pile in piles:
            if turn < len(pile) and (pile[turn].file, pile[turn].line) not in taken:  # one fault a line
                taken.add((pile[turn].file, pile[turn].line))
                order.append(pile[turn])
    for number, mutant in enumerate(order, 1):
        mutant.number = number
    return [mutant for mutant in order if not SPEED_LINE.search(mutant.before)]
