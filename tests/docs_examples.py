#!/usr/bin/env python3
"""docs_examples.py BUILD_FOLDER [PAGE...]: runs the examples of the README, docs/ and the
READMEs of examples, or of the pages that are named. A comment in front of a code block says what
the block is, and is not seen by readers:

  <!-- run -->               commands for bash; `run: needs NAME...` where these are installed:
                             programs, libraries of pkg-config, python3-numpy, python3-pil;
                             `run: exits with 2` where the exit code is to be that
  <!-- output -->            what the commands before it print at last, stdout and stderr; `...`
                             stands for any text, and on a line of its own for any lines
  <!-- output: numbers vary -->   the same, with any numbers and spaces in place of those
  <!-- file: NAME -->        the contents of a file
  <!-- setup: COMMANDS -->   no block: commands that readers do not see, as they have that file

The blocks of a page run in their order, in one shell and in a new folder that has the project's
files, build/release/bin of the build folder, and the tools as an installed package on $PATH.
The first command that fails ends a page. Exits with 1 if one failed."""
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import List, Optional

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = re.compile(r"^ *<!-- *(run|output|file|setup)\b(.*)$", re.M)
TIMEOUT = 900  # seconds for a page: one that hangs ends, also on a machine that is busy


@dataclass
class Block:
    """Commands, or a file to write."""
    line: int
    text: str
    file: Optional[str] = None
    needs: List[str] = field(default_factory=list)
    output: Optional[str] = None
    numbers_vary: bool = False
    status: int = 0


MODULES = {"python3-numpy": "numpy", "python3-pil": "PIL"}


def is_installed(name):
    if name in MODULES:
        command = ["/usr/bin/python3", "-c", "import " + MODULES[name]]
    else:
        command = ["pkg-config", "--exists", name]
    return bool(shutil.which(name)) or \
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0


class BadMark(Exception):
    pass


def read_fence(lines, start, place):
    """The text of the code block that begins at or after a line, and where it ends."""
    while start < len(lines) and not lines[start].strip():
        start += 1
    mark = re.match(r"( *)(```|~~~)", lines[start]) if start < len(lines) else None
    if not mark:
        raise BadMark(f"{place}: there is no code block behind this mark")
    end = start + 1
    while end < len(lines) and lines[end].strip() != mark[2]:
        end += 1
    indent = len(mark[1])
    return "".join(line[indent:] + "\n" for line in lines[start + 1:end]), end + 1


def read_mark(match, comment, place):
    """A block without its text, or with that of a setup."""
    kind, argument = match[1], comment.strip()
    if kind == "setup" and argument.startswith(":"):
        return Block(0, argument[1:].strip() + "\n")
    if kind == "run" and not argument:
        return Block(0, "")
    if kind == "run" and argument.startswith(": needs "):
        return Block(0, "", needs=argument.split()[2:])
    if kind == "run" and re.match(r": exits with \d+$", argument):
        return Block(0, "", status=int(argument.split()[-1]))
    if kind == "file" and re.match(r": \S+$", argument):
        return Block(0, "", file=argument[2:])
    if kind == "output" and argument in ("", ": numbers vary"):
        return None
    raise BadMark(f"{place}: unknown mark: {match[0]}")


def read_blocks(page):
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    blocks, number = [], 0
    while number < len(lines):
        match = MARK.match(lines[number])
        if not match:
            number += 1
            continue
        place = f"{os.path.relpath(page, ROOT)}:{number + 1}"
        comment, first = match[2], number + 1
        while "-->" not in comment:
            number += 1
            comment += "\n" + lines[number]
        number += 1
        comment = comment[:comment.index("-->")]
        block = read_mark(match, comment, place)
        if match[1] == "output":
            if not blocks or blocks[-1].file or blocks[-1].output is not None:
                raise BadMark(f"{place}: no commands before this output")
            blocks[-1].output, number = read_fence(lines, number, place)
            blocks[-1].numbers_vary = bool(comment.strip())
            continue
        if match[1] != "setup":
            block.text, number = read_fence(lines, number, place)
        block.line = first
        blocks.append(block)
    return blocks


