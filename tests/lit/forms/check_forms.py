"""Counts the instructions that the graphs of this folder become, with all passes,
and compares with the table in docs/passes.md, which has a row for each.

check_forms.py [--write]

--write replaces the instructions in the table."""

import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "..", "scripts"))
import doc_tables  # noqa: E402

MARKS = "passes.md", "tests/lit/forms/check_forms.py"


def count(path):
    """The instructions of the graph, without allocations."""
    ir = subprocess.run(["glowish-opt", "-pipeline", "-emit-ir", path],
                        capture_output=True, text=True, check=True).stdout
    found = collections.Counter()
    for line in ir.splitlines():
        match = re.match(r' +"(?:[^"\\]|\\.)*" ([A-Z]\w*)\(', line)
        if match:
            kind = re.sub(r"^(Convolution|MatMul)$", "Gemm", match.group(1))
            found[kind.replace("ElementWiseLoop", "Loop")] += 1
    return ", ".join(f"{n} {kind}" if n > 1 else kind
                     for kind, n in sorted(found.items()))


def main(arguments):
    is_writing = arguments[:1] == ["--write"]
    head, line, *table = doc_tables.read(*MARKS).splitlines()
    rows = {}
    for row in table:
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        rows[cells[0].strip("`")] = cells[1:]
    names = sorted(name[:-len(".graph")] for name in os.listdir(HERE)
                   if name.endswith(".graph"))
    wrong = [f"{name}: in one of the folder and the table only"
             for name in sorted(set(names) ^ set(rows))]
    for name in rows:
        found = name in names and count(os.path.join(HERE, name + ".graph"))
        if found and found != rows[name][0]:
            if not is_writing:
                wrong.append(f"{name}: becomes {found}; the table has "
                             f"{rows[name][0]}")
            rows[name][0] = found
    if is_writing:
        table = [f"| `{name}` | {row[0]} | {row[1]} |".replace("|  |", "| |")
                 for name, row in rows.items()]
        doc_tables.replace(*MARKS, "\n".join([head, line, *table]))
    print("\n".join(wrong))
    print(f"{len(names)} forms, {len(wrong)} wrong")
    return wrong != []


sys.exit(main(sys.argv[1:]))
