"""Counts the instructions that the graphs of a folder become, with all passes,
and compares with the table in docs/passes.md, which has a row for each.

check_forms.py [--write] DOCUMENT FOLDER

--write replaces the instructions in the table."""

import collections
import os
import re
import subprocess
import sys

HEAD = "| Form | Instructions | Why not fewer |\n|---|---|---|\n"


def count(path):
    """The instructions of the graph, without allocations."""
    ir = subprocess.run(["glowish-opt", "-pipeline", "-emit-ir", path],
                        capture_output=True, text=True, check=True).stdout
    found = collections.Counter()
    for line in ir.splitlines():
        match = re.match(r' +"(?:[^"\\]|\\.)*" ([A-Z]\w*)\(', line)
        if match:
            kind = re.sub(r"^(Convolution|MatMul)$", "Product", match.group(1))
            found[kind.replace("ElementWiseLoop", "Loop")] += 1
    return ", ".join(f"{n} {kind}" if n > 1 else kind
                     for kind, n in sorted(found.items()))


def main(arguments):
    is_writing = arguments[:1] == ["--write"]
    document, folder = arguments[is_writing:]
    text = open(document).read()
    start = text.index(HEAD) + len(HEAD)
    end = text.index("\n\n", start) + 1
    rows = {}
    for line in text[start:end].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        rows[cells[0].strip("`")] = cells[1:]
    names = sorted(name[:-len(".graph")] for name in os.listdir(folder)
                   if name.endswith(".graph"))
    wrong = [f"{name}: in one of the folder and the table only"
             for name in sorted(set(names) ^ set(rows))]
    for name in rows:
        found = name in names and count(os.path.join(folder, name + ".graph"))
        if found and found != rows[name][0]:
            if not is_writing:
                wrong.append(f"{name}: becomes {found}; the table has "
                             f"{rows[name][0]}")
            rows[name][0] = found
    if is_writing:
        table = "".join(f"| `{name}` | {row[0]} | {row[1]} |\n".replace("|  |", "| |")
                        for name, row in rows.items())
        open(document, "w").write(text[:start] + table + text[end:])
    print("\n".join(wrong))
    print(f"{len(names)} forms, {len(wrong)} wrong")
    return wrong != []


sys.exit(main(sys.argv[1:]))
