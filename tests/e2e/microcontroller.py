#!/usr/bin/python3
"""microcontroller.py [--doc]: examples/microcontroller, built and run by its run.sh on all
boards whose compiler and emulator are installed. What a board prints must be what the
interpreter answers, and the table of its README what is measured: sizes, and the
instructions that QEMU executes. --doc writes that table.

$GLOWISH_BIN: the programs (default build/release/bin). Exits with 77 where there is no NumPy,
or nothing for any board."""

import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
os.chdir(ROOT)
sys.path[:0] = ["tests/e2e", "tests/e2e/cross", "examples/microcontroller"]

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy (scripts/install-deps.sh --train)")
    sys.exit(77)

import cortex_m4_cycles  # noqa: E402
from model_runs import BIN, run_model  # noqa: E402

EXAMPLE = "examples/microcontroller"
WORK = os.path.abspath("build/e2e/microcontroller")
README = EXAMPLE + "/README.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
FLASH = (".vectors", ".network", ".weights", ".text", ".rodata", ".ARM.exidx", ".data")
BOARDS = {"mps2-an386": "Cortex-M4", "mps3-an547": "Cortex-M55", "rv32imc": "RV32IMC"}
HEAD = ("Board", "Processor", "Code", "Weights", "Flash", "Arena", "Stack",
        "Instructions, millions", "Cycles, millions")
# In the columns of HEAD, what a figure may differ by from what is documented: other
# releases of the compilers make other code.
TOLERANCES = (0.03,) * 5 + (0.02,) * 2
wrong = 0


def check(is_right, *shown):
    global wrong
    if not is_right:
        wrong += 1
        print("WRONG", *shown)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          **options)
    return done.returncode, done.stdout + done.stderr


# Instructions, whether they leave for elsewhere, and their least and most cycles by Arm's
# manual, those of waiting for the one in front and of a refill included.
COSTS = [
    ("push.w {r4, r5, r6, r7, r8, sb, lr}", 0, 8, 8),
    ("ldr r0, [r1]", 0, 2, 2),
    ("ldr r2, [r3, #4]", 0, 1, 1),  # behind another load
    ("ldr r2, [r2]", 0, 2, 2),  # but not for its address
    ("str r2, [r3, r4]", 0, 1, 1),
    ("adds r1, r1, #4", 0, 1, 1),
    ("str r1, [r1, r2]", 0, 2, 3),  # waits for its address
    ("strb r1, [r1], #3", 0, 1, 1),
    ("ldrd r0, r1, [r2]", 0, 3, 3),
    ("vldr s0, [r1]", 0, 2, 2),
    ("vadd.f32 s1, s0, s0", 0, 1, 1),
    ("vmul.f32 s2, s1, s0", 0, 1, 2),  # waits for s1
    ("vmov r0, s2", 0, 2, 3),
    ("vfma.f32 s0, s1, s2", 0, 3, 3),
    ("vstr s0, [r1]", 0, 2, 3),
    ("sdiv r0, r1, r2", 0, 2, 12),
    ("itt ls", 0, 0, 1),
    ("smladls r0, r1, r2, r0", 0, 1, 1),
    ("bls.w #0x100", 1, 2, 4),  # taken
    ("pop {r4-r7, pc}", 1, 7, 9),
]


def check_costs():
    """One instruction more at a time, each executed once."""
    path, lines, sums = WORK + "/costs", "", (0, 0)
    for number, (text, left, least, most) in enumerate(COSTS):
        lines += f"{4 * number:x} 1 {left} {text}\n"
        sums = sums[0] + least, sums[1] + most
        with open(path, "w") as file:
            file.write(lines)
        cycles = cortex_m4_cycles.sum_cycles(cortex_m4_cycles.estimate(path))
        check(cycles == sums, "with", text, cycles, "cycles, and not", sums)


def expect_lines():
    """What a board prints, by the scores of the interpreter."""
    with open(EXAMPLE + "/main.c") as file:
        names = re.findall(r'"(\w+)"', re.search(r"names\[\] = \{(.*?)\}",
                                                 file.read(), re.S)[1])
    import words
    check(names == words.LABELS, "names", names, words.LABELS)
    records = np.fromfile(EXAMPLE + "/examples.bin", np.int8).reshape(-1, 1 + 49 * 20)
    lines, right = [], 0
    for record in records:
        outputs, text = run_model(
            [EXAMPLE + "/words.onnx"],
            {"features": record[1:].reshape(1, 1, 49, 20)}, "Interpreter",
            WORK + "/interpreter")
        if outputs is None:
            raise SystemExit("model-runner: " + text)
        scores = outputs["scores"][0]
        check(scores.dtype == np.int8, "scores are", scores.dtype)
        best = int(scores.argmax())
        lines.append(f"{names[best]:10}{scores[best]:7}  {names[record[0]]}")
        right += best == record[0]
    return ["recognized  score  expected", *lines,
            f"{right} of {len(records)} right, "]


