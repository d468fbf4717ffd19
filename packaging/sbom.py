#!/usr/bin/env python3
"""sbom.py --build BUILD_FOLDER --output FILE [--wheel] NAME=FOLDER[=PREFIX,...]...: writes
which software packages are made of, as SPDX 2.3 in JSON.

Of each package NAME, whose files are below FOLDER, it lists the programs and libraries with
their checksums, and the Debian packages that they need:

  - the library of each NEEDED entry of a program or library (DYNAMIC_LINK);
  - the headers that were included by the objects whose paths in the build folder begin with
    a PREFIX, from Ninja's log: inline functions and templates of them are in what was
    compiled (BUILD_DEPENDENCY_OF);
  - what --requires NAME=DEBIAN_PACKAGE,... says that it needs apart from that (DEPENDS_ON);
  - compilers, generators and the linker of the build (BUILD_TOOL_OF).

What those need in their turn is said by Debian. --wheel: NAME is one of PyPI. The same
files, sources and installed packages give the same document: its time is
$SOURCE_DATE_EPOCH, or that of the commit.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from urllib.parse import quote

SOURCES = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
NO = "NOASSERTION"
# What is known of Debian's source packages that are always there.
LICENSES = {
    "flatbuffers": "Apache-2.0",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "gflags": "BSD-3-Clause",
    "glibc": "LGPL-2.1-or-later",
    "google-glog": "BSD-3-Clause",
    "libpng1.6": "libpng-2.0",
    "libzip": "BSD-3-Clause",
    "llvm-toolchain-19": "Apache-2.0 WITH LLVM-exception",
    "onnx": "Apache-2.0",
    "protobuf": "BSD-3-Clause",
    "pybind11": "BSD-3-Clause",
}
# The program of each of these variables of CMake took part.
TOOLS = ["CMAKE_COMMAND", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER", "CMAKE_MAKE_PROGRAM",
         "FLATC", "PROTOBUF_PROTOC_EXECUTABLE", "Protobuf_PROTOC_EXECUTABLE"]
LINKER = "/usr/bin/ld.lld-19"
# Libraries of their own, which the prefix "lib/" does not mean.
APART = ("lib/Distributed/MPI/", "lib/Importer/TorchScript/Reader/")


def ask(*command):
    """What a program prints, also if it ends with an error; "" if there is no such."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, errors="replace", check=False).stdout
    except OSError:
        return ""


#--- Debian's packages ---

@dataclass(frozen=True)
class DebianPackage:
    name: str
    version: str
    architecture: str
    source: str
    source_version: str


def find_packages(paths):
    """{path: name of the Debian package that has it}; others are left out. Libraries of
    /usr/lib are in some packages' lists as of /lib."""
    candidates = {}
    for path in paths:
        for each in (path, os.path.realpath(path)):
            candidates[each] = path
            candidates[each[4:] if each.startswith("/usr/") else "/usr" + each] = path
    found, names = {}, sorted(candidates)
    for i in range(0, len(names), 1000):
        for line in ask("dpkg-query", "-S", *names[i:i + 1000]).splitlines():
            packages, _, path = line.partition(": ")
            if path in candidates and not packages.startswith("diversion "):
                found[candidates[path]] = packages.split(",")[0].split(":")[0]
    return found


def describe_packages(names):
    """{name: DebianPackage}; of several architectures this machine's."""
    form = "${Package}\\t${Version}\\t${Architecture}\\t${source:Package}\\t${source:Version}\\n"
    native = ask("dpkg", "--print-architecture").strip()
    found = {}
    for line in ask("dpkg-query", "-W", "-f", form, *sorted(names)).splitlines():
        package = DebianPackage(*line.split("\t"))
        if package.name not in found or package.architecture == native:
            found[package.name] = package
    return found


#--- What is linked, included and run ---

def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def find_binaries(folder):
    for directory, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not os.path.islink(path) and is_elf(path):
                yield path


def read_needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", ask("readelf", "-dW", path))


def find_libraries(names):
    """{name of a library: its path}, of those that the system's loader finds."""
    cache = dict(re.findall(r"^\t(\S+) \(libc6,\S+\) => (\S+)$", ask("/sbin/ldconfig", "-p"),
                            re.M))
    # That of the loader itself.
    cache.setdefault("ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2")
    return {name: cache[name] for name in names if name in cache}


def read_headers(build):
    """{object: paths outside of the project}, of all that Ninja has compiled."""
    headers, current = {}, None
    for line in ask("ninja", "-C", build, "-t", "deps").splitlines():
        if line.startswith("    /") and current is not None:
            current.add(line.strip())
        elif line and not line.startswith(" "):
            current = headers.setdefault(line.split(": #deps")[0], set())
    inside = (SOURCES + "/", os.path.realpath(build) + "/")
    return {name: {path for path in paths if not path.startswith(inside)}
            for name, paths in headers.items()}


def choose_headers(headers, prefixes):
    """What the objects with one of these prefixes include."""
    def is_chosen(name):
        apart = next((each for each in APART if name.startswith(each)), None)
        return apart in prefixes if apart else name.startswith(tuple(prefixes))
    return set().union(*[paths for name, paths in headers.items()
                         if prefixes and is_chosen(name)])


def read_tools(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))
    # CMake keeps a program as its preset names it where it configured twice.
    programs = [shutil.which(cache[name]) for name in TOOLS if cache.get(name)]
    return sorted({os.path.realpath(each) for each in [*programs, LINKER] if each})


#--- The document ---

def make_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


