"""Keeps a run of a model that went wrong, so that it can be looked at later.

A folder in $GLOWISH_ARCHIVES (default test-archives beside the programs' folder)
has the model's files, `inputs`, `expected` and `actual` (NAME.npy), what is wrong
(problem.txt), a command that shows it again (run.sh), and a smaller model
(`reduced`, with what was left out in reduced.txt; glowish-fuzz -reduce).
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys

import numpy as np

from cases import encode
from model_runs import BIN, legal, state_inputs

# A test that is wrong throughout need not fill the disk, nor reduce for hours.
MOST_ARCHIVES = 20
MOST_REDUCTIONS = 3
SECONDS_TO_REDUCE = 60
# Larger files are linked to, not copied.
LARGE = 1 << 28
# What model-runner takes and the importer, which is all that the reducer has, does not.
OF_CODE = ("-winograd", "-cache", "-threads", "-mcpu", "-mattr")

made = 0


def find_folder():
    return os.environ.get("GLOWISH_ARCHIVES") or os.path.abspath(
        os.path.join(BIN, "..", "test-archives"))


def make_folder(run):
    """A new folder, named by the script, the model and the back end."""
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    path = os.path.abspath(run.paths[0])
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem == "model":
        stem = os.path.basename(os.path.dirname(path))
    base = os.path.join(find_folder(), legal(script), f"{legal(stem)}-{run.backend}")
    number = 1
    while True:
        folder = base if number == 1 else f"{base}-{number}"
        try:
            os.makedirs(folder)
            return folder
        except FileExistsError:
            number += 1


def copy(path, folder):
    """Copies a file or a folder, and returns its name in the archive."""
    path = os.path.abspath(path)
    name = os.path.basename(path)
    target = os.path.join(folder, name)
    if os.path.exists(target):
        return name
    if os.path.isdir(path):
        shutil.copytree(path, target)
    elif os.path.getsize(path) > LARGE:
        os.symlink(path, target)
    else:
        shutil.copyfile(path, target)
    return name


def copy_model(path, folder):
    """Also copies the files beside a model that it names, as those of its weights."""
    name = copy(path, folder)
    if os.path.isdir(path) or os.path.getsize(path) > LARGE:
        return name
    with open(path, "rb") as file:
        contents = file.read()
    parent = os.path.dirname(os.path.abspath(path))
    for other in os.listdir(parent):
        is_named = other.encode() in contents or other == name + ".weights"
        if other != name and is_named and os.path.isfile(os.path.join(parent, other)):
            copy(os.path.join(parent, other), folder)
    return name


def copy_option(option, folder):
    """An option, with the file that it names in the archive."""
    name, equals, value = option.partition("=")
    front, comma, path = value.rpartition(",")
    if equals and os.path.isfile(path):
        return name + equals + front + comma + copy(path, folder)
    return option


def encode_bfloats(bits):
    """ONNX's TensorProto of an array of bfloat16."""
    dims = b"".join(encode(1, extent) for extent in bits.shape)
    return dims + encode(2, 16) + encode(9, bits.tobytes())


def save_arrays(arrays, folder, bfloats):
    """Writes NAME.npy for each array, and NAME.pb for bfloats; returns their paths in the
    archive."""
    os.makedirs(folder)
    paths = {}
    for name, value in arrays.items():
        value = value[0] if isinstance(value, tuple) else value
        path = os.path.join(folder, legal(name) + (".pb" if name in bfloats else ".npy"))
        if name in bfloats:
            with open(path, "wb") as file:
                file.write(encode_bfloats(value))
        else:
            np.save(path, value)
        paths[name] = os.path.join(os.path.basename(folder), os.path.basename(path))
    return paths


def write_command(folder, arguments, files, limits):
    """Writes a script that runs the model and compares each wrong output within its limits."""
    lines = ["#!/bin/sh", "# Exits 0 where the outputs are as expected.",
             'cd "$(dirname "$0")" || exit 1',
             'runner="${GLOWISH_BIN:-' + os.path.abspath(BIN) + '}/model-runner"', "status=0"]
    for name, (relative, absolute) in limits.items():
        own = [f"-expect={name}={files[name]}", f"-rtol={relative!r}", f"-atol={absolute!r}"]
        lines.append('"$runner" ' + " ".join(map(shlex.quote, arguments + own)) +
                     " || status=$?")
    path = os.path.join(folder, "run.sh")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["exit $status", ""]))
    os.chmod(path, 0o755)


def run_reducer(command, folder):
    """What glowish-fuzz prints, or why it has made nothing."""
    if made > MOST_REDUCTIONS:
        return f"not reduced: {MOST_REDUCTIONS} others of this run are"
    if not os.path.exists(command[0]):
        return f"not reduced: {command[0]} is not built"
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True) as child:
        try:
            text, _ = child.communicate(timeout=SECONDS_TO_REDUCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # with the children that check graphs
            child.communicate()
            return f"not reduced in {SECONDS_TO_REDUCE} s"
    return text.strip()


def reduce(folder, models, arguments, wrong):
    """Makes a smaller model, and writes reduced.txt."""
    command = [os.path.abspath(os.path.join(BIN, "glowish-fuzz")), "-reduce=reduced",
               *["-wrong=" + name for name in wrong], *models,
               *[each for each in arguments if not each.startswith(OF_CODE)]]
    with open(os.path.join(folder, "reduced.txt"), "w", encoding="utf-8") as file:
        file.write(run_reducer(command, folder) + "\n\nby: " + shlex.join(command) + "\n")


def keep(outputs, expected, problems, limits):
    """Makes an archive of a run. Returns the end of a message, which names it.
    `outputs`: of run_model() or run_local(); `problems`, `limits` (-rtol and -atol) by the
    names of the wrong outputs."""
    global made
    made += 1
    if made > MOST_ARCHIVES:
        return f" (not kept: {MOST_ARCHIVES} others of this run are)"
    run = outputs.run
    folder = make_folder(run)
    models = [copy_model(path, folder) for path in run.paths]
    inputs = save_arrays(run.inputs, os.path.join(folder, "inputs"), run.bfloats)
    files = save_arrays(expected, os.path.join(folder, "expected"), run.bfloats)
    save_arrays(outputs, os.path.join(folder, "actual"), run.bfloats)
    arguments = [copy_option(option, folder) for option in run.options]
    arguments += state_inputs(run.inputs, inputs)
    write_command(folder, ["-model=" + name for name in models] + arguments +
                  ["-backend=" + run.backend],
                  files, limits)
    with open(os.path.join(folder, "problem.txt"), "w", encoding="utf-8") as file:
        file.write(f"{shlex.join(sys.argv)}\n")
        file.writelines(f"{name}: {problem}\n" for name, problem in problems.items())
    reduce(folder, models, arguments, list(limits))
    return f" (kept in {folder})"
