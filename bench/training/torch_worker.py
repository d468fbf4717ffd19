"""Trains a network with PyTorch: torch_worker.py NETWORK SOLVER STEPS FOLDER.

Writes FOLDER/model.onnx with the first weights, the batches as x.npy and
label.npy, and prints losses, milliseconds a step and peak memory as JSON. With
`export` behind the folder it only writes.
"""

import json
import resource
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F

import networks


def export(module, example, path):
    torch.onnx.export(module, example, path, input_names=["x"],
                      output_names=["y"], do_constant_folding=False,
                      training=torch.onnx.TrainingMode.TRAINING,
                      opset_version=15)


def make_optimizer(solver, parameters, rate):
    if solver == "sgd":
        return torch.optim.SGD(parameters, rate, networks.MOMENTUM)
    return torch.optim.Adam(parameters, rate)


def train(module, inputs, labels, optimizer):
    losses, times = [], []
    for x, label in zip(inputs, labels):
        begin = time.perf_counter()
        optimizer.zero_grad()
        y = module(x)
        loss = F.cross_entropy(y.reshape(-1, y.shape[-1]), label.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append(time.perf_counter() - begin)
    return losses, times


def main():
    name, solver, steps, folder = sys.argv[1:5]
    torch.set_num_threads(1)
    _, make_batches, rates, _ = networks.NETWORKS[name]
    inputs, labels = make_batches(int(steps))
    if sys.argv[5:] == ["export"]:
        export(networks.make_module(name), torch.from_numpy(inputs[0]),
               folder + "/model.onnx")
        np.save(folder + "/x.npy", inputs.reshape(-1, *inputs.shape[2:]))
        np.save(folder + "/label.npy", labels.reshape(-1, *labels.shape[2:]))
        return
    module = networks.make_module(name)
    losses, times = train(
        module, torch.from_numpy(inputs), torch.from_numpy(labels),
        make_optimizer(solver, module.parameters(), rates[solver]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"losses": losses, "ms": 1e3 * float(np.median(times)),
                      "mb": peak / 1024}))


if __name__ == "__main__":
    main()
