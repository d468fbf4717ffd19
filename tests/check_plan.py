#!/usr/bin/env python3
"""Checks the certificate of a memory plan, which `-verify-plan=FILE` writes.

  check_plan.py CERTIFICATE [IR...]

It has no code of the compiler. From the certificate alone: places are aligned
and inside of their memories and regions; constants have bytes in common only
where they are one, placeholders never, and buffers in the arena only if they
are not live at the same time; no access is outside of a live range, and none
reads before one writes; the programs agree. With the program as text (what
`-dump-ir` prints, one for each program of the certificate) buffers, sizes,
positions, accesses and live ranges must also be those of the text.

Prints a line and exits 0, or prints the first fault and exits 1.
"""

import json
import re
import sys


class Fault(Exception):
    pass


def need(condition, message):
    if not condition:
        raise Fault(message)


# ---------------------------------------------------------------- certificate


def parse_accesses(text):
    """[(first, last, reads, writes)] of "0w 2r 5-9rw"."""
    accesses = []
    for part in text.split():
        match = re.fullmatch(r"(\d+)(?:-(\d+))?(r?)(w?)", part)
        need(match and (match[3] or match[4]), f"the access '{part}' is no access")
        accesses.append((int(match[1]), int(match[2] or match[1]),
                         bool(match[3]), bool(match[4])))
    return accesses


def check_place(buffer, size, alignment, memory):
    name, begin = buffer["name"], buffer["offset"]
    need(begin >= 0 and begin % alignment == 0,
         f"'{name}' lies at {begin}, no multiple of {alignment}")
    need(begin + buffer["bytes"] <= size,
         f"'{name}' lies outside of the {memory}, which has {size} bytes")


def meets(a, b):
    return (a["bytes"] and b["bytes"] and a["offset"] < b["offset"] + b["bytes"]
            and b["offset"] < a["offset"] + a["bytes"])


def find_meeting(buffers, may_meet):
    """Two of `buffers` with a byte in common, unless these may."""
    live = []
    for own in sorted(buffers, key=lambda each: each["offset"]):
        live = [each for each in live
                if each["offset"] + each["bytes"] > own["offset"]]
        for other in live:
            if meets(own, other) and not may_meet(own, other):
                return own, other
        live.append(own)
    return None


def is_same_constant(a, b):
    return all(a[key] == b[key] for key in ("payload", "offset", "bytes"))


def overlap_in_time(a, b):
    (first, last), (begin, end) = a["live"], b["live"]
    return first <= last and begin <= end and first <= end and begin <= last


def check_regions(program):
    end = 0
    for region in program["arenaRegions"]:
        need(region["start"] == end and end % program["alignment"] == 0,
             f"region '{region['name']}' begins at {region['start']}")
        end += region["bytes"]
    if program["arenaRegions"]:
        need(end == program["arenaBytes"], "the regions are not as large as the arena")
    for buffer in program["arena"]:
        begin, end = buffer["offset"], buffer["offset"] + buffer["bytes"]
        for region in program["arenaRegions"]:
            border = region["start"] + region["bytes"]
            need(not begin < border < end,
                 f"'{buffer['name']}' crosses the end of region '{region['name']}'")


def check_accesses(program):
    for buffer in program["arena"]:
        name, (first, last) = buffer["name"], buffer["live"]
        accesses = parse_accesses(buffer["accesses"])
        for begin, end, _, _ in accesses:
            need(first <= begin <= end <= last <= program["end"],
                 f"'{name}' is accessed at {begin}, outside of its live range")
        # What a loop stores itself is one access, for which the loop writes.
        written = not accesses or accesses[0][3] and not accesses[0][2]
        is_loops = (len(accesses) == 1 and accesses[0][:2] == (first, last)
                    and first < last and "/" in name)
        need(written or is_loops, f"'{name}' is read before it is written")
        need(accesses == sorted(accesses), f"the accesses of '{name}' have no order")


