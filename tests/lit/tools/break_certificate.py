"""Plants bugs into the certificate of a memory plan, one at a time, and checks
that check_plan.py, with the program as text, refuses each.

  break_certificate.py CHECKER CERTIFICATE IR
"""

import copy
import json
import subprocess
import sys

checker, path, program = sys.argv[1:]
with open(path) as file:
    whole = json.load(file)


def find(certificate, name):
    first = certificate["programs"][0]
    for memory in ("constants", "mutables", "arena"):
        for buffer in first[memory]:
            if buffer["name"] == name:
                return buffer
    raise KeyError(name)


def put(name, key, value):
    def plant(certificate):
        buffer = find(certificate, name)
        assert buffer[key] != value
        buffer[key] = value
    return plant


def move_onto(name, other):
    def plant(certificate):
        find(certificate, name)["offset"] = find(certificate, other)["offset"]
    return plant


def put_total(key, value):
    def plant(certificate):
        certificate["programs"][0][key] = value
    return plant


def drop(memory):
    def plant(certificate):
        certificate["programs"][0][memory].pop()
        certificate["programs"][0]["buffers"] -= 1
    return plant


# What is planted, and a part of what the checker says.
BUGS = [
    (move_onto("first", "second"), "have bytes in common (arena)"),
    (move_onto("loop", "first"), "have bytes in common (arena)"),
    (move_onto("3:body/mul", "first"), "have bytes in common (arena)"),
    (move_onto("y", "x"), "have bytes in common (mutables)"),
    (put("first", "offset", 4), "no multiple of 64"),
    (put("first", "offset", -64), "no multiple of 64"),
    (put("first", "offset", 1 << 20), "lies outside of the arena"),
    (put("x", "offset", 1 << 20), "lies outside of the mutables"),
    (put("first", "live", [3, 4]), "outside of its live range"),
    (put("second", "live", [2, 20]), "the live range of 'second'"),
    (put("first", "accesses", "1r 3-10r 19r"), "is read before it is written"),
    (put("first", "bytes", 64), "the bytes of 'first'"),
    (put("x", "accesses", "0w"), "the accesses of 'x'"),
    (put("x", "accesses", "1r"), "the input 'x' is not written before"),
    (put("y", "accesses", "19w"), "the output 'y' is not read after"),
    (put("y", "accesses", "20r"), "'y' is read before it is written"),
    (put("first", "name", "third"), "the program has no 'third'"),
    (drop("arena"), "the certificate lacks"),
    (put_total("arenaBytes", 64), "lies outside of the arena"),
    (put_total("alignment", 48), "the alignment is 48"),
    (put_total("instructions", 5), "the instructions are 5"),
    (put_total("end", 40), "the output 'y' is not read after"),
    (put_total("buffers", 3), "the number of buffers"),
    (put_total("arenaRegions", [{"name": "a", "start": 0, "bytes": 64}]),
     "the regions are not as large"),
]


def check(certificate):
    with open(path + ".broken", "w") as file:
        json.dump(certificate, file)
    return subprocess.run([sys.executable, checker, path + ".broken", program],
                          capture_output=True, text=True)


run = check(whole)
if run.returncode != 0:
    sys.exit(f"the whole certificate is refused: {run.stdout}{run.stderr}")
for number, (plant, message) in enumerate(BUGS):
    broken = copy.deepcopy(whole)
    plant(broken)
    run = check(broken)
    if run.returncode != 1 or message not in run.stdout:
        sys.exit(f"bug {number}: exit code {run.returncode}, not '{message}': "
                 f"{run.stdout}{run.stderr}")
print(f"{len(BUGS)} bugs are found")
