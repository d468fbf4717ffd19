#!/usr/bin/env python3
"""Finds the names that a header can't declare behind the standard ones of C and C++.

  standard_names.py [--check]

A bundle's header must compile behind any of them, and its entry must not take
the place of one of their functions. A name is taken if it is a macro, or if a
function of that name can't be declared behind the headers: this is tried with
Clang, in several versions of both languages, for this system and, where its
headers are installed, for Windows. To that come the macros that are predefined
for other targets, and names of C23 that libraries may still lack.

Adds what it finds to lib/Backends/CPU/Bundle/StandardNames.def; names that
another machine found stay. With --check nothing is written: names that the file
lacks are printed, and the exit status is 1 if there are any, or 77 without
Clang.
"""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

OUTPUT = (Path(__file__).resolve().parent.parent /
          "lib/Backends/CPU/Bundle/StandardNames.def")
CLANG = "clang-19"

C_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
signal stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio
stdlib stdmchar stdnoreturn string tgmath threads time uchar wchar wctype
""".split()

CXX_HEADERS = """
algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno
cfenv cfloat charconv chrono cinttypes ciso646 climits clocale cmath codecvt
compare complex concepts condition_variable coroutine csetjmp csignal cstdalign
cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar
cwchar cwctype deque exception execution expected filesystem flat_map flat_set
format forward_list fstream functional future generator initializer_list iomanip
ios iosfwd iostream istream iterator latch limits list locale map mdspan memory
memory_resource mutex new numbers numeric optional ostream print queue random
ranges ratio regex scoped_allocator semaphore set shared_mutex source_location
span spanstream sstream stack stacktrace stdexcept stdfloat stop_token streambuf
string string_view strstream syncstream system_error thread tuple type_traits
typeindex typeinfo unordered_map unordered_set utility valarray variant vector
version
""".split()

C = ["-x", "c"]
# Compilers for C++ define this one by themselves on Linux.
GNU = ["-std=gnu2x", "-D_GNU_SOURCE"]
# Arguments of Clang, and the headers beside those of C.
MODES = [
    (C + ["-std=c99"], []),
    (C + ["-std=c11"], []),
    (C + ["-std=c2x"], []),
    (C + GNU, []),
    (C + GNU + ["--target=x86_64-w64-windows-gnu"], []),
    (["-x", "c++", "-std=gnu++11"], CXX_HEADERS),
    (["-x", "c++", "-std=gnu++2b"], CXX_HEADERS),
]

TARGETS = """
aarch64-linux-gnu aarch64-linux-android aarch64-apple-macos arm-none-eabi
hexagon-unknown-elf i686-linux-gnu i686-w64-windows-gnu loongarch64-linux-gnu
m68k-linux-gnu mips-linux-gnu mips64el-linux-gnuabi64 msp430 powerpc-linux-gnu
powerpc64le-linux-gnu riscv32-unknown-elf riscv64-linux-gnu s390x-linux-gnu
sparc-linux-gnu sparc64-linux-gnu wasm32-unknown-unknown x86_64-apple-macos
x86_64-unknown-freebsd
""".split()


def list_new_names():
    """Names of C23 that the libraries of older systems lack."""
    names = """
BITINT_MAXWIDTH BOOL_WIDTH TIME_ACTIVE TIME_MONOTONIC TIME_THREAD_ACTIVE c8rtomb
char8_t ckd_add ckd_mul ckd_sub free_aligned_sized free_sized mbrtoc8 memalignment
memset_explicit nullptr_t unreachable
""".split()
    for name in """