def check_placeholders(program):
    end = program["end"]
    for buffer in program["mutables"]:
        name, accesses = buffer["name"], parse_accesses(buffer["accesses"])
        need(not buffer["input"] or accesses and accesses[0] == (0, 0, False, True),
             f"the input '{name}' is not written before the program")
        need(not buffer["output"] or accesses and accesses[-1] == (end, end, True, False),
             f"the output '{name}' is not read after the program")
        need(not accesses or not accesses[0][2], f"'{name}' is read before it is written")
        need(accesses == sorted(accesses), f"the accesses of '{name}' have no order")


def check_program(program):
    alignment = program["alignment"]
    need(alignment >= 8 and alignment & (alignment - 1) == 0,
         f"the alignment is {alignment}")
    for key, size in (("constants", "constantBytes"), ("mutables", "mutableBytes"),
                      ("arena", "arenaBytes")):
        for buffer in program[key]:
            check_place(buffer, program[size], alignment, key)
    need(program["buffers"] == sum(len(program[key]) for key in
                                   ("constants", "mutables", "arena")),
         "the number of buffers is another one")
    check_regions(program)
    check_accesses(program)
    check_placeholders(program)
    for key, may_meet in (("constants", is_same_constant),
                          ("mutables", lambda a, b: False),
                          ("arena", lambda a, b: not overlap_in_time(a, b))):
        found = find_meeting(program[key], may_meet)
        need(not found, found and f"'{found[0]['name']}' and '{found[1]['name']}' "
             f"have bytes in common ({key})")


def check_agreement(programs):
    need(len({program["alignment"] for program in programs}) <= 1,
         "the alignments differ")
    found = find_meeting([constant for program in programs
                          for constant in program["constants"]], is_same_constant)
    need(not found, found and f"the constants '{found[0]['name']}' and "
         f"'{found[1]['name']}' of two programs have bytes in common")
    for number, second in enumerate(programs):
        for first in programs[:number]:
            if first["states"] != second["states"]:
                continue
            shares_all = first["placeholders"] == second["placeholders"]
            for a in first["mutables"]:
                for b in second["mutables"]:
                    name = a["placeholder"]
                    state = (a["input"] and a["output"]) or (b["input"] and b["output"])
                    if name == b["placeholder"]:
                        need(not (shares_all or state) or a["offset"] == b["offset"],
                             f"the placeholder '{name}' has two places")
                    else:
                        need(not (state and meets(a, b)),
                             f"'{name}' and '{b['placeholder']}' have bytes in common")


# ------------------------------------------------------------------------- IR


ELEMENT_BYTES = {"float": 4, "double": 8, "float16": 2, "bfloat16": 2, "bool": 1,
                 "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4,
                 "uint32": 4, "int64": 8, "uint64": 8, "int16q": 2, "int32q": 4}


class Buffer:
    def __init__(self, kind, type_text, root=None, offset=0, strides=()):
        self.kind, self.root, self.offset = kind, root, offset
        # Bounds, without the extents that a run decides.
        bounds = re.sub(r"\{[^}]*\}", "", type_text)
        match = re.match(r"([a-z]+\d*\w*)<([\dx]*)", bounds)
        need(match, f"the type '{type_text}'")
        self.element = ELEMENT_BYTES.get(match[1], 1)
        self.shape = [int(extent) for extent in match[2].split("x") if extent]
        self.count = 1
        for extent in self.shape:
            self.count *= extent
        self.strides = strides
        self.input = self.output = False

    def bounds(self):
        low = high = self.offset
        for extent, stride in zip(self.shape, self.strides):
            if stride < 0:
                low += stride * (extent - 1)
            else:
                high += stride * (extent - 1)
        return low, high


NAME = r'%(?:"(?:[^"\\]|\\.)*"|[\w.$]+)'