def match_line(expected, actual, numbers_vary):
    pattern = re.escape(expected.rstrip())
    pattern = pattern.replace(re.escape("..."), ".*")
    if numbers_vary:
        pattern = re.sub(r"(\\ )+", r"\\s+", pattern)
        pattern = re.sub(r"\d+(\\\.\d+)?(e(\\[+-])?\d+)?",
                         lambda _: r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", pattern)
    return re.fullmatch(pattern, actual.rstrip()) is not None


def match_output(expected, actual, numbers_vary):
    """Whether the last lines are as expected, where "..." is any number of them."""
    if not expected:
        return True
    if expected[-1].strip() == "...":
        return any(match_output(expected[:-1], actual[:i], numbers_vary)
                   for i in range(len(actual) + 1))
    return bool(actual) and match_line(expected[-1], actual[-1], numbers_vary) and \
        match_output(expected[:-1], actual[:-1], numbers_vary)


def make_folder(folder, build):
    """What a reader's checkout has. Examples write beside these, and never through a link into
    the project: its files are copies, and of its folders examples/, where they write, is one."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder + "/build/release")
    for name in os.listdir(ROOT):
        path, copy = os.path.join(ROOT, name), os.path.join(folder, name)
        if name == "examples":
            shutil.copytree(path, copy, ignore=shutil.ignore_patterns("__pycache__"))
        elif os.path.isfile(path):
            shutil.copy(path, copy)
        elif name not in ("build", ".git"):
            os.symlink(path, copy)
    os.symlink(build + "/bin", folder + "/build/release/bin")


def run_page(page, build, prefix):
    """What is wrong, what was skipped, and how many blocks ran."""
    name = os.path.relpath(page, ROOT)
    try:
        blocks = read_blocks(page)
    except BadMark as error:
        return [str(error)], [], 0
    if not blocks:
        return [], [], 0
    folder = os.path.join(os.path.dirname(prefix), name.replace("/", "-")[:-len(".md")])
    state = folder + ".state"
    make_folder(folder, build)
    shutil.rmtree(state, ignore_errors=True)
    os.makedirs(state)

    script, skipped, ran = ["set -euo pipefail"], [], []
    for number, block in enumerate(blocks):
        missing = [need for need in block.needs if not is_installed(need)]
        if missing:
            skipped.append(f"{name}:{block.line}: {' and '.join(missing)} not installed")
            continue
        ran.append((number, block))
        if block.file:
            target = os.path.realpath(os.path.join(folder, block.file))
            if os.path.commonpath([target, os.path.realpath(folder)]) != os.path.realpath(folder):
                return [f"{name}:{block.line}: {block.file} is outside of the example's folder"], \
                    skipped, 0
            with open(f"{state}/{number}.file", "w", encoding="utf-8") as file:
                file.write(block.text)
            block.text = (f'mkdir -p "$(dirname "{block.file}")"\n'
                          f'cp "{state}/{number}.file" "{block.file}"\n')
        if block.status:
            block.text = f"status=0\n(\n{block.text}) || status=$?\n[[ $status == {block.status} ]]\n"
        script += [f'exec >"{state}/{number}.out" 2>&1', block.text,
                   f'touch "{state}/{number}.done"']
    with open(state + "/script.sh", "w", encoding="utf-8") as file:
        file.write("\n".join(script) + "\n")
    environment = dict(os.environ, PATH=f"{prefix}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8",
                       CMAKE_PREFIX_PATH=prefix, GLOWISH_BIN=prefix + "/bin",
                       PKG_CONFIG_PATH=prefix + "/share/pkgconfig")
    shell = subprocess.Popen(["bash", state + "/script.sh"], cwd=folder, env=environment,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    late = ""
    try:
        shell.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        late = f" after {TIMEOUT} s"
    # Servers that the page has started.
    try:
        os.killpg(shell.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    shell.wait(10)
    return check_blocks(name, ran, state, late), skipped, len(ran)


def check_blocks(name, ran, state, late):
    for number, block in ran:
        output = ""
        if os.path.exists(f"{state}/{number}.out"):
            with open(f"{state}/{number}.out", encoding="utf-8", errors="replace") as file:
                output = file.read()
        if not os.path.exists(f"{state}/{number}.done"):
            return [f"{name}:{block.line}: these commands failed{late}:\n{block.text}"
                    f"--- output:\n{output}"]
        if block.output is not None and not match_output(
                block.output.rstrip().split("\n"), output.rstrip().split("\n"),
                block.numbers_vary):
            return [f"{name}:{block.line}: the output is\n{output}--- and the page has\n"
                    f"{block.output}"]
    return []


def find_pages():
    found = [ROOT + "/README.md", ROOT + "/CONTRIBUTING.md"]
    for pattern in ("docs/**/*.md", "examples/**/README.md"):
        found += sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    pages = [os.path.abspath(page) for page in sys.argv[2:]] or find_pages()
    work = build + "/docs-examples"
    prefix = work + "/prefix"
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                   stdout=subprocess.DEVNULL)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda page: run_page(page, build, prefix), pages))
    wrong = [text for each in results for text in each[0]]
    skipped = [text for each in results for text in each[1]]
    count = sum(each[2] for each in results)
    for text in skipped:
        print("skipped:", text)
    print("\n".join(wrong))
    print(f"{count} blocks of {sum(each[2] > 0 for each in results)} pages ran, "
          f"{len(skipped)} were skipped, {len(wrong)} pages failed")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
