"""Runs each line of docs/from-glow.md: a flag that is refused gives the line
that stands there and nothing else, a value that is accepted is accepted, and a
flag that works is on a RUN line of the test.

check_glow_flags.py DOCUMENT TEST MODEL"""

import re
import subprocess
import sys


def read_flags(path):
    """Name, form, now and why of each row."""
    cells = re.compile(r"(?<!\\)\|")
    for line in open(path):
        if not line.startswith("| `-"):
            continue
        flag, _, now, why = (cell.strip() for cell in cells.split(line)[1:-1])
        name, form = re.fullmatch(r"`-([\w-]+)(=.*)?`", flag).groups()
        yield name, form or "", now, why


def run(arguments):
    done = subprocess.run(["model-compiler"] + arguments,
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def refuse(name, form, accepted):
    """The flag with a value that is refused."""
    if form and form != "=BOOL":
        return f"-{name}=" + form[1:].split("\\|")[0]
    return f"-{name}=false" if accepted == "true" else f"-{name}"


def check_row(name, form, now, why, test, model):
    """What is wrong, or nothing."""
    accepted = None
    if match := re.fullmatch(r"`(.*)` is accepted, else refused: (.*)", now):
        accepted, now = match.groups()
        ending = [f"-{name}={accepted}", f"-model={model}",
                  "-stop-after=import"]
        if run(ending) != (0, "", ""):
            yield f"{ending}: {run(ending)}"
    elif now.startswith("refused: "):
        now = now.removeprefix("refused: ")
    else:
        if not re.search(rf"RUN:.* -{name}\b(?![-\w])", test):
            yield "works, but no RUN line has it"
        return
    line = f"error: -{name} is a flag of Glow's: {why}; {now}\n"
    found = run([refuse(name, form, accepted)])
    if found != (1, "", line.replace("`", "")):
        yield str(found)


def main(document, test_path, model):
    test = open(test_path).read()
    count = wrong = 0
    for name, form, now, why in read_flags(document):
        count += 1
        for message in check_row(name, form, now, why, test, model):
            print(f"-{name}: {message}")
            wrong += 1
    print(f"{count} flags, {wrong} wrong")
    return wrong != 0 or count == 0


sys.exit(main(*sys.argv[1:]))
