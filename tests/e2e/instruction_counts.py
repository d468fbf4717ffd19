#!/usr/bin/python3
"""instruction_counts.py [--all] [--update] [--only PART]...: the instructions that compiled
networks execute, and those that compiling takes, against the counts in
instruction_counts.json. More than 2 % more is a regression; more than 2 % fewer has to be
stored, too, as a later regression up to the old count would pass.

  --all     also networks and targets that take long, and the exported networks of
            $GLOWISH_MODELS (default build/models) that are there
  --update  store the counts, after a line for each that changed
  --only    the name of a target, or "compiler"; may be repeated

QEMU executes the programs and counts (cross/count_ranges.c): a count is the same on all
machines. That of a bundle depends on LLVM's version, and that of a compilation also on the
compiler, how glowish was built, and a little on the C library; where these are others than the
stored ones, that part is left out, with a line.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if a count is wrong, 77 without
QEMU, clang or lld, or where all is left out."""

import argparse
import json
import os
import platform
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "../.."))
sys.path.insert(0, HERE)
from programs import BIN, has_programs, run, tool  # noqa: E402
import small_networks  # noqa: E402

STORED = "tests/e2e/instruction_counts.json"
MODELS = os.environ.get("GLOWISH_MODELS", "build/models")
WORK = os.path.abspath("build/e2e/instruction_counts")
CROSS = "tests/e2e/cross"
TOLERANCE = 0.02
ALIGNMENT = 64  # of the regions of a bundle

EXPORTED = ["bert_tiny", "lenet", "lstm_text", "mlp", "mobilenet_v2", "resnet18",
            "squeezenet1_1"]


class Target:
    """How bundles are compiled, linked and run; `quick`: without --all, too."""

    def __init__(self, name, options, clang, emulator, quick=False, models=False):
        self.name, self.options, self.quick, self.models = name, options, quick, models
        self.clang, self.emulator = clang, emulator

    def link(self, folder, objects):
        common = ["clang-19", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror",
                  "-fno-builtin", "-I" + folder, "-fuse-ld=lld", "-static", "-no-pie",
                  "-Wno-unused-command-line-argument", f"-Wl,-Map={folder}/map"]
        run(*common, *self.clang, CROSS + "/run_networks.c", *objects, "-o", folder + "/run")


FREESTANDING = ["-ffreestanding", "-nostdlib", CROSS + "/platform_semihosted.c"]
TARGETS = [
    Target("x86-64-v3", ["-target=x86_64-linux-gnu", "-mcpu=x86-64-v3"],
           ["--target=x86_64-linux-gnu", CROSS + "/platform_hosted.c"],
           ["qemu-x86_64", "-cpu", "max"], quick=True, models=True),
    Target("x86-64-v2", ["-target=x86_64-linux-gnu", "-mcpu=x86-64-v2"],
           ["--target=x86_64-linux-gnu", CROSS + "/platform_hosted.c"],
           ["qemu-x86_64", "-cpu", "max"]),
    Target("cortex-a53", ["-target=aarch64-linux-gnu", "-mcpu=cortex-a53"],
           ["--target=aarch64-linux-gnu", *FREESTANDING], ["qemu-aarch64"]),
    Target("cortex-m4", ["-target=arm", "-mcpu=cortex-m4", "-float-abi=hard"],
           ["--target=armv7a-linux-gnueabihf", "-marm", "-mcpu=cortex-a7",
            "-meabi", "gnu",
            *FREESTANDING], ["qemu-arm", "-cpu", "max"], quick=True),
]
# What is compiled for the time of compiling; the first is compiled without --all.
COMPILED = ["attention", "convolution_others", "int8_convolution"]


def read_size(folder, name, region):
    """What the first comment of the header states."""
    with open(f"{folder}/n_{name}.h") as file:
        return int(re.search(rf"^ \* {region} +(\d+) bytes", file.read(), re.M)[1])


def write_list(folder, names):
    """The header of run_networks.c."""
    with open(folder + "/networks.h", "w") as file:
        for name in names:
            file.write(f'#include "n_{name}.h"\n')
        for macro, region in (("MUTABLE", "mutable weights"), ("ACTIVATIONS", "activations")):
            size = max(read_size(folder, name, region) for name in names)
            file.write(f"#define {macro}_SIZE {max(size, ALIGNMENT)}\n")
        file.write(f"#define REGION_ALIGNMENT {ALIGNMENT}\n#define NETWORKS \\\n")
        file.write(", \\\n".join(
            f'  {{"{name}", &n_{name}_config, n_{name}, n_{name}_weights}}'
            for name in names) + "\n")


def find_ranges(folder):
    """Where the code of each bundle is, by the linker's map: (begin, end) by names."""
    ranges = {}
    with open(folder + "/map") as file:
        for line in file:
            found = re.match(r" *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) .*/n_(\w+)\.o:\(\.text\)$",
                             line)
            if found:
                begin = int(found[1], 16)
                ranges[found[3]] = begin, begin + int(found[2], 16)
    return ranges


def execute(emulator, options, *command):
    """The counts of the plugin."""
    output = WORK + "/counts"
    # Without variables that have the compiler do more.
    run(emulator[0], *emulator[1:], "-plugin",
        ",".join([WORK + "/count_ranges.so", "output=" + output, *options]), *command,
        env={"PATH": os.environ["PATH"]})
    with open(output) as file:
        return {what: int(count) for what, count in map(str.split, file)}


