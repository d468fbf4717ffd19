#!/usr/bin/python3
"""Traces a network of PyTorch for torch_worker.py.

    torch_trace.py EXPORTER.py NAME TRACED

The exporter's build(NAME) gives the module and its inputs; the file TRACED is
written.
"""

import importlib.util
import os
import sys

import torch


def main():
    exporter, name, path = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("exporter", exporter)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net, inputs = module.build(name)
    traced = torch.jit.trace(net.eval(), inputs, check_trace=False)
    torch.jit.save(traced, path + ".part")
    os.rename(path + ".part", path)


if __name__ == "__main__":
    main()
