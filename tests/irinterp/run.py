#!/usr/bin/python3
"""run.py [OPTION]...: glowish-check-llvm-ir on the small networks of tests/e2e for several targets,
on every 16th of ONNX's own tests of operators (of the package libonnx-testdata, where it is
installed), and with planted errors. All small networks but those of LEFT_OUT must be
interpreted, and everything right.

  --all       all of ONNX's tests, more targets, and the convolution algorithms that are not
              the fastest
  --target=N, --network=NAME
              of the targets that --all has, this one alone, and one network
  --list      print N/NAME of all of these, and check none
  --work=FOLDER
              where the networks are written (default build/irinterp)

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if something is wrong."""

import argparse
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "../.."))
sys.path.insert(0, "tests/e2e")
from programs import BIN  # noqa: E402
import small_networks  # noqa: E402

NODE_TESTS = "/usr/share/libonnx-testdata/data/node/*/model.onnx"
SHARE = 16  # one of so many of ONNX's tests, without --all
AT_ONCE = 200  # files of a call
# 8-bit outputs may differ by one step from what the interpreter rounds.
TOLERANCE = {"int8_convolution": 0.02, "int8_matmul": 0.02}
# What is not interpreted: assembly, and MVE's sums of bytes.
LEFT_OUT = {("-mcpu=cortex-m4", "int8_convolution"),
            ("-mcpu=cortex-m55", "int8_convolution"), ("-mcpu=cortex-m55", "int8_matmul")}

X86 = "-target=x86_64-linux-gnu"
TARGETS = [[X86, "-mcpu=x86-64-v3"], ["-target=aarch64-linux-gnu"],
           ["-target=thumbv7em-none-eabihf", "-mcpu=cortex-m4"]]
MORE_TARGETS = [
    [X86, "-mcpu=x86-64"], [X86, "-mcpu=x86-64-v4"], [X86, "-mcpu=cascadelake"],
    ["-target=aarch64-linux-gnu", "-mcpu=neoverse-v1"],
    ["-target=thumbv8.1m.main-none-eabihf", "-mcpu=cortex-m55"],
    ["-target=riscv64-linux-gnu", "-mattr=+v"],
    ["-target=wasm32-unknown-unknown", "-mattr=+simd128"],
    *([X86, "-mcpu=x86-64-v3", f"-choice-rank={rank}"] for rank in range(1, 5))]


def check(files, options):
    """(right, wrong, not interpreted) of a call; prints what is wrong."""
    done = subprocess.run([os.path.join(BIN, "glowish-check-llvm-ir"), *options, *files],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    counts = re.search(r"^(\d+) right, (\d+) wrong, (\d+) not interpreted$", done.stdout,
                       re.M)
    for line in done.stdout.split("\n"):
        is_left_out = ": not interpreted: " in line and len(files) == 1
        if "WRONG" in line or is_left_out or (not counts and line):
            print(line)
    return [int(count) for count in counts.groups()] if counts else [0, len(files), 0]


def check_networks(models, options):
    """The small networks for a target; returns how many are not right."""
    names = [name for name in models if not is_left_out(options, name)]
    right = sum(check([models[name]],
                      [*options, f"-tolerance={TOLERANCE.get(name, 1e-4)}"])[0]
                for name in names)
    print(f"{' '.join(options)}: {right} of {len(names)} networks right", flush=True)
    return len(names) - right


def check_node_tests(share):
    """Bits and accesses alone: the inputs of these models may be out of their ranges."""
    files = sorted(glob.glob(NODE_TESTS))[::share]
    if not files:
        print("no tests of ONNX's: there is no package libonnx-testdata")
    total = [0, 0, 0]
    for begin in range(0, len(files), AT_ONCE):
        counts = check(files[begin:begin + AT_ONCE], [*TARGETS[0], "-tolerance=-1"])
        total = [a + b for a, b in zip(total, counts)]
    print("ONNX's tests of operators: %d right, %d wrong, %d not interpreted" % tuple(total),
          flush=True)
    return total[1]


def check_planted(models):
    """Planted errors must be found; returns whether too few are."""
    done = subprocess.run([os.path.join(BIN, "glowish-check-llvm-ir"), *TARGETS[0], "-plant=3",
                           *(models[name] for name in ("attention", "lstm", "normalizations"))],
                          stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout.strip().split("\n")[-1])
    return done.returncode != 0


def is_left_out(target, network):
    return (target[-1], network) in LEFT_OUT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--target", type=int)
    parser.add_argument("--network")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--work", default="build/irinterp")
    options = parser.parse_args()
    targets = TARGETS + MORE_TARGETS
    if options.list:
        print("\n".join(f"{number}/{name}" for number, target in enumerate(targets)
                        for name in small_networks.NAMES if not is_left_out(target, name)))
        return 0
    models = small_networks.write(os.path.abspath(options.work))
    if options.target is not None:
        name = options.network
        return 1 if check_networks({name: models[name]}, targets[options.target]) else 0
    wrong = check_planted(models) + check_node_tests(1 if options.all else SHARE)
    for target in targets if options.all else TARGETS:
        wrong += check_networks(models, target)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
