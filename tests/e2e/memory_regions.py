#!/usr/bin/python3
"""memory_regions.py [--doc]: bundles whose activations are in two arrays, in sections of
their own, against the same networks with one array: the outputs must have the same bits. On
this machine, and on an emulated Cortex-M4 where clang, lld and QEMU are installed.

There it is also counted which part of the accesses to activations goes to the first region,
and compared with the estimate in the header. docs/microcontrollers.md has these figures;
--doc writes them.

$GLOWISH_BIN: the programs (default build/release/bin). $GLOWISH_TEST_DATA: models that are
tried, too, if they are there (default ../shared/data). Exits with 77 where there is no C
compiler."""

import functools
import os
import re
import shutil
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
WORK = os.path.abspath("build/e2e/memory_regions")
CROSS = "tests/e2e/cross"
DOC = "docs/microcontrollers.md"
BEGIN, END = "<!-- regions: begin -->", "<!-- regions: end -->"
HEAD = ("Network", "First region", "In it, of all bytes", "Accesses there, estimated", "Counted")

NETWORKS = {
    "words": "examples/microcontroller/words.onnx",
    "quantized": CROSS + "/quantized.onnxtxt",
    "digits": "examples/digits/digits.onnx",
    "tiny_resnet8": DATA + "/quantized/tiny_resnet8_int8/pretrainedResnet_quant.tflite",
}
# The networks and first regions that are measured.
MEASURED = {"words": (1, 2, 4, 8, 16), "digits": (2, 4, 8, 16)}
TOLERANCE = 2  # percentage points, to what is documented


class Machine:
    """How bundles are compiled, linked and run. The program's sources are one file for the
    compiler, whose starts take most of its time."""

    def __init__(self, name, options, compiler, platform, emulator=()):
        self.name, self.options, self.compiler = name, options, compiler
        self.platform, self.emulator = CROSS + "/" + platform, list(emulator)

    def is_there(self):
        return all(shutil.which(command[0]) for command in
                   (self.compiler, self.emulator) if command)


HOST = Machine("this machine", [],
               [os.environ.get("CC", "cc"), "-std=c99", "-O2"],
               "platform_hosted.c")
CORTEX_M4 = Machine(
    "Cortex-M4", ["-target=arm", "-mcpu=cortex-m4", "-float-abi=hard"],
    ["clang-19", "-std=c99", "-O2", "--target=thumbv7em-none-eabihf",
     "-mcpu=cortex-m4", "-ffreestanding", "-fno-builtin", "-fno-pic", "-meabi", "gnu",
     "-nostdlib", "-static", "-fuse-ld=lld", "-DBOARD", "-L" + CROSS,
     f"-Wl,-T,{CROSS}/regions.ld", "-Wl,--defsym=BIG_RAM=0x21000000"],
    "platform_semihosted.c",
    ["qemu-system-arm", "-nographic", "-monitor", "none", "-serial", "none",
     "-semihosting-config", "enable=on,target=native", "-machine", "mps2-an386",
     "-kernel"])

wrong = 0


def check(is_right, *shown):
    global wrong
    if not is_right:
        wrong += 1
        print("WRONG", *shown)


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=300, **options)
    return done.returncode, done.stdout + done.stderr


def must_run(command):
    code, text = run(command)
    if code != 0:
        raise SystemExit(" ".join(command) + ": " + text)


class Bundle:
    """A bundle of `model` in `folder`, and what its header states."""

    def __init__(self, folder, name, model, options):
        must_run([BIN + "/model-compiler", "-model=" + model, "-emit-bundle=" + folder,
                  "-network-name=" + name, "-weights=embed", *options])
        self.folder, self.object = folder, f"{folder}/{name}.o"
        with open(f"{folder}/{name}.h") as file:
            self.text = file.read()
        self.prefix = name.upper() + "_"

    def get_size(self, region):
        return int(re.search(rf"#define {self.prefix}{region}_MEM_SIZE (\d+)u",
                             self.text)[1])

    def get_symbol(self, direction):
        return re.search(rf"#define {self.prefix}(\w+)_DIRECTION {direction}\n",
                         self.text)[1]

    def get_share(self, region):
        """The percentage of the accesses, as estimated."""
        return float(re.search(rf"^ \*   {region} .* bytes, ([\d.]+)% of the accesses",
                               self.text, re.M)[1])


@functools.cache
def get_plain(machine, name, *options):
    """The bundle without regions, one for all divisions."""
    return Bundle("_".join([f"{WORK}/{name}", machine.name, *options]), "plain",
                  NETWORKS[name], [*machine.options, *options])


