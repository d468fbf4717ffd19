"""Models that run in this process."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional, Sequence, Tuple

from . import _glowish
from ._options import merge_options
from ._progress import make_progress
from ._report import Report
from ._source import Source
from ._values import Value


# The class is the extension's, as a class of Python's around it would make each call
# longer; _glowish.pyi has its documentation for type checkers.
Model = _glowish.Model
Model.__module__ = "glowish"
Model.__doc__ = """A model that is compiled in this process; glowish.load() makes one.

Called with its inputs, by position or name, it returns its output: an array, or a tuple
of arrays where the model has several. run() takes and returns dictionaries. Inputs are
NumPy arrays, PyTorch tensors and all else that has __dlpack__, lists and numbers. Arrays
that are contiguous are read where they are; outputs are new arrays that the program has
written itself.

A shape that has not been there before is compiled for. Several threads may call one
model; its calls run one after the other.
"""


def _report(self: "_glowish.Model", times: bool = True) -> Report:
    """The page about the compilation for the shapes that were called last."""
    source, options = self._origin
    types = {value.name: (value.kind, value.shape) for value in self.inputs
             if value.kind and value.shape is not None
             and all(isinstance(dim, int) for dim in value.shape)}
    _, page = _glowish.make_bundle(
        paths=source.paths, folder="", options=options,
        types=types, report=True, report_times=times)
    return Report(page)


def _show(self: "_glowish.Model") -> str:
    def show(values: Tuple[Value, ...]) -> str:
        return ", ".join(f"{value.name}: {value.dtype}"
                         f"{list(value.shape) if value.shape is not None else ''}"
                         for value in values)
    return f"<glowish.Model ({show(self.inputs)}) -> ({show(self.outputs)})>"


Model.report = _report
Model.__repr__ = _show


def load(model: Any, *,
         shapes: Optional[Dict[str, Sequence[int]]] = None,
         symbols: Optional[Dict[str, Any]] = None,
         quantize: Any = None,
         cache: "str | os.PathLike[str] | None" = None,
         capacity: int = 8,
         constants: Optional[Dict[str, Any]] = None,
         progress: Any = False,
         **options: Any) -> Model:
    """Compiles a model to be run in this process, by this machine.

    model, shapes, symbols, quantize, progress, options: as of glowish.compile();
        glowish.options("load") lists the options. A symbol has one value or a
        range; those that have none are compiled for when a call tells them.
    cache: a folder that keeps programs, for the next process.
    capacity: the programs for different shapes that are kept in memory.
    constants: inputs that have one value: the model is compiled for that.
    """
    source = Source(model)
    pairs = merge_options(source.path, shapes, symbols, quantize, options)
    loaded = _glowish.load_model(
        paths=source.paths, options=pairs,
        cache=os.fspath(cache) if cache is not None else "", capacity=capacity,
        constants=constants or {}, compiles_now=True, compiles_quickly=False,
        progress=make_progress(progress))
    # The model's file is read again for other shapes.
    loaded._origin = (source, pairs)
    return loaded
