#!/usr/bin/python3
"""Times PyTorch on a network; see workers.mjs for the protocol.

    torch_worker.py EXPORTER.py NAME

The exporter's build(NAME) gives the module and its inputs. The module is
traced and optimised for inference; one thread.
"""

import importlib.util
import json
import sys
import time

import torch


def load(exporter, name):
    spec = importlib.util.spec_from_file_location("exporter", exporter)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.set_num_threads(1)
    net, inputs = module.build(name)
    return net.eval(), inputs


def as_tuple(values):
    return values if isinstance(values, tuple) else (values,)


def largest_error(actual, expected):
    return max(((a - e).abs().max() / e.abs().max()).item()
               for a, e in zip(as_tuple(actual), as_tuple(expected)))


def main():
    net, inputs = load(sys.argv[1], sys.argv[2])
    with torch.no_grad():
        expected = net(*inputs)
        fast = torch.jit.optimize_for_inference(
            torch.jit.trace(net, inputs, check_trace=False))
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
