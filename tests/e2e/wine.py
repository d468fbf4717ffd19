#!/usr/bin/env python3
"""wine.py PROGRAM [ARGUMENT...]: runs a program for Windows in Wine.

Wine copies all of its libraries, 700 MB, into each new folder that stands for a
disk, which takes six seconds and fails on a full disk. Here they are links. The
registry stays empty; console programs need no more.

Exits as the program does; 77 without Wine.
"""

import glob
import os
import shutil
import sys
import tempfile

# Debian's package wine64 has no program in $PATH.
PROGRAM = next((path for path in ("/usr/lib/wine/wine64", shutil.which("wine64"),
                                  shutil.which("wine"))
                if path and os.path.exists(path)), None)
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDER = os.path.realpath(os.path.join(ROOT, "build", "e2e", "wine"))
LIBRARIES = ("/usr/lib/*/wine/x86_64-windows", "/usr/lib*/wine/x86_64-windows")


def make_prefix():
    """Makes the folder of a disk with links to Wine's libraries, unless it is there;
    where they are not found, Wine makes its own."""
    found = [path for pattern in LIBRARIES for path in glob.glob(pattern)]
    if os.path.exists(FOLDER) or not found:
        return
    os.makedirs(os.path.dirname(FOLDER), exist_ok=True)
    made = tempfile.mkdtemp(dir=os.path.dirname(FOLDER))
    system = os.path.join(made, "drive_c", "windows", "system32")
    os.makedirs(system)
    for library in glob.glob(found[0] + "/*"):
        os.symlink(library, os.path.join(system, os.path.basename(library)))
    # Wine completes a folder that is older than itself, but for this word.
    with open(os.path.join(made, ".update-timestamp"), "w", encoding="ascii") as file:
        file.write("disable\n")
    try:
        os.rename(made, FOLDER)
    except OSError:  # Another test was faster.
        shutil.rmtree(made)


def make_environment():
    """The environment in which PROGRAM runs."""
    make_prefix()
    return dict(os.environ, WINEDEBUG="-all", WINEPREFIX=FOLDER)


def main():
    if not PROGRAM:
        print("skipped: there is no Wine; Debian's package wine64 has it")
        sys.exit(77)
    os.execve(PROGRAM, [PROGRAM, *sys.argv[1:]], make_environment())


if __name__ == "__main__":
    main()
