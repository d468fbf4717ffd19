"""Where models come from."""
from __future__ import annotations

import os
from typing import Any, Tuple

from . import _glowish
from ._errors import ArgumentError, ArgumentTypeError


class Source:
    """The file or files of a model, which exist as long as this does.

    model: a path, several paths (the nets of a Caffe2 model, or a model for each
        function of a bundle), the bytes of an ONNX file, or an object with
        SerializeToString(), as onnx.ModelProto is.
    """

    def __init__(self, model: Any) -> None:
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        if isinstance(model, (bytes, bytearray, memoryview)):
            self._memory = _glowish.MemoryModel(bytes(model), "model.onnx")
            self.paths: Tuple[str, ...] = (self._memory.path,)
            return
        several = isinstance(model, (tuple, list)) and len(model) > 0
        try:
            self.paths = tuple(map(os.fspath, model if several else [model]))
        except TypeError:
            raise ArgumentTypeError(
                f"the model is of type {type(model).__name__}; accepted: a path, "
                "bytes, an onnx.ModelProto, or several paths") from None
        for path in self.paths:
            if not os.path.exists(path):
                raise ArgumentError(f"'{path}': there is no such file")

    @property
    def path(self) -> str:
        """The path of the model, or of the first of several."""
        return self.paths[0]
