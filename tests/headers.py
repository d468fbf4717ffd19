#!/usr/bin/env python3
"""Compiles each header by itself, or each source file without precompiled headers.

  headers.py BUILD [HEADER...]
  headers.py BUILD --sources

A header that is the first #include of a source file is compiled by itself in each build.
Here each of the others, or each that is named, is the only #include of a file, which is
compiled as a file of BUILD that includes it, but without the precompiled headers of glowish:
those of LLVM and of the standard library are in front of it (what of them a header lacks,
includes.py finds). With --sources each source file is compiled as in BUILD, but without any
precompiled headers. Nothing is generated.

Prints the compiler's messages and exits 1 if a file does not compile.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "lib", "tools", "python", "tests")
# Headers of what the build does not compile: programs in C, and a sample.
OTHERS = ("lib/Backends/CPU/Bundle/glowish_weights.h", "tests/e2e/", "tests/mutation/sample.h")


class Build:
    """What a build folder says of the compilation of the sources."""

    def __init__(self, folder):
        self.folder = folder
        self.commands = {}  # the compiler's arguments by source file
        self.includers = {}  # a source file by header
        self.precompiled = None  # the precompiled headers of LLVM
        objects = {}
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            arguments = shlex.split(entry["command"])
            output = arguments[arguments.index("-o") + 1]
            if "glowish-pch-llvm.dir" in output:
                self.precompiled = str(folder / output)
            path = pathlib.Path(entry["file"])
            if path.suffix == ".cpp" and ROOT in path.parents:
                compiler = next(i for i, each in enumerate(arguments) if "clang" in each)
                name = str(path.relative_to(ROOT))
                self.commands[name] = arguments[compiler:]
                objects[output] = name
        self.read_includers(objects)

    def read_includers(self, objects):
        listed = subprocess.run(["ninja", "-C", str(self.folder), "-t", "deps"],
                                capture_output=True, text=True, check=True).stdout
        source = None
        for line in listed.splitlines():
            if not line.startswith(" "):
                source = objects.get(line.partition(":")[0])
            elif source:
                path = pathlib.Path(os.path.normpath(self.folder / line.strip()))
                if path.suffix == ".h" and ROOT in path.parents:
                    self.includers.setdefault(str(path.relative_to(ROOT)), []).append(source)

    def find_includer(self, header):
        """A source file that includes it, one with precompiled headers if there is one.

        Which one doesn't depend on the order in which files were compiled.
        """
        return min(self.includers.get(header, []), default=None,
                   key=lambda source: (not has_precompiled(self.commands[source]), source))


def has_precompiled(arguments):
    return "-include-pch" in arguments


def check_syntax(arguments, precompiled, source, text, build):
    """The compiler's messages, empty if there is no error."""
    kept, skip = [], 0
    for each in arguments:
        if skip:
            skip -= 1
        elif each in ("-o", "-c", "-include-pch"):
            skip = 1
        elif not re.fullmatch(r"-O\d|-D_FORTIFY_SOURCE=\d", each):
            kept.append(each)
    # Precompiled headers are for files of the same language: C++20 without exceptions.
    if precompiled and has_precompiled(arguments):
        kept += ["-O2", "-D_FORTIFY_SOURCE=2", "-include-pch", precompiled]
    command = [*kept, "-fsyntax-only", "-Wno-deprecated-declarations", *source]
    result = subprocess.run(command, input=text, text=True, capture_output=True, cwd=build)
    return result.stderr if result.returncode else ""


def find_headers():
    """The headers that are not the first #include of a source file."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in (".h", ".cpp") and "node_modules" not in path.parts]
    first = set()
    for path in paths:
        if path.suffix == ".cpp":
            include = re.search(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
            if include:
                first.add(pathlib.PurePath(include[1]).name + str(path.stem))
    headers = [path for path in paths if path.suffix == ".h" and
               path.name + path.stem not in first]
    names = [str(path.relative_to(ROOT)) for path in headers]
    return [name for name in names if not name.startswith(OTHERS)]


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    build = Build(pathlib.Path(sys.argv[1]).resolve())

    def check_header(header):
        source = build.find_includer(header)
        if not source:
            return "no source file includes it"
        return check_syntax(build.commands[source], build.precompiled, ["-x", "c++", "-"],
                            f'#include "{ROOT / header}"\n', build.folder)

    def check_source(source):
        return check_syntax(build.commands[source], None, [str(ROOT / source)], "",
                            build.folder)

    if sys.argv[2:] == ["--sources"]:
        files, run = sorted(build.commands), check_source
    else:
        files = [str(pathlib.Path(each).resolve().relative_to(ROOT)) for each in sys.argv[2:]]
        files, run = files or find_headers(), check_header

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, messages in zip(files, pool.map(run, files)):
            if messages:
                failed += 1
                print(f"{name} does not compile:\n{messages}")
    print(f"{len(files)} files, {failed} of which do not compile")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
