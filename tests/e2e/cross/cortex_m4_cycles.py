#!/usr/bin/python3
"""cortex_m4_cycles.py FILE [RUNS]: estimates the cycles that a Cortex-M4 needs for the
instructions of FILE, which the plugin profile_instructions.c of QEMU wrote, and prints them
by classes, divided by RUNS.

The costs are those of Arm's Cortex-M4 Technical Reference Manual (100166): its tables of
processor instructions and of floating-point instructions, and the timings of loads and
stores. They are for memory without wait states. What the manual leaves open is a range: a
pipeline refill takes 1 to 3 cycles, a division 2 to 12, an IT instruction 0 or 1. The upper
bound also has a cycle for each instruction that waits for the one in front of it: a load or
store for its address, any for the result of floating-point arithmetic. Left out are wait states and what caches and prefetches of flash make of
them, contention of instruction fetches with data, unaligned accesses, and interrupts.
"""

import collections
import re
import sys

# Mnemonics without their conditions and widths.
DATA = """adc add addw adds and asr bfc bfi bic clz cmn cmp eor lsl lsr mov movt movw mvn
 nop orn orr pkhbt pkhtb rbit rev rev16 revsh ror rrx rsb sadd16 sadd8 sbc sbfx sel ssat
 ssat16 ssub16 ssub8 sub subw sxtab sxtab16 sxtah sxtb sxtb16 sxth teq tst uadd16 uadd8
 ubfx uqadd8 uqsub8 usat usat16 usub16 usub8 uxtab uxtab16 uxtah uxtb uxtb16 uxth qadd
 qadd16 qadd8 qsub qsub16 qsub8 mrs msr""".split()
MULTIPLY = """mla mls mul smlabb smlabt smlad smladx smlal smlatb smlatt smlawb smlawt
 smlsd smmla smmul smmulr smuad smulbb smulbt smull smultb smultt umaal umlal
 umull""".split()
LOAD = "ldr ldrb ldrh ldrsb ldrsh".split()
STORE = "str strb strh".split()
FLOAT = "vabs vadd vcmp vcmpe vcvt vcvtr vmul vneg vnmul vsub vmrs vmsr".split()
FLOAT_SUMS = "vfma vfms vfnma vfnms vmla vmls vnmla vnmls".split()
FLOAT_DIVISIONS = ["vdiv", "vsqrt"]
LISTS = """ldm ldmdb pop push stm stmdb vldm vldmia vpop vpush vstm vstmia""".split()
CONDITIONS = "eq|ne|hs|cs|lo|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al"
CORE = re.compile(r"r\d+|sb|sl|fp|ip|sp|lr")

Cost = collections.namedtuple("Cost", "kind least most")
# Of those whose cost does not depend on operands and neighbours.
FIXED = {name: Cost(*cost) for names, *cost in (
    (DATA, "arithmetic, moves, extensions", 1, 1),
    (MULTIPLY, "multiplications", 1, 1),
    (["sdiv", "udiv"], "divisions", 2, 12),
    (["ldrd"], "loads of pairs", 3, 3),
    (["strd"], "stores", 3, 3),
    (FLOAT, "floating point", 1, 1),
    (FLOAT_SUMS, "floating point", 3, 3),
    (FLOAT_DIVISIONS, "floating point", 14, 14),
    ("b bl blx bx cbnz cbz".split(), "branches", 1, 1),
    (["tbb", "tbh"], "branches", 2, 2),
    (["it"], "branches", 0, 1)) for name in names}
KNOWN = {*FIXED, *LOAD, *STORE, *LISTS, "vldr", "vmov", "vstr"}
Line = collections.namedtuple("Line", "address executed left name operands")


def find_name(mnemonic):
    """The known name: without width, types, the flag S and a condition."""
    name = mnemonic.split(".")[0]
    if re.fullmatch("it[te]*", name):
        return "it"
    for pattern in ("$", f"({CONDITIONS})$", "s$", f"s({CONDITIONS})$"):
        if re.search(pattern, name) and re.sub(pattern, "", name) in KNOWN:
            return re.sub(pattern, "", name)
    raise SystemExit(f"cortex_m4_cycles.py: the cost of {mnemonic} is not known")


