"""Tables of what became of mutants, and the list of those that are explained."""

import collections
import os
import re

BEGIN, END = "<!-- mutate.py report -doc -->", "<!-- end -->"
EXPLAINED = "tests/mutation/explained.txt"
# FILE: `LINE`: KIND (CHANGE) at COLUMN: REASON
ENTRY = re.compile(r"(\S+): `(.*)`: (\w+) \((.*?)\) at (\d+): (.+)")

_lines = {}


def line_of(root, file, number):
    """The text of a line of a source file, and how far it is indented."""
    if file not in _lines:
        with open(f"{root}/{file}", encoding="utf-8") as stream:
            _lines[file] = stream.read().split("\n")
    text = _lines[file][number - 1]
    return text.strip(), len(text) - len(text.lstrip())


def describe(mutant):
    """One line about a mutant."""
    return (f"{mutant.id} {mutant.file}:{mutant.line}:{mutant.column}: {mutant.kind} "
            f"({mutant.detail})")


def key_of(root, mutant):
    """What names a mutant also when lines above it have moved."""
    text, indent = line_of(root, mutant.file, mutant.line)
    return mutant.file, text, mutant.kind, mutant.detail, mutant.column - indent


def read_explained(root):
    """The reasons of the list, by key_of; lines of other forms are an error."""
    explained = {}
    with open(f"{root}/{EXPLAINED}", encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if line.startswith("#") or not line.strip():
                continue
            match = ENTRY.fullmatch(line.rstrip("\n"))
            if not match:
                raise SystemExit(f"{EXPLAINED}:{number}: not FILE: `LINE`: KIND (CHANGE) at "
                                 "COLUMN: REASON")
            file, text, kind, detail, column, reason = match.groups()
            key = (file, text, kind, detail, int(column))
            if key in explained:
                raise SystemExit(f"{EXPLAINED}:{number}: is there twice")
            explained[key] = reason
    return explained


def check_explained(root):
    """Lines of the list whose source line is no longer there."""
    missing = []
    for file, text, *_ in read_explained(root):
        path = f"{root}/{file}"
        if not os.path.exists(path):
            missing.append(f"{EXPLAINED}: there is no {file}")
            continue
        with open(path, encoding="utf-8") as stream:
            if text not in (line.strip() for line in stream):
                missing.append(f"{EXPLAINED}: {file} has no line `{text}`")
    return missing


class Tally:
    """What became of some mutants."""

    def __init__(self):
        self.states = collections.Counter()

    def row(self, name):
        """A row of a table in Markdown."""
        total = self.states.total()
        done = self.states["killed"] + self.states["explained"]
        cells = [total, *(self.states[each] for each in STATES),
                 f"{100 * done / total:.1f} %"]
        return f"| {name} | " + " | ".join(map(str, cells)) + " |"


STATES = ["killed", "explained", "survived", "no difference", "not executed"]


def state_of(session, mutant, result, explained=None, root=None):
    """What became of a mutant."""
    if result["killed"]:
        return "killed"
    if explained and key_of(root, mutant) in explained:
        return "explained"
    if result["reached"]:
        return "survived"
    return "no difference" if mutant.id in session.executed else "not executed"


def report(session, root, list_root=None):
    """Prints the tables, and each mutant that survived."""
    explained = read_explained(list_root or root)
    layers, kinds = collections.defaultdict(Tally), collections.defaultdict(Tally)
    total, how = Tally(), collections.Counter()
    open_mutants, seconds, seeds, commits = [], 0.0, set(), set()
    for identity, result in session.read_results().items():
        mutant = session.mutants.get(identity)
        if mutant is None or (session.options.file and
                              session.options.file not in mutant.file):
            continue
        seconds += result["seconds"]
        seeds.add(str(result["seed"]))
        commits.add(result["commit"])
        state = state_of(session, mutant, result, explained, root)
        if state == "killed":
            how[result["how"]] += 1
        elif state != "explained":
            open_mutants.append((mutant, result, state))
        for tally in (layers[mutant.layer], kinds[mutant.kind], total):
            tally.states[state] += 1
    lines = []
    for title, tallies in (("Folder", layers), ("Kind", kinds)):
        lines += ["", f"| {title} | mutants | " + " | ".join(STATES) + " | killed or explained |",
                  "|---|" + "---|" * (len(STATES) + 2)]
        lines += [tallies[name].row(name if title == "Kind" else f"`lib/{path(name)}`")
                  for name in sorted(tallies)]
        lines += [total.row("all")] if title == "Folder" else []
    lines += ["", f"{total.states.total()} of {len(session.mutants)} mutants, sample "
              f"{', '.join(sorted(seeds))}, commit {', '.join(sorted(commits))}; "
              f"{seconds / 3600:.1f} processor hours for the tests of mutants. Killed by a "
              "test that failed: "
              f"{how['failed']}, that crashed: {how['crash']}, by a limit of time: "
              f"{how['time limit']}."]
    print("\n".join(lines))
    for mutant, result, state in sorted(open_mutants, key=lambda each: (each[0].file, each[0].line)):
        text, indent = line_of(root, mutant.file, mutant.line)
        print(f"\n{describe(mutant)} in {mutant.function}: {state}, {result['tests']} of "
              f"{result['reached']} tests\n    {text}\n    "
              f"{' ' * max(0, mutant.column - 1 - indent)}^")
        print(f"  {mutant.file}: `{text}`: {mutant.kind} ({mutant.detail}) at "
              f"{mutant.column - indent}: ")
    if session.options.doc:
        write_doc(f"{root}/docs/mutation.md", lines)
    return 0


def path(layer):
    """The folder of a layer's name."""
    return f"Backends/{layer}" if layer in ("CPU", "Interpreter") else layer


def write_doc(file, lines):
    """Puts the tables between the marks of a page."""
    with open(file, encoding="utf-8") as stream:
        text = stream.read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after)