acospi asinpi atan2pi atanpi compoundn cospi exp10 exp10m1 exp2m1 fmaximum
fmaximum_mag fmaximum_mag_num fmaximum_num fminimum fminimum_mag fminimum_mag_num
fminimum_num log10p1 log2p1 logp1 pown powr rootn rsqrt sinpi tanpi
""".split():
        names += [name, name + "f", name + "l"]
    ends = ["zeros", "ones"]
    bits = [f"{way}_{end}" for way in ("leading", "trailing", "count") for end in ends]
    bits += [f"first_{way}_{end}" for way in ("leading", "trailing")
             for end in ("zero", "one")]
    bits += ["has_single_bit", "bit_width", "bit_floor", "bit_ceil"]
    for kind in ("", "_uc", "_us", "_ui", "_ul", "_ull"):
        names += [f"stdc_{bit}{kind}" for bit in bits]
    for macro in ("PRIb", "PRIB", "SCNb"):
        for width in ("8", "16", "32", "64", "MAX", "PTR"):
            names.append(macro + width)
            if width.isdigit():
                names += [f"{macro}LEAST{width}", f"{macro}FAST{width}"]
    return names


def run(arguments, text):
    return subprocess.run([CLANG, "-w", *arguments, "-"], input=text,
                          capture_output=True, text=True)


def find_macros(arguments, text):
    lines = run([*arguments, "-E", "-dM"], text).stdout.splitlines()
    return {re.match(r"#define (\w+)", line)[1] for line in lines}


def is_free(name):
    """Whether no rule of the languages reserves the name for compilers."""
    return not re.match("__|_[A-Z]", name)


def find_taken(arguments, text):
    """The names that are taken behind the headers that the text includes."""
    macros = set(filter(is_free, find_macros(arguments, text)))
    listed = run([*arguments, "-fsyntax-only", "-Xclang", "-ast-list"], text).stdout
    candidates = {line for line in listed.splitlines()
                  if re.fullmatch(r"[A-Za-z_]\w*", line) and is_free(line)}
    candidates = sorted(candidates | macros)
    language = 'extern "C"' if "c++" in arguments else "extern"
    text += "struct glowish_region;\n"
    first = text.count("\n") + 1
    text += "".join(f"{language} int {name}(struct glowish_region *);\n"
                    for name in candidates)
    errors = run([*arguments, "-fsyntax-only", "-ferror-limit=0"], text).stderr
    lines = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error", errors,
                                              re.MULTILINE)}
    return macros | {name for line, name in enumerate(candidates, first)
                     if line in lines}


def find_headers(arguments, text):
    """What the headers include, as an application might: `name` for <name.h>."""
    paths = run([*arguments, "-M"], text).stdout
    return set(re.findall(r"/include/(\w+)\.h\b", paths))


def find_all():
    names, headers = set(list_new_names()), set(C_HEADERS)
    for arguments, cxx_headers in MODES:
        # <stdatomic.h> is for C++ from C++23.
        files = [f"{name}.h" for name in C_HEADERS
                 if not cxx_headers or name != "stdatomic"] + cxx_headers
        text = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n"
                       for name in files)
        names |= find_taken(arguments, text)
        headers |= find_headers(arguments, text)
    for target in TARGETS:
        names |= find_macros([*C, "-std=gnu17", f"--target={target}"], "")
    headers = {name for name in headers if re.fullmatch(r"[A-Za-z]\w*", name)}
    return set(filter(is_free, names)), headers


def read():
    """The names and headers of the file."""
    if not OUTPUT.exists():
        return set(), set()
    text = OUTPUT.read_text().split("STANDARD_HEADERS(")
    return [set(" ".join(re.findall('"(.*)"', part)).split()) for part in text]


def format_names(macro, names):
    lines = textwrap.wrap(" ".join(sorted(names)), 76, break_on_hyphens=False)
    return f"{macro}(\n" + "\n".join(f'"{line} "' for line in lines) + ")\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, end="")
        return 2
    if not shutil.which(CLANG):
        print(f"no {CLANG}", file=sys.stderr)
        return 77
    found, known = find_all(), read()
    if not sys.argv[1:]:
        names, headers = (own | old for own, old in zip(found, known))
        OUTPUT.write_text(
            "// Names of standard headers, and those headers. Written by\n"
            "// scripts/standard_names.py. Do not edit.\n" +
            format_names("STANDARD_NAMES", names) +
            format_names("STANDARD_HEADERS", headers))
        return 0
    missing = [name for own, old in zip(found, known) for name in sorted(own - old)]
    for name in missing:
        print(f"{OUTPUT.name} lacks {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
