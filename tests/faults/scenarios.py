"""What the program is made to do while its calls fail, and how its results are told from wrong ones."""
import json
import os

import numpy as np

OLD = b"an older result, which must stay whole\n" * 100


def write_inputs(folder):
    """Every input that a scenario reads. Values are whole and small, so that products and sums are exact."""
    def path(name):
        return os.path.join(folder, name)
    rng = np.random.default_rng(7)

    def small(*shape):
        return rng.integers(-4, 5, shape).astype(np.float32)
    np.save(path("matrix.npy"), rng.integers(0, 2**31, (300, 700), dtype=np.int32))  # several writes long
    for name, shape in {"a": (12, 20), "b": (20, 16), "c": (16, 9), "big_a": (300, 900), "big_b": (900, 700),
                        "big_c": (700, 300)}.items():
        np.save(path(name + ".npy"), small(*shape))
    np.save(path("channels.npy"), rng.integers(0, 255, (2, 19, 5, 7), dtype=np.uint8))
    np.save(path("zeros.npy"), np.zeros((64, 96), np.float32))
    np.save(path("mask.npy"), np.arange(96) % 2 == 0)
    np.save(path("zeros3.npy"), np.zeros((40, 64, 96), np.float32))
    rng.integers(0, 2**16, (60, 80), dtype=np.uint16).tofile(path("scan.raw"))
    pixels = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    with open(path("colour.ppm"), "wb") as file:
        file.write(b"P6\n50 40\n255\n" + pixels.tobytes())
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../fuzz/corpus/image/colour.jpg"), "rb") as jpeg, open(path("photo.jpg"), "wb") as to:
        to.write(jpeg.read())


def load(folder, name):
    return np.load(os.path.join(folder, name + ".npy"))


def pixels_of(path):
    with open(path, "rb") as file:
        return np.frombuffer(file.read()[-6000:], np.uint8).reshape(40, 50, 3)


def right_array(expected):
    """The output is the array that NumPy computes."""
    def judge(inputs, output):
        found = np.load(output)
        want = expected(inputs)
        return found.dtype == want.dtype and np.array_equal(found, want)
    return judge


def right_bytes(expected):
    def judge(inputs, output):
        with open(output, "rb") as file:
            return file.read() == expected(inputs)
    return judge


def right_document(inputs, output, failed=False):
    """A whole JSON document in which nobody's result is wrong; after a failure it may have none."""
    del inputs
    with open(output, "rb") as file:
        document = json.load(file)
    found = [entry for case in document.get("cases", []) for entry in case["contestants"]]
    found += [rung for lesson in document.get("lessons", []) for rung in lesson["rungs"]]
    return (failed or bool(found)) and all(entry["status"].lower() != "wrong" for entry in found)


class Scenario:
    """One command. `output`: the file it writes; `judge`: whether that is right; `stable`: its bytes never differ."""

    def __init__(self, name, words, *, output=None, judge=None, stdin=None, printed=None, env=None, fresh=(),
                 cuda=False, stable=True, user=False, only=None, codes=()):
        self.name, self.words, self.output, self.judge = name, words, output, judge
        self.stdin, self.printed, self.env, self.fresh = stdin, printed, env or {}, fresh
        self.cuda, self.stable, self.user, self.only = cuda, stable, user, only
        self.codes = set(codes) or {0}
        self.json = judge is right_document


def sum_of_matrix(inputs):
    return f"{load(inputs, 'matrix').sum(dtype=np.int64)}\n".encode()


