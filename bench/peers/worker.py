"""Runs NumPy's and PyTorch's own ways of moving an array, and times them. Started by the benchmark, which checks the results.

A request is a line of JSON on standard input, its reply a line on standard output; arrays are exchanged through the memory
file 3. Each request names what to do:
  facts     which libraries there are
  load      take over the input array, and make room for the output
  run       move once; replies with the seconds of the call and, on a card, of the device
  spoil     overwrite the place of the result
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


class Arrays:
    """The input and the output of one workload as NumPy arrays, and as tensors once PyTorch is asked for."""

    def __init__(self, request):
        # Copies of their own: ordinary memory, as a user of these libraries has it.
        element = numpy.dtype({1: "u1", 2: "i2", 4: "f4", 8: "f8", 16: "c16"}[request["element"]])
        self.memory = mmap.mmap(MEMORY_FILE, 0)
        self.shared_in = numpy.frombuffer(self.memory, element, request["in_bytes"] // element.itemsize)
        self.shared_out = numpy.frombuffer(self.memory, element, request["out_bytes"] // element.itemsize)
        self.shape, self.in_strides, self.out_strides = (
            tuple(request[name]) for name in ("shape", "in_strides", "out_strides"))
        self.in_offset, self.out_offset = request["in_offset"], request["out_offset"]
        self.cuda = request["cuda"]
        self.flat_in = self.shared_in.copy()
        self.flat_out = numpy.empty_like(self.shared_out)
        self.tensor_in = self.tensor_out = None
        self.result = None  # of those who make a new array each time

    def view(self, flat, offset, strides):
        itemsize = flat.itemsize
        return numpy.lib.stride_tricks.as_strided(
            flat[offset:], self.shape, tuple(stride * itemsize for stride in strides))

    def tensors(self):
        if self.tensor_in is None:
            self.tensor_in, self.tensor_out = torch.from_numpy(self.flat_in), torch.from_numpy(self.flat_out)
            if self.cuda >= 0:
                device = torch.device("cuda", self.cuda)
                self.tensor_in, self.tensor_out = self.tensor_in.to(device), self.tensor_out.to(device)
        return (torch.as_strided(self.tensor_in, self.shape, self.in_strides, self.in_offset),
                torch.as_strided(self.tensor_out, self.shape, self.out_strides, self.out_offset))

    def place(self):
        count = int(numpy.prod(self.shape))
        return self.shared_out[self.out_offset:self.out_offset + count]


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


def run(request):
    peer = request["peer"]
    arrays.result = None  # given back before the clock starts
    if peer.startswith("numpy"):
        source = arrays.view(arrays.flat_in, arrays.in_offset, arrays.in_strides)
        target = arrays.view(arrays.flat_out, arrays.out_offset, arrays.out_strides)
        new, out, clock = lambda: numpy.ascontiguousarray(source), lambda: numpy.copyto(target, source), timed
    else:
        source, target = arrays.tensors()
        new, out, clock = source.contiguous, lambda: target.copy_(source), timed_on_card if arrays.cuda >= 0 else timed
    result, times = clock(out if peer.endswith("-out") else new)
    arrays.result = None if peer.endswith("-out") else result
    return times


def spoil(request):
    arrays.result = None
    value = request["value"]
    if request["peer"] == "numpy-out":
        arrays.flat_out.view("u1").fill(value)
    elif request["peer"] == "torch-out":
        arrays.tensors()
        arrays.tensor_out.view(torch.uint8).fill_(value)
    return {}


def fetch(request):
    peer = request["peer"]
    arrays.shared_out.view("u1").fill(0)
    if peer == "numpy-out":
        arrays.shared_out[:] = arrays.flat_out
    elif peer == "torch-out":
        torch.from_numpy(arrays.shared_out).copy_(arrays.tensor_out)
    elif peer == "numpy":
        arrays.place()[:] = arrays.result.ravel()
    else:
        torch.from_numpy(arrays.place()).copy_(arrays.result.reshape(-1))
    return {}


def load(request):
    global arrays
    arrays = None
    if torch and torch.cuda.is_available():
        torch.cuda.empty_cache()
    arrays = Arrays(request)
    return {}


arrays = None
for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = {"facts": facts, "load": load, "run": run, "spoil": spoil, "fetch": fetch}[request["do"]](request)
    except Exception as error:  # whatever a library throws is the benchmark's to report
        reply = {"error": f"{type(error).__name__}: {error}"}
    replies.write(json.dumps(reply) + "\n")
