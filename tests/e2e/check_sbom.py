#!/usr/bin/env python3
"""check_sbom.py FILE FOLDER: whether FILE is an SPDX 2.3 document in JSON of the programs and
libraries below FOLDER: what the specification requires is there, each program and library is
listed with its checksum and with a package for each of its NEEDED entries, and nothing
refers to what is not there. Exits 1 if anything is wrong.
"""

import hashlib
import json
import os
import re
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from hardening import find_elf_files, readelf  # noqa: E402: beside this script

DOCUMENT = ["spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace",
            "creationInfo", "packages", "relationships"]
PACKAGE = ["SPDXID", "name", "versionInfo", "downloadLocation", "filesAnalyzed",
           "licenseConcluded", "licenseDeclared", "copyrightText"]
# What every build needs, by the beginning of the package's name.
EXPECTED = ["libllvm19", "llvm-19-dev", "libprotobuf", "libonnx1", "libonnx-dev", "libzip",
            "libflatbuffers-dev", "libc6", "clang-19", "lld-19", "cmake"]


def check_fields(document):
    missing = [name for name in DOCUMENT if name not in document]
    if missing:
        yield "it lacks " + ", ".join(missing)
        return
    if document["spdxVersion"] != "SPDX-2.3" or document["dataLicense"] != "CC0-1.0":
        yield "it is not SPDX 2.3 under CC0-1.0"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]):
        yield "the time '%s' has a wrong form" % document["creationInfo"]["created"]
    if not document["creationInfo"]["creators"]:
        yield "no creator is stated"
    if not re.fullmatch(r"[a-z]+://[^#\s]+", document["documentNamespace"]):
        yield "the namespace '%s' is no URI" % document["documentNamespace"]
    for package in document["packages"]:
        missing = [name for name in PACKAGE if name not in package]
        if missing:
            yield "package '%s' lacks %s" % (package.get("name"), ", ".join(missing))
        if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]):
            yield "'%s' is no identifier" % package["SPDXID"]
        for reference in package.get("externalRefs", []):
            if not re.fullmatch(r"pkg:[a-z]+/[^\s@]+@[^\s@]+", reference["referenceLocator"]):
                yield "'%s' is no package URL" % reference["referenceLocator"]


def check_references(document):
    known = [package["SPDXID"] for package in document["packages"]]
    if len(set(known)) != len(known):
        yield "two packages have the same identifier"
    known = {*known, document["SPDXID"]}
    described = False
    for relation in document["relationships"]:
        for end in (relation["spdxElementId"], relation["relatedSpdxElement"]):
            if end not in known:
                yield "a relationship has %s, which is not there" % end
        described |= relation["relationshipType"] == "DESCRIBES"
    if not described:
        yield "it describes no package"


def check_binary(document, folder, path):
    place = os.path.relpath(path, folder)
    listed = next((each for each in document["packages"]
                   if place == each.get("packageFileName")
                   or place.endswith("/" + each.get("packageFileName", "//"))), None)
    if not listed:
        yield "it is not listed"
        return
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    if [each["checksumValue"] for each in listed["checksums"]] != [digest]:
        yield "its checksum is another one"
    linked = {relation["relatedSpdxElement"] for relation in document["relationships"]
              if relation["spdxElementId"] == listed["SPDXID"]
              and relation["relationshipType"] == "DYNAMIC_LINK"}
    names = {each["SPDXID"]: each for each in document["packages"]}
    # Several libraries may be of one package, as libc and libm are.
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf(path, "-d"))
    if len(linked) > len(needed) or (needed and not linked):
        yield "it needs %d libraries, and %d packages are stated" % (len(needed), len(linked))
    for library in needed:
        stem = re.match(r"lib([a-zA-Z]+)|ld-", library)[1] or "c"
        # The package of a library has its name; those of C and C++ have a few more.
        candidates = {"m": "libc6", "c": "libc6", "gcc": "libgcc-s1", "stdc": "libstdc++6",
                      "dl": "libc6", "pthread": "libc6", "rt": "libc6",
                      "png": "libpng16", "jpeg": "libjpeg62", "onnx": "libonnx1",
                      "mpi": "libopenmpi", "c10": "libtorch"}
        wanted = candidates.get(stem, "lib" + stem.lower())
        if not any(wanted.lower() in (names[each]["name"] + names[each].get(
                "packageFileName", "")).lower() for each in linked):
            yield "no package is stated for %s" % library


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    file, folder = sys.argv[1:]
    with open(file, encoding="utf-8") as text:
        document = json.load(text)
    problems = list(check_fields(document))
    if not problems:
        problems += check_references(document)
        names = [package["name"] for package in document["packages"]]
        problems += ["no package %s..." % name for name in EXPECTED
                     if not any(each.startswith(name) for each in names)]
        for path in find_elf_files(folder):
            problems += ["%s: %s" % (os.path.relpath(path, folder), problem)
                         for problem in check_binary(document, folder, path)]
    for problem in problems:
        print("%s: %s" % (file, problem))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