def read(path):
    """The lines by addresses, those of the same address summed up."""
    lines = {}
    with open(path) as file:
        for text in file:
            address, executed, left, mnemonic, *rest = text.split(None, 4)
            address = int(address, 16)
            before = lines.get(address)
            lines[address] = Line(
                address, int(executed) + (before.executed if before else 0),
                int(left) + (before.left if before else 0), find_name(mnemonic),
                rest[0].strip() if rest else "")
    return [lines[address] for address in sorted(lines)]


def count_registers(text):
    """Of a list in braces, r4-r7 included."""
    count = 0
    for part in re.search(r"\{(.*)\}", text)[1].split(","):
        ends = [int(re.sub(r"\D", "", end) or 0) for end in part.split("-")]
        count += ends[-1] - ends[0] + 1 if len(ends) == 2 else 1
    return count * (2 if re.search(r"\{ *d", text) else 1)


def written(line):
    """The core register that an instruction of one result computes."""
    if line.name in DATA + MULTIPLY and line.name not in ("cmp", "cmn", "tst", "teq"):
        return line.operands.split(",")[0]
    return None


def address_registers(line):
    inside = re.search(r"\[([^\]]*)\]", line.operands)
    return CORE.findall(inside[1]) if inside else []


def waits_for_float(line, before):
    """Whether the instruction in front computes a float that this one reads."""
    if before.name not in FLOAT + FLOAT_SUMS + FLOAT_DIVISIONS:
        return False
    result = before.operands.split(", ")[0]
    first, *others = line.operands.split(", ")
    reads_first = line.name in ["vstr", "vcmp", "vcmpe"] + FLOAT_SUMS
    return result in others or (reads_first and result == first)


def cost_access(line, before):
    """Of a single load or store of core registers."""
    if (before and before.name in LOAD and
            before.operands.split(",")[0] not in address_registers(line)):
        return 1
    return 2 if line.name in LOAD or len(address_registers(line)) > 1 else 1


def cost_alone(line, before):
    """Without waiting for what `before` computes."""
    name = line.name
    if name in FIXED:
        return FIXED[name]
    if name in LISTS:
        kind, cycles = "loads and stores of lists", 1 + count_registers(line.operands)
    elif name == "vmov":
        kind = "moves from and to floating point"
        cycles = 2 if CORE.search(line.operands) else 1
    else:
        kind = "loads" if name in LOAD + ["vldr"] else "stores"
        if name in LOAD + STORE:
            cycles = cost_access(line, before)
        else:
            cycles = 3 if line.operands.startswith("d") else 2
    return Cost(kind, cycles, cycles)


def cost(line, before):
    """Of one execution, without refills of the pipeline; `before` is the instruction in
    front of it, if that always goes on here."""
    alone = cost_alone(line, before)
    waits = before is not None and (written(before) in address_registers(line) or
                                    waits_for_float(line, before))
    return Cost(alone.kind, alone.least, alone.most + int(waits))


def estimate(path):
    """Executed instructions, least and most cycles of each class."""
    classes = collections.defaultdict(lambda: [0, 0, 0])
    before = None
    for line in read(path):
        if before and (line.address - before.address > 4 or
                       before.name in ("b", "bl", "blx", "bx", "cbz", "cbnz")):
            before = None
        what = cost(line, before)
        total = classes[what.kind]
        total[0] += line.executed
        total[1] += line.executed * what.least
        total[2] += line.executed * what.most
        if what.kind == "branches" or "pc" in line.operands:
            refills = classes["refills of the pipeline"]
            refills[0] += line.left
            refills[1] += line.left
            refills[2] += 3 * line.left
        before = line
    return dict(classes)


def sum_cycles(classes):
    """Least and most."""
    return tuple(sum(counts[i] for counts in classes.values()) for i in (1, 2))


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    runs = int(sys.argv[2]) if len(sys.argv) == 3 else 1
    classes = estimate(sys.argv[1])
    print("| Class | Executed | Cycles |\n|---|--:|--:|")
    for kind, counts in sorted(classes.items(), key=lambda item: -item[1][2]):
        executed, least, most = (round(count / runs) for count in counts)
        cycles = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        print(f"| {kind} | {executed:,} | {cycles} |")
    least, most = sum_cycles(classes)
    print(f"| all | | {round(least / runs):,} to {round(most / runs):,} |")


if __name__ == "__main__":
    main()
