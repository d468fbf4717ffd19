#!/usr/bin/env python3
"""Finds types that are defined twice with one name.

Two classes with the same qualified name in files that are linked together break
the one-definition rule. Compilers that never see both accept them, and a linker
takes one of two instances of a template for both. What is looked at:

  - classes, structs, unions and enums in a namespace, and what is defined of a
    class outside of it (struct Model::Contents); in headers also aliases (using,
    typedef), as two headers with one name cannot be included together,
  - the types that are generated of records (*.td) and schemas (*.fbs, *.proto).

Types in an anonymous namespace or in a function are a file's own. Files that are
linked together are those of include and lib, with these those of one tool and of
tools/common, and with these all tests, whose folders have programs in common.

  type_names.py              checks lib, include, tools, tests and python
  type_names.py -self-test   checks that each form is found

Prints a line for each name and exits 1 if there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = (".h", ".cpp", ".fbs", ".proto", ".td")
LIBRARY = ("include", "lib", "python")
# Ends of the names of files of records, and what is appended to the names of the
# classes that are generated.
RECORDS = {"Nodes.td": "Node", "ScalarOps.td": "Node", "Instrs.td": "Instr"}
ANONYMOUS = "(anonymous)"


def blank(match):
    """As many lines as a comment or literal had."""
    text = match.group()
    if text.startswith(("/", "#")):
        return re.sub(r"[^\n]", " ", text)
    return '""' + "\n" * text.count("\n")


def strip(text):
    """Without comments, literals and directives of the preprocessor."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|\bu?8?R"([^\s()\\]*)\(.*?\)\1"|'
                  r'"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)*\'',
                  blank, text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*", blank, text,
                  flags=re.MULTILINE | re.DOTALL)


