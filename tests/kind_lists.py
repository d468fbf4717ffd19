#!/usr/bin/env python3
"""Finds lists of operator kinds in hand-written code.

What passes and back ends know about an operator is in its record, or in a
function that its record declares (docs/adding-an-operator.md). A list of kinds
elsewhere is one more place that a new operator has to be added to, and that
nothing misses. A list is, of more than three kinds of nodes, instructions or
scalar operators:

  - the labels of one switch,
  - the kinds that one function tests the same value for (isa, dyn_cast,
    getNodeAs, comparisons with a kind),
  - template arguments side by side (isa<AddNode, SubNode, ...>),
  - kinds, or names of kinds, between the same braces,
  - the visitX functions of one file.

Generated code, registrations of importers, exporters and rewrites, and tests of
different values, as patterns of several nodes have them, are no lists. Those
that are none for another reason are in ALLOWED.

  kind_lists.py              checks lib, include, tools and tests/fuzz
  kind_lists.py -self-test   checks that each form is found

Prints a line for each list and exits 1 if there is one that ALLOWED lacks, or
one in ALLOWED that is gone.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = (*sorted(ROOT.glob("include/glowish/Ops/*Nodes.td")),
           ROOT / "include/glowish/Ops/ScalarOps.td",
           ROOT / "include/glowish/Ops/Instrs.td",
           ROOT / "lib/Backends/CPU/CPUInstrs.td")
CODE = ("lib", "include", "tools", "tests/fuzz")
MOST = 3
# Types whose objects register something for one kind.
REGISTRATIONS = ("NodeExporter", "NodeRefusal", "MlirForm")

# (file, first kind of the list): why it is no property of operators.
ALLOWED = {
    ("lib/Autodiff/Gradients/ElementWise.cpp", "Reshape"):
        "the pattern of a norm: powers, their sum, constant factors",
    ("lib/Autodiff/Quantized.cpp", "Add"):
        "the pattern of a quantizing conversion: rounding, a zero point that "
        "is added, limits",
    ("lib/Backends/CPU/Selection/Requantization.cpp", "Add"):
        "how large sums and factors become; what else there is has no bound",
    ("lib/Optimizer/Recognize/Activations.cpp", "Gelu"):
        "each gate is a pattern of its own",
    ("lib/Optimizer/Recognize/Activations.cpp", "Add"):
        "the arithmetic of polynomials",
    ("lib/Optimizer/Simplify/ElementWise.cpp", "Clip"):
        "registers one rewrite for the four kinds that limit values",
}


def read_kinds():
    """The names of all records: "Add", "Convolution", "CPUConvolution"."""
    kinds = set()
    for path in RECORDS:
        text = path.read_text()
        for kind in re.findall(r"^\s*def (\w+)\s*:", text, re.MULTILINE):
            kinds.add(re.sub(r"Instr$", "", kind))
    return kinds


def blank(match):
    """As many lines as the comment or literal had."""
    return re.sub(r"[^\n]", " ", match.group())


def strip_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.DOTALL)


def strip_strings(text):
    text = re.sub(r'R"(\w*)\(.*?\)\1"', blank, text, flags=re.DOTALL)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', blank, text)


def find_end(text, start, opening, closing):
    """Behind the bracket that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i + 1
    return len(text)


def find_functions(text):
    """The bodies of functions that are in no other function."""
    at = 0
    head = re.compile(r"\)\s*(?:const|override|noexcept|mutable|->[^;{}()]*|"
                      r":[^;{}]*|\s)*\{")
    while match := head.search(text, at):
        start = match.end() - 1
        at = find_end(text, start, "{", "}")
        yield start, at


