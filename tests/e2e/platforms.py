#!/usr/bin/env python3
"""platforms.py [PLATFORM...]: bundles for Android, Apple's systems and Windows.

For each platform (or those that are named) examples/digits and a quantized network
are compiled and linked with lld to a library as the platform has them: the object
may need nothing but what the platform itself supplies. On Windows every function
that moves the stack pointer must be in the tables by which callers are found; on
Apple's arm64 it must make a frame record. Where a program can be run, with two
threads as well, its outputs must be the interpreter's to 1e-5 of the largest
magnitude: Android's objects on this machine and in QEMU, those for Windows in Wine.
What can't be run is said.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if anything is
wrong, 77 without lld.
"""

import os
import platform
import random
import re
import shutil
import struct
import sys
from dataclasses import dataclass, field

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
sys.path.append("tests/e2e")

import cases  # noqa: E402: beside this script
import wine  # noqa: E402
from programs import run, tool  # noqa: E402

WORK = os.path.abspath("build/e2e/platforms")
TOLERANCE = 1e-5
NETWORKS = {"digits": "examples/digits/digits.onnx",
            "quantized": "tests/e2e/cross/quantized.onnxtxt"}
# What every C library has.
MEMORY = {"memcpy", "memmove", "memset"}
FLOAT = 1  # ONNX's number of the element type

MINGW = "x86_64-w64-mingw32-gcc"
# GCC's libraries have the first under another name, and not the second.
MSVC_NAMES = ["-Wl,--defsym=__chkstk=___chkstk_ms", "-Wl,--defsym=_fltused=0"]


@dataclass
class Platform:
    """target: options of model-compiler. linker: makes a library FILE of an object.
    supplied: symbols of the platform's own library. compiler: makes a program, and
    emulator runs it; None where there is none."""
    target: list
    format: str
    linker: list
    supplied: set = field(default_factory=set)
    compiler: list = None
    emulator: list = field(default_factory=list)


def elf(emulation):
    """Android 15 has pages of 16 KB."""
    return ["ld.lld-19", "-m", emulation, "-shared", "-z", "defs", "-z", "text",
            "-z", "max-page-size=16384", "-o"]


def mach_o(arch, system):
    return ["ld64.lld-19", "-dylib", "-arch", arch, "-platform_version", system,
            "14.0", "14.0", "-undefined", "dynamic_lookup", "-o"]


# Unresolved symbols are judged by `supplied`.
COFF = ["lld-link-19", "/dll", "/noentry", "/export:network", "/force:unresolved",
        "/ignore:4217", "/out:"]
PLATFORMS = {
    "Android, arm64": Platform(
        ["-target=aarch64-linux-android21"], "elf64-littleaarch64",
        elf("aarch64linux"), compiler=["aarch64-linux-gnu-gcc", "-static", "-pthread"],
        emulator=["qemu-aarch64"]),
    "Android, x86-64": Platform(
        ["-target=x86_64-linux-android21", "-mcpu=x86-64-v2"], "elf64-x86-64",
        elf("elf_x86_64"),
        compiler=["clang-19", "-pthread"] if platform.machine() == "x86_64" else None),
    "iOS, arm64": Platform(["-target=arm64-apple-ios14"], "Mach-O arm64",
                           mach_o("arm64", "ios")),
    "macOS, arm64": Platform(["-target=arm64-apple-macos11"], "Mach-O arm64",
                             mach_o("arm64", "macos")),
    "macOS, x86-64": Platform(["-target=x86_64-apple-macos11"],
                              "Mach-O 64-bit x86-64", mach_o("x86_64", "macos")),
    "Windows, x86-64": Platform(
        ["-target=x86_64-pc-windows-msvc", "-mcpu=x86-64-v2"], "COFF-x86-64", COFF,
        {"__chkstk", "_fltused"}, [MINGW, *MSVC_NAMES, "-static", "-lpthread"],
        [wine.PROGRAM]),
    "Windows, x86-64, MinGW": Platform(
        ["-target=x86_64-w64-mingw32", "-mcpu=x86-64-v2"], "COFF-x86-64", COFF,
        {"___chkstk_ms"}, [MINGW, "-static", "-lpthread"], [wine.PROGRAM]),
    "Windows, arm64": Platform(["-target=aarch64-pc-windows-msvc"], "COFF-ARM64",
                               COFF, {"__chkstk", "_fltused"}),
}


def prepare(name, model):
    """A random input of a network and what the interpreter makes of it: arguments
    of run_bundle.c."""
    folder = os.path.join(WORK, name)
    tool("model-compiler", "-model=" + model,
         "-emit-bundle=" + folder + "/here", "-network-name=network")
    with open(folder + "/here/network.h", encoding="utf-8") as file:
        found, dims, output = re.search(
            r"input '(.*?)': float<([\dx]+)>.*output '(.*?)'", file.read(),
            re.DOTALL).groups()
    dims = [int(dim) for dim in dims.split("x")]
    count = 1
    for dim in dims:
        count *= dim
    numbers = random.Random(7)
    path = folder + "/input.npy"
    cases.write_npy(path, FLOAT, dims, struct.pack(
        "<%df" % count, *(numbers.uniform(-1, 1) for _ in range(count))))
    tool("model-runner", "-model=" + model,
         "-input=%s=%s" % (found, path), "-backend=Interpreter",
         "-output-dir=" + folder + "/expected")
    return ["-input=%s=%s" % (found, path),
            "-expect=%s=%s/expected/%s.npy" % (output, folder, output)]