def count_bundles(target, models):
    """The instructions of one call of each bundle."""
    folder = f"{WORK}/{target.name}"
    for name, path in models.items():
        tool("model-compiler", "-model=" + path, "-emit-bundle=" + folder,
             "-network-name=n_" + name, "-bundle-api=dynamic", "-weights=embed",
             *target.options)
    write_list(folder, models)
    target.link(folder, [f"{folder}/n_{name}.o" for name in models])
    ranges = find_ranges(folder)
    counts = execute(
        target.emulator, [f"range={begin:#x}-{end:#x}" for begin, end in ranges.values()],
        folder + "/run")
    return {name: counts[f"{ranges[name][0]:#x}"] for name in models}


def count_compilations(models):
    """The instructions of model-compiler, all and those of glowish's own library, which
    LLVM's would hide a regression of. The processor is one without AVX, so that the C
    library takes the same functions with any QEMU."""
    counts = {}
    for name, path in models.items():
        found = execute(
            ["qemu-x86_64", "-cpu", "Nehalem"], ["mapped=libglowish.so"],
            os.path.join(BIN, "model-compiler"), "-model=" + path,
            "-emit-bundle=" + WORK + "/compiled", "-network-name=n_" + name,
            "-target=x86_64-linux-gnu", "-mcpu=x86-64-v3")
        counts[name] = found["all"]
        counts[name + ", glowish alone"] = found["mapped"]
    return counts


def read_cache():
    """The settings of the build, of CMake's cache; nothing for installed programs."""
    path = os.path.join(BIN, "../CMakeCache.txt")
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))


def find_versions():
    """What counts depend on."""
    cache = read_cache()
    compiler = cache.get("CMAKE_CXX_COMPILER", "")
    llvm = re.search(r"LLVM ([\d.]+)", tool("model-compiler", "--version"))[1]
    package = (run("dpkg-query", "-W", "-f", "${Version}", "libllvm19")
               if shutil.which("dpkg-query") else "")
    build = [cache.get(key, "") for key in
             ("CMAKE_BUILD_TYPE", "GLOWISH_SANITIZE", "CMAKE_CXX_FLAGS")]
    return {
        "llvm": llvm,
        "llvm-package": package,
        "compiler": run(compiler, "--version").split("\n")[0] if compiler else "",
        "build": "%s, sanitizers %s, flags '%s'" % tuple(build),
        "machine": platform.machine(),
    }


def differing_version(stored, found, names):
    """A line about the first version that is another one, or nothing."""
    for name in names:
        if stored.get(name) != found[name]:
            return f"{name} is {found[name]!r}, stored was {stored.get(name)!r}"
    return ""


def compare(part, stored, found):
    """Says what changed; returns how many are wrong."""
    wrong = 0
    for name, now in found.items():
        before = stored.get(name)
        if before is None:
            print(f"WRONG {part}, {name}: {now} instructions, and no count is stored"
                  " (--update)")
            wrong += 1
        elif abs(now - before) > TOLERANCE * before:
            print(f"WRONG {part}, {name}: {before} instructions before, {now} now"
                  f" ({100 * (now / before - 1):+.1f} %)"
                  + (": store the better count (--update)" if now < before else ""))
            wrong += 1
    return wrong


def update(stored, versions, found):
    """Stores counts; those of what was not counted stay."""
    for part, counts in found.items():
        old = stored["counts"].setdefault(part, {})
        for name, now in counts.items():
            if old.get(name) != now:
                before = old.get(name)
                print(f"{part}, {name}: {before or 'none'} -> {now}"
                      + (f" ({100 * (now / before - 1):+.2f} %)" if before else ""))
        old.update(counts)
    stored["versions"] = versions
    with open(STORED, "w") as file:
        json.dump(stored, file, indent=1, sort_keys=True)
        file.write("\n")


def count(arguments, stored, versions):
    """The counts of all parts that are asked for and comparable, by parts."""
    models = small_networks.write(WORK + "/models")
    exported = {name: f"{MODELS}/{name}/model.onnx" for name in EXPORTED
                if arguments.all and os.path.exists(f"{MODELS}/{name}/model.onnx")}

    def is_chosen(part, is_quick, depends_on):
        if not (part in arguments.only if arguments.only else arguments.all or is_quick):
            return False
        other = "" if arguments.update else differing_version(stored["versions"], versions,
                                                              depends_on)
        if other:
            print(f"{part} is left out: {other}")
        return not other

    found = {}
    for target in TARGETS:
        if is_chosen(target.name, target.quick, ["llvm", "llvm-package"]):
            found[target.name] = count_bundles(
                target, {**models, **(exported if target.models else {})})
    if is_chosen("compiler", True, versions):
        chosen = COMPILED if arguments.all else COMPILED[:1]
        found["compiler"] = count_compilations({name: models[name] for name in chosen})
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", action="append",
                        choices=[target.name for target in TARGETS] + ["compiler"])
    arguments = parser.parse_args()
    if not has_programs({"qemu-x86_64": "qemu-user", "clang-19": "clang-19",
                         "ld.lld-19": "lld-19"}):
        return 77
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    run("clang-19", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror",
        "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", CROSS + "/count_ranges.c",
        "-o", WORK + "/count_ranges.so")
    stored = {"counts": {}, "versions": {}}
    if os.path.exists(STORED):
        with open(STORED) as file:
            stored = json.load(file)
    versions = find_versions()
    found = count(arguments, stored, versions)
    if not found:
        return 77
    if arguments.update:
        update(stored, versions, found)
        return 0
    wrong = sum(compare(part, stored["counts"].get(part, {}), counts)
                for part, counts in found.items())
    print(f"{sum(map(len, found.values())) - wrong} counts are right, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
