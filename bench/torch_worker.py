#!/usr/bin/python3
"""Times PyTorch on a network; see workers.mjs for the protocol.

    torch_worker.py TRACED FOLDER THREADS

TRACED is what torch_trace.py wrote; it is optimised for inference. FOLDER has
the inputs and outputs, input_K.npy and output_K.npy.
"""

import itertools
import json
import os
import sys
import time

import numpy
import torch


def read_numbered(folder, stem):
    paths = (os.path.join(folder, "%s_%d.npy" % (stem, i))
             for i in itertools.count())
    return [torch.from_numpy(numpy.load(path))
            for path in itertools.takewhile(os.path.exists, paths)]


def largest_error(actual, expected):
    actual = actual if isinstance(actual, tuple) else (actual,)
    return max(((a - e).abs().max() / e.abs().max()).item()
               for a, e in zip(actual, expected))


def main():
    path, folder, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    inputs = read_numbered(folder, "input")
    expected = read_numbered(folder, "output")
    with torch.no_grad():
        fast = torch.jit.optimize_for_inference(torch.jit.load(path).eval())
        for _ in range(3):
            error = largest_error(fast(*inputs), expected)
        print("ready " + json.dumps({"error": error}), flush=True)
        for line in sys.stdin:
            last = time.perf_counter()
            end = last + float(line.split()[1]) / 1000
            times = []
            while len(times) < 3 or last < end:
                fast(*inputs)
                now = time.perf_counter()
                times.append(now - last)
                last = now
            print("%.6f" % (1000 * sorted(times)[len(times) // 2]),
                  flush=True)


if __name__ == "__main__":
    main()
