"""Runs models, with model-runner or in this process.

To be imported by a script whose current folder is the project's.
$GLOWISH_BIN: the programs (default build/release/bin).
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np

BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
BACKENDS = ["Interpreter", "CPU"]

# The Python module is built with the programs, where pybind11 is.
glowish = None
if os.path.isdir(os.path.join(BIN, "..", "python", "glowish")):
    sys.path.insert(0, os.path.join(BIN, "..", "python"))
    import glowish  # noqa: E402


@dataclass
class Run:
    """How a model was run: its files, and what model-runner takes."""
    paths: list
    inputs: dict
    backend: str
    options: list
    # Inputs and outputs of bfloat16, which NumPy lacks: their bits as uint16.
    bfloats: set = field(default_factory=set)


class Outputs(dict):
    """Arrays by their names as those of files, and the run that made them."""

    def __init__(self, arrays, run):
        super().__init__(arrays)
        self.run = run


def run_tool(tool, *args):
    """Exit code, and all that was printed."""
    done = subprocess.run([os.path.join(BIN, tool), *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def legal(name):
    """A blob's name as that of a file."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)


def read_arrays(folder):
    """The .npy files of a folder, by their names."""
    return {file[:-len(".npy")]: np.load(os.path.join(folder, file))
            for file in os.listdir(folder)}


def state_types(inputs):
    """The types of inputs as -model-input states them. One of quantized elements
    is a tuple of the integers, the scale and the offset."""
    kinds = {"float32": "float", "float64": "double"}
    types = []
    for name, value in inputs.items():
        array, *scale = value if isinstance(value, tuple) else (value,)
        kind = "int8q" if scale else kinds.get(str(array.dtype), str(array.dtype))
        dims = ",".join(map(str, array.shape))
        types.append(",".join([name, kind, *map(str, scale), f"[{dims}]"]))
    return types


def state_inputs(inputs, files):
    """What model-runner takes for inputs that are in files."""
    args = []
    for name, value in inputs.items():
        if isinstance(value, tuple):
            args += ["-model-input=" + text for text in state_types({name: value})]
        args.append(f"-input={name}={files[name]}")
    return args


def run_model(paths, inputs, backend, work, options=()):
    """The outputs by the names of their files, or what was printed."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    files = {name: os.path.join(work, legal(name) + ".in.npy") for name in inputs}
    for name, value in inputs.items():
        np.save(files[name], value[0] if isinstance(value, tuple) else value)
    out = os.path.join(work, "out")
    code, text = run_tool("model-runner", *["-model=" + path for path in paths], *options,
                          *state_inputs(inputs, files), "-backend=" + backend,
                          "-output-dir=" + out)
    if code != 0:
        return None, text
    return Outputs(read_arrays(out), Run(paths, inputs, backend, list(options))), text


class LoadedModel:
    """A model in this process, which runs several times. Errors are glowish.Error."""

    def __init__(self, paths, backend, options=()):
        self.paths, self.backend, self.options = paths, backend, list(options)
        settings = {}
        for option in options:
            name, is_stated, value = option.lstrip("-").partition("=")
            settings.setdefault(name.replace("-", "_"), []).append(
                value if is_stated else True)
        settings = {name: values if len(values) > 1 else values[0]
                    for name, values in settings.items()}
        self.model = glowish.load(tuple(paths) if len(paths) > 1 else paths[0],
                                  backend=backend, **settings)

    def run(self, inputs):
        """The outputs by the names of their files. States are none of them."""
        outputs = self.model.run({name: value[0] if isinstance(value, tuple) else value
                                  for name, value in inputs.items()})
        return Outputs({legal(name): value for name, value in outputs.items()},
                       Run(self.paths, inputs, self.backend, self.options))


def run_local(paths, inputs, backend, work, options=()):
    """As run_model(), in this process: for many small models, each of which takes less
    time than the start of a program. States are none of the outputs."""
    if glowish is None:
        return run_model(paths, inputs, backend, work, options)
    stated = {option.split("=")[1].split(",")[0] for option in options
              if option.startswith("-model-input=")}
    if paths[0].endswith(".graph"):  # which states all types
        stated.update(inputs)
    types = state_types({name: value for name, value in inputs.items()
                         if name not in stated})
    try:
        model = LoadedModel(paths, backend,
                            [*options, *["-model-input=" + text for text in types]])
        outputs = model.run(inputs)
    except glowish.Error as error:
        return None, f"error: {error}\n"
    # The archive's command states them for the files of inputs.
    outputs.run.options = list(options)
    return outputs, ""
