#!/usr/bin/python3
"""python_call.py [--calls N] [--limit US]: what a call of a small network from Python
takes beyond the network itself: glowish.load()'s model, called with an array, less the
same network's bundle, called in a loop of C. Prints the medians of 20 rounds of N calls
(default 2000), in microseconds. With --limit it fails where the difference is larger.

Needs the module glowish on PYTHONPATH (build/release/python), NumPy, and cc or clang.
"""
import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import glowish

LOOP = """
#include <stdint.h>
#include <time.h>
int ENTRY(const uint8_t *, uint8_t *, uint8_t *);
double loop(const uint8_t *weights, uint8_t *placeholders, uint8_t *activations,
            long count) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long i = 0; i < count; ++i)
    if (ENTRY(weights, placeholders, activations))
      return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - begin.tv_sec) * 1e6 + (end.tv_nsec - begin.tv_nsec) * 1e-3;
}
"""


def make_network(size):
    """A layer of size x size, in the text form: no other packages are needed."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "../tests/python"))
    import models
    return models.dense(batch=1, inputs=size, outputs=size)[0]


def load_loop(bundle, folder):
    """The loop in C, linked with the bundle."""
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("clang-19")
    if compiler is None:
        sys.exit("python_call.py: there is no C compiler (cc, clang)")
    source, library = f"{folder}/loop.c", f"{folder}/loop.so"
    with open(source, "w", encoding="utf-8") as file:
        file.write(LOOP.replace("ENTRY", bundle.name))
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source,
                    str(bundle.object)], check=True)
    loop = ctypes.CDLL(library).loop
    loop.restype = ctypes.c_double
    loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long]
    return loop


def measure(calls):
    """Medians: of a call from Python, of one in the loop, and of what is between."""
    with tempfile.TemporaryDirectory() as folder:
        made = make_network(16)
        bundle = glowish.compile(made, folder, network_name="net")
        loaded = bundle.load()
        loop = load_loop(bundle, folder)
        model = glowish.load(made)
        x = np.ones((1, 16), np.float32)
        inside, outside, difference = [], [], []
        for _ in range(20):
            inside.append(loop(*loaded._arguments, calls) / calls)
            begin = time.perf_counter()
            for _ in range(calls):
                model(x)
            outside.append((time.perf_counter() - begin) / calls * 1e6)
            difference.append(outside[-1] - inside[-1])
        return (statistics.median(outside), statistics.median(inside),
                statistics.median(difference))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--limit", type=float)
    arguments = parser.parse_args()
    outside, inside, difference = measure(arguments.calls)
    print(f"call {outside:.2f} us, network {inside:.2f} us, "
          f"beyond it {difference:.2f} us")
    if arguments.limit is not None and difference > arguments.limit:
        sys.exit(f"more than {arguments.limit} us")


if __name__ == "__main__":
    main()
