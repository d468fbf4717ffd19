"""Checks the tables of docs/passes.md against the list of passes: all passes
stand in them, those of the graph with their exactness, and what stands for Glow's
passes is there.

check_pass_tables.py DOCUMENT LIST"""

import re
import sys


def read_list(path):
    """The names of glowish-opt -list-passes, with their exactness."""
    return dict(re.findall(r"^  ([\w-]+) +(exact|rounding) ",
                           open(path).read(), re.M))


def read_rows(text):
    """Rows of tables as lists of cells, without heads."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells and not cells[0].startswith(("---", "Pass", "Glow")):
            yield cells


def main(document, list_path):
    passes = read_list(list_path)
    own, glow = open(document).read().split("## Glow's passes, and ours\n")
    glow = glow.split("\n## ")[0]
    wrong = []
    # Passes of the IR, which are all exact, have no third cell.
    described = {row[0].strip("`"): re.split(r"\W", (row + ["exact"])[2])[0]
                 for row in read_rows(own)}
    for name in sorted(passes.keys() ^ described.keys()):
        wrong.append(f"{name}: in one of the list and the tables only")
    wrong += [f"{name}: {passes[name]}, and the table says {told}"
              for name, told in described.items()
              if passes.get(name, told) != told]
    count = 0
    for name, ours, why in read_rows(glow):
        count += 1
        named = re.findall(r"`([^`]*)`", ours)
        if not named and not why:
            wrong.append(f"{name}: neither a pass nor a reason")
        wrong += [f"{name}: no pass is called {other}"
                  for other in named if other not in passes]
    print("\n".join(wrong))
    print(f"{len(passes)} passes, {count} of Glow's, {len(wrong)} wrong")
    return wrong != [] or not passes or not count


sys.exit(main(*sys.argv[1:]))
