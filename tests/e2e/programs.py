"""Runs programs for the scripts beside this one.

$GLOWISH_BIN: the project's (default build/release/bin).
"""

import os
import shutil
import subprocess

BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")


def run(*command, env=None):
    """What a program prints; an error has what it says of its own error."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False, env=env)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).split("\n")
        raise RuntimeError(next((line for line in lines if "error:" in line),
                                lines[-1] or "ended with %d" % done.returncode))
    return done.stdout


def has_programs(programs):
    """Whether all of {program: Debian's package} are there; says what is not."""
    for program, package in programs.items():
        if not shutil.which(program):
            print("skipped: there is no %s; Debian's package %s has it"
                  % (program, package))
            return False
    return True


def tool(name, *args):
    return run(os.path.join(BIN, name), *args)
