"""Runs models with model-runner and compares what they make.

To be imported by a script whose current folder is the project's.
$GLOWISH_BIN: the programs (default build/release/bin).
"""

import os
import shutil
import subprocess

import numpy as np

BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
BACKENDS = ["Interpreter", "CPU"]


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


def run_model(paths, inputs, backend, work, options=()):
    """The outputs by the names of their files, or what was printed."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    args = ["-model=" + path for path in paths] + list(options)
    for name, value in inputs.items():
        file = os.path.join(work, legal(name) + ".in.npy")
        if isinstance(value, tuple):  # of quantized elements
            value, scale, offset = value
            dims = ",".join(map(str, value.shape))
            args.append(f"-model-input={name},int8q,{scale},{offset},[{dims}]")
        np.save(file, value)
        args.append(f"-input={name}={file}")
    out = os.path.join(work, "out")
    code, text = run_tool("model-runner", *args, "-backend=" + backend,
                          "-output-dir=" + out)
    if code != 0:
        return None, text
    return read_arrays(out), text


def compare(name, actual, expected, tolerance):
    """What is wrong with an output; empty if nothing is."""
    expected = np.asarray(expected)
    if actual.shape != expected.shape:
        return f"{name}: shape {actual.shape}, not {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"{name}: {actual.dtype}, not {expected.dtype}"
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return f"{name}: NaNs differ"
    largest = np.nanmax(np.abs(b), initial=0)
    error = np.nanmax(np.abs(a - b), initial=0)
    if error > tolerance * max(largest, 1e-30):
        return f"{name}: error {error}, largest magnitude {largest}"
    return ""
