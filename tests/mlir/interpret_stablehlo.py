"""Runs a module of StableHLO with its reference interpreter.

interpret() makes the module's @main a function of another @main, in which the
arguments are constants, and each result is written to a file by an operation that
the interpreter has for this.
"""

import os
import shutil
import subprocess

from signatures import count_elements, get_element, read_signature


def find_tool(name):
    """A program of $STABLEHLO_BIN or $PATH; None where there is none."""
    folder = os.environ.get("STABLEHLO_BIN")
    own = shutil.which(name, path=folder) if folder else None
    return own or shutil.which(name)


def get_bytes(tensor):
    """The type of bytes in place of bools, which versions of LLVM pack
    differently."""
    return tensor.replace("xi1>", "xui8>").replace("<i1>", "<ui8>")


def make_entry(arguments, results, folder):
    """The function that calls @network."""
    lines = ["func.func @main() {"]
    names = []
    for number, tensor in enumerate(arguments):
        with open(os.path.join(folder, f"input_{number}.bin"), "rb") as file:
            content = file.read().hex()
        literal = f'"0x{content}"' if count_elements(tensor) else ""
        stored = get_bytes(tensor)
        lines.append(f"%in{number} = stablehlo.constant dense<{literal}> : {stored}")
        names.append(f"%in{number}")
        if stored != tensor:
            names[-1] = f"%bools{number}"
            lines.append(f"%bools{number} = stablehlo.convert %in{number} : "
                         f"({stored}) -> {tensor}")
    bound = f"%out:{len(results)} = " if results else ""
    lines.append(f"{bound}func.call @network({', '.join(names)}) : "
                 f"({', '.join(arguments)}) -> ({', '.join(results)})")
    for number, tensor in enumerate(results):
        value = f"%out#{number}"
        stored = get_bytes(tensor)
        if stored != tensor:
            lines.append(f"%bytes{number} = stablehlo.convert {value} : "
                         f"({tensor}) -> {stored}")
            value = f"%bytes{number}"
        element = get_element(stored)
        if element in ("f16", "bf16"):  # Which files don't have.
            words = stored.replace(element, "ui16")
            lines.append(f"%words{number} = stablehlo.bitcast_convert {value} "
                         f": ({stored}) -> {words}")
            value, stored = f"%words{number}", words
        lines.append(f'%probe{number} = interpreter.probe {value}, probe_id = '
                     f'"{number}" : {stored}')
    return "\n".join(lines + ["return", "}"]) + "\n"


def read_npy(path):
    """The elements of a file of version 1."""
    with open(path, "rb") as file:
        start = file.read(10)
        file.seek(10 + int.from_bytes(start[8:10], "little"))
        return file.read()


def interpret(module, folder):
    """Runs the file `module` on FOLDER/input_K.bin, which makes
    FOLDER/output_K.bin."""
    wrapped = os.path.join(folder, "wrapped.mlir")
    with open(module, encoding="utf-8") as source, \
            open(wrapped, "w", encoding="utf-8") as target:
        target.write(source.readline())
        head = source.readline()
        arguments, results = read_signature(head)
        target.write(make_entry(arguments, results, folder))
        target.write(head.replace("@main(", "@network(", 1))
        shutil.copyfileobj(source, target)
    probes = os.path.join(folder, "probes")
    os.makedirs(probes, exist_ok=True)
    done = subprocess.run(
        [find_tool("stablehlo-translate"), "--interpret", wrapped,
         "--probe-output-dir=" + probes],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"stablehlo-translate: exit code {done.returncode}: "
                           + done.stdout[:2000])
    with open(os.path.join(probes, "index.csv"), encoding="utf-8") as index:
        for row in index.read().splitlines():
            number, path = row.split(",")[0], row.split(",")[-1]
            with open(os.path.join(folder, f"output_{number}.bin"), "wb") as file:
                file.write(read_npy(path))