#===- Objects ------------------------------------------------------------===//

def get_code(path):
    """The instructions of each function: lines by its name."""
    functions, lines = {}, None
    for line in run("llvm-objdump-19", "-d", "--no-show-raw-insn",
                    "--no-leading-addr", path).split("\n"):
        if title := re.match(r"<(\w+)>:", line):
            lines = functions.setdefault(title[1], [])
        elif lines is not None and line.strip():
            lines.append(line.strip())
    return functions


# Of x86-64 in AT&T's syntax, and of AArch64.
MOVES_STACK = re.compile(r"push|sub\w*\s.*%rsp$|sub\s+sp, sp|st.*\[sp, #-\w+\]!")


def check_unwinding(path):
    """COFF: functions that move the stack pointer are in the tables."""
    listed = set(re.findall(r"(?:StartAddress|Function): (\w+)",
                            run("llvm-readobj-19", "--unwind", path)))
    for name, lines in get_code(path).items():
        if name not in listed and any(MOVES_STACK.match(line) for line in lines):
            raise RuntimeError("%s is not in the unwind tables" % name)
    if "network" not in listed:
        raise RuntimeError("the entry is not in the unwind tables")


def check_frames(path):
    """Mach-O, arm64: functions that call others make a frame record."""
    for name, lines in get_code(path).items():
        if any(re.match(r"blr?\s", line) for line in lines) and \
                not any(re.match(r"(?:mov|add)\s+x29, sp", line) for line in lines):
            raise RuntimeError("%s makes no frame record" % name)


def check_object(chosen, path, library):
    text = run("llvm-readobj-19", "-h", path)
    if "Format: " + chosen.format not in text:
        raise RuntimeError("not %s, but %s" % (
            chosen.format, re.search("Format: (.*)", text)[1]))
    needed = {line.split()[-1] for line in
              run("llvm-nm-19", "-u", path).strip().split("\n") if line}
    strange = {name for name in needed
               if name not in chosen.supplied and name.lstrip("_") not in MEMORY}
    if strange:
        raise RuntimeError("needs " + " ".join(sorted(strange)))
    if "COFF" in chosen.format:
        check_unwinding(path)
    if chosen.format == "Mach-O arm64":
        check_frames(path)
    *command, last = chosen.linker
    out = [last + library] if last.endswith(":") else [last, library]
    run(*command, *out, path)


#===- Programs -----------------------------------------------------------===//

def get_missing(chosen):
    """Why a bundle can't be run; None if it can."""
    if not chosen.compiler:
        return "nothing here runs it"
    for program in [chosen.compiler[0], *chosen.emulator]:
        if not program or not shutil.which(program):
            return "there is no " + (program or "Wine")
    return None


def run_program(chosen, folder, threads, args):
    """The largest error of a program with the bundle in `folder`."""
    program = folder + "/run.exe"
    sources = ["tests/e2e/run_bundle.c", folder + "/network.o"]
    defines = ["-DBUNDLE_HEADER=\"network.h\"", "-DBUNDLE_CONFIG=network_config",
               "-DBUNDLE_ENTRY=network", "-DBUNDLE_CHECK=network_check_weights"]
    if threads > 1:
        sources.append(folder + "/glowish_threads.c")
        defines.append("-DBUNDLE_THREADS=%d" % threads)
    compiler, *flags = chosen.compiler
    run(compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-I" + folder,
        *defines, *sources, *flags, "-lm", "-o", program)
    printed = run(*chosen.emulator, program, folder + "/network.weights.bin",
                  "-calls=2", *args, env=wine.make_environment())
    error = float(re.search(r"\(([-+.\de]+) of the largest", printed)[1])
    if not error <= TOLERANCE:
        raise RuntimeError("differs by %g of the largest magnitude" % error)
    return error


def check(name, chosen, network, args):
    """Prints a line; whether anything is wrong."""
    folder = os.path.join(WORK, network, re.sub(r"\W+", "-", name))
    missing = get_missing(chosen)
    verdict = []
    try:
        for threads in (1, 2):
            bundle = "%s/%d" % (folder, threads)
            tool("model-compiler", "-model=" + NETWORKS[network],
                 *chosen.target, "-emit-bundle=" + bundle, "-network-name=network",
                 "-bundle-api=dynamic", *(["-threads=2"] if threads > 1 else []))
            if threads == 1:
                check_object(chosen, bundle + "/network.o", bundle + "/library")
            if not missing:
                verdict.append("%.0e" % run_program(chosen, bundle, threads, args))
    except RuntimeError as error:
        verdict = ["WRONG: %s" % error]
    print("%-24s %-10s %s" % (name, network, "  ".join(verdict) or
                              "linked; not run: %s" % missing),
          flush=True)
    return any(text.startswith("WRONG") for text in verdict)


def main():
    if not shutil.which("ld64.lld-19"):
        print("skipped: there is no ld64.lld-19; Debian's package lld-19 has it")
        return 77
    shutil.rmtree(WORK, ignore_errors=True)
    wrong = 0
    for network, model in NETWORKS.items():
        os.makedirs(os.path.join(WORK, network))
        args = prepare(network, model)
        for name, chosen in PLATFORMS.items():
            if not sys.argv[1:] or name in sys.argv[1:]:
                wrong += check(name, chosen, network, args)
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
