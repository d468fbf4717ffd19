#!/usr/bin/env python3
"""targets.py: what becomes of each target of LLVM, and of systems.

Three networks, of floats, of bytes, and of functions (in float, double, half and
int64), are compiled for triples of all architectures that LLVM parses. Each must be
one of three kinds, as docs/targets.md has them: tested, which prints nothing; accepted,
which prints one line of warning; or refused, which prints one line of error and writes
nothing. That each kind is the one stated here shows what a change of LLVM or of the
table does. The tests that the table names must be there, and have its triples.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if anything is wrong.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
sys.path.append("tests/e2e")

from programs import BIN, run, tool  # noqa: E402: beside this script

WORK = os.path.abspath("build/e2e/targets")
COMPILER = os.path.join(BIN, "model-compiler")
NETWORKS = {"digits": "examples/digits/digits.onnx",
            "quantized": "tests/e2e/cross/quantized.onnxtxt",
            "functions": WORK + "/functions.graph"}
FUNCTIONS = '''module "m"
placeholder %f : float<5> input "f"
placeholder %d : double<5> input "d"
placeholder %i : int64<5> input "i"
placeholder %h : float16<5> input "h"
placeholder %r : float<5> output "r"
placeholder %s : double<5> output "s"
placeholder %t : int64<5> output "t"
placeholder %u : float16<5> output "u"
function "main" {
  %f1 = Sqrt(%f) : float<5>
  %f2 = Floor(%f1) : float<5>
  %f3 = Exp(%f2) : float<5>
  %f4 = Erf(%f3) : float<5>
  %f5 = Tanh(%f4) : float<5>
  Save(%f5, %r)
  %d1 = Sqrt(%d) : double<5>
  %d2 = Ceil(%d1) : double<5>
  %d3 = Tanh(%d2) : double<5>
  %d4 = Add(%d3, %d) : double<5>
  Save(%d4, %s)
  %i1 = Mul(%i, %i) : int64<5>
  %i2 = Div(%i1, %i) : int64<5>
  Save(%i2, %t)
  %h1 = Mul(%h, %h) : float16<5>
  %h2 = Log(%h1) : float16<5>
  Save(%h2, %u)
}
'''

TESTED, ACCEPTED, REFUSED = "tested", "accepted", "refused"

# The targets that llc lists, by its names.
REGISTERED = {
    "aarch64": ("aarch64-linux-gnu", TESTED),
    "aarch64_32": ("aarch64_32-apple-watchos", ACCEPTED),
    "aarch64_be": ("aarch64_be-linux-gnu", TESTED),
    "amdgcn": ("amdgcn-amd-amdhsa", REFUSED),
    "arm": ("arm-linux-gnueabi", TESTED),
    "arm64": ("arm64-apple-macos11", TESTED),
    "arm64_32": ("arm64_32-apple-watchos", ACCEPTED),
    "armeb": ("armeb-linux-gnueabi", TESTED),
    "avr": ("avr", REFUSED),
    "bpf": ("bpf", REFUSED),
    "bpfeb": ("bpfeb", REFUSED),
    "bpfel": ("bpfel", REFUSED),
    "hexagon": ("hexagon-unknown-linux-musl", TESTED),
    "lanai": ("lanai", ACCEPTED),
    "loongarch32": ("loongarch32-linux-gnu", REFUSED),
    "loongarch64": ("loongarch64-linux-gnu", TESTED),
    "m68k": ("m68k-linux-gnu", REFUSED),
    "mips": ("mips-linux-gnu", TESTED),
    "mips64": ("mips64-linux-gnuabi64", TESTED),
    "mips64el": ("mips64el-linux-gnuabi64", TESTED),
    "mipsel": ("mipsel-linux-gnu", TESTED),
    "msp430": ("msp430", REFUSED),
    "nvptx": ("nvptx", REFUSED),
    "nvptx64": ("nvptx64-nvidia-cuda", REFUSED),
    "ppc32": ("powerpc-linux-gnu", TESTED),
    "ppc32le": ("powerpcle-none-elf", ACCEPTED),
    "ppc64": ("powerpc64-linux-gnu", TESTED),
    "ppc64le": ("powerpc64le-linux-gnu", TESTED),
    "r600": ("r600", REFUSED),
    "riscv32": ("riscv32-unknown-elf", TESTED),
    "riscv64": ("riscv64-linux-gnu", TESTED),
    "sparc": ("sparc-linux-gnu", ACCEPTED),
    "sparcel": ("sparcel-none-elf", ACCEPTED),
    "sparcv9": ("sparcv9-linux-gnu", TESTED),
    "systemz": ("s390x-linux-gnu", TESTED),
    "thumb": ("thumbv7m-none-eabi", TESTED),
    "thumbeb": ("thumbeb-none-eabi", ACCEPTED),
    "ve": ("ve-linux-gnu", ACCEPTED),
    "wasm32": ("wasm32-unknown-unknown", TESTED),
    "wasm64": ("wasm64-unknown-unknown", ACCEPTED),
    "x86": ("i686-linux-gnu", TESTED),
    "x86-64": ("x86_64-linux-gnu", TESTED),
    "xcore": ("xcore", REFUSED),
    "xtensa": ("xtensa-esp32-elf", REFUSED),
}

# What LLVM parses and Debian's has no code generator for.
UNREGISTERED = ["amdil", "amdil64", "arc", "csky", "dxil", "hsail", "hsail64",
                "kalimba", "le32", "le64", "renderscript32", "renderscript64",
                "shave", "spir", "spir64", "spirv", "spirv32", "spirv64", "tce",
                "tcele"]

# Systems, environments and formats.
SYSTEMS = {
    "x86_64-linux-musl": TESTED,
    "x86_64-none-elf": TESTED,
    "x86_64-linux-android21": TESTED,
    "x86_64-apple-macos11": TESTED,
    "x86_64-pc-windows-msvc": TESTED,
    "x86_64-w64-mingw32": TESTED,
    "x86_64-linux-gnux32": ACCEPTED,
    "x86_64-unknown-freebsd": ACCEPTED,
    "x86_64-unknown-openbsd": ACCEPTED,
    "x86_64-unknown-fuchsia": ACCEPTED,
    "x86_64-unknown-haiku": ACCEPTED,
    "x86_64-unknown-uefi": ACCEPTED,
    "x86_64-pc-solaris": ACCEPTED,
    "x86_64-pc-cygwin": ACCEPTED,
    "x86_64-pc-linxu": ACCEPTED,
    "x86_64-unknown-nacl": REFUSED,
    "x86_64-unknown-cuda": REFUSED,
    "x86_64-linux-gnu-macho": REFUSED,
    "x86_64-pc-windows-elf": REFUSED,
    "x86_64-none-coff": REFUSED,
    "x86_64-linux-code16": REFUSED,
    "i386-linux-gnu": TESTED,
    "i686-pc-windows-msvc": ACCEPTED,
    "i686-apple-macos11": ACCEPTED,
    "i686-none-elf": ACCEPTED,
    "i686-unknown-uefi": REFUSED,
    "aarch64-none-elf": TESTED,
    "aarch64-linux-android21": TESTED,
    "arm64-apple-ios14": TESTED,
    "aarch64-pc-windows-msvc": TESTED,
    "aarch64-linux-gnu_ilp32": ACCEPTED,
    "arm64-apple-tvos14": ACCEPTED,
    "arm64-apple-xros1": ACCEPTED,
    "arm64e-apple-ios14": ACCEPTED,
    "arm64ec-pc-windows-msvc": ACCEPTED,
    "aarch64_be-none-elf": ACCEPTED,
    "aarch64-linx-gnu": ACCEPTED,
    "aarch64-linux-gnu-coff": REFUSED,
    "armv7a-linux-androideabi21": TESTED,
    "thumbv6m-none-eabi": TESTED,
    "thumbv7-pc-windows-msvc": ACCEPTED,
    "armv7-apple-ios9": ACCEPTED,
    "arm-pc-windows-msvc": REFUSED,
    "riscv64-unknown-elf": TESTED,
    "riscv32-linux-gnu": TESTED,
    "riscv64-linux-android35": ACCEPTED,
    "riscv32-unknown-fuchsia": REFUSED,
    "riscv64-linux-gnu-macho": REFUSED,
    "wasm32-wasi": ACCEPTED,
    "wasm32-unknown-emscripten": ACCEPTED,
    "wasm32-unknown-linux": REFUSED,
    "powerpc64-linux-musl": TESTED,
    "powerpc64le-unknown-freebsd": ACCEPTED,
    "powerpc64-ibm-aix": REFUSED,
    "powerpc64-sony-lv2": REFUSED,
    "powerpc-apple-darwin8": REFUSED,
    "mips64el-linux-gnuabin32": TESTED,
    "mipsisa64r6el-linux-gnuabi64": ACCEPTED,
    "mipsel-none-elf": ACCEPTED,
    "mipsel-linux-gnuabin32": REFUSED,
    "loongarch64-linux-gnusf": TESTED,
    "loongarch64-none-elf": ACCEPTED,
    "loongarch64-linux-gnuf32": REFUSED,
    "hexagon-none-elf": ACCEPTED,
    "sparc64-linux-gnu": TESTED,
    "s390x-ibm-zos": REFUSED,
}


def compile_for(triple, network):
    """The exit code and what is printed; the folder of the bundle is empty before."""
    folder = os.path.join(WORK, triple + "." + network)
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(
        [COMPILER, "-model=" + NETWORKS[network], "-emit-bundle=" + folder,
         "-network-name=network", "-target=" + triple],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout, os.path.exists(folder)


def classify(triple, network):
    """The kind of target that the compiler makes of a triple, or what is wrong."""
    code, text, has_files = compile_for(triple, network)
    shown = "exit code %d, %s files: %s" % (
        code, "with" if has_files else "without", text.strip() or "no message")
    if code == 0 and has_files and not text:
        return TESTED
    if code == 0 and has_files and re.fullmatch(r"warning: .*\n", text):
        return ACCEPTED
    if code == 1 and not has_files and re.fullmatch(r"error: .*\n", text):
        # What LLVM cannot do is not what users should meet for a whole target.
        return shown if "LLVM cannot make code" in text else REFUSED
    return shown


def check(row):
    """What is wrong with a triple, a line each."""
    triple, expected = row
    found = {network: classify(triple, network) for network in NETWORKS}
    return ["%s, %s: expected %s, found %s" % (triple, network, expected, kind)
            for network, kind in found.items() if kind != expected]


def check_registered():
    """All targets of the LLVM that is installed are listed here."""
    names = re.findall(r"^    (\S+) +- ", run("llc-19", "--version"), re.MULTILINE)
    return ["llc lists the target %s, and this file does not" % name
            for name in names if name not in REGISTERED]


def check_tests():
    """The tests that the table names are there, and one of them has its triple."""
    with open("tests/e2e/CMakeLists.txt", encoding="utf-8") as file:
        commands = dict(re.findall(
            r"glowish_test\(([\w-]+)[^)]*COMMAND "
            r"\$\{CMAKE_CURRENT_SOURCE_DIR\}/(\S+?)\)",
            file.read()))
    wrong = []
    rows = re.findall(r"^\| .* \| `-target=(\S+?)[ `].* \| (e2e-[^|]*) \| ",
                      tool("model-compiler", "-list-targets"), re.MULTILINE)
    for triple, tests in rows:
        sources = ""
        for name in tests.split(", "):
            if name not in commands:
                wrong.append("%s: there is no test %s" % (triple, name))
                continue
            with open("tests/e2e/" + commands[name], encoding="utf-8") as file:
                sources += file.read()
        # Without -target, code is for the machine that tests run on.
        if triple != "x86_64-linux-gnu" and "=" + triple not in sources:
            wrong.append("%s: %s does not have it" % (triple, tests))
    return wrong if rows else ["-list-targets prints no table"]


def main():
    os.makedirs(WORK, exist_ok=True)
    with open(NETWORKS["functions"], "w", encoding="utf-8") as file:
        file.write(FUNCTIONS)
    rows = [*REGISTERED.values(), *SYSTEMS.items(),
            *((name, REFUSED) for name in UNREGISTERED)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [line for lines in pool.map(check, rows) for line in lines]
    if shutil.which("llc-19"):
        wrong += check_registered()
    wrong += check_tests()
    for line in wrong:
        print("WRONG: " + line)
    print("%d triples, %d wrong" % (len(rows), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
