#!/usr/bin/python3
"""memory.py [--doc] [NETWORK]...: how much memory the exported networks need.

For each network in build/models (or those named): nodes of the ONNX model,
instructions after all passes, transposes that are left inside the network, and
the bytes of the arena: the largest live set, what glowish needs, what placing
the same live ranges by size would (the strategy of TensorFlow Lite: largest
first, at the lowest gap), the least with -max-activation-bytes, and what ONNX
Runtime has allocated at most in a run without its arena, outputs included; then
the sum of arena, inputs, outputs and states, and the same with
-io-in-activations. Needs node, a C compiler and bench/node_modules (npm ci) for
ONNX Runtime.

--doc writes the tables of docs/memory.md. Exits 1 where an arena is more than
1.02 of the largest live set, or more than by size or in ONNX Runtime.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.append(os.path.join(ROOT, "scripts"))
import doc_tables  # noqa: E402

BIN = os.environ.get("GLOWISH_BIN", os.path.join(ROOT, "build/release/bin"))
MODELS = os.environ.get("GLOWISH_MODELS", os.path.join(ROOT, "build/models"))
SIZES = {"float": 4, "float16": 2, "bfloat16": 2, "double": 8, "int8": 1,
         "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
         "int64": 8, "uint64": 8, "bool": 1}
ALIGNMENT = 64


def compile_to(*options, model):
    result = subprocess.run(
        [os.path.join(BIN, "model-compiler"), f"-model={model}", *options],
        capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def make_bundle(*options, model):
    """The header of a bundle, and what the compiler has printed."""
    with tempfile.TemporaryDirectory() as bundle:
        code, text = compile_to(f"-emit-bundle={bundle}", "-network-name=net",
                                *options, model=model)
        if code:
            sys.exit(text)
        with open(os.path.join(bundle, "net.h")) as file:
            return file.read(), text


def align(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def read_live_ranges(ir):
    """[begin, end, bytes] of each activation of the program; null if it has
    bodies, which need memory of their own."""
    if re.search(r"= ir \"", ir):
        return None
    sizes, begins, ranges = {}, {}, []
    for kind, shape, name in (
            (m[2], m[3], m[1]) for m in re.finditer(
                r"^  activation (%\S+) : (\w+)<([\dx]*)>", ir, re.M)):
        size = SIZES[kind]
        for extent in filter(None, shape.split("x")):
            size *= int(extent)
        sizes[name] = align(size)
    for time, line in enumerate(ir.split("\n")):
        if match := re.match(r"    Alloc\(@out (%\S+)\)", line):
            begins[match[1]] = time
        elif match := re.match(r"    Dealloc\(@out (%\S+)\)", line):
            ranges.append((begins[match[1]], time, sizes[match[1]]))
    return ranges


def place_by_size(ranges):
    """The arena of the largest first, each at the lowest place that is free."""
    placed, arena = [], 0
    for begin, end, size in sorted(ranges, key=lambda item: -item[2]):
        top = 0
        for low, high in sorted((offset, offset + other) for b, e, other, offset
                                in placed if b < end and begin < e):
            if low - top >= size:
                break
            top = max(top, high)
        placed.append((begin, end, size, top))
        arena = max(arena, top + size)
    return arena


def count_instructions(ir):
    lines = re.findall(r"^ +(?:\"[^\"]*\" )?(\w+)\(@", ir, re.M)
    return sum(kind not in ("Alloc", "Dealloc") for kind in lines)


def count_transposes(ir):
    """Copies of another value than an input, to another than an output, that
    read or write elements in another order than that of the memory."""
    value = r"(%\"[^\"]*\"|%[^\s,)]+)"
    views = {name: (root, strides, dims) for name, root, strides, dims in
             re.findall(rf"^ *view {value} = {value} offset \d+ strides "
                        r"\[([-\d, ]*)\] : \w+<([\dx]*)>", ir, re.M)}
    edges = set(re.findall(rf"^ *mutable {value} ", ir, re.M))

    def is_edge(buffer):
        return views.get(buffer, (buffer,))[0] in edges

    def is_transposed(buffer):
        if buffer not in views:
            return False
        _, strides, dims = views[buffer]
        steps = [abs(int(stride)) for stride, extent in
                 zip(strides.split(","), dims.split("x"))
                 if extent not in ("", "1")]
        return steps != sorted(steps, reverse=True)

    copies = re.findall(rf"Copy\(@out {value}, @in {value}\)", ir)
    return sum((is_transposed(source) or is_transposed(target)) and
               not is_edge(source) and not is_edge(target)
               for target, source in copies)


def count_nodes(model):
    import onnx  # Debian's python3-onnx
    return len(onnx.load(model, load_external_data=False).graph.node)


def measure_runtime(library, folder):
    """Bytes that ONNX Runtime takes at most."""
    result = subprocess.run(
        ["node", os.path.join(HERE, "ort_memory.mjs"), folder],
        env={**os.environ, "LD_PRELOAD": library}, capture_output=True,
        text=True)
    match = re.search(r"^peak (\d+)$", result.stderr, re.M)
    if result.returncode or not match:
        sys.exit(f"ONNX Runtime, {folder}: {result.stderr}")
    return int(match[1])


def measure_shared(model):
    """Bytes of all but weights with inputs and outputs among the activations."""
    header, _ = make_bundle("-io-in-activations", model=model)
    return sum(int(re.search(rf"{region} +(\d+) bytes", header)[1])
               for region in ("mutable weights", "activations"))


def measure(name, library):
    folder = os.path.join(MODELS, name)
    model = os.path.join(folder, "model.onnx")
    header, ir = make_bundle("-dump-ir", model=model)
    arena, share = re.search(r"activations +(\d+) bytes, ([\d.]+)%",
                             header).groups()
    _, least = compile_to("-stop-after=plan", "-max-activation-bytes=1",
                          model=model)
    least = re.search(r"activations need (\d+) bytes", least)
    placeholders = int(re.search(r"mutable weights +(\d+) bytes",
                                 header)[1])
    ranges = read_live_ranges(ir)
    return {"name": name, "nodes": count_nodes(model),
            "instructions": count_instructions(ir),
            "transposes": count_transposes(ir), "arena": int(arena),
            "share": float(share) / 100,
            "by size": None if ranges is None else place_by_size(ranges),
            "least": int(least[1]) if least else int(arena),
            "runtime": measure_runtime(library, folder),
            "all": int(arena) + placeholders,
            "shared": measure_shared(model)}


def judge(row):
    wrong = []
    if row["share"] < 1 / 1.02:
        wrong.append("the arena is more than 1.02 of the largest live set")
    if row["by size"] is not None and row["arena"] > row["by size"]:
        wrong.append("by size it is smaller")
    if row["arena"] > row["runtime"]:
        wrong.append("ONNX Runtime needs less")
    if row["shared"] > row["all"]:
        wrong.append("less is needed without -io-in-activations")
    return [f"{row['name']}: {text}" for text in wrong]


def format_tables(rows):
    yield ("| Network | Largest live set | Arena | By size | ONNX Runtime | "
           "Least, in patches | With inputs and outputs | "
           "These among the activations |")
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        by_size = "–" if row["by size"] is None else f"{row['by size']:,}"
        yield (f"| {row['name']} | {row['arena'] * row['share']:,.0f} | "
               f"{row['arena']:,} | {by_size} | {row['runtime']:,} | "
               f"{row['least']:,} ({row['least'] / row['arena']:.0%}) | "
               f"{row['all']:,} | "
               f"{row['shared']:,} ({row['shared'] / row['all']:.0%}) |")
    yield ""
    yield "| Network | ONNX nodes | Instructions | Transposes inside |"
    yield "|---|---:|---:|---:|"
    for row in rows:
        yield (f"| {row['name']} | {row['nodes']:,} | {row['instructions']:,} | "
               f"{row['transposes']} |")


def main():
    names = [name for name in sys.argv[1:] if name != "--doc"]
    names = names or sorted(os.listdir(MODELS))
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "alloc_peak.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library,
                        os.path.join(HERE, "alloc_peak.c"), "-ldl"], check=True)
        rows = [measure(name, library) for name in names]
    print("\n".join(format_tables(rows)))
    if "--doc" in sys.argv[1:]:
        doc_tables.replace("memory.md", "bench/memory",
                           "\n" + "\n".join(format_tables(rows)) + "\n")
    wrong = [text for row in rows for text in judge(row)]
    print("\n".join(wrong) or "no arena is too large")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
