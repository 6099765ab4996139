"""axisloom ladder: every rung at a tiny size on the CPU, and moves and sums at the lessons' sizes on the host, its results
checked, in every format."""
import csv
import io
import json
import xml.etree.ElementTree

from support import Case, main

SHAPES = {"copy": "1001", "transpose": "70x50", "relayout": "1x33x6x8", "reduce": "5000", "matmul": "40x36,36x24"}


class Ladder(Case):
    def climb(self, name, *arguments):
        return self.good("ladder", name, "--device", "opencl:0", "--shape", SHAPES[name], "--min-time", "0.001", *arguments)

    def document(self, name, *arguments):
        return json.loads(self.climb(name, "--format", "json", *arguments).out)

    def rungs_of(self, document):
        rungs = [rung for lesson in document["lessons"] for rung in lesson["rungs"]]
        for rung in rungs:
            self.assertIn(rung["status"], ("right", "absent"), rung)
            self.assertEqual(rung["status"] == "right", "call" in rung, rung)
            self.assertTrue(rung["status"] == "right" or rung["reason"], rung)
        return {rung["name"]: rung for rung in rungs}

    def test_moves(self):
        for name in ("copy", "transpose", "relayout"):
            rungs = self.rungs_of(self.document(name))
            refused = {rung["name"]: rung["reason"] for rung in rungs.values() if rung["status"] == "absent"}
            self.assertEqual(refused, {"tma": "its kernel is written for cuda or host"} if name == "transpose" else {})
            self.assertIn("tuned", rungs)

    def test_what_the_device_cannot_do_is_named(self):
        rungs = self.rungs_of(self.document("reduce"))
        self.assertEqual(rungs["shuffle"]["reason"], "shuffles between the items of a warp are NVIDIA's")
        self.assertEqual(rungs["vec4+add-on-load"]["over"], "add-on-load")
        self.assertEqual(rungs["one-launch"].get("over", "unrolled"), "unrolled")  # some devices cannot order groups
        floats = self.rungs_of(self.document("reduce", "--dtype", "f32"))
        self.assertIn("only sums of integers", floats["atomic"]["reason"])

    def test_products(self):
        document = self.document("matmul", "--peers", "none")
        rungs = self.rungs_of(document)
        tensor_core = rungs.pop("tensor-core")
        self.assertIn("compute capability 8.0", tensor_core.get("reason", "compute capability 8.0"))
        warpgroup = rungs.pop("warpgroup")
        self.assertIn("cuda", warpgroup.get("reason", "cuda"))
        self.assertEqual({rung["status"] for rung in rungs.values()}, {"right"})
        self.assertEqual(rungs["async"]["case"], "matmul f32 40x36,36x24 in-strides=1,40")
        self.assertNotIn("peer", [entry["role"] for entry in document["lessons"][0]["beside"]])

    def test_every_rung_runs_on_the_host(self):
        for name in SHAPES:
            # The lesson's product takes kernels for cards a minute; theirs have rows of multiples of 16 bytes.
            small = ["--peers", "none", "--shape", "128x128,128x128"] if name == "matmul" else []
            climbed = self.good("ladder", name, "--device", "host", "--min-time", "0.001", "--format", "json", *small)
            rungs = self.rungs_of(json.loads(climbed.out))
            self.assertEqual({rung["reason"] for rung in rungs.values() if rung["status"] != "right"}, set())

    def test_instruction_sets_are_compared(self):
        climb = ["ladder", "transpose", "--shape", "70x50", "--min-time", "0.001", "--format", "json", "--isa", "baseline,v3"]
        rungs = self.rungs_of(json.loads(self.good(*climb, "--device", "host").out))
        self.assertEqual([rungs[name]["status"] for name in ("tuned", "tuned-baseline", "tuned-v3")], ["right"] * 3)
        self.assertNotIn("tuned-v4", rungs)
        self.bad(2, *climb, "--device", "opencl:0")

    def test_every_view_of_a_stored_document(self):
        stored, chart = self.path("copy.json"), self.path("copy.svg")
        self.assertEqual(self.climb("copy", "-o", stored).out, "")
        table = self.good("ladder", "show", stored).out
        self.assertIn("copy f32 1001,scalar", self.good("ladder", "show", stored, "-o", chart, "--format", "csv").out)
        for word in ("scalar", "tuned", "speed-up", "##", "GB/s"):
            self.assertIn(word, table)
        rows = list(csv.DictReader(io.StringIO(self.good("ladder", "show", stored, "--format", "csv").out)))
        self.assertEqual({row["status"] for row in rows}, {"right"})
        self.assertIn("| tuned |", self.good("ladder", "show", stored, "--format", "md").out)
        self.look_at_the_chart(chart, [row["rung"] for row in rows])

    def look_at_the_chart(self, path, names):
        root = xml.etree.ElementTree.parse(path).getroot()
        svg = "{http://www.w3.org/2000/svg}"
        self.assertEqual(root.tag, svg + "svg")
        texts = [text.text for text in root.iter(svg + "text")]
        for name in names:
            self.assertIn(name, texts)
        self.assertIn("other libraries", texts)  # the colours have names
        bars = [bar for group in root.iter(svg + "g") for bar in group.iter(svg + "rect")]
        self.assertEqual(len(bars), len(names))
        values = [float(text.get("x")) for text in root.iter(svg + "text") if text.get("class") == "value"]
        dashes = [float(line.get("x1")) for line in root.iter(svg + "line")]
        self.assertGreater(min(values), max(dashes))  # no dashed line goes through a value
        width = float(root.get("width"))
        for bar in bars:
            self.assertLessEqual(float(bar.get("x")) + float(bar.get("width")), width)

    def test_what_cannot_be(self):
        self.bad(2, "ladder", "transpose", "--device", "opencl:0", "--shape", "3x")
        self.bad(2, "ladder", "transpose", "--device", "opencl:0", "--shape", "7")
        self.bad(2, "ladder", "relayout", "--device", "opencl:0", "--shape", "3x4")
        self.bad(2, "ladder", "matmul", "--device", "opencl:0", "--shape", "3x4,5x6")
        self.bad(2, "ladder", "copy", "--device", "opencl:0", "--shape", "0")
        self.bad(2, "ladder", "copy", "--device", "opencl:0", "--dtype", "f33")
        self.bad(2, "ladder", "relayout", "--from", "NCHW")
        self.bad(2, "ladder", "sort")
        self.bad(4, "ladder", "show", self.path("none.json"))
        self.bad(4, "ladder", "show", self.path("cut.json", b'{"schema": "axisloom-ladder 1"'))
        self.bad(4, "ladder", "show", self.path("other.json", b'{"schema": "axisloom-bench 1"}'))
        for content, word in ((b"[1]", "not a document"), (b"{}", "not a document"), (b'{"schema": "axisloom-ladder 1"}', "'ladder'")):
            error = self.bad(4, "ladder", "show", self.path("other.json", content)).err
            self.assertIn(word, error)
            self.assertNotIn("exception", error)


if __name__ == "__main__":
    main()
