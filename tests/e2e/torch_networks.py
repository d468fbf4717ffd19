"""What torch_export.py and torchscript.py compare: outputs with PyTorch's, and
the 20 networks of $GLOWISH_EXPORTER (default ../shared/tools/export_models.py)
with their ONNX exports in $GLOWISH_MODELS (default build/models).

To be imported by a script whose current folder is the project's; needs PyTorch.
"""

import copy
import functools
import importlib.util
import os
import re
import sys

import numpy as np
import torch

from comparison import Tolerance, describe_difference, report
from model_runs import run_tool
from torch_modules import flatten

EXPORTER = os.environ.get("GLOWISH_EXPORTER",
                          "../shared/tools/export_models.py")
MODELS = os.environ.get("GLOWISH_MODELS", "build/models")
TOLERANCE = Tolerance(of_largest=1e-5)
# How many times as far from the outputs in double precision as PyTorch's own.
MOST_TIMES_OWN = 2
# With F(4x4,3x3) Winograd's errors are some 2 times larger, which adds up in the deepest
# networks; this is no less exact than sums of products.
EXACT_OPTIONS = ["-winograd=2"]
# How many times the instructions of the ONNX export there may be.
MOST_TIMES_ONNX = 1.02


class Reference:
    """PyTorch's outputs of a module."""

    def __init__(self, module, inputs):
        self.module, self.inputs = module, inputs
        with torch.no_grad():
            self.outputs = flatten(module(*inputs))

    @functools.cached_property
    def exact(self):
        """The outputs in double precision."""
        wide = copy.deepcopy(self.module).double()
        with torch.no_grad():
            return flatten(wide(*[
                x.double() if x.is_floating_point() else x
                for x in self.inputs]))

    def check(self, results, names):
        """What is wrong with the arrays `results`, of which `names` are the
        outputs, in their order; empty if nothing is. Floats are PyTorch's to
        TOLERANCE of the largest magnitude, or as near to the exact ones as
        MOST_TIMES_OWN times PyTorch's."""
        if len(names) != len(self.outputs):
            return f"{len(names)} outputs, not {len(self.outputs)}"
        expected = {name: value.numpy() for name, value in zip(names, self.outputs)}
        problems = {}
        for i, (name, value) in enumerate(expected.items()):
            problem = (describe_difference(results[name], value, TOLERANCE) if name in results
                       else f"no such output, but {sorted(results)}")
            if problem.startswith("error ") and np.issubdtype(value.dtype, np.floating):
                problem = self.compare_with_exact(problem, results[name], i)
            if problem:
                problems[name] = problem
        return report(results, expected, problems, TOLERANCE)

    def compare_with_exact(self, problem, actual, i):
        """`problem`, with the distances, unless output i is near enough."""
        exact = self.exact[i].numpy()

        def get_distance(value):
            return np.abs(value.astype(np.float64) - exact).max(initial=0)
        largest = np.abs(exact).max(initial=0)
        own = get_distance(self.outputs[i].numpy())
        distance = get_distance(actual)
        if distance <= MOST_TIMES_OWN * own + 1e-7 * largest:
            return ""
        return (f"{problem}; {distance} from the outputs in double precision, "
                f"and PyTorch {own}")


@functools.cache
def load_exporter():
    """The module that builds the networks, or None."""
    if not os.path.exists(EXPORTER):
        print(f"no {EXPORTER}: the networks are skipped")
        return None
    spec = importlib.util.spec_from_file_location("export_models", EXPORTER)
    module = importlib.util.module_from_spec(spec)
    # PyTorch looks up the classes that it traces.
    sys.modules["export_models"] = module
    spec.loader.exec_module(module)
    return module


def count_instructions(*args):
    """The instructions of a model's program, without those that manage memory;
    or what was printed instead. They need no code: that of the archive has run,
    and e2e-networks has that of the ONNX export."""
    code, text = run_tool("model-compiler", *args, "-dump-ir",
                          "-stop-after=plan")
    if code != 0:
        return text.strip()
    return len(re.findall(r'^ +"', text, re.M))


def check_instructions(name, path, options=()):
    """What is wrong with the number of instructions of the network `name`, whose
    archive is at `path`: there may be as many as of its ONNX export, times
    MOST_TIMES_ONNX."""
    onnx = os.path.join(MODELS, name, "model.onnx")
    if not os.path.exists(onnx):
        print(f"no {onnx}: its instructions are not compared")
        return ""
    own = count_instructions("-model=" + path, *options)
    other = count_instructions("-model=" + onnx)
    if isinstance(own, str) or isinstance(other, str):
        return f"instructions: {own}; of the ONNX form: {other}"
    if own > MOST_TIMES_ONNX * other:
        return f"{own} instructions, and {other} of the ONNX form"
    return ""
