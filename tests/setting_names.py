#!/usr/bin/env python3
"""Finds options of command lines in the texts of the library.

A message of the library names a setting between « and » (include/glowish/Support/
SettingNames.h), as each interface spells settings its own way. So no literal has an option such
as -threads, but for those of programs, whose names are with them (`model-compiler
-list-targets`), and what ALLOWED lists. What is between the marks is a setting that there is.

  setting_names.py              checks lib and include
  setting_names.py -self-test   checks that each form is found

Prints a line for each text and exits 1 if there is one, or one in ALLOWED that is gone.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = ("lib", "include")
# The model itself is no setting, and each interface has an argument for it.
OTHERS = {"model"}

# (file, option): why it is none; without an option, all of the file.
ALLOWED = {
    ("lib/Backends/CPU/Bundle/WasmLinker.cpp", ""): "options of wasm-ld",
    ("lib/Importer/Common/ForeignFiles.cpp", "--model"): "an option of optimum-cli",
    ("lib/Report/Html.cpp", "--share"): "a property of CSS",
    ("lib/Ops/Lexer.cpp", "-inf"): "a number",
    ("lib/Importer/TorchExport/Arguments.cpp", "-inf"): "a number",
    ("lib/Backends/CPU/Target/TargetSelection.cpp", "-name"): "a feature of a target",
    ("lib/Backends/CPU/Target/TargetSelection.cpp", "-slowfpvmlx"):
        "a feature of a target",
    ("lib/Backends/CPU/Target/TargetSelection.cpp", "-none-"): "a part of a triple",
    ("lib/Backends/CPU/Target/TargetSelection.cpp", "-linux-gnu"): "a part of a triple",
}

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?:u8)?R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"'
    r"|\"(?P<text>(?:\\.|[^\"\\\n])*)\"|'(?:\\.|[^'\\\n])+'|#include[^\n]*", re.S)
# Between literals that are one.
JOINT = re.compile(r"[\s\\]*\Z")
PROGRAM = re.compile(r"`(?:model|glowish|image|network)-[a-z]+ [^`]*`")
# The name may be put in later: "-{0}: ...".
FLAG = re.compile(r"(?<![^\s\"'(`/=;])--?(?:[a-z][\w-]*|\{\d+\}(?=[=:]))")
MARKED = re.compile("«[^»]*»")
MARK = re.compile("«([^=»{]*)")
DECLARED = re.compile(r'\b(?:\w+Setting(?:<[^;={]*>)?|SettingAlias)\s+\w+'
                      r'\s*\{\s*(?:\*this|group),\s*"([\w-]+)"')


def read_texts(source):
    """(line, text) of each literal; those that stand side by side are one."""
    texts, last = [], None
    for token in TOKEN.finditer(source):
        text = token["raw"] if token["raw"] is not None else token["text"]
        if text is None:
            continue
        if last is not None and JOINT.match(source[last:token.start()]):
            texts[-1][1] += text
        else:
            texts.append([source.count("\n", 0, token.start()) + 1, text])
        last = token.end()
    return texts


def find_flags(text):
    text = MARKED.sub("", PROGRAM.sub("", text))
    return [match[0] for match in FLAG.finditer(text)]


def find_unknown(text, names):
    """The marks that name no setting, or do not end."""
    unknown = [name for name in MARK.findall(text) if name and name not in names]
    return unknown + ["«"] * (text.count("«") != text.count("»"))


def read_names():
    names = set(OTHERS)
    files = [*(ROOT / "include/glowish/Compiler").glob("*.h"),
             *(ROOT / "lib/Importer").glob("*/Settings.cpp")]
    for path in files:
        names |= set(DECLARED.findall(path.read_text()))
    assert len(names) > 80, names
    return names


def test_forms():
    def flags(source):
        return [flag for _, text in read_texts(source) for flag in find_flags(text)]

    assert flags('f("-max-extent={0},N");') == ["-max-extent"]
    assert flags('f("state "\n  "-max-extent=N");') == ["-max-extent"]
    assert flags('f("(-max-extent)");') == ["-max-extent"]
    assert flags('f(R"(as `-target=help` lists)");') == ["-target"]
    assert flags('f("with --threads");') == ["--threads"]
    assert flags('f("-{0}: no; -{1}=N");') == ["-{0}", "-{1}"]
    assert flags('"-" + name; "x - y"; "a-b"; "-1"; \'-\'; // "-threads"') == []
    assert flags('f("`model-runner "\n  "-dump-profile=FILE` writes it");') == []
    assert flags('f("«mattr=-{0}» «threads=1»");') == []
    names = {"threads"}
    assert find_unknown("«threads=1» «{0}»", names) == []
    assert find_unknown("«thread»", names) == ["thread"]
    assert find_unknown("«threads", names) == ["«"]
    return 0


def main():
    if sys.argv[1:] == ["-self-test"]:
        return test_forms()
    names, unused, wrong, marks = read_names(), set(ALLOWED), 0, 0
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".def", ".inc"):
                continue
            name = str(path.relative_to(ROOT))
            for line, text in read_texts(path.read_text()):
                if name == "lib/Support/SettingNames.cpp":
                    continue
                marks += text.count("«")
                found = [f"«{each}» is no setting" for each in find_unknown(text, names)]
                for each in find_flags(text):
                    key = (name, "" if (name, "") in ALLOWED else each)
                    unused.discard(key)
                    if key not in ALLOWED:
                        found.append(each)
                for each in found:
                    wrong = 1
                    print(f"{name}:{line}: {each}")
    for name, flag in sorted(unused):
        wrong = 1
        print(f"{name}: {flag or 'what it had'} is gone: take it out of ALLOWED")
    assert marks > 100, marks
    return wrong


if __name__ == "__main__":
    sys.exit(main())
