"""Whole networks for torchscript.py: those of the exporter of the test data,
compared with their ONNX form, and torchvision's detection."""

import os
import warnings

import torch

from model_runs import BACKENDS, run_model
from torch_networks import (EXACT_OPTIONS, Reference, check_instructions,
                            load_exporter)


def detection():
    """Backbone and heads of a detector, whose boxes follow in the
    application."""
    import torchvision
    network = torchvision.models.detection.ssdlite320_mobilenet_v3_large(
        weights=None, weights_backbone=None)

    class Heads(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone, self.head = network.backbone, network.head

        def forward(self, x):
            features = list(self.backbone(x).values())
            heads = self.head(features)
            return heads["cls_logits"], heads["bbox_regression"]

    torch.manual_seed(3)
    return Heads().eval(), (torch.randn(1, 3, 320, 320),)


def list_names():
    exporter = load_exporter()
    return (list(exporter.MODELS) if exporter else []) + ["detection"]


def check(name, folder):
    """What is wrong with a network; empty if nothing is."""
    network, inputs = (detection() if name == "detection"
                       else load_exporter().build(name))
    path = os.path.join(folder, name + ".pt")
    # Without gradients, attention would be one operator of PyTorch alone.
    for parameter in network.parameters():
        parameter.requires_grad_(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.jit.trace(network, inputs, check_trace=False)
    program.save(path)
    names = [a.name for a in program.forward.schema.arguments[1:]]
    reference = Reference(network, inputs)
    outputs = (["output"] if len(reference.outputs) == 1 else
               [f"output.{i}" for i in range(len(reference.outputs))])
    given = {key: own.numpy() for key, own in zip(names, inputs)}
    for backend in BACKENDS:
        results, text = run_model([path], given, backend,
                                  os.path.join(folder, "run"), EXACT_OPTIONS)
        wrong = (text.strip() if results is None else
                 reference.check(results, outputs))
        if wrong:
            return f"{backend}: {wrong}"
    if name == "detection":
        return ""
    kinds = {torch.float32: "float", torch.int64: "int64"}
    return check_instructions(name, path, [
        f"-model-input={key},{kinds[own.dtype]},{list(own.shape)}"
        for key, own in zip(names, inputs)])