@dataclass
class Document:
    packages: dict = field(default_factory=dict)
    relations: set = field(default_factory=set)

    def add(self, name, version, purl="", **fields):
        identity = make_id(name)
        package = {"SPDXID": identity, "name": name, "versionInfo": version,
                   "downloadLocation": NO, "filesAnalyzed": False,
                   "licenseConcluded": NO, "licenseDeclared": NO, "copyrightText": NO,
                   **fields}
        if purl:
            package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER",
                                        "referenceType": "purl", "referenceLocator": purl}]
        self.packages[identity] = package
        return identity

    def relate(self, one, kind, other):
        self.relations.add((one, kind, other))

    def write(self, name, created):
        content = {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT", "name": name,
            "creationInfo": {"created": created,
                             "creators": ["Tool: packaging/sbom.py of glowish"]},
            "packages": [self.packages[key] for key in sorted(self.packages)],
            "relationships": [{"spdxElementId": one, "relationshipType": kind,
                               "relatedSpdxElement": other}
                              for one, kind, other in sorted(self.relations)]}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        content["documentNamespace"] = "https://glowish.invalid/spdx/%s-%s" % (name,
                                                                             digest[:32])
        return json.dumps(content, indent=1, sort_keys=True) + "\n"


def add_debian_package(document, package):
    purl = "pkg:deb/debian/%s@%s?arch=%s&distro=debian-12" % (
        quote(package.name, safe="+"), quote(package.version, safe="~+"),
        package.architecture)
    return document.add(
        package.name, package.version, purl, supplier="Organization: Debian",
        sourceInfo="source package %s %s" % (package.source, package.source_version),
        licenseDeclared=LICENSES.get(package.source, NO))


def describe_source():
    commit = ask("git", "-C", SOURCES, "rev-parse", "HEAD").strip()
    if not commit:
        return "commit unknown"
    changes = ask("git", "-C", SOURCES, "status", "--porcelain", "--untracked-files=no")
    return "commit " + commit + (" with changes" if changes.strip() else "")


def add_own_package(document, name, version, is_wheel):
    purl = "pkg:pypi/%s@%s" if is_wheel else "pkg:deb/glowish/%s@%s?distro=debian-12"
    own = document.add(name, version, purl % (quote(name), version),
                       supplier="Organization: The glowish maintainers",
                       licenseDeclared="Apache-2.0", copyrightText="2026 The glowish authors",
                       sourceInfo=describe_source())
    document.relate("SPDXRef-DOCUMENT", "DESCRIBES", own)
    return own


def add_binary(document, own, name, folder, path, version):
    """A program or library as a package of one file, which a package has."""
    with open(path, "rb") as file:
        data = file.read()
    place = os.path.relpath(path, folder)
    binary = document.add("%s:%s" % (name, place), version, packageFileName=place,
                          primaryPackagePurpose="FILE", licenseDeclared="Apache-2.0",
                          checksums=[{"algorithm": "SHA256", "checksumValue":
                                      hashlib.sha256(data).hexdigest()}])
    document.relate(own, "CONTAINS", binary)
    return binary


@dataclass
class Own:
    """A package of ours, and what it needs."""
    identity: str
    binaries: dict  # {identity: names of libraries}
    headers: set
    requires: list


def make_document(arguments, version):
    document, all_headers, own = Document(), read_headers(arguments.build), []
    requires = dict(text.split("=") for text in arguments.requires)
    for text in arguments.packages:
        name, folder, prefixes = (text + "=").split("=")[:3]
        identity = add_own_package(document, name, version, arguments.wheel)
        binaries = {add_binary(document, identity, name, folder, path, version):
                    read_needed(path) for path in find_binaries(folder)}
        headers = choose_headers(all_headers, [each for each in prefixes.split(",") if each])
        own.append(Own(identity, binaries, headers,
                       [each for each in requires.get(name, "").split(",") if each]))
    # Libraries of our own, which programs name without the last number of the version.
    ours = {os.path.basename(document.packages[binary]["packageFileName"]): binary
            for each in own for binary in each.binaries}
    libraries = find_libraries({library for each in own for needed in each.binaries.values()
                                for library in needed})
    tools = read_tools(arguments.build)
    found = find_packages({*libraries.values(), *tools}.union(
        *[each.headers for each in own]))
    described = describe_packages({*found.values()}.union(*[each.requires for each in own]))
    identities = {name: add_debian_package(document, package)
                  for name, package in described.items()}

    for each in own:
        for binary, needed in each.binaries.items():
            for library in needed:
                path = libraries.get(library)
                other = identities[found[path]] if path in found else next(
                    (ours[name] for name in ours if name.startswith(library)), None)
                if not other:
                    raise SystemExit("sbom.py: no package has %s" % library)
                document.relate(binary, "DYNAMIC_LINK", other)
        for header in {found[path] for path in each.headers if path in found}:
            document.relate(identities[header], "BUILD_DEPENDENCY_OF", each.identity)
        for name in each.requires:
            document.relate(each.identity, "DEPENDS_ON", identities[name])
        for tool in tools:
            if tool in found:
                document.relate(identities[found[tool]], "BUILD_TOOL_OF", each.identity)
    drop_unused(document)
    return document


def drop_unused(document):
    used = {identity for one, _, other in document.relations for identity in (one, other)}
    for identity in set(document.packages) - used:
        del document.packages[identity]


def get_time():
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or ask(
        "git", "-C", SOURCES, "log", "-1", "--format=%ct").strip() or "0"
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--wheel", action="store_true")
    parser.add_argument("--requires", action="append", default=[])
    parser.add_argument("packages", nargs="+", metavar="NAME=FOLDER[=PREFIX,...]")
    arguments = parser.parse_args()
    with open(os.path.join(SOURCES, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"project\(glowish VERSION (\S+)", file.read())[1]
    text = make_document(arguments, version).write(
        "glowish-wheel-" + version if arguments.wheel else "glowish-" + version, get_time())
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
