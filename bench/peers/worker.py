"""Runs NumPy's and PyTorch's own ways of doing an operation, and times them. Started by the benchmark, which checks the
results.

A request is a line of JSON on standard input, its reply a line on standard output; arrays are exchanged through the
memory file 3. Each request names what to do:
  facts     which libraries there are
  begin     forget all arrays
  input     take over an input
  output    make room for the result
  compile   have PyTorch make a kernel for it
  run       do it once, with the library's threads awake where value is 1; replies with the seconds of the call and, on a
            card, of the device
  spoil     overwrite the place of the result
  flush     displace the card's cache by writing so many bytes
  fetch     put the result, laid out as the output buffer, into the shared memory
"""

import json
import mmap
import os
import sys
import time

MEMORY_FILE = 3

replies = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what a library prints is no reply

try:
    import numpy
except ImportError:
    numpy = None
torch = None

# Of moves only the size of an element counts.
TYPES = {"move1": "u1", "move2": "i2", "move4": "f4", "move8": "f8", "move16": "c16",
         "u8": "u1", "i8": "i1", "bool": "?", "u16": "u2", "i16": "i2", "f16": "f2", "bf16": "u2", "u32": "u4",
         "i32": "i4", "f32": "f4", "u64": "u8", "i64": "i8", "f64": "f8", "c64": "c8", "c128": "c16"}


def import_torch():
    global torch
    if torch is None:
        try:
            import torch as module
            torch = module
        except ImportError:
            torch = False
    return torch or None


def facts(request):
    found = {"numpy": numpy and numpy.__version__, "torch": None, "cuda": None}
    if numpy and import_torch():
        found["torch"] = torch.__version__
        found["torch_threads"] = torch.get_num_threads()
        if torch.cuda.is_available():
            found["cuda"] = torch.cuda.get_device_name(0)
    return found


def shared_memory(size):
    """The memory shared with the benchmark, at least so large: mapped again only when it has grown, and on a card's
    machine pinned, since fetching a result through fresh pages takes far longer than making it."""
    global mapping
    if mapping is None or len(mapping) < size:
        old, mapping = mapping, mmap.mmap(MEMORY_FILE, 0)
        if cuda >= 0:
            if old is not None:
                torch.cuda.cudart().cudaHostUnregister(address(old))
            torch.cuda.cudart().cudaHostRegister(address(mapping), len(mapping), 0)
    return mapping


def address(memory):
    return numpy.frombuffer(memory, "u1").ctypes.data


