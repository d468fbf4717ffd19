#!/usr/bin/env python3
"""Finds names of precompiled headers that a file uses without including them.

Precompiled headers (cmake/GlowishPrecompiledHeaders.cmake) are in front of each file that
is compiled, so that the compiler does not tell when a file lacks an #include of one of
them, or of what these include. Here the headers that a file can reach by its own #include
lines are followed, and each name that it uses of a hidden header must be defined in, or
declared by, one that it reaches. Names are

  - types, functions and macros of the headers of glowish and of LLVM,
  - names of the standard library (STANDARD).

  includes.py              checks include, lib, tools, python and tests
  includes.py -self-test   checks that each kind of name is found

Prints a line for each file and name and exits 1 if there is one, 77 without LLVM's headers.
"""

import pathlib
import posixpath
import re
import sys

from type_names import (ATTRIBUTES, RECORDS, ROOT, Source, find_generated,
                        strip_template)

FOLDERS = ("include", "lib", "tools", "python", "tests")
LLVM = pathlib.Path("/usr/lib/llvm-19/include")
# The headers of the standard library that not every file reaches anyhow, each with its names.
STANDARD = {
    "algorithm": """all_of any_of binary_search clamp copy copy_if copy_n count count_if equal
        equal_range fill fill_n find find_if for_each generate is_sorted lexicographical_compare
        lower_bound max max_element min min_element minmax minmax_element mismatch
        next_permutation none_of nth_element partial_sort partition push_heap pop_heap remove
        remove_if replace reverse rotate search shuffle sort stable_partition stable_sort
        swap_ranges transform unique upper_bound""",
    "array": "array",
    "atomic": "atomic memory_order_acquire memory_order_relaxed memory_order_release",
    "chrono": "chrono",
    "cmath": """acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
        floor fma fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma log log10 log1p log2
        lround nearbyint nextafter pow remainder rint round signbit sin sinh sqrt tan tanh
        tgamma trunc""",
    "complex": "complex polar",
    "condition_variable": "condition_variable",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen",
    "deque": "deque",
    "fstream": "fstream ifstream ofstream",
    "functional": """bit_and bit_or bit_xor equal_to function greater greater_equal less_equal
        minus multiplies not_equal_to reference_wrapper""",
    "future": "async future promise",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": """enable_shared_from_this make_shared make_unique shared_ptr
        static_pointer_cast unique_ptr weak_ptr""",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
    "numeric": "accumulate gcd iota lcm partial_sum",
    "optional": "nullopt nullopt_t optional",
    "queue": "priority_queue queue",
    "random": "mt19937 mt19937_64 normal_distribution uniform_int_distribution",
    "set": "multiset set",
    "sstream": "istringstream ostringstream stringstream",
    "string": "stod stoi stol stoull string to_string u16string",
    "thread": "jthread this_thread thread",
    "tuple": "forward_as_tuple make_tuple tie tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}


STD_NAME = re.compile(r"\bstd::(?:ranges::)?(\w+)")
LLVM_NAME = re.compile(r"\bllvm::(\w+)")
CALL = re.compile(r"(?<![\w.>:])(?:glowish::)?([a-z]\w+)\s*\(")
TYPE_NAME = re.compile(r"(?<![\w:])(?:glowish::)?([A-Z]\w+)\b")
MACRO = re.compile(r"\b(GLOWISH_\w+|LLVM_\w+)\b")


class Names(Source):
    """A header, of which functions and declared types are collected, too."""

    DECLARED = re.compile(r"(?:class|struct|enum(?:\s+class|\s+struct)?)\s+"
                          r"(\w+)\s*(?::[\w\s:]+)?$")
    FUNCTION = re.compile(r"[\w:<>,&*\s]+?[\s&*>]((?:\w+::)*)([A-Za-z_]\w*)\s*\(")

    def __init__(self, name, text):
        super().__init__(name, text)
        self.functions, self.members, self.declared = set(), set(), set()
        self.macros = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text,
                                     re.MULTILINE))
        self.defined = {match[2].partition("<")[0].rpartition("::")[2]
                        for match in self.find_types()}
        self.declared |= self.defined
        self.declared |= set(re.findall(r"\bfriend (?:class|struct) (\w+);", self.text))
        # Names of other things that may look like a type.
        self.others = set(re.findall(r"\w+", " ".join(
            re.findall(r"\benum\b[^{};]*\{([^}]*)\}", self.text))))
        self.calls = set(CALL.findall(self.text))
        self.member_calls = set(re.findall(r"(?:\.|->)(\w+)\s*\(", self.text))

    def note_function(self, head):
        head = strip_template(ATTRIBUTES.sub(" ", head))
        if not head.startswith(("return ", "else ", "case ", "delete ", "new ")):
            if match := self.FUNCTION.match(head):
                (self.members if None in self.scopes else self.functions).add(match[2])

    def open(self, head, position):
        self.note_function(head)
        super().open(head, position)

    def end(self, statement, position):
        if match := self.DECLARED.match(strip_template(statement)):
            self.declared.add(match[1])
        else:
            self.note_function(statement)
        super().end(statement, position)


class Headers:
    """The headers that #include lines lead to, and their names."""

    INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)

    def __init__(self, files, roots):
        self.files = files  # texts by name
        self.roots = roots  # folders of other projects
        self.by_end = {}
        for name in files:
            self.by_end.setdefault(name.rpartition("/")[2], []).append(name)
        self.direct, self.reached = {}, {}

    def find(self, path, includer):
        """The header that an #include names: a file's name, a path, or nothing."""
        near = posixpath.normpath(posixpath.join(posixpath.dirname(includer), path))
        found = [name for name in self.by_end.get(path.rpartition("/")[2], ())
                 if name == near or name.endswith("/" + path)]
        if found:
            # Of several the one in the nearest folder.
            def common(name):
                pairs = zip(name.split("/"), includer.split("/"))
                return next((i for i, (a, b) in enumerate(pairs) if a != b), 0)
            return max(found, key=lambda name: (name == near, common(name)))
        for root in self.roots:
            if (root / path).is_file():
                return str(root / path)
        return None

    def read(self, name):
        if name not in self.files:
            self.files[name] = pathlib.Path(name).read_text(errors="replace")
        return self.files[name]

    def get_direct(self, name):
        if name not in self.direct:
            found = (self.find(path, name) or path
                     for _, path in self.INCLUDE.findall(self.read(name)))
            self.direct[name] = set(found)
        return self.direct[name]

    def get_reached(self, name):
        """All headers that `name` reaches, and itself."""
        if name not in self.reached:
            reached, todo = {name}, [name]
            while todo:
                each = todo.pop()
                if each not in self.files and not each.startswith("/"):
                    continue  # one of the standard library or of a build folder
                for other in self.get_direct(each) - reached:
                    if other in self.reached:
                        reached |= self.reached[other]
                    else:
                        reached.add(other)
                        todo.append(other)
            self.reached[name] = reached
        return self.reached[name]


