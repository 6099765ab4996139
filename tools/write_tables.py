#!/usr/bin/env python3
"""Writes the tables of measurements in documents: between the lines

    <!-- table: docs/results/MACHINE/FILE.json -->
    <!-- end of table -->

stands what `axisloom bench table` or, of a ladder's document, `axisloom ladder show --format md` prints of that file, and between

    <!-- standings: docs/results/MACHINE/FILE.json ... -->
    <!-- end of table -->

what `axisloom bench standings` prints of those, and between

    <!-- python: docs/results/MACHINE/python/speed.json -->
    <!-- end of table -->

what bench/python/summary.py prints of it, and between

    <!-- scale: docs/results/MACHINE/python/scale.json -->
    <!-- end of table -->

what bench/python/scale.py does: never anything typed by hand, and nothing where there is no such file. The picture of

    <!-- chart: docs/images/NAME.svg docs/results/MACHINE/FILE.json ... -->

is what `axisloom bench chart` draws of them.
Usage: tools/write_tables.py [--check] [PROGRAM]     --check: changes nothing, fails where a table is not up to date
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHART = re.compile(r"<!-- chart: (\S+) ([^\n]+) -->")
TABLE = re.compile(r"(<!-- (table|standings|python|scale): ([^\n]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if a != "--check"]
    program = pathlib.Path(names[0] if names else ROOT / "build/axisloom").resolve()

    def table(match):
        files = [ROOT / name for name in match[3].split()]
        if not all(file.exists() for file in files):
            return match[1] + match[4]
        if match[2] == "standings":
            command = [program, "bench", "standings", "--format", "md"]
        elif match[2] == "python":
            command = [sys.executable, ROOT / "bench/python/summary.py"]
        elif match[2] == "scale":
            command = [sys.executable, ROOT / "bench/python/scale.py", "--table"]
        elif json.loads(files[0].read_text(encoding="utf-8")).get("schema", "").startswith("axisloom-ladder"):
            command = [program, "ladder", "show", "--format", "md"]
        else:
            command = [program, "bench", "table"]
        printed = subprocess.run([*command, *files], check=True, capture_output=True, text=True)
        return match[1] + printed.stdout + match[4]

    def is_drawn(picture, names):
        """Draws a chart, or says whether it is as it should be."""
        files = [ROOT / name for name in names.split()]
        drawn = subprocess.run([program, "bench", "chart", *files], check=True, capture_output=True, text=True).stdout
        file = ROOT / picture
        same = file.exists() and file.read_text(encoding="utf-8") == drawn
        if not same and not check:
            file.write_text(drawn, encoding="utf-8")
        return same

    stale = []
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = document.read_text(encoding="utf-8")
        written = TABLE.sub(table, text)
        drawn = [is_drawn(picture, names) for picture, names in CHART.findall(text)]
        if written == text and all(drawn):
            continue
        stale.append(document)
        if not check:
            document.write_text(written, encoding="utf-8")
    for document in stale:
        print(f"{document.relative_to(ROOT)}: tables {'are not up to date' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