class Array:
    """One array in memory of its own: on the card where the job is there, else ordinary memory as a user of these
    libraries has it."""

    def __init__(self, request, contents):
        layout = request["array"]
        self.type = numpy.dtype(TYPES[layout["type"]])
        self.shape, self.strides, self.offset = tuple(layout["shape"]), tuple(layout["strides"]), layout["offset"]
        self.bytes = request["bytes"]
        self.flat = self.flat_tensor = None
        if cuda < 0:
            self.flat = self.shared().copy() if contents else numpy.empty_like(self.shared())
        elif contents:
            self.flat_tensor = torch.from_numpy(self.shared()).to(torch.device("cuda", cuda))
        else:
            self.flat_tensor = torch.empty_like(torch.from_numpy(self.shared()), device=torch.device("cuda", cuda))

    def shared(self):
        return numpy.frombuffer(shared_memory(self.bytes), self.type, self.bytes // self.type.itemsize)

    def numpy(self):
        return numpy.lib.stride_tricks.as_strided(
            self.flat[self.offset:], self.shape, tuple(stride * self.type.itemsize for stride in self.strides))

    def tensor(self):
        if self.flat_tensor is None:
            self.flat_tensor = torch.from_numpy(self.flat)
        return torch.as_strided(self.flat_tensor, self.shape, self.strides, self.offset)

    def spoil(self, value, on_torch):
        if on_torch:
            self.tensor()
            self.flat_tensor.view(torch.uint8).fill_(value)
        else:
            self.flat.view("u1").fill(value)

    def fetch(self, on_torch):
        if on_torch:
            torch.from_numpy(self.shared()).copy_(self.flat_tensor)
        else:
            self.shared()[:] = self.flat

    def fetch_new(self, result):
        """As fetch, of a contiguous result that the library made itself."""
        shared = self.shared()
        end = self.offset + int(numpy.prod(self.shape))
        place = shared[self.offset:end]
        shared[:self.offset] = 0
        shared[end:] = 0
        if isinstance(result, numpy.ndarray) or numpy.isscalar(result):
            place[:] = numpy.ravel(result)
        else:
            torch.from_numpy(place).copy_(result.reshape(-1))


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, {"call": time.perf_counter() - start}


def timed_on_card(call):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start = time.perf_counter()
    begin.record()
    result = call()
    end.record()
    end.synchronize()
    stop = time.perf_counter()
    return result, {"call": stop - start, "device": begin.elapsed_time(end) * 1e-3}


def wake(library, operands):
    """Threads of a product that sleep are woken by a small one, since a user's next call finds them awake."""
    if library is numpy and operands[0].dtype.kind == "f":
        small = numpy.ones((96, 96), operands[0].dtype)
        small @ small


def calls(request):
    """The two ways of a library to do it: into a new array, and into one that exists. (Only the first of compiled.)"""
    library = torch if request["peer"].startswith("torch") else numpy
    operands = [array.tensor() if library is torch else array.numpy() for array in inputs]
    target = output.tensor() if library is torch else output.numpy()
    kind = request["kind"]
    if kind == "move":
        source = operands[0]
        if request["peer"].endswith("-compiled"):
            return lambda: compiled(source), None
        if library is torch:
            return source.contiguous, lambda: target.copy_(source)
        return lambda: numpy.ascontiguousarray(source), lambda: numpy.copyto(target, source)
    if kind == "matmul":
        if request["value"]:
            wake(library, operands)
        if library is torch:
            return lambda: torch.matmul(*operands), lambda: torch.matmul(*operands, out=target)
        dtype = target.dtype
        return lambda: numpy.matmul(*operands, dtype=dtype), lambda: numpy.matmul(*operands, out=target, dtype=dtype)
    axes = tuple(request["axes"])
    if library is torch:
        if kind == "norm":
            return lambda: torch.linalg.vector_norm(operands[0], dim=axes), None
        reduce = {"min": "amin", "max": "amax"}.get(kind, kind)
        options = {"dim": axes[0] if kind.startswith("arg") else axes} if len(axes) < operands[0].dim() else {}
        if reduce in ("amin", "amax"):
            options = {"dim": axes}
        return lambda: getattr(torch, reduce)(operands[0], **options), None
    axis = None if len(axes) == operands[0].ndim else axes[0] if kind.startswith("arg") else axes
    return lambda: getattr(numpy, kind)(operands[0], axis=axis), None


def compile_move(request):
    """The strides are those of the array, as of one that a user has permuted. What was compiled for other arrays is
    forgotten: PyTorch would begin to make kernels for any shape."""
    global compiled, result
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x.contiguous(), dynamic=False)
    result = None
    calls(request)[0]()  # at the first call it compiles
    torch.cuda.synchronize()
    return {}


def run(request):
    global result
    result = None  # given back before the clock starts
    new, out = calls(request)
    into_existing = request["peer"].endswith("-out")
    clock = timed_on_card if request["peer"].startswith("torch") and cuda >= 0 else timed
    made, times = clock(out if into_existing else new)
    result = None if into_existing else made
    return times


def spoil(request):
    global result
    result = None
    if request["peer"].endswith("-out"):
        output.spoil(request["value"], request["peer"].startswith("torch"))
    return {}


def flush(request):
    global scrap
    if scrap is None or scrap.numel() != request["value"]:
        scrap = torch.empty(request["value"], dtype=torch.uint8, device=torch.device("cuda", cuda))
    scrap.fill_(0)
    torch.cuda.synchronize()
    return {}


def fetch(request):
    if request["peer"].endswith("-out"):
        output.fetch(request["peer"].startswith("torch"))
    else:
        output.fetch_new(result)
    return {}


def begin(request):
    global inputs, output, result, cuda
    inputs, output, result, cuda = [], None, None, request["cuda"]
    if torch and torch.cuda.is_available():
        torch.cuda.empty_cache()
    return {}


def take_input(request):
    inputs.append(Array(request, contents=True))
    return {}


def make_output(request):
    global output
    output = Array(request, contents=False)
    return {}


inputs, output, result, compiled, scrap, mapping, cuda = [], None, None, None, None, None, -1
DO = {"facts": facts, "begin": begin, "input": take_input, "output": make_output, "compile": compile_move, "run": run,
      "spoil": spoil, "flush": flush, "fetch": fetch}
for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = DO[request["do"]](request)
    except Exception as error:  # whatever a library throws is the benchmark's to report
        reply = {"error": f"{type(error).__name__}: {error}"}
    replies.write(json.dumps(reply) + "\n")
