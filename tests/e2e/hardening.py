#!/usr/bin/env python3
"""hardening.py BUILD_FOLDER [FOLDER...]: whether programs and libraries are hardened.

Of what BUILD_FOLDER installs, or of all files in the other folders, each program and
library must have a stack that is not executable, no segment that is writable and
executable, no text relocations, tables of addresses that are read-only after the start
(RELRO, BIND_NOW), functions that check their stack, and no path of the sources or of the
build folder; programs must be position-independent. Without other folders, objects of bundles for each ELF target must say that they need no executable
stack.

$GLOWISH_BIN: the programs (default BUILD_FOLDER/bin). Exits 1 if anything is wrong, 77
without readelf.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# What is installed and may be absent, as it needs other libraries.
COMPONENTS = ["Tools", "Library", "Python", "TorchScript", "MPI"]
TARGETS = {
    "x86-64": ["-target=x86_64-linux-gnu"],
    "x86-64 with threads": ["-target=x86_64-linux-gnu", "-threads=2"],
    "x86-64, several levels": ["-target=x86_64-linux-gnu", "-mcpu=x86-64-v2,x86-64-v3"],
    "i386": ["-target=i386-linux-gnu"],
    "AArch64": ["-target=aarch64-linux-gnu"],
    "Android": ["-target=aarch64-linux-android21"],
    "ARMv7": ["-target=armv7a-linux-gnueabihf"],
    "Cortex-M4": ["-target=thumbv7em-none-eabihf", "-mcpu=cortex-m4"],
    "RISC-V 64": ["-target=riscv64-linux-gnu"],
    "RISC-V 32": ["-target=riscv32-unknown-elf", "-mattr=+m,+c", "-mabi=ilp32"],
}


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError("%s: %s" % (command[0], done.stderr.strip()))
    return done.stdout


def readelf(path, *options):
    return run("readelf", "-W", *options, path)


def find_elf_files(folder):
    """The programs and libraries below a folder, without links."""
    for directory, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(directory, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def check_segments(path):
    headers = readelf(path, "-l")
    segments = re.findall(r"^ +([A-Z_]+) +0x\S+ 0x\S+ 0x\S+ 0x\S+ 0x\S+ ([RWE ]{3}) ",
                          headers, re.M)
    flags = dict(segments)
    if "E" in flags.get("GNU_STACK", "E"):
        yield "its stack is executable"
    for kind, each in segments:
        if "W" in each and "E" in each:
            yield "a segment %s is writable and executable" % kind
    if "GNU_RELRO" not in flags:
        yield "it has no GNU_RELRO"


def check_dynamic(path):
    dynamic = readelf(path, "-d")
    if not re.search(r"\((BIND_NOW|FLAGS|FLAGS_1)\).*\b(BIND_NOW|NOW)\b", dynamic):
        yield "symbols are bound late: no BIND_NOW"
    if "(TEXTREL)" in dynamic or re.search(r"\(FLAGS\).*\bTEXTREL\b", dynamic):
        yield "it has text relocations"
    kind = re.search(r"Type: +(\w+)", readelf(path, "-h"))[1]
    if kind != "DYN":
        yield "it is not position-independent (%s)" % kind
    elif "INTERP" in readelf(path, "-l") and not re.search(r"\(FLAGS_1\).*\bPIE\b", dynamic):
        yield "it is a program and says nothing of PIE"


def check_paths(path, folders):
    with open(path, "rb") as file:
        data = file.read()
    for folder in folders:
        for found in re.finditer(re.escape(folder.encode()) + rb"[\x20-\x7e]*", data):
            # In a checkout in /src a part of ../../python/src/core/Log.cpp, a path of the
            # sources from the build folder, looks like one of the machine.
            before = re.search(rb"[\w./-]*$", data[max(found.start() - 200, 0):found.start()])[0]
            whole = re.sub(r"^(\.\./)+", "", (before + found[0]).decode())
            if whole.startswith("/") or not os.path.exists(os.path.join(ROOT, whole)):
                yield "it has the path '%s'" % found[0][:200].decode()
                break


def check_calls(path):
    """That functions which the flags bring are called. Of those with a size glibc has one
    for longjmp, which reading JPEG needs."""
    symbols = readelf(path, "--dyn-syms")
    if not re.search(r" UND __stack_chk_fail(@|$)", symbols, re.M):
        yield "no function checks its stack"
    if os.path.basename(path) == "image-classifier" and not re.search(
            r" UND __\w+_chk(@|$)", symbols, re.M):
        yield "no call is checked (_FORTIFY_SOURCE)"


def check_binary(path, folders):
    yield from check_segments(path)
    yield from check_dynamic(path)
    yield from check_paths(path, folders)
    yield from check_calls(path)


def check_object(path):
    section = re.search(r"\.note\.GNU-stack +\w+ +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+ "
                        r"+([A-Z]*) ", readelf(path, "-S"))
    if not section:
        yield "it does not say that its stack is not executable (.note.GNU-stack)"
    elif "X" in section[1]:
        yield "it asks for an executable stack"
    for flags in re.findall(r"^ +\[.*\] .* ([WAXMSILOGTCxoEDlp]{2,}) +\d+ +\d+ +\d+$",
                            readelf(path, "-S"), re.M):
        if "W" in flags and "X" in flags:
            yield "a section is writable and executable"


def check_bundles(compiler):
    """The problems of bundles' objects, and how many there are."""
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, options in TARGETS.items():
            run(compiler, "-model=" + os.path.join(ROOT, "examples/digits/digits.onnx"),
                "-emit-bundle=" + folder, "-network-name=network", *options)
            count += 1
            problems += ["bundle for %s: %s" % (name, problem)
                         for problem in check_object(os.path.join(folder, "network.o"))]
    return problems, count


def install(build, folder):
    for component in COMPONENTS:
        run("cmake", "--install", build, "--component", component, "--prefix", folder)


def check_folder(folder, forbidden):
    problems, count = [], 0
    for path in find_elf_files(folder):
        count += 1
        problems += ["%s: %s" % (os.path.relpath(path, folder), problem)
                     for problem in check_binary(path, forbidden)]
    if not count:
        problems.append("%s: there is no program or library" % folder)
    return problems, count


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    if subprocess.run(["which", "readelf"], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        print("skipped: there is no readelf; Debian's package binutils has it")
        return 77
    build = os.path.realpath(sys.argv[1])
    forbidden = [ROOT + "/", build + "/"]
    problems, count, bundles = [], 0, 0
    with tempfile.TemporaryDirectory() as staged:
        folders = sys.argv[2:]
        if not folders:
            install(build, staged)
            folders = [staged]
        for folder in folders:
            more, number = check_folder(folder, forbidden)
            problems += more
            count += number
    if len(sys.argv) == 2:
        more, bundles = check_bundles(os.path.join(
            os.environ.get("GLOWISH_BIN", os.path.join(build, "bin")), "model-compiler"))
        problems += more
    for problem in problems:
        print(problem)
    print("%d programs and libraries, %d bundles: %d problems"
          % (count, bundles, len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