def operations():
    def transposed(inputs):
        return load(inputs, "matrix").T

    def three(a, b, c):
        return lambda inputs: load(inputs, a) @ load(inputs, b) @ load(inputs, c)
    whole = right_array(transposed)
    scan = right_bytes(lambda inputs: np.fromfile(inputs + "/scan.raw", np.uint16).reshape(60, 80).T.tobytes())
    turned = right_bytes(lambda inputs: b"P6\n40 50\n255\n" +
                         pixels_of(inputs + "/colour.ppm").transpose(1, 0, 2).tobytes())
    return [
        Scenario("transpose", "transpose {in}/matrix.npy -o {out}", output="out.npy", judge=whole),
        Scenario("pipe", "transpose - -o -", stdin="matrix.npy", output="-", judge=whole),
        Scenario("png", "transpose {in}/colour.png -o {out}", output="out.png"),
        Scenario("raw", "transpose --shape 60x80 --dtype u16 {in}/scan.raw -o {out}", output="out.raw", judge=scan),
        Scenario("pnm", "transpose {in}/colour.ppm -o {out}", output="out.ppm", judge=turned),
        Scenario("jpeg", "copy {in}/photo.jpg -o {out}", output="out.npy"),
        Scenario("relayout", "relayout NCHW NC/8HW8 {in}/channels.npy -o {out}", output="out.npy"),
        Scenario("sum", "sum {in}/matrix.npy", printed=sum_of_matrix),
        Scenario("partials", "sum {in}/matrix.npy", printed=sum_of_matrix,
                 env={"AXISLOOM_SHIM_MAX_ALLOCATION": "200000"}),
        Scenario("einsum", ["einsum", "i k, k l, l j -> i j", "{in}/a.npy", "{in}/b.npy", "{in}/c.npy", "-o", "{out}"],
                 output="out.npy", judge=right_array(three("a", "b", "c"))),
        Scenario("late", ["einsum", "i k, k l, l j -> i j", "{in}/big_a.npy", "{in}/big_b.npy", "{in}/big_c.npy", "-o",
                          "{out}"], output="out.npy", judge=right_array(three("big_a", "big_b", "big_c")),
                 env={"AXISLOOM_SHIM_DELAY": "30"}, only="opencl"),
        Scenario("matmul", "matmul {in}/a.npy {in}/b.npy -o {out} --verify", output="out.npy",
                 judge=right_array(lambda inputs: load(inputs, "a") @ load(inputs, "b"))),
        Scenario("slices", "transpose {in}/matrix.npy -o {out}", output="out.npy", judge=whole,
                 env={"AXISLOOM_SHIM_MAX_ALLOCATION": "200000"}),
        Scenario("cold", "transpose {in}/matrix.npy -o {out}", output="out.npy", judge=whole, fresh=("cache",)),
        Scenario("colder", "transpose {in}/matrix.npy -o {out}", output="out.npy", judge=whole,
                 fresh=("cache", "pocl")),
    ]


def on_host():
    """What nobody sends elsewhere."""
    host = {"AXISLOOM_DEVICE": ""}
    product = right_array(lambda inputs: load(inputs, "big_a") @ load(inputs, "big_b"))
    return [
        Scenario("host", "transpose {in}/matrix.npy -o {out}", output="out.npy", env=host,
                 judge=right_array(lambda inputs: load(inputs, "matrix").T)),
        Scenario("host-sum", "sum {in}/matrix.npy", printed=sum_of_matrix, env=host),
        Scenario("host-matmul", "matmul {in}/big_a.npy {in}/big_b.npy -o {out}", output="out.npy", judge=product, env=host),
        Scenario("host-user", "host 1 10", user=True, env={"AXISLOOM_FAULT_BLOCKS": "1"}),
        Scenario("host-threads", "host 4 3", user=True),
    ]


def others():
    tiny = "--peers none --min-time 0.001 --format json -o {out}"
    report = {"output": "out.json", "judge": right_document, "stable": False}
    return [
        Scenario("bench", ["bench", "copy", "copy f32 4096", "--cache", "warm"] + tiny.split(), **report),
        Scenario("ladder", f"ladder relayout --shape 1x16x8x8 --from NCHW --to NC/4HW4 --dtype f32 "
                           f"{tiny.replace('--peers none ', '')}", **report),
        Scenario("doctor", "doctor", codes=[0, 3, 5]),
        Scenario("devices", "devices"),
        Scenario("clear", "cache clear"),
        Scenario("user", "opencl 1 10", user=True, env={"AXISLOOM_FAULT_BLOCKS": "1"}),
        Scenario("threads", "opencl 4 3", user=True),
    ]


