"""The bench's commands around its documents: what is printed can be read, compared and drawn."""
import csv
import json
import os
import pty
import re
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

from support import PROGRAM, Case, main, on_terminal, run

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
        self.assertIn(path, text)  # of two files of one name the whole names are shown
        nesting = Nesting()
        nesting.feed(text)
        self.assertEqual((nesting.faults, nesting.open), ([], []))
        drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        self.assertEqual(len(drawings), 2 * 4 + 1)
        for drawing in drawings:
            self.assertEqual([child.tag for child in xml.fromstring(drawing)][:2], ["title", "desc"])

    def test_outputs_are_opened_before_work_begins(self):
        long = ("--device", "cpu", "--min-time", "3000", "-o", self.path("none/x.json"))  # would end by no timeout
        self.assertIn("none/x.json", self.bad(4, "bench", "copy", *long, "--peers", "none", "copy u8 1000").err)
        self.assertIn("none/x.json", self.bad(4, "ladder", "copy", *long, "--shape", "1001").err)

    def test_the_extension_says_the_format(self):
        for name, start in (("a.json", "{"), ("a.csv", "case,"), ("a.md", "|"), ("a.txt", "case ")):
            self.good("bench", "copy", "--device", "cpu", "--peers", "none", "--min-time", "0.001", "-o", self.path(name), "copy u8 1000")
            with open(self.path(name), encoding="utf-8") as file:
                text = file.read()
            self.assertTrue(text.startswith(start), name)
        self.assertNotRegex(text, r" 0\.0+ ")  # in the table, times and rates of small cases keep digits that say something

    def test_extensions_that_promise_something_else_are_refused(self):
        path, _ = self.measured("x.json", "copy u8 1000")
        long = ("--device", "cpu", "--min-time", "3000")  # would end by no timeout
        for command in (["bench", "copy", *long, "copy u8 1000"], ["ladder", "copy", *long, "--shape", "1001"], ["bench", "report", path],
                        ["bench", "compare", path, path], ["ladder", "show", path]):
            error = self.bad(2, *command, "-o", self.path("out.png")).err
            self.assertIn("'.png'", error)
            self.assertIn("remedy: end it in one of .", error)
        self.assertIn(".svg", self.bad(2, "ladder", "copy", *long, "-o", self.path("out.png")).err)
        self.assertEqual(os.listdir(self.folder), ["x.json"])
        self.good("bench", "compare", path, path, "--format", "csv", "-o", self.path("out.png"))
        self.good("bench", "report", path, "-o", self.path("page"))

    def test_speeds_are_bytes_and_operations_by_time(self):
        bench = ("--device", "cpu", "--peers", "none", "--min-time", "0.001", "--cache", "warm", "--format", "csv")
        for suite, case, bytes_moved, operations in (("copy", "copy u8 100000", 2e5, 0), ("matmul", "matmul f32 8x16,16x4", 0, 1024)):
            for row in csv.DictReader(self.good("bench", suite, *bench, case).out.splitlines()):
                seconds = float(row["ms"]) / 1e3
                for work, speed in ((bytes_moved, row["GB/s"]), (operations, row["GFLOP/s"])):
                    if work:
                        self.assertAlmostEqual(float(speed) * 1e9 * seconds / work, 1, 2, row)

    def start(self, *arguments, **options):
        cases = [f"copy u8 {1000 + i}" for i in range(200)]
        return subprocess.Popen([PROGRAM, "bench", "copy", "--device", "cpu", "--peers", "none", "--min-time", "0.01", "--cache",
                                 "warm", *arguments, *cases],
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options)  # of "make test &"

    def test_every_candidate_is_timed_beside_the_chosen_one(self):
        document = json.loads(self.good("bench", "transpose", "--candidate", "all", "--peers", "none", "--device", "cpu",
                                        "--min-time", "0.001", "--cache", "warm", "--format", "json",
                                        "transpose f32 64x48").out)
        entries = {entry["name"]: entry for entry in document["cases"][0]["contestants"]}
        chosen = entries["axisloom"]["how"].split()[0]
        others = {name.removeprefix("axisloom:") for name in entries if name.startswith("axisloom:")}
        self.assertTrue(others, entries)
        self.assertNotIn(chosen, others)
        self.assertTrue(all(entries[f"axisloom:{name}"]["status"] == "right" for name in others), entries)

    def test_cases_are_listed(self):
        listed = json.loads(self.good("bench", "reduce", "--device", "host", "--list", "row sums f32 16384", "--format", "json").out)
        self.assertEqual(listed, [{"name": "row sums f32 16384", "case": "sum f32 16384x16384 axes=1"}])
        quick = self.good("bench", "copy", "--device", "host", "--list", "--quick").out.splitlines()
        self.assertGreater(len(self.good("bench", "copy", "--device", "host", "--list").out.splitlines()), len(quick))
        for more in (["nonesuch"], ["--profile", "h200"], ["--sweep", "items=1,2"]):
            self.bad(2, "bench", "copy", "--device", "host", "--list", *more)

    def test_planning_is_timed(self):
        rows = json.loads(self.good("bench", "planning", "--device", "cpu", "--format", "json", "copy f32").out)
        self.assertTrue(rows)
        for row in rows:
            self.assertIn("copy f32", row["case"])
            self.assertGreater(row["known"], 0)
            self.assertGreater(row["new"], 0)
        self.assertIn("no quick case", self.bad(2, "bench", "planning", "--device", "cpu", "nonesuch").err)

    def test_results_are_saved_as_they_come(self):
        path = self.path("x.json", b"{}")
        sizes = set()
        with self.start("-o", path, stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + 240
            while len(sizes) < 4:
                with open(path, encoding="utf-8") as file:
                    sizes.add(len(json.load(file).get("cases", [])))  # whole whenever one looks
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, -signal.SIGINT, error)
        self.assertIn("interrupt again", error)
        self.assertIn("copy u8 1000", self.good("bench", "table", path).out)
        with open(path, encoding="utf-8") as file:
            self.assertLess(len(json.load(file)["cases"]), 200)
        self.assertEqual(os.listdir(self.folder), ["x.json"])

    def test_an_interrupt_prints_what_was_measured(self):
        outer, inner = pty.openpty()  # progress is for terminals
        with self.start("--format", "json", stdout=subprocess.PIPE, stderr=inner) as process:
            os.close(inner)
            seen = b""
            while not re.search(rb"case ([3-9]|\d\d+)/200, about \d+:\d\d left: copy u8", seen):
                seen += os.read(outer, 4096)
            process.send_signal(signal.SIGINT)
            thread = threading.Thread(target=self.drain, args=(outer,))
            thread.start()
            out = process.communicate(timeout=60)[0]
            thread.join()
        os.close(outer)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual([case["label"] for case in json.loads(out)["cases"]][:2], ["copy u8 1000", "copy u8 1001"])

    def test_progress_is_drawn_ten_times_a_second_at_most(self):
        begin = time.monotonic()
        code, seen = on_terminal("bench", "copy", "--device", "host", "--peers", "none", "--min-time", "0.2", "--cache", "warm",
                                 "copy u8 1000", "copy u8 1001", stdout=subprocess.DEVNULL)
        self.assertEqual(code, 0)
        drawn = re.findall(rb"\r\x1b\[K(case \d/2[^\r]+)", seen)
        self.assertTrue(any(line.startswith(b"case 2/2, about 0:0") for line in drawn), drawn)
        self.assertLessEqual(len(drawn), 10 * (time.monotonic() - begin) + 1)

    def drain(self, terminal):
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:  # how a terminal ends
            pass

    def test_a_case_that_fails_leaves_the_others(self):
        path = self.path("x.json")
        result = run("bench", "copy", "--device", "cpu", "--peers", "none", "--min-time", "0.001", "--cache", "warm", "-o", path,
                     "copy u8 1000", "copy u8 140737488355328", "copy u8 1001")
        self.assertEqual(result.returncode, 5, result.err)
        with open(path, encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        ours = [next(entry for entry in case["contestants"] if entry["role"] == "ours") for case in cases]
        self.assertEqual([entry["status"] for entry in ours], ["right", "failed", "right"])
        for command in ("table", "report", "standings"):
            self.good("bench", command, path)
        self.assertIn("BROKEN", run("bench", "compare", path, path).out)

    def test_suites(self):
        out = self.good("bench", "--help").out
        for suite in ("transpose", "permute", "relayout", "copy", "reduce", "matmul", "rearrange", "compare", "report", "table"):
            self.assertIn(suite, out)
            self.good("bench", suite, "--help")
        self.bad(2, "bench", "permute", "--device", "cpu", "no such case")
        self.bad(2, "bench", "copy", "--cache", "lukewarm")


if __name__ == "__main__":
    main()
