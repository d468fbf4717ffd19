"""From a model to a bundle."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _bundle, _glowish
from ._errors import ArgumentError
from ._options import merge_options
from ._progress import make_progress
from ._report import Report
from ._source import Source
from ._values import Value


@dataclass(frozen=True)
class CompiledBundle:
    """The files of a bundle, and what its header says.

    folder, name: where the files are, and what they begin with.
    object, header: of one for JavaScript, there may be others (files).
    weights: None where they are in the object.
    inputs, outputs: of a bundle for several values of a dimension, or one that
        learns, none; its header has them.
    report: the page about the compilation, with report=True.
    """

    folder: Path
    name: str
    files: Tuple[Path, ...]
    object: Optional[Path]
    header: Optional[Path]
    weights: Optional[Path]
    inputs: Tuple[Value, ...] = ()
    outputs: Tuple[Value, ...] = ()
    report: Optional[Report] = field(default=None, repr=False)

    def load(self) -> "_bundle.Bundle":
        """The bundle in this process: glowish.bundle() of its object."""
        if self.object is None:
            raise ArgumentError(f"the bundle '{self.name}' has no object")
        return _bundle.bundle(self.object)


def _list_files(folder: Path, name: str) -> List[Path]:
    """The files of a bundle, in alphabetical order."""
    return sorted(path for path in folder.iterdir()
                  if path.name.startswith((name + ".", name + "_", "glowish_")))


def compile(model: Any, out: "str | os.PathLike[str]", *,
            target: Optional[str] = None,
            cpu: Optional[str] = None,
            shapes: Optional[Dict[str, Sequence[int]]] = None,
            symbols: Optional[Dict[str, Any]] = None,
            quantize: Any = None,
            report: bool = False,
            progress: Any = False,
            **options: Any) -> CompiledBundle:
    """Compiles a model and writes a bundle: an object file, a C header, weights.

    model: the path of an ONNX, TensorFlow Lite or PyTorch model, two paths or a
        folder (Caffe2), bytes of an ONNX model, or an onnx.ModelProto; several paths
        for a bundle with a function for each.
    out: the folder of the bundle, which is made if it is not there.
    target, cpu: the triple and the processor that code is made for; this machine.
    shapes: the shapes of inputs whose model leaves them open or states others:
        {"x": (1, 3, 224, 224)}, or with a type, {"x": ("float32", (1, 3))}.
    symbols: values of symbolic dimensions: {"N": 8}; several, {"N": [1, 8]}; or a
        range that each call states, {"N": range(1, 513)}, with values that have
        code of their own in front: {"N": [1, 8, range(1, 513)]}.
    quantize: "dynamic", "float16", "bfloat16", "int8", "uint8", "int4", "uint4"
        (weights alone), or the path of a profile.
    report: keep the page about the compilation.
    progress: True shows progress; a function is called with each piece of it.
    options: all settings of the compiler, by their names with '_' in the place of
        '-': glowish.options("compile") lists them.

    Raises glowish.Error with the compiler's line; nothing is written then.
    """
    source = Source(model)
    pairs = merge_options(source.path, shapes, symbols, quantize,
                          {"target": target, "mcpu": cpu, **options})
    folder = Path(out)
    name, page = _glowish.make_bundle(
        paths=source.paths, folder=str(folder),
        options=pairs, types={}, report=report, report_times=True,
        progress=make_progress(progress))
    files = _list_files(folder, name)

    def find(suffix: str) -> Optional[Path]:
        path = folder / (name + suffix)
        return path if path in files else None

    inputs, outputs = _bundle.read_values(find(".h"), find(".o"))
    return CompiledBundle(folder, name, tuple(files), find(".o"), find(".h"),
                          find(".weights.bin"), inputs, outputs,
                          Report(page) if report else None)