def cards():
    """On the emulated card every kernel makes zeros, so zeros go in, and zeros come out."""
    def zeros(*shape):
        return right_array(lambda inputs: np.zeros(shape, np.float32))
    options = "--device cuda -o {out}"
    return [
        Scenario("card", f"transpose {{in}}/zeros.npy {options}", cuda=True, output="out.npy", judge=zeros(96, 64)),
        Scenario("card-cold", f"transpose {{in}}/zeros.npy {options}", cuda=True, output="out.npy", judge=zeros(96, 64),
                 fresh=("cache",)),
        Scenario("card-tma", f"transpose {{in}}/zeros3.npy --candidate tma {options}", cuda=True, output="out.npy",
                 judge=zeros(40, 96, 64)),
        Scenario("card-ptx", f"transpose {{in}}/zeros.npy {options}", cuda=True, output="out.npy", judge=zeros(96, 64),
                 env={"AXISLOOM_SHIM_CAPABILITY": "120"}, fresh=("cache",)),
        Scenario("card-full", f"transpose {{in}}/zeros.npy {options}", cuda=True, output="out.npy", codes=[5],
                 env={"AXISLOOM_SHIM_FULL": "1"}),
        Scenario("card-sum", f"sum --axes 0 --candidate plain {{in}}/zeros.npy {options}", cuda=True, output="out.npy",
                 judge=zeros(96)),
        Scenario("card-masked-sum", f"sum --axes 0 --where --candidate plain {{in}}/zeros.npy {{in}}/mask.npy {options}",
                 cuda=True, output="out.npy", judge=zeros(96)),
        Scenario("card-bench", ["bench", "copy", "copy f32 4096", "--cache", "warm", "--peers", "none", "--min-time",
                                "0.001", "--format", "json"] + options.split(), cuda=True, output="out.json",
                 judge=right_document, stable=False),
        Scenario("card-doctor", "doctor", cuda=True, codes=[0, 3, 5]),
        Scenario("card-user", "cuda 1 10", cuda=True, user=True, env={"AXISLOOM_FAULT_BLOCKS": "1"}),
    ]


def all_scenarios():
    return operations() + on_host() + others() + cards()


# Arrays were freed while a lost device still wrote to them; plans of lost devices were kept.
SEEN = ["threads clWaitForEvents 2 -34 on", "threads clFlush 1 -34 once", "user clSetKernelArg 19 -2 once",
        "user clGetKernelInfo 2 -36 on"]

# Faults planted in the victim, the call whose failure shows each, and what the net must say; None: nothing.
PLANTED = [
    ("sound", "write 1 28 once", None),
    ("sound", "write 1 4 once", None),
    ("sound", "write 1 -1000001 once", None),
    ("sound", "rename 1 5 once", None),
    ("sound", "allocation 1 12 once", None),
    ("ignores-write", "write 1 28 once", "neither the old one nor the new one"),
    ("impatient", "write 1 -1000001 once", "neither the old one nor the new one"),
    ("ignores-rename", "rename 1 5 once", "no output, and no error"),
    ("leaves-temporary", "write 1 28 once", "left behind"),
    ("overwrites", "writing 2 -1000002 once", "neither the old one nor the new one"),
    ("sound", "writing 2 -1000002 once", "left behind"),
    ("aborts", "allocation 1 12 once", "SIGABRT"),
    ("hangs", "write 1 28 once", "stuck"),
    ("exit-1", "write 1 28 once", "exit code 1"),
    ("silent", "write 1 28 once", "without an error"),
]


def victim(fault):
    return Scenario(fault, [fault, "{out}"], output="out.txt")
