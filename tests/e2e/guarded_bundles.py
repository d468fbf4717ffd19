#!/usr/bin/python3
"""guarded_bundles.py [--all] [--only TARGET]...: runs bundles of small networks with each
region and the stack between inaccessible pages (guarded_memory.h, by run_bundle.c), so that
any access outside of them is found, and with planted accesses, which must be.

  --all   all targets: the levels of x86-64 that this machine has, AArch64, RISC-V and
          Cortex-M4 in QEMU, with the networks of $GLOWISH_MODELS (default build/models)
          on the levels; without, the lowest and the highest level
  --only  this target; may be repeated

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if an access is wrong, 77
without a C compiler."""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "../.."))
sys.path.insert(0, HERE)
from programs import has_programs, run, tool  # noqa: E402
import small_networks  # noqa: E402

MODELS = os.environ.get("GLOWISH_MODELS", "build/models")
WORK = os.path.abspath("build/e2e/guarded_bundles")
EXPORTED = ["bert_tiny", "dlrm", "espcn", "lenet", "lstm_text", "mlp", "mobilenet_v2",
            "unet_small"]
# What PLANT does, and what must be said of it.
PLANTED = {
    "read behind weights": "a read 3 bytes beyond the end of the weights",
    "read before weights": "a read 1 bytes before the start of the weights",
    "write weights": "a write at offset 5 of the weights",
    "write behind placeholders": "a write 0 bytes beyond the end of the placeholders",
    "write between placeholders": "was written between placeholders",
    "write an input": "x: is an input that was overwritten",
    "read before activations": "a read 16 bytes before the start of the activations",
    "write behind activations": "a write 7 bytes beyond the end of the activations",
    "too much stack": "bytes before the start of the stack",
    "by address": "y: depends on where the memory is",
}


class Target:
    """How bundles are compiled, linked and run; `quick`: without --all, too."""

    def __init__(self, name, options, compiler=("clang-19",), emulator=(), stack=1300 << 10):
        self.name, self.options, self.stack = name, list(options), stack
        self.compiler, self.emulator = list(compiler), list(emulator)

    def is_there(self):
        return all(shutil.which(command[0]) for command in (self.compiler, self.emulator)
                   if command)


def find_levels():
    """The levels of x86-64 that this machine has, the lowest first."""
    if platform.machine() != "x86_64":
        return []
    with open("/proc/cpuinfo") as file:
        flags = set(re.search(r"^flags\s*:(.*)$", file.read(), re.M)[1].split())
    needs = [("x86-64", []), ("x86-64-v2", ["sse4_2", "popcnt"]),
             ("x86-64-v3", ["avx2", "fma", "bmi2"]),
             ("x86-64-v4", ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])]
    return [Target(level, ["-target=x86_64-linux-gnu", "-mcpu=" + level])
            for level, needed in needs if flags.issuperset(needed)]


EMULATED = [
    Target("AArch64", ["-target=aarch64-linux-gnu"], ["aarch64-linux-gnu-gcc", "-static"],
           ["qemu-aarch64"]),
    Target("RISC-V", ["-target=riscv64-linux-gnu"], ["riscv64-linux-gnu-gcc", "-static"],
           ["qemu-riscv64"]),
    # Its code in a program for a processor with pages.
    Target("Cortex-M4", ["-target=arm", "-mcpu=cortex-m4", "-float-abi=hard"],
           ["clang-19", "--target=arm-linux-gnueabihf", "-mcpu=cortex-a7", "-fuse-ld=lld",
            "-static"], ["qemu-arm", "-cpu", "max"], stack=40 << 10),
]


def link(target, folder, program, *arguments):
    run(*target.compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-I" + folder,
        f"-DBUNDLE_STACK={target.stack}", *arguments, "tests/e2e/run_bundle.c", "-lm",
        "-pthread", "-o", program)