class Program:
    """The buffers of a program as text, with positions, accesses, live ranges."""

    def __init__(self, text):
        self.lines = [line.strip() for line in text.splitlines()]
        self.next = 0
        self.position = 0
        self.instructions = self.operands = 0
        self.fixed = {}  # constants and mutables, by name
        self.arena = {}  # name: [bytes, live, accesses]
        while not self.lines[self.next].startswith("ir "):
            self.next += 1
        self.run()

    def run(self):
        buffers = self.read_function("", None)
        self.end = self.position + 1
        for name, buffer in buffers.items():
            if buffer.kind == "mutable":
                accesses = ([(0, 0, False, True)] if buffer.input else []) + \
                    buffer.accesses + \
                    ([(self.end, self.end, True, False)] if buffer.output else [])
                self.fixed[name] = (buffer.count * buffer.element, accesses)

    def read_function(self, prefix, stored):
        """From `ir "name" {` to its `}`. `stored`: how many parameters and results
        a loop stores itself; None for other functions."""
        self.next += 1
        buffers = {}
        while self.lines[self.next] != "code {":
            self.read_buffer(buffers)
            self.next += 1
        for name, buffer in buffers.items():
            if buffer.kind == "constant":
                self.fixed[prefix + name] = (buffer.count * buffer.element, [])
        self.next += 1
        while self.lines[self.next] != "}":
            self.read_instruction(buffers, prefix)
        self.next += 1
        return buffers

    def read_buffer(self, buffers):
        line = self.lines[self.next]
        match = re.match(rf"(constant|mutable|activation|view) ({NAME}) (.*)$", line)
        if not match:
            return  # elements of a constant
        kind, name, rest = match.groups()
        if kind == "view":
            view = re.match(rf"= ({NAME}) offset (-?\d+) strides \[(.*?)\] : (.*)$", rest)
            strides = [int(each) for each in view[3].split(",") if each.strip()]
            buffer = Buffer(kind, view[4], buffers[clean(view[1])], int(view[2]), strides)
        else:
            buffer = Buffer(kind, rest[2:])
        buffer.input = kind == "mutable" and " input " in rest
        buffer.output = kind == "mutable" and " output " in rest
        buffer.accesses = []
        buffers[clean(name)] = buffer

    def read_instruction(self, buffers, prefix):
        line = self.lines[self.next]
        match = re.match(r'(?:"(?:[^"\\]|\\.)*" )?(\w+)\((.*?)\)(?: |$)', line)
        need(match, f"the instruction '{line}'")
        kind, operands = match.groups()
        operands = [(role, clean(name)) for role, name in
                    re.findall(rf"@(\w+) ({NAME})", operands)]
        if kind in ("Alloc", "Dealloc"):
            self.read_mark(kind, buffers[operands[0][1]], prefix + operands[0][1])
            self.next += 1
            return
        self.position += 1
        self.instructions += 1
        first = last = self.position
        if re.search(r'= ir "', line):
            last = self.read_bodies(kind, prefix, first)
        else:
            self.next += 1
        for role, name in operands:
            self.operands += 1
            access(buffers[name], name, role, first, last)

    def read_mark(self, kind, buffer, name):
        if kind == "Alloc":
            need(name not in self.arena, f"'{name}' is allocated twice")
            self.arena[name] = [buffer.count * buffer.element,
                                [self.position + 1, None], buffer.accesses]
        else:
            self.arena[name][1][1] = self.position

    def read_bodies(self, kind, prefix, first):
        """The attributes that are bodies, to the line that ends the instruction."""
        stored = []
        while True:
            name = re.search(r'= ir "((?:[^"\\]|\\.)*)" \{$', self.lines[self.next])
            if not name:
                break
            body = self.read_function(f"{prefix}{first}:{name[1]}/", kind)
            if kind == "Loop":
                states = int(re.search(r"numStates = (\d+)", self.lines[self.next])[1])
                inputs = [each for each in body if body[each].input]
                outputs = [each for each in body if body[each].output]
                stored = [(f"{prefix}{first}:{name[1]}/{each}", body[each])
                          for each in inputs[:2] + outputs[:1 + states]]
        self.next += 1
        self.position += 1
        for name, buffer in stored:
            self.arena[name] = [buffer.count * buffer.element, [first, self.position],
                                [(first, self.position, True, True)]]
        return self.position