def run_board(board, expected):
    """Whether it was there; its output is compared."""
    code, text = run(EXAMPLE + "/run.sh", board,
                     env=dict(os.environ, WORK=WORK, GLOWISH_BIN=BIN))
    if code == 77:
        print(text.strip())
        return False
    lines = text.splitlines()[1:]
    check(code == 0 and len(lines) == len(expected) and
          lines[:-1] == expected[:-1] and lines[-1].startswith(expected[-1]),
          board, code, text, "expected", *expected)
    return code == 0


def profile(board, symbols):
    """A file of the plugin, and what the program printed."""
    plugin, output = WORK + "/profile.so", f"{WORK}/{board}.profile"
    subprocess.run(["clang-19", "-std=c11", "-O2", "-D_POSIX_C_SOURCE=200809L",
                    "-shared", "-fPIC", "tests/e2e/cross/profile_instructions.c",
                    "-o", plugin], check=True)
    begin, end = (symbols["network_code_" + name] for name in ("begin", "end"))
    run("cmake", f"-DEMULATOR_OPTIONS=-plugin;{plugin},begin={begin},end={end},"
        f"output={output}", f"{WORK}/{board}")
    code, text = run("cmake", "--build", f"{WORK}/{board}", "--target", "run", "--",
                     "--quiet")
    if code != 0:
        raise SystemExit(f"{board} with a plugin: {text}")
    return output, text


def measure(board, runs):
    """The figures of a row of the table."""
    program = f"{WORK}/{board}/recognizer.elf"
    sizes = {name: int(size) for name, size in re.findall(
        r"^(\.\S+) +(\d+)", run("llvm-size-19", "-A", program)[1], re.M)}
    flash = sum(sizes.get(name, 0) for name in FLASH)
    symbols = {name: "0x" + address for address, _, name in
               (line.split() for line in run("llvm-nm-19", program)[1].splitlines())}
    file, text = profile(board, symbols)
    stack = int(re.search(r"(\d+) bytes of stack", text)[1])
    with open(file) as lines:
        instructions = sum(int(line.split()[1]) for line in lines)
    figures = [sizes[".network"], sizes[".weights"], flash, sizes[".arena"], stack,
               instructions / runs / 1e6]
    if BOARDS[board] == "Cortex-M4":
        figures.append(tuple(cycles / runs / 1e6 for cycles in
                             cortex_m4_cycles.sum_cycles(
                                 cortex_m4_cycles.estimate(file))))
    return figures


def format_row(board, figures):
    cells = [board, BOARDS[board], *(f"{size:,}" for size in figures[:5]),
             f"{figures[5]:.3g}",
             "{:.2f} to {:.2f}".format(*figures[6]) if len(figures) > 6 else ""]
    return "| " + " | ".join(cells) + " |"


def read_numbers(cell):
    return [float(number.replace(",", "")) for number in
            re.findall(r"[\d,.]*\d", cell)]


def check_row(board, figures, documented):
    """Each number of the README against the measured one."""
    row = next((line for line in documented if line.startswith(f"| {board} |")), "")
    cells = row.strip("| ").split("|")
    if len(cells) < 2 + len(figures):
        check(False, README, "has no figures of", board)
        return
    for name, cell, value, tolerance in zip(HEAD[2:], cells[2:], figures, TOLERANCES):
        values = value if isinstance(value, tuple) else (value,)
        numbers = read_numbers(cell)
        check(len(numbers) == len(values) and
              all(abs(number - v) <= tolerance * v
                  for number, v in zip(numbers, values)),
              f"{board}: {name} is {value}, and {README} has{cell}")


def write_table(rows):
    with open(README) as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    table = ["| " + " | ".join(HEAD) + " |", "|---|---|" + "--:|" * (len(HEAD) - 2)]
    with open(README, "w") as file:
        file.write("\n".join([head + BEGIN, "", *table, *rows, "", END]) + tail)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    check_costs()
    expected = expect_lines()
    with open(README) as file:
        documented = file.read().splitlines()
    rows = []
    for board in BOARDS:
        if not run_board(board, expected):
            continue
        figures = measure(board, len(expected) - 2)
        rows.append(format_row(board, figures))
        print(rows[-1])
        if "--doc" not in sys.argv:
            check_row(board, figures, documented)
    if "--doc" in sys.argv and not wrong and len(rows) == len(BOARDS):
        write_table(rows)
    if not rows and not wrong:
        sys.exit(77)
    sys.exit(bool(wrong))


main()
