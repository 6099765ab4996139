"""The bench's commands around its documents: what is printed can be read, compared and drawn."""
import json
import re
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

from support import Case, main, run

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Nesting(HTMLParser):
    """Fails where a tag is closed that is not the one last opened."""

    def __init__(self):
        super().__init__()
        self.open, self.faults = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append((tag, self.getpos()))


class Documents(Case):
    def measured(self, name, *cases):
        path = self.path(name)
        self.good("bench", "copy", "--device", "cpu", "--peers", "none", "--min-time", "0.001", "--format", "json", "-o", path,
                  *cases)
        with open(path, encoding="utf-8") as file:
            return path, json.load(file)

    def rewritten(self, name, document):
        return self.path(name, json.dumps(document).encode())

    def scaled(self, document, factor):
        """Axisloom's times in every case, with next to no noise."""
        document = json.loads(json.dumps(document))
        for case in document["cases"]:
            for contestant in case["contestants"]:
                if "call" not in contestant:
                    continue
                times = contestant["call"]
                median = times["median_ms"] * (factor if contestant["role"] == "ours" else 1)
                times.update(median_ms=median, low_ms=median * 0.9999, high_ms=median * 1.0001)
        return document

    def test_compare(self):
        path, document = self.measured("old.json", "copy u8 100000", "sum f32 100000")
        self.assertEqual([case["cache"] for case in document["cases"]], ["warm", "cold"] * 2)
        old = self.rewritten("old.json", self.scaled(document, 1))
        for factor, verdict, code in ((1, "SAME", 0), (0.8, "FASTER", 0), (1.3, "SLOWER", 1)):
            new = self.rewritten("new.json", self.scaled(document, factor))
            for form in ("table", "csv", "md", "json"):
                if code == 0:
                    out = self.good("bench", "compare", old, new, "--format", form).out
                    self.assertEqual(out.count(verdict), 4 + (form in ("table", "md")), out)
            if code:
                result = run("bench", "compare", old, new)
                self.assertEqual((result.returncode, result.out.count(verdict)), (1, 5), result.out + result.err)
        self.assertIn("SAME", self.good("bench", "compare", old, new, "--threshold", "50").out)

    def test_what_cannot_be_compared(self):
        path, document = self.measured("good.json", "copy u8 1000")
        cut = self.path("cut.json", json.dumps(document).encode()[:-40])
        self.assertIn("cut.json", self.bad(4, "bench", "compare", path, cut).err)
        self.assertIn("none.json", self.bad(4, "bench", "compare", self.path("none.json"), path).err)
        document["cases"][0]["bytes"] = "many"
        self.assertIn("/cases/0/bytes", self.bad(4, "bench", "table", self.rewritten("bad.json", document)).err)
        document["cases"] = []
        document["environment"]["device"]["name"] = "another"
        other = self.rewritten("other.json", document)
        self.assertIn("--force", self.bad(2, "bench", "compare", path, other).err)
        self.assertIn("MISSING", self.good("bench", "compare", path, other, "--force").out)

    def test_report(self):
        path, _ = self.measured("moves.json", "copy u8 1000", "sum f32 1000")
        page = self.path("report.html")
        self.good("bench", "report", path, path, "-o", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        nesting = Nesting()
        nesting.feed(text)
        self.assertEqual((nesting.faults, nesting.open), ([], []))
        drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        self.assertEqual(len(drawings), 2 * 4 + 1)
        for drawing in drawings:
            self.assertEqual([child.tag for child in xml.fromstring(drawing)][:2], ["title", "desc"])

    def test_suites(self):
        out = self.good("bench", "--help").out
        for suite in ("transpose", "permute", "relayout", "copy", "reduce", "matmul", "rearrange", "compare", "report", "table"):
            self.assertIn(suite, out)
            self.good("bench", suite, "--help")
        self.bad(2, "bench", "permute", "--device", "cpu", "no such case")
        self.bad(2, "bench", "copy", "--cache", "lukewarm")


if __name__ == "__main__":
    main()