def build(machine, folder, name, first, options=()):
    """The bundle in regions, of which the first has at most `first` bytes, and a program
    with it and one without regions."""
    shutil.rmtree(folder, ignore_errors=True)
    plain = get_plain(machine, name, *options)
    size = 2 * plain.get_size("ACTIVATIONS")
    parts = Bundle(folder, "parts", NETWORKS[name],
                   [*machine.options, *options,
                    f"-memory-regions=dtcm:{first},sram:{size}"])
    program = folder + "/run"
    must_run([*machine.compiler, "-Wall", "-Wextra", "-Werror", "-I" + folder,
              "-I" + plain.folder, "-DINPUT=" + plain.get_symbol(1),
              "-DOUTPUT=" + plain.get_symbol(2), "-include", machine.platform,
              CROSS + "/compare_regions.c", plain.object, parts.object, "-o", program])
    return parts, program


def check_bits(machine, name):
    arena = get_plain(machine, name).get_size("ACTIVATIONS")
    for options in [], ["-io-in-activations"]:
        for share in 8, 2:
            folder = f"{WORK}/{name}"
            parts, program = build(machine, folder, name, max(1, arena // share),
                                   options)
            _, text = run([*machine.emulator, program])
            used = parts.get_size("DTCM"), parts.get_size("SRAM")
            check(text.strip() == "same", name, machine.name, options, used, text)
            print(f"{name:14}{machine.name:14}{' '.join(options):20}{used[0]:8}"
                  f"{used[1]:8}  {text.strip()}")


# ===- Counting -----------------------------------------------------------------===


def get_symbols(file):
    """The addresses of what `file` defines."""
    lines = run(["llvm-nm-19", "--defined-only", file])[1].splitlines()
    return {name: int(address, 16) for address, _, name in map(str.split, lines)}


def find_code(parts, symbols):
    """The addresses of the code of the bundle in regions, which is one section, by those of
    the program's symbols."""
    begin = symbols["parts"] - get_symbols(parts.object)["parts"]
    begin &= ~1  # marks Thumb code
    size = re.search(r"^\.text +(\d+)", run(["llvm-size-19", "-A", parts.object])[1],
                     re.M)[1]
    return begin, begin + int(size)


def count_share(parts, program, plugin):
    """The percentage of the accesses to both regions that go to the first one."""
    output = program + ".accesses"
    symbols = get_symbols(program)
    begin, end = find_code(parts, symbols)
    emulator = CORTEX_M4.emulator
    must_run([emulator[0], "-plugin",
              f"{plugin},begin={begin:#x},end={end:#x},output={output}", *emulator[1:],
              program])
    counts = {}
    with open(output) as lines:
        for line in lines:
            address, accesses, _ = line.split()
            for region in "dtcm", "sram":
                start = symbols["region_" + region]
                if start <= int(address, 16) < start + parts.get_size(region.upper()):
                    counts[region] = counts.get(region, 0) + int(accesses)
    return 100 * counts.get("dtcm", 0) / sum(counts.values())


def measure():
    """The rows of the table."""
    plugin = WORK + "/count_accesses.so"
    must_run(["clang-19", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror",
              "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC",
              CROSS + "/count_accesses.c", "-o", plugin])
    rows = []
    for name, sizes in MEASURED.items():
        for kilobytes in sizes:
            parts, program = build(CORTEX_M4, f"{WORK}/{name}_{kilobytes}K",
                                   name, kilobytes << 10,
                                   ["-io-in-activations"])
            used = parts.get_size("DTCM")
            rows.append((name, f"{kilobytes} KB",
                         f"{used:,} of {used + parts.get_size('SRAM'):,}",
                         parts.get_share("dtcm"), count_share(parts, program, plugin)))
    return rows


def format_row(row):
    return "| " + " | ".join([*row[:3], f"{row[3]:.0f}%", f"{row[4]:.0f}%"]) + " |"


def check_rows(rows):
    with open(DOC) as file:
        text = file.read()
    for row in rows:
        line = next((line for line in text.split(BEGIN)[1].split(END)[0].splitlines()
                     if line.startswith(f"| {row[0]} | {row[1]} |")), "")
        numbers = [float(number) for number in re.findall(r"(\d+)%", line)]
        check(len(numbers) == 2 and all(
            abs(number - value) <= TOLERANCE
            for number, value in zip(numbers, row[3:])),
              DOC, "has", line, "and not", format_row(row))


def write_rows(rows):
    with open(DOC) as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    table = ["| " + " | ".join(HEAD) + " |", "|---|--:|--:|--:|--:|",
             *map(format_row, rows)]
    with open(DOC, "w") as file:
        file.write("\n".join([head + BEGIN, "", *table, "", END]) + tail)


def main():
    if not HOST.is_there():
        print("skipped: no C compiler")
        sys.exit(77)
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    machines = [machine for machine in (HOST, CORTEX_M4) if machine.is_there()]
    for name, model in NETWORKS.items():
        if not os.path.exists(model):
            print("skipped, as it is not there:", model)
            continue
        for machine in machines:
            check_bits(machine, name)
    if CORTEX_M4 in machines:
        rows = measure()
        print(*map(format_row, rows), sep="\n")
        if "--doc" in sys.argv:
            write_rows(rows)
        else:
            check_rows(rows)
    sys.exit(bool(wrong))


main()