# What may be before and in the head of a definition.
ATTRIBUTES = re.compile(r"\[\[.*?\]\]|\b(?:alignas|__attribute__)\s*"
                        r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*([\w:\s]*)$")
TYPE = re.compile(
    r"(?:(?:static|inline|const|constexpr|typedef)\s+)*"
    r"(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+"
    r"(?:[A-Z][A-Z0-9_]+\s+(?=\w))?"  # a macro, as GLOWISH_API
    r"((?:\w+\s*::\s*)*\w+)\s*(<.*>)?\s*(?:final\b)?\s*(?::(?!:)|$)", re.DOTALL)
ALIAS = re.compile(r"using\s+(\w+)\s*=")
TYPEDEF = re.compile(r"typedef\b(?!\s+struct\s+(\w+)\s+\1$).*?"
                     r"(?:\(\s*\*\s*(\w+)\s*\)\s*\(.*\)|(\w+))$", re.DOTALL)
USING = re.compile(r"using\s+namespace\s+([\w:]+)$")


def strip_template(head):
    """Without template<...> and requires in front."""
    while match := re.match(r"\s*template\s*<", head):
        depth, at = 1, match.end()
        while at < len(head) and depth:
            depth += (head[at] == "<") - (head[at] == ">")
            at += 1
        head = head[at:]
    return head.strip()


class Source:
    """A C++ file, of which definitions are collected."""

    def __init__(self, name, text):
        self.name = name
        self.text = strip(text)
        self.is_header = name.endswith(".h")
        self.scopes = []  # names of namespaces; None for all other braces
        self.usings = []
        self.types = []  # (line, namespace, name)

    def add(self, position, name):
        if ANONYMOUS not in self.scopes:
            line = self.text.count("\n", 0, position) + 1
            self.types.append((line, "::".join(self.scopes),
                               re.sub(r"\s", "", name)))

    def open(self, head, position):
        head = strip_template(ATTRIBUTES.sub(" ", head))
        if None in self.scopes:
            self.scopes.append(None)
        elif match := NAMESPACE.match(head):
            self.scopes.append(re.sub(r"\s", "", match.group(1)) or ANONYMOUS)
        elif re.fullmatch(r'extern\s*""', head):
            self.scopes.append("")
        else:
            if match := TYPE.match(head):
                self.add(position, match.group(1) + (match.group(2) or ""))
            self.scopes.append(None)

    def end(self, statement, position):
        """A statement that ends with a semicolon."""
        if None in self.scopes:
            return
        statement = strip_template(statement)
        if match := USING.match(statement):
            self.usings.append(match.group(1))
        elif not self.is_header:
            return
        elif match := ALIAS.match(statement) or TYPEDEF.match(statement):
            self.add(position, match[match.lastindex])

    def find_types(self):
        start = 0
        for match in re.finditer(r"[{};]", self.text):
            at = match.start()
            if match.group() == "{":
                self.open(self.text[start:at].strip(), at)
            elif match.group() == ";":
                self.end(self.text[start:at].strip(), at)
            elif self.scopes:
                self.scopes.pop()
            else:
                raise SystemExit(f"{self.name}: braces that don't match")
            start = match.end()
        if self.scopes:
            raise SystemExit(f"{self.name}: braces that don't match")
        return self.types


def find_generated(name, text):
    """(line, namespace, name) of a file of records, tables or messages."""
    base = name.rpartition("/")[2]
    if name.endswith(".td"):
        suffix = next((suffix for end, suffix in RECORDS.items() if base.endswith(end)), None)
        if suffix is None:
            return
        space = "glowish"
        found = re.finditer(r"^\s*def (\w+?)(?:Instr)?\s*:", text, re.MULTILINE)
    else:
        match = re.search(r"^(?:namespace|package) ([\w.]+);", text, re.MULTILINE)
        space, suffix = match.group(1).replace(".", "::"), ""
        found = re.finditer(r"^(?:table|struct|enum|union|message) (\w+)", text,
                            re.MULTILINE)
    for match in found:
        line = text.count("\n", 0, match.start()) + 1
        yield line, space, match.group(1) + suffix


class Program:
    """The types of files that are linked together."""

    def __init__(self, types=None):
        self.types = dict(types or {})  # by qualified name: (file, line)
        self.doubles = []

    def add(self, name, file, line):
        other, other_line = self.types.setdefault(name, (file, line))
        if other != file:
            self.doubles.append(f"{file}:{line}: {name} is also defined in "
                                f"{other}:{other_line}")

    def add_files(self, files):
        """files: (name, text) of each."""
        members = []
        for name, text in files:
            if not name.endswith((".h", ".cpp")):
                for line, space, type_name in find_generated(name, text):
                    self.add(f"{space}::{type_name}", name, line)
                continue
            source = Source(name, text)
            for line, space, type_name in source.find_types():
                space = "::".join(s for s in space.split("::") if s)
                if "::" in type_name.partition("<")[0]:
                    members.append((source, line, space, type_name))
                else:
                    self.add(f"{space}::{type_name}".removeprefix("::"), name, line)
        # A member of a class is of the class that the file's names lead to.
        for source, line, space, type_name in members:
            owner, _, member = type_name.rpartition("::")
            for used in [space, *source.usings, ""]:
                full = f"{used}::{owner}".removeprefix("::")
                if full in self.types:
                    owner = full
                    break
            self.add(f"{owner}::{member}", source.name, line)


def get_program(name):
    """The program of a file, empty if it is in all."""
    parts = name.split("/")
    if parts[0] in LIBRARY or name.startswith("tools/common/"):
        return ""
    return parts[0] if parts[0] == "tests" else "/".join(parts[:2])


def find_doubles(files):
    programs = {}
    for name, text in files:
        programs.setdefault(get_program(name), []).append((name, text))
    common = Program()
    common.add_files(programs.pop("", []))
    doubles = common.doubles
    for files in programs.values():
        program = Program(common.types)
        program.add_files(files)
        doubles += program.doubles
    return doubles


# Of each form a pair of files that define a::X twice.
SAMPLES = {
    "class": ("namespace a { class X {}; }",
              "namespace a { class X final : Y<int> {}; }"),
    "struct": ("namespace a { struct X {}; }",
               "namespace a { struct X { int i; } x; }"),
    "enum": ("namespace a { enum class X : uint8_t { A }; }",
             "namespace a { enum X { B }; }"),
    "alias": ("namespace a { using X = int; }",
              "namespace a { template <typename T> struct X { T x; }; }"),
    "typedef": ("namespace a { typedef int (*X)(int); }",
                "namespace a { typedef struct X { int i; } X; }"),
    "nested namespaces": ("namespace a { namespace b { class X {}; } }",
                          "namespace a::b { class X {}; }"),
    "extern": ('extern "C" { struct X { int i; }; }', "struct X { char c; };"),
    "attributes": ("struct alignas(16) X {};", "class [[nodiscard]] API_X X {};"),
    "specialization": ("template <> struct X<int> {};", "template <> class X<int> {};"),
    "behind a function": ("int f() { return '{' + g(\"{\"); } struct X {};",
                          "/* { */\n#define A \\\n  {\nstruct X {};"),
}
NO_DOUBLES = {
    "two namespaces": ("namespace a { class X {}; }", "namespace b { class X {}; }"),
    "anonymous": ("namespace { class X {}; }", "namespace { class X {}; }"),
    "declared": ("namespace a { class X; enum class Y : int; typedef struct X X; }",
                 "namespace a { class X {}; enum class Y : int { A }; }"),
    "in a function": ("void f() { struct X {}; }", "void g() { struct X {}; }"),
    "in a class": ("class A { struct X {}; };", "class B { struct X {}; };"),
    "a result": ("struct X f() { return {}; }", "struct X g() { return {}; }"),
    "two specializations": ("template <> struct X<int> {};",
                            "template <> struct X<char> {};"),
}


def test_forms():
    wrong = 0
    for is_wanted, samples in ((True, SAMPLES), (False, NO_DOUBLES)):
        for form, (one, two) in samples.items():
            found = find_doubles([("lib/one.h", one), ("lib/two.h", two)])
            if bool(found) != is_wanted:
                print(f"{form}: {found}")
                wrong = 1
    # What belongs together, and what does not.
    x, contents = "struct X {};", "using namespace a; struct X::Y {};"
    other = "using namespace b; struct X::Y {};"
    spaces = "namespace a { struct X { struct Y; }; } namespace b { struct X {}; }"
    fbs = "namespace a.b;\ntable X {}"
    cases = [
        (1, [("lib/A/X.cpp", x), ("tools/b/X.cpp", x)]),
        (1, [("tools/common/A.h", x), ("tools/b/B.cpp", x)]),
        (1, [("tests/unit/A.cpp", x), ("tests/parsers/B.cpp", x)]),
        (0, [("tools/a/X.cpp", x), ("tools/b/X.cpp", x)]),
        (0, [("tests/unit/A.cpp", "using X = int;"), ("tests/unit/B.cpp", x)]),
        (1, [("lib/X.h", spaces), ("lib/A.cpp", contents), ("lib/B.cpp", contents)]),
        (0, [("lib/X.h", spaces), ("lib/A.cpp", contents), ("lib/B.cpp", other)]),
        (1, [("lib/X.fbs", fbs), ("lib/A.h", "namespace a::b { class X {}; }")]),
        (1, [("include/Nodes.td", "def X : Node<>"),
             ("lib/A.h", "namespace glowish { class XNode {}; }")]),
    ]
    for number, files in cases:
        if len(find_doubles(files)) != number:
            print(f"not {number} in {files}")
            wrong = 1
    return wrong


def main():
    if sys.argv[1:] == ["-self-test"]:
        return test_forms()
    files = []
    for folder in (*LIBRARY, "tools", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and "node_modules" not in path.parts:
                files.append((str(path.relative_to(ROOT)), path.read_text()))
    doubles = find_doubles(files)
    for line in doubles:
        print(line)
    return bool(doubles)


if __name__ == "__main__":
    sys.exit(main())
