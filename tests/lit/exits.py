"""Runs a command; succeeds if its exit code is the first argument.

exits.py CODE COMMAND..."""

import subprocess
import sys

found = subprocess.run(sys.argv[2:]).returncode
if found != int(sys.argv[1]):
    sys.exit(f"exit code {found}")
