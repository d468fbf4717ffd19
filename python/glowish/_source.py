"""Where models come from."""
from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Any, Tuple

from ._errors import ArgumentError, ArgumentTypeError


class Source:
    """The file or files of a model, which exist as long as this does.

    model: a path, a pair of paths (the nets of a Caffe2 model), the bytes of an
        ONNX file, or an object with SerializeToString(), as onnx.ModelProto is.
    """

    def __init__(self, model: Any) -> None:
        self.second = ""
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        if isinstance(model, (bytes, bytearray, memoryview)):
            folder = tempfile.mkdtemp(prefix="glowish-")
            weakref.finalize(self, shutil.rmtree, folder, True)
            self.path = os.path.join(folder, "model.onnx")
            with open(self.path, "wb") as file:
                file.write(model)
            return
        if isinstance(model, (tuple, list)) and len(model) == 2:
            model, self.second = model[0], os.fspath(model[1])
        try:
            self.path = os.fspath(model)
        except TypeError:
            raise ArgumentTypeError(
                f"the model is of type {type(model).__name__}; accepted: a path, "
                "bytes, an onnx.ModelProto, or two paths (Caffe2)") from None
        for path in self.files():
            if not os.path.exists(path):
                raise ArgumentError(f"'{path}': there is no such file")

    def files(self) -> Tuple[str, ...]:
        """The paths that were given."""
        return (self.path, self.second) if self.second else (self.path,)
