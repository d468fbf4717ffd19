"""What aten_arguments.py calls operators with. Functions in aten_cases_*.py yield cases
of some overloads each."""

import dataclasses
import glob
import importlib
import os
from typing import Callable, Optional

import torch

# {name of an overload: [(function that yields its cases, their further fields)]}
GENERATORS = {}


@dataclasses.dataclass
class Case:
    """A call of an operator."""
    op: str
    # By the names of the schema; what is left out has its default.
    arguments: dict
    # Names of tensors that are constants of the program, not inputs.
    constants: tuple = ()
    # What is right, where torch.ops has no such operator.
    reference: Optional[Callable] = None
    # The results that are compared; all if it is None.
    results: Optional[tuple] = None
    # How many times the error is accepted that a function of one element may have.
    slack: float = 1
    # Whether its numbers are those of tensors, which TorchScript has no overload for
    # ints and floats of.
    is_computed: bool = False
    # Formats that can't have it: "pt2", "script".
    without: tuple = ()

    def describe(self):
        def text(value):
            if isinstance(value, torch.Tensor):
                kind = str(value.dtype).replace("torch.", "")
                return f"{kind}{list(value.shape)}"
            if isinstance(value, (list, tuple)):
                return "[" + ", ".join(map(text, value)) + "]"
            return str(value)
        arguments = ", ".join(f"{k}={text(v)}" for k, v in self.arguments.items())
        return f"{self.op}({arguments})"


def cases(*ops, **fields):
    """Registers a generator of dictionaries of arguments, or of cases, for some
    overloads. It is given the overload if it has a parameter. `fields`: further fields
    of the cases."""
    def add(function):
        for op in ops:
            GENERATORS.setdefault(op, []).append((function, fields))
        return function
    return add


def generate(op):
    """All cases of an overload."""
    for function, fields in GENERATORS.get(op, []):
        for item in function(op) if function.__code__.co_argcount else function():
            if not isinstance(item, Case):
                item = Case(op, item)
            yield dataclasses.replace(item, op=op, **fields)


def load():
    """Imports all generators."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(folder, "aten_cases_*.py"))):
        importlib.import_module(os.path.basename(path)[:-len(".py")])
