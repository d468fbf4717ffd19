"""Whole networks for torchscript.py: those of the exporter of the test data,
compared with their ONNX form, and torchvision's detection."""

import importlib.util
import os
import re
import sys
import warnings

import torch

from model_runs import BACKENDS, compare, run_model, run_tool

EXPORTER = os.environ.get("GLOWISH_EXPORTER",
                          "../shared/tools/export_models.py")
MODELS = os.environ.get("GLOWISH_MODELS", "build/models")
# How many more instructions there may be than of the ONNX form.
MOST_FURTHER = 1.02
# Their ONNX forms are as far from PyTorch on the CPU: resnet50 1.5e-5,
# inception_v3 3.5e-5. networks.sh allows as much.
TOLERANCES = {"inception_v3": 1e-4, "resnet50": 1e-4}


def load_exporter():
    """The module with the networks; none if it is missing."""
    if not os.path.exists(EXPORTER):
        return None
    spec = importlib.util.spec_from_file_location("export_models", EXPORTER)
    module = importlib.util.module_from_spec(spec)
    sys.modules["export_models"] = module
    spec.loader.exec_module(module)
    return module


exporter = load_exporter()


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


NAMES = (list(exporter.MODELS) if exporter else []) + ["detection"]


def count_instructions(model, options):
    """The instructions of the program, without those that manage memory."""
    code, text = run_tool("model-compiler", "-model=" + model, *options,
                          "-dump-ir", "-emit-bundle=" + model + ".bundle")
    if code != 0:
        raise RuntimeError(text.strip()[-300:])
    return len(re.findall(r'^ +"', text, re.M))


def check(name, folder):
    """What is wrong with a network; empty if nothing is."""
    network, inputs = (detection() if name == "detection"
                       else exporter.build(name))
    path = os.path.join(folder, name + ".pt")
    # Without gradients, attention would be one operator of PyTorch alone.
    for parameter in network.parameters():
        parameter.requires_grad_(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.jit.trace(network, inputs, check_trace=False)
    program.save(path)
    names = [a.name for a in program.forward.schema.arguments[1:]]
    with torch.no_grad():
        results = network(*inputs)
    if isinstance(results, torch.Tensor):
        expected = {"output": results}
    else:
        expected = {f"output.{i}": own for i, own in enumerate(results)}
    given = {key: own.numpy() for key, own in zip(names, inputs)}
    for backend in BACKENDS:
        outputs, text = run_model([path], given, backend,
                                  os.path.join(folder, "run"))
        if outputs is None:
            return text.strip()
        for key, value in expected.items():
            wrong = compare(key, outputs[key], value.detach().numpy(),
                            TOLERANCES.get(name, 1e-5))
            if wrong:
                return f"{backend}: {wrong}"
    onnx = os.path.join(MODELS, name, "model.onnx")
    if not os.path.exists(onnx):
        return ""
    kinds = {torch.float32: "float", torch.int64: "int64"}
    options = [f"-model-input={key},{kinds[own.dtype]},{list(own.shape)}"
               for key, own in zip(names, inputs)]
    own = count_instructions(path, options)
    other = count_instructions(onnx, [])
    if own > MOST_FURTHER * other:
        return f"{own} instructions, and {other} of the ONNX form"
    return ""