def clean(name):
    name = name[1:]
    return name[1:-1] if name.startswith('"') else name


def access(operand, name, role, first, last):
    root = operand.root or operand
    if operand.count == 0:
        return
    if operand.root:
        low, high = operand.bounds()
        need(0 <= low and high < root.count, f"'{name}' reaches outside of its root")
    reads, writes = role in ("in", "inout"), role != "in"
    need(not (writes and root.kind == "constant"), f"the constant '{name}' is written")
    if root.kind == "constant":
        return
    if root.accesses and root.accesses[-1][:2] == (first, last):
        _, _, did_read, did_write = root.accesses.pop()
        reads, writes = reads or did_read, writes or did_write
    root.accesses.append((first, last, reads, writes))


def compare(what, own, other):
    need(own == other, f"{what} are {other} in the certificate, and {own} in the program")


def check_against(program, text):
    ir = Program(text)
    compare("the instructions", ir.instructions, program["instructions"])
    compare("the accesses", ir.operands, program["accesses"])
    compare("the last positions", ir.end, program["end"])
    fixed, arena = dict(ir.fixed), dict(ir.arena)
    if program["keepsOutputs"]:
        # What another program has left there.
        for _, accesses in fixed.values():
            if accesses == [(ir.end, ir.end, True, False)]:
                accesses.insert(0, (0, 0, False, True))
    for buffer in program["constants"] + program["mutables"]:
        name = buffer["name"]
        need(name in fixed, f"the program has no '{name}'")
        size, accesses = fixed.pop(name)
        compare(f"the bytes of '{name}'", size, buffer["bytes"])
        if accesses or "accesses" in buffer:
            compare(f"the accesses of '{name}'", accesses,
                    parse_accesses(buffer["accesses"]))
    # Placeholders in the arena are live as long as they are accessed.
    for name in list(fixed):
        size, accesses = fixed[name]
        arena[name] = [size, [accesses[0][0], accesses[-1][1]], accesses]
    for buffer in program["arena"]:
        name = buffer["name"]
        need(name in arena, f"the program has no '{name}'")
        size, live, accesses = arena.pop(name)
        compare(f"the bytes of '{name}'", size, buffer["bytes"])
        compare(f"the live range of '{name}'", live, buffer["live"])
        compare(f"the accesses of '{name}'", accesses,
                parse_accesses(buffer["accesses"]))
    need(not arena, f"the certificate lacks {', '.join(sorted(arena))}")


def split_programs(text):
    """The programs of what -dump-ir printed."""
    return ["ir " + part for part in re.split(r"^ir ", text, flags=re.M)[1:]]


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    try:
        with open(arguments[0]) as file:
            certificate = json.load(file)
        need(certificate.get("certificate") == "glowish memory plan"
             and certificate.get("version") == 1, "this is no certificate")
        programs = certificate["programs"]
        for program in programs:
            check_program(program)
        check_agreement(programs)
        texts = []
        for path in arguments[1:]:
            with open(path) as file:
                texts += split_programs(file.read())
        if arguments[1:]:
            need(len(texts) == len(programs),
                 f"there are {len(texts)} programs for {len(programs)} plans")
        for program, text in zip(programs, texts):
            check_against(program, text)
    except (Fault, KeyError, TypeError, ValueError) as fault:
        print(f"{arguments[0]}: {fault}")
        return 1
    print(f"{arguments[0]}: {len(programs)} plans, "
          f"{sum(program['buffers'] for program in programs)} buffers, "
          f"{sum(program['accesses'] for program in programs)} accesses"
          f"{', as in the programs' if texts else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