# Functions that a header calls and leaves to its users: argument-dependent lookup finds them.
BY_ARGUMENT = {"getNested"}
# The headers that include what is generated of records.
GENERATED = {"Node": "include/glowish/Graph/Nodes.h", "Instr": "include/glowish/IR/Instrs.h"}


class Hidden:
    """The names that precompiled headers have, each with the headers that define it."""

    def __init__(self, headers, precompiled):
        self.headers = headers
        self.sources = {}
        self.own_types, self.own_functions = {}, {}
        self.macros, self.llvm = {}, {}
        reached = set().union(*(headers.get_reached(name) for name in precompiled))
        for name in sorted(reached):
            if name.startswith("include/") and name.endswith(".h"):
                self.add(name, self.own_types, self.own_functions)
            elif name.startswith(str(LLVM / "llvm") + "/") and name.endswith(".h"):
                self.add(name, self.llvm, self.llvm)
        for name in headers.files:
            suffix = RECORDS.get(name.rpartition("/")[2])
            if suffix and GENERATED[suffix] in reached and name.startswith("include/"):
                for _, _, each in find_generated(name, headers.read(name)):
                    self.own_types.setdefault(each, set()).add(GENERATED[suffix])

    def get_source(self, name):
        if name not in self.sources:
            self.sources[name] = Names(name, self.headers.read(name))
        return self.sources[name]

    def add(self, name, types, functions):
        source = self.get_source(name)
        for names, found in ((types, source.defined), (functions, source.functions),
                             (self.macros, source.macros)):
            for each in found:
                names.setdefault(each, set()).add(name)

    def is_declared(self, reached, name):
        """Whether a header declares a type, so that it may be incomplete."""
        return any(name in self.get_source(each).declared for each in reached
                   if each in self.sources or each in self.headers.files and
                   each.endswith((".h", ".cpp")))


HEADERS_OF = {}
for each_header, each_names in STANDARD.items():
    for each_name in each_names.split():
        HEADERS_OF.setdefault(each_name, set()).add(each_header)


