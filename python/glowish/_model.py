"""Models that run in this process."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from . import _glowish
from ._options import merge_options
from ._report import Report
from ._source import Source
from ._values import Value

Array = np.ndarray


class Model:
    """A model that is compiled in this process; glowish.load() makes one.

    Called with its inputs, by position or name, it returns its output: an array, or
    a tuple of arrays where the model has several. run() takes and returns
    dictionaries. Inputs are NumPy arrays, PyTorch tensors and all else that has
    __dlpack__, lists and numbers. Arrays that are contiguous are read where they
    are; outputs are new arrays that the program has written itself.

    A shape that has not been there before is compiled for. Several threads may call
    one model; its calls run one after the other.
    """

    def __init__(self, model: "_glowish.Model", source: Source,
                 options: Sequence[Tuple[str, str]]) -> None:
        self._model = model
        self._source = source
        self._options = list(options)

    def __call__(self, *args: Any, **kwargs: Any) -> Union[Array, Tuple[Array, ...]]:
        return self._model(*args, **kwargs)

    def run(self, inputs: Dict[str, Any],
            out: Optional[Dict[str, Array]] = None) -> Dict[str, Array]:
        """The outputs by their names.

        inputs: by their names. out: arrays that outputs are written to.
        """
        return self._model.run(inputs, out)

    @property
    def inputs(self) -> Tuple[Value, ...]:
        """The inputs, of the shapes that were called last, or as declared."""
        return tuple(self._model.inputs)

    @property
    def outputs(self) -> Tuple[Value, ...]:
        """The outputs, of the shapes that were called last, or as declared."""
        return tuple(self._model.outputs)

    def get_state(self, name: str) -> Array:
        """A copy of what a state has now."""
        return self._model.get_state(name)

    def set_state(self, name: str, value: Any) -> None:
        """Replaces what a state has: zeros begin anew."""
        self._model.set_state(name, value)

    @property
    def num_compiled(self) -> int:
        """How many programs were compiled, without those that a cache had."""
        return self._model.num_compiled

    def report(self, times: bool = True) -> Report:
        """The page about the compilation for the shapes that were called last."""
        types = {value.name: (value.kind, value.shape) for value in self.inputs
                 if value.kind and value.shape is not None
                 and all(isinstance(dim, int) for dim in value.shape)}
        _, page = _glowish.make_bundle(
            path=self._source.path, second_path=self._source.second, folder="",
            options=self._options, types=types, report=True, report_times=times)
        return Report(page)

    def __repr__(self) -> str:
        def show(values: Tuple[Value, ...]) -> str:
            return ", ".join(f"{value.name}: {value.dtype}"
                             f"{list(value.shape) if value.shape is not None else ''}"
                             for value in values)
        return f"<glowish.Model ({show(self.inputs)}) -> ({show(self.outputs)})>"


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
        path=source.path, second_path=source.second, options=pairs,
        cache=os.fspath(cache) if cache is not None else "", capacity=capacity,
        constants=constants or {}, compiles_now=True, compiles_quickly=False)
    return Model(loaded, source, pairs)
