"""The compiler glowish for Python.

    import glowish
    model = glowish.load("net.onnx")      # compiles in this process
    probabilities = model(image)          # NumPy arrays in and out

    glowish.compile("net.onnx", out="folder", target="aarch64-linux-gnu")

docs/python.md has all of it.
"""
from . import _log
from ._bundle import Bundle, bundle
from ._compile import CompiledBundle, compile
from ._errors import ArgumentError, ArgumentTypeError, Error
from ._glowish import version as __version__
from ._model import Model, load
from ._options import Option, Options, options
from ._report import Report, report
from ._train import Training, train
from ._values import Value

__all__ = ["ArgumentError", "ArgumentTypeError", "Bundle", "CompiledBundle",
           "Error", "Model", "Option", "Options", "Report", "Training", "Value",
           "bundle", "compile", "load", "options", "report", "train"]