def find_missing(name, headers, hidden):
    """(name, headers that have it) of what a file uses and does not reach."""
    reached = headers.get_reached(name)
    source = hidden.get_source(name)
    text = re.sub(r"^[ \t]*#[ \t]*include[^\n]*", "", source.text, flags=re.MULTILINE)

    def misses(definers):
        return definers and not definers & reached

    for each in sorted(set(STD_NAME.findall(text))):
        definers = HEADERS_OF.get(each)
        if definers and not any(header in reached or header in
                                {pathlib.PurePath(r).name for r in reached if "c++" in r}
                                for header in definers):
            yield "std::" + each, definers
    for each in sorted(set(LLVM_NAME.findall(text))):
        if misses(hidden.llvm.get(each)) and not hidden.is_declared(reached, each):
            yield "llvm::" + each, hidden.llvm[each]
    own = [hidden.get_source(each) for each in reached if each in headers.files and
           each.endswith((".h", ".cpp"))]
    for each in sorted(set(TYPE_NAME.findall(text)) & set(hidden.own_types)):
        if misses(hidden.own_types[each]) and not any(
                each in other.declared or each in other.others for other in own):
            yield each, hidden.own_types[each]
    for each in sorted(source.calls & set(hidden.own_functions)):
        known = source.functions | source.members | BY_ARGUMENT
        if misses(hidden.own_functions[each]) and each not in known and \
                not any(each in other.calls for other in own if other is not source):
            yield each, hidden.own_functions[each]
    for each in sorted(set(MACRO.findall(text)) - source.macros):
        if misses(hidden.macros.get(each)):
            yield each, hidden.macros[each]


def read_precompiled(headers):
    text = (ROOT / "cmake/GlowishPrecompiledHeaders.cmake").read_text()
    names = re.findall(r"^  ((?:llvm|glowish)/\S+\.h)", text, re.MULTILINE)
    return [headers.find(name, "include/") for name in names]


def check(files, roots, precompiled):
    headers = Headers(files, roots)
    names = list(files)
    hidden = Hidden(headers, precompiled(headers))
    sources = [name for name in names if name.endswith((".h", ".cpp"))]
    # A call in a class may be one of its own members.
    for name in sources:
        for each in hidden.get_source(name).member_calls:
            hidden.own_functions.pop(each, None)
    for name in sources:
        for each, definers in find_missing(name, headers, hidden):
            best = sorted(definers, key=lambda d: (d.startswith("/"), len(d)))[0]
            best = best.removeprefix("include/").removeprefix(str(LLVM) + "/")
            yield f"{name}: {each} is used, and {best} is not included"


# Each uses something of A.h, B.h or LLVM's SmallVector.h.
MISSING = ["Alpha a;", "void f() { makeAlpha(1); }", "int i = GLOWISH_ALPHA;",
           "llvm::SmallVector<int> v;", "std::set<int> s;", "Beta *b;",
           '#include "glowish/B.h"\nAlpha a;', "namespace glowish { AddNode n; }",
           "class Alpha; void f(Alpha &a) { makeAlpha(2); }"]
REACHED = ['#include "glowish/A.h"\nAlpha a = makeAlpha(GLOWISH_ALPHA);',
           '#include "glowish/C.h"\nAlpha a; Beta *b;', "class Alpha; Alpha *a;",
           '#include "llvm/ADT/SmallVector.h"\nllvm::SmallVector<int> v;',
           "#include <set>\nstd::set<int> s;", '#include "glowish/Graph/Nodes.h"\nAddNode n;',
           "static void makeAlpha(int); void f() { makeAlpha(3); }",
           "void f() { x.makeAlpha(1); Other::Alpha a; }", "enum class Kind { Alpha }; Kind k;",
           'const char *text = "Alpha std::set makeAlpha("; // Alpha']


def test_forms():
    vector = "llvm/ADT/SmallVector.h"
    own = {"include/glowish/A.h": "class Alpha {};\nAlpha makeAlpha(int x);\n"
                                  "#define GLOWISH_ALPHA 1\n",
           "include/glowish/B.h": "struct Beta { int i; };\n",
           "include/glowish/C.h": '#include "glowish/A.h"\n#include "glowish/B.h"\n',
           "include/glowish/Graph/Nodes.h": "\n",
           "include/glowish/Ops/Nodes.td": "def Add : Node<>;\n"}
    wrong = 0
    for is_missing, samples in ((True, MISSING), (False, REACHED)):
        for sample in samples:
            lines = list(check({**own, "lib/X.cpp": sample}, [LLVM], lambda headers: [
                *own, headers.find(vector, "include/")]))
            if bool(lines) != is_missing:
                print(f"{sample!r}: {lines or 'nothing is found'}")
                wrong = 1
    return wrong


def main():
    if not LLVM.is_dir():
        print(f"skipped: there is no folder {LLVM}")
        return 77
    if sys.argv[1:] == ["-self-test"]:
        return test_forms()
    files = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".td", ".def") and \
                    "node_modules" not in path.parts:
                files[str(path.relative_to(ROOT))] = path.read_text()
    lines = list(check(files, [LLVM], read_precompiled))
    for line in lines:
        print(line)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