def check(name, command, **options):
    """Runs a program; returns what it says that is wrong."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=600, **options)
    problem = done.stderr.strip()
    if done.returncode != 0 and not problem:
        problem = f"ended with {done.returncode}"
    return f"{name}: {problem}" if problem else ""


def check_target(target, models, work):
    """Says what is wrong with the bundles of a target; returns how many are."""
    folder = f"{work}/{target.name}"
    for name, path in models.items():
        tool("model-compiler", "-model=" + path, "-emit-bundle=" + folder,
             "-network-name=n_" + name, "-bundle-api=dynamic", *target.options)
    with open(folder + "/networks.h", "w") as file:
        for name in models:
            file.write(f'#include "n_{name}.h"\n')
        file.write("#define BUNDLE_LIST " + ", ".join(
            f'{{"{name}", &n_{name}_config, n_{name}, n_{name}_check_weights}}'
            for name in models) + "\n")
    program = folder + "/run"
    link(target, folder, program, '-DBUNDLE_HEADER="networks.h"',
         *(f"{folder}/n_{name}.o" for name in models))
    wrong = 0
    for name in models:
        inputs = write_inputs(f"{folder}/n_{name}.h", folder)
        problem = check(name, [*target.emulator, program, f"{folder}/n_{name}.weights.bin",
                               "-bundle=" + name, *inputs])
        if problem:
            wrong += 1
            print(f"WRONG {target.name}, {problem}")
    print(f"{target.name}: {len(models) - wrong} networks right, {wrong} wrong")
    return wrong


def write_inputs(header, folder):
    """Files of inputs: floats in [-1, 1), integers 0 and 1. Returns run_bundle.c's options."""
    with open(header) as file:
        text = file.read()
    options = []
    for name, kind, count in re.findall(
            r"^ \* input '(.*)': (\w+)(?:<.*>)?, (\d+) elements", text, re.M):
        options.append(f"-input={name}={folder}/{len(options)}.npy")
        write_npy(f"{folder}/{len(options) - 1}.npy", kind, int(count))
    return options


def write_npy(path, kind, count):
    import array
    import struct
    numpy_name, code = {"float": ("<f4", "f"), "int64": ("<i8", "q"), "int32": ("<i4", "i"),
                        "uint8": ("|u1", "B"), "int8": ("|i1", "b")}[kind]
    state, values = 7, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        values.append(state / (1 << 31) - 1 if kind == "float" else state >> 31)
    header = f"{{'descr': '{numpy_name}', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(array.array(code, values).tobytes())


def check_planted(model, work):
    """Whether the guards find all of PLANTED; returns how many they don't."""
    folder = work + "/planted"
    target = Target("planted", [])
    tool("model-compiler", "-model=" + model, "-emit-bundle=" + folder,
         "-network-name=network", "-bundle-api=dynamic")
    link(target, folder, folder + "/run", '-DBUNDLE_HEADER="guarded_planted.h"',
         "-Itests/e2e", "-DBUNDLE_ENTRY=planted", "-DBUNDLE_CONFIG=network_config",
         "-DBUNDLE_CHECK=network_check_weights", folder + "/network.o")
    command = [folder + "/run", folder + "/network.weights.bin",
               *write_inputs(folder + "/network.h", folder)]
    wrong = 0
    for plant, expected in {"": "", **PLANTED}.items():
        said = check("planted", command, env={**os.environ, "PLANT": plant})
        if not said.endswith(expected) if plant else said:
            wrong += 1
            print(f"WRONG: planted was {plant!r}, and said was {said!r}, not {expected!r}")
    print(f"planted: {len(PLANTED) + 1 - wrong} right, {wrong} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    if platform.system() != "Linux" or not has_programs({"clang-19": "clang-19"}):
        return 77
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    models = small_networks.write(WORK + "/models")
    wrong = check_planted(models["attention"], WORK)
    levels = find_levels()
    targets = levels + EMULATED if arguments.all or arguments.only else {
        level.name: level for level in levels[:1] + levels[-1:]}.values()
    for target in targets:
        if arguments.only and target.name not in arguments.only:
            continue
        if not target.is_there():
            print(f"{target.name} is left out: there is no "
                  + (target.emulator or target.compiler)[0])
            continue
        exported = {name: f"{MODELS}/{name}/model.onnx" for name in EXPORTED
                    if arguments.all and not target.emulator
                    and os.path.exists(f"{MODELS}/{name}/model.onnx")}
        wrong += check_target(target, {**models, **exported}, WORK)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