class Source:
    """A file, of which lists are collected."""

    def __init__(self, name, text, kinds):
        self.name = name
        self.kinds = kinds
        self.with_strings = strip_comments(text)
        self.text = strip_strings(self.with_strings)
        self.lists = []

    def add(self, position, form, found):
        """A list, if those of found that are kinds are many."""
        found = list(dict.fromkeys(k for k in found if k in self.kinds))
        if len(found) > MOST:
            line = self.text.count("\n", 0, position) + 1
            self.lists.append((line, form, found))

    def find_switches(self):
        label = re.compile(r"case (?:\w+::)*(?:NodeKind|InstrKind|ScalarOp)::"
                           r"(\w+)")
        for match in re.finditer(r"\bswitch \(", self.text):
            start = self.text.find("{", find_end(self.text, match.end() - 1,
                                                 "(", ")"))
            body = self.text[start:find_end(self.text, start, "{", "}")]
            self.add(match.start(), "switch", label.findall(body))

    def find_tests(self):
        """Of each function, what it tests each value for."""
        tests = re.compile(r"\b(?:isa|dyn_cast)\w*<([\w\s,:]*)>\(\s*([^()]*)")
        methods = re.compile(r"([\w.>()\[\]-]*?)(?:\.|->)"
                             r"(?:getNodeAs|getAs|is)<(\w+)>\(")
        kinds = re.compile(r"([\w.>()\[\]-]*) [!=]= (?:\w+::)*"
                           r"(?:NodeKind|InstrKind|ScalarOp)::(\w+)")
        for start, end in find_functions(self.text):
            body = self.text[start:end]
            subjects = {}

            def note(subject, names):
                subject = subject.strip().lstrip("&*").removesuffix(".node")
                subjects.setdefault(subject, []).extend(
                    re.sub(r"(Node|Instr)$", "", n) for n in names)

            for match in tests.finditer(body):
                note(match.group(2), re.findall(r"\w+", match.group(1)))
            for match in methods.finditer(body):
                note(match.group(1), [match.group(2)])
            for match in kinds.finditer(body):
                note(match.group(1).replace("->getKind()", "")
                     .replace(".getKind()", ""), [match.group(2)])
            for subject, names in subjects.items():
                self.add(start, f"tests of '{subject}'", names)

    def find_arguments(self):
        for match in re.finditer(r"<([\w\s,:]*,[\w\s,:]*)>", self.text):
            self.add(match.start(), "template arguments",
                     re.findall(r"(\w+)(?:Node|Instr)\b", match.group(1)))

    def find_braces(self):
        kind = re.compile(r"(?:NodeKind|InstrKind|ScalarOp)::(\w+)")
        statement = re.compile(r"\bcase\b|;")
        for match in re.finditer(r"\{[^{}]*\}", self.text):
            if not statement.search(match.group()):
                self.add(match.start(), "braces", kind.findall(match.group()))
        # Lists of pairs, unless they are registrations.
        table = re.compile(r"(\w+) \w+(?:\[\])? = (?=\{)")
        for match in table.finditer(self.text):
            end = find_end(self.text, match.end(), "{", "}")
            code = self.text[match.end():end]
            if not (statement.search(code) or match.group(1) in REGISTRATIONS):
                self.add(match.start(), "table", kind.findall(code))

    def find_names(self):
        # Importers and exporters are registered by the names of ONNX.
        if self.name.startswith(("lib/Importer", "lib/Exporter")):
            return
        lists = re.compile(r"\{[^{};]*\}|(?:\.Cases?\([^()]*\)\s*)+")
        for match in lists.finditer(self.with_strings):
            self.add(match.start(), "names",
                     re.findall(r'"(\w+)"', match.group()))

    def find_visitors(self):
        found = re.findall(r"\bvisit([A-Z]\w*)\(", self.text)
        self.add(0, "visitor", [re.sub(r"Instr$|Node$", "", f) for f in found])

    def find_lists(self):
        self.find_switches()
        self.find_tests()
        self.find_arguments()
        self.find_braces()
        self.find_names()
        self.find_visitors()
        return self.lists


SAMPLES = {
    "switch": "void f() { switch (x.getKind()) { case NodeKind::Add: case "
              "NodeKind::Sub: case NodeKind::Mul: case NodeKind::Div: g(); } }",
    "tests of 'x'": "bool f(Node *x) { if (auto *a = llvm::dyn_cast<AddNode>(x))"
                    " return g(a); return llvm::isa<SubNode, MulNode>(x) || "
                    "x->getKind() == NodeKind::Div; }",
    "template arguments": "bool f() { return any<AddNode, SubNode, MulNode, "
                          "DivNode>(x); }",
    "braces": "auto kinds = {NodeKind::Add, NodeKind::Sub, NodeKind::Mul, "
              "NodeKind::Div};",
    "table": "static const Entry entries[] = {{NodeKind::Add, 1}, "
             "{NodeKind::Sub, 2}, {NodeKind::Mul, 3}, {NodeKind::Div, 4}};",
    "names": 'const char *names[] = {"Add", "Sub", "Mul", "Div"};',
    "visitor": "class V { void visitAdd(); void visitSub(); void visitMul(); "
               "void visitDiv(); };",
}
NO_LISTS = (
    "bool f(Node *x, Node *y) { return isa<AddNode, SubNode>(x) && "
    "isa<MulNode, DivNode>(y); }",
    "static const NodeRefusal refusals[] = {{NodeKind::Add, no}, "
    "{NodeKind::Sub, no}, {NodeKind::Mul, no}, {NodeKind::Div, no}};",
    "// {NodeKind::Add, NodeKind::Sub, NodeKind::Mul, NodeKind::Div}",
    "void f() { set.add<g<AddNode>>(NodeKind::Add); set.add<g>(NodeKind::Sub); "
    "set.add<g>(NodeKind::Mul); set.add<g>(NodeKind::Div); }",
)


def test_forms(kinds):
    wrong = 0
    for form, code in SAMPLES.items():
        found = {f for _, f, _ in Source("lib/x.cpp", code, kinds).find_lists()}
        if form not in found:
            print(f"not found: {form}: {code}")
            wrong = 1
    for code in NO_LISTS:
        if found := Source("lib/x.cpp", code, kinds).find_lists():
            print(f"no list: {found}: {code}")
            wrong = 1
    return wrong


def main():
    kinds = read_kinds()
    if sys.argv[1:] == ["-self-test"]:
        return test_forms(kinds)
    unused = set(ALLOWED)
    wrong = 0
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            name = str(path.relative_to(ROOT))
            for line, form, found in Source(name, path.read_text(),
                                            kinds).find_lists():
                key = (name, found[0])
                if key in ALLOWED:
                    unused.discard(key)
                    continue
                wrong = 1
                print(f"{name}:{line}: {form}: {', '.join(found)}")
    for name, kind in sorted(unused):
        wrong = 1
        print(f"{name}: the list that begins with {kind} is gone: take it out "
              "of ALLOWED")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
